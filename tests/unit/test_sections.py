"""Outlines, and the splices that headings and sections of our own are changed by."""

from __future__ import annotations

import pytest

from vaultkeeper.core.format import Bilingual, OwnSection
from vaultkeeper.core.sections import (
    find_section,
    outline,
    section_text,
    summary_of,
    with_heading,
    with_section_text,
)
from vaultkeeper.formats.longterm import LONGTERM

EVIDENCE = LONGTERM.evidence


def titles(text: str, body_at: int = 0) -> list[str]:
    return [section.heading.text for section in outline(text, body_at).sections]


@pytest.mark.rule("LT-36")
def test_an_outline_tells_heading_intro_and_sections() -> None:
    text = "---\na: b\n---\n\n# Title\n\nIntro.\n\n## One\n\nText 1.\n\n### Deeper\n\n## Two\nText 2.\n# Other\nend"
    plan = outline(text, 13)
    assert plan.heading is not None
    assert (plan.heading.text, plan.heading.level, plan.heading.line) == ("Title", 1, 5)
    assert text[plan.heading.start : plan.heading.end] == "# Title"
    assert text[plan.intro[0] : plan.intro[1]].strip() == "Intro."
    one, two = plan.sections
    assert (one.heading.text, one.heading.line) == ("One", 9)
    assert text[one.start : one.end] == "## One\n\nText 1.\n\n### Deeper\n\n"
    assert text[two.body_at : two.end] == "Text 2.\n"


def test_an_empty_body_has_an_empty_outline() -> None:
    for text, body_at in (("", 0), ("---\n---\n", 8), ("no heading", 0)):
        plan = outline(text, body_at)
        assert (plan.heading, plan.intro, plan.sections) == (None, (body_at, len(text)), ())


def test_an_h1_below_the_first_section_leaves_the_intro_above_it() -> None:
    text = "before\n## S\n# Late\n"
    plan = outline(text, 0)
    assert plan.heading is not None
    assert plan.heading.text == "Late"
    assert text[slice(*plan.intro)] == "before\n"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("## Plain", "Plain"),
        ("##", ""),
        ("   ## three  blanks", "three blanks"),
        ("##\ttab", "tab"),
        ("## A ##", "A"),
        ("## A ###   ", "A"),
        ("## A#", "A#"),
        ("## ##", ""),
        ("## A \\#", "A #"),
        ("## A \\\\ B", "A \\ B"),
        ("## C:\\dir", "C:\\dir"),
        ("## 要点 <!-- todo -->", "要点"),
        ("## A <!-- x --> B %% y %%", "A B"),
        ("## A \\<!-- x -->", "A <!-- x -->"),
        ("## A `<!-- x -->` \\%%", "A `<!-- x -->` %%"),
        ("## <!-- open", "<!-- open"),
    ],
)
def test_the_text_of_a_heading_is_what_a_reader_sees(line: str, text: str) -> None:
    assert titles(f"{line}\n") == [text]
    assert titles(f"words\n{line}\nwords") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "##无空格\n",
        "    ## indented code\n",
        "### deeper\n",
        "> ## quoted\n",
        "> [!note] callout\n> ## quoted\n",
        "- ## in a list\n",
        "#tag ## no\n",
        "```\n## code\n```\n",
        "``` Python x\n## code\n ```\n",
        "````md\n```\n## code\n```\n````\n",
        "~~~\n## code\n```\n~~~\n",
        "~~~ a ` b\n## code\n~~~\n",
        "```\n## never closed\n",
        "   ```\n## code\n   ```\n",
        "```\n## code\n    ```\n## still code\n```\n",
        "- item\n\n  ```\n  ## code\n  ```\n",
        "1. item\n   ```\n   ## code\n   ```\n",
        "> ```\n> ## never closed",
        "<!--\n## hidden\n-->\n",
        "<!-- never closed\n## hidden\n",
        "%%\n\n## hidden\n%%\n",
        "%%\n## never closed\n",
        "words %% comment\nends %%\n",
        "<pre>\n## code\n</pre>\n",
        "<SCRIPT>\n## code\n",
        "text\n\n---\n",
        "- item\n---\n",
        "> quote\n---\n",
        "| a |\n---\n",
        "<div>\n---\n",
        "```\nx\n```\n---\n",
        "<!-- x -->\n---\n",
        "%%\nx\n%%\n---\n",
        "    code\n---\n",
        "---\n",
        "# One\n---\n",
        "***\n---\n",
        "text\n -x-\n",
        "text\n    ---\n",
    ],
)
def test_what_only_looks_like_a_section_is_none(text: str) -> None:
    assert titles(text) == []
    assert titles(f"{text}\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "`` ``` inline\n\n## S\n",
        "text with ``` inline ticks in prose\n\n## S\n",
        "``` a ` b\n## S\n```\n",
        "    ```\n\n## S\n    ```\n",
        "\\```\n\n## S\n\\```\n",
        "- ```\n  ## code\n\n## S\n",
        "- item\n\n  ```\n  code\n\n## S\n",
        "> ```\n> ## code\n\n## S\n",
        "> ```\n## S\n> ```\n",
        "> ```\n> ## code\n> ```\n\n## S\n",
        "> ```\n",
        ">      ```\n\n## S\n",
        "1. ```py\n   x\n   ```\n\n## S\n",
        "words <!-- open\n\n## S\n-->\n",
        "words <!-- open <!-- open\n## S\n",
        "words %% open\n\n## S\n%%done%%\n",
        "`<!--`\n\n## S\n\n`-->`\n",
        "`%%`\n\n## S\n\n`%%`\n",
        "<!-->\n## S\n",
        "<!-- a --> <!-- b -->\n## S\n",
        "text <pre>\n## S\n",
        "```\ncode\n```\n## S\n",
        "~~~\n~~\n~~~~\n## S\n",
        "x" * 300 + "```\n## S\n```\n",
    ],
)
def test_what_only_looks_like_code_or_a_comment_hides_no_section(text: str) -> None:
    assert titles(text) == ([] if "S" not in text else ["S"])


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("Text\n---\n", ["Text"]),
        ("Text\n  -  \nmore", ["Text"]),
        ("a\nb\n---", ["a b"]),
        ("# H\nText\n---\n## T\n", ["Text", "T"]),
        ("***\nText\n---\n", ["Text"]),
        ("`code` text\n---\n", ["`code` text"]),
        ("<b\n---\n", []),
        ("Title\n=====\n", []),
    ],
)
def test_underlined_headings_count_too(text: str, sections: list[str]) -> None:
    assert titles(text) == sections


