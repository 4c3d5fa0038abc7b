"""`index.json` for other tools: written as seed 001 describes it, and read as a starting point (LT-50, LT-51)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import PurePath

import msgspec

from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.format import Format
from vaultkeeper.core.note import Entry, NotePath, Record, Snapshot, Stat
from vaultkeeper.core.parse import parse
from vaultkeeper.core.tokens import term_weights

_VERSION = 3
"""Of the file's layout — seed 001, section 5."""


class _Row(msgspec.Struct, rename="camel"):
    """One record, its fields in the order they are written."""

    id: str
    path: str
    type: str
    status: str
    title: str
    tags: list[str]
    aliases: list[str]
    confidence: str
    importance: int | float
    pinned: bool
    created_at: str
    updated_at: str
    preview: str
    terms: dict[str, int | float]
    links: list[str]
    size: int
    mtime_ms: int | float
    checksum: str


class _Export(msgspec.Struct, rename="camel"):
    version: int
    built_at: str
    vault_path: str
    records: list[_Row]


_DECODER = msgspec.json.Decoder(_Export)
_ENCODER = msgspec.json.Encoder()

_OPENING = b',"records":[\n'
"""Ours has a record a line, which keeps differences small where a vault is under git, and tells it from others'."""


def export_json(  # noqa: PLR0917 — what to export, where from, and what may be left as it is; all callers pass all
    entries: Mapping[NotePath, Entry],
    read: Callable[[NotePath], Snapshot | None],
    vault: str,
    built_at: str,
    fmt: Format,
    previous: bytes | None = None,
) -> bytes:
    """The whole file: one record for each memory, ordered by path.

    Args:
        entries: the catalog's.
        read: gives a note's bytes. One that is gone, cannot be read or is no Unicode is left out.
        vault: its absolute path.
        built_at: canonical time.
        fmt: the vault's format.
        previous: the last export. Words of a note that is unchanged since are taken from it, if this program wrote it.
    """
    known = _own_rows(previous, vault)
    rows: list[bytes] = []
    for path in sorted(entries):
        entry = entries[path]
        if entry.kind != "memory" or entry.record is None:
            continue
        row = _unchanged(known.get(path), entry, entry.record) or _read_row(entry, entry.record, read, fmt)
        if row is not None:
            with suppress(
                UnicodeEncodeError
            ):  # half a surrogate pair in a name or title: no JSON text holds it
                rows.append(_encode(row))
    head = {"version": _VERSION, "builtAt": built_at, "vaultPath": _slashed(vault)}
    return _encode(head)[:-1] + _OPENING + b",\n".join(rows) + b"\n]}\n"


def read_export(data: bytes, vault: str) -> dict[str, dict[str, str]] | None:
    """What an export tells of each note, by path: `id path type status title updatedAt preview`.

    Returns:
        None for all that makes an export worth nothing (LT-51): no JSON, another version, no `records` or `vaultPath`,
        a field of a wrong type, another vault.
    """
    rows = _rows(data, vault)
    if rows is None:
        return None
    return {
        row.path: {
            "id": row.id,
            "path": row.path,
            "type": row.type,
            "status": row.status,
            "title": row.title,
            "updatedAt": row.updated_at,
            "preview": row.preview,
        }
        for row in rows
    }


def checksum(data: bytes) -> str:
    """FNV-1a of the bytes, 32 bits, as 8 hex digits."""
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"


def _rows(data: bytes, vault: str) -> list[_Row] | None:
    try:
        export = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if export.version != _VERSION or _slashed(export.vault_path) != _slashed(vault):
        return None
    return export.records


def _slashed(vault: str) -> str:
    return PurePath(vault).as_posix().replace("\\", "/")


def _own_rows(previous: bytes | None, vault: str) -> dict[str, _Row]:
    if previous is None or _OPENING not in previous[:8192]:
        return {}
    return {row.path: row for row in _rows(previous, vault) or ()}


def _unchanged(row: _Row | None, entry: Entry, record: Record) -> _Row | None:
    """The earlier record, if the file and all that the catalog knows of it are still the same."""
    if row is None or (row.size, row.mtime_ms) != (entry.size, entry.mtime_ns // 1_000_000):
        return None
    same = _row(entry, record, row.terms, Stat(entry.size, entry.mtime_ns), row.checksum)
    return row if same == row else None


def _read_row(
    entry: Entry, record: Record, read: Callable[[NotePath], Snapshot | None], fmt: Format
) -> _Row | None:
    try:
        snapshot = read(entry.path)
    except (OSError, VaultkeeperError):
        return None
    if snapshot is None:
        return None
    parsed = parse(snapshot, fmt)
    body = parsed.text[parsed.body_at :]
    weights = term_weights(record.title, record.aliases, record.tags, parsed.summary, body)
    terms: dict[str, int | float] = {word: round(weight) for word, weight in weights.items()}
    return _row(entry, record, terms, snapshot.stat, checksum(snapshot.data))


def _row(entry: Entry, record: Record, terms: dict[str, int | float], stat: Stat, fingerprint: str) -> _Row:
    return _Row(
        id=record.id,
        path=entry.path,
        type=record.type,
        status=record.status,
        title=record.title,
        tags=list(record.tags),
        aliases=list(record.aliases),
        confidence=record.confidence,
        importance=record.importance or 0,  # readers of the original insist on a number
        pinned=record.pinned,
        created_at=record.created_at,
        updated_at=record.updated_at,
        preview=record.preview,
        terms=terms,
        links=list(entry.links),
        size=stat.size,
        mtime_ms=stat.mtime_ns // 1_000_000,
        checksum=fingerprint,
    )


def _encode(value: object) -> bytes:
    return _ENCODER.encode(value)
