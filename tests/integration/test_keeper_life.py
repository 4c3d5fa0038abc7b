"""The life of a note, undo, dry runs, and what is remembered of both (LT-60, LT-61, LT-63, K-50 to K-52)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit import Kit, Result
from vaultkeeper import daemon
from vaultkeeper.core.errors import RefusedError, UserError


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit.make(tmp_path / "vault")


@pytest.mark.rule("LT-60", "IF-8")
@pytest.mark.parametrize(
    ("verb", "start", "folder", "status", "op"),
    [
        ("confirm", "pending", "Tasks", "active", "confirm"),
        ("reject", "pending", "Archive", "archived", "reject"),
        ("archive", "active", "Archive", "archived", "archive"),
        ("stale", "active", "Tasks", "stale", "stale"),
        ("restore", "archived", "Tasks", "active", "update"),
    ],
)
def test_each_verb_changes_the_status_and_the_place(
    kit: Kit, verb: str, start: str, folder: str, status: str, op: str
) -> None:
    note_id = kit.note("Tasks/x.md", type="task", status=start)
    kit.settled()
    result = kit.run(verb, note=note_id)
    assert kit.where(note_id) == [f"{folder}/x.md"]
    assert f"status: {status}\n" in kit.text(f"{folder}/x.md")
    assert result["batch"]
    assert kit.journal()[-1]["op"] == op
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("LT-60")
def test_a_verb_that_does_not_fit_the_status_is_refused(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    before = kit.files()
    with pytest.raises(RefusedError, match="is active"):
        kit.run("confirm", note="x")
    assert kit.files() == before


@pytest.mark.rule("LT-60")
def test_supersede_changes_both_sides_in_one_batch(kit: Kit) -> None:
    old, new = kit.note("Tasks/old.md", type="task"), kit.note("Tasks/new.md", type="task")
    kit.settled()
    result = kit.run("supersede", old="old", new="new")
    assert kit.where(old) == ["Archive/old.md"]
    assert f"superseded_by: {new}\n" in kit.text("Archive/old.md")
    assert f"supersedes: [{old}]\n" in kit.text("Tasks/new.md")
    assert [a["path"] for a in result["actions"] if a["op"] != "page"] == ["Tasks/new.md", "Tasks/old.md"]
    assert not [c for c in kit.codes() if c.startswith("pair-")]
    kit.run("undo")
    assert kit.where(old) == ["Tasks/old.md"]
    assert "supersedes" not in kit.text("Tasks/new.md")


@pytest.mark.rule("LT-60", "LT-61")
def test_superseding_in_a_circle_is_refused(kit: Kit) -> None:
    kit.note("Tasks/a.md", type="task")
    kit.note("Tasks/b.md", type="task")
    kit.settled()
    kit.run("supersede", old="a", new="b")
    with pytest.raises(RefusedError):
        kit.run("supersede", old="b", new="a")


@pytest.mark.rule("LT-60")
@pytest.mark.parametrize(
    ("keep", "where"),
    [("A", ("Tasks", "Archive")), ("B", ("Archive", "Tasks")), ("both", ("Tasks", "Tasks"))],
)
def test_a_conflict_is_marked_and_resolved(kit: Kit, keep: str, where: tuple[str, str]) -> None:
    a, b = kit.note("Tasks/a.md", type="task"), kit.note("Tasks/b.md", type="task")
    kit.settled()
    kit.run("conflict", a="a", b="b")
    assert kit.where(a) == ["Conflicts/a.md"]
    assert f"conflicts_with: [{a}]\n" in kit.text("Conflicts/b.md")
    kit.run("resolve", a="a", b="b", keep=keep)
    assert kit.where(a) == [f"{where[0]}/a.md"]
    assert kit.where(b) == [f"{where[1]}/b.md"]
    assert "conflicts_with" not in kit.text(f"{where[0]}/a.md")
    assert not [c for c in kit.codes() if c.startswith("pair-")]


@pytest.mark.rule("LT-60")
def test_merge_keeps_every_section_and_supersedes_the_merged_note(kit: Kit) -> None:
    a = kit.note("Tasks/a.md", type="task", body="# a\n\n## Summary\n\nfirst\n\n## Steps\n\n1. one\n")
    kit.note("Tasks/b.md", type="task", body="# b\n\n## Summary\n\nsecond\n")
    kit.settled()
    kit.run("merge", source="a", into="b")
    text = kit.text("Tasks/b.md")
    assert "## Summary\n\nsecond\n" in text
    assert "## a\n\nfirst\n" in text
    assert "## Steps\n\n1. one\n" in text
    assert kit.where(a) == ["Archive/a.md"]


@pytest.mark.rule("LT-61")
def test_broken_pairs_are_found_and_repaired_on_request(kit: Kit) -> None:
    a, b = kit.note("Archive/a.md", status="superseded"), kit.note("Knowledge/b.md")
    kit.edit("Archive/a.md", "schema_version", f"superseded_by: {b}\nschema_version")
    kit.note("Archive/alone.md", status="superseded")
    kit.settled()
    assert {"pair-one-sided", "pair-alone"} <= set(kit.codes())
    kit.tidy(fix_links=True)
    assert f"supersedes: [{a}]\n" in kit.text("Knowledge/b.md")
    assert "status: archived\n" in kit.text("Archive/alone.md")
    assert not [c for c in kit.codes() if c.startswith("pair-")]


@pytest.mark.rule("LT-61", "LT-25")
def test_circles_and_dangling_ids_are_findings(kit: Kit) -> None:
    a, b = "mem_20260101t000000_0000000a", "mem_20260102t000000_0000000b"
    kit.note("Archive/a.md", status="superseded", id=a, superseded_by=b, supersedes=f"[{b}]")
    kit.note(
        "Archive/b.md",
        status="superseded",
        id=b,
        superseded_by=a,
        supersedes=f"[{a}, mem_20200101t000000_00000000]",
    )
    kit.settled()
    assert {"pair-cycle", "dangling-id"} <= set(kit.codes())
    kit.tidy(fix_links=True)
    assert "pair-cycle" not in kit.codes()


@pytest.mark.rule("LT-43")
def test_links_by_title_are_found_and_written_so_that_obsidian_follows(kit: Kit) -> None:
    kit.note("Tasks/file name.md", type="task", title="The title", aliases="[nick]")
    kit.note("Tasks/x.md", type="task", body="# x\n\n[[The title]] [[nick|shown]] [[file name]]\n")
    kit.settled()
    assert kit.codes("Tasks/x.md") == ["link-by-title", "link-by-title"]
    kit.tidy(fix_links=True)
    assert "[[file name|The title]] [[file name|shown]] [[file name]]\n" in kit.text("Tasks/x.md")
    why = daemon.read(kit.root, "why", {"note": "The title"})
    assert why["backlinks"] == ["Tasks/x.md"]


@pytest.mark.rule("IF-7", "LT-12", "LT-20", "LT-21", "K-92")
def test_a_new_note_stands_in_its_place_with_all_its_keys(kit: Kit) -> None:
    result = kit.run("new", title="茶: 白/绿?", type="decision", text="White tea keeps.")
    assert result["committed"]
    text = kit.text(result["path"])
    assert result["path"] == f"Decisions/茶 白 绿-{result['id']}.md"
    keys = [
        line.split(":")[0] for line in text.split("---")[1].strip().splitlines() if not line.startswith(" ")
    ]
    assert keys == ["id", "type", "status", "title", "created_at", "updated_at", "tags", "schema_version"]
    assert text.splitlines()[result["line"] - 1] == "# 茶: 白/绿?"
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("LT-63")
def test_a_pending_note_waits_in_the_inbox(kit: Kit) -> None:
    assert kit.run("new", title="Maybe", pending=True)["path"].startswith("Inbox/")


@pytest.mark.rule("IF-7", "LT-22")
def test_set_refuses_what_a_key_cannot_have(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    before = kit.files()
    for values in (
        {"status": "nonsense"},
        {"importance": "101"},
        {"id": "x"},
        {"created_at": "2020-01-01"},
        {"title": ""},
    ):
        with pytest.raises(UserError):
            kit.run("set", note="x", values=values)
    assert kit.files() == before


@pytest.mark.rule("K-90", "K-91")
def test_a_credential_is_refused_without_its_value_being_said(kit: Kit) -> None:
    secret = "AKIA" + "ABCDEFGHIJKLMNOP"
    before = kit.files(derived=True)
    with pytest.raises(RefusedError) as refused:
        kit.run("new", title="Keys", text=f"first line\nkey {secret}")
    assert refused.value.code == "secret"
    assert "line 2" in str(refused.value)
    assert secret not in str(refused.value)
    assert kit.files(derived=True) == before


@pytest.mark.rule("K-90")
def test_a_near_duplicate_is_named(kit: Kit) -> None:
    kit.run(
        "new", title="White tea keeps at room temperature", text="Keep it dry and dark, away from spices."
    )
    result = kit.run(
        "new", title="White tea keeps at room temperature", text="Keep it dry, dark, away from spices."
    )
    assert len(result["warnings"]) == 1


@pytest.mark.rule("K-50")
def test_undo_takes_a_tidy_back_to_the_byte_and_holds_it(kit: Kit) -> None:
    kit.settled()
    kit.note("Wrong/x.md", type="task", status="归档")
    kit.note("Tasks/y.md", type="task", title="a: b")
    before = kit.files()
    kit.tidy()
    assert kit.files() != before
    kit.run("undo")
    assert kit.files() == before
    assert kit.tidy()["actions"] == [], "what was taken back is not done again by itself"
    assert "held" in kit.codes("Wrong/x.md")
    assert "held" in kit.codes("Tasks/y.md")
    why = daemon.read(kit.root, "why", {"note": "Wrong/x.md"})
    assert why["held"] is True
    assert str(why["reason"]).endswith("stays there, since its move was taken back")
    kit.edit("Tasks/y.md", "Some text.", "Changed.")
    kit.tidy()
    assert kit.text("Tasks/y.md") != before["Tasks/y.md"].decode()
    assert kit.files()["Wrong/x.md"] == before["Wrong/x.md"]
    kit.tidy(all=True)
    assert "Archive/x.md" in kit.files()


@pytest.mark.rule("K-50")
def test_undo_restores_index_pages_too_and_can_itself_be_undone(kit: Kit) -> None:
    kit.note("Tasks/y.md", type="task")
    kit.settled()
    before = kit.files(derived=True)
    kit.run("archive", note="y")
    after = kit.files(derived=True)
    done = kit.run("undo")
    pages = {path: data for path, data in before.items() if not path.startswith(".dsh-memory")}
    assert {p: d for p, d in kit.files(derived=True).items() if not p.startswith(".dsh-memory")} == pages
    kit.run("undo", batch=done["batch"])
    assert {p: d for p, d in kit.files(derived=True).items() if not p.startswith(".dsh-memory")} == {
        p: d for p, d in after.items() if not p.startswith(".dsh-memory")
    }


@pytest.mark.rule("K-50")
def test_index_pages_that_were_taken_back_are_held_too(kit: Kit) -> None:
    kit.settled()
    batch = kit.tidy(all=True)["batch"]
    assert batch is None
    kit.run("undo")
    assert not (kit.root / "Index/All.md").exists()
    assert kit.tidy()["actions"] == []
    assert "held" in kit.codes("Index/All.md")
    assert kit.tidy(all=True)["actions"]
    assert (kit.root / "Index/All.md").exists()
    assert "held" not in kit.codes()


@pytest.mark.rule("K-50")
def test_undo_refuses_a_file_that_changed_since_and_shows_the_difference(kit: Kit) -> None:
    kit.note("Tasks/y.md", type="task")
    kit.settled()
    kit.run("archive", note="y")
    kit.edit("Archive/y.md", "Some text.", "Typed since.")
    result = kit.run("undo")
    refused = {each["path"]: each["diff"] for each in result["refused"]}
    assert "Typed since." in refused["Archive/y.md"]
    assert "Typed since." in kit.text("Archive/y.md")


@pytest.mark.rule("K-51")
@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("tidy", {}),
        ("archive", {"note": "y"}),
        ("supersede", {"old": "y", "new": "z"}),
        ("new", {"title": "New"}),
        ("set", {"note": "y", "values": {"importance": "9"}}),
        ("adopt", {"note": "plain"}),
        ("undo", {}),
        ("rebuild", {}),
    ],
)
def test_a_dry_run_prints_the_plan_and_changes_nothing(kit: Kit, verb: str, args: dict[str, object]) -> None:
    kit.note("Tasks/y.md", type="task")
    kit.note("Tasks/z.md", type="task")
    kit.write("plain.md", "plain\n")
    kit.settled()
    kit.note("Tasks/wrong.md", type="decision")
    before = kit.files(derived=True)
    result = kit.run(verb, dry_run=True, **args)
    assert kit.files(derived=True) == before
    assert result["actions"]


@pytest.mark.rule("K-52", "IF-9")
def test_why_explains_the_place_and_the_last_actions(kit: Kit) -> None:
    kit.note("Tasks/y.md", type="task")
    kit.settled()
    kit.run("archive", note="y")
    why: Result = daemon.read(kit.root, "why", {"note": "y"})
    assert (why["path"], why["place"], why["rule"]) == ("Archive/y.md", "Archive", "LT-10")
    assert "status archived" in why["reason"]
    assert why["actions"][-1]["path"] == "Tasks/y.md"


@pytest.mark.rule("LT-53")
def test_the_journal_tells_what_happened_and_who_did_it(kit: Kit) -> None:
    kit.settled()
    note_id = kit.note("Tasks/x.md", type="task")
    kit.settled()
    kit.edit("Tasks/x.md", "status: active", "status: archived")
    kit.settled()
    kit.edit("Archive/x.md", "Some text.", "Other text.")
    kit.settled()
    (kit.root / "Archive/x.md").unlink()
    kit.settled()
    lines = [line for line in kit.journal() if line["id"] == note_id]
    assert [line["op"] for line in lines] == ["create", "archive", "update", "delete"]
    assert lines[1]["from"] == "Tasks/x.md"
    assert lines[1]["to"] == "Archive/x.md"
    assert lines[1]["before"].startswith("[task/active] x :: ")
    assert lines[1]["after"].startswith("[task/archived] x :: ")
