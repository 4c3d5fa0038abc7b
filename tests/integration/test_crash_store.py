"""Batches that are killed, or refused by the system, at every call to the disk (K-20 to K-23, K-28, K-50).

After each kill every note stands whole somewhere; after the next start the vault is as after an undisturbed run.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.faults import (
    CHANGING,
    BlindDisk,
    FaultyDisk,
    Killed,
    all_of,
    die_at,
    fail_at,
    kill_at,
    killed_in_child,
    refuse,
)
from vaultkeeper.core.action import Action, JournalLine, Op
from vaultkeeper.core.note import NotePath, digest_of
from vaultkeeper.store.journal import Journal
from vaultkeeper.store.prepare import Receipt
from vaultkeeper.store.undo import NothingToUndoError
from vaultkeeper.store.vault import VaultFiles

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.timeout(120),
]

A, B, C, D, P, R = (f"# {name}\n\nThe words of {name}.\n".encode() for name in "abcdpr")
A2, A3, B2, P2, N = A + b"More.\n", b"---\nid: a\n---\n" + A, b"B, anew.\n", b"- [[a]]\n", b"# n\n"
OLD_NS = 1_700_000_000_123_456_789
FILES = {
    "Tasks/a.md": A,
    "Tasks/b.md": B,
    "Notes/c.md": C,
    "Notes/empty.md": b"",
    "Archive/d.md": D,
    "Index/p.md": P,
}
MODES = {"Tasks/a.md": 0o640, "Notes/c.md": 0o600}


def action(
    op: Op, path: str, before: bytes | None, data: bytes | None = None, to: str | None = None
) -> Action:
    """An action with a line for the journal."""
    line = JournalLine(op="update", id=path, reason=op, from_path=path if to else "", to_path=to or "")
    return Action(
        op=op,
        path=NotePath(path),
        expects=digest_of(before) if before is not None else None,
        data=data,
        to=NotePath(to) if to else None,
        rule="K-20",
        reason="a test",
        journal=(line,),
    )


@dataclass(frozen=True)
class Story:
    """What is done to the vault, in applies of one batch."""

    applies: tuple[tuple[Action, ...], ...]
    recorded: tuple[JournalLine, ...] = ()

    @property
    def actions(self) -> Iterator[Action]:
        return itertools.chain(*self.applies)


CODES = (errno.ENOSPC, errno.EACCES, errno.EIO)
CANNOT_BE_LATE = {"once": (), "from there on": (), "once, but done": ("open_file", "close_file", "write")}
"""A file that is open, or a part that was written, is never answered with an error."""

REMARK = JournalLine(op="create", id="by hand", reason="somebody did")
STORIES = {
    "rewrite": Story(((action("rewrite", "Tasks/a.md", A, A2),),)),
    "rewrite of an empty note": Story(((action("rewrite", "Notes/empty.md", b"", N),),)),
    "move": Story(((action("move", "Tasks/a.md", A, to="New/deep/a.md"),),)),
    "move to a taken name": Story(((action("move", "Tasks/a.md", A, to="Archive/d.md"),),)),
    "move and rewrite": Story(((action("move", "Tasks/a.md", A, A2, to="Archive/a.md"),),)),
    "case": Story(((action("move", "Tasks/a.md", A, to="Tasks/A.md"),),)),
    "case and rewrite": Story(((action("move", "Tasks/a.md", A, A2, to="Tasks/A.md"),),)),
    "page made": Story(((action("page", "Index/new/q.md", None, P2),),)),
    "trash": Story(((action("trash", "Notes/c.md", C),),)),
    "chain": Story(
        (
            (
                action("rewrite", "Tasks/a.md", A, A2),
                action("move", "Tasks/a.md", A2, A3, to="Archive/a.md"),
                action("move", "Archive/a.md", A3, to="Tasks/a again.md"),
            ),
        )
    ),
    "mixed": Story(
        (
            (
                action("rewrite", "Tasks/a.md", A, A2),
                action("move", "Tasks/b.md", B, B2, to="Archive/b.md"),
                action("create", "Tasks/n.md", None, N),
            ),
            (
                action("trash", "Notes/c.md", C),
                action("move", "Tasks/a.md", A2, to="Archive/a.md"),
                action("page", "Index/p.md", P, P2),
            ),
        ),
        (REMARK,),
    ),
}
DISKS: dict[str, Callable[[], FaultyDisk]] = {
    "native": lambda: FaultyDisk(sync=False),
    "links only": lambda: FaultyDisk(platform="none", sync=False),
    "nothing": lambda: FaultyDisk(refuse("link"), platform="none", handles=False, sync=False),
    "blind": lambda: BlindDisk(sync=False),
    "blind, links only": lambda: BlindDisk(platform="none", sync=False),
}
ALL = [(name, "native") for name in STORIES]
ELSEWHERE = [
    ("mixed", "nothing"),
    ("mixed", "links only"),
    ("case and rewrite", "nothing"),
    ("case and rewrite", "links only"),
    ("rewrite of an empty note", "nothing"),
    ("case", "blind"),
    ("case and rewrite", "blind"),
    ("case and rewrite", "blind, links only"),
]


@dataclass
class Bench:
    """A vault with its history and journal, at the same place again and again."""

    base: Path
    make_disk: Callable[[], FaultyDisk]
    disk: FaultyDisk = field(init=False)

    def __post_init__(self) -> None:
        self.here, self.saved = self.base / "here", self.base / "saved"
        self.root, self.state = self.here / "vault", self.here / "state"
        for path, data in FILES.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            file.chmod(MODES.get(path, 0o644))
            os.utime(file, ns=(OLD_NS, OLD_NS))
        self.state.mkdir()

    def files(self, fault: Callable[[int, str, tuple[object, ...]], None] | None = None) -> VaultFiles:
        """The store as a process that has just started has it."""
        self.disk = self.make_disk()
        if fault is not None:
            self.disk.before = all_of(fault, self.disk.before) if self.disk.before else fault
        moments = itertools.count()
        journal = Journal(self.here / "journal", self.here / "pending.jsonl")
        return VaultFiles(
            self.root,
            self.state,
            clock=lambda: datetime(2026, 12, 1, 5, 50, tzinfo=UTC) + timedelta(seconds=next(moments)),
            write_journal=journal.append,
            disk=self.disk,
        )

    def save(self, place: str = "saved") -> None:
        shutil.rmtree(self.base / place, ignore_errors=True)
        shutil.copytree(self.here, self.base / place)

    def restore(self, place: str = "saved") -> None:
        shutil.rmtree(self.here)
        shutil.copytree(self.base / place, self.here)

    def all_files(self, root: Path) -> dict[str, bytes]:
        found = {}
        for folder, _, names in os.walk(root):
            for name in names:
                file = os.path.join(folder, name)
                with open(file, "rb") as stream:
                    found[os.path.relpath(file, root)] = stream.read()
        return found

    def notes(self) -> dict[str, bytes]:
        """Visible files."""
        return {path: data for path, data in self.all_files(self.root).items() if "/." not in path}

    def private(self) -> dict[str, bytes]:
        return {path: data for path, data in self.all_files(self.root).items() if "/." in path}

    def looks(self) -> dict[str, tuple[bytes, int, int]]:
        """Bytes, mode bits and times of visible files."""
        found = {}
        for path, data in self.notes().items():
            there = (self.root / path).stat()
            found[path] = data, there.st_mode & 0o777, there.st_mtime_ns
        return found

    def lines(self) -> Counter[str]:
        return Counter(
            line.split(",", 1)[1]
            for file in (self.here / "journal").glob("*")
            for line in file.read_text().splitlines()
        )

    def open_batches(self) -> list[str]:
        return [file.name for file in self.state.glob("history/open/*")]

    def key(self) -> str:
        """Equal for states of the disk that differ only by random names."""
        vault = sorted(
            (path if "/." not in path else "", data) for path, data in self.all_files(self.root).items()
        )
        state = sorted(
            (path.rpartition("/")[0], len(data) if path.endswith(".batch") else data)
            for path, data in self.all_files(self.state).items()
        )
        return repr((vault, state, sorted(self.lines().items()), sorted(os.walk(self.root))[0][1]))


def perform(files: VaultFiles, story: Story, remarked: bool = False) -> list[Receipt]:
    """Do the story in one batch."""
    batch = files.begin(cause="test")
    receipts = [receipt for actions in story.applies for receipt in batch.apply(actions)]
    if not remarked:
        batch.record(story.recorded)
    batch.finish()
    return receipts


def perform_rest(bench: Bench, files: VaultFiles, story: Story) -> None:
    """What a keeper does after a start or a failure: plan again. What was done shows as changed."""
    files.recover()
    remarked = any('"by hand"' in line for line in bench.lines())
    if isinstance(bench.disk, BlindDisk) and "Tasks/a.md" not in bench.notes():
        return  # a keeper would plan with the new spelling, and find nothing to do
    receipts = perform(files, story, remarked)
    assert {receipt.state for receipt in receipts} <= {"done", "changed"}


def versions_of(story: Story) -> tuple[list[set[bytes]], set[bytes]]:
    """The bytes that each note has in the course of the story, and those that it trashes."""
    notes = [{data} for data in FILES.values()]
    trashed: set[bytes] = set()
    for each in story.actions:
        chain = next(
            (known for known in notes if each.expects in {digest_of(data) for data in known}), set[bytes]()
        )
        if each.op == "trash":
            trashed |= chain
        elif each.data is not None:
            chain.add(each.data)
            if each.expects is None:
                notes.append({each.data, b""})  # new: it need not be there
    return notes, trashed


def is_whole(bench: Bench, story: Story) -> None:
    """Each note is there with some whole version of it, under its name or ours; nothing visible is torn."""
    notes, trashed = versions_of(story)
    there = set(bench.all_files(bench.root).values())
    history = b"".join(data for path, data in bench.all_files(bench.state).items() if path.endswith(".batch"))
    for known in notes:
        in_history = known <= trashed and any(data in history for data in known)
        assert known & there or in_history, known
    placeholder = {b""} if bench.make_disk is DISKS["nothing"] and bench.open_batches() else set()
    whole = set[bytes]().union(placeholder, *notes)
    torn = {path: data for path, data in bench.notes().items() if data not in whole}
    assert torn == {}


@dataclass(frozen=True)
class Wanted:
    """What an undisturbed run leaves."""

    notes: dict[str, bytes]
    lines: Counter[str]
    calls: list[str]

    def changing(self) -> list[int]:
        """Numbers of the calls before which a kill makes a difference, and one behind the last."""
        return [*changing(self.calls), len(self.calls) + 1]


def changing(calls: list[str]) -> list[int]:
    """Numbers of the calls that may change something."""
    return [n for n, name in enumerate(calls, 1) if name in CHANGING]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, DISKS["native"])


def undisturbed(bench: Bench, story: Story) -> Wanted:
    bench.save()
    files = bench.files()
    assert all(receipt.state == "done" for receipt in perform(files, story))
    assert bench.disk.left_open() == 0
    assert bench.private() == {}
    wanted = Wanted(bench.notes(), bench.lines(), bench.disk.calls)
    assert wanted.notes != FILES
    return wanted


def is_as_wanted(bench: Bench, wanted: Wanted) -> None:
    assert bench.notes() == wanted.notes
    assert bench.private() == {}
    assert bench.open_batches() == []
    assert bench.lines() == wanted.lines


def take_all_back(files: VaultFiles) -> None:
    """Undo as often as there is something to undo."""
    with suppress(NothingToUndoError):
        for _ in range(10):
            assert files.undo(None).refused == []


@pytest.mark.rule("K-20", "K-22", "K-23", "K-50")
@pytest.mark.parametrize("name", STORIES)
def test_a_batch_killed_at_any_call_is_finished_or_taken_back(bench: Bench, name: str) -> None:
    story, looks, seen = STORIES[name], bench.looks(), set[str]()
    wanted = undisturbed(bench, story)
    for n in wanted.changing():
        bench.restore()
        killed = killed_in_child(lambda n=n: perform(bench.files(kill_at(n)), story))  # type: ignore[misc]
        assert killed is (n <= len(wanted.calls))
        is_whole(bench, story)
        if (key := bench.key()) in seen:
            continue
        seen.add(key)
        files = bench.files()
        perform_rest(bench, files, story)
        is_as_wanted(bench, wanted)
        assert files.batches(10), "history does not list the batch"
        take_all_back(files)
        assert bench.looks() == looks, f"killed at call {n}"


@pytest.mark.rule("K-23", "K-50")
@pytest.mark.parametrize(("name", "disk"), ALL + ELSEWHERE)
def test_a_recovery_killed_at_any_call_is_recovered_itself(bench: Bench, name: str, disk: str) -> None:
    bench.make_disk = DISKS[disk]
    story, looks, seen = STORIES[name], bench.looks(), set[str]()
    wanted = undisturbed(bench, story)
    for n in wanted.changing():
        bench.restore()
        with pytest.raises(Killed) if n <= len(wanted.calls) else nullcontext():
            perform(bench.files(die_at(n)), story)
        bench.disk.left_open()
        if (key := bench.key()) in seen:
            continue
        seen.add(key)
        bench.save("killed")
        files = bench.files()
        files.recover()
        calls = list(bench.disk.calls)
        perform_rest(bench, files, story)
        is_as_wanted(bench, wanted)
        take_all_back(files)
        assert bench.looks() == looks, f"killed at call {n}"
        assert bench.disk.left_open() == 0
        for m in changing(calls):
            bench.restore("killed")
            with pytest.raises(Killed):
                bench.files(die_at(m)).recover()
            bench.disk.left_open()
            is_whole(bench, story)
            if (key := bench.key()) not in seen:
                seen.add(key)
                perform_rest(bench, bench.files(), story)
                is_as_wanted(bench, wanted)


@pytest.mark.rule("K-23", "K-50")
@pytest.mark.parametrize("name", ["mixed", "chain", "case and rewrite", "trash"])
@pytest.mark.parametrize("redo", [False, True], ids=["undo", "redo"])
def test_an_undo_killed_at_any_call_is_finished(bench: Bench, name: str, redo: bool) -> None:
    story, seen = STORIES[name], set[str]()
    files = bench.files()
    perform(files, story)
    which = files.undo(None).batch if redo else None
    before = bench.notes()
    bench.save()
    files = bench.files()
    assert files.undo(which).refused == []
    goal, lines, calls = bench.notes(), bench.lines(), bench.disk.calls
    held = (bench.state / "held.json").read_bytes()
    assert redo or goal == FILES
    for n in changing(calls):
        bench.restore()
        assert killed_in_child(lambda n=n: bench.files(kill_at(n)).undo(which))  # type: ignore[misc]
        is_whole(bench, story)
        if (key := bench.key()) in seen:
            continue
        seen.add(key)
        files = bench.files()
        files.recover()
        if bench.notes() == before:
            files.undo(which)
        is_as_wanted(bench, Wanted(goal, lines, calls))
        assert (bench.state / "held.json").read_bytes() == held
        files.undo(files.batches(1)[0].id)
        assert bench.notes() == before


@pytest.mark.rule("K-20", "K-28")
@pytest.mark.parametrize("how", ["once", "from there on", "once, but done"])
@pytest.mark.parametrize(("name", "disk"), ALL + ELSEWHERE[::2])
def test_a_batch_refused_at_any_call_leaves_nothing_half_done(
    bench: Bench, name: str, disk: str, how: str
) -> None:
    bench.make_disk = DISKS[disk]
    story, seen = STORIES[name], set[str]()
    wanted = undisturbed(bench, story)
    for n in range(1, len(wanted.calls) + 1) if how != "once, but done" else changing(wanted.calls):
        bench.restore()
        fault = fail_at(
            n, CODES[n % 3], on=how == "from there on", spare=("close_folder", *CANNOT_BE_LATE[how])
        )
        files = bench.files(None if how == "once, but done" else fault)
        if how == "once, but done":
            bench.disk.after = fault
        receipts = perform(files, story)
        assert bench.disk.left_open() == 0, f"refused at call {n}"
        assert all(receipt.reason for receipt in receipts if receipt.state == "failed")
        is_whole(bench, story)
        if how != "from there on" and not bench.open_batches():
            assert bench.private() == {}, f"refused at call {n}"
        key = bench.key() + str([receipt.state for receipt in receipts])
        if key in seen:
            continue
        seen.add(key)
        bench.disk.before = None if disk != "nothing" else refuse("link")
        perform_rest(bench, bench.files() if n % 2 else files, story)
        is_as_wanted(bench, wanted)
