"""The outline of a body: its H1 and its `##` sections. All offsets into the text; a change is spliced, never re-serialised."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from vaultkeeper.core.format import Format, Language, OwnSection
from vaultkeeper.core.hidden import Hidden, hidden_at, hidden_spans, may_hide_lines

_ATX_LINE: Final = r" {0,3}(?P<marks>#{1,2})(?![^ \t\n])(?P<blanks>[ \t]*+)(?P<content>[^\n]*)"
_ATX = re.compile(_ATX_LINE)
_NEXT_ATX = re.compile("\n" + _ATX_LINE)
_UNDERLINE = re.compile(r"\n {0,3}(?:(?P<level_1>=++)|-++)[ \t]*+(?=\n|\Z)")
_ENDS_PARAGRAPH = re.compile(r"[ \t]*$| {0,3}(?:#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$|(?:[*_][ \t]*){3,}$)")
"""A line after which a paragraph can begin: blank, a heading, a rule."""
_NO_PARAGRAPH = re.compile(
    r"[ \t]*(?:>|\||<[A-Za-z/!?]|`{3}|~{3}|(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$))|(?: {4}|\t)"
)
"""A line that an underline does not make a heading: a quote, table row, HTML, fence, list item, indented code."""
_BLANK_LINES = re.compile(r"(?:[ \t]*+\n)*+(?:[ \t]++\Z)?+")
_ESCAPED = re.compile(r"\\([\\#<%`])")
_TO_ESCAPE = re.compile(r"\\(?=[\\#<%`])|<(?=!--)|%(?=%)")
_BLOCK_START = r"\\*(?:#|`{3}|~{3}|<|%%|[-=]+[ \t]*$)"
_TO_TAME = re.compile(rf"^[ \t]*(?={_BLOCK_START})", re.MULTILINE)
_TAMED = re.compile(rf"^([ \t]*)\\(?={_BLOCK_START})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 or 2, with `#` marks or underlined; [start, end) are its whole lines without the newline."""

    level: int
    text: str
    """What a reader sees: without closing marks, comments and escapes, blanks folded."""
    start: int
    end: int
    line: int
    """Counted from 1, from the top of the file."""


@dataclass(frozen=True, slots=True)
class Section:
    """A `##` heading and what follows, up to the next heading of level 1 or 2 or the end of the text."""

    heading: Heading
    start: int
    body_at: int
    end: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The structure of one body."""

    heading: Heading | None
    """The first H1."""
    intro: tuple[int, int]
    """What stands before the first `##`, and after the H1 where that comes first."""
    sections: tuple[Section, ...]


def outline(text: str, body_at: int) -> Outline:
    """The headings of level 1 and 2 of a body that starts at `body_at`, as Obsidian shows them.

    What looks like a heading inside code, a comment, a quote or a list is none.
    """
    hidden = hidden_spans(text, body_at) if may_hide_lines(text) else ()
    headings = _headings(text, body_at, hidden)
    first = next((heading for heading in headings if heading.level == 1), None)
    sections: list[Section] = []
    for number, heading in enumerate(headings):
        if heading.level == 2:
            end = headings[number + 1].start if number + 1 < len(headings) else len(text)
            sections.append(Section(heading, heading.start, min(heading.end + 1, len(text)), end))
    intro_end = sections[0].start if sections else len(text)
    leads = first is not None and first.start < intro_end
    intro_at = min(first.end + 1, intro_end) if first is not None and leads else body_at
    return Outline(first, (intro_at, intro_end), tuple(sections))


def _headings(text: str, body_at: int, hidden: Sequence[Hidden]) -> list[Heading]:
    found: list[tuple[int, int, int, str]] = []
    matches = list(_NEXT_ATX.finditer(text, max(body_at - 1, 0)))
    if body_at == 0 and (match := _ATX.match(text)):
        matches.insert(0, match)
    for match in matches:
        start = match.start() + match[0].startswith("\n")
        if not (hidden and hidden_at(hidden, start)):
            found.append((start, match.end(), len(match["marks"]), _shown(match["content"])))
    for line in _UNDERLINE.finditer(text, body_at):
        if (above := _underlined(text, body_at, line.start(), hidden)) is not None:
            level = 1 if line["level_1"] else 2
            found.append((above, line.end(), level, _shown(text[above : line.start()])))
    headings: list[Heading] = []
    line_number, counted = 1, 0
    for start, end, level, shown in sorted(found):
        line_number += text.count("\n", counted, start)
        counted = start
        headings.append(Heading(level, shown, start, end, line_number))
    return headings


def _underlined(text: str, body_at: int, end: int, hidden: Sequence[Hidden]) -> int | None:
    """Where the paragraph begins that ends at `end` and is underlined there; None where it is no heading."""
    first: int | None = None
    while end >= body_at:
        start = max(text.rfind("\n", body_at, end) + 1, body_at)
        span = hidden_at(hidden, start) if hidden else None
        if _ENDS_PARAGRAPH.match(text, start, end):
            break
        if _NO_PARAGRAPH.match(text, start, end) or (span and span.kind != "code"):
            return None
        first, end = start, start - 1
    return first


def _shown(content: str) -> str:
    """The text of a heading as a reader sees it."""
    content = _opened(content)[0]
    if any(mark in content for mark in ("\\", "<!--", "%%")):
        content = "".join(_visible_parts(content))
    return " ".join(content.split())


def _opened(content: str) -> tuple[str, str]:
    """The content of a heading's line, parted into the heading and the closing marks with the blanks around them."""
    end = content.rstrip(" \t")
    stem = end.rstrip("#")
    kept = stem.rstrip(" \t") if stem != end and stem[-1:] in {"", " ", "\t"} else end
    return kept, content[len(kept) :]


