"""File bytes ⇄ text: UTF-8 or UTF-16 in, UTF-8 out, lines always ended by LF (K-4, K-5)."""

from __future__ import annotations

import codecs

from vaultkeeper.core.errors import VaultkeeperError

_BOM = "\ufeff"
_UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class NotTextError(VaultkeeperError):
    """Bytes that are no text, or text that has no bytes: the file must be left alone (K-5).

    `code` is a finding's code, `facts` fill its message.
    """

    def __init__(self, code: str, **facts: object) -> None:
        super().__init__(f"{code} at {facts.get('offset')}")
        self.code = code
        self.facts: dict[str, object] = facts


def decode(data: bytes) -> str:
    """The text of a file, without BOM and with LF for CRLF and CR; an empty file is an empty text.

    Raises:
        NotTextError: it is neither UTF-8 nor UTF-16 with a BOM, or it holds NUL; quarantine the note.
    """
    encoding = "utf-16" if data.startswith(_UTF16_BOMS) else "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8" and (nul := data.find(b"\0")) >= 0:
            raise NotTextError("nul-bytes", offset=nul) from error
        raise NotTextError("not-utf8", offset=error.start) from error
    if (nul := text.find("\0")) >= 0:
        raise NotTextError("nul-bytes", offset=nul)
    return _with_lf(text)


def encode(text: str) -> bytes:
    """The bytes that a file gets: UTF-8 without BOM, with LF (K-4).

    Raises:
        NotTextError: the text holds half of a surrogate pair, which UTF-8 cannot say; write nothing.
    """
    try:
        return _with_lf(text).encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotTextError("not-utf8", offset=error.start) from error


def _with_lf(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.lstrip(_BOM)
