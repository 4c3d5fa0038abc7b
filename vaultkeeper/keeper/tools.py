"""What a keeper works with: its vault, format and settings as plain values, built by `daemon.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from vaultkeeper.core.finding import Finding
from vaultkeeper.core.format import Format
from vaultkeeper.core.options import Options
from vaultkeeper.store.catalog_file import CatalogFile
from vaultkeeper.store.journal import Journal
from vaultkeeper.store.vault import VaultFiles
from vaultkeeper.watch.ignore import IgnoreRules

LATE_SAVE = timedelta(seconds=60)
"""K-39: how long after a move by the keeper a file at the old path counts as an editor's late save."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How long notes must be quiet, in seconds (K-31), and how often the whole vault is walked (K-33)."""

    settle: float = 3.0
    repair: float = 30.0
    touch: float = 60.0
    rescan: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """One keeper's collaborators; nothing in here is a setting object or reads one."""

    root: Path
    fmt: Format
    options: Options
    files: VaultFiles
    catalog_file: CatalogFile
    journal: Journal
    rules: IgnoreRules
    clock: Callable[[], datetime]
    """Aware UTC time."""
    random_hex: Callable[[int], str]
    """That many random lower-case hex digits, for new ids."""
    state: Path
    """This vault's folder among the user's state."""
    export: Literal["auto", "on", "off"] = "auto"
    """`export_index`: auto, on or off (LT-50)."""
    waits: Waits = Waits()
    polling: Literal["auto", "on", "off"] = "auto"
    settings_findings: tuple[Finding, ...] = ()
