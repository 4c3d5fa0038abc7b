"""One keeper per vault, with real processes: who holds it, who is refused, what a killed holder leaves (K-29)."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from vaultkeeper.core.errors import VaultBusyError
from vaultkeeper.store.folders import AppFolders, vault_state
from vaultkeeper.store.lock import Holder, VaultLock, holder, short_lock

HOLD = """
import sys
from pathlib import Path
from vaultkeeper.store.lock import VaultLock
lock = VaultLock(Path(sys.argv[1]), "Notes")
lock.acquire()
print("held", flush=True)
sys.stdin.readline()
lock.release()
"""

Start = Callable[[], "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a process that holds the lock in `tmp_path / "state"` until it is told a line."""
    started: list[subprocess.Popen[str]] = []

    def hold() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path / "state")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield hold
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.mark.rule("K-29")
def test_a_second_keeper_is_refused_with_process_and_host_of_the_first(start: Start, state: Path) -> None:
    first = start()
    with pytest.raises(VaultBusyError) as caught:
        VaultLock(state, "Notes").acquire()
    assert (caught.value.vault, caught.value.pid, caught.value.host) == ("Notes", first.pid, platform.node())


@pytest.mark.rule("K-29")
def test_the_lock_of_a_killed_keeper_is_taken_over(start: Start, state: Path) -> None:
    first = start()
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert (state / "keeper.json").exists()
    with VaultLock(state, "Notes") as lock:
        lock.acquire()
        assert holder(state) == Holder(os.getpid(), platform.node(), "Notes")


@pytest.mark.rule("K-29")
def test_a_keeper_that_is_done_leaves_the_lock_to_one_that_waits(start: Start, state: Path) -> None:
    first = start()
    assert first.stdin is not None
    first.stdin.write("\n")
    first.stdin.flush()
    with VaultLock(state, "Notes") as lock:
        lock.acquire(timedelta(seconds=20))
        assert holder(state) == Holder(os.getpid(), platform.node(), "Notes")


@pytest.mark.rule("K-29")
def test_the_holder_can_be_read_by_anybody_and_keeps_the_lock(start: Start, state: Path) -> None:
    first = start()
    assert holder(state) == holder(state) == Holder(first.pid, platform.node(), "Notes")
    with pytest.raises(VaultBusyError):
        VaultLock(state, "Notes").acquire()


def test_nobody_holds_a_lock_that_was_never_taken_given_back_or_whose_holder_was_killed(
    start: Start, state: Path
) -> None:
    assert holder(state) is None
    lock = VaultLock(state, "Notes")
    lock.acquire()
    lock.release()
    assert holder(state) is None
    assert not (state / "keeper.json").exists()
    killed = start()
    killed.kill()
    killed.wait()
    assert holder(state) is None


@pytest.mark.rule("K-29")
def test_two_locks_in_one_process_exclude_each_other(state: Path) -> None:
    with VaultLock(state, "Notes") as first:
        first.acquire()
        with pytest.raises(VaultBusyError) as caught:
            VaultLock(state, "Notes").acquire()
        assert caught.value.pid == os.getpid()


def test_taking_and_giving_back_twice_does_nothing_more(state: Path) -> None:
    lock = VaultLock(state, "Notes")
    lock.acquire()
    lock.acquire()
    lock.release()
    lock.release()
    assert holder(state) is None


def test_the_lock_may_be_given_back_by_another_thread(state: Path) -> None:
    lock = VaultLock(state, "Notes")
    lock.acquire()
    thread = threading.Thread(target=lock.release)
    thread.start()
    thread.join()
    with VaultLock(state, "Notes") as next_one:
        next_one.acquire()


def test_a_holder_without_a_readable_name_still_keeps_others_out(start: Start, state: Path) -> None:
    start()
    (state / "keeper.json").write_text('{"pid": "many"}')
    assert holder(state) is None
    with pytest.raises(VaultBusyError) as caught:
        VaultLock(state, "Notes").acquire()
    assert caught.value.pid == 0


def test_a_name_that_cannot_be_written_does_not_cost_the_lock(state: Path) -> None:
    (state / "keeper.json").mkdir(parents=True)
    with VaultLock(state, "Notes") as lock:
        lock.acquire()
        with pytest.raises(VaultBusyError):
            VaultLock(state, "Notes").acquire()


def test_a_vault_whose_name_is_no_unicode_can_be_locked(state: Path) -> None:
    with VaultLock(state, "bad\udcff") as lock:
        lock.acquire()
        assert holder(state) == Holder(os.getpid(), platform.node(), "bad\\udcff")


def test_where_the_lock_may_not_be_tried_the_name_last_written_counts(state: Path) -> None:
    (state / "keeper.lock").mkdir(parents=True)
    (state / "keeper.json").write_text(json.dumps({"pid": 7, "host": "shelf"}))
    assert holder(state) == Holder(7, "shelf")


def test_a_state_folder_that_cannot_be_made_is_the_callers_to_hear_of(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        VaultLock(tmp_path / "file" / "state", "Notes").acquire()


@pytest.mark.rule("K-29")
def test_a_vault_reached_through_a_link_is_the_same_vault(start: Start, tmp_path: Path, home: Path) -> None:
    """basicmachines-co/basic-memory#759: several processes watched one vault and raced."""
    vault, link = tmp_path / "Notes", tmp_path / "link"
    vault.mkdir()
    link.symlink_to(vault)
    folders = AppFolders(home / "config", home / "state", home / "cache")
    with VaultLock(vault_state(folders, vault), "Notes") as first:
        first.acquire()
        with pytest.raises(VaultBusyError):
            VaultLock(vault_state(folders, link), "link").acquire()


def test_a_short_lock_tells_whether_it_was_had(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with short_lock(tmp_path / "new" / "a.lock", timedelta(0)) as first:
        assert first
        with short_lock(tmp_path / "new" / "a.lock", timedelta(0)) as second:
            assert not second
    with short_lock(tmp_path / "new" / "a.lock", timedelta(0)) as again:
        assert again
    with short_lock(tmp_path / "file" / "a.lock", timedelta(0)) as impossible:
        assert not impossible
