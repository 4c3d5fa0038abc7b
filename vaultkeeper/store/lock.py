"""One keeper per vault: a lock that the system gives back when its holder dies, and a note of who holds it (K-29)."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec

from vaultkeeper.core.errors import VaultBusyError
from vaultkeeper.store.atomic import write_atomic

if TYPE_CHECKING:
    from filelock import BaseFileLock

_LOCK = "keeper.lock"
_HOLDER = "keeper.json"

_LEAST_WAIT_S = 0.25
"""Even who will not wait tries this long: `holder` has the lock for a moment when it looks whether anybody holds it, and
a new holder needs a moment to write its name."""
_POLL_S = 0.02


class Holder(msgspec.Struct, frozen=True):
    """Who holds the lock of a vault."""

    pid: int
    host: str
    vault: str = ""


class VaultLock:
    """The right to write in one vault, for one process at a time.

    Whether it is held is the system's to say, so a lock whose holder was killed is simply free. As a context manager it
    gives the lock back at the end; taking it is `acquire`'s.
    """

    def __init__(self, state: Path, vault: str) -> None:
        """Make the lock of a vault, not held.

        Args:
            state: the vault's folder among the user's state, the same however the vault is reached.
            vault: its name for messages.
        """
        self._state = state
        self._vault = vault
        self._lock: BaseFileLock | None = None

    def acquire(self, wait: timedelta = timedelta(0)) -> None:
        """Take the lock; nothing happens where this object holds it.

        Args:
            wait: how long to wait for another holder to be done.

        Raises:
            VaultBusyError: another one holds it; do not write, tell who it is.
            OSError: the state folder cannot be written.
        """
        if self._lock is not None:
            return
        self._state.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = _system_lock(self._state / _LOCK)
        if not _taken(lock, max(wait.total_seconds(), _LEAST_WAIT_S)):
            other = _named(self._state) or Holder(0, "an unknown host")
            raise VaultBusyError(self._vault, other.pid, other.host)
        self._lock = lock
        self._sign()

    def _sign(self) -> None:
        vault = self._vault.encode(errors="backslashreplace").decode()
        name = Holder(os.getpid(), platform.node(), vault)
        # Without room for the name the lock still keeps others out, which is what it is for.
        with suppress(OSError):
            (self._state / _HOLDER).unlink(missing_ok=True)
            write_atomic(self._state / _HOLDER, msgspec.json.encode(name), mode=0o600)

    def release(self) -> None:
        """Give the lock back; nothing happens where it is not held."""
        lock, self._lock = self._lock, None
        if lock is not None:
            with suppress(OSError):
                (self._state / _HOLDER).unlink()
            lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def holder(state: Path) -> Holder | None:
    """Who holds the lock of the vault with this state folder; None when nobody does.

    Never takes the lock from anybody, and never keeps it. Where it may not be tried, the name last written counts.
    """
    if not (state / _LOCK).exists():
        return None
    lock = _system_lock(state / _LOCK)
    try:
        free = _taken(lock, 0)
    except OSError:
        return _named(state)
    if free:
        lock.release()
        return None
    return _named(state)


@contextmanager
def short_lock(file: Path, wait: timedelta) -> Iterator[bool]:
    """Hold that lock file for the length of a block; gives whether it could be had in time.

    For a few file operations that must not be mixed with another process's: the caller decides what to do without it.
    """
    lock = _system_lock(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        held = _taken(lock, wait.total_seconds())
    except OSError:
        held = False
    try:
        yield held
    finally:
        if held:
            lock.release()


def _system_lock(file: Path) -> BaseFileLock:
    from filelock import FileLock  # costs more to import than most commands take

    return FileLock(file, thread_local=False)


def _taken(lock: BaseFileLock, wait_s: float) -> bool:
    from filelock import Timeout

    try:
        lock.acquire(timeout=wait_s, poll_interval=_POLL_S)
    except Timeout:
        return False
    return True


def _named(state: Path) -> Holder | None:
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.json.decode((state / _HOLDER).read_bytes(), type=Holder)
    return None
