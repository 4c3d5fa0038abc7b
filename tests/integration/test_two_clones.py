"""Two clones of a vault with a keeper each, which a sync tool carries files between in any order (K-7).

The sync tool is a small model of Syncthing and of git. It knows what both sides last agreed on, file by file. What
changed on one side only is carried over; where both changed, the newer one wins, and Syncthing keeps the other as a
conflict copy. Syncthing carries file times, git does not. The format's private folder is not carried: it is a
device's own.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.resident import Resident

SETTLED_AFTER = 12
"""Rounds of carrying everything and hearing everything until both must be silent."""
SEEDS = int(os.environ.get("CLONES", "25"))


@dataclass
class Sync:
    """Carries files between two vaults."""

    one: Resident
    two: Resident
    keeps_times: bool
    agreed: dict[str, bytes] = field(default_factory=dict)
    conflicts: int = 0

    def differing(self) -> list[str]:
        """Files that are not the same on both sides."""
        one, two = self.one.files(), self.two.files()
        return sorted(path for path in one.keys() | two.keys() if one.get(path) != two.get(path))

    def carry(self, path: str) -> None:
        """Bring one file to the same bytes on both sides."""
        sides = (self.one, self.two)
        one, two = (self._read(side, path) for side in sides)
        known = self.agreed.get(path)
        if one != two:
            if two == known:
                self._give(self.one, self.two, path)
            elif one == known:
                self._give(self.two, self.one, path)
            else:
                self._resolve(path, one, two)
        now = self._read(self.one, path)
        if now is None:
            self.agreed.pop(path, None)
        else:
            self.agreed[path] = now

    def _resolve(self, path: str, one: bytes | None, two: bytes | None) -> None:
        """Both sides changed it: a change wins over a deletion, then the newer one wins."""
        if one is None or two is None:
            winner, loser = (self.two, self.one) if one is None else (self.one, self.two)
            self._give(winner, loser, path)
            return
        times = [(side.root / path).stat().st_mtime_ns for side in (self.one, self.two)]
        winner, loser = (self.one, self.two) if (times[0], one) >= (times[1], two) else (self.two, self.one)
        if self.keeps_times:
            self.conflicts += 1
            stem, dot, ending = path.rpartition(".")
            copy = f"{stem}.sync-conflict-20260301-{self.conflicts:06d}-ABCDEFG{dot}{ending}"
            (loser.root / path).rename(loser.root / copy)
        self._give(winner, loser, path)

    def _give(self, source: Resident, target: Resident, path: str) -> None:
        there, here = source.root / path, target.root / path
        if not there.exists():
            here.unlink(missing_ok=True)
            return
        here.parent.mkdir(parents=True, exist_ok=True)
        temporary = here.with_name(f".syncthing.{here.name}.tmp")
        shutil.copyfile(there, temporary)
        if self.keeps_times:
            shutil.copystat(there, temporary)
        else:
            target.stamp(temporary)
        temporary.replace(here)

    @staticmethod
    def _read(side: Resident, path: str) -> bytes | None:
        file = side.root / path
        return file.read_bytes() if file.is_file() else None


NAMES = ("alpha", "beta", "茶", "gamma")
FOLDERS = ("Tasks", "Knowledge", "Inbox", "Archive", "Reading")
STATUSES = ("active", "archived", "pending", "stale", "Done", "conflict")


class Person:
    """Somebody who edits one of the clones."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.count = 0

    def act(self, vault: Resident) -> None:
        """Do one thing to it."""
        self.rng.choice(
            [self.writes, self.writes, self.types, self.edits, self.edits, self.drags, self.deletes]
        )(vault)

    def _free(self, vault: Resident) -> str | None:
        path = f"{self.rng.choice(FOLDERS)}/{self.rng.choice(NAMES)}.md"
        return None if (vault.root / path).exists() else path

    def _any(self, vault: Resident) -> str | None:
        notes = sorted(
            path
            for path in vault.notes()
            if path.rpartition("/")[2].partition(".")[0].partition(" ")[0] in NAMES
        )
        return self.rng.choice(notes) if notes else None

    def writes(self, vault: Resident) -> None:
        path = self._free(vault)
        if path is None:
            return
        self.count += 1
        own = f"id: mem_20260301t080000_{self.count:08x}\n" if self.rng.random() < 0.7 else ""
        kind, status = self.rng.choice(["task", "knowledge", "project"]), self.rng.choice(STATUSES)
        text = f"---\n{own}type: {kind}\nstatus: {status}\n---\n# Note {self.count}\n\n[[{self.rng.choice(NAMES)}]]\n"
        vault.write(path, text.encode())
        note(f"{vault.base.name} writes {path}: {status}")

    def types(self, vault: Resident) -> None:
        path = self._any(vault)
        if path is not None:
            self.count += 1
            vault.write(path, (vault.root / path).read_bytes() + b"more %d\n" % self.count)
            note(f"{vault.base.name} types in {path}")

    def edits(self, vault: Resident) -> None:
        path = self._any(vault)
        if path is None:
            return
        status, text = self.rng.choice(STATUSES), (vault.root / path).read_text()
        for old in STATUSES:
            if f"status: {old}\n" in text:
                vault.write(path, text.replace(f"status: {old}\n", f"status: {status}\n", 1).encode())
                note(f"{vault.base.name} sets {path} {old} to {status}")
                return

    def drags(self, vault: Resident) -> None:
        path, target = self._any(vault), self._free(vault)
        if path is not None and target is not None:
            (vault.root / target).parent.mkdir(parents=True, exist_ok=True)
            (vault.root / path).rename(vault.root / target)
            note(f"{vault.base.name} drags {path} to {target}")

    def deletes(self, vault: Resident) -> None:
        path = self._any(vault)
        if path is not None:
            (vault.root / path).unlink()
            note(f"{vault.base.name} deletes {path}")


