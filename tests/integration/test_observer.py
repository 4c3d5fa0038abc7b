"""The watcher on real folders: what people and tools do to files, and which changes are told (K-33, K-37, K-39)."""

from __future__ import annotations

import ctypes
import logging
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import pytest

from vaultkeeper.watch.ignore import IgnoreRules
from vaultkeeper.watch.observer import Change, Watcher
from vaultkeeper.watch.probe import Probe

RULES = IgnoreRules(private=".keeper", template_folders=("Templates",))
PATIENCE = 10.0
WATCHDOG = int(version("watchdog").partition(".")[0])
QUEUED = Path("/proc/sys/fs/inotify/max_queued_events")
linux = pytest.mark.skipif(sys.platform != "linux", reason="says what inotify does")


class Watched:
    """A vault being watched, and what was told of it."""

    def __init__(self, root: Path, polling: Literal["auto", "on", "off"] = "off") -> None:
        self.root = root
        self.queue: queue.SimpleQueue[Change] = queue.SimpleQueue()
        self.flushes = 0
        self.watcher = Watcher(root, RULES, self.queue.put, polling=polling, poll_every=0.05)

    def next(self) -> Change:
        """The next change."""
        return self.queue.get(timeout=PATIENCE)

    def until(self, *wanted: tuple[str, str]) -> list[tuple[str, str]]:
        """Take changes until all of these were told; returns all that were told meanwhile."""
        missing = set(wanted)
        told: list[tuple[str, str]] = []
        while missing:
            change = self.next()
            told.append((change.kind, change.path))
            missing.discard(told[-1])
        return told

    def flush(self) -> list[tuple[str, str]]:
        """All changes up to now: a last note is saved, and everything before it is read."""
        self.flushes += 1
        last = f"last {self.flushes}.md"
        (self.root / last).write_text("the last one")
        return [one for one in self.until(("file", last)) if not one[1].startswith("last ")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    (vault / "sub").mkdir(parents=True)
    (vault / ".keeper").mkdir()
    (vault / "a.md").write_text("one")
    return vault


@pytest.fixture
def start(root: Path) -> Iterator[Callable[..., Watched]]:
    running: list[Watched] = []

    def run(**options: Literal["auto", "on", "off"]) -> Watched:
        watched = Watched(root, **options)
        running.append(watched)
        watched.watcher.start()
        return watched

    yield run
    for watched in running:
        watched.watcher.stop()


@pytest.fixture
def watched(start: Callable[..., Watched]) -> Watched:
    return start()


def iter_now(changes: queue.SimpleQueue[Change]) -> Iterator[Change]:
    """What was told up to now."""
    while not changes.empty():
        yield changes.get()


def tells_of_overflow() -> bool:
    """Whether this watchdog says that events were lost, and the system's queue is short enough to fill it."""
    return WATCHDOG > 6 and QUEUED.exists() and int(QUEUED.read_text()) <= 100_000


def set_of(told: list[tuple[str, str]]) -> set[tuple[str, str]]:
    return set(told)


# single files --------------------------------------------------------------------------------------------------------


def test_a_save_in_place_is_one_change(watched: Watched) -> None:
    (watched.root / "a.md").write_text("two")
    assert watched.flush() == [("file", "a.md")]


def test_a_change_tells_when_it_was_seen(watched: Watched) -> None:
    before = time.monotonic()
    (watched.root / "a.md").write_text("two")
    assert before <= watched.next().at <= time.monotonic()


@pytest.mark.rule("K-39")
def test_a_save_by_renaming_a_temporary_file_is_a_change_of_the_note(watched: Watched) -> None:
    temporary = watched.root / "a.md.tmp.123"
    temporary.write_text("two")
    temporary.replace(watched.root / "a.md")
    assert watched.flush() == [("file", "a.md")]


def test_a_save_by_renaming_a_hidden_file_is_a_change_of_the_note(watched: Watched) -> None:
    temporary = watched.root / ".a.md.swp.md"
    temporary.write_text("two")
    temporary.replace(watched.root / "a.md")
    assert watched.flush() == [("file", "a.md")]


@pytest.mark.skipif(shutil.which("sed") is None, reason="no sed")
def test_sed_in_place_is_a_change_of_the_note(watched: Watched) -> None:
    subprocess.run(["sed", "-i", "s/one/two/", "a.md"], cwd=watched.root, check=True)
    assert set_of(watched.flush()) == {("file", "a.md")}


@pytest.mark.rule("K-39")
def test_both_ends_of_a_rename_are_changes(watched: Watched) -> None:
    (watched.root / "a.md").rename(watched.root / "sub/b.md")
    assert watched.flush() == [("file", "a.md"), ("file", "sub/b.md")]


@pytest.mark.rule("K-39")
def test_a_rename_that_only_changes_case_tells_both_names(watched: Watched) -> None:
    (watched.root / "a.md").rename(watched.root / "A.md")
    assert set_of(watched.flush()) == {("file", "a.md"), ("file", "A.md")}


@pytest.mark.rule("K-39")
def test_a_move_by_link_and_unlink_tells_both_names(watched: Watched) -> None:
    os.link(watched.root / "a.md", watched.root / "b.md")
    os.unlink(watched.root / "a.md")
    assert watched.flush() == [("file", "b.md"), ("file", "a.md")]


@pytest.mark.rule("K-39")
def test_a_delete_and_a_new_file_are_told(watched: Watched) -> None:
    (watched.root / "a.md").unlink()
    (watched.root / "a.md").write_text("again")
    assert set_of(watched.flush()) == {("file", "a.md")}


def test_a_new_note_is_told(watched: Watched) -> None:
    (watched.root / "sub/new.md").write_text("text")
    assert set_of(watched.flush()) == {("file", "sub/new.md")}


def test_a_note_that_comes_from_outside_the_vault_is_told(watched: Watched, tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("text")
    (tmp_path / "b.md").rename(watched.root / "b.md")
    assert watched.flush() == [("file", "b.md")]


def test_a_note_that_leaves_the_vault_is_told(watched: Watched, tmp_path: Path) -> None:
    (watched.root / "a.md").rename(tmp_path / "a.md")
    assert watched.flush() == [("file", "a.md")]


@linux
def test_a_file_that_is_being_made_is_told_once_it_is_closed(watched: Watched) -> None:
    with (watched.root / "new.md").open("w") as file:
        assert watched.flush() == []
        file.write("text")
    assert watched.flush() == [("file", "new.md")]


@linux
def test_an_old_empty_file_that_comes_from_outside_is_told(watched: Watched, tmp_path: Path) -> None:
    (tmp_path / "b.md").touch()
    os.utime(tmp_path / "b.md", (1_000_000_000, 1_000_000_000))
    (tmp_path / "b.md").rename(watched.root / "b.md")
    assert watched.flush() == [("file", "b.md")]


@linux
@pytest.mark.rule("K-31")
def test_a_file_that_is_held_open_is_told_while_it_is_written(watched: Watched) -> None:
    with (watched.root / "a.md").open("a") as file:
        tries = 0
        while watched.queue.empty():
            file.write("more\n")
            file.flush()
            tries += 1
        assert watched.next().path == "a.md"
        assert tries > 1


def test_a_new_link_is_told(watched: Watched) -> None:
    (watched.root / "link.md").symlink_to("a.md")
    assert watched.flush() == [("file", "link.md")]


# folders -------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("K-33", "K-39")
def test_a_folder_moved_into_the_vault_asks_for_a_look_at_it(watched: Watched, tmp_path: Path) -> None:
    (tmp_path / "come/deep").mkdir(parents=True)
    for number in range(50):
        (tmp_path / f"come/deep/{number}.md").write_text("text")
    (tmp_path / "come").rename(watched.root / "come")
    assert watched.flush() == [("folder", "come")]
    if WATCHDOG > 6:  # which does not watch what is inside: the next walk has to find it
        (watched.root / "come/deep/3.md").write_text("more")
        assert watched.flush() == [("file", "come/deep/3.md")]


@pytest.mark.rule("K-39")
def test_a_folder_moved_out_of_the_vault_asks_for_a_look_at_it(watched: Watched, tmp_path: Path) -> None:
    (watched.root / "sub/b.md").write_text("text")
    watched.flush()
    (watched.root / "sub").rename(tmp_path / "out")
    assert watched.flush() == [("folder", "sub")]


@pytest.mark.rule("K-39")
def test_a_folder_moved_inside_the_vault_asks_for_a_look_at_both_places(watched: Watched) -> None:
    (watched.root / "sub/b.md").write_text("text")
    watched.flush()
    (watched.root / "sub").rename(watched.root / "sub2")
    assert watched.flush() == [("folder", "sub"), ("folder", "sub2")]
    (watched.root / "sub2/b.md").write_text("more")
    assert watched.flush() == [("file", "sub2/b.md")]


@pytest.mark.rule("K-33")
def test_files_in_folders_made_at_the_same_time_are_not_lost(watched: Watched) -> None:
    (watched.root / "x/y/z").mkdir(parents=True)
    (watched.root / "x/one.md").write_text("text")
    (watched.root / "x/y/z/two.md").write_text("text")
    told = watched.flush()
    assert ("folder", "x") in told  # a look at it, made when this is read, sees both files
    (watched.root / "x/y/z/three.md").write_text("text")
    assert watched.until(("file", "x/y/z/three.md"))


def test_a_folder_that_is_deleted_is_told(watched: Watched) -> None:
    (watched.root / "sub/b.md").write_text("text")
    watched.flush()
    shutil.rmtree(watched.root / "sub")
    assert watched.flush() == [("file", "sub/b.md"), ("folder", "sub")]


@pytest.mark.rule("K-34")
def test_none_of_many_files_saved_at_once_is_lost(watched: Watched) -> None:
    wanted = [("file", f"sub/{number}.md") for number in range(500)]
    for _, path in wanted:
        (watched.root / path).write_text("text")
    assert set_of(watched.until(*wanted)) == set(wanted)


# what is ignored, and what cannot be named ---------------------------------------------------------------------------


@pytest.mark.rule("K-26")
@pytest.mark.parametrize(
    "path",
    [
        ".obsidian/workspace.md",
        ".git/COMMIT.md",
        "node_modules/pkg/README.md",
        "Templates/daily.md",
        "sub/.hidden.md",
        "a.md~",
        "4913",
        "picture.png",
        "a.sync-conflict-20261017-075957-ABCDEFG.md",
    ],
)
def test_what_is_ignored_is_not_told(start: Callable[..., Watched], root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    watched = start()
    (root / path).write_text("text")
    (root / path).rename(root / path).unlink()
    assert watched.flush() == []


@pytest.mark.rule("K-26")
def test_ignored_folders_are_not_told(watched: Watched) -> None:
    (watched.root / ".trash/deep").mkdir(parents=True)
    (watched.root / "node_modules").mkdir()
    assert watched.flush() == []


@pytest.mark.rule("K-26", "K-39")
def test_a_note_that_goes_into_the_trash_is_told(watched: Watched) -> None:
    (watched.root / ".trash").mkdir()
    (watched.root / "a.md").rename(watched.root / ".trash/a.md")
    assert watched.flush() == [("file", "a.md")]


@pytest.mark.rule("K-26")
def test_a_vault_in_a_hidden_folder_is_watched(tmp_path: Path) -> None:
    root = tmp_path / ".agent/memory"
    root.mkdir(parents=True)
    watched = Watched(root)
    watched.watcher.start()
    (root / "a.md").write_text("text")
    assert set_of(watched.flush()) == {("file", "a.md")}
    watched.watcher.stop()


def test_a_vault_that_is_reached_through_a_link_is_watched(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    watched = Watched(tmp_path / "link")
    watched.watcher.start()
    (root / "a.md").write_text("two")
    assert watched.flush() == [("file", "a.md")]
    watched.watcher.stop()


@linux
def test_names_that_are_not_utf8_are_told_as_they_are(watched: Watched) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    (watched.root / name).write_text("text")
    assert set_of(watched.flush()) == {("file", name)}


# lost events, and a vault that goes away -----------------------------------------------------------------------------


@pytest.mark.rule("K-33")
def test_an_overflow_in_watchdogs_log_asks_for_a_look_at_everything(watched: Watched) -> None:
    log = logging.getLogger("watchdog.observers.inotify_c")
    log.warning("something else")
    logging.getLogger("watchdog.observers.inotify").warning("Inotify queue overflowed; reconciling")
    log.warning("Inotify queue overflowed; filesystem events were lost")
    assert watched.next().kind == "overflow"
    assert watched.queue.empty()


@pytest.mark.rule("K-33")
def test_an_overflow_is_heard_where_warnings_are_not_logged(
    start: Callable[..., Watched], caplog: pytest.LogCaptureFixture
) -> None:
    log = logging.getLogger("watchdog.observers.inotify_c")
    level = log.level
    log.setLevel(logging.ERROR)
    watched = start()
    log.warning("Inotify queue overflowed; filesystem events were lost")
    assert watched.next().kind == "overflow"
    log.setLevel(level)


def overflow(folder: Path) -> None:
    """Make more events than the system keeps, faster than they can be read: the interpreter is not let go meanwhile."""
    libc = ctypes.PyDLL(None)
    file = os.fsencode(folder / "x.txt")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        for _ in range(int(QUEUED.read_text()) // 3 + 10):  # each is made, closed and deleted
            libc.close(libc.creat(file, 0o600))
            libc.unlink(file)
    finally:
        sys.setswitchinterval(interval)


@linux
@pytest.mark.skipif(not tells_of_overflow(), reason="watchdog 6 tells nothing of it")
@pytest.mark.rule("K-33", "K-37")
def test_after_a_real_overflow_everything_is_looked_at_and_watched_again(watched: Watched) -> None:
    overflow(watched.root / "sub")
    assert watched.until(("overflow", ""))
    probe = Probe(watched.root, ".keeper")
    watched.watcher.probe = probe
    while not probe.arrived(0.2):  # until watchdog has set up its watches anew
        assert probe.start() == ""
    # Then everything is to be looked at once more, for what changed before that.
    assert ("file", probe.path) not in watched.until(("overflow", ""))
    assert set_of(watched.flush()) == {("file", probe.path)}


@pytest.mark.rule("K-33", "K-38")
@pytest.mark.parametrize("polling", ["off", "on"])
def test_a_vault_that_is_deleted_is_told_once(start: Callable[..., Watched], polling: str) -> None:
    watched = start(polling=polling)
    shutil.rmtree(watched.root)
    assert watched.until(("root-gone", ""))
    watched.watcher.stop()
    assert all(change.kind != "root-gone" for change in iter_now(watched.queue))


@pytest.mark.rule("K-33", "K-38")
@pytest.mark.parametrize("polling", ["off", "on"])
def test_a_vault_that_is_renamed_is_gone_and_nothing_of_it_is_told(
    start: Callable[..., Watched], tmp_path: Path, polling: str
) -> None:
    watched = start(polling=polling)
    watched.root.rename(tmp_path / "renamed")
    assert watched.until(("root-gone", "")) == [("root-gone", "")]
    (tmp_path / "renamed/a.md").write_text("two")
    shutil.rmtree(tmp_path / "renamed")
    watched.watcher.stop()
    assert watched.queue.empty()


@pytest.mark.rule("K-38")
def test_neighbours_of_the_vault_are_of_no_concern(watched: Watched, tmp_path: Path) -> None:
    (tmp_path / "vault2").mkdir()
    (tmp_path / "vault2/a.md").write_text("text")
    (tmp_path / "vault2").rename(tmp_path / "vault3")
    assert watched.flush() == []


@pytest.mark.rule("K-28", "K-38")
@pytest.mark.parametrize("polling", ["auto", "on", "off"])
def test_a_vault_that_is_not_there_is_told_instead_of_raised(
    tmp_path: Path, polling: Literal["auto", "on", "off"]
) -> None:
    watched = Watched(tmp_path / "nowhere", polling)
    watched.watcher.start()
    assert watched.next().kind == "root-gone"
    assert "No such file" in watched.watcher.reason
    watched.watcher.stop()


def test_stopping_twice_does_no_harm(watched: Watched) -> None:
    threads = threading.active_count()
    watched.watcher.stop()
    watched.watcher.stop()
    assert threading.active_count() < threads
    assert not logging.getLogger("watchdog").handlers


# polling, and limits -------------------------------------------------------------------------------------------------


def test_events_are_the_usual_way(start: Callable[..., Watched]) -> None:
    watcher = start(polling="auto").watcher
    assert (watcher.mode, watcher.reason) == ("events", "")


@pytest.mark.rule("K-33")
def test_polling_tells_of_saves_moves_and_folders(start: Callable[..., Watched], tmp_path: Path) -> None:
    watched = start(polling="on")
    assert (watched.watcher.mode, watched.watcher.reason) == ("polling", "polling is switched on")
    (watched.root / "a.md").write_text("a longer text")
    assert watched.until(("file", "a.md"))
    (watched.root / "a.md").rename(watched.root / "b.md")
    assert watched.until(("file", "a.md"), ("file", "b.md"))
    (tmp_path / "come").mkdir()
    (tmp_path / "come/c.md").write_text("text")
    (tmp_path / "come").rename(watched.root / "come")
    assert watched.until(("folder", "come"), ("file", "come/c.md"))
    shutil.rmtree(watched.root / "come")
    assert watched.until(("folder", "come"), ("file", "come/c.md"))


@pytest.mark.rule("K-26", "K-27")
def test_polling_follows_no_link_and_looks_at_nothing_ignored(
    start: Callable[..., Watched], root: Path
) -> None:
    (root / "sub/loop").symlink_to(root)
    (root / "loop.md").symlink_to(root / "sub")
    (root / ".git").mkdir()
    watched = start(polling="on")
    (root / ".git/HEAD.md").write_text("text")
    (root / "picture.png").write_text("text")
    (root / "sub/b.md").write_text("text")
    told = watched.until(
        ("file", "sub/b.md")
    )  # one poll tells its changes in no order: a flush might overtake it
    assert set_of(told + watched.flush()) == {("file", "sub/b.md")}


LIMITED = """
import os, queue, sys
from pathlib import Path
from vaultkeeper.watch.ignore import IgnoreRules
from vaultkeeper.watch.observer import Watcher

Path("/proc/sys/user/", sys.argv[2]).write_text(sys.argv[3])
changes = queue.SimpleQueue()
root = Path(sys.argv[1])
rules = IgnoreRules(private=".keeper", template_folders=())
watcher = Watcher(root, rules, changes.put, polling=sys.argv[4], poll_every=0.05)
watcher.start()
print(watcher.mode, watcher.reason)
(root / "a.md").write_text("a longer text")
print(changes.get(timeout=10).path if watcher.mode == "polling" else changes.empty())
watcher.stop()
"""


@linux
@pytest.mark.rule("K-33")
@pytest.mark.parametrize(
    ("what", "limit", "polling", "says"),
    [
        ("max_inotify_watches", 5, "auto", "polling the system's limit of watched folders is reached"),
        ("max_inotify_instances", 0, "auto", "polling the system's limit of watchers is reached"),
        ("max_inotify_watches", 5, "off", "events the system's limit of watched folders is reached"),
    ],
)
def test_where_the_systems_limit_is_reached_it_says_so_and_polls(
    root: Path, what: str, limit: int, polling: str, says: str
) -> None:
    for number in range(10):
        (root / f"sub/{number}").mkdir()
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", LIMITED]
    done = subprocess.run(
        [*command, str(root), what, str(limit), polling],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    if "unshare" in done.stderr or "PermissionError" in done.stderr:
        pytest.skip("this system lets nobody have limits of their own")
    assert done.stderr == ""
    mode, then = done.stdout.splitlines()
    assert mode.startswith(says)
    assert then == ("a.md" if polling == "auto" else "True")


# the probe, and peace ------------------------------------------------------------------------------------------------


@pytest.mark.rule("K-33")
def test_the_probes_event_proves_that_events_arrive(watched: Watched) -> None:
    probe = Probe(watched.root, ".keeper")
    watched.watcher.probe = probe
    assert probe.start() == ""
    assert probe.arrived(PATIENCE)
    assert set_of(watched.flush()) == {("file", ".keeper/.vaultkeeper-probe")}
    assert list((watched.root / ".keeper").iterdir()) == []


def test_only_the_probes_own_file_is_let_through(watched: Watched) -> None:
    watched.watcher.probe = Probe(watched.root, ".keeper")
    (watched.root / ".keeper/.other").write_text("text")
    (watched.root / ".keeper/index.md").write_text("text")
    assert watched.flush() == []
    assert not watched.watcher.probe.arrived(0)


def test_without_a_probe_its_file_is_ignored(watched: Watched) -> None:
    assert Probe(watched.root, ".keeper").start() == ""
    assert watched.flush() == []


@pytest.mark.rule("K-33")
def test_a_probe_left_by_a_killed_keeper_is_no_hindrance(root: Path) -> None:
    (root / ".keeper/.vaultkeeper-probe").touch()
    assert Probe(root, ".keeper").start() == ""
    assert list((root / ".keeper").iterdir()) == []


@pytest.mark.rule("K-28", "K-33")
def test_a_probe_that_cannot_be_made_says_why(root: Path) -> None:
    (root / "file").touch()
    assert "Not a directory" in Probe(root, "file").start()
    assert "No such file" in Probe(root, "nowhere").start()


@pytest.mark.rule("K-27")
def test_the_probe_follows_no_link_out_of_the_vault(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (root / "private").symlink_to(tmp_path / "outside")
    assert "symbolic link" in Probe(root, "private").start()
    os.utime(tmp_path / "outside", ns=(0, 0))
    Probe(root, "private").start()
    assert (tmp_path / "outside").stat().st_mtime_ns == 0


@pytest.mark.rule("K-37")
def test_a_thousand_folders_at_rest_tell_nothing(start: Callable[..., Watched], root: Path) -> None:
    for number in range(1000):
        (root / f"sub/{number}").mkdir()
    watched = start()
    walked = [name for _, _, names in os.walk(root) for name in names]  # reading is no change
    (root / "a.md").read_text()
    assert walked
    assert watched.flush() == []
