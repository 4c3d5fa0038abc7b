"""Watches a vault's files, by the system's events or by polling, and tells of each change (K-33, K-37, K-39)."""

from __future__ import annotations

import errno
import logging
import os
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver, PollingObserverVFS

from vaultkeeper.core.slug import split_path
from vaultkeeper.watch.ignore import IgnoreRules, is_note_name
from vaultkeeper.watch.probe import Probe

_WANTED: Final[list[type[FileSystemEvent]]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileClosedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]
"""Without opened and closed-unwritten: with them watchdog 7.1 answers an overflow with a walk whose own events overflow
the queue again, for ever, above about 5,000 folders (K-37)."""

_LINUX: Final = sys.platform == "linux"
_WINDOWS: Final = sys.platform == "win32"
_WATCHDOG_LOGGER: Final = "watchdog"
_OVERFLOW_LOGGER: Final = "watchdog.observers.inotify_c"
"""Where watchdog 7 says that events were lost; it raises no event for it, and watchdog 6 says nothing at all."""

_HELD_OPEN: Final = 1.0
"""Seconds after which a file that is written to without being closed is told of all the same."""
_JUST_MADE: Final = 2.0
"""Seconds in which an empty file counts as one that its maker is about to fill."""
_POLL_EVERY: Final = 2.0
"""Seconds between two polls: 10,000 notes take about 0.1 s each time."""

_PAIRING: Final = 0.01
"""Seconds that watchdog 7 waits for the second half of a rename; it waits 0.5 s even where that half has come meanwhile,
and holds back all news until then. Both halves are one read of the kernel's queue, and alone each is understood too."""

