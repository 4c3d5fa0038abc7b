"""Verbs with arguments → what the keeper does → the JSON that the command line and the API answer with (IF-3 … IF-10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from vaultkeeper.core.errors import RefusedError, UserError
from vaultkeeper.core.note import NotePath
from vaultkeeper.core.timestamps import write_time
from vaultkeeper.keeper import lifecycle, reading, writing
from vaultkeeper.keeper.doubt import Doubt
from vaultkeeper.keeper.edits import Edit, commit
from vaultkeeper.keeper.guard import audit, check_new
from vaultkeeper.keeper.keeper import ROUNDS, Keeper, Outcome, action_json
from vaultkeeper.keeper.links_fix import repairs
from vaultkeeper.keeper.session import Progress, quick_look, refresh
from vaultkeeper.keeper.tools import Tools

Args = Mapping[str, object]
Result = dict[str, object]


@dataclass(frozen=True, slots=True)
class Desk:
    """What handling a request needs besides the keeper."""

    keeper: Keeper
    doubt: Doubt | None
    progress: Progress | None = None


def handle(desk: Desk, verb: str, args: Args) -> Result:
    """Do one request; every command that may change files comes through here (IF-21).

    Raises:
        UserError: an unknown verb, or something asked for that cannot be done; show it. A refused write (K-90) has a line
            in the audit.
        ConflictError, VaultUnavailableError: not now; exit code 3.
    """
    handler = _HANDLERS.get(verb)
    if handler is None:
        raise UserError(f"there is no command {verb!r}")
    if verb not in {"tidy", "rebuild"}:
        refresh(desk.keeper, desk.doubt, desk.progress)
    try:
        return handler(desk, args)
    except RefusedError as error:
        if not args.get("dry_run"):
            audit(desk.keeper, error)
        raise


def tidy(desk: Desk, args: Args) -> Result:
    """IF-3: what the watcher does, once, now, with no wait."""
    keeper = desk.keeper
    dry_run, everything = bool(args.get("dry_run")), bool(args.get("all"))
    paths = refresh(keeper, desk.doubt, desk.progress)
    total = Outcome()
    commands = repairs(keeper) if args.get("fix_links") else []
    for _ in range(ROUNDS):
        outcome = keeper.settle(
            paths, cause="tidy", commands=commands, ignore_holds=everything, dry_run=dry_run
        )
        total.actions += outcome.actions
        total.batch = outcome.batch or total.batch
        if dry_run or not outcome.changed:
            break
        paths, commands = keeper.census.observe(outcome.changed), []
    return tidy_json(keeper, total, dry_run=dry_run)


def quiet_tidy(tools: Tools) -> Result | None:
    """The answer of `tidy` where nothing has to be done, found without reading a note; None: tidy properly."""
    findings = None if tools.files.has_open_batch() else quick_look(tools)
    if findings is None:
        return None
    return {
        "vault": str(tools.root),
        "format": tools.fmt.id,
        "language": tools.options.language,
        "dry_run": False,
        "batch": None,
        "actions": [],
        "findings": reading.findings_json(findings, tools.options.language),
    }


def tidy_json(keeper: Keeper, outcome: Outcome, *, dry_run: bool) -> Result:
    """IF-3's shape."""
    return {
        "vault": str(keeper.tools.root),
        "format": keeper.tools.fmt.id,
        "language": keeper.tools.options.language,
        "dry_run": dry_run,
        "batch": outcome.batch or None,
        "actions": [action_json(action) for action in outcome.actions],
        "findings": reading.findings_json(keeper.findings(), keeper.tools.options.language),
    }


def _done(outcome: Outcome, keeper: Keeper, **more: object) -> Result:
    return {
        "vault": str(keeper.tools.root),
        "language": keeper.tools.options.language,
        "batch": outcome.batch or None,
        "actions": [action_json(action) for action in outcome.actions],
        **more,
    }


def _text(args: Args, name: str) -> str:
    value = args.get(name)
    if not isinstance(value, str) or not value.strip():
        raise UserError(f"{name} is missing")
    return value


def _one_note(verb: str) -> Callable[[Desk, Args], Result]:
    def run(desk: Desk, args: Args) -> Result:
        reference = _text(args, "note")
        return _edit(desk, args, verb, lambda: lifecycle.step(desk.keeper, verb, reference))

    return run


def _two_notes(verb: str, first: str, second: str) -> Callable[[Desk, Args], Result]:
    make = {"supersede": lifecycle.supersede, "conflict": lifecycle.conflict, "merge": lifecycle.merge}[verb]

    def run(desk: Desk, args: Args) -> Result:
        one, two = _text(args, first), _text(args, second)
        return _edit(desk, args, verb, lambda: make(desk.keeper, one, two))

    return run


def _edit(desk: Desk, args: Args, cause: str, build: Callable[[], Edit]) -> Result:
    outcome = commit(desk.keeper, build, cause=cause, dry_run=bool(args.get("dry_run")))
    return _done(outcome, desk.keeper, dry_run=bool(args.get("dry_run")))


def _resolve(desk: Desk, args: Args) -> Result:
    one, two, keep = _text(args, "a"), _text(args, "b"), _text(args, "keep")
    return _edit(desk, args, "resolve", lambda: lifecycle.resolve(desk.keeper, one, two, keep))


def _adopt(desk: Desk, args: Args) -> Result:
    reference = _text(args, "note")
    return _edit(desk, args, "adopt", lambda: writing.adopt(desk.keeper, reference))


