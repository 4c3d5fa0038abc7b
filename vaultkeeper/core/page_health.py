"""The Health page: findings by severity and code, quarantined notes; the same on every machine (LT-52, K-7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from vaultkeeper.core import page_words as words
from vaultkeeper.core.finding import Finding
from vaultkeeper.core.format import Language
from vaultkeeper.core.messages import fix_of, message_of, severity_of
from vaultkeeper.core.note import Entry, NotePath
from vaultkeeper.core.page_lines import EntryLines, headed, plain
from vaultkeeper.core.slug import stem_of

HEALTH_LINES: Final = 500
"""Findings told one by one; the rest is counted."""

PASSING: Final = frozenset(
    {
        "action-failed",
        "both-evidence",
        "both-place",
        "both-title",
        "emptied",
        "held",
        "misplaced",
        "name-taken",
        "out-of-step",
        "page-markers",
        "page-text-kept",
        "pages-stale",
        "rewrite-war",
        "unreadable",
        "unwritable",
        "word-replaced",
    }
)
"""Findings that hang on one machine, on the past, on what the keeper is about to do, or on which other pages it has looked
at. They would make two keepers
answer each other's pages (K-7) and a rebuild give other bytes (K-1); `check` tells them."""


def lasting(health: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that the page tells: all but the passing ones; sorted, doubles kept out."""
    return tuple(sorted({finding for finding in health if finding.code not in PASSING}))


def health_blocks(
    entries: Mapping[NotePath, Entry], lines: EntryLines, health: Sequence[Finding], language: Language
) -> list[str]:
    """The page's Markdown blocks, errors first; one that says so when nothing is wrong."""
    told = sorted(lasting(health), key=_code_first)
    blocks: list[str] = []
    room = HEALTH_LINES
    for severity, title in (("error", words.ERRORS), ("warning", words.WARNINGS)):
        grave = [finding for finding in told if severity_of(finding) == severity]
        if grave:
            blocks.append(f"## {words.counted(title[language], len(grave))}")
            blocks += _by_code(grave[:room], grave, entries, lines, language)
            room = max(0, room - len(grave))
    blocks += _quarantined(entries, lines, language)
    hints = [finding for finding in told if severity_of(finding) == "info"]
    if hints:
        counts = [
            f"- {code} · {sum(1 for _ in group)}" for code, group in groupby(hints, lambda each: each.code)
        ]
        blocks.append(headed(words.counted(words.HINTS[language], len(hints)), counts))
    return blocks or [words.ALL_WELL[language]]


def _code_first(finding: Finding) -> tuple[str, Finding]:
    return finding.code, finding


def _by_code(
    shown: Sequence[Finding],
    grave: Sequence[Finding],
    entries: Mapping[NotePath, Entry],
    lines: EntryLines,
    language: Language,
) -> list[str]:
    blocks: list[str] = []
    totals = {code: sum(1 for _ in group) for code, group in groupby(grave, lambda each: each.code)}
    for code, group in groupby(shown, lambda each: each.code):
        told = [_line(finding, entries, lines, language) for finding in group]
        blocks.append(headed(words.counted(code, totals[code]), told, level=3))
    if len(grave) > len(shown):
        blocks.append(words.left_out(len(grave) - len(shown), language))
    return blocks


def _line(finding: Finding, entries: Mapping[NotePath, Entry], lines: EntryLines, language: Language) -> str:
    harmless = Finding(
        finding.path, finding.line, finding.code, tuple((slot, plain(fact)) for slot, fact in finding.facts)
    )
    facts = [_where(finding, entries, lines, language)]
    if finding.line:
        facts.append(words.on_line(finding.line, language))
    facts += [message_of(harmless, language), fix_of(harmless, language)]
    # The wording itself may show a wikilink, which is no link of this page.
    told = [fact.replace("[[", "［［").replace("]]", "］］") for fact in facts[1:] if fact]
    return "- " + " · ".join((facts[0], *told))


def _where(finding: Finding, entries: Mapping[NotePath, Entry], lines: EntryLines, language: Language) -> str:
    """A link to the note; the bare path of a file that is no note, which a link would not reach."""
    if not finding.path:
        return words.WHOLE_VAULT[language]
    entry = entries.get(NotePath(finding.path))
    if entry is None:
        return f"`{plain(finding.path)}`"
    return lines.link(entry.path, entry.record.title if entry.record else stem_of(entry.path))


def _quarantined(entries: Mapping[NotePath, Entry], lines: EntryLines, language: Language) -> list[str]:
    paths = sorted(entry.path for entry in entries.values() if entry.kind == "quarantined")
    if not paths:
        return []
    told = [f"- {lines.link(path, stem_of(path))}" for path in paths[:HEALTH_LINES]]
    if len(paths) > len(told):
        told.append(words.left_out(len(paths) - len(told), language))
    return [headed(words.counted(words.QUARANTINED[language], len(paths)), told)]
