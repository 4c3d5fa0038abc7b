"""Links as they are written: which count, where their targets stand, what they mean."""

from __future__ import annotations

import pytest

from vaultkeeper.core.link_syntax import decoded, encoded
from vaultkeeper.core.links import find_links, loose_key


def targets(text: str, body_at: int = 0) -> list[str]:
    found = find_links(text, body_at)
    for link in found:
        assert text[link.start : link.end].strip() == text[link.start : link.end]
    return [link.target + link.fragment for link in found]


@pytest.mark.rule("LT-43")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[a]]", ["a"]),
        ("see [[a b]], [[c|shown]] and ![[d.png|100]]", ["a b", "c", "d.png"]),
        ("[[ a ]]", ["a"]),
        ("[[a#h]] [[b#^block]] [[c#h#i|x]]", ["a#h", "b#^block", "c#h#i"]),
        ("| [[a\\|x]] | [[b#h\\|y]] |", ["a", "b#h"]),
        ("[[a|]]", ["a"]),
        ("[[a|b]c]]", ["a"]),
        ("[[a|x [[b]]", ["b"]),
        ("[[决策/选型]]", ["决策/选型"]),
        ("[[Decision: use X]]", ["Decision: use X"]),
        ("[[[a]]]", ["a"]),
        ("> - [[a]]", ["a"]),
        ("%% [[a]] %%", ["a"]),
        ("%%\n[[a]]\n%%", ["a"]),
        ("[x](a.md)", ["a.md"]),
        ("[x](<a b.md>)", ["a b.md"]),
        ("[x](a%20b.md#h%20i)", ["a b.md#h%20i"]),
        ("[x](a%23b.md)", ["a#b.md"]),
        ("[x](a%2.md) [x](%ff.md)", ["a%2.md", "%ff.md"]),
        ("[x](a\\(b.md)", ["a(b.md"]),
        ("[x](a(b(c(d))).md)", ["a(b(c(d))).md"]),
        ("[x](a.md \"title\") [x](b.md 't') [x](c.md (t))", ["a.md", "b.md", "c.md"]),
        ("[x]( a.md )", ["a.md"]),
        ("[x](\na.md\n'two\nlines'\n)", ["a.md"]),
        ("![x](a.png)", ["a.png"]),
        ("[![x](a.png)](b.md)", ["a.png", "b.md"]),
        ("[x [y] z](a.md)", ["a.md"]),
        ("[see [1]](a.md)", ["a.md"]),
        ("[x \\] y](a.md)", ["a.md"]),
        ("[x [[a]] y](b.md)", ["a", "b.md"]),
        ("[](a.md)", ["a.md"]),
        ("[x](/a/b.md)", ["/a/b.md"]),
        ("[x](../a.md)", ["../a.md"]),
        ("[x]: a.md\n[y z]: <b c.md> 'title'\n  [w]:\n  d.md", ["a.md", "b c.md", "d.md"]),
        ("[[a|see [x](b.md)]]", ["a"]),
        ("[[a]](b.md)", ["a"]),
        ("[x](y[[z]].md)", ["y[[z]].md"]),
        ("- item\n    [[a]]", ["a"]),
        ("- item\n\n    [[a]]", ["a"]),
        ("- item\n\t- [[a]]\n\n\t\t[[b]]", ["a", "b"]),
        ("1. item\n\n   text\n\n    [[a]]", ["a"]),
        ("[^1]: note\n\n    [[a]]", ["a"]),
        ("words\n    [[a]]", ["a"]),
        ("- a\n- b\n  - c\n\n    [[a]]", ["a"]),
        ("-\n    [[a]]", ["a"]),
        ("- x\n" + "          - y\n" * 60 + "\n        [[a]]", ["a"]),
        ("- a\nlazy\n\n    [[a]]", ["a"]),
        ("\\\\[[a]]", ["a"]),
        ("`code` [[a]] ``` [[b]]", ["a", "b"]),
        ("\\`[[a]]\\`", ["a"]),
        ("a ` b\n- [[c]] `", ["c"]),
        ("| ` | [[a]] |\n| ` |", ["a"]),
        ("# ` h\n[[a]] `", ["a"]),
    ],
)
def test_a_link_is_found_with_what_it_means(text: str, found: list[str]) -> None:
    assert targets(text) == found
    assert targets(f"x\n\n{text}\n\nx") == found


