"""Single frontmatter keys changed, every other byte as it was; values written so that they read back the same."""

from __future__ import annotations

import pytest

from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.fields import known_keys
from vaultkeeper.core.frontmatter import read_frontmatter
from vaultkeeper.core.patch import PatchRefusedError, WriteValue, new_block, patch, quote
from vaultkeeper.formats.longterm import LONGTERM

ORDER = [key.name for key in LONGTERM.keys]
KNOWN = known_keys(LONGTERM)

NOTE = """---
zeta: 1   # user key
id: mem_1

# section comment
type: decision
status:   active  # for now
title: 'a "quoted" one'
created_at: "2026-01-20T16:01:25+01:00"
Alpha: { b: 2, a: 1 }
tags: [x,  y] # two
aliases:
    - A # why
    # about B
    - "B"

    - C
# end
---

body: text
---
status: in the body
---
no last newline"""


def changed(text: str, **changes: WriteValue | None) -> tuple[list[str], list[str]]:
    """The lines that a patch takes away and those it adds."""
    patched = patch(text, changes, ORDER)
    assert patch(patched, changes, ORDER) == patched
    old, new = text.split("\n"), patched.split("\n")
    head = next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    old, new = old[head:], new[head:]
    while old and new and old[-1] == new[-1]:
        old.pop(), new.pop()
    return old, new


def fenced(*lines: str) -> str:
    return "---\n" + "".join(line + "\n" for line in lines) + "---\nbody\n"


@pytest.mark.rule("K-3")
@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("status", "archived", ["status:   active  # for now"], ["status:   archived  # for now"]),
        ("title", "it's", ["title: 'a \"quoted\" one'"], ["title: 'it''s'"]),
        ("title", "a\nb", ["title: 'a \"quoted\" one'"], ['title: "a\\nb"']),
        ("created_at", "2026", ['created_at: "2026-01-20T16:01:25+01:00"'], ['created_at: "2026"']),
        ("zeta", 2, ["zeta: 1   # user key"], ["zeta: 2   # user key"]),
        ("zeta", True, ["zeta: 1   # user key"], ["zeta: true   # user key"]),
        ("id", 7, ["id: mem_1"], ["id: 7"]),
        ("tags", ["x", "z, z"], ["tags: [x,  y] # two"], ['tags: [x, "z, z"] # two']),
        ("tags", "x", ["tags: [x,  y] # two"], ["tags: x  # two"]),
        ("tags", [], ["tags: [x,  y] # two"], ["tags: [] # two"]),
        ("Alpha", "x", ["Alpha: { b: 2, a: 1 }"], ["Alpha: x"]),
        ("aliases", ["A", "B", "C", "D"], [], ["    - D"]),
        ("aliases", ["0", "A", "B", "C"], [], ['    - "0"']),
        ("aliases", ["A", "C"], ['    - "B"'], []),
        ("aliases", ["A", "x: y", "C"], ['    - "B"'], ['    - "x: y"']),
        ("aliases", "one", NOTE.split("\n")[11:17], ["aliases: one"]),
        ("aliases", [], NOTE.split("\n")[11:17], ["aliases: []"]),
        ("aliases", None, NOTE.split("\n")[11:17], []),
        ("status", None, ["status:   active  # for now"], []),
        ("id", None, ["id: mem_1"], []),
    ],
)
def test_an_edit_changes_the_lines_of_its_key_only(
    key: str, value: WriteValue | None, old: list[str], new: list[str]
) -> None:
    assert changed(NOTE, **{key: value}) == (old, new)


@pytest.mark.rule("K-3")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("status", "active"),
        ("created_at", "2026-01-20T16:01:25+01:00"),
        ("title", 'a "quoted" one'),
        ("tags", ["x", "y"]),
        ("aliases", ("A", "B", "C")),
        ("zeta", 1),
        ("zeta", "1"),
        ("evidence", None),
    ],
)
def test_a_value_that_is_there_already_changes_no_byte(key: str, value: WriteValue | None) -> None:
    assert patch(NOTE, {key: value}, ORDER) == NOTE
    assert patch(NOTE, {}, ORDER) == NOTE


