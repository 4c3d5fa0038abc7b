"""Commands on settings and on vaultkeeper itself: vaults, config, schema, completion (IF-10, IF-22)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from vaultkeeper.cli import views
from vaultkeeper.cli.options import COMPLETE_VARIABLE, dry_run_option, example, json_option, vault_option
from vaultkeeper.cli.output import answer, print_json
from vaultkeeper.formats.registry import FORMATS


@click.group(
    "vaults",
    invoke_without_command=True,
    epilog=example("vaultkeeper vaults", "vaultkeeper vaults add ~/Notes"),
)
@json_option
@click.pass_context
def vaults_command(ctx: click.Context, as_json: bool) -> None:
    """List the registered vaults, add one, or remove one."""
    if ctx.invoked_subcommand is None:
        _list_vaults(as_json=as_json)


@vaults_command.command("add", epilog=example("vaultkeeper vaults add ~/Notes"))
@click.argument("path", type=click.Path(exists=True, file_okay=False))
@json_option
def add_vault(*, path: str, as_json: bool) -> None:
    """Register a vault, so that commands find it from any folder."""
    from vaultkeeper import daemon

    daemon.registry().add(Path(path).absolute())
    _list_vaults(as_json=as_json)


@vaults_command.command("remove", epilog=example("vaultkeeper vaults remove ~/Notes"))
@click.argument("path", type=click.Path())
@json_option
def remove_vault(*, path: str, as_json: bool) -> None:
    """Forget a registered vault; its files stay."""
    from vaultkeeper import daemon

    daemon.registry().remove(Path(path).absolute())
    _list_vaults(as_json=as_json)


def _list_vaults(*, as_json: bool) -> None:
    from vaultkeeper import daemon

    rows = [{"path": str(path), "exists": os.path.isdir(path)} for path in daemon.registry().list()]
    answer({"vaults": rows}, views.kept, as_json=as_json)


_user_option = click.option(
    "--user", is_flag=True, help="The setting of this user, for vaults that have none."
)


@click.group("config", epilog=example("vaultkeeper config list", "vaultkeeper config set settle 5"))
def config_command() -> None:
    """Read or change settings of a vault, or of the user."""


@config_command.command("get", epilog=example("vaultkeeper config get settle"))
@click.argument("key")
@_user_option
@vault_option
@json_option
def get_setting(*, key: str, user: bool, vault: str | None, as_json: bool) -> None:
    """Show one setting and where it comes from."""
    from vaultkeeper import daemon

    answer(daemon.config_get(_scope(vault, user=user), key), views.configured, as_json=as_json)


@config_command.command("set", epilog=example("vaultkeeper config set language en --user"))
@click.argument("key")
@click.argument("value")
@_user_option
@vault_option
@dry_run_option
@json_option
def set_setting(*, key: str, value: str, user: bool, vault: str | None, dry_run: bool, as_json: bool) -> None:
    """Change one setting."""
    from vaultkeeper import daemon

    answer(
        daemon.config_set(_scope(vault, user=user), key, value, dry_run=dry_run),
        views.configured,
        as_json=as_json,
    )


@config_command.command("list", epilog=example("vaultkeeper config list --user"))
@_user_option
@vault_option
@json_option
def list_settings(*, user: bool, vault: str | None, as_json: bool) -> None:
    """Show every setting."""
    from vaultkeeper import daemon

    answer(daemon.config_get(_scope(vault, user=user), None), views.configured, as_json=as_json)


def _scope(vault: str | None, *, user: bool) -> Path | None:
    from vaultkeeper import daemon

    if user and vault:
        raise click.UsageError("--user and --vault exclude each other.", click.get_current_context())
    return None if user else daemon.choose_vault(vault)


@click.command("schema", epilog=example("vaultkeeper schema longterm > longterm.schema.json"))
@click.argument("format_id", metavar="FORMAT", type=click.Choice(list(FORMATS)))
@json_option
def schema_command(*, format_id: str, as_json: bool) -> None:  # noqa: ARG001 - a schema is JSON in either case
    """Print the JSON Schema of a format's frontmatter."""
    from vaultkeeper import daemon

    print_json(daemon.schema(format_id))


@click.command("completion", epilog=example('eval "$(vaultkeeper completion bash)"'))
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@json_option
@click.pass_context
def completion_command(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print the script that completes names in a shell."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:  # pragma: no cover - click knows all three
        raise click.UsageError(f"No completion for {shell}.")
    script = kind(ctx.find_root().command, {}, "vaultkeeper", COMPLETE_VARIABLE).source()
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        sys.stdout.write(script)
