"""Finds and reads the `---` block of a note: its values, what is wrong with it, and its text with slips mended.

Rules K-10 to K-18 and K-54. Reading never fails: what cannot be read is a state and a finding.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.yamlblock import Block, read_block
from vaultkeeper.core.yamlchunks import canonical
from vaultkeeper.core.yamltext import MAX_BYTES, Pair, TooLargeError, Value

State = Literal["absent", "read", "quarantined", "template", "conflict"]
"""absent: the note has none. quarantined: it cannot be read safely. template, conflict: the values are as good as they
can be read, but the note is never to be written (K-54)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """What the frontmatter of one note says; all offsets and lines are those of the text that was read."""

    state: State
    values: dict[str, Value]
    """By key as written. A known key with two different values is left out."""
    lines: dict[str, int]
    """Line of each key, from 1."""
    body_at: int
    """Offset where the body begins; 0 when absent."""
    findings: tuple[Finding, ...]
    mended: str
    """The text with slips repaired, every other byte as it was; the text itself where there is nothing to repair, or
    where the note must not be written."""


def read_frontmatter(text: str, path: str, known: Mapping[str, str]) -> Frontmatter:
    """Read a note's frontmatter.

    Args:
        text: the whole note, with LF.
        path: the note's path, for findings.
        known: every key that the format knows, and every synonym of one, case-folded → the key.

    Returns:
        What it says; `values` keep the keys as this note writes them.
    """
    marker_line = _conflict_line(text)
    fences = _find_fences(text)
    if isinstance(fences, Fences):
        front = _read_fenced(text, path, known, fences, marker_line)
        if not fences.blank_lines or _is_meant(front, known):
            return front
    state: State = "conflict" if marker_line else "absent"
    findings: tuple[Finding, ...] = ()
    if marker_line:
        findings = (found("conflict-markers", path, marker_line),)
    elif fences == "unclosed":
        findings = (found("frontmatter-unclosed", path, 1),)
    return Frontmatter(state=state, values={}, lines={}, body_at=0, findings=findings, mended=text)


class Fences(NamedTuple):
    """Where a block stands in a text."""

    blank_lines: int
    """Blank lines before the opening fence (K-11)."""
    begin: int
    """Offset behind the opening fence's line."""
    end: int
    """Offset of the closing fence."""
    body_at: int


