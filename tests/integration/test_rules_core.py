"""Rules of `core.md`, clause by clause, at the level of the whole program, where no other test says them (K-1 … K-97)."""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from tests.kit import Kit, cli
from vaultkeeper import daemon
from vaultkeeper.core.errors import RefusedError, UserError, VaultUnavailableError
from vaultkeeper.core.page_text import END
from vaultkeeper.core.secrets import SHAPES, find_secrets

MEMORY = "---\nid: mem_20260301t080000_0000000a\ntype: task\nstatus: active\ntitle: t\n---\n\n# t\n\nbody\n"


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit.make(tmp_path / "vault")


class Clock:
    """The program's clock, which a test may set forward."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._real = daemon._now
        self._ahead = timedelta()
        monkeypatch.setattr(daemon, "_now", lambda: self._real() + self._ahead)

    def forward(self, seconds: float) -> None:
        """Let that much time pass."""
        self._ahead += timedelta(seconds=seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def shown(kit: Kit) -> dict[str, bytes]:
    """The vault without the keeper's private folder: notes and index pages."""
    return {path: data for path, data in kit.files(derived=True).items() if not path.startswith(".dsh-")}


# 1. truth and bytes


@pytest.mark.rule("K-1")
@pytest.mark.parametrize("lost", ["Index", ".dsh-memory/index.json", "cache", "all"])
def test_what_is_derived_can_be_deleted_and_is_made_again_to_the_same_bytes(
    kit: Kit, home: Path, lost: str
) -> None:
    kit.note("Tasks/a.md", type="task", pinned="true", tags="[task, tea]", body="# a\n\n[[b]]\n")
    kit.note("Archive/b.md", status="archived", title="标题: b")
    kit.write("plain.md", "[[a]]\n")
    kit.settled()
    before, export = shown(kit), kit.text(".dsh-memory/index.json")
    if lost in {"Index", "all"}:
        shutil.rmtree(kit.root / "Index")
    if lost in {".dsh-memory/index.json", "all"}:
        (kit.root / ".dsh-memory/index.json").unlink()
    if lost in {"cache", "all"}:
        shutil.rmtree(home / "cache")
    kit.run("rebuild")
    assert shown(kit) == before
    after = kit.text(".dsh-memory/index.json")
    assert [line for line in after.split(",") if "builtAt" not in line] == [
        line for line in export.split(",") if "builtAt" not in line
    ]
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("K-4", "K-5")
def test_utf_16_with_a_bom_is_read_and_becomes_utf_8_once_it_is_rewritten(kit: Kit) -> None:
    data = "\ufeff".encode("utf-16-le") + MEMORY.encode("utf-16-le")
    kit.write("Tasks/t.md", data)
    kit.settled()
    assert (kit.root / "Tasks/t.md").read_bytes() == data
    kit.run("set", note="t", values={"importance": "7"})
    assert kit.text("Tasks/t.md").startswith("---\nid: mem_20260301t080000_0000000a\n")
    assert "importance: 7\n" in kit.text("Tasks/t.md")


@pytest.mark.rule("K-4", "K-22")
def test_a_move_alone_changes_no_byte_and_no_time(kit: Kit) -> None:
    data = b"\xef\xbb\xbf" + MEMORY.replace("\n", "\r\n").encode()
    kit.write("Wrong/t.md", data)
    os.utime(kit.root / "Wrong/t.md", ns=(1_700_000_000_123_456_789, 1_700_000_000_123_456_789))
    kit.settled()
    moved = kit.root / "Tasks/t.md"
    assert moved.read_bytes() == data
    assert moved.stat().st_mtime_ns == 1_700_000_000_123_456_789


@pytest.mark.rule("K-5")
def test_a_quarantined_note_stays_listed_with_its_reason(kit: Kit) -> None:
    kit.write("Tasks/t.md", MEMORY.encode() + b"\xff")
    kit.settled()
    finding = next(each for each in kit.check()["findings"] if each["path"] == "Tasks/t.md")
    assert (finding["code"], finding["severity"]) == ("not-utf8", "error")
    assert str(len(MEMORY)) in finding["message"], "the byte that is no text"
    assert "not UTF-8" in kit.text("Index/Health.md")


