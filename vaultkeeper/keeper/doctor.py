"""`doctor`: whether all that the keeper needs on this machine is there and working, as named checks (IF-10)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.keeper.session import quick_look
from vaultkeeper.keeper.tools import Tools
from vaultkeeper.store.folders import AppFolders
from vaultkeeper.store.lock import holder

Result = dict[str, object]

LOW_SPACE = 200 * 1024 * 1024
"""Bytes of free space below which history and notes may soon fail to be written."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def examine(vault: Path, tools: Callable[[], Tools], folders: AppFolders) -> Result:
    """All checks in order; one that fails does not keep the later ones from being made."""
    checks = [*_vault_checks(vault, tools), *_folder_checks(folders), _watch_limit()]
    return {
        "vault": str(vault),
        "ok": all(check.ok for check in checks),
        "checks": [
            {"name": check.name, "ok": check.ok, "detail": check.detail, "fix": check.fix} for check in checks
        ],
    }


def _vault_checks(vault: Path, tools: Callable[[], Tools]) -> Iterator[Check]:
    try:
        kept = tools()
    except (VaultkeeperError, OSError) as error:
        yield Check("vault", False, str(error), "name a vault, or make one with `vaultkeeper init`")
        return
    yield Check("vault", True, f"{kept.fmt.id} at {vault}")
    yield _writable("vault folder", vault / kept.fmt.private)
    held = holder(kept.state)
    yield Check("keeper", True, f"process {held.pid} on {held.host} keeps it" if held else "none is running")
    half = kept.files.has_open_batch()
    yield Check(
        "history",
        not half or held is not None,
        "a batch was interrupted" if half else "every batch is closed",
        "`vaultkeeper tidy` finishes it or takes it back" if half else "",
    )
    yield _journal(kept)
    yield Check(
        "catalog",
        True,
        "up to date" if quick_look(kept) is not None else "will be brought up to date by `tidy`",
    )
    for finding in kept.settings_findings:
        facts = dict(finding.facts)
        yield Check(
            "settings", False, f"{facts.get('key')}: {facts.get('reason')}", "`vaultkeeper config set`"
        )
    free = shutil.disk_usage(vault).free
    yield Check(
        "free space", free > LOW_SPACE, f"{free // 1_000_000:,} MB", "" if free > LOW_SPACE else "make room"
    )


def _journal(kept: Tools) -> Check:
    damaged = kept.journal.damaged()
    if not damaged:
        return Check("journal", True, "every line can be read")
    (name, line), more = damaged[0], len(damaged) - 1
    others = f", and {more} more" if more else ""
    where = f"{kept.fmt.private}/journal/{name}"
    fix = "mend or delete it; every other line counts all the same"
    return Check("journal", False, f"{where}: line {line} is torn or no entry{others}", fix)


def _folder_checks(folders: AppFolders) -> Iterator[Check]:
    for name, folder in (("settings", folders.config), ("state", folders.state), ("cache", folders.cache)):
        yield _writable(f"{name} folder", folder)


def _writable(name: str, folder: Path) -> Check:
    """Looks at permissions only: `doctor` writes nothing."""
    import os

    standing = next(place for place in (folder, *folder.parents) if place.exists())
    ok = os.access(standing, os.W_OK | os.X_OK)
    return Check(name, ok, str(folder), "" if ok else f"give yourself the right to write in {standing}")


def _watch_limit() -> Check:
    """Linux: how many folders may be watched; each folder of a vault takes one."""
    limit = Path("/proc/sys/fs/inotify/max_user_watches")
    try:
        number = int(limit.read_text())
    except (OSError, ValueError):
        return Check("file events", True, "the system's own")
    enough = number >= 8192
    fix = "" if enough else "raise fs.inotify.max_user_watches; until then big vaults are polled"
    return Check("file events", enough, f"inotify, {number:,} folders", fix)
