"""Which bytes the store itself has put where, so that the watcher's news of them cause nothing (K-32)."""

from __future__ import annotations

from collections import OrderedDict


class OwnWrites:
    """The latest own writes by path; the oldest are forgotten, which costs a reading and no more.

    One thread writes while others ask: each operation is one step of the dictionary.
    """

    def __init__(self, limit: int = 50_000) -> None:
        self._digests: OrderedDict[str, str] = OrderedDict()
        self._limit = limit

    def remember(self, path: str, digest: str) -> None:
        """These bytes are about to stand there; said before the event can arrive."""
        self._digests[path] = digest
        self._digests.move_to_end(path)
        while len(self._digests) > self._limit:
            self._digests.popitem(last=False)

    def is_own(self, path: str, digest: str) -> bool:
        """Whether the store wrote these bytes there, and nothing else since."""
        return self._digests.get(path) == digest
