"""A file system that fails, dies or is interfered with at a call of one's choice, for tests of the store (K-20 … K-23)."""

from __future__ import annotations

import errno
import functools
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from vaultkeeper.core.slug import same_name_key
from vaultkeeper.store.disk import Disk, Folder

CALLS: Final = tuple(name for name in vars(Disk) if not name.startswith("_"))
"""All that the store can ask of a disk."""

CHANGING: Final = frozenset(
    [
        "make_folder",
        "make_path",
        "unlink",
        "link",
        "replace",
        "rename_new",
        "exchange",
        "set_times",
        "open_file",
        "write",
        "truncate",
        "sync_file",
        "sync_folder",
        "close_file",
        "set_mode",
        "copy_attributes",
    ]
)
"""Calls that may change something, so that dying before any other is dying before the next of these."""

Hook = Callable[[int, str, tuple[Any, ...]], None]
"""Hears the number, from 1 on, the name and the arguments of a call before it is made; may raise in its place."""


class Killed(BaseException):
    """Stands for the end of the process, in tests that do without a process of its own."""


def _listening(name: str) -> Callable[..., Any]:
    real = getattr(Disk, name)

    @functools.wraps(real)
    def call(self: FaultyDisk, *args: Any, **kwargs: Any) -> Any:
        return self.heard(name, real, args, kwargs)

    return call


class FaultyDisk(Disk):
    """The file system of this platform, but for what `before` and `after` do to a call."""

    def __init__(
        self,
        before: Hook | None = None,
        after: Hook | None = None,
        *,
        handles: bool | None = None,
        platform: str = sys.platform,
        sync: bool = True,
    ) -> None:
        """As `Disk`; without `sync` nothing waits for the medium, which only a loss of power could tell."""
        if handles is None:
            super().__init__(platform=platform)
        else:
            super().__init__(handles=handles, platform=platform)
        self.before = before
        self.after = after
        self.calls: list[str] = []
        """Names of the calls made so far."""
        self._sync = sync
        self._opened: set[int] = set()

    def heard(
        self, name: str, real: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Make a call, with the hooks around it."""
        self.calls.append(name)
        number = len(self.calls)
        if self.before is not None:
            try:
                self.before(number, name, args)
            except OSError:
                if name.startswith("close_"):  # a close that fails has closed all the same
                    self._made(name, real(self, *args, **kwargs), args)
                raise
        answer = None
        if self._sync or not name.startswith("sync_"):
            answer = self._made(name, real(self, *args, **kwargs), args)
        if self.after is not None:
            self.after(number, name, args)
        return answer

    def _made(self, name: str, answer: Any, args: tuple[Any, ...]) -> Any:
        if name == "open_file":
            self._opened.add(answer)
        elif name in {"open_root", "open_folder"} and answer.handle is not None:
            self._opened.add(answer.handle)
        elif name == "close_file":
            self._opened.discard(args[0])
        elif name == "close_folder":
            self._opened.discard(args[0].handle)
        return answer

    def left_open(self) -> int:
        """How many files and folders were opened and not closed; they are closed now."""
        left = len(self._opened)
        for handle in self._opened:
            with suppress(OSError):
                os.close(handle)
        self._opened.clear()
        return left


for _name in CALLS:
    setattr(FaultyDisk, _name, _listening(_name))


# what may befall a call --------------------------------------------------------------------------------------------


def kill_at(n: int) -> Hook:
    """The process is gone before its n-th call."""

    def hook(number: int, _name: str, _args: tuple[Any, ...]) -> None:
        if number == n:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def die_at(n: int) -> Hook:
    """As `kill_at` as far as the disk can tell, in this process: no call has an effect from the n-th on."""

    def hook(number: int, _name: str, _args: tuple[Any, ...]) -> None:
        if number >= n:
            raise Killed

    return hook


def fail_at(n: int, code: int, *, on: bool = False, spare: Iterable[str] = ("close_folder",)) -> Hook:
    """The n-th call is refused with that error, with `on` every one from there; letting folders go never fails."""
    spared = frozenset(spare)

    def hook(number: int, name: str, _args: tuple[Any, ...]) -> None:
        if name not in spared and (number == n or (on and number > n)):
            raise OSError(code, os.strerror(code))

    return hook


def refuse(*names: str, code: int = errno.ENOTSUP) -> Hook:
    """A file system that does not know these calls."""

    def hook(_number: int, name: str, _args: tuple[Any, ...]) -> None:
        if name in names:
            raise OSError(code, os.strerror(code))

    return hook


def act_at(name: str, act: Callable[[], object], *, nth: int = 1, where: str = "") -> Hook:
    """Somebody else acts at the n-th call of that name that has `where` in its arguments."""
    seen = 0

    def hook(_number: int, called: str, args: tuple[Any, ...]) -> None:
        nonlocal seen
        if called == name and where in repr(args):
            seen += 1
            if seen == nth:
                act()

    return hook


def all_of(*hooks: Hook) -> Hook:
    """Several hooks, one after another."""

    def hook(number: int, name: str, args: tuple[Any, ...]) -> None:
        for each in hooks:
            each(number, name, args)

    return hook


def killed_in_child(work: Callable[[], object]) -> bool:
    """Run it in a child process; says whether a signal ended it, and raises where it failed otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks beside threads
        child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    if os.WEXITSTATUS(status) != 0:
        raise AssertionError("the child failed by itself")
    return False


# another kind of disk ----------------------------------------------------------------------------------------------


class BlindDisk(FaultyDisk):
    """A disk that takes names for the same that differ by case or normalisation only, as on macOS and Windows."""

    _NAMES: Final = {"link": (1, 2), "exchange": (1, 2), "rename_new": (1, 3), "replace": (1, 3)}
    _NAMED: Final = frozenset(
        {"open_folder", "make_folder", "stat", "target", "unlink", "set_times", "open_file"}
    )

    def heard(
        self, name: str, real: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Make a call with the names as they stand on disk."""
        found = list(args)
        for at in self._NAMES.get(name, (1,) if name in self._NAMED else ()):
            found[at] = self._standing(args[2] if at == 3 else args[0], args[at])
        if name == "replace" and found[0].path == found[2].path and found[1] == found[3]:
            found[3] = args[3]  # the same file: it gets the name as it is spelled
        return super().heard(name, real, tuple(found), kwargs)

    @staticmethod
    def _standing(folder: Folder, name: str) -> str:
        key = same_name_key(name)
        return next((each for each in os.listdir(folder.path) if same_name_key(each) == key), name)
