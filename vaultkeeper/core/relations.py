"""Findings that concern more than one note: doubled ids, dangling ids, broken pairs, circles, links by title. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vaultkeeper.core.catalog import PAIRED, Catalog, memories
from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.links import loose_key
from vaultkeeper.core.note import Entry, NotePath, Record
from vaultkeeper.core.slug import stem_of


def relation_findings(catalog: Catalog) -> tuple[Finding, ...]:
    """All of them, in order of path and code; one pass over the records (LT-25, LT-37, LT-61)."""
    findings = list(_duplicates(catalog))
    for entry in catalog.related:
        assert entry.record is not None, "only memories are related"
        findings += _pairs(entry.path, entry.record, catalog)
    findings += _circles(catalog)
    return tuple(sorted(findings))


def _duplicates(catalog: Catalog) -> Iterator[Finding]:
    for note_id, paths in catalog.duplicates().items():
        shown = ", ".join(f"{path} ({_updated(catalog, path)})" for path in paths)
        for path in paths:
            yield found("duplicate-id", path, id=note_id, paths=shown)


def _updated(catalog: Catalog, path: NotePath) -> str:
    entry = catalog.get(path)
    return entry.record.updated_at if entry is not None and entry.record is not None else "?"


_BACK = {"superseded_by": "supersedes", "supersedes": "superseded_by", "conflicts_with": "conflicts_with"}
"""For each key that names another note: the key under which that note names it back."""


def _named(record: Record, key: str) -> tuple[str, ...]:
    """The ids under that key."""
    value: str | tuple[str, ...] = getattr(record, key)
    if isinstance(value, str):
        return (value,) if value else ()
    return value


def _pairs(path: NotePath, record: Record, catalog: Catalog) -> Iterator[Finding]:
    for key, back in _BACK.items():
        for other in _named(record, key):
            entry = catalog.by_id(other)
            if not catalog.holders(other):
                yield found("dangling-id", path, key=key, id=other)
            elif (
                entry is not None and entry.record is not None and record.id not in _named(entry.record, back)
            ):
                yield found("pair-one-sided", path, key=key, other=other, back=back)
    wanted = PAIRED.get(record.status)
    if wanted is not None and not _named(record, wanted):
        yield found("pair-alone", path, status=record.status, key=wanted)


def circles(catalog: Catalog) -> list[tuple[str, ...]]:
    """Ids that supersede each other in a circle, each circle once, beginning at its smallest id."""
    after = {
        entry.record.id: entry.record.superseded_by
        for entry in memories(catalog)
        if entry.record is not None and entry.record.superseded_by
    }
    seen: set[str] = set()
    found_circles: list[tuple[str, ...]] = []
    for start in sorted(after):
        walk: list[str] = []
        here = start
        while here in after and here not in seen:
            seen.add(here)
            walk.append(here)
            here = after[here]
        if here in walk:
            circle = walk[walk.index(here) :]
            first = circle.index(min(circle))
            found_circles.append((*circle[first:], *circle[:first]))
    return found_circles


def _circles(catalog: Catalog) -> Iterator[Finding]:
    for circle in circles(catalog):
        for note_id in circle:
            for path in catalog.holders(note_id):
                yield found("pair-cycle", path, ids=" → ".join((*circle, circle[0])))


@dataclass(frozen=True, slots=True)
class LooseLink:
    """A link that names a note by title, alias or id, which Obsidian does not follow (LT-43)."""

    source: NotePath
    written: str
    target: NotePath


def loose_links(catalog: Catalog) -> tuple[LooseLink, ...]:
    """Links of memories that reach exactly one note by title, alias or id and none by file name; by source."""
    names = _loose_names(catalog)
    resolver = catalog.resolver
    links: list[LooseLink] = []
    for entry in memories(catalog):
        for written in entry.links:
            targets = names.get(loose_key(written), ())
            if len(targets) == 1 and resolver.resolve(written, entry.path) is None:
                links.append(LooseLink(entry.path, written, targets[0]))
    return tuple(sorted(links, key=lambda link: (link.source, link.written)))


def _loose_names(catalog: Catalog) -> Mapping[str, tuple[NotePath, ...]]:
    names: dict[str, tuple[NotePath, ...]] = {}
    for entry in memories(catalog):
        record = entry.record
        assert record is not None
        for name in {loose_key(text) for text in (record.title, record.id, *record.aliases)}:
            names[name] = (*names.get(name, ()), entry.path)
    return names


def loose_link_findings(catalog: Catalog) -> tuple[Finding, ...]:
    """A `link-by-title` finding for each of `loose_links`."""
    return tuple(
        found("link-by-title", link.source, link=link.written, target=stem_of(link.target))
        for link in loose_links(catalog)
    )


@dataclass(frozen=True, slots=True)
class Backlinks:
    """Which notes link to one note, and to which notes it links (LT-43)."""

    links: tuple[NotePath, ...]
    backlinks: tuple[NotePath, ...]


def backlinks_of(catalog: Catalog, entry: Entry) -> Backlinks:
    """Links and backlinks, resolved by file name, title, alias or id."""
    names = _loose_names(catalog)

    def reach(source: Entry) -> set[NotePath]:
        reached: set[NotePath] = set()
        for written in source.links:
            target = catalog.resolver.resolve(written, source.path)
            loose = names.get(loose_key(written), ())
            if target is not None:
                reached.add(target)
            elif len(loose) == 1:
                reached.add(loose[0])
        return reached

    back = (other.path for other in catalog if other.path != entry.path and entry.path in reach(other))
    return Backlinks(tuple(sorted(reach(entry))), tuple(sorted(back)))