@pytest.mark.rule("K-7")
def test_machine_zone_language_and_place_of_the_vault_play_no_part(tmp_path: Path) -> None:
    kit = Kit.make(tmp_path / "one")
    for number, name in enumerate(("ä", "Z", "a", "茶", "B")):
        kit.note(
            f"Wrong/{name}.md",
            type="task",
            status="归档" if number % 2 else "active",
            created_at="2026-03-01 08:00",
            body=f"# {name}\n\n[[Wrong/a]]\n",
        )
    results = []
    shutil.copytree(kit.root, tmp_path / "elsewhere/two")
    for root, zone, locale in (
        (kit.root, "UTC", "C"),
        (tmp_path / "elsewhere/two", "Asia/Kathmandu", "tr_TR.UTF-8"),
    ):
        done = cli("tidy", str(root), env={"TZ": zone, "LC_ALL": locale, "PYTHONUTF8": "1"})
        assert done.returncode == 0, done.stderr
        results.append(shown(Kit(root)))
    assert results[0] == results[1]
    pages = b"".join(data for path, data in results[0].items() if path.startswith("Index/"))
    assert str(tmp_path).encode() not in pages


@pytest.mark.rule("K-8", "LT-52")
def test_an_index_page_that_is_no_longer_needed_can_be_had_back(kit: Kit) -> None:
    for number in range(501):
        kit.note(f"Tasks/{number}.md", type="task", id=f"mem_20260401t000000_{number:08x}")
    kit.settled()
    page = kit.text("Index/All 2.md")
    (kit.root / "Tasks/7.md").unlink()
    trashed = [action["path"] for action in kit.tidy()["actions"] if action["op"] == "trash"]
    assert "Index/All 2.md" in trashed
    kit.run("undo")
    assert kit.text("Index/All 2.md") == page


@pytest.mark.rule("K-8")
def test_no_command_loses_a_line_that_a_person_wrote(kit: Kit) -> None:
    names = ["a", "b", "c", "d", "e", "f"]
    for name in names:
        kit.note(
            f"Inbox/{name}.md",
            type="task",
            status="pending" if name in "ab" else "active",
            body=f"# {name}\n\nwords of {name}\n",
        )
    twin = kit.note("Tasks/g.md", type="task", body="# g\n\nwords of g\n")
    kit.note("Tasks/h.md", type="task", id=twin, body="# h\n\nwords of h\n")
    kit.settled()
    kit.run("reject", note="a")
    kit.run("confirm", note="b")
    kit.run("merge", source="c", into="d")
    kit.run("supersede", old="e", new="f")
    kit.run("conflict", a="b", b="d")
    kit.run("resolve", a="b", b="d", keep="A")
    kit.run("duplicates-keep", id=twin, keep="Tasks/g.md", others="archive")
    kit.run("undo")
    kit.settled()
    everything = b"".join(kit.files().values())
    assert all(f"words of {name}\n".encode() in everything for name in [*names, "g", "h"])


BEGINNING = re.compile(r"<!-- vaultkeeper:begin.*-->")

DAMAGES: dict[str, Callable[[str], str]] = {
    "missing end": lambda text: text.replace(END, ""),
    "missing begin": lambda text: BEGINNING.sub("", text),
    "both missing": lambda text: BEGINNING.sub("", text).replace(END, ""),
    "doubled": lambda text: text + "\n" + text[text.index("<!--") :],
    "nested": lambda text: BEGINNING.sub(r"\g<0>\n\g<0>", text).replace(END, f"{END}\n{END}"),
    "swapped": lambda text: (
        BEGINNING.sub("@", text).replace(END, "<!-- vaultkeeper:begin -->").replace("@", END)
    ),
    "half a marker": lambda text: text.replace("<!-- vaultkeeper:begin", "<!-- vaultkeeper"),
}


@pytest.mark.rule("K-9")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_page_with_damaged_markers_is_reported_and_untouched(kit: Kit, damage: str) -> None:
    kit.settled()
    page = DAMAGES[damage](kit.text("Index/Tasks.md"))
    kit.write("Index/Tasks.md", page)
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    assert kit.text("Index/Tasks.md") == page
    assert "page-markers" in kit.codes("Index/Tasks.md")
    assert "[[x" in kit.text("Index/All.md"), "the other pages follow"
    known = shown(kit)
    kit.run("rebuild")
    assert shown(kit) == known


