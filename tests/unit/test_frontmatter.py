"""Frontmatter found and read: fences, states, values, findings."""

from __future__ import annotations

import tracemalloc

import pytest

from vaultkeeper.core.fields import known_keys
from vaultkeeper.core.finding import Finding
from vaultkeeper.core.frontmatter import Frontmatter, find_fences, read_frontmatter
from vaultkeeper.core.messages import MESSAGES, message_of
from vaultkeeper.core.text import decode
from vaultkeeper.core.yamlplain import read_plain
from vaultkeeper.core.yamltext import Quoted, Value, as_list, split_words
from vaultkeeper.formats.longterm import LONGTERM

KNOWN = known_keys(LONGTERM)
WHOLE = "---\nid: mem_1\nstatus: active\n---\nbody\n"


def read(text: str) -> Frontmatter:
    return read_frontmatter(text, "a.md", KNOWN)


def block(*lines: str) -> Frontmatter:
    return read("---\n" + "".join(line + "\n" for line in lines) + "---\nbody\n")


def told(front: Frontmatter) -> list[tuple[str, int]]:
    for finding in front.findings:
        assert finding.code in MESSAGES
        assert "{" not in message_of(finding, "zh") + message_of(finding, "en")
    return [(finding.code, finding.line) for finding in front.findings]


def facts(finding: Finding) -> dict[str, str]:
    return dict(finding.facts)


# fences


@pytest.mark.rule("K-10")
@pytest.mark.parametrize(
    ("text", "body"),
    [
        (WHOLE, "body\n"),
        ("--- \nid: mem_1\nstatus: active\n---  \t\nbody\n", "body\n"),
        ("---\nid: mem_1\nstatus: active\n...\nbody\n", "body\n"),
        ("---\nid: mem_1\nstatus: active\n---", ""),
        ("---\nid: mem_1\nstatus: active\n---\n", ""),
        (
            "---\nid: mem_1\nstatus: active\n---\nx\n\n---\nstatus: archived\n---\n",
            "x\n\n---\nstatus: archived\n---\n",
        ),
    ],
)
def test_frontmatter_stands_between_a_fence_on_the_first_line_and_the_next(text: str, body: str) -> None:
    front = read(text)
    assert (front.state, front.values) == ("read", {"id": "mem_1", "status": "active"})
    assert front.lines == {"id": 2, "status": 3}
    assert text[front.body_at :] == body
    assert (front.findings, front.mended) == ((), text)


@pytest.mark.rule("K-4", "K-10")
@pytest.mark.parametrize(
    "change", [lambda d: d, lambda d: b"\xef\xbb\xbf" + d, lambda d: d.replace(b"\n", b"\r\n")]
)
def test_bom_and_crlf_hide_no_frontmatter(change: object) -> None:
    assert callable(change)
    assert read(decode(change(WHOLE.encode()))).values == {"id": "mem_1", "status": "active"}


@pytest.mark.rule("K-10")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "---",
        "---\n",
        "----\nid: x\n---\n",
        " ---\nid: x\n---\n",
        "text\n---\nid: x\n---\n",
        "---\n\ntext under a rule\n",
        "---\ntext under a rule\n",
        "---\nhttp://x\n",
    ],
)
def test_any_other_fence_is_a_horizontal_rule(text: str) -> None:
    front = read(text)
    assert (front.state, front.values, front.body_at, front.findings) == ("absent", {}, 0, ())
    assert front.mended == text


@pytest.mark.rule("K-10")
@pytest.mark.parametrize("text", ["---\nid: x\n\n# H\n", "---\nid:\n", "---\nid：x\n", "---\nid:"])
def test_a_fence_that_is_never_closed_is_reported_and_opens_nothing(text: str) -> None:
    front = read(text)
    assert (front.state, front.values, front.body_at) == ("absent", {}, 0)
    assert told(front) == [("frontmatter-unclosed", 1)]


@pytest.mark.rule("K-11")
def test_blank_lines_before_the_fence_are_tolerated_and_reported() -> None:
    front = read("\n \n" + WHOLE)
    assert (front.state, front.values) == ("read", {"id": "mem_1", "status": "active"})
    assert front.lines == {"id": 4, "status": 5}
    assert told(front) == [("frontmatter-not-first", 3)]
    assert front.mended == "\n \n" + WHOLE


