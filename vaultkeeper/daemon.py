"""The composition root: the only place that builds keepers and hands out the clock; what `cli` calls."""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from vaultkeeper.core.errors import NoVaultError, UserError, VaultBusyError
from vaultkeeper.core.format import Format
from vaultkeeper.formats.registry import FORMATS
from vaultkeeper.store.folders import AppFolders, app_folders, vault_cache, vault_state
from vaultkeeper.store.registry import Registry

if TYPE_CHECKING:
    from vaultkeeper.config import Settings
    from vaultkeeper.core.finding import Finding
    from vaultkeeper.keeper.doubt import Doubt
    from vaultkeeper.keeper.keeper import Keeper
    from vaultkeeper.keeper.tools import Tools

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
Result = dict[str, object]

LOCK_WAIT = timedelta(seconds=2)
"""How long a command waits for another one to finish with the vault."""


def _now() -> datetime:
    """The clock that everything below is handed."""
    return datetime.fromtimestamp(time.time(), tz=UTC)


def folders() -> AppFolders:
    """Where settings, state and caches of this user stand."""
    return app_folders(os.environ)


def registry() -> Registry:
    """The vaults this user has registered."""
    return Registry(folders().config / "vaults.json")


def format_at(root: Path) -> Format:
    """The format of the vault at that folder.

    Raises:
        UserError: it is no folder, or not there.
        NoVaultError: it is no vault.
        FormatError: it is another product's, or its marker cannot be read; nothing may be touched.
    """
    from vaultkeeper.store.marker import read_marker

    if not root.exists():
        raise UserError(f"{root} does not exist; look whether the path is right and its disk is there")
    if not root.is_dir():
        raise UserError(f"{root} is a file, not a folder")
    for fmt in FORMATS.values():
        if read_marker(root, fmt).is_vault:
            return fmt
    raise NoVaultError(str(root))


def choose_vault(given: str | None) -> Path:
    """The vault a command is about.

    That is the one given, else `$VAULTKEEPER_VAULT`, else the one around the current folder, else the only registered.

    Raises:
        UserError: none of these; the message lists the registered vaults.
    """
    named = given or os.environ.get("VAULTKEEPER_VAULT")
    if named:
        return Path(named).expanduser().absolute()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if any((folder / fmt.marker.path).is_file() for fmt in FORMATS.values()):
            return folder
    known = registry().list()
    if len(known) == 1:
        return known[0]
    listed = (
        "\n".join(f"  {path}" for path in known)
        or "  (none is registered; `vaultkeeper init PATH` makes one)"
    )
    raise UserError(f"which vault? Name one of:\n{listed}")


def settings_of(root: Path, fmt: Format) -> tuple[Settings, tuple[Finding, ...]]:
    """The settings of a vault and what was wrong with them."""
    from vaultkeeper.config import load_settings, user_settings
    from vaultkeeper.store.marker import read_settings

    return load_settings(user_settings(folders().config), read_settings(root, fmt), os.environ)


