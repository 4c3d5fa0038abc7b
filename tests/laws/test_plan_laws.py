"""Laws of planning, on vaults in memory: a fixed point, the same for all, nobody's words touched, trust never raised."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultkeeper.core.action import Plan
from vaultkeeper.core.catalog import Catalog
from vaultkeeper.core.note import NotePath, Snapshot, Stat, digest_of
from vaultkeeper.core.options import Options
from vaultkeeper.core.parse import Parsed, base_of, parse, record_of
from vaultkeeper.core.plan import Candidate, World, entry_of, may_be_written, plan
from vaultkeeper.core.slug import same_name_key
from vaultkeeper.formats.longterm import LONGTERM

NOW = datetime(2026, 4, 1, 8, 0, tzinfo=UTC)
BORN = "2026-03-01T08:00:00.000Z"
STAT_NS = int(datetime(2026, 3, 1, 8, 0, tzinfo=UTC).timestamp() * 1e9)

Files = dict[str, bytes]

words = st.text(st.sampled_from(list("ab 茶é:#-[]|'\"!{}*&%@`>")), max_size=8).map(str.strip)
statuses = st.sampled_from(
    [
        "active",
        "Active",
        '"active"',
        "激活",
        "actve",
        "archived",
        "归档",
        "pending",
        "",
        "[]",
        "stale",
        "superseded",
        "conflict",
        "已完成",
    ]
)
types = st.sampled_from(
    ["task", "Task", "tasks", "任务", "knowledge", "project-state", "profile", "", "nonsense", "decision"]
)
times = st.sampled_from(
    ["2026-03-01", "2026-02-30", "2026/3/1 7:05", "2026-03-01T07:00:00.000Z", "yesterday", "", "1767225600"]
)
unknown = st.sampled_from(
    [
        "mine:   {x: 1}   # kept",
        "cssclasses: [wide]",
        "'odd key': >\n  folded\n  words",
        "rating: 5",
        "# only a comment",
    ]
)
folders = st.sampled_from(
    ["Tasks", "Knowledge", "Inbox", "Archive", "Conflicts", "Reading", "Projects/State", ""]
)
stems = st.sampled_from(["alpha", "Alpha", "beta", "茶", "gamma.v2", "a" * 60])


@st.composite
def notes(draw: st.DrawFn) -> bytes:
    """A memory as people write them: keys in any order, some missing, words of their own between."""
    keys = {
        "id": st.integers(1, 5).map(lambda n: f"mem_20260301t080000_{n:08x}"),
        "type": types,
        "status": statuses,
        "title": words,
        "created_at": times,
        "updated_at": times,
        "tags": st.sampled_from(["[a, b]", "a, b", "#a #b", "\n  - a\n  - b", ""]),
        "importance": st.sampled_from(["5", "500", "high", ""]),
        "schema_version": st.sampled_from(["1", "2", "x"]),
    }
    wanted = draw(st.permutations(sorted(keys)))[: draw(st.integers(2, len(keys)))]
    lines = [f"{key}: {draw(keys[key])}".rstrip() for key in wanted] + draw(
        st.lists(unknown, max_size=2, unique=True)
    )
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    body = f"# {draw(words)}\n\n{draw(words)} [[{draw(stems)}]] own words\n\n## 来源与依据\n\n{draw(words)}"
    text = (
        "---\n"
        + "\n".join(draw(st.permutations(lines)))
        + "\n---\n"
        + body
        + draw(st.sampled_from(["", "\n", "\n\n"]))
    )
    return text.replace("\n", ending).encode()


vaults = st.dictionaries(
    st.tuples(folders, stems).map(lambda parts: "/".join(part for part in parts if part) + ".md"),
    notes(),
    min_size=1,
    max_size=5,
).filter(lambda files: len({same_name_key(path) for path in files}) == len(files))


def read(files: Mapping[str, bytes], stamp: int = STAT_NS) -> dict[NotePath, Parsed]:
    """Every file as the keeper reads it."""
    return {
        NotePath(path): parse(
            Snapshot(NotePath(path), data, Stat(len(data), stamp), digest_of(data)), LONGTERM
        )
        for path, data in files.items()
    }


def decide(
    files: Mapping[str, bytes], known: Catalog | None = None, order: Sequence[int] = ()
) -> tuple[Plan, Catalog]:
    """Plan a whole vault; `known` tells how its notes looked when they were last settled."""
    parsed = read(files)
    paths = sorted(parsed)
    for at, other in enumerate(order):  # the order in which files are listed
        if at < len(paths):
            paths.insert(other % len(paths), paths.pop(at))
    catalog = Catalog({})
    for path in paths:
        before = known.get(path) if known is not None else None
        base = before.base if before is not None else None
        catalog.put(entry_of(parsed[path], LONGTERM, BORN, base, unsettled=True))
    world = World(
        catalog=catalog,
        fmt=LONGTERM,
        options=Options(language="en"),
        now=NOW,
        born=lambda _parsed: BORN,
        look=parsed.get,
    )
    asked = [
        Candidate(parsed=parsed[path], expects=parsed[path].snapshot.digest)
        for path in paths
        if parsed[path].kind == "memory" and may_be_written(parsed[path], world)
    ]
    return plan(asked, world), catalog


def apply(files: Mapping[str, bytes], decided: Plan) -> Files:
    """The vault after the plan."""
    after = dict(files)
    for action in decided.actions:
        assert digest_of(files[action.path]) == action.expects
        after.pop(action.path)
    for action in decided.actions:
        place = action.to or action.path
        assert same_name_key(place) not in {same_name_key(path) for path in after}, "two notes in one place"
        after[place] = action.data if action.data is not None else files[action.path]
    return after


def settled(files: Files) -> Catalog:
    """The catalog once nothing is left to do: every note is its own base."""
    catalog = Catalog({})
    for parsed in read(files).values():
        entry = entry_of(parsed, LONGTERM, BORN, None, unsettled=False)
        if parsed.kind == "memory":
            entry = msgspec.structs.replace(entry, base=base_of(parsed, record_of(parsed, LONGTERM, BORN)))
        catalog.put(entry)
    return catalog


law = settings(deadline=None, max_examples=120)


@pytest.mark.rule("K-6")
@law
@given(vaults)
def test_planning_again_after_a_plan_gives_nothing_with_or_without_a_memory_of_it(files: Files) -> None:
    decided, _ = decide(files)
    after = apply(files, decided)
    assert decide(after)[0].actions == ()
    assert decide(after, settled(after))[0].actions == ()


@pytest.mark.rule("K-7")
@law
@given(vaults, st.lists(st.integers(0, 9), max_size=5))
def test_the_order_in_which_files_are_listed_changes_nothing(files: Files, order: list[int]) -> None:
    assert decide(files, order=order)[0] == decide(files)[0]


OWN = (
    b"mine:   {x: 1}   # kept",
    b"'odd key': >",
    b"  folded",
    b"# only a comment",
    b"own words",
    b"cssclasses: [wide]",
)


@pytest.mark.rule("K-3", "K-4")
@law
@given(vaults)
def test_a_note_keeps_its_words_and_the_lines_that_are_not_the_formats(files: Files) -> None:
    for action in decide(files)[0].actions:
        if action.data is None:
            continue
        before, after = files[action.path].replace(b"\r\n", b"\n"), action.data
        assert before.endswith(b"\n") == after.endswith(b"\n")
        assert [before.count(line) for line in OWN] == [after.count(line) for line in OWN]
        assert b"\r" not in after


@pytest.mark.rule("LT-32", "K-4")
@law
@given(vaults)
def test_only_a_word_for_active_makes_a_note_active(files: Files) -> None:
    decided, _ = decide(files)
    for action in decided.actions:
        if action.data is None or b"status: active" not in action.data:
            continue
        said = re.search(rb"(?m)^status: ?([^\r\n]*)", files[action.path])
        assert said is not None
        assert said[1] in {b"active", b"Active", b'"active"', "激活".encode()}


PLACES = {
    "Tasks": {"task"},
    "Knowledge": {"knowledge"},
    "Decisions": {"decision"},
    "Profile": {"profile"},
    "Projects/State": {"project-state"},
}


@pytest.mark.rule("LT-10", "LT-11")
@law
@given(vaults)
def test_after_the_plan_each_memory_stands_where_its_words_say(files: Files) -> None:
    after = apply(files, decide(files)[0])
    assert len(after) == len(files)
    catalog = settled(after)
    for path, parsed in read(after).items():
        entry = catalog.get(path)
        if (
            entry is None
            or entry.record is None
            or parsed.frozen
            or len(catalog.holders(entry.record.id)) > 1
        ):
            continue
        folder, record = path.rpartition("/")[0], entry.record
        assert folder, "the top of the vault is no place"
        assert (folder == "Archive") == (record.status in {"archived", "superseded"})
        assert (folder == "Inbox") == (record.status == "pending")
        assert (folder == "Conflicts") == (record.status == "conflict")
        if folder in PLACES:
            assert record.type in PLACES[folder]


@pytest.mark.rule("K-35", "K-6", "K-7")
@law
@given(vaults, st.integers(0, 9), folders, st.randoms(use_true_random=False))
def test_a_note_that_was_dragged_is_planned_once(
    files: Files, number: int, folder: str, rng: random.Random
) -> None:
    first = apply(files, decide(files)[0])
    known = settled(first)
    path = sorted(first)[number % len(first)]
    target = f"{folder}/dragged {rng.randrange(9)}.md".lstrip("/")
    moved = {target if each == path else each: data for each, data in first.items()}
    entry = known.drop(NotePath(path))
    assert entry is not None
    known.put(msgspec.structs.replace(entry, path=NotePath(target)))
    second = apply(moved, decide(moved, known)[0])
    assert decide(second, settled(second))[0].actions == ()
    assert decide(second)[0].actions == ()