@pytest.mark.rule("K-41")
@pytest.mark.parametrize(
    "text",
    [
        "no link at all",
        "[x] [ ] []",
        "[[]] [[ ]] [[|x]] [[#heading]] [[#^block|x]]",
        "[[two\nlines]]",
        "[[https://example.org/a]] [[mailto:a@example.org]]",
        "\\[[a]]",
        "[x](https://example.org/a.md) [x](mailto:a) [x](obsidian://open?x) [x](file:///a.md)",
        "[x](//host/a.md)",
        "[x](#heading) [x]() [x](<>) [x](<#h>)",
        "[x](a b.md)",
        "[x](a.md",
        "[x](a.md 'title)",
        "x](a.md)",
        "[x\n\ny](a.md)",
        "[x\\](a.md)",
        "\\[x](a.md)",
        "[x] (a.md)",
        "[^1]: a.md",
        "[x]: words and more words",
        "[x]: https://example.org",
        "`[[a]]` `[x](a.md)` `` ` [[a]] ``",
        "`two\nlines [[a]]`",
        "```\n[[a]]\n[x](a.md)\n```",
        "> ```\n> [[a]]\n> ```",
        "- ```\n  [[a]]\n  ```",
        "~~~\n[[a]]",
        "    [[a]]",
        "text\n\n    [[a]]\n    [[b]]",
        "# h\n    [[a]]",
        "- x\n\ntext\n\n    [[a]]",
        "- x\n\n      [[a]]",
        "<!-- [[a]] -->",
        "text <!-- [[a]] --> text",
        "<pre>\n[[a]]\n</pre>",
        "[" + "[x]" * 60 + "](a.md)",
    ],
)
def test_what_is_no_internal_link_is_left_out(text: str) -> None:
    assert targets(text) == []


@pytest.mark.rule("K-41")
def test_links_in_frontmatter_values_count() -> None:
    text = (
        '---\na: "[[x]]"\nb:\n  - "[[it\'s \\"y\\"]]"\n  - \'[[it\'\'s]]\'\nc: see [[z|t]]\nd: "![[p.png]]"\n'
        '# e: [[no]]\nf: 1 # [[no]]\ng: "a # [[q]]"\nh: [x](a.md)\n---\n[[body]]\n'
    )
    links = find_links(text, text.index("[[body"))
    assert [(link.kind, link.target, link.embed) for link in links] == [
        ("frontmatter", "x", False),
        ("frontmatter", 'it\'s "y"', False),
        ("frontmatter", "it's", False),
        ("frontmatter", "z", False),
        ("frontmatter", "p.png", True),
        ("frontmatter", "q", False),
        ("wiki", "body", False),
    ]
    assert text[links[1].start : links[1].end] == 'it\'s \\"y\\"'


@pytest.mark.rule("K-41")
def test_code_marks_in_frontmatter_hide_nothing_in_the_body() -> None:
    assert targets("---\na: `x\n---\n[[a]] `\n", 13) == ["a"]


def test_kinds_and_embeds_are_told_apart() -> None:
    links = find_links("![[a]] [[b]] ![c](c.png) [d](d.md)", 0)
    assert [(link.kind, link.embed) for link in links] == [
        ("wiki", True),
        ("wiki", False),
        ("markdown", True),
        ("markdown", False),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[[" * 20_000,
        "[[a|" * 20_000,
        "[" * 40_000,
        "](a" * 20_000,
        "](a)" * 20_000,
        "[x](a '" * 10_000,
        "[x](" + "(" * 40_000,
        "`" + " `` ``` ````" * 10_000,
        "<!-- " * 20_000,
        "x %% \n" * 20_000,
        "    [[a]]\n" * 5_000,
        " " * 50_000 + "[[a]]",
        "# " + "`<!--" * 20_000,
        "> " * 20_000 + "``` [[a]]",
        "[x]:" * 20_000,
        "\\" * 50_000 + "[[a]]",
        "    ```\n" * 5_000 + "[[a]]",
    ],
    ids=range(17),
)
@pytest.mark.timeout(20)
def test_hostile_text_is_read_in_linear_time(text: str) -> None:
    assert len(find_links(text, 0)) <= 20_000


@pytest.mark.parametrize("angled", [False, True])
@pytest.mark.parametrize(
    "path",
    [
        "a b/c(d).md",
        "50%.md",
        "a%41.md",
        "x#y|z^.md",
        "a&amp;b.md",
        "决策/选型 一.md",
        "a\u3000b\u2028.md",
        "<a>\\.md",
        "a:b.md",
    ],
)
def test_an_encoded_path_stands_in_a_link_and_decodes_to_itself(path: str, angled: bool) -> None:
    for ascii_only in (False, True):
        written = encoded(path, angled=angled, ascii_only=ascii_only)
        assert decoded(written) == path
        assert not ascii_only or written.isascii()
        assert targets(f"[x](<{written}>)" if angled else f"[x]({written})") == [path]
    assert "决策/选型" not in path or "决策/选型" in encoded(path)


@pytest.mark.rule("LT-43", "K-25")
def test_titles_are_looked_up_whatever_their_case_and_normalisation() -> None:
    assert loose_key("  Straße É ") == loose_key("STRASSE E\u0301")
    assert loose_key("a") != loose_key("b")
