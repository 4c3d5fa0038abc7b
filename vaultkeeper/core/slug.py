"""File names: which are the same, which are safe everywhere, and how one is made from a title."""

from __future__ import annotations

import re
import unicodedata

_MAX_BYTES = 240
"""Longest name in UTF-8 with its extension: K-24. File systems take 255, sync tools add their own endings."""

_ROOM = len(" 9999")
"""Kept free in a new name, so that `numbered` never has to shorten one that ends in an id."""

_EXTENSION = re.compile(r"\.md\Z", re.IGNORECASE)

_AS_BLANK = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f\x7f-\x9f\u2028\u2029]+')
"""Not allowed in a file name somewhere, or not in a wikilink (K-24), and the control characters."""

_DROPPED = re.compile(
    r"[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)
"""Invisible characters that would make two names look alike, and what UTF-8 cannot hold. Joiners stay: emoji and Persian
need them."""  # fmt: skip

_HIDDEN = re.compile(r"^(?:[\s.\u200c\u200d]|~\$)+")
"""A leading dot hides a file, `~$` marks an office program's lock: the keeper would never look at it (K-26)."""

_TAIL = " .\u200c\u200d"
"""Windows drops dots and blanks at the end of a name; a joiner there joins nothing."""


def same_name_key(name: str) -> str:
    """What names that count as the same have in common: case and Unicode normalisation play no part (K-25)."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def split_path(path: str) -> tuple[str, str]:
    """Folder and name of a vault-relative path; the folder is empty at the vault's root."""
    folder, _, name = path.rpartition("/")
    return folder, name


def stem_of(path: str) -> str:
    """The file's name without its last `.md`: `a/something.yo.md` → `something.yo`."""
    return _EXTENSION.sub("", split_path(path)[1])


def file_stem(title: str) -> str:
    """The title as a file name without extension, valid everywhere and as a wikilink's target; never empty."""
    return file_name(title)[: -len(".md")]


def file_name(title: str, suffix: str = "", *, fallback: str = "untitled") -> str:
    """The name of a new note, `<title><suffix>.md`, at most 240 bytes in UTF-8 with room for a number (K-24).

    Args:
        title: any text.
        suffix: stands behind the title uncut, such as `-mem_20261017t075957_b1c8069b`; a valid part of a name.
        fallback: takes the title's place where nothing of it can be used.
    """
    text = _DROPPED.sub("", _AS_BLANK.sub(" ", title))
    text = " ".join(unicodedata.normalize("NFC", text).split())
    room = _MAX_BYTES - len(".md") - _ROOM - len(suffix.encode())
    stem = _cut(_HIDDEN.sub("", text), room) or fallback
    return f"{_no_device(stem + suffix)}.md"


def _no_device(stem: str) -> str:
    """The stem, with `_` behind the name of a Windows device, which counts with any extension and blanks before it."""
    from pathvalidate import (
        sanitize_filename,
    )  # here, since most commands name no file and start faster without

    head = stem.partition(".")[0].rstrip()
    safe = sanitize_filename(head, platform="universal", additional_reserved_names=("CONIN$", "CONOUT$"))
    return safe + stem[len(head) :]


def numbered(path: str, n: int) -> str:
    """The path with a number behind its stem: `a/b.md`, 2 → `a/b 2.md`; shortened where it would pass 240 bytes."""
    folder, name = split_path(path)
    stem = _EXTENSION.sub("", name)
    tail = f" {n}{name[len(stem) :]}"
    if len((stem + tail).encode(errors="surrogatepass")) > _MAX_BYTES:
        stem = _cut(stem, _MAX_BYTES - len(tail))
    return f"{folder}/{stem}{tail}" if folder else stem + tail


def _cut(text: str, room: int) -> str:
    """As many whole graphemes as fit into `room` bytes, without dots and blanks at the end."""
    from wcwidth import iter_graphemes  # here, as above

    kept: list[str] = []
    for grapheme in iter_graphemes(text[: room + 1]):  # every character takes a byte at least
        room -= len(grapheme.encode(errors="surrogatepass"))
        if room < 0:
            break
        kept.append(grapheme)
    return "".join(kept).rstrip(_TAIL)
