"""Laws of names, times, words and tags: they hold for any text."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathvalidate import is_valid_filename

from vaultkeeper.core.slug import file_name, file_stem, numbered, same_name_key, stem_of
from vaultkeeper.core.timestamps import parse_time, read_time, write_time
from vaultkeeper.core.tokens import tokens

_FORBIDDEN = set('\\/:*?"<>|#^[]')
_AWKWARD = st.sampled_from(
    ["CON", "nul", "COM1", ".", " ", "..", "~$", "#", "[", "|", "\u200d", "\u0301", "\n", "👨\u200d👩\u200d👧", "记", "𠮷", "\ud83d"]
)  # fmt: skip
_TITLES = st.one_of(
    st.text(st.characters(), max_size=300),
    st.lists(st.one_of(_AWKWARD, st.characters()), max_size=80).map("".join),
)
_TEXTS = st.text(max_size=60)
_OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
_INSTANTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=_OFFSETS)  # noqa: DTZ001 — bounds

law = settings(max_examples=150, deadline=None)


@pytest.mark.rule("K-24")
@law
@given(_TITLES)
def test_any_title_gives_a_name_that_is_valid_everywhere(title: str) -> None:
    name = file_name(title)
    assert is_valid_filename(name, platform="universal")
    assert not _FORBIDDEN & set(name)
    assert not any(unicodedata.category(char) in {"Cc", "Cs"} for char in name)
    assert unicodedata.is_normalized("NFC", name)
    assert len(name.encode()) <= 240
    stem = stem_of(name)
    assert stem
    assert stem[0] not in ". "
    assert stem[-1] not in ". "


@pytest.mark.rule("K-24")
@law
@given(_TITLES)
def test_a_name_made_from_a_name_is_that_name(title: str) -> None:
    stem = file_stem(title)
    assert file_stem(stem) == stem


@pytest.mark.rule("K-22", "K-24")
@law
@given(_TITLES, st.integers(2, 9999), st.integers(2, 9999))
def test_numbered_names_are_as_different_as_their_numbers(title: str, one: int, other: int) -> None:
    path = f"Folder/{file_name(title)}"
    first, second = numbered(path, one), numbered(path, other)
    assert (first == second) == (one == other)
    assert first != path
    assert len(first.removeprefix("Folder/").encode()) <= 240


@pytest.mark.rule("K-25")
@law
@given(_TEXTS)
def test_normalisation_and_folding_twice_do_not_change_which_names_are_the_same(name: str) -> None:
    key = same_name_key(name)
    assert key == same_name_key(unicodedata.normalize("NFD", name))
    assert key == same_name_key(unicodedata.normalize("NFC", name))
    assert key == same_name_key(key)


@pytest.mark.rule("LT-23", "LT-30")
@law
@given(_INSTANTS)
def test_an_instant_is_the_same_in_every_zone_it_is_written_in(instant: datetime) -> None:
    canonical = write_time(instant)
    assert read_time(canonical) == canonical
    assert read_time(instant.isoformat(timespec="milliseconds")) == canonical
    assert read_time(instant.isoformat(" ", timespec="milliseconds")) == canonical
    assert write_time(parse_time(canonical)) == canonical
    assert parse_time(canonical) == instant.replace(
        microsecond=instant.microsecond // 1000 * 1000
    ).astimezone(UTC)


@pytest.mark.rule("LT-30", "K-2")
@law
@given(st.one_of(_TEXTS, st.from_regex(r"[0-9０-９/\-:年月日T ]{1,24}", fullmatch=True)))
def test_any_text_is_a_canonical_time_or_none(text: str) -> None:
    read = read_time(text)
    assert read is None or read_time(read) == read == write_time(parse_time(read))


@pytest.mark.rule("K-60")
@law
@given(st.text(st.sampled_from("aB9é 长期記ガ학Ａ-_\u0301йß"), max_size=30))
def test_words_do_not_depend_on_normalisation_and_are_their_own_words(text: str) -> None:
    words = tokens(text)
    assert words == tokens(unicodedata.normalize("NFD", text)) == tokens(unicodedata.normalize("NFC", text))
    for word in words:
        assert word in tokens(word)
