"""Failing inputs from public bug reports on generated pages and sections: what was wrong elsewhere, and what is right here."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.kit import Kit
from vaultkeeper import daemon

ID = "mem_20260101t000000_0000ca5e"


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit.make(tmp_path / "vault")


@pytest.mark.rule("K-9", "LT-52")
def test_words_that_a_person_typed_into_a_list_are_kept(kit: Kit) -> None:
    """Case c01: text inside the generated list was gone at the next refresh."""
    kit.note("Decisions/A.md", type="decision")
    kit.settled()
    page = kit.text("Index/Decisions.md")
    line = next(line for line in page.splitlines() if "[[A]]" in line)
    kit.write(
        "Index/Decisions.md",
        page.replace(line, f"{line}\n- my own remark on A").replace(
            "<!-- vaultkeeper:begin", "My intro.\n\n<!-- vaultkeeper:begin", 1
        )
        + "\nMy outro.\n",
    )
    kit.note("Decisions/B.md", type="decision")
    kit.tidy()
    text = kit.text("Index/Decisions.md")
    block = text[text.index("<!-- vaultkeeper:begin") : text.index("<!-- vaultkeeper:end")]
    assert "[[A]]" in block
    assert "[[B]]" in block
    assert text.index("my own remark on A") > text.index("<!-- vaultkeeper:end")
    assert text.index("My intro.") < text.index("<!-- vaultkeeper:begin")
    assert "My outro." in text
    assert kit.tidy()["actions"] == []


@pytest.mark.rule("K-25", "LT-52", "LT-35")
@pytest.mark.parametrize(
    "folder", ["Decisions ", "Decisions\u00a0", unicodedata.normalize("NFD", "Décisions"), "决定 "]
)
def test_folders_with_odd_names_keep_no_index_from_being_made(kit: Kit, folder: str) -> None:
    """Case c03: an invisible blank or another normalisation made the index refuse to be built."""
    note_id = kit.note(f"{folder}/t.md", type="decision", title="t")
    kit.write(f"{folder}/plain.md", "An ordinary note.\n")
    kit.settled()
    home = folder if folder.strip() == "Decisions" else "Decisions"
    assert kit.where(note_id) == [f"{home}/t.md"]
    assert "[[t]]" in kit.text("Index/Decisions.md")
    assert daemon.read(kit.root, "why", {"note": "plain"})["path"] == f"{folder}/plain.md"


@pytest.mark.rule("K-25")
def test_a_folder_in_another_case_is_the_same_folder(kit: Kit) -> None:
    """Case c03: names are the same where only case differs; the true path is used."""
    (kit.root / "Decisions").rename(kit.root / "decisions")
    note_id = kit.note("decisions/t.md", type="decision", title="t")
    kit.settled()
    assert kit.where(note_id) == ["decisions/t.md"]


FENCES = """# fences

## 核心内容

