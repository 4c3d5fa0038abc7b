"""The files of a vault: read by anybody, written only in batches that can be finished, taken back and explained."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.note import NotePath, Snapshot, Stat
from vaultkeeper.core.slug import split_path
from vaultkeeper.core.timestamps import write_time
from vaultkeeper.store.atomic import replace_in, sweep
from vaultkeeper.store.batch import Batch, Parts, WriteJournal
from vaultkeeper.store.disk import Disk
from vaultkeeper.store.held import HeldList
from vaultkeeper.store.history import BatchFile, History, batch_id
from vaultkeeper.store.records import BatchInfo, PastAction, read_open
from vaultkeeper.store.steps import Steps
from vaultkeeper.store.tree import Tree, UnreadableError, parts_of
from vaultkeeper.store.undo import CAUSE, UndoResult, holds_of, take_back, undoable

log = logging.getLogger(__name__)

_AUDIT_BYTES: Final = 4_000_000
"""Beyond this the audit begins anew, with one older file kept."""
_PAST_ACTIONS: Final = 20
_TEMP_AGE: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Recovery:
    """What became of batches that a killed process had left open."""

    batches: tuple[str, ...] = ()
    written: Mapping[NotePath, str] = field(default_factory=dict)
    """Digests of the files they wrote."""


class VaultFiles:
    """One vault on disk with its history; whoever begins a batch holds the vault's lock."""

    def __init__(
        self,
        root: Path,
        state: Path,
        *,
        clock: Callable[[], datetime],
        write_journal: WriteJournal,
        keep_days: int = 30,
        keep_bytes: int = 500_000_000,
        disk: Disk | None = None,
    ) -> None:
        """Touch nothing yet.

        Args:
            root: the vault.
            state: its folder among the user's state; made when first needed.
            clock: aware UTC time.
            write_journal: where lines for the journal go.
            keep_days: how long before-images are kept (K-50).
            keep_bytes: how much they may take.
            disk: the file system; for tests.
        """
        disk = disk or Disk()
        tree = Tree(root, disk)
        history = History(state / "history", disk, keep=timedelta(days=keep_days), keep_bytes=keep_bytes)
        self._parts = Parts(tree, history, Steps(tree, history.keep_aside), write_journal, clock)
        self._state = state
        self._last_id = ""
        self._unclosed = False
        self.held = HeldList(state / "held.json", disk)

    # reading ---------------------------------------------------------------------------------------------------

    def read(self, path: NotePath) -> Snapshot | None:
        """A file as it is now; None where there is none.

        Raises:
            LinkRefusedError, UnreadableError: it is there but is not read; report it.
        """
        return self._parts.tree.read(path)

    def stat(self, path: NotePath) -> Stat | None:
        """Size and time of a file; None where there is none."""
        return self._parts.tree.stat(path)

    def exists(self, path: NotePath) -> bool:
        """Whether anything has that name, or it cannot be said that nothing has."""
        parent, name = split_path(path)
        try:
            parts_of(path)
            with self._parts.tree.folder(parent) as folder:
                self._parts.tree.disk.stat(folder, name)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, VaultkeeperError):
            return True
        return True

    # batches ---------------------------------------------------------------------------------------------------

    def begin(self, *, cause: str, source: str = "vaultkeeper") -> Batch:
        """Begin a batch; `finish` it."""
        if self._unclosed:
            self.recover()
        return Batch(self._parts, self._info(cause, source), ended=self._ended)

    def _ended(self, closed: bool) -> None:
        self._unclosed = self._unclosed or not closed

    def _info(self, cause: str, source: str = "vaultkeeper", undoes: BatchInfo | None = None) -> BatchInfo:
        now = self._parts.clock()
        return BatchInfo(
            id=self._new_id(now),
            at=write_time(now),
            cause=cause,
            source=source.encode(errors="replace").decode(),
            undoes=undoes.id if undoes is not None else "",
            takes_back=undoes is not None and not undoes.takes_back,
        )

    def _new_id(self, now: datetime) -> str:
        """An id later than every other, also after the clock was set back: order is what undo goes by."""
        history = self._parts.history
        last = self._last_id
        if not last:
            with suppress(UnreadableError):  # then only the clock says what is later
                last = max([*history.closed_ids()[-1:], *history.open_ids()[-1:]], default="")
        random = secrets.token_hex(3)
        new = batch_id(now, random)
        if last and new[:_STAMP_LENGTH] <= last[:_STAMP_LENGTH]:
            new = f"{_next_stamp(last[:_STAMP_LENGTH])}-{random}"
        self._last_id = new
        return new

    def recover(self) -> Recovery:
        """Finish or take back what killed processes left half done, and only that (K-23)."""
        written: dict[NotePath, str] = {}
        try:
            ids = self._parts.history.open_ids()
        except UnreadableError as error:
            log.warning("what was left half done cannot be finished yet: %s", error)
            self._unclosed = True
            return Recovery()
        self._unclosed = False
        for open_id in ids:
            try:
                self._recover(open_id, written)
            except (OSError, VaultkeeperError) as error:
                log.warning("batch %s could not be recovered yet: %s", open_id, error)
                self._unclosed = True
        return Recovery(tuple(ids), written)

    def _recover(self, open_id: str, written: dict[NotePath, str]) -> None:
        history = self._parts.history
        try:
            found = read_open(history.read_open(open_id))
        except (
            msgspec.DecodeError
        ) as error:  # it is whole, but of another version: kept as long as the others
            log.warning("batch %s cannot be understood: %s", open_id, error)
            BatchFile(history, open_id).close()
            return
        if found is None:  # killed before anything was written down, so nothing was touched
            BatchFile(history, open_id, made=True).drop()
            return
        if found.sealed is not None:
            self._parts.write_journal(found.sealed.entries, True)
            BatchFile(history, open_id).close()
            written.update(
                {done.place: done.after for done in found.sealed.actions if done.after is not None}
            )
            return
        batch = Batch(self._parts, found.info, found, ended=self._ended)
        batch.resolve_rest(found.settled)
        if found.info.undoes:
            undone = history.batch(found.info.undoes)
            if undone is not None:
                take_back(self._parts, batch, undone)
                self._hold(batch, undone)
        if not found.info.takes_back:
            written.update({intent.to: intent.after for intent in batch.done() if intent.after is not None})
        batch.finish(only_if_missing=True)

    def has_open_batch(self) -> bool:
        """Whether a batch waits for `recover` or is being done right now, or it cannot be said that none does."""
        try:
            return bool(self._parts.history.open_ids())
        except UnreadableError:
            return True

    # history ---------------------------------------------------------------------------------------------------

    def undoable(self, batch: str | None) -> BatchInfo:
        """The batch that `undo` would take back.

        Raises:
            NothingToUndoError: there is none.
        """
        return undoable(self._parts.history, batch)

    def undo(self, batch: str | None) -> UndoResult:
        """Take back a batch, the latest that can be when None; files that changed since are left and said.

        Raises:
            NothingToUndoError: there is none.
        """
        if self._unclosed:
            self.recover()
        undone = self.undoable(batch)
        new = Batch(self._parts, self._info(CAUSE, undoes=undone), ended=self._ended)
        result = take_back(self._parts, new, undone)
        self._hold(new, undone)
        new.finish()
        return result

    def _hold(self, batch: Batch, undone: BatchInfo) -> None:
        """Before the batch is closed, so that a kill in between does not have the keeper do it all again."""
        intents = batch.done()
        try:
            if undone.takes_back:
                self.held.update({}, {path for intent in intents for path in (intent.path, intent.to)})
            else:
                self.held.update(holds_of(undone, intents), set())
        except OSError as error:
            log.warning("what was taken back could not be noted down: %s", error)

    def batches(self, limit: int) -> list[BatchInfo]:
        """The latest batches, the latest first."""
        found: list[BatchInfo] = []
        for info in self._parts.history.newest_first():
            if len(found) == limit:
                break
            found.append(info)
        return found

    def actions_on(self, path: NotePath) -> list[PastAction]:
        """The latest actions on the note that stands there, in the order they were done."""
        return self._parts.history.actions_on(path, _PAST_ACTIONS)[::-1]

    def before_image(self, digest: str) -> bytes:
        """Bytes that some action replaced or moved.

        Raises:
            ImageLostError: the history does not hold them.
        """
        return self._parts.history.find_image(digest)

    def clean_up(self, private: NotePath) -> None:
        """Let go what is no longer needed: old batches (K-50), and temporary files of killed processes.

        Args:
            private: the format's own folder in the vault, where no note stands.
        """
        try:
            self._parts.history.prune(self._parts.clock())
            old = int((self._parts.clock() - _TEMP_AGE).timestamp() * 1e9)
            with self._parts.tree.folder(private) as folder:
                sweep(self._parts.tree.disk, folder, old)
        except (OSError, VaultkeeperError) as error:
            log.warning("old files could not be removed: %s", error)

    # files of our own ------------------------------------------------------------------------------------------

    def write_derived(self, path: NotePath, data: bytes) -> None:
        """Replace a file that can always be made again, such as `index.json`; it has no history.

        Raises:
            OSError, LinkRefusedError: it is as it was.
        """
        parent, name = split_path(path)
        with self._parts.tree.folder(parent, make=True) as folder:
            replace_in(self._parts.tree.disk, folder, name, data)
            self._parts.tree.disk.sync_folder(folder)

    def append_audit(self, line: str) -> None:
        """Add a line to the audit in the vault's state.

        Raises:
            OSError: it was not written.
        """
        file = self._state / "audit.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if file.exists() and file.stat().st_size > _AUDIT_BYTES:
            os.replace(file, file.with_suffix(".old.jsonl"))
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as stream:
            stream.write(line.encode() + b"\n")


_STAMP_LENGTH: Final = len("20261201T055000123")


def _next_stamp(stamp: str) -> str:
    """A stamp that sorts right behind."""
    digits = str(int(stamp.replace("T", "")) + 1).zfill(len(stamp) - 1)
    return f"{digits[:8]}T{digits[8:]}"
