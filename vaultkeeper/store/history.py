"""The history of a vault outside of it: one file a batch with before-images, intents and record (K-50, K-23).

`history/open/` holds the batches that are being done, `history/done/` the closed ones. A file is only ever appended to;
closing a batch is one rename, so a batch is either closed or to be recovered.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from vaultkeeper.core.errors import UserError
from vaultkeeper.core.note import NotePath, digest_of
from vaultkeeper.store.atomic import discard, write_all
from vaultkeeper.store.disk import LOG, READ, Disk, Folder
from vaultkeeper.store.records import (
    TRAILER_SIZE,
    BatchInfo,
    PastAction,
    frames,
    record_frame,
    record_offset,
)
from vaultkeeper.store.tree import UnreadableError

log = logging.getLogger(__name__)

_SUFFIX: Final = ".batch"
_NAME: Final = re.compile(r"\d{8}T\d{9}-[0-9a-f]{6}\.batch", re.ASCII)
_CHUNK: Final = 1 << 20
_STAMP: Final = "%Y%m%dT%H%M%S"


class ImageLostError(UserError):
    """The bytes that are asked for are not in the history (any more)."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"the history no longer holds the bytes {digest[:12]}…")
        self.digest = digest


class BatchFile:
    """The file of one open batch; made when the first intents are written."""

    def __init__(self, history: History, batch_id: str, *, made: bool = False) -> None:
        self._history = history
        self._name = batch_id + _SUFFIX
        self._made = made
        self._fd: int | None = None
        self._is_torn = False
        """Whether something may stand behind `end`, which would hide the record from who looks for it at the end."""
        self.end = 0
        """Where the next frame will begin."""

    def append(self, data: bytes) -> None:
        """Have these frames on disk; on an error what was written of them goes with the next ones.

        Raises:
            OSError: nothing was added; no file may be touched on the strength of it.
        """
        disk = self._history.disk
        first = self.end == 0
        fd = self._fd = self._open() if self._fd is None else self._fd
        if self._is_torn:
            disk.truncate(fd, self.end)
        self._is_torn = True
        disk.seek(fd, self.end)
        write_all(disk, fd, data)
        disk.sync_file(fd)
        if first:
            with self._history.folder("open") as folder:
                disk.sync_folder(folder)
        self._is_torn = False
        self.end += len(data)

    def _open(self) -> int:
        self._history.make()
        with self._history.folder("open") as folder:
            self._made = True
            return self._history.disk.open_file(folder, self._name, LOG, 0o600)

    def resume(self, end: int) -> None:
        """Go on in a file that a killed process left, behind what counts in it."""
        self._fd = self._open()
        self.end = end
        self._is_torn = True

    def seal(self, info: BatchInfo) -> None:
        """Write the record of what was done: from now on only closing is missing."""
        self.append(record_frame(info, self.end))

    def close(self) -> None:
        """Put the sealed file among the closed ones."""
        self.release()
        with self._history.folder("open") as folder, self._history.folder("done") as done:
            self._history.disk.replace(folder, self._name, done, self._name)

    def drop(self) -> None:
        """Take the file away, if one was made: nothing of the batch was done.

        Raises:
            OSError: it stays, and is dropped by the next recovery.
        """
        if not self._made:
            return
        self.release()
        with suppress(FileNotFoundError), self._history.folder("open") as folder:
            self._history.disk.unlink(folder, self._name)

    def release(self) -> None:
        """Let the file go without closing the batch."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            with suppress(OSError):  # all that counts is on disk already
                self._history.disk.close_file(fd)


class History:
    """Batches by id; sorted by id they are sorted by time."""

    def __init__(self, folder: Path, disk: Disk, *, keep: timedelta, keep_bytes: int) -> None:
        self._path = folder
        self.disk = disk
        self._keep = keep
        self._keep_bytes = keep_bytes

    @contextmanager
    def folder(self, name: str) -> Iterator[Folder]:
        """Open a folder of the history; FileNotFoundError where nothing was ever written."""
        folder = self.disk.open_root(str(self._path / name))
        try:
            yield folder
        finally:
            self.disk.close_folder(folder)

    def make(self) -> None:
        """Make the folders."""
        for name in ("open", "done", "kept"):
            self.disk.make_path(str(self._path / name))

    def open_ids(self) -> list[str]:
        """Batches that are not closed, the oldest first.

        Raises:
            UnreadableError: it cannot be said now.
        """
        return self._ids("open")

    def closed_ids(self) -> list[str]:
        """Closed batches, the oldest first.

        Raises:
            UnreadableError: it cannot be said now.
        """
        return self._ids("done")

    def _ids(self, name: str) -> list[str]:
        try:
            with self.folder(name) as folder:
                names = self.disk.names(folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UnreadableError("", f"the history cannot be read: {error.strerror}") from error
        return sorted(each.removesuffix(_SUFFIX) for each in names if _NAME.fullmatch(each))

    def read_open(self, batch_id: str) -> bytes:
        """All bytes of an open batch's file."""
        with self._file("open", batch_id) as fd:
            return self._read(fd, 0, None)

    def batch(self, batch_id: str) -> BatchInfo | None:
        """A closed batch; None where there is none of that id, or its file is damaged."""
        if not _NAME.fullmatch(batch_id + _SUFFIX):
            return None
        try:
            with self._file("done", batch_id) as fd:
                size = self.disk.stat_file(fd).st_size
                offset = record_offset(self._read(fd, max(0, size - TRAILER_SIZE), TRAILER_SIZE))
                if offset is None or offset > size:
                    return None
                for _kind, payload, _end in frames(self._read(fd, offset, None)):
                    return msgspec.msgpack.decode(payload, type=BatchInfo)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            log.warning("the record of batch %s cannot be read: %s", batch_id, error)
        return None

    def newest_first(self) -> Iterator[BatchInfo]:
        """Closed batches, read one by one; damaged ones are passed over."""
        for batch_id in reversed(self.closed_ids()):
            info = self.batch(batch_id)
            if info is not None:
                yield info

    def image(self, batch_id: str, offset: int, size: int, digest: str) -> bytes:
        """Bytes that a batch replaced.

        Raises:
            ImageLostError: they are gone, or not what they were.
        """
        data = b""
        with suppress(OSError), self._file("done", batch_id) as fd:
            data = self._read(fd, offset, size)
        if digest_of(data) != digest:
            raise ImageLostError(digest)
        return data

    def find_image(self, digest: str) -> bytes:
        """The bytes with that digest, from the latest batch that replaced them.

        Raises:
            ImageLostError: no batch holds them.
        """
        for info in self.newest_first():
            for done in info.actions:
                if done.before == digest:
                    with suppress(ImageLostError):
                        return self.image(info.id, done.image, done.size, digest)
        raise ImageLostError(digest)

    def actions_on(self, path: NotePath, limit: int) -> list[PastAction]:
        """What was done to the note that stands there, the latest first, also where it stood before."""
        past: list[PastAction] = []
        here = path
        for info in self.newest_first():
            for done in reversed(info.actions):
                if here not in {done.path, done.to}:
                    continue
                past.append(
                    PastAction(
                        at=info.at,
                        batch=info.id,
                        op=done.op,
                        path=done.path,
                        to=done.to,
                        before=done.before,
                        after=done.after,
                        rule=done.rule,
                        reason=done.reason,
                    )
                )
                if here == done.to:
                    here = done.path
            if len(past) >= limit:
                return past[:limit]
        return past

    def keep_aside(self, name: str, data: bytes) -> None:
        """Keep bytes that recovery found and cannot place; a person may look for them in `history/kept/`."""
        from vaultkeeper.store.atomic import replace_in

        self.make()
        with self.folder("kept") as folder:
            replace_in(self.disk, folder, name, data, 0o600)

    def prune(self, now: datetime) -> None:
        """Drop closed batches that are too old, then the oldest until the rest fits (K-50)."""
        try:
            with self.folder("done") as folder:
                sizes = {
                    name: size for name, size in self.disk.sizes(folder).items() if name.endswith(_SUFFIX)
                }
                total, oldest = sum(sizes.values()), (now - self._keep).strftime(_STAMP)
                for name in sorted(sizes):
                    if name >= oldest and total <= self._keep_bytes:
                        return
                    discard(self.disk, folder, name)
                    total -= sizes[name]
        except FileNotFoundError:
            return

    def _file(self, name: str, batch_id: str) -> _OpenedFile:
        return _OpenedFile(self, name, batch_id + _SUFFIX)

    def _read(self, fd: int, offset: int, size: int | None) -> bytes:
        self.disk.seek(fd, offset)
        parts: list[bytes] = []
        left = size
        while left is None or left > 0:
            part = self.disk.read(fd, _CHUNK if left is None else min(left, _CHUNK))
            if not part:
                break
            parts.append(part)
            left = None if left is None else left - len(part)
        return b"".join(parts)


class _OpenedFile:
    """A file of the history, open for reading while the `with` lasts."""

    def __init__(self, history: History, folder: str, name: str) -> None:
        self._history, self._folder, self._name = history, folder, name
        self._fd = -1

    def __enter__(self) -> int:
        with self._history.folder(self._folder) as folder:
            self._fd = self._history.disk.open_file(folder, self._name, READ)
        return self._fd

    def __exit__(self, *_: object) -> None:
        self._history.disk.close_file(self._fd)


def batch_id(now: datetime, random: str) -> str:
    """An id for a batch that begins now."""
    return f"{now.strftime(_STAMP)}{now.microsecond // 1000:03d}-{random}"
