"""A generated block inside a page that people write in as well: found, replaced, nobody's words lost (K-9)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.page_words import FIXED_LINES

BEGIN: Final = "<!-- vaultkeeper:begin -->"
"""What opens a block; as written, a digest of the block stands after `begin`."""
END: Final = "<!-- vaultkeeper:end -->"

_BEGIN = re.compile(r" {0,3}<!-- vaultkeeper:begin(?: (?P<digest>[0-9a-f]{8}))? -->[ \t]*")
_END = re.compile(r" {0,3}<!-- vaultkeeper:end -->[ \t]*")
_TRACE = re.compile(r"<!--\s*/?\s*vaultkeeper\s*:\s*(?:begin|end)", re.IGNORECASE)
"""What only a marker, whole or damaged, looks like."""
_INLINE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_LINE = re.compile(r"(?P<text>[^\r\n]*)(?P<newline>\r\n|\n|\r|\Z)")


class MarkersDamagedError(VaultkeeperError):
    """The markers are missing, doubled, nested or damaged: leave the page as it is and report `page-markers`."""


@dataclass(frozen=True, slots=True)
class Spliced:
    """A page with a new block, and whether words of a person were found in the old one and moved below it."""

    text: str
    kept: bool


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    start: int
    end: int
    """Where its text ends, before the newline."""
    newline: str
    coded: bool
    """Whether it belongs to a fenced code block."""


@dataclass(frozen=True, slots=True)
class _Frame:
    start: int
    """Where the line of the begin marker starts."""
    end: int
    """Where the text of the end marker's line ends."""
    digest: str | None
    newline: str
    lines: Sequence[_Line]
    """What stands between the markers."""


def splice(old: str | None, block: str, preface: str) -> Spliced:
    """The page with `block` between its markers; every byte outside them stays.

    A person's lines inside the old block go below the end marker, where they stay: splicing again moves nothing.

    Args:
        old: the page as it stands; None or blank: a new page is made.
        block: the generated text, LF, without the markers; empty for a page that lists nothing any more.
        preface: what stands above the block of a new page; not looked at otherwise.

    Raises:
        MarkersDamagedError: the page has no single whole pair of markers; leave it alone and report it.
    """
    if old is None or not old.strip("\ufeff \t\r\n"):
        above = preface.rstrip("\n") + "\n\n" if preface else ""
        return Spliced(f"{above}{_framed(block)}\n", kept=False)
    frame = _find(old)
    words = _own_words(frame, block)
    tail = old[frame.end :]
    if words:
        words = f"\n\n{words}".replace("\n", frame.newline)
        tail = words + _parted(tail, frame.newline)
    return Spliced(old[: frame.start] + _framed(block).replace("\n", frame.newline) + tail, kept=bool(words))


def resplice(old: str, known: str, block: str) -> Spliced | None:
    """`splice` for a page that is known to hold the block `known` as it was written; None where it does not, once."""
    framed = _framed(known)
    if old.count(framed) != 1 or old.count("<!-- vaultkeeper:") != 2:
        return None
    return Spliced(old.replace(framed, _framed(block)), kept=False)


def _framed(block: str) -> str:
    inner = block.strip("\n")
    lines = inner.split("\n") if inner else []
    return "\n".join((f"<!-- vaultkeeper:begin {_digest(lines)} -->", *lines, END))


def _digest(lines: Sequence[str]) -> str:
    """Of the words, not of blank lines and line ends, which formatters and git change on their own."""
    told = "\n".join(line.rstrip() for line in lines if line.strip())
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _parted(tail: str, newline: str) -> str:
    """What follows the block, with a blank line before it, so that two paragraphs do not become one."""
    if not tail.strip():
        return tail or newline
    return tail if re.match(r"(?:\r\n|\n|\r)[ \t]*[\r\n]", tail) else newline + tail


def _find(text: str) -> _Frame:
    lines = list(_lines(text))
    traces = [at for at, line in enumerate(lines) if not line.coded and _is_trace(line.text)]
    if len(traces) != 2:
        raise MarkersDamagedError(f"{len(traces)} block markers where there should be two")
    first, last = lines[traces[0]], lines[traces[1]]
    begin = _BEGIN.fullmatch(first.text)
    if begin is None or _END.fullmatch(last.text) is None:
        raise MarkersDamagedError("a block marker is damaged or out of order")
    return _Frame(
        start=first.start,
        end=last.end,
        digest=begin["digest"],
        newline=first.newline,
        lines=lines[traces[0] + 1 : traces[1]],
    )


def _is_trace(line: str) -> bool:
    """Whether the line holds a marker or its remains; one quoted as code or indented as code does not count."""
    if "<!--" not in line or line.startswith(("    ", "\t")):
        return False
    return _TRACE.search(_INLINE_CODE.sub("", line)) is not None


