"""What should become of one memory: its text and its place, from its bytes, its past (`Base`) and its format. Pure.

Every choice is a three-way one. `Base` is how the note looked when there was last nothing to do for it; what differs
from it now was done by somebody since: a person in an editor, a person with a file manager, another tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from vaultkeeper.core.action import Grace
from vaultkeeper.core.field_reader import plain_text
from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.format import Format
from vaultkeeper.core.note import Base, NotePath
from vaultkeeper.core.options import Options
from vaultkeeper.core.parse import Parsed, fold
from vaultkeeper.core.patch import PatchRefusedError, WriteValue, patch
from vaultkeeper.core.placement import home_folder, is_home, meaning_of
from vaultkeeper.core.sections import with_heading, with_section_text
from vaultkeeper.core.slug import file_name, split_path
from vaultkeeper.core.timestamps import parse_time, write_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What should become of one note; `text` None: its bytes stay, `path` as before: its place stays."""

    path: NotePath
    text: str | None = None
    rule: str = ""
    reason: str = ""
    grace: Grace = "settle"
    type: str
    status: str
    title: str
    findings: tuple[Finding, ...] = ()


@dataclass(slots=True)
class _Draft:
    """A decision in the making; one per call of `decide`, never shared."""

    type: str
    status: str
    title: str
    heading: str | None = None
    evidence_section: str | None = None
    changes: dict[str, WriteValue | None] = field(default_factory=dict)
    why: list[tuple[str, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    half_typed: bool = False
    """The note holds a word that may not be typed to its end (K-31)."""
    touch: str = ""
    """New time of last change; empty: it stays."""


def decide(
    parsed: Parsed,
    base: Base | None,
    fmt: Format,
    options: Options,
    now: datetime,
    *,
    commanded: bool = False,
) -> Decision:
    """Decide what should become of one memory that may be written.

    Args:
        parsed: the memory; `parsed.frozen` is empty.
        base: how it looked when it was last settled; None: it is new to the keeper, so its frontmatter decides.
        fmt: its format.
        options: the owner's settings.
        now: aware UTC time, for the time of last change where the file's own time cannot serve.
        commanded: the text comes from a command, which dates the change `now`.

    Returns:
        The decision; with `text` None and the same path when the note is right as it is.
    """
    fields = parsed.fields
    assert fields is not None
    draft = _Draft(type=fields.type, status=fields.status, title=fields.title)
    _words(draft, parsed, base, fmt)
    _place(draft, parsed, base, fmt, options)
    _title(draft, parsed, base, fmt)
    _evidence(draft, parsed, base, fmt)
    path = _path(draft, parsed, base, fmt, options)
    _keep_type(draft, parsed, path, fmt)
    _touch(draft, parsed, base, fmt, now, commanded=commanded)
    try:
        text = _apply(draft, parsed, fmt, options)
    except PatchRefusedError as error:
        draft.findings.append(found("patch-refused", parsed.snapshot.path, key=error.key))
        text, path = None, parsed.snapshot.path
    touch_only = (
        path == parsed.snapshot.path
        and draft.touch != ""
        and [rule for rule, _ in draft.why] == [fmt.rules["touch"]]
    )
    grace: Grace = "repair" if draft.half_typed else "touch" if touch_only else "settle"
    return Decision(
        path=path,
        text=text,
        rule=draft.why[0][0] if draft.why else "",
        reason="; ".join(reason for _, reason in draft.why),
        grace=grace,
        type=draft.type,
        status=draft.status,
        title=draft.title,
        findings=tuple(draft.findings),
    )


def _words(draft: _Draft, parsed: Parsed, base: Base | None, fmt: Format) -> None:
    """LT-32: words that are not the format's own are written as the format's; unknown ones may be half typed."""
    fields, front = parsed.fields, parsed.front
    assert fields is not None
    assert front is not None
    unknown = {
        key for key, known in (("type", fields.type_known), ("status", fields.status_known)) if not known
    }
    for key, word in fields.rewrites.items():
        written = fields.key_names.get(key, key)
        draft.changes[written] = word
        if key not in unknown:
            draft.why.append((fmt.rules["words"], f"{key} is {word}"))
            continue
        old, line = plain_text(front.values.get(written)), front.lines.get(written, 1)
        draft.why.append((fmt.rules["words"], f"{key} {old} is unknown and becomes {word}"))
        draft.findings.append(
            found("word-replaced", parsed.snapshot.path, line, key=key, word=old, taken=word)
        )
    if front.mended != parsed.text:
        codes = ", ".join(sorted({f.code for f in front.findings if f.code.startswith("slip-")}))
        draft.why.append(("K-13", f"frontmatter mended ({codes})"))
    lost_word = base is not None and not {"type", "status"} <= fields.key_names.keys()
    draft.half_typed = lost_word or not (fields.type_known and fields.status_known)


def _place(draft: _Draft, parsed: Parsed, base: Base | None, fmt: Format, options: Options) -> None:
    """K-35, LT-13: a note that was dragged, and not edited, takes what its new folder means."""
    path = parsed.snapshot.path
    if base is None or base.path == path or not options.adopt_manual_moves:
        return
    here, before = meaning_of(fmt, path), meaning_of(fmt, NotePath(base.path))
    if here is None or (before is not None and here.folder == before.folder):
        return
    if is_home(fmt, path, draft.type, draft.status):
        return
    if (draft.type, draft.status) != (base.type, base.status):
        draft.findings.append(found("both-place", path, folder=here.folder + "/"))
        return
    adopted: dict[str, str] = {}
    if here.status is not None:
        adopted["status"] = here.status
    else:
        assert here.type is not None
        adopted["type"] = here.type
        if fmt.status_word(draft.status).folder is not None:
            adopted["status"] = fmt.adopted_status
    draft.type, draft.status = adopted.get("type", draft.type), adopted.get("status", draft.status)
    _change(draft, parsed, adopted)
    draft.half_typed = False
    words = ", ".join(f"{key} {word}" for key, word in adopted.items())
    draft.why.append((fmt.rules["drag"], f"moved into {here.folder}/ by hand: {words}"))


def _change(draft: _Draft, parsed: Parsed, values: Mapping[str, WriteValue]) -> None:
    """Note the new values under the keys as this file writes them."""
    assert parsed.fields is not None
    for key, value in values.items():
        draft.changes[parsed.fields.key_names.get(key, key)] = value


def _title(draft: _Draft, parsed: Parsed, base: Base | None, fmt: Format) -> None:
    """LT-40: title and H1 follow each other; where both were changed the frontmatter wins."""
    fields = parsed.fields
    assert fields is not None
    title, heading = fold(fields.title), fold(parsed.heading)
    if not fields.title_given or not heading or title == heading:
        return
    title_changed = base is None or title != fold(base.title)
    heading_changed = base is None or heading != fold(base.heading)
    if heading_changed and not title_changed:
        draft.title = heading
        _change(draft, parsed, {"title": heading})
        draft.why.append((fmt.rules["title"], "title follows the heading"))
        return
    draft.heading = title
    draft.why.append((fmt.rules["title"], "heading follows the title"))
    if title_changed and heading_changed:
        draft.findings.append(found("both-title", parsed.snapshot.path, title=title))


def _evidence(draft: _Draft, parsed: Parsed, base: Base | None, fmt: Format) -> None:
    """LT-42: the field and its section mirror each other; a section that is not there says nothing."""
    fields = parsed.fields
    assert fields is not None
    given, shown = fold(fields.evidence), parsed.evidence_section
    if shown is None or given == shown:
        return
    given_changed = bool(given) if base is None else given != base.evidence
    shown_changed = base is not None and shown != base.evidence_section
    if not (given_changed or shown_changed):
        return  # a section beside an empty field, say: as long as nobody changes either side, both stay
    if shown_changed and not given_changed:
        _change(draft, parsed, {"evidence": shown})
        if not shown:
            draft.changes[fields.key_names.get("evidence", "evidence")] = None
        draft.why.append((fmt.rules["evidence"], "evidence follows its section"))
        return
    draft.evidence_section = given
    draft.why.append((fmt.rules["evidence"], "the evidence section follows the frontmatter"))
    if given_changed and shown_changed:
        draft.findings.append(found("both-evidence", parsed.snapshot.path))


def _path(draft: _Draft, parsed: Parsed, base: Base | None, fmt: Format, options: Options) -> NotePath:
    """LT-10 to LT-12: where the note belongs, under the name it has unless the owner wants names to follow titles."""
    path = parsed.snapshot.path
    folder, name = split_path(path)
    if options.rename_on_title_change and base is not None and fold(draft.title) != fold(base.title):
        name = new_file_name(draft.title, _id(parsed), options)
    if not is_home(fmt, path, draft.type, draft.status):
        folder = home_folder(fmt, draft.type, draft.status)
        draft.why.append((fmt.rules["place"], f"type {draft.type}, status {draft.status}"))
    elif name != split_path(path)[1]:
        draft.why.append((fmt.rules["rename"], "name follows the title"))
    return NotePath(f"{folder}/{name}" if folder else name)


def _id(parsed: Parsed) -> str:
    assert parsed.fields is not None
    return parsed.fields.id


def new_file_name(title: str, note_id: str, options: Options, *, collides: bool = False) -> str:
    """The name of a new file (LT-12): `<title>-<id>.md`; `<title>.md` where the owner wants it so and it does not collide."""
    fallback = "未命名" if options.language == "zh" else "untitled"
    with_id = collides or options.file_names == "title-id"
    return file_name(title, f"-{note_id}" if with_id else "", fallback=fallback)


def _keep_type(draft: _Draft, parsed: Parsed, path: NotePath, fmt: Format) -> None:
    """A type that only the folder told is written down before the note leaves that folder (LT-38)."""
    fields, front = parsed.fields, parsed.front
    assert fields is not None
    assert front is not None
    told = meaning_of(fmt, path)
    if path == parsed.snapshot.path or (told is not None and told.type == draft.type):
        return
    key = fields.key_names.get("type", "type")
    if front.values.get(key) is None:
        draft.changes.setdefault(key, draft.type)


def _touch(
    draft: _Draft, parsed: Parsed, base: Base | None, fmt: Format, now: datetime, *, commanded: bool
) -> None:
    """LT-23: the time of last change moves with the content, unless whoever changed it moved it."""
    fields = parsed.fields
    assert fields is not None
    if base is None:
        return
    edited = base.content not in {"", parsed.content}
    adopted = (draft.type, draft.status) != (base.type, base.status)
    shown = fields.updated_at or fields.created_at
    if not (edited or adopted) or (shown and shown != base.updated_at):
        return
    changed_at = datetime.fromtimestamp(parsed.snapshot.stat.mtime_ns // 1_000_000 / 1000, tz=now.tzinfo)
    last = parse_time(base.updated_at) if base.updated_at else None
    trusted = edited and not commanded and changed_at <= now + timedelta(seconds=2)
    if not trusted or (last is not None and changed_at <= last):
        changed_at = now
    draft.touch = write_time(changed_at)
    _change(draft, parsed, {"updated_at": draft.touch})
    draft.why.append((fmt.rules["touch"], "content changed"))


def _apply(draft: _Draft, parsed: Parsed, fmt: Format, options: Options) -> str | None:
    """The new text, or None where no byte has to change.

    Raises:
        PatchRefusedError: an edit cannot be made safely (K-54); leave the note alone.
    """
    front = parsed.front
    assert front is not None
    text = front.mended
    if draft.changes:
        text = patch(text, draft.changes, [key.name for key in fmt.keys])
    body_at = parsed.body_at + len(text) - len(parsed.text)  # edits so far stand before the body
    if draft.evidence_section is not None:
        text = with_section_text(text, body_at, fmt.evidence, draft.evidence_section, options.language)
    if draft.heading is not None:
        text = with_heading(text, body_at, draft.heading)
    if text == parsed.text:
        return None
    if not parsed.heading and draft.title:
        text = with_heading(text, body_at, draft.title)
    return text.lstrip("\n")  # K-11: blank lines before the fence go when a note is written
