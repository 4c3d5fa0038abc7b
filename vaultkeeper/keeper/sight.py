"""How the keeper sees its vault: the watcher of file events, and the proof that events arrive (K-33)."""

from __future__ import annotations

from collections.abc import Callable

from vaultkeeper.keeper.tools import Tools
from vaultkeeper.watch.observer import Change, Watcher
from vaultkeeper.watch.probe import Probe


class Sight:
    """Hands every change to `tell`, from the watcher's thread; belongs to the keeper's thread otherwise."""

    def __init__(self, tools: Tools, tell: Callable[[Change], None]) -> None:
        self._tools = tools
        self._tell = tell
        self._watcher: Watcher | None = None
        self._probe: Probe | None = None

    def begin_anew(self) -> None:
        """Watch the vault, and forget watches of before, which may be of another folder."""
        self.end()
        tools = self._tools
        self._watcher = Watcher(tools.root, tools.rules, self._tell, polling=tools.polling)
        self._watcher.start()

    def end(self) -> None:
        """Watch no more."""
        if self._watcher is not None:
            self._watcher.stop()

    def how(self) -> str:
        """What a person should know of how the vault is watched; empty when by events."""
        if self._watcher is None or self._watcher.mode == "events":
            return ""
        return self._watcher.reason or "polling"

    def probe(self) -> str | None:
        """Have an event made that has to come back; None where it has not to, else why it cannot be made or nothing."""
        if self._watcher is None or self._watcher.mode == "polling":
            return None
        self._probe = Probe(self._tools.root, self._tools.fmt.private)
        self._watcher.probe = self._probe
        return self._probe.start()

    def is_probe(self, change: Change) -> bool:
        """Whether the change is the event that was asked for."""
        return self._probe is not None and self._probe.seen(change.path)
