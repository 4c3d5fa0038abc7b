"""Do not believe in a sudden void: an unmounted disk looks just like a mass deletion (K-38)."""

from __future__ import annotations

from typing import Final

_MANY: Final = 20
"""From so many notes on, losing more than half at once is doubted (K-38)."""


def doubt(known: int, gone: int, marker_there: bool) -> str | None:
    """Why a look at the vault is not to be believed; None when it is.

    Args:
        known: how many files the catalog holds.
        gone: how many of them were not found.
        marker_there: whether the vault's marker was found.
    """
    if not marker_there:
        return "the vault's marker is missing"
    if known and gone >= known:
        return f"the vault looks empty: all {known} known files are gone"
    if known >= _MANY and gone * 2 > known:
        return f"{gone} of {known} known files are gone at once"
    return None