def test_an_underlined_h1_is_the_heading() -> None:
    heading = outline("---\n---\nTitle\n=====\n\ntext", 8).heading
    assert heading is not None
    assert (heading.level, heading.text, heading.start, heading.end, heading.line) == (1, "Title", 8, 19, 3)


@pytest.mark.rule("K-10")
def test_a_second_pair_of_rules_belongs_to_the_body() -> None:
    text = "---\ntype: decision\n---\n\nBody\n\n---\nstatus: archived\n---\nmore\n"
    plan = outline(text, 23)
    assert plan.heading is None
    assert text[slice(*plan.intro)] == "\nBody\n\n---\n"
    assert with_heading(text, 23, "T") == text[:24] + "# T\n\n" + text[24:]


@pytest.mark.rule("K-96")
@pytest.mark.parametrize(
    "heading", ["来源与依据", "Evidence", "EVIDENCE", "Evidence <!-- mine -->", "Evidence ##"]
)
def test_an_own_section_is_found_in_either_language(heading: str) -> None:
    text = f"# T\n\n## {heading}\n\n  one\ntwo\n\n## Evidence\n\nthird\n"
    section = find_section(outline(text, 0), EVIDENCE)
    assert section is not None
    assert section_text(text, section) == "one\ntwo"


def test_a_missing_section_is_not_found() -> None:
    assert find_section(outline("## Evidences\n### Evidence\n", 0), EVIDENCE) is None


@pytest.mark.rule("LT-41")
@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# T\n\nintro\n\n## Summary\n\nthe point\n\n## Other\n", "the point"),
        ("# T\n\nintro\n\n## 核心内容\n要点\n", "要点"),
        ("# T\n\none\n\ntwo\n\n## Other\n\nthree\n", "one\n\ntwo"),
        ("only words", "only words"),
        ("# T\n\nintro\n\n## Summary\n\n## Other\n", ""),
        ("", ""),
    ],
)
def test_the_summary_is_its_section_or_else_what_stands_before_the_first(text: str, summary: str) -> None:
    assert summary_of(text, outline(text, 0), LONGTERM) == summary