@pytest.mark.rule("K-3")
@pytest.mark.parametrize(
    ("lines", "key", "value", "expected"),
    [
        (["title:", "id: x"], "title", "a", ["title: a", "id: x"]),
        (["title:   # c", "id: x"], "title", "a", ["title: a   # c", "id: x"]),
        (["title:", "id: x"], "title", "", ["title:", "id: x"]),
        (["title: x"], "title", "", ['title: ""']),
        (["tags:", "id: x"], "tags", ["a"], ["tags:", "  - a", "id: x"]),
        (["tags: a, b  # c"], "tags", ["a"], ["tags:  # c", "  - a"]),
        (["tags: a", "own:", "- b"], "tags", ["a"], ["tags:", "- a", "own:", "- b"]),
        (["tags: a", "own: [b]"], "tags", ["a", "c"], ["tags: [a, c]", "own: [b]"]),
        (["tags: # c", "  - a", "id: x"], "tags", "b", ["tags: b  # c", "id: x"]),
        (["tags:", "- 'a'", "- 'b'"], "tags", ["b", "c"], ["tags:", "- 'b'", "- 'c'"]),
        (["tags:", "  - [a]", "  - b"], "tags", ["c"], ["tags:", "  - c"]),
        (["tags:", "  - a", "    b", "  - c"], "tags", ["c"], ["tags:", "  - c"]),
        (["tags:", "  -", "    a"], "tags", ["c"], ["tags:", "  - c"]),
        (["tags: [", "  a,", "  b", "] # c", "id: x"], "tags", ["b"], ["tags: [b] # c", "id: x"]),
        (["tags:", "  [a, b] # c"], "tags", ["b"], ["tags: [b] # c"]),
        (
            ["aliases: [12:30]", "id: x"],
            "aliases",
            ["12:30", "b"],
            ['aliases: ["12:30", b]', "id: x"],
        ),
        (
            ["evidence: |", "  a", "  # b", "", "# c", "id: x"],
            "evidence",
            "v",
            ["evidence: v", "", "# c", "id: x"],
        ),
        (["evidence: >-  # d", "  a", "id: x"], "evidence", "a: b", ['evidence: "a: b"', "id: x"]),
        (['evidence: "a', '  # b"  # c', "id: x"], "evidence", "v", ['evidence: "v"  # c', "id: x"]),
        (["evidence: a", "  b", "", "id: x"], "evidence", "v", ["evidence: v", "", "id: x"]),
        (["evidence: a", "  # b", "id: x"], "evidence", None, ["  # b", "id: x"]),
        (["evidence:", "  a: b", "id: x"], "evidence", "v", ["evidence: v", "id: x"]),
        (["evidence: {a: b,", "  c: d} # e", "id: x"], "evidence", "v", ["evidence: v  # e", "id: x"]),
        (["Status: a"], "status", "b", ["Status: b"]),
        (["'my key' : a"], "my key", "b", ["'my key' : b"]),
        (["a: &a x", "id: *a"], "id", "q", ["a: &a x", "id: q"]),
        (["title: a: b # c", "stray", "id: x"], "title", "q", ["title: q", "stray", "id: x"]),
        (["title: a", "stray", "own: [", "id: x"], "title", "q", ["title: q", "stray", "own: [", "id: x"]),
        (["title: a: b", "id: x"], "id", "q", ["title: a: b", "id: q"]),
        (["title:\ta"], "title", "q", ["title:\tq"]),
        (["title: # c"], "title", "q", ["title: q  # c"]),
        (["title: 'a' # c"], "title", "q", ["title: 'q'  # c"]),
    ],
)
def test_every_style_of_value_is_replaced_whole(
    lines: list[str], key: str, value: WriteValue | None, expected: list[str]
) -> None:
    assert patch(fenced(*lines), {key: value}, ORDER) == fenced(*expected)


