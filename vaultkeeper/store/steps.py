"""What is done to files for one intent, so that every note is whole at every instant (K-20 … K-23).

New bytes are on disk under a private name before they get theirs; old bytes keep a private name until the folders are on
disk too, and are looked at once more before they go. A step that fails leaves the rest to `resolve.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from vaultkeeper.core.errors import ChangedMeanwhileError, VaultkeeperError
from vaultkeeper.core.note import NotePath, Snapshot, Stat
from vaultkeeper.core.slug import same_name_key, split_path
from vaultkeeper.store.atomic import discard, is_unsupported, place_new, write_temp
from vaultkeeper.store.disk import Folder
from vaultkeeper.store.records import Intent
from vaultkeeper.store.tree import Tree, UnreadableError

log = logging.getLogger(__name__)

Keep = Callable[[str, bytes], None]
"""Keeps bytes that somebody wrote and that have no place, under a name."""

_GONE: Final = Stat(0, 0)


class Steps:
    """Does intents one after another; `settle` ends a group of them."""

    def __init__(self, tree: Tree, keep: Keep) -> None:
        self.tree = tree
        self.disk = tree.disk
        self._keep = keep
        self._touched: set[str] = set()
        self._leftovers: list[tuple[Intent, NotePath, str]] = []
        """Intent, path and private name beside it of old bytes that are no longer needed."""

    # the four kinds --------------------------------------------------------------------------------------------

    def do(self, intent: Intent, data: bytes | None) -> Stat:
        """Do one intent; gives size and time of the file it leaves.

        Raises:
            ChangedMeanwhileError: somebody else wrote: have the intent resolved, and plan again.
            OSError, VaultkeeperError: it cannot be done: have the intent resolved.
        """
        if intent.kind == "trash":
            with self.source(intent) as (folder, name):
                self._set_aside(intent, folder, name)
            return _GONE
        if intent.kind == "move" and not intent.rewrites:
            return self._rename(intent)
        assert data is not None, "only a trash and a pure move have no bytes of their own"
        if intent.kind == "new":
            with self.target(intent) as (folder, name):
                return self._place(intent, folder, name, data, None)
        if intent.kind == "rewrite":
            return self._rewrite(intent, data)
        return self._move(intent, data)

    def _place(
        self, intent: Intent, folder: Folder, name: str, data: bytes, like: tuple[Folder, str] | None
    ) -> Stat:
        """A new file with these bytes; its name must be free."""
        stat = self._write(intent, folder, data, like)
        try:
            place_new(self.disk, folder, intent.temp, name)
        except FileExistsError as error:
            raise ChangedMeanwhileError(intent.to) from error
        return stat

    def _write(self, intent: Intent, folder: Folder, data: bytes, like: tuple[Folder, str] | None) -> Stat:
        try:
            write_temp(
                self.disk,
                folder,
                intent.temp,
                data,
                mode=intent.new_mode,
                mtime_ns=intent.new_mtime_ns,
                like=like,
            )
        except FileNotFoundError as error:
            raise ChangedMeanwhileError(intent.path) from error
        # From the private name: under its own somebody may have written to it by the time it is asked.
        there = self.disk.stat(folder, intent.temp)
        return Stat(there.st_size, there.st_mtime_ns)

    def _rewrite(self, intent: Intent, data: bytes) -> Stat:
        with self.source(intent) as (folder, name):
            return self._exchange(intent, folder, name, data)

    def _exchange(self, intent: Intent, folder: Folder, name: str, data: bytes) -> Stat:
        """New bytes for a file of the folder where it shall stand."""
        stat = self._write(intent, folder, data, (folder, name))
        try:
            self.disk.exchange(folder, intent.temp, name)
        except FileNotFoundError as error:
            raise ChangedMeanwhileError(intent.path) from error
        except OSError as error:
            if not is_unsupported(error):
                raise
            self._replace(intent, folder, name)
            return stat
        self._must_be(intent, folder, intent.temp)
        self._leftovers.append((intent, intent.to, intent.temp))
        return stat

    def _replace(self, intent: Intent, folder: Folder, name: str) -> None:
        """The way of file systems that cannot exchange: look once more, then rename over."""
        self._must_be(intent, folder, name)
        self.disk.replace(folder, intent.temp, folder, name)

    def _must_be(self, intent: Intent, folder: Folder, name: str) -> None:
        if self.digest(folder, name) != intent.before:
            raise ChangedMeanwhileError(intent.path)

    def _rename(self, intent: Intent) -> Stat:
        """A move that changes no byte is one rename; where the system cannot, the bytes are copied (K-22)."""
        with self.source(intent) as (source, name), self.target(intent) as (target, to):
            if not self.rename_new(intent, (source, name), (target, to)):
                there = self.snapshot(source, name)
                if there is None or there.digest != intent.before:
                    raise ChangedMeanwhileError(intent.path)
                return self._copy(intent, (source, name), (target, to), there.data)
            there = self.snapshot(target, to)
            if there is None or there.digest != intent.before:
                self.rename_back(intent, (target, to), (source, name))
                raise ChangedMeanwhileError(intent.path)
            return there.stat

    def rename_new(self, intent: Intent, source: tuple[Folder, str], target: tuple[Folder, str]) -> bool:
        """Rename in one step to a free name; False where the system cannot.

        Raises:
            ChangedMeanwhileError: the file is gone, or the name is taken.
        """
        try:
            self.disk.rename_new(*source, *target)
        except FileNotFoundError as error:
            raise ChangedMeanwhileError(intent.path) from error
        except FileExistsError as error:
            if not self._is_same_file(intent, source, target):
                raise ChangedMeanwhileError(intent.to) from error
            self.disk.replace(*source, *target)
        except OSError as error:
            if not is_unsupported(error):
                raise
            if not self._is_same_file(intent, source, target):
                return False
            self.disk.replace(*source, *target)
        return True

    def rename_back(self, intent: Intent, target: tuple[Folder, str], source: tuple[Folder, str]) -> None:
        """Where somebody made a new file in the old place meanwhile, both stay as they are, whole."""
        with suppress(ChangedMeanwhileError):
            self.rename_new(intent, target, source)

    def _is_same_file(self, intent: Intent, source: tuple[Folder, str], target: tuple[Folder, str]) -> bool:
        """Whether the disk takes both names for one; it renames all the same."""
        if not changes_case_only(intent) or not self.is_one_file(source, target):
            return False
        return self.disk.stat(*source).st_nlink == 1

    def is_one_file(self, source: tuple[Folder, str], target: tuple[Folder, str]) -> bool:
        """Whether both names lead to the same file."""
        try:
            one, other = self.disk.stat(*source), self.disk.stat(*target)
        except FileNotFoundError:
            return False
        return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)

    def _move(self, intent: Intent, data: bytes) -> Stat:
        with self.source(intent) as source, self.target(intent) as target:
            if not changes_case_only(intent) or not self.rename_new(intent, source, target):
                return self._copy(intent, source, target, data)
            # Renamed first: the new name may be taken, and then nothing has happened yet.
            return self._exchange(intent, *target, data)

    def _copy(
        self, intent: Intent, source: tuple[Folder, str], target: tuple[Folder, str], data: bytes
    ) -> Stat:
        """The new place is written first, then the old one removed (K-22)."""
        stat = self._place(intent, *target, data, source)
        try:
            self._set_aside(intent, *source)
        except (OSError, VaultkeeperError):
            if self.digest(*target) == intent.after:
                discard(self.disk, *target)
            raise
        return stat

    def _set_aside(self, intent: Intent, folder: Folder, name: str) -> None:
        """Give the old file a private name; it must be the one that was planned with."""
        try:
            self.disk.replace(folder, name, folder, intent.aside)
        except FileNotFoundError as error:
            raise ChangedMeanwhileError(intent.path) from error
        self._must_be(intent, folder, intent.aside)
        self._leftovers.append((intent, intent.path, intent.aside))

    # the end of a group ----------------------------------------------------------------------------------------

    def settle(self) -> set[int]:
        """Have all names on disk, then let the old bytes go.

        Returns:
            Numbers of the intents whose old bytes could not be removed: have them resolved later.
        """
        for path in sorted(self._touched):
            try:
                with self.tree.folder(path) as folder:
                    self.disk.sync_folder(folder)
            except (OSError, VaultkeeperError) as error:
                log.warning("the folder %r could not be flushed to disk: %s", path, error)
        self._touched.clear()
        leftovers, self._leftovers = self._leftovers, []
        left: set[int] = set()
        for intent, path, private in leftovers:
            try:
                with self.tree.folder(split_path(path)[0]) as folder:
                    gone = self.let_go(folder, private, path, intent.before)
            except FileNotFoundError:
                continue
            except (OSError, VaultkeeperError) as error:
                log.warning("old bytes of %s could not be removed: %s", path, error)
                gone = False
            if not gone:
                left.add(intent.number)
        return left

    def let_go(self, folder: Folder, private: str, path: NotePath, *digests: str | None) -> bool:
        """Remove a private name; bytes that an editor wrote into it at the last moment are kept.

        Returns:
            Whether it is gone.

        Raises:
            OSError, UnreadableError: what it holds could not be kept, so it stays.
        """
        there = self.snapshot(folder, private)
        if there is None:
            return True
        if not there.digest:
            raise UnreadableError(path, "somebody put something else in its place while it was replaced")
        if there.digest not in digests:
            name = f"{there.digest[:12]}-{split_path(path)[1][-60:]}"
            self._keep(name, there.data)
            log.warning("%s was written to while it was replaced; those bytes are kept as %s", path, name)
        return discard(self.disk, folder, private)

    # looking ---------------------------------------------------------------------------------------------------

    def snapshot(self, folder: Folder, name: str) -> Snapshot | None:
        """A file of an opened folder; None where nothing is, without a digest where it is no file that can be read."""
        try:
            return self.tree.read_in(folder, name, NotePath(name))
        except FileNotFoundError:
            return None
        except VaultkeeperError:
            return Snapshot(NotePath(name), b"", _GONE, "")

    def digest(self, folder: Folder, name: str) -> str | None:
        """The digest of a file's bytes; None where nothing is, empty where it is no file that can be read."""
        there = self.snapshot(folder, name)
        return there.digest if there is not None else None

    @contextmanager
    def source(self, intent: Intent) -> Iterator[tuple[Folder, str]]:
        """The folder where the file of an intent stands, and its name there."""
        parent, name = split_path(intent.path)
        opened = self.tree.folder(parent)
        try:
            folder = opened.__enter__()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ChangedMeanwhileError(intent.path) from error
        self._touched.add(parent)
        try:
            yield folder, name
        finally:
            opened.__exit__(None, None, None)

    @contextmanager
    def target(self, intent: Intent) -> Iterator[tuple[Folder, str]]:
        """The folder where the file of an intent will stand, made where it is missing, and its name there."""
        parent, name = split_path(intent.to)
        with self._made(parent) as folder:
            self._touched.add(parent)
            yield folder, name

    @contextmanager
    def _made(self, path: str) -> Iterator[Folder]:
        opened = self.tree.folder(path)
        try:
            folder = opened.__enter__()
        except FileNotFoundError:
            opened = self.tree.folder(path, make=True)
            folder = opened.__enter__()
            above = path
            while above:  # a new folder is a new name in the one above
                above = split_path(above)[0]
                self._touched.add(above)
        try:
            yield folder
        finally:
            opened.__exit__(None, None, None)


def changes_case_only(intent: Intent) -> bool:
    """Whether the old and the new name may be one and the same on some disks (K-25)."""
    return same_name_key(intent.path) == same_name_key(intent.to)