_OPEN = re.compile(r"((?:[ \t]*\n)*)---[ \t]*\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.M)
_KEY_LINE = re.compile(r"[\"']?\w[\w./-]{0,60}[\"']?[ \t]{0,9}(?::[ \t\n]|:\Z|：)")


def find_fences(text: str) -> Fences | None:
    """Where the block stands that `read_frontmatter` would read; None where there is none."""
    fences = _find_fences(text)
    return fences if isinstance(fences, Fences) else None


def _find_fences(text: str) -> Fences | Literal["none", "unclosed"]:
    opening = _OPEN.match(text) if text[:1] in "-\n \t" else None
    if opening is None:
        return "none"
    begin = opening.end()
    closing = _CLOSE.search(text, begin)
    if closing is None:
        return "unclosed" if not opening[1] and _KEY_LINE.match(text, begin) else "none"
    end = closing.start()
    return Fences(opening[1].count("\n"), begin, end, min(closing.end() + 1, len(text)))


def _is_meant(front: Frontmatter, known: Mapping[str, str]) -> bool:
    """K-11: whether a block behind blank lines is frontmatter, and not a text between two horizontal rules."""
    stray = any(finding.code == "stray-line" for finding in front.findings)
    return not stray and any(canonical(key, known) for key in front.values)


_CODE_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def _conflict_line(text: str) -> int:
    """Line of the first merge conflict marker, from 1; 0 where no whole set of them stands outside fenced code."""
    if "<<<<<<< " not in text or "\n>>>>>>> " not in text:
        return 0
    awaited, first, fence = "<<<<<<< ", 0, ""
    for number, line in enumerate(text.split("\n"), start=1):
        code = _CODE_FENCE.match(line)
        if fence:
            closes = code is not None and code[1].startswith(fence) and not line[code.end() :].strip()
            fence = "" if closes else fence
        elif code is not None:
            fence = code[1]
        elif line.startswith("<<<<<<< "):
            awaited, first = "=======", number
        elif awaited == "=======" and line.rstrip() == "=======":
            awaited = ">>>>>>> "
        elif awaited == ">>>>>>> " and line.startswith(awaited):
            return first
    return 0


def _read_fenced(
    text: str, path: str, known: Mapping[str, str], fences: Fences, marker_line: int
) -> Frontmatter:
    source = text[fences.begin : fences.end]
    line_at = (
        fences.blank_lines + 1
    )  # of the opening fence: what the block counts from 1 comes right below it
    try:
        block = _read_within_bounds(source, known)
    except TooLargeError as error:
        finding = found("frontmatter-too-large", path, line_at, what=error.what)
        return Frontmatter(
            state="quarantined", values={}, lines={}, body_at=fences.body_at, findings=(finding,), mended=text
        )
    sorted_out = _sort_out(block.pairs, known, path, line_at)
    state, findings = _judge(source, block, sorted_out, (path, line_at), marker_line)
    if fences.blank_lines:
        findings = (found("frontmatter-not-first", path, line_at), *findings)
    second = _second_block(text, fences.body_at)
    if second:
        findings = (*findings, found("second-frontmatter", path, second))
    writable = state == "read" and block.mended != source
    return Frontmatter(
        state=state,
        values=sorted_out.values,
        lines=sorted_out.lines,
        body_at=fences.body_at,
        findings=findings,
        mended=text[: fences.begin] + block.mended + text[fences.end :] if writable else text,
    )


def _read_within_bounds(source: str, known: Mapping[str, str]) -> Block:
    if len(source) > MAX_BYTES // 4 and len(source.encode(errors="surrogatepass")) > MAX_BYTES:
        raise TooLargeError(f"more than {MAX_BYTES // 1024} KiB")
    return read_block(source, known)


class _SortedOut(NamedTuple):
    values: dict[str, Value]
    lines: dict[str, int]
    findings: tuple[Finding, ...]
    contradicts: bool
    """Whether a known key has two different values."""


def _sort_out(pairs: list[Pair], known: Mapping[str, str], path: str, line_at: int) -> _SortedOut:
    """The values by key, with doubled keys found out (K-15)."""
    values = {pair.key: pair.value for pair in pairs}
    if len({key.casefold() for key in values}) == len(pairs):
        return _SortedOut(values, {pair.key: pair.line + line_at for pair in pairs}, (), False)
    firsts: dict[str, Pair] = {}
    contradicted: set[str] = set()
    findings: list[Finding] = []
    for pair in pairs:
        is_known = canonical(pair.key, known) is not None
        first = firsts.setdefault(pair.key.casefold() if is_known else pair.key, pair)
        if first is pair:
            continue
        line, other = pair.line + line_at, first.line + line_at
        if is_known and pair.value != first.value:
            contradicted.add(first.key)
            findings.append(
                found("duplicate-key-conflict", path, line, key=pair.key, first=other, second=line)
            )
        else:
            findings.append(found("duplicate-key", path, line, key=pair.key, other=other))
    kept = [pair for pair in firsts.values() if pair.key not in contradicted]
    return _SortedOut(
        {pair.key: pair.value for pair in kept},
        {pair.key: pair.line + line_at for pair in kept},
        tuple(findings),
        bool(contradicted),
    )


def _template_at(source: str) -> int:
    """Offset of the first sign of a template in a block (K-54); -1 where there is none."""
    opening = source.find("{{")
    if opening >= 0 and source.find("}}", opening + 2) >= 0:
        return opening
    return source.find("<%")


def _judge(
    source: str, block: Block, sorted_out: _SortedOut, site: tuple[str, int], marker_line: int
) -> tuple[State, tuple[Finding, ...]]:
    """The state of a block, and what is to be told of it: of a note that is left alone, only why."""
    path, line_at = site
    if marker_line:
        return "conflict", (found("conflict-markers", path, marker_line),)
    template = _template_at(source)
    if template >= 0:
        return "template", (found("template", path, line_at + source.count("\n", 0, template) + 1),)
    if block.broken is not None:
        line = block.broken.line + line_at
        reason, column = block.broken.reason, block.broken.column
        return "quarantined", (found("frontmatter-unreadable", path, line, column=column, reason=reason),)
    if sorted_out.contradicts:
        return "quarantined", sorted_out.findings
    findings = [found(slip.code, path, slip.line + line_at, key=slip.key) for slip in block.slips]
    findings += (found("stray-line", path, line + line_at, text=stray) for line, stray in block.strays)
    return "read", (*sorted_out.findings, *findings)


_BLOCK_LINE = re.compile(r"[ \t]|#|-[ \t]|\Z")


def _second_block(text: str, body_at: int) -> int:
    """Line of a second opening fence right on top of the body, from 1; 0 where there is none (K-18)."""
    opening = _OPEN.match(text, body_at)
    closing = _CLOSE.search(text, opening.end()) if opening else None
    if opening is None or closing is None or not _KEY_LINE.match(text, opening.end()):
        return 0
    for line in text[opening.end() : closing.start()].split("\n"):
        if not (_BLOCK_LINE.match(line) or _KEY_LINE.match(line)):
            return 0
    return text.count("\n", 0, opening.end())
