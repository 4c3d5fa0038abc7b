"""A keeper in a process of its own, and ways to wait for what it does (never for time to pass)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Event = dict[str, Any]
LIMIT_S = 30.0


class Watched:
    """`vaultkeeper watch --json` on one vault; `events` grows as it speaks."""

    def __init__(self, vault: Path, **settings: object) -> None:
        env = {**os.environ, **{f"VAULTKEEPER_{key.upper()}": str(value) for key, value in settings.items()}}
        self.events: list[Event] = []
        self._news = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "vaultkeeper", "watch", str(vault), "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()
        self.wait(lambda event: event["event"] == "ready")

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.events.append(json.loads(line))
                self._news.notify_all()

    def wait(self, wanted: Callable[[Event], bool], since: int = 0) -> Event:
        """The first event from number `since` on that is wanted."""
        end = time.monotonic() + LIMIT_S
        with self._news:
            while True:
                for event in self.events[since:]:
                    if wanted(event):
                        return event
                left = end - time.monotonic()
                if left <= 0 or (self.process.poll() is not None and not self._news.wait(0.5)):
                    raise AssertionError(f"it did not happen; events: {self.events[-12:]}")
                self._news.wait(min(left, 0.5))

    def actions(self, since: int = 0) -> list[Event]:
        """Actions on notes from event number `since` on."""
        return [
            event for event in self.events[since:] if event["event"] == "action" and event["op"] != "page"
        ]

    def stop(self, sig: signal.Signals = signal.SIGTERM) -> None:
        """End it and wait for its end."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        self.process.wait(LIMIT_S)
        self._reader.join(LIMIT_S)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


@contextmanager
def watching(vault: Path, **settings: object) -> Iterator[Watched]:
    """A keeper that is at work while the block runs."""
    watched = Watched(vault, **settings)
    try:
        yield watched
    finally:
        watched.stop()


def until(condition: Callable[[], bool], what: str = "") -> None:
    """Wait until something on disk is as wanted."""
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"it did not happen: {what}")
        time.sleep(0.02)
