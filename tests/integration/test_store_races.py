"""Somebody else writes while the store does: whatever they typed is there afterwards (K-21, K-42, K-27)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import FaultyDisk, act_at, all_of
from tests.shelf import OLD_NS, Shelf, act
from vaultkeeper.core.action import Action
from vaultkeeper.core.note import digest_of

OLD, NEW, TYPED, LATER = b"old\n", b"new\n", b"typed meanwhile\n", b"typed still later\n"

REWRITE = act("rewrite", "a/n.md", OLD, NEW)
MOVE = act("move", "a/n.md", OLD, to="b/n.md")
CHANGE = act("move", "a/n.md", OLD, NEW, to="b/n.md")
CASE = act("move", "a/n.md", OLD, to="a/N.md")
CASE_CHANGE = act("move", "a/n.md", OLD, NEW, to="a/N.md")
TRASH = act("trash", "a/n.md", OLD)
EACH = {
    "rewrite": REWRITE,
    "move": MOVE,
    "move and rewrite": CHANGE,
    "case": CASE,
    "case and rewrite": CASE_CHANGE,
    "trash": TRASH,
}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path)
    shelf.put("a/n.md", OLD)
    return shelf


def save_in_place(file: Path, data: bytes) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)


def save_by_rename(file: Path, data: bytes) -> None:
    """As editors do: a new file takes the name."""
    file.parent.mkdir(exist_ok=True)
    (file.parent / "editor~").write_bytes(data)
    (file.parent / "editor~").rename(file)


SAVES = pytest.mark.parametrize("save", [save_in_place, save_by_rename])
Save = Callable[[Path, bytes], None]


def at_call(n: int, do: Callable[[], object]) -> FaultyDisk:
    def hook(number: int, _name: str, _args: tuple[object, ...]) -> None:
        if number == n:
            do()

    return FaultyDisk(hook, sync=False)


@SAVES
@pytest.mark.rule("K-21", "K-22", "K-42")
@pytest.mark.parametrize("where", ["where it stood", "where it goes"])
@pytest.mark.parametrize("name", EACH)
def test_what_is_saved_at_any_moment_is_there_afterwards(
    tmp_path: Path, name: str, where: str, save: Save
) -> None:
    action, n, calls = EACH[name], 0, 1
    while n <= calls:
        n += 1
        shelf = Shelf(tmp_path / str(n))
        shelf.put("a/n.md", OLD)
        file = shelf.root / ((action.to or action.path) if where == "where it goes" else action.path)
        disk = at_call(n, lambda file=file: save(file, TYPED))  # type: ignore[misc]
        (receipt,) = shelf.apply(action, disk=disk)
        calls = len(disk.calls)
        found = [path for path, data in shelf.notes().items() if data == TYPED]
        assert found or TYPED in shelf.kept() or n > calls, f"lost at call {n} of {calls}"
        assert all("/." not in path for path in shelf.notes()), f"a private name is left at call {n}"
        assert shelf.open_batches() == [], f"at call {n}"
        assert disk.left_open() == 0
        if receipt.state != "done":
            assert receipt.state == "changed"
            assert TYPED in shelf.notes().values()


@pytest.mark.rule("K-21", "K-27")
@pytest.mark.parametrize("put", ["link", "folder", "nothing"])
@pytest.mark.parametrize("name", EACH)
def test_whatever_takes_the_place_of_the_note_at_any_moment_stays_what_it_is(
    tmp_path: Path, name: str, put: str
) -> None:
    action, n, calls = EACH[name], 0, 1
    while n <= calls:
        n += 1
        shelf = Shelf(tmp_path / str(n))
        file = shelf.put("a/n.md", OLD)
        outside = tmp_path / f"{n} outside.md"
        outside.write_bytes(TYPED)

        def swap(file: Path = file, outside: Path = outside) -> None:
            file.unlink(missing_ok=True)
            if put == "link":
                file.symlink_to(outside)
            elif put == "folder":
                file.mkdir()

        disk = at_call(n, swap)
        shelf.apply(action, disk=disk)
        calls = len(disk.calls)
        assert outside.read_bytes() == TYPED
        assert file.is_symlink() is (put == "link" and n <= calls), f"at call {n}"
        assert file.is_dir() is (put == "folder" and n <= calls), f"at call {n}"
        assert not [path for path, _ in shelf.walk(shelf.root) if "/." in path], f"at call {n}"
        assert shelf.open_batches() == []


@SAVES
@pytest.mark.rule("K-21")
@pytest.mark.parametrize("name", EACH)
def test_a_note_saved_between_plan_and_apply_is_planned_again(shelf: Shelf, name: str, save: Save) -> None:
    save(shelf.root / "a/n.md", TYPED)
    (receipt,) = shelf.apply(EACH[name])
    assert (receipt.state, receipt.path, receipt.digest) == ("changed", "a/n.md", None)
    assert shelf.notes() == {"a/n.md": TYPED}
    assert shelf.closed_batches() == []


@SAVES
@pytest.mark.rule("K-21", "K-42")
def test_a_save_just_before_the_exchange_stands_again(shelf: Shelf, save: Save) -> None:
    disk = FaultyDisk(act_at("exchange", lambda: save(shelf.root / "a/n.md", TYPED)))
    (receipt,) = shelf.apply(REWRITE, disk=disk)
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": TYPED}
    assert shelf.kept() == []


@pytest.mark.rule("K-21", "K-42")
def test_of_two_saves_around_the_exchange_the_latest_stands_and_the_other_is_kept(shelf: Shelf) -> None:
    file = shelf.root / "a/n.md"
    first = act_at("exchange", lambda: save_by_rename(file, TYPED))
    second = act_at("exchange", lambda: save_by_rename(file, LATER), nth=2)
    disk = FaultyDisk(all_of(first, second))
    (receipt,) = shelf.apply(REWRITE, disk=disk)
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": LATER}
    assert shelf.kept() == [TYPED]


@pytest.mark.rule("K-21", "K-42")
def test_a_save_after_a_lost_exchange_stands_and_the_one_before_is_kept(shelf: Shelf) -> None:
    file = shelf.root / "a/n.md"
    before = act_at("exchange", lambda: save_by_rename(file, TYPED))
    after = act_at("exchange", lambda: save_by_rename(file, LATER))
    (receipt,) = shelf.apply(REWRITE, disk=FaultyDisk(before, after))
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": LATER}
    assert shelf.kept() == [TYPED]


@pytest.mark.rule("K-21", "K-42", "K-8")
def test_bytes_written_into_the_old_file_right_after_it_was_replaced_stand_again(shelf: Shelf) -> None:
    with (shelf.root / "a/n.md").open("r+b", buffering=0) as editor:
        disk = FaultyDisk(after=act_at("exchange", lambda: (editor.write(TYPED), editor.truncate())))
        (receipt,) = shelf.apply(REWRITE, disk=disk)
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": TYPED}


@pytest.mark.rule("K-21", "K-8")
def test_bytes_written_into_a_checked_file_before_it_goes_are_kept(shelf: Shelf) -> None:
    with (shelf.root / "a/n.md").open("r+b", buffering=0) as editor:
        disk = FaultyDisk(act_at("sync_folder", lambda: (editor.write(TYPED), editor.truncate()), nth=2))
        (receipt,) = shelf.apply(TRASH, disk=disk)
    assert receipt.state == "done"
    assert shelf.notes() == {}
    assert shelf.kept() == [TYPED]
    (name,) = (path for path, _ in shelf.walk(shelf.state / "history" / "kept"))
    assert name == f"{digest_of(TYPED)[:12]}-n.md"


@pytest.mark.rule("K-22")
@pytest.mark.parametrize(
    "action", [MOVE, CHANGE, act("create", "b/n.md", None, NEW)], ids=lambda each: each.op
)
def test_a_place_taken_meanwhile_is_left_to_who_took_it(shelf: Shelf, action: Action) -> None:
    disk = FaultyDisk(act_at("rename_new", lambda: save_in_place(shelf.root / "b/n.md", TYPED)))
    (receipt,) = shelf.apply(action, disk=disk)
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": OLD, "b/n.md": TYPED}
    again = shelf.apply(action)[0]
    if action.op == "move":
        assert (again.state, again.path, again.taken) == ("done", "b/n 2.md", True)
        assert shelf.notes()["b/n.md"] == TYPED


@pytest.mark.rule("K-22")
@pytest.mark.parametrize("action", [CHANGE, act("create", "b/n.md", None, NEW)], ids=lambda each: each.op)
def test_a_place_taken_by_the_very_same_bytes_is_not_ours_either(shelf: Shelf, action: Action) -> None:
    disk = FaultyDisk(act_at("rename_new", lambda: save_in_place(shelf.root / "b/n.md", NEW)))
    (receipt,) = shelf.apply(action, disk=disk)
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": OLD, "b/n.md": NEW}
    assert shelf.closed_batches() == []


@pytest.mark.rule("K-25", "K-22")
@pytest.mark.parametrize("action", [CASE, CASE_CHANGE], ids=["case", "case and rewrite"])
def test_a_name_of_other_case_taken_meanwhile_leaves_both_as_they_are(shelf: Shelf, action: Action) -> None:
    disk = FaultyDisk(act_at("rename_new", lambda: save_in_place(shelf.root / "a/N.md", TYPED)))
    (receipt,) = shelf.apply(action, disk=disk)
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": OLD, "a/N.md": TYPED}
    assert shelf.apply(action)[0].path == "a/N 2.md"


@pytest.mark.rule("K-21")
def test_a_moved_note_whose_old_name_was_taken_stays_moved_and_whole(shelf: Shelf) -> None:
    file = shelf.root / "a/n.md"
    before = act_at("rename_new", lambda: save_by_rename(file, TYPED))
    after = act_at("rename_new", lambda: save_by_rename(file, LATER))
    (receipt,) = shelf.apply(MOVE, disk=FaultyDisk(before, after))
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": LATER, "b/n.md": TYPED}


@pytest.mark.rule("K-21")
@pytest.mark.parametrize("action", [TRASH, CHANGE], ids=["trash", "move and rewrite"])
def test_a_save_just_before_the_old_file_is_set_aside_stands_again(shelf: Shelf, action: Action) -> None:
    disk = FaultyDisk(act_at("replace", lambda: save_by_rename(shelf.root / "a/n.md", TYPED), where="n.md"))
    (receipt,) = shelf.apply(action, disk=disk)
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": TYPED}


@pytest.mark.rule("K-21", "K-8")
def test_of_two_saves_around_setting_aside_both_are_there(shelf: Shelf) -> None:
    file = shelf.root / "a/n.md"
    before = act_at("replace", lambda: save_by_rename(file, TYPED), where="n.md")
    after = act_at("replace", lambda: save_by_rename(file, LATER), where="n.md")
    (receipt,) = shelf.apply(TRASH, disk=FaultyDisk(before, after))
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": LATER}
    assert shelf.kept() == [TYPED]


@pytest.mark.rule("K-21")
@pytest.mark.parametrize("action", [REWRITE, CHANGE], ids=["rewrite", "move and rewrite"])
def test_a_save_before_the_last_look_counts_where_nothing_can_be_exchanged(
    shelf: Shelf, action: Action
) -> None:
    disk = FaultyDisk(
        act_at("sync_file", lambda: save_by_rename(shelf.root / "a/n.md", TYPED), nth=2), platform="none"
    )
    (receipt,) = shelf.apply(action, disk=disk)
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": TYPED}


@pytest.mark.rule("K-21", "K-28")
@pytest.mark.parametrize("name", EACH)
def test_a_folder_that_vanishes_is_a_change(shelf: Shelf, name: str) -> None:
    disk = FaultyDisk(
        act_at("sync_file", lambda: (shelf.root / "a").rename(shelf.root / "elsewhere")), sync=False
    )
    (receipt,) = shelf.apply(EACH[name], disk=disk)
    assert receipt.state == "changed"
    assert shelf.notes() == {"elsewhere/n.md": OLD}


@pytest.mark.rule("K-27")
@pytest.mark.parametrize("name", ["move", "move and rewrite"])
def test_a_folder_swapped_for_a_link_leads_nowhere(shelf: Shelf, name: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (shelf.root / "b").mkdir()

    def swap() -> None:
        (shelf.root / "b").rmdir()
        (shelf.root / "b").symlink_to(tmp_path / "outside")

    (receipt,) = shelf.apply(EACH[name], disk=FaultyDisk(act_at("sync_file", swap)))
    assert receipt.state == "failed"
    assert "symbolic link" in receipt.reason
    assert list((tmp_path / "outside").iterdir()) == []
    assert shelf.notes()["a/n.md"] == OLD
    assert shelf.open_batches() == []


@pytest.mark.rule("K-21", "K-22", "K-32")
def test_a_receipt_never_tells_the_time_of_somebody_elses_save(shelf: Shelf) -> None:
    """Else the save would look like the note that is known already."""
    file = shelf.root / "a/n.md"
    disk = FaultyDisk(after=act_at("exchange", lambda: save_in_place(file, TYPED)))
    disk_before = file.stat().st_mtime_ns
    (receipt,) = shelf.apply(REWRITE, disk=disk)
    assert receipt.state == "done"
    assert receipt.digest == digest_of(NEW)
    assert receipt.stat is not None
    there = os.stat(file)
    assert (receipt.stat.size, receipt.stat.mtime_ns) != (there.st_size, there.st_mtime_ns)
    assert disk_before == OLD_NS
