"""`tidy --fix-links`: repairs of broken pairs (LT-61) and of links that only vaultkeeper can follow (LT-43)."""

from __future__ import annotations

from collections.abc import Iterable

from vaultkeeper.core.catalog import Catalog, memories
from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.links import Link, find_links, link_text
from vaultkeeper.core.note import NotePath, Record
from vaultkeeper.core.patch import WriteValue
from vaultkeeper.core.plan import Candidate
from vaultkeeper.core.relations import circles, loose_links
from vaultkeeper.keeper.edits import Change, candidate
from vaultkeeper.keeper.keeper import Keeper


def repairs(keeper: Keeper) -> list[Candidate]:
    """Every repair that can be made safely, one candidate a note; notes that must not be written are passed over."""
    wanted: dict[NotePath, dict[str, WriteValue | None]] = {}
    _break_circles(keeper.catalog, wanted)
    for entry in memories(keeper.catalog):
        assert entry.record is not None
        if len(keeper.catalog.holders(entry.record.id)) == 1:
            _pair_repairs(entry.path, entry.record, keeper.catalog, wanted)
    texts = _relinked(keeper)
    candidates: list[Candidate] = []
    for path in sorted({*wanted, *texts}):
        change = Change(
            path=path,
            values=wanted.get(path, {}),
            text=texts.get(path),
            reason="broken pair or link repaired",
            rule=keeper.tools.fmt.rules["pair" if path in wanted else "links"],
            source="vaultkeeper",
        )
        try:
            candidates.append(candidate(keeper, change))
        except VaultkeeperError:
            continue  # its own finding says why it is left alone
    return candidates


def _break_circles(catalog: Catalog, wanted: dict[NotePath, dict[str, WriteValue | None]]) -> None:
    """The youngest note of a circle is the one that holds now: it is superseded by none."""
    for circle in circles(catalog):
        records = [entry.record for note_id in circle if (entry := catalog.by_id(note_id)) and entry.record]
        if len(records) != len(circle):
            continue
        youngest = max(records, key=lambda record: (record.created_at, record.id))
        path = catalog.holders(youngest.id)[0]
        values = wanted.setdefault(path, {})
        values["superseded_by"] = None
        if youngest.status == "superseded":
            values["status"] = "archived"  # trust never rises by a repair
        successor = catalog.by_id(youngest.superseded_by)
        if successor is not None and successor.record is not None:
            left = [note_id for note_id in successor.record.supersedes if note_id != youngest.id]
            wanted.setdefault(successor.path, {})["supersedes"] = left or None


def _pair_repairs(
    path: NotePath, record: Record, catalog: Catalog, wanted: dict[NotePath, dict[str, WriteValue | None]]
) -> None:
    if record.superseded_by and "superseded_by" not in wanted.get(path, {}):
        _name_back(catalog, record.superseded_by, "supersedes", record.id, wanted)
    if record.status == "superseded" and not record.superseded_by and "status" not in wanted.get(path, {}):
        heirs = [
            e.path for e in memories(catalog) if e.record is not None and record.id in e.record.supersedes
        ]
        if len(heirs) == 1:
            heir = catalog.get(heirs[0])
            assert heir is not None
            assert heir.record is not None
            wanted.setdefault(path, {})["superseded_by"] = heir.record.id
        elif not heirs:
            wanted.setdefault(path, {})["status"] = "archived"
    for other in record.conflicts_with:
        _name_back(catalog, other, "conflicts_with", record.id, wanted)
    for other in record.supersedes:
        entry = catalog.by_id(other)
        alone = entry is not None and entry.record is not None and not entry.record.superseded_by
        if entry is not None and alone and "supersedes" not in wanted.get(path, {}):
            wanted.setdefault(entry.path, {}).setdefault("superseded_by", record.id)


def _name_back(
    catalog: Catalog, other: str, key: str, note_id: str, wanted: dict[NotePath, dict[str, WriteValue | None]]
) -> None:
    """Add the id to the other note's list, unless it stands there."""
    entry = catalog.by_id(other)
    if entry is None or entry.record is None:
        return
    planned = wanted.get(entry.path, {}).get(key)
    ids: Iterable[str] = planned if isinstance(planned, list) else getattr(entry.record, key)
    listed = list(ids)
    if note_id not in listed and not (key in wanted.get(entry.path, {}) and planned is None):
        wanted.setdefault(entry.path, {})[key] = [*listed, note_id]


def _relinked(keeper: Keeper) -> dict[NotePath, str]:
    """New texts of the notes whose links name a title, an alias or an id (LT-43)."""
    targets: dict[NotePath, dict[str, NotePath]] = {}
    for loose in loose_links(keeper.catalog):
        targets.setdefault(loose.source, {})[loose.written] = loose.target
    texts: dict[NotePath, str] = {}
    for path, written in targets.items():
        parsed = keeper.census.look(path)
        if parsed is None or parsed.front is None:
            continue
        text = parsed.front.mended
        for link in reversed(find_links(text, parsed.body_at + len(text) - len(parsed.text))):
            if link.kind == "wiki" and link.target in written:
                text = _followable(text, link, written[link.target], keeper.catalog)
        if text != parsed.text:
            texts[path] = text
    return texts


def _followable(text: str, link: Link, target: NotePath, catalog: Catalog) -> str:
    """The text with that link written as `[[file|what it said]]`; as it is where no wikilink can name the file."""
    shown = link_text(target, link.target, catalog.resolver)
    if not shown.startswith("[["):
        return text
    aim = shown[2:-2].split("|")[0]
    has_alias = text[link.end + len(link.fragment) :].startswith(("|", "\\|"))
    if not (has_alias or link.fragment or link.embed):
        in_table = text[text.rfind("\n", 0, link.start) + 1 : link.start].lstrip().startswith("|")
        aim += ("\\|" if in_table else "|") + link.target
    return text[: link.start] + aim + text[link.end :]
