"""`index.json`: what other tools are given, and what is made of theirs (LT-50, LT-51)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.note import Entry, NotePath, Record, Snapshot, Stat, digest_of
from vaultkeeper.formats.longterm import LONGTERM
from vaultkeeper.store.index_export import checksum, export_json, read_export

VAULT, AT = "/home/a/DSH Memory", "2026-10-17T07:59:20.596Z"
MTIME = 1_760_000_000_000_999_999

FIELDS = [
    "id", "path", "type", "status", "title", "tags", "aliases", "confidence", "importance", "pinned", "createdAt",
    "updatedAt", "preview", "terms", "links", "size", "mtimeMs", "checksum",
]  # fmt: skip

TEXT = """---
id: mem_20261017t075957_b1c8069b
type: decision
status: active
title: 用 Markdown
---

# 用 Markdown

## 核心内容

长期记忆。

## Details

Plain words, plain files.
"""


class Notes:
    """A vault's notes in memory, with the catalog's entries; counts how often one is read."""

    def __init__(self) -> None:
        self.entries: dict[NotePath, Entry] = {}
        self.data: dict[NotePath, bytes] = {}
        self.read: list[str] = []

    def put(self, path: str, text: str = TEXT, mtime_ns: int = MTIME, **fields: Any) -> None:
        note, data = NotePath(path), text.encode(errors="surrogatepass")
        known: dict[str, Any] = {
            "id": "mem_20261017t075957_b1c8069b", "type": "decision", "status": "active", "title": "用 Markdown",
            "created_at": AT, "updated_at": AT, "tags": ("architecture", "decision"), "aliases": ("事实来源",),
            "confidence": "high", "importance": 85, "preview": "长期记忆。",
        }  # fmt: skip
        record = Record(**known | fields)
        self.data[note] = data
        self.entries[note] = Entry(
            note, len(data), mtime_ns, digest_of(data), "memory", record, ("索引重建策略",)
        )

    def look(self, path: NotePath) -> Snapshot | None:
        self.read.append(path)
        data = self.data.get(path)
        if data is None:
            return None
        return Snapshot(path, data, Stat(len(data), self.entries[path].mtime_ns), digest_of(data))

    def export(self, previous: bytes | None = None, *, vault: str = VAULT, at: str = AT) -> bytes:
        self.read.clear()
        return export_json(self.entries, self.look, vault, at, LONGTERM, previous)


@pytest.fixture
def notes() -> Notes:
    made = Notes()
    made.put("b.md", id="mem_20261017t075957_bbbbbbbb")
    made.put("Decisions/a.md")
    return made


def records(data: bytes) -> list[dict[str, Any]]:
    found = json.loads(data)["records"]
    assert isinstance(found, list)
    return found


@pytest.mark.rule("LT-50")
def test_the_export_has_exactly_the_fields_of_the_original_in_its_order(notes: Notes) -> None:
    document = json.loads(notes.export())
    assert list(document) == ["version", "builtAt", "vaultPath", "records"]
    assert (document["version"], document["builtAt"], document["vaultPath"]) == (3, AT, VAULT)
    assert [list(record) for record in document["records"]] == [FIELDS, FIELDS]
    assert [record["path"] for record in document["records"]] == ["Decisions/a.md", "b.md"]


@pytest.mark.rule("LT-50")
def test_a_record_says_what_the_catalog_knows(notes: Notes) -> None:
    record = records(notes.export())[0]
    assert {key: record[key] for key in FIELDS if key not in {"terms", "checksum"}} == {
        "id": "mem_20261017t075957_b1c8069b", "path": "Decisions/a.md", "type": "decision", "status": "active",
        "title": "用 Markdown", "tags": ["architecture", "decision"], "aliases": ["事实来源"], "confidence": "high",
        "importance": 85, "pinned": False, "createdAt": AT, "updatedAt": AT, "preview": "长期记忆。",
        "links": ["索引重建策略"], "size": len(TEXT.encode()), "mtimeMs": 1_760_000_000_000,
    }  # fmt: skip


@pytest.mark.rule("LT-50", "K-61")
def test_words_weigh_by_field_rounded_to_whole_numbers(notes: Notes) -> None:
    terms = records(notes.export())[0]["terms"]
    # title 8 and the heading in the body 1; alias 6; tag 6; summary 3 and body 1; twice in the body: 1 + ln 2
    assert (terms["markdown"], terms["事实"], terms["architecture"], terms["长期"], terms["plain"]) == (
        9,
        6,
        6,
        4,
        2,
    )
    assert "mem" not in terms
    assert all(type(weight) is int for weight in terms.values())


@pytest.mark.rule("LT-50")
@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", "811c9dc5"), (b"a", "e40c292c"), (b"foobar", "bf9cf968")],
)
def test_the_checksum_is_fnv_1a(data: bytes, expected: str) -> None:
    """Reference values of the algorithm's authors."""
    assert checksum(data) == expected


@pytest.mark.rule("LT-50")
def test_only_memories_are_exported(notes: Notes) -> None:
    plain = NotePath("plain.md")
    notes.entries[plain] = Entry(plain, 1, 1, "d", "plain")
    notes.entries[NotePath("q.md")] = Entry(NotePath("q.md"), 1, 1, "d", "quarantined")
    assert len(records(notes.export())) == 2


def test_a_vault_without_memories_has_an_export_too(notes: Notes) -> None:
    notes.entries.clear()
    assert records(notes.export()) == []


@pytest.mark.rule("LT-50")
def test_a_missing_importance_is_a_number_for_readers_that_insist(notes: Notes) -> None:
    notes.put("b.md", importance=None, confidence="")
    assert (records(notes.export())[1]["importance"], records(notes.export())[1]["confidence"]) == (0, "")


