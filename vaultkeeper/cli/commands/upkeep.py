"""Commands on a vault as a whole: init, check, tidy, rebuild, doctor."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from vaultkeeper.cli import views
from vaultkeeper.cli.failure import FAILED
from vaultkeeper.cli.options import dry_run_option, example, hints_option, json_option, vault_argument
from vaultkeeper.cli.output import answer, progress
from vaultkeeper.formats.registry import FORMATS


@click.command("init", epilog=example("vaultkeeper init ~/Notes --language en"))
@click.argument("path", type=click.Path(file_okay=False))
@click.option(
    "--format", "format_id", type=click.Choice(list(FORMATS)), default="longterm", show_default=True
)
@click.option("--language", type=click.Choice(["zh", "en"]), help="Language of headings and generated pages.")
@dry_run_option
@json_option
def init_command(*, path: str, format_id: str, language: str | None, dry_run: bool, as_json: bool) -> None:
    """Make a folder a vault; existing files are left as they are."""
    from vaultkeeper import daemon

    answer(daemon.init_vault(Path(path), format_id, language, dry_run=dry_run), views.facts, as_json=as_json)


@click.command(
    "check", epilog=example("vaultkeeper check ~/Notes", "vaultkeeper check --json | jq .findings")
)
@vault_argument
@hints_option
@json_option
def check_command(*, vault: str | None, hints: bool, as_json: bool) -> int:
    """Say what is wrong in a vault; exits with 1 when something is."""
    from vaultkeeper import daemon

    with progress() as show:
        document = daemon.check_vault(daemon.choose_vault(vault), show)
    answer(document, partial(views.checked, hints=hints), as_json=as_json)
    return int(
        any(row.get("severity") in {"error", "warning"} for row in views.rows_of(document, "findings"))
    )


@click.command("tidy", epilog=example("vaultkeeper tidy --dry-run", "vaultkeeper tidy ~/Notes --fix-links"))
@vault_argument
@dry_run_option
@click.option("--all", "include_held", is_flag=True, help="Also do again what was taken back with undo.")
@click.option("--fix-links", is_flag=True, help="Also mend links and half-stated successions.")
@hints_option
@json_option
def tidy_command(
    *, vault: str | None, dry_run: bool, include_held: bool, fix_links: bool, hints: bool, as_json: bool
) -> int:
    """Bring every note to where its format wants it, once, now."""
    from vaultkeeper import daemon

    root = daemon.choose_vault(vault)
    with progress() as show:
        document = daemon.run(
            root, "tidy", {"dry_run": dry_run, "all": include_held, "fix_links": fix_links}, show
        )
    answer(document, partial(views.acted, hints=hints), as_json=as_json)
    failed = any(row.get("code") == "action-failed" for row in views.rows_of(document, "findings"))
    return FAILED if failed else 0


@click.command("rebuild", epilog=example("vaultkeeper rebuild ~/Notes"))
@vault_argument
@dry_run_option
@json_option
def rebuild_command(*, vault: str | None, dry_run: bool, as_json: bool) -> None:
    """Make catalog and index pages again from the Markdown alone."""
    from vaultkeeper import daemon

    root = daemon.choose_vault(vault)
    with progress() as show:
        document = daemon.run(root, "rebuild", {"dry_run": dry_run}, show)
    answer(document, views.acted, as_json=as_json)


@click.command("doctor", epilog=example("vaultkeeper doctor ~/Notes"))
@vault_argument
@json_option
def doctor_command(*, vault: str | None, as_json: bool) -> int:
    """Look for what hinders vaultkeeper here; exits with 1 if any."""
    from vaultkeeper import daemon

    document = daemon.read(daemon.choose_vault(vault), "doctor", {})
    answer(document, views.facts, as_json=as_json)
    return int(not document["ok"])
