"""Commands on the content of one note: new, show, set."""

from __future__ import annotations

import sys

import click

from vaultkeeper.cli import views
from vaultkeeper.cli.options import dry_run_option, example, json_option, vault_option
from vaultkeeper.cli.output import answer
from vaultkeeper.cli.resolve import note_reference
from vaultkeeper.core.errors import UserError

_MAX_TEXT_BYTES = 8 * 1024 * 1024
"""As much as the channel to a keeper takes; a note that long is a mistake in any case."""


@click.command("new", epilog=example('vaultkeeper new "Use SQLite" --type decision --text -  < why.md'))
@click.argument("title")
@click.option("--type", "note_type", metavar="T", help="Type of the note; else the format's default.")
@click.option("--text", default="", help="Text of the body; - reads it from standard input.")
@click.option("--pending", is_flag=True, help="Put it into the inbox, to be confirmed later.")
@vault_option
@dry_run_option
@json_option
def new_command(
    *,
    title: str,
    note_type: str | None,
    text: str,
    pending: bool,
    vault: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Write a new note, checked before a byte is written."""
    from vaultkeeper import daemon

    root = daemon.choose_vault(vault)
    args = {
        "title": title,
        "type": note_type,
        "text": _standard_input() if text == "-" else text,
        "pending": pending,
        "dry_run": dry_run,
    }
    answer(daemon.run(root, "new", args), views.written, as_json=as_json)


@click.command("show", epilog=example("vaultkeeper show Decisions/use-sqlite.md"))
@click.argument("note")
@vault_option
@json_option
def show_command(*, note: str, vault: str | None, as_json: bool) -> None:
    """Show one note: what is known of it, and its text."""
    from vaultkeeper import daemon

    root = daemon.choose_vault(vault)
    answer(daemon.read(root, "show", {"note": note_reference(root, note)}), views.shown, as_json=as_json)


@click.command("set", epilog=example('vaultkeeper set "Use SQLite" importance=80 tags="db, storage"'))
@click.argument("note")
@click.argument("values", metavar="KEY=VALUE...", nargs=-1, required=True)
@vault_option
@dry_run_option
@json_option
def set_command(
    *, note: str, values: tuple[str, ...], vault: str | None, dry_run: bool, as_json: bool
) -> None:
    """Change fields of a note; an empty VALUE takes the field away."""
    fields = _fields(values)
    from vaultkeeper import daemon

    root = daemon.choose_vault(vault)
    args = {"note": note_reference(root, note), "values": fields, "dry_run": dry_run}
    answer(daemon.run(root, "set", args), views.written, as_json=as_json)


def _fields(values: tuple[str, ...]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for pair in values:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise click.UsageError(f"'{pair}' is not of the form KEY=VALUE.", click.get_current_context())
        if key.strip() in fields:
            raise click.UsageError(f"The field '{key.strip()}' is given twice.", click.get_current_context())
        fields[key.strip()] = value.strip()
    return fields


def _standard_input() -> str:
    data = sys.stdin.buffer.read(_MAX_TEXT_BYTES + 1)
    if len(data) > _MAX_TEXT_BYTES:
        raise UserError(f"standard input holds more than {_MAX_TEXT_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"standard input is not UTF-8 text (byte {error.start})") from error
