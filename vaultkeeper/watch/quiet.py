"""When changed notes have been quiet for long enough to be worked on, and which of them together (K-31, K-34)."""

from __future__ import annotations

from typing import Final

_LONG_AGO: Final = float("-inf")

_BURST: Final = 3
"""Paths touched within `gather` seconds that make a burst: more than the two ends of one move."""


class QuietTimer:
    """Says which paths have been quiet for as long as was asked, in batches. All times are monotonic seconds.

    Belongs to one thread. Remembers the last touch of every path until `drop`, since a later `ask` counts from it.
    """

    def __init__(self, *, gather: float = 0.1, ceiling: float = 5.0) -> None:
        """A timer without any waits.

        Args:
            gather: silence that ends a burst; paths that fall due closer together than this are one batch.
            ceiling: longest time that a path which is due waits for the rest of its batch.
        """
        self._gather = gather
        self._ceiling = ceiling
        self._touched: dict[str, float] = {}
        """Last touch by path, the latest at the end."""
        self._grace: dict[str, float] = {}
        self._due: dict[str, float] = {}

    def touch(self, path: str, at: float) -> None:
        """Something happened to the path; its quiet begins anew."""
        at = max(at, self._touched.pop(path, at))
        self._touched[path] = at
        if path in self._grace:
            self._due[path] = at + self._grace[path]

    def ask(self, path: str, grace: float) -> None:
        """Have `due` name the path once it has been quiet for `grace` seconds; replaces what was asked before.

        A path that was never touched has been quiet for ever.
        """
        self._grace[path] = grace
        self._due[path] = self._touched.get(path, _LONG_AGO) + grace

    def drop(self, path: str) -> None:
        """Forget the path: what was asked for it and when it was touched."""
        for known in (self._touched, self._grace, self._due):
            known.pop(path, None)

    def due(self, now: float) -> list[str]:
        """The paths whose wait is over, as one batch in order; they wait no more. Empty while a batch still grows."""
        ready = self.next_due(now)
        if ready is None or now < ready:
            return []
        paths = sorted(path for path, at in self._due.items() if at <= now)
        for path in paths:
            del self._grace[path], self._due[path]
        return paths

    def next_due(self, now: float) -> float | None:
        """When to ask `due` again, a time in the past meaning now; None: nothing waits, so no timer is needed."""
        if not self._due:
            return None
        first = min(self._due.values())
        if first > now:
            return first
        latest_start = first + self._ceiling
        if latest_start <= now:
            return latest_start
        burst_end = self._burst_end(now)
        return min(latest_start, self._batch_end(first) if burst_end is None else burst_end)

    def _burst_end(self, now: float) -> float | None:
        """When the stream of touches will have been silent for long enough; None when there is no burst now."""
        latest = next(reversed(self._touched.values()), _LONG_AGO)
        if now >= latest + self._gather:
            return None
        for count, at in enumerate(reversed(self._touched.values()), 1):
            if at < latest - self._gather:
                return None
            if count == _BURST:
                return latest + self._gather
        return None

    def _batch_end(self, first: float) -> float:
        """When the last of the paths falls due that follow each other closely, from the first on."""
        end = first
        for at in sorted(self._due.values()):
            if at - end > self._gather:
                break
            end = at
        return end
