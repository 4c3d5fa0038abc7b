"""Snapshot → Parsed: all that one file's bytes say, read leniently; no other file, no past, no clock."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

from vaultkeeper.core.fields import Fields, claims, known_keys, read_fields
from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.format import Format
from vaultkeeper.core.frontmatter import Frontmatter, read_frontmatter
from vaultkeeper.core.links import find_links
from vaultkeeper.core.note import Base, Kind, Record, Snapshot
from vaultkeeper.core.sections import Outline, find_section, outline, section_text, summary_of
from vaultkeeper.core.text import NotTextError, decode

Frozen = Literal["", "quarantined", "template", "conflict", "newer-schema", "off"]
"""Why a note is never moved, repaired or rewritten; empty: it may be."""

_ANYWAY = frozenset({"frontmatter-unclosed", "not-utf8", "nul-bytes"})
"""Findings that are told of an ordinary note too: they say why it was not read as a memory (K-5, K-10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What one file says. `text` is decoded with LF, without BOM; offsets and lines are those of `text`."""

    snapshot: Snapshot
    kind: Kind
    frozen: Frozen
    text: str = ""
    front: Frontmatter | None = None
    fields: Fields | None = None
    heading: str = ""
    """Text of the H1, empty without one."""
    evidence_section: str | None = None
    """Text of the evidence section, with the words for "no source" read as empty; None: there is no such section."""
    summary: str = ""
    content: str = ""
    """See `Base.content`."""
    links: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def body_at(self) -> int:
        """Offset into `text` where the body begins."""
        return self.front.body_at if self.front else 0


def parse(snapshot: Snapshot, fmt: Format) -> Parsed:
    """Read one file; never raises, whatever its bytes are (K-2): what cannot be read becomes a quarantined row."""
    try:
        return _parse(snapshot, fmt)
    except Exception as error:  # noqa: BLE001 — K-54: any trouble with one note is that note's finding
        finding = found("unreadable", snapshot.path, reason=f"{type(error).__name__}: {error}")
        return Parsed(snapshot=snapshot, kind="quarantined", frozen="quarantined", findings=(finding,))


def _parse(snapshot: Snapshot, fmt: Format) -> Parsed:
    try:
        text = decode(snapshot.data)
    except NotTextError as error:
        finding = Finding(snapshot.path, 0, error.code, tuple((k, str(v)) for k, v in error.facts.items()))
        return Parsed(snapshot=snapshot, kind="quarantined", frozen="quarantined", findings=(finding,))
    front = read_frontmatter(text, snapshot.path, known_keys(fmt))
    links = _targets(text, front.body_at)
    if not claims(front.values, fmt):
        return _not_claimed(snapshot, text, front, links, fmt)
    plan = outline(text, front.body_at)
    heading = plan.heading.text if plan.heading else ""
    fields = read_fields(front.values, front.lines, fmt, snapshot.path, heading)
    findings = front.findings + fields.findings
    frozen = _frozen(front, fields, fmt)
    kind: Kind = "quarantined" if frozen == "quarantined" else "memory"
    if fields.id_state != "ok":
        findings += (_id_finding(snapshot.path, front, fields),)
    return Parsed(
        snapshot=snapshot,
        kind=kind,
        frozen=frozen,
        text=text,
        front=front,
        fields=fields,
        heading=heading,
        evidence_section=_evidence(text, plan, fmt),
        summary=summary_of(text, plan, fmt),
        content=content_digest(text, front),
        links=links,
        findings=() if frozen == "off" else findings,
    )


def _not_claimed(
    snapshot: Snapshot, text: str, front: Frontmatter, links: tuple[str, ...], fmt: Format
) -> Parsed:
    """An ordinary note, or one that cannot be read but shows signs of being a memory (LT-35, K-14)."""
    looks_like_memory = front.state == "quarantined" and _shows_memory(text, fmt)
    told = front.findings if looks_like_memory else tuple(f for f in front.findings if f.code in _ANYWAY)
    frozen: Frozen = ""
    if looks_like_memory:
        frozen = "quarantined"
    elif front.state in {"template", "conflict"}:
        frozen = "template" if front.state == "template" else "conflict"
    return Parsed(
        snapshot=snapshot,
        kind="quarantined" if looks_like_memory else "plain",
        frozen=frozen,
        text=text,
        front=front,
        links=links,
        findings=told,
    )


def _shows_memory(text: str, fmt: Format) -> bool:
    head = text[: 256 * 1024]
    return (
        re.search(rf"^[\"']?id[\"']?[ \t]*[:：][ \t]*[\"']?{re.escape(fmt.id_prefix)}", head, re.M)
        is not None
    )


def _frozen(front: Frontmatter, fields: Fields, fmt: Format) -> Frozen:
    if front.state == "quarantined" or fields.id_state != "ok":
        return "quarantined"
    if front.state in {"template", "conflict"}:
        return "template" if front.state == "template" else "conflict"
    if fields.schema_version > fmt.schema_version:
        return "newer-schema"
    off = front.values.get("vaultkeeper")
    return "off" if isinstance(off, str) and off.strip().casefold() in {"off", "false", "no"} else ""


def _id_finding(path: str, front: Frontmatter, fields: Fields) -> Finding:
    if fields.id_state == "missing":
        return found("missing-id", path, 1)
    return found("bad-id", path, front.lines.get("id", 1), word=fields.id)


def _evidence(text: str, plan: Outline, fmt: Format) -> str | None:
    section = find_section(plan, fmt.evidence)
    if section is None:
        return None
    words = fold(section_text(text, section))
    return "" if words in {fold(fmt.evidence.empty.zh), fold(fmt.evidence.empty.en)} else words


def _targets(text: str, body_at: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(link.target for link in find_links(text, body_at)))


def fold(text: str) -> str:
    """The text with every run of blanks and newlines as one blank, none at the ends."""
    return " ".join(text.split())


def content_digest(text: str, front: Frontmatter) -> str:
    """Digest of the text without the line of `updated_at` in its frontmatter, 16 hex digits (see `Base.content`)."""
    head = text[: front.body_at]
    written = next((key for key in front.lines if key.casefold() == "updated_at"), None)
    if written is not None:
        lines = head.split("\n")
        del lines[front.lines[written] - 1]
        head = "\n".join(lines)
    return hashlib.blake2b(
        (head + text[front.body_at :]).encode(errors="surrogatepass"), digest_size=8
    ).hexdigest()


def record_of(parsed: Parsed, fmt: Format, born: str) -> Record:
    """The catalog's record of a memory.

    Args:
        parsed: a memory; quarantined and ordinary notes have no record.
        fmt: its format.
        born: canonical time that stands in where neither the note nor its id tells one (LT-33).

    Returns:
        The record, with times filled.
    """
    fields = parsed.fields
    assert fields is not None
    created = fields.created_at or born
    return Record(
        id=fields.id,
        type=fields.type,
        status=fields.status,
        title=fields.title,
        created_at=created,
        updated_at=fields.updated_at or created,
        tags=fields.tags,
        aliases=fields.aliases,
        confidence=fields.confidence,
        importance=fields.importance,
        pinned=fields.pinned,
        supersedes=fields.supersedes,
        superseded_by=fields.superseded_by,
        conflicts_with=fields.conflicts_with,
        source_sessions=fields.source_sessions,
        preview=fold(parsed.summary)[: fmt.preview_limit],
    )


def base_of(parsed: Parsed, record: Record) -> Base:
    """What later three-way decisions compare with, once nothing is left to do for the note."""
    fields = parsed.fields
    assert fields is not None
    return Base(
        path=parsed.snapshot.path,
        type=record.type,
        status=record.status,
        title=record.title,
        heading=parsed.heading,
        updated_at=record.updated_at,
        content=parsed.content,
        evidence=fold(fields.evidence),
        evidence_section=parsed.evidence_section or "",
        preview=record.preview,
    )
