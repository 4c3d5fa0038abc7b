"""What holds for any journal, any catalog and any text of settings."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultkeeper.config import Settings, load_settings
from vaultkeeper.core.finding import Finding
from vaultkeeper.core.note import Base, Entry, NotePath, Record
from vaultkeeper.store.catalog_file import CatalogFile, Head
from vaultkeeper.store.journal import KEYS, Journal
from vaultkeeper.store.json_file import NotJsonError, object_bytes, parse_object

quick = settings(deadline=None, max_examples=60)

texts = st.text(st.characters(exclude_categories=()), max_size=12)
times = st.datetimes().map(lambda moment: f"{moment:%Y-%m-%dT%H:%M:%S}.000Z".rjust(24, "0"))
entries = st.lists(
    st.builds(lambda at, rest: {**rest, "at": at}, times, st.dictionaries(st.sampled_from(KEYS[1:]), texts)),
    max_size=6,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)

findings = st.builds(
    Finding, texts, st.integers(0, 99), texts, st.lists(st.tuples(texts, texts), max_size=2).map(tuple)
)
words = st.lists(texts, max_size=2).map(tuple)
records = st.builds(
    Record, texts, texts, texts, texts, texts, texts, words, words, importance=st.none() | st.integers(0, 100)
)
catalogs = st.lists(
    st.builds(
        Entry, texts.map(NotePath), st.integers(-1, 2**40), st.integers(-(2**62), 2**62), texts,
        st.sampled_from(["memory", "plain", "quarantined", "page"]), st.none() | records, words,
        st.lists(findings, max_size=2).map(tuple), st.none() | st.builds(Base, *[texts] * 9), st.none() | st.builds(Base, *[texts] * 9), st.booleans(),
    ),
    max_size=4,
).map(lambda rows: {row.path: row for row in rows})  # fmt: skip


@pytest.mark.rule("LT-53")
@quick
@given(st.lists(entries, max_size=4), st.lists(st.binary(max_size=30), max_size=4))
def test_all_that_is_journalled_reads_back_whatever_is_torn_between(
    batches: list[list[dict[str, str]]], garbage: list[bytes]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "journal"
        journal = Journal(folder, Path(name) / "pending")
        for at, batch in enumerate(batches):
            journal.append(batch)
            if at < len(garbage) and folder.is_dir():
                for file in folder.iterdir():
                    # What a crash or another program may leave: never an entry of its own, perhaps without its newline.
                    file.write_bytes(file.read_bytes() + b"~" + garbage[at])
        wanted = sorted((entry for batch in batches for entry in batch), key=lambda entry: entry["at"][:7])
        kept = [{key: value for key, value in entry.items() if value} for entry in wanted]
        assert sorted(kept, key=lambda entry: entry["at"]) == journal.read()


@pytest.mark.rule("LT-53")
@quick
@given(entries, entries)
def test_entries_are_never_doubled_where_they_must_not_be(
    first: list[dict[str, str]], second: list[dict[str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        journal = Journal(Path(name) / "journal", Path(name) / "pending")
        journal.append(first)
        before = journal.read()
        journal.append(first, only_if_missing=True)
        assert journal.read() == before
        journal.append(second, only_if_missing=True)
        journal.append(second, only_if_missing=True)
        assert all({k: v for k, v in entry.items() if v} in journal.read() for entry in second)


@pytest.mark.rule("LT-51")
@quick
@given(catalogs, st.lists(findings, max_size=3).map(tuple), texts, st.booleans())
def test_a_catalog_reads_back_as_saved_but_for_what_no_unicode_holds(
    rows: dict[NotePath, Entry], told: tuple[Finding, ...], options: str, unsettled: bool
) -> None:
    with tempfile.TemporaryDirectory() as name:
        file = CatalogFile(Path(name) / "catalog", "/v")
        sayable = options.encode(errors="replace").decode()
        head = Head(
            "/v",
            "longterm",
            sayable,
            {path: (row.size, row.mtime_ns) for path, row in rows.items()},
            told,
            unsettled,
        )
        file.save(head, rows)
        saved, loaded = file.load_head(), file.load_entries()
        assert saved is not None
        assert loaded is not None
        if saved == head:
            assert loaded == rows
        else:
            assert saved.unsettled
            assert loaded.items() <= rows.items()
            assert loaded.keys() == saved.stats.keys()


@quick
@given(st.dictionaries(texts, json_values, max_size=4))
def test_any_object_written_for_people_reads_back(document: dict[str, object]) -> None:
    assert parse_object(object_bytes(document)) == document


@quick
@given(st.binary(max_size=60) | json_values.map(lambda value: json.dumps(value).encode()))
def test_bytes_are_an_object_or_refused_with_a_reason(data: bytes) -> None:
    try:
        result: object = parse_object(data)
    except NotJsonError as error:
        result = str(error)
    assert isinstance(result, dict) or result


@pytest.mark.rule("K-95")
@quick
@given(st.dictionaries(st.sampled_from([*Settings.model_fields, "settings"]), json_values, max_size=5))
def test_settings_are_valid_whatever_stands_in_the_file(document: dict[str, object]) -> None:
    chosen, findings = load_settings({}, document, {})
    assert Settings.model_validate(chosen.model_dump(), strict=True) == chosen
    assert len(findings) <= len(document)
