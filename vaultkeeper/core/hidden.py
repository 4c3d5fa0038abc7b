"""Where a body's characters are not Markdown: code and comments, found in one pass from left to right."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

HiddenKind = Literal["block", "code", "html", "comment"]
"""block: a fenced code block, or HTML such as `<pre>`. code: inline code. html: `<!-- … -->`. comment: `%% … %%`."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Characters [start, end) of a text that are code or a comment, their marks among them."""

    start: int
    end: int
    kind: HiddenKind


_RAW = r"<(?i:pre|script|style|textarea)(?=[\s>])"
_TOKEN = re.compile(rf"\\[\\`<%~]|``*|~~~~*|<!--|%%|{_RAW}")
"""Each branch begins with a plain character, which lets `re` skip the rest of the text several times faster."""
_BLOCK_MARKS = ("```", "~~~", "<!--", "%%")
_RAW_START = re.compile(_RAW)
_BOX = re.compile(r"(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))*[ \t]*")
"""What may stand before a block on its line: marks of quotes and list items, and blanks."""
_LONGEST_BOX = 200
"""Characters; spares the look at a whole long line before each of its marks."""
_BLANKS = re.compile(r"[ \t]*")
_ITEMS = re.compile(r"(?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$))+[ \t]*")
_NOTE = re.compile(r"\[\^[^\]\s]+\]:")
"""What a footnote begins with; its further lines are indented by four."""
_BREAK = re.compile(r" {0,3}(?:#{1,6}(?:[ \t]|$)|(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$|>)")
"""A line that ends any list: a heading, a rule, a quote."""
_CLOSE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_RAW_END = re.compile(r"</(?:pre|script|style|textarea)>", re.IGNORECASE)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_PARAGRAPH_END = re.compile(
    r"\n(?=[ \t>]*(?:\n|#{1,6}[ \t\n]|(?:[-*+]|\d{1,9}[.)])[ \t]|`{3}|~{3}|\|))|\n?\Z"
)
"""Inline marks do not reach over this: a blank line, or one that begins a block."""
_FAR = 50
"""Lines to look back for the list item that an indented line belongs to; a bound for hostile notes."""


def hidden_spans(text: str, body_at: int) -> tuple[Hidden, ...]:
    """Code and comments of the body, in order and apart from each other, by CommonMark's rules where it has any.

    Fences close by the same character, as long or longer, or with the list or quote around them; a comment that opens
    a line and is never closed hides the rest. Indented code is not among them: see `IndentedCode`.
    """
    if "`" not in text and not may_hide_lines(text):
        return ()
    return tuple(_Scan(text, body_at).spans())


def may_hide_lines(text: str) -> bool:
    """Whether there is anything that could hide whole lines; a cheap look that spares most notes the scan."""
    return any(mark in text for mark in _BLOCK_MARKS) or _RAW_START.search(text) is not None


def hidden_at(spans: Sequence[Hidden], at: int) -> Hidden | None:
    """The one of these spans, which are in order, that the offset lies in."""
    number = bisect_right(spans, at, key=lambda span: span.start)
    return spans[number - 1] if number and at < spans[number - 1].end else None


@dataclass(slots=True)
class IndentedCode:
    """Tells of lines of one text, asked for from top to bottom, whether they are indented code."""

    text: str
    body_at: int
    last_line: int = -1
    last_answer: bool = False

    def holds(self, line_at: int) -> bool:
        """Whether the line that begins there belongs to an indented code block, not to a list item or a paragraph."""
        blanks = _BLANKS.match(self.text, line_at)
        indent = len(blanks[0].expandtabs(4)) if blanks else 0
        if indent < 4:
            return False
        follows = self.last_line >= 0 and self.text.find("\n", self.last_line, line_at) in {-1, line_at - 1}
        if not follows:  # indented lines without a blank one between them are alike
            column, apart = _item_above(self.text, self.body_at, line_at, indent)
            self.last_answer = apart and indent - column >= 4
        self.last_line = line_at
        return self.last_answer


