"""Taking a batch back, as a batch of its own that can be taken back too (K-50)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from vaultkeeper.core.action import Action, JournalLine, Op
from vaultkeeper.core.errors import UserError, VaultkeeperError
from vaultkeeper.core.note import NotePath, Snapshot
from vaultkeeper.store.batch import Batch, Parts
from vaultkeeper.store.held import Hold
from vaultkeeper.store.history import History
from vaultkeeper.store.prepare import Receipt, Wish
from vaultkeeper.store.records import BatchInfo, DoneAction, Intent

RULE: Final = "K-50"
CAUSE: Final = "undo"

_INVERSE: Final = {"create": "delete", "delete": "create"}
"""The journal's words for taking such a change back; anything else taken back is an `update` (LT-53)."""


class NothingToUndoError(UserError):
    """There is no batch to take back."""

    def __init__(self, batch_id: str | None) -> None:
        super().__init__(
            f"there is no batch {batch_id!r} in the history" if batch_id else "there is nothing to undo"
        )
        self.batch_id = batch_id


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoResult:
    """What became of taking a batch back."""

    batch: str
    """The batch that did it; empty where nothing was done."""
    undone: str
    receipts: list[Receipt]
    refused: list[tuple[NotePath, str]]
    """Files that changed since, each with the difference from there to what it would have become."""
    pages_behind: bool = False
    """Whether index pages that changed since were left, which now want an update."""


def undoable(history: History, batch_id: str | None) -> BatchInfo:
    """The batch of that id, or the latest that is no undo and was not taken back.

    Raises:
        NothingToUndoError: there is none.
    """
    if batch_id is not None:
        info = history.batch(batch_id)
        if info is None:
            raise NothingToUndoError(batch_id)
        return info
    taken_back: set[str] = set()
    for info in history.newest_first():
        if info.undoes:
            if info.id not in taken_back:
                taken_back.add(info.undoes)
        elif info.id not in taken_back and info.cause != CAUSE:
            return info
    raise NothingToUndoError(None)


def take_back(parts: Parts, batch: Batch, info: BatchInfo) -> UndoResult:
    """Do the reverse of each action of a batch, the last first; what changed since is left, and said.

    What stands as before already is passed over, so that an undo that was killed can go on. An index page that changed
    since is left too, without a word: it follows the notes anyway.
    """
    receipts: list[Receipt] = []
    refused: list[tuple[NotePath, str]] = []
    pages: list[tuple[NotePath, str]] = []
    for group in _independent(info.actions):
        wishes: list[Wish] = []
        for done in group:
            try:
                wishes.append(_reverse(parts, info, done))
            except _RefusedError as error:
                if error.difference:
                    (pages if done.op == "page" else refused).append((done.place, error.difference))
        receipts += batch.fulfil(wishes)
    refused += [
        (receipt.path, f"{receipt.path}: {receipt.reason or 'somebody is writing to it'}\n")
        for receipt in receipts
        if receipt.state != "done"
    ]
    return UndoResult(
        batch=batch.id if any(receipt.state == "done" for receipt in receipts) else "",
        undone=info.id,
        receipts=receipts,
        refused=refused if receipts else refused or pages,
        pages_behind=bool(pages),
    )


def holds_of(info: BatchInfo, intents: Sequence[Intent]) -> dict[str, Hold]:
    """What is held once these intents took back that batch; a page may still get other bytes than those."""
    pages = {done.place for done in info.actions if done.op == "page"}
    return {
        intent.to: Hold(intent.after, intent.before if intent.path in pages else None) for intent in intents
    }


class _RefusedError(Exception):
    """An action is not taken back; without a difference because there is nothing to do."""

    def __init__(self, difference: str) -> None:
        super().__init__(difference)
        self.difference = difference


def _independent(actions: Sequence[DoneAction]) -> list[list[DoneAction]]:
    """The actions from the last to the first, in groups that use each file once."""
    groups: list[list[DoneAction]] = [[]]
    used: set[str] = set()
    for done in reversed(actions):
        places = {done.path, done.place}
        if places & used:
            groups.append([])
            used.clear()
        groups[-1].append(done)
        used |= places
    return groups


def _reverse(parts: Parts, info: BatchInfo, done: DoneAction) -> Wish:
    """The action that takes one back."""
    try:
        present = parts.tree.read(done.place)
        if (present.digest if present is not None else None) != done.after:
            back = _is_back(parts, done, present)
            raise _RefusedError("" if back else _difference(parts, info, done, present))
        action = _reverse_action(parts, info, done)
    except VaultkeeperError as error:  # it cannot be read, or the history lost its bytes
        raise _RefusedError(f"{error}\n") from error
    return Wish(action=action, mode=done.mode, mtime_ns=done.mtime_ns)


def _reverse_action(parts: Parts, info: BatchInfo, done: DoneAction) -> Action:
    op: Op = "page" if done.op == "page" else "rewrite"
    path, to, data = done.place, None, None
    if done.before is None:
        op = "trash"
    elif done.before != done.after:
        data = parts.history.image(info.id, done.image, done.size, done.before)
    if done.after is None:
        op, path = "create", done.path
    elif done.to is not None:
        op, to = "move", done.path
    return Action(
        op=op,
        path=path,
        to=to,
        expects=done.after,
        data=data,
        rule=RULE,
        reason=f"undo of {info.id}",
        journal=tuple(_reverse_line(line, done) for line in done.lines),
    )


def _reverse_line(line: JournalLine, done: DoneAction) -> JournalLine:
    moved = bool(line.from_path and line.to_path)
    return JournalLine(
        op=_INVERSE.get(line.op, "update"),
        id=line.id,
        reason="undo",
        before=line.after,
        after=line.before,
        from_path=done.place if moved else "",
        to_path=done.path if moved else "",
    )


def _is_back(parts: Parts, done: DoneAction, present: Snapshot | None) -> bool:
    """Whether the file stands as it did before the action."""
    if done.to is not None:
        old = parts.tree.read(done.path)
        return present is None and old is not None and old.digest == done.before
    return (present.digest if present is not None else None) == done.before


def _difference(parts: Parts, info: BatchInfo, done: DoneAction, present: Snapshot | None) -> str:
    """A unified diff from what stands there now to what undoing would bring back."""
    if present is None:
        return f"{done.place} is not there any more\n"
    before = b""
    if done.before is not None:
        before = parts.history.image(info.id, done.image, done.size, done.before)
    lines = difflib.unified_diff(
        present.data.decode(errors="replace").splitlines(),
        before.decode(errors="replace").splitlines(),
        f"{done.place} (now)",
        f"{done.path} (before {info.id})",
        lineterm="",
    )
    return "\n".join(lines) + "\n"