@pytest.mark.rule("K-11")
@pytest.mark.parametrize(
    "text",
    [
        "\n---\nSome prose.\n---\n",
        "\n---\nmood: good\n---\n",
        "\n---\nSome prose.\ntitle: x\n---\n",
        "\n---\nid: x\n",
        "\n---\nx: " + "y" * 300_000 + "\n---\n",
    ],
)
def test_behind_blank_lines_only_a_mapping_with_a_known_key_is_frontmatter(text: str) -> None:
    front = read(text)
    assert (front.state, front.values, front.body_at, front.findings) == ("absent", {}, 0, ())


def test_fences_are_where_the_text_says() -> None:
    fences = find_fences(WHOLE)
    assert fences is not None
    assert WHOLE[fences.begin : fences.end] == "id: mem_1\nstatus: active\n"
    assert find_fences("---\nid: x\n") is None
    assert find_fences("x") is None


@pytest.mark.rule("K-18")
@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("---\nid: y\ntags:\n  - x\n\n# c\n---\nbody\n", 5),
        ("\n\n---\nid: y\n---", 7),
        ("---\ntags：a\n---\n", 5),
    ],
)
def test_a_second_block_on_top_of_the_body_is_reported_and_never_merged(body: str, line: int) -> None:
    text = "---\nid: mem_1\nstatus: active\n---\n" + body
    front = read(text)
    assert (front.state, front.values) == ("read", {"id": "mem_1", "status": "active"})
    assert told(front) == [("second-frontmatter", line)]
    assert front.mended == text


@pytest.mark.rule("K-10")
@pytest.mark.parametrize(
    "body",
    [
        "---\n",
        "---\nid: y\n",
        "---\nSome prose.\n---\n",
        "---\nid: y\nSome prose.\n---\n",
        "x\n---\nid: y\n---\n",
    ],
)
def test_other_rules_in_the_body_are_body(body: str) -> None:
    assert read("---\nid: mem_1\n---\n" + body).findings == ()


# values


@pytest.mark.rule("K-12")
@pytest.mark.parametrize(
    "shown",
    [
        "no",
        "on",
        "yes",
        "off",
        "012",
        "1_000",
        "1:30",
        "1.10",
        "2024",
        "true",
        "null",
        "~",
        "2026-01-01",
        "0x1F",
        "1e3",
        "-5",
        ".5",
    ],
)
@pytest.mark.parametrize("rest", ["", "own: {a: b}\n"])  # the fast reader, the full reader
def test_scalars_stay_what_the_person_typed(shown: str, rest: str) -> None:
    front = read(f"---\ntitle: {shown}\naliases:\n  - {shown}\n{rest}---\n")
    title, aliases = front.values["title"], front.values["aliases"]
    assert (title, aliases, front.findings) == (shown, [shown], ())
    assert type(title) is str


@pytest.mark.rule("K-12")
@pytest.mark.parametrize(
    "shown", ['"null"', "'null'", '"nul\\x6C"', '"nu\\\n  ll"', "|-\n  null", ">-\n  null"]
)
def test_quoted_scalars_are_told_from_plain_ones(shown: str) -> None:
    value = block(f"title: {shown}", "x: y").values["title"]
    assert (value, type(value)) == ("null", Quoted)


