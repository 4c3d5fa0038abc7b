"""What a person took back (K-50): it is not done again by itself until the note changes."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

import msgspec

from vaultkeeper.core.action import Action
from vaultkeeper.core.note import digest_of
from vaultkeeper.store.atomic import write_atomic
from vaultkeeper.store.disk import Disk

log = logging.getLogger(__name__)

_LIMIT: Final = 10_000
"""Places remembered; with more the oldest are forgotten, whose notes the keeper then puts in order once more."""


class Hold(msgspec.Struct, frozen=True, array_like=True):
    """What stands at a place since somebody took an action back."""

    digest: str | None
    """None: nothing."""
    unwanted: str | None = None
    """For a generated page the bytes that were taken back; other bytes may be written."""


class HeldList:
    """Holds by path, kept in a file of the vault's state; one process writes it, the one with the vault's lock."""

    def __init__(self, file: Path, disk: Disk) -> None:
        self._file = file
        self._disk = disk
        self._known: dict[str, Hold] | None = None

    @property
    def _holds(self) -> dict[str, Hold]:
        if self._known is None:
            self._known = self._load()
        return self._known

    def _load(self) -> dict[str, Hold]:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, Hold])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning("%s cannot be read, so what was taken back may be done again: %s", self._file, error)
            return {}

    def holds(self, action: Action) -> bool:
        """Whether a person took this very action back and the file has not changed since."""
        hold = self._holds.get(action.path)
        if hold is None or hold.digest != action.expects:
            return False
        if hold.unwanted is None or action.data is None:
            return True
        return digest_of(action.data) == hold.unwanted

    def update(self, add: dict[str, Hold], forget: set[str]) -> None:
        """Remember and forget places.

        Raises:
            OSError: the file could not be written; it counts in this process all the same.
        """
        holds = self._holds
        before = dict(holds)
        for path in forget | set(add):
            holds.pop(path, None)
        holds.update(add)
        for path in list(holds)[: max(0, len(holds) - _LIMIT)]:
            del holds[path]
        if holds != before:
            self._disk.make_path(str(self._file.parent))
            write_atomic(self._file, msgspec.json.encode(holds), mode=0o600, disk=self._disk)

    def forget(self, path: str) -> None:
        """Let the keeper act on that place again; where that cannot be written down, in this process only."""
        try:
            self.update({}, {path})
        except OSError as error:
            log.warning("%s could not be written: %s", self._file, error)
