"""The census: keeps the catalog true to the disk, by walking, reading and parsing what changed; writes nothing."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import msgspec

from vaultkeeper.core.catalog import Catalog
from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.note import Base, Entry, NotePath, Snapshot, digest_of
from vaultkeeper.core.pages import is_page
from vaultkeeper.core.parse import Parsed, base_of, fold, parse, record_of
from vaultkeeper.core.plan import entry_of
from vaultkeeper.core.timestamps import write_time
from vaultkeeper.keeper.tools import LATE_SAVE, Tools
from vaultkeeper.watch.scan import Listing, compare, walk

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Lost:
    """A memory whose file is gone, kept for a while so that it is known again when it comes back (K-39)."""

    entry: Entry
    at: datetime


@dataclass(frozen=True, slots=True)
class Moved:
    """Where the keeper moved a note lately, and which bytes stood at the old place."""

    to: NotePath
    note_id: str
    digest: str
    """Of the bytes that stood at the old place."""
    at: datetime


class Census:
    """Knows every Markdown file of one vault. Belongs to the keeper's one thread.

    `parsed` holds what was read since the last batch, so that nothing is read twice on its way; `stale_pages` says
    that index pages may no longer show what the catalog holds.
    """

    def __init__(
        self, tools: Tools, catalog: Catalog, starting_points: dict[str, Base] | None = None
    ) -> None:
        self.tools = tools
        self.catalog = catalog
        self.listing_findings: tuple[Finding, ...] = ()
        self.lost: dict[str, Lost] = {}
        self.moved: dict[NotePath, Moved] = {}
        self.parsed: dict[NotePath, Parsed] = {}
        self.touched: dict[NotePath, tuple[Entry | None, Entry | None]] = {}
        """Entries before and after, by path, since the index pages were last made."""
        self.own: set[tuple[NotePath, str]] = set()
        """Files whose present bytes are the keeper's own from before a crash: (path, digest)."""
        self.redirects: dict[NotePath, NotePath] = {}
        """Where notes went, by where they stood, as long as links to them may be left to mend (K-41)."""
        self._starting_points = starting_points or {}

    def list_files(self, under: str = "") -> Listing:
        """Walk the vault, or one folder of it."""
        return walk(self.tools.root, self.tools.rules, under)

    def difference(self, listing: Listing) -> tuple[list[NotePath], list[NotePath]]:
        """Files that are not as the catalog knows them, and files that are gone; both in order (K-33)."""
        known = {entry.path: (entry.size, entry.mtime_ns) for entry in self.catalog}
        diff = compare(known, listing)
        return diff.changed, diff.gone

    def observe(self, paths: Iterable[NotePath]) -> set[NotePath]:
        """Read these files again and take them into the catalog; returns those that are memories or were some.

        A file that is gone is remembered in `lost`, so gone files are looked at first.
        """
        wanted = sorted(set(paths))
        snapshots = {path: self._read(path) for path in wanted}
        concerned: set[NotePath] = set()
        for path, snapshot in snapshots.items():
            if snapshot is None:
                concerned |= self._gone(path)
        for path, snapshot in snapshots.items():
            if snapshot is not None and self._take(path, snapshot):
                concerned.add(path)
        return concerned

    def _read(self, path: NotePath) -> Snapshot | Entry | None:
        try:
            return self.tools.files.read(path)
        except VaultkeeperError as error:
            log.info("%s cannot be read: %s", path, error)
            old = self.catalog.get(path)
            finding = found("unreadable", path, reason=getattr(error, "reason", str(error)))
            blank = Entry(path=path, size=-1, mtime_ns=0, digest="", kind="quarantined")
            return msgspec.structs.replace(
                old or blank, kind="quarantined", record=None, findings=(finding,), size=-1
            )

    def _gone(self, path: NotePath) -> set[NotePath]:
        old = self.catalog.get(path)
        if old is None:
            return set()
        self._swap(path, old, None)
        if old.record is not None:
            self.lost[old.record.id] = Lost(old, self.tools.clock())
            holders = self.catalog.holders(old.record.id)
            for holder in holders:
                self._inherit(holder, old.base)
            return {path, *holders}
        return set()

    def _inherit(self, path: NotePath, base: Base | None) -> None:
        """A note that came while its old file was still there, as in a move by copying, has the old one's past (K-39)."""
        entry = self.catalog.get(path)
        if entry is not None and entry.base is None and base is not None:
            self.record(path, msgspec.structs.replace(entry, base=base, unsettled=entry.kind == "memory"))

    def _take(self, path: NotePath, snapshot: Snapshot | Entry) -> bool:
        old = self.catalog.get(path)
        if isinstance(snapshot, Entry):
            self._swap(path, old, snapshot)
            return False
        if old is not None and old.digest == snapshot.digest and old.kind != "quarantined":
            if (old.size, old.mtime_ns) != (snapshot.stat.size, snapshot.stat.mtime_ns):
                fresh = msgspec.structs.replace(old, size=snapshot.stat.size, mtime_ns=snapshot.stat.mtime_ns)
                self._swap(path, old, fresh)
            return old.unsettled
        entry, parsed = self._entry(path, snapshot, old)
        self._swap(path, old, entry)
        if entry.kind == "memory":
            self.parsed[path] = parsed
        return entry.kind == "memory" or (old is not None and old.kind == "memory")

    def _entry(self, path: NotePath, snapshot: Snapshot, old: Entry | None) -> tuple[Entry, Parsed]:
        parsed = parse(snapshot, self.tools.fmt)
        if is_page(path, self.tools.fmt) and parsed.kind == "plain":
            entry = entry_of(parsed, self.tools.fmt, "", None, unsettled=False)
            return msgspec.structs.replace(entry, kind="page", links=(), findings=()), parsed
        if not snapshot.data.strip() and old is not None and old.base is not None:
            parsed = replace(
                parsed,
                kind="quarantined",
                frozen="quarantined",
                findings=(found("emptied", path, title=old.base.title),),
            )
        base = self._base_for(parsed, old)
        if base is not None and base.path != path and (path, snapshot.digest) in self.own:
            # Moved in a batch that a kill ended, perhaps before the links to it were mended.
            self.redirects[NotePath(base.path)] = path
        return self.settle_entry(parsed, base), parsed

    def _base_for(self, parsed: Parsed, old: Entry | None) -> Base | None:
        """How this note looked when it was last settled, wherever it stood then."""
        note_id = parsed.fields.id if parsed.fields is not None else ""
        same = old is not None and (
            old.record is None or old.record.id == note_id or parsed.kind == "quarantined"
        )
        if old is not None and same and old.base is not None:
            return old.base
        lost = self.lost.get(note_id)
        if lost is not None:
            return lost.entry.base
        start = self._starting_points.get(note_id)
        if start is None or parsed.fields is None:
            return None
        return msgspec.structs.replace(
            start, evidence=fold(parsed.fields.evidence), evidence_section=parsed.evidence_section or ""
        )

    def settle_entry(self, parsed: Parsed, base: Base | None, *, settled: bool = False) -> Entry:
        """The catalog row for what was read; with `settled` it becomes its own base."""
        fmt, path = self.tools.fmt, parsed.snapshot.path
        born = self.born(parsed)
        settled = settled or (path, parsed.snapshot.digest) in self.own
        if settled and parsed.kind == "memory":
            base = base_of(parsed, record_of(parsed, fmt, born))
        entry = entry_of(parsed, fmt, born, base, unsettled=parsed.kind == "memory" and not settled)
        if self._excluded(path):
            entry = msgspec.structs.replace(entry, findings=(), unsettled=False)
        return entry

    def born(self, parsed: Parsed) -> str:
        """LT-33: the time of a note that tells none, from its file."""
        moment = min(parsed.snapshot.stat.mtime_ns / 1e9, self.tools.clock().timestamp())
        return write_time(datetime.fromtimestamp(max(moment, 0), tz=UTC))

    def _excluded(self, path: NotePath) -> bool:
        """K-93: whether the note stands in a folder that the owner wants left alone."""
        return any(
            path.startswith(folder.strip("/") + "/") for folder in self.tools.options.exclude if folder
        )

    def left_alone(self, path: NotePath) -> bool:
        """Whether the owner wants the note left alone, by its folder."""
        return self._excluded(path)

    def _swap(self, path: NotePath, old: Entry | None, new: Entry | None) -> None:
        first = self.touched.get(path, (old, None))[0]
        self.touched[path] = (first, new)
        if new is None:
            self.catalog.drop(path)
        else:
            self.catalog.put(new)

    def record(self, path: NotePath, entry: Entry | None) -> None:
        """Take in what an action made of a file."""
        self._swap(path, self.catalog.get(path), entry)

    def rebase(self, paths: Iterable[NotePath], bases: Mapping[str, Base | None]) -> None:
        """After an undo: these notes are planned again as if the keeper had not acted on them yet."""
        for path in paths:
            entry = self.catalog.get(path)
            if entry is not None and entry.kind == "memory" and entry.record is not None:
                base = bases.get(entry.record.id)
                self.record(path, msgspec.structs.replace(entry, base=base, before=None, unsettled=True))

    def look(self, path: NotePath) -> Parsed | None:
        """What a file says now, read again unless it was read since the last batch."""
        entry = self.catalog.get(path)
        known = self.parsed.get(path)
        if known is not None and entry is not None and known.snapshot.digest == entry.digest:
            return known
        try:
            snapshot = self.tools.files.read(path)
        except VaultkeeperError:
            return None
        if snapshot is None:
            return None
        parsed = parse(snapshot, self.tools.fmt)
        if entry is not None and entry.digest == snapshot.digest:
            self.parsed[path] = parsed
        return parsed

    def late_save(self, path: NotePath) -> Moved | None:
        """Whether this file is an editor's late save of a note the keeper has just moved away from here (K-39)."""
        moved, there = self._came_back(path)
        record = there.record if there is not None else None
        return moved if moved is not None and record is not None and record.id == moved.note_id else None

    def may_be_late(self, path: NotePath) -> bool:
        """Whether it would be a late save, but what stands at the new place cannot be read just now."""
        _, there = self._came_back(path)
        return there is not None and there.kind == "quarantined"

    def late_saves_of(self, paths: Collection[NotePath]) -> set[NotePath]:
        """Old places of these notes, where late saves may have come."""
        return {path for path, moved in self.moved.items() if moved.to in paths and path in self.catalog}

    def _came_back(self, path: NotePath) -> tuple[Moved | None, Entry | None]:
        """Where the note was moved that has come back here, and what stands there now; (None, None): it has not."""
        moved, entry = self.moved.get(path), self.catalog.get(path)
        if moved is None or entry is None or entry.record is None or entry.record.id != moved.note_id:
            return None, None
        if self.tools.clock() - moved.at > LATE_SAVE:
            return None, None
        return moved, self.catalog.get(moved.to)

    def is_stale_page(self, path: NotePath) -> bool:
        """Whether an index page was changed, made or taken away by somebody since the pages were last made."""
        before, after = self.touched.get(path, (None, None))
        return any(entry is not None and entry.kind == "page" for entry in (before, after))

    def forget_old(self) -> None:
        """Drop what is only remembered for a while."""
        now = self.tools.clock()
        self.lost = {key: lost for key, lost in self.lost.items() if now - lost.at <= LATE_SAVE}
        self.moved = {path: moved for path, moved in self.moved.items() if now - moved.at <= LATE_SAVE}

    def unsettled(self, among: Collection[NotePath] | None = None) -> set[NotePath]:
        """Notes for which something is left to do."""
        entries = self.catalog if among is None else (self.catalog.get(path) for path in among)
        return {entry.path for entry in entries if entry is not None and entry.unsettled}


def snapshot_after(path: NotePath, data: bytes, like: Snapshot) -> Snapshot:
    """The snapshot a file will have once `data` stands at `path`, for looking ahead; stat as far as it is known."""
    return Snapshot(path, data, like.stat, digest_of(data), like.mode)
