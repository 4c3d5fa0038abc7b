"""Common slips in frontmatter, mended by quoting just the value."""

from __future__ import annotations

import pytest

from vaultkeeper.core.fields import known_keys
from vaultkeeper.core.frontmatter import Frontmatter, read_frontmatter
from vaultkeeper.core.messages import MESSAGES, message_of
from vaultkeeper.core.slips import TEXT_REPAIRS, TextRepair
from vaultkeeper.core.yamltext import Value
from vaultkeeper.formats.longterm import LONGTERM

KNOWN = known_keys(LONGTERM)


def read(block: str) -> Frontmatter:
    front = read_frontmatter(f"---\n{block}\n---\nbody: a: b\n", "a.md", KNOWN)
    for finding in front.findings:
        assert "{" not in message_of(finding, "en")
    return front


def mended(block: str) -> str:
    front = read(block)
    return front.mended.removeprefix("---\n").removesuffix("\n---\nbody: a: b\n")


@pytest.mark.rule("K-13")
@pytest.mark.parametrize("repair", TEXT_REPAIRS, ids=lambda repair: repair.code)
def test_the_example_of_a_repair_holds_and_is_a_fixed_point(repair: TextRepair) -> None:
    assert repair.code in MESSAGES
    assert repair.mend(repair.before, KNOWN) == repair.after == repair.mend(repair.after, KNOWN)


@pytest.mark.rule("K-13", "K-3")
@pytest.mark.parametrize("repair", TEXT_REPAIRS, ids=lambda repair: repair.code)
def test_a_repair_is_reported_with_key_and_line_and_keeps_every_other_byte(repair: TextRepair) -> None:
    front = read(f"id:   x # c\n{repair.before}\n\nown: [a,  b]")
    assert front.state == "read"
    assert front.mended == f"---\nid:   x # c\n{repair.after}\n\nown: [a,  b]\n---\nbody: a: b\n"
    key = repair.after.partition(":")[0]
    lines = zip(repair.before.split("\n"), repair.after.split("\n"), strict=True)
    changed = [number for number, (old, new) in enumerate(lines, start=3) if old != new]
    assert [(f.code, f.line, f.facts) for f in front.findings] == [
        (repair.code, line, (("key", key),)) for line in changed
    ]
    assert key in front.values


@pytest.mark.rule("K-13")
@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        # an unquoted `: `
        ("title: a: b", 'title: "a: b"', "a: b"),
        ("title: 小结:", 'title: "小结:"', "小结:"),
        ("title:   a:\tb  # c", 'title:   "a:\tb"  # c', "a:\tb"),
        ('title: say "x": y', "title: 'say \"x\": y'", 'say "x": y'),
        ("title: C:\\x: it's", "title: 'C:\\x: it''s'", "C:\\x: it's"),
        ("own: a: b # c", 'own: "a: b" # c', "a: b"),
        ("aliases:\n  - Note: the book\n  - Note:", 'aliases:\n  - "Note: the book"\n  - "Note:"', ["Note: the book", "Note:"]),
        ("aliases:\n- a: b # c\n\n# d\n- e", 'aliases:\n- "a: b" # c\n\n# d\n- e', ["a: b", "e"]),
        ("aliases:\n  - a\n  - - b: c\n  - “d”", 'aliases:\n  - a\n  - - b: c\n  - "d"', ["a", [{"b": "c"}], "d"]),
        ("tags:\n  - #a\n    b\n  - #c", 'tags:\n  - #a\n    b\n  - "#c"', ["b", "#c"]),
        # an unquoted ` #`
        ("title: C # for beginners", 'title: "C # for beginners"', "C # for beginners"),
        ("title: Issue #42 is closed", 'title: "Issue #42 is closed"', "Issue #42 is closed"),
        ("title: Issue #42  # true comment", 'title: "Issue #42"  # true comment', "Issue #42"),
        ("title: #5 alive", 'title: "#5 alive"', "#5 alive"),
        ("evidence: see #1: it", 'evidence: "see #1: it"', "see #1: it"),
        # a leading special character
        ("superseded_by: [[A note]]", 'superseded_by: "[[A note]]"', "[[A note]]"),
        ("up: [[A|b]] # c", 'up: "[[A|b]]" # c', "[[A|b]]"),
        ("up: [[A]], [[B]]", 'up: "[[A]], [[B]]"', "[[A]], [[B]]"),
        ("title: [[A]] # x", 'title: "[[A]] # x"', "[[A]] # x"),
        ("up:\n  - [[A]]\n  - @b", 'up:\n  - "[[A]]"\n  - "@b"', ["[[A]]", "@b"]),
        ("title: @ada", 'title: "@ada"', "@ada"),
        ("title: `code` x", 'title: "`code` x"', "`code` x"),
        ("title: %x", 'title: "%x"', "%x"),
        # tags with `#`
        ("tags: #a #b", 'tags: "#a #b"', "#a #b"),
        ("tags: #a, b，#c", 'tags: "#a, b，#c"', "#a, b，#c"),
        ("tags: #a #b # c", 'tags: "#a #b" # c', "#a #b"),
        ("tag: #a", 'tag: "#a"', "#a"),
        ("tags:\n  - #todo\n  - plain # a true comment", 'tags:\n  - "#todo"\n  - plain # a true comment', ["#todo", "plain"]),
        ("tags: [#a, b,#c]", 'tags: ["#a", b,"#c"]', ["#a", "b", "#c"]),
        ("tags: [ #a ]  # c", 'tags: [ "#a" ]  # c', ["#a"]),
        ("aliases:\n  - #1", 'aliases:\n  - "#1"', ["#1"]),
        # tabs
        ("tags:\n\t- a\n\t- b", "tags:\n  - a\n  - b", ["a", "b"]),
        ("tags:\n    - a\n\t- b", "tags:\n    - a\n    - b", ["a", "b"]),
        ("own:\n\ta:\n\t\tb: c", "own:\n  a:\n    b: c", {"a": {"b": "c"}}),
        ("tags:\n\t- #a", 'tags:\n  - "#a"', ["#a"]),
        # typographic quotes
        ("title: “a b”", 'title: "a b"', "a b"),
        ("title: ‘a’", 'title: "a"', "a"),
        ("title: ”a: b”", 'title: "a: b"', "a: b"),
        ("title: „a“  # c", 'title: "a"  # c', "a"),
        ("title: “a \"b\"”", "title: 'a \"b\"'", 'a "b"'),
        ("title: “”", 'title: ""', ""),
        ("tags: [“a”, b]", 'tags: ["a", b]', ["a", "b"]),
        ("tags:\n  - “a”", 'tags:\n  - "a"', ["a"]),
        # a full-width colon, a missing space
        ("status：active", "status: active", "active"),
        ("Status ： active", "Status: active", "active"),
        ("title：a: b", 'title: "a: b"', "a: b"),
        ("tags：\n  - a", "tags:\n  - a", ["a"]),
        ("tags：[a]", "tags: [a]", ["a"]),
        ("status:active", "status: active", "active"),
        ('title:"a"', 'title: "a"', "a"),
        ("tags:[a, b]", "tags: [a, b]", ["a", "b"]),
        ("title:Plan: phase 2", 'title: "Plan: phase 2"', "Plan: phase 2"),
        ("title:“a”", 'title: "a"', "a"),
    ],
)  # fmt: skip
def test_a_slip_is_mended_by_quoting_just_the_value(before: str, after: str, value: Value) -> None:
    for more in ("", "\nid: x", "\nid: x\n- stray"):
        front = read(before + more)
        assert (front.state, next(iter(front.values.values()))) == ("read", value)
        assert mended(before + more) == after + more
        slips = [finding.code for finding in front.findings if finding.code != "stray-line"]
        assert slips
        assert all(code.startswith("slip-") for code in slips)


