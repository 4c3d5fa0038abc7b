"""Notes found by what a person calls them, and what is told where that fits none or several."""

from __future__ import annotations

import pytest

from vaultkeeper.core.catalog import Catalog
from vaultkeeper.core.errors import AmbiguousNoteError, UnknownNoteError
from vaultkeeper.core.finding import Finding
from vaultkeeper.core.messages import fix_of, message_of, severity_of
from vaultkeeper.core.note import Entry, NotePath, Record
from vaultkeeper.core.page_text import resplice


def catalog(*titles: str) -> Catalog:
    found = Catalog({})
    for number, title in enumerate(titles):
        record = Record(f"mem_{number}", "task", "active", title, "", "")
        found.put(Entry(NotePath(f"Tasks/{number}.md"), 1, 1, "", "memory", record))
    return found


@pytest.mark.rule("IF-8")
@pytest.mark.parametrize("reference", ["Tasks/1.md", "Tasks/1", "mem_1", "Green tea", "green TEA", "1"])
def test_a_note_is_found_by_path_id_title_or_name(reference: str) -> None:
    assert catalog("White tea", "Green tea").find(reference).path == "Tasks/1.md"


@pytest.mark.rule("IF-8", "K-97")
def test_a_name_that_fits_none_gets_near_ones() -> None:
    with pytest.raises(UnknownNoteError) as caught:
        catalog("White tea", "White rice", "Green tea").find("White coffee")
    assert caught.value.near == ("White rice", "White tea")
    with pytest.raises(UnknownNoteError) as caught:
        catalog("White tea").find("  ")
    assert caught.value.near == ()


@pytest.mark.rule("IF-8", "K-97")
def test_a_name_that_fits_several_lists_them() -> None:
    with pytest.raises(AmbiguousNoteError) as caught:
        catalog("Tea", "tea").find("tea")
    assert list(caught.value.paths) == ["Tasks/0.md", "Tasks/1.md"]


def test_of_two_names_that_count_as_the_same_either_may_go() -> None:
    found = catalog()
    for path in ("a.md", "A.md"):
        found.put(Entry(NotePath(path), 1, 1, "", "plain"))
    assert found.drop(NotePath("a.md")) is not None
    assert NotePath("A.md") in found
    assert found.drop(NotePath("a.md")) is None


def test_wording_never_fails_for_a_fact_or_a_code_that_is_missing() -> None:
    strange = Finding("a.md", 1, "no-such-code")
    assert (severity_of(strange), message_of(strange, "en"), fix_of(strange, "en")) == (
        "error",
        "no-such-code",
        "",
    )
    assert "{" in message_of(Finding("a.md", 1, "duplicate-key"), "en")


@pytest.mark.rule("K-9")
def test_a_page_that_does_not_hold_its_block_once_is_spliced_with_care() -> None:
    assert resplice("# Page\n", "a block", "another") is None
