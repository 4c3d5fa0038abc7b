"""Internal links as they are written: wikilinks, Markdown links, links in frontmatter; where their targets stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from vaultkeeper.core.hidden import IndentedCode, hidden_at, hidden_spans

LinkKind = Literal["wiki", "markdown", "frontmatter"]
"""frontmatter: a wikilink in a value there."""


@dataclass(frozen=True, slots=True)
class Link:
    """One internal link or embed. [start, end) is its target alone, without fragment, alias and blanks around."""

    kind: LinkKind
    start: int
    end: int
    target: str
    """What the person means: percent-encoding, escapes and quotes resolved."""
    fragment: str
    """`#heading`, `#^block` or empty, as written."""
    embed: bool


_WIKILINK = re.compile(
    r"\[\[(?P<target>[^\[\]|#\n]*+)(?P<fragment>#[^\[\]|\n]*+)?(?:\|(?P<alias>(?:(?!\]\]|\[\[)[^\n])*+))?\]\]"
)
_TITLE: Final = r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))"""
_ANGLED: Final = r"<(?P<angled>(?:[^<>\n\\]|\\.)*+)>"
_CHAR: Final = r"[^\s()\\]|\\\S"
_BARE: Final = rf"(?P<bare>(?!<)(?:{_CHAR}|\((?:{_CHAR}|\((?:{_CHAR}|\((?:{_CHAR})*+\))*+\))*+\))++)"
"""A target without `<>`: no blanks, brackets in pairs, up to three deep."""
_SPACE: Final = r"[ \t]*+\n?[ \t]*+"
_INLINE = re.compile(rf"\]\({_SPACE}(?:{_ANGLED}|{_BARE})(?:\s{_SPACE}{_TITLE})?+{_SPACE}\)")
_DEFINITION = re.compile(
    rf"^[ \t>]*+\[(?!\^)(?:[^\[\]\\\n]|\\.)++\]:[ \t]*+\n?[ \t]*+(?:{_ANGLED}|(?P<bare>[^\s<]\S*+))"
    rf"(?:[ \t]++{_TITLE})?+[ \t]*+$",
    re.MULTILINE,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_WEB_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|mailto:", re.IGNORECASE)
_ESCAPE = re.compile(r"""\\([!-/:-@\[-`{-~])""")
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_LONGEST_LABEL = 4000
"""Characters to look back for the `[` of a link, and `_MOST_BRACKETS` on that way; bounds for hostile notes."""
_MOST_BRACKETS = 50


def find_links(text: str, body_at: int) -> tuple[Link, ...]:
    """All internal links of a note, in order, their targets apart from each other.

    Wikilinks and embeds, Markdown links and images, reference definitions, and wikilinks in frontmatter. Not among them:
    addresses with a scheme, links to a heading of the same note, and what is in code or an HTML comment. Links in
    `%% … %%` are, as in Obsidian.
    """
    if "[" not in text:
        return ()
    wikilinks = list(_WIKILINK.finditer(text)) if "[[" in text else []
    found = [link for match in wikilinks if (link := _wikilink(text, body_at, match))]
    if "](" in text or "]:" in text:
        found += _markdown_links(text, body_at, [(match.start(), match.end()) for match in wikilinks])
        found.sort(key=lambda link: link.start)
    return tuple(_outside_code(text, body_at, found)) if found else ()


def _outside_code(text: str, body_at: int, links: Sequence[Link]) -> Iterator[Link]:
    hidden = [span for span in hidden_spans(text, body_at) if span.kind != "comment"]
    indented = IndentedCode(text, body_at)
    line_at = looked = taken = 0
    for link in links:
        newline = text.rfind("\n", looked, link.start)
        line_at = newline + 1 if newline >= 0 else line_at
        looked = link.start
        if link.start < taken:
            continue  # brackets in the target of another link
        if link.kind != "frontmatter" and (
            (hidden and hidden_at(hidden, link.start)) or (text[line_at] in " \t" and indented.holds(line_at))
        ):
            continue
        taken = link.end
        yield link


def _wikilink(text: str, body_at: int, match: re.Match[str]) -> Link | None:
    raw, fragment = match["target"], match["fragment"] or ""
    if match["alias"] is not None:  # in a table the bar before the alias is written `\|`
        if fragment:
            fragment = fragment.removesuffix("\\")
        else:
            raw = raw.removesuffix("\\")
    target = raw.strip()
    if not target or (":" in target and _WEB_ADDRESS.match(target)) or _is_escaped(text, match.start()):
        return None
    start = match.start("target") + raw.index(target)
    embed = match.start() > 0 and text[match.start() - 1] == "!"
    if match.start() >= body_at:
        return Link("wiki", start, start + len(target), target, fragment, embed)
    if _in_yaml_comment(text, match.start()):
        return None
    target = unquoted(target, quote_before(text, match.start()))
    return Link("frontmatter", start, start + len(raw.strip()), target, fragment, embed)


def _is_escaped(text: str, at: int) -> bool:
    """Whether an odd number of backslashes stands before the offset."""
    before = at
    while before > 0 and text[before - 1] == "\\":
        before -= 1
    return (at - before) % 2 == 1


def _in_yaml_comment(text: str, at: int) -> bool:
    nearby = max(at - _LONGEST_LABEL, 0)
    line = text[text.rfind("\n", nearby, at) + 1 or nearby : at]
    return line.lstrip().startswith("#") or (" #" in line and '"' not in line and "'" not in line)


def quote_before(text: str, at: int) -> str:
    """The YAML quote that stands right before a wikilink or its embed mark; empty without one."""
    at -= at > 0 and text[at - 1] == "!"
    return text[at - 1] if at > 0 and text[at - 1] in "\"'" else ""


def unquoted(written: str, quote: str) -> str:
    """What a piece of a quoted YAML text means."""
    if quote == "'":
        return written.replace("''", "'")
    return re.sub(r'\\(["\\])', r"\1", written) if quote == '"' else written


def _markdown_links(text: str, body_at: int, wikilinks: Sequence[tuple[int, int]]) -> Iterator[Link]:
    starts = {start for start, _ in wikilinks}
    covered = iter((*wikilinks, (len(text) + 1, len(text) + 1)))
    start, end = next(covered)
    for match in _INLINE.finditer(text, body_at) if "](" in text else ():
        while end <= match.start():
            start, end = next(covered)
        if start < match.start() < end - 1:
            continue  # a part of a wikilink's alias
        label_at = _label_start(text, body_at, match.start())
        # `[[a]](b)` is a wikilink and words behind it
        if label_at is not None and not (label_at in starts and end == match.start() + 1):
            yield from _markdown(match, embed=text[label_at - 1 : label_at] == "!")
    for match in _DEFINITION.finditer(text, body_at) if "]:" in text else ():
        yield from _markdown(match, embed=False)


def _label_start(text: str, floor: int, close: int) -> int | None:
    """The `[` that belongs to a `]` in the same paragraph; None where there is none."""
    if _is_escaped(text, close):
        return None
    floor = max(floor, text.rfind("\n\n", floor, close), close - _LONGEST_LABEL)
    depth, at = 1, close
    for _ in range(_MOST_BRACKETS):
        opening = text.rfind("[", floor, at)
        at = max(opening, text.rfind("]", max(opening, floor), at))
        if at < 0:
            return None
        if not _is_escaped(text, at):
            depth += 1 if text[at] == "]" else -1
        if depth == 0:
            return at
    return None


def _markdown(match: re.Match[str], *, embed: bool) -> Iterator[Link]:
    group = "bare" if match["angled"] is None else "angled"
    written, fragment_mark, fragment = match[group].partition("#")
    target = decoded(written)
    if target.strip() and not _SCHEME.match(written):
        start = match.start(group)
        yield Link("markdown", start, start + len(written), target, fragment_mark + fragment, embed)


def decoded(written: str) -> str:
    """What the target of a Markdown link means: backslash escapes and percent-encoding resolved."""
    if "\\" in written:
        written = _ESCAPE.sub(r"\1", written)
    return _ENCODED.sub(_decode, written) if "%" in written else written


def _decode(match: re.Match[str]) -> str:
    try:
        return bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return match[0]


def encoded(path: str, *, angled: bool = False, ascii_only: bool = False) -> str:
    """The path as the target of a Markdown link, which `decoded` undoes.

    Args:
        path: the target.
        angled: it will stand in `<…>`, where blanks and brackets may stay.
        ascii_only: whether letters beyond ASCII are encoded as well.
    """
    return "".join(char if _may_stay(char, angled, ascii_only) else _percent(char) for char in path)


_ASCII_KEPT = frozenset("-._~/!$&'*+,=@ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")


def _may_stay(char: str, angled: bool, ascii_only: bool) -> bool:
    if char < "\x80":
        return char in _ASCII_KEPT or (angled and char in " ()")
    return not ascii_only and char.isprintable() and not char.isspace()


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
