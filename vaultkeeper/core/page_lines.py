"""The lines of index pages: entries with links and facts, text made harmless, lists cut into pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from vaultkeeper.core import page_words as words
from vaultkeeper.core.format import Format, Language
from vaultkeeper.core.links import Resolver, link_text
from vaultkeeper.core.note import Entry, NotePath, Record
from vaultkeeper.core.page_rows import Row
from vaultkeeper.core.slug import split_path, stem_of

PAGE_ENTRIES: Final = 500
"""Entries on one page before it is split: LT-52."""


@dataclass(frozen=True, slots=True)
class Section:
    """One list of a page under a heading."""

    title: str
    rows: Sequence[Row]
    facts: Facts


def cut(topic: str, sections: Iterable[Section], lines: EntryLines, language: Language) -> list[list[str]]:
    """The sections as Markdown blocks, in as many pages as 500 entries each allow; one page without blocks for none.

    Only the first part of a list tells its length, so that one more entry changes as few pages as possible.
    """
    pages: list[list[str]] = [[]]
    room = PAGE_ENTRIES
    for section in sections:
        at = 0
        while at < len(section.rows):
            if room == 0:
                pages.append([])
                room = PAGE_ENTRIES
            part = section.rows[at : at + room]
            again = section.title + words.CONTINUED[language]
            title = again if at else words.counted(section.title, len(section.rows))
            pages[-1].append(
                _under(writable(title), lines.listed((topic, section.title, at), part, section.facts))
            )
            room -= len(part)
            at += len(part)
    return pages


def writable(text: str) -> str:
    """The text without lone surrogates, which a title may hold and a file cannot."""
    return text.encode("utf-8", "replace").decode()


def headed(title: str, lines: Sequence[str], level: int = 2) -> str:
    """A heading with its list below."""
    return "#" * (level - 2) + _under(title, "\n".join(lines))


def _under(title: str, text: str) -> str:
    return f"## {title}\n\n{text}"


class Facts(NamedTuple):
    """Which facts entries tell, which hangs on what their page mixes."""

    typed: bool = False
    """Whether the page mixes types, so that an entry names its own."""
    stated: bool = False
    """Whether the page mixes statuses."""
    dated: bool = False
    """Whether the day of the last change is told."""


@dataclass(slots=True)
class LineCache:
    """What was last written, kept from one call to the next; only good while the same file names are shared."""

    lines: dict[tuple[NotePath, Facts], tuple[Record, str]] = field(default_factory=dict)
    """Lines by path and facts, with the record they tell."""
    parts: dict[tuple[str, str, int], tuple[Sequence[Row], str]] = field(default_factory=dict)
    """Parts of lists by topic, heading and offset, with the rows they list."""

    def clear(self) -> None:
        """Forget all."""
        self.lines.clear()
        self.parts.clear()


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
        self._cache = LineCache() if cache is None else cache
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

    def listed(self, name: tuple[str, str, int], rows: Sequence[Row], facts: Facts) -> str:
        """The lines of part of a list, which has a name of its own."""
        known = self._cache.parts.get(name)
        if (
            known is not None and known[0] == rows
        ):  # fast, since rows that did not change are the same objects
            return known[1]
        text = writable("\n".join(self._entry(row, facts) for row in rows))
        self._cache.parts[name] = rows, text
        return text

    def _entry(self, row: Row, facts: Facts) -> str:
        """`- link · facts`."""
        cached = self._cache.lines.get((row.path, facts))
        if cached is not None and cached[0] is row.record:
            return cached[1]
        line = self._written(row, facts)
        self._cache.lines[row.path, facts] = row.record, line
        return line

    def _written(self, row: Row, told: Facts) -> str:
        record = row.record
        day = record.updated_at[:10] if told.dated else ""
        key = (
            day,
            told.typed and record.type,
            told.stated and record.status,
            record.importance,
            record.pinned,
        )
        facts = self._facts.get(key)
        if facts is None:
            facts = self._facts[key] = self._facts_of(record, day, told)
        return f"- {self.link(row.path, row.title)}{facts}"

    def _facts_of(self, record: Record, day: str, told: Facts) -> str:
        facts = [day] if day else []
        if told.typed:
            facts.append(self._types.get(record.type, record.type))
        if told.stated and record.status != self._fmt.adopted_status:
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