@pytest.mark.rule("K-9", "LT-52")
def test_words_typed_into_a_page_are_kept_and_said(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    page = kit.text("Index/Tasks.md").replace(END, f"my words inside\n{END}") + "\nmy words below\n"
    kit.write("Index/Tasks.md", "my words above\n\n" + page)
    kit.note("Tasks/y.md", type="task")
    codes = [finding["code"] for finding in kit.tidy()["findings"]]
    text = kit.text("Index/Tasks.md")
    assert "page-text-kept" in codes
    assert "[[y" in text
    assert text.startswith("my words above\n")
    assert text.index(END) < text.index("my words inside\n")
    assert text.endswith("my words below\n")
    assert kit.tidy()["actions"] == []


# 2. frontmatter


@pytest.mark.rule("K-10", "K-18")
def test_a_note_whose_fence_is_never_closed_gets_no_second_block(kit: Kit) -> None:
    text = "---\nid: mem_20260301t080000_0000000a\ntype: task\nstatus: active\n\n# t\n"
    kit.write("Knowledge/t.md", text)
    kit.settled()
    assert kit.codes("Knowledge/t.md") == ["frontmatter-unclosed"]
    with pytest.raises(RefusedError):
        kit.run("adopt", note="Knowledge/t.md")
    assert kit.text("Knowledge/t.md") == text


@pytest.mark.rule("K-12")
@pytest.mark.parametrize("title", ["2024", "true", "null", "no", "012", "1:30", "1_000", "0x1F", "3.10"])
def test_a_title_that_looks_like_something_else_stays_as_it_was_typed(kit: Kit, title: str) -> None:
    kit.note("Tasks/x.md", type="task", title=title, body=f"# {title}\n\nSome text.\n")
    kit.settled()
    kit.edit("Tasks/x.md", "Some text.", "Other text.")
    kit.settled()
    assert f"\ntitle: {title}\n" in kit.text("Tasks/x.md")
    assert f"\n# {title}\n" in kit.text("Tasks/x.md")
    assert daemon.read(kit.root, "show", {"note": "Tasks/x.md"})["fields"]["title"] == title  # type: ignore[index]


@pytest.mark.rule("K-15")
def test_a_key_given_twice_with_one_value_costs_the_note_nothing(kit: Kit) -> None:
    text = MEMORY.replace("type: task\n", "type: task\ncolour: red\ncolour: blue\ntype: task\n")
    kit.write("Tasks/t.md", text)
    kit.settled()
    assert kit.text("Tasks/t.md") == text
    assert kit.codes("Tasks/t.md").count("duplicate-key") == 2
    kit.edit("Tasks/t.md", "status: active", "status: archived")
    kit.settled()
    assert "colour: red\ncolour: blue\ntype: task\n" in kit.text("Archive/t.md")


@pytest.mark.rule("K-2", "K-54")
def test_an_impossible_date_is_the_finding_of_its_note_alone(kit: Kit) -> None:
    kit.note("Tasks/bad.md", type="task", created_at="2026-02-30")
    kit.note("Tasks/good.md", type="decision")
    kit.settled()
    assert "bad-date" in kit.codes("Tasks/bad.md")
    assert (kit.root / "Decisions/good.md").exists()


@pytest.mark.rule("K-54", "K-41")
@pytest.mark.parametrize("kind", ["template", "conflict"])
def test_links_in_templates_and_conflicted_notes_stay_as_they_are(kit: Kit, kind: str) -> None:
    kit.note("Tasks/goes.md", type="task")
    text = {
        "template": "---\ntitle: {{title}}\n---\n[[Tasks/goes]]\n",
        "conflict": "a\n<<<<<<< HEAD\n[[Tasks/goes]]\n=======\nother\n>>>>>>> main\n",
    }[kind]
    kit.write("x.md", text)
    kit.settled()
    kit.run("archive", note="goes")
    assert kit.text("x.md") == text


@pytest.mark.rule("K-54")
@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("archive", {}),
        ("set", {"values": {"importance": "5"}}),
        ("adopt", {}),
    ],
)
def test_no_command_writes_a_note_with_conflict_markers(kit: Kit, verb: str, args: dict[str, object]) -> None:
    text = MEMORY + "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> main\n"
    kit.write("Tasks/t.md", text)
    with pytest.raises(RefusedError):
        kit.run(verb, note="Tasks/t.md", **args)
    assert kit.text("Tasks/t.md") == text


