"""The store as others use it: receipts, names, modes, times, links, history, undo (K-20 to K-28, K-50)."""

from __future__ import annotations

import errno
import logging
import os
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from tests.faults import FaultyDisk, fail_at, refuse
from tests.shelf import NOW, OLD_NS, Shelf, act
from vaultkeeper.core.action import Action, JournalLine, Op
from vaultkeeper.core.note import NotePath, Stat, digest_of
from vaultkeeper.store import prepare
from vaultkeeper.store.batch import Parts
from vaultkeeper.store.history import ImageLostError
from vaultkeeper.store.records import (
    HEADER,
    INTENTS,
    BatchInfo,
    DoneAction,
    Intents,
    frame,
    packed,
    record_frame,
)
from vaultkeeper.store.tree import LinkRefusedError, UnreadableError
from vaultkeeper.store.undo import NothingToUndoError

OLD, NEW, NEWER, OTHER = b"old\n", b"new\n", b"newer\n", b"other\n"
LINE = JournalLine(op="update", id="mem_1", reason="why", before="b", after="a")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path)
    shelf.put("a/n.md", OLD, 0o640)
    return shelf


def mtime(shelf: Shelf, path: str) -> int:
    return (shelf.root / path).stat().st_mtime_ns


# reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("K-27")
def test_a_file_is_read_with_its_stat(shelf: Shelf) -> None:
    snapshot = shelf.files().read(NotePath("a/n.md"))
    assert snapshot is not None
    assert (snapshot.path, snapshot.data, snapshot.digest) == ("a/n.md", OLD, digest_of(OLD))
    assert (snapshot.stat, snapshot.mode) == (Stat(4, OLD_NS), 0o640)
    assert shelf.files().stat(NotePath("a/n.md")) == Stat(4, OLD_NS)


def test_what_is_not_there_is_not_there(shelf: Shelf) -> None:
    files = shelf.files()
    for path in ("a/m.md", "b/n.md", "a/n.md/x.md"):
        assert files.read(NotePath(path)) is None
        assert files.stat(NotePath(path)) is None
        assert not files.exists(NotePath(path))
    assert files.stat(NotePath("a")) is None
    assert files.exists(NotePath("a"))
    assert files.exists(NotePath("a/n.md"))


@pytest.mark.rule("K-27")
@pytest.mark.parametrize(
    "path",
    ["../n.md", "/etc/passwd", "/n.md", "a/../a/n.md", "", "a//n.md", "a/./n.md", "a\0/n.md", "a/n\0.md"],
)
def test_a_path_that_could_lead_out_is_refused(shelf: Shelf, path: str) -> None:
    with pytest.raises(UnreadableError, match="no path inside the vault"):
        shelf.files().read(NotePath(path))
    assert shelf.files().exists(NotePath(path))
    assert shelf.files().stat(NotePath(path)) is None
    assert shelf.apply(act("create", path, None, NEW))[0].state == "failed"
    assert shelf.apply(act("move", "a/n.md", OLD, to=path))[0].state == "failed"
    assert shelf.notes() == {"a/n.md": OLD}


@pytest.mark.rule("K-38")
def test_a_vault_that_is_gone_is_no_vault_without_notes(shelf: Shelf) -> None:
    shelf.root.rename(shelf.base / "unmounted")
    files = shelf.files()
    for ask in (files.read, files.stat):
        with pytest.raises(UnreadableError, match="cannot be opened"):
            ask(NotePath("a/n.md"))
    assert files.exists(NotePath("a/n.md"))
    assert files.begin(cause="test").apply([act("create", "a/m.md", None, NEW)])[0].state == "failed"
    assert not shelf.root.exists()


@pytest.mark.rule("K-27")
@pytest.mark.parametrize("part", ["a", "a/n.md"])
def test_a_link_in_any_part_of_a_path_is_refused(shelf: Shelf, part: str) -> None:
    (shelf.root / part).rename(shelf.base / "outside")
    (shelf.root / part).symlink_to(shelf.base / "outside")
    with pytest.raises(LinkRefusedError) as caught:
        shelf.files().read(NotePath("a/n.md"))
    assert caught.value.target == str(shelf.base / "outside")
    assert shelf.files().stat(NotePath("a/n.md")) is None
    assert shelf.files().exists(NotePath("a/n.md"))
    for action in (
        act("rewrite", "a/n.md", OLD, NEW),
        act("move", "a/n.md", OLD, to="b/n.md"),
        act("trash", "a/n.md", OLD),
    ):
        receipt = shelf.apply(action)[0]
        assert receipt.state == "failed"
        assert "symbolic link" in receipt.reason
    outside = shelf.base / "outside"
    assert (outside / "n.md" if outside.is_dir() else outside).read_bytes() == OLD


@pytest.mark.rule("K-28")
def test_a_pipe_and_a_folder_are_no_notes(shelf: Shelf) -> None:
    os.mkfifo(shelf.root / "pipe.md")
    for path in ("pipe.md", "a"):
        with pytest.raises(UnreadableError, match=r"no regular file|Is a directory"):
            shelf.files().read(NotePath(path))


@pytest.mark.rule("K-28")
def test_a_note_that_may_not_be_read_says_why(shelf: Shelf) -> None:
    for code in (errno.EACCES, errno.EIO):
        disk = FaultyDisk(refuse("open_file", code=code))
        with pytest.raises(UnreadableError) as caught:
            shelf.files(disk).read(NotePath("a/n.md"))
        assert caught.value.reason == os.strerror(code)


@pytest.mark.rule("K-28")
def test_a_note_that_never_rests_is_read_later(shelf: Shelf) -> None:
    file = shelf.root / "a/n.md"

    def grow(_number: int, name: str, _args: object) -> None:
        if name == "seek":
            file.write_bytes(file.read_bytes() + b"more\n")

    with pytest.raises(UnreadableError, match="changes while it is read"):
        shelf.files(FaultyDisk(grow)).read(NotePath("a/n.md"))


# what becomes of files ---------------------------------------------------------------------------------------------