def _visible_parts(content: str) -> list[str]:
    parts: list[str] = []
    at = 0
    for span in _inline(content):
        parts.append(_ESCAPED.sub(r"\1", content[at : span.start]))
        if span.kind == "code":
            parts.append(content[span.start : span.end])
        at = span.end
    return [*parts, _ESCAPED.sub(r"\1", content[at:])]


def _inline(content: str) -> list[Hidden]:
    """Inline code and comments of a heading's content; the mark before it keeps them from being taken for blocks."""
    return [Hidden(span.start - 2, span.end - 2, span.kind) for span in hidden_spans("# " + content, 0)]


def find_section(outline: Outline, own: OwnSection) -> Section | None:
    """The first section under that heading, in either language (K-96), in any case."""
    names = {own.heading.zh.casefold(), own.heading.en.casefold()}
    return next((each for each in outline.sections if each.heading.text.casefold() in names), None)


def section_text(text: str, section: Section) -> str:
    """The text of a section without blank lines around it, and without the escapes of `with_section_text`."""
    body = text[section.body_at : section.end].strip()
    return _TAMED.sub(r"\1", body).strip() if "\\" in body else body


def summary_of(text: str, outline: Outline, fmt: Format) -> str:
    """The summary section; without one, the paragraphs before the first `##` (LT-41)."""
    section = find_section(outline, fmt.summary)
    if section is not None:
        return section_text(text, section)
    return text[outline.intro[0] : outline.intro[1]].strip()


def with_heading(text: str, body_at: int, title: str) -> str:
    """The text with `title` as its H1, which reads back as just that; the first H1 is reworded, or one is added (LT-40).

    A title of several lines is folded into one; an empty one changes nothing.
    """
    title = " ".join(title.split())
    heading = outline(text, body_at).heading
    if not title or (heading is not None and heading.text == title):
        return text
    if heading is not None:
        line = _reworded(text[heading.start : heading.end], title)
        return text[: heading.start] + line + text[heading.end :]
    at = _end_of_blank_lines(text, body_at)
    before, rest = text[:at], text[at:]
    if before and not before.endswith("\n"):
        before += "\n"
    newlines = "\n\n" if rest.strip() else "\n" * (not text or text.endswith("\n"))
    return f"{before}# {_escaped(title)}{newlines}{rest}"


