"""Proves that file events arrive, by making a file of which one has to tell (K-33)."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

_NAME: Final = ".vaultkeeper-probe"


class Probe:
    """One proof: `start` makes and removes the file, the watcher calls `seen` for its events, `arrived` waits for one.

    `seen` and `arrived` may be called from any thread.
    """

    def __init__(self, root: Path, private: str) -> None:
        """A probe in the format's private folder, which watchers otherwise ignore."""
        self.path = f"{private}/{_NAME}"
        """Vault-relative path of the file."""
        self._folder = root / private
        self._arrived = threading.Event()

    def start(self) -> str:
        """Make the file and remove it again; returns why that was not possible, or nothing."""
        if os.path.islink(self._folder):
            return f"{self._folder} is a symbolic link, in which no events can be looked for"
        file = self._folder / _NAME
        try:
            file.unlink(missing_ok=True)  # left by a keeper that was killed
            file.touch(exist_ok=False)
            file.unlink()
        except OSError as error:
            return f"events cannot be proven: {file}: {error.strerror or error}"
        return ""

    def seen(self, path: str) -> bool:
        """Whether an event's path is the probe's; if so, events arrive."""
        if path != self.path:
            return False
        self._arrived.set()
        return True

    def arrived(self, timeout: float) -> bool:
        """Wait up to so many seconds for an event of the probe."""
        return self._arrived.wait(timeout)
