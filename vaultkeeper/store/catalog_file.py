"""The keeper's own catalog on disk, in its cache folder: quick to look at, whole or not there at all (LT-51)."""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from vaultkeeper.core.finding import Finding
from vaultkeeper.core.note import Base, Entry, NotePath, Record
from vaultkeeper.store.atomic import write_atomic

_VERSION = 1
"""Counted up when the same fields come to mean something else; new fields change `_MAGIC` by themselves."""


class Head(msgspec.Struct, array_like=True):
    """What tells whether anything has changed since the catalog was saved, without reading its entries."""

    vault: str
    format: str
    options: str
    """Digest of all that planning depends on besides the notes."""
    stats: dict[NotePath, tuple[int, int]]
    """Size and modification time in nanoseconds of every file."""
    findings: tuple[Finding, ...]
    unsettled: bool
    """Whether something was left to do."""
    pages_stale: bool = False
    """Whether the index pages were left behind the notes."""
    fresh: bool = False
    """Whether no keeper ever acted on it: it was only made by reading, as by `check`."""
    redirects: dict[NotePath, NotePath] = {}
    """Where notes went whose links are not all mended, by where they stood."""


class _Owner(msgspec.Struct, array_like=True):
    """The beginning of a head."""

    vault: str


_FIELDS = [(kind.__name__, kind.__struct_fields__) for kind in (Head, Entry, Record, Base, Finding)]
_MAGIC = hashlib.blake2b(f"vaultkeeper catalog {_VERSION} {_FIELDS}".encode(), digest_size=16).digest()
"""Opens the file. Rows are stored without the names of their fields, so a file with other fields must not be read."""

_DIGEST_SIZE = 16
_LENGTH_SIZE = 8
_PREFIX_SIZE = _DIGEST_SIZE + _LENGTH_SIZE
"""Before each of the two frames: the digest of the frame, then its length."""

_HEAD = msgspec.msgpack.Decoder(Head)
_OWNER = msgspec.msgpack.Decoder(_Owner)
_ENTRIES = msgspec.msgpack.Decoder(list[Entry])
_ENCODER = msgspec.msgpack.Encoder()


class CatalogFile:
    """One file with two frames, head and entries, replaced as a whole.

    Anything odd about it (missing, cut, damaged, of another version or another vault) reads as None: a catalog is made
    again from the notes.
    """

    def __init__(self, path: Path, vault: str) -> None:
        self._path = path
        self._vault = _sayable(vault)

    def load_head(self) -> Head | None:
        """The first frame; the entries are not read."""
        try:
            with self._path.open("rb") as stream, _without_gc():
                head = _HEAD.decode(_head_frame(stream))
        except _UNUSABLE:
            return None
        return head if head.vault == self._vault else None

    def load_entries(self) -> dict[NotePath, Entry] | None:
        """The entries by path, in the order they were saved."""
        try:
            with self._path.open("rb") as stream, _without_gc():
                if _OWNER.decode(_head_frame(stream)).vault != self._vault:
                    return None
                return {entry.path: entry for entry in _ENTRIES.decode(_frame(stream))}
        except _UNUSABLE:
            return None

    def save(self, head: Head, entries: Mapping[NotePath, Entry]) -> None:
        """Replace the file.

        Raises:
            OSError: it could not be written; the old one stands, and the next keeper makes do with that.
        """
        with _without_gc():
            try:
                frames = _ENCODER.encode(head), _ENCODER.encode(list(entries.values()))
            except UnicodeEncodeError:
                frames = _frames_of_what_can_be_said(head, entries)
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(self._path, _MAGIC + b"".join(map(_framed, frames)), mode=0o600)


class _DamagedError(Exception):
    """The file is not what was written."""


_UNUSABLE = (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError, _DamagedError)


def _head_frame(stream: BinaryIO) -> bytes:
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise _DamagedError
    return _frame(stream)


def _frame(stream: BinaryIO) -> bytes:
    """The next frame; raises _DamagedError unless it is whole."""
    prefix = stream.read(_PREFIX_SIZE)
    length = int.from_bytes(prefix[_DIGEST_SIZE:], "big")
    if length > os.fstat(stream.fileno()).st_size:  # before so much memory is asked for
        raise _DamagedError
    frame = stream.read(length)
    if _digest(prefix[_DIGEST_SIZE:] + frame) != prefix[:_DIGEST_SIZE]:
        raise _DamagedError
    return frame


def _framed(frame: bytes) -> bytes:
    length = len(frame).to_bytes(_LENGTH_SIZE, "big")
    return _digest(length + frame) + length + frame


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_SIZE).digest()


def _frames_of_what_can_be_said(head: Head, entries: Mapping[NotePath, Entry]) -> tuple[bytes, bytes]:
    """The frames without files whose names or texts are no Unicode, which are looked at anew by the next keeper."""
    kept = [entry for entry in entries.values() if _can_be_said(entry)]
    lost = entries.keys() - {entry.path for entry in kept}
    seen = Head(
        vault=_sayable(head.vault),
        format=head.format,
        options=head.options,
        stats={path: stat for path, stat in head.stats.items() if path not in lost and _can_be_said(path)},
        findings=tuple(finding for finding in head.findings if _can_be_said(finding)),
        unsettled=True,
        pages_stale=head.pages_stale,
        fresh=head.fresh,
    )
    return _ENCODER.encode(seen), _ENCODER.encode(kept)


def _sayable(name: str) -> str:
    """The name, with what is no Unicode escaped as Python does it."""
    return name.encode(errors="backslashreplace").decode()


def _can_be_said(value: object) -> bool:
    try:
        _ENCODER.encode(value)
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def _without_gc() -> Iterator[None]:
    """Pause the cycle collector, which would look through 50,000 new rows several times while they are made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
