"""Every file-system call of the store, one method each, so that a test can make any of them fail or be the last one.

No method decides anything: what to do about an answer or an error is said in `tree.py`, `atomic.py` and `steps.py`.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

UNSUPPORTED: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})
"""What a file system answers to a call it does not know; EPERM is FAT's and Android's answer to a hard link."""

_HANDLES: Final = hasattr(os, "O_DIRECTORY") and {os.open, os.link, os.rename, os.stat} <= os.supports_dir_fd
_FLAGS: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS: Final = os.O_RDONLY | _FLAGS | getattr(os, "O_DIRECTORY", 0)

READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
"""Without blocking, since a named pipe may stand where a note is expected."""
NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL
LOG: Final = os.O_RDWR | os.O_CREAT

_LINK_TAGS: Final = frozenset({0xA000000C, 0xA0000003})
"""Windows: reparse tags of symbolic links and of junctions."""


@dataclass(frozen=True, slots=True)
class _Special:
    """The system call of a platform that renames in special ways, with its constants."""

    symbol: str
    no_replace: int
    exchange: int
    here: int
    """AT_FDCWD."""


_SPECIAL: Final = {
    "linux": _Special("renameat2", no_replace=1, exchange=2, here=-100),
    "darwin": _Special("renameatx_np", no_replace=4, exchange=2, here=-2),
}


@dataclass(frozen=True, slots=True)
class Folder:
    """An opened folder; where the platform has folder handles, swapping the path for a link changes nothing any more."""

    path: str
    handle: int | None

    def place(self, name: str) -> str:
        """What the calls of `os` want for a name in it, besides the handle."""
        return name if self.handle is not None else os.path.join(self.path, name)


class Disk:
    """The file system. Every method raises OSError as the system does, and follows no symbolic link but the root's."""

    def __init__(self, *, handles: bool = _HANDLES, platform: str = sys.platform) -> None:
        """Take the calls of this platform; other values are for tests of the portable ways."""
        self._handles = handles
        self._special = _SPECIAL.get(platform)
        self._rename: Callable[..., int] | None = None

    # folders ---------------------------------------------------------------------------------------------------

    def open_root(self, path: str) -> Folder:
        """Open a folder by its path, following links."""
        if not self._handles:
            os.scandir(path).close()  # raises as opening would
            return Folder(path, None)
        return Folder(path, os.open(path, _FOLDER_FLAGS & ~getattr(os, "O_NOFOLLOW", 0)))

    def open_folder(self, parent: Folder, name: str) -> Folder:
        """Open a folder in a folder; ELOOP or ENOTDIR where it is a link."""
        path = os.path.join(parent.path, name)
        if parent.handle is None:
            self._refuse_link(path)
            os.scandir(path).close()
            return Folder(path, None)
        return Folder(path, os.open(name, _FOLDER_FLAGS, dir_fd=parent.handle))

    def close_folder(self, folder: Folder) -> None:
        """Let an opened folder go."""
        if folder.handle is not None:
            os.close(folder.handle)

    def sync_folder(self, folder: Folder) -> None:
        """Have the names in a folder on disk; nothing happens where the platform cannot do that."""
        if folder.handle is None:
            return
        try:
            os.fsync(folder.handle)
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise

    def make_folder(self, parent: Folder, name: str) -> None:
        """Make a folder with the mode the user's mask gives."""
        os.mkdir(parent.place(name), dir_fd=parent.handle)

    def make_path(self, path: str) -> None:
        """Make a folder of the user's own state with all that is missing above it."""
        os.makedirs(path, mode=0o700, exist_ok=True)

    def names(self, folder: Folder) -> list[str]:
        """The names in a folder, in no order."""
        return os.listdir(folder.path if folder.handle is None else folder.handle)

    def sizes(self, folder: Folder) -> dict[str, int]:
        """Sizes of the files in a folder by name."""
        with os.scandir(folder.path if folder.handle is None else folder.handle) as entries:
            return {entry.name: entry.stat(follow_symlinks=False).st_size for entry in entries}

    # names -----------------------------------------------------------------------------------------------------

    def stat(self, folder: Folder, name: str) -> os.stat_result:
        """What stands under a name, a link itself where it is one."""
        return os.stat(folder.place(name), dir_fd=folder.handle, follow_symlinks=False)

    def target(self, folder: Folder, name: str) -> str:
        """Where a symbolic link leads."""
        return os.readlink(folder.place(name), dir_fd=folder.handle)

    def unlink(self, folder: Folder, name: str) -> None:
        """Take a name away."""
        os.unlink(folder.place(name), dir_fd=folder.handle)

    def link(self, folder: Folder, name: str, to: str) -> None:
        """Give a file a second name in its folder; FileExistsError where that name is taken."""
        os.link(
            folder.place(name),
            folder.place(to),
            src_dir_fd=folder.handle,
            dst_dir_fd=folder.handle,
            follow_symlinks=False,
        )

    def replace(self, folder: Folder, name: str, target: Folder, to: str) -> None:
        """Rename, over what stands there."""
        os.replace(folder.place(name), target.place(to), src_dir_fd=folder.handle, dst_dir_fd=target.handle)

    def rename_new(self, folder: Folder, name: str, target: Folder, to: str) -> None:
        """Rename in one step; FileExistsError where the new name is taken, ENOTSUP where the platform cannot."""
        self._rename_special(folder, name, target, to, exchange=False)

    def exchange(self, folder: Folder, name: str, other: str) -> None:
        """Swap two names of a folder in one step; ENOTSUP where the platform cannot."""
        self._rename_special(folder, name, folder, other, exchange=True)

    def set_times(self, folder: Folder, name: str, mtime_ns: int) -> None:
        """Give a file a modification time."""
        place, times = folder.place(name), (mtime_ns, mtime_ns)
        if os.utime in os.supports_follow_symlinks:
            os.utime(place, ns=times, dir_fd=folder.handle, follow_symlinks=False)
        else:
            os.utime(place, ns=times, dir_fd=folder.handle)

    # open files ------------------------------------------------------------------------------------------------

    def open_file(self, folder: Folder, name: str, flags: int, mode: int = 0o666) -> int:
        """Open a file; ELOOP where the name is a link."""
        if not _FLAGS & getattr(os, "O_NOFOLLOW", 0) or folder.handle is None:
            self._refuse_link(os.path.join(folder.path, name))
        return os.open(folder.place(name), flags | _FLAGS, mode, dir_fd=folder.handle)

    def stat_file(self, fd: int) -> os.stat_result:
        """What the open file is."""
        return os.fstat(fd)

    def read(self, fd: int, size: int) -> bytes:
        """At most `size` bytes from where the file stands; empty at its end."""
        return os.read(fd, size)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write, and say how much was."""
        return os.write(fd, data)

    def seek(self, fd: int, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place in the file and say where that is."""
        return os.lseek(fd, offset, whence)

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file off."""
        os.ftruncate(fd, size)

    def sync_file(self, fd: int) -> None:
        """Have the file's bytes on disk."""
        os.fsync(fd)

    def close_file(self, fd: int) -> None:
        """Let an open file go."""
        os.close(fd)

    def set_mode(self, folder: Folder, name: str, fd: int, mode: int) -> None:
        """Give an open file its mode bits; by its name where the platform has no other way."""
        if hasattr(os, "fchmod"):
            os.fchmod(fd, mode)
        else:
            os.chmod(folder.place(name), mode)

    def copy_attributes(self, source: int, target: int) -> None:
        """Give an open file the owner and the extended attributes of another, as far as the system lets us."""
        with suppress(OSError, AttributeError):
            there, here = os.fstat(source), os.fstat(target)
            if (there.st_uid, there.st_gid) != (here.st_uid, here.st_gid):
                os.fchown(target, there.st_uid, there.st_gid)
        with suppress(OSError, AttributeError):
            for name in os.listxattr(source):
                with suppress(OSError):  # some are the system's own, and no reason to lose the others
                    os.setxattr(target, name, os.getxattr(source, name))

    # how it is done --------------------------------------------------------------------------------------------

    def _refuse_link(self, path: str) -> None:
        with suppress(FileNotFoundError):
            there = os.lstat(path)
            if stat.S_ISLNK(there.st_mode) or getattr(there, "st_reparse_tag", 0) in _LINK_TAGS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)

    def _rename_special(self, folder: Folder, name: str, target: Folder, to: str, *, exchange: bool) -> None:
        call, special = self._special_call(), self._special
        if call is None or special is None:
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP), name)
        here, there = (special.here if each.handle is None else each.handle for each in (folder, target))
        flag = special.exchange if exchange else special.no_replace
        if call(here, os.fsencode(folder.place(name)), there, os.fsencode(target.place(to)), flag):
            import ctypes

            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), name)

    def _special_call(self) -> Callable[..., int] | None:
        if self._rename is None and self._special is not None:
            import ctypes  # here, since most commands rename nothing and start faster without

            library = ctypes.CDLL(None, use_errno=True)
            self._rename = getattr(library, self._special.symbol, None)
            if self._rename is not None:
                self._rename.argtypes = [
                    ctypes.c_int,
                    ctypes.c_char_p,
                    ctypes.c_int,
                    ctypes.c_char_p,
                    ctypes.c_uint,
                ]
        return self._rename
