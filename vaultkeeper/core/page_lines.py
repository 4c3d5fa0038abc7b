"""The lines of index pages: entries with links and facts, text made harmless, lists cut into pages."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from vaultkeeper.core import page_words as words
from vaultkeeper.core.format import Format, Language
from vaultkeeper.core.links import Resolver, link_text
from vaultkeeper.core.note import Entry, NotePath, Record
from vaultkeeper.core.slug import split_path, stem_of

PAGE_ENTRIES: Final = 500
"""Entries on one page before it is split: LT-52."""


class Row(NamedTuple):
    """One memory as lists sort it: by importance, highest first, then title, then id, all by code point (K-7)."""

    rank: int
    """The importance, negated."""
    title: str
    id: str
    path: NotePath
    record: Record


def rows_of(entries: Mapping[NotePath, Entry]) -> list[Row]:
    """Every memory once, sorted; of several notes with one id, the first by path (LT-37)."""
    chosen: dict[str, Entry] = {}
    for entry in entries.values():
        if entry.kind == "memory" and entry.record is not None:
            other = chosen.setdefault(entry.record.id, entry)
            if entry.path < other.path:
                chosen[entry.record.id] = entry
    rows = [row for entry in chosen.values() if (row := _row(entry)) is not None]
    rows.sort()
    return rows


def renew_rows(rows: list[Row], changed: Collection[tuple[Entry | None, Entry | None]]) -> None:
    """Bring the rows of an earlier catalog up to date, as `rows_of` would give them; no id may stand in two notes.

    Args:
        rows: sorted; changed in place.
        changed: each entry that is another one now, before and after.
    """
    for before, _ in changed:
        old = _row(before)
        at = bisect_left(rows, old[:4], key=lambda row: row[:4]) if old is not None else len(rows)
        if old is not None and at < len(rows) and rows[at][:4] == old[:4]:
            del rows[at]
    for _, after in changed:
        new = _row(after)
        if new is not None:
            rows.insert(bisect_left(rows, new[:4], key=lambda row: row[:4]), new)


def _row(entry: Entry | None) -> Row | None:
    if entry is None or entry.kind != "memory" or entry.record is None:
        return None
    record = entry.record
    return Row(-(record.importance or 0), record.title, record.id, entry.path, record)


@dataclass(frozen=True, slots=True)
class Section:
    """One list of a page under a heading."""

    title: str
    lines: Sequence[str]


def cut(sections: Iterable[Section], language: Language) -> list[list[str]]:
    """The sections as Markdown blocks, in as many pages as 500 entries each allow; one page without blocks for none.

    Only the first part of a list tells its length, so that one more entry changes as few pages as possible.
    """
    pages: list[list[str]] = [[]]
    room = PAGE_ENTRIES
    for section in sections:
        at = 0
        while at < len(section.lines):
            if room == 0:
                pages.append([])
                room = PAGE_ENTRIES
            part = section.lines[at : at + room]
            again = section.title + words.CONTINUED[language]
            pages[-1].append(headed(again if at else words.counted(section.title, len(section.lines)), part))
            room -= len(part)
            at += len(part)
    return pages


def headed(title: str, lines: Sequence[str], level: int = 2) -> str:
    """A heading with its list below."""
    return "#" * level + f" {title}\n\n" + "\n".join(lines)


LineCache = dict[tuple[NotePath, bool, bool], tuple[Record, str]]
"""Lines as they were last written, by path, `typed` and `stated`, with the record they tell."""


class EntryLines:
    """Writes entries; one for each call of `render_pages`, so that no link is made twice."""

    def __init__(  # noqa: PLR0917 — made once, by `render_pages`
        self,
        entries: Mapping[NotePath, Entry],
        fmt: Format,
        language: Language,
        resolver: Resolver,
        reserved: re.Pattern[str],
        cache: LineCache | None = None,
    ) -> None:
        self._cache: LineCache = {} if cache is None else cache
        self._entries = entries
        self._fmt = fmt
        self._language = language
        self._resolver = resolver
        self._reserved = reserved
        self._with_pages: Resolver | None = None
        self._links: dict[NotePath, str] = {}
        self._facts: dict[tuple[object, ...], str] = {}
        self._types = {word.name: word.label[language] for word in fmt.types}
        self._statuses = {word.name: word.label[language] for word in fmt.statuses}

    def link(self, path: NotePath, title: str) -> str:
        """A link that reaches exactly that note, also when the note is named like an index page."""
        link = self._links.get(path)
        if link is None:
            link = self._links[path] = link_text(path, tame(title) or stem_of(path), self._resolver_for(path))
        return link

    def _resolver_for(self, path: NotePath) -> Resolver:
        if not self._is_reserved(path):
            return self._resolver
        if self._with_pages is None:
            # A page of that name may not have been written yet; the link has to hold afterwards as well.
            names = {split_path(each)[1] for each in self._entries if self._is_reserved(each)}
            pages = (NotePath(f"{self._fmt.index_folder}/{name}") for name in sorted(names))
            self._with_pages = Resolver([*self._entries, *pages])
        return self._with_pages

    def _is_reserved(self, path: NotePath) -> bool:
        name = path[path.rfind("/") + 1 :]
        return len(name) <= _LONGEST_PAGE_NAME and bool(self._reserved.fullmatch(name))

    def entry(self, row: Row, *, typed: bool = False, stated: bool = False, dated: bool = False) -> str:
        """`- link · facts`; which facts depends on what the page mixes.

        Args:
            row: the memory.
            typed: whether the page mixes types, so that the entry names its own.
            stated: whether the page mixes statuses.
            dated: whether the day of the last change is told.
        """
        if dated:
            return self._written(row, row.record.updated_at[:10], typed=typed, stated=stated)
        cached = self._cache.get((row.path, typed, stated))
        if cached is not None and cached[0] is row.record:
            return cached[1]
        line = self._written(row, "", typed=typed, stated=stated)
        self._cache[row.path, typed, stated] = row.record, line
        return line

    def _written(self, row: Row, day: str, *, typed: bool, stated: bool) -> str:
        record = row.record
        key = (day, typed and record.type, stated and record.status, record.importance, record.pinned)
        facts = self._facts.get(key)
        if facts is None:
            facts = self._facts[key] = self._facts_of(record, day, typed=typed, stated=stated)
        return f"- {self.link(row.path, row.title)}{facts}"

    def _facts_of(self, record: Record, day: str, *, typed: bool, stated: bool) -> str:
        facts = [day] if day else []
        if typed:
            facts.append(self._types.get(record.type, record.type))
        if stated and record.status != self._fmt.adopted_status:
            facts.append(self._statuses.get(record.status, record.status))
        if record.importance is not None:
            facts.append(words.importance(record.importance, self._language))
        if record.pinned:
            facts.append(words.PIN_MARK)
        return "".join(f" · {fact}" for fact in facts)


_LONGEST_PAGE_NAME = 40
"""Spares most notes the comparison with page names; `test_pages` checks that no page name is longer."""

_WILD = re.compile(r"`|<!--|%%")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LOOKALIKES = str.maketrans("[]<>#|`", "［］＜＞＃｜'")


def tame(title: str) -> str:
    """A title that cannot open code or a comment, which would swallow the lines after it; links do the rest."""
    if _WILD.search(title):
        return title.replace("`", "'").replace("<!--", "＜!--").replace("%%", "％％")
    return title


def plain(text: str, limit: int = 300) -> str:
    """Somebody's text on one line, with look-alikes for what would be Markdown, cut with an ellipsis."""
    told = " ".join(_CONTROL.sub(" ", text).split()).translate(_LOOKALIKES).replace("%%", "％％")
    return told if len(told) <= limit else told[: limit - 1] + "…"
