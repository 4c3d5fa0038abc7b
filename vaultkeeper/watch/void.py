"""Do not believe in a sudden void: an unmounted disk looks just like a mass deletion (K-38)."""

from __future__ import annotations

from typing import Final

_MANY: Final = 20
"""From so many notes on, losing more than half at once is doubted (K-38)."""


def doubt(known: int, gone: int, *, notes: int, notes_gone: int, marker_there: bool) -> str | None:
    """Why a look at the vault is not to be believed; None when it is.

    Args:
        known: how many files the catalog holds, index pages among them.
        gone: how many of them were not found.
        notes: how many of the files are notes. Index pages may all be deleted at any time (K-1).
        notes_gone: how many of those were not found.
        marker_there: whether the vault's marker was found.
    """
    if not marker_there:
        return "the vault's marker is missing"
    if notes and gone >= known:
        return f"the vault looks empty: all {known} known files are gone"
    if notes >= _MANY and notes_gone * 2 > notes:
        return f"{notes_gone} of {notes} known notes are gone at once"
    return None
