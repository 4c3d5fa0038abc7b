"""JSON files that people may edit by hand: read with a clear word on what is wrong and where, written for reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

MAX_BYTES = 4 * 1024 * 1024
"""A settings file of a few hundred bytes that is larger than this is something else."""


class NotJsonError(ValueError):
    """The file holds no JSON object; `str(error)` says what is wrong, with line and column where there is one."""


def read_object(file: Path) -> dict[str, object] | None:
    """The JSON object that the file holds, keys in the order of the file; None where there is no file.

    Raises:
        NotJsonError: it holds something else; leave it as it is and tell its owner.
        OSError: it cannot be read.
    """
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > MAX_BYTES:
        raise NotJsonError(f"is larger than {MAX_BYTES // 2**20} MiB")
    return parse_object(data)


def parse_object(data: bytes) -> dict[str, object]:
    """The JSON object in these bytes; UTF-8, a BOM is allowed.

    Raises:
        NotJsonError: they are something else.
    """
    if not data.strip(b"\0 \t\r\n"):
        raise NotJsonError("is empty, or holds nothing but NUL bytes")
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse, object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise NotJsonError(f"is not UTF-8 text (byte {error.start})") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NotJsonError(f"is not JSON ({where}: {error.msg})") from error
    except NotJsonError:
        raise
    except (ValueError, RecursionError) as error:
        raise NotJsonError(f"is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise NotJsonError(f"holds {kind_of(value)}, not an object")
    return value


def object_bytes(document: dict[str, object]) -> bytes:
    """The object as JSON for people: indented, Chinese as it is, a newline at the end."""
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 has no form for but JSON has
        return (json.dumps(document, indent=2, allow_nan=False) + "\n").encode()


def kind_of(value: object) -> str:
    """What JSON calls such a value, for messages."""
    names: dict[type, str] = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        type(None): "null",
    }
    return names.get(type(value), "a number")


def _refuse(constant: str) -> NoReturn:
    raise NotJsonError(f"is not JSON ({constant} is no JSON value)")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The pairs as an object; a key given twice is refused, since writing the file again would lose one of the two."""
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotJsonError(f"has the key {twice!r} twice")
    return document