@pytest.mark.rule("LT-40", "K-3")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# Old\n\ntext\n", "# New\n\ntext\n"),
        ("text\n\n # Old #\nmore", "text\n\n # New #\nmore"),
        ("#  Old  <!-- keep --> ##  \n", "#  New <!-- keep --> ##  \n"),
        ("#\n", "# New\n"),
        ("Old\n===\ntext", "New\n===\ntext"),
        ("Old\nlines\n===", "New\n==="),
        ("```\n# no\n```\n\n# Old\n", "```\n# no\n```\n\n# New\n"),
        ("text\n", "# New\n\ntext\n"),
        ("\n  \n\n## S\n", "\n  \n\n# New\n\n## S\n"),
        ("---\n", "# New\n\n---\n"),
        ("", "# New\n"),
        ("\n", "\n# New\n"),
        ("  ", "  \n# New"),
        ("# New", "# New"),
        ("#   New   #", "#   New   #"),
    ],
)
def test_the_h1_gets_the_title_and_nothing_else_changes(before: str, after: str) -> None:
    assert with_heading(before, 0, "New") == after
    assert with_heading(after, 0, "New") == after


@pytest.mark.rule("LT-40")
def test_an_h1_is_added_below_the_frontmatter() -> None:
    assert with_heading("---\na: b\n---\ntext", 13, "T") == "---\na: b\n---\n# T\n\ntext"
    assert with_heading("---\na: b\n---", 12, "T") == "---\na: b\n---\n# T"


@pytest.mark.rule("LT-40")
@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("two\nlines", "# two lines"),
        ("C #", "# C \\#"),
        ("C#", "# C#"),
        ("#", "# \\#"),
        ("a <!-- b --> c", "# a \\<!-- b --> c"),
        ("%%a%%", "# \\%%a\\%%"),
        ("\\# a", "# \\\\# a"),
        ("C:\\dir", "# C:\\dir"),
        ("`a \\# b` \\#", "# `a \\# b` \\\\#"),
        ("`<!-- ` -->", "# `<!-- ` -->"),
        ("\\`a\\`", "# \\\\\\`a\\\\\\`"),
        ("<!-- ` --> `", "# \\<!-- \\` --> \\`"),
    ],
)
def test_a_title_that_markdown_would_read_otherwise_is_escaped(title: str, line: str) -> None:
    text = with_heading("# Old\n", 0, title)
    assert text == f"{line}\n"
    heading = outline(text, 0).heading
    assert heading is not None
    assert heading.text == " ".join(title.split())


@pytest.mark.rule("LT-40")
@pytest.mark.parametrize("title", ["- item", "> quote", "# mark", "1. one", "***", "| a"])
def test_an_underlined_h1_gets_marks_where_the_title_needs_them(title: str) -> None:
    assert with_heading("Old\n===\ntext", 0, title) == f"# {title}\ntext"


@pytest.mark.rule("LT-40")
def test_an_empty_title_changes_nothing() -> None:
    assert with_heading("# Old\n", 0, " \n ") == "# Old\n"
    assert with_heading("text\n", 0, "") == "text\n"


@pytest.mark.rule("LT-42", "K-3")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## Evidence\n\nold\n\n## S\n", "## Evidence\n\nnew\n\n## S\n"),
        ("## Evidence\nold\nlines\n# S\n", "## Evidence\nnew\n# S\n"),
        ("## Evidence\n\n\n  old", "## Evidence\n\n\nnew"),
        ("## Evidence ##\n", "## Evidence ##\n\nnew\n"),
        ("## Evidence", "## Evidence\n\nnew"),
        ("## Evidence\n\n\n\n## S\n", "## Evidence\n\nnew\n\n## S\n"),
        ("Evidence\n---\nold\n\n## S\nx  \n", "Evidence\n---\nnew\n\n## S\nx  \n"),
        ("## Evidence\n\nnew  \n\n", "## Evidence\n\nnew  \n\n"),
    ],
)
def test_only_the_body_of_the_section_is_replaced(before: str, after: str) -> None:
    changed = with_section_text(before, 0, EVIDENCE, "new", "en")
    assert changed == after
    assert with_section_text(changed, 0, EVIDENCE, "new", "en") == after


