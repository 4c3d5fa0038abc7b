"""The life of a note (LT-60, LT-61): what each verb wants its notes to say. Decides only; `edits.commit` does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vaultkeeper.core.errors import RefusedError
from vaultkeeper.core.format import Format
from vaultkeeper.core.note import Entry, Record
from vaultkeeper.core.parse import Parsed
from vaultkeeper.core.patch import WriteValue
from vaultkeeper.core.sections import Outline, Section, outline, section_text
from vaultkeeper.keeper.edits import Change, Edit, memory_at, parsed_at
from vaultkeeper.keeper.keeper import Keeper


@dataclass(frozen=True, slots=True)
class _Step:
    """One verb on one note: from which statuses (empty: any) to which."""

    to: str
    allowed: tuple[str, ...]
    op: str


_STEPS = {
    "confirm": _Step("active", ("pending",), "confirm"),
    "reject": _Step("archived", ("pending",), "reject"),
    "archive": _Step("archived", (), "archive"),
    "stale": _Step("stale", ("active", "stale"), "stale"),
    "restore": _Step("active", ("archived", "stale", "superseded"), "update"),
}


def step(keeper: Keeper, verb: str, reference: str) -> Edit:
    """confirm, reject, archive, stale, restore.

    Raises:
        RefusedError: the note's status does not allow it; the reason names the status.
    """
    rule, entry = _STEPS[verb], memory_at(keeper, reference)
    record = _record(entry)
    if rule.allowed and record.status not in rule.allowed:
        wanted = " or ".join(rule.allowed)
        raise RefusedError(
            "wrong-status", f"{entry.path} is {record.status}; {verb} is for notes that are {wanted}"
        )
    changes = []
    values: dict[str, WriteValue | None] = {"status": rule.to}
    if verb == "restore" and record.superseded_by:
        values["superseded_by"] = None
        changes += _without(keeper, record.superseded_by, "supersedes", record.id, f"restored {entry.path}")
    main = Change(
        path=entry.path, values=values, op=rule.op, reason=verb, rule=keeper.tools.fmt.rules["life"]
    )
    return Edit(changes=(main, *changes))


def supersede(keeper: Keeper, old: str, new: str) -> Edit:
    """OLD gets status superseded and `superseded_by: NEW`; NEW lists OLD in `supersedes`."""
    before, after = _two(keeper, old, new)
    _refuse_circle(keeper, before, after)
    reason = f"superseded by {after.title}"
    return Edit(
        changes=(
            _change(keeper, old, {"status": "superseded", "superseded_by": after.id}, "supersede", reason),
            _change(
                keeper,
                new,
                {"supersedes": _with(after.supersedes, before.id)},
                "update",
                f"supersedes {before.title}",
            ),
        )
    )


def _refuse_circle(keeper: Keeper, before: Record, after: Record) -> None:
    here, seen = after, {before.id}
    while here.superseded_by:
        if here.superseded_by in seen:
            raise RefusedError("pair-cycle", f"{after.title} is itself superseded by {before.title}")
        seen.add(here.id)
        entry = keeper.catalog.by_id(here.superseded_by)
        if entry is None or entry.record is None:
            return
        here = entry.record


def conflict(keeper: Keeper, a: str, b: str) -> Edit:
    """Both get status conflict and list each other."""
    one, two = _two(keeper, a, b)
    return Edit(
        changes=(
            _change(keeper, a, _conflicted(one, two), "conflict", f"conflicts with {two.title}"),
            _change(keeper, b, _conflicted(two, one), "conflict", f"conflicts with {one.title}"),
        )
    )


def _conflicted(record: Record, other: Record) -> dict[str, WriteValue | None]:
    return {"status": "conflict", "conflicts_with": _with(record.conflicts_with, other.id)}


def resolve(keeper: Keeper, a: str, b: str, keep: str) -> Edit:
    """Keep one (the other is superseded by it) or both (both active); the mark of their conflict goes."""
    one, two = _two(keeper, a, b)
    if two.id not in one.conflicts_with and one.id not in two.conflicts_with:
        raise RefusedError("no-conflict", f"{one.title} and {two.title} are not marked as conflicting")
    first, second = _unmarked(one, two), _unmarked(two, one)
    if keep == "A":
        first |= {"supersedes": _with(one.supersedes, two.id)}
        second |= {"status": "superseded", "superseded_by": one.id}
    elif keep == "B":
        second |= {"supersedes": _with(two.supersedes, one.id)}
        first |= {"status": "superseded", "superseded_by": two.id}
    elif keep != "both":
        raise RefusedError("bad-keep", f"keep A, B or both, not {keep!r}")
    return Edit(
        changes=(
            _change(keeper, a, first, "", "conflict resolved"),
            _change(keeper, b, second, "", "conflict resolved"),
        )
    )


def _unmarked(record: Record, other: Record) -> dict[str, WriteValue | None]:
    """Without the mark of the conflict; still in conflict where others are left."""
    left = [note_id for note_id in record.conflicts_with if note_id != other.id]
    return {"status": "conflict" if left else "active", "conflicts_with": left or None}


def merge(keeper: Keeper, source: str, into: str) -> Edit:
    """INTO gets FROM's sections and tags at its end; FROM is superseded by it."""
    gone, kept = _two(keeper, source, into)
    _refuse_circle(keeper, gone, kept)
    fmt = keeper.tools.fmt
    parsed = parsed_at(keeper, memory_at(keeper, into).path)
    text = _joined(parsed, parsed_at(keeper, memory_at(keeper, source).path), gone.title, fmt)
    tags = [*kept.tags, *(tag for tag in gone.tags if tag not in kept.tags)]
    values: dict[str, WriteValue | None] = {"supersedes": _with(kept.supersedes, gone.id), "tags": tags}
    if gone.aliases or gone.title != kept.title:
        values["aliases"] = [
            *kept.aliases,
            *(name for name in (gone.title, *gone.aliases) if name not in kept.aliases),
        ]
    into_change = _change(keeper, into, values, "merge", f"merged with {gone.title}")
    return Edit(
        changes=(
            Change(
                path=into_change.path,
                values=values,
                text=text,
                op="merge",
                reason=into_change.reason,
                rule=into_change.rule,
            ),
            _change(
                keeper,
                source,
                {"status": "superseded", "superseded_by": kept.id},
                "supersede",
                f"merged into {kept.title}",
            ),
        )
    )


