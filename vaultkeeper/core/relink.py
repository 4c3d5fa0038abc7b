"""Links that follow moved notes: only the targets that would no longer reach their note are rewritten (K-41)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from vaultkeeper.core.link_resolve import Resolver, is_dotted, joined
from vaultkeeper.core.link_syntax import Link, encoded, find_links, quote_before
from vaultkeeper.core.note import NotePath

_ENDS_WIKILINK = re.compile(r"[#^|\[\]\x00-\x1f]|\\\Z")
"""What the target of a wikilink cannot hold."""
_RISKY_YAML = re.compile(r"[\"'\\,{}]|: |:\Z")
"""What a target cannot hold in a frontmatter value whose quotes are not known."""


@dataclass(frozen=True, slots=True)
class _Journey:
    """A note's way, and the vault before and after."""

    old_path: NotePath
    new_path: NotePath
    before: Resolver
    after: Resolver


def relink(  # noqa: PLR0917 — a note, its way and the vault on both sides of it; one call
    text: str,
    body_at: int,
    old_path: NotePath,
    new_path: NotePath,
    before: Resolver,
    after: Resolver,
    moves: Mapping[NotePath, NotePath],
) -> str:
    """The note's text with those link targets rewritten that the moves would break; the same text where none is.

    A rewritten target keeps its style: a path or a name, relative or from the root, `.md` or not, its encoding. A link that
    no text in its style can express stays as it is, as does one that reached nothing; but where the note itself moves, a
    relative Markdown path to a file that is not known, such as an attachment, is taken at its word and adjusted.

    Args:
        text: the whole note.
        body_at: where its body starts.
        old_path: where the note stood.
        new_path: where it will stand; may be the same.
        before: the vault before the moves.
        after: the vault after them.
        moves: new paths by old ones.
    """
    journey = _Journey(old_path, new_path, before, after)
    pieces: list[str] = []
    at = 0
    for link in find_links(text, body_at):
        reached = before.resolve_link(link, old_path)
        if reached is None:
            target = _adjusted(link, journey)
        else:
            target = _followed(link, NotePath(moves.get(reached, reached)), journey)
        written = None if target is None else _written(text, link, target)
        if written is not None:
            pieces += (text[at : link.start], written)
            at = link.end
    return "".join((*pieces, text[at:])) if pieces else text


def _followed(link: Link, wanted: NotePath, journey: _Journey) -> str | None:
    """The target that reaches the wanted file from the note's new place; None: the one it has does, or none can."""
    way = journey.before.way(link, journey.old_path)
    if journey.after.resolve_link(link, journey.new_path) == wanted and (
        way != "beside" or journey.after.way(link, journey.new_path) == "beside"
    ):
        return None
    for path in _spellings(link, wanted, journey):
        bare = path[:-3] if path.lower().endswith(".md") and not link.target.lower().endswith(".md") else path
        for written in (bare, path):
            if journey.after.resolve_link(replace(link, target=written), journey.new_path) == wanted:
                return written
    return None


def _spellings(link: Link, wanted: NotePath, journey: _Journey) -> Iterator[str]:
    """Ways to write the target, in the person's style first; the last ones reach the file in any case."""
    way = journey.before.way(link, journey.old_path)
    near = _relative(wanted, journey.new_path)
    if way == "dotted" or (way == "beside" and near.startswith("../")):
        yield near if near.startswith("../") or not link.target.startswith("./") else f"./{near}"
    elif way == "beside":
        yield near
    elif way == "rooted":
        yield f"/{wanted}"
    elif way == "name":
        yield wanted.rpartition("/")[2]
    yield wanted
    yield f"/{wanted}"


def _relative(path: str, source: str) -> str:
    """The way from a note to a file, both vault paths."""
    folder = source.split("/")[:-1]
    parts = path.split("/")
    shared = 0
    while shared < min(len(folder), len(parts) - 1) and folder[shared] == parts[shared]:
        shared += 1
    return "/".join([".."] * (len(folder) - shared) + parts[shared:])


def _adjusted(link: Link, journey: _Journey) -> str | None:
    """A relative target from the note's new place, by path arithmetic; None where it is not surely relative.

    Obsidian finds a bare file name in the whole vault, so that needs nothing. A path without dots may be one from the
    vault's root, and counts as one where notes are known in a folder of that name there.
    """
    target = link.target
    dotted = is_dotted(target)
    if journey.old_path == journey.new_path or not (dotted or (link.kind == "markdown" and "/" in target)):
        return None
    if target.startswith("/"):
        return None
    old_folder = journey.old_path.rpartition("/")[0]
    path = joined(old_folder, target)
    if not path or (not dotted and journey.before.has_folder(target.split("/")[0])):
        return None
    near = _relative(path, journey.new_path)
    if target.startswith("./") and not near.startswith("../"):
        near = f"./{near}"
    return None if near == target or old_folder == journey.new_path.rpartition("/")[0] else near


def _written(text: str, link: Link, target: str) -> str | None:
    """The target as it stands in the text, in the encoding of the old one; None where that cannot hold it."""
    old = text[link.start : link.end]
    if link.kind == "markdown":
        angled = text[link.start - 1 : link.start] == "<"
        ascii_only = re.search("%[89A-Fa-f]", old) is not None
        return encoded(target, angled=angled, ascii_only=ascii_only)
    if _ENDS_WIKILINK.search(target):
        return None
    if link.kind == "frontmatter" and _RISKY_YAML.search(target):
        quote = quote_before(text, text.rfind("[[", 0, link.start))
        if quote != "'":
            return None if quote == "" or "\\" in target else target.replace('"', '\\"')
        return target.replace("'", "''")
    return target
