"""When a vault is not believed to be as empty as it looks (K-38)."""

from __future__ import annotations

import pytest

from vaultkeeper.watch.void import doubt

PAGES = 20
"""Index pages beside the notes."""


def doubted(notes: int, notes_gone: int, pages_gone: int = 0, *, marker_there: bool = True) -> str | None:
    return doubt(
        notes + PAGES,
        notes_gone + pages_gone,
        notes=notes,
        notes_gone=notes_gone,
        marker_there=marker_there,
    )


@pytest.mark.rule("K-38")
def test_a_lost_marker_is_always_doubted() -> None:
    assert doubted(0, 0, marker_there=False) == "the vault's marker is missing"
    assert doubted(100, 100, marker_there=False) == "the vault's marker is missing"


@pytest.mark.rule("K-38")
@pytest.mark.parametrize("notes", [1, 19, 20])
def test_a_vault_that_looks_empty_is_doubted(notes: int) -> None:
    said = f"the vault looks empty: all {notes + PAGES} known files are gone"
    assert doubted(notes, notes, PAGES) == said


@pytest.mark.rule("K-38")
@pytest.mark.parametrize(("notes", "gone"), [(20, 11), (21, 11), (1000, 501)])
def test_more_than_half_of_twenty_or_more_gone_at_once_is_doubted(notes: int, gone: int) -> None:
    assert doubted(notes, gone) == f"{gone} of {notes} known notes are gone at once"


@pytest.mark.rule("K-38")
@pytest.mark.parametrize(("notes", "gone"), [(0, 0), (1, 0), (1, 1), (19, 19), (20, 10), (1000, 500)])
def test_ordinary_deletions_are_believed(notes: int, gone: int) -> None:
    assert doubted(notes, gone) is None


@pytest.mark.rule("K-38", "K-1")
@pytest.mark.parametrize("notes", [0, 1, 19, 20])
def test_index_pages_may_all_be_deleted(notes: int) -> None:
    assert doubted(notes, 0, PAGES) is None
