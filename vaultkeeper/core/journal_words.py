"""What the journal says of a change: its `op` and its bounded summaries (LT-53). Pure."""

from __future__ import annotations

from vaultkeeper.core.action import JournalLine
from vaultkeeper.core.decide import Decision
from vaultkeeper.core.note import Base, NotePath, Record
from vaultkeeper.core.parse import fold

_STATUS_OPS = {"archived": "archive", "stale": "stale", "superseded": "supersede", "conflict": "conflict"}


def summary(type_name: str, status: str, title: str, preview: str) -> str:
    """`[type/status] title :: first characters`, on one line."""
    return f"[{type_name}/{status}] {fold(title)} :: {preview}"


def record_summary(record: Record) -> str:
    """The summary of a record."""
    return summary(record.type, record.status, record.title, record.preview)


def base_summary(base: Base | None) -> str:
    """The summary of what a note was; empty for a note that was not there."""
    return "" if base is None else summary(base.type, base.status, base.title, base.preview)


def op_of(before: Base | None, status: str) -> str:
    """The journal's word for a change that ends in that status."""
    if before is None:
        return "create"
    if before.status == status:
        return "update"
    if before.status == "pending":
        return {"active": "confirm", "archived": "reject"}.get(status, _STATUS_OPS.get(status, "update"))
    return _STATUS_OPS.get(status, "update")


def line_for(
    record: Record,
    base: Base | None,
    decision: Decision,
    *,
    op: str = "",
    reason: str = "",
    source: str = "vaultkeeper",
    came_from: NotePath | None = None,
) -> JournalLine:
    """One line for what became of a note, whoever did it; `came_from` is its earlier place where that is not its last."""
    start = came_from or (NotePath(base.path) if base is not None else None)
    moved = start is not None and start != decision.path
    return JournalLine(
        op=op or op_of(base, decision.status),
        id=record.id,
        reason=reason or decision.reason or "edited outside",
        before=base_summary(base),
        after=summary(decision.type, decision.status, decision.title, record.preview),
        source=source,
        from_path=start if moved and start is not None else "",
        to_path=decision.path if moved else "",
    )


def deletion(entry_id: str, base: Base | None, path: NotePath) -> JournalLine:
    """The line for a note that is gone."""
    return JournalLine(
        op="delete",
        id=entry_id,
        reason="deleted outside",
        before=base_summary(base),
        source="outside",
        from_path=path,
    )
