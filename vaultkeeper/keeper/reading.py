"""Commands that only read: check, why, log, duplicates, show, and looking ahead at an undo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vaultkeeper.core.errors import UnknownNoteError
from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.format import Language
from vaultkeeper.core.messages import fix_of, message_of, severity_of
from vaultkeeper.core.note import Entry, NotePath
from vaultkeeper.core.placement import home_folder, is_home, meaning_of
from vaultkeeper.core.relations import backlinks_of, loose_link_findings
from vaultkeeper.core.text import NotTextError, decode
from vaultkeeper.keeper.keeper import Keeper

Result = dict[str, object]


def findings_json(findings: Iterable[Finding], language: Language) -> list[Result]:
    """IF-2's shape of findings, worded in the vault's language."""
    return [
        {
            "code": finding.code,
            "severity": severity_of(finding),
            "path": finding.path,
            "line": finding.line,
            "message": message_of(finding, language),
            "fix": fix_of(finding, language),
        }
        for finding in findings
    ]


def check(keeper: Keeper, paths: set[NotePath]) -> Result:
    """IF-2; `paths` are the notes that want planning, as `session.refresh` gave them."""
    outcome = keeper.settle(paths, cause="check", dry_run=True)
    findings = {*keeper.findings(), *loose_link_findings(keeper.catalog)}
    for action in outcome.actions:
        if action.op == "move" and action.to is not None:
            findings.add(found("misplaced", action.path, to=action.to, reason=action.reason))
        elif action.op == "rewrite" and action.rule not in {"K-13", keeper.tools.fmt.rules["words"]}:
            findings.add(found("out-of-step", action.path, reason=action.reason))
    pages = sum(1 for action in outcome.actions if action.op in {"page", "trash"})
    if pages:
        findings.add(found("pages-stale", "", count=pages))
    kinds = [entry.kind for entry in keeper.catalog]
    return {
        "vault": str(keeper.tools.root),
        "format": keeper.tools.fmt.id,
        "language": keeper.tools.options.language,
        "notes": kinds.count("memory"),
        "ordinary": kinds.count("plain"),
        "quarantined": kinds.count("quarantined"),
        "findings": findings_json(sorted(findings), keeper.tools.options.language),
    }


def why(keeper: Keeper, reference: str) -> Result:
    """K-52: the note's place, the rule behind it, and what was done to it lately."""
    entry = keeper.catalog.find(reference)
    fmt = keeper.tools.fmt
    if entry.unsettled:
        keeper.settle(
            {entry.path}, cause="why", dry_run=True
        )  # tells whether a person took back what is wanted
    held = any(finding.code == "held" for finding in keeper.plan_findings.get(entry.path, ()))
    result: Result = {
        "language": keeper.tools.options.language,
        "path": entry.path,
        "kind": entry.kind,
        "findings": findings_json(
            (finding for finding in keeper.findings() if finding.path == entry.path),
            keeper.tools.options.language,
        ),
        "actions": _history(keeper, entry),
        "held": held,
    }
    if entry.record is None:
        result |= {
            "type": "",
            "status": "",
            "place": "",
            "rule": _plain_rule(entry),
            "reason": _plain_reason(entry),
        }
        return result
    record = entry.record
    links = backlinks_of(keeper.catalog, entry)
    by_status = fmt.status_word(record.status).folder is not None
    cause = (
        f"status {record.status}"
        if by_status
        else f"type {record.type} (status {record.status} has no folder)"
    )
    where = ""
    if not is_home(fmt, entry.path, record.type, record.status):
        what = "stays there, since its move was taken back" if held else "will be moved"
        where = f"; it stands in {_where(keeper, entry)} and {what}"
    return result | {
        "id": record.id,
        "type": record.type,
        "status": record.status,
        "place": home_folder(fmt, record.type, record.status),
        "rule": fmt.rules["place"],
        "reason": f"{cause} → {home_folder(fmt, record.type, record.status)}/{where}",
        "links": list(links.links),
        "backlinks": list(links.backlinks),
    }


