"""The keeper's own catalog on disk: read back whole, or not at all (LT-51)."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from vaultkeeper.core.finding import found
from vaultkeeper.core.note import Base, Entry, NotePath, Record
from vaultkeeper.store import catalog_file
from vaultkeeper.store.catalog_file import CatalogFile, Head

A, B = NotePath("Decisions/用 Markdown.md"), NotePath("b.md")
RECORD = Record(
    "mem_20261017t075957_b1c8069b", "decision", "active", "用 Markdown", "2026-10-17T07:59:57.013Z", "", ("x",),
    importance=85, pinned=True, supersedes=("mem_20261001t000000_aaaaaaaa",), preview="长期记忆",
)  # fmt: skip
BASE = Base(A, "decision", "active", "用 Markdown", "用 Markdown", "", "c0ffee", "", "")
ENTRIES = {
    A: Entry(
        A,
        562,
        1_760_000_000_000_000_001,
        "d1",
        "memory",
        RECORD,
        ("索引",),
        (found("bad-date", A, 3, key="k"),),
        BASE,
    ),
    B: Entry(B, 0, -1, "d2", "plain", unsettled=True),
}


def head(vault: str = "/v", **more: object) -> Head:
    stats = {path: (entry.size, entry.mtime_ns) for path, entry in ENTRIES.items()}
    made = Head(vault, "longterm", "0ff1ce", stats, (found("held", B, reason="x"),), False)
    for name, value in more.items():
        setattr(made, name, value)
    return made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "catalog.msgpack"


@pytest.fixture
def saved(file: Path) -> CatalogFile:
    catalog = CatalogFile(file, "/v")
    catalog.save(head(), ENTRIES)
    return catalog


def test_what_was_saved_reads_back_the_same_and_in_order(saved: CatalogFile) -> None:
    assert saved.load_head() == head()
    assert saved.load_entries() == ENTRIES
    assert list(saved.load_entries() or ()) == [A, B]


def test_an_empty_catalog_is_a_catalog(file: Path) -> None:
    catalog = CatalogFile(file, "/v")
    catalog.save(Head("/v", "longterm", "", {}, (), True), {})
    assert catalog.load_head() == Head("/v", "longterm", "", {}, (), True)
    assert catalog.load_entries() == {}


@pytest.mark.rule("LT-51", "K-1")
def test_a_catalog_that_is_not_there_is_none(file: Path) -> None:
    assert CatalogFile(file, "/v").load_head() is None
    assert CatalogFile(file, "/v").load_entries() is None


@pytest.mark.rule("LT-51")
def test_another_vaults_catalog_is_none(saved: CatalogFile, file: Path) -> None:
    assert CatalogFile(file, "/other").load_head() is None
    assert CatalogFile(file, "/other").load_entries() is None


@pytest.mark.rule("LT-51")
def test_a_catalog_cut_anywhere_is_none(saved: CatalogFile, file: Path) -> None:
    data = file.read_bytes()
    for length in range(len(data)):
        file.write_bytes(data[:length])
        assert saved.load_entries() is None
    head_ends = len(data) - len(catalog_file._framed(catalog_file._ENCODER.encode(list(ENTRIES.values()))))
    for length in range(head_ends):
        file.write_bytes(data[:length])
        assert saved.load_head() is None


@pytest.mark.rule("LT-51")
def test_a_catalog_with_any_bit_flipped_is_none(saved: CatalogFile, file: Path) -> None:
    data = file.read_bytes()
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        file.write_bytes(damaged)
        assert saved.load_head() is None or saved.load_entries() is None
        assert saved.load_head() in (None, head())


@pytest.mark.rule("LT-51")
def test_a_catalog_of_another_version_is_none(
    file: Path, saved: CatalogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_file, "_MAGIC", b"another version.")
    CatalogFile(file, "/v").save(head(), ENTRIES)
    monkeypatch.undo()
    assert saved.load_head() is None
    assert saved.load_entries() is None


@pytest.mark.rule("LT-51")
@pytest.mark.parametrize(
    "frame", [b"\xc0", b"\x92\xa2/v\xa1x", b"\x01", b"", b"\x91" * 5000 + b"\xc0", b"\x91\xa1\xff"]
)
def test_whole_frames_with_wrong_types_are_none(file: Path, saved: CatalogFile, frame: bytes) -> None:
    good = catalog_file._ENCODER.encode(head())
    file.write_bytes(catalog_file._MAGIC + catalog_file._framed(frame) + catalog_file._framed(b"\x90"))
    assert saved.load_head() is None
    file.write_bytes(catalog_file._MAGIC + catalog_file._framed(good) + catalog_file._framed(frame))
    assert saved.load_head() == head()
    assert saved.load_entries() is None


def test_the_head_is_read_without_the_entries(saved: CatalogFile, file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: -len(catalog_file._ENCODER.encode(list(ENTRIES.values())))])
    assert saved.load_head() == head()
    assert saved.load_entries() is None


def test_a_name_that_is_no_unicode_costs_only_its_own_row(file: Path) -> None:
    """Such a file is looked at anew by every keeper, and the quick look is not believed."""
    bad, worse = NotePath("bad\udcff.md"), NotePath("gone\udcfe.md")
    entries = {**ENTRIES, bad: Entry(bad, 1, 1, "d3", "plain")}
    stats = {**head().stats, bad: (1, 1), worse: (2, 2)}
    catalog = CatalogFile(file, "/v")
    catalog.save(
        head(stats=stats, findings=(*head().findings, found("unreadable", bad, reason="x"))), entries
    )
    assert catalog.load_entries() == ENTRIES
    assert catalog.load_head() == head(unsettled=True)


def test_a_vault_whose_own_name_is_no_unicode_has_a_catalog(file: Path) -> None:
    catalog = CatalogFile(file, "/v\udcff")
    catalog.save(head("/v\udcff"), ENTRIES)
    assert catalog.load_entries() == ENTRIES
    assert (catalog.load_head() or head()).stats == head().stats
    assert CatalogFile(file, "/v").load_head() is None


def test_a_catalog_is_for_its_users_eyes_and_replaced_as_a_whole(saved: CatalogFile, file: Path) -> None:
    assert file.stat().st_mode & 0o077 == 0
    saved.save(head(options="new"), {B: ENTRIES[B]})
    assert saved.load_head() == head(options="new")
    assert saved.load_entries() == {B: ENTRIES[B]}


def test_a_cache_that_cannot_be_written_is_the_callers_to_hear_of(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        CatalogFile(tmp_path / "file" / "catalog", "/v").save(head(), ENTRIES)


def test_the_cycle_collector_is_left_as_it_was(saved: CatalogFile) -> None:
    assert gc.isenabled()
    gc.disable()
    try:
        saved.load_head()
        assert not gc.isenabled()
    finally:
        gc.enable()
    saved.load_entries()
    assert gc.isenabled()