@pytest.mark.rule("K-13", "K-3")
@pytest.mark.parametrize(
    "block",
    [
        "zeta: 1   # user key",
        "status: active # was pending",
        "title: a  # comment",
        "title: # comment",
        "title: 'a' # comment",
        "tags: [a] # b",
        "tags: # a comment",
        "tags: #\n  - a",
        "tags: #mine\n  - a",
        "tags: #TODO fill in",
        "tags: ##",
        "tags:\n  - a #b",
        "tags:\n  - # c\n    a",
        "own: #a #b",
        "own:\n  - #a",
        "own:\n  - a: b",
        "own: “a”",
        "title: “a” and “b”",
        "title: “a” b",
        "aliases:\n  - a: b\n    c: d",
        "aliases:\n  - a:\n      b",
        "aliases:\n  - 'a': b",
        "tags:\n  a: b",
        "own: [[a, b], [c]]",
        "own: [[[a]]]",
        "url: http://x",
        "title: http://x",
        "title: a :b",
        "title: 50%",
        "title: a@b",
        "title: a\tb",
        "title: 中文：标题",
        "own：x: y",
        "evidence: |\n  a: b # c\n  status：x\n  - #x\n\n  “x”",
        "evidence: |\n  a # b\n  \tc",
        "evidence: >\n  title: a: b",
        "evidence: 'a\n  b: c # d'",
        "evidence: \"a\nstatus: [[b]]\"",
        "evidence: a\n  b #c",
    ],
)  # fmt: skip
def test_what_is_no_slip_is_left_as_it_is(block: str) -> None:
    front = read(block)
    assert (front.state, front.findings) == ("read", ())
    assert mended(block) == block


@pytest.mark.rule("K-13")
@pytest.mark.parametrize(
    "block",
    [
        "http://x",
        "own:x",
        "own：x",
        "title://x",
        "title::x",
        "标题：x",
        "'status':x",
        "own: [#a]",
        "title: [“a”",
        "- #a",
    ],
)
def test_only_known_keys_are_read_without_their_colon(block: str) -> None:
    front = read(f"{block}\nid: x")
    assert mended(f"{block}\nid: x") == f"{block}\nid: x"
    assert [finding.code for finding in front.findings] in (["stray-line"], ["frontmatter-unreadable"])


@pytest.mark.rule("K-13", "K-14")
def test_a_slip_whose_repair_does_not_help_is_left_and_the_note_quarantined() -> None:
    front = read("id: x\ntags:\n\t- [a\n\t- #b")
    assert front.state == "quarantined"
    assert [finding.code for finding in front.findings] == ["frontmatter-unreadable"]


@pytest.mark.rule("K-13")
def test_a_block_that_is_yaml_once_mended_is_read_as_yaml_reads_it() -> None:
    front = read('title: a: b\nevidence: "x\ny: z"')
    assert (front.state, front.values) == ("read", {"title": "a: b", "evidence": "x y: z"})
    assert [finding.code for finding in front.findings] == ["slip-colon"]


@pytest.mark.rule("K-13", "K-54")
@pytest.mark.parametrize(
    "block",
    [
        "id: x\ntitle：:",
        'own: "a\nstatus：b"',
        "id: x\ntitle：:\nstray",
        'own: "a\ntitle: [[b]] c\n  d"',
        "own: [a,\ntags: [“x”], b: 'c\n  ']",
        "'own': {a:\ntitle: b #c\n}",
    ],
)
def test_a_silent_repair_that_would_change_anything_else_is_not_made(block: str) -> None:
    assert mended(block) == block