_LIMITS: Final = {
    errno.ENOSPC: "the system's limit of watched folders is reached (fs.inotify.max_user_watches)",
    errno.EMFILE: "the system's limit of watchers is reached (fs.inotify.max_user_instances)",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One observed file event."""

    kind: Literal["file", "folder", "overflow", "root-gone"]
    """file: look at this file. folder: look at everything below. overflow: events were lost, look at everything.
    root-gone: the vault's folder is not there any more; the watcher sees nothing from now on."""
    path: str
    """Vault-relative with `/`; empty for overflow and root-gone."""
    at: float
    """When it was seen, in monotonic seconds."""


class Watcher:
    """Turns file events below a vault into `Change`s, by events or polling; `stop` ends it, a stopped one is not reused.

    `sink` is called in watchdog's threads; a queue's `put` is meant. Only notes and folders that the rules do not
    ignore are told of, and the file of the probe that is set. Both ends of a move are changes of their own. A file
    that is written to is told of when it is closed; where the system says nothing of closing, at each write.
    """

    def __init__(
        self,
        root: Path,
        rules: IgnoreRules,
        sink: Callable[[Change], None],
        *,
        polling: Literal["auto", "on", "off"] = "auto",
        poll_every: float = _POLL_EVERY,
    ) -> None:
        """A watcher that sees nothing yet.

        Args:
            root: the vault's folder; may itself be a link.
            rules: what is ignored.
            sink: takes each change, from any thread.
            polling: on: always poll. off: never, even where there are no events. auto: where there are no events.
            poll_every: seconds between two polls.
        """
        self.mode: Literal["events", "polling"] = "polling" if polling == "on" else "events"
        self.reason = ""
        """Why it polls or sees nothing; empty while events are watched."""
        self.probe: Probe | None = None
        """The probe whose events are let through (K-33)."""
        self._base = os.path.realpath(root)
        self._prefix = os.path.join(self._base, "")
        self._rules = rules
        self._sink = sink
        self._polling = polling
        self._poll_every = poll_every
        self._observer: BaseObserver | None = None
        self._overflows = _OverflowHandler(self._overflowed)
        self._is_gone = False
        self._is_unsure = False
        self._writing: dict[str, float] = {}

    def start(self) -> None:
        """Begin to watch; every change after this returns is told of. Falls back to polling, never raises OSError."""
        self.reason = "polling is switched on"
        if self._polling != "on":
            try:
                self._watch_events()
                self.reason = ""
                return
            except OSError as error:
                self.stop()
                self.reason = _LIMITS.get(error.errno or 0, f"no file events: {error.strerror or error}")
        if self._polling != "off":
            self._poll()
        elif not os.path.isdir(self._base):
            self._root_gone()

    def stop(self) -> None:
        """Stop watching and wait for watchdog's threads to end; may be called twice."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            if observer.is_alive():
                observer.join()
        logging.getLogger(_WATCHDOG_LOGGER).removeHandler(self._overflows)

    def _watch_events(self) -> None:
        # On the logger above, so that watchdog's complaints while it is being stopped go to no terminal either.
        logging.getLogger(_WATCHDOG_LOGGER).addHandler(self._overflows)
        log = logging.getLogger(_OVERFLOW_LOGGER)
        if not log.isEnabledFor(logging.WARNING):
            log.setLevel(logging.WARNING)
        # Watchdog 7 warns when it comes to a new folder twice, which is no harm and of no use to anybody.
        warnings.filterwarnings("ignore", message="Callback with id", category=RuntimeWarning)
        if _LINUX:
            from watchdog.observers.inotify_move_event_grouper import InotifyMoveEventGrouper

            InotifyMoveEventGrouper.delay = _PAIRING
        self._observer = observer = Observer()
        if isinstance(observer, PollingObserver):
            raise OSError(errno.ENOTSUP, "this system has none")
        observer.schedule(_Handler(self._take), self._base, recursive=True, event_filter=_WANTED)
        observer.start()
        above = os.path.dirname(self._base)
        if _LINUX and above != self._base:
            # Only the folder above tells when the vault itself is renamed. And where the limit of watches was reached
            # in some subfolder, which watchdog 7 passes over, this one more watch fails too.
            handler = _Handler(self._take_from_above)
            observer.schedule(handler, above, recursive=False, event_filter=[DirMovedEvent, DirDeletedEvent])

    def _poll(self) -> None:
        self.mode = "polling"
        # Links are not followed: one that leads back up would be walked for ever.
        observer = PollingObserverVFS(os.lstat, self._entries, polling_interval=self._poll_every)
        self._observer = observer
        observer.schedule(_Handler(self._take), self._base, recursive=True, event_filter=_WANTED)
        try:
            observer.start()
        except OSError as error:
            self.stop()
            self.reason = f"{self._base}: {error.strerror or error}"
            self._root_gone()

    def _entries(self, folder: str | None) -> Iterator[os.DirEntry[str]]:
        """What a poll looks at in one folder."""
        with os.scandir(folder) as entries:
            for entry in entries:
                path = self._relative(entry.path)
                is_folder = entry.is_dir(follow_symlinks=False)
                if not (self._rules.ignores_folder(path) if is_folder else self._rules.ignores_file(path)):
                    yield entry

    def _take(self, event: FileSystemEvent) -> None:
        if (
            event.is_synthetic
        ):  # of something in a folder that came or moved: the folder's own event covers it
            return
        at = time.monotonic()
        for end in (event.src_path, event.dest_path):
            full = os.fsdecode(end)
            path = self._relative(full)
            if full == self._base and event.event_type == "deleted":
                self._root_gone()
            elif self._is_gone or not path:
                continue
            elif _is_of_folder(event, path):
                if not self._rules.ignores_folder(path):
                    self._sink(Change("folder", path, at))
            elif self._is_wanted(path) and self._is_saved(event, path, at):
                self._sink(Change("file", path, at))

    def _take_from_above(self, event: FileSystemEvent) -> None:
        if os.fsdecode(event.src_path) == self._base:
            self._root_gone()

    def _relative(self, full: str) -> str:
        """Vault-relative path with `/`; empty for what is not inside the vault."""
        path = full[len(self._prefix) :] if full.startswith(self._prefix) else ""
        return path if os.sep == "/" else path.replace(os.sep, "/")

    def _is_wanted(self, path: str) -> bool:
        if self.probe is None or not self.probe.seen(path):
            return not self._rules.ignores_file(path)
        if self._is_unsure:
            # Watchdog has read on, so it has done setting up its watches anew: what changed meanwhile is seen from here.
            self._is_unsure = False
            self._sink(Change("overflow", "", time.monotonic()))
        return True

    def _is_saved(self, event: FileSystemEvent, path: str, at: float) -> bool:
        """Whether the event ends a change; on Linux a writer's first writes do not, since its closing is told too."""
        if not _LINUX or self.mode == "polling":
            return True
        if event.event_type == "modified":
            if at - self._writing.setdefault(path, at) < _HELD_OPEN:
                return False
            self._writing[path] = at
            return True
        if event.event_type == "created" and _is_being_made(event.src_path):
            return False
        self._writing.pop(path, None)
        return True

    def _overflowed(self) -> None:
        self._is_unsure = True
        self._sink(Change("overflow", "", time.monotonic()))

    def _root_gone(self) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._sink(Change("root-gone", "", time.monotonic()))


class _Handler(FileSystemEventHandler):
    """Gives every event to one function."""

    def __init__(self, take: Callable[[FileSystemEvent], None]) -> None:
        self._take = take

    def dispatch(self, event: FileSystemEvent) -> None:
        """Called by watchdog for each event, in its own thread."""
        self._take(event)


class _OverflowHandler(logging.Handler):
    """Hears from watchdog's log that the system lost events."""

    def __init__(self, overflowed: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._overflowed = overflowed

    def emit(self, record: logging.LogRecord) -> None:
        """Called by the logging system, in the thread that reads the system's events."""
        if record.name == _OVERFLOW_LOGGER and "overflow" in record.getMessage().lower():
            self._overflowed()


def _is_of_folder(event: FileSystemEvent, path: str) -> bool:
    """Whether the event is of a folder; Windows cannot tell for deleted ones, so there it is what is no note."""
    if event.is_directory or not _WINDOWS:
        return event.is_directory
    return event.event_type == "deleted" and not is_note_name(split_path(path)[1])


def _is_being_made(file: str | bytes) -> bool:
    """Whether a new file is still empty because whoever opened it has not written yet; its closing will be told."""
    try:
        status = os.lstat(file)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and not status.st_size and time.time() - status.st_mtime < _JUST_MADE