@pytest.mark.rule("K-20")
def test_a_rewrite_keeps_mode_bits_and_tells_size_and_time(shelf: Shelf) -> None:
    (receipt,) = shelf.apply(act("rewrite", "a/n.md", OLD, NEWER))
    assert (receipt.state, receipt.path, receipt.digest, receipt.reason) == (
        "done",
        "a/n.md",
        digest_of(NEWER),
        "",
    )
    there = (shelf.root / "a/n.md").stat()
    assert receipt.stat == Stat(len(NEWER), there.st_mtime_ns)
    assert there.st_mode & 0o777 == 0o640
    assert there.st_mtime_ns > OLD_NS
    assert shelf.notes() == {"a/n.md": NEWER}


@pytest.mark.rule("K-20")
@pytest.mark.parametrize("platform", ["linux", "none"])
@pytest.mark.parametrize("to", [None, "b/n.md"])
def test_extended_attributes_survive_new_bytes(shelf: Shelf, platform: str, to: str | None) -> None:
    try:
        os.setxattr(shelf.root / "a/n.md", "user.tag", b"red")
    except OSError:
        pytest.skip("no extended attributes here")
    op: Op = "move" if to else "rewrite"
    (receipt,) = shelf.apply(act(op, "a/n.md", OLD, NEW, to=to), disk=FaultyDisk(platform=platform))
    assert receipt.state == "done"
    assert os.getxattr(shelf.root / (to or "a/n.md"), "user.tag") == b"red"


@pytest.mark.rule("K-20", "K-23")
def test_bytes_are_on_disk_before_they_take_a_name_and_intents_before_anything(shelf: Shelf) -> None:
    asked: list[tuple[str, str]] = []
    disk = FaultyDisk(lambda _n, name, args: asked.append((name, repr(args))))
    shelf.apply(act("rewrite", "a/n.md", OLD, NEW), act("move", "a/n.md", NEW, NEWER, to="b/n.md"), disk=disk)
    names = [name for name, _ in asked]
    first_write = next(n for n, (name, said) in enumerate(asked) if name == "open_file" and ".tmp" in said)
    assert "sync_file" in names[:first_write], "the intents are not on disk"
    for taking, nth in (("exchange", 1), ("rename_new", 1)):
        at = [n for n, name in enumerate(names) if name == taking][nth - 1]
        opened = max(
            n
            for n, (name, said) in enumerate(asked[:at])
            if name == "open_file" and ".tmp" in said and "194" in said
        )
        assert "sync_file" in names[opened:at], f"not flushed before {taking}"
    for gone in (n for n, (name, said) in enumerate(asked) if name == "unlink" and ".tmp" in said):
        assert "sync_folder" in names[:gone]


@pytest.mark.rule("K-22")
def test_a_move_that_changes_no_byte_keeps_the_time_and_the_file_itself(shelf: Shelf) -> None:
    number = (shelf.root / "a/n.md").stat().st_ino
    (receipt,) = shelf.apply(act("move", "a/n.md", OLD, to="new/deep/n.md"))
    assert (receipt.state, receipt.path, receipt.stat, receipt.taken) == (
        "done",
        "new/deep/n.md",
        Stat(4, OLD_NS),
        False,
    )
    there = (shelf.root / "new/deep/n.md").stat()
    assert (there.st_ino, there.st_mode & 0o777, there.st_mtime_ns) == (number, 0o640, OLD_NS)
    assert (shelf.root / "a").is_dir(), "the folder that it left stays"


@pytest.mark.rule("K-22")
def test_a_move_with_new_bytes_keeps_the_mode_and_takes_the_time_of_now(shelf: Shelf) -> None:
    (receipt,) = shelf.apply(act("move", "a/n.md", OLD, NEW, to="b/n.md"))
    assert receipt.state == "done"
    assert shelf.notes() == {"b/n.md": NEW}
    assert (shelf.root / "b/n.md").stat().st_mode & 0o777 == 0o640
    assert mtime(shelf, "b/n.md") > OLD_NS


@pytest.mark.rule("K-8", "K-50")
def test_a_trashed_file_is_in_the_history(shelf: Shelf) -> None:
    (receipt,) = shelf.apply(act("trash", "a/n.md", OLD))
    assert (receipt.state, receipt.path, receipt.digest, receipt.stat) == ("done", "a/n.md", None, None)
    assert shelf.notes() == {}
    assert shelf.files().before_image(digest_of(OLD)) == OLD


@pytest.mark.rule("K-22", "K-25")
def test_taken_names_get_the_next_free_number(shelf: Shelf) -> None:
    for name in ("N.md", "n 2.md", "n 4.md"):
        shelf.put(f"b/{name}", OTHER)
    (receipt,) = shelf.apply(act("move", "a/n.md", OLD, to="b/n.md"))
    assert (receipt.state, receipt.path, receipt.taken) == ("done", "b/n 3.md", True)
    assert shelf.notes()["b/N.md"] == OTHER


@pytest.mark.rule("K-22", "K-25")
def test_two_files_of_one_batch_never_get_the_same_name(shelf: Shelf) -> None:
    shelf.put("a/m.md", OTHER)
    receipts = shelf.apply(
        act("move", "a/n.md", OLD, to="b/É.md"),
        act("move", "a/m.md", OTHER, to="b/e\u0301.md"),
        act("create", "b/É.md", None, NEW),
    )
    assert [receipt.state for receipt in receipts] == ["done", "done", "changed"]
    assert [receipt.path for receipt in receipts][:2] == ["b/É.md", "b/e\u0301 2.md"]


@pytest.mark.rule("K-25", "K-39")
@pytest.mark.parametrize("data", [None, NEW])
def test_a_rename_by_case_only_is_a_rename(shelf: Shelf, data: bytes | None) -> None:
    (receipt,) = shelf.apply(act("move", "a/n.md", OLD, data, to="a/N.md"))
    assert (receipt.state, receipt.path, receipt.taken) == ("done", "a/N.md", False)
    assert shelf.notes() == {"a/N.md": data or OLD}
    assert shelf.files().undo(None).refused == []
    assert shelf.notes() == {"a/n.md": OLD}
    assert mtime(shelf, "a/n.md") == OLD_NS


