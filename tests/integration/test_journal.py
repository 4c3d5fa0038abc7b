"""The journal on a real disk: what is written, by two writers, torn, full, read-only (LT-53)."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from vaultkeeper.store.journal import KEYS, Journal
from vaultkeeper.store.lock import short_lock

AT = "2026-10-17T07:59:20.630Z"


def entry(n: int = 1, at: str = AT, **more: str) -> dict[str, str]:
    return {"at": at, "op": "update", "id": f"mem_20261017t075957_{n:08x}", "reason": f"第 {n} 次", **more}


class Place:
    """A vault's journal folder, and the file where entries wait."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "vault" / ".dsh-memory" / "journal"
        self.folder.parent.mkdir(parents=True)
        self.pending = root / "state" / "pending.jsonl"
        self.journal = Journal(self.folder, self.pending, turn=timedelta(seconds=30))

    def file(self, month: str = "2026-10") -> Path:
        return self.folder / f"{month}.jsonl"

    def lines(self, month: str = "2026-10") -> list[str]:
        return self.file(month).read_text("utf-8").splitlines()

    def block(self) -> None:
        """Have nothing written: a file stands where the folder should."""
        self.folder.write_text("")

    def unblock(self) -> None:
        self.folder.unlink()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@contextmanager
def disk_full_at(size: int) -> Iterator[None]:
    """No file can grow beyond that many bytes: writes are cut short there, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.rule("LT-53")
def test_an_entry_is_one_line_with_its_keys_in_order_and_empty_ones_left_out(place: Place) -> None:
    given = {key: f"{key}!" for key in reversed(KEYS)} | {"at": AT, "before": "", "unknown": "x"}
    place.journal.append([given])
    (line,) = place.lines()
    assert list(json.loads(line)) == [key for key in KEYS if key != "before"]


@pytest.mark.rule("LT-53")
def test_chinese_stands_in_the_file_as_it_is(place: Place) -> None:
    place.journal.append([entry(1)])
    assert "第 1 次" in place.lines()[0]


@pytest.mark.rule("LT-53")
def test_each_entry_goes_to_the_month_it_is_dated(place: Place) -> None:
    place.journal.append([entry(1, "2026-09-30T23:59:59.999Z"), entry(2, "2026-10-01T00:00:00.000Z")])
    assert [len(place.lines(month)) for month in ("2026-09", "2026-10")] == [1, 1]


@pytest.mark.rule("LT-53")
def test_what_stands_there_is_never_changed(place: Place) -> None:
    place.folder.mkdir()
    place.file().write_bytes(b'{"at":"2026-10-01","op":"init"}\n\xff\xfe garbage\n')
    before = place.file().read_bytes()
    place.journal.append([entry(1)])
    assert place.file().read_bytes().startswith(before)


@pytest.mark.rule("LT-53")
def test_a_torn_last_line_is_skipped_and_never_joined_to_the_next(place: Place) -> None:
    place.journal.append([entry(1)])
    whole = place.file().read_bytes()
    place.file().write_bytes(whole + b'{"at":"2026-10-17T08:00:00.000Z","op":"upd')
    place.journal.append([entry(2), entry(3)])
    assert [line["id"][-1] for line in place.journal.read()] == ["1", "2", "3"]
    assert len(place.lines()) == 4


@pytest.mark.rule("LT-53")
def test_a_line_torn_inside_a_character_is_skipped(place: Place) -> None:
    place.journal.append([entry(1)])
    place.file().write_bytes(place.file().read_bytes()[:-4])
    assert place.journal.read() == []
    place.journal.append([entry(2)])
    assert [line["id"][-1] for line in place.journal.read()] == ["2"]


def test_an_entry_without_a_month_is_refused_before_anything_is_written(place: Place) -> None:
    for at in ("", "../../x", "2026-13-01T00:00:00.000Z", "2026/10/17"):
        with pytest.raises(ValueError, match="dated"):
            place.journal.append([entry(1), entry(2, at)])
    assert not place.folder.exists()


def test_no_entries_touch_nothing(place: Place) -> None:
    place.journal.append([])
    assert not place.folder.exists()


@pytest.mark.rule("LT-53")
def test_a_file_name_that_is_no_unicode_can_be_journalled(place: Place) -> None:
    place.journal.append([entry(1, **{"from": "bad\udcff.md"})])
    assert place.journal.read()[0]["from"] == "bad\udcff.md"


@pytest.mark.rule("LT-53")
def test_entries_left_out_where_they_stand_already(place: Place) -> None:
    place.journal.append([entry(1), entry(2)])
    place.journal.append([entry(2), entry(3)], only_if_missing=True)
    place.journal.append([entry(1)], only_if_missing=True)
    assert [line["id"][-1] for line in place.journal.read()] == ["1", "2", "3"]


def test_a_whole_line_without_its_newline_counts_as_standing_there(place: Place) -> None:
    place.journal.append([entry(1)])
    place.file().write_bytes(place.file().read_bytes().rstrip(b"\n"))
    place.journal.append([entry(1)], True)
    place.journal.append([entry(2)])
    assert [line["id"][-1] for line in place.journal.read()] == ["1", "2"]


@pytest.mark.rule("LT-53")
def test_the_same_change_made_twice_is_journalled_twice(place: Place) -> None:
    place.journal.append([entry(1)])
    place.journal.append([entry(1)])
    assert len(place.lines()) == 2


@pytest.mark.rule("LT-53", "K-28")
def test_entries_that_cannot_be_written_wait_and_go_first_in_order(place: Place) -> None:
    place.block()
    place.journal.append([entry(1), entry(2)])
    place.journal.append([entry(3)])
    assert len(place.pending.read_text("utf-8").splitlines()) == 3
    place.unblock()
    place.journal.append([entry(4)])
    assert [json.loads(line)["id"][-1] for line in place.lines()] == ["1", "2", "3", "4"]
    assert not place.pending.exists()


@pytest.mark.rule("LT-53")
def test_entries_that_wait_can_be_read(place: Place) -> None:
    place.journal.append([entry(1)])
    (place.folder / "2026-11.jsonl").mkdir()
    place.journal.append([entry(2, "2026-11-01T00:00:00.000Z")])
    assert [line["id"][-1] for line in place.journal.read()] == ["1", "2"]


@pytest.mark.rule("LT-53")
def test_a_month_that_cannot_be_written_does_not_double_the_one_before_it(place: Place) -> None:
    blocked = place.folder / "2026-11.jsonl"
    blocked.mkdir(parents=True)
    place.journal.append([entry(1), entry(2, "2026-11-01T00:00:00.000Z")])
    blocked.rmdir()
    place.journal.append([entry(3, "2026-11-02T00:00:00.000Z")])
    assert [line["id"][-1] for line in place.journal.read()] == ["1", "2", "3"]
    assert not place.pending.exists()


@pytest.mark.rule("LT-53")
def test_an_empty_append_sends_what_waits(place: Place) -> None:
    place.block()
    place.journal.append([entry(1)])
    place.unblock()
    place.journal.append([])
    assert len(place.lines()) == 1


def test_what_waits_already_is_not_kept_twice(place: Place) -> None:
    place.block()
    place.journal.append([entry(1)])
    place.journal.append([entry(1), entry(2)], only_if_missing=True)
    assert len(place.pending.read_text("utf-8").splitlines()) == 2


def test_what_waited_and_was_written_before_a_crash_is_not_written_twice(place: Place) -> None:
    place.block()
    place.journal.append([entry(1), entry(2)])
    place.unblock()
    waiting = place.pending.read_bytes()
    place.journal.append([])
    place.pending.write_bytes(waiting)  # the keeper was killed before it could take the file away
    place.journal.append([entry(3)])
    assert [line["id"][-1] for line in place.journal.read()] == ["1", "2", "3"]


def test_garbage_among_what_waits_is_passed_over(place: Place) -> None:
    place.pending.parent.mkdir(parents=True)
    place.pending.write_bytes(b'{"at": "2026-10-17T00:0\n[]\n{"at":"never","op":"x"}\n')
    place.journal.append([entry(1)])
    assert [line["id"][-1] for line in place.journal.read()] == ["1"]


@pytest.mark.rule("K-28", "LT-53")
def test_a_disk_that_is_full_in_the_middle_of_a_line_loses_and_doubles_nothing(place: Place) -> None:
    place.journal.append([entry(1)])
    with disk_full_at(place.file().stat().st_size + 150):
        # The limit is for every file, so what waits must fit under it.
        place.journal.append([entry(2), entry(3, reason="x" * 40)])
        assert place.pending.exists()
    assert not place.file().read_bytes().endswith(b"\n")
    place.journal.append([entry(4)])
    assert [line["id"][-1] for line in place.journal.read()] == ["1", "2", "3", "4"]


def test_entries_that_can_neither_be_written_nor_wait_are_the_callers_to_hear_of(place: Place) -> None:
    place.block()
    place.pending.parent.mkdir()
    with disk_full_at(1), pytest.raises(OSError):
        place.journal.append([entry(1)])


@pytest.mark.rule("K-38")
def test_no_folder_is_made_in_a_vault_that_is_not_there(place: Place) -> None:
    place.folder.parent.rmdir()
    place.journal.append([entry(1)])
    assert not place.folder.parent.exists()
    assert place.pending.exists()


@pytest.mark.rule("K-27")
@pytest.mark.parametrize("linked", ["folder", "file"])
def test_a_link_is_not_followed_out_of_the_vault(place: Place, tmp_path: Path, linked: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    if linked == "folder":
        place.folder.symlink_to(outside)
    else:
        place.folder.mkdir()
        place.file().symlink_to(outside / "stolen")
    place.journal.append([entry(1)])
    assert os.listdir(outside) == []
    assert place.pending.exists()


@pytest.mark.rule("LT-53")
def test_two_writers_never_mix_their_lines(place: Place) -> None:
    code = """
