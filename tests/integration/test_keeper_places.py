"""Where notes end up: placement, drags, and what is left alone (LT-10 to LT-13, K-35, K-93)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit import Kit

PLACES = [
    ("profile", "active", "Profile"),
    ("preference", "active", "Preferences"),
    ("project", "stale", "Projects"),
    ("project-state", "active", "Projects/State"),
    ("decision", "active", "Decisions"),
    ("knowledge", "stale", "Knowledge"),
    ("experience", "active", "Experiences"),
    ("task", "active", "Tasks"),
    ("task", "pending", "Inbox"),
    ("decision", "archived", "Archive"),
    ("decision", "superseded", "Archive"),
    ("knowledge", "conflict", "Conflicts"),
]


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit.make(tmp_path / "vault")


@pytest.mark.rule("LT-10", "K-6")
@pytest.mark.parametrize(("kind", "status", "folder"), PLACES)
def test_every_word_combination_has_its_place(kit: Kit, kind: str, status: str, folder: str) -> None:
    note_id = kit.note("Somewhere/x.md", type=kind, status=status)
    kit.settled()
    assert kit.where(note_id) == [f"{folder}/x.md"]


@pytest.mark.rule("LT-11")
def test_a_subfolder_of_the_right_folder_is_kept(kit: Kit) -> None:
    note_id = kit.note("Decisions/2026/x.md", type="decision")
    kit.settled()
    assert kit.where(note_id) == ["Decisions/2026/x.md"]


@pytest.mark.rule("LT-11")
def test_the_state_folder_is_no_subfolder_of_projects(kit: Kit) -> None:
    project, state = (
        kit.note("Projects/State/p.md", type="project"),
        kit.note("Projects/s.md", type="project-state"),
    )
    kit.settled()
    assert kit.where(project) == ["Projects/p.md"]
    assert kit.where(state) == ["Projects/State/s.md"]


@pytest.mark.rule("LT-12")
def test_a_note_keeps_its_name_when_it_moves(kit: Kit) -> None:
    note_id = kit.note("Knowledge/我的 名字.md", title="Something else", status="archived")
    kit.settled()
    assert kit.where(note_id) == ["Archive/我的 名字.md"]


@pytest.mark.rule("LT-13", "K-35")
@pytest.mark.parametrize(
    ("start", "words", "folder", "expected"),
    [
        ("Decisions", {"type": "decision"}, "Archive", ("decision", "archived")),
        ("Decisions", {"type": "decision"}, "Inbox", ("decision", "pending")),
        ("Decisions", {"type": "decision"}, "Conflicts", ("decision", "conflict")),
        ("Decisions", {"type": "decision"}, "Tasks", ("task", "active")),
        ("Decisions", {"type": "decision", "status": "stale"}, "Tasks", ("task", "stale")),
        ("Archive", {"type": "decision", "status": "archived"}, "Knowledge", ("knowledge", "active")),
        ("Inbox", {"type": "task", "status": "pending"}, "Tasks", ("task", "active")),
    ],
)
def test_a_drag_means_something(
    kit: Kit, start: str, words: dict[str, str], folder: str, expected: tuple[str, str]
) -> None:
    note_id = kit.note(f"{start}/x.md", **words)
    kit.settled()
    kit.move(f"{start}/x.md", f"{folder}/x.md")
    kit.settled()
    assert kit.where(note_id) == [f"{folder}/x.md"]
    text = kit.text(f"{folder}/x.md")
    assert f"type: {expected[0]}\n" in text
    assert f"status: {expected[1]}\n" in text


@pytest.mark.rule("K-35")
def test_where_both_changed_the_frontmatter_wins_with_a_finding(kit: Kit) -> None:
    note_id = kit.note("Decisions/x.md", type="decision")
    kit.settled()
    kit.edit("Decisions/x.md", "type: decision", "type: task")
    kit.move("Decisions/x.md", "Archive/x.md")
    codes = [finding["code"] for finding in kit.tidy()["findings"]]
    assert kit.where(note_id) == ["Tasks/x.md"]
    assert "both-place" in codes


@pytest.mark.rule("K-35")
def test_moves_are_not_adopted_where_the_owner_does_not_want_it(tmp_path: Path) -> None:
    kit = Kit.make(tmp_path / "vault", adopt_manual_moves=False)
    note_id = kit.note("Decisions/x.md", type="decision")
    kit.settled()
    kit.move("Decisions/x.md", "Archive/x.md")
    kit.settled()
    assert kit.where(note_id) == ["Decisions/x.md"]


@pytest.mark.rule("K-35", "LT-10")
def test_a_note_dragged_into_a_folder_without_meaning_comes_back(kit: Kit) -> None:
    note_id = kit.note("Decisions/x.md", type="decision")
    kit.settled()
    kit.move("Decisions/x.md", "Elsewhere/x.md")
    kit.settled()
    assert kit.where(note_id) == ["Decisions/x.md"]


@pytest.mark.rule("K-93")
def test_a_note_that_says_off_is_left_entirely_alone(kit: Kit) -> None:
    kit.note("Wrong/x.md", type="decision", status="Archived", vaultkeeper="off", title="a: b")
    before = kit.files()
    kit.tidy()
    assert kit.files() == before
    assert kit.codes("Wrong/x.md") == []


@pytest.mark.rule("K-93")
def test_excluded_folders_are_left_entirely_alone(tmp_path: Path) -> None:
    kit = Kit.make(tmp_path / "vault", exclude=["Private"])
    kit.note("Private/x.md", type="decision", status="archived")
    before = kit.files()
    kit.settled()
    assert kit.files() == before


@pytest.mark.rule("LT-35")
def test_an_ordinary_note_is_never_moved_nor_rewritten(kit: Kit) -> None:
    kit.write("Decisions/plain.md", "no frontmatter\n")
    kit.write("book.md", "---\ntype: book\nstatus: reading\ntitle: a: b\n---\ntext\n")
    before = kit.files()
    kit.settled()
    assert kit.files() == before
    assert kit.codes("book.md") == []
    assert kit.codes("Decisions/plain.md") == []


@pytest.mark.rule("K-22")
def test_a_move_never_overwrites(kit: Kit) -> None:
    first = kit.note("Archive/A.md", status="archived", body="# A\n\nfirst\n")
    second = kit.note("Decisions/A.md", type="decision", status="archived", body="# A\n\nsecond\n")
    codes = [finding["code"] for finding in kit.tidy()["findings"]]
    assert kit.where(first) == ["Archive/A.md"]
    assert kit.where(second) == ["Archive/A 2.md"]
    assert "name-taken" in codes


@pytest.mark.rule("LT-38")
def test_a_type_that_only_the_folder_told_is_kept_when_the_note_leaves_it(kit: Kit) -> None:
    note_id = kit.note("Decisions/x.md", type=None, status="archived")
    kit.settled()
    assert kit.where(note_id) == ["Archive/x.md"]
    assert "type: decision\n" in kit.text("Archive/x.md")


@pytest.mark.rule("K-38", "K-39")
def test_a_folder_full_of_notes_that_was_renamed_has_not_vanished(kit: Kit) -> None:
    ids = [kit.note(f"Tasks/old/{number}.md", type="task") for number in range(30)]
    kit.settled()
    (kit.root / "Tasks/old").rename(kit.root / "Archive/old")
    kit.settled()
    assert [kit.where(note_id) for note_id in ids] == [[f"Archive/old/{number}.md"] for number in range(30)]
    assert all("status: archived" in kit.text(f"Archive/old/{number}.md") for number in range(30))


@pytest.mark.rule("K-39", "K-35")
def test_a_drag_by_copying_and_deleting_is_a_drag_too(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    kit.settled()
    kit.write("Archive/x.md", kit.text("Tasks/x.md"))
    kit.settled()
    assert kit.where(note_id) == ["Archive/x.md", "Tasks/x.md"], "two notes with one id are nobody's to move"
    (kit.root / "Tasks/x.md").unlink()
    kit.settled()
    assert kit.where(note_id) == ["Archive/x.md"]
    assert "status: archived\n" in kit.text("Archive/x.md")
    assert [line["op"] for line in kit.journal() if line["id"] == note_id] == ["archive"]


@pytest.mark.rule("K-39")
def test_a_late_save_waits_until_the_moved_note_can_be_read_again(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    kit.settled()
    typed = kit.text("Tasks/x.md").replace("Some text.", "Typed late.")
    kit.run("archive", note="x")
    moved = kit.text("Archive/x.md")
    kit.write("Archive/x.md", "")  # as an editor leaves it for a moment, between emptying and writing it
    kit.write("Tasks/x.md", typed)
    kit.tidy()
    assert (kit.text("Archive/x.md"), kit.text("Tasks/x.md")) == ("", typed)
    kit.write("Archive/x.md", moved)
    kit.settled()
    assert kit.where(note_id) == ["Archive/x.md"]
    assert "Typed late." in kit.text("Archive/x.md")
    assert "status: archived" in kit.text("Archive/x.md")
