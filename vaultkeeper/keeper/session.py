"""Opening and closing a keeper: recovery, the saved catalog, the walk at the start, the export at the end."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping

import msgspec

from vaultkeeper.core.bases import BASE_PATH
from vaultkeeper.core.catalog import Catalog
from vaultkeeper.core.errors import VaultUnavailableError
from vaultkeeper.core.finding import Finding
from vaultkeeper.core.note import Base, Entry, NotePath
from vaultkeeper.core.timestamps import parse_time
from vaultkeeper.keeper.census import Census, Moved
from vaultkeeper.keeper.doubt import Doubt
from vaultkeeper.keeper.keeper import Keeper
from vaultkeeper.keeper.tools import LATE_SAVE, Tools
from vaultkeeper.store.catalog_file import Head
from vaultkeeper.store.index_export import export_json, read_export

log = logging.getLogger(__name__)

PLANNER = 1
"""Counted up when the same bytes are planned or shown differently than before, so that saved catalogs are looked
through again."""

EXPORT_LIMIT = 3000
"""LT-50: notes up to which `export_index: auto` writes the export."""

RECENT_BATCHES = 50
"""How many batches are searched for the keeper's own writes that a crash kept from the saved catalog."""

Progress = Callable[[str, int, int], None]


def options_digest(tools: Tools) -> str:
    """Changes when planning or the pages may come out differently for the same bytes."""
    return hashlib.sha256(f"{PLANNER} {tools.fmt.id} {tools.options}".encode()).hexdigest()[:16]


def quick_look(tools: Tools) -> tuple[Finding, ...] | None:
    """The findings of a vault in which nothing changed since it was last left in order; None: look properly.

    Reads no note, only the head of the saved catalog, and walks the vault (LT-51).
    """
    head = tools.catalog_file.load_head()
    if head is None or head.unsettled or head.options != options_digest(tools):
        return None
    from vaultkeeper.watch.scan import walk

    listing = walk(tools.root, tools.rules)
    if (
        listing.unreadable
        or dict(listing.files) != head.stats
        or not set(listing.findings) <= set(head.findings)
    ):
        return None
    if tools.options.bases and tools.files.stat(NotePath(BASE_PATH)) is None:
        return None
    return tuple(sorted({*head.findings, *tools.settings_findings}))


def open_keeper(tools: Tools, *, writing: bool) -> Keeper:
    """A keeper that knows what the saved catalog knew; `refresh` brings it up to date.

    Args:
        tools: its collaborators.
        writing: whether the vault's lock is held; only then is a half-done batch finished or taken back (K-23).
    """
    own: set[tuple[NotePath, str]] = set()
    if writing:
        recovery = tools.files.recover()
        own |= {(path, digest) for path, digest in recovery.written.items()}
        tools.files.clean_up(NotePath(tools.fmt.private))
    head, entries = tools.catalog_file.load_head(), tools.catalog_file.load_entries()
    if head is None or entries is None:
        head, entries = None, {}
    census = Census(tools, Catalog(entries), _starting_points(tools) if not entries else None)
    census.own = own | _recently_written(tools)
    census.moved = _recent_moves(tools, census.catalog)
    census.redirects = dict(head.redirects) if head is not None else {}
    keeper = Keeper(tools, census.catalog, census, fresh=head is None or head.fresh)
    if head is None or head.options != options_digest(tools):
        _look_again(census, entries)
    if head is None or head.pages_stale or head.options != options_digest(tools):
        keeper.pages.all_stale = True
    keeper.pages.restored = _restored(tools)
    return keeper


def _restored(tools: Tools) -> dict[NotePath, str | None]:
    """Files as the latest batch left them where that is an undo, which a kill may have kept from the saved catalog."""
    restored: dict[NotePath, str | None] = {}
    for batch in tools.files.batches(1):
        for done in batch.actions if batch.undoes else ():
            restored[done.path] = None
            restored[done.place] = done.after
    return restored


def _recently_written(tools: Tools) -> set[tuple[NotePath, str]]:
    """The keeper's own writes, but not what an undo brought back: that is for the person to change or to keep."""
    return {
        (done.place, done.after)
        for batch in tools.files.batches(RECENT_BATCHES)
        for done in batch.actions
        if done.after is not None and not batch.takes_back
    }


def _recent_moves(tools: Tools, catalog: Catalog) -> dict[NotePath, Moved]:
    """K-39: moves of the last minute, by an earlier process too, after which an editor may still save late."""
    now = tools.clock()
    moves: dict[NotePath, Moved] = {}
    for batch in reversed(tools.files.batches(RECENT_BATCHES)):
        at = parse_time(batch.at)
        for done in batch.actions if now - at <= LATE_SAVE else ():
            if done.op != "move" or not done.before:
                continue
            # Where the moved note could not be read lately, what came back to its old place tells the id.
            for entry in (catalog.get(done.place), catalog.get(done.path)):
                if entry is not None and entry.record is not None:
                    moves[done.path] = Moved(done.place, entry.record.id, done.before, at)
                    break
    return moves


