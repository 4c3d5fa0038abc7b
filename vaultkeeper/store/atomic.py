"""Files written all or nothing: a temporary dot-name beside them, on disk before it takes the name (K-20)."""

from __future__ import annotations

import errno
import logging
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from vaultkeeper.store.disk import NEW, READ, UNSUPPORTED, Disk, Folder

log = logging.getLogger(__name__)


def temp_name() -> str:
    """A name that Obsidian, sync tools and the watcher ignore, and that no other process uses (case b21)."""
    return f".vaultkeeper-{secrets.token_hex(8)}.tmp"


def is_temp_name(name: str) -> bool:
    """Whether a file of that name is a temporary one of some vaultkeeper."""
    return name.startswith(".vaultkeeper-") and name.endswith(".tmp")


def write_atomic(path: Path, data: bytes, *, mode: int | None = None, disk: Disk | None = None) -> None:
    """Replace or make a file; at any moment it has its old bytes or the new ones, whole.

    Args:
        path: in a folder that exists; a link there is replaced, not followed.
        data: all it will hold.
        mode: its mode bits; None keeps those it has, a new file gets the user's default.
        disk: where calls go; for tests.

    Raises:
        OSError: nothing changed.
    """
    disk = disk or Disk()
    folder = disk.open_root(str(path.parent))
    try:
        replace_in(disk, folder, path.name, data, mode)
        disk.sync_folder(folder)
    finally:
        disk.close_folder(folder)


def replace_in(disk: Disk, folder: Folder, name: str, data: bytes, mode: int | None = None) -> None:
    """`write_atomic` in an opened folder, but for having the folder on disk."""
    if mode is None:
        with suppress(FileNotFoundError):
            there = disk.stat(folder, name).st_mode
            mode = stat.S_IMODE(there) if stat.S_ISREG(there) else None
    temp = temp_name()
    write_temp(disk, folder, temp, data, mode=mode)
    try:
        disk.replace(folder, temp, folder, name)
    except OSError:
        discard(disk, folder, temp)
        raise


def write_temp(
    disk: Disk,
    folder: Folder,
    temp: str,
    data: bytes,
    *,
    mode: int | None = None,
    mtime_ns: int | None = None,
    like: tuple[Folder, str] | None = None,
) -> None:
    """Write a new file under a private name and have it on disk; on any error it is gone again.

    Args:
        disk: where calls go.
        folder: where it stands.
        temp: its name.
        data: its bytes.
        mode: its mode bits, the user's default when None.
        mtime_ns: its modification time, now when None.
        like: the file whose owner and extended attributes it takes.
    """
    fd = disk.open_file(folder, temp, NEW, 0o666 if mode is None else mode & 0o777 | 0o600)
    try:
        try:
            write_all(disk, fd, data)
            if like is not None:
                _take_attributes(disk, fd, like)
            if mode is not None:
                disk.set_mode(folder, temp, fd, mode)
            disk.sync_file(fd)
        finally:
            disk.close_file(fd)
        if mtime_ns is not None:
            disk.set_times(folder, temp, mtime_ns)
    except OSError:
        discard(disk, folder, temp)
        raise


def write_all(disk: Disk, fd: int, data: bytes) -> None:
    """Write all of it, however little the system takes at once."""
    rest = memoryview(data)
    while rest:
        rest = rest[disk.write(fd, rest) :]


def _take_attributes(disk: Disk, fd: int, like: tuple[Folder, str]) -> None:
    source = disk.open_file(*like, READ)
    try:
        disk.copy_attributes(source, fd)
    finally:
        disk.close_file(source)


def place_new(disk: Disk, folder: Folder, temp: str, name: str) -> None:
    """Give a file of the folder its name, unless that is taken; FileExistsError, and nothing changed, where it is."""
    try:
        disk.rename_new(folder, temp, folder, name)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
    else:
        return
    try:
        disk.link(folder, temp, name)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
    else:
        discard(disk, folder, temp)
        return
    # The last resort, on FAT and the like: an empty file takes the name, so that nobody else can.
    disk.close_file(disk.open_file(folder, name, NEW))
    try:
        disk.replace(folder, temp, folder, name)
    except OSError:
        discard(disk, folder, name)
        raise


def discard(disk: Disk, folder: Folder, name: str) -> bool:
    """Take a file of ours away; asked twice, since a leftover would be a nuisance, and logged where it stays.

    Returns:
        Whether it is gone.
    """
    gone = False
    for _ in range(2):
        try:
            disk.unlink(folder, name)
        except FileNotFoundError:
            gone = True  # asked once more: network shares may answer so to a call that they have lost
        except OSError as error:
            log.warning("%s could not be removed: %s", os.path.join(folder.path, name), error)
        else:
            return True
    return gone


def sweep(disk: Disk, folder: Folder, older_than_ns: int) -> None:
    """Take away temporary files that killed processes left in a folder of our own; younger ones may be in use."""
    for name in disk.names(folder):
        if is_temp_name(name) and disk.stat(folder, name).st_mtime_ns < older_than_ns:
            discard(disk, folder, name)


def is_unsupported(error: OSError) -> bool:
    """Whether the file system does not know the call, or does not do it between these two folders."""
    return error.errno in UNSUPPORTED or error.errno == errno.EXDEV
