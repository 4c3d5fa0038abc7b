"""A whole `tidy` or `undo` that is killed, or refused by the system, at every call that changes the disk (K-23, K-28).

Each run is a process of its own. Afterwards a fresh keeper must bring the vault to the bytes of an undisturbed run.
"""

from __future__ import annotations

import difflib
import errno
import os
import shutil
import signal
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Kit
from vaultkeeper import daemon
from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.store.disk import Disk

NOW = datetime(2026, 10, 17, 8, 0, tzinfo=UTC)
OLD = NOW.timestamp() - 86400
CHANGING = ("write", "fsync", "replace", "rename", "link", "unlink", "mkdir", "ftruncate", "utime")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def disturb(at: int, act: Callable[[], None]) -> Counter[str]:
    """Have `act` called before call number `at` that changes the disk, in this process and for good."""
    seen: Counter[str] = Counter()

    def wrapped(name: str, call: Callable[..., Any], *, counts: Callable[..., bool]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            if counts(*args):
                seen[name] += 1
                if seen.total() == at:
                    act()
            return call(*args, **kwargs)

        return run

    for name in CHANGING:
        setattr(os, name, wrapped(name, getattr(os, name), counts=lambda *_: True))
    special: dict[str, Any] = {
        "open": wrapped("open", os.open, counts=lambda *args: bool(args[1] & os.O_CREAT)),
        "_rename_special": wrapped("rename", Disk._rename_special, counts=lambda *_: True),
    }
    for owner, name in ((os, "open"), (Disk, "_rename_special")):
        setattr(owner, name, special[name])
    return seen


def in_child(work: Callable[[], object], at: int, act: Callable[[], None]) -> int:
    """Run it in a child that is disturbed; gives how many calls it made, or -1 where it was killed."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks beside threads
        child = os.fork()
    if child == 0:
        tell, seen = os.write, disturb(at, act)
        try:
            with suppress(VaultkeeperError, OSError):
                work()
            tell(write, str(seen.total()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    return -1 if os.WIFSIGNALED(status) else int(said)


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(number: int) -> Callable[[], None]:
    def act() -> None:
        raise OSError(number, os.strerror(number))

    return act


@dataclass
class Stage:
    """A vault with work to do, which can be set up again and again at the same place."""

    kit: Kit
    saved: Path
    home: Path

    def save(self) -> None:
        """Keep the vault and what the program knows of it as they are now."""
        shutil.rmtree(self.saved, ignore_errors=True)
        shutil.copytree(self.kit.root, self.saved / "vault")
        shutil.copytree(self.home, self.saved / "home")

    def set_up(self) -> None:
        """Put everything back as it was saved, file times too."""
        for here, name in ((self.kit.root, "vault"), (self.home, "home")):
            shutil.rmtree(here)
            shutil.copytree(self.saved / name, here)

    def files(self) -> dict[str, bytes]:
        """Notes and pages."""
        return {
            path: data
            for path, data in self.kit.files(derived=True).items()
            if not path.startswith(".dsh-memory/")
        }

    def lines(self) -> Counter[tuple[str, ...]]:
        """The journal; raises for a torn line."""
        keys = ("op", "id", "reason", "before", "after", "from", "to")
        return Counter(tuple(line.get(key, "") for key in keys) for line in self.kit.journal())

    def open_batches(self) -> list[Path]:
        return list(self.home.glob("state/vaults/*/history/open/*"))


def difference(now: dict[str, bytes], wanted: dict[str, bytes]) -> str:
    """What tells two vaults apart, for people."""
    return "\n".join(
        line
        for path in sorted(now.keys() | wanted.keys())
        for line in difflib.unified_diff(
            now.get(path, b"").decode().splitlines(),
            wanted.get(path, b"").decode().splitlines(),
            f"{path} (now)",
            f"{path} (wanted)",
            lineterm="",
        )
    )


@pytest.fixture
def stage(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setattr(daemon, "_now", lambda: NOW)
    kit = Kit.make(tmp_path / "vault", export_index="off", bases=False)
    for name in ("stays", "goes", "mends"):
        kit.note(f"Tasks/{name}.md", f"# {name}\n\nThe words of {name}.\n", type="task")
    kit.write("Reading/plain.md", "A plain note with a link to [[Tasks/goes]] and [[Tasks/drags|it]].\n")
    kit.note("Tasks/drags.md", "# drags\n\nThe words of drags, and [[Tasks/goes]].\n", type="task")
    kit.settled()
    kit.edit("Tasks/goes.md", "status: active", "status: archived")
    kit.edit("Tasks/mends.md", "title: mends", "title: mends: it")
    kit.edit("Tasks/mends.md", "# mends", "# mends: it")
    (kit.root / "Archive").mkdir(exist_ok=True)
    kit.move("Tasks/drags.md", "Archive/drags.md")
    kit.note("Tasks/comes.md", "# comes\n\nThe words of comes.\n", type="knowledge")
    for file in kit.root.rglob("*.md"):
        os.utime(file, (OLD, OLD))
    return Stage(kit, tmp_path / "saved", home)


def is_whole(states: list[dict[str, bytes]], now: dict[str, bytes]) -> list[str]:
    """Names of notes of which no state stands whole anywhere in the vault, private names included."""
    there = set(now.values())
    names = {path.rpartition("/")[2] for state in states for path in state if not path.startswith("Index/")}
    return [
        name
        for name in names
        if not any(
            data in there
            for state in states
            for path, data in state.items()
            if path.rpartition("/")[2] == name
        )
    ]


@pytest.mark.rule("K-1", "K-20", "K-22", "K-23", "K-6", "LT-53")
@pytest.mark.timeout(120)
def test_a_tidy_killed_at_any_call_is_made_good_by_the_next(stage: Stage) -> None:
    kit = stage.kit
    stage.save()
    before = stage.files()
    kit.tidy()
    after, lines = stage.files(), stage.lines()
    assert after != before
    for at in range(1, 10_000):
        stage.set_up()
        calls = in_child(kit.tidy, at, kill)
        assert is_whole([before, after], stage.files()) == [], f"killed at call {at}"
        assert kit.tidy()["actions"] is not None
        assert difference(stage.files(), after) == "", f"killed at call {at}"
        assert stage.lines() == lines, f"killed at call {at}"
        assert stage.open_batches() == []
        if calls >= 0:
            assert calls > 50, "the disturbance has no hold on the program"
            return


@pytest.mark.rule("K-23", "K-50")
@pytest.mark.timeout(120)
def test_an_undo_killed_at_any_call_has_happened_or_not(stage: Stage) -> None:
    kit = stage.kit
    before = stage.files()
    kit.tidy()
    after = stage.files()
    stage.save()
    kit.run("undo")
    undone = stage.files()
    assert {path: data for path, data in undone.items() if path in before} == before
    for at in range(1, 10_000):
        stage.set_up()
        calls = in_child(lambda: kit.run("undo"), at, kill)
        assert is_whole([before, after], stage.files()) == [], f"killed at call {at}"
        assert kit.tidy()["actions"] == []
        assert stage.files() in (after, undone), f"killed at call {at}"
        assert stage.open_batches() == []
        if stage.files() == after:
            kit.run("undo")
            assert stage.files() == undone
        if calls >= 0:
            return


@pytest.mark.rule("K-20", "K-28")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EIO])
def test_a_tidy_refused_at_any_call_leaves_nothing_half_written(stage: Stage, number: int) -> None:
    kit = stage.kit
    stage.save()
    before = stage.files()
    kit.tidy()
    after = stage.files()
    for at in range(1, 10_000):
        stage.set_up()
        calls = in_child(kit.tidy, at, refuse(number))
        left = stage.files()
        assert is_whole([before, after], left) == [], f"refused at call {at}"
        assert not [path for path in left if ".vaultkeeper-" in path], f"refused at call {at}"
        kit.tidy()
        assert difference(stage.files(), after) == "", f"refused at call {at}"
        if calls < at:
            return
