"""Generated links: they reach one note, whatever its name and title (case c09)."""

from __future__ import annotations

import pytest

from vaultkeeper.core.links import Resolver, find_links, link_text
from vaultkeeper.core.note import NotePath

VAULT = Resolver(
    NotePath(path)
    for path in (
        "Decisions/a.md",
        "Decisions/twin.md",
        "Knowledge/twin.md",
        "root.md",
        "Inbox/root.md",
        "K/a#b.md",
        "K/Bra]cket.md",
        "K/[[nested]].md",
        "K/x|y.md",
        "K/50% ^block.md",
        "K/Paren (x.md",
        "K/`tick.md",
        "K/..md",
        "C#/twin.md",
        "K/ blank.md",
        "K/m.md.md",
        "K/m.md",
        "K/pic.png",
        "K/pic.png.md",
        "K/Upper.MD",
    )
)


@pytest.mark.rule("LT-43", "LT-52")
@pytest.mark.parametrize(
    ("path", "title", "written"),
    [
        ("Decisions/a.md", "Apples", "[[a|Apples]]"),
        ("Decisions/a.md", "a", "[[a]]"),
        ("Decisions/a.md", "", "[[a]]"),
        ("Decisions/a.md", " two\nlines\t", "[[a|two lines]]"),
        ("Decisions/a.md", "x|y [z] `c` <!-- %%", "[[a|x｜y ［z］ 'c' ＜!-- ％％]]"),
        ("Decisions/a.md", "C# \\", "[[a|C# ＼]]"),
        ("Decisions/twin.md", "Twin", "[[Decisions/twin|Twin]]"),
        ("Knowledge/twin.md", "twin", "[[Knowledge/twin|twin]]"),
        ("root.md", "Root", "[[/root|Root]]"),
        ("K/a#b.md", "a#b", "[a＃b](K/a%23b.md)"),
        ("K/Bra]cket.md", "Bra]cket", "[Bra］cket](K/Bra%5Dcket.md)"),
        ("K/[[nested]].md", "<b> \\", "[＜b> \\\\](K/%5B%5Bnested%5D%5D.md)"),
        ("K/x|y.md", "t", "[t](K/x%7Cy.md)"),
        ("K/50% ^block.md", "t", "[t](K/50%25%20%5Eblock.md)"),
        ("K/Paren (x.md", "Paren (x", "[[Paren (x]]"),
        ("K/`tick.md", "t", "[t](K/%60tick.md)"),
        ("K/..md", "t", "[t](K/..md)"),
        ("C#/twin.md", "t", "[t](/C%23/twin.md)"),
        ("K/ blank.md", "t", "[t](K/%20blank.md)"),
        ("K/m.md.md", "t", "[t](/K/m.md.md)"),
        ("K/pic.png.md", "t", "[t](/K/pic.png.md)"),
        ("K/Upper.MD", "t", "[[Upper|t]]"),
    ],
)
def test_a_generated_link_opens_its_note_and_shows_its_title(path: str, title: str, written: str) -> None:
    assert link_text(NotePath(path), title, VAULT) == written
    (link,) = find_links(written, 0)
    for source in ("Index/All.md", "Inbox/x.md", path):
        assert VAULT.resolve_link(link, NotePath(source)) == path


def test_a_name_that_shows_nothing_is_shown_as_a_question_mark() -> None:
    path = NotePath("K/\u00a0.md")
    assert link_text(path, "", Resolver([path])) == "[?](K/%C2%A0.md)"
