"""A keeper in this process that goes on from step to step, on a clock and a disk of the test's own."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from tests.faults import FaultyDisk, Hook, Killed
from vaultkeeper import daemon
from vaultkeeper.core.note import Entry, NotePath
from vaultkeeper.core.options import Options
from vaultkeeper.keeper import session
from vaultkeeper.keeper.keeper import Keeper, Outcome
from vaultkeeper.keeper.requests import Desk, handle
from vaultkeeper.keeper.tools import Tools
from vaultkeeper.store.vault import VaultFiles

START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
ROUNDS = 8


@dataclass
class Resident:
    """One vault, one home, and a keeper that may be killed and started again."""

    base: Path
    language: str = "en"
    now: datetime = START
    options: dict[str, Any] = field(default_factory=dict)
    keeper: Keeper | None = None
    random: int = 0

    def __post_init__(self) -> None:
        self.root, self.home = self.base / "vault", self.base / "home"
        self.disk = FaultyDisk(sync=False)

    # a life ----------------------------------------------------------------------------------------------------

    def init(self) -> None:
        """Make the vault."""
        with patch.dict(os.environ, VAULTKEEPER_HOME=str(self.home)):
            daemon.init_vault(self.root, "longterm", self.language)
            daemon.config_set(self.root, "export_index", "off")

    def start(self) -> Keeper:
        """A new process: recovery, the saved catalog, a walk."""
        if self.keeper is None:
            self.disk = FaultyDisk(sync=False)
            self.keeper = session.open_keeper(self._tools(), writing=True)
        return self.keeper

    def _tools(self) -> Tools:
        with patch.dict(os.environ, VAULTKEEPER_HOME=str(self.home)):
            tools = daemon._tools(self.root, daemon.format_at(self.root))
        files = VaultFiles(
            self.root,
            tools.state,
            clock=lambda: self.now,
            write_journal=tools.journal.append,
            disk=self.disk,
        )
        options: Options = replace(tools.options, **self.options)
        return replace(
            tools, files=files, clock=lambda: self.now, random_hex=self._random_hex, options=options
        )

    def _random_hex(self, digits: int) -> str:
        self.random += 1
        return f"{self.random:0{digits}x}"[-digits:]

    def hear(self, paths: Collection[str] | None = None) -> list[Outcome]:
        """Take in what changed, of these files or of all, and do what is to be done until it is still."""
        keeper = self.start()
        outcomes: list[Outcome] = []
        for _ in range(ROUNDS):
            if paths is None:
                concerned = session.refresh(keeper, None)
            else:
                concerned = keeper.census.observe(NotePath(path) for path in paths)
            outcome = keeper.settle(concerned, cause="watch")
            outcomes.append(outcome)
            if not outcome.actions and not outcome.changed and not outcome.failed:
                return outcomes
            if paths is not None:
                places = (action.to or action.path for action in outcome.actions)
                paths = [path for path in places if path.endswith(".md")]
        raise AssertionError(f"the keeper does not come to rest: {outcomes[-1].actions}")

    def ask(self, verb: str, **args: object) -> dict[str, Any]:
        """A command, as another process would have the keeper do it."""
        return handle(Desk(self.start(), None), verb, args)

    def stop(self) -> None:
        """An orderly end."""
        if self.keeper is not None:
            session.save(self.keeper)
            self.keeper = None

    def crash(self) -> None:
        """The process ends at once: nothing is saved."""
        self.keeper = None
        self.disk.before = None
        self.disk.left_open()

    def hear_until_killed(self, hook: Hook) -> bool:
        """Work on a disk that ends the process at a call; gives whether it did."""
        try:
            self.hear_interrupted(hook)
        except Killed:
            self.crash()
            return True
        return False

    def hear_interrupted(self, hook: Hook) -> None:
        """Work on a disk with that hook, which counts calls from now on."""
        self.start()
        number = len(self.disk.calls)
        self.disk.before = lambda n, name, args: hook(n - number, name, args)
        self.hear()
        self.disk.before = None

    def forget(self) -> None:
        """The process ends and its cache is deleted."""
        self.crash()
        shutil.rmtree(self.home / "cache", ignore_errors=True)

    # files -----------------------------------------------------------------------------------------------------

    def tick(self, seconds: float = 1.0) -> None:
        """Time passes."""
        self.now += timedelta(seconds=seconds)

    def write(self, path: str, data: bytes) -> None:
        """Write a file as a person would, at the present of the test's clock."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        self.stamp(file)

    def stamp(self, file: Path) -> None:
        """Give a file the present of the test's clock."""
        at = int(self.now.timestamp() * 1e9)
        os.utime(file, ns=(at, at))

    def files(self, *, private: bool = False) -> dict[str, bytes]:
        """Bytes by path of all files but the format's private ones; `private`: names that begin with a dot too."""
        found: dict[str, bytes] = {}
        for folder, folders, names in os.walk(self.root):
            if not private:
                folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if private or not name.startswith("."):
                    file = Path(folder, name)
                    found[file.relative_to(self.root).as_posix()] = file.read_bytes()
        return found

    def notes(self) -> dict[str, bytes]:
        """Bytes by path of all Markdown files but the index pages."""
        return {
            path: data
            for path, data in self.files().items()
            if path.endswith(".md") and not path.startswith("Index/")
        }

    def history(self) -> bytes:
        """All that the history and the journal hold, for a search for words."""
        state = self.home / "state"
        return b"".join(file.read_bytes() for file in sorted(state.rglob("*")) if file.is_file())

    def open_batches(self) -> list[Path]:
        """Batches that were begun and not closed."""
        return list(self.home.glob("state/vaults/*/history/open/*"))

    def journal(self) -> list[dict[str, str]]:
        """All journal lines, oldest first."""
        return [
            json.loads(line)
            for file in sorted((self.root / ".dsh-memory" / "journal").glob("*.jsonl"))
            for line in file.read_text().splitlines()
        ]


def seen(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Rows of the catalog by path, without what only the past tells."""
    return {
        entry.path: msgspec.structs.replace(entry, base=None, before=None, unsettled=False, mtime_ns=0)
        for entry in entries
    }
