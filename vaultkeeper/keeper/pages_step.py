"""The last step of a batch: index pages follow the catalog (LT-52, LT-54, K-34); each is written at most once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from vaultkeeper.core.action import Action
from vaultkeeper.core.bases import BASE_PATH, bases_view, is_ours
from vaultkeeper.core.catalog import Catalog, link_key
from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.note import Entry, NotePath
from vaultkeeper.core.page_health import lasting
from vaultkeeper.core.page_lines import LineCache
from vaultkeeper.core.page_rows import Rows
from vaultkeeper.core.page_text import BEGIN, END, MarkersDamagedError, Spliced, resplice, splice
from vaultkeeper.core.pages import HEALTH_KEY, Page, page_keys, render_pages, surplus
from vaultkeeper.core.text import NotTextError, decode, encode
from vaultkeeper.keeper.census import Census
from vaultkeeper.keeper.tools import Tools
from vaultkeeper.store.prepare import Receipt


class PagesStep:
    """Knows which pages may be stale, and makes the actions that bring them up to date."""

    def __init__(self, tools: Tools, census: Census) -> None:
        self.tools = tools
        self.census = census
        self.all_stale = False
        self.findings: dict[NotePath, Finding] = {}
        """Trouble with single pages: damaged markers, a person's words inside the block."""
        self.restored: dict[NotePath, str | None] = {}
        """Digests of files as an undo left them, which the catalog may not have known; None: taken away."""
        self._lines = LineCache()
        """What the lists say, until a file name comes to be shared or is no longer."""
        self._blocks: dict[NotePath, tuple[str, str]] = {}
        """Blocks that pages are known to hold, with the digests of those files."""
        self._rows: Rows | None = None
        self._wanted: dict[NotePath, str] = {}
        """Blocks of the pages that are about to be written."""
        self._health: tuple[Finding, ...] | None = None
        self._doubled = frozenset(census.catalog.duplicates())

    def actions(self, health: Sequence[Finding], *, ignore_holds: bool = False) -> list[Action]:
        """What brings the pages up to date; afterwards nothing is stale unless an action is not done."""
        shown = lasting(health)
        if self._only_restored():
            self.accept(shown)
            return []
        keys = self._stale_keys(shown)
        self._health = shown
        self._renew(everything=keys is None)
        if not (keys is None or keys or self._lacks_view()):
            self.census.touched.clear()
            return []
        actions = self._page_actions(self.census.catalog, shown, keys, self._lines)
        self.all_stale = False
        self.census.touched.clear()
        return actions if ignore_holds else self._without_held(actions)

    def _renew(self, *, everything: bool) -> None:
        """Bring what is remembered of the lists up to date."""
        if everything:
            self._lines.clear()
            self._rows = None
        if self._rows is None or self._doubled:
            self._rows = Rows(self.census.catalog.entries)
        else:
            self._rows.renew(self.census.touched.values())

    def preview(
        self, catalog: Catalog, health: Sequence[Finding], *, ignore_holds: bool = False
    ) -> list[Action]:
        """The page actions that a catalog to come would want; remembered is what is wrong with pages as they are."""
        kept = {path: finding for path, finding in self.findings.items() if finding.code == "page-text-kept"}
        actions = self._page_actions(catalog, tuple(health), None)
        wrong = {path: finding for path, finding in self.findings.items() if finding.code != "page-text-kept"}
        self.findings = kept | wrong
        return actions if ignore_holds else self._without_held(actions)

    def _without_held(self, actions: Sequence[Action]) -> list[Action]:
        """K-50: what a person took back is said and not done."""
        wanted: list[Action] = []
        for action in actions:
            if self.tools.files.held.holds(action):
                self.findings[action.path] = found("held", action.path, reason=action.reason)
            else:
                wanted.append(action)
        return wanted

    def _only_restored(self) -> bool:
        """Whether all news is what an undo did, so that the pages stand as the person wants them."""
        restored, self.restored = self.restored, {}
        return (
            bool(restored)
            and not self.all_stale
            and all(
                path in restored and (after.digest if after is not None else None) == restored[path]
                for path, (_, after) in self.census.touched.items()
            )
        )

    def accept(self, health: Sequence[Finding]) -> None:
        """The pages stand as a person wants them now; they follow the notes again once one of those changes."""
        self.all_stale = False
        self.census.touched.clear()
        self._health = lasting(health)
        self._doubled = frozenset(self.census.catalog.duplicates())

    def stale_again(self, path: NotePath) -> None:
        """A page could not be written: look at all of them next time."""
        self.all_stale = True
        self.census.observe([path])

    def took_place(self, receipt: Receipt) -> None:
        """The catalog after a page was written or taken away."""
        action = receipt.action
        if not action.path.endswith(".md"):
            return
        block = self._wanted.pop(action.path, None)
        if action.op == "trash" or action.data is None or receipt.stat is None or receipt.digest is None:
            self.census.catalog.drop(action.path)
            return
        if block is not None:
            self._blocks[action.path] = block, receipt.digest
        entry = Entry(
            path=receipt.path,
            size=receipt.stat.size,
            mtime_ns=receipt.stat.mtime_ns,
            digest=receipt.digest,
            kind="page",
        )
        self.census.catalog.put(entry)

    def _stale_keys(self, health: tuple[Finding, ...]) -> set[str] | None:
        """Keys of the pages to make; None: all."""
        doubled = frozenset(self.census.catalog.duplicates())
        if self.all_stale or doubled != self._doubled:
            self._doubled = doubled
            return None
        if self._concerns_all():
            return None
        keys: set[str] = set()
        for before, after in self.census.touched.values():
            if _shown(before) != _shown(after):
                keys |= page_keys(before.record if before else None, self.tools.fmt)
                keys |= page_keys(after.record if after else None, self.tools.fmt)
            if (before and before.findings) or (after and after.findings):
                keys.add(HEALTH_KEY)  # it shows titles beside findings
        if self._health is not None and health != self._health:
            keys.add(HEALTH_KEY)
        return keys

    def _concerns_all(self) -> bool:
        """Whether pages that list no changed note may change too: a page was edited, or notes share a file name."""
        more: Counter[str] = Counter()
        for path, (before, after) in self.census.touched.items():
            if any(entry is not None and entry.kind == "page" for entry in (before, after)):
                return True
            more[link_key(path)] += (after is not None) - (before is not None)
        catalog = self.census.catalog
        for path in self.census.touched:
            now = catalog.others_named(path) + (path in catalog)
            if max(now, now - more[link_key(path)]) > 1:
                return True
        return False

    def _page_actions(
        self,
        catalog: Catalog,
        health: tuple[Finding, ...],
        keys: set[str] | None,
        lines: LineCache | None = None,
    ) -> list[Action]:
        tools = self.tools
        pages = render_pages(
            catalog.entries,
            tools.fmt,
            tools.options.language,
            catalog.resolver,
            health,
            only=keys,
            rows=self._rows if lines is not None else None,
            cache=lines,
        )
        actions = [action for page in pages if (action := self._page_action(page)) is not None]
        existing = [entry.path for entry in catalog if entry.kind == "page"]
        for path in surplus(existing, pages, tools.fmt):
            actions += self._surplus_action(path)
        if tools.options.bases and (keys is None or self._lacks_view()):
            actions += self._bases_action()
        return sorted(actions, key=lambda action: action.path)

    def _page_action(self, page: Page) -> Action | None:
        """The write that gives the page its text; None where it has it, or where a person has to look first."""
        self.findings.pop(page.path, None)
        known = self.census.catalog.get(page.path)
        if known is not None and self._blocks.get(page.path) == (page.block, known.digest):
            return None
        old, digest = self._read(page.path)
        if old is None and digest is not None:
            return None
        try:
            spliced = self._spliced(page, old, digest)
        except MarkersDamagedError:
            self.findings[page.path] = found("page-markers", page.path, begin=BEGIN, end=END)
            return None
        if spliced.kept:
            self.findings[page.path] = found("page-text-kept", page.path)
        if spliced.text == old and digest is not None:
            self._blocks[page.path] = page.block, digest
            return None
        self._wanted[page.path] = page.block
        return Action(
            op="page",
            path=page.path,
            expects=digest,
            data=encode(spliced.text),
            rule=self.tools.fmt.rules["pages"],
            reason="the index follows the notes",
        )

    def _spliced(self, page: Page, old: str | None, digest: str | None) -> Spliced:
        held, known = self._blocks.get(page.path, ("", None))
        fast = resplice(old, held, page.block) if old is not None and known == digest else None
        return fast or splice(old, page.block, page.preface)

    def _read(self, path: NotePath) -> tuple[str | None, str | None]:
        """Text and digest of a page; (None, None) when it is not there, (None, digest) when it is no text."""
        try:
            snapshot = self.tools.files.read(path)
        except VaultkeeperError as error:
            self.findings[path] = found("unreadable", path, reason=str(error))
            return None, ""
        if snapshot is None:
            return None, None
        try:
            return decode(snapshot.data), snapshot.digest
        except NotTextError:
            self.findings[path] = found("page-markers", path, begin=BEGIN, end=END)
            return None, snapshot.digest

    def _surplus_action(self, path: NotePath) -> list[Action]:
        """Take a split page away that is no longer needed; one that holds a person's words only loses its list."""
        text, digest = self._read(path)
        if text is None or digest is None:
            return []
        try:
            emptied = splice(text, "", "").text
        except MarkersDamagedError:
            return []
        rule = self.tools.fmt.rules["pages"]
        if _only_ours(emptied):
            return [
                Action(op="trash", path=path, expects=digest, rule=rule, reason="the list is shorter now")
            ]
        if emptied == text:
            return []
        return [
            Action(
                op="page",
                path=path,
                expects=digest,
                data=encode(emptied),
                rule=rule,
                reason="no entries left",
            )
        ]

    def _lacks_view(self) -> bool:
        return self.tools.options.bases and self.tools.files.stat(NotePath(BASE_PATH)) is None

    def _bases_action(self) -> list[Action]:
        """LT-54: the view is made when missing, renewed while it is ours to the byte, and else a person's."""
        self.findings.pop(BASE_PATH, None)
        text, digest = self._read(BASE_PATH)
        wanted = bases_view(self.tools.fmt, self.tools.options.language)
        if text == wanted or digest == "" or (text is not None and not is_ours(text)):
            return []
        if text is None and digest is not None:
            return []
        return [
            Action(
                op="page",
                path=BASE_PATH,
                expects=digest,
                data=encode(wanted),
                rule=self.tools.fmt.rules["bases"],
                reason="the Bases view was missing" if digest is None else "the Bases view is newer",
            )
        ]


def _shown(entry: Entry | None) -> tuple[object, ...] | None:
    """What pages can show of an entry."""
    return None if entry is None or entry.record is None else (entry.path, entry.kind, entry.record)


def _only_ours(text: str) -> bool:
    """Whether a page with an emptied block holds no words but a first heading."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("<!-- vaultkeeper:")]
    return len(lines) <= 1 and all(line.startswith("# ") for line in lines)