@dataclass(slots=True)
class _Scan:
    """One pass over one text; remembers line and paragraph, so that no character is looked at again and again."""

    text: str
    floor: int
    line_at: int = field(init=False)
    looked: int = field(init=False)
    paragraph_end: int = -1
    runs: dict[int, list[int]] = field(default_factory=dict)
    unclosed: set[str] = field(default_factory=set)
    """Comment marks that do not occur any more in this paragraph."""

    def __post_init__(self) -> None:
        self.line_at = self.looked = self.floor

    def spans(self) -> list[Hidden]:
        found: list[Hidden] = []
        at = self.floor
        while token := _TOKEN.search(self.text, at):
            self._advance(token.start())
            span = self._span(token)
            if span is not None:
                found.append(span)
            at = span.end if span else token.end()
        return found

    def _advance(self, at: int) -> None:
        newline = self.text.rfind("\n", self.looked, at)
        if newline >= 0:
            self.line_at = newline + 1
        self.looked = at
        if at >= self.paragraph_end:
            is_heading = _HEADING.match(self.text, self.line_at)
            end = self.text.find("\n", at) if is_heading else _end_of_paragraph(self.text, at)
            self.paragraph_end = len(self.text) if end < 0 else end
            self.runs = {}
            self.unclosed = set()

    def _span(self, token: re.Match[str]) -> Hidden | None:
        mark = token[0]
        if mark[0] == "\\":
            return None
        if mark[0] in "`~":
            return self._fence(token) or (self._inline_code(token) if mark[0] == "`" else None)
        if mark == "<!--":
            return self._comment(token, "-->", "html")
        if mark == "%%":
            return self._comment(token, "%%", "comment")
        if not self._opens_plain_line(token.start()):
            return None
        close = _RAW_END.search(self.text, token.end())
        return Hidden(token.start(), close.end() if close else len(self.text), "block")

    def _opens_plain_line(self, at: int) -> bool:
        return at - self.line_at <= 3 and not self.text[self.line_at : at].strip(" ")

    def _comment(self, token: re.Match[str], close: str, kind: HiddenKind) -> Hidden | None:
        """A comment: one that opens a line reaches over blank lines, another only to the end of its paragraph."""
        body = token.end() - 2 if kind == "html" else token.end()  # `<!-->` is a whole comment
        if self._opens_plain_line(token.start()):
            end = self.text.find(close, body)
            return Hidden(token.start(), end + len(close) if end >= 0 else len(self.text), kind)
        end = -1 if close in self.unclosed else self.text.find(close, body, self.paragraph_end)
        if end < 0:
            self.unclosed.add(close)
            return None
        return Hidden(token.start(), end + len(close), kind)

    def _inline_code(self, token: re.Match[str]) -> Hidden | None:
        """Inline code: from a run of backticks to the next run of the same length in the paragraph."""
        if not self.runs:
            for run in re.finditer("`+", self.text[token.start() : self.paragraph_end]):
                self.runs.setdefault(len(run[0]), []).append(token.start() + run.start())
        length = len(token[0])
        ends = self.runs.get(length, [])
        number = bisect_right(ends, token.start())
        return Hidden(token.start(), ends[number] + length, "code") if number < len(ends) else None

    def _fence(self, token: re.Match[str]) -> Hidden | None:
        """A fenced code block, where the token opens one."""
        fence, text, start = token[0], self.text, token.start()
        if len(fence) < 3 or start - self.line_at > _LONGEST_BOX:
            return None
        box = text[self.line_at : start]
        if not _BOX.fullmatch(box) or (fence[0] == "`" and _has_backtick(text, token.end())):
            return None
        quotes = box.count(">")
        inner = box.rpartition(">")[2]
        if inner.strip():
            column = _column(inner)
        elif quotes or not inner:
            column = 0
        else:
            column, _ = _item_above(text, self.floor, self.line_at, _indent(inner))
        if not inner.strip() and _indent(inner) - column > (4 if quotes else 3):
            return None
        end = _boxed_end(text, token, quotes, column) if quotes or column else _plain_end(text, token)
        return Hidden(start, end, "block")


def _end_of_paragraph(text: str, at: int) -> int:
    match = _PARAGRAPH_END.search(text, at)
    assert match is not None  # the end of the text is one
    return match.start()


def _has_backtick(text: str, at: int) -> bool:
    end = text.find("\n", at)
    return text.find("`", at, end if end >= 0 else len(text)) >= 0


def _plain_end(text: str, fence: re.Match[str]) -> int:
    for close in _CLOSE.finditer(text, fence.end()):
        if close[1].startswith(fence[0]):
            return close.end()
    return len(text)


def _boxed_end(text: str, fence: re.Match[str], quotes: int, column: int) -> int:
    """End of a fenced block in a quote or list item: its closing fence, or the line that leaves the box."""
    quoted = re.compile(rf"(?:[ \t]*>){{{quotes}}}")
    newline = text.find("\n", fence.end())
    while newline >= 0:
        following = text.find("\n", newline + 1)
        line = text[newline + 1 : following if following >= 0 else len(text)]
        mark = quoted.match(line)
        inner = line[mark.end() :] if mark else ""
        if mark is None or (inner.strip() and _indent(inner) < column):
            return newline
        close = inner.strip(" \t")
        if close.startswith(fence[0]) and not close.strip(fence[0][0]):
            return newline + 1 + len(line)
        newline = following
    return len(text)


def _item_above(text: str, floor: int, line_at: int, indent: int) -> tuple[int, bool]:
    """The list item that an indented line belongs to: the column of its text, 0 for none.

    The second value is whether a blank line or the like parts it from the text above, so that it can be code.
    """
    apart, outdented = line_at <= floor, False
    for _ in range(_FAR):
        if line_at <= floor:
            return 0, apart
        start = max(text.rfind("\n", floor, line_at - 1) + 1, floor)
        line = text[start : line_at - 1]
        line_at = start
        if not line.strip():
            if outdented:
                return 0, apart
            apart = True
        elif _BREAK.match(line):
            return 0, True
        elif _ITEMS.match(line):
            column = _column(line)
            if column <= indent:
                return column, apart
        elif _NOTE.match(line):
            return 4, apart
        outdented = outdented or line[:1] not in {
            "",
            " ",
            "\t",
        }  # the list goes on only if an item begins its paragraph
    return indent, apart


def _column(line: str) -> int:
    """Where the text of the line's last list item begins, in columns with tabs of four."""
    match = _ITEMS.match(line)
    mark = match[0].expandtabs(4) if match else ""
    end = len(mark.rstrip())
    blanks = len(mark) - end
    return end + (blanks if 1 <= blanks <= 4 else 1)


def _indent(line: str) -> int:
    """Width of the blanks that the line begins with, with tabs of four."""
    blanks = line[: len(line) - len(line.lstrip(" \t"))]
    return len(blanks.expandtabs(4))