@pytest.mark.rule("LT-42", "K-96")
def test_no_evidence_is_said_in_the_vaults_language() -> None:
    assert (
        with_section_text("## Evidence\n\nold\n", 0, EVIDENCE, "", "en") == "## Evidence\n\n(no source yet)\n"
    )
    assert "\n（暂无可追溯来源）\n" in with_section_text("## Evidence\n\nold\n", 0, EVIDENCE, " \n", "zh")
    silent = OwnSection(heading=Bilingual("甲", "A"))
    assert with_section_text("## A\n\nold\n\n## B\n", 0, silent, "", "en") == "## A\n\n\n\n## B\n"


@pytest.mark.rule("LT-42")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# T\n\ntext\n", "# T\n\ntext\n\n## Evidence\n\nnew\n"),
        ("# T", "# T\n\n## Evidence\n\nnew"),
        ("# T\n\n\n", "# T\n\n\n## Evidence\n\nnew\n"),
        ("", "## Evidence\n\nnew\n"),
        ("# T\n## Related\n- [[x]]\n", "# T\n\n## Evidence\n\nnew\n\n## Related\n- [[x]]\n"),
    ],
)
def test_a_missing_section_is_added_before_the_related_one_or_at_the_end(before: str, after: str) -> None:
    assert with_section_text(before, 0, EVIDENCE, "new", "en", before=LONGTERM.related) == after


@pytest.mark.rule("LT-42")
def test_a_missing_section_is_not_added_for_nothing() -> None:
    assert with_section_text("# T\n", 0, EVIDENCE, " ", "en") == "# T\n"


@pytest.mark.rule("LT-42", "LT-43", "K-3")
@pytest.mark.parametrize(
    "new",
    ["## S", "a\n---", "```\nopen", "<!-- open", "%%", "\\## S", "a\n===", "- x\n\n# S\n\n~~~", "<pre>"],
)
def test_evidence_that_looks_like_structure_reads_back_and_hides_nothing(new: str) -> None:
    for text in ("## Evidence\n\nold\n\n## Mine\n\nkeep\n", "# T\n\n## Related\n\nkeep\n"):
        changed = with_section_text(text, 0, EVIDENCE, new, "en", before=LONGTERM.related)
        plan = outline(changed, 0)
        section = find_section(plan, EVIDENCE)
        assert section is not None
        assert section_text(changed, section) == new
        assert changed[section.end :] == text[text.index("## Mine" if "Mine" in text else "## Related") :]
        assert with_section_text(changed, 0, EVIDENCE, new, "en") == changed


@pytest.mark.rule("LT-42")
def test_code_in_evidence_stays_code() -> None:
    new = "```sh\n# run\n```\n\nand `more`"
    assert with_section_text("## Evidence\n", 0, EVIDENCE, new, "en") == f"## Evidence\n\n{new}\n"


@pytest.mark.rule("LT-42", "K-3")
def test_what_could_not_be_read_back_is_not_written() -> None:
    assert with_section_text("```\nnever closed\n", 0, EVIDENCE, "new", "en") == "```\nnever closed\n"


@pytest.mark.rule("LT-43", "K-3")
def test_everything_a_person_wrote_survives_a_new_summary() -> None:
    mine = (
        "## 要点 <!-- todo -->\n\nline with hard break  \nnext\n1.\n+\n\n<!--\n## 来源与依据\nhidden\n-->\n\n"
        "%%\n\n## 相关记忆\n%%\n\nSetext 标题\n---------\n\n> [!note] callout\n> ## not a section\n\n## A ##\n\n"
        "##无空格\n\n## 来源与依据\n\n（暂无可追溯来源）"
    )
    text = f"# round trip\n\n## 核心内容\n\nold summary\n\n{mine}"
    assert titles(text) == ["核心内容", "要点", "Setext 标题", "A", "来源与依据"]
    changed = with_section_text(text, 0, LONGTERM.summary, "new summary", "zh")
    assert changed == f"# round trip\n\n## 核心内容\n\nnew summary\n\n{mine}"
    assert with_section_text(text, 0, EVIDENCE, "书", "zh") == text.removesuffix("（暂无可追溯来源）") + "书"