def _joined(into: Parsed, source: Parsed, title: str, fmt: Format) -> str:
    """INTO's text with all of FROM's after it, its summary under FROM's title; only its H1 is left out."""
    plan = outline(source.text, source.body_at)
    parts: list[str] = []
    at = source.body_at
    for section in (*plan.sections, None):
        loose = _without_heading(source.text, at, section.start if section else len(source.text), plan)
        if loose:
            parts.append(loose if parts else f"## {title}\n\n{loose}")
        if section is None:
            break
        parts += _section_part(source.text, section, title, fmt)
        at = section.end
    assert into.front is not None
    return "\n\n".join([into.front.mended.rstrip("\n"), *parts]) + "\n"


def _without_heading(text: str, start: int, end: int, plan: Outline) -> str:
    """The text between two places, without the H1 if it stands there."""
    heading = plan.heading
    if heading is None or not start <= heading.start < end:
        return text[start:end].strip("\n")
    return (text[start : heading.start] + text[heading.end : end]).strip("\n")


def _section_part(text: str, section: Section, title: str, fmt: Format) -> list[str]:
    """A section as it goes into the other note: the summary under FROM's title, an empty evidence section not at all."""
    name, words = section.heading.text.strip().casefold(), section_text(text, section)
    if name in {fmt.summary.heading.zh.casefold(), fmt.summary.heading.en.casefold()}:
        return [f"## {title}\n\n" + text[section.body_at : section.end].strip("\n")]
    if not words or words in {fmt.evidence.empty.zh, fmt.evidence.empty.en}:
        return []
    return [text[section.start : section.end].strip("\n")]


def _two(keeper: Keeper, a: str, b: str) -> tuple[Record, Record]:
    one, two = memory_at(keeper, a), memory_at(keeper, b)
    if one.path == two.path:
        raise RefusedError("same-note", f"{a} and {b} are the same note")
    return _record(one), _record(two)


def _record(entry: Entry) -> Record:
    assert entry.record is not None
    return entry.record


def _with(ids: Sequence[str], note_id: str) -> list[str]:
    return list(ids) if note_id in ids else [*ids, note_id]


def _change(
    keeper: Keeper, reference: str, values: dict[str, WriteValue | None], op: str, reason: str
) -> Change:
    path = memory_at(keeper, reference).path
    return Change(path=path, values=values, op=op, reason=reason, rule=keeper.tools.fmt.rules["life"])


def _without(keeper: Keeper, holder: str, key: str, note_id: str, reason: str) -> list[Change]:
    """Take an id out of another note's list, where that note is there and has it."""
    entry = keeper.catalog.by_id(holder)
    if entry is None or entry.record is None:
        return []
    ids: tuple[str, ...] = getattr(entry.record, key)
    if note_id not in ids:
        return []
    left = [other for other in ids if other != note_id]
    rule = keeper.tools.fmt.rules["life"]
    return [Change(path=entry.path, values={key: left or None}, op="update", reason=reason, rule=rule)]