@pytest.mark.rule("K-3", "LT-20")
@pytest.mark.parametrize(
    ("lines", "key", "value", "expected"),
    [
        ([], "id", "x", ["id: x"]),
        (["id: x", "title: y"], "type", "task", ["id: x", "type: task", "title: y"]),
        (["title: y", "own: z"], "id", "x", ["id: x", "title: y", "own: z"]),
        (["own: z", "# the title", "title: y"], "id", "x", ["own: z", "id: x", "# the title", "title: y"]),
        (["tags:", "  - a", "", "# end"], "pinned", True, ["tags:", "  - a", "pinned: true", "", "# end"]),
        (["own: z", ""], "id", "x", ["own: z", "id: x", ""]),
        (["id: x"], "vaultkeeper", "off", ["id: x", 'vaultkeeper: "off"']),
        (["title: x", "id: y"], "status", "a", ["title: x", "id: y", "status: a"]),
        (["Title: x"], "id", "v", ["id: v", "Title: x"]),
        (["id: x"], "tags", ["a", "b"], ["id: x", "tags:", "  - a", "  - b"]),
        (["id: x", "own: [a]"], "tags", ["a", "b"], ["id: x", "tags: [a, b]", "own: [a]"]),
        (["id: x", "own:", "- a"], "tags", ["a"], ["id: x", "tags:", "- a", "own:", "- a"]),
        (["id: x", 'up: "[[a]]"', "us: [[a]]"], "tags", ["a"], ["id: x", "tags:", "  - a", 'up: "[[a]]"', "us: [[a]]"]),
        (["id: x"], "tags", [], ["id: x", "tags: []"]),
        (["id: x"], "own: key", "a", ["id: x", '"own: key": a']),
    ],
)  # fmt: skip
def test_a_new_key_is_put_at_its_place_in_the_notes_style(
    lines: list[str], key: str, value: WriteValue, expected: list[str]
) -> None:
    assert patch(fenced(*lines), {key: value}, ORDER) == fenced(*expected)


@pytest.mark.rule("K-3", "LT-60")
def test_several_keys_are_changed_at_once() -> None:
    text = fenced("id: x", "status: active")
    patched = patch(text, {"status": "superseded", "superseded_by": "v", "title": "t", "id": None}, ORDER)
    assert patched == fenced("status: superseded", "title: t", "superseded_by: v")


@pytest.mark.rule("K-3", "K-11")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nid: x\n---", "---\nid: x\nstatus: a\n---"),
        ("--- \nid: x\n...\t\nbody", "--- \nid: x\nstatus: a\n...\t\nbody"),
        ("\n\n---\nid: x\n---\n", "\n\n---\nid: x\nstatus: a\n---\n"),
        ("---\n---\n", "---\nstatus: a\n---\n"),
    ],
)
def test_fences_and_what_stands_around_them_stay(text: str, expected: str) -> None:
    assert patch(text, {"status": "a"}, ORDER) == expected


@pytest.mark.rule("K-54", "K-18")
@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("", "id", "x"),
        ("no frontmatter\n", "id", "x"),
        ("---\nid: x\n", "id", "y"),
        ("---\nid: {{id}}\n---\n", "id", "x"),
        ("---\nid: x\n---\n<<<<<<< a\n=======\n>>>>>>> b\n", "id", "y"),
        (fenced("id: x", 'title: "open'), "id", "y"),
        (fenced("id: x", "id: x"), "id", "y"),
        (fenced("own: x", "own: y"), "own", "z"),
        (fenced("own: x", "own: y"), "own", None),
        (fenced("{id: x}"), "id", "y"),
        (fenced("{id: x}"), "title", "y"),
        (fenced("? id", ": x"), "id", "y"),
        (fenced("? id", ": x"), "id", None),
        (fenced("own: &a x", "id: *a"), "own", "y"),
        (fenced("own: &a x", "mid: &a y", "id: *a"), "mid", None),
        (fenced('own: "a', 'b"', "id: x"), "own", "y"),
        (fenced("id: x", "own: 'a", "title: b", "  '"), "title", "y"),
        (fenced("id: x"), "own", "\ud800"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str, key: str, value: WriteValue | None) -> None:
    with pytest.raises(PatchRefusedError) as caught:
        patch(text, {key: value}, ORDER)
    assert isinstance(caught.value, VaultkeeperError)
    assert caught.value.key == key
    assert key in str(caught.value)