@pytest.mark.rule("K-12", "K-17")
@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["key:"], None),
        (["key:  "], None),
        (["key: # c"], None),
        (["key: ''"], ""),
        (["key: a"], "a"),
        (["key:   a  "], "a"),
        (["key: a # c"], "a"),
        (["key: a#c"], "a#c"),
        (["key: a", "  b"], "a b"),
        (["key: []"], []),
        (["key: [ a,  b c ]"], ["a", "b c"]),
        (["key: [2026, 007, yes, 1.10, 2026-01-01, 12:30, http://x/y]"], ["2026", "007", "yes", "1.10", "2026-01-01", "12:30", "http://x/y"]),
        (["key: [", "  12:30,", "  b", "]"], ["12:30", "b"]),
        (["key: ['a, b', \"c\", '']"], ["a, b", "c", ""]),
        (["key:", "- a", "- b"], ["a", "b"]),
        (["key:", "", "  # c", "  - a", "", "# c", "  - 'b'"], ["a", "b"]),
        (["key:", "  -", "  - b"], [None, "b"]),
        (["key:", "  - - a", "  - [b]"], [["a"], ["b"]]),
        (["key:", "  a: b", "  a: c", "  d: [e]"], {"a": "b", "d": ["e"]}),
        (["key: {a: b}"], {"a": "b"}),
        (["key: &x [a]", "other: *x"], ["a"]),
        (["key: a\u2028b\x85c"], "a\u2028b\x85c"),
        (["key: !!str 1"], "1"),
    ],
)  # fmt: skip
def test_values_are_read_in_every_way_they_may_be_written(lines: list[str], value: Value) -> None:
    front = block(*lines)
    assert (front.state, front.values["key"], front.findings) == ("read", value, ())


@pytest.mark.rule("K-3")
def test_keys_are_kept_as_written_with_their_lines() -> None:
    front = block("# c", "Status: a", "'my key': b", "", '"x y" : c', "? z", ": d")
    assert front.values == {"Status": "a", "my key": "b", "x y": "c", "z": "d"}
    assert front.lines == {"Status": 3, "my key": 4, "x y": 6, "z": 7}


@pytest.mark.parametrize("lines", [[], ["# only a comment"], [""], ["  # c", ""]])
def test_an_empty_block_is_read_and_says_nothing(lines: list[str]) -> None:
    front = block(*lines)
    assert (front.state, front.values, front.findings) == ("read", {}, ())


# what cannot be read


@pytest.mark.rule("K-14")
@pytest.mark.parametrize(
    ("lines", "line", "column"),
    [
        (["id: x", 'title: "open'], 3, 8),
        (["id: x", "tags: [a, b", "status: y"], 3, 7),
        (["title: *nobody"], 2, 8),
        (["title: *nobody*"], 2, 15),
        (["title: a\x07b", "id: x"], 2, 9),
        (["title: \U000f8f28\u2028"], 2, 8),
        (["title: {[a]: b}"], 2, 9),
        (["just text"], 2, 1),
        (["- a"], 2, 1),
        (["own: x", "just text"], 3, 1),
        (["own: x", "--- y"], 3, 1),
    ],
)
def test_what_cannot_be_read_is_quarantined_with_line_and_column(
    lines: list[str], line: int, column: int
) -> None:
    front = block(*lines)
    assert front.state == "quarantined"
    (finding,) = front.findings
    assert (finding.code, finding.line, facts(finding)["column"]) == (
        "frontmatter-unreadable",
        line,
        str(column),
    )
    assert front.mended == "---\n" + "".join(each + "\n" for each in lines) + "---\nbody\n"


@pytest.mark.rule("K-18", "K-14")
def test_what_else_a_quarantined_block_says_is_still_told() -> None:
    assert block("id: x", 'title: "open', "own: y").values == {"id": "x", "own": "y"}


@pytest.mark.rule("K-14")
def test_of_several_broken_keys_the_first_is_told() -> None:
    assert told(block("id: x", "title: [a", "tags: [b", "type: {c")) == [("frontmatter-unreadable", 3)]


@pytest.mark.rule("K-12")
@pytest.mark.parametrize(
    "text",
    ["a: b\tc\n", "a: b #c\n", "a: - b\n", "a: b:\n", "a: b: c\n", "a: [b\n", "a: [[b]]\n", "a: “b”\n", "a: 'b''c'\n", 'a: "\\n"\n', "- b\n",
     "a:\n  - b\n - c\n", "a: b\n- c\n", "a:\n  - \n", "a:\n  b: c\n", "a：b\n", "a:b\n", "a: |\n", "a: \u2028\n", "? a\n", "a:\n  -\n"],
)  # fmt: skip
def test_the_fast_reader_leaves_the_unusual_to_the_full_one(text: str) -> None:
    assert read_plain(text) is None
    assert read_plain("b: c\n" + text) is None


