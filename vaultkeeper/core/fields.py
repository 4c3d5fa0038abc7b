"""Frontmatter values → Fields: what a memory says of itself, read leniently, every leniency reported (LT-20 to LT-38)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from vaultkeeper.core.field_reader import FieldReader, names_of, plain_text, split_at_commas
from vaultkeeper.core.finding import Finding
from vaultkeeper.core.format import Format
from vaultkeeper.core.ids import IdState, id_state, id_time
from vaultkeeper.core.note import NotePath
from vaultkeeper.core.placement import meaning_of
from vaultkeeper.core.slug import stem_of
from vaultkeeper.core.vocabulary import WordTable, clean_tags, known_keys, match_word, vocabulary
from vaultkeeper.core.yamltext import Value, as_list, split_words

__all__ = ["Fields", "claims", "clean_tags", "known_keys", "match_word", "read_fields"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """What the frontmatter of one memory says, in the format's words; where it says nothing, what stands in for it."""

    id: str
    id_state: IdState
    type: str
    status: str
    type_known: bool
    """False: a person wrote something, but none of the format's words, and may be about to (K-31)."""
    status_known: bool
    title: str
    title_given: bool
    created_at: str
    """Canonical; empty where neither the frontmatter nor the id tells a time (LT-33)."""
    updated_at: str
    """Canonical; `created_at` where it is missing."""
    created_given: bool
    """A time that can be read stands in the file."""
    updated_given: bool
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    confidence: str
    importance: int | None
    pinned: bool
    source_sessions: tuple[str, ...]
    supersedes: tuple[str, ...]
    superseded_by: str
    conflicts_with: tuple[str, ...]
    evidence: str
    schema_version: int
    key_names: dict[str, str]
    """Canonical key → key as this file writes it (`tags` → `tag`)."""
    rewrites: dict[str, str]
    """Canonical key → word that the file should say instead: type and status only, where it says it in another way or
    says a word that is none of the format's (LT-32)."""
    findings: tuple[Finding, ...]


def claims(values: Mapping[str, Value], fmt: Format) -> bool:
    """Whether a note with this frontmatter is a memory of the format rather than a person's ordinary note (LT-35)."""
    names = names_of(values, fmt)
    note_id, schema, kind, status = (
        plain_text(values.get(names.get(key, ""))) for key in ("id", "schema_version", "type", "status")
    )
    if schema != "" or (note_id or "").startswith(fmt.id_prefix):
        return True
    words = vocabulary(fmt)
    return bool(kind and status and words.types.match(kind) and words.statuses.match(status))


def read_fields(
    values: Mapping[str, Value], lines: Mapping[str, int], fmt: Format, path: NotePath, heading: str
) -> Fields:
    """Read the frontmatter of a note that the format claims.

    Args:
        values: by key as written.
        lines: 1-based line in the file of each key as written.
        fmt: the note's format.
        path: where the note stands; its folder tells a type, its name a title, where the frontmatter doesn't.
        heading: text of the H1; empty without one.

    Returns:
        All fields; what is missing, unreadable or unknown has its cautious value and a finding.
    """
    reader = FieldReader(values, lines, fmt, path, names_of(values, fmt))
    reader.report_doubles()
    words = vocabulary(fmt)
    note_id = reader.text("id")
    told = meaning_of(fmt, path)
    type_name, type_known = reader.word(
        "type", words.types, missing=(told and told.type) or fmt.default_type, unknown=fmt.default_type
    )
    status, status_known = reader.word(
        "status", words.statuses, missing=fmt.cautious_status, unknown=fmt.cautious_status
    )
    title, title_given = _title(reader, heading)
    created, created_given = reader.time("created_at", id_time(fmt, note_id) or "")
    updated, updated_given = reader.time("updated_at", created)
    return Fields(
        id=note_id,
        id_state=id_state(fmt, note_id),
        type=type_name,
        status=status,
        type_known=type_known,
        status_known=status_known,
        title=title,
        title_given=title_given,
        created_at=created,
        updated_at=updated,
        created_given=created_given,
        updated_given=updated_given,
        tags=clean_tags(reader.items("tags", split_words), type_name),
        aliases=reader.items("aliases", split_at_commas),
        confidence=_confidence(reader, words.confidences),
        importance=_importance(reader),
        pinned=_flag(reader, "pinned"),
        source_sessions=reader.items("source_sessions", split_at_commas),
        supersedes=reader.items("supersedes", split_at_commas),
        superseded_by=reader.text("superseded_by"),
        conflicts_with=reader.items("conflicts_with", split_at_commas),
        evidence=_evidence(reader),
        schema_version=_schema(reader),
        key_names=reader.names,
        rewrites=reader.rewrites,
        findings=tuple(reader.findings),
    )


