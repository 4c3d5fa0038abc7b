"""The folders and files of a vault as the store opens them: link by link refused, each file read in one piece (K-27)."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.note import NotePath, Snapshot, Stat, digest_of
from vaultkeeper.core.slug import split_path
from vaultkeeper.store.disk import READ, Disk, Folder

_CHUNK: Final = 1 << 20
_TRIES: Final = 3
"""How often a file is read again that somebody writes to meanwhile."""

_LINK_ERRORS: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
"""Answers to opening a link without following it: POSIX, Linux for folders, BSD."""


class LinkRefusedError(VaultkeeperError):
    """A path goes through a symbolic link, which is not followed (K-27)."""

    def __init__(self, path: str, target: str) -> None:
        super().__init__(f"{path}: a symbolic link to {target}, which is not followed")
        self.path = path
        self.target = target
        self.reason = f"a symbolic link to {target}, which is not followed"


class UnreadableError(VaultkeeperError):
    """A file is there but cannot be read now (K-28): report it, try again later."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


class Tree:
    """The files below a vault's root, each opened folder by folder from there, so that no link can lead elsewhere."""

    def __init__(self, root: Path, disk: Disk) -> None:
        self.root = root
        self.disk = disk

    @contextmanager
    def folder(self, path: str, *, make: bool = False) -> Iterator[Folder]:
        """Open a folder of the vault, the root for an empty path; with `make`, missing ones are made.

        Raises:
            FileNotFoundError, NotADirectoryError: there is none.
            LinkRefusedError: one of its parts is a symbolic link.
            UnreadableError: the vault's root is gone, or the path could lead out of it.
        """
        here = self._root()
        try:
            for name in parts_of(path) if path else ():
                inner = self._enter(here, name, path, make=make)
                self.disk.close_folder(here)
                here = inner
            yield here
        finally:
            self.disk.close_folder(here)

    def _root(self) -> Folder:
        try:
            return self.disk.open_root(str(self.root))
        except OSError as error:  # not "gone": an unmounted vault must not look like deleted notes (K-38)
            raise UnreadableError("", f"{self.root} cannot be opened: {error.strerror}") from error

    def _enter(self, parent: Folder, name: str, path: str, *, make: bool) -> Folder:
        try:
            return self._open(parent, name, path)
        except FileNotFoundError:
            if not make:
                raise
        with suppress(FileExistsError):
            self.disk.make_folder(parent, name)
        return self._open(parent, name, path)

    def _open(self, parent: Folder, name: str, path: str) -> Folder:
        try:
            return self.disk.open_folder(parent, name)
        except OSError as error:
            self.refuse_link(error, parent, name, path)
            raise

    def refuse_link(self, error: OSError, folder: Folder, name: str, path: str) -> None:
        """Raise LinkRefusedError where a link was the reason for the error."""
        if error.errno not in _LINK_ERRORS:
            return
        with suppress(OSError):
            target = self.disk.target(folder, name)
            raise LinkRefusedError(path, target) from error

    def read(self, path: NotePath) -> Snapshot | None:
        """The file of that path; None where there is none.

        Raises:
            LinkRefusedError: the path goes through a link.
            UnreadableError: it is there but cannot be read.
        """
        parent, name = split_path(path)
        try:
            parts_of(path)
            with self.folder(parent) as folder:
                return self.read_in(folder, name, path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise UnreadableError(path, error.strerror or str(error)) from error

    def read_in(self, folder: Folder, name: str, path: NotePath) -> Snapshot:
        """A file of an opened folder, its bytes and its stat from the same moment."""
        try:
            fd = self.disk.open_file(folder, name, READ)
        except OSError as error:
            self.refuse_link(error, folder, name, path)
            raise
        try:
            for _ in range(_TRIES):
                snapshot = self._read_once(fd, path)
                if snapshot is not None:
                    return snapshot
        finally:
            self.disk.close_file(fd)
        raise UnreadableError(path, "it changes while it is read")

    def _read_once(self, fd: int, path: NotePath) -> Snapshot | None:
        before = self.disk.stat_file(fd)
        if not stat.S_ISREG(before.st_mode):
            raise UnreadableError(path, "it is no regular file")
        self.disk.seek(fd, 0)
        parts: list[bytes] = []
        while part := self.disk.read(fd, max(_CHUNK, before.st_size + 1)):
            parts.append(part)
        data, after = b"".join(parts), self.disk.stat_file(fd)
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(
            data
        ) != after.st_size:
            return None
        return Snapshot(
            path, data, Stat(after.st_size, after.st_mtime_ns), digest_of(data), stat.S_IMODE(after.st_mode)
        )

    def stat(self, path: NotePath) -> Stat | None:
        """Size and time of the regular file of that path; None where there is none that may be opened.

        Raises:
            UnreadableError: the vault's root is gone.
        """
        parent, name = split_path(path)
        if not is_inside(path):
            return None
        try:
            with self.folder(parent) as folder:
                there = self.disk.stat(folder, name)
        except (OSError, LinkRefusedError):
            return None
        return Stat(there.st_size, there.st_mtime_ns) if stat.S_ISREG(there.st_mode) else None


def is_inside(path: str) -> bool:
    """Whether it is a vault-relative path: not absolute, not climbing, with nothing in it that no file name holds."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return not any(part in {"", ".", ".."} or "\0" in part for part in path.split("/"))


def parts_of(path: str) -> list[str]:
    """The names of a vault-relative path.

    Raises:
        UnreadableError: it could lead out of the vault; nothing was touched.
    """
    if not is_inside(path):
        raise UnreadableError(path, "it is no path inside the vault")
    return path.split("/")
