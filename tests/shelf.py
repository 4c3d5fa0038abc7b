"""A small vault with its store, for tests that speak to the store itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vaultkeeper.core.action import Action, JournalLine, Op
from vaultkeeper.core.note import NotePath, digest_of
from vaultkeeper.store.disk import Disk
from vaultkeeper.store.prepare import Receipt
from vaultkeeper.store.vault import VaultFiles

NOW = datetime(2026, 12, 1, 5, 50, tzinfo=UTC)
OLD_NS = 1_700_000_000_123_456_789


def act(
    op: Op,
    path: str,
    before: bytes | None,
    data: bytes | None = None,
    to: str | None = None,
    lines: Sequence[JournalLine] = (),
    reason: str = "a test",
) -> Action:
    """An action on a file that has these bytes now; None: that is not there."""
    return Action(
        op=op,
        path=NotePath(path),
        expects=digest_of(before) if before is not None else None,
        data=data,
        to=NotePath(to) if to is not None else None,
        rule="LT-10",
        reason=reason,
        journal=tuple(lines),
    )


@dataclass
class Shelf:
    """A vault's folder, the state beside it, and the lines its journal got."""

    base: Path
    lines: list[dict[str, str]] = field(default_factory=list)
    now: datetime = NOW

    def __post_init__(self) -> None:
        self.root, self.state = self.base / "vault", self.base / "state"
        self.root.mkdir(parents=True, exist_ok=True)

    def files(self, disk: Disk | None = None, **limits: int) -> VaultFiles:
        """The store, as a process that has just started has it."""
        return VaultFiles(
            self.root, self.state, clock=self.tick, write_journal=self.write, disk=disk, **limits
        )

    def tick(self) -> datetime:
        """Each look at the clock is a second later."""
        self.now += timedelta(seconds=1)
        return self.now

    def write(self, entries: Sequence[Mapping[str, str]], only_if_missing: bool) -> None:
        """The journal."""
        self.lines += [dict(entry) for entry in entries if not only_if_missing or entry not in self.lines]

    def put(self, path: str, data: bytes, mode: int = 0o644) -> Path:
        """Write a file with an old time."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(mode)
        os.utime(file, ns=(OLD_NS, OLD_NS))
        return file

    def apply(self, *actions: Action, disk: Disk | None = None) -> list[Receipt]:
        """Do actions in a batch of their own."""
        batch = self.files(disk).begin(cause="test")
        receipts = batch.apply(actions)
        batch.finish()
        return receipts

    def walk(self, root: Path) -> Iterator[tuple[str, Path]]:
        for folder, _, names in os.walk(root):
            for name in names:
                file = Path(folder, name)
                yield file.relative_to(root).as_posix(), file

    def notes(self) -> dict[str, bytes]:
        """Bytes of all files of the vault, private names too."""
        return {path: file.read_bytes() for path, file in self.walk(self.root) if file.is_file()}

    def kept(self) -> list[bytes]:
        """What the store found and could not place."""
        return [file.read_bytes() for _, file in self.walk(self.state / "history" / "kept")]

    def open_batches(self) -> list[str]:
        return [path for path, _ in self.walk(self.state / "history" / "open")]

    def closed_batches(self) -> list[Path]:
        return sorted(file for _, file in self.walk(self.state / "history" / "done"))
