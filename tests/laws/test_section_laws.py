"""Laws of outlines and splices: titles read back, splices come to rest, other people's bytes stay."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vaultkeeper.core.hidden import hidden_spans
from vaultkeeper.core.sections import find_section, outline, section_text, with_heading, with_section_text
from vaultkeeper.formats.longterm import LONGTERM

LINES = st.sampled_from(
    (
        *(
            "# Title",
            "## Evidence",
            "## 来源与依据",
            "## Mine",
            "## A ##",
            "# #",
            "## ##",
            "### Deep",
            "##x",
            "Under",
            "===",
            "---",
        ),
        *("```", "````", "~~~", "``` py", "> ```", "- ```", "  ```", "    ```", "> ## q", "- item", "  more"),
        *(
            "<!--",
            "-->",
            "<!-- x -->",
            "%%",
            "%% x %%",
            "words <!-- open",
            "words %% x",
            "a `code` b",
            "a ` b",
        ),
        *(
            "",
            "",
            "  ",
            "text",
            "[[link]]",
            "| a |",
            "<pre>",
            "</pre>",
            "\\# no",
            "***",
            "1. one",
            "\ttab",
            "    x",
        ),
    )
)
BODIES = st.one_of(
    st.lists(LINES, max_size=12).map("\n".join),
    st.lists(LINES, max_size=12).map(lambda lines: "".join(f"{line}\n" for line in lines)),
    st.text(alphabet="#ab `~<!->%\n\t=-|\\", max_size=40),
)
FRONTS = st.sampled_from(("", "---\na: b\n---\n", "---\na: `b <!-- %%\n---\n"))
TITLES = st.one_of(
    st.text(max_size=30), st.text(alphabet="#ab `\\<!->%[]|\n=", max_size=20), st.just("<!-- ` --> \\# `")
)
LAW = settings(deadline=None, max_examples=150)


@pytest.mark.rule("LT-36", "K-2")
@LAW
@given(FRONTS, BODIES)
def test_an_outline_covers_its_text_in_order(front: str, body: str) -> None:
    text, body_at = front + body, len(front)
    plan = outline(text, body_at)
    at = plan.intro[0]
    assert body_at <= at <= plan.intro[1] <= len(text)
    for section in plan.sections:
        assert at <= section.start == section.heading.start < section.body_at <= section.end <= len(text)
        assert section.heading.line == text.count("\n", 0, section.start) + 1
        at = section.end
    spans = hidden_spans(text, body_at)
    assert all(body_at <= span.start < span.end <= len(text) for span in spans)
    assert all(one.end <= two.start for one, two in pairwise(spans))


@pytest.mark.rule("LT-40", "K-3", "K-6")
@LAW
@given(FRONTS, BODIES, TITLES)
def test_any_title_reads_back_from_the_h1_and_nothing_else_changes(front: str, body: str, title: str) -> None:
    text, body_at = front + body, len(front)
    old = outline(text, body_at).heading
    changed = with_heading(text, body_at, title)
    new = outline(changed, body_at).heading
    assert with_heading(changed, body_at, title) == changed
    if not title.split():
        assert changed == text
        return
    assert new is not None
    assert new.text == " ".join(title.split())
    if old is not None:
        assert (changed[: new.start], changed[new.end :]) == (text[: old.start], text[old.end :])
    else:
        start = changed[: new.start]
        assert any(start + changed[new.end + n :] in {text, f"{text}\n"} for n in range(3))


@pytest.mark.rule("LT-42", "LT-43", "K-3", "K-6")
@LAW
@given(FRONTS, BODIES, st.one_of(BODIES, TITLES))
def test_a_spliced_section_reads_back_and_every_other_byte_stays(front: str, body: str, new: str) -> None:
    text, body_at = front + body, len(front)
    changed = with_section_text(text, body_at, LONGTERM.evidence, new, "en")
    assert with_section_text(changed, body_at, LONGTERM.evidence, new, "en") == changed
    old = find_section(outline(text, body_at), LONGTERM.evidence)
    now = find_section(outline(changed, body_at), LONGTERM.evidence)
    assume(changed != text)
    assert now is not None
    assert section_text(changed, now) == (new.strip() or "(no source yet)")
    if old is not None:
        assert changed[: now.heading.end] == text[: old.heading.end]
        assert changed[now.end :] == text[old.end :]
    else:
        assert changed[: len(text)] == text


@pytest.mark.rule("LT-42")
@LAW
@given(st.sampled_from(("# T\n\n## Evidence\n\nold\n\n## Mine\n\nx\n", "## 来源与依据", "# T\n")), BODIES)
def test_any_evidence_can_be_written_into_a_sound_note(text: str, new: str) -> None:
    changed = with_section_text(text, 0, LONGTERM.evidence, new, "zh")
    section = find_section(outline(changed, 0), LONGTERM.evidence)
    if section is not None or new.strip():
        assert section is not None
        assert section_text(changed, section) == (new.strip() or "（暂无可追溯来源）")
