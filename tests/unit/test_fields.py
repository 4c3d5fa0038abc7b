"""Frontmatter values read leniently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from vaultkeeper.core.fields import Fields, claims, clean_tags, known_keys, match_word, read_fields
from vaultkeeper.core.finding import Finding
from vaultkeeper.core.messages import MESSAGES, message_of
from vaultkeeper.core.note import NotePath
from vaultkeeper.core.yamltext import Quoted, Value
from vaultkeeper.formats.longterm import LONGTERM

_ID = "mem_20261017t075957_b1c8069b"
_WHOLE: dict[str, Value] = {
    "id": _ID,
    "type": "decision",
    "status": "active",
    "title": "Keep Markdown",
    "created_at": "2026-10-17T07:59:57.000Z",
    "updated_at": "2026-10-18T00:00:00.000Z",
    "tags": ["architecture", "decision"],
    "confidence": "high",
    "importance": "85",
    "pinned": "true",
    "source_sessions": ["session-1"],
    "aliases": ["Plain files"],
    "supersedes": ["mem_20260101t000000_00000001"],
    "superseded_by": "mem_20260101t000000_00000002",
    "conflicts_with": ["mem_20260101t000000_00000003"],
    "evidence": "Asked for in a review.",
    "schema_version": "1",
}


def read(
    changes: Mapping[str, Value] | None = None,
    *,
    without: str = "",
    path: str = "Decisions/a.md",
    heading: str = "",
) -> Fields:
    values = {key: value for key, value in _WHOLE.items() if key != without} | dict(changes or {})
    lines = {key: number for number, key in enumerate(values, start=2)}
    return read_fields(values, lines, LONGTERM, NotePath(path), heading)


def codes(fields: Fields) -> list[str]:
    return [finding.code for finding in fields.findings]


def facts(fields: Fields, code: str) -> dict[str, str]:
    return next(dict(finding.facts) for finding in fields.findings if finding.code == code)


@pytest.mark.rule("LT-20", "LT-22")
def test_a_note_in_order_is_read_as_it_stands() -> None:
    fields = read()
    assert fields == Fields(
        id=_ID,
        id_state="ok",
        type="decision",
        status="active",
        type_known=True,
        status_known=True,
        title="Keep Markdown",
        title_given=True,
        created_at="2026-10-17T07:59:57.000Z",
        updated_at="2026-10-18T00:00:00.000Z",
        created_given=True,
        updated_given=True,
        tags=("architecture", "decision"),
        aliases=("Plain files",),
        confidence="high",
        importance=85,
        pinned=True,
        source_sessions=("session-1",),
        supersedes=("mem_20260101t000000_00000001",),
        superseded_by="mem_20260101t000000_00000002",
        conflicts_with=("mem_20260101t000000_00000003",),
        evidence="Asked for in a review.",
        schema_version=1,
        key_names={key: key for key in _WHOLE},
        rewrites={},
        findings=(),
    )


@pytest.mark.rule("LT-33", "LT-38")
def test_only_required_keys_are_missed() -> None:
    required = ("id", "type", "status", "title", "created_at", "updated_at", "schema_version")
    fields = read_fields({key: _WHOLE[key] for key in required}, {}, LONGTERM, NotePath("x.md"), "")
    assert fields.findings == ()
    assert (fields.tags, fields.aliases, fields.confidence, fields.importance) == (
        ("decision",),
        (),
        "",
        None,
    )
    assert (fields.pinned, fields.evidence, fields.superseded_by) == (False, "", "")


# which notes are memories


@pytest.mark.rule("LT-35")
@pytest.mark.parametrize(
    "values",
    [
        {"id": _ID},
        {"id": "mem_x"},
        {"ID": Quoted("mem_x")},
        {"id": [_ID]},
        {"schema_version": "1"},
        {"schema_version": {"a": "1"}},
        {"type": "decision", "status": "active"},
        {"type": "决策", "status": "已归档"},
        {"Type": "Project State", "status": "ＡＣＴＩＶＥ"},
    ],
)
def test_a_note_with_the_formats_signs_is_a_memory(values: dict[str, Value]) -> None:
    assert claims(values, LONGTERM)


@pytest.mark.rule("LT-35")
@pytest.mark.parametrize(
    "values",
    [
        {},
        {"title": "x", "tags": ["decision"]},
        {"id": "42"},
        {"id": None},
        {"id": {"mem_": "x"}},
        {"id": ["a", "mem_x"]},
        {"type": "book", "status": "active"},
        {"type": "decision", "status": "reading"},
        {"type": "decision"},
        {"status": "active"},
        {"type": None, "status": None},
        {"type": {"a": "b"}, "status": ["active", "x"]},
        {"schema_version": None},
        {"schema_version": "null"},
    ],
)
def test_a_persons_own_note_is_not(values: dict[str, Value]) -> None:
    assert not claims(values, LONGTERM)


# type and status


@pytest.mark.rule("LT-32")
@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("decision", "decision"),
        (" Decision ", "decision"),
        ("ＤＥＣＩＳＩＯＮ", "decision"),
        ("决策", "decision"),
        ("Decisions", "decision"),
        ("project-state", "project-state"),
        ("Project State", "project-state"),
        ("project__state", "project-state"),
        ("项目状态", "project-state"),
        ("项目", "project"),
    ],
)
def test_a_word_is_understood_in_the_ways_people_write_it(written: str, word: str) -> None:
    matched = match_word(written, LONGTERM.types)
    assert matched is not None
    assert matched.name == word


@pytest.mark.rule("LT-32")
@pytest.mark.parametrize("written", ["", " ", "decide", "decision!", "active", "项"])
def test_a_word_is_not_guessed(written: str) -> None:
    assert match_word(written, LONGTERM.types) is None


@pytest.mark.rule("LT-32")
def test_every_word_synonym_and_label_of_the_format_is_understood_as_its_own() -> None:
    for words in (LONGTERM.types, LONGTERM.statuses, LONGTERM.confidences):
        for word in words:
            for written in (word.name, *word.synonyms, word.label.zh, word.label.en):
                assert match_word(written.upper(), words) is word


@pytest.mark.rule("LT-32")
def test_a_words_name_is_never_taken_for_anothers_synonym() -> None:
    one, other = LONGTERM.types[0], LONGTERM.types[1]
    words = (replace(one, synonyms=(other.name,)), other)
    assert match_word(other.name.upper(), words) is other


@pytest.mark.rule("LT-32")
def test_words_written_in_another_way_are_to_be_rewritten() -> None:
    fields = read({"type": "决策", "status": "Active"})
    assert (fields.type, fields.status, fields.type_known, fields.status_known) == (
        "decision",
        "active",
        True,
        True,
    )
    assert fields.rewrites == {"type": "decision", "status": "active"}
    assert fields.findings == ()


@pytest.mark.rule("LT-32", "K-31")
@pytest.mark.parametrize("word", ["arch", "activ", "done", "true", "2026", "active pending"])
def test_an_unknown_status_is_never_active(word: str) -> None:
    fields = read({"status": word})
    assert (fields.status, fields.status_known) == ("pending", False)
    assert fields.rewrites == {"status": "pending"}
    assert facts(fields, "unknown-status") == {"word": word, "taken": "pending"}


@pytest.mark.rule("LT-32")
def test_an_unknown_type_is_the_default_whatever_the_folder() -> None:
    fields = read({"type": "book"}, path="Tasks/a.md")
    assert (fields.type, fields.type_known, fields.rewrites) == ("knowledge", False, {"type": "knowledge"})
    assert facts(fields, "unknown-type") == {"word": "book", "taken": "knowledge"}
    assert fields.findings[0].line == 3


@pytest.mark.rule("LT-38")
@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("Projects/State/x.md", "project-state"),
        ("Projects/Other/x.md", "project"),
        ("decisions/2026/x.md", "decision"),
        ("Inbox/x.md", "knowledge"),
        ("Own/x.md", "knowledge"),
        ("x.md", "knowledge"),
    ],
)
def test_a_missing_type_is_the_folders(path: str, word: str) -> None:
    fields = read(without="type", path=path)
    assert (fields.type, fields.type_known, fields.rewrites) == (word, True, {})
    assert "type" not in fields.key_names
    assert fields.findings == (Finding(path, 1, "missing-key", (("key", "type"), ("taken", word))),)


@pytest.mark.rule("LT-38", "LT-32")
def test_a_missing_status_is_pending() -> None:
    fields = read(without="status")
    assert (fields.status, fields.status_known, fields.rewrites) == ("pending", True, {})
    assert facts(fields, "missing-key") == {"key": "status", "taken": "pending"}


@pytest.mark.rule("LT-38", "K-31")
@pytest.mark.parametrize("value", [None, "", "null", []])
def test_an_emptied_status_is_pending_and_may_be_half_typed(value: Value) -> None:
    fields = read({"status": value})
    assert (fields.status, fields.status_known, fields.rewrites) == ("pending", False, {})
    assert codes(fields) == ["missing-key"]


@pytest.mark.rule("LT-32", "K-17")
@pytest.mark.parametrize("value", [{"a": "b"}, ["active", "stale"], [["active", "stale"]]])
def test_a_status_that_is_no_one_word_is_pending_and_not_overwritten(value: Value) -> None:
    fields = read({"status": value})
    assert (fields.status, fields.status_known, fields.rewrites) == ("pending", False, {})
    assert codes(fields) == ["not-one-value", "missing-key"]


@pytest.mark.rule("K-17")
def test_a_list_of_one_counts_as_its_item() -> None:
    fields = read({"type": ["task"], "superseded_by": ["mem_x"]})
    assert (fields.type, fields.superseded_by, fields.findings) == ("task", "mem_x", ())


# id, title


@pytest.mark.rule("LT-34")
@pytest.mark.parametrize(
    ("value", "state"),
    [(_ID, "ok"), (Quoted(_ID), "ok"), ("mem_x", "bad"), (None, "missing"), ("", "missing")],
)
def test_the_id_is_ok_missing_or_bad(value: Value, state: str) -> None:
    fields = read({"id": value})
    assert fields.id_state == state
    assert fields.id == (value or "")


@pytest.mark.rule("K-12", "LT-22")
@pytest.mark.parametrize("title", ["2024", "true", "null", "~", "no", "012", "1:30", "2026-10-17"])
def test_a_title_is_the_text_that_was_typed(title: str) -> None:
    fields = read({"title": title})
    assert (fields.title, fields.title_given, fields.findings) == (title, True, ())


@pytest.mark.rule("LT-38")
def test_a_missing_title_is_the_heading() -> None:
    fields = read(without="title", heading="From the heading")
    assert (fields.title, fields.title_given) == ("From the heading", False)
    assert facts(fields, "missing-key") == {"key": "title", "taken": "From the heading"}


@pytest.mark.rule("LT-38", "LT-12")
@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Some note.md", "Some note"),
        (f"Some note-{_ID}.md", "Some note"),
        (f"Some note-{_ID} 2.md", "Some note"),
        (f"{_ID}.md", _ID),
        ("something.yo.md", "something.yo"),
    ],
)
def test_without_a_heading_a_missing_title_is_the_file_name_without_its_id(name: str, title: str) -> None:
    assert read({"title": None}, path=f"Tasks/{name}").title == title


@pytest.mark.rule("LT-22")
def test_a_title_over_its_limit_stays_whole_and_is_reported() -> None:
    assert read({"title": "记" * 300}).findings == ()
    fields = read({"title": "记" * 301})
    assert fields.title == "记" * 301
    assert facts(fields, "title-too-long") == {"limit": "300"}


@pytest.mark.rule("LT-22", "LT-40")
def test_a_title_of_several_lines_is_one_line() -> None:
    assert read({"title": " one\n two "}).title == "one two"


@pytest.mark.rule("LT-38", "K-17")
def test_a_title_that_is_a_mapping_counts_as_missing() -> None:
    fields = read({"title": {"a": "b"}}, heading="H")
    assert (fields.title, fields.title_given) == ("H", False)
    assert codes(fields) == ["not-one-value", "missing-key"]


# times


@pytest.mark.rule("LT-30")
def test_times_are_read_leniently_and_without_a_finding() -> None:
    fields = read({"created_at": "2026-10-17", "updated_at": Quoted("2026-10-17T11:12:00+08:00")})
    assert (fields.created_at, fields.updated_at) == ("2026-10-17T00:00:00.000Z", "2026-10-17T03:12:00.000Z")
    assert (fields.created_given, fields.updated_given, fields.findings) == (True, True, ())


@pytest.mark.rule("LT-33", "LT-38")
def test_a_missing_created_at_is_the_ids_time_and_a_missing_updated_at_is_created_at() -> None:
    fields = read({"updated_at": None}, without="created_at")
    assert fields.created_at == fields.updated_at == "2026-10-17T07:59:57.000Z"
    assert (fields.created_given, fields.updated_given) == (False, False)
    assert codes(fields) == ["missing-key", "missing-key"]


@pytest.mark.rule("LT-33")
def test_a_missing_created_at_with_a_timeless_id_is_left_to_the_file() -> None:
    fields = read({"id": "mem_x", "updated_at": None}, without="created_at")
    assert (fields.created_at, fields.updated_at) == ("", "")
    assert facts(fields, "missing-key") == {"key": "created_at", "taken": "mtime"}


@pytest.mark.rule("LT-30")
@pytest.mark.parametrize("word", ["2026-02-30", "17/10/2026", "soon"])
def test_a_bad_date_is_reported_once_and_counts_as_missing(word: str) -> None:
    fields = read({"created_at": word})
    assert (fields.created_at, fields.created_given) == ("2026-10-17T07:59:57.000Z", False)
    assert codes(fields) == ["bad-date"]
    assert facts(fields, "bad-date") == {"key": "created_at", "word": word}


# lists


@pytest.mark.rule("LT-31", "K-17")
@pytest.mark.parametrize(
    ("value", "tags"),
    [
        (["a", "b"], ("a", "b")),
        ("a, b", ("a", "b")),
        ("a、b", ("a", "b")),
        ("a，b", ("a", "b")),
        (Quoted("#a #b"), ("a", "b")),
        (Quoted('["svelte", "调试"]'), ("svelte", "调试")),
        ("a", ("a",)),
        (["2026", "007", "yes", "on", "1.10"], ("2026", "007", "yes", "on", "1.10")),
        (None, ()),
        ("null", ()),
        ([], ()),
        (["", " "], ()),
    ],
)
def test_tags_are_read_in_the_ways_people_write_lists(value: Value, tags: tuple[str, ...]) -> None:
    fields = read({"tags": value})
    assert fields.tags == (*tags, "decision")
    assert fields.findings == ()


@pytest.mark.rule("LT-31")
def test_tag_and_alias_count_as_tags_and_aliases() -> None:
    values: dict[str, Value] = {**_WHOLE, "tag": "x", "Alias": "y"}
    del values["tags"], values["aliases"]
    fields = read_fields(values, {}, LONGTERM, NotePath("Tasks/a.md"), "")
    assert (fields.tags, fields.aliases) == (("x", "decision"), ("y",))
    assert (fields.key_names["tags"], fields.key_names["aliases"]) == ("tag", "Alias")


@pytest.mark.rule("LT-31", "K-15")
@pytest.mark.parametrize("order", [("tag", "tags"), ("tags", "tag")])
def test_a_key_itself_goes_before_its_synonym(order: tuple[str, str]) -> None:
    values = {key: value for key, value in _WHOLE.items() if key != "tags"} | {key: key for key in order}
    lines = {"tag": 8, "tags": 9}
    fields = read_fields(values, lines, LONGTERM, NotePath("a.md"), "")
    assert fields.tags == ("tags", "decision")
    assert fields.findings == (Finding("a.md", 8, "duplicate-key", (("key", "tag"), ("other", "9"))),)


@pytest.mark.rule("LT-31")
def test_of_two_synonyms_the_first_counts() -> None:
    values = {key: value for key, value in _WHOLE.items() if key != "tags"} | {"Tag": "x", "TAGS": "y"}
    assert read_fields(values, {}, LONGTERM, NotePath("a.md"), "").tags == ("x", "decision")


@pytest.mark.rule("LT-24")
@pytest.mark.parametrize(
    ("raw", "tags"),
    [
        (["A", "#b", "a"], ("a", "b", "task")),
        (["Two  Words", "nested/Tag"], ("two-words", "nested/tag", "task")),
        (["#", "", "##x#", "＃全角"], ("x", "全角", "task")),
        (["Task", "z"], ("task", "z")),
        (["ß"], ("ß", "task")),
        ([], ("task",)),
    ],
)
def test_tags_are_clean_and_hold_the_types(raw: list[str], tags: tuple[str, ...]) -> None:
    assert clean_tags(raw, "task") == tags


@pytest.mark.rule("K-17")
@pytest.mark.parametrize(
    ("value", "aliases"),
    [
        ("New York", ("New York",)),
        ("New York, NY", ("New York", "NY")),
        ("纽约、大苹果", ("纽约", "大苹果")),
        (Quoted("New York, NY"), ("New York, NY",)),
        (Quoted('["a", "b"]'), ("a", "b")),
        (["2026-01-01", "12:30"], ("2026-01-01", "12:30")),
        (["a", "b", "a"], ("a", "b")),
        ([" padded "], ("padded",)),
    ],
)
def test_aliases_are_split_at_commas_only(value: Value, aliases: tuple[str, ...]) -> None:
    fields = read({"aliases": value})
    assert (fields.aliases, fields.findings) == (aliases, ())


@pytest.mark.rule("LT-25")
def test_lists_of_ids_keep_their_order() -> None:
    fields = read({"supersedes": ["mem_b", "mem_a"], "conflicts_with": "mem_d, mem_c"})
    assert (fields.supersedes, fields.conflicts_with) == (("mem_b", "mem_a"), ("mem_d", "mem_c"))


@pytest.mark.rule("K-17")
@pytest.mark.parametrize("key", ["tags", "aliases", "source_sessions", "supersedes", "conflicts_with"])
def test_a_mapping_in_a_lists_place_is_a_finding_and_no_value(key: str) -> None:
    fields = read({key: {"a": "b"}})
    assert getattr(fields, key) == (("decision",) if key == "tags" else ())
    assert codes(fields) == ["not-a-list"]
    assert facts(fields, "not-a-list") == {"key": key}


@pytest.mark.rule("K-17")
def test_several_ids_in_the_place_of_one_are_not_picked_from() -> None:
    fields = read({"superseded_by": ["mem_a", "mem_b"]})
    assert (fields.superseded_by, codes(fields)) == ("", ["not-one-value"])


@pytest.mark.rule("K-17")
@pytest.mark.parametrize("key", ["superseded_by", "confidence", "importance", "pinned", "evidence"])
def test_an_unquoted_null_says_nothing(key: str) -> None:
    fields = read({key: "null"})
    assert getattr(fields, key) in ("", None, False)
    assert fields.findings == ()


# the rest


@pytest.mark.rule("LT-33", "LT-22")
@pytest.mark.parametrize(
    ("written", "taken", "finding"),
    [
        ("85", 85, []),
        (Quoted("85"), 85, []),
        ("85.0", 85, []),
        ("８５", 85, []),
        ("+7", 7, []),
        ("0", 0, []),
        ("100", 100, []),
        ("999", 100, ["importance-clamped"]),
        ("100.4", 100, ["importance-clamped"]),
        ("-5", 0, ["importance-clamped"]),
        ("9" * 5000, 100, ["importance-clamped"]),
        ("85.5", 86, ["importance-rounded"]),
        ("84.5", 85, ["importance-rounded"]),
        ("high", None, ["importance-bad"]),
        ("8_5", None, ["importance-bad"]),
        ("1e3", None, ["importance-bad"]),
        ("nan", None, ["importance-bad"]),
        ("85%", None, ["importance-bad"]),
        (None, None, []),
    ],
)
def test_importance_is_a_whole_number_from_0_to_100(
    written: str | None, taken: int | None, finding: list[str]
) -> None:
    fields = read({"importance": written})
    assert (fields.importance, codes(fields)) == (taken, finding)


@pytest.mark.rule("LT-20", "K-12")
@pytest.mark.parametrize(
    ("written", "flag"),
    [
        *((word, True) for word in ("true", "True", "yes", "on", "ON", "1", "是", "ｔｒｕｅ")),
        *((word, False) for word in ("false", "FALSE", "no", "off", "0", "否", "", None)),
    ],
)
def test_pinned_is_read_in_the_ways_people_say_yes_and_no(written: str | None, flag: bool) -> None:
    fields = read({"pinned": written})
    assert (fields.pinned, fields.findings) == (flag, ())


@pytest.mark.rule("LT-20")
def test_an_unreadable_flag_is_false() -> None:
    fields = read({"pinned": "maybe"})
    assert not fields.pinned
    assert facts(fields, "flag-bad") == {"key": "pinned", "word": "maybe"}


@pytest.mark.rule("LT-22")
@pytest.mark.parametrize(
    ("written", "word"), [("High", "high"), ("中", "medium"), ("low", "low"), (None, "")]
)
def test_confidence_is_understood_like_the_other_words(written: str | None, word: str) -> None:
    fields = read({"confidence": written})
    assert (fields.confidence, fields.rewrites, fields.findings) == (word, {}, ())


@pytest.mark.rule("LT-22")
def test_an_unknown_confidence_is_left_out() -> None:
    fields = read({"confidence": "sure"})
    assert fields.confidence == ""
    assert facts(fields, "unknown-confidence") == {"word": "sure"}


@pytest.mark.rule("LT-42")
def test_evidence_written_as_a_list_is_one_text() -> None:
    assert read({"evidence": ["a review", "a log"]}).evidence == "a review, a log"
    assert read({"evidence": []}).evidence == ""


@pytest.mark.rule("LT-38")
@pytest.mark.parametrize(
    ("written", "version", "finding"),
    [
        ("1", 1, []),
        (Quoted("1"), 1, []),
        ("1.0", 1, []),
        ("2", 2, ["newer-schema"]),
        ("99", 99, ["newer-schema"]),
        (None, 1, ["missing-key"]),
        ("v2", 1, ["schema-bad"]),
        ("0", 1, ["schema-bad"]),
        ("-1", 1, ["schema-bad"]),
        ("9" * 5000, 1, ["schema-bad"]),
    ],
)
def test_a_schema_version_is_1_or_newer(written: str | None, version: int, finding: list[str]) -> None:
    fields = read({"schema_version": written})
    assert (fields.schema_version, codes(fields)) == (version, finding)


@pytest.mark.rule("LT-20", "LT-31")
def test_known_keys_are_the_formats_and_their_synonyms() -> None:
    keys = known_keys(LONGTERM)
    assert set(keys.values()) == {key.name for key in LONGTERM.keys}
    assert (keys["tags"], keys["tag"], keys["alias"]) == ("tags", "tags", "aliases")
    assert known_keys(LONGTERM) is keys


@pytest.mark.rule("K-96")
def test_every_finding_has_its_wording_and_all_its_facts() -> None:
    fields = read(
        {
            "type": "book",
            "status": "arch",
            "title": {"a": "b"},
            "created_at": "soon",
            "updated_at": None,
            "tags": {"a": "b"},
            "confidence": "sure",
            "importance": "lots",
            "pinned": "maybe",
            "schema_version": "v2",
        },
        heading="记" * 301,
    )
    more = [
        *read({"importance": "999", "schema_version": "7"}).findings,
        *read({"importance": "1.5"}).findings,
    ]
    for finding in (*fields.findings, *more):
        assert finding.code in MESSAGES
        assert "{" not in message_of(finding, "en") + message_of(finding, "zh")
    assert len({finding.code for finding in (*fields.findings, *more)}) == 14