@pytest.mark.rule("K-18")
def test_a_line_that_fits_nowhere_costs_no_good_key() -> None:
    front = block("id: x", "this line has no colon", "status: active", "own: [a", "tags:", "  a: b")
    assert front.state == "read"
    assert front.values == {"id": "x", "status": "active", "tags": {"a": "b"}}
    assert front.lines == {"id": 2, "status": 4, "tags": 6}
    assert told(front) == [("stray-line", 3), ("stray-line", 5)]
    assert facts(front.findings[0]) == {"text": "this line has no colon"}


@pytest.mark.rule("K-18")
def test_a_stray_line_before_the_first_key_is_reported() -> None:
    assert told(block("- what", "id: x")) == [("stray-line", 2)]
    assert told(block("  what", "id: x")) == [("stray-line", 2)]


@pytest.mark.rule("K-18")
@pytest.mark.parametrize("shown", ["x", '"x" # c', "'it''s'", '"\\"x"', "[a, 'b']", "@x"])
def test_a_list_item_at_the_margin_below_a_whole_value_fits_nowhere(shown: str) -> None:
    front = block(f"id: {shown}", "- stray", "title: y")
    assert (front.state, list(front.values)) == ("read", ["id", "title"])
    assert ("stray-line", 3) in told(front)


@pytest.mark.rule("K-18", "K-13")
def test_slips_are_mended_beside_a_stray_line_which_stays() -> None:
    front = block("title: a: b", "stray")
    assert front.values == {"title": "a: b"}
    assert front.mended == '---\ntitle: "a: b"\nstray\n---\nbody\n'


@pytest.mark.rule("K-15")
def test_a_known_key_with_two_values_is_quarantined_with_both_lines() -> None:
    front = block("id: x", "status: active", "Status: archived", "title: a: b")
    assert front.state == "quarantined"
    assert front.values == {"id": "x", "title": "a: b"}
    (finding,) = front.findings
    assert (finding.code, finding.line) == ("duplicate-key-conflict", 4)
    assert facts(finding) == {"key": "Status", "first": "3", "second": "4"}
    assert told(front)
    assert "title: a: b" in front.mended


@pytest.mark.rule("K-15")
@pytest.mark.parametrize(
    ("lines", "values"),
    [
        (["id: x", "id: 'x'"], {"id": "x"}),
        (["own: 1", "own: 2"], {"own": "1"}),
    ],
)
def test_a_harmless_double_is_read_once_and_reported(lines: list[str], values: dict[str, Value]) -> None:
    front = block(*lines)
    assert (front.state, front.values) == ("read", values)
    assert told(front) == [("duplicate-key", 3)]
    assert facts(front.findings[0])["other"] == "2"


@pytest.mark.rule("K-15")
def test_own_keys_that_differ_by_case_are_two_keys() -> None:
    front = block("own: 1", "Own: 2")
    assert (front.values, front.findings) == ({"own": "1", "Own": "2"}, ())


def _bomb() -> str:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]\n"]
    lines += [f"{c}: &{c} [{', '.join(['*' + chr(ord(c) - 1)] * 10)}]\n" for c in "bcdefghi"]
    return "".join(lines)


