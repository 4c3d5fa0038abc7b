"""One batch: actions are written down, then done, then recorded, so that each can be finished or taken back (K-23, K-50)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

import msgspec

from vaultkeeper.core.action import Action, JournalLine
from vaultkeeper.core.errors import ChangedMeanwhileError, VaultkeeperError
from vaultkeeper.core.note import NotePath, Snapshot, Stat, digest_of
from vaultkeeper.core.slug import numbered, same_name_key, split_path
from vaultkeeper.store.atomic import temp_name
from vaultkeeper.store.history import BatchFile, History
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
from vaultkeeper.store.tree import LinkRefusedError, Tree, UnreadableError, parts_of

log = logging.getLogger(__name__)

WriteJournal = Callable[[Sequence[Mapping[str, str]], bool], None]
"""Appends lines to the vault's journal; with True only those that are not in it."""

_GROUP_ACTIONS: Final = 500
_GROUP_BYTES: Final = 16_000_000
"""What is written down at once: enough to flush seldom, little enough to hold in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of one action."""

    action: Action
    state: Literal["done", "changed", "failed"]
    """changed: somebody else wrote; nothing was done, plan again. failed: see `reason`."""
    path: NotePath
    """Where the file stands now, or stood where it was taken away."""
    digest: str | None = None
    stat: Stat | None = None
    reason: str = ""
    taken: bool = False
    """Whether the wanted place was occupied, so that the next free number was taken (K-22)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """An action, with what the file gets besides its bytes."""

    action: Action
    mode: int | None = None
    mtime_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """What batches work with."""

    tree: Tree
    history: History
    steps: Steps
    write_journal: WriteJournal
    clock: Callable[[], datetime]


@dataclass(slots=True)
class _Prepared:
    wish: Wish
    intent: Intent
    image: bytes | None
    taken: bool


@dataclass(slots=True)
class _Group:
    """Actions that do not depend on one another, so that all can be written down before the first is done."""

    items: list[_Prepared | Receipt] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    """Keys of all names that the actions use."""
    names: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    """Names by key in the folders where something will stand."""
    size: int = 0

    def concerns(self, action: Action) -> bool:
        """Whether the action can only be prepared when these are done."""
        places = {same_name_key(action.path), same_name_key(action.to or action.path)}
        return len(self.items) >= _GROUP_ACTIONS or self.size >= _GROUP_BYTES or bool(places & self.places)


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

    # preparing -------------------------------------------------------------------------------------------------

    def fulfil(self, wishes: Sequence[Wish]) -> list[Receipt]:
        """`apply` for actions that also say which mode bits and which time a file gets."""
        receipts: list[Receipt] = []
        group = _Group()
        for wish in wishes:
            if group.concerns(wish.action):
                receipts += self._carry_out(group)
                group = _Group()
            group.items.append(self._prepare(wish, group))
        return receipts + self._carry_out(group)

    def _prepare(self, wish: Wish, group: _Group) -> _Prepared | Receipt:
        action = wish.action
        try:
            before = self._parts.tree.read(action.path)
            if (before.digest if before is not None else None) != action.expects:
                return Receipt(action=action, state="changed", path=action.path)
            self._refuse(wish, before)
            target = self._free_place(action, group)
            return self._prepared(wish, before, target, group)
        except (LinkRefusedError, UnreadableError) as error:
            return Receipt(action=action, state="failed", path=action.path, reason=error.reason)
        except UnicodeEncodeError:
            reason = "its name is not valid Unicode; rename it"
            return Receipt(action=action, state="failed", path=action.path, reason=reason)
        except OSError as error:
            return Receipt(action=action, state="failed", path=action.path, reason=_words(error))

    def _refuse(self, wish: Wish, before: Snapshot | None) -> None:
        """K-28: a file that its owner made read-only is not written."""
        if before is not None and wish.action.data is not None and not before.mode & 0o222:
            raise UnreadableError(before.path, "it is read-only")

    def _free_place(self, action: Action, group: _Group) -> NotePath:
        """Where the file will stand: the wanted place, or the next free number of it (K-22, K-25)."""
        if action.op != "create" and action.to in {None, action.path}:
            return action.path
        wanted = action.path if action.to is None else action.to
        parts_of(wanted)
        folder = split_path(wanted)[0]
        if folder not in group.names:
            group.names[folder] = self._names(folder)
        taken = group.names[folder]
        own: set[str] = set()
        if action.op != "create" and split_path(action.path)[0] == folder:
            name = split_path(action.path)[1]
            alike = taken.get(same_name_key(name), set())
            own = {name} if name in alike else alike  # a disk that is blind to case has it under another name
        place, number = wanted, 1
        while taken.get(same_name_key(split_path(place)[1]), own) - own:
            number += 1
            place = NotePath(numbered(wanted, number))
        return place

    def _names(self, folder: str) -> dict[str, set[str]]:
        tree, names = self._parts.tree, dict[str, set[str]]()
        with suppress(FileNotFoundError), tree.folder(folder) as opened:
            for name in tree.disk.names(opened):
                names.setdefault(same_name_key(name), set()).add(name)
        return names

    def _prepared(self, wish: Wish, before: Snapshot | None, target: NotePath, group: _Group) -> _Prepared:
        action = wish.action
        kept = before.digest if before is not None else None
        data_digest = digest_of(action.data) if action.data is not None else kept
        intent = Intent(
            number=self._number,
            op=action.op,
            path=target if before is None else action.path,
            to=target,
            wanted=action.to,
            before=kept,
            after=None if action.op == "trash" else data_digest,
            temp=temp_name(),
            aside=temp_name(),
            image=-1,
            size=before.stat.size if before is not None else 0,
            mode=before.mode if before is not None else None,
            mtime_ns=before.stat.mtime_ns if before is not None else None,
            new_mode=wish.mode if wish.mode is not None else before.mode if before is not None else None,
            new_mtime_ns=wish.mtime_ns if wish.mtime_ns is not None else _pure(action, before),
            rule=action.rule,
            reason=action.reason,
            lines=action.journal,
        )
        target.encode(), action.path.encode()
        self._number += 1
        group.places |= {same_name_key(action.path), same_name_key(target)}
        folder, name = split_path(target)
        if folder in group.names:
            group.names[folder].setdefault(same_name_key(name), set()).add(name)
        image = before.data if before is not None else None
        group.size += len(image or b"") + len(action.data or b"")
        return _Prepared(wish, intent, image, taken=target != (action.to or action.path))

    # doing -----------------------------------------------------------------------------------------------------

    def _carry_out(self, group: _Group) -> list[Receipt]:
        prepared = [item for item in group.items if isinstance(item, _Prepared)]
        if not prepared:
            return [item for item in group.items if isinstance(item, Receipt)]
        try:
            self._write_down(prepared)
        except OSError as error:  # nothing is touched that is not written down
            reason = f"the history cannot be written: {_words(error)}"
            return [_failed(item, reason) if isinstance(item, _Prepared) else item for item in group.items]
        receipts = [self._do(item) if isinstance(item, _Prepared) else item for item in group.items]
        self._open |= self._parts.steps.settle()
        return receipts

    def _write_down(self, prepared: Sequence[_Prepared]) -> None:
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

    def _do(self, item: _Prepared) -> Receipt:
        intent = item.intent
        try:
            stat = self._parts.steps.do(intent, item.wish.action.data)
        except ChangedMeanwhileError:
            return self._half_done(item, "")
        except (OSError, VaultkeeperError) as error:
            return self._half_done(item, _words(error))
        self._done.add(intent.number)
        return _done(item, intent.after, stat if intent.after is not None else None)

    def _half_done(self, item: _Prepared, reason: str) -> Receipt:
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


def _pure(action: Action, before: Snapshot | None) -> int | None:
    """K-22: the time of a file that only moves survives, however it is moved."""
    return before.stat.mtime_ns if before is not None and action.data is None else None


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


def _done(item: _Prepared, digest: str | None, stat: Stat | None) -> Receipt:
    action, path = item.wish.action, item.intent.to
    return Receipt(action=action, state="done", path=path, digest=digest, stat=stat, taken=item.taken)


def _failed(item: _Prepared, reason: str) -> Receipt:
    return Receipt(action=item.wish.action, state="failed", path=item.intent.path, reason=reason)


def _words(error: Exception) -> str:
    if isinstance(error, LinkRefusedError | UnreadableError):
        return error.reason
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
