"""Links after moves: which are rewritten, and in which style."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from vaultkeeper.core.links import Resolver, relink
from vaultkeeper.core.note import NotePath

FILES = (
    "Home.md",
    "Decisions/x.md",
    "Decisions/y.md",
    "Decisions/sub/z.md",
    "Decisions/two words.md",
    "Knowledge/k.md",
    "Knowledge/twin.md",
    "Tasks/twin.md",
    "Inbox/it's.md",
    "Assets/known.png",
)


def mended(
    text: str,
    moves: Mapping[str, str],
    source: str = "Home.md",
    files: tuple[str, ...] = FILES,
    body_at: int = 0,
) -> str:
    """The text of the note `source` after these moves."""
    ways = {NotePath(old): NotePath(new) for old, new in moves.items()}
    before = Resolver(NotePath(path) for path in files)
    path = NotePath(source)
    return relink(text, body_at, path, ways.get(path, path), before, before.after(ways), ways)


ARCHIVED = {"Decisions/x.md": "Archive/x.md"}


@pytest.mark.rule("K-41")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[Decisions/x]]", "[[Archive/x]]"),
        ("![[ Decisions/x#h i|shown ]]", "![[ Archive/x#h i|shown ]]"),
        ("[[Decisions/x.md#^block]]", "[[Archive/x.md#^block]]"),
        ("| [[Decisions/x\\|t]] |", "| [[Archive/x\\|t]] |"),
        ("[[/Decisions/x]]", "[[/Archive/x]]"),
        ("[[./Decisions/x]]", "[[./Archive/x]]"),
        ("[t](Decisions/x.md#a%20b 'title')", "[t](Archive/x.md#a%20b 'title')"),
        ("[t](Decisions/x)", "[t](Archive/x)"),
        ("[t](/Decisions/x.md)", "[t](/Archive/x.md)"),
        ("[t](./Decisions/x.md)", "[t](./Archive/x.md)"),
        ("[t](<Decisions/x.md>)", "[t](<Archive/x.md>)"),
        ("[t]: Decisions/x.md", "[t]: Archive/x.md"),
        ("[[Decisions/x]] and [[Decisions/x|again]]", "[[Archive/x]] and [[Archive/x|again]]"),
    ],
)
def test_a_target_follows_its_note_in_the_style_it_had(before: str, after: str) -> None:
    assert mended(before, ARCHIVED) == after


@pytest.mark.rule("K-41", "K-3")
@pytest.mark.parametrize(
    "text",
    [
        "[[x]] [[x#h|t]] ![[x]]",
        "[t](x.md)",
        "[[Decisions/y]] [[Knowledge/k]] [[nowhere]] [[no/where]]",
        "`[[Decisions/x]]`",
        "```\n[[Decisions/x]]\n[t](Decisions/x.md)\n```",
        "    [[Decisions/x]]",
        "<!-- [[Decisions/x]] -->",
        "[t](https://example.org/Decisions/x.md)",
        "Decisions/x.md",
        "",
    ],
)
def test_what_still_reaches_its_note_and_what_is_no_link_stays_as_typed(text: str) -> None:
    assert mended(text, ARCHIVED) is text


@pytest.mark.rule("K-41")
def test_links_in_comments_that_obsidian_follows_are_mended() -> None:
    assert mended("%% [[Decisions/x]] %%", ARCHIVED) == "%% [[Archive/x]] %%"


@pytest.mark.rule("K-41")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('a: "[[Decisions/x|t]]"', 'a: "[[Archive/it\'s \\"x\\"|t]]"'),
        ("a: '[[Decisions/x]]'", "a: '[[Archive/it''s \"x\"]]'"),
        ("a: see [[Decisions/x]]", "a: see [[Decisions/x]]"),
    ],
)
def test_links_in_frontmatter_keep_their_quotes_right(before: str, after: str) -> None:
    moves = {"Decisions/x.md": 'Archive/it\'s "x".md'}
    text = f"---\n{before}\n---\n"
    assert mended(text, moves, body_at=len(text)) == f"---\n{after}\n---\n"


@pytest.mark.rule("K-41")
def test_a_plain_target_in_frontmatter_is_written_plainly() -> None:
    text = "---\na: '[[Decisions/x]]'\nb: see [[Decisions/x]]\nc: \"[[Inbox/it's]]\"\n---\n"
    moved = mended(text, {**ARCHIVED, "Inbox/it's.md": "Inbox/its.md"}, body_at=len(text))
    assert moved == "---\na: '[[Archive/x]]'\nb: see [[Archive/x]]\nc: \"[[Inbox/its]]\"\n---\n"
    backslash = {"Decisions/x.md": "Archive/a\\b.md"}
    assert (
        mended('---\na: "[[Decisions/x]]"\n---\n', backslash, body_at=26)
        == '---\na: "[[Decisions/x]]"\n---\n'
    )


@pytest.mark.rule("K-41")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[t](y.md)", "[t](../Decisions/y.md)"),
        ("[t](sub/z.md)", "[t](../Decisions/sub/z.md)"),
        ("[t](./y.md)", "[t](../Decisions/y.md)"),
        ("[t](two%20words.md)", "[t](../Decisions/two%20words.md)"),
        ("[t](<two words.md>)", "[t](<../Decisions/two words.md>)"),
        ("[t](../Knowledge/k.md)", "[t](../Knowledge/k.md)"),
        ("[t](x.md#h)", "[t](x.md#h)"),
        ("[t](Knowledge/k.md)", "[t](Knowledge/k.md)"),
        ("[[../Knowledge/k]] [[./y]]", "[[../Knowledge/k]] [[../Decisions/y]]"),
        ("[[y]] [[sub/z]]", "[[y]] [[sub/z]]"),
    ],
)
def test_relative_links_of_a_moved_note_are_adjusted(before: str, after: str) -> None:
    assert mended(before, ARCHIVED, source="Decisions/x.md") == after


@pytest.mark.rule("K-41")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("![t](img/p.png)", "![t](../../Decisions/img/p.png)"),
        ("![t](./img/p.png)", "![t](../../Decisions/img/p.png)"),
        ("![t](../Files/p%20q.png)", "![t](../../Files/p%20q.png)"),
        ("![t](../Files/%E4%B8%80.png)", "![t](../../Files/%E4%B8%80.png)"),
        ("![t](../Archive/2026/p.png)", "![t](p.png)"),
        ("![t](./../Archive/2026/p.png)", "![t](./p.png)"),
        ("![[../Files/p.png]]", "![[../../Files/p.png]]"),
        ("![t](p.png)", "![t](p.png)"),
        ("![[p.png]] ![[img/p.png]]", "![[p.png]] ![[img/p.png]]"),
        ("![t](/Files/p.png)", "![t](/Files/p.png)"),
        ("![t](Assets/new.png)", "![t](Assets/new.png)"),
        ("![t](../../out.png)", "![t](../../out.png)"),
    ],
)
def test_paths_to_files_that_are_not_known_are_adjusted_where_they_are_relative(
    before: str, after: str
) -> None:
    assert mended(before, {"Decisions/x.md": "Archive/2026/x.md"}, source="Decisions/x.md") == after


@pytest.mark.rule("K-41")
def test_a_rename_in_its_folder_leaves_relative_paths_alone() -> None:
    text = "![t](img/p.png) [t](y.md)"
    assert mended(text, {"Decisions/x.md": "Decisions/new.md"}, source="Decisions/x.md") is text


@pytest.mark.rule("K-41")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[k]]", "[[k 2]]"),
        ("[[k.md|t]]", "[[k 2.md|t]]"),
        ("[t](Knowledge/k.md)", "[t](Archive/k%202.md)"),
        ("[t](k.md)", "[t](k%202.md)"),
        ("![[known.png]]", "![[known 2.png]]"),
    ],
)
def test_a_new_name_is_followed(before: str, after: str) -> None:
    moves = {"Knowledge/k.md": "Archive/k 2.md", "Assets/known.png": "Archive/known 2.png"}
    assert mended(before, moves) == after


@pytest.mark.rule("K-41")
def test_a_name_that_becomes_ambiguous_gets_its_path() -> None:
    assert mended("[[twin]]", {"Tasks/twin.md": "Archive/Old/twin.md"}) == "[[Archive/Old/twin]]"
    assert mended("[[twin]]", {"Knowledge/twin.md": "A/twin.md"}, source="Tasks/y.md") == "[[twin]]"
    assert mended("[[k]]", {"Home.md": "k.md"}, source="Decisions/y.md") == "[[Knowledge/k]]"
    assert mended("[[y]]", {"Knowledge/k.md": "y.md", "Decisions/y.md": "y 2.md"}) == "[[y 2]]"


@pytest.mark.rule("K-41")
def test_swaps_and_links_to_the_note_itself_are_followed() -> None:
    swap = {"Decisions/x.md": "Decisions/y.md", "Decisions/y.md": "Decisions/x.md"}
    assert mended("[[x]] [[Decisions/y]]", swap) == "[[y]] [[Decisions/x]]"
    assert mended("[[Decisions/x#h]]", ARCHIVED, source="Decisions/x.md") == "[[Archive/x#h]]"


@pytest.mark.rule("K-41")
def test_a_place_that_no_wikilink_can_name_leaves_the_link_as_it_was() -> None:
    moves = {"Decisions/x.md": "C#/x.md"}
    assert mended("[[Decisions/x]] [t](Decisions/x.md)", moves) == "[[Decisions/x]] [t](C%23/x.md)"


@pytest.mark.rule("K-41")
def test_markdown_targets_are_encoded_like_the_old_ones() -> None:
    moves = {"Decisions/two words.md": "归档/two words (1).md"}
    assert mended("[t](Decisions/two%20words.md)", moves) == "[t](归档/two%20words%20%281%29.md)"
    assert mended("[t](<Decisions/two words.md>)", moves) == "[t](<归档/two words (1).md>)"
    files = ("Home.md", "决策/x.md")
    assert mended("[t](%E5%86%B3%E7%AD%96/x.md)", {"决策/x.md": "归档/x.md"}, files=files) == (
        "[t](%E5%BD%92%E6%A1%A3/x.md)"
    )


@pytest.mark.rule("K-41")
def test_the_last_resort_is_the_path_from_the_root() -> None:
    files = ("Home.md", "A/s/x.md", "s/y.md", "pic", "pic.md")
    assert mended("[[x]]", {"A/s/x.md": "z.md", "s/y.md": "S/z.md"}, files=files, source="S/n.md") == "[[/z]]"
    assert mended(
        "[t](s/y.md)", {"A/s/x.md": "n.md", "s/y.md": "A/s/y.md"}, files=files, source="Home.md"
    ) == ("[t](A/s/y.md)")
    assert mended("[[pic.md]]", {"pic.md": "p/pic.md"}, files=files) == "[[pic.md]]"
    assert mended("[[s/y]]", {"s/y.md": "pic/x.md", "pic": "pic/x"}, files=files) == "[[pic/x.md]]"
    assert mended("[[A/s/x]]", {"A/s/x.md": "A/.md"}, files=files) == "[[A/.md]]"


@pytest.mark.rule("K-41")
def test_a_link_to_a_note_that_is_gone_stays_as_it_was() -> None:
    path, text = NotePath("Home.md"), "[[Knowledge/k]]"
    before = Resolver([path, NotePath("Knowledge/k.md")])
    assert relink(text, 0, path, path, before, Resolver([path]), {}) is text