@pytest.mark.rule("K-16")
@pytest.mark.parametrize(
    "source",
    [
        _bomb(),
        "a: &a [" + "x, " * 1000 + "]\nb: [" + "*a, " * 9 + "]\n",
        "a: &a '" + "x" * 100_000 + "'\nb: [*a, *a, *a]\n",
        "a: " + "[" * 51 + "]" * 51 + "\n",
        "a: " + "[" * 200_000 + "\n",
        "a:\n" + "- " * 100_000 + "x\n",
        "a: " + "{a: " * 60_000 + "\n",
        "".join(" " * depth + "a:\n" for depth in range(600)),
        "a: " + "x" * 262_144 + "\n",
        "a: " + "中" * 90_000 + "\n",
    ],
    ids=["alias-bomb", "alias-nodes", "alias-text", "flow-51", "flow", "items", "mappings", "indented", "long", "long-cjk"],
)  # fmt: skip
@pytest.mark.timeout(10)
def test_hostile_frontmatter_is_quarantined_without_being_expanded(source: str) -> None:
    text = "---\ntitle: x\n" + source + "---\nbody\n"
    read("---\ntitle: {a: b}\n---\n")  # the parser is loaded at its first use
    tracemalloc.start()
    front = read(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert front.state == "quarantined"
    assert told(front) == [("frontmatter-too-large", 1)]
    assert (front.values, front.mended) == ({}, text)
    assert peak < 50_000_000


@pytest.mark.rule("K-16")
@pytest.mark.parametrize(
    "source",
    [
        "a: " + "[" * 50 + "]" * 50 + "\n",
        "a: &a [x, y]\nb: [" + "*a, " * 3000 + "]\n",
        "a: " + "x" * 200_000 + "\n",
        "a: '" + "[" * 1000 + "'\n",
        "".join(f"key{number}: value\n" for number in range(3000)),
    ],
    ids=["deep-50", "aliases", "long", "brackets-in-text", "keys"],
)
def test_what_stays_within_the_limits_is_read(source: str) -> None:
    assert read("---\n" + source + "---\n").state == "read"


@pytest.mark.rule("K-16")
@pytest.mark.parametrize(
    "source",
    [
        "x\n" * 100_000,
        "a: [\n" * 40_000,
        "a: }\n" * 40_000,
        "a: {" * 60_000 + "\n",
        ": " * 100_000 + "\n",
        "? " * 100_000 + "\n",
    ],
    ids=["lines", "open", "closed", "braces", "colons", "questions"],
)
@pytest.mark.timeout(10)
def test_a_block_of_nothing_but_rubbish_is_given_up_early(source: str) -> None:
    front = read("---\ntitle: x\n" + source + "---\n")
    assert len(front.findings) == 1
    assert told(front)[0][0] in {"frontmatter-unreadable", "frontmatter-too-large", "stray-line"}


@pytest.mark.rule("K-16")
def test_an_alias_within_its_own_anchor_ends() -> None:
    assert told(block("title: x", "own: &a [*a]")) == [("stray-line", 3)]


# notes that are left alone


@pytest.mark.rule("K-54")
@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("title: {{title}}", "{{title}}"),
        ('title: "{{title}}"', "{{title}}"),
        ("title: <% tp.file.title %>", "<% tp.file.title %>"),
        ("title: a: {{b}}", "a: {{b}}"),
    ],
)
def test_a_template_is_read_as_well_as_it_can_be_and_left_alone(line: str, value: str) -> None:
    front = block("id: x", line, "tags: #a")
    assert (front.state, front.values["title"], front.values["id"]) == ("template", value, "x")
    assert told(front) == [("template", 3)]
    assert front.mended == f"---\nid: x\n{line}\ntags: #a\n---\nbody\n"


@pytest.mark.rule("K-54")
@pytest.mark.parametrize(
    "text",
    ["---\ntitle: x\n---\n{{date}} <% x %>\n", "---\ntitle: a {{ b\n---\n", "---\nx: {a: {b: c}}\n---\n"],
)
def test_braces_elsewhere_make_no_template(text: str) -> None:
    assert (read(text).state, read(text).findings) == ("read", ())


MARKERS = "<<<<<<< HEAD\nstatus: active\n=======\nstatus: archived\n>>>>>>> main\n"


@pytest.mark.rule("K-54")
def test_conflict_markers_in_the_frontmatter_freeze_the_note_and_trust_neither_side() -> None:
    text = f"---\nid: x\n{MARKERS}title: a: b\n---\nbody\n"
    front = read(text)
    assert (front.state, front.values) == ("conflict", {"id": "x", "title": "a: b"})
    assert told(front) == [("conflict-markers", 3)]
    assert front.mended == text


@pytest.mark.rule("K-54")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\nid: x\n---\n" + MARKERS, 4),
        ("plain\n" + MARKERS, 2),
        ("```\ncode\n```\n" + MARKERS, 4),
        ("<<<<<<< lonely\n" + MARKERS, 2),
        ("<<<<<<< a\nx\n||||||| b\ny\n=======\nz\n>>>>>>> c\n", 1),
    ],
)
def test_conflict_markers_anywhere_freeze_the_note(text: str, line: int) -> None:
    front = read(text)
    assert (front.state, told(front)) == ("conflict", [("conflict-markers", line)])


