"""Laws of index pages: nobody's words are lost, splicing comes to rest, links reach exactly the listed notes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultkeeper.core.links import Resolver, find_links
from vaultkeeper.core.note import Entry, NotePath, Record
from vaultkeeper.core.page_text import END, MarkersDamagedError, splice
from vaultkeeper.core.pages import render_pages
from vaultkeeper.formats.longterm import LONGTERM

ENTRIES = st.builds(
    "- [[{}|{}]]{}".format,
    st.sampled_from("abcdef"),
    st.sampled_from(("Apples", "Pears", "决策")),
    st.sampled_from(("", " · importance 80", " · 决策 · 📌", " · 2026-01-01")),
)
BLOCKS = st.lists(ENTRIES, max_size=8).map(lambda lines: "\n".join((f"## Active ({len(lines)})", "", *lines)))
TYPED = st.one_of(
    ENTRIES,
    st.sampled_from(("```", "", "## Mine (3)", "（暂无）", "- [[b|Pears]] — mine", "  indented", "> quote")),
    st.text(alphabet="ab #-*`~[]|·\u3000·", max_size=12),
)
AROUND = st.text(alphabet="ab #\n\r\t\u2028é", max_size=20)


def words(line: str) -> set[str]:
    """The parts of a line whose loss would be one; a number or a mark that went out of date is none."""
    if line == "（暂无）" or not line.strip():
        return set()
    parts = (
        line.rstrip().removesuffix(" (3)").split(" · ")
        if line.startswith(("- [[", "## "))
        else [line.rstrip()]
    )
    return {part for part in parts if not part.startswith(("importance ", "2026-", "📌"))}


@pytest.mark.rule("K-9")
@settings(deadline=None, max_examples=300)
@given(BLOCKS, BLOCKS, st.lists(st.tuples(st.integers(0, 12), TYPED), max_size=4), AROUND, AROUND)
def test_no_line_that_a_person_typed_is_lost(
    old_block: str, new_block: str, typed: list[tuple[int, str]], above: str, below: str
) -> None:
    lines = old_block.split("\n")
    for at, line in typed:
        lines.insert(at, line)
    made = splice(None, old_block, "").text
    begin = made.split("\n", 1)[0]
    old = f"{above}\n{begin}\n" + "\n".join(lines) + f"\n{END}\n{below}"
    try:
        new = splice(old, new_block, "")
    except MarkersDamagedError:
        assert "```" in old or "~~~" in old
        return
    assert new.text.startswith(above + "\n")
    assert new.text.endswith(below)
    told = {line.rstrip() for line in new.text.split("\n")}
    told |= {part for line in told for part in line.split(" · ")} | {line.split(" (")[0] for line in told}
    for _, line in typed:
        assert words(line) <= told
    assert splice(new.text, new_block, "").text == new.text
    assert not splice(new.text, new_block, "").kept


@pytest.mark.rule("K-9")
@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="ab-`~ \n\r<!>", max_size=30), BLOCKS, st.text(max_size=20))
def test_any_text_is_refused_or_comes_to_rest(above: str, block: str, below: str) -> None:
    old = above + splice(None, block, "# T\n").text + below
    try:
        new = splice(old, block, "")
    except MarkersDamagedError:
        return
    assert new.text == old


@pytest.mark.rule("LT-52", "K-7", "K-24")
@settings(deadline=None, max_examples=100)
@given(
    st.dictionaries(
        st.text(
            st.characters(exclude_characters="/\\\x00", exclude_categories=("Cs", "Cc")),
            min_size=1,
            max_size=8,
        ),
        st.text(max_size=20),
        max_size=5,
    ),
    st.randoms(use_true_random=False),
)
def test_the_all_page_links_exactly_the_memories(names: dict[str, str], shuffler: object) -> None:
    entries: dict[NotePath, Entry] = {}
    for number, (name, title) in enumerate(sorted(names.items())):
        path = NotePath(f"Decisions/{number}{name}.md")
        note_id = f"mem_20260101t000000_{number:08x}"
        entries[path] = Entry(path, 1, 1, "d", "memory", Record(note_id, "decision", "active", title, "", ""))
    resolver = Resolver(entries)
    (page,) = render_pages(entries, LONGTERM, "zh", resolver, (), only={"all"})
    backwards = dict(reversed(entries.items()))
    assert render_pages(backwards, LONGTERM, "zh", Resolver(backwards), (), only={"all"}) == (page,)
    text = splice(None, page.block, page.preface).text
    reached = [resolver.resolve_link(link, page.path) for link in find_links(text, 0)]
    assert sorted(map(str, reached)) == sorted(entries)
    assert splice(text, page.block, "").text == text
