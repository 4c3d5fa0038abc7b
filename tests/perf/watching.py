"""Benches of the keeper at work: how soon a save is answered, a git checkout, memory, idling."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

from tests.perf.measure import PYTHON, Place, Row, compared, limited, medians, p95, seconds, vaultkeeper
from tests.watching import Watched

BARE_HANDLER = """
import os, re, sys
from watchdog.events import FileSystemEventHandler
from watchdog.observers import Observer

class Mover(FileSystemEventHandler):
    def on_closed(self, event):
        path = event.src_path
        folder, name = os.path.split(path)
        if not name.endswith(".md") or folder.endswith("Archive"):
            return
        with open(path, encoding="utf-8") as file:
            if re.search(r"^status: archived$", file.read(), re.M):
                os.rename(path, os.path.join(sys.argv[1], "Archive", name))

observer = Observer()
observer.schedule(Mover(), sys.argv[1], recursive=True)
observer.start()
print("ready", flush=True)
observer.join()
"""
"""The least that could do the job: one handler, one look for the status, one rename."""

MB = 1_000_000


@contextmanager
def keeper(place: Place, name: str, root: Path, **settings: object) -> Iterator[Watched]:
    """`vaultkeeper watch` with these settings, in the environment of that name."""
    with patch.dict(os.environ, place.env(name)):
        watched = Watched(root, **settings)
    try:
        yield watched
    finally:
        watched.stop()


@contextmanager
def bare_handler(root: Path) -> Iterator[None]:
    """The bare handler at work."""
    process = subprocess.Popen([PYTHON, "-c", BARE_HANDLER, str(root)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def active_notes(root: Path) -> list[Path]:
    """Notes that stand where active ones do."""
    return [
        file
        for folder in ("Tasks", "Knowledge", "Decisions")
        for file in sorted((root / folder).glob("note *.md"))
        if "status: active" in file.read_text(encoding="utf-8")
    ]


def save(file: Path, old: str, new: str) -> float:
    """Change a note as an editor does; gives the moment at which the file was closed."""
    data = file.read_bytes().replace(old.encode(), new.encode(), 1)
    with file.open("wb") as stream:
        stream.write(data)
    return time.perf_counter()


def until_there(file: Path) -> float:
    """The moment at which a file stands at its place."""
    end = time.perf_counter() + 20
    while not file.exists():
        if time.perf_counter() > end:
            raise RuntimeError(f"{file} did not come")
        time.sleep(0.0003)
    return time.perf_counter()


def one_save(place: Place) -> Iterator[Row]:
    """From the close of a saved status change to the moved note, and to the pages."""
    count, saves = place.size(10_000), place.size(300)
    root, bare_root = place.settled_vault("save", count), place.settled_vault("save-bare", count)
    moved: list[float] = []
    paged: list[float] = []
    bare: list[float] = []
    with keeper(place, "save", root, settle=0) as watched, bare_handler(bare_root):
        for file, other in zip(active_notes(root)[:saves], active_notes(bare_root)[:saves], strict=True):
            since = len(watched.events)
            closed = save(file, "status: active", "status: archived")
            moved.append(until_there(root / "Archive" / file.name) - closed)
            watched.wait(lambda event: event["event"] == "batch", since)
            paged.append(time.perf_counter() - closed)
            time.sleep(0.02)
            closed = save(other, "status: active", "status: archived")
            bare.append(until_there(bare_root / "Archive" / other.name) - closed)
    above = p95(moved) - p95(bare)
    yield Row(
        f"save to moved, p95 of {saves} saves, {count:,} notes",
        seconds(p95(moved)),
        f"bare handler: {seconds(p95(bare))}",
        f"+{above * 1000:.1f} ms",
        "≤ +10 ms",
        above <= 0.010,
    )
    more = p95([late - early for late, early in zip(paged, moved, strict=True)])
    yield limited("… and its index pages after that, p95", more, 0.100)


def _git(root: Path, *args: str) -> None:
    who = ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "core.autocrlf=false"]
    subprocess.run(["git", *who, *args], cwd=root, check=True, capture_output=True)


def checkout(place: Place) -> Iterator[Row]:
    """A git checkout that changes 1,000 of 10,000 notes under a running keeper."""
    count, some = place.size(10_000), place.size(1_000)
    small = place.vault("small", some)
    root = place.settled_vault("checkout", count)
    _prepare_branch(root, some)
    with keeper(place, "checkout", root) as watched:
        since = len(watched.events)
        process = psutil.Process(watched.process.pid)
        before = process.cpu_times()
        _git(root, "checkout", "other")
        watched.wait(lambda event: event["event"] == "batch", since)
        _until_idle(process)
        after = process.cpu_times()
        events = list(watched.events[since:])
    ours = after.user + after.system - before.user - before.system

    def check() -> float:
        place.forget("small")
        return vaultkeeper(["check", str(small), "--json"], place.env("small"))

    (other,) = medians(3, check)
    yield compared(
        f"checkout that changes {some:,} of {count:,} notes", ours, other, f"check of {some:,} notes", 3
    )
    writes = Counter(
        event["path"] for event in events if event["event"] == "action" and event["op"] == "page"
    )
    most, batches = max(writes.values(), default=0), sum(event["event"] == "batch" for event in events)
    yield Row(
        "… writes of one page, and batches",
        f"{most} and {batches}",
        "",
        "",
        "1 and 1",
        (most, batches) == (1, 1),
    )


def _prepare_branch(root: Path, some: int) -> None:
    """A branch on which some notes say another status; the working tree is left on the other one."""
    (root / ".gitignore").write_text("Index/\n.dsh-memory/\n")
    for args in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"], ["checkout", "-qb", "other"]):
        _git(root, *args)
    for number, file in enumerate(active_notes(root)[:some]):
        save(file, "status: active", "status: archived" if number % 2 else "status: stale")
    _git(root, "commit", "-qam", "changed")
    _git(root, "checkout", "-q", "-")


def _until_idle(process: psutil.Process) -> None:
    """Wait until a second passes in which the process does nothing, past the export after 5 s of quiet."""
    quiet, last = 0, process.cpu_times()
    while quiet < 7:
        time.sleep(1)
        now = process.cpu_times()
        quiet = quiet + 1 if now.user + now.system - last.user - last.system < 0.02 else 0
        last = now


def memory(place: Place) -> Iterator[Row]:
    """What a keeper of 10,000 notes holds, and whether that grows with 10,000 saves."""
    count, saves, at_once = place.size(10_000), place.size(10_000), 20
    root = place.settled_vault("memory", count)
    files = active_notes(root)[:at_once]
    with keeper(place, "memory", root, settle=0) as watched:
        process = psutil.Process(watched.process.pid)
        _until_idle(process)
        held: list[int] = [process.memory_info().rss]
        yield limited(f"memory with {count:,} notes watched, at rest", held[0] / MB, 150, _megabytes)
        words = ("status: active", "status: stale")
        for done in range(0, saves, at_once):
            since = len(watched.events)
            for file in files:
                save(file, *words)
            words = words[::-1]
            watched.wait(lambda event: event["event"] == "batch", since)
            if (done + at_once) * 5 // saves > done * 5 // saves:
                held.append(process.memory_info().rss)
        _until_idle(process)
        rest = process.memory_info().rss
    busy = held[1:]
    shown = ", ".join(f"{each / MB:.0f}" for each in busy)
    growth = (busy[-1] - busy[0]) / MB
    yield Row(f"… while {saves:,} saves go on", f"{shown} MB", "", "", "≤ 150 MB", max(busy) <= 150 * MB)
    yield Row(
        "… growth from the first fifth to the last", f"{growth:+.1f} MB", "", "", "noise (5 MB)", growth <= 5
    )
    yield limited("… at rest again", rest / MB, 150, _megabytes)


def _megabytes(value: float) -> str:
    return f"{value:.0f} MB"


def idle(place: Place) -> Iterator[Row]:
    """Processor time of a keeper of 10,000 folders in which nothing happens."""
    folders, span = place.size(10_000), 20
    root = place.settled_vault("idle", 50)
    for number in range(folders):
        folder = root / "Reading" / f"{number % 100}" / f"{number}"
        folder.mkdir(parents=True)
        (folder / "plain.md").write_text("A plain note.\n")
    with keeper(place, "idle", root) as watched:
        process = psutil.Process(watched.process.pid)
        _until_idle(process)
        before = process.cpu_times()
        time.sleep(span)
        after = process.cpu_times()
    used: Any = after.user + after.system - before.user - before.system
    yield limited(f"processor time in {span} s of idling, {folders:,} folders", used, 0.02)