@pytest.mark.rule("K-54")
def test_an_edit_that_would_change_more_than_its_key_is_refused_with_a_finding(kit: Kit) -> None:
    text = MEMORY.replace(
        "status: active\n", "status: &s Active\nmine: *s\n"
    )  # the anchor stands on what would be rewritten
    kit.write("Tasks/t.md", text)
    kit.settled()
    assert kit.text("Tasks/t.md") == text
    assert "patch-refused" in kit.codes("Tasks/t.md")


# 3. names and files


@pytest.mark.rule("K-20")
@pytest.mark.skipif(os.name != "posix", reason="mode bits of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_mode_bits_survive_a_rewrite_and_a_move(kit: Kit, mode: int) -> None:
    kit.note("Tasks/rewritten.md", type="task", title="a: b")
    kit.note("Wrong/moved.md", type="task")
    kit.note("Wrong/both.md", type="task", title="a: b")
    for path in ("Tasks/rewritten.md", "Wrong/moved.md", "Wrong/both.md"):
        (kit.root / path).chmod(mode)
    kit.settled()
    modes = {
        name: (kit.root / f"Tasks/{name}.md").stat().st_mode & 0o777
        for name in ("rewritten", "moved", "both")
    }
    assert set(modes.values()) == {mode}
    assert not [path for path in kit.files(derived=True) if path.rpartition("/")[2].startswith(".v")]


@pytest.mark.rule("K-22", "K-25")
def test_the_next_free_number_is_taken_whatever_case_and_normalisation_the_others_have(kit: Kit) -> None:
    decomposed = unicodedata.normalize("NFD", "CAFÉ")
    kit.note(f"Archive/{decomposed}.md", status="archived")
    kit.write("Archive/café 2.md", "an ordinary note\n")
    third = kit.note("Wrong/Café.md", status="archived")
    fourth = kit.note("Wrong/deep/café.md", status="archived")
    codes = [(f["code"], f["path"]) for f in kit.tidy()["findings"] if f["code"] == "name-taken"]
    assert kit.where(third) == ["Archive/Café 3.md"]
    assert kit.where(fourth) == ["Archive/café 4.md"]
    assert codes == [("name-taken", "Archive/Café 3.md"), ("name-taken", "Archive/café 4.md")]
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("K-26")
def test_what_is_not_the_keepers_is_neither_touched_nor_known(kit: Kit) -> None:
    paths = [
        ".obsidian/x.md",
        ".git/x.md",
        ".trash/x.md",
        ".hidden/x.md",
        "Tasks/.hidden.md",
        "node_modules/a/x.md",
        "Templates/x.md",
        "Tasks/~$x.md",
        "Tasks/x.md.swp",
        "Tasks/x.md~",
        "Tasks/.x.md.icloud",
    ]
    twin = kit.note("Decisions/real.md", type="decision")
    for path in paths:
        kit.note(path, type="decision", status="archived", id=twin)
    before = kit.files()
    kit.settled()
    assert kit.files() == before
    assert "duplicate-id" not in kit.codes()
    assert kit.check()["notes"] == 1


@pytest.mark.rule("K-26")
def test_a_conflict_copy_is_no_second_record_and_does_not_hold_up_the_original(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task", status="archived")
    copies = [
        "Tasks/x.sync-conflict-20260301-080000-ABCDEFG.md",
        "Tasks/x (ada's conflicted copy 2026-03-01).md",
    ]
    for path in copies:
        kit.write(path, kit.text("Tasks/x.md"))
    kit.settled()
    assert "Archive/x.md" in kit.where(note_id)
    assert all((kit.root / path).exists() for path in copies)
    findings = {f["path"]: f for f in kit.check()["findings"] if f["code"] == "sync-conflict"}
    assert set(findings) == set(copies)
    assert kit.check()["notes"] == 1


@pytest.mark.rule("K-27")
def test_a_link_out_of_the_vault_is_told_and_what_it_leads_to_is_untouched(kit: Kit, tmp_path: Path) -> None:
    outside = Kit(tmp_path / "outside")
    outside.note("x.md", type="decision", status="archived")
    before = outside.text("x.md")
    (kit.root / "Tasks/x.md").symlink_to(outside.root / "x.md")
    (kit.root / "Knowledge/folder").symlink_to(outside.root)
    (kit.root / "Tasks/none.md").symlink_to(tmp_path / "nothing.md")
    kit.settled()
    assert outside.text("x.md") == before
    assert (kit.root / "Tasks/x.md").is_symlink()
    assert kit.codes("Tasks/x.md") == ["link-outside"]
    assert kit.codes("Knowledge/folder") == ["link-outside"]
    assert kit.codes("Tasks/none.md") == ["link-dangling"]


# 4. watching (what needs no watcher)


@pytest.mark.rule("K-35", "LT-11")
@pytest.mark.parametrize("folder", ["Decisions/2026", "Decisions/2026/deep"])
def test_a_drag_within_the_right_folder_changes_nothing(kit: Kit, folder: str) -> None:
    note_id = kit.note("Decisions/x.md", type="decision")
    kit.settled()
    before = kit.text("Decisions/x.md")
    kit.move("Decisions/x.md", f"{folder}/x.md")
    kit.settled()
    assert kit.where(note_id) == [f"{folder}/x.md"]
    assert kit.text(f"{folder}/x.md") == before


@pytest.mark.rule("K-35", "LT-13")
def test_a_drag_into_a_subfolder_means_what_the_folder_above_means(kit: Kit) -> None:
    note_id = kit.note("Decisions/x.md", type="decision")
    kit.settled()
    kit.move("Decisions/x.md", "Archive/2026/x.md")
    kit.settled()
    assert kit.where(note_id) == ["Archive/2026/x.md"]
    assert "status: archived\n" in kit.text("Archive/2026/x.md")


@pytest.mark.rule("K-35")
def test_where_only_the_frontmatter_was_changed_it_wins_without_a_word(kit: Kit) -> None:
    note_id = kit.note("Decisions/x.md", type="decision")
    kit.settled()
    kit.edit("Decisions/x.md", "type: decision", "type: task")
    codes = [finding["code"] for finding in kit.tidy()["findings"]]
    assert kit.where(note_id) == ["Tasks/x.md"]
    assert "both-place" not in codes


@pytest.mark.rule("K-38")
@pytest.mark.parametrize("later", [59, 61])
def test_a_great_loss_is_believed_once_a_minute_later_says_the_same(
    kit: Kit, clock: Clock, later: int
) -> None:
    for number in range(30):
        kit.note(f"Tasks/{number}.md", type="task", id=f"mem_20260401t000000_{number:08x}")
    kit.settled()
    page = kit.text("Index/Tasks.md")
    for number in range(20):
        (kit.root / f"Tasks/{number}.md").unlink()
    with pytest.raises(VaultUnavailableError):
        kit.tidy()
    clock.forward(later)
    if later < 60:
        with pytest.raises(VaultUnavailableError):
            kit.tidy()
        assert kit.text("Index/Tasks.md") == page
        assert not [line for line in kit.journal() if line["op"] == "delete"]
    else:
        kit.settled()
        assert "(10)" in kit.text("Index/Tasks.md")
        assert len([line for line in kit.journal() if line["op"] == "delete"]) == 20


@pytest.mark.rule("K-38")
def test_a_lost_marker_stops_every_command_that_writes(kit: Kit) -> None:
    kit.note("Wrong/x.md", type="task")
    config = kit.root / ".dsh-memory/config.json"
    config.rename(config.with_name("away.json"))
    before = kit.files(derived=True)
    for verb, args in (("tidy", {}), ("rebuild", {}), ("new", {"title": "x"}), ("undo", {})):
        done = (
            cli(verb, str(kit.root))
            if not args and verb != "undo"
            else cli(verb, *args.values(), "--vault", str(kit.root))
        )
        assert done.returncode in {2, 3}
        assert str(kit.root) in done.stderr
    assert kit.files(derived=True) == before


@pytest.mark.rule("K-39")
def test_a_note_renamed_only_by_case_is_the_same_note(kit: Kit) -> None:
    note_id = kit.note("Tasks/note.md", type="task")
    kit.write("plain.md", "[[Tasks/note]]\n")
    kit.settled()
    kit.move("Tasks/note.md", "Tasks/between.md")
    kit.move("Tasks/between.md", "Tasks/Note.md")
    kit.settled()
    assert kit.where(note_id) == ["Tasks/Note.md"]
    assert [line["op"] for line in kit.journal() if line["id"] == note_id].count("delete") == 0
    assert "Note" in kit.text("Index/Tasks.md")


@pytest.mark.rule("K-39")
def test_a_note_deleted_and_made_again_keeps_its_past(kit: Kit) -> None:
    note_id = kit.note("Tasks/x.md", type="task")
    kit.settled()
    text = kit.text("Tasks/x.md")
    (kit.root / "Tasks/x.md").unlink()
    kit.write("Archive/x.md", text)
    kit.settled()
    assert "status: archived\n" in kit.text("Archive/x.md"), "known by its id: this was a drag (K-35)"
    assert "delete" not in [line["op"] for line in kit.journal() if line["id"] == note_id]


# 5. with Obsidian open


@pytest.mark.rule("K-41", "K-50")
def test_mended_links_are_of_the_batch_that_moved_the_note(kit: Kit) -> None:
    kit.note("Tasks/goes.md", type="task")
    kit.note(
        "Decisions/links.md",
        type="decision",
        related="'[[Tasks/goes|it]]'",
        body="# links\n\n[[Tasks/goes#Head]] [[Tasks/goes#^block]] ![[Tasks/goes]] [x](<../Tasks/goes.md>)\n\n"
        "```\n[[Tasks/goes]]\n```\n",
    )
    kit.settled()
    before = kit.text("Decisions/links.md")
    result = kit.run("archive", note="goes")
    text = kit.text("Decisions/links.md")
    assert "related: '[[Archive/goes|it]]'\n" in text
    assert "[[Archive/goes#Head]] [[Archive/goes#^block]] ![[Archive/goes]] [x](<../Archive/goes.md>)" in text
    assert "```\n[[Tasks/goes]]\n```" in text
    assert {a["path"] for a in result["actions"] if a["op"] != "page"} == {
        "Tasks/goes.md",
        "Decisions/links.md",
    }
    kit.run("undo", batch=result["batch"])
    assert kit.text("Decisions/links.md") == before


@pytest.mark.rule("K-41")
def test_percent_encoded_links_stay_percent_encoded(kit: Kit) -> None:
    kit.note("Tasks/白 茶.md", type="task")
    kit.write("plain.md", "[a](Tasks/%E7%99%BD%20%E8%8C%B6.md#x) [[白 茶]]\n")
    kit.settled()
    kit.run("archive", note="白 茶")
    assert kit.text("plain.md") == "[a](Archive/%E7%99%BD%20%E8%8C%B6.md#x) [[白 茶]]\n"


# 6. history


@pytest.mark.rule("K-50")
def test_what_was_done_is_recorded_outside_the_vault_with_what_stood_there(kit: Kit, home: Path) -> None:
    kit.note("Tasks/x.md", type="task", body="# x\n\nbefore all that\n")
    kit.settled()
    folders = {path.rpartition("/")[0] for path in kit.files(derived=True)}
    kit.run("archive", note="x")
    assert {path.rpartition("/")[0] for path in kit.files(derived=True)} <= folders | {"Archive"}
    assert any((home / "state").rglob("history"))


@pytest.mark.rule("K-50")
def test_any_batch_can_be_taken_back_by_its_id(kit: Kit) -> None:
    kit.note("Tasks/a.md", type="task")
    kit.note("Tasks/b.md", type="task")
    kit.settled()
    before = kit.text("Tasks/a.md")
    first = kit.run("archive", note="a")["batch"]
    kit.run("archive", note="b")
    assert kit.run("undo", batch=first, dry_run=True)["undone"] == first
    kit.run("undo", batch=first)
    assert kit.text("Tasks/a.md") == before
    assert (kit.root / "Archive/b.md").exists()
    with pytest.raises(UserError):
        kit.run("undo", batch="20200101T000000000-abcdef")


@pytest.mark.rule("K-50")
def test_history_older_than_thirty_days_is_let_go(kit: Kit, clock: Clock) -> None:
    kit.note("Tasks/a.md", type="task")
    kit.settled()
    batch = kit.run("archive", note="a")["batch"]
    clock.forward(29 * 86_400)
    kit.run("new", title="Later")
    assert kit.run("undo", batch=batch, dry_run=True)["undone"] == batch
    clock.forward(2 * 86_400)
    kit.run("new", title="Later still")
    with pytest.raises(UserError):
        kit.run("undo", batch=batch, dry_run=True)


@pytest.mark.rule("K-51")
@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("confirm", {"note": "p"}),
        ("reject", {"note": "p"}),
        ("stale", {"note": "y"}),
        ("restore", {"note": "old"}),
        ("conflict", {"a": "y", "b": "z"}),
        ("resolve", {"a": "m", "b": "n", "keep": "A"}),
        ("merge", {"source": "y", "into": "z"}),
        ("duplicates-keep", {"id": "mem_20260501t000000_00000001", "keep": "Tasks/d1.md"}),
    ],
)
def test_a_dry_run_of_every_step_of_life_changes_nothing(
    kit: Kit, verb: str, args: dict[str, object]
) -> None:
    for name in ("y", "z", "m", "n"):
        kit.note(f"Tasks/{name}.md", type="task")
    kit.note("Inbox/p.md", status="pending")
    kit.note("Archive/old.md", status="archived")
    for name in ("d1", "d2"):
        kit.note(f"Tasks/{name}.md", type="task", id="mem_20260501t000000_00000001")
    kit.settled()
    kit.run("conflict", a="m", b="n")
    before = kit.files(derived=True)
    planned = kit.run(verb, dry_run=True, **args)
    assert kit.files(derived=True) == before
    done = kit.run(verb, **args)
    assert [(a["op"], a["path"], a["to"]) for a in planned["actions"]] == [
        (a["op"], a["path"], a["to"]) for a in done["actions"]
    ], "what was planned is what is done"


