"""The lines of one frontmatter key with another value: as little of them changed as possible, in the note's own style."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from vaultkeeper.core.yamlchunks import Chunk, split_head
from vaultkeeper.core.yamltext import Span, TooLargeError, Value, YamlError, read_pairs
from vaultkeeper.core.yamlwrite import WriteValue, flow_list, new_lines, quote_like, scalar


def is_value(value: Value, wanted: WriteValue) -> bool:
    """Whether a value says already what is wanted; compared as read, never as written."""
    if isinstance(wanted, str):
        return value == wanted or (value is None and not wanted)
    if isinstance(wanted, int):
        return value == scalar(wanted)
    return isinstance(value, list) and value == list(wanted)


def key_chunks(chunks: Sequence[Chunk], key: str) -> list[Chunk]:
    """The chunks of that key, in any case."""
    return [chunk for chunk in chunks if _name(chunk) == key.casefold()]


def _name(chunk: Chunk) -> str:
    head = split_head(chunk.lines[0])
    return head.name.casefold() if head else ""


def new_key_at(
    lines: list[str], chunks: Sequence[Chunk], key: str, value: WriteValue, order: Sequence[str]
) -> list[str]:
    """The block with a new key at its place: behind the nearest earlier key of the order, else before the nearest later."""
    ranks = {name.casefold(): rank for rank, name in enumerate(order)}
    mine = ranks.get(key.casefold(), len(order))
    ranked = [(ranks[name], chunk) for chunk in chunks if (name := _name(chunk)) in ranks]
    earlier = [(rank, chunk) for rank, chunk in ranked if rank < mine < len(order)]
    later = [(rank, chunk) for rank, chunk in ranked if rank > mine]
    at = len(lines)
    if earlier:
        chunk = max(earlier)[1]
        at = chunk.at + chunk.size
    elif later:
        at = min(later)[1].at
        while at and lines[at - 1].startswith("#"):  # comments above a key stay with it
            at -= 1
    else:
        while at and not lines[at - 1].strip():
            at -= 1
    return [*lines[:at], *_fresh(key, value, lines), *lines[at:]]


def _fresh(key: str, value: WriteValue, lines: Sequence[str]) -> list[str]:
    indent = _list_indent(lines)
    if indent is None and not isinstance(value, str | int):
        head = new_lines(key, "x")[0].removesuffix("x")
        return [head + flow_list(value)]
    return new_lines(key, value, indent or "")


_ITEM = re.compile(r"([ \t]*)-[ \t]+(.*)")


def _list_indent(lines: Sequence[str]) -> str | None:
    """How this note indents the items of a list; None: it writes lists on one line."""
    flows = False
    for above, line in zip(["", *lines], lines, strict=False):
        head = split_head(above)
        item = _ITEM.fullmatch(line)
        if item and head and not head.value.strip():
            return item[1]
        flows = flows or (re.search(r":[ \t]+\[(?!\[)", line) is not None)
    return None if flows else "  "


def rewritten(chunk: Chunk, value: WriteValue, lines: Sequence[str]) -> tuple[int, list[str]]:
    """How many lines of a key's chunk are to be replaced, and by what; `lines` are the block's, to see its style."""
    old, span = _stands(chunk)
    if span is None:
        head = split_head(chunk.lines[0])
        assert head is not None  # or it would not be the chunk of a key
        size, start, tail, style = chunk.size, head.key + head.colon, "", ""
    else:
        size, start, tail = _around(chunk, span)
        style = span.style
    if isinstance(value, str | int):
        if tail.startswith(" #") and (style or old is None):
            tail = f" {tail}"  # behind a text that is not quoted, one blank is no sign of a comment (K-13)
        return size, [f"{_with_blank(start)}{scalar(value, style)}{tail}"]
    if style == "-" and value and isinstance(old, list):
        return size, _with_items(chunk.lines[:size], old, list(value))
    indent = _list_indent(lines)
    if style == "[" or not value or indent is None:
        return size, [f"{_with_blank(start)}{flow_list(value)}{tail}"]
    return size, [(start.rstrip() + tail).rstrip(), *new_lines("x", value, indent)[1:]]


def _stands(chunk: Chunk) -> tuple[Value, Span | None]:
    """The chunk's value and where it stands; no place where the chunk cannot be read by itself: then all of it goes."""
    try:
        ((_, value, _, span),) = read_pairs(chunk.text + "\n")
    except (YamlError, TooLargeError, ValueError):
        return None, None
    return value, span


def _with_blank(start: str) -> str:
    return start if start.endswith((" ", "\t")) else start + " "


def _around(chunk: Chunk, span: Span) -> tuple[int, str, str]:
    """How many lines hold the value, what stands before it on the first of them, and what behind it on the last."""
    (first, begin), (last, end) = span.start, span.end
    lines = chunk.lines
    head = split_head(lines[0])
    assert head is not None  # or it would not be the chunk of a key
    start = lines[0][:begin] if first == 0 else head.key + head.colon.rstrip()
    if span.style in {"", '"', "'", "["} or (first < len(lines) and lines[first].startswith("{", begin)):
        return max(last + 1, 1), start, lines[last][end:]
    comment = f"  {head.value}" if head.value.startswith("#") else ""
    return chunk.size, start, comment


_MANY_ITEMS = 1000
"""From here on frequent items are not matched one by one, which would take time by the square."""


def _with_items(lines: Sequence[str], old: list[Value], new: list[str]) -> list[str]:
    """A block list with other items; the lines of items that stay, and comments between items, are kept as they are."""
    items = [number for number, line in enumerate(lines) if number and _ITEM.fullmatch(line)]
    first = _ITEM.fullmatch(lines[items[0]]) if items else None
    indent, shown = (first[1], first[2]) if first else ("  ", "")
    style = shown[0] if shown[:1] in {"'", '"'} else ""
    texts = [item for item in old if isinstance(item, str)]
    others = (line.lstrip() for line in lines[1:] if not _ITEM.fullmatch(line))
    if not len(texts) == len(items) == len(old) or any(other and other[0] != "#" for other in others):
        return [lines[0], *(f"{indent}- {quote_like(item, style)}" for item in new)]
    matcher = SequenceMatcher(None, texts, new, autojunk=len(texts) > _MANY_ITEMS)
    result: list[str] = []
    done = 0
    for tag, begin, end, new_begin, new_end in matcher.get_opcodes():
        upto = max(done, items[end - 1] + 1 if end else 1)
        gone = set() if tag == "equal" else set(items[begin:end])
        result += (lines[number] for number in range(done, upto) if number not in gone)
        done = upto
        if tag != "equal":
            result += (f"{indent}- {quote_like(item, style)}" for item in new[new_begin:new_end])
    return [*result, *lines[done:]]
