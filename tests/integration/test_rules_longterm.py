"""Rules of `longterm.md`, clause by clause, at the level of the whole program, where no other test says them (LT-1 … LT-63)."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Kit, cli
from vaultkeeper import daemon
from vaultkeeper.core.errors import ConflictError, RefusedError, UserError

TYPES = {
    "profile": "Profile",
    "preference": "Preferences",
    "project": "Projects",
    "project-state": "Projects/State",
    "decision": "Decisions",
    "knowledge": "Knowledge",
    "experience": "Experiences",
    "task": "Tasks",
}
STATUSES = {
    "active": None,
    "stale": None,
    "pending": "Inbox",
    "archived": "Archive",
    "superseded": "Archive",
    "conflict": "Conflicts",
}


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit.make(tmp_path / "vault", language="en")


def fields(kit: Kit, note: str) -> dict[str, Any]:
    """What the catalog knows of a note."""
    known = daemon.read(kit.root, "show", {"note": note})["fields"]
    assert isinstance(known, dict)
    return known


def keys_of(text: str) -> list[str]:
    return re.findall(r"^(\w+):", text.split("---")[1], re.MULTILINE)


def export(kit: Kit) -> dict[str, Any]:
    found = json.loads(kit.text(".dsh-memory/index.json"))
    assert isinstance(found, dict)
    return found


# the vault


@pytest.mark.rule("LT-1")
@pytest.mark.parametrize("verb", ["check", "tidy", "rebuild", "init", "watch"])
def test_another_products_folder_is_refused_by_every_command_and_untouched(tmp_path: Path, verb: str) -> None:
    kit = Kit(tmp_path / "vault")
    kit.write(".dsh-memory/config.json", '{"product": "another-memory", "schemaVersion": 1}')
    kit.note("Wrong/x.md", type="task")
    before = kit.files(derived=True)
    done = cli(verb, str(kit.root))
    assert done.returncode == 2, done.stdout
    assert "another-memory" in done.stderr
    assert kit.files(derived=True) == before


@pytest.mark.rule("LT-3", "K-95")
def test_the_config_says_when_it_was_changed_and_holds_only_what_differs(kit: Kit) -> None:
    path = ".dsh-memory/config.json"
    kit.edit(path, '"product"', '"mine": {"kept": [1]}, "product"')
    before = json.loads(kit.text(path))
    daemon.config_set(kit.root, "settle", "5")
    daemon.config_set(kit.root, "bases", "true")
    after = json.loads(kit.text(path))
    assert after["settings"] == {"language": "en", "settle": 5}
    assert after["mine"] == {"kept": [1]}
    assert after["createdAt"] == before["createdAt"]
    assert after["updatedAt"] >= before["updatedAt"]
    assert (after["product"], after["schemaVersion"], after["notes"]) == ("dsh-longterm-memory", 1, [])
    daemon.config_set(kit.root, "settle", "3")
    assert json.loads(kit.text(path))["settings"] == {"language": "en"}


# placement


@pytest.mark.rule("LT-10")
def test_each_of_the_48_combinations_of_type_and_status_has_its_place(kit: Kit) -> None:
    wanted = {}
    for number, (kind, status) in enumerate(itertools.product(TYPES, STATUSES)):
        note_id = kit.note(
            f"Somewhere/{number}.md", type=kind, status=status, id=f"mem_20260401t000000_{number:08x}"
        )
        wanted[note_id] = [f"{STATUSES[status] or TYPES[kind]}/{number}.md"]
    kit.settled()
    assert {note_id: kit.where(note_id) for note_id in wanted} == wanted


@pytest.mark.rule("LT-12")
def test_a_file_follows_its_title_where_the_owner_wants_it(tmp_path: Path) -> None:
    kit = Kit.make(tmp_path / "vault", rename_on_title_change=True)
    note_id = kit.note("Tasks/mine.md", type="task", title="mine")
    kit.write("plain.md", "[[mine]]\n")
    kit.settled()
    kit.edit("Tasks/mine.md", "title: mine", 'title: "New: name"')
    kit.settled()
    assert kit.where(note_id) == [f"Tasks/New name-{note_id}.md"]
    assert kit.text("plain.md") == f"[[New name-{note_id}]]\n"


@pytest.mark.rule("LT-12")
def test_names_by_title_alone_get_an_id_only_where_two_would_collide(tmp_path: Path) -> None:
    kit = Kit.make(tmp_path / "vault", file_names="title")
    first = kit.run("new", title="Tea", type="task")
    second = kit.run("new", title="tea", type="task")
    other = kit.run("new", title="Tea", type="decision")
    assert first["path"] == "Tasks/Tea.md"
    assert second["path"] == f"Tasks/tea-{second['id']}.md"
    assert other["path"] == "Decisions/Tea.md"


@pytest.mark.rule("LT-12")
def test_a_file_renamed_by_title_alone_gets_its_id_where_another_has_that_name(tmp_path: Path) -> None:
    kit = Kit.make(tmp_path / "vault", file_names="title", rename_on_title_change=True)
    kit.note("Tasks/Tea.md", type="task", title="Tea")
    note_id = kit.note("Tasks/x.md", type="task", title="x")
    kit.settled()
    kit.edit("Tasks/x.md", "title: x", "title: Tea")
    kit.settled()
    assert kit.where(note_id) == [f"Tasks/Tea-{note_id}.md"]


# frontmatter


@pytest.mark.rule("LT-20", "K-19")
def test_every_key_is_written_at_its_place_and_empty_ones_are_not_written(kit: Kit) -> None:
    made = kit.run("new", title="Tea", type="task")
    other = kit.run("new", title="Other", type="task")["id"]
    values = {
        "evidence": "heard it: today",
        "conflicts_with": other,
        "superseded_by": other,
        "supersedes": other,
        "aliases": "Thé, 茶",
        "source_sessions": "s1, s2",
        "pinned": "yes",
        "importance": "85",
        "confidence": "高",
        "tags": "#Green Tea",
    }
    for key, value in values.items():
        kit.run("set", note=made["id"], values={key: value})
    text = kit.text(made["path"])
    assert keys_of(text) == [
        "id",
        "type",
        "status",
        "title",
        "created_at",
        "updated_at",
        "tags",
        "confidence",
        "importance",
        "pinned",
        "source_sessions",
        "aliases",
        "supersedes",
        "superseded_by",
        "conflicts_with",
        "evidence",
        "schema_version",
    ]
    assert "confidence: high\n" in text
    assert "pinned: true\n" in text
    known = fields(kit, made["id"])
    assert known["aliases"] == ("Thé", "茶")
    assert known["source_sessions"] == ("s1", "s2")
    for key in ("evidence", "aliases", "tags", "pinned", "importance", "superseded_by"):
        kit.run("set", note=made["id"], values={key: ""})
    assert not {"evidence", "aliases", "pinned", "importance", "superseded_by"} & set(
        keys_of(kit.text(made["path"]))
    )


@pytest.mark.rule("LT-20", "LT-22")
@pytest.mark.parametrize(
    "key", ["id", "type", "status", "title", "created_at", "updated_at", "schema_version"]
)
def test_a_required_key_can_not_be_taken_away(kit: Kit, key: str) -> None:
    made = kit.run("new", title="Tea", type="task")
    before = kit.text(made["path"])
    with pytest.raises(UserError):
        kit.run("set", note=made["id"], values={key: ""})
    assert kit.text(made["path"]) == before


@pytest.mark.rule("LT-21")
def test_ids_are_unique_even_of_notes_made_in_the_same_second(kit: Kit) -> None:
    ids = {kit.run("new", title=f"note {number}")["id"] for number in range(5)}
    assert len(ids) == 5
    assert all(re.fullmatch(r"mem_\d{8}t\d{6}_[0-9a-f]{8}", each) for each in ids)


@pytest.mark.rule("LT-23")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Some text.", "Other text."),
        ("tags: [task]", "tags: [task, tea]"),
        ("schema_version", "mine: 1\nschema_version"),
        ("title: x", "title: y"),
        ("status: active", "status: stale"),
    ],
)
def test_a_change_of_content_or_metadata_moves_the_time_of_last_change(kit: Kit, old: str, new: str) -> None:
    kit.note("Tasks/x.md", type="task", tags="[task]", title="x")
    kit.settled()
    kit.edit("Tasks/x.md", old, new)
    kit.settled()
    text = kit.text("Tasks/x.md")
    assert "updated_at: 2026-03-01T08:00:00.000Z\n" not in text
    assert re.search(r"^updated_at: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$", text, re.MULTILINE)
    assert "created_at: 2026-03-01T08:00:00.000Z\n" in text


@pytest.mark.rule("LT-23")
def test_nothing_but_a_move_leaves_the_time_of_last_change(kit: Kit) -> None:
    kit.note("Wrong/x.md", type="task")
    kit.settled()
    assert "updated_at: 2026-03-01T08:00:00.000Z\n" in kit.text("Tasks/x.md")
    kit.move("Tasks/x.md", "Tasks/sub/x.md")
    kit.settled()
    assert "updated_at: 2026-03-01T08:00:00.000Z\n" in kit.text("Tasks/sub/x.md")


@pytest.mark.rule("LT-24")
def test_tags_are_clean_where_the_keeper_writes_or_knows_them(kit: Kit) -> None:
    made = kit.run("new", title="Tea", type="task")
    kit.run("set", note=made["id"], values={"tags": "#Green Tea, green-tea, #HOT"})
    assert fields(kit, made["id"])["tags"] == ("green-tea", "hot", "task")
    assert "tags:\n  - green-tea\n  - hot\n  - task\n" in kit.text(made["path"])
    kit.note("Decisions/x.md", type="decision", tags="[Mine, '#mine']")
    kit.settled()
    assert set(fields(kit, "Decisions/x.md")["tags"]) == {"mine", "decision"}
    assert "tags: [Mine, '#mine']\n" in kit.text("Decisions/x.md"), "no reason to rewrite it"


@pytest.mark.rule("LT-25")
def test_lists_of_ids_keep_their_order_and_a_dangling_one_is_a_warning(kit: Kit) -> None:
    b, a = kit.note("Archive/b.md", status="superseded"), kit.note("Archive/a.md", status="superseded")
    nobody = "mem_20200101t000000_00000000"
    kit.note("Tasks/x.md", type="task", supersedes=f"[{b}, {nobody}, {a}]")
    kit.settled()
    assert fields(kit, "Tasks/x.md")["supersedes"] == (b, nobody, a)
    dangling = [f for f in kit.check()["findings"] if f["code"] == "dangling-id"]
    assert [(f["path"], f["severity"]) for f in dangling] == [("Tasks/x.md", "warning")]


# lenient reading


@pytest.mark.rule("LT-30")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-10-17", "2026-10-17T00:00:00.000Z"),
        ("2026-10-17 03:12", "2026-10-17T03:12:00.000Z"),
        ("2026-10-17T03:12:05+08:00", "2026-10-16T19:12:05.000Z"),
        ("2026/10/17", "2026-10-17T00:00:00.000Z"),
        ("2026年10月17日", "2026-10-17T00:00:00.000Z"),
        ("1792195200", "2026-10-17T00:00:00.000Z"),
        ("1792195200000", "2026-10-17T00:00:00.000Z"),
    ],
)
def test_a_time_is_read_as_people_write_it_and_left_as_it_is(kit: Kit, written: str, meant: str) -> None:
    kit.note("Tasks/x.md", type="task", created_at=written)
    before = kit.text("Tasks/x.md")
    kit.settled()
    assert fields(kit, "Tasks/x.md")["created_at"] == meant
    assert kit.text("Tasks/x.md") == before
    assert kit.codes("Tasks/x.md") == []


@pytest.mark.rule("LT-32", "K-31")
def test_an_unknown_type_becomes_knowledge_and_the_old_word_is_told_and_kept(kit: Kit) -> None:
    kit.settled()
    kit.note("Tasks/x.md", type="novel", status="finished")
    findings = {f["code"]: f["message"] for f in kit.check()["findings"] if f["path"] == "Tasks/x.md"}
    assert "novel" in findings["unknown-type"]
    assert "finished" in findings["unknown-status"]
    assert fields(kit, "Tasks/x.md")["status"] == "pending", "the cautious value counts at once"
    told = {f["message"] for f in kit.tidy()["findings"] if f["code"] == "word-replaced"}
    assert len([message for message in told if "novel" in message or "finished" in message]) == 2
    assert "type: knowledge\nstatus: pending\n" in kit.text("Inbox/x.md")
    reason = kit.journal()[-1]["reason"]
    assert "novel" in reason
    assert "finished" in reason
    kit.run("rebuild")
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("LT-33")
def test_a_note_that_tells_no_time_has_its_files(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task", id="mem_99999999t999999_0000000a", created_at=None, updated_at=None)
    os.utime(kit.root / "Tasks/x.md", (1_780_000_000, 1_780_000_000))
    kit.settled()
    known = fields(kit, "Tasks/x.md")
    assert known["created_at"] == known["updated_at"] == "2026-05-28T20:26:40.000Z"
    assert "missing-key" in kit.codes("Tasks/x.md")


@pytest.mark.rule("LT-33")
@pytest.mark.parametrize(
    ("written", "meant"), [("999", 100), ("-5", 0), ('"85"', 85), ("much", None), ("85", 85)]
)
def test_importance_is_brought_into_its_bounds(kit: Kit, written: str, meant: int | None) -> None:
    kit.note("Tasks/x.md", type="task", importance=written)
    kit.settled()
    assert fields(kit, "Tasks/x.md")["importance"] == meant
    assert (kit.codes("Tasks/x.md") == []) == (meant == 85)


@pytest.mark.rule("LT-34")
def test_adopting_keeps_what_the_note_says_and_gives_it_a_place(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="decision", status="archived", id="nonsense", title="Mine", colour="red")
    kit.note("Tasks/good.md", type="decision")
    kit.settled()
    assert kit.codes("Tasks/x.md") == ["bad-id"]
    assert (kit.root / "Decisions/good.md").exists(), "the rest works on"
    result = kit.run("adopt", note="Tasks/x.md")
    text = kit.text("Archive/x.md")
    assert re.search(r"^id: mem_\d{8}t\d{6}_[0-9a-f]{8}$", text, re.MULTILINE)
    assert "type: decision\nstatus: archived\ntitle: Mine\n" in text
    assert "colour: red\n" in text
    assert [(a["op"], a["path"], a["to"]) for a in result["actions"] if a["op"] != "page"] == [
        ("move", "Tasks/x.md", "Archive/x.md")
    ]
    with pytest.raises(RefusedError):
        kit.run("adopt", note="Archive/x.md")


@pytest.mark.rule("LT-35")
@pytest.mark.parametrize(
    ("front", "memory"),
    [
        ("id: mem_20260301t080000_0000000a", True),
        ("schema_version: 1", True),
        ("type: decision\nstatus: archived", True),
        ("type: 决策\nstatus: 归档", True),
        ("type: decision", False),
        ("status: archived", False),
        ("type: book\nstatus: archived", False),
        ("type: decision\nstatus: reading", False),
        ("id: 42", False),
        ("title: x\ntags: [a: b]", False),
    ],
)
def test_what_makes_a_note_a_memory(kit: Kit, front: str, memory: bool) -> None:
    text = f"---\n{front}\n---\n\n# x\n"
    kit.write("Somewhere/x.md", text)
    kit.settled()
    report = kit.check()
    assert (report["notes"] + report["quarantined"] == 1) == memory
    if not memory:
        assert kit.text("Somewhere/x.md") == text
        assert kit.codes("Somewhere/x.md") == []


@pytest.mark.rule("LT-36", "LT-41")
def test_a_section_that_cannot_be_read_stays_in_the_file(kit: Kit) -> None:
    body = "# x\n\nintro\n\n```\n## Summary\n\nin a fence that is never closed\n\n## Evidence\n\nlost\n"
    kit.note("Tasks/x.md", type="decision", body=body)
    kit.settled()
    assert kit.text("Decisions/x.md").endswith(body)
    assert fields(kit, "Decisions/x.md")["preview"].startswith("intro")


@pytest.mark.rule("LT-37", "IF-9")
def test_doubled_ids_are_listed_with_paths_and_times(kit: Kit) -> None:
    first = kit.note("Tasks/a.md", type="decision", status="archived")
    kit.note("Tasks/b.md", type="decision", id=first, updated_at="2026-04-01T08:00:00.000Z")
    before = kit.files()
    kit.tidy(all=True, fix_links=True)
    for verb, args in (("archive", {}), ("set", {"values": {"importance": "1"}})):
        with pytest.raises(RefusedError):
            kit.run(verb, note="Tasks/a.md", **args)
    assert kit.files() == before
    (listed,) = daemon.read(kit.root, "duplicates", {})["duplicates"]  # type: ignore[misc]
    assert listed["paths"] == ["Tasks/a.md", "Tasks/b.md"]  # type: ignore[has-type]
    assert listed["updated"] == ["2026-03-01T08:00:00.000Z", "2026-04-01T08:00:00.000Z"]  # type: ignore[has-type]


@pytest.mark.rule("LT-37", "K-34")
def test_the_other_notes_of_a_doubled_id_may_go_to_the_archive(kit: Kit) -> None:
    first = kit.note("Tasks/a.md", type="task")
    kit.note("Tasks/b.md", type="task", id=first)
    kit.note("Tasks/c.md", type="task", id=first)
    kit.settled()
    kit.run("duplicates-keep", id=first, keep="Tasks/b.md", others="archive")
    assert kit.where(first) == ["Tasks/b.md"]
    assert all("status: archived\n" in kit.text(f"Archive/{name}.md") for name in "ac")
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("LT-38")
def test_what_is_missing_is_filled_in_cautiously_and_said(kit: Kit) -> None:
    kit.write("Decisions/A name.md", "---\nid: mem_20260301t080000_0000000a\n---\n\ntext\n")
    kit.write("Elsewhere/b.md", "---\nid: mem_20260302t080000_0000000b\n---\n\n# The heading\n")
    kit.settled()
    a, b = fields(kit, "mem_20260301t080000_0000000a"), fields(kit, "mem_20260302t080000_0000000b")
    assert (a["type"], a["status"], a["title"]) == ("decision", "pending", "A name")
    assert a["created_at"] == a["updated_at"] == "2026-03-01T08:00:00.000Z"
    assert (b["type"], b["status"], b["title"]) == ("knowledge", "pending", "The heading")
    assert kit.where("mem_20260301t080000_0000000a") == ["Inbox/A name.md"]


# the body


@pytest.mark.rule("LT-40")
def test_where_title_and_heading_of_a_new_note_differ_the_frontmatter_wins_with_a_finding(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task", title="A", body="# B\n\ntext\n")
    codes = [finding["code"] for finding in kit.tidy()["findings"]]
    assert "\n# A\n" in kit.text("Tasks/x.md")
    assert "both-title" in codes


@pytest.mark.rule("LT-41")
@pytest.mark.parametrize(
    ("body", "preview"),
    [
        ("# x\n\nintro\n\n## 核心内容\n\n摘要\n\n## More\n\nmore\n", "摘要"),
        ("# x\n\nintro\n\n## Summary\n\nin short\n", "in short"),
        ("# x\n\nfirst\n\nsecond\n\n## More\n\nmore\n", "first second"),
        ("no heading\n", "no heading"),
    ],
)
def test_the_summary_is_its_section_or_what_stands_before_the_first(
    kit: Kit, body: str, preview: str
) -> None:
    kit.note("Tasks/x.md", type="task", body=body)
    kit.settled()
    assert fields(kit, "Tasks/x.md")["preview"] == preview


@pytest.mark.rule("LT-42")
def test_where_both_sides_of_the_evidence_were_changed_the_frontmatter_wins(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task", evidence="one", body="# x\n\n## Evidence\n\none\n")
    kit.settled()
    kit.edit("Tasks/x.md", "evidence: one", "evidence: two")
    kit.edit("Tasks/x.md", "\n\none\n", "\n\nthree\n")
    codes = [finding["code"] for finding in kit.tidy()["findings"]]
    assert "## Evidence\n\ntwo\n" in kit.text("Tasks/x.md")
    assert "both-evidence" in codes


@pytest.mark.rule("LT-42")
@pytest.mark.parametrize(("language", "words"), [("zh", "（暂无可追溯来源）"), ("en", "(no source yet)")])
def test_evidence_that_is_taken_away_reads_as_none_yet(tmp_path: Path, language: str, words: str) -> None:
    kit = Kit.make(tmp_path / "vault", language=language)
    kit.note("Tasks/x.md", type="task", evidence="one", body="# x\n\n## Evidence\n\none\n")
    kit.settled()
    kit.edit("Tasks/x.md", "evidence: one\n", "")
    kit.settled()
    assert f"## Evidence\n\n{words}\n" in kit.text("Tasks/x.md")
    kit.edit("Tasks/x.md", words, "seen")
    kit.settled()
    assert "evidence: seen\n" in kit.text("Tasks/x.md")
    kit.edit("Tasks/x.md", "\n\nseen\n", f"\n\n{words}\n")
    kit.settled()
    assert "evidence:" not in kit.text("Tasks/x.md")


@pytest.mark.rule("LT-43", "K-52")
@pytest.mark.parametrize(
    "written", ["file", "The title", "nick", "mem_20260301t080000_0000000a", "Tasks/file"]
)
def test_links_are_resolved_by_file_name_title_alias_and_id(kit: Kit, written: str) -> None:
    kit.note(
        "Tasks/file.md", type="task", title="The title", aliases="[nick]", id="mem_20260301t080000_0000000a"
    )
    kit.note("Tasks/x.md", type="task", body=f"# x\n\n## Related\n\n- [[{written}]]\n\n## Mine\n\nkept  \n")
    kit.settled()
    assert daemon.read(kit.root, "why", {"note": "file"})["backlinks"] == ["Tasks/x.md"]
    followable = written in {"file", "Tasks/file"}
    assert ("link-by-title" in kit.codes("Tasks/x.md")) != followable
    kit.tidy(fix_links=True)
    text = kit.text("Tasks/x.md")
    assert f"- [[{written}]]\n" in text if followable else f"- [[file|{written}]]\n" in text
    assert text.endswith("\n\n## Mine\n\nkept  \n")
    assert "link-by-title" not in kit.codes("Tasks/x.md")


# catalogue, index pages, journal


@pytest.mark.rule("LT-50")
def test_the_export_is_written_as_the_owner_wants(tmp_path: Path) -> None:
    kit = Kit.make(tmp_path / "vault", export_index="off")
    note_id = kit.note("Tasks/x.md", type="task", body="# x\n\n[[plain]] tea\n")
    kit.write("plain.md", "x\n")
    kit.settled()
    assert not (kit.root / ".dsh-memory/index.json").exists()
    daemon.config_set(kit.root, "export_index", "auto")
    kit.run("set", note="x", values={"importance": "9"})
    found = export(kit)
    assert (found["version"], found["vaultPath"]) == (3, str(kit.root))
    (record,) = found["records"].values() if isinstance(found["records"], dict) else found["records"]
    assert record["id"] == note_id
    stat = (kit.root / "Tasks/x.md").stat()
    assert record["size"] == stat.st_size
    assert re.fullmatch(r"[0-9a-f]{8}", record["checksum"])
    assert "postings" not in found
    assert "backlinks" not in found


@pytest.mark.rule("LT-51")
@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: text.replace('"version":3', '"version":4').replace('"version": 3', '"version": 4'),
        lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "records"}),
        lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "vaultPath"}),
        lambda text: json.dumps({**json.loads(text), "vaultPath": "/another/vault"}),
        lambda text: json.dumps({**json.loads(text), "records": 7}),
    ],
    ids=["empty", "cut", "list", "version", "no-records", "no-path", "another-vault", "wrong-type"],
)
def test_catalog_and_export_that_are_worth_nothing_are_made_again_without_a_word(
    kit: Kit, home: Path, damage: Any
) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    before = export(kit)
    kit.write(".dsh-memory/index.json", damage(kit.text(".dsh-memory/index.json")))
    for file in (home / "cache").rglob("catalog*"):
        file.write_bytes(b"\0nonsense" + file.read_bytes()[9:])
    result = kit.tidy()
    assert result["actions"] == []
    assert result["findings"] == []
    after = export(kit)
    assert {**after, "builtAt": 0} == {**before, "builtAt": 0}


@pytest.mark.rule("LT-51", "K-35")
def test_a_valid_export_is_a_starting_point_where_the_catalog_is_lost(kit: Kit, home: Path) -> None:
    note_id = kit.note("Decisions/x.md", type="decision")
    kit.settled()
    shutil.rmtree(home / "cache")
    kit.move("Decisions/x.md", "Archive/x.md")
    kit.settled()
    assert kit.where(note_id) == ["Archive/x.md"], "a drag that was made while the catalog was lost"
    assert "status: archived\n" in kit.text("Archive/x.md")


@pytest.mark.rule("LT-51", "K-33")
def test_a_file_of_the_same_size_and_time_is_not_read(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    stat = (kit.root / "Tasks/x.md").stat()
    kit.edit("Tasks/x.md", "status: active", "status: arched")
    os.utime(kit.root / "Tasks/x.md", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert fields(kit, "Tasks/x.md")["status"] == "active"


@pytest.mark.rule("LT-52")
def test_only_pages_whose_content_changes_are_written(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.note("Decisions/y.md", type="decision")
    kit.settled()
    stats = {file: file.stat().st_ino for file in (kit.root / "Index").iterdir()}
    result = kit.run("archive", note="x")
    written = {action["path"] for action in result["actions"] if action["op"] == "page"}
    changed = {
        file.relative_to(kit.root).as_posix() for file, inode in stats.items() if file.stat().st_ino != inode
    }
    assert changed == written
    assert {"Index/All.md", "Index/Tasks.md"} <= written
    assert not {"Index/Decisions.md", "Index/Pinned.md", "Index/Health.md"} & written


@pytest.mark.rule("LT-52")
def test_there_is_a_page_for_every_list_and_titles_stay_readable_on_it(kit: Kit) -> None:
    title = "a | b [c] #d"
    kit.note("Tasks/x.md", type="task", title=f"'{title}'", pinned="true", body=f"# {title}\n")
    kit.settled()
    pages = {file.stem for file in (kit.root / "Index").glob("*.md")}
    assert {"All", "Tags", "Pinned", "Recent", "Health"} <= pages
    assert len(pages) == 8 + 5 + 5
    assert "[[x|" in kit.text("Index/Pinned.md")
    assert "(1)" in kit.text("Index/Pinned.md")


@pytest.mark.rule("LT-54")
def test_the_bases_view_is_made_when_missing_and_never_rewritten_once_changed(kit: Kit) -> None:
    kit.settled()
    view = kit.text("Index/Memories.base")
    assert "views:" in view
    (kit.root / "Index/Memories.base").unlink()
    assert "Index/Memories.base" in {action["path"] for action in kit.tidy()["actions"]}
    assert kit.text("Index/Memories.base") == view
    kit.write("Index/Memories.base", view + "# mine\n")
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    daemon.config_set(kit.root, "language", "zh")
    kit.settled()
    kit.run("rebuild")
    assert kit.text("Index/Memories.base") == view + "# mine\n"


@pytest.mark.rule("LT-54")
def test_there_is_no_bases_view_where_the_owner_wants_none(tmp_path: Path) -> None:
    kit = Kit.make(tmp_path / "vault", bases=False)
    kit.settled()
    assert not (kit.root / "Index/Memories.base").exists()


@pytest.mark.rule("LT-53", "LT-60")
def test_every_step_of_life_has_its_word_in_the_journal(kit: Kit) -> None:
    assert [line["op"] for line in kit.journal()] == ["init"]
    names = "abcdefghij"
    ids = {name: kit.note(f"Tasks/{name}.md", type="task") for name in names}
    for name in "ab":
        kit.edit(f"Tasks/{name}.md", "status: active", "status: pending")
    kit.settled()
    kit.run("rebuild")
    steps: list[tuple[str, dict[str, object], dict[str, str]]] = [
        ("confirm", {"note": "a"}, {"a": "confirm"}),
        ("reject", {"note": "b"}, {"b": "reject"}),
        ("archive", {"note": "c"}, {"c": "archive"}),
        ("stale", {"note": "d"}, {"d": "stale"}),
        ("restore", {"note": "c"}, {"c": "update"}),
        ("supersede", {"old": "e", "new": "f"}, {"e": "supersede", "f": "update"}),
        ("conflict", {"a": "g", "b": "h"}, {"g": "conflict", "h": "conflict"}),
        ("merge", {"source": "i", "into": "j"}, {"i": "supersede", "j": "merge"}),
        ("set", {"note": "a", "values": {"importance": "5"}}, {"a": "update"}),
    ]
    for verb, args, ops in steps:
        before = len(kit.journal())
        kit.run(verb, **args)
        lines = kit.journal()[before:]
        assert {line["id"]: line["op"] for line in lines} == {ids[name]: op for name, op in ops.items()}, verb
        assert all(line["source"] == "cli" and line["at"] and line["reason"] for line in lines)
    assert "index-rebuild" in [line["op"] for line in kit.journal()]
    confirmed = next(line for line in kit.journal() if line["op"] == "confirm")
    assert (confirmed["from"], confirmed["to"]) == ("Inbox/a.md", "Tasks/a.md")
    assert confirmed["before"] == "[task/pending] a :: Some text."
    assert confirmed["after"] == "[task/active] a :: Some text."


@pytest.mark.rule("LT-53")
def test_a_move_has_the_op_of_what_caused_it_and_a_repair_is_an_update(kit: Kit) -> None:
    moved = kit.note("Tasks/moved.md", type="task")
    mended = kit.note("Tasks/mended.md", type="task")
    kit.settled()
    kit.move("Tasks/moved.md", "Archive/moved.md")
    kit.edit("Tasks/mended.md", "title: mended", "title: mended: it")
    kit.settled()
    last = {line["id"]: line for line in kit.journal()}
    assert last[moved]["op"] == "archive"
    assert last[mended]["op"] == "update"


@pytest.mark.rule("LT-53")
def test_the_journal_quotes_no_more_than_160_characters(kit: Kit) -> None:
    made = kit.run("new", title="long", text="茶" * 500)
    line = next(line for line in kit.journal() if line["id"] == made["id"])
    assert line["after"] == f"[knowledge/active] long :: {'茶' * 160}"


# the life of a note


@pytest.mark.rule("LT-60")
@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("supersede", {"old": "a", "new": "b"}),
        ("conflict", {"a": "a", "b": "b"}),
        ("merge", {"source": "a", "into": "b"}),
    ],
)
@pytest.mark.parametrize("obstacle", ["markers", "off", "read-only", "newer-schema"])
def test_both_sides_are_changed_or_neither(
    kit: Kit, verb: str, args: dict[str, object], obstacle: str
) -> None:
    kit.note("Tasks/a.md", type="task")
    kit.note("Tasks/b.md", type="task", vaultkeeper="off" if obstacle == "off" else None)
    if obstacle == "newer-schema":
        kit.edit("Tasks/b.md", "schema_version: 1", "schema_version: 2")
    kit.settled()
    if obstacle == "markers":
        kit.write("Tasks/b.md", kit.text("Tasks/b.md") + "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n")
    if obstacle == "read-only":
        (kit.root / "Tasks/b.md").chmod(0o444)
    before = kit.files()
    with pytest.raises((RefusedError, ConflictError)):
        kit.run(verb, **args)
    assert kit.files() == before
    kit.tidy()
    assert kit.files() == before


@pytest.mark.rule("LT-60")
def test_a_note_with_two_conflicts_stays_in_conflict_until_both_are_settled(kit: Kit) -> None:
    for name in "abc":
        kit.note(f"Tasks/{name}.md", type="task")
    kit.settled()
    kit.run("conflict", a="a", b="b")
    kit.run("conflict", a="a", b="c")
    kit.run("resolve", a="a", b="b", keep="both")
    assert (kit.root / "Conflicts/a.md").exists()
    assert (kit.root / "Tasks/b.md").exists()
    kit.run("resolve", a="a", b="c", keep="B")
    assert "status: superseded\n" in kit.text("Archive/a.md")
    assert not [code for code in kit.codes() if code.startswith("pair-")]


@pytest.mark.rule("LT-60")
def test_restoring_a_superseded_note_unties_both_sides(kit: Kit) -> None:
    kit.note("Tasks/a.md", type="task")
    kit.note("Tasks/b.md", type="task")
    kit.settled()
    kit.run("supersede", old="a", new="b")
    kit.run("restore", note="a")
    assert "superseded_by" not in kit.text("Tasks/a.md")
    assert "supersedes" not in kit.text("Tasks/b.md")
    assert not [code for code in kit.codes() if code.startswith("pair-")]


@pytest.mark.rule("LT-60")
@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("supersede", {"old": "a", "new": "a"}),
        ("conflict", {"a": "a", "b": "a"}),
        ("merge", {"source": "a", "into": "a"}),
        ("resolve", {"a": "a", "b": "b", "keep": "A"}),
    ],
)
def test_a_step_that_makes_no_sense_is_refused(kit: Kit, verb: str, args: dict[str, object]) -> None:
    kit.note("Tasks/a.md", type="task")
    kit.note("Tasks/b.md", type="task")
    kit.settled()
    before = kit.files()
    with pytest.raises(RefusedError):
        kit.run(verb, **args)
    assert kit.files() == before


@pytest.mark.rule("LT-61")
def test_each_kind_of_broken_pair_is_told_and_repaired_without_raising_trust(kit: Kit) -> None:
    b = kit.note("Tasks/b.md", type="task")
    a = kit.note("Archive/a.md", status="superseded", superseded_by=b)
    d = kit.note("Archive/d.md", status="superseded")
    kit.note("Tasks/c.md", type="task", supersedes=f"[{d}]")
    f = kit.note("Conflicts/f.md", status="conflict")
    e = kit.note("Conflicts/e.md", status="conflict", conflicts_with=f"[{f}]")
    kit.settled()
    before = kit.files()
    told = {(finding["code"], finding["path"]) for finding in kit.check()["findings"]}
    assert {
        ("pair-one-sided", "Archive/a.md"),
        ("pair-one-sided", "Tasks/c.md"),
        ("pair-one-sided", "Conflicts/e.md"),
    } <= told
    assert kit.tidy()["actions"] == [], "only on request"
    assert kit.files() == before
    kit.tidy(fix_links=True)
    assert f"supersedes: [{a}]\n" in kit.text("Tasks/b.md")
    assert re.search(r"superseded_by: mem_", kit.text("Archive/d.md"))
    assert f"conflicts_with: [{e}]\n" in kit.text("Conflicts/f.md")
    assert not [code for code in kit.codes() if code.startswith("pair-")]
    assert kit.tidy(fix_links=True)["actions"] == []


@pytest.mark.rule("LT-63")
def test_a_note_is_active_only_where_a_person_asked_for_it(kit: Kit) -> None:
    asked, pending = (
        kit.run("new", title="Asked", type="task"),
        kit.run("new", title="Maybe", type="task", pending=True),
    )
    assert "status: active\n" in kit.text(asked["path"])
    assert asked["path"].startswith("Tasks/")
    assert "status: pending\n" in kit.text(pending["path"])
    assert pending["path"].startswith("Inbox/")
