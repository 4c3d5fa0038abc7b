"""One batch: actions are written down, then done, then recorded, so that each can be finished or taken back (K-23, K-50)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import msgspec

from vaultkeeper.core.action import Action, JournalLine
from vaultkeeper.core.errors import ChangedMeanwhileError, VaultkeeperError
from vaultkeeper.core.note import Snapshot, Stat
from vaultkeeper.store.history import BatchFile, History
from vaultkeeper.store.prepare import Group, Prepared, Receipt, Wish, prepare, words_of
from vaultkeeper.store.records import (
    HEADER,
    IMAGE,
    IMAGE_AT,
    INTENTS,
    BatchInfo,
    Intent,
    Intents,
    OpenBatch,
    done_of,
    entries_of,
    entry_of,
    frame,
    packed,
)
from vaultkeeper.store.resolve import clear, resolve
from vaultkeeper.store.steps import Steps
from vaultkeeper.store.tree import Tree

log = logging.getLogger(__name__)

WriteJournal = Callable[[Sequence[Mapping[str, str]], bool], None]
"""Appends lines to the vault's journal; with True only those that are not in it."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What batches work with."""

    tree: Tree
    history: History
    steps: Steps
    write_journal: WriteJournal
    clock: Callable[[], datetime]


class Batch:
    """A batch of changes with one id; begun by `VaultFiles.begin`, ended by `finish`."""

    def __init__(
        self,
        parts: Parts,
        info: BatchInfo,
        resumed: OpenBatch | None = None,
        *,
        ended: Callable[[bool], None] = lambda _closed: None,
    ) -> None:
        """Begin a batch, or go on with one that a killed process left open; `ended` hears whether it could be closed."""
        self._ended = ended
        self._parts = parts
        self._info = info
        self._file = BatchFile(parts.history, info.id)
        self._begun = resumed is not None
        self._intents: dict[int, Intent] = dict(resumed.intents) if resumed else {}
        self._done: set[int] = set(resumed.done) if resumed else set()
        self._open: set[int] = set()
        """Numbers of intents that neither could be finished nor taken back, or that left private names behind."""
        self._recorded: list[JournalLine] = []
        self._number = max(self._intents, default=-1) + 1
        if resumed is not None:
            self._file.resume(resumed.end)

    @property
    def id(self) -> str:
        """Sortable by time."""
        return self._info.id

    def apply(self, actions: Sequence[Action]) -> list[Receipt]:
        """Do these actions; one that fails does not stop the others. May be called several times.

        Returns:
            One receipt for each, in their order.
        """
        return self.fulfil([Wish(action=action) for action in actions])

    def record(self, lines: Sequence[JournalLine]) -> None:
        """Have lines in the journal that no action stands for."""
        self._recorded += lines

    def fulfil(self, wishes: Sequence[Wish]) -> list[Receipt]:
        """`apply` for actions that also say which mode bits and which time a file gets."""
        receipts: list[Receipt] = []
        group = Group()
        for wish in wishes:
            if group.concerns(wish.action):
                receipts += self._carry_out(group)
                group = Group()
            item = prepare(self._parts.tree, wish, self._number, group)
            self._number += isinstance(item, Prepared)
            group.items.append(item)
        return receipts + self._carry_out(group)

    # doing -----------------------------------------------------------------------------------------------------

    def _carry_out(self, group: Group) -> list[Receipt]:
        prepared = [item for item in group.items if isinstance(item, Prepared)]
        if not prepared:
            return [item for item in group.items if isinstance(item, Receipt)]
        try:
            self._write_down(prepared)
        except OSError as error:  # nothing is touched that is not written down
            reason = f"the history cannot be written: {words_of(error)}"
            return [_failed(item, reason) if isinstance(item, Prepared) else item for item in group.items]
        receipts = [self._do(item) if isinstance(item, Prepared) else item for item in group.items]
        self._open |= self._parts.steps.settle()
        return receipts

    def _write_down(self, prepared: Sequence[Prepared]) -> None:
        chunks = [] if self._begun else [frame(HEADER, packed(self._info))]
        at = self._file.end + sum(map(len, chunks))
        for item in prepared:
            if item.image is not None:
                item.intent = msgspec.structs.replace(item.intent, image=at + IMAGE_AT)
                chunks.append(frame(IMAGE, item.image))
                at += len(chunks[-1])
            item.intent = _sayable(item.intent)
        intents = tuple(item.intent for item in prepared)
        settled = min(self._open, default=intents[0].number)
        chunks.append(self._progress(settled, intents))
        self._file.append(b"".join(chunks))
        self._begun = True
        self._intents.update((intent.number, intent) for intent in intents)

    def _progress(self, settled: int, intents: Sequence[Intent] = ()) -> bytes:
        return frame(INTENTS, packed(Intents(tuple(sorted(self._done)), settled, tuple(intents))))

    def _do(self, item: Prepared) -> Receipt:
        intent = item.intent
        try:
            stat = self._parts.steps.do(intent, item.wish.action.data)
        except ChangedMeanwhileError:
            return self._half_done(item, "")
        except (OSError, VaultkeeperError) as error:
            return self._half_done(item, words_of(error))
        self._done.add(intent.number)
        return _done(item, intent.after, stat if intent.after is not None else None)

    def _half_done(self, item: Prepared, reason: str) -> Receipt:
        intent = item.intent
        if not self._resolve(intent, ours=bool(reason)):
            state: Literal["changed", "failed"] = "failed" if reason else "changed"
            return Receipt(action=item.wish.action, state=state, path=intent.path, reason=reason)
        self._done.add(intent.number)
        there: Snapshot | None = None
        with suppress(VaultkeeperError):  # what stands there need not be what was written any more
            there = self._parts.tree.read(intent.to)
        if there is None:
            return _done(item, None, None)
        return _done(item, there.digest, there.stat)

    def _resolve(self, intent: Intent, *, ours: bool) -> bool:
        try:
            return resolve(self._parts.steps, intent, ours=ours)
        except (OSError, VaultkeeperError) as error:
            log.warning("%s is half done, to be finished or taken back later: %s", intent.path, error)
            self._open.add(intent.number)
            return False

    # ending ----------------------------------------------------------------------------------------------------

    def resolve_rest(self, settled: int) -> None:
        """After a restart: finish or take back each intent from that number on; the done ones only leave nothing behind."""
        for number, intent in sorted(self._intents.items()):
            if number < settled:
                continue
            try:
                if number in self._done:
                    clear(self._parts.steps, intent)
                elif resolve(self._parts.steps, intent, ours=True):
                    self._done.add(number)
            except (OSError, VaultkeeperError) as error:
                log.warning("%s is still half done: %s", intent.path, error)
                self._open.add(number)

    def done(self) -> list[Intent]:
        """What was done so far, in order."""
        return [self._intents[number] for number in sorted(self._done) if number in self._intents]

    def finish(self, *, only_if_missing: bool = False) -> None:
        """Record the batch and write its lines to the journal; where nothing was done there is nothing to undo.

        Args:
            only_if_missing: after a restart, when the journal may have the lines already.
        """
        self._ended(self._finish(only_if_missing=only_if_missing))

    def _finish(self, *, only_if_missing: bool) -> bool:
        done, at, source = self.done(), self._info.at, self._info.source
        entries = [entry for intent in done for entry in entries_of(intent, at, source)]
        entries += [entry_of(line, at, source) for line in self._recorded]
        nothing = not done and not self._open
        closed = nothing or self._seal(done, entries)
        try:
            if entries:
                self._parts.write_journal(entries, only_if_missing)
            if nothing:
                self._file.drop()
            elif closed:
                self._file.close()
        except OSError as error:
            log.warning("batch %s could not be closed: %s", self.id, error)
            closed = False
        self._file.release()
        return closed

    def _seal(self, done: Sequence[Intent], entries: Sequence[dict[str, str]]) -> bool:
        actions = tuple(done_of(intent) for intent in done)
        try:
            if self._open:  # what was done shall be known all the same when the rest is
                self._file.append(self._progress(min(self._open)))
                return False
            self._file.seal(msgspec.structs.replace(self._info, actions=actions, entries=tuple(entries)))
        except OSError as error:
            log.warning("batch %s could not be recorded: %s", self.id, error)
            return False
        return True


def _sayable(intent: Intent) -> Intent:
    """The intent with text that UTF-8 has a form for: titles may hold half a surrogate pair, written as an escape."""
    try:
        packed(intent)
    except UnicodeEncodeError:
        lines = tuple(_clean(line) for line in intent.lines)
        return msgspec.structs.replace(intent, lines=lines, reason=_clean_text(intent.reason))
    return intent


def _clean(line: JournalLine) -> JournalLine:
    return replace(
        line, **{name: _clean_text(getattr(line, name)) for name in ("reason", "before", "after", "id")}
    )


def _clean_text(text: str) -> str:
    return text.encode(errors="replace").decode()


def _done(item: Prepared, digest: str | None, stat: Stat | None) -> Receipt:
    action, path = item.wish.action, item.intent.to
    return Receipt(action=action, state="done", path=path, digest=digest, stat=stat, taken=item.taken)


def _failed(item: Prepared, reason: str) -> Receipt:
    return Receipt(action=item.wish.action, state="failed", path=item.intent.path, reason=reason)