def _look_again(census: Census, entries: Mapping[NotePath, Entry]) -> None:
    """Have every note planned anew and every finding found anew, without forgetting its past."""
    for entry in list(entries.values()):
        census.catalog.put(
            msgspec.structs.replace(entry, digest="", size=-1, unsettled=entry.kind == "memory")
        )


def _starting_points(tools: Tools) -> dict[str, Base]:
    """LT-51: what another program's `index.json` knows of the notes, by id, where there is one for this vault."""
    try:
        snapshot = tools.files.read(NotePath(f"{tools.fmt.private}/index.json"))
    except Exception:  # noqa: BLE001 — derived data: anything odd about it means that it is not used
        return {}
    facts = read_export(snapshot.data, str(tools.root)) if snapshot is not None else None
    return {
        record["id"]: Base(
            path=record["path"],
            type=record["type"],
            status=record["status"],
            title=record["title"],
            heading=record["title"],
            updated_at=record["updatedAt"],
            content="",
            evidence="",
            evidence_section="",
            preview=record.get("preview", ""),
        )
        for record in (facts or {}).values()
    }


def refresh(keeper: Keeper, doubt: Doubt | None, progress: Progress | None = None) -> set[NotePath]:
    """Walk the whole vault and take in what changed; returns the notes that want planning.

    Args:
        keeper: whose vault.
        doubt: judges a vault that suddenly looks empty (K-38); None: believe what is seen.
        progress: told of long reading.

    Raises:
        VaultUnavailableError: the vault is not to be believed now; nothing was taken in.
    """
    census = keeper.census
    listing = census.list_files()
    changed, gone = census.difference(listing)
    if doubt is not None:
        came = sum(path not in census.catalog for path in changed)
        doubt.judge(known=census.catalog, gone=gone, came=came, now=keeper.tools.clock())
    census.listing_findings = listing.findings
    concerned = census.observe(gone)
    for done, chunk in _chunks(changed):
        if progress is not None:
            progress("reading", done, len(changed))
        concerned |= census.observe(chunk)
    return concerned | census.unsettled()


def _chunks(paths: list[NotePath], size: int = 500) -> Iterable[tuple[int, list[NotePath]]]:
    return ((at, paths[at : at + size]) for at in range(0, len(paths), size))


def save(keeper: Keeper) -> None:
    """Save the catalog to the cache; a failure is logged, since the catalog can always be made again (K-1)."""
    tools, catalog = keeper.tools, keeper.catalog
    stale = keeper.pages.all_stale or bool(keeper.census.touched)
    head = Head(
        vault=str(tools.root),
        format=tools.fmt.id,
        options=options_digest(tools),
        stats={entry.path: (entry.size, entry.mtime_ns) for entry in catalog},
        findings=keeper.findings(),
        unsettled=stale or bool(keeper.census.redirects) or any(entry.unsettled for entry in catalog),
        pages_stale=stale,
        fresh=keeper.fresh,
        redirects=keeper.census.redirects,
    )
    try:
        tools.catalog_file.save(head, catalog.entries)
    except OSError as error:
        log.warning("the catalog could not be saved: %s", error)


def export(keeper: Keeper) -> None:
    """LT-50: write `index.json` for other tools, where the owner wants it and it would say anything new."""
    tools = keeper.tools
    notes = sum(1 for entry in keeper.catalog if entry.kind == "memory")
    if tools.export == "off" or (tools.export == "auto" and notes > EXPORT_LIMIT):
        return
    path = NotePath(f"{tools.fmt.private}/index.json")
    try:
        previous = tools.files.read(path)
        data = export_json(
            keeper.catalog.entries,
            tools.files.read,
            str(tools.root),
            tools.clock().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            tools.fmt,
            previous.data if previous is not None else None,
        )
        if previous is None or not _same_but_time(previous.data, data):
            tools.files.write_derived(path, data)
    except Exception as error:  # noqa: BLE001 — an export that fails must not stop the keeper (K-2)
        log.warning("index.json could not be written: %s", error)


def _same_but_time(old: bytes, new: bytes) -> bool:
    try:
        before, after = msgspec.json.decode(old), msgspec.json.decode(new)
    except msgspec.DecodeError:
        return False
    if not isinstance(before, dict) or not isinstance(after, dict):
        return False
    before.pop("builtAt", None)
    after.pop("builtAt", None)
    return bool(before == after)


def marker_there(tools: Tools) -> bool:
    """Whether the file that makes the folder a vault can be seen."""
    return (tools.root / tools.fmt.marker.path).is_file()


def require_vault(tools: Tools) -> None:
    """Raise VaultUnavailableError where the vault is not there any more (K-38); the caller waits or gives up."""
    if not marker_there(tools):
        raise VaultUnavailableError(str(tools.root), f"{tools.fmt.marker.path} is not there")
