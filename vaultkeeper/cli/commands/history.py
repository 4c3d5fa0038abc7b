"""Commands on what has happened: why, log, undo, duplicates (IF-9)."""

from __future__ import annotations

from pathlib import Path

import click

from vaultkeeper.cli import views
from vaultkeeper.cli.failure import FAILED
from vaultkeeper.cli.options import dry_run_option, example, json_option, vault_option
from vaultkeeper.cli.output import answer
from vaultkeeper.cli.resolve import note_reference
from vaultkeeper.core.errors import UserError


@click.command("why", epilog=example("vaultkeeper why Decisions/use-sqlite.md"))
@click.argument("note")
@vault_option
@json_option
def why_command(*, note: str, vault: str | None, as_json: bool) -> None:
    """Explain a note's place, and what was last done to it."""
    from vaultkeeper import daemon

    root = daemon.choose_vault(vault)
    answer(daemon.read(root, "why", {"note": note_reference(root, note)}), views.explained, as_json=as_json)


@click.command("log", epilog=example("vaultkeeper log", 'vaultkeeper log "Use SQLite" --limit 5'))
@click.argument("note", required=False)
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many, newest last."
)
@vault_option
@json_option
def log_command(*, note: str | None, limit: int, vault: str | None, as_json: bool) -> None:
    """List what was done in a vault, or to one note."""
    from vaultkeeper import daemon

    root = daemon.choose_vault(vault)
    args = {"note": note_reference(root, note) if note else None, "limit": limit}
    answer(daemon.read(root, "log", args), views.logged, as_json=as_json)


@click.command(
    "undo", epilog=example("vaultkeeper undo --dry-run", "vaultkeeper undo 20261201T055000-1a2b3c")
)
@click.argument("batch", required=False)
@vault_option
@dry_run_option
@json_option
def undo_command(*, batch: str | None, vault: str | None, dry_run: bool, as_json: bool) -> int:
    """Take back the last batch, or the one named.

    A file that has changed since is left alone and its difference shown; the exit code is 3 then.
    """
    from vaultkeeper import daemon

    document = daemon.run(daemon.choose_vault(vault), "undo", {"batch": batch, "dry_run": dry_run})
    answer(document, views.acted, as_json=as_json)
    return FAILED if document.get("refused") else 0


@click.command(
    "duplicates",
    epilog=example("vaultkeeper duplicates", "vaultkeeper duplicates --keep Decisions/a.md --others archive"),
)
@click.argument("note_id", metavar="[ID]", required=False)
@click.option("--keep", metavar="PATH", help="The note that keeps the id.")
@click.option(
    "--others",
    type=click.Choice(["new-id", "archive"]),
    default="new-id",
    show_default=True,
    help="What becomes of the other notes of that id.",
)
@vault_option
@dry_run_option
@json_option
def duplicates_command(
    *, note_id: str | None, keep: str | None, others: str, vault: str | None, dry_run: bool, as_json: bool
) -> None:
    """List ids that stand in several notes; --keep settles one."""
    from vaultkeeper import daemon

    root = daemon.choose_vault(vault)
    if keep is None:
        if note_id or dry_run:
            raise click.UsageError("An ID or --dry-run wants --keep PATH.", click.get_current_context())
        answer(daemon.read(root, "duplicates", {}), views.doubled, as_json=as_json)
        return
    path = note_reference(root, keep)
    args = {"id": note_id or _id_at(root, path), "keep": path, "others": others, "dry_run": dry_run}
    answer(daemon.run(root, "duplicates-keep", args), views.acted, as_json=as_json)


def _id_at(root: Path, path: str) -> object:
    from vaultkeeper import daemon

    for group in views.rows_of(daemon.read(root, "duplicates", {}), "duplicates"):
        paths = group.get("paths")
        if isinstance(paths, list | tuple) and path in paths:
            return group.get("id")
    raise UserError(f"{path} shares its id with no other note")
