"""The fast reader of frontmatter: plain `key: value` lines and simple lists, without a YAML parser.

It either gives exactly what the full reader would give, or nothing at all (`tests/laws/test_frontmatter_laws.py`).
"""

from __future__ import annotations

import re

from vaultkeeper.core.yamltext import Pair, Quoted, Value

_ODD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
"""Characters that YAML, or some reader of it, takes for more than text."""
_HEAD = re.compile(r"([^\W][\w./-]{0,60}(?: [\w./-]{1,60}){0,4}):(?: +(.*))?")
_SPECIAL = frozenset("?:,[]{}#&*!|>'\"%@`“”„‟‘’‚‛＂＇")
"""What a plain value may not begin with; quotes of all kinds, since they may be a slip."""
_WORD = r"\w[\w./+]*(?:[:-]+[\w./+]+)*(?: +[\w./+-]+(?::[\w./+-]+)*)*"
_ITEM = rf"""(?:{_WORD}|"[^"\\]*"|'[^']*')"""
_FLOW = re.compile(rf"\[ *(?:{_ITEM} *(?:, *{_ITEM} *)*)?\]")
_FLOW_ITEM = re.compile(rf"""({_WORD})|"([^"\\]*)"|'([^']*)'""")


class _Unusual(Exception):  # noqa: N818 — not an error: the full reader takes over
    """The text holds more than this reader knows."""


def read_plain(text: str) -> list[Pair] | None:
    """The top-level pairs of simple frontmatter; None where it takes the full reader to tell."""
    if _ODD.search(text) or " #" in text:
        return None
    try:
        return _pairs(text.split("\n"))
    except _Unusual:
        return None


def _pairs(lines: list[str]) -> list[Pair]:
    pairs: list[Pair] = []
    items: list[Value] | None = None
    indent = -1
    for number, line in enumerate(lines, start=1):
        if not line or line[0] == "#":
            continue
        head = _HEAD.fullmatch(line)
        if head is not None:
            key, shown = head.groups()
            items, indent = ([], -1) if not shown else (None, -1)
            pairs.append(Pair(key, _scalar_or_flow(shown) if shown else None, number))
            continue
        bare = line.lstrip(" ")
        if not bare:
            continue
        if items is None or not pairs or bare[:2] != "- ":
            raise _Unusual
        if indent < 0:
            indent = len(line) - len(bare)
            pairs[-1] = pairs[-1]._replace(value=items)
        elif indent != len(line) - len(bare):
            raise _Unusual
        items.append(_scalar(bare[2:].strip(" ")))
    return pairs


def _scalar_or_flow(shown: str) -> Value:
    shown = shown.rstrip(" ")
    if shown[:1] != "[":
        return _scalar(shown) if shown else None
    if not _FLOW.fullmatch(shown):
        raise _Unusual
    return [plain or Quoted(double or single) for plain, double, single in _FLOW_ITEM.findall(shown[1:-1])]


def _scalar(shown: str) -> str:
    """The text of a scalar on one line, without blanks around it."""
    first = shown[:1]
    if first in {'"', "'"}:
        inner = shown[1:-1]
        if len(shown) < 2 or shown[-1] != first or first in inner or (first == '"' and "\\" in inner):
            raise _Unusual
        return Quoted(inner)
    if not shown or first in _SPECIAL or (first == "-" and shown[1:2] in {"", " "}):
        raise _Unusual
    if ": " in shown or shown[-1] == ":":
        raise _Unusual
    return shown
