"""Failing inputs from public bug reports on files and watching: what was wrong elsewhere, and what is right here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit import Kit
from tests.resident import Resident
from tests.watching import Watched, until, watching
from vaultkeeper.core.note import NotePath


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit.make(tmp_path / "vault")


def ops(watched: Watched, since: int = 0) -> list[str]:
    return [str(event["op"]) for event in watched.actions(since)]


@pytest.mark.rule("K-30", "K-32")
def test_a_save_by_renaming_a_temporary_file_is_seen_once(kit: Kit) -> None:
    """Case b01: only the old name of a rename was looked at, so that such saves were never seen."""
    kit.note("Tasks/t.md", type="task")
    kit.settled()
    with watching(kit.root, settle=0) as watched:
        text = kit.text("Tasks/t.md").replace("status: active", "status: archived")
        kit.write("Tasks/t.md.tmp.7f3a", text)
        os.replace(kit.root / "Tasks/t.md.tmp.7f3a", kit.root / "Tasks/t.md")
        watched.wait(lambda event: event["event"] == "batch")
        assert ops(watched) == ["move"]
    assert kit.files().keys() >= {"Archive/t.md"}
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("K-39", "LT-53")
def test_a_note_that_is_deleted_and_made_again_was_never_lost(kit: Kit) -> None:
    """Case b03: a save by deleting first was taken for a deletion."""
    note_id = kit.note("Tasks/t.md", type="task")
    kit.settled()
    with watching(kit.root, settle=0.3) as watched:
        text = kit.text("Tasks/t.md")
        (kit.root / "Tasks/t.md").unlink()
        kit.write("Tasks/t.md", text.replace("status: active", "status: archived"))
        watched.wait(lambda event: event["event"] == "batch")
    assert kit.where(note_id) == ["Archive/t.md"]
    assert [line["op"] for line in kit.journal() if line["id"] == note_id] == ["archive"]


@pytest.mark.rule("K-39", "LT-53")
@pytest.mark.parametrize("order", [("Tasks/a.md", "Archive/b.md"), ("Archive/b.md", "Tasks/a.md")])
def test_a_rename_told_as_two_events_is_one_move_in_either_order(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    """Case b05: a deletion and a creation were taken for what they say."""
    vault = Resident(tmp_path)
    vault.init()
    text = (
        "---\nid: mem_20260301t080000_0000000a\ntype: task\nstatus: active\ntitle: a\n---\n\n# a\n\nwords\n"
    )
    vault.write("Tasks/a.md", text.encode())
    vault.hear()
    (vault.root / "Archive").mkdir(exist_ok=True)
    (vault.root / "Tasks/a.md").rename(vault.root / "Archive/b.md")
    vault.tick()
    keeper = vault.start()
    concerned: set[NotePath] = set()
    for path in order:
        concerned |= keeper.census.observe([NotePath(path)])
    keeper.settle(concerned, cause="watch")
    assert [line["op"] for line in vault.journal() if line["id"].startswith("mem_")] == ["archive"]
    assert "status: archived\n" in (vault.root / "Archive/b.md").read_text()


@pytest.mark.rule("K-22")
def test_a_name_that_is_taken_costs_neither_note(kit: Kit) -> None:
    """Case b07: a move onto another note failed without a word or replaced it."""
    one = kit.note("Decisions/A.md", type="decision", body="# A\n\none\n")
    other = kit.note("Archive/A.md", status="archived", body="# A\n\nother\n")
    kit.settled()
    kit.edit("Decisions/A.md", "status: active", "status: archived")
    assert [action["to"] for action in kit.tidy()["actions"] if action["op"] == "move"] == ["Archive/A 2.md"]
    assert (kit.where(one), kit.where(other)) == (["Archive/A 2.md"], ["Archive/A.md"])
    assert "one\n" in kit.text("Archive/A 2.md")
    assert "other\n" in kit.text("Archive/A.md")


@pytest.mark.rule("K-32", "LT-23")
def test_the_time_of_change_is_set_once_for_a_save(kit: Kit) -> None:
    """Case b09: setting the time was a change itself, so that the file was written for ever."""
    kit.note("Tasks/t.md", type="task")
    kit.settled()
    with watching(kit.root, settle=0, touch_grace=0) as watched:
        kit.edit("Tasks/t.md", "Some text.", "Some more text.")
        watched.wait(lambda event: event["event"] == "batch")
        since = len(watched.events)
        kit.note("Tasks/later.md", type="decision")  # by then news of the keeper's own write has come
        watched.wait(lambda event: event["event"] == "batch", since)
        assert [event["path"] for event in watched.actions()] == ["Tasks/t.md", "Tasks/later.md"]


@pytest.mark.rule("K-31", "LT-32")
def test_a_word_that_is_half_typed_moves_nothing(kit: Kit) -> None:
    """Case b11: a note was moved away under the hands of who was typing."""
    note_id = kit.note("Tasks/t.md", type="task")
    other = kit.note("Tasks/other.md", type="task")
    kit.settled()
    with watching(kit.root, settle=0) as watched:
        kit.edit("Tasks/t.md", "status: active", "status: arch")
        kit.edit("Tasks/other.md", "status: active", "status: archived")
        watched.wait(lambda event: event.get("to") == "Archive/other.md")
        assert kit.where(other) == ["Archive/other.md"]
        assert kit.where(note_id) == ["Tasks/t.md"]
        assert "status: arch\n" in kit.text("Tasks/t.md")
        kit.edit("Tasks/t.md", "status: arch", "status: archived")
        watched.wait(lambda event: event.get("to") == "Archive/t.md")
    assert kit.where(note_id) == ["Archive/t.md"]


def by_editor(kit: Kit) -> None:
    kit.edit("Tasks/t.md", "status: active", "status: archived")


def by_sed(kit: Kit) -> None:
    subprocess.run(
        ["sed", "-i", "s/^status: active/status: archived/", str(kit.root / "Tasks/t.md")], check=True
    )


def by_git(kit: Kit) -> None:
    def git(*args: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        subprocess.run(["git", *who, *args], cwd=kit.root, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("add", "Tasks")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "other")
    by_editor(kit)
    git("commit", "-qam", "two")
    git("checkout", "-q", "main")
    git("checkout", "-q", "other")


@pytest.mark.rule("K-30", "K-33")
@pytest.mark.parametrize("route", [by_editor, by_sed, by_git])
@pytest.mark.parametrize("is_running", [True, False])
def test_every_way_to_change_a_status_comes_to_the_same(
    kit: Kit, route: Callable[[Kit], None], is_running: bool
) -> None:
    """Case b13: only one way of changing it moved the note."""
    note_id = kit.note("Tasks/t.md", type="task")
    kit.settled()
    if not is_running:
        route(kit)
    with watching(kit.root, settle=0.2):
        if is_running:
            route(kit)
        until(lambda: kit.where(note_id) == ["Archive/t.md"], "the note is in the archive")
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("K-39", "K-33", "K-34")
def test_folders_that_come_and_go_leave_no_ghosts(kit: Kit, tmp_path: Path) -> None:
    """Case b15: of files in a new or moved folder no event told, so that some were never seen and others never gone."""
    away = Kit(tmp_path / "away")
    for number in range(50):
        away.note(f"batch/n{number}.md", type="task", title=f"n{number}")
    for number in range(3):
        kit.note(f"Decisions/d{number}.md", type="decision")
    with watching(kit.root, settle=0.2):
        shutil.move(tmp_path / "away" / "batch", kit.root / "Reading" / "batch")
        until(lambda: "n49" in kit.text("Index/Tasks.md"), "the folder that was moved in is listed")
        (kit.root / "x/y/z").mkdir(parents=True)
        away.note("deep.md", type="task", title="deep")
        shutil.copy(tmp_path / "away" / "deep.md", kit.root / "x/y/z/deep.md")
        until(lambda: "[[deep]]" in kit.text("Index/Tasks.md"), "the file in a new folder is listed")
        shutil.move(kit.root / "Decisions", tmp_path / "gone")
        until(lambda: "d1]]" not in kit.text("Index/All.md"), "the folder that was moved out is not listed")
    listed = kit.text("Index/All.md").count("[[")
    assert (
        listed == kit.check()["notes"] == sum(1 for path in kit.files() if b"id: mem_" in kit.files()[path])
    )
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("K-5", "K-2", "K-23")
@pytest.mark.parametrize("left", [b"", b"\0" * 900])
def test_what_a_crash_of_another_program_left_is_no_wish_of_the_person(kit: Kit, left: bytes) -> None:
    """Case b17: a note that was cut to nothing or filled with NUL was moved and recorded as if somebody had emptied it."""
    kit.note("Tasks/t.md", type="task")
    kit.settled()
    before = kit.journal()
    kit.write("Tasks/t.md", left)
    kit.settled()
    assert (kit.root / "Tasks/t.md").read_bytes() == left
    assert set(kit.codes("Tasks/t.md")) & {"emptied", "nul-bytes"}
    assert kit.journal() == before


@pytest.mark.rule("K-24", "K-2", "LT-12")
@pytest.mark.parametrize(
    "title",
    [
        "x" * 281,
        "茶" * 120,
        "a.",
        "a...",
        "A: B",
        "x|y",
        "..",
        ".git",
        "CON",
        "nul.md",
        'q"?*<>',
        "a\tb",
        "🙂" * 90,
    ],
)
def test_any_title_makes_a_name_that_every_system_can_hold(kit: Kit, title: str) -> None:
    """Case b19: names made of titles could not be written, or not be deleted any more."""
    result = kit.run("new", title=title, type="decision", text="Words.")
    name = Path(str(result["path"])).name
    assert len(name.encode()) <= 255
    assert not set('\\/:*?"<>|#^[]') & set(name)
    assert not any(
        unicodedata.category(char).startswith("C") and char != "\u200d" for char in name if ord(char) < 0x300
    )
    assert name.removesuffix(".md") == name.removesuffix(".md").rstrip(". ")
    assert not name.startswith(".")
    assert name.partition(".")[0].upper() not in {"CON", "NUL"}
    assert " ".join(title.split()) in " ".join(kit.text(str(result["path"])).split())
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("K-29", "IF-4")
def test_a_second_keeper_is_refused_and_told_who_holds_the_vault(kit: Kit, tmp_path: Path) -> None:
    """Case b21: two watchers of one vault deleted each other's records."""
    link = tmp_path / "link"
    link.symlink_to(kit.root)
    with watching(kit.root, settle=0) as watched:
        for path in (kit.root, link):
            second = subprocess.run(
                [sys.executable, "-m", "vaultkeeper", "watch", str(path), "--json"],
                capture_output=True,
                text=True,
                check=False,
            )
            assert second.returncode == 3
            assert str(watched.process.pid) in second.stdout + second.stderr
            assert "Traceback" not in second.stderr
