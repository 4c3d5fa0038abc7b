"""The keeper at work: one thread that waits for events and requests, and lets quiet notes be settled (K-30 … K-39)."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass

from vaultkeeper.core.action import Grace
from vaultkeeper.core.errors import UserError, VaultkeeperError, VaultUnavailableError
from vaultkeeper.core.note import NotePath
from vaultkeeper.keeper import session
from vaultkeeper.keeper.doubt import Doubt
from vaultkeeper.keeper.keeper import Keeper, Outcome
from vaultkeeper.keeper.memory import give_back
from vaultkeeper.keeper.reading import findings_json
from vaultkeeper.keeper.requests import Desk, Result, handle
from vaultkeeper.keeper.sight import Sight
from vaultkeeper.watch.observer import Change
from vaultkeeper.watch.quiet import QuietTimer

log = logging.getLogger(__name__)

EXPORT_AFTER = 5.0
"""Seconds of quiet before the catalog is saved and `index.json` is exported (LT-50)."""
RETRY_FIRST, RETRY_LAST = 2.0, 120.0
"""Seconds until a failed action is tried again; doubled each time up to the last (K-28)."""
LOOK_AGAIN = 5.0
"""Seconds between looks at a vault that is away."""
PROBE_WAIT = 10.0
"""Seconds in which the probe's event has to arrive (K-33)."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request from another thread, with where its answer goes."""

    verb: str
    args: Mapping[str, object]
    answer: Future[Result]


@dataclass(frozen=True, slots=True)
class _Stop:
    """Asks the loop to end."""


