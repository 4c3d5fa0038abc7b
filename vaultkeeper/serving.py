"""Several vaults kept at once: a thread for each, one localhost interface for all, and events in one stream (K-86)."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from vaultkeeper import __version__
from vaultkeeper.api.server import ApiServer
from vaultkeeper.core.errors import VaultUnavailableError
from vaultkeeper.keeper.doubt import Doubt
from vaultkeeper.keeper.loop import Loop
from vaultkeeper.keeper.session import open_keeper
from vaultkeeper.keeper.tools import Tools

log = logging.getLogger(__name__)

Event = dict[str, object]

READY_POLL_S = 0.2
"""How often, while the first walks are under way, a keeper that broke down is looked for."""


class Kept:
    """One vault and, once started, the thread that keeps it. The vault's lock is held by the caller."""

    def __init__(self, key: str, tools: Tools, doubt: Doubt) -> None:
        self.key = key
        self.error: BaseException | None = None
        self.loop: Loop | None = None
        self._tools = tools
        self._doubt = doubt
        self._thread: threading.Thread | None = None

    def start(self, publish: Callable[[Event], None], stop: threading.Event) -> Loop:
        """Finish or take back what an earlier keeper left half done, then watch; `stop` is set when that breaks down."""
        loop = Loop(open_keeper(self._tools, writing=True), self._doubt, publish)
        self.loop = loop
        self._thread = threading.Thread(
            name=f"keeper {self._tools.root.name}", target=lambda: self._work(loop, stop)
        )
        self._thread.start()
        return loop

    def _work(self, loop: Loop, stop: threading.Event) -> None:
        try:
            loop.run()
        except BaseException as error:
            log.exception("the keeper of %s broke down", self._tools.root)
            self.error = error
            stop.set()

    def wait_ready(self) -> None:
        """Wait for the first walk; raises what broke the keeper down."""
        while self.loop is not None and not self.loop.wait_ready(READY_POLL_S):
            if self.error is not None:
                raise self.error

    def finish(self) -> None:
        """Ask the thread to end, and wait until it has saved what it knows."""
        if self.loop is not None and self._thread is not None:
            self.loop.stop()
            self._thread.join()


class _News:
    """Holds events back until `ready` was published, since that one comes first (IF-4)."""

    def __init__(self, publish: Callable[[Event], None]) -> None:
        self._publish = publish
        self._early: list[Event] | None = []
        self._lock = threading.Lock()

    def put(self, event: Event) -> None:
        """Publish, from any thread."""
        with self._lock:
            if self._early is not None:
                self._early.append(event)
            else:
                self._publish(event)

    def ready(self, event: Event) -> None:
        """Publish this one, then what came earlier."""
        with self._lock:
            early, self._early = self._early or [], None
            for each in (event, *early):
                self._publish(each)


def serve(kept: Sequence[Kept], state: Path, publish: Callable[[Event], None], stop: threading.Event) -> None:
    """Keep the vaults until `stop` is set, or one of their keepers breaks down.

    Raises:
        VaultUnavailableError: a keeper broke down; the others were ended in order.
    """
    news = _News(publish)
    try:
        loops = {each.key: each.start(news.put, stop) for each in kept}
        for each in kept:
            each.wait_ready()
        server = ApiServer(
            commands=lambda key, verb, args: loops[key].ask(verb, args),
            vaults=lambda: [{"key": key, **loop.describe()} for key, loop in loops.items()],
            state=state,
            version=__version__,
        )
        url = server.start()
        try:
            roots = [str(loop.keeper.tools.root) for loop in loops.values()]
            news.ready({"event": "ready", "api": url, "vaults": roots, "pid": os.getpid()})
            stop.wait()
        finally:
            server.stop()
        broken = next((each for each in kept if each.error is not None), None)
        if broken is not None:
            raise VaultUnavailableError(str(loops[broken.key].keeper.tools.root), str(broken.error))
    finally:
        for each in kept:
            each.finish()