@pytest.mark.rule("K-2")
def test_a_note_that_cannot_be_read_costs_only_its_own_record(notes: Notes) -> None:
    notes.put("gone.md")
    del notes.data[NotePath("gone.md")]
    notes.put("title.md", title="half \ud800")
    troubles: dict[str, Exception] = {"x.md": OSError("io"), "y.md": VaultkeeperError("link")}
    for path in troubles:
        notes.put(path)

    def look(path: NotePath) -> Snapshot | None:
        if path in troubles:
            raise troubles[path]
        return notes.look(path)

    data = export_json(notes.entries, look, VAULT, AT, LONGTERM)
    assert [record["path"] for record in records(data)] == ["Decisions/a.md", "b.md"]


@pytest.mark.rule("K-7", "K-1")
def test_what_is_taken_from_the_last_export_gives_the_same_bytes(notes: Notes) -> None:
    first = notes.export()
    assert notes.export(first) == first
    assert notes.read == []


@pytest.mark.parametrize(
    "change",
    [
        lambda notes: notes.put("b.md", TEXT + "!"),
        lambda notes: notes.put("b.md", mtime_ns=MTIME + 1_000_000),
        lambda notes: notes.put("b.md", title="anders"),
        lambda notes: notes.put("b.md", tags=("architecture",)),
    ],
)
@pytest.mark.rule("LT-51")
def test_only_a_note_that_changed_is_read_again(notes: Notes, change: Callable[[Notes], None]) -> None:
    first = notes.export()
    change(notes)
    second = notes.export(first)
    assert notes.read == ["b.md"]
    assert second == notes.export()


def test_words_are_never_taken_from_another_programs_export(notes: Notes) -> None:
    """It may count them in another way, and a rebuild would give other bytes (K-1)."""
    foreign = json.dumps(json.loads(notes.export())).encode()
    notes.export(foreign)
    assert notes.read == ["Decisions/a.md", "b.md"]


@pytest.mark.parametrize("previous", [b"", b"{", b"[]"])
def test_a_last_export_that_is_broken_is_not_used(notes: Notes, previous: bytes) -> None:
    good = notes.export()
    assert notes.export(previous) == notes.export(good[:-20]) == good
    assert notes.read == ["Decisions/a.md", "b.md"]


def test_the_vault_is_named_with_slashes(notes: Notes) -> None:
    assert json.loads(notes.export(vault="D:\\Notes\\DSH Memory"))["vaultPath"] == "D:/Notes/DSH Memory"


def test_an_export_is_a_line_for_each_record(notes: Notes) -> None:
    lines = notes.export().decode().splitlines()
    assert [json.loads(line.rstrip(","))["path"] for line in lines[1:-1]] == ["Decisions/a.md", "b.md"]


@pytest.mark.rule("LT-51")
def test_an_export_is_read_as_a_starting_point(notes: Notes) -> None:
    facts = read_export(notes.export(), VAULT + "/")
    assert facts is not None
    assert list(facts) == ["Decisions/a.md", "b.md"]
    assert facts["Decisions/a.md"] == {
        "id": "mem_20261017t075957_b1c8069b", "path": "Decisions/a.md", "type": "decision", "status": "active",
        "title": "用 Markdown", "updatedAt": AT, "preview": "长期记忆。",
    }  # fmt: skip


@pytest.mark.rule("LT-51")
def test_the_original_plugins_export_is_read(notes: Notes) -> None:
    """Its times have fractions, its weights too, and it may say more than we know."""
    document = json.loads(notes.export())
    document["extra"] = {"deep": [1]}
    document["records"][0] |= {"mtimeMs": 1760000000000.123, "terms": {"a": 1.5}, "more": None}
    assert read_export(json.dumps(document, indent=2).encode(), VAULT) is not None


def spoil(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *way, last = path.split(".")
        place: Any = document
        for part in way:
            place = place[int(part) if part.isdigit() else part]
        if value is None:
            del place[last]
        else:
            place[last] = value

    return change


@pytest.mark.rule("LT-51")
@pytest.mark.parametrize(
    "change",
    [
        spoil("version", 2), spoil("version", 4), spoil("version", "3"), spoil("version", None), spoil("records", None),
        spoil("records", {}), spoil("vaultPath", None), spoil("vaultPath", "/home/a/Other"), spoil("vaultPath", 3),
        spoil("builtAt", 17),
        *(spoil(f"records.1.{field}", None) for field in FIELDS),
        *(spoil(f"records.1.{field}", {"a": "b"}) for field in FIELDS),
        spoil("records.1.importance", "85"), spoil("records.1.importance", True), spoil("records.1.pinned", 0),
        spoil("records.1.tags", [1]), spoil("records.1.size", 1.5), spoil("records.1.terms", {"a": "1"}),
    ],
)  # fmt: skip
def test_an_export_with_any_fault_is_worth_nothing(
    notes: Notes, change: Callable[[dict[str, Any]], None]
) -> None:
    document = json.loads(notes.export())
    change(document)
    assert read_export(json.dumps(document).encode(), VAULT) is None


@pytest.mark.rule("LT-51")
@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b"\0" * 100])
def test_what_is_no_export_is_worth_nothing(data: bytes) -> None:
    assert read_export(data, VAULT) is None


def test_an_export_cut_anywhere_is_worth_nothing(notes: Notes) -> None:
    whole = notes.export().rstrip()
    assert all(read_export(whole[:length], VAULT) is None for length in range(len(whole)))