@pytest.mark.rule("K-54")
def test_a_key_cannot_get_two_values_at_once() -> None:
    for key in ("own", "new"):
        with pytest.raises(PatchRefusedError):
            patch(fenced("own: x"), {key: "a", key.title(): "b"}, ORDER)
    with pytest.raises(PatchRefusedError):
        patch(fenced("own: x"), {"own": "a", "Own": None}, ORDER)


@pytest.mark.rule("K-3")
@pytest.mark.timeout(10)
def test_a_list_of_very_many_items_is_edited_in_good_time() -> None:
    items = [f"- {number % 3}" for number in range(20_000)]
    text = fenced("tags:", *items, "# c")
    assert patch(text, {"tags": [*(item[2:] for item in items), "new"]}, ORDER) == fenced(
        "tags:", *items, "- new", "# c"
    )


@pytest.mark.rule("K-19")
@pytest.mark.parametrize(
    "text",
    ["a", "Keep Markdown", "中文", "🌲", "a-b", "-x", "a:b", "a#b", "http://x/y?z", "50%", "it's", 'say "x"', "1.2.3 released", "(a)",
     "/path", "mem_20261017t075957_b1c8069b", "2026-10-17T07:59:57.013Z", "《书》", "a, b", "C++", "2026-10-17 was a day"],
)  # fmt: skip
def test_text_is_plain_where_it_can_be(text: str) -> None:
    assert quote(text) == text


@pytest.mark.rule("K-12", "K-19")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *((word, f'"{word}"') for word in ["", " a", "a ", "a: b", "a:", "小结:", "a #b", "#a", "- x", "-", "--- x", "? x", ": x", "@a"]),
        *((word, f'"{word}"') for word in ["`a`", "%a", "[a]", "{a}", "&a", "*a", "!a", "|", ">", ",a", "'a'", "“a”", "‘a’", "=", "<<"]),
        *((word, f'"{word}"') for word in ["null", "~", "True", "false", "YES", "no", "on", "Off", "y", "N", "2024", "-5", "1.10", "007"]),
        *((word, f'"{word}"') for word in ["1_000", "1:30", "1e3", ".5", "0x1F", "0o17", ".inf", "-.INF", ".NaN", "2026-10-17"]),
        *((word, f'"{word}"') for word in ["2026-10-17T11:12:00+08:00", "2026-10-17 03:12:00", "12,345"]),
        ('"a"', '"\\"a\\""'),
        ("@a\\b", '"@a\\\\b"'),
        ("a\nb\tc\rd", '"a\\nb\\tc\\rd"'),
        ("a\x07\x85\u2028\ufeff", '"a\\x07\\x85\\u2028\\uFEFF"'),
        ("{{x}}", '"{\\x7Bx}}"'),
        ("a {{{x}}}", '"a {\\x7B{x}}}"'),
        ("a <% x %>", '"a <\\x25 x %>"'),
    ],
)  # fmt: skip
def test_text_is_quoted_where_yaml_would_take_it_for_something_else(text: str, shown: str) -> None:
    assert quote(text) == shown
    assert read_frontmatter(f"---\ntitle: {shown}\n---\n", "", KNOWN).values == {"title": text}


@pytest.mark.rule("K-19", "LT-20")
def test_a_new_block_is_written_in_one_style() -> None:
    block = new_block(
        {"id": "mem_1", "title": "a: b", "tags": ["x", "#y"], "importance": 85, "pinned": True, "aliases": []}
    )
    assert block == (
        '---\nid: mem_1\ntitle: "a: b"\ntags:\n  - x\n  - "#y"\nimportance: 85\npinned: true\naliases: []\n---\n'
    )
    assert new_block({}) == "---\n---\n"
