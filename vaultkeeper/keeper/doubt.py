"""K-38: a vault that suddenly looks empty is not believed until it has looked so for a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

import msgspec

from vaultkeeper.core.errors import VaultUnavailableError
from vaultkeeper.core.note import Entry, NotePath
from vaultkeeper.watch.void import doubt

CONFIRM = timedelta(seconds=60)
"""K-38: "until a rescan a minute later says the same"."""


class _Suspicion(msgspec.Struct):
    gone: str
    """Digest of the paths that were missing."""
    since: float
    """Seconds since the epoch."""


@dataclass(slots=True)
class Doubt:
    """Judges walks of one vault; what it suspects is kept in a file, so that a second command a minute later counts."""

    vault: str
    file: Path
    marker_there: Callable[[], bool]
    write: Callable[[Path, bytes], None]

    def judge(self, *, known: Iterable[Entry], gone: Sequence[NotePath], came: int, now: datetime) -> None:
        """Raise VaultUnavailableError unless the walk can be believed; nothing may then be recorded as deleted.

        Args:
            known: the files that the catalog holds.
            gone: those of them that are not there.
            came: how many files are there that it does not hold; where notes only moved, none has vanished (K-39).
            now: the time.
        """
        there = self.marker_there()
        pages = {entry.path: entry.kind == "page" for entry in known}
        notes_gone = sum(not pages.get(path, False) for path in gone)
        reason = doubt(
            len(pages),
            max(0, len(gone) - came),
            notes=len(pages) - sum(pages.values()),
            notes_gone=max(0, notes_gone - came),
            marker_there=there,
        )
        if reason is None:
            self.file.unlink(missing_ok=True)
            return
        if not there:
            raise VaultUnavailableError(self.vault, reason)
        digest = sha256("\0".join(gone).encode(errors="surrogateescape")).hexdigest()
        before = self._read()
        if (
            before is not None
            and before.gone == digest
            and now.timestamp() - before.since >= CONFIRM.total_seconds()
        ):
            self.file.unlink(missing_ok=True)
            return
        if before is None or before.gone != digest or before.since > now.timestamp():
            self.write(self.file, msgspec.json.encode(_Suspicion(digest, now.timestamp())))
        raise VaultUnavailableError(self.vault, reason)

    def _read(self) -> _Suspicion | None:
        try:
            return msgspec.json.decode(self.file.read_bytes(), type=_Suspicion)
        except (OSError, msgspec.DecodeError):
            return None
