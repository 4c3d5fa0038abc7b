"""Failing inputs from public bug reports on frontmatter: what was wrong elsewhere, and what is right here.

The ids are those of the collection of cases. Where a case and a rule of the specification disagree, the rule holds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit import Kit, Result
from vaultkeeper import daemon

ID = "mem_20260101t000000_0000ca5e"


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit.make(tmp_path / "vault")


def note(*lines: str, body: str = "words\n") -> str:
    return "---\n" + "".join(f"{line}\n" for line in (f"id: {ID}", *lines)) + f"---\n{body}"


def shown(kit: Kit) -> Result:
    """The one memory's fields as the program reads them."""
    fields = daemon.read(kit.root, "show", {"note": ID})["fields"]
    assert isinstance(fields, dict)
    return fields


@pytest.mark.rule("K-10", "K-3")
def test_later_rules_of_dashes_are_body(kit: Kit) -> None:
    """Case a01: a second pair of `---` was taken for frontmatter, and the text doubled."""
    body = "One\n\n---\nstatus: archived\ntype: nonsense\n---\n\nTwo\n"
    kit.write("Decisions/first.md", note("type: decision", "status: active", "title: first", body=body))
    kit.settled()
    kit.run("set", note=ID, values={"importance": "7"})
    text = kit.text("Decisions/first.md")
    assert text.endswith(("---\n# first\n\n" + body, "---\n" + body))
    assert text.count("status: archived") == 1
    assert shown(kit)["status"] == "active"


@pytest.mark.rule("LT-24", "K-3")
@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_the_time_of_making_is_compared_as_a_time_and_stays_as_typed(kit: Kit, quote: str) -> None:
    """Case a03: quotes that the settings did not expect made a tool put a new date."""
    line = f"created_at: {quote}2026-01-20T16:01:25+01:00{quote}"
    kit.write(
        "Tasks/t.md",
        note("type: task", "status: active", "title: t", line, f"updated_at: {quote}2026-01-27{quote}"),
    )
    kit.settled()
    kit.run("stale", note=ID)
    kit.edit("Tasks/t.md", "words", "other words")
    kit.settled()
    assert line + "\n" in kit.text("Tasks/t.md")
    assert shown(kit)["created_at"] == "2026-01-20T15:01:25.000Z"


@pytest.mark.rule("K-13", "LT-30")
@pytest.mark.parametrize(
    ("lines", "tags"),
    [
        (("tags: #idea #中文",), ["idea", "中文"]),
        (("tags:", "  - #todo", "  - plain # a true comment"), ["todo", "plain"]),
    ],
)
def test_tags_with_their_mark_are_tags_and_no_comment(
    kit: Kit, lines: tuple[str, ...], tags: list[str]
) -> None:
    """Case a05: the mark of a tag makes the rest of the line a comment, so that no tag was seen."""
    kit.write("Knowledge/t.md", note("type: knowledge", "status: active", "title: t", *lines))
    assert "slip-hash-tags" in kit.codes("Knowledge/t.md")
    kit.settled()
    assert [tag for tag in shown(kit)["tags"] if tag != "knowledge"] == tags
    assert "a true comment" in kit.text("Knowledge/t.md") or len(lines) == 1


@pytest.mark.rule("K-17")
@pytest.mark.parametrize("shape", ['\'["svelte", "调试"]\'', "svelte, 调试", '["svelte", "调试"]'])
def test_a_list_that_came_as_a_text_is_the_list_it_shows(kit: Kit, shape: str) -> None:
    """Case a07: the text was parted at its commas, brackets and quotes and all."""
    kit.write("Knowledge/t.md", note("type: knowledge", "status: active", "title: t", f"tags: {shape}"))
    assert shown(kit)["tags"][:2] == ("svelte", "调试")


@pytest.mark.rule("K-18", "K-17")
def test_one_bad_line_costs_no_good_key_and_stays(kit: Kit) -> None:
    """Case a09: a line without a colon made the whole block body, which then was written a second time."""
    kit.write(
        "Tasks/t.md",
        note("type: task", "this line has no colon", "status: active", "title: t", "tags:", "  a: b"),
    )
    codes = kit.codes("Tasks/t.md")
    assert "stray-line" in codes
    kit.run("set", note=ID, values={"status": "stale"})
    text = kit.text("Tasks/t.md")
    assert "type: task\nthis line has no colon\nstatus: stale\n" in text
    assert text.count("---\n") == 2
    assert "b" not in shown(kit)["tags"]


@pytest.mark.rule("K-10")
def test_an_opening_fence_that_is_never_closed_opens_nothing(kit: Kit) -> None:
    """Case a09: without a closing fence there is no guess and no write."""
    text = f"---\nid: {ID}\ntype: task\nstatus: archived\ntitle: t\n\n# Heading\n\nwords\n"
    kit.write("Tasks/t.md", text)
    kit.settled()
    assert kit.text("Tasks/t.md") == text
    assert "frontmatter-unclosed" in kit.codes("Tasks/t.md")


@pytest.mark.rule("K-3")
def test_one_key_is_one_line(kit: Kit) -> None:
    """Case a11: keys came back in the order of the alphabet."""
    lines = (
        "zeta: 1   # mine", "", "# a comment of a section", "type: decision", "status:   active",
        "title: 'a \"quoted\" one'", "Alpha: { b: 2, a: 1 }", "tags: [x,  y]",
        "created_at: 2026-01-01", "updated_at: 2026-01-01", "schema_version: 1",
    )  # fmt: skip
    kit.write("Decisions/t.md", note(*lines, body='# a "quoted" one\n'))
    kit.settled()
    before = kit.text("Decisions/t.md").splitlines()
    kit.run("set", note=ID, values={"status": "stale"})
    after = kit.text("Decisions/t.md").splitlines()
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert [line.split(":")[0] for line in changed] == ["status", "updated_at"]
    assert changed[0] == "status:   stale"


