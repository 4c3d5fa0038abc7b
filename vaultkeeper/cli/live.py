"""What `watch` shows: a live view on a terminal, a line for each event when piped, JSON lines when asked (IF-4)."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vaultkeeper.cli import render
from vaultkeeper.cli.output import print_json
from vaultkeeper.cli.phrases import action_phrase, many_phrase
from vaultkeeper.core.format import Bilingual, Language

if TYPE_CHECKING:
    from rich.console import RenderableType

Event = dict[str, object]
Publish = Callable[[Event], None]
"""Takes each event of a watch, from whatever thread it happens in."""

_SHOWN_ACTIONS = 15
_PATH_CELLS = 28
"""A longer path is shortened in its middle, so that an action takes one or two lines of 80 columns."""
_REFRESH_S = 0.1
"""At most this often is the view drawn again; never while nothing happens (K-37)."""
_STATES: dict[str, Bilingual] = {
    "watching": Bilingual("守护中", "watching"),
    "paused": Bilingual("已暂停", "paused"),
    "degraded": Bilingual("轮询中", "degraded"),
    "waiting": Bilingual("等待仓库", "waiting"),
}


@contextmanager
def narrator(stop: threading.Event, *, as_json: bool) -> Iterator[Publish]:
    """A callable that shows events. When nobody reads them any more, it asks the watch to stop."""
    if as_json:
        with _lines(stop, lambda event: print_json(event, indent=None)) as publish:
            yield publish
    elif sys.stdout.isatty():
        with _live_view() as publish:
            yield publish
    else:
        language = render.language_of()
        with _lines(stop, lambda event: _print_line(event, language)) as publish:
            yield publish


@contextmanager
def _lines(stop: threading.Event, show: Callable[[Event], None]) -> Iterator[Publish]:
    lock = threading.Lock()
    broken: list[BrokenPipeError] = []

    def publish(event: Event) -> None:
        # The keeper's thread must not fall over a reader that went away: the watch ends in order instead.
        with lock:
            if broken:
                return
            try:
                show(event)
            except BrokenPipeError as error:
                broken.append(error)
                stop.set()

    yield publish
    if broken:
        raise broken[0]


def _print_line(event: Event, language: Language) -> None:
    sys.stdout.write(render.printable(event_line(event, language)) + "\n")
    sys.stdout.flush()


def event_line(event: Mapping[str, object], language: Language) -> str:
    """One event in words. The first one, `ready`, begins with the address of the API."""
    match event.get("event"):
        case "ready":
            return f"{event.get('api')} {_names(event.get('vaults'))}"
        case "action":
            why = _why(event)
            return action_phrase(event, language) + (f" ({why})" if why else "")
        case "finding":
            return (
                f"{event.get('severity') or event.get('code')}: {event.get('path')}: {event.get('message')}"
            )
        case "state":
            reason = event.get("reason")
            return _state(event.get("state"), language) + (f": {reason}" if reason else "")
        case kind:
            told = " ".join(f"{key}={value}" for key, value in event.items() if key != "event")
            return f"{kind} {told}"


class LiveView:
    """What the terminal shows of a watch; takes events from any thread, draws itself when rich asks."""

    def __init__(self, language: Language, clock: Callable[[], str]) -> None:
        self._language = language
        self._clock = clock
        self._since = clock()
        self._lock = threading.Lock()
        self._actions: deque[tuple[str, Mapping[str, object]]] = deque(maxlen=_SHOWN_ACTIONS)
        self._vaults = ""
        self._api = ""
        self._state = ""
        self._notes: dict[object, object] = {}
        self._done = 0
        self._findings: dict[object, set[tuple[object, object]]] = {}

    def take(self, event: Mapping[str, object]) -> None:
        """Note one event; it shows with the next drawing."""
        with self._lock:
            match event.get("event"):
                case "ready":
                    self._api, self._vaults = str(event.get("api")), _names(event.get("vaults"))
                    self._state = _state("watching", self._language)
                case "state":
                    self._state = event_line(event, self._language)
                case "action":
                    self._done += 1
                    self._add(event)
                case "finding":
                    found = self._findings.setdefault(event.get("vault"), set())
                    found.add((event.get("path"), event.get("code")))
            if isinstance(event.get("notes"), int):
                self._notes[event.get("vault")] = event["notes"]

    def _add(self, action: Mapping[str, object]) -> None:
        """An index page joins the one before it, so that pages do not push the notes out of sight."""
        before = self._actions[0][1] if self._actions else {}
        pages = 1
        if action.get("op") == before.get("op") == "page" and action.get("batch") == before.get("batch"):
            self._actions.popleft()
            pages += int(str(before.get("pages", 1)))
        self._actions.appendleft((self._clock(), {**action, "pages": pages}))

    def __rich__(self) -> RenderableType:
        """Header, then the last actions: the newest first, since a low terminal cuts the lower end off."""
        from rich.console import Group
        from rich.text import Text

        with self._lock:
            facts = self._facts()
            actions = [(at, self._short_phrase(event), _why(event)) for at, event in self._actions]
        parts: list[RenderableType] = [render.grid(facts)]
        if actions:
            headings = Bilingual("时间|做了什么|原因", "time|what|why")[self._language].split("|")
            parts.append(render.rows(tuple(headings), actions))
        parts.append(Text(Bilingual("按 Ctrl-C 结束", "Ctrl-C ends it")[self._language], style="dim"))
        return Group(*parts)

    def _short_phrase(self, action: Mapping[str, object]) -> str:
        pages = int(str(action["pages"]))
        if pages > 1:
            folder = str(action.get("path")).rpartition("/")[0]
            return many_phrase("page", pages, folder, self._language)
        path = render.elided(str(action.get("path")), _PATH_CELLS)
        to = str(action.get("to") or "")
        if to.rpartition("/")[2] != str(action.get("path")).rpartition("/")[2]:
            return action_phrase(
                {**action, "path": path, "to": render.elided(to, _PATH_CELLS)}, self._language
            )
        # The same name in another folder: only the folder is told, as everywhere.
        folder, name = to.rpartition("/")[0], path.rpartition("/")[2]
        return action_phrase({**action, "path": path, "to": f"{folder}/{name}"}, self._language)

    def _facts(self) -> list[tuple[str, str]]:
        findings = sum(len(found) for found in self._findings.values())
        notes = sum(number for number in self._notes.values() if isinstance(number, int))
        labels = Bilingual(
            "仓库|状态|接口|笔记|开始于|已做|发现", "vault|state|API|notes|since|done|findings"
        )
        values = (
            self._vaults,
            self._state,
            self._api,
            str(notes) if self._notes else "",
            self._since,
            str(self._done),
            str(findings),
        )
        named = zip(labels[self._language].split("|"), values, strict=True)
        return [(label, value) for label, value in named if value]


@contextmanager
def _live_view() -> Iterator[Publish]:
    from rich.live import Live

    view = LiveView(render.language_of(), lambda: time.strftime("%H:%M:%S"))
    out = render.console()
    drawn_again, done = threading.Event(), threading.Event()
    live = Live(view, console=out, auto_refresh=False)

    def draw() -> None:
        while not done.is_set():
            drawn_again.wait()
            drawn_again.clear()
            live.refresh()
            done.wait(_REFRESH_S)

    drawer = threading.Thread(target=draw, name="live-view", daemon=True)

    def publish(event: Event) -> None:
        view.take(event)
        if event.get("event") == "ready":
            # A line of its own above the view, for whoever looks for the address.
            out.print(render.printable(event_line(event, render.language_of())), soft_wrap=True)
            live.start(refresh=True)
            drawer.start()
        drawn_again.set()

    try:
        yield publish
    finally:
        done.set()
        drawn_again.set()
        if drawer.is_alive():
            drawer.join()
        live.stop()


def _why(action: Mapping[str, object]) -> str:
    return " · ".join(str(action[key]) for key in ("rule", "reason") if action.get(key))


def _state(state: object, language: Language) -> str:
    words = _STATES.get(str(state))
    return words[language] if words else str(state)


def _names(vaults: object) -> str:
    rows = vaults if isinstance(vaults, list | tuple) else []
    return ", ".join(str(row.get("vault")) if isinstance(row, Mapping) else str(row) for row in rows)