def two_clones(base: Path) -> tuple[Resident, Resident]:
    """A vault and a copy of it, on two devices."""
    one, two = Resident(base / "one"), Resident(base / "two", random=1_000_000)
    one.init()
    shutil.copytree(one.root, two.root)
    return one, two


def live(base: Path, rng: random.Random, *, keeps_times: bool) -> None:
    """People act on both sides, files are carried, keepers hear of it, in any order; then people stop."""
    one, two = two_clones(base)
    sync, person = Sync(one, two, keeps_times), Person(rng)
    sync.agreed = one.files()

    def tick() -> None:
        one.tick()
        two.now = one.now

    def carry_some() -> None:
        for path in rng.sample(differing := sync.differing(), rng.randint(0, len(differing))):
            sync.carry(path)

    steps: list[Callable[[], object]] = [
        lambda: person.act(one),
        lambda: person.act(two),
        carry_some,
        one.hear,
        two.hear,
    ]
    for _ in range(rng.randint(5, 30)):
        tick()
        rng.choice(steps)()
    for number in range(SETTLED_AFTER):
        tick()
        for path in rng.sample(differing := sync.differing(), len(differing)):
            sync.carry(path)
            if rng.random() < 0.1:
                rng.choice([one, two]).hear()
        rest = [one.hear, two.hear]
        rng.shuffle(rest)
        did = [action for hear in rest for outcome in hear() for action in outcome.actions]
        note(f"round {number}: {[(a.op, a.path, a.to, a.rule) for a in did]}")
        if not did and not sync.differing():
            break
    else:
        raise AssertionError(f"they do not fall silent: {sync.differing()} {did}")
    assert one.files() == two.files()
    assert one.ask("tidy")["actions"] == two.ask("tidy")["actions"] == []


@pytest.mark.rule("K-7", "K-32")
@pytest.mark.timeout(120 + 6 * SEEDS)
@pytest.mark.parametrize("keeps_times", [True, False], ids=["as Syncthing", "as git"])
def test_two_clones_come_to_the_same_bytes_and_fall_silent(keeps_times: bool) -> None:
    @settings(deadline=None, max_examples=SEEDS)
    @given(st.randoms(use_true_random=False))
    def law(rng: random.Random) -> None:
        base = Path(tempfile.mkdtemp(prefix="clones-"))
        try:
            live(base, rng, keeps_times=keeps_times)
        finally:
            shutil.rmtree(base, ignore_errors=True)

    law()
