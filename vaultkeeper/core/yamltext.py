"""YAML as the text that a person typed: every scalar stays as written, for field readers to give it a meaning (K-12).

The reading itself is done by ruamel.yaml's event parser; no type is ever resolved, nothing is ever constructed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from vaultkeeper.core.errors import VaultkeeperError

if TYPE_CHECKING:
    from ruamel.yaml import YAML

MAX_NODES = 10_000
"""How many nodes aliases may expand to: K-16."""
MAX_DEPTH = 50
"""How deep collections may be nested: K-16."""
MAX_BYTES = 256 * 1024
"""Longest frontmatter, and longest text that aliases may expand to: K-16."""


class Quoted(str):
    """A scalar that was quoted in the file, or written as a block: text whatever it looks like."""

    __slots__ = ()


Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
"""Scalars are text as typed, unquoted and unescaped; None is a value of which nothing is written."""


class YamlError(VaultkeeperError):
    """YAML that cannot be read; line and column count from 1 in the text that was given."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {reason}")
        self.reason = reason
        self.line = line
        self.column = column


class TooLargeError(VaultkeeperError):
    """YAML past one of the limits of K-16; `what` names it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Span(NamedTuple):
    """Where a value stands, as (line, column), both from 0; `end` is just behind it."""

    start: tuple[int, int]
    end: tuple[int, int]
    style: str
    """`"`, `'`, `|`, `>` of a scalar, empty for a plain one; `[` flow list, `-` block list, `{` mapping."""


class Pair(NamedTuple):
    """One top-level key with its value."""

    key: str
    value: Value
    line: int
    """Line of the key, from 1, in the text that was given."""
    span: Span | None = None
    """Where the value stands; None from the fast reader, which does not look."""


_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# YAML 1.2 takes these for ordinary characters, libyaml for line breaks.
_BREAKS = {0x85: 0xF8F85, 0x2028: 0xF8F28, 0x2029: 0xF8F29}
_HIDDEN = {hidden: shown for shown, hidden in _BREAKS.items()}
_ODD_BREAK = re.compile("[\x85\u2028\u2029]")
_HIDDEN_BREAK = re.compile("[\U000f8f85\U000f8f28\U000f8f29]")


def read_pairs(text: str) -> list[Pair]:
    """The top-level pairs of a YAML mapping, in order, doubles kept; none for a text without content.

    Raises:
        YamlError: it is no YAML, or no mapping whose keys are all plain words.
        TooLargeError: it is nested too deeply, or its aliases expand to too much.
    """
    bad = _UNPRINTABLE.search(text) or (_HIDDEN_BREAK.search(text) if _ODD_BREAK.search(text) else None)
    if bad is not None:
        line_at = text.rfind("\n", 0, bad.start()) + 1
        reason = f"the character U+{ord(bad.group()):04X} is not allowed"
        raise YamlError(reason, text.count("\n", 0, line_at) + 1, bad.start() - line_at + 1)
    hides = _ODD_BREAK.search(text) is not None
    reader = _Reader(text.translate(_BREAKS) if hides else text, hides=hides)
    return reader.pairs()


class _Reader:
    """Makes values of the parser's events, keeping count of what aliases expand to; used once."""

    def __init__(self, text: str, *, hides: bool) -> None:
        self._events = _events(text)
        self._hides = hides
        self._nodes = 0
        self._chars = 0
        self._anchors: dict[str, tuple[Value, int, int]] = {}

    def pairs(self) -> list[Pair]:
        next(self._events)  # the start of the stream
        event = next(self._events)
        if event.kind == "StreamEnd":
            return []
        event = next(self._events)
        if event.kind != "MappingStart":
            raise _error("the frontmatter is no mapping of keys to values", event)
        pairs: list[Pair] = []
        while (event := next(self._events)).kind != "MappingEnd":
            key, line = self._key(event), event.start[0] + 1
            event = next(self._events)
            value, end = self._value(event, 1)
            pairs.append(Pair(key, value, line, Span(event.start, end, event.style)))
        next(self._events)  # the end of the document
        if (event := next(self._events)).kind != "StreamEnd":
            raise _error("a second document begins here", event)
        return pairs

    def _key(self, event: _Event) -> str:
        if event.kind != "Scalar":
            raise _error("a key has to be a word", event)
        return self._text(event.value)

    def _text(self, text: str) -> str:
        return text.translate(_HIDDEN) if self._hides else text

    def _value(self, event: _Event, depth: int) -> tuple[Value, tuple[int, int]]:
        """The value that begins with the event, and where it ends."""
        if event.kind == "Alias":
            return self._alias(event), event.end
        nodes, chars = self._nodes, self._chars
        self._nodes += 1
        value: Value
        end = event.end
        if event.kind == "Scalar":
            self._chars += len(event.value)
            value = self._scalar(event)
        else:
            if depth > MAX_DEPTH:
                raise TooLargeError(f"nested deeper than {MAX_DEPTH}")
            value, end = self._collection(event, depth)
        if event.anchor:
            self._anchors[event.anchor] = value, self._nodes - nodes, self._chars - chars
        return value, end

    def _scalar(self, event: _Event) -> str | None:
        if event.style:
            return Quoted(self._text(event.value))
        return self._text(event.value) or None

    def _collection(self, event: _Event, depth: int) -> tuple[Value, tuple[int, int]]:
        if event.kind == "SequenceStart":
            items: list[Value] = []
            while (event := next(self._events)).kind != "SequenceEnd":
                items.append(self._value(event, depth + 1)[0])
            return items, event.end
        mapping: dict[str, Value] = {}
        while (event := next(self._events)).kind != "MappingEnd":
            key = self._key(event)
            value, _ = self._value(next(self._events), depth + 1)
            mapping.setdefault(key, value)
        return mapping, event.end

    def _alias(self, event: _Event) -> Value:
        if event.anchor not in self._anchors:
            raise _error(f"nothing is called &{event.anchor} before this", event)
        value, nodes, chars = self._anchors[event.anchor]
        self._nodes += nodes
        self._chars += chars
        if self._nodes > MAX_NODES:
            raise TooLargeError(f"aliases expand to more than {MAX_NODES} nodes")
        if self._chars > MAX_BYTES:
            raise TooLargeError(f"aliases expand to more than {MAX_BYTES // 1024} KiB")
        return value


