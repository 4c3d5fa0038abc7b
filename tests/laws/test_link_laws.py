"""Laws of links: after any moves they reach the same notes, nothing but targets changes, generated ones reach one note."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vaultkeeper.core.link_syntax import decoded, encoded
from vaultkeeper.core.links import Link, Resolver, find_links, link_text, relink
from vaultkeeper.core.note import NotePath

FOLDERS = st.sampled_from(("", "A/", "B/", "A/B/", "A/sub folder/", "归档/", "a/"))
STEMS = st.sampled_from(("x", "y", "two words", "笔记", "a.b", "X", "50%", "p(q)", "x 2"))
PATHS = st.builds("{}{}.md".format, FOLDERS, STEMS).map(NotePath)
VAULTS = st.lists(PATHS, min_size=1, max_size=7, unique_by=str.lower)
FORMS = (
    "[[{bare}]]",
    "[[{bare}|shown]]",
    "![[{path}#h]]",
    "[[{stem}]]",
    "| [[{stem}\\|x]] |",
    "[[/{bare}]]",
    "[t]({code})",
    "[t](<{path}> 'title')",
    "[t](/{code}#h)",
    "[t](../{code})",
    "[t](./{name})",
    "[t]({name})",
    "[[../{bare}]]",
)
CODE = st.sampled_from(
    ("`[[{bare}]]`", "```\n[[{bare}]]\n```", "<!-- [[{bare}]] -->", "words", "    [[{bare}]]")
)
LAW = settings(deadline=None, max_examples=200)


def written(form: str, path: NotePath) -> str:
    name = path.rpartition("/")[2]
    return form.format(bare=path[:-3], path=path, stem=name[:-3], code=encoded(path), name=encoded(name))


def meant(link: Link) -> tuple[str, str, bool]:
    return link.kind, link.fragment, link.embed


@st.composite
def journeys(draw: st.DrawFn) -> tuple[list[NotePath], dict[NotePath, NotePath]]:
    """A vault, and some moves in it to places that are free after the moves."""
    paths = draw(VAULTS)
    moving = draw(st.lists(st.sampled_from(paths), unique=True, max_size=4))
    taken = {path.lower() for path in paths if path not in moving}
    moves: dict[NotePath, NotePath] = {}
    for path in moving:
        target = draw(PATHS)
        if target.lower() not in taken:
            taken.add(target.lower())
            moves[path] = target
    assume(
        all(
            path.lower() not in {new.lower() for new in moves.values()} for path in paths if path not in moves
        )
    )
    return paths, moves


@pytest.mark.rule("K-41", "K-3")
@LAW
@given(journeys(), st.data())
def test_after_moves_every_link_reaches_the_same_note_and_only_targets_change(
    journey: tuple[list[NotePath], dict[NotePath, NotePath]], data: st.DataObject
) -> None:
    paths, moves = journey
    source = data.draw(st.sampled_from(paths))
    pieces = data.draw(
        st.lists(
            st.builds(written, st.one_of(st.sampled_from(FORMS), CODE), st.sampled_from(paths)), max_size=6
        )
    )
    text = "\n\n".join(pieces)
    before = Resolver(paths)
    after = before.after(moves)
    new_source = NotePath(moves.get(source, source))
    mended = relink(text, 0, source, new_source, before, after, moves)
    old_links, new_links = find_links(text, 0), find_links(mended, 0)
    assert list(map(meant, old_links)) == list(map(meant, new_links))
    for old, new in zip(old_links, new_links, strict=True):
        reached = before.resolve_link(old, source)
        if reached is not None:
            assert after.resolve_link(new, new_source) == moves.get(reached, reached)
    assert without_targets(text, old_links) == without_targets(mended, new_links)
    assert relink(mended, 0, new_source, new_source, after, after, {}) is mended


def without_targets(text: str, links: tuple[Link, ...]) -> str:
    for link in reversed(links):
        text = text[: link.start] + text[link.end :]
    return text


@pytest.mark.rule("K-41", "K-3")
@LAW
@given(st.text(alphabet="[]()|#!a/. \n`<>%\\:'\"", max_size=60), st.integers(0, 20))
def test_nothing_moved_changes_nothing_and_targets_stand_apart(text: str, body_at: int) -> None:
    body_at = min(body_at, len(text))
    here = NotePath("a/a.md")
    resolver = Resolver([here, NotePath("a.md")])
    assert relink(text, body_at, here, here, resolver, resolver, {}) is text
    at = 0
    for link in find_links(text, body_at):
        assert at <= link.start < link.end <= len(text)
        at = link.end
        if link.kind == "wiki":
            assert text[link.start : link.end] == link.target


@pytest.mark.rule("K-41")
@LAW
@given(
    journeys(), st.sampled_from(("x", "X", "A/x", "a.b", "/x", "sub folder/x", "y.md", "two words", "B/y"))
)
def test_a_resolver_after_moves_is_one_made_from_the_new_paths(
    journey: tuple[list[NotePath], dict[NotePath, NotePath]], target: str
) -> None:
    paths, moves = journey
    after = Resolver(paths).after(moves)
    rebuilt = Resolver(moves.get(path, path) for path in reversed(paths))
    for source in paths:
        assert after.resolve(target, source) == rebuilt.resolve(target, source)
        assert after.is_alone(source) == rebuilt.is_alone(source)


NAMES = st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=8).filter(
    lambda name: name not in {".", ".."}
)
LEGAL_PATHS = st.builds(
    lambda folders, name: NotePath("/".join((*folders, f"{name}.md"))), st.lists(NAMES, max_size=2), NAMES
)
TITLES = st.one_of(st.text(max_size=20), st.text(alphabet="[]|#`\\<!->%\n()^ a", max_size=12))


@pytest.mark.rule("LT-43", "LT-52", "K-24")
@LAW
@given(st.lists(LEGAL_PATHS, min_size=1, max_size=4, unique=True), TITLES, LEGAL_PATHS)
def test_a_generated_link_reaches_its_note_whatever_path_and_title(
    paths: list[NotePath], title: str, source: NotePath
) -> None:
    twins = [
        NotePath(f"{path.rpartition('/')[0]}x/{path.rpartition('/')[2]}".lstrip("/")) for path in paths[:1]
    ]
    for known in (paths, [*paths, *(twin for twin in twins if twin not in paths)]):
        resolver = Resolver(known)
        for path in known:
            link_line = link_text(path, title, resolver)
            assert "\n" not in link_line
            links = find_links(f"- {link_line} · {link_line} more", 0)
            assert [resolver.resolve_link(link, source) for link in links] == [path, path]


@pytest.mark.rule("K-41")
@LAW
@given(st.text(max_size=20), st.booleans(), st.booleans())
def test_encoding_a_path_is_undone_by_decoding(path: str, angled: bool, ascii_only: bool) -> None:
    shown = encoded(path, angled=angled, ascii_only=ascii_only)
    assert decoded(shown) == path
    assert re.search(r"[\s<>()#|\[\]]" if not angled else r"[\n<>#|\[\]]", shown) is None
