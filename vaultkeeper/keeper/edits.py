"""Edits that a command asks for: one note's new frontmatter or text, as a Candidate for the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from vaultkeeper.core.action import Action
from vaultkeeper.core.errors import ConflictError, RefusedError, UnknownNoteError
from vaultkeeper.core.note import Entry, NotePath
from vaultkeeper.core.parse import Parsed, parse
from vaultkeeper.core.patch import PatchRefusedError, WriteValue, patch
from vaultkeeper.core.plan import Candidate
from vaultkeeper.core.text import encode
from vaultkeeper.keeper.keeper import Keeper, Outcome

TRIES = 4
"""How often a command is made again from fresh bytes when its notes change under it."""

_FROZEN = {
    "quarantined": "the note cannot be read safely; see `vaultkeeper check`",
    "template": "it looks like a template",
    "conflict": "it holds merge conflict markers; settle the conflict first",
    "newer-schema": "it was written by a newer version; upgrade vaultkeeper",
    "off": "it says `vaultkeeper: off`",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a command wants one note to say: keys with new values (None removes one), or a whole new text."""

    path: NotePath
    values: Mapping[str, WriteValue | None]
    text: str | None = None
    op: str = ""
    reason: str = ""
    rule: str = ""
    source: str = "cli"
    adopting: bool = False
    """The note is no memory yet, or has no good id: `adopt` has looked whether it may be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """All that one command wants: changes of notes there are, and actions beside them such as a new note."""

    changes: Sequence[Change] = ()
    extra: Sequence[Action] = ()


def memory_at(keeper: Keeper, reference: str) -> Entry:
    """The memory a person means.

    Raises:
        UnknownNoteError, AmbiguousNoteError: none or several answer; show the choices.
        RefusedError: it is no memory, or it must not be written; say why.
    """
    entry = keeper.catalog.find(reference)
    if entry.kind == "quarantined":
        raise RefusedError("quarantined", f"{entry.path}: {_FROZEN['quarantined']}")
    if entry.record is None:
        raise RefusedError("not-a-memory", f"{entry.path} is no memory; `vaultkeeper adopt` makes it one")
    if len(keeper.catalog.holders(entry.record.id)) > 1:
        raise RefusedError(
            "duplicate-id",
            f"{entry.record.id} stands in several notes; settle it with `vaultkeeper duplicates` first",
        )
    return entry


def parsed_at(keeper: Keeper, path: NotePath, *, adopting: bool = False) -> Parsed:
    """What the note says now; with `adopting` also one that is not readable as a memory.

    Raises:
        UnknownNoteError: it vanished.
        RefusedError: it must not be written.
    """
    parsed = keeper.census.look(path)
    if parsed is None:
        raise UnknownNoteError(path)
    if parsed.frozen and not adopting:
        raise RefusedError(parsed.frozen, f"{path}: {_FROZEN[parsed.frozen]}")
    if keeper.census.left_alone(path):
        raise RefusedError("excluded", f"{path} stands in a folder that is excluded in the settings")
    return parsed


def candidate(keeper: Keeper, change: Change) -> Candidate:
    """The planned edit of one note, made from its present bytes.

    Raises:
        RefusedError: it cannot be made safely; nothing was written.
    """
    parsed = parsed_at(keeper, change.path, adopting=change.adopting)
    assert parsed.front is not None
    text = change.text if change.text is not None else parsed.front.mended
    names = parsed.fields.key_names if parsed.fields is not None else {}
    values = {names.get(key, key): value for key, value in change.values.items()}
    if values:
        try:
            text = patch(text, values, [key.name for key in keeper.tools.fmt.keys])
        except PatchRefusedError as error:
            raise RefusedError(
                "patch-refused", f"{change.path}: {error.key} cannot be changed safely; change it by hand"
            ) from error
    edited = parse(replace(parsed.snapshot, data=encode(text)), keeper.tools.fmt)
    if edited.kind != "memory" or edited.frozen:
        raise RefusedError("patch-refused", f"{change.path} would no longer be a readable memory")
    return Candidate(
        parsed=edited,
        expects=parsed.snapshot.digest,
        edited=text != parsed.text,
        commanded=True,
        rule=change.rule,
        reason=change.reason,
        journal_op=change.op,
        source=change.source,
    )


def commit(
    keeper: Keeper, build: Callable[[], Edit], *, cause: str, dry_run: bool = False, source: str = "cli"
) -> Outcome:
    """Do what a command wants as one batch, all of it or nothing (LT-60).

    Args:
        keeper: whose vault.
        build: makes the edit from what the catalog knows now; called again when a file changed meanwhile.
        cause: the command's name, for the history.
        dry_run: change nothing.
        source: who asked, for the journal.

    Raises:
        ConflictError: somebody kept writing to the same notes; nothing was changed, try again.
    """
    for _ in range(TRIES):
        edit = build()
        outcome = keeper.settle(
            (),
            cause=cause,
            commands=[candidate(keeper, change) for change in edit.changes],
            extra=edit.extra,
            source=source,
            dry_run=dry_run,
        )
        if dry_run or not (outcome.changed or outcome.failed):
            return outcome
        _take_back(keeper, outcome)
        if outcome.failed:
            first = outcome.failed[0]
            raise ConflictError(f"{first.action.path} could not be written: {first.reason}")
        keeper.census.observe({*outcome.changed, *(change.path for change in edit.changes)})
    raise ConflictError("the notes keep changing; nothing was done, try again in a moment")


def _take_back(keeper: Keeper, outcome: Outcome) -> None:
    """Undo what half of a command did do; the notes are free to be planned again."""
    if not outcome.batch:
        return
    result = keeper.tools.files.undo(outcome.batch)
    touched = {receipt.action.path for receipt in result.receipts} | {
        receipt.path for receipt in result.receipts
    }
    for path in touched:
        keeper.tools.files.held.forget(path)
    keeper.census.observe(touched)
