"""Common slips in frontmatter, mended by quoting just the value (K-13).

A repair works on one chunk of a block: a `key: value` line and the lines that follow from it. None of them adds or
takes away a line, so that a finding can name the line a person sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from vaultkeeper.core.yamlchunks import canonical, split_head

_TEXT_KEYS: Final = frozenset({"title", "evidence", "summary", "description", "aliases"})
"""Keys that hold a person's words: there a single blank before `#` is taken for text, elsewhere for a comment."""
_TAG_KEYS: Final = frozenset({"tags"})
"""Keys where `#word` is a tag written as in the text of a note, not a comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRepair:
    """One kind of slip. `mend(before) == after == mend(after)`, which the tests prove and the manual prints."""

    code: str
    mend: Callable[[str, Mapping[str, str]], str]
    """Takes a chunk and the known keys (key or synonym → key), gives the chunk mended, or the same."""
    before: str
    after: str
    silent: bool = False
    """Whether YAML may read the slip without complaint, as something that nobody meant. A chunk that is YAML is mended
    for silent slips only."""


class Slip(NamedTuple):
    """One repair that was made, at a line of the chunk, from 0."""

    code: str
    line: int


_MAYBE_SILENT = re.compile(r"\A[^\s:：]{1,60}(?:：|:\S)|[#“”„‟＂‘’‚‛＇]|\[\[|\n[ \t]*-[^\n]*:")
"""What every silent slip holds: most chunks hold none of it."""


def mend_chunk(chunk: str, known: Mapping[str, str], *, readable: bool) -> tuple[str, list[Slip]]:
    """Mend every slip in a chunk; `readable` says that it is YAML as it stands."""
    slips: list[Slip] = []
    if readable and not _MAYBE_SILENT.search(chunk):
        return chunk, slips
    for repair in TEXT_REPAIRS:
        if readable and not repair.silent:
            continue
        mended = repair.mend(chunk, known)
        if mended != chunk:
            pairs = zip(chunk.split("\n"), mended.split("\n"), strict=True)
            slips += [Slip(repair.code, number) for number, (old, new) in enumerate(pairs) if old != new]
            chunk = mended
    return chunk, slips


class _Place(NamedTuple):
    """Where a value stands."""

    key: str | None
    """The format's name of the key; None for a person's own key."""
    is_item: bool


_Fix = Callable[[str, _Place], str]


def _each_value(chunk: str, known: Mapping[str, str], fix: _Fix) -> str:
    """The chunk with `fix` applied to its value, or to each item of its list; values of several lines are left."""
    lines = chunk.split("\n")
    head = split_head(lines[0])
    if head is None:
        return chunk
    key = canonical(head.name, known)
    if not any(line.strip() and not line.lstrip().startswith("#") for line in lines[1:]):
        lines[0] = head.key + head.colon + fix(head.value, _Place(key, is_item=False))
    elif not head.value or head.value[0] == "#":
        _fix_items(lines, _Place(key, is_item=True), fix)
    return "\n".join(lines)


_ITEM = re.compile(r"([ \t]*)(-[ \t]+)(.*)")


def _fix_items(lines: list[str], place: _Place, fix: _Fix) -> None:
    """Fix the items of the outermost list that stand on one line each."""
    items = {number: item for number, line in enumerate(lines) if number and (item := _ITEM.fullmatch(line))}
    indent = items[min(items)][1] if items else ""
    depth = 0  # of the next line below that says something; deeper than the item, it belongs to the item
    for number in range(len(lines) - 1, 0, -1):
        line = lines[number]
        bare = line.lstrip(" \t")
        item = items.get(number)
        if item is not None and item[1] == indent and depth <= len(indent):
            lines[number] = item[1] + item[2] + fix(item[3], place)
        if bare and not bare.startswith("#"):
            depth = len(line) - len(bare)


_COMMENT = re.compile(r"(?<![ \t])[ \t]+(?:#.*|\Z)")
_FAR_COMMENT = re.compile(r"(?<![ \t])(?:[ \t]{2,}#.*|\t#.*|[ \t]+\Z)")


def _parted(value: str, place: _Place) -> tuple[str, str]:
    """The value, and what stands behind it: blanks and a comment."""
    is_text = place.key in _TEXT_KEYS and not place.is_item
    end = (_FAR_COMMENT if is_text else _COMMENT).search(value)
    return (value[: end.start()], value[end.start() :]) if end else (value, "")


def _quoted(text: str) -> str:
    """The text in double quotes, or in single ones where it holds what double ones would want escaped."""
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'


_FLOW = re.compile(r"\[([^\[\]{}\"']*)\]([ \t]*(?:[ \t]#.*)?)")


def _fix_flow_items(value: str, fix: Callable[[str], str]) -> str | None:
    """A one-line list with each item fixed; None for any other value."""
    flow = _FLOW.fullmatch(value)
    if flow is None:
        return None
    parts = flow[1].split(",")
    fixed = [part.replace(part.strip(), fix(part.strip())) if part.strip() else part for part in parts]
    return f"[{','.join(fixed)}]{flow[2]}"


def _mend_tabs(chunk: str, known: Mapping[str, str]) -> str:  # noqa: ARG001 — every repair takes the same
    lines = chunk.split("\n")
    spaced = next((line for line in lines[1:] if line.startswith(" ") and line.strip()), "  ")
    width = len(spaced) - len(spaced.lstrip(" "))
    for number, line in enumerate(lines[1:], start=1):
        bare = line.lstrip(" \t")
        lines[number] = line[: len(line) - len(bare)].replace("\t", " " * width) + bare
    return "\n".join(lines)


_FULLWIDTH = re.compile(r"([^\s:：#\"'\[{-][^\n:：]{0,100}?)[ \t]{0,20}：[ \t]*(.*)", re.S)


def _mend_fullwidth_colon(chunk: str, known: Mapping[str, str]) -> str:
    match = _FULLWIDTH.fullmatch(chunk)
    if match is None or canonical(match[1], known) is None:
        return chunk
    return f"{match[1]}: {match[2]}" if match[2] and match[2][0] != "\n" else f"{match[1]}:{match[2]}"


_TIGHT = re.compile(r"([^\s:：#\"'\[{-][^\n:：]*):((?!//)[^\s:].*)", re.S)


def _mend_missing_space(chunk: str, known: Mapping[str, str]) -> str:
    match = _TIGHT.fullmatch(chunk)
    if match is None or canonical(match[1], known) is None:
        return chunk
    return f"{match[1]}: {match[2]}"


_CURLY = re.compile(r"[“”„‟＂]([^“”„‟＂]*)[“”„‟＂]|[‘’‚‛＇]([^‘’‚‛＇]*)[‘’‚‛＇]")


def _straight(text: str) -> str:
    match = _CURLY.fullmatch(text)
    return _quoted(match[1] if match[1] is not None else match[2]) if match else text


def _mend_curly_quotes(chunk: str, known: Mapping[str, str]) -> str:
    def fix(value: str, place: _Place) -> str:
        if place.key is None:
            return value
        flow = _fix_flow_items(value, _straight)
        if flow is not None:
            return flow
        core, tail = _parted(value, place)
        return _straight(core) + tail

    return _each_value(chunk, known, fix)


_SPECIAL = re.compile(r"\[\[[^\[\]]+\]\].*|[@`%].*|\{\{.*\}\}.*")


def _mend_special(chunk: str, known: Mapping[str, str]) -> str:
    def fix(value: str, place: _Place) -> str:
        core, tail = _parted(value, place)
        return _quoted(core) + tail if _SPECIAL.fullmatch(core) else value

    return _each_value(chunk, known, fix)


_WORD = r"[^\s#,，、][^\s,，、]*"
_HASH_TAGS = re.compile(
    rf"(#{_WORD}(?:[ \t]*[,，、][ \t]*#?{_WORD}|[ \t]+#{_WORD})*)([ \t]*|[ \t]+#(?:[ \t].*)?)"
)
"""Words of which each begins with `#`, or follows a comma; then perhaps a true comment."""


def _mend_hash_tags(chunk: str, known: Mapping[str, str]) -> str:
    def fix(value: str, place: _Place) -> str:
        if place.key is None or not (place.is_item or place.key in _TAG_KEYS):
            return value
        flow = _fix_flow_items(value, lambda item: _quoted(item) if re.match("#[^#]", item) else item)
        if flow is not None:
            return flow
        match = _HASH_TAGS.fullmatch(value)
        return _quoted(match[1]) + match[2] if match else value

    return _each_value(chunk, known, fix)


_PLAIN_START = re.compile(r"[^\s\"'\[\]{},&*!|>#%@`?:-]|-[^\s]")


def _mend_colon(chunk: str, known: Mapping[str, str]) -> str:
    def fix(value: str, place: _Place) -> str:
        core, tail = _parted(value, place)
        wants = re.search(r":[ \t]|:\Z", core) is not None and _PLAIN_START.match(core) is not None
        return _quoted(core) + tail if wants and not (place.is_item and place.key is None) else value

    return _each_value(chunk, known, fix)


def _mend_hash(chunk: str, known: Mapping[str, str]) -> str:
    def fix(value: str, place: _Place) -> str:
        if place.is_item or place.key not in _TEXT_KEYS:
            return value
        core, tail = _parted(value, place)
        vanishes = re.match(r"#[^\s#]", core) is not None
        cut = re.search(r"[ \t]#", core) is not None and _PLAIN_START.match(core) is not None
        return _quoted(core) + tail if vanishes or cut else value

    return _each_value(chunk, known, fix)


TEXT_REPAIRS: Final = (
    TextRepair(code="slip-tab", mend=_mend_tabs, before="tags:\n\t- a\n\t- b", after="tags:\n  - a\n  - b"),
    TextRepair(
        code="slip-fullwidth-colon",
        mend=_mend_fullwidth_colon,
        before="title：Plan",
        after="title: Plan",
        silent=True,  # `title：Plan: phase 2` has the key `title：Plan`
    ),
    TextRepair(
        code="slip-no-space",
        mend=_mend_missing_space,
        before="status:active",
        after="status: active",
        silent=True,
    ),
    TextRepair(
        code="slip-quotes",
        mend=_mend_curly_quotes,
        before="title: “Plain files”",
        after='title: "Plain files"',
        silent=True,
    ),
    TextRepair(
        code="slip-special",
        mend=_mend_special,
        before="author: @ada  # who",
        after='author: "@ada"  # who',
        silent=True,  # `[[a]]` is a list in a list
    ),
    TextRepair(
        code="slip-hash-tags",
        mend=_mend_hash_tags,
        before="tags: #idea #中文",
        after='tags: "#idea #中文"',
        silent=True,
    ),
    TextRepair(
        code="slip-colon",
        mend=_mend_colon,
        before="title: Plan: phase 2",
        after='title: "Plan: phase 2"',
        silent=True,  # an item `- Plan: phase 2` is a mapping
    ),
    TextRepair(
        code="slip-hash",
        mend=_mend_hash,
        before="title: C # for beginners",
        after='title: "C # for beginners"',
        silent=True,
    ),
)
"""Every repair, in the order they are tried: those that make a line readable at all before those of its value."""