def _keep_duplicate(desk: Desk, args: Args) -> Result:
    note_id, keep = _text(args, "id"), _text(args, "keep")
    others = str(args.get("others") or "new-id")
    if others not in {"new-id", "archive"}:
        raise UserError(f"the others get new-id or archive, not {others!r}")
    return _edit(desk, args, "duplicates", lambda: writing.keep_duplicate(desk.keeper, note_id, keep, others))


def _new(desk: Desk, args: Args) -> Result:
    keeper = desk.keeper
    wanted = writing.NewNote(
        title=_text(args, "title"),
        type=str(args.get("type") or ""),
        pending=bool(args.get("pending")),
        text=str(args.get("text") or ""),
        source=str(args.get("source") or "cli"),
    )
    made: list[writing.Made] = []

    def build() -> Edit:
        made.append(writing.new_note(keeper, wanted))
        return made[-1].edit

    warnings = check_new(keeper, wanted.title, wanted.text)
    dry_run = bool(args.get("dry_run"))
    outcome = commit(keeper, build, cause="new", dry_run=dry_run)
    path = next((action.path for action in outcome.actions if action.op == "create"), made[-1].path)
    verified = dry_run or _verified(keeper, path, made[-1].text)
    return _done(
        outcome,
        keeper,
        dry_run=dry_run,
        committed=not dry_run and verified,
        path=path,
        line=made[-1].line,
        id=made[-1].id,
        reason="dry run" if dry_run else "created" if verified else "the file is not what was written",
        warnings=warnings,
    )


def _verified(keeper: Keeper, path: NotePath, text: str) -> bool:
    """K-92: the file is read back."""
    snapshot = keeper.tools.files.read(path)
    return snapshot is not None and snapshot.data == text.encode()


def _set(desk: Desk, args: Args) -> Result:
    keeper, reference = desk.keeper, _text(args, "note")
    values = args.get("values")
    if not isinstance(values, Mapping) or not values:
        raise UserError("say what to set, as key=value")
    pairs = {str(key): str(value) for key, value in values.items()}
    check_new(keeper, "", "\n".join(pairs.values()), duplicates=False)
    note_id = keeper.catalog.find(reference).record
    dry_run = bool(args.get("dry_run"))
    outcome = commit(
        keeper, lambda: writing.set_values(keeper, reference, pairs), cause="set", dry_run=dry_run
    )
    holders = keeper.catalog.holders(note_id.id) if note_id is not None else ()
    path = holders[0] if holders else keeper.catalog.find(reference).path
    parsed = keeper.census.look(path)
    lines = parsed.front.lines if parsed is not None and parsed.front is not None else {}
    return _done(
        outcome,
        keeper,
        dry_run=dry_run,
        committed=bool(outcome.actions) and not dry_run,
        path=path,
        line=next((lines[key] for key in pairs if key in lines), 1),
        id=note_id.id if note_id is not None else "",
        reason="dry run" if dry_run else "set" if outcome.actions else "it says so already",
    )


def _undo(desk: Desk, args: Args) -> Result:
    keeper, batch = desk.keeper, args.get("batch")
    if args.get("dry_run"):
        return reading.undo_preview(keeper, str(batch) if batch else None)
    bases = {entry.record.id: entry.before for entry in keeper.catalog if entry.record is not None}
    knows_all = not keeper.census.touched  # else the pages have to follow the notes all the same
    result = keeper.tools.files.undo(str(batch) if batch else None)
    paths = {receipt.action.path for receipt in result.receipts} | {
        receipt.path for receipt in result.receipts
    }
    keeper.census.observe(path for path in paths if path.endswith(".md"))
    keeper.census.rebase(paths, bases)
    if result.pages_behind:
        keeper.settle((), cause="undo")
    elif knows_all:
        keeper.pages.accept(keeper.findings())
    return {
        "vault": str(keeper.tools.root),
        "language": keeper.tools.options.language,
        "batch": result.batch or None,
        "undone": result.undone,
        "actions": [
            action_json(replace(receipt.action, to=receipt.path if receipt.action.to else None))
            for receipt in result.receipts
            if receipt.state == "done"
        ],
        "refused": [{"path": path, "diff": diff} for path, diff in result.refused],
    }


def _rebuild(desk: Desk, args: Args) -> Result:
    """K-1: everything derived is made again from the Markdown alone."""
    keeper = desk.keeper
    for entry in list(keeper.catalog):
        keeper.catalog.drop(entry.path)
    keeper.pages.all_stale = True
    keeper.fresh = True
    keeper.plan_findings.clear()
    if not args.get("dry_run"):
        at = write_time(keeper.tools.clock())
        keeper.tools.journal.append(
            [{"at": at, "op": "index-rebuild", "id": "*", "reason": "rebuild", "source": "cli"}]
        )
    return tidy(desk, {"dry_run": args.get("dry_run")}) | {"notes": len(keeper.catalog)}


_HANDLERS: dict[str, Callable[[Desk, Args], Result]] = {
    "tidy": tidy,
    "new": _new,
    "set": _set,
    **{verb: _one_note(verb) for verb in ("confirm", "reject", "archive", "stale", "restore")},
    "supersede": _two_notes("supersede", "old", "new"),
    "conflict": _two_notes("conflict", "a", "b"),
    "merge": _two_notes("merge", "source", "into"),
    "resolve": _resolve,
    "adopt": _adopt,
    "duplicates-keep": _keep_duplicate,
    "undo": _undo,
    "rebuild": _rebuild,
}
