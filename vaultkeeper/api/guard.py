"""Who may speak to the API and how much they may send: pure verdicts on the headers of a request (K-80, K-81, K-83)."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MAX_BODY_BYTES = 8 * 1024 * 1024
"""K-83."""
PLUGIN_ORIGIN = "app://obsidian.md"
"""The origin of a page inside Obsidian, where the plugin runs."""

Headers = Mapping[str, Sequence[str]]
"""All values of each header that was sent, by its name in lower case."""

_LENGTH = re.compile(r"[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is turned away; `detail` never repeats what the request held."""

    status: int
    code: str
    detail: str


def refuse_source(headers: Headers, port: int) -> Refusal | None:
    """Turn away what a web page could send: another `Host` (DNS rebinding) or another `Origin`; None lets it in."""
    if list(headers.get("host", ())) != [f"127.0.0.1:{port}"]:
        return Refusal(421, "wrong-host", "the Host header must be the address of this server")
    origins = list(headers.get("origin", ()))
    if origins and origins != [PLUGIN_ORIGIN]:
        return Refusal(403, "foreign-origin", "requests from web pages are refused")
    return None


def refuse_stranger(headers: Headers, token: str) -> Refusal | None:
    """Turn away a request without the bearer token; compared in constant time. None lets it in."""
    values = list(headers.get("authorization", ()))
    scheme, _, given = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    # Bytes, since compare_digest refuses text beyond ASCII, which a header may hold.
    is_known = hmac.compare_digest(given.strip().encode(errors="replace"), token.encode())
    if scheme.lower() == "bearer" and is_known:
        return None
    return Refusal(401, "unauthorized", "a bearer token is needed: it stands in endpoint.json")


def body_length(headers: Headers) -> int | Refusal:
    """How many bytes of body follow, as `Content-Length` says; a refusal where that is missing, unclear or too much."""
    lengths = list(headers.get("content-length", ()))
    if "transfer-encoding" in headers:
        # Both at once is how requests are smuggled past a proxy; alone, the size is not known before it is read.
        if lengths:
            return Refusal(400, "bad-length", "Content-Length and Transfer-Encoding exclude each other")
        return Refusal(411, "length-required", "a Content-Length header is needed; chunks are not accepted")
    if not lengths:
        return Refusal(411, "length-required", "a Content-Length header is needed")
    if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0].strip()):
        return Refusal(400, "bad-length", "Content-Length must be one number of bytes")
    length = int(lengths[0])
    if length > MAX_BODY_BYTES:
        return Refusal(413, "too-large", f"a body may hold {MAX_BODY_BYTES} bytes")
    return length
