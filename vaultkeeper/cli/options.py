"""Arguments and options that many commands share, each written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

COMPLETE_VARIABLE = "_VAULTKEEPER_COMPLETE"
"""Set by the shell scripts that click writes, when the user asks for completion."""

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def example(*lines: str) -> str:
    """An epilog for `--help` that shows the command at work (IF-22)."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


def json_option(command: Decorated) -> Decorated:
    """`--json` as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")(
        command
    )


def vault_argument(command: Decorated) -> Decorated:
    """`[VAULT]` as `vault`: None when left out."""
    return click.argument("vault", required=False, type=click.Path(file_okay=False))(command)


def vault_option(command: Decorated) -> Decorated:
    """`--vault PATH` as `vault`: None when left out."""
    return click.option(
        "--vault",
        metavar="PATH",
        type=click.Path(file_okay=False),
        help="The vault; else $VAULTKEEPER_VAULT, the one around this folder, or the only registered one.",
    )(command)


def dry_run_option(command: Decorated) -> Decorated:
    """`--dry-run` as `dry_run` (K-51)."""
    return click.option("--dry-run", is_flag=True, help="Show what would be done and change nothing.")(
        command
    )


def hints_option(command: Decorated) -> Decorated:
    """`--hints` as `hints`; JSON has them in any case."""
    return click.option("--hints", is_flag=True, help="List small findings too, not only their number.")(
        command
    )
