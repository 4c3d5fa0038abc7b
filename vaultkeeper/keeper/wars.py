"""Rewrite wars (K-32): notices when another tool keeps undoing what the keeper writes, and lets the note be."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import datetime, timedelta

from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.note import NotePath

WINDOW = timedelta(seconds=60)
TIMES = 3
"""K-32: 3 times in 60 s on one note."""


class Wars:
    """Counts, for each note, how often the keeper had to turn the very same bytes into others.

    A note that is fought over is left alone until a minute has passed without a new round, so that it is not lost
    to the keeper for ever once the other tool has stopped.
    """

    def __init__(self) -> None:
        self._rounds: dict[NotePath, deque[datetime]] = {}
        self._last: dict[NotePath, str | None] = {}
        self._on: dict[NotePath, datetime] = {}

    def wrote(self, path: NotePath, instead_of: str | None, now: datetime) -> None:
        """The keeper wrote other bytes than `instead_of`; when those come back, that is a round of a war.

        What the keeper writes does not count: it may differ by a time.
        """
        rounds = self._rounds.setdefault(path, deque(maxlen=TIMES))
        if self._last.get(path) != instead_of:
            rounds.clear()
        self._last[path] = instead_of
        rounds.append(now)
        if len(rounds) == TIMES and now - rounds[0] <= WINDOW:
            self._on[path] = now

    def is_on(self, path: NotePath) -> bool:
        """Whether the note is to be left alone."""
        return path in self._on

    def make_peace(self, now: datetime) -> set[NotePath]:
        """End the wars whose last round is over a minute old; returns their notes, which want planning again."""
        over = {path for path, since in self._on.items() if now - since > WINDOW}
        for path in over:
            del self._on[path]
            self._rounds.pop(path, None)
        return over

    def findings(self) -> Iterable[Finding]:
        """One `rewrite-war` for each note that is left alone."""
        return [found("rewrite-war", path) for path in sorted(self._on)]
