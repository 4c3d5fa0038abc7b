"""The keeper at work on a real folder, in a process of its own: the acceptance story of the issue (K-30 to K-39)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit import Kit
from tests.watching import until, watching
from vaultkeeper.core.errors import UserError, VaultUnavailableError

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit.make(tmp_path / "vault")


def save_by_rename(file: Path, text: str) -> None:
    temporary = file.with_name(f".{file.name}.swp~")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)


@pytest.mark.rule("K-30", "K-31", "IF-4", "K-34", "K-50", "K-6")
def test_the_acceptance_story(kit: Kit) -> None:
    kit.write(
        "Tasks/lenient.md",
        "---\nid: mem_20260301t080000_0000aaaa\ntype: 任务\nstatus: Active\ntitle: a: b\ntags: x、y\ncreated_at: 2026-03-01\n---\n\n# a: b\n\nbody\n",
    )
    sed, dragged = kit.note("Tasks/sed.md", type="task"), kit.note("Tasks/dragged.md", type="task")
    saved, deleted = kit.note("Tasks/saved.md", type="task"), kit.note("Tasks/deleted.md", type="task")
    before = kit.files()
    with watching(kit.root, settle=0, touch_grace=0) as watched:
        assert watched.events[0]["event"] == "ready"
        assert watched.events[0]["api"].startswith("http://127.0.0.1:")
        until(lambda: "type: task" in kit.text("Tasks/lenient.md"), "the lenient note is mended")
        subprocess.run(
            ["sed", "-i", "s/^status: active/status: archived/", str(kit.root / "Tasks/sed.md")], check=True
        )
        until(lambda: kit.where(sed) == ["Archive/sed.md"], "sed")
        subprocess.run(["mv", str(kit.root / "Tasks/dragged.md"), str(kit.root / "Archive/")], check=True)
        until(lambda: "status: archived" in kit.text("Archive/dragged.md"), "dragged")
        save_by_rename(
            kit.root / "Tasks/saved.md", kit.text("Tasks/saved.md").replace("type: task", "type: decision")
        )
        until(lambda: kit.where(saved) == ["Decisions/saved.md"], "saved by rename")
        for number in range(500):
            kit.note(f"Drop/{number}.md", type="knowledge", id=f"mem_20260401t000000_{number:08x}")
        until(lambda: len(list((kit.root / "Knowledge").glob("*.md"))) == 500, "500 dropped files")
        text = kit.text("Tasks/deleted.md")
        (kit.root / "Tasks/deleted.md").unlink()
        kit.write("Tasks/deleted.md", text)
        until(lambda: "(504)" in kit.text("Index/All.md") or "(505)" in kit.text("Index/All.md"), "pages")
    assert kit.where(deleted) == ["Tasks/deleted.md"]
    assert kit.tidy()["actions"] == []
    walked = 0
    while walked < 50:
        try:
            result = kit.run("undo")
        except UserError:
            break
        assert result["refused"] == []
        walked += 1
    after = kit.files()
    assert walked >= 5
    assert after["Tasks/lenient.md"] == before["Tasks/lenient.md"]
    assert b"status: archived" in after["Tasks/sed.md"]
    assert after["Tasks/sed.md"] == before["Tasks/sed.md"].replace(b"status: active", b"status: archived")
    assert after["Archive/dragged.md"] == before["Tasks/dragged.md"]
    assert sum(path.startswith("Drop/") for path in after) == 500
    del dragged


@pytest.mark.rule("K-31")
def test_a_half_typed_status_moves_nothing_until_its_grace_is_over(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    with watching(kit.root, settle=0, repair_grace=60) as watched:
        since = len(watched.events)
        kit.edit("Tasks/x.md", "status: active", "status: arch")
        kit.note("Wrong/marker.md", type="task")
        watched.wait(lambda event: event.get("path") == "Wrong/marker.md", since)
        assert kit.where(note_id) == ["Tasks/x.md"]
        kit.edit("Tasks/x.md", "status: arch", "status: archived")
        until(lambda: kit.where(note_id) == ["Archive/x.md"])


@pytest.mark.rule("K-32")
def test_its_own_writes_cause_no_further_action(kit: Kit) -> None:
    with watching(kit.root, settle=0, touch_grace=0) as watched:
        since = len(watched.events)
        kit.note("Tasks/x.md", type="decision", title="a: b")
        until((kit.root / "Decisions/x.md").exists)
        kit.note("Tasks/last.md", type="decision")
        watched.wait(lambda event: event.get("path") == "Tasks/last.md", since)
        assert [action["path"] for action in watched.actions(since)] == ["Tasks/x.md", "Tasks/last.md"]


@pytest.mark.rule("K-32")
def test_a_note_that_another_tool_keeps_undoing_is_left_alone(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    with watching(kit.root, settle=0, touch_grace=600) as watched:
        slip = kit.text("Tasks/x.md").replace("title: x", "title: x: y").replace("# x", "# x: y")
        for _ in range(3):
            kit.write("Tasks/x.md", slip)
            until(lambda: "title: x: y" not in kit.text("Tasks/x.md"))
        kit.write("Tasks/x.md", slip)
        watched.wait(lambda event: event.get("code") == "rewrite-war")
        assert "title: x: y" in kit.text("Tasks/x.md")


@pytest.mark.rule("K-29", "IF-21")
def test_commands_go_through_the_running_keeper(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    with watching(kit.root, settle=60) as watched:
        since = len(watched.events)
        result = kit.run("archive", note="x")
        assert kit.where(note_id) == ["Archive/x.md"]
        event = watched.wait(lambda event: event.get("batch") == result["batch"], since)
        assert event["event"] in {"action", "batch"}
        assert kit.tidy()["actions"] == []
        kit.run("undo")
        assert kit.where(note_id) == ["Tasks/x.md"]


@pytest.mark.rule("K-29")
def test_a_second_keeper_says_who_holds_the_vault(kit: Kit, tmp_path: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(kit.root)
    with watching(kit.root) as watched:
        done = subprocess.run(
            [sys.executable, "-m", "vaultkeeper", "watch", str(alias)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 3
        assert str(watched.process.pid) in done.stderr


@pytest.mark.rule("K-36")
def test_paused_means_that_no_file_is_changed(kit: Kit) -> None:
    with watching(kit.root, settle=0) as watched:
        kit.run("pause")
        since = len(watched.events)
        note_id = kit.note("Wrong/x.md", type="task")
        with pytest.raises(UserError):
            kit.run("tidy")
        assert kit.where(note_id) == ["Wrong/x.md"]
        kit.run("resume")
        until(lambda: kit.where(note_id) == ["Tasks/x.md"])
        del since


@pytest.mark.rule("K-33")
def test_changes_made_while_it_was_off_are_found_at_start(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    kit.settled()
    text = kit.text("Tasks/x.md")
    kit.write("Tasks/x.md", text.replace("status: active", "status: archived"))
    os.utime(kit.root / "Tasks/x.md", (1_600_000_000, 1_600_000_000))
    with watching(kit.root):
        until(lambda: kit.where(note_id) == ["Archive/x.md"])


@pytest.mark.rule("K-38", "K-28")
def test_a_vault_that_vanishes_is_waited_for_and_nothing_is_believed_deleted(
    kit: Kit, tmp_path: Path
) -> None:
    for number in range(30):
        kit.note(f"Tasks/{number}.md", type="task")
    kit.settled()
    away = tmp_path / "away"
    with watching(kit.root, settle=0) as watched:
        kit.root.rename(away)
        watched.wait(lambda event: event.get("state") == "waiting")
        assert not kit.root.exists()
        since = len(watched.events)
        away.rename(kit.root)
        watched.wait(lambda event: event.get("state") == "watching", since)
        note_id = kit.note("Wrong/new.md", type="decision")
        until(lambda: kit.where(note_id) == ["Decisions/new.md"])
    assert not [line for line in kit.journal() if line["op"] == "delete"]


@pytest.mark.rule("K-38")
def test_many_notes_gone_at_once_are_not_believed_by_tidy(kit: Kit, tmp_path: Path) -> None:
    for number in range(30):
        kit.note(f"Tasks/{number}.md", type="task")
    kit.settled()
    page = kit.text("Index/All.md")
    shutil.move(kit.root / "Tasks", tmp_path / "Tasks")
    with pytest.raises(VaultUnavailableError):
        kit.tidy()
    assert kit.text("Index/All.md") == page
    shutil.move(tmp_path / "Tasks", kit.root / "Tasks")
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("K-39")
def test_an_editors_late_save_becomes_the_moved_notes_text(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    with watching(kit.root, settle=0, touch_grace=0):
        typed = kit.text("Tasks/x.md").replace("Some text.", "Some text, and what was typed late.")
        kit.run("archive", note="x")
        assert kit.where(note_id) == ["Archive/x.md"]
        kit.write("Tasks/x.md", typed)
        until(lambda: kit.where(note_id) == ["Archive/x.md"] and "typed late" in kit.text("Archive/x.md"))
        assert "status: archived" in kit.text("Archive/x.md")


@pytest.mark.rule("K-39")
def test_a_folder_moved_in_and_out_is_followed(kit: Kit, tmp_path: Path) -> None:
    outside = Kit(tmp_path / "outside")
    ids = [
        outside.note(f"box/deep/{number}.md", type="task", id=f"mem_20260401t000000_{number:08x}")
        for number in range(10)
    ]
    with watching(kit.root, settle=0):
        (tmp_path / "outside/box").rename(kit.root / "box")
        until(lambda: all(kit.where(note_id) == [f"Tasks/{n}.md"] for n, note_id in enumerate(ids)))
        (kit.root / "Tasks").rename(tmp_path / "gone")
        until(lambda: "(10)" not in kit.text("Index/Tasks.md"))


@pytest.mark.rule("K-42", "K-21")
def test_what_is_typed_while_it_rewrites_is_kept(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task", body="# x\n\n" + "line\n" * 2000)
    with watching(kit.root, settle=0, touch_grace=0):
        for number in range(30):
            kit.edit("Tasks/x.md", "# x\n", f"# x\n\ntyped {number}\n")
    text = kit.text("Tasks/x.md")
    assert all(f"typed {number}\n" in text for number in range(30))