def _where(keeper: Keeper, entry: Entry) -> str:
    meaning = meaning_of(keeper.tools.fmt, entry.path)
    return f"{meaning.folder}/" if meaning is not None else "a folder without meaning"


def _plain_rule(entry: Entry) -> str:
    return {"plain": "LT-35", "page": "LT-52"}.get(entry.kind, "K-14")


def _plain_reason(entry: Entry) -> str:
    return {
        "plain": "an ordinary note: it is left where it is",
        "page": "a generated index page",
    }.get(entry.kind, "it cannot be read safely: it is left as it is")


def _history(keeper: Keeper, entry: Entry) -> list[Result]:
    return [
        {
            "at": done.at,
            "batch": done.batch,
            "op": done.op,
            "path": done.path,
            "to": done.to,
            "rule": done.rule,
            "reason": done.reason,
        }
        for done in keeper.tools.files.actions_on(entry.path)
    ]


def log_entries(keeper: Keeper, reference: str | None, limit: int) -> Result:
    """The journal, of one note or of all, newest last."""
    note_id = None
    if reference:
        try:
            entry = keeper.catalog.find(reference)
            note_id = entry.record.id if entry.record is not None else reference
        except UnknownNoteError:
            if not reference.startswith(keeper.tools.fmt.id_prefix):
                raise
            note_id = reference  # a note that is gone still has a past
    return {"vault": str(keeper.tools.root), "entries": keeper.tools.journal.read(note_id, limit)}


def duplicates(keeper: Keeper) -> Result:
    """LT-37: every id that stands in more than one note, with paths and times."""
    listed: list[Result] = []
    for note_id, paths in keeper.catalog.duplicates().items():
        entries = [keeper.catalog.entries[path] for path in paths]
        listed.append(
            {
                "id": note_id,
                "paths": list(paths),
                "titles": [entry.record.title if entry.record else "" for entry in entries],
                "updated": [entry.record.updated_at if entry.record else "" for entry in entries],
            }
        )
    return {"vault": str(keeper.tools.root), "duplicates": listed}


def show(keeper: Keeper, reference: str) -> Result:
    """IF-7: a note with its fields and its text as it stands on disk."""
    entry = keeper.catalog.find(reference)
    snapshot = keeper.tools.files.read(entry.path)
    if snapshot is None:
        raise UnknownNoteError(reference)
    try:
        text = decode(snapshot.data)
    except NotTextError:
        text = ""
    record = entry.record
    fields: Result = {}
    if record is not None:
        fields = {name: getattr(record, name) for name in record.__struct_fields__}
    return {
        "committed": False,
        "path": entry.path,
        "line": 1,
        "id": record.id if record is not None else "",
        "reason": "shown",
        "kind": entry.kind,
        "fields": fields,
        "text": text,
        "digest": snapshot.digest,
    }


def undo_preview(keeper: Keeper, batch: str | None) -> Result:
    """K-51 for undo: which actions it would take back."""
    info = keeper.tools.files.undoable(batch)
    return {
        "vault": str(keeper.tools.root),
        "language": keeper.tools.options.language,
        "batch": None,
        "dry_run": True,
        "undone": info.id,
        "actions": [
            {"op": done.op, "path": done.path, "to": done.to, "rule": done.rule, "reason": done.reason}
            for done in info.actions
        ],
        "refused": [],
    }


def read(keeper: Keeper, verb: str, args: Mapping[str, object]) -> Result:
    """Do one reading request on a keeper that was refreshed."""
    note = args.get("note")
    match verb:
        case "why":
            return why(keeper, str(note))
        case "log":
            return log_entries(keeper, str(note) if note else None, int(str(args.get("limit") or 50)))
        case "duplicates":
            return duplicates(keeper)
        case _:
            return show(keeper, str(note))