# 9. guarded writes


def audit(home: Path) -> str:
    return "".join(file.read_text() for file in (home / "state").rglob("audit.jsonl"))


@pytest.mark.rule("K-90")
@pytest.mark.parametrize(
    ("verb", "args", "code"),
    [
        ("new", {"title": "t" * 301}, "title-too-long"),
        ("new", {"title": "big", "text": "x" * (4 * 1024 * 1024 + 1)}, "too-large"),
        ("new", {"title": "x", "text": "key AKIA" + "ABCDEFGHIJKLMNOP"}, "secret"),
        ("new", {"title": "AKIA" + "ABCDEFGHIJKLMNOP"}, "secret"),
        ("new", {"title": "x", "type": "novel"}, "bad-value"),
        ("set", {"note": "y", "values": {"status": "nonsense"}}, "bad-value"),
        ("set", {"note": "y", "values": {"importance": "101"}}, "bad-value"),
        ("set", {"note": "y", "values": {"pinned": "maybe"}}, "bad-value"),
        ("set", {"note": "y", "values": {"updated_at": "yesterday"}}, "bad-value"),
        ("set", {"note": "y", "values": {"id": "mem_20260501t000000_00000001"}}, "never-changes"),
        ("set", {"note": "y", "values": {"created_at": "2020-01-01"}}, "never-changes"),
        ("set", {"note": "y", "values": {"title": ""}}, "required"),
        ("set", {"note": "y", "values": {"title": "t" * 301}}, "title-too-long"),
        ("set", {"note": "y", "values": {"evidence": "key AKIA" + "ABCDEFGHIJKLMNOP"}}, "secret"),
        ("confirm", {"note": "y"}, "wrong-status"),
    ],
)
def test_a_refusal_has_a_code_changes_nothing_and_leaves_an_audit_line(
    kit: Kit, home: Path, verb: str, args: dict[str, object], code: str
) -> None:
    kit.note("Tasks/y.md", type="task")
    kit.settled()
    before = kit.files(derived=True)
    with pytest.raises(RefusedError) as refused:
        kit.run(verb, **args)
    assert refused.value.code == code
    assert len(refused.value.reason) > 20
    assert kit.files(derived=True) == before
    assert f'"code":"{code}"' in audit(home)
    assert "ABCDEFGHIJKLMNOP" not in audit(home)


