"""The settings of one vault that planning depends on; `config.Settings` makes this plain value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vaultkeeper.core.format import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a vault's owner may choose, as far as the core is concerned."""

    language: Language = "zh"
    adopt_manual_moves: bool = True
    """K-35: a note dragged into a folder with a meaning takes that meaning."""
    rename_on_title_change: bool = False
    """LT-12."""
    file_names: Literal["title-id", "title"] = "title-id"
    """LT-12: how new notes are named."""
    bases: bool = True
    """LT-54."""
    exclude: tuple[str, ...] = ()
    """K-93: vault-relative folders whose notes are left entirely alone."""
