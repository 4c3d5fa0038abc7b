"""What the keeper knows of a file: Snapshot (its bytes at one moment), Record (its fields), Entry (its catalog row)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, NewType

import msgspec

from vaultkeeper.core.finding import Finding

NotePath = NewType("NotePath", str)
"""Vault-relative path with `/`, exactly as it stands on disk. Compare with `slug.same_name_key`, never by `==`, where
two names may differ by case or normalisation (K-25)."""

Kind = Literal["memory", "plain", "quarantined", "page"]
"""memory: a note of the format. plain: any other Markdown file. page: an index page that the keeper generates."""


def digest_of(data: bytes) -> str:
    """SHA-256 of file bytes, lower-case hex."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Stat:
    """What a directory walk tells of a file without reading it."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The bytes of one file at one moment, with the stat taken from the same open file."""

    path: NotePath
    data: bytes
    stat: Stat
    digest: str
    mode: int = 0o644


class Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The fields of a memory, leniently read: words are the format's, times are `YYYY-MM-DDThh:mm:ss.sssZ` or empty."""

    id: str
    type: str
    status: str
    title: str
    created_at: str
    updated_at: str
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    confidence: str = ""
    importance: int | None = None
    pinned: bool = False
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    conflicts_with: tuple[str, ...] = ()
    source_sessions: tuple[str, ...] = ()
    preview: str = ""
    """The first 160 characters of the summary, blanks folded (LT-53)."""


class Base(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How a memory looked when the keeper last had nothing left to do for it: the middle of every three-way decision."""

    path: str
    type: str
    status: str
    title: str
    heading: str
    """Text of the H1, empty without one."""
    updated_at: str
    content: str
    """Digest of the text without its `updated_at` line, newlines as LF; empty where it is not known."""
    evidence: str
    """Text of the `evidence` field."""
    evidence_section: str
    """Text of the evidence section."""
    preview: str = ""
    """`Record.preview`, for the journal's word on what was before."""


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row of the catalog: one Markdown file of the vault."""

    path: NotePath
    size: int
    mtime_ns: int
    digest: str
    kind: Kind
    record: Record | None = None
    links: tuple[str, ...] = ()
    """Targets of the note's links as written, without fragment; in order, doubles kept out."""
    findings: tuple[Finding, ...] = ()
    base: Base | None = None
    before: Base | None = None
    """What `base` was before the keeper last acted on the note, for when a person takes that back."""
    unsettled: bool = False
    """Whether the last plan left something to do for it (an edit still waiting, an action that failed or is held)."""
