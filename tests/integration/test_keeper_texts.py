"""What becomes of a note's bytes: repairs, title and H1, evidence, the time of last change (LT-2x to LT-4x, K-3, K-4)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.kit import Kit


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit.make(tmp_path / "vault")


def changed_lines(before: str, after: str) -> set[str]:
    return set(after.splitlines()) ^ set(before.splitlines())


@pytest.mark.rule("K-3", "LT-23")
def test_a_status_change_touches_that_note_only_where_it_has_to(kit: Kit) -> None:
    kit.write(
        "Decisions/x.md",
        "---\nzeta: 1   # mine\nid: mem_20260301t080000_0000000a\n\n# section\ntype: decision\nstatus:   active\n"
        "title: 'a \"quoted\" one'\nAlpha: { b: 2, a: 1 }\ntags: [x,  y]\ncreated_at: 2026-03-01\n"
        'updated_at: 2026-03-01T08:00:00.000Z\n---\n\n# a "quoted" one\n\nbody without a last newline',
    )
    kit.settled()
    kit.edit("Decisions/x.md", "status:   active", "status:   archived")
    before = kit.text("Decisions/x.md")
    kit.settled()
    after = kit.text("Archive/x.md")
    assert {line.split(":")[0] for line in changed_lines(before, after)} == {"updated_at"}
    assert after.endswith("last newline")


@pytest.mark.rule("K-4")
@pytest.mark.parametrize("form", ["bom", "crlf", "cr"])
def test_newlines_and_bom_alone_are_no_reason_to_rewrite(kit: Kit, form: str) -> None:
    text = "---\nid: mem_20260301t080000_0000000a\ntype: task\nstatus: active\ntitle: t\n---\n\n# t\n\nbody\n"
    data = {
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "crlf": text.replace("\n", "\r\n").encode(),
        "cr": text.replace("\n", "\r").encode(),
    }
    kit.write("Tasks/t.md", data[form])
    kit.settled()
    assert (kit.root / "Tasks/t.md").read_bytes() == data[form]
    kit.run("set", note="t", values={"importance": "7"})
    written = (kit.root / "Tasks/t.md").read_bytes()
    assert b"\r" not in written
    assert not written.startswith(b"\xef\xbb\xbf")
    assert b"importance: 7\n" in written


@pytest.mark.rule("K-5")
@pytest.mark.parametrize(
    "data", [b"---\nid: mem_20260301t080000_0000000a\n---\n\xff\xfe\x00bad", b"\0" * 400]
)
def test_what_is_no_text_is_quarantined_and_untouched(kit: Kit, data: bytes) -> None:
    kit.write("Tasks/t.md", data)
    kit.note("Tasks/good.md", type="decision")
    kit.settled()
    assert (kit.root / "Tasks/t.md").read_bytes() == data
    assert kit.check()["quarantined"] == 1
    assert (kit.root / "Decisions/good.md").exists(), "K-2: one bad note never spoils the rest"


@pytest.mark.rule("K-2")
def test_a_memory_that_became_empty_is_not_believed_and_not_moved(kit: Kit) -> None:
    kit.note("Tasks/t.md", type="task")
    kit.settled()
    kit.write("Tasks/t.md", b"")
    kit.settled()
    assert (kit.root / "Tasks/t.md").read_bytes() == b""
    assert "emptied" in kit.codes("Tasks/t.md")


@pytest.mark.rule("K-13", "LT-31")
def test_slips_are_mended_on_their_own_lines(kit: Kit) -> None:
    kit.write(
        "Tasks/t.md",
        "---\nid: mem_20260301t080000_0000000a\ntype: task\nstatus：active\ntitle: a: b\ntags: #x #y\nother: keep  # me\n---\n\n# a: b\n\nbody\n",
    )
    kit.settled()
    lines = kit.text("Tasks/t.md").splitlines()
    assert (
        lines[3:7] == ["status: active", 'title: "a: b"', 'tags: "#x #y"', "other: keep  # me"]
        or lines[4] == "title: 'a: b'"
    )
    assert not [c for c in kit.codes("Tasks/t.md") if c.startswith("slip-")]


@pytest.mark.rule("LT-32")
def test_words_in_other_forms_are_understood_and_written_as_the_formats(kit: Kit) -> None:
    kit.note("x.md", type="决策", status="归档")
    kit.settled()
    text = kit.text("Archive/x.md")
    assert "type: decision\n" in text
    assert "status: archived\n" in text


@pytest.mark.rule("LT-32")
def test_an_unknown_status_is_pending_and_the_journal_keeps_the_word(kit: Kit) -> None:
    kit.settled()
    kit.note("Tasks/x.md", type="task", status="finished")
    kit.tidy()
    assert "status: pending\n" in kit.text("Inbox/x.md")
    assert "finished" in kit.journal()[-1]["reason"]


@pytest.mark.rule("LT-40")
def test_title_and_heading_follow_each_other(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task", title="Old", body="# Old\n\ntext\n")
    kit.settled()
    kit.edit("Tasks/x.md", "# Old", "# New heading")
    kit.settled()
    assert "title: New heading\n" in kit.text("Tasks/x.md")
    kit.edit("Tasks/x.md", "title: New heading", "title: New title")
    kit.settled()
    assert "\n# New title\n" in kit.text("Tasks/x.md")


@pytest.mark.rule("LT-40")
def test_where_title_and_heading_were_both_changed_the_frontmatter_wins(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task", title="Old", body="# Old\n\ntext\n")
    kit.settled()
    kit.edit("Tasks/x.md", "# Old", "# B")
    kit.edit("Tasks/x.md", "title: Old", "title: A")
    codes = [finding["code"] for finding in kit.tidy()["findings"]]
    assert "\n# A\n" in kit.text("Tasks/x.md")
    assert "both-title" in codes


@pytest.mark.rule("LT-40")
def test_a_missing_heading_is_added_only_when_the_note_is_written(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task", title="T", body="just text\n")
    kit.settled()
    assert "# T" not in kit.text("Tasks/x.md")
    kit.run("set", note="Tasks/x.md", values={"importance": "3"})
    assert "\n# T\n\njust text\n" in kit.text("Tasks/x.md")


@pytest.mark.rule("LT-42")
def test_evidence_and_its_section_mirror_each_other(kit: Kit) -> None:
    body = "# x\n\n## Summary\n\ns\n\n## Evidence\n\n(no source yet)\n\n## Mine\n\nkept\n"
    kit.note("Tasks/x.md", type="task", body=body)
    kit.settled()
    kit.edit("Tasks/x.md", "schema_version: 1", "evidence: heard it\nschema_version: 1")
    kit.settled()
    assert "## Evidence\n\nheard it\n\n## Mine\n\nkept\n" in kit.text("Tasks/x.md")
    kit.edit("Tasks/x.md", "\nheard it\n", "\nread it\n")
    kit.settled()
    assert "evidence: read it\n" in kit.text("Tasks/x.md")


@pytest.mark.rule("LT-42")
def test_a_section_beside_a_field_that_was_never_there_keeps_its_words(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task", body="# x\n\ntext\n\n## Evidence\n\nseen on a phone\n")
    kit.settled()
    kit.edit("Tasks/x.md", "\ntext\n", "\nother text\n")
    kit.settled()
    assert kit.text("Tasks/x.md").endswith("\n\nother text\n\n## Evidence\n\nseen on a phone\n")


@pytest.mark.rule("LT-23")
def test_the_time_of_last_change_is_the_files_own_time(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    kit.edit("Tasks/x.md", "Some text.", "Other text.")
    os.utime(kit.root / "Tasks/x.md", (1_780_000_000, 1_780_000_000))
    kit.settled()
    assert "updated_at: 2026-05-28T20:26:40.000Z\n" in kit.text("Tasks/x.md")


@pytest.mark.rule("LT-23")
def test_a_change_that_brings_its_own_newer_time_keeps_it(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    kit.edit("Tasks/x.md", "Some text.", "Other text.")
    kit.edit("Tasks/x.md", "updated_at: 2026-03-01T08:00:00.000Z", "updated_at: 2026-04-01T08:00:00.000Z")
    before = kit.text("Tasks/x.md")
    kit.settled()
    assert kit.text("Tasks/x.md") == before


@pytest.mark.rule("LT-23", "K-4")
def test_created_at_stays_as_the_person_wrote_it(kit: Kit) -> None:
    for number, quote in enumerate(("", "'", '"')):
        kit.note(f"Tasks/{number}.md", type="task", created_at=f"{quote}2026-01-20T16:01:25+01:00{quote}")
    kit.settled()
    for number, quote in enumerate(("", "'", '"')):
        kit.edit(f"Tasks/{number}.md", "Some text.", "Other text.")
        kit.settled()
        assert f"created_at: {quote}2026-01-20T16:01:25+01:00{quote}\n" in kit.text(f"Tasks/{number}.md")


@pytest.mark.rule("K-54")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "---\nid: mem_20260301t080000_0000000a\ntype: decision\nstatus: archived\ntitle: {{title}}\n---\n",
            "template",
        ),
        (
            "---\nid: mem_20260301t080000_0000000a\ntype: task\n<<<<<<< HEAD\nstatus: active\n=======\n"  # noqa: ISC004
            "status: archived\n>>>>>>> main\ntitle: t\n---\nbody\n",
            "conflict-markers",
        ),
    ],
)
def test_templates_and_conflicted_notes_are_never_touched(kit: Kit, text: str, code: str) -> None:
    kit.write("Tasks/x.md", text)
    kit.settled()
    assert kit.text("Tasks/x.md") == text
    assert code in kit.codes("Tasks/x.md")


@pytest.mark.rule("LT-38")
def test_a_note_of_a_newer_schema_is_read_but_never_written(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="decision", status="archived", schema_version=2)
    before = kit.files()
    kit.settled()
    assert kit.files() == before
    assert "newer-schema" in kit.codes("Tasks/x.md")


@pytest.mark.rule("LT-34")
def test_a_note_without_a_good_id_is_quarantined_until_it_is_adopted(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="decision", id="mem_oops")
    kit.note("Decisions/y.md", type="decision", id=None)
    before = kit.files()
    kit.settled()
    assert kit.files() == before
    assert kit.check()["quarantined"] == 2
    kit.run("adopt", note="Tasks/x.md")
    kit.run("adopt", note="Decisions/y.md")
    assert (kit.root / "Decisions/x.md").exists()
    assert kit.check()["quarantined"] == 0
    assert "id: mem_" in kit.text("Decisions/y.md")


@pytest.mark.rule("LT-34")
def test_a_plain_note_can_be_adopted(kit: Kit) -> None:
    kit.write("Knowledge/plain.md", "# Tea\n\nWhite tea keeps.\n")
    kit.settled()
    kit.run("adopt", note="Knowledge/plain.md")
    text = kit.text("Knowledge/plain.md")
    assert text.endswith("# Tea\n\nWhite tea keeps.\n")
    assert "type: knowledge\n" in text
    assert "title: Tea\n" in text


@pytest.mark.rule("LT-37")
def test_doubled_ids_are_listed_and_left_until_somebody_chooses(kit: Kit) -> None:
    first = kit.note("Tasks/a.md", type="decision")
    kit.note("Tasks/b.md", type="decision", id=first)
    before = kit.files()
    kit.settled()
    assert kit.files() == before
    assert kit.codes().count("duplicate-id") == 2
    kit.run("duplicates-keep", id=first, keep="Tasks/a.md", others="new-id")
    assert "duplicate-id" not in kit.codes()
    kit.settled()
    assert kit.where(first) == ["Decisions/a.md"]
    assert (kit.root / "Decisions/b.md").exists()


@pytest.mark.rule("K-11")
def test_blank_lines_before_the_fence_go_when_the_note_is_next_written(kit: Kit) -> None:
    text = "\n\n---\nid: mem_20260301t080000_0000000a\ntype: task\nstatus: active\ntitle: t\n---\n\n# t\n"
    kit.write("Tasks/t.md", text)
    kit.settled()
    assert kit.text("Tasks/t.md") == text
    kit.run("set", note="t", values={"importance": "7"})
    assert kit.text("Tasks/t.md").startswith("---\nid: ")


@pytest.mark.rule("K-41")
def test_links_that_a_move_would_break_are_mended(kit: Kit) -> None:
    kit.note("Decisions/x.md", type="decision", body="# x\n\n[pic](../img/a.png) [[y]] [b](../Tasks/y.md)\n")
    kit.note(
        "Tasks/y.md",
        type="task",
        body="# y\n\n[[Decisions/x]] [[x]] ![[Decisions/x#h|t]] [m](../Decisions/x.md#h)\n\n`[[Decisions/x]]`\n",
    )
    kit.write("plain.md", "see [[Decisions/x|that]] and [it](Decisions/x.md)\n")
    kit.settled()
    kit.edit("Decisions/x.md", "status: active", "status: archived")
    kit.settled()
    assert "[[Archive/x]] [[x]] ![[Archive/x#h|t]] [m](../Archive/x.md#h)\n\n`[[Decisions/x]]`\n" in kit.text(
        "Tasks/y.md"
    )
    assert kit.text("plain.md") == "see [[Archive/x|that]] and [it](Archive/x.md)\n"
    assert "[b](../Tasks/y.md)" in kit.text("Archive/x.md")


@pytest.mark.rule("K-41", "K-35")
def test_links_follow_a_note_that_a_person_dragged(kit: Kit) -> None:
    kit.note("Decisions/x.md", type="decision")
    kit.write("plain.md", "[[Decisions/x]]\n")
    kit.settled()
    kit.move("Decisions/x.md", "Archive/x.md")
    kit.settled()
    assert kit.text("plain.md") == "[[Archive/x]]\n"


@pytest.mark.rule("K-41", "K-28")
def test_a_link_that_could_not_be_mended_at_once_is_mended_later(kit: Kit) -> None:
    kit.note("Tasks/goes.md", type="task")
    kit.write("Reading/plain.md", "See [[Tasks/goes]].\n")
    kit.settled()
    (kit.root / "Reading/plain.md").chmod(0o444)
    kit.edit("Tasks/goes.md", "status: active", "status: archived")
    assert "action-failed" in {finding["code"] for finding in kit.tidy()["findings"]}
    assert kit.text("Reading/plain.md") == "See [[Tasks/goes]].\n"
    (kit.root / "Reading/plain.md").chmod(0o644)
    kit.settled()
    assert kit.text("Reading/plain.md") == "See [[Archive/goes]].\n"