text with ``` inline ticks in prose

``` Python x
# not a heading
 ```

````md
```
## 来源与依据
```
````

~~~
## no
~~~

## 用户小节

keep me

## 来源与依据

real one
"""


def memory(body: str, *lines: str) -> str:
    keys = (f"id: {ID}", "type: knowledge", "status: active", *lines)
    return "---\n" + "".join(f"{line}\n" for line in keys) + f"---\n\n{body}"


@pytest.mark.rule("LT-42", "LT-40", "K-3")
def test_what_stands_in_code_is_no_heading(kit: Kit) -> None:
    """Case c05: lines in code were taken for headings, and odd fences made true headings vanish."""
    kit.write("Knowledge/fences.md", memory(FENCES, "title: fences", "evidence: real one"))
    kit.settled()
    kit.edit("Knowledge/fences.md", "evidence: real one", "evidence: another one")
    kit.settled()
    body = kit.text("Knowledge/fences.md").split("---\n", 2)[2]
    assert body == "\n" + FENCES.replace("real one", "another one")


@pytest.mark.rule("K-9", "LT-52")
def test_a_query_of_the_persons_stays_beside_the_list(kit: Kit) -> None:
    """Case c07: the list that replaced a query lost the query."""
    kit.note("Decisions/A.md", type="decision")
    kit.settled()
    query = '\n```dataview\nLIST FROM "Decisions"\n```\n'
    kit.write("Index/Decisions.md", kit.text("Index/Decisions.md") + query)
    kit.note("Decisions/B.md", type="decision")
    kit.settled()
    text = kit.text("Index/Decisions.md")
    assert query in text
    assert re.search(r"^- \[\[B\]\]", text, re.M), "plain links that need no plugin"


@pytest.mark.rule("LT-52", "K-24")
def test_every_line_of_a_list_links_to_its_note(kit: Kit) -> None:
    """Case c09: names and titles with marks of the link syntax gave lines that were no link, or reached another note."""
    titles = ["a#b", "Bra]cket", "Paren (x", "x|y", "50% ^block", "[[nested]]", "`code", "*bold", "<b>", "\\"]
    ids = {kit.run("new", title=title, type="decision", text=f"On {title}.")["id"] for title in titles}
    kit.settled()
    lines = [line for line in kit.text("Index/Decisions.md").splitlines() if line.startswith("- ")]
    assert len(lines) == len(titles)
    reached = set()
    for line in lines:
        link = re.match(r"- (?:\[\[([^\[\]|#^]+)(?:\|.*?)?\]\]|\[.*?\]\(([^()]+)\.md\))", line)
        assert link is not None, line
        target = link[1] or unquote(link[2])
        (found,) = [path for path in kit.files() if f"/{path}".endswith(f"/{target}.md")]
        reached.update(re.findall(r"^id: (\S+)", kit.text(found), re.M))
    assert reached == ids


@pytest.mark.rule("LT-52", "K-6")
def test_ten_runs_add_ten_lines_and_nothing_else(kit: Kit) -> None:
    """Case c11: blank lines piled up around the block, and names with dots flipped in and out of it."""
    kit.note("Decisions/v1.2.md", type="decision", title="v1.2")
    kit.note("Decisions/something.yo.md", type="decision", title="something.yo")
    kit.settled()
    first = kit.text("Index/Decisions.md")
    for number in range(10):
        kit.note(f"Decisions/n{number}.md", type="decision")
        kit.settled()
        text = kit.text("Index/Decisions.md")
        assert "[[v1.2]]" in text
        assert "[[something.yo]]" in text
        assert text.count("\n") == first.count("\n") + number + 1
        assert text.count("\n\n") == first.count("\n\n")


@pytest.mark.rule("K-7", "LT-52")
def test_the_same_notes_give_no_write(kit: Kit) -> None:
    """Case c13: the time of making stood on each page, so that every run changed it."""
    kit.note("Decisions/A.md", type="decision")
    kit.settled()
    pages = sorted((kit.root / "Index").iterdir())
    for page in pages:
        os.utime(page, ns=(10**18, 10**18))
    kit.tidy()
    assert kit.run("rebuild")["actions"] == []
    assert {page.stat().st_mtime_ns for page in pages} == {10**18}
    today = f"{daemon._now():%Y-%m-%d}"
    assert not any(today in page.read_text() for page in pages if page.suffix == ".md")


ROUND = """# round trip

## 核心内容

old summary

## 要点 <!-- todo -->

line with hard break\x20\x20
next
1.
+

<!--
## 来源与依据
hidden
-->

%%
## 相关记忆
%%

Setext 标题
---------

> [!note] callout
> ## not a section

## A ##

##无空格

## 来源与依据

（暂无可追溯来源）"""


@pytest.mark.rule("LT-42", "K-3")
def test_a_section_is_spliced_and_every_other_byte_stays(kit: Kit) -> None:
    """Case c15: headings with comments were not seen, and writing the Markdown anew changed what people had typed."""
    kit.write("Knowledge/round trip.md", memory(ROUND, "title: round trip"))
    kit.settled()
    assert kit.text("Knowledge/round trip.md").endswith(ROUND)
    kit.edit("Knowledge/round trip.md", "status: active\n", "status: active\nevidence: a letter\n")
    kit.settled()
    assert kit.text("Knowledge/round trip.md").endswith(ROUND.replace("（暂无可追溯来源）", "a letter"))