import sys
from pathlib import Path
from vaultkeeper.store.journal import Journal
journal = Journal(Path(sys.argv[1]), Path(sys.argv[2]))
for n in range(40):
    journal.append([{"at": "2026-10-17T00:00:00.000Z", "op": "update", "id": sys.argv[3], "reason": f"{n} " + "记" * 3000}])
"""
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(place.folder), str(place.pending), name])
        for name in "ab"
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    entries = [json.loads(line) for line in place.lines()]
    for name in "ab":
        assert [e["reason"].split()[0] for e in entries if e["id"] == name] == [str(n) for n in range(40)]


def test_a_stopped_writer_holds_nobody_up(place: Place) -> None:
    journal = Journal(place.folder, place.pending, turn=timedelta(0))
    with short_lock(place.pending.with_name("pending.jsonl.lock"), timedelta(0)) as held:
        assert held
        journal.append([entry(1)])
    assert len(place.lines()) == 1


@pytest.mark.rule("LT-53")
def test_reading_gives_the_newest_last_of_one_note_or_all(place: Place) -> None:
    place.journal.append(
        [entry(1, "2026-09-01T00:00:00.000Z"), entry(2), entry(1, "2026-11-01T00:00:00.000Z")]
    )
    assert [line["at"][:7] for line in place.journal.read()] == ["2026-09", "2026-10", "2026-11"]
    assert [line["at"][:7] for line in place.journal.read(entry(1)["id"])] == ["2026-09", "2026-11"]
    assert [line["at"][:7] for line in place.journal.read(limit=2)] == ["2026-10", "2026-11"]
    assert [line["at"][:7] for line in place.journal.read(entry(1)["id"], 1)] == ["2026-11"]
    assert place.journal.read(limit=0) == []
    assert place.journal.read('no id, "really"') == []


def test_lines_of_other_programs_are_read_as_far_as_they_make_sense(place: Place) -> None:
    place.folder.mkdir()
    place.file().write_bytes(
        b'{"at":"2026-10-02T00:00:00.000Z","op":"merge","n":3}\r\n'
        b'{"at":"2026-10-01T00:00:00.000Z","op":"create"}\r\n'
        b'{"op":"undated"}\n[1]\n"text"\n' + b"[" * 100_000 + b'\n{"at":5}\n'
    )
    (place.folder / "2026-10.sync-conflict-1.jsonl").write_bytes(b'{"at":"2026-10-03","op":"copy"}\n')
    assert [(line["op"], line.get("n")) for line in place.journal.read()] == [
        ("create", None),
        ("merge", "3"),
    ]


def test_a_journal_that_is_not_there_or_cannot_be_read_is_empty(place: Place) -> None:
    assert place.journal.read() == []
    place.file().mkdir(parents=True)
    place.pending.mkdir(parents=True)
    assert place.journal.read() == []
