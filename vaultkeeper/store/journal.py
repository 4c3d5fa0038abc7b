"""The journal of a vault: one JSON line for each change, one file a month, only ever appended to (LT-53)."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby, islice
from pathlib import Path

from vaultkeeper.store.atomic import write_atomic
from vaultkeeper.store.lock import short_lock

KEYS = ("at", "op", "id", "reason", "before", "after", "source", "from", "to")
"""Keys of an entry, in the order they are written; one without a value is left out."""

_MONTH_FILE = re.compile(r"(\d{4}-\d{2})\.jsonl", re.ASCII)
_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-", re.ASCII)

_TURN = timedelta(seconds=10)
"""Another process needs milliseconds for its lines; one that keeps the lock this long was stopped in the middle."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One entry as it stands in a file, with its newline."""

    month: str
    data: bytes
    once: bool
    """Not to be written where it stands already."""


class Journal:
    """Appends entries to the month's file and reads them back.

    What cannot be written waits in a file outside the vault and goes first the next time, so that nothing is lost or out
    of order when the vault is read-only or the disk full. Lines of two processes are never mixed.
    """

    def __init__(self, folder: Path, pending: Path, *, turn: timedelta = _TURN) -> None:
        """Make the journal of a vault; nothing is touched yet.

        Args:
            folder: in the vault's private folder, which must exist for anything to be written.
            pending: the file, in the vault's state folder, where entries wait.
            turn: how long another process may take; after that its lines and these may end up in either order.
        """
        self._folder = folder
        self._pending = pending
        self._turn = turn

    def append(self, entries: Sequence[Mapping[str, str]], only_if_missing: bool = False) -> None:
        """Write the entries at the end, in order, on disk when this returns; or have them wait.

        Args:
            entries: each with `at`, which says the month; keys other than `KEYS` and empty values are left out.
            only_if_missing: leave out those that stand in the journal or wait already.

        Raises:
            OSError: they could neither be written nor kept waiting; what to do is the caller's to know.
            ValueError: one has no `at` that names a month; nothing was written.
        """
        lines = [_line(entry, once=only_if_missing) for entry in entries]
        with short_lock(self._pending.with_name(self._pending.name + ".lock"), self._turn):
            waiting = self._waiting()
            known = {line.data for line in waiting} if only_if_missing else set()
            todo = waiting + [line for line in lines if line.data not in known]
            if not todo:
                return
            try:
                for month, group in groupby(todo, key=lambda line: line.month):
                    self._write(month, list(group))
            except OSError:
                self._keep(todo)  # what was written all the same will be found there
                return
            if waiting:
                with suppress(OSError):  # what stays is found in the journal next time, and not written twice
                    self._pending.unlink()

    def _write(self, month: str, lines: Sequence[_Line]) -> None:
        """Append the lines to their file by one write."""
        if self._folder.is_symlink():
            raise OSError(errno.ELOOP, "a symbolic link is not followed", str(self._folder))
        # Not with its parents: where the private folder is gone, the vault may be unmounted (K-38).
        self._folder.mkdir(exist_ok=True)
        flags = (
            os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        )
        handle = os.open(self._folder / f"{month}.jsonl", flags, 0o666)
        try:
            standing = _all(handle) if any(line.once for line in lines) else b""
            known = {line + b"\n" for line in standing.split(b"\n")}
            data = b"".join(line.data for line in lines if not (line.once and line.data in known))
            if data:
                _put(handle, (b"\n" if _is_torn(handle) else b"") + data)
        finally:
            os.close(handle)

    def _waiting(self) -> list[_Line]:
        try:
            data = self._pending.read_bytes()
        except FileNotFoundError:
            return []
        return [
            _Line(entry["at"][:7], line + b"\n", once=True)
            for line in data.split(b"\n")
            if (entry := _entry(line)) is not None and _MONTH.match(entry["at"])
        ]

    def _keep(self, lines: Sequence[_Line]) -> None:
        write_atomic(self._pending, b"".join(line.data for line in lines), mode=0o600)

    def read(self, note_id: str | None = None, limit: int | None = None) -> list[dict[str, str]]:
        """Entries, the newest last; torn and foreign lines are passed over, entries that wait are there.

        Args:
            note_id: only those of this note.
            limit: only the newest so many; None: all.
        """
        newest_first = (entry for entry in self._backwards(note_id) if note_id in {None, entry.get("id")})
        return list(islice(newest_first, limit))[::-1]

    def damaged(self) -> list[tuple[str, int]]:
        """Lines that `read` passes over, such as a torn one: name of the file and number of the line, from 1."""
        return [
            (f"{month}.jsonl", number)
            for month in sorted(self._months())
            for number, line in enumerate(self._lines(month), start=1)
            if line.strip() and _entry(line) is None
        ]

    def _backwards(self, note_id: str | None) -> Iterator[dict[str, str]]:
        """All entries, the newest first; those that cannot be of that note may be left out."""
        telling = note_id.encode() if note_id and re.fullmatch(r"\w+", note_id, re.ASCII) else b""
        waiting: list[_Line] = []
        with suppress(OSError):
            waiting = self._waiting()
        for month in sorted(self._months() | {line.month for line in waiting}, reverse=True):
            lines = self._lines(month)
            lines += [
                line.data[:-1] for line in waiting if line.month == month and line.data[:-1] not in lines
            ]
            entries = [entry for line in lines if telling in line and (entry := _entry(line)) is not None]
            yield from sorted(entries, key=lambda entry: entry["at"])[::-1]

    def _months(self) -> set[str]:
        with suppress(OSError):
            return {match[1] for name in os.listdir(self._folder) if (match := _MONTH_FILE.fullmatch(name))}
        return set()

    def _lines(self, month: str) -> list[bytes]:
        with suppress(OSError):
            return (self._folder / f"{month}.jsonl").read_bytes().split(b"\n")
        return []


def _line(entry: Mapping[str, str], *, once: bool) -> _Line:
    at = entry.get("at", "")
    if not _MONTH.match(at):
        raise ValueError(f"an entry of the journal is dated {at!r}")
    kept = {key: entry[key] for key in KEYS if entry.get(key)}
    try:
        data = _json(kept, plain=False).encode()
    except (
        UnicodeEncodeError
    ):  # a file name that is not UTF-8 gives half a surrogate pair, which JSON can only escape
        data = _json(kept, plain=True).encode()
    return _Line(at[:7], data + b"\n", once)


def _json(entry: Mapping[str, str], *, plain: bool) -> str:
    return json.dumps(entry, ensure_ascii=plain, separators=(",", ":"))


def _entry(line: bytes) -> dict[str, str] | None:
    """What a line says; None where it is torn or is no entry. Values that are no text are shown as JSON."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("at"), str):
        return None
    return {
        key: part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
        for key, part in value.items()
    }


def _all(handle: int) -> bytes:
    os.lseek(handle, 0, os.SEEK_SET)
    with os.fdopen(handle, "rb", closefd=False) as stream:
        return stream.read()


def _is_torn(handle: int) -> bool:
    """Whether the file's last line lacks its newline, so that the next one would be joined to it."""
    if os.lseek(handle, 0, os.SEEK_END) == 0:
        return False
    os.lseek(handle, -1, os.SEEK_END)
    return os.read(handle, 1) != b"\n"


def _put(handle: int, data: bytes) -> None:
    """Append by a single write, so that another program's lines cannot come between, and have it on disk."""
    if os.write(handle, data) < len(data):
        raise OSError(errno.ENOSPC, "the line was cut off")
    os.fsync(handle)
