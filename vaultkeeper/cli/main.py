"""The command line: finds the command, runs it, and turns whatever it raises into one message and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import click

from vaultkeeper import __version__
from vaultkeeper.cli.options import COMPLETE_VARIABLE

_COMMANDS: dict[str, str] = {
    "init": "upkeep",
    "check": "upkeep",
    "tidy": "upkeep",
    "watch": "keeping",
    "pause": "keeping",
    "resume": "keeping",
    "new": "notes",
    "show": "notes",
    "set": "notes",
    "confirm": "life",
    "reject": "life",
    "archive": "life",
    "stale": "life",
    "restore": "life",
    "supersede": "life",
    "conflict": "life",
    "resolve": "life",
    "merge": "life",
    "adopt": "life",
    "duplicates": "history",
    "why": "history",
    "log": "history",
    "undo": "history",
    "rebuild": "upkeep",
    "doctor": "upkeep",
    "vaults": "settings",
    "config": "settings",
    "schema": "settings",
    "completion": "settings",
}
"""Module under `cli/commands` by command, in the order `--help` lists them. A module is imported when it is asked for."""

BROKEN_PIPE = 141
"""128 + SIGPIPE: what a shell reports of a program that wrote to a pipe nobody reads."""
INTERRUPTED = 130
"""128 + SIGINT."""


class Commands(click.Group):
    """The top group: loads a command's module when it is named, and knows the nearest name to a mistyped one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - signature of click
        """The names of all commands, in the order of daily use."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """The command of that name; None when there is none."""
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"vaultkeeper.cli.commands.{_COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but for the message about an unknown name."""
        name = args[0]
        if not name.startswith("-") and name not in _COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(name, _COMMANDS, n=1, cutoff=0.5)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"No such command '{name}'.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nExample:\n  vaultkeeper init ~/Notes\n  vaultkeeper watch ~/Notes",
)
@click.version_option(__version__, prog_name="vaultkeeper", message="%(prog)s %(version)s")
def cli() -> None:
    """Keep Markdown vaults in order while people and agents write into them."""


def run(args: Sequence[str]) -> int:
    """The exit code of one command: 0 done, 1 findings, 2 wrong usage, 3 busy, unavailable or failed (K-97)."""
    _forgive_encodings()
    as_json = "--json" in args[: args.index("--")] if "--" in args else "--json" in args
    try:
        code = _invoke(list(args))
        sys.stdout.flush()
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the edge of the process: everything becomes one message
        from vaultkeeper.cli import failure

        return failure.report(error, as_json=as_json)
    return code


def _invoke(args: list[str]) -> int:
    if COMPLETE_VARIABLE in os.environ:
        _complete(args)
    # Not cli.main(): that answers a broken pipe and an interrupt in its own way.
    with cli.make_context("vaultkeeper", args) as context:
        code = cli.invoke(context)
    return code if isinstance(code, int) else 0


def _complete(args: list[str]) -> NoReturn:
    cli.main(args, prog_name="vaultkeeper", complete_var=COMPLETE_VARIABLE)
    raise click.exceptions.Exit(0)


def _forgive_encodings() -> None:
    """A name that the terminal's encoding cannot show comes out with `?` in it, not as an exception."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # not every stream can


def _forget_stdout() -> None:
    """Point standard output nowhere, so that the flush at exit does not complain about the pipe again."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