def _title(reader: FieldReader, heading: str) -> tuple[str, bool]:
    value = reader.get("title")
    text = value if isinstance(value, str) else reader.text("title")  # a note may be called `null` (K-12)
    title = " ".join(text.split())
    given = title != ""
    if not given:
        title = heading or _name_without_id(stem_of(reader.path), reader.fmt)
        reader.say("missing-key", "title", key="title", taken=title)
    if len(title) > reader.fmt.title_limit:
        reader.say("title-too-long", "title", limit=reader.fmt.title_limit)
    return title, given


def _name_without_id(stem: str, fmt: Format) -> str:
    return _id_at_end(fmt).sub("", stem) or stem


@lru_cache(maxsize=16)
def _id_at_end(fmt: Format) -> re.Pattern[str]:
    return re.compile(rf"[-_ ]?(?:{fmt.id_pattern})(?: \d+)?\Z", re.ASCII)


def _confidence(reader: FieldReader, table: WordTable) -> str:
    written = reader.text("confidence")
    word = table.match(written) if written else None
    if written and word is None:
        reader.say("unknown-confidence", "confidence", word=written)
    return word.name if word else ""


_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)


def _importance(reader: FieldReader) -> int | None:
    """LT-33: a whole number from 0 to 100; fractions go to the nearest, halves up."""
    written = reader.text("importance")
    if not written:
        return None
    number = unicodedata.normalize("NFKC", written)
    if not _NUMBER.fullmatch(number):
        reader.say("importance-bad", "importance", word=written)
        return None
    exact = float(number)
    taken = int(min(100.0, max(0.0, exact)) + 0.5)
    if not 0 <= exact <= 100:
        reader.say("importance-clamped", "importance", word=written, taken=taken)
    elif taken != exact:
        reader.say("importance-rounded", "importance", word=written, taken=taken)
    return taken


_FLAGS = dict.fromkeys(("true", "yes", "on", "1", "是"), True) | dict.fromkeys(
    ("", "false", "no", "off", "0", "否"), False
)


def _flag(reader: FieldReader, key: str) -> bool:
    written = reader.text(key)
    flag = _FLAGS.get(unicodedata.normalize("NFKC", written).casefold())
    if flag is None:
        reader.say("flag-bad", key, key=key, word=written)
    return flag or False


def _evidence(reader: FieldReader) -> str:
    """Text may be written as a list as well; its items are then one text, so that none is lost to its section."""
    value = reader.get("evidence")
    items = as_list(value) if isinstance(value, list) else None
    return ", ".join(items) if items else reader.text("evidence")


def _schema(reader: FieldReader) -> int:
    written = reader.text("schema_version")
    if not written:
        reader.say("missing-key", "schema_version", key="schema_version", taken=1)
        return 1
    if not re.fullmatch(r"0*[1-9]\d{0,8}(?:\.0+)?", written, re.ASCII):
        reader.say("schema-bad", "schema_version", word=written)
        return 1
    version = int(written.partition(".")[0])
    if version > reader.fmt.schema_version:
        reader.say("newer-schema", "schema_version", version=version)
    return version