class Loop:
    """One vault being watched. `run` blocks until `stop`; `ask` may be called from any thread."""

    def __init__(self, keeper: Keeper, doubt: Doubt, publish: Callable[[dict[str, object]], None]) -> None:
        self.keeper = keeper
        self.doubt = doubt
        self.publish = publish
        keeper.publish = self._publish_for_vault
        self.paused = False
        self.state = "starting"
        self.reason = ""
        self._queue: queue.SimpleQueue[Change | _Asked | _Stop] = queue.SimpleQueue()
        self._quiet = QuietTimer()
        self._last_touch: dict[str, float] = {}
        self._sight = Sight(keeper.tools, self._queue.put)
        self._timers: dict[str, float] = {}
        self._retry = RETRY_FIRST
        self._away = False
        self._ready = threading.Event()

    # from other threads ----------------------------------------------------------------------------------------

    def ask(self, verb: str, args: Mapping[str, object]) -> Result:
        """Have the keeper's thread do a request; blocks until it is done and raises what it raised."""
        answer: Future[Result] = Future()
        self._queue.put(_Asked(verb, args, answer))
        return answer.result()

    def stop(self) -> None:
        """Ask the loop to end once what it is doing is done."""
        self._queue.put(_Stop())

    def wait_ready(self, timeout: float | None = None) -> bool:
        """Wait until the first walk is done and events are being watched."""
        return self._ready.wait(timeout)

    def describe(self) -> dict[str, object]:
        """The state of this vault, for status answers."""
        return {
            "vault": str(self.keeper.tools.root),
            "format": self.keeper.tools.fmt.id,
            "state": "paused" if self.paused and not self._away else self.state,
            "reason": self.reason,
            "notes": sum(1 for entry in self.keeper.catalog if entry.kind == "memory"),
        }

    # the loop --------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Watch until `stop`; never ends because of a note, a full disk or a vault that is away (K-28, K-38)."""
        try:
            self._begin()
            self._ready.set()
            while self._turn():
                pass
        finally:
            self._end()

    def _begin(self) -> None:
        self._sight.begin_anew()
        self._rescan(first=True)
        self._start_probe()

    def _turn(self) -> bool:
        """Wait for the next thing and do it; False when it is time to end."""
        now = time.monotonic()
        due = None if self.paused or self._away else self._quiet.next_due(now)
        timers = [at for at in (due, *self._timers.values()) if at is not None]
        try:
            item = self._queue.get(timeout=max(0.0, min(timers) - now) if timers else None)
        except queue.Empty:
            item = None
        changed: set[NotePath] = set()
        while item is not None:
            if isinstance(item, _Stop):
                return False
            if isinstance(item, _Asked):
                self._observe(changed)
                changed = set()
                self._answer(item)
            else:
                self._take(item, changed)
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                item = None
        self._observe(changed)
        self._act(time.monotonic())
        return True

    def _take(self, change: Change, changed: set[NotePath]) -> None:
        if self._sight.is_probe(change):
            self._timers.pop("probe", None)
            if self.state == "degraded":
                self._say("watching", "")
                self._timers["rescan"] = time.monotonic() + self.keeper.tools.waits.rescan
            return
        if change.kind == "file":
            path = NotePath(change.path)
            changed.add(path)
            if not self._is_as_known(path):
                self._quiet.touch(path, change.at)
                self._last_touch[path] = change.at
        elif change.kind == "folder":
            changed |= self._below(change.path, change.at)
        elif change.kind == "overflow":
            self._sight.begin_anew()  # watchdog rebuilds its watches and tells nothing of what it missed
            self._timers["rescan"] = time.monotonic()
        else:
            self._go_away("the vault's folder is gone")

    def _is_as_known(self, path: NotePath) -> bool:
        """Whether the news is probably of a write of the keeper's own, which must not pass for a burst of changes (K-32)."""
        entry, stat = self.keeper.catalog.get(path), self.keeper.tools.files.stat(path)
        if entry is None or stat is None:
            return entry is None and stat is None
        return (entry.size, entry.mtime_ns) == (stat.size, stat.mtime_ns)

    def _below(self, folder: str, at: float) -> set[NotePath]:
        """All files of a folder that came, went or moved (K-39), known ones and those there now."""
        try:
            listing = self.keeper.census.list_files(folder)
        except (OSError, VaultkeeperError):
            self._timers["rescan"] = time.monotonic()
            return set()
        inside = {path for path in self.keeper.catalog.entries if path.startswith(folder + "/")}
        paths = inside | set(listing.files)
        for path in paths:
            self._quiet.touch(path, at)
            self._last_touch[path] = at
        return paths

    def _observe(self, changed: set[NotePath]) -> None:
        """The catalog follows at once (K-31); what wants doing waits for its quiet."""
        if not changed or self._away:
            return
        known, exists = self.keeper.catalog, self.keeper.tools.files.exists
        gone = [path for path in changed if path in known and not exists(path)]
        if len(gone) > 1 or (gone and not session.marker_there(self.keeper.tools)):
            came = sum(path not in known and exists(path) for path in changed)
            try:
                self.doubt.judge(known=known, gone=sorted(gone), came=came, now=self.keeper.tools.clock())
            except VaultUnavailableError as error:
                self._go_away(error.reason)
                return
        before = {path: self._digest(path) for path in changed}
        concerned = self.keeper.census.observe(changed)
        now = time.monotonic()
        for path in concerned & before.keys():
            if (
                self._digest(path) != before[path]
            ):  # perhaps read before the news of it came, so not yet touched
                self._quiet.touch(path, now)
                self._last_touch[path] = now
        for path in concerned | {path for path in changed if self.keeper.census.is_stale_page(path)}:
            self._quiet.ask(path, self.keeper.tools.waits.settle)
        self._timers["idle"] = time.monotonic() + EXPORT_AFTER

    def _digest(self, path: NotePath) -> str | None:
        entry = self.keeper.catalog.get(path)
        return entry.digest if entry is not None else None

    def _act(self, now: float) -> None:
        for name, step in (
            ("rescan", self._rescan),
            ("probe", self._probe_missed),
            ("idle", self._idle),
            ("retry", self._again),
        ):
            if self._timers.get(name, now + 1) <= now:
                del self._timers[name]
                step()
        if self.paused or self._away:
            return
        due = [NotePath(path) for path in self._quiet.due(now)]
        if due:
            self._settle(due, now)

    def _settle(self, due: list[NotePath], now: float) -> None:
        waits = self.keeper.tools.waits
        needed: dict[Grace, float] = {
            "settle": waits.settle,
            "repair": max(waits.repair, waits.settle),
            "touch": max(waits.touch, waits.settle),
        }

        def ripe(path: NotePath, grace: Grace) -> bool:
            return now - self._last_touch.get(path, 0.0) >= needed[grace] - 0.001

        try:
            outcome = self.keeper.settle(due, cause="watch", ripe=ripe)
        except Exception:
            log.exception("a batch failed")  # the process stays up (K-28); the rescan tries again
            self._later("retry")
            return
        self._after(outcome, needed)

    def _after(self, outcome: Outcome, needed: Mapping[Grace, float]) -> None:
        for path, grace in outcome.waiting.items():
            self._quiet.ask(path, needed[grace])
        if outcome.changed:
            now = time.monotonic()
            for path in outcome.changed:
                self._quiet.touch(path, now)
                self._last_touch[path] = now
            self._observe(set(outcome.changed))
        if outcome.failed or self.keeper.census.redirects:
            self._later("retry")
        else:
            self._retry = RETRY_FIRST
        for finding in findings_json(self.keeper.new_findings(), self.keeper.tools.options.language):
            self._publish_for_vault({"event": "finding", **finding})
        self._timers["idle"] = time.monotonic() + EXPORT_AFTER

    def _later(self, name: str) -> None:
        self._timers[name] = time.monotonic() + self._retry
        self._retry = min(self._retry * 2, RETRY_LAST)

    def _again(self) -> None:
        """What could not be done is tried again (K-28)."""
        for path in self.keeper.census.unsettled():
            self._quiet.ask(path, 0.0)
        if not self.paused and not self._away:
            self._settle(sorted(self.keeper.census.unsettled()), time.monotonic())

    def _idle(self) -> None:
        """Quiet for a while: the catalog is saved, the export written, old memories dropped."""
        self.keeper.census.forget_old()
        old = time.monotonic() - 2 * max(self.keeper.tools.waits.touch, self.keeper.tools.waits.repair)
        self._last_touch = {path: at for path, at in self._last_touch.items() if at > old}
        for path in self.keeper.wars.make_peace(self.keeper.tools.clock()):
            self._quiet.ask(path, 0.0)
        if self._away:
            return
        session.save(self.keeper)
        if not self.paused:
            session.export(self.keeper)
        give_back()

    # walking, and a vault that is away -------------------------------------------------------------------------

    def _rescan(self, *, first: bool = False) -> None:
        self._timers["rescan"] = time.monotonic() + (
            LOOK_AGAIN if self._away else self.keeper.tools.waits.rescan
        )
        try:
            paths = session.refresh(self.keeper, self.doubt)
        except (VaultUnavailableError, OSError) as error:
            self._go_away(getattr(error, "reason", str(error)))
            return
        if self._away:
            self._come_back()
        grace = 0.0 if first else self.keeper.tools.waits.settle
        for path in paths:
            self._quiet.ask(path, grace if path in self._last_touch else 0.0)
        if first and not self.paused:
            self._after(self.keeper.settle(paths, cause="watch"), {})
            self._say("watching", self._sight.how())
        elif not first:
            self.keeper.tools.files.clean_up(NotePath(self.keeper.tools.fmt.private))
            self._start_probe()

    def _go_away(self, reason: str) -> None:
        if not self._away:
            self._away = True
            self._say("waiting", reason)
        self._timers["rescan"] = time.monotonic() + LOOK_AGAIN

    def _come_back(self) -> None:
        """The vault is there again: events are watched anew, since the old watches may be of another folder."""
        self._away = False
        self._sight.begin_anew()
        self._say("watching", self._sight.how() or "the vault is back")

    def _start_probe(self) -> None:
        """K-33: prove that events arrive."""
        trouble = None if self._away else self._sight.probe()
        if trouble:
            self._say("degraded", trouble)
        elif trouble is not None:
            self._timers["probe"] = time.monotonic() + PROBE_WAIT

    def _probe_missed(self) -> None:
        self._say("degraded", "file events do not arrive; the vault is walked instead")
        self._timers["rescan"] = min(self._timers.get("rescan", 1e18), time.monotonic() + 30.0)

    # requests and news -----------------------------------------------------------------------------------------

    def _answer(self, asked: _Asked) -> None:
        try:
            asked.answer.set_result(self._request(asked.verb, asked.args))
        except Exception as error:  # noqa: BLE001 — the asker's thread raises it
            asked.answer.set_exception(error)

    def _request(self, verb: str, args: Mapping[str, object]) -> Result:
        if verb == "status":
            return self.describe()
        if verb in {"pause", "resume"}:
            return self._pause(verb == "pause")
        if self._away:
            raise VaultUnavailableError(str(self.keeper.tools.root), self.reason)
        if self.paused and not args.get("dry_run"):
            raise UserError("the keeper is paused: `vaultkeeper resume` first")
        result = handle(Desk(self.keeper, self.doubt), verb, args)
        self._timers["idle"] = time.monotonic() + EXPORT_AFTER
        return result

    def _pause(self, pause: bool) -> Result:
        self.paused = pause
        self._say("paused" if pause else "watching", "" if pause else self._sight.how())
        if not pause:
            for path in self.keeper.census.unsettled():
                self._quiet.ask(path, 0.0)
        return self.describe()

    def _say(self, state: str, reason: str) -> None:
        self.state, self.reason = state, reason
        self._publish_for_vault({"event": "state", "state": state, "reason": reason})

    def _publish_for_vault(self, event: dict[str, object]) -> None:
        at = self.keeper.tools.clock()
        self.publish({**event, "vault": str(self.keeper.tools.root), "at": at.isoformat(timespec="seconds")})

    def _end(self) -> None:
        self._sight.end()
        if not self._away:
            session.save(self.keeper)
            if not self.paused:
                session.export(self.keeper)
