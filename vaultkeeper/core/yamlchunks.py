"""Frontmatter split at its top-level keys, each with the lines that belong to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# A key has bounds so that a hostile line costs no more than its length.
_HEAD = re.compile(
    r"""(?P<key>"[^"\\]*"|'[^']*'|[^\s"'#\[\]{},&*!|>%@`?:-].{0,200}?|[?:-](?=\S).{0,200}?)(?P<colon>[ \t]{0,20}:(?:[ \t]+|$))(?P<value>.*)"""
)


class Chunk(NamedTuple):
    """Some lines of a block: a line at the margin and what follows from it; or the comments before the first key."""

    at: int
    """Number of its first line in the block, from 0."""
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """Its lines, without the newline that ends the last."""
        return "\n".join(self.lines)

    @property
    def size(self) -> int:
        """How many of its lines are its own: blank lines and comments at the end belong to nobody."""
        size = len(self.lines)
        head = split_head(self.lines[0])
        block_scalar = head is not None and head.value[:1] in {"|", ">"}
        while size > 1 and _is_idle(self.lines[size - 1], at_margin=block_scalar):
            size -= 1
        return size


def _is_idle(line: str, *, at_margin: bool) -> bool:
    """Whether a line holds nothing but blanks or a comment; inside a block scalar only the margin has comments."""
    return not line.strip() or (line if at_margin else line.lstrip()).startswith("#")


class Head(NamedTuple):
    """A `key: value` line taken apart: `key + colon + value` is the line."""

    key: str
    colon: str
    """The colon with the blanks around it."""
    value: str

    @property
    def name(self) -> str:
        """The key without its quotes."""
        return self.key[1:-1] if self.key[0] in "\"'" else self.key


def split_head(line: str) -> Head | None:
    """The parts of a `key: value` line at the margin; None for any other line."""
    match = _HEAD.fullmatch(line)
    return Head(*match.group("key", "colon", "value")) if match else None


_INNER = frozenset({"", " ", "\t", "#", "]", "}"})
"""What a line begins with that cannot be a new beginning: blanks, comments, closing brackets."""
_ITEM = re.compile(r"-(?:[ \t]|$)")
_WHOLE = re.compile(
    r"""[^\s#&!"'\[{|>].*|(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|\[[^\[\]{}]*\])[ \t]*(?:#.*)?"""
)
"""A value that ends on its line, unless deeper lines go on with it: an item at the margin below fits nowhere."""


def chunks_of(lines: Sequence[str]) -> list[Chunk]:
    """The block's lines as chunks; together they are all of them, in order."""
    starts: list[int] = []
    takes_items = False
    for number, line in enumerate(lines):
        if line[:1] in _INNER or (line[0] == "-" and takes_items and _ITEM.match(line)):
            continue
        starts.append(number)
        head = split_head(line)
        takes_items = head is None or _WHOLE.fullmatch(head.value) is None
    if lines and (not starts or starts[0] > 0):
        starts.insert(0, 0)
    ends = [*starts[1:], len(lines)] if lines else []
    return [Chunk(start, tuple(lines[start:end])) for start, end in zip(starts, ends, strict=True)]


def canonical(key: str, known: Mapping[str, str]) -> str | None:
    """The key that a format knows under this spelling; None for a person's own key."""
    return known.get(key) or known.get(key.strip().casefold())