_OPENS = re.compile(
    r"(?P<box>(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]))*) {0,3}(?P<fence>`{3,}(?=[^`]*$)|~{3,})"
)
_CLOSES = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})[ \t]*")
_BOXED = re.compile(r"[ \t>]")


def _lines(text: str) -> Iterator[_Line]:
    """The lines of the page; those of a fenced code block by CommonMark's rules (also in lists and quotes) are `coded`."""
    fence, boxed = "", False
    for match in _LINE.finditer(text):
        line = match["text"]
        if fence and boxed and line.strip() and not _BOXED.match(line):
            fence = ""  # the list or quote is over, and its code with it
        if fence:
            coded = True
            close = _CLOSES.fullmatch(line.lstrip(" \t>") if boxed else line)
            if close and close["fence"].startswith(fence):
                fence = ""
        else:
            opening = _OPENS.match(line) if "```" in line or "~~~" in line else None
            coded = opening is not None
            if opening:
                fence, boxed = opening["fence"], bool(opening["box"])
        yield _Line(line, match.start(), match.end("text"), match["newline"], coded)


_LINK = r"(?:\[\[[^\[\]]+\]\]|\[[^\[\]]*\]\((?:<[^<>]*>|[^\s<>]*)\)|`[^`]+`)"
_ENTRY = re.compile(rf"- (?:{_LINK}|[\w-]+)(?: · [^·]+)*")
_ENTRY_START = re.compile(rf"- {_LINK}")
_HEADING = re.compile(r"#{2,3} .+(?: \(\d+\)|（续）| \(continued\))")
_TURNING = re.compile(r"\[\[[^\[\]]+\]\](?: · \[\[[^\[\]]+\]\])?")
_NUMBERS = re.compile(r"(?:重要度|importance|line) \d+|第 \d+ 行|\d[\d-]*|📌")
"""Facts that no person would miss when they are out of date."""
_COUNT = re.compile(r" \(\d+\)$|（续）$| \(continued\)$")


def _own_words(frame: _Frame, block: str) -> str:
    """What a person wrote between the markers, LF, with the blank lines between its own lines; empty: nothing.

    The digest in the begin marker tells whether anything was changed. If so, it also proves a guess about what: when
    the lines that are left after taking away what looks like a person's have that digest, exactly those were added.
    Without proof, a line is a person's unless each part of it stands in the new block too.
    """
    if frame.digest == _digest([line.text for line in frame.lines]):
        return ""
    known = {line.rstrip() for line in block.split("\n")}
    for guess in (_by_form, _by_known):
        origins = [None if line.coded else guess(line.text.rstrip(), known) for line in frame.lines]
        if frame.digest == _digest([origin for origin in origins if origin is not None]):
            return _paragraphs(
                frame.lines,
                [line.text.rstrip() != origin for line, origin in zip(frame.lines, origins, strict=True)],
            )
    parts = {part for line in known for part in _parts(line)}
    return _paragraphs(
        frame.lines, [line.coded or not _stands(line.text.rstrip(), known, parts) for line in frame.lines]
    )


_Guess = Callable[[str, set[str]], str | None]
"""A line as it stands, and the lines of the new block → that line as it was generated; None: a person's from end to end."""


def _by_form(line: str, known: set[str]) -> str | None:
    if line in known or _looks_generated(line):
        return line
    start = _ENTRY_START.match(line)
    return _by_known(line, known) or (start[0] if start else None)


def _by_known(line: str, known: set[str]) -> str | None:
    """The longest beginning of the line that is a line of the new block: a remark was added to it."""
    at = len(line)
    while at > 0 and line[:at].rstrip() not in known:
        at = line.rfind(" ", 0, at)
    if at > 0:
        return line[:at].rstrip()
    return line if _looks_generated(line) else None


def _looks_generated(line: str) -> bool:
    return line in FIXED_LINES or any(form.fullmatch(line) for form in (_ENTRY, _HEADING, _TURNING))


def _stands(line: str, known: set[str], parts: set[str]) -> bool:
    """Whether nothing would be lost with the line: it, or each of its facts, is in the new block."""
    if not line or line in known or line in FIXED_LINES:
        return True
    return _looks_generated(line) and all(part in parts or _NUMBERS.fullmatch(part) for part in _parts(line))


def _parts(line: str) -> list[str]:
    return _COUNT.sub("", line).split(" · ")


def _paragraphs(lines: Sequence[_Line], own: Sequence[bool]) -> str:
    """The own lines; those that a generated line parted are parted by a blank one."""
    told: list[str] = []
    parted = False
    for line, is_own in zip(lines, own, strict=True):
        blank = not line.text.strip()
        if not blank and not is_own:
            parted = True
        elif blank and not line.coded:
            told += [""] if told and told[-1] else []
        else:
            told += ["", line.text] if parted and told and told[-1] else [line.text]
            parted = False
    return "\n".join(told).rstrip("\n")
