"""What index pages list: every memory once, sorted, in the list of each topic; follows a changed catalog note by note."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vaultkeeper.core.note import Entry, NotePath, Record


class Row(NamedTuple):
    """One memory as lists sort it: by importance, highest first, then title, then id, all by code point (K-7)."""

    rank: int
    """The importance, negated."""
    title: str
    id: str
    path: NotePath
    record: Record


class Rows:
    """The rows of a catalog. Lists that are handed out are the object's own: to be read only, until the next `renew`."""

    def __init__(self, entries: Mapping[NotePath, Entry]) -> None:
        """Of several notes with one id, the first by path is listed (LT-37)."""
        chosen: dict[str, Entry] = {}
        for entry in entries.values():
            if entry.kind == "memory" and entry.record is not None:
                other = chosen.setdefault(entry.record.id, entry)
                if entry.path < other.path:
                    chosen[entry.record.id] = entry
        self._lists: dict[str, list[Row]] = {}
        for row in sorted(row for entry in chosen.values() if (row := _row(entry)) is not None):
            for key in _keys(row.record):
                self._lists.setdefault(key, []).append(row)
        self._by_time: list[tuple[Any, ...]] = sorted((row.record.updated_at, *row) for row in self.all)

    def renew(self, changed: Collection[tuple[Entry | None, Entry | None]]) -> None:
        """Take in each entry that is another one now, before and after; no id may stand in two notes then."""
        for before, _ in changed:
            old = _row(before)
            if old is not None and _drop(self._by_time, (old.record.updated_at, *old[:4])):
                for key in _keys(old.record):
                    _drop(self._lists[key], old[:4])
        for _, after in changed:
            new = _row(after)
            if new is not None:
                insort(self._by_time, (new.record.updated_at, *new))
                for key in _keys(new.record):
                    insort(self._lists.setdefault(key, []), new)

    @property
    def all(self) -> Sequence[Row]:
        """Every row."""
        return self._lists.get("all", ())

    @property
    def pinned(self) -> Sequence[Row]:
        """Rows of pinned memories."""
        return self._lists.get("pinned", ())

    def of_status(self, status: str, kind: str = "") -> Sequence[Row]:
        """Rows of one status, of one type or of all."""
        return self._lists.get(f"status:{status}:{kind}", ())

    def tagged(self) -> Iterator[tuple[str, Sequence[Row]]]:
        """Each tag in order, with its rows."""
        for key in sorted(key for key, rows in self._lists.items() if key.startswith("tag:") and rows):
            yield key[4:], self._lists[key]

    def newest(self, most: int) -> list[Row]:
        """The rows changed last, newest first, equally new ones by title and id."""
        if not self._by_time or most <= 0:
            return []
        since = self._by_time[max(0, len(self._by_time) - most)][:1]
        recent = [Row._make(each[1:]) for each in self._by_time[bisect_left(self._by_time, since) :]]
        recent.sort(key=lambda row: (row.title, row.id))
        recent.sort(key=lambda row: row.record.updated_at, reverse=True)
        return recent[:most]


def _keys(record: Record) -> set[str]:
    """The lists that a record stands in."""
    keys = {f"tag:{tag}" for tag in record.tags}
    keys |= {"all", f"status:{record.status}:", f"status:{record.status}:{record.type}"}
    return keys | {"pinned"} if record.pinned else keys


def _row(entry: Entry | None) -> Row | None:
    if entry is None or entry.kind != "memory" or entry.record is None:
        return None
    record = entry.record
    return Row(-(record.importance or 0), record.title, record.id, entry.path, record)


def _drop(rows: list[Any], start: tuple[object, ...]) -> bool:
    """Take out the row that begins like that, if it is there; a tuple sorts before all that it is the beginning of."""
    at = bisect_left(rows, start)
    if at < len(rows) and rows[at][: len(start)] == start:
        del rows[at]
        return True
    return False
