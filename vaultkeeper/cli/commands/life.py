"""Commands on the life of a note (IF-8, LT-60): each is one batch, both sides of it or neither."""

from __future__ import annotations

from collections.abc import Mapping

import click

from vaultkeeper.cli import views
from vaultkeeper.cli.options import dry_run_option, example, json_option, vault_option
from vaultkeeper.cli.output import answer
from vaultkeeper.cli.resolve import note_reference


def _live(
    verb: str, notes: Mapping[str, str], *, vault: str | None, dry_run: bool, as_json: bool, **args: object
) -> None:
    """Do one step of life; `notes` are what the person typed, by the name of the verb's argument."""
    from vaultkeeper import daemon

    root = daemon.choose_vault(vault)
    named = {name: note_reference(root, given) for name, given in notes.items()}
    answer(daemon.run(root, verb, {**named, **args, "dry_run": dry_run}), views.acted, as_json=as_json)


def _on_one_note(verb: str, says: str, example_note: str) -> click.Command:
    """The command of a verb that takes one note and nothing else."""

    @click.command(verb, help=says, epilog=example(f"vaultkeeper {verb} {example_note}"))
    @click.argument("note")
    @vault_option
    @dry_run_option
    @json_option
    def command(*, note: str, vault: str | None, dry_run: bool, as_json: bool) -> None:
        _live(verb, {"note": note}, vault=vault, dry_run=dry_run, as_json=as_json)

    return command


confirm_command = _on_one_note("confirm", "Make a pending note active.", "Inbox/idea.md")
reject_command = _on_one_note("reject", "Put a pending note into the archive.", "Inbox/idea.md")
archive_command = _on_one_note("archive", "Put a note into the archive.", '"Use SQLite"')
stale_command = _on_one_note("stale", "Mark a note as out of date; it stays in its place.", '"Use SQLite"')
restore_command = _on_one_note("restore", "Make a stale or archived note active again.", '"Use SQLite"')
adopt_command = _on_one_note("adopt", "Give a plain note an id and a place in the vault's order.", "loose.md")


@click.command("supersede", epilog=example('vaultkeeper supersede "Use SQLite" "Use Postgres"'))
@click.argument("old")
@click.argument("new")
@vault_option
@dry_run_option
@json_option
def supersede_command(*, old: str, new: str, vault: str | None, dry_run: bool, as_json: bool) -> None:
    """Say that the note OLD is replaced by the note NEW."""
    _live("supersede", {"old": old, "new": new}, vault=vault, dry_run=dry_run, as_json=as_json)


@click.command("conflict", epilog=example('vaultkeeper conflict "Tea at four" "Tea at five"'))
@click.argument("a")
@click.argument("b")
@vault_option
@dry_run_option
@json_option
def conflict_command(*, a: str, b: str, vault: str | None, dry_run: bool, as_json: bool) -> None:
    """Say that the notes A and B contradict each other."""
    _live("conflict", {"a": a, "b": b}, vault=vault, dry_run=dry_run, as_json=as_json)


@click.command("resolve", epilog=example('vaultkeeper resolve "Tea at four" "Tea at five" --keep B'))
@click.argument("a")
@click.argument("b")
@click.option(
    "--keep", metavar="A|B|both", required=True, help="Which to keep: A, B, both, or that note by name."
)
@vault_option
@dry_run_option
@json_option
def resolve_command(*, a: str, b: str, keep: str, vault: str | None, dry_run: bool, as_json: bool) -> None:
    """Settle a conflict between the notes A and B."""
    words = {"a": "A", "b": "B", "both": "both", a: "A", b: "B"} if a != b else {}
    side = words.get(keep) or words.get(keep.lower())
    if side is None:
        raise click.UsageError(
            "--keep takes A, B or both, and A and B must differ.", click.get_current_context()
        )
    _live("resolve", {"a": a, "b": b}, vault=vault, dry_run=dry_run, as_json=as_json, keep=side)


@click.command("merge", epilog=example('vaultkeeper merge "SQLite notes" "Use SQLite"'))
@click.argument("source", metavar="FROM")
@click.argument("into")
@vault_option
@dry_run_option
@json_option
def merge_command(*, source: str, into: str, vault: str | None, dry_run: bool, as_json: bool) -> None:
    """Fold the note FROM into INTO; FROM ends as superseded."""
    _live("merge", {"source": source, "into": into}, vault=vault, dry_run=dry_run, as_json=as_json)
