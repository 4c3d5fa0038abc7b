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
from vaultkeeper.store.tree import Tree

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
        self._leftovers: list[tuple[NotePath, str, str | None]] = []
        """Path, private name beside it and digest of old bytes that are no longer needed."""

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
        self._leftovers.append((intent.path, intent.temp, intent.before))
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
                with suppress(
                    FileExistsError
                ):  # somebody made a new file in the old place: this one stays whole
                    self.disk.rename_new(target, to, source, name)
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
            self.disk.replace(*source, *target)  # the disk takes both names for one, and renames all the same
        except OSError as error:
            if not is_unsupported(error):
                raise
            return False
        return True

    def _is_same_file(self, intent: Intent, source: tuple[Folder, str], target: tuple[Folder, str]) -> bool:
        if same_name_key(intent.path) != same_name_key(intent.to):
            return False
        one, other = self.disk.stat(*source), self.disk.stat(*target)
        return (one.st_dev, one.st_ino, one.st_nlink) == (other.st_dev, other.st_ino, 1)

    def _move(self, intent: Intent, data: bytes) -> Stat:
        if changes_case_only(intent):
            stat = self._rewrite(intent, data)
            with self.source(intent) as source, self.target(intent) as target:
                self.rename_new(intent, source, target)
            return stat
        with self.source(intent) as source, self.target(intent) as target:
            return self._copy(intent, source, target, data)

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
        self._leftovers.append((intent.path, intent.aside, intent.before))

    # the end of a group ----------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Have all names on disk, then let the old bytes go."""
        for path in sorted(self._touched):
            try:
                with self.tree.folder(path) as folder:
                    self.disk.sync_folder(folder)
            except (OSError, VaultkeeperError) as error:
                log.warning("the folder %r could not be flushed to disk: %s", path, error)
        self._touched.clear()
        leftovers, self._leftovers = self._leftovers, []
        for path, private, digest in leftovers:
            try:
                with self.tree.folder(split_path(path)[0]) as folder:
                    self.let_go(folder, private, path, digest)
            except (OSError, VaultkeeperError) as error:
                log.warning("old bytes of %s could not be removed: %s", path, error)

    def let_go(self, folder: Folder, private: str, path: NotePath, *digests: str | None) -> None:
        """Remove a private name; bytes that an editor wrote into it at the last moment are kept.

        Raises:
            OSError: they could not be kept, so the file stays.
        """
        there = self.snapshot(folder, private)
        if there is not None and there.digest not in digests:
            name = f"{there.digest[:12]}-{split_path(path)[1][-60:]}"
            self._keep(name, there.data)
            log.warning("%s was written to while it was replaced; those bytes are kept as %s", path, name)
        if there is not None:
            discard(self.disk, folder, private)

    # looking ---------------------------------------------------------------------------------------------------

    def snapshot(self, folder: Folder, name: str) -> Snapshot | None:
        """A file of an opened folder; None where there is none that may be opened."""
        try:
            return self.tree.read_in(folder, name, NotePath(name))
        except (FileNotFoundError, VaultkeeperError):
            return None

    def digest(self, folder: Folder, name: str) -> str | None:
        """The digest of a file's bytes; None where there is none that may be opened."""
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