def _tools(root: Path, fmt: Format) -> Tools:
    from vaultkeeper.config import options_of
    from vaultkeeper.keeper.tools import Tools, Waits
    from vaultkeeper.store.catalog_file import CatalogFile
    from vaultkeeper.store.journal import Journal
    from vaultkeeper.store.vault import VaultFiles
    from vaultkeeper.watch.ignore import IgnoreRules

    settings, findings = settings_of(root, fmt)
    state, cache = vault_state(folders(), root), vault_cache(folders(), root)
    journal = Journal(root / fmt.private / "journal", state / "pending-journal.jsonl")
    files = VaultFiles(
        root,
        state,
        clock=_now,
        write_journal=journal.append,
        keep_days=settings.history_days,
        keep_bytes=settings.history_megabytes * 1_000_000,
    )
    return Tools(
        root=root,
        fmt=fmt,
        options=options_of(settings),
        files=files,
        catalog_file=CatalogFile(cache / "catalog.msgpack", str(root)),
        journal=journal,
        rules=IgnoreRules(private=fmt.private, template_folders=fmt.template_folders),
        clock=_now,
        random_hex=lambda digits: secrets.token_hex((digits + 1) // 2)[:digits],
        state=state,
        export=settings.export_index,
        waits=Waits(
            settle=settings.settle,
            repair=settings.repair_grace,
            touch=settings.touch_grace,
            rescan=settings.rescan_minutes * 60,
        ),
        polling=settings.polling,
        settings_findings=findings,
    )


def _doubt(tools: Tools) -> Doubt:
    from vaultkeeper.keeper.doubt import Doubt
    from vaultkeeper.keeper.session import marker_there
    from vaultkeeper.store.atomic import write_atomic

    return Doubt(str(tools.root), tools.state / "doubt.json", lambda: marker_there(tools), write_atomic)


def init_vault(path: Path, format_id: str, language: str | None, *, dry_run: bool = False) -> Result:
    """IF-1: make a vault, or what is missing of one; a second run makes nothing. `dry_run` only says what (K-51).

    Raises:
        UserError: an unknown format, or a path that cannot be a vault.
        FormatError: the folder is another product's vault.
    """
    from vaultkeeper.core.timestamps import write_time
    from vaultkeeper.store.marker import make_vault

    fmt = FORMATS.get(format_id)
    if fmt is None:
        raise UserError(f"there is no format {format_id!r}; use one of: {', '.join(FORMATS)}")
    if language not in {None, "zh", "en"}:
        raise UserError(f"a vault's language is zh or en, not {language!r}")
    root, now = path.expanduser().absolute(), write_time(_now())
    new = not (root / fmt.marker.path).exists()
    created = make_vault(root, fmt, "en" if language == "en" else "zh", now, dry_run=dry_run)
    if dry_run:
        return {"vault": str(root), "format": fmt.id, "dry_run": True, "created": created}
    registry().add(root)
    if new:
        tools = _tools(root, fmt)
        line = {"at": now, "op": "init", "id": "*", "reason": f"vault made ({fmt.id})", "source": "cli"}
        tools.journal.append([line])
    return {"vault": str(root), "format": fmt.id, "created": created}


def check_vault(vault: Path, progress: Progress | None = None) -> Result:
    """IF-2: everything that is wrong with a vault; reads only."""
    from vaultkeeper.keeper import reading, session

    tools = _tools(vault, format_at(vault))
    keeper = session.open_keeper(tools, writing=False)
    paths = session.refresh(keeper, None, progress)
    result = reading.check(keeper, paths)
    _save_if_free(keeper)
    return result


def _save_if_free(keeper: Keeper) -> None:
    """Keep what a reading command learnt, unless a keeper is at work, whose catalog knows better."""
    from vaultkeeper.keeper import session
    from vaultkeeper.store.lock import VaultLock

    lock = VaultLock(keeper.tools.state, str(keeper.tools.root))
    try:
        lock.acquire(timedelta(0))
    except (VaultBusyError, OSError):
        return
    try:
        session.save(keeper)
    finally:
        lock.release()


def run(vault: Path, verb: str, args: Mapping[str, object], progress: Progress | None = None) -> Result:
    """Do a command that may change files: through the running keeper, else under the vault's lock (IF-21).

    Raises:
        VaultBusyError: another process holds the vault and does not answer (exit code 3).
        UserError, ConflictError, VaultUnavailableError: see `keeper.requests.handle`.
    """
    from vaultkeeper.api.client import connect
    from vaultkeeper.keeper import session
    from vaultkeeper.keeper.requests import Desk, handle, quiet_tidy
    from vaultkeeper.store.lock import VaultLock

    fmt = format_at(vault)
    client = connect(folders().state, vault)
    if client is not None:
        return client.command(verb, args)
    if verb in {"pause", "resume"}:
        raise UserError("no keeper is running for this vault; `vaultkeeper watch` starts one")
    tools = _tools(vault, fmt)
    if args.get("dry_run"):
        keeper = session.open_keeper(tools, writing=False)
        return handle(Desk(keeper, None, progress), verb, args)
    with VaultLock(tools.state, str(vault)) as lock:
        lock.acquire(LOCK_WAIT)
        if verb == "tidy" and not args.get("all") and not args.get("fix_links"):
            done = quiet_tidy(tools)
            if done is not None:
                return done
        keeper = session.open_keeper(tools, writing=True)
        result = handle(Desk(keeper, _doubt(tools), progress), verb, args)
        session.save(keeper)
        session.export(keeper)
        return result


def read(vault: Path, verb: str, args: Mapping[str, object]) -> Result:
    """Do a command that only reads; works beside a keeper (K-29)."""
    from vaultkeeper.keeper import reading, session

    if verb == "doctor":
        return _doctor(vault)
    tools = _tools(vault, format_at(vault))
    keeper = session.open_keeper(tools, writing=False)
    session.refresh(keeper, None)
    return reading.read(keeper, verb, args)


def _doctor(vault: Path) -> Result:
    """IF-10: whether all that vaultkeeper needs is there and working, as named checks."""
    from vaultkeeper.keeper.doctor import examine

    return examine(vault, lambda: _tools(vault, format_at(vault)), folders())


def watch(vaults: Sequence[Path], publish: Callable[[Result], None], stop: threading.Event) -> None:
    """IF-4: keep these vaults until `stop` is set; the first event published is `ready`.

    Raises:
        VaultBusyError: another keeper holds one of them; nothing was started.
        VaultUnavailableError: one of them is not there, or its keeper broke down.
    """
    from vaultkeeper.serving import Kept, serve
    from vaultkeeper.store.folders import vault_key
    from vaultkeeper.store.lock import VaultLock

    kept: list[Kept] = []
    locks: list[VaultLock] = []
    try:
        for vault in vaults:
            tools = _tools(vault, format_at(vault))
            locks.append(VaultLock(tools.state, str(vault)))
            locks[-1].acquire(LOCK_WAIT)
            kept.append(Kept(vault_key(vault), tools, _doubt(tools)))
        serve(kept, folders().state, publish, stop)
    finally:
        for lock in locks:
            lock.release()


def config_get(vault: Path | None, key: str | None) -> Result:
    """IF-10: one setting with its value and where it comes from, or all of them."""
    from vaultkeeper.config import describe_settings, user_settings
    from vaultkeeper.store.marker import read_settings

    user = user_settings(folders().config)
    own = read_settings(vault, format_at(vault)) if vault is not None else {}
    return describe_settings(user, own, os.environ, key)


def config_set(vault: Path | None, key: str, value: str, *, dry_run: bool = False) -> Result:
    """IF-10: change one setting of a vault, or of the user where no vault is given; only differences are written.

    With `dry_run` it is only said what it would be, or why it cannot be (K-51).
    """
    from vaultkeeper.config import describe_settings, set_setting, set_user_setting, user_settings
    from vaultkeeper.core.timestamps import write_time
    from vaultkeeper.store.marker import read_settings, write_settings

    if vault is None:
        return set_user_setting(folders().config, key, value, dry_run=dry_run)
    fmt, user = format_at(vault), user_settings(folders().config)
    changed = set_setting(read_settings(vault, fmt), key, value, user)
    if not dry_run:
        write_settings(vault, fmt, changed, write_time(_now()))
    return {"vault": str(vault), **describe_settings(user, changed, os.environ, key)}


def schema(format_id: str) -> Result:
    """IF-10: the JSON Schema (2020-12) of a format's frontmatter.

    Raises:
        UserError: there is no such format.
    """
    from vaultkeeper.core.schema import frontmatter_schema

    fmt = FORMATS.get(format_id)
    if fmt is None:
        raise UserError(f"there is no format {format_id!r}; use one of: {', '.join(FORMATS)}")
    return frontmatter_schema(fmt)
