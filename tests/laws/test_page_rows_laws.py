"""Laws of what pages list: lists that follow single notes are those of a fresh look at the whole catalog."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultkeeper.core.note import Entry, Kind, NotePath, Record
from vaultkeeper.core.page_rows import Rows

records = st.builds(
    Record,
    id=st.just(""),
    type=st.sampled_from(["task", "decision"]),
    status=st.sampled_from(["active", "archived"]),
    title=st.sampled_from(["a", "b", "茶"]),
    created_at=st.just(""),
    updated_at=st.sampled_from(["2026-01-01", "2026-01-02", ""]),
    tags=st.lists(st.sampled_from(["x", "y"]), max_size=3).map(tuple),
    importance=st.none() | st.integers(0, 2),
    pinned=st.booleans(),
)
kinds: st.SearchStrategy[Kind] = st.sampled_from(["memory", "memory", "plain"])


def entry(number: int, record: Record, kind: Kind) -> Entry:
    named = msgspec.structs.replace(record, id=f"mem_{number}")
    return Entry(
        path=NotePath(f"{record.type}/{number}.md"),
        size=1,
        mtime_ns=1,
        digest="",
        kind=kind,
        record=named,
    )


vaults = st.dictionaries(st.integers(0, 8), st.tuples(records, kinds), max_size=8)


def listed(rows: Rows) -> object:
    return (
        list(rows.all),
        list(rows.pinned),
        {tag: list(tagged) for tag, tagged in rows.tagged()},
        [
            list(rows.of_status(status, kind))
            for status in ("active", "archived")
            for kind in ("", "task", "decision")
        ],
        [rows.newest(most) for most in (0, 1, 3, 99)],
    )


@pytest.mark.rule("LT-52", "K-7")
@settings(deadline=None, max_examples=200)
@given(vaults, vaults)
def test_rows_that_follow_a_change_are_those_of_a_fresh_look(
    before: dict[int, tuple[Record, Kind]], after: dict[int, tuple[Record, Kind]]
) -> None:
    old = {number: entry(number, *what) for number, what in before.items()}
    new = {number: entry(number, *what) for number, what in after.items()}
    rows = Rows({each.path: each for each in old.values()})
    listed(rows)
    rows.renew([(old.get(number), new.get(number)) for number in sorted(old.keys() | new.keys())])
    assert listed(rows) == listed(Rows({each.path: each for each in new.values()}))


@pytest.mark.rule("LT-37")
def test_of_several_notes_with_one_id_the_first_by_path_is_listed() -> None:
    record = Record("mem_1", "task", "active", "t", "", "")
    entries = [Entry(NotePath(path), 1, 1, "", "memory", record) for path in ("b.md", "a.md", "c.md")]
    assert [row.path for row in Rows({each.path: each for each in entries}).all] == ["a.md"]