@pytest.mark.rule("K-25", "K-22")
@pytest.mark.parametrize("data", [None, NEW])
def test_another_file_with_the_name_in_other_case_is_not_written_over(
    shelf: Shelf, data: bytes | None
) -> None:
    shelf.put("a/N.md", OTHER)
    (receipt,) = shelf.apply(act("move", "a/n.md", OLD, data, to="a/N.md"))
    assert (receipt.state, receipt.path, receipt.taken) == ("done", "a/N 2.md", True)
    assert shelf.notes() == {"a/N.md": OTHER, "a/N 2.md": data or OLD}


@pytest.mark.rule("K-25")
@pytest.mark.parametrize("data", [None, NEW])
def test_a_folder_renamed_by_case_takes_the_note_along(shelf: Shelf, data: bytes | None) -> None:
    (receipt,) = shelf.apply(act("move", "a/n.md", OLD, data, to="A/n.md"))
    assert receipt.state == "done"
    assert shelf.notes() == {"A/n.md": data or OLD}


@pytest.mark.rule("K-21")
@pytest.mark.parametrize(
    "action",
    [
        act("create", "a/n.md", None, NEW),
        act("page", "a/n.md", None, NEW),
        act("page", "a/n.md", NEW, NEWER),
        act("page", "gone.md", NEW, NEWER),
        act("trash", "gone.md", NEW),
        act("trash", "a/n.md", None),
    ],
    ids=repr,
)
def test_an_action_that_expects_something_else_is_dropped(shelf: Shelf, action: Action) -> None:
    assert shelf.apply(action)[0].state == "changed"
    assert shelf.notes() == {"a/n.md": OLD}
    assert shelf.closed_batches() == []


@pytest.mark.rule("K-28")
def test_a_read_only_file_is_not_written_but_may_move(shelf: Shelf) -> None:
    (shelf.root / "a/n.md").chmod(0o440)
    (receipt,) = shelf.apply(act("rewrite", "a/n.md", OLD, NEW))
    assert (receipt.state, receipt.reason) == ("failed", "it is read-only")
    assert shelf.notes() == {"a/n.md": OLD}
    assert shelf.apply(act("move", "a/n.md", OLD, to="b/n.md"))[0].state == "done"
    assert (shelf.root / "b/n.md").stat().st_mode & 0o777 == 0o440


@pytest.mark.rule("K-28")
def test_one_action_that_fails_does_not_stop_the_others(shelf: Shelf) -> None:
    shelf.put("file", OTHER)
    shelf.put("a/m.md", OTHER)
    receipts = shelf.apply(
        act("move", "a/n.md", OLD, to="file/n.md"),
        act("rewrite", "a/m.md", OLD, NEW),
        act("rewrite", "a/m.md", OTHER, NEW),
    )
    assert [receipt.state for receipt in receipts] == ["failed", "changed", "done"]
    assert receipts[0].reason == os.strerror(errno.ENOTDIR)
    assert shelf.notes() == {"file": OTHER, "a/n.md": OLD, "a/m.md": NEW}


@pytest.mark.rule("K-28")
def test_names_that_are_no_unicode_are_refused_with_a_reason(shelf: Shelf) -> None:
    strange = os.fsdecode(b"a/\xff.md")
    shelf.put(strange, OTHER)
    half = "a/\ud800.md"
    receipts = shelf.apply(
        act("rewrite", strange, OTHER, NEW),
        act("move", strange, OTHER, to="b/fine.md"),
        act("move", "a/n.md", OLD, to=strange),
        act("create", half, None, NEW),
        act("move", "a/n.md", OLD, to=half),
    )
    assert {receipt.state for receipt in receipts} == {"failed"}
    assert {receipt.reason for receipt in receipts[:3]} == {"its name is not valid Unicode; rename it"}
    assert shelf.notes() == {"a/n.md": OLD, strange: OTHER}
    assert shelf.files().read(NotePath(strange)) is not None
    with pytest.raises(UnreadableError):
        shelf.files().read(NotePath(half))
    assert shelf.files().stat(NotePath(half)) is None
    assert shelf.files().exists(NotePath(half))


def test_derived_files_are_replaced_without_history(shelf: Shelf) -> None:
    files = shelf.files()
    files.write_derived(NotePath(".private/index.json"), b"1")
    files.write_derived(NotePath(".private/index.json"), b"2")
    assert shelf.notes()[".private/index.json"] == b"2"
    assert not shelf.state.exists()