@pytest.mark.rule("K-91")
@pytest.mark.parametrize(
    "shape", SHAPES, ids=[f"{number} {shape.kind}" for number, shape in enumerate(SHAPES)]
)
def test_every_known_shape_of_a_credential_is_found_with_kind_and_line(shape: object) -> None:
    for example in shape.examples:  # type: ignore[attr-defined]
        found = find_secrets(f"one\ntwo {example} three\n")
        assert (shape.kind, 2) in [(secret.kind, secret.line) for secret in found]  # type: ignore[attr-defined]


@pytest.mark.rule("K-91")
@pytest.mark.parametrize(
    "line",
    [
        "password: hunter2Hunter",
        "API_KEY=abcDEF123456",
        'secret: "s3cr3t-Value!"',
        "密码：Abcd1234!",
        "口令是 Abcd1234!",
    ],
)
def test_a_password_that_is_told_is_found(line: str) -> None:
    assert [secret.line for secret in find_secrets(f"a\n{line}\n")] == [2]


@pytest.mark.rule("K-91")
@pytest.mark.parametrize(
    "line",
    [
        "password: <your password>",
        "the token: see [[Vault]]",
        "password: $PASSWORD",
        "secret: ********",
        "the secret: patience and practice",
        "api_key: https://example.com/docs",
        "the keys are in AKIA-shaped strings",
        "password: hunter2Hunter  vaultkeeper: allow-secret",
    ],
)
def test_words_about_credentials_are_none(line: str) -> None:
    assert find_secrets(line) == ()


