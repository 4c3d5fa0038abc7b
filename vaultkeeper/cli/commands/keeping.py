"""Commands on a running keeper: watch, pause, resume (IF-4, K-36)."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

from vaultkeeper.cli import views
from vaultkeeper.cli.live import narrator
from vaultkeeper.cli.options import example, json_option, vault_argument
from vaultkeeper.cli.output import answer


@click.command(
    "watch", epilog=example("vaultkeeper watch ~/Notes", "vaultkeeper watch --json ~/Notes ~/Work")
)
@click.argument("vaults", metavar="[VAULT]...", nargs=-1, type=click.Path(file_okay=False))
@json_option
def watch_command(*, vaults: tuple[str, ...], as_json: bool) -> None:
    """Keep vaults in order until Ctrl-C, and show what is done."""
    from vaultkeeper import daemon

    roots = list(dict.fromkeys(daemon.choose_vault(vault) for vault in vaults or (None,)))
    stop = threading.Event()
    with _until_interrupted(stop), narrator(stop, as_json=as_json) as publish:
        daemon.watch(roots, publish, stop)


@contextmanager
def _until_interrupted(stop: threading.Event) -> Iterator[None]:
    """Ctrl-C or a termination asks for an orderly end; a second one does not wait for it."""

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signature of signal handlers
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _told_to_keeper(verb: str, says: str) -> click.Command:
    """The command of a verb that only tells the running keeper something."""

    @click.command(verb, help=says, epilog=example(f"vaultkeeper {verb} ~/Notes"))
    @vault_argument
    @json_option
    def command(*, vault: str | None, as_json: bool) -> None:
        from vaultkeeper import daemon

        answer(daemon.run(daemon.choose_vault(vault), verb, {}), views.facts, as_json=as_json)

    return command


pause_command = _told_to_keeper("pause", "Ask the running keeper to change no file until `resume`.")
resume_command = _told_to_keeper("resume", "Let the running keeper go on.")
