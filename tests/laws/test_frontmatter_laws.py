"""Laws of reading, mending and patching frontmatter: they hold for whatever a person, a tool or an enemy writes."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from vaultkeeper.core.fields import known_keys
from vaultkeeper.core.frontmatter import read_frontmatter
from vaultkeeper.core.messages import MESSAGES
from vaultkeeper.core.patch import PatchRefusedError, WriteValue, new_block, patch, quote
from vaultkeeper.core.slips import mend_chunk
from vaultkeeper.core.text import NotTextError, decode, encode
from vaultkeeper.core.yamlchunks import chunks_of
from vaultkeeper.core.yamlplain import read_plain
from vaultkeeper.core.yamltext import Pair, Quoted, Value, YamlError, as_list, read_pairs
from vaultkeeper.core.yamlwrite import flow_list, quote_like
from vaultkeeper.formats.longterm import LONGTERM

KNOWN = known_keys(LONGTERM)
ORDER = [key.name for key in LONGTERM.keys]

_PIECES = st.sampled_from(
    ["a", "Zz", "0", "-", "- ", ":", ": ", " :", "#", " #", "'", '"', "[", "]", "[[", "]]", "{", "}", "{{", "}}", "<%", ",", ", ",
     "、", "：", "“", "”", "‘", "’", "@", "`", "%", "&", "*", "!", "|", ">", "?", "~", "null", "yes", "012", "1:30", "2026-01-01",
     "中文", "é", "🌲", " ", "  ", "\t", "\\", "\\n", "/", "=", ".", "_", "+", "\u2028", "\x85", "\ufeff", "\xa0", "\u3000", "\x07"]
)  # fmt: skip
_SHOWN = st.one_of(
    st.lists(_PIECES, max_size=6).map("".join),
    st.sampled_from(["", "active", "a b", "[a, b]", "'x'", '"x"', "|", "# c"]),
)
_KEYS = st.sampled_from(
    [*ORDER, "tag", "Status", "own", "my key", "'q'", '"q"', "a.b", "中", "-x", "?", "", "url"]
)
_COLONS = st.sampled_from([": ", ": ", ": ", ":", ":  ", " : ", "：", ":\t"])
_LINES = st.one_of(
    st.tuples(_KEYS, _COLONS, _SHOWN).map("".join),
    st.tuples(st.sampled_from(["- ", "  - ", "    - ", "\t- ", "-", "  -\t"]), _SHOWN).map("".join),
    st.tuples(st.sampled_from(["  ", "    ", "\t", ""]), _SHOWN).map("".join),
    st.sampled_from(["", " ", "# c", "  # c", "...x", "{", "}", "]"]),
)
BLOCKS = st.lists(_LINES, max_size=7).map(lambda lines: "".join(line + "\n" for line in lines))
_SIMPLE = st.tuples(
    st.sampled_from(["a", "title", "my key", "tags", "2024", "中-x.y"]),
    st.sampled_from([":", ": ", ":  "]),
    st.sampled_from(
        [
            "",
            "a",
            "-5",
            "a  b ",
            "1:30",
            "'x, # y'",
            '"z"',
            "[]",
            "[ a,b c , 'd' ]",
            '[12:30, "e"]',
            "«é»",
            "a\u3000",
            "---",
        ]
    ),
).map("".join)
SIMPLE_BLOCKS = st.lists(
    st.one_of(
        _SIMPLE, st.sampled_from(["- a", "  - b", "  - 'c' ", "", "# d", "  ", "    - e", "  - “f”", "g"])
    ),
    max_size=8,
).map(lambda lines: "".join(line + "\n" for line in lines))
NOTES = st.tuples(
    BLOCKS, st.sampled_from(["", "\n", "# H\n\ntext", "---\na: b\n---\n", "<<<<<<< a\n=======\n>>>>>>> b\n"])
).map(lambda parts: f"---\n{parts[0]}---\n{parts[1]}")
TEXTS = st.one_of(st.lists(_PIECES, max_size=8).map("".join), st.text(max_size=12))

law = settings(max_examples=60, deadline=None)


def without_spans(pairs: list[Pair]) -> list[tuple[str, Value, int]]:
    return [(pair.key, pair.value, pair.line) for pair in pairs]


def shape(value: Value) -> object:
    """The value with its quoting, which `==` does not tell."""
    if isinstance(value, list):
        return [shape(item) for item in value]
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return (type(value) is Quoted, value)


def is_text(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


@pytest.mark.rule("K-12", "K-13")
@law
@given(st.one_of(SIMPLE_BLOCKS, BLOCKS))
@example("a: [12:30]\n")
@example("title: a\n\n# c\ntags:\n- b\n  \nown: 'x'\n")
def test_the_fast_reader_says_what_the_full_reader_says_or_nothing(block: str) -> None:
    plain = read_plain(block)
    if plain is None:
        return
    try:
        full = read_pairs(block)
    except YamlError as error:
        assert "unexpected ':'" in error.reason  # noqa: PT017 — libyaml's YAML 1.1; `[12:30]` is a list in YAML 1.2
    else:
        assert without_spans(plain) == without_spans(full)
        assert [shape(pair.value) for pair in plain] == [shape(pair.value) for pair in full]
    for chunk in chunks_of(block[:-1].split("\n")):
        assert mend_chunk(chunk.text, KNOWN, readable=True) == (chunk.text, [])


@pytest.mark.rule("K-2", "K-14", "K-54")
@law
@given(st.one_of(NOTES, TEXTS, TEXTS.map(lambda text: "---\n" + text)))
def test_reading_never_fails_and_every_finding_has_its_words(text: str) -> None:
    front = read_frontmatter(text, "a.md", KNOWN)
    assert {finding.code for finding in front.findings} <= MESSAGES.keys()
    assert all(1 <= finding.line <= text.count("\n") + 1 for finding in front.findings)
    assert front.values.keys() == front.lines.keys()
    assert (front.body_at == 0) == (front.state == "absent" or not front.body_at)
    if front.state != "read":
        assert front.mended == text


@pytest.mark.rule("K-3", "K-6", "K-13")
@law
@given(NOTES)
@example("---\nid: x\nid：:\n...x\n---\n")
def test_what_was_mended_has_nothing_to_mend_and_says_the_same(text: str) -> None:
    front = read_frontmatter(text, "a.md", KNOWN)
    again = read_frontmatter(front.mended, "a.md", KNOWN)
    assert again.mended == front.mended
    if front.mended == text:
        return
    assert {key: shape(value) for key, value in again.values.items()} == {
        key: shape(value) for key, value in front.values.items()
    }
    assert again.state == "read"
    assert again.lines == front.lines
    assert not [finding for finding in again.findings if finding.code.startswith("slip-")]


@pytest.mark.rule("K-3", "K-13")
@law
@given(NOTES)
def test_mending_changes_only_lines_that_are_reported(text: str) -> None:
    front = read_frontmatter(text, "a.md", KNOWN)
    reported = {finding.line for finding in front.findings if finding.code.startswith("slip-")}
    lines = zip(text.split("\n"), front.mended.split("\n"), strict=True)
    assert {number for number, (old, new) in enumerate(lines, start=1) if old != new} <= reported


@pytest.mark.rule("K-19")
@law
@given(TEXTS)
@example("小结:")
@example("- x")
@example("? x")
@example("{{date}}")
@example("<% x %>")
@example("“x”")
@example("2026-01-01")
@example("1:30")
@example("---")
def test_what_is_written_reads_back_the_same(text: str) -> None:
    assume(is_text(text))
    note = new_block({"title": text, "aliases": [text, "b"], "own": text})
    front = read_frontmatter(note, "a.md", KNOWN)
    assert front.state == "read"
    assert front.findings == ()
    assert front.values == {"title": text, "aliases": [text, "b"], "own": text}


@pytest.mark.rule("K-19")
@law
@given(TEXTS)
@example("2026-01-01 10:00:00")
@example("0o17")
@example("1e3")
@example("=")
@example("<<")
def test_other_readers_take_what_is_written_for_the_same_text(text: str) -> None:
    assume(is_text(text))
    for shown in (quote(text), quote_like(text, "'"), quote_like(text, '"')):
        assert yaml.safe_load(f"key: {shown}\n") == {"key": text}
    assert yaml.safe_load(f"key: {flow_list([text, text])}\n") == {"key": [text, text]}


@pytest.mark.rule("K-19")
@law
@given(TEXTS)
def test_text_is_quoted_in_the_style_of_what_it_replaces(text: str) -> None:
    assume(is_text(text))
    for style in ("", "'", '"'):
        for note in (f"title: {quote_like(text, style)}\n", f"title: {flow_list([text])}\n"):
            ((_, value, _, _),) = read_pairs(note)
            assert as_list(value) == ([text] if value != text or text else [])


_NEW: st.SearchStrategy[WriteValue | None] = st.one_of(
    st.none(),
    TEXTS.filter(is_text),
    st.lists(TEXTS.filter(is_text), max_size=3),
    st.integers(0, 100),
    st.booleans(),
)


@pytest.mark.rule("K-3", "K-54")
@law
@given(NOTES, st.sampled_from(["status", "title", "tags", "own", "vaultkeeper", "id"]), _NEW)
def test_a_patch_changes_its_key_and_nothing_else(text: str, key: str, value: WriteValue | None) -> None:
    before = read_frontmatter(text, "a.md", KNOWN)
    try:
        patched = patch(text, {key: value}, ORDER)
    except PatchRefusedError:
        return
    after = read_frontmatter(patched, "a.md", KNOWN)
    assert patched[after.body_at :] == text[before.body_at :]
    assert patch(patched, {key: value}, ORDER) == patched
    old, new = text[: before.body_at].split("\n"), patched[: after.body_at].split("\n")
    held = [line for line in old if line in new]
    assert (
        [line for line in new if line in held] == held or len(set(old)) < len(old) or len(set(new)) < len(new)
    )


@pytest.mark.rule("K-3", "K-54")
@law
@given(
    st.lists(st.sampled_from(ORDER), unique=True), st.sampled_from(ORDER), st.sampled_from(["x", "y: z", "#"])
)
def test_a_new_key_stands_at_its_place(keys: list[str], key: str, value: str) -> None:
    assume(key not in keys)
    keys.sort(key=ORDER.index)
    text = new_block(dict.fromkeys(keys, "v"))
    patched = patch(text, {key: value}, ORDER)
    assert list(read_frontmatter(patched, "", KNOWN).values) == sorted([*keys, key], key=ORDER.index)
    assert patch(patched, {key: None}, ORDER) == text


@pytest.mark.rule("K-4", "K-5")
@law
@given(st.binary(max_size=40))
@example("\ufeffa\r\nb\rc\r\r\n".encode())
@example("\ufeffa\r\n".encode("utf-16-le"))
def test_any_bytes_are_text_or_refused_and_text_is_written_in_one_way(data: bytes) -> None:
    try:
        text = decode(data)
    except NotTextError as error:
        assert error.code in MESSAGES  # noqa: PT017
        assert "offset" in error.facts  # noqa: PT017
        return
    assert "\r" not in text
    assert decode(encode(text)) == text
    assert encode(text) == encode(decode(encode(text)))