def test_the_audit_begins_anew_when_it_is_long(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    files = shelf.files()
    files.append_audit("ä")
    monkeypatch.setattr("vaultkeeper.store.vault._AUDIT_BYTES", 2)
    files.append_audit("b")
    assert (shelf.state / "audit.jsonl").read_text() == "b\n"
    assert (shelf.state / "audit.old.jsonl").read_text() == "ä\n"


# batches and the journal -------------------------------------------------------------------------------------------


@pytest.mark.rule("LT-53", "K-50")
def test_lines_say_what_was_done_with_the_place_it_really_got(shelf: Shelf) -> None:
    shelf.put("b/n.md", OTHER)
    moved = JournalLine(op="update", id="mem_1", reason="moved", from_path="a/n.md", to_path="b/n.md")
    other = JournalLine(op="update", id="mem_2", reason="x", from_path="q.md", to_path="r.md", source="mcp")
    batch = shelf.files().begin(cause="test", source="cli")
    batch.apply([act("move", "a/n.md", OLD, to="b/n.md", lines=[moved, other])])
    batch.record([LINE])
    batch.finish()
    at = "2026-12-01T05:50:01.000Z"
    base = {"at": at, "op": "update", "before": "", "after": ""}
    assert shelf.lines == [
        {**base, "id": "mem_1", "reason": "moved", "source": "cli", "from": "a/n.md", "to": "b/n 2.md"},
        {**base, "id": "mem_2", "reason": "x", "source": "mcp", "from": "q.md", "to": "r.md"},
        {**base, "id": "mem_1", "reason": "why", "before": "b", "after": "a", "source": "cli"},
    ]


@pytest.mark.rule("K-50")
def test_a_batch_that_only_records_leaves_no_trace_in_the_history(shelf: Shelf) -> None:
    batch = shelf.files().begin(cause="test")
    batch.record([LINE])
    batch.finish()
    assert [line["id"] for line in shelf.lines] == ["mem_1"]
    assert not shelf.state.exists()
    assert shelf.files().batches(5) == []
    shelf.files().begin(cause="test").finish()
    assert len(shelf.lines) == 1


@pytest.mark.rule("LT-53")
def test_text_with_half_a_surrogate_pair_is_written_down_all_the_same(shelf: Shelf) -> None:
    line = JournalLine(op="update", id="mem_1", reason="title \ud83d", before="\udc00", after="x")
    receipts = shelf.apply(act("rewrite", "a/n.md", OLD, NEW, lines=[line], reason="from \ud83d to x"))
    assert receipts[0].state == "done"
    assert (shelf.lines[0]["reason"], shelf.lines[0]["before"]) == ("title ?", "?")
    assert shelf.files().actions_on(NotePath("a/n.md"))[0].reason == "from ? to x"


@pytest.mark.rule("LT-53", "K-28")
def test_a_journal_that_cannot_be_written_gets_its_lines_later(shelf: Shelf) -> None:
    files, write = shelf.files(), shelf.write
    broken = True

    def refusing(entries: object, only_if_missing: bool) -> None:
        if broken:
            raise OSError(errno.ENOSPC, "full")
        write(entries, only_if_missing)  # type: ignore[arg-type]

    files._parts = Parts(  # the journal is given when the store is built
        files._parts.tree, files._parts.history, files._parts.steps, refusing, files._parts.clock
    )
    batch = files.begin(cause="test")
    assert batch.apply([act("rewrite", "a/n.md", OLD, NEW, lines=[LINE])])[0].state == "done"
    batch.finish()
    assert files.has_open_batch()
    broken = False
    batch = files.begin(cause="test")
    assert [line["id"] for line in shelf.lines] == ["mem_1"]
    assert not files.has_open_batch()
    batch.finish()
    assert len(files.batches(5)) == 1


@pytest.mark.rule("K-34", "K-50")
def test_long_batches_are_written_down_in_groups(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "_GROUP_ACTIONS", 3)
    actions = [act("create", f"c/{n}.md", None, b"%d" % n) for n in range(8)]
    disk = FaultyDisk(sync=False)
    assert {receipt.state for receipt in shelf.apply(*actions, disk=disk)} == {"done"}
    assert disk.calls.count("sync_file") == 8 + 3 + 1, "one for each file, group and record"
    monkeypatch.setattr(prepare, "_GROUP_BYTES", 1)
    shelf.apply(*(act("trash", f"c/{n}.md", b"%d" % n) for n in range(3)))
    (info,) = shelf.files().batches(1)
    assert len(info.actions) == 3
    assert shelf.files().undo(None).refused == []
    assert len(shelf.notes()) == 9


@pytest.mark.rule("K-50")
def test_actions_on_the_same_file_follow_one_another_in_one_apply(shelf: Shelf) -> None:
    receipts = shelf.apply(
        act("rewrite", "a/n.md", OLD, NEW),
        act("move", "a/n.md", NEW, to="b/n.md"),
        act("rewrite", "b/n.md", NEW, NEWER),
        act("trash", "b/n.md", NEWER),
        act("create", "b/n.md", None, OTHER),
    )
    assert {receipt.state for receipt in receipts} == {"done"}
    assert shelf.notes() == {"b/n.md": OTHER}
    assert shelf.files().undo(None).refused == []
    assert shelf.notes() == {"a/n.md": OLD}
    assert mtime(shelf, "a/n.md") == OLD_NS


@pytest.mark.rule("K-50", "K-28")
def test_nothing_is_touched_when_the_history_cannot_be_written(shelf: Shelf) -> None:
    shelf.state.write_bytes(b"a file")
    (receipt,) = shelf.apply(act("rewrite", "a/n.md", OLD, NEW))
    assert receipt.state == "failed"
    assert receipt.reason.startswith("the history cannot be written: ")
    assert shelf.notes() == {"a/n.md": OLD}


@pytest.mark.rule("K-50", "K-28")
def test_a_full_disk_under_the_history_is_only_a_failed_action(shelf: Shelf) -> None:
    files = shelf.files(disk := FaultyDisk(refuse("write", code=errno.ENOSPC)))
    batch = files.begin(cause="test")
    assert batch.apply([act("rewrite", "a/n.md", OLD, NEW)])[0].state == "failed"
    disk.before = None
    assert batch.apply([act("rewrite", "a/n.md", OLD, NEW)])[0].state == "done"
    batch.finish()
    assert shelf.files().undo(None).refused == []
    assert shelf.notes() == {"a/n.md": OLD}
    assert disk.left_open() == 0


@pytest.mark.rule("K-50", "K-28")
def test_a_batch_whose_history_failed_leaves_no_open_batch(shelf: Shelf) -> None:
    disk = FaultyDisk(refuse("sync_file", code=errno.EIO))
    assert shelf.apply(act("rewrite", "a/n.md", OLD, NEW), disk=disk)[0].state == "failed"
    assert shelf.open_batches() == []
    assert disk.left_open() == 0


@pytest.mark.rule("K-50")
def test_a_record_is_found_though_a_longer_write_before_it_was_torn(shelf: Shelf) -> None:
    """Where the torn end could not be cut off at once, it is before the next write, else nobody would find the record."""
    disk = FaultyDisk(sync=False)
    files = shelf.files(disk)
    batch = files.begin(cause="test")
    assert batch.apply([act("rewrite", "a/n.md", OLD, NEW)])[0].state == "done"
    shelf.put("a/big.md", bytes(100_000))
    disk.before = refuse("sync_file", "truncate", code=errno.EIO)
    assert batch.apply([act("rewrite", "a/big.md", bytes(100_000), NEW)])[0].state == "failed"
    disk.before = None
    batch.finish()
    assert [len(info.actions) for info in shelf.files().batches(5)] == [1]


@pytest.mark.rule("K-50")
def test_ids_are_sorted_by_time_even_when_the_clock_is_set_back(shelf: Shelf) -> None:
    ids = []
    for n in range(4):
        shelf.now = NOW - timedelta(days=n)
        files = shelf.files()
        batch = files.begin(cause=str(n))
        batch.apply([act("create", f"c/{n}.md", None, NEW)])
        ids.append(batch.id)
        batch.finish()
        assert files.begin(cause="later").id > ids[-1]
    assert ids == sorted(ids)
    assert [info.cause for info in shelf.files().batches(3)] == ["3", "2", "1"]
    assert shelf.files().undoable(None).cause == "3"


@pytest.mark.rule("K-50")
def test_an_id_at_the_end_of_a_minute_still_sorts_behind(shelf: Shelf) -> None:
    done = shelf.state / "history" / "done"
    done.mkdir(parents=True)
    (done / "20271231T235959999-ffffff.batch").write_bytes(b"")
    (done / "zzz.batch").write_bytes(b"somebody's")
    first = shelf.files().begin(cause="test").id
    assert first > "20271231T235959999-ffffff"
    assert len(first) == len("20271231T235959999-ffffff")


# undo --------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("K-50")
def test_undo_restores_bytes_place_mode_and_time(shelf: Shelf) -> None:
    shelf.put("a/t.md", OTHER, 0o600)
    shelf.put("a/c.md", NEWER, 0o604)
    batch = shelf.files().begin(cause="tidy")
    batch.apply([act("rewrite", "a/n.md", OLD, NEW, lines=[LINE]), act("trash", "a/t.md", OTHER)])
    batch.apply([act("create", "b/new.md", None, NEW), act("move", "a/c.md", NEWER, to="b/c.md")])
    batch.finish()
    result = shelf.files().undo(None)
    assert (result.undone, result.refused, result.pages_behind) == (batch.id, [], False)
    assert {receipt.state for receipt in result.receipts} == {"done"}
    assert shelf.notes() == {"a/n.md": OLD, "a/t.md": OTHER, "a/c.md": NEWER}
    for path, mode in (("a/n.md", 0o640), ("a/t.md", 0o600), ("a/c.md", 0o604)):
        there = (shelf.root / path).stat()
        assert (there.st_mode & 0o777, there.st_mtime_ns) == (mode, OLD_NS)
    assert shelf.lines[-1] | {"at": ""} == {
        "at": "",
        "op": "update",
        "id": "mem_1",
        "reason": "undo",
        "before": "a",
        "after": "b",
        "source": "vaultkeeper",
    }
    (undo, _) = shelf.files().batches(2)
    assert (undo.id, undo.cause, undo.undoes, undo.takes_back) == (result.batch, "undo", batch.id, True)


@pytest.mark.rule("K-50", "LT-53")
def test_an_undone_move_says_so_in_the_journal(shelf: Shelf) -> None:
    line = JournalLine(op="create", id="mem_1", reason="r", from_path="a/n.md", to_path="b/n.md")
    shelf.apply(act("move", "a/n.md", OLD, to="b/n.md", lines=[line]))
    shelf.put("a/N.md", OTHER)
    result = shelf.files().undo(None)
    assert result.receipts[0].path == "a/n 2.md"
    assert result.receipts[0].taken
    last = shelf.lines[-1]
    assert (last["op"], last["from"], last["to"]) == ("delete", "b/n.md", "a/n 2.md")


@pytest.mark.rule("K-50")
def test_repeated_undo_walks_back_and_redo_goes_by_id(shelf: Shelf) -> None:
    for before, after in ((OLD, NEW), (NEW, NEWER), (NEWER, OTHER)):
        shelf.apply(act("rewrite", "a/n.md", before, after))
    files = shelf.files()
    first = files.undo(None)
    assert shelf.notes() == {"a/n.md": NEWER}
    second = files.undo(None)
    assert shelf.notes() == {"a/n.md": NEW}
    redo = files.undo(second.batch)
    assert shelf.notes() == {"a/n.md": NEWER}
    assert not files.batches(1)[0].takes_back
    assert files.undo(redo.batch).refused == []
    assert shelf.notes() == {"a/n.md": NEW}
    files.undo(None)
    assert shelf.notes() == {"a/n.md": OLD}
    with pytest.raises(NothingToUndoError, match="there is nothing to undo"):
        files.undo(None)
    assert first.batch != second.batch


@pytest.mark.rule("K-50")
def test_a_redone_batch_can_be_undone_again(shelf: Shelf) -> None:
    shelf.apply(act("rewrite", "a/n.md", OLD, NEW))
    files = shelf.files()
    files.undo(files.undo(None).batch)
    assert shelf.notes() == {"a/n.md": NEW}
    files.undo(None)
    assert shelf.notes() == {"a/n.md": OLD}


@pytest.mark.rule("K-50")
@pytest.mark.parametrize("batch", ["20260101T000000000-000000", "../x", "a\0b", "\ud800", "x" * 300])
def test_an_unknown_batch_cannot_be_undone(shelf: Shelf, batch: str) -> None:
    with pytest.raises(NothingToUndoError, match="no batch"):
        shelf.files().undo(batch)


@pytest.mark.rule("K-50")
def test_a_file_that_changed_since_is_refused_with_the_difference_and_the_rest_goes_back(
    shelf: Shelf,
) -> None:
    shelf.put("a/m.md", OTHER)
    shelf.apply(act("rewrite", "a/n.md", OLD, NEW), act("move", "a/m.md", OTHER, to="b/m.md"))
    shelf.put("a/n.md", NEW + b"mine\n")
    result = shelf.files().undo(None)
    ((path, difference),) = result.refused
    assert path == "a/n.md"
    assert difference.splitlines()[0] == "--- a/n.md (now)"
    assert {"-new", "-mine", "+old"} <= set(difference.splitlines())
    assert shelf.notes() == {"a/n.md": NEW + b"mine\n", "a/m.md": OTHER}


@pytest.mark.rule("K-50")
def test_a_file_that_is_gone_or_cannot_be_read_is_refused_in_words(shelf: Shelf) -> None:
    for name in "xyz":
        shelf.put(f"a/{name}.md", OTHER)
    shelf.apply(
        act("rewrite", "a/x.md", OTHER, NEW),
        act("create", "a/new.md", None, NEW),
        act("rewrite", "a/y.md", OTHER, NEW),
        act("trash", "a/z.md", OTHER),
    )
    (shelf.root / "a/x.md").unlink()
    shelf.put("a/new.md", OLD)
    (shelf.root / "a/y.md").unlink()
    (shelf.root / "a/y.md").symlink_to("n.md")
    shelf.put("a/z.md", NEW)
    result = shelf.files().undo(None)
    said = dict(result.refused)
    assert said[NotePath("a/x.md")] == "a/x.md is not there any more\n"
    assert "symbolic link" in said[NotePath("a/y.md")]
    assert "-old" in said[NotePath("a/new.md")]
    assert "+other" in said[NotePath("a/z.md")]
    assert (result.batch, result.receipts) == ("", [])
    assert len(shelf.files().batches(9)) == 1, "an undo that did nothing leaves no trace"


@pytest.mark.rule("K-50")
def test_a_file_written_to_during_undo_is_refused(shelf: Shelf) -> None:
    shelf.apply(act("rewrite", "a/n.md", OLD, NEW))

    def save(_number: int, name: str, _args: object) -> None:
        if name == "exchange" and (shelf.root / "a/n.md").read_bytes() == NEW:
            shelf.put("a/n.md", OTHER)

    result = shelf.files(FaultyDisk(save)).undo(None)
    assert result.refused == [("a/n.md", "a/n.md: somebody is writing to it\n")]
    assert shelf.notes() == {"a/n.md": OTHER}


@pytest.mark.rule("K-50")
def test_pages_that_changed_since_are_passed_over(shelf: Shelf) -> None:
    shelf.put("Index/p.md", OTHER)
    shelf.apply(
        act("page", "Index/p.md", OTHER, NEW),
        act("rewrite", "a/n.md", OLD, NEW),
        act("page", "Index/q.md", None, NEW),
    )
    shelf.put("Index/p.md", NEWER)
    result = shelf.files().undo(None)
    assert (result.refused, result.pages_behind) == ([], True)
    assert shelf.notes() == {"a/n.md": OLD, "Index/p.md": NEWER}


@pytest.mark.rule("K-50")
def test_an_undo_with_nothing_but_changed_pages_says_so(shelf: Shelf) -> None:
    shelf.put("Index/p.md", OTHER)
    shelf.apply(act("page", "Index/p.md", OTHER, NEW))
    shelf.put("Index/p.md", NEWER)
    result = shelf.files().undo(None)
    assert [path for path, _ in result.refused] == ["Index/p.md"]


@pytest.mark.rule("K-50")
def test_what_stands_as_before_already_is_not_refused(shelf: Shelf) -> None:
    shelf.put("a/m.md", OTHER)
    shelf.apply(
        act("rewrite", "a/n.md", OLD, NEW),
        act("move", "a/m.md", OTHER, to="b/m.md"),
        act("create", "c.md", None, NEW),
    )
    shelf.put("a/n.md", OLD)
    (shelf.root / "b/m.md").rename(shelf.root / "a/m.md")
    (shelf.root / "c.md").unlink()
    result = shelf.files().undo(None)
    assert (result.batch, result.refused, result.receipts) == ("", [], [])


@pytest.mark.rule("K-50")
def test_what_was_taken_back_is_held_until_it_changes_or_is_redone(shelf: Shelf) -> None:
    rewrite, move = act("rewrite", "a/n.md", OLD, NEW), act("move", "a/m.md", OTHER, to="b/m.md")
    page, create = act("page", "Index/p.md", OLD, NEW), act("page", "Index/q.md", None, NEW)
    shelf.put("a/m.md", OTHER)
    shelf.put("Index/p.md", OLD)
    shelf.apply(rewrite, move, page, create)
    assert not shelf.files().held.holds(rewrite)
    undo = shelf.files().undo(None)
    held = shelf.files().held
    assert all(held.holds(action) for action in (rewrite, move, page, create))
    assert held.holds(act("rewrite", "a/n.md", OLD, NEWER)), "whatever would be done to that note"
    assert not held.holds(act("rewrite", "a/n.md", NEWER, NEW)), "it changed"
    assert not held.holds(act("page", "Index/p.md", OLD, NEWER)), "a page may get other bytes"
    assert held.holds(act("trash", "Index/p.md", OLD))
    held.forget("a/n.md")
    assert not shelf.files().held.holds(rewrite)
    shelf.files().undo(undo.batch)
    assert not shelf.files().held.holds(move)


@pytest.mark.rule("K-50", "K-28")
@pytest.mark.parametrize("damage", [b"{", b"\xff", b'{"a": 5}', None], ids=repr)
def test_a_damaged_held_list_counts_as_empty(
    shelf: Shelf, damage: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    rewrite = act("rewrite", "a/n.md", OLD, NEW)
    shelf.apply(rewrite)
    shelf.files().undo(None)
    file = shelf.state / "held.json"
    file.unlink()
    if damage is None:
        file.mkdir()
    else:
        file.write_bytes(damage)
    held = shelf.files().held
    assert not held.holds(rewrite)
    assert "may be done again" in caplog.text
    held.forget("nothing that it knows")


@pytest.mark.rule("K-50", "K-28")
def test_a_held_list_that_cannot_be_written_counts_in_this_process(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    rewrite = act("rewrite", "a/n.md", OLD, NEW)
    shelf.apply(rewrite)
    (shelf.state / "held.json").mkdir()
    files = shelf.files()
    assert files.undo(None).refused == []
    assert "what was taken back could not be noted down" in caplog.text
    assert files.held.holds(rewrite)
    files.held.forget("a/n.md")
    assert not files.held.holds(rewrite)
    assert shelf.notes() == {"a/n.md": OLD}


def test_of_very_many_held_places_the_oldest_are_forgotten(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vaultkeeper.store.held._LIMIT", 2)
    for name in "xyz":
        shelf.apply(act("create", f"{name}.md", None, NEW))
        shelf.files().undo(None)
    held = shelf.files().held
    assert [held.holds(act("create", f"{name}.md", None, NEW)) for name in "xyz"] == [False, True, True]


# history -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("K-52")
def test_actions_on_a_note_are_found_where_it_stood_before_too(shelf: Shelf) -> None:
    shelf.put("z.md", OTHER)
    shelf.apply(act("rewrite", "a/n.md", OLD, NEW, reason="first"), act("rewrite", "z.md", OTHER, NEW))
    shelf.apply(act("move", "a/n.md", NEW, to="b/n.md", reason="second"))
    shelf.apply(act("rewrite", "b/n.md", NEW, NEWER, reason="third"))
    past = shelf.files().actions_on(NotePath("b/n.md"))
    assert [(each.reason, each.op, each.path, each.to) for each in past] == [
        ("first", "rewrite", "a/n.md", None),
        ("second", "move", "a/n.md", "b/n.md"),
        ("third", "rewrite", "b/n.md", None),
    ]
    assert (past[0].before, past[0].after, past[0].rule) == (digest_of(OLD), digest_of(NEW), "LT-10")
    assert past[0].batch == shelf.files().batches(3)[-1].id
    assert past[0].at == "2026-12-01T05:50:01.000Z"


@pytest.mark.rule("K-52")
def test_only_the_latest_actions_are_told(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vaultkeeper.store.vault._PAST_ACTIONS", 2)
    datas = [OLD, NEW, NEWER, OTHER]
    for before, after in pairwise(datas):
        shelf.apply(act("rewrite", "a/n.md", before, after))
    assert [each.after for each in shelf.files().actions_on(NotePath("a/n.md"))] == [
        digest_of(NEWER),
        digest_of(OTHER),
    ]


@pytest.mark.rule("K-50")
def test_old_batches_go_and_then_the_largest_history_fits(shelf: Shelf) -> None:
    for n in range(4):
        shelf.now = NOW + timedelta(days=n)
        shelf.apply(act("create", f"c/{n}.md", None, NEW))
    size = shelf.closed_batches()[0].stat().st_size
    shelf.now = NOW + timedelta(days=4)
    files = shelf.files(keep_days=3)
    files.clean_up(NotePath(".private"))
    assert len(files.batches(9)) == 3
    shelf.files(keep_days=3, keep_bytes=2 * size + 10).clean_up(NotePath(".private"))
    assert [info.actions[0].path for info in files.batches(9)] == ["c/3.md", "c/2.md"]
    assert len(files.batches(1)) == 1
    with pytest.raises(NothingToUndoError):
        files.undo("20261201T055001000-000000")


@pytest.mark.rule("K-50", "K-23")
def test_an_open_batch_is_never_pruned(shelf: Shelf) -> None:
    batch = shelf.files().begin(cause="test")
    batch.apply([act("rewrite", "a/n.md", OLD, NEW)])
    shelf.now += timedelta(days=99)
    shelf.files(keep_days=1, keep_bytes=1).clean_up(NotePath(".private"))
    assert len(shelf.open_batches()) == 1
    batch.finish()


def test_cleaning_up_takes_old_private_names_away_and_leaves_young_ones(shelf: Shelf) -> None:
    old, young = ".private/.vaultkeeper-0123456789abcdef.tmp", ".private/.vaultkeeper-young.tmp"
    shelf.put(old, b"")
    shelf.put(young, b"")
    os.utime(shelf.root / young, (NOW.timestamp(), NOW.timestamp()))
    shelf.put(".private/.other.tmp", b"")
    shelf.files().clean_up(NotePath(".private"))
    assert set(shelf.notes()) == {"a/n.md", young, ".private/.other.tmp"}


@pytest.mark.rule("K-28")
def test_cleaning_up_that_is_refused_is_only_logged(shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    shelf.apply(act("rewrite", "a/n.md", OLD, NEW))
    shelf.files(FaultyDisk(refuse("sizes", code=errno.EIO))).clean_up(NotePath(".private"))
    assert "old files could not be removed" in caplog.text


@pytest.mark.rule("K-50", "K-28")
def test_a_damaged_record_is_passed_over_and_bytes_that_rotted_are_never_restored(shelf: Shelf) -> None:
    shelf.apply(act("rewrite", "a/n.md", OLD, NEW))
    shelf.apply(act("rewrite", "a/n.md", NEW, NEWER))
    shelf.apply(act("rewrite", "a/n.md", NEWER, OTHER))
    one, two, three = shelf.closed_batches()
    one.write_bytes(one.read_bytes().replace(OLD, b"rot\n"))
    two.write_bytes(b"short")
    three.write_bytes(three.read_bytes()[:-12] + b"\xff" * 7 + b"\x00vk1\n")
    files = shelf.files()
    assert [info.id + ".batch" for info in files.batches(9)] == [one.name]
    shelf.put("a/n.md", NEW)
    ((path, said),) = files.undo(None).refused
    assert path == "a/n.md"
    assert "no longer holds" in said
    assert shelf.notes() == {"a/n.md": NEW}
    with pytest.raises(ImageLostError):
        files.before_image(digest_of(OLD))
    with pytest.raises(ImageLostError):
        files.before_image(digest_of(b"never there"))


@pytest.mark.rule("K-50", "K-28")
def test_a_record_of_another_version_or_one_that_cannot_be_opened_is_passed_over(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    shelf.apply(act("rewrite", "a/n.md", OLD, NEW))
    (file,) = shelf.closed_batches()
    good = file.read_bytes()
    file.write_bytes(good + record_frame({"of": "another"}, len(good)))  # type: ignore[arg-type]
    assert shelf.files().batches(9) == []
    assert "cannot be read" in caplog.text
    file.write_bytes(good[:-20] + bytes(8) + good[-12:])
    assert shelf.files().batches(9) == []
    file.write_bytes(good)
    assert shelf.files(FaultyDisk(refuse("open_file", code=errno.EACCES))).batches(9) == []
    assert len(shelf.files().batches(9)) == 1
    file.unlink()
    file.symlink_to(shelf.root / "a/n.md")
    assert shelf.files().batches(9) == []


@pytest.mark.rule("K-50", "K-28")
def test_a_history_that_cannot_be_looked_into_stops_nothing_but_undo(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    shelf.apply(act("create", "b.md", None, NEW))
    disk = FaultyDisk(refuse("names", code=errno.EIO))
    files = shelf.files(disk)
    assert files.recover().batches == ()
    assert "cannot be finished yet" in caplog.text
    assert files.has_open_batch(), "it cannot be said that there is none"
    for ask in (lambda: files.batches(9), lambda: files.undo(None)):
        with pytest.raises(UnreadableError, match="the history cannot be read"):
            ask()
    batch = files.begin(cause="test")
    assert batch.apply([act("rewrite", "a/n.md", OLD, NEW)])[0].state == "done"
    batch.finish()
    assert len(shelf.files().batches(9)) == 2


# recovery ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("K-23")
def test_nothing_to_recover_is_nothing(shelf: Shelf) -> None:
    recovery = shelf.files().recover()
    assert (recovery.batches, recovery.written) == ((), {})
    assert not shelf.files().has_open_batch()


@pytest.mark.rule("K-23", "K-32")
def test_recovery_tells_what_the_killed_process_wrote(shelf: Shelf) -> None:
    shelf.put("a/m.md", OTHER)
    batch = shelf.files().begin(cause="test")
    batch.apply([act("rewrite", "a/n.md", OLD, NEW, lines=[LINE]), act("trash", "a/m.md", OTHER)])
    files = shelf.files()
    assert files.has_open_batch()
    recovery = files.recover()
    assert (recovery.batches, dict(recovery.written)) == ((batch.id,), {"a/n.md": digest_of(NEW)})
    assert [line["id"] for line in shelf.lines] == ["mem_1"]
    assert files.recover().batches == ()
    files.undo(None)
    assert shelf.notes() == {"a/n.md": OLD, "a/m.md": OTHER}


@pytest.mark.rule("K-23")
def test_what_cannot_be_recovered_yet_is_tried_again(shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    batch = shelf.files().begin(cause="test")
    batch.apply([act("rewrite", "a/n.md", OLD, NEW, lines=[LINE])])
    disk = FaultyDisk(refuse("stat_file", code=errno.EIO))
    files = shelf.files(disk)
    assert files.recover().batches == (batch.id,)
    assert "still half done" in caplog.text
    assert files.has_open_batch()
    assert disk.left_open() == 0
    disk.before = None
    files.undo(None)
    assert not files.has_open_batch()
    assert shelf.notes() == {"a/n.md": OLD}


@pytest.mark.rule("K-23", "K-50")
def test_an_open_batch_of_another_version_is_kept_for_people(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    folder = shelf.state / "history" / "open"
    folder.mkdir(parents=True)
    (shelf.state / "history" / "done").mkdir()
    name = "20261201T055000000-abcdef.batch"
    whole = frame(HEADER, packed({"of": "another version"}))
    (folder / name).write_bytes(whole)
    assert shelf.files().recover().batches == (name.removesuffix(".batch"),)
    assert "cannot be understood" in caplog.text
    assert [file.name for file in shelf.closed_batches()] == [name]
    assert shelf.closed_batches()[0].read_bytes() == whole


@pytest.mark.rule("K-23")
@pytest.mark.parametrize("data", [b"", b"torn", frame(b"I", b"image")], ids=["empty", "torn", "no header"])
def test_a_batch_that_was_never_written_down_is_dropped(shelf: Shelf, data: bytes) -> None:
    folder = shelf.state / "history" / "open"
    folder.mkdir(parents=True)
    (folder / "20261201T055000000-abcdef.batch").write_bytes(data)
    shelf.files().recover()
    assert shelf.open_batches() == []
    assert shelf.closed_batches() == []
    assert shelf.notes() == {"a/n.md": OLD}


@pytest.mark.rule("K-23", "K-50")
def test_an_undo_of_a_batch_that_was_pruned_meanwhile_is_closed(shelf: Shelf) -> None:
    folder = shelf.state / "history" / "open"
    folder.mkdir(parents=True)
    info = BatchInfo(
        id="20261201T055000000-abcdef",
        at="2026-12-01T05:50:00.000Z",
        cause="undo",
        source="cli",
        undoes="gone",
        takes_back=True,
    )
    (folder / f"{info.id}.batch").write_bytes(
        frame(HEADER, packed(info)) + frame(INTENTS, packed(Intents((), 0, ())))
    )
    assert dict(shelf.files().recover().written) == {}
    assert shelf.open_batches() == []


def test_done_actions_know_where_their_file_stood() -> None:
    done = DoneAction(
        op="move", path=NotePath("a"), to=NotePath("b"), before="1", after="1", image=0, size=1, mode=None,
        mtime_ns=None, rule="", reason="", lines=(),
    )  # fmt: skip
    assert done.place == "b"


@pytest.mark.rule("K-28")
def test_a_disk_that_refuses_everything_later_fails_with_words(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    for n in range(1, 40):
        other = Shelf(shelf.base / str(n))
        other.put("a/n.md", OLD)
        (receipt,) = other.apply(
            act("move", "a/n.md", OLD, NEW, to="b/n.md"), disk=FaultyDisk(fail_at(n, errno.EROFS, on=True))
        )
        if receipt.state == "failed":
            assert os.strerror(errno.EROFS) in receipt.reason


@pytest.mark.rule("K-50")
def test_pages_made_after_an_undo_are_not_what_the_next_undo_takes_back(shelf: Shelf) -> None:
    shelf.apply(act("rewrite", "a/n.md", OLD, NEW))
    shelf.apply(act("rewrite", "a/n.md", NEW, NEWER))
    files = shelf.files()
    files.undo(None)
    batch = files.begin(cause="undo")
    batch.apply([act("page", "Index/p.md", None, OTHER)])
    batch.finish()
    files.undo(None)
    assert shelf.notes() == {"a/n.md": OLD, "Index/p.md": OTHER}