@pytest.mark.rule("K-92")
def test_the_answer_to_a_write_tells_all_that_changed_the_note_first(kit: Kit) -> None:
    kit.settled()
    result = kit.run("new", title="Tea", type="task", text="White tea keeps.")
    assert result["actions"][0]["op"] == "create"
    pages = {action["path"] for action in result["actions"] if action["op"] == "page"}
    assert {"Index/All.md", "Index/Tasks.md"} <= pages
    assert all(action["op"] == "page" for action in result["actions"][1:])
    assert kit.text(result["path"]).splitlines()[result["line"] - 1] == "# Tea"
    changed = kit.run("set", note=result["id"], values={"importance": "80"})
    assert kit.text(changed["path"]).splitlines()[changed["line"] - 1] == "importance: 80"
    assert changed["actions"][0]["op"] == "rewrite"


@pytest.mark.rule("K-93")
@pytest.mark.parametrize("how", ["off", "exclude"])
def test_not_even_links_are_mended_where_the_owner_wants_a_note_left_alone(tmp_path: Path, how: str) -> None:
    kit = Kit.make(tmp_path / "vault", exclude=["Private"] if how == "exclude" else [])
    kit.note("Tasks/goes.md", type="task")
    keys = {"vaultkeeper": "off"} if how == "off" else {}
    kit.note("Private/x.md", type="decision", body="# other\n\n[[Tasks/goes]] [[goes2]]\n", tags="#x", **keys)
    before = kit.text("Private/x.md")
    kit.settled()
    kit.run("archive", note="goes")
    kit.tidy(fix_links=True, all=True)
    assert kit.text("Private/x.md") == before
    for verb, args in (("archive", {}), ("set", {"values": {"importance": "1"}})):
        with pytest.raises(RefusedError):
            kit.run(verb, note="Private/x.md", **args)
    assert kit.text("Private/x.md") == before