@pytest.mark.rule("K-54")
@pytest.mark.parametrize(
    "text",
    [
        "```\n" + MARKERS + "```\n",
        "~~~~\n" + MARKERS + "~~~\n",
        "````md\n```\n" + MARKERS + "````\n",
        "<<<<<<< a\n>>>>>>> b\n",
        "=======\n<<<<<<< a\n>>>>>>> b\n=======\n",
        " <<<<<<< a\n=======\n >>>>>>> b\n",
        "<<<<<<<\n=======\n>>>>>>>\n",
    ],
)
def test_markers_in_code_or_out_of_order_are_text(text: str) -> None:
    assert read(text).state == "absent"


# lists


@pytest.mark.rule("K-17")
@pytest.mark.parametrize(
    ("value", "items"),
    [
        (None, []),
        ("null", []),
        ("~", []),
        (Quoted("null"), ["null"]),
        (Quoted(""), []),
        ("a", ["a"]),
        ("a, b", ["a, b"]),
        ([], []),
        (["a", None, "b"], ["a", "b"]),
        ([["a", ["b"]], "c"], ["a", "b", "c"]),
        ({"a": "b"}, None),
        (["a", {"b": "c"}], None),
        ([["a", {"b": "c"}]], None),
        (Quoted('["svelte", "调试"]'), ["svelte", "调试"]),
        (Quoted('["\\ud83d\\ude00"]'), ["😀"]),
        (Quoted("[a, 'b, c', 012]"), ["a", "b, c", "012"]),
        (Quoted(" [a] "), ["a"]),
        (Quoted("[]"), []),
        (Quoted("[[Note]]"), ["[[Note]]"]),
        (Quoted("[[Note]] and [x]"), ["[[Note]] and [x]"]),
        (Quoted("[a"), ["[a"]),
        (Quoted("[a, {b: c}]"), ["[a, {b: c}]"]),
        (Quoted("[a]\nb: [c]"), ["[a]\nb: [c]"]),
        (Quoted("[x] [y]"), ["[x] [y]"]),
        (Quoted("[" * 60 + "]" * 60), ["[" * 60 + "]" * 60]),
    ],
)
def test_whatever_stands_in_a_lists_place_counts_as_a_list(value: Value, items: list[str] | None) -> None:
    assert as_list(value) == items


@pytest.mark.rule("LT-31")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a, b", ["a", "b"]),
        ("a、b", ["a", "b"]),
        ("a，b", ["a", "b"]),
        ("#a #b", ["#a", "#b"]),
        ("a b", ["a", "b"]),
        ("two words, b c", ["two words", "b c"]),
        (" a ,, b, ", ["a", "b"]),
        ("a", ["a"]),
        ("  ", []),
        ("", []),
    ],
)
def test_words_are_split_at_commas_and_at_blanks_only_where_there_is_none(
    text: str, words: list[str]
) -> None:
    assert split_words(text) == words


@pytest.mark.rule("K-13", "K-14", "K-18")
@pytest.mark.parametrize("tags", ["tags: #a #b", 'type: "task"', "tags: [a]\nmine: it's", 'source: say "so"'])
def test_a_quote_that_is_never_closed_costs_no_other_key(tags: str) -> None:
    """However the quotes of later lines pair up with it, nothing below is taken for its words."""
    front = read(f'---\nid: x\ntitle: "The thing\nstatus: active\n{tags}\n---\nbody\n')
    assert front.state == "quarantined"
    assert front.values["status"] == "active"
    assert [(finding.line, finding.code) for finding in front.findings] == [(3, "frontmatter-unreadable")]


def test_a_quote_that_is_closed_on_a_later_line_is_a_text() -> None:
    front = read('---\ntitle: "The\nthing"\nstatus: active\n---\nbody\n')
    assert front.values == {"title": "The thing", "status": "active"}
