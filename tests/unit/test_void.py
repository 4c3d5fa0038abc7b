"""When a vault is not believed to be as empty as it looks (K-38)."""

from __future__ import annotations

import pytest

from vaultkeeper.watch.void import doubt


@pytest.mark.rule("K-38")
def test_a_lost_marker_is_always_doubted() -> None:
    assert doubt(0, 0, marker_there=False) == "the vault's marker is missing"
    assert doubt(100, 100, marker_there=False) == "the vault's marker is missing"


@pytest.mark.rule("K-38")
@pytest.mark.parametrize(("known", "gone"), [(1, 1), (19, 19), (20, 20), (5, 6)])
def test_a_vault_that_looks_empty_is_doubted(known: int, gone: int) -> None:
    assert doubt(known, gone, marker_there=True) == f"the vault looks empty: all {known} known files are gone"


@pytest.mark.rule("K-38")
@pytest.mark.parametrize(("known", "gone"), [(20, 11), (21, 11), (1000, 501)])
def test_more_than_half_of_twenty_or_more_gone_at_once_is_doubted(known: int, gone: int) -> None:
    assert doubt(known, gone, marker_there=True) == f"{gone} of {known} known files are gone at once"


@pytest.mark.rule("K-38")
@pytest.mark.parametrize(("known", "gone"), [(0, 0), (1, 0), (19, 18), (20, 10), (1000, 500)])
def test_ordinary_deletions_are_believed(known: int, gone: int) -> None:
    assert doubt(known, gone, marker_there=True) is None