def _reworded(lines: str, title: str) -> str:
    """A heading with another text, in its old style where that can hold it; comments on its line stay."""
    match = _ATX.match(lines)
    if match is None or match.end() < len(lines):
        underlined = f"{_escaped(title)}\n{lines.rpartition(chr(10))[2]}"
        read = outline(underlined, 0).heading
        is_same = read is not None and (read.text, read.start, read.end) == (title, 0, len(underlined))
        return underlined if is_same else f"# {_escaped(title)}"
    content, closing = _opened(match["content"])
    comments = (content[span.start : span.end] for span in _inline(content) if span.kind != "code")
    return (
        lines[: match.start("blanks")]
        + (match["blanks"] or " ")
        + " ".join((_escaped(title), *comments))
        + (" " if closing.startswith("#") else "")  # closing marks of an empty heading: nothing parted them
        + closing
    )


def _escaped(title: str) -> str:
    """The title as the content of a heading that is shown as the title: `_shown` undoes it."""
    spans = _inline(title)
    if "\\`" in title or any(
        span.kind != "code" for span in spans
    ):  # escapes would change what is code: leave none
        return re.sub(rf"{_TO_ESCAPE.pattern}|`", r"\\\g<0>", title)
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (_TO_ESCAPE.sub(r"\\\g<0>", title[at : span.start]), title[span.start : span.end])
        at = span.end
    shown = "".join(parts) + _TO_ESCAPE.sub(r"\\\g<0>", title[at:])
    kept, closing = _opened(shown)
    return kept + closing.replace("#", "\\#", 1) if closing else shown


def _end_of_blank_lines(text: str, at: int) -> int:
    match = _BLANK_LINES.match(text, at)
    return match.end() if match else at


def with_section_text(
    text: str,
    body_at: int,
    own: OwnSection,
    new: str,
    language: Language,
    *,
    before: OwnSection | None = None,
) -> str:
    """The text with `new` as the body of that section (LT-42); every byte of other sections stays.

    Lines of `new` that would end the section get a backslash in front, which `section_text` takes away again. Where even
    that does not read back, the text is returned as it was.

    Args:
        text: the whole note.
        body_at: where its body starts.
        own: the section; added where missing, unless `new` is empty.
        new: its new body; empty: the section's words for that.
        language: of the words for an empty section, and of an added heading.
        before: the section that an added one goes in front of; else, and where there is none, it goes to the end.
    """
    plan = outline(text, body_at)
    section = find_section(plan, own)
    if section is None and not new.strip():
        return text
    wanted = new.strip() or own.empty[language]
    if section is not None and section_text(text, section) == wanted:
        return text
    following = find_section(plan, before) if before else None
    at = following.start if following else len(text)
    rest = text[section.end :] if section else text[at:]
    for body in (wanted, _TO_TAME.sub(r"\g<0>\\", wanted)):
        changed = (
            _replaced(text, section, body)
            if section
            else _added(text[:at], rest, own.heading[language], body)
        )
        if _holds(changed, body_at, own, wanted, rest):
            return changed
    return text


def _replaced(text: str, section: Section, body: str) -> str:
    at = min(_end_of_blank_lines(text, section.body_at), section.end)
    old = text[at : section.end].rstrip()
    if old:
        return text[:at] + body + text[at + len(old) :]
    rest = text[section.end :]
    newlines = "\n\n" if rest else "\n" * text.endswith("\n")
    return f"{text[: section.heading.end]}\n\n{body}{newlines}{rest}"


def _added(start: str, rest: str, heading: str, body: str) -> str:
    gap = "\n" * (2 - min(len(start) - len(start.rstrip("\n")), 2)) if start else ""
    newlines = "\n\n" if rest else "\n" * (not start or start.endswith("\n"))
    return f"{start}{gap}## {heading}\n\n{body}{newlines}{rest}"


def _holds(text: str, body_at: int, own: OwnSection, wanted: str, rest: str) -> bool:
    """Whether the section reads back as wanted and ends where the rest begins."""
    section = find_section(outline(text, body_at), own)
    return section is not None and section_text(text, section) == wanted and text[section.end :] == rest
