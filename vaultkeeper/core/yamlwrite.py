"""Values as YAML that reads back the same, plain where it can be (K-19)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

WriteValue: TypeAlias = str | int | bool | Sequence[str]
"""What can be written under a key; a text is never taken for a sequence."""

_PLAIN_START = re.compile(r"[^\W_]|[_/(+.（《【〈<=~$^;]|-[^\s-]|[^\x00-\x7f]")
_SLIPS = re.compile(r"[“”„‟＂‘’‚‛＇]")
"""Quotes that would be taken for a slip around a value."""
_ESCAPED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_TYPED = re.compile(
    r"~|null|true|false|yes|no|on|off|y|n|=|<<"
    r"|[-+]?\.?[\d_][\d_,.:]*(?:e[-+]?\d*)?|[-+]?\.(?:inf|nan)|[-+]?0[xob][\da-f_]+"
    r"|\d{4}-\d\d?-\d\d?(?:(?:t|[ \t]+)\d.*)?",
    re.I | re.ASCII,
)
"""Words, numbers and dates that some version of YAML takes for something else than text."""
_OUR_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
"""A time as the formats write it (LT-23): plain, since it is meant as one."""
_FLOW_PLAIN = re.compile(r"[^\W_][\w./+-]*(?: [\w./+-]+)*")
_NAMED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def quote(text: str) -> str:
    """The text as a scalar on one line: plain where it reads back the same to every YAML reader, else in double quotes."""
    return text if _is_plain(text) else _in_double_quotes(text)


def quote_like(text: str, style: str, *, in_flow: bool = False) -> str:
    """The text as a scalar in the style of the one it replaces: `'`, `"`, or empty for plain where possible."""
    if style == "'" and text and not _ESCAPED.search(text) and not _looks_like_template(text):
        return "'" + text.replace("'", "''") + "'"
    if style == '"' or (in_flow and not _FLOW_PLAIN.fullmatch(text)):
        return _in_double_quotes(text)
    return quote(text)


def scalar(value: str | int, style: str = "") -> str:
    """A text, number or flag; numbers and flags are plain whatever stood there."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return quote_like(value, style) if isinstance(value, str) else str(value)


def flow_list(items: Sequence[str]) -> str:
    """A list on one line: `[a, b]`."""
    return "[" + ", ".join(quote_like(item, "", in_flow=True) for item in items) + "]"


def new_lines(key: str, value: WriteValue, indent: str = "  ") -> list[str]:
    """The lines of a new key; a list's items stand on lines of their own."""
    name = quote(key)
    if isinstance(value, str | int):
        return [f"{name}: {scalar(value)}"]
    if not value:
        return [f"{name}: []"]
    return [f"{name}:", *(f"{indent}- {quote(item)}" for item in value)]


def new_block(values: Mapping[str, WriteValue]) -> str:
    """The frontmatter of a new note, with both its fences; keys in the order given."""
    lines = [line for key, value in values.items() for line in new_lines(key, value)]
    return "\n".join(["---", *lines, "---", ""])


def _is_plain(text: str) -> bool:
    if not text or text != text.strip() or _ESCAPED.search(text) or not _PLAIN_START.match(text):
        return False
    if ": " in text or " #" in text or text.endswith(":") or _SLIPS.match(text) or _looks_like_template(text):
        return False
    return not _TYPED.fullmatch(text) or _OUR_TIME.fullmatch(text) is not None


def _looks_like_template(text: str) -> bool:
    return "{{" in text or "<%" in text


def _in_double_quotes(text: str) -> str:
    shown = "".join(_NAMED.get(char, char) for char in text)
    shown = _ESCAPED.sub(_escape, shown)
    # what looks like a template would never be written again (K-54)
    return '"' + shown.replace("{{", "{\\x7B").replace("<%", "<\\x25") + '"'


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}"
