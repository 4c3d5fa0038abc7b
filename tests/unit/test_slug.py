"""File names from titles, and which names are the same."""

from __future__ import annotations

import unicodedata

import pytest
from pathvalidate import is_valid_filename

from vaultkeeper.core.slug import file_name, file_stem, numbered, same_name_key, split_path, stem_of

_FAMILY = "👨\u200d👩\u200d👧\u200d👦"


@pytest.mark.rule("K-24")
@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("Plain title", "Plain title"),
        ("用 Markdown 作为唯一事实来源", "用 Markdown 作为唯一事实来源"),
        ("A: B", "A B"),
        ("x|y", "x y"),
        ("a/b\\c", "a b c"),
        ("a#b", "a b"),
        ("C#", "C"),
        ("Bra]cket", "Bra cket"),
        ("Paren (x", "Paren (x"),
        ("50% ^block", "50% block"),
        ("[[nested]]", "nested"),
        ('"what?" <b>*', "what b"),
        ("two\nlines\tand\x00more", "two lines and more"),
        ("wide\u3000\u00a0blank", "wide blank"),
        (".git", "git"),
        ("~$lock", "lock"),
        ("a.", "a"),
        ("a ", "a"),
        ("a. . .", "a"),
        ("v1.2", "v1.2"),
        ("something.yo", "something.yo"),
        ("CON", "CON_"),
        ("nul.txt", "nul_.txt"),
        ("NUL .txt", "NUL_ .txt"),
        ("com1", "com1_"),
        ("LPT³", "LPT³_"),
        ("CONIN$", "CONIN$_"),
        ("CONSTANT", "CONSTANT"),
        ("cafe\u0301", "café"),
        ("e\u200b\u0301", "é"),
        ("ri\u202eght", "right"),
        ("lone\ud800", "lone"),
        (_FAMILY, _FAMILY),
        ("joiner\u200d", "joiner"),
    ],
)
def test_a_file_name_keeps_of_its_title_what_is_safe_everywhere(title: str, stem: str) -> None:
    assert file_stem(title) == stem
    assert file_name(title) == stem + ".md"
    assert is_valid_filename(stem + ".md", platform="universal")


@pytest.mark.rule("K-24")
@pytest.mark.parametrize(
    "title", ["", " ", "..", "...", "###", "\u200d", "\ud800", "\x00", "a" + "\u0301" * 500]
)
def test_a_file_name_is_never_empty(title: str) -> None:
    assert file_stem(title) == "untitled"
    assert file_name(title, "-mem_x", fallback="未命名") == "未命名-mem_x.md"


@pytest.mark.rule("K-24")
@pytest.mark.parametrize(
    "title", ["a" * 281, "记" * 120, "é" * 200, _FAMILY * 30, "𠮷" * 99, "e\u0301" * 200]
)
def test_a_long_title_is_cut_between_characters_with_room_for_id_and_number(title: str) -> None:
    suffix = "-mem_20261017t075957_b1c8069b"
    name = file_name(title, suffix)
    last = numbered(name, 9999)
    assert name.endswith(suffix + ".md")
    assert last.endswith(suffix + " 9999.md")
    assert 200 < len(last.encode()) <= 240
    kept = name.removesuffix(suffix + ".md")
    whole = unicodedata.normalize("NFC", title)
    unit = _FAMILY if title.startswith(_FAMILY) else whole[0]
    assert kept == unit * (len(kept) // len(unit))


@pytest.mark.rule("K-24")
def test_a_cut_leaves_no_blank_or_dot_at_the_end() -> None:
    assert file_stem("a" * 230 + " . b") == "a" * 230


@pytest.mark.rule("K-24")
def test_a_device_name_with_an_id_behind_it_is_no_device() -> None:
    assert file_name("CON", "-mem_x") == "CON-mem_x.md"


@pytest.mark.rule("K-24")
def test_a_suffix_longer_than_a_name_leaves_the_fallback() -> None:
    assert file_name("title", "-" + "x" * 234, fallback="u") == "u-" + "x" * 234 + ".md"


@pytest.mark.rule("K-25")
def test_names_that_differ_by_case_or_normalisation_are_the_same() -> None:
    assert same_name_key("Notes/A.MD") == same_name_key("notes/a.md")
    assert same_name_key("학점.md") == same_name_key(unicodedata.normalize("NFD", "학점.md"))
    assert same_name_key("É") == same_name_key("e\u0301")
    assert same_name_key("\u1fb3") == same_name_key("\u0391\u0345")
    assert same_name_key("a") != same_name_key("á")


@pytest.mark.rule("K-22")
@pytest.mark.parametrize(
    ("path", "n", "result"),
    [
        ("a/b.md", 2, "a/b 2.md"),
        ("b.md", 10, "b 10.md"),
        ("a.b/something.yo.md", 3, "a.b/something.yo 3.md"),
        ("a/b.MD", 2, "a/b 2.MD"),
        ("a/b.md.md", 2, "a/b.md 2.md"),
        ("a/folder", 2, "a/folder 2"),
    ],
)
def test_a_number_stands_behind_the_stem(path: str, n: int, result: str) -> None:
    assert numbered(path, n) == result


@pytest.mark.rule("K-22", "K-24")
def test_a_name_at_its_limit_makes_room_for_its_number() -> None:
    name = "é" * 124 + ".md"
    result = numbered("folder/" + name, 12)
    assert result == "folder/" + "é" * 117 + " 12.md"


@pytest.mark.rule("K-22")
def test_a_stem_is_the_name_without_its_last_extension_only() -> None:
    assert stem_of("a/something.yo.md") == "something.yo"
    assert stem_of("v1.2.md") == "v1.2"
    assert stem_of("a/B.Md") == "B"
    assert stem_of("a.md/b") == "b"
    assert split_path("a/b/c.md") == ("a/b", "c.md")
    assert split_path("c.md") == ("", "c.md")
