"""What a link opens: by name, by path, relative, with doubled names, after moves."""

from __future__ import annotations

import pytest

from vaultkeeper.core.links import Resolver, find_links
from vaultkeeper.core.note import NotePath


def resolver(*paths: str) -> Resolver:
    return Resolver(NotePath(path) for path in paths)


VAULT = resolver(
    "Home.md",
    "Decisions/x.md",
    "Decisions/2026/deep.md",
    "Knowledge/x.md",
    "Knowledge/only.md",
    "Knowledge/a.b.md",
    "Knowledge/pic.png",
    "Knowledge/double.md.md",
    "Archive/Knowledge/x.md",
    "决策/选型.md",
)


@pytest.mark.rule("LT-43")
@pytest.mark.parametrize(
    ("target", "source", "opened"),
    [
        ("only", "Home.md", "Knowledge/only.md"),
        ("ONLY", "Home.md", "Knowledge/only.md"),
        ("only.md", "Home.md", "Knowledge/only.md"),
        ("选型", "Home.md", "决策/选型.md"),
        ("a.b", "Home.md", "Knowledge/a.b.md"),
        ("pic.png", "Home.md", "Knowledge/pic.png"),
        ("double.md", "Home.md", "Knowledge/double.md.md"),
        ("x", "Archive/Knowledge/y.md", "Archive/Knowledge/x.md"),
        ("x", "Knowledge/y.md", "Knowledge/x.md"),
        ("x", "Home.md", "Decisions/x.md"),
        ("Knowledge/x", "Archive/Knowledge/y.md", "Knowledge/x.md"),
        ("2026/deep", "Home.md", "Decisions/2026/deep.md"),
        ("2026/deep.md", "Home.md", "Decisions/2026/deep.md"),
        ("/Knowledge/x", "Home.md", "Knowledge/x.md"),
        ("/x", "Home.md", None),
        ("./x", "Knowledge/y.md", "Knowledge/x.md"),
        ("../Decisions/x.md", "Knowledge/y.md", "Decisions/x.md"),
        ("../x", "Knowledge/y.md", None),
        ("../../x", "Knowledge/y.md", None),
        ("./only", "Home.md", None),
        ("..", "Knowledge/y.md", None),
        ("nowhere", "Home.md", None),
        ("no/where", "Home.md", None),
        ("ledge/only", "Home.md", None),
        ("Decisions/../Home", "Knowledge/y.md", "Home.md"),
    ],
)
def test_a_wikilink_opens_what_obsidian_would(target: str, source: str, opened: str | None) -> None:
    assert VAULT.resolve(target, NotePath(source)) == opened


@pytest.mark.rule("LT-43")
@pytest.mark.parametrize(
    ("written", "source", "opened"),
    [
        ("[t](x.md)", "Archive/Knowledge/y.md", "Archive/Knowledge/x.md"),
        ("[t](Knowledge/x.md)", "Archive/y.md", "Archive/Knowledge/x.md"),
        ("[t](Knowledge/x.md)", "Decisions/y.md", "Knowledge/x.md"),
        ("[t](/Knowledge/x.md)", "Archive/y.md", "Knowledge/x.md"),
        ("[t](2026/deep)", "Knowledge/y.md", "Decisions/2026/deep.md"),
        ("[t](%E5%86%B3%E7%AD%96/选型.md)", "Home.md", "决策/选型.md"),
        ("[t](../Home.md)", "Knowledge/y.md", "Home.md"),
        ("[t](../../Home.md)", "Knowledge/y.md", None),
        ("[[Knowledge/x]]", "Archive/y.md", "Knowledge/x.md"),
    ],
)
def test_a_markdown_link_looks_beside_its_note_first(written: str, source: str, opened: str | None) -> None:
    (link,) = find_links(written, 0)
    assert VAULT.resolve_link(link, NotePath(source)) == opened


@pytest.mark.rule("K-25")
def test_names_are_the_same_whatever_case_and_normalisation() -> None:
    vault = resolver("De\u0301cisions/Cafe\u0301.md")
    for target in ("caf\u00e9", "CAF\u00c9", "d\u00e9cisions/Caf\u00e9", "/De\u0301cisions/cafe\u0301.md"):
        assert vault.resolve(target, NotePath("x.md")) == "De\u0301cisions/Cafe\u0301.md"


@pytest.mark.rule("K-25")
def test_of_names_that_differ_by_case_the_one_as_written_is_opened() -> None:
    vault = resolver("A/Note.md", "A/note.md", "B/note.md")
    assert vault.resolve("A/note", NotePath("x.md")) == "A/note.md"
    assert vault.resolve("A/Note.md", NotePath("x.md")) == "A/Note.md"
    assert vault.resolve("A/NOTE", NotePath("x.md")) == "A/Note.md"
    assert vault.resolve("note", NotePath("A/x.md")) == "A/note.md"
    assert vault.resolve("note", NotePath("C/x.md")) == "A/Note.md"


@pytest.mark.rule("LT-43")
def test_the_end_of_a_path_prefers_the_sources_folder() -> None:
    vault = resolver("A/s/x.md", "BB/s/x.md")
    assert vault.resolve("s/x", NotePath("BB/s/y.md")) == "BB/s/x.md"
    assert vault.resolve("s/x", NotePath("y.md")) == "A/s/x.md"


@pytest.mark.rule("K-41")
def test_after_moves_links_open_the_new_places_and_the_old_resolver_stays_as_it_was() -> None:
    before = resolver("a.md", "F/b.md", "F/c.md")
    after = before.after({NotePath("a.md"): NotePath("F/b.md"), NotePath("F/b.md"): NotePath("a.md")})
    further = after.after({NotePath("F/c.md"): NotePath("G/d.md"), NotePath("new.md"): NotePath("G/e.md")})
    source = NotePath("x.md")
    assert before.resolve("a", source) == "a.md"
    assert after.resolve("a", source) == "a.md"
    assert further.resolve("c", source) is None
    assert further.resolve("d", source) == "G/d.md"
    assert further.resolve("G/e", source) == "G/e.md"
    assert before.resolve("c", source) == after.resolve("c", source) == "F/c.md"
    assert before.has_folder("f")
    assert before.after({}).has_folder("F")
    assert not before.has_folder("G")
