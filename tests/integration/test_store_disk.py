"""The store on file systems that can do less, or that see names otherwise (K-20, K-22, K-25, K-27)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults import BlindDisk, FaultyDisk, act_at, all_of, refuse
from tests.shelf import OLD_NS, Shelf, act
from vaultkeeper.core.note import NotePath
from vaultkeeper.store.disk import Disk
from vaultkeeper.store.tree import LinkRefusedError

OLD, NEW, OTHER, TYPED = b"old\n", b"new\n", b"other\n", b"typed\n"


def refuse_between_folders(_number: int, name: str, args: tuple[Any, ...]) -> None:
    if name == "rename_new" and args[0].path != args[2].path:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))


DISKS: dict[str, Callable[[], Disk]] = {
    "this one": Disk,
    "another platform": lambda: Disk(platform="none"),
    "a name of the call that is unknown": lambda: Disk(platform="darwin"),
    "no folder handles": lambda: Disk(handles=False),
    "no folder handles on another platform": lambda: Disk(handles=False, platform="none"),
    "no special renames": lambda: FaultyDisk(refuse("rename_new", "exchange")),
    "no special renames, said as by NFS": lambda: FaultyDisk(
        refuse("rename_new", "exchange", code=errno.EINVAL)
    ),
    "no links either": lambda: FaultyDisk(refuse("rename_new", "exchange", "link")),
    "no links either, said as by FAT": lambda: FaultyDisk(
        all_of(refuse("rename_new", "exchange"), refuse("link", code=errno.EPERM))
    ),
    "folders on several devices": lambda: FaultyDisk(refuse_between_folders),
    "blind to case": BlindDisk,
    "blind to case on another platform": lambda: BlindDisk(platform="none"),
    "blind to case without links": lambda: BlindDisk(refuse("link"), platform="none"),
}
ON_EACH = pytest.mark.parametrize("disk", [make() for make in DISKS.values()], ids=list(DISKS))
BLIND = pytest.mark.parametrize(
    "disk",
    [make() for name, make in DISKS.items() if "blind" in name],
    ids=[name for name in DISKS if "blind" in name],
)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path)
    shelf.put("a/n.md", OLD, 0o640)
    return shelf


@ON_EACH
@pytest.mark.rule("K-20", "K-22", "K-50")
def test_all_that_a_batch_can_do_is_done_and_taken_back_on_any_disk(shelf: Shelf, disk: Disk) -> None:
    for name in ("move", "change", "trash"):
        shelf.put(f"a/{name}.md", name.encode(), 0o604)
    before = shelf.notes()
    batch = shelf.files(disk).begin(cause="test")
    receipts = batch.apply(
        [
            act("rewrite", "a/n.md", OLD, NEW),
            act("move", "a/move.md", b"move", to="new/deep/move.md"),
            act("move", "a/change.md", b"change", NEW, to="b/change.md"),
            act("trash", "a/trash.md", b"trash"),
            act("create", "b/create.md", None, OTHER),
        ]
    )
    batch.finish()
    assert [receipt.state for receipt in receipts] == ["done"] * 5
    assert shelf.notes() == {
        "a/n.md": NEW,
        "new/deep/move.md": b"move",
        "b/change.md": NEW,
        "b/create.md": OTHER,
    }
    moved = (shelf.root / "new/deep/move.md").stat()
    assert (moved.st_mtime_ns, moved.st_mode & 0o777) == (OLD_NS, 0o604)
    assert (shelf.root / "b/change.md").stat().st_mode & 0o777 == 0o604
    for receipt in receipts:
        if receipt.stat is not None:
            there = (shelf.root / receipt.path).stat()
            assert (receipt.stat.size, receipt.stat.mtime_ns) == (there.st_size, there.st_mtime_ns)
    assert shelf.files(disk).undo(None).refused == []
    assert shelf.notes() == before
    assert (shelf.root / "a/trash.md").stat().st_mtime_ns == OLD_NS


@ON_EACH
@pytest.mark.rule("K-25", "K-39")
@pytest.mark.parametrize("data", [None, NEW], ids=["as it is", "with new bytes"])
@pytest.mark.parametrize("to", ["a/N.md", "a/É.md"])
def test_a_name_that_differs_by_spelling_only_is_given_on_any_disk(
    shelf: Shelf, disk: Disk, data: bytes | None, to: str
) -> None:
    here = "a/n.md" if to == "a/N.md" else "a/e\u0301.md"
    (shelf.root / "a/n.md").rename(shelf.root / here)
    (receipt,) = shelf.apply(act("move", here, OLD, data, to=to), disk=disk)
    assert (receipt.state, receipt.path, receipt.taken) == ("done", to, False)
    assert shelf.notes() == {to: data or OLD}
    assert shelf.files(disk).undo(None).refused == []
    assert shelf.notes() == {here: OLD}


@BLIND
@pytest.mark.rule("K-25", "K-22")
def test_a_disk_blind_to_case_still_counts_on_from_taken_names(shelf: Shelf, disk: Disk) -> None:
    shelf.put("b/N.md", OTHER)
    (receipt,) = shelf.apply(act("move", "a/n.md", OLD, to="b/n.md"), disk=disk)
    assert (receipt.path, receipt.taken) == ("b/n 2.md", True)
    assert shelf.apply(act("create", "b/n.md", None, NEW), disk=disk)[0].state == "changed"


@BLIND
@pytest.mark.rule("K-25", "K-21")
def test_new_bytes_under_a_new_spelling_are_taken_back_where_somebody_saved(
    shelf: Shelf, disk: FaultyDisk
) -> None:
    disk.before = all_of(
        disk.before or refuse(), act_at("open_file", lambda: shelf.put("a/N.md", TYPED), where=".tmp")
    )
    (receipt,) = shelf.apply(act("move", "a/n.md", OLD, NEW, to="a/N.md"), disk=disk)
    assert receipt.state == "changed"
    assert list(shelf.notes().values()) == [TYPED]
    assert shelf.open_batches() == []


@ON_EACH
@pytest.mark.rule("K-27")
@pytest.mark.parametrize("part", ["a", "a/n.md"])
def test_links_are_refused_on_any_disk(shelf: Shelf, disk: Disk, part: str) -> None:
    (shelf.root / part).rename(shelf.base / "outside")
    (shelf.root / part).symlink_to(shelf.base / "outside")
    with pytest.raises(LinkRefusedError):
        shelf.files(disk).read(NotePath("a/n.md"))
    assert shelf.apply(act("rewrite", "a/n.md", OLD, NEW), disk=disk)[0].state == "failed"


@ON_EACH
def test_folders_are_looked_into_on_any_disk(shelf: Shelf, disk: Disk) -> None:
    root = disk.open_root(str(shelf.root))
    folder = disk.open_folder(root, "a")
    assert disk.names(folder) == ["n.md"]
    assert disk.sizes(folder) == {"n.md": 4}
    disk.sync_folder(folder)
    for name, error in (("missing", FileNotFoundError), ("n.md", NotADirectoryError)):
        with pytest.raises(error):
            disk.open_folder(folder, name)
    for each in (folder, root):
        disk.close_folder(each)
    with pytest.raises(FileNotFoundError):
        disk.open_root(str(shelf.root / "missing"))


@pytest.mark.rule("K-20", "K-28")
def test_a_folder_that_cannot_be_flushed_is_no_failure_but_one_that_fails_is(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk()
    folder = disk.open_root(str(shelf.root))
    os.close(folder.handle or 0)
    with pytest.raises(OSError, match="Bad file descriptor"):
        disk.sync_folder(folder)

    def unknown(_handle: int) -> None:
        raise OSError(errno.EINVAL, "unknown")

    monkeypatch.setattr(os, "fsync", unknown)
    disk.sync_folder(folder)


@pytest.mark.rule("K-22", "K-21")
@pytest.mark.parametrize("data", [None, NEW], ids=["as it is", "with new bytes"])
def test_a_save_during_a_copied_move_stands_again(shelf: Shelf, data: bytes | None) -> None:
    action = act("move", "a/n.md", OLD, data, to="b/n.md")
    for call in ("mkdir", "rename_new", "link", "replace"):
        disk = FaultyDisk(act_at(call, lambda: shelf.put("a/n.md", TYPED)), platform="none")
        shelf.put("a/n.md", OLD)
        if call == "mkdir":
            disk.before = act_at("make_folder", lambda: shelf.put("a/n.md", TYPED))
        (receipt,) = shelf.apply(action, disk=disk)
        assert receipt.state == "changed", call
        assert shelf.notes() == {"a/n.md": TYPED}, call


@pytest.mark.rule("K-22", "K-21")
def test_a_copy_that_somebody_wrote_to_stays_beside_the_saved_note(shelf: Shelf) -> None:
    def both() -> None:
        shelf.put("a/n.md", TYPED)
        shelf.put("b/n.md", OTHER)

    disk = FaultyDisk(act_at("replace", both, where="n.md"), platform="none")
    (receipt,) = shelf.apply(act("move", "a/n.md", OLD, to="b/n.md"), disk=disk)
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": TYPED, "b/n.md": OTHER}


@pytest.mark.rule("K-22")
def test_a_name_taken_before_the_last_resort_is_left(shelf: Shelf) -> None:
    taken = act_at("link", lambda: shelf.put("b/n.md", TYPED))
    disk = FaultyDisk(all_of(taken, refuse("link")), platform="none")
    (receipt,) = shelf.apply(act("create", "b/n.md", None, NEW), disk=disk)
    assert receipt.state == "changed"
    assert shelf.notes() == {"a/n.md": OLD, "b/n.md": TYPED}


@pytest.mark.rule("K-20")
def test_attributes_that_the_system_keeps_for_itself_do_not_cost_the_others(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = shelf.root / "a/n.md"
    try:
        os.setxattr(file, "user.tag", b"red")
    except OSError:
        pytest.skip("no extended attributes here")
    real = os.listxattr
    monkeypatch.setattr(os, "listxattr", lambda fd: ["system.own", *real(fd)])
    monkeypatch.setattr(os, "fchown", lambda *_: 1 / 0)
    assert shelf.apply(act("rewrite", "a/n.md", OLD, NEW))[0].state == "done"
    assert os.getxattr(file, "user.tag") == b"red"


@pytest.mark.rule("K-20")
@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_of_a_note_stays(shelf: Shelf) -> None:
    os.chown(shelf.root / "a/n.md", 1234, 1235)
    assert shelf.apply(act("move", "a/n.md", OLD, NEW, to="b/n.md"))[0].state == "done"
    there = (shelf.root / "b/n.md").stat()
    assert (there.st_uid, there.st_gid, there.st_mode & 0o777) == (1234, 1235, 0o640)


@pytest.mark.rule("K-20")
def test_modes_and_times_are_set_by_name_where_there_is_no_other_way(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "fchmod")
    monkeypatch.setattr(os, "supports_follow_symlinks", set())
    assert (
        shelf.apply(act("move", "a/n.md", OLD, to="b/n.md"), disk=Disk(handles=False, platform="none"))[
            0
        ].state
        == "done"
    )
    there = (shelf.root / "b/n.md").stat()
    assert (there.st_mode & 0o777, there.st_mtime_ns) == (0o640, OLD_NS)
