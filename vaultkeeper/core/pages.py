"""Catalog → index pages: one per type, one per status that is not active, and the five about all notes (LT-52). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from vaultkeeper.core import page_words as words
from vaultkeeper.core.finding import Finding
from vaultkeeper.core.format import Bilingual, Format, Language, Word
from vaultkeeper.core.links import Resolver
from vaultkeeper.core.note import Entry, NotePath, Record
from vaultkeeper.core.page_health import health_blocks
from vaultkeeper.core.page_lines import EntryLines, Facts, LineCache, Section, cut, plain, writable
from vaultkeeper.core.page_rows import Rows
from vaultkeeper.core.slug import same_name_key, split_path

HEALTH_KEY: Final = "health"
"""Key of the Health page, which no record but only findings and quarantined notes concern."""

RECENT_ENTRIES: Final = 100


@dataclass(frozen=True, slots=True)
class Page:
    """One file of the index folder: its generated block, and what stands above it when the file is made."""

    path: NotePath
    block: str
    preface: str


@dataclass(frozen=True, slots=True)
class _Topic:
    """What a page, with the pages it is split into, is about."""

    key: str
    name: str
    """Stem of the first page's file name, English whatever the vault's language."""
    title: Bilingual


@lru_cache(maxsize=16)
def _topics(fmt: Format) -> tuple[_Topic, ...]:
    return (
        *(_Topic(f"type:{word.name}", _type_name(word), word.label) for word in fmt.types),
        *(
            _Topic(f"status:{word.name}", word.label.en, word.label)
            for word in fmt.statuses
            if word.name in fmt.listed_statuses
        ),
        _Topic("all", "All", words.ALL),
        _Topic("tags", "Tags", words.TAGS),
        _Topic("pinned", "Pinned", words.PINNED),
        _Topic("recent", "Recent", words.RECENT),
        _Topic(HEALTH_KEY, "Health", words.HEALTH),
    )


def _type_name(word: Word) -> str:
    """The type's folder where that is one word, else the type itself: `Decisions`, `Project State`."""
    if word.folder and "/" not in word.folder:
        return word.folder
    return word.name.replace("-", " ").title()


def page_paths(fmt: Format) -> dict[str, NotePath]:
    """The page of each key; of a split one, the first."""
    return {topic.key: _path_of(fmt, topic, 1) for topic in _topics(fmt)}


def _path_of(fmt: Format, topic: _Topic, number: int) -> NotePath:
    return NotePath(f"{fmt.index_folder}/{_numbered(topic.name, number)}.md")


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} {number}"


@lru_cache(maxsize=16)
def _page_name(fmt: Format) -> re.Pattern[str]:
    names = "|".join(re.escape(topic.name) for topic in _topics(fmt))
    return re.compile(rf"(?P<name>{names})(?: (?P<number>[2-9]|[1-9]\d{{1,5}}))?\.md", re.IGNORECASE)


def is_page(path: NotePath, fmt: Format) -> bool:
    """Whether the file is named like an index page, a split one too; case plays no part (K-25)."""
    folder, name = split_path(path)
    return same_name_key(folder) == same_name_key(fmt.index_folder) and bool(_page_name(fmt).fullmatch(name))


def page_keys(record: Record | None, fmt: Format) -> frozenset[str]:
    """Keys of the pages that show this record; a change of the note concerns those of its old and of its new record.

    Where an id comes to stand in several notes, or in one again, the pages of all of them are concerned: only the
    first by path is listed.
    """
    if record is None:
        return frozenset()
    keys = {f"type:{record.type}", "all", "tags", "recent"}
    if record.status in fmt.listed_statuses:
        keys.add(f"status:{record.status}")
    if record.pinned:
        keys.add("pinned")
    return frozenset(keys)


def render_pages(
    entries: Mapping[NotePath, Entry],
    fmt: Format,
    language: Language,
    resolver: Resolver,
    health: Sequence[Finding],
    *,
    only: Collection[str] | None = None,
    rows: Rows | None = None,
    cache: LineCache | None = None,
) -> tuple[Page, ...]:
    """The index pages as they should be now; the same records give the same bytes on every machine (K-7).

    Args:
        entries: the whole catalog.
        fmt: its format.
        language: of headings and facts; file names are English always.
        resolver: over the same files as `entries`.
        health: all findings that are known.
        only: keys of the pages wanted (`page_keys`, `HEALTH_KEY`); None: all.
        rows: those of the entries, where they are known.
        cache: lines of an earlier call, renewed here; only good while the same file names are shared as then.

    Returns:
        The pages with those they are split into, in a fixed order; a page without entries says so.
    """
    wanted = [topic for topic in _topics(fmt) if only is None or topic.key in only]
    lines = EntryLines(entries, fmt, language, resolver, _page_name(fmt), cache)
    if rows is None:
        rows = Rows(entries)
    pages: list[Page] = []
    for topic in wanted:
        if topic.key == HEALTH_KEY:
            parts = [[writable(block) for block in health_blocks(entries, lines, health, language)]]
        else:
            parts = cut(topic.key, _sections(topic, rows, fmt, language), lines, language)
        pages += _bound(topic, parts, fmt, language)
    return tuple(pages)


def surplus(existing: Iterable[NotePath], pages: Sequence[Page], fmt: Format) -> tuple[NotePath, ...]:
    """Split pages among the existing files that their topic, now rendered with fewer pages, no longer needs."""
    needed = {same_name_key(page.path) for page in pages}
    gone: list[NotePath] = []
    for path in existing:
        match = _page_name(fmt).fullmatch(split_path(path)[1]) if is_page(path, fmt) else None
        if match is None or match["number"] is None or same_name_key(path) in needed:
            continue
        if same_name_key(f"{fmt.index_folder}/{match['name']}.md") in needed:
            gone.append(path)
    return tuple(sorted(gone))


def _bound(topic: _Topic, parts: Sequence[Sequence[str]], fmt: Format, language: Language) -> Iterator[Page]:
    """The parts of one topic as pages, each with links to the one before and the one after."""
    for number, blocks in enumerate(parts, start=1):
        turning = []
        if number > 1:
            turning.append(f"[[{_path_of(fmt, topic, number - 1)[:-3]}|{words.BEFORE[language]}]]")
        if number < len(parts):
            turning.append(f"[[{_path_of(fmt, topic, number + 1)[:-3]}|{words.AFTER[language]}]]")
        turn = [" · ".join(turning)] if turning else []
        told = [words.NOTICE[language], *turn, *(blocks or [words.NONE_YET[language]]), *turn]
        yield Page(
            _path_of(fmt, topic, number), "\n\n".join(told), f"# {_numbered(topic.title[language], number)}\n"
        )


def _sections(topic: _Topic, rows: Rows, fmt: Format, language: Language) -> Iterator[Section]:
    kind, _, word = topic.key.partition(":")
    title = topic.title[language]
    match kind:
        case "type":  # a list for each status, in the format's order, so that what holds now stands first
            for status in fmt.statuses:
                yield Section(status.label[language], rows.of_status(status.name, word), Facts())
        case "status":
            yield Section(title, rows.of_status(word), Facts(typed=True))
        case "tags":  # without `#`: a live tag would count the page itself among its notes
            for tag, tagged in rows.tagged():
                yield Section(plain(tag), tagged, _MIXED)
        case "recent":
            yield Section(title, rows.newest(RECENT_ENTRIES), Facts(typed=True, stated=True, dated=True))
        case _:
            yield Section(title, rows.pinned if kind == "pinned" else rows.all, _MIXED)


_MIXED: Final = Facts(typed=True, stated=True)