@pytest.mark.rule("K-4", "K-10", "K-11")
@pytest.mark.parametrize(
    "form",
    ["bom", "crlf", "bom and crlf", "fence at the end", "blanks after fences", "blank line first"],
)
def test_no_form_of_a_file_makes_its_fields_vanish(kit: Kit, form: str) -> None:
    """Case a13: marks and newlines of another system hid the frontmatter, and a second block was written."""
    text = note("type: task", "status: active", "title: t", body="# t\n")
    data = {
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "crlf": text.replace("\n", "\r\n").encode(),
        "bom and crlf": b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
        "fence at the end": text.removesuffix("\n# t\n").encode(),
        "blanks after fences": text.replace("---\n", "--- \t\n").encode(),
        "blank line first": b"\n" + text.encode(),
    }[form]
    kit.write("Tasks/t.md", data)
    assert (shown(kit)["title"], shown(kit)["status"]) == ("t", "active")
    assert ("frontmatter-not-first" in kit.codes("Tasks/t.md")) == (form == "blank line first")
    kit.tidy()
    if form != "fence at the end":  # that one gets its heading
        assert (kit.root / "Tasks/t.md").read_bytes() == data
    kit.run("archive", note=ID)
    written = kit.text("Archive/t.md")
    fence = "--- \t\n" if "blanks" in form else "---\n"
    assert written.startswith(f"{fence}id: {ID}\n")
    assert written.count("\n---") == 1
    assert "status: archived\n" in written


@pytest.mark.rule("K-19")
@pytest.mark.parametrize(
    "title",
    [
        "小结:",
        "Note:",
        "- x",
        "? x",
        'say "so"',
        "it's",
        "🙂 emoji",
        "# hash",
        "a: b",
        "[[x]]",
        "yes",
        "2026",
        "null",
        "@a",
        "%b",
        "{{c}}",
    ],
)
def test_a_title_reads_back_as_it_was_given(kit: Kit, title: str) -> None:
    """Case a15: a title that ends with a colon became a mapping."""
    result = kit.run("new", title=title, text="Words.")
    fields = daemon.read(kit.root, "show", {"note": str(result["id"])})["fields"]
    assert isinstance(fields, dict)
    assert fields["title"] == title
    kit.run("set", note=str(result["id"]), values={"aliases": "Note:, x"})
    fields = daemon.read(kit.root, "show", {"note": str(result["id"])})["fields"]
    assert isinstance(fields, dict)
    assert fields["aliases"] == ("Note:", "x")


@pytest.mark.rule("K-12", "K-3")
def test_words_in_lists_stay_the_words_that_were_typed(kit: Kit) -> None:
    """Case a17: numbers, dates and `yes` came back as other things than they were."""
    lines = ("tags: [2026, 007, yes, on, 1.10]", "aliases: [2026-01-01, 12:30]")
    kit.write("Knowledge/t.md", note("type: knowledge", "status: active", "title: t", *lines))
    kit.settled()
    fields = shown(kit)
    assert [tag for tag in fields["tags"] if tag != "knowledge"] == ["2026", "007", "yes", "on", "1.10"]
    assert fields["aliases"] == ("2026-01-01", "12:30")
    kit.run("set", note=ID, values={"importance": "7"})
    assert all(line + "\n" in kit.text("Knowledge/t.md") for line in lines)


READ_TIME = """
import json, sys
from pathlib import Path
from vaultkeeper import daemon
shown = daemon.read(Path(sys.argv[1]), "show", {"note": sys.argv[2]})
print(shown["fields"]["created_at"])
"""


@pytest.mark.rule("LT-24", "K-7")
@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/Los_Angeles"])
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2026-10-17", "2026-10-17T00:00:00.000Z"),
        ("2026-10-17 03:12", "2026-10-17T03:12:00.000Z"),
        ("2026-10-17T11:12:00+08:00", "2026-10-17T03:12:00.000Z"),
        ("2026-10-17T24:00:00Z", "2026-10-18T00:00:00.000Z"),
    ],
)
def test_a_time_is_the_same_in_every_time_zone(kit: Kit, zone: str, typed: str, meant: str) -> None:
    """Case a19: dates moved by a day to the east or west of Greenwich."""
    line = f"created_at: {typed}\n"
    kit.write("Tasks/t.md", note("type: task", "status: active", "title: t", line.strip()))
    before = kit.text("Tasks/t.md")
    done = subprocess.run(
        [sys.executable, "-c", READ_TIME, str(kit.root), ID],
        env={**os.environ, "TZ": zone},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == meant
    assert kit.text("Tasks/t.md") == before
    kit.settled()
    assert line in kit.text("Tasks/t.md")


@pytest.mark.rule("LT-33", "K-54")
def test_a_date_that_cannot_be_read_stays_and_is_told(kit: Kit) -> None:
    """Case a19: such a date was replaced by today's."""
    kit.write("Tasks/t.md", note("type: task", "status: active", "title: t", "created_at: 17/10/2026"))
    kit.settled()
    assert "created_at: 17/10/2026\n" in kit.text("Tasks/t.md")
    assert "bad-date" in kit.codes("Tasks/t.md")
