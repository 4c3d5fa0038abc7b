"""Rules of `core.md` on watching, clause by clause, with a real keeper where no other test says them (K-28 … K-39)."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.kit import Kit
from tests.watching import Watched, until, watching
from vaultkeeper import daemon
from vaultkeeper.core.errors import FormatError, UserError, VaultUnavailableError
from vaultkeeper.core.note import NotePath
from vaultkeeper.keeper.wars import Wars

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit.make(tmp_path / "vault")


def flush(kit: Kit, watched: Watched, number: int = 0) -> None:
    """Wait until the keeper has dealt with all that happened before, by giving it one more thing to do."""
    since = len(watched.events)
    kit.note(f"Wrong/last{number}.md", type="profile", id=f"mem_20260601t000000_{number:08x}")
    watched.wait(lambda event: event.get("path") == f"Wrong/last{number}.md", since)
    watched.wait(lambda event: event["event"] == "batch", since)


@pytest.mark.rule("K-30", "K-34")
def test_one_change_is_one_batch_with_each_page_once_after_the_note(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    with watching(kit.root, settle=0) as watched:
        since = len(watched.events)
        kit.edit("Tasks/x.md", "status: active", "status: archived")
        batch = watched.wait(lambda event: event["event"] == "batch", since)
        flush(kit, watched)
        events = [event for event in watched.events[since:] if event.get("batch") == batch["batch"]]
    actions = [event for event in events if event["event"] == "action"]
    assert [event["path"] for event in actions if event["op"] != "page"] == ["Tasks/x.md"]
    assert actions[0]["path"] == "Tasks/x.md", "derived pages are made after the note"
    assert events[-1]["event"] == "batch", "told once all is done"
    assert batch["actions"] == len(actions)
    assert set(Counter(event["path"] for event in actions).values()) == {1}
    assert len([line for line in kit.journal() if line["op"] == "archive"]) == 1


@pytest.mark.rule("K-34", "K-39")
def test_a_burst_is_one_batch_and_each_index_page_is_written_at_most_once(kit: Kit, tmp_path: Path) -> None:
    outside = Kit(tmp_path / "outside")
    for number in range(1000):
        outside.note(f"box/{number % 10}/{number}.md", type="task", id=f"mem_20260401t000000_{number:08x}")
    kit.settled()
    with watching(kit.root, settle=0) as watched:
        since = len(watched.events)
        (tmp_path / "outside/box").rename(kit.root / "box")
        watched.wait(lambda event: event["event"] == "batch", since)
        flush(kit, watched)
        batches = [event for event in watched.events[since:] if event["event"] == "batch"]
        first = [event for event in watched.events[since:] if event.get("batch") == batches[0]["batch"]]
    assert len(batches) == 2, "the burst, and the note that this test put behind it"
    assert len([event for event in first if event.get("op") == "move"]) == 1000
    pages = Counter(event["path"] for event in first if event.get("op") == "page")
    assert set(pages.values()) == {1}
    assert {"Index/All.md", "Index/All 2.md", "Index/Tasks.md"} <= set(pages)
    assert kit.run("undo", dry_run=True)["undone"] == batches[1]["batch"]


@pytest.mark.rule("K-31")
def test_a_note_is_left_until_it_was_quiet_and_tidy_does_not_wait(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    kit.settled()
    with watching(kit.root, settle=50) as watched:
        kit.edit("Tasks/x.md", "status: active", "status: archived")
        kit.note("Tasks/new.md", type="task")
        until(lambda: daemon.read(kit.root, "why", {"note": note_id})["status"] == "archived")
        assert kit.where(note_id) == ["Tasks/x.md"]
        assert watched.actions(1) == []
        kit.tidy()
        assert kit.where(note_id) == ["Archive/x.md"]


@pytest.mark.rule("K-31")
def test_an_unknown_status_counts_as_pending_at_once_though_the_file_waits(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    kit.settled()
    with watching(kit.root, settle=0, repair_grace=600, touch_grace=600) as watched:
        since = len(watched.events)
        kit.edit("Tasks/x.md", "status: active", "status: arch")
        watched.wait(lambda event: event.get("code") == "unknown-status", since)
        until(lambda: "x" in kit.text("Index/Pending.md"), "the index shows it as pending")
        assert kit.where(note_id) == ["Tasks/x.md"]
        assert "status: arch\n" in kit.text("Tasks/x.md")
        kit.tidy()
        assert kit.where(note_id) == ["Inbox/x.md"]


@pytest.mark.rule("K-31", "LT-23")
def test_a_rewrite_that_only_dates_a_change_waits_longer(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    with watching(kit.root, settle=0, touch_grace=600) as watched:
        kit.edit("Tasks/x.md", "Some text.", "Other text.")
        flush(kit, watched)
        assert "updated_at: 2026-03-01T08:00:00.000Z\n" in kit.text("Tasks/x.md")
        kit.tidy()
        assert "updated_at: 2026-03-01T08:00:00.000Z\n" not in kit.text("Tasks/x.md")


@pytest.mark.rule("K-32")
def test_a_war_is_three_times_in_a_minute_over_the_same_bytes_and_ends_with_a_minutes_peace() -> None:
    start, path = datetime(2026, 3, 1, tzinfo=UTC), NotePath("x.md")

    def after(*seconds: float, bytes_of: str = "a") -> Wars:
        wars = Wars()
        for second in seconds:
            wars.wrote(path, bytes_of, start + timedelta(seconds=second))
        return wars

    assert not after(0, 30).is_on(path)
    assert after(0, 30, 60).is_on(path)
    assert not after(0, 30, 61).is_on(path)
    assert [finding.code for finding in after(0, 1, 2).findings()] == ["rewrite-war"]
    wars = after(0, 1)
    wars.wrote(path, "b", start + timedelta(seconds=2))
    assert not wars.is_on(path), "other bytes are somebody's work, not a war"
    wars = after(0, 1, 2)
    assert wars.make_peace(start + timedelta(seconds=60)) == set()
    assert wars.make_peace(start + timedelta(seconds=63)) == {path}
    assert not wars.is_on(path)


@pytest.mark.rule("K-33")
def test_where_it_is_asked_to_it_polls_and_says_so(kit: Kit) -> None:
    with watching(kit.root, settle=0, polling="on") as watched:
        note_id = kit.note("Wrong/x.md", type="task")
        until(lambda: kit.where(note_id) == ["Tasks/x.md"])
        said = [event for event in watched.events if event["event"] == "state"]
        assert any("poll" in str(event["reason"]) for event in said)


@pytest.mark.rule("K-33")
@pytest.mark.parametrize("change", ["older", "same-time", "deleted", "moved"])
def test_what_was_changed_while_it_was_off_is_found_at_start(kit: Kit, change: str) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    kit.settled()
    file = kit.root / "Tasks/x.md"
    stat = file.stat()
    if change == "deleted":
        file.unlink()
    elif change == "moved":
        kit.move("Tasks/x.md", "Archive/x.md")
    else:
        kit.edit("Tasks/x.md", "status: active", "status: archived")
        mtime = stat.st_mtime_ns if change == "same-time" else 1_600_000_000_000_000_000
        os.utime(file, ns=(mtime, mtime))
    with watching(kit.root, settle=0):
        if change == "deleted":
            until(lambda: [line["op"] for line in kit.journal() if line["id"] == note_id][-1:] == ["delete"])
            until(lambda: "(0)" in kit.text("Index/Tasks.md") or "[[x" not in kit.text("Index/Tasks.md"))
        else:
            until(lambda: kit.where(note_id) == ["Archive/x.md"])
            assert "status: archived\n" in kit.text("Archive/x.md")


@pytest.mark.rule("K-33")
def test_a_walk_finds_what_no_event_told(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    kit.settled()
    with watching(kit.root, settle=0, polling="on", rescan_minutes=0.01):
        kit.edit("Tasks/x.md", "status: active", "status: archived")
        until(lambda: kit.where(note_id) == ["Archive/x.md"])


@pytest.mark.rule("K-36")
def test_paused_no_file_is_changed_at_all_not_even_at_the_end(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    with watching(kit.root, settle=0, touch_grace=0) as watched:
        kit.run("pause")
        assert any(event.get("state") == "paused" for event in watched.events)
        kit.edit("Tasks/x.md", "status: active", "status: archived")
        kit.note("Wrong/y.md", type="task")
        before = kit.files(derived=True)
        for verb, args in (
            ("tidy", {}),
            ("new", {"title": "n"}),
            ("archive", {"note": "x"}),
            ("undo", {}),
            ("rebuild", {}),
        ):
            with pytest.raises(UserError, match="paused"):
                kit.run(verb, **args)
        until(lambda: daemon.read(kit.root, "why", {"note": "y"})["kind"] == "memory")
        assert kit.run("tidy", dry_run=True)["actions"], "looking ahead still works"
    assert kit.files(derived=True) == before
    kit.settled()
    assert (kit.root / "Archive/x.md").exists()


@pytest.mark.rule("K-38")
def test_a_keeper_whose_vault_lost_its_marker_says_so_and_waits(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    kit.settled()
    marker, away = kit.root / ".dsh-memory/config.json", kit.root / ".dsh-memory/away.json"
    with watching(kit.root, settle=0, rescan_minutes=0.01) as watched:
        marker.rename(away)
        event = watched.wait(lambda event: event.get("state") == "waiting")
        assert "marker" in event["reason"]
        kit.edit("Tasks/x.md", "status: active", "status: archived")
        with pytest.raises((FormatError, VaultUnavailableError)):
            kit.run("tidy")
        assert kit.where(note_id) == ["Tasks/x.md"]
        since = len(watched.events)
        away.rename(marker)
        watched.wait(lambda event: event.get("state") == "watching", since)
        until(lambda: kit.where(note_id) == ["Archive/x.md"])


@pytest.mark.rule("K-39")
@pytest.mark.parametrize("how", ["case", "re-created", "two events", "folder"])
def test_a_note_is_known_again_and_no_step_shows_it_as_lost(kit: Kit, how: str, tmp_path: Path) -> None:
    note_id = kit.note("Tasks/box/x.md", type="task")
    kit.settled()
    text = kit.text("Tasks/box/x.md")
    with watching(kit.root, settle=0) as watched:
        since = len(watched.events)
        if how == "case":
            kit.move("Tasks/box/x.md", "Tasks/box/X.md")
        elif how == "re-created":
            (kit.root / "Tasks/box/x.md").unlink()
            kit.write("Tasks/box/x.md", text)
        elif how == "two events":
            kit.write("Tasks/y.md", text)
            (kit.root / "Tasks/box/x.md").unlink()
        else:
            (kit.root / "Tasks/box").rename(kit.root / "Archive/box")
            until(lambda: "status: archived" in kit.text("Archive/box/x.md"))
        flush(kit, watched)
        assert len(kit.where(note_id)) == 1
    assert "delete" not in [line["op"] for line in kit.journal() if line["id"] == note_id]
    assert "create" not in [line["op"] for line in kit.journal()[1:] if line["id"] == note_id]
    if how != "two events":  # there really are two files for a moment
        assert "duplicate-id" not in {event.get("code") for event in watched.events[since:]}
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("K-39", "K-50")
def test_the_text_that_a_late_save_replaces_is_kept(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    with watching(kit.root, settle=0, touch_grace=600) as watched:
        typed = kit.text("Tasks/x.md").replace("Some text.", "Typed late.")
        kit.run("archive", note="x")
        moved = kit.text("Archive/x.md")
        kit.write("Tasks/x.md", typed)
        until(lambda: kit.where(note_id) == ["Archive/x.md"] and "Typed late." in kit.text("Archive/x.md"))
        assert not (kit.root / "Tasks/x.md").exists()
        flush(kit, watched)
        kit.run("undo")
        kit.run("undo")
    assert "Archive/x.md" in kit.where(note_id)
    assert kit.text("Archive/x.md") == moved
    assert kit.text("Tasks/x.md") == typed


@pytest.mark.rule("K-39", "K-31")
@pytest.mark.parametrize("settle", [0, 1])
def test_a_late_save_waits_with_its_note_and_is_not_lost(kit: Kit, settle: int) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    with watching(kit.root, settle=settle, touch_grace=600):
        typed = kit.text("Tasks/x.md").replace("Some text.", "Typed late.")
        kit.run("archive", note="x")
        kit.edit("Archive/x.md", "Some text.", "Typed at the new place.")
        kit.write("Tasks/x.md", typed)
        until(lambda: kit.where(note_id) == ["Archive/x.md"] and "Typed late." in kit.text("Archive/x.md"))


@pytest.mark.rule("K-28")
def test_a_note_that_cannot_be_written_is_told_and_tried_again(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    kit.settled()
    with watching(kit.root, settle=0) as watched:
        since = len(watched.events)
        text = kit.text("Tasks/x.md").replace("title: x", "title: x: y").replace("# x", "# x: y")
        kit.write("Tasks/x.md", text)
        (kit.root / "Tasks/x.md").chmod(0o444)
        kit.write("Tasks/other.md", "x\n")
        watched.wait(lambda event: event.get("code") == "action-failed", since)
        assert kit.text("Tasks/x.md") == text
        flush(kit, watched)
        (kit.root / "Tasks/x.md").chmod(0o644)
        until(lambda: "title: x: y" not in kit.text("Tasks/x.md"), "it is tried again by itself")
    assert kit.where(note_id) == ["Tasks/x.md"]
    assert kit.codes("Tasks/x.md") == []


@pytest.mark.rule("K-93")
def test_a_note_that_says_off_is_let_be_while_it_is_watched(kit: Kit) -> None:
    with watching(kit.root, settle=0, touch_grace=0) as watched:
        kit.note("Wrong/x.md", type="task", status="归档", title="a: b", vaultkeeper="off")
        text = kit.text("Wrong/x.md")
        flush(kit, watched)
        assert kit.text("Wrong/x.md") == text
        kit.edit("Wrong/x.md", "vaultkeeper: off\n", "")
        until((kit.root / "Archive/x.md").exists, "it is kept again once it no longer says so")


@pytest.mark.rule("LT-50", "LT-53")
def test_the_export_is_there_at_the_end_of_a_watch(kit: Kit) -> None:
    with watching(kit.root, settle=0) as watched:
        kit.note("Wrong/x.md", type="task")
        flush(kit, watched)
    assert '"Tasks/x.md"' in kit.text(".dsh-memory/index.json").replace("\\/", "/")


@pytest.mark.rule("K-1", "LT-52", "LT-54")
def test_index_pages_that_are_deleted_while_it_watches_are_made_again(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    names = {file.name for file in (kit.root / "Index").iterdir()}
    page = kit.text("Index/All.md")
    with watching(kit.root, settle=0):
        shutil.rmtree(kit.root / "Index")
        until(
            lambda: (
                (kit.root / "Index").is_dir()
                and {f.name for f in (kit.root / "Index").iterdir() if not f.name.startswith(".")} == names
            )
        )
        assert kit.text("Index/All.md") == page