class _Event(NamedTuple):
    kind: str
    value: str
    style: str
    anchor: str
    start: tuple[int, int]
    end: tuple[int, int]


def _events(text: str) -> Iterator[_Event]:
    """The parser's events in this module's terms; ruamel.yaml is loaded at the first call only, for a faster start."""
    from ruamel.yaml.error import YAMLError

    try:
        yield from map(_plain_event, _parser_class()(typ="safe").parse(text))
    except YAMLError as error:
        raise _told(error, text) from error


@lru_cache(maxsize=1)
def _parser_class() -> type[YAML]:
    """ruamel.yaml's front without its plug-ins: it would look for them on disk anew for every text."""
    from ruamel.yaml import YAML

    class Bare(YAML):
        def official_plug_ins(self) -> list[str]:
            return []

    return Bare


def _told(error: Exception, text: str) -> YamlError:
    """The parser's error in this module's terms; what is missing at the end is told where it was opened."""
    mark, opened = (getattr(error, name, None) for name in ("problem_mark", "context_mark"))
    if mark is None or (opened is not None and mark.line > text.rstrip("\n").count("\n")):
        mark = opened
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return YamlError(getattr(error, "problem", None) or " ".join(str(error).split()), line, column)


def _plain_event(event: Any) -> _Event:  # noqa: ANN401 — ruamel.yaml types its events no further
    kind = type(event).__name__.removesuffix("Event")
    style = getattr(event, "style", None) or ""
    if kind == "SequenceStart":
        style = "[" if event.flow_style else "-"
    elif kind == "MappingStart":
        style = "{"
    start, end = event.start_mark, event.end_mark
    return _Event(
        kind,
        getattr(event, "value", None) or "",
        style,
        getattr(event, "anchor", None) or "",
        (start.line, start.column),
        (end.line, end.column),
    )


def _error(reason: str, event: _Event) -> YamlError:
    return YamlError(reason, event.start[0] + 1, event.start[1] + 1)


_NULLS = frozenset({"null", "Null", "NULL", "~"})
_WIKILINK = re.compile(r"\[\[[^\[\]]*\]\]")


def as_list(value: Value) -> list[str] | None:
    """The texts of a value in a list's place (K-17); None for a mapping, or where an item is one.

    Nothing and an unquoted null are empty, a single text is a list of one, and a text that shows a list, such as
    `["a", "b"]`, is that list.
    """
    if isinstance(value, dict):
        return None
    if isinstance(value, list):
        return _flat(value)
    if not value or (value in _NULLS and not isinstance(value, Quoted)):
        return []
    shown = _shown_list(value.strip())
    return [value] if shown is None else shown


def _flat(items: Iterable[Value]) -> list[str] | None:
    flat: list[str] = []
    for item in items:
        if isinstance(item, dict):
            return None
        if isinstance(item, list):
            inner = _flat(item)
            if inner is None:
                return None
            flat += inner
        elif item is not None:
            flat.append(item)
    return flat


def _shown_list(text: str) -> list[str] | None:
    """The items that a text such as `["a", "b"]` or `[a, b]` shows; None where it shows no list of texts."""
    if not (text.startswith("[") and text.endswith("]")) or _WIKILINK.match(text):
        return None
    try:
        return msgspec.json.decode(text, type=list[str])
    except (msgspec.MsgspecError, ValueError):
        pass  # not JSON of texts; perhaps a flow list
    try:
        ((_, value, _, _),) = read_pairs(f"list: {text}")
    except (YamlError, TooLargeError, ValueError):
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return [str(item) for item in value]


_COMMAS = re.compile("[,，、]")


def split_words(text: str) -> list[str]:
    """The words of a text in a tag list's place: split at commas of any kind, at blanks only where there is none (LT-31)."""
    parts = _COMMAS.split(text) if _COMMAS.search(text) else text.split()
    return [word for part in parts if (word := part.strip())]