# 10. settings, languages, output


@pytest.mark.rule("K-95")
def test_a_wrong_setting_is_told_by_check_and_the_default_is_used(kit: Kit) -> None:
    kit.edit(".dsh-memory/config.json", '"language": "en"', '"language": "en", "settle": "soon", "bases": 7')
    findings = [f for f in kit.check()["findings"] if f["code"] == "bad-setting"]
    assert sorted(word for f in findings for word in ("settle", "bases") if word in f["message"]) == [
        "bases",
        "settle",
    ]
    kit.tidy()
    assert (kit.root / "Index/Memories.base").exists(), "the default of bases"


@pytest.mark.rule("K-96")
def test_a_chinese_vault_speaks_chinese_and_reads_english(tmp_path: Path) -> None:
    kit = Kit.make(tmp_path / "vault", language="zh")
    made = kit.run("new", title="茶", text="白茶。")
    assert "## 核心内容\n\n白茶。\n\n## 来源与依据\n\n（暂无可追溯来源）\n" in kit.text(made["path"])
    kit.note("Tasks/x.md", type="task", status="Archived", body="# x\n\n## Evidence\n\n(no source yet)\n")
    findings = kit.tidy()["findings"]
    assert (kit.root / "Archive/x.md").exists()
    assert findings == []
    assert "全部记忆" in kit.text("Index/All.md")
    kit.note("Tasks/y.md", type="novel")
    message = next(f["message"] for f in kit.check()["findings"] if f["code"] == "unknown-type")
    assert message.startswith("未知类型")


@pytest.mark.rule("K-97", "IF-20")
@pytest.mark.skipif(sys.platform == "win32", reason="a terminal that is none")
def test_nothing_but_the_answer_is_printed_when_piped(kit: Kit) -> None:
    for number in range(40):
        kit.note(f"Wrong/{number}.md", type="task", id=f"mem_20260401t000000_{number:08x}")
    for args in (("check",), ("tidy",), ("rebuild",)):
        done = cli(*args, str(kit.root), "--json")
        assert done.stderr == ""
        assert "\r" not in done.stdout
        assert "\x1b" not in done.stdout
