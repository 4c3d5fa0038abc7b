"""New notes, changed fields, adopted notes and settled duplicates: what these commands want. Decides only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vaultkeeper.core.action import Action, JournalLine
from vaultkeeper.core.decide import new_file_name
from vaultkeeper.core.errors import RefusedError, UserError
from vaultkeeper.core.fields import clean_tags, known_keys, match_word
from vaultkeeper.core.format import Format, Key, Word
from vaultkeeper.core.ids import new_id
from vaultkeeper.core.journal_words import summary
from vaultkeeper.core.note import NotePath
from vaultkeeper.core.parse import Parsed, fold
from vaultkeeper.core.patch import WriteValue, new_block, patch
from vaultkeeper.core.placement import home_folder, meaning_of
from vaultkeeper.core.plan import free_name
from vaultkeeper.core.sections import outline
from vaultkeeper.core.slug import split_path, stem_of
from vaultkeeper.core.text import encode
from vaultkeeper.core.timestamps import read_time, write_time
from vaultkeeper.core.yamltext import as_list, split_words
from vaultkeeper.keeper.edits import Change, Edit, memory_at, parsed_at
from vaultkeeper.keeper.keeper import Keeper


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNote:
    """A note to make."""

    title: str
    type: str
    pending: bool
    text: str
    source: str = "cli"


@dataclass(frozen=True, slots=True)
class Made:
    """A note that an edit makes."""

    edit: Edit
    id: str
    path: NotePath
    line: int
    """1-based line of the heading."""
    text: str


def new_note(keeper: Keeper, wanted: NewNote) -> Made:
    """The edit that makes a new memory in its place (LT-12, LT-20, LT-63).

    Raises:
        RefusedError: no title, one that is too long, or a type the format does not have.
    """
    fmt, options = keeper.tools.fmt, keeper.tools.options
    title = fold(wanted.title)
    if not title:
        raise RefusedError("bad-value", "a note needs a title of at least one character")
    if len(title) > fmt.title_limit:
        raise RefusedError(
            "title-too-long", f"a title has at most {fmt.title_limit} characters, this has {len(title)}"
        )
    kind = _word(wanted.type or fmt.default_type, fmt.types, "type").name
    status = fmt.cautious_status if wanted.pending else fmt.adopted_status
    now = keeper.tools.clock()
    note_id = new_id(fmt, now, keeper.tools.random_hex(8))
    values: dict[str, WriteValue] = {
        "id": note_id,
        "type": kind,
        "status": status,
        "title": title,
        "created_at": write_time(now),
        "updated_at": write_time(now),
        "tags": list(clean_tags((), kind)),
        "schema_version": fmt.schema_version,
    }
    text = new_block(values) + "\n" + _body(wanted, title, keeper)
    folder = home_folder(fmt, kind, status)
    name, with_id = (new_file_name(title, note_id, options, collides=each) for each in (False, True))
    path = free_name(
        NotePath(f"{folder}/{name}"), keeper.catalog, set(), instead=NotePath(f"{folder}/{with_id}")
    )
    line = JournalLine(
        op="create",
        id=note_id,
        reason="new note",
        after=summary(kind, status, title, fold(wanted.text)[: fmt.preview_limit]),
        source=wanted.source,
    )
    action = Action(
        op="create",
        path=path,
        expects=None,
        data=encode(text),
        rule=fmt.rules["new"],
        reason="new note",
        journal=(line,),
    )
    return Made(
        Edit(extra=(action,)), note_id, path, 1 + text[: text.index(f"\n# {title}\n") + 1].count("\n"), text
    )


def _body(wanted: NewNote, title: str, keeper: Keeper) -> str:
    """H1, the text as the summary (or as it is where it brings its own sections), and the evidence section."""
    fmt, language = keeper.tools.fmt, keeper.tools.options.language
    text = wanted.text.strip("\n")
    own = text.startswith("## ") or "\n## " in text
    summary_part = text if own else f"## {fmt.summary.heading[language]}\n\n{text}".rstrip()
    evidence = f"## {fmt.evidence.heading[language]}\n\n{fmt.evidence.empty[language]}"
    parts = [f"# {title}", summary_part]
    if fmt.evidence.heading.zh not in text and fmt.evidence.heading.en not in text:
        parts.append(evidence)
    return "\n\n".join(part for part in parts if part) + "\n"


def _word(text: str, words: Sequence[Word], key: str) -> Word:
    word = match_word(text, words)
    if word is None:
        raise RefusedError(
            "bad-value", f"{text!r} is no {key}; use one of: {', '.join(each.name for each in words)}"
        )
    return word


def set_values(keeper: Keeper, reference: str, values: Mapping[str, str]) -> Edit:
    """The edit that gives a note's keys new values; an empty value takes the key away.

    Raises:
        RefusedError: a value that the key cannot have, a key that never changes, or one that cannot be taken away.
    """
    entry = memory_at(keeper, reference)
    parsed = parsed_at(keeper, entry.path)
    fmt = keeper.tools.fmt
    names = known_keys(fmt)
    keys = {key.name: key for key in fmt.keys}
    changes: dict[str, WriteValue | None] = {}
    for given, text in values.items():
        name = names.get(given.casefold(), given)
        key = keys.get(name)
        changes[name] = text or None if key is None else _value(key, text, parsed, fmt)
    shown = ", ".join(changes)
    return Edit(
        changes=(Change(path=entry.path, values=changes, reason=f"set {shown}", rule=fmt.rules["life"]),)
    )


def _value(key: Key, text: str, parsed: Parsed, fmt: Format) -> WriteValue | None:
    if key.kind in {"id", "schema"}:
        raise RefusedError("never-changes", f"{key.name} never changes: leave it out")
    if key.name == "created_at" and parsed.fields is not None and parsed.fields.created_given:
        raise RefusedError("never-changes", "created_at never changes once it is valid")
    if not text.strip():
        if key.required:
            raise RefusedError("required", f"{key.name} cannot be taken away")
        return None
    return _typed(key, text, parsed, fmt)


def _typed(key: Key, text: str, parsed: Parsed, fmt: Format) -> WriteValue:
    words = {"type": fmt.types, "status": fmt.statuses, "confidence": fmt.confidences}.get(key.kind)
    if words is not None:
        return _word(text, words, key.name).name
    match key.kind:
        case "tags":
            assert parsed.fields is not None
            return list(clean_tags(split_words(text), parsed.fields.type))
        case "list" | "ids":
            return [part for part in (as_list(text) or []) for part in split_words(part)]
        case "time":
            return _time(text)
        case "importance":
            return _number(text)
        case "flag":
            return _flag(key, text)
        case "title":
            return _title(text, fmt)
        case _:
            return text


def _time(text: str) -> str:
    time = read_time(text)
    if time is None:
        raise RefusedError("bad-value", f"{text!r} is no date that can be read; write it like 2026-10-17")
    return time


def _title(text: str, fmt: Format) -> str:
    title = fold(text)
    if len(title) > fmt.title_limit:
        raise RefusedError(
            "title-too-long", f"a title has at most {fmt.title_limit} characters, this has {len(title)}"
        )
    return title


def _number(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= 100:
        raise RefusedError("bad-value", f"importance is a whole number from 0 to 100, not {text!r}")
    return number


def _flag(key: Key, text: str) -> bool:
    flags = {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }
    value = flags.get(text.strip().casefold())
    if value is None:
        raise RefusedError("bad-value", f"{key.name} is true or false, not {text!r}")
    return value


def adopt(keeper: Keeper, reference: str) -> Edit:
    """Give a note without a good id, or an ordinary note, an id and a place (LT-34); its own values stay.

    Raises:
        RefusedError: it is a memory already, or cannot be written safely.
    """
    entry = keeper.catalog.find(reference)
    if entry.kind == "page":
        raise RefusedError("index-page", f"{entry.path} is an index page")
    if entry.kind == "memory":
        raise RefusedError("already-a-memory", f"{entry.path} is a memory already")
    parsed = keeper.census.look(entry.path)
    if parsed is None or not _adoptable(parsed):
        raise RefusedError("quarantined", f"{entry.path} cannot be written safely; see `vaultkeeper check`")
    text = _adopted_text(keeper, parsed)
    change = Change(
        path=entry.path,
        values={},
        text=text,
        op="create",
        reason="adopted",
        rule=keeper.tools.fmt.rules["adopt"],
        adopting=True,
    )
    return Edit(changes=(change,))


def _adoptable(parsed: Parsed) -> bool:
    """Whether nothing but a missing or malformed id keeps the note from being a memory."""
    if parsed.front is None or keeper_refuses(parsed):
        return False
    return parsed.front.state in {"absent", "read"} and not any(
        finding.code == "frontmatter-unclosed" for finding in parsed.findings
    )


def keeper_refuses(parsed: Parsed) -> bool:
    """Whether the note is frozen for another reason than its id."""
    id_only = parsed.fields is not None and parsed.fields.id_state != "ok"
    return bool(parsed.frozen) and not (parsed.frozen == "quarantined" and id_only)


def _adopted_text(keeper: Keeper, parsed: Parsed) -> str:
    fmt, now = keeper.tools.fmt, keeper.tools.clock()
    path = parsed.snapshot.path
    meaning = meaning_of(fmt, path)
    heading = outline(parsed.text, parsed.body_at).heading
    defaults: dict[str, WriteValue] = {
        "id": new_id(fmt, now, keeper.tools.random_hex(8)),
        "type": (meaning.type if meaning is not None else None) or fmt.default_type,
        "status": fmt.cautious_status if meaning is None or meaning.type is None else fmt.adopted_status,
        "title": fold(heading.text if heading is not None else "") or stem_of(path),
        "created_at": keeper.census.born(parsed),
        "updated_at": write_time(now),
        "schema_version": fmt.schema_version,
    }
    front = parsed.front
    assert front is not None
    if front.state == "absent":
        return new_block(defaults) + "\n" + parsed.text
    given = _good_values(parsed, fmt)
    changes = {key: value for key, value in defaults.items() if key == "id" or key not in given}
    return patch(front.mended, changes, [key.name for key in fmt.keys])


def _good_values(parsed: Parsed, fmt: Format) -> set[str]:
    """Keys whose present values the format can read; the others are given anew."""
    assert parsed.front is not None
    names = known_keys(fmt)
    good: set[str] = set()
    for written, value in parsed.front.values.items():
        name = names.get(written.casefold(), written)
        words = {"type": fmt.types, "status": fmt.statuses}.get(name)
        if isinstance(value, str) and (words is None or match_word(value, words) is not None):
            good.add(name)
    return good


def keep_duplicate(keeper: Keeper, note_id: str, keep: str, others: str) -> Edit:
    """Settle a doubled id (LT-37): `keep` stays as it is, each other note gets a new id, or goes to the archive with one.

    Raises:
        UserError: no such duplicate, or `keep` is not one of its notes.
    """
    paths = keeper.catalog.holders(note_id)
    if len(paths) < 2:
        raise UserError(f"{note_id} stands in {len(paths)} note(s): nothing to settle")
    kept = keeper.catalog.find(keep).path
    if kept not in paths:
        raise UserError(f"{kept} does not have the id {note_id}; it stands in: {', '.join(paths)}")
    fmt = keeper.tools.fmt
    changes: list[Change] = []
    for path in paths:
        if path == kept:
            continue
        values: dict[str, WriteValue | None] = {
            "id": new_id(fmt, keeper.tools.clock(), keeper.tools.random_hex(8))
        }
        if others == "archive":
            values["status"] = "archived"
        reason = f"its id belongs to {split_path(kept)[1]}"
        changes.append(Change(path=path, values=values, reason=reason, rule="LT-37"))
    return Edit(changes=tuple(changes))
