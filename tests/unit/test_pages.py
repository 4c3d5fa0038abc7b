"""Index pages: which notes each lists, in which order and words, and that its links reach exactly those notes."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.links import Resolver, find_links
from vaultkeeper.core.note import Entry, Kind, NotePath, Record
from vaultkeeper.core.page_health import PASSING
from vaultkeeper.core.page_text import splice
from vaultkeeper.core.pages import HEALTH_KEY, Page, is_page, page_keys, page_paths, render_pages, surplus
from vaultkeeper.formats.longterm import LONGTERM
from vaultkeeper.formats.registry import FORMATS

HARD_TITLES = (
    "a#b",
    "Bra]cket",
    "Paren (x",
    "x|y",
    "50% ^block",
    "[[nested]]",
    "two\nlines",
    "`code",
    "<!-- vaultkeeper:end -->",
    "%%",
)


def entry(
    path: str,
    title: str = "",
    *,
    number: int = 1,
    type_name: str = "decision",
    status: str = "active",
    updated_at: str = "2026-01-01T00:00:00.000Z",
    tags: tuple[str, ...] = (),
    importance: int | None = None,
    pinned: bool = False,
    kind: Kind = "memory",
) -> Entry:
    """A catalog row with a record."""
    record = Record(
        id=f"mem_20260101t000000_{number:08x}",
        type=type_name,
        status=status,
        title=title or path.rsplit("/", 1)[-1].removesuffix(".md"),
        created_at="2026-01-01T00:00:00.000Z",
        updated_at=updated_at,
        tags=tags,
        importance=importance,
        pinned=pinned,
    )
    return Entry(NotePath(path), 1, 1, "d", kind, record if kind == "memory" else None)


def rendered(
    entries: Iterable[Entry],
    health: Iterable[Finding] = (),
    *,
    chinese: bool = False,
    only: set[str] | None = None,
) -> dict[str, Page]:
    """Pages by file name without `Index/` and `.md`."""
    table = {each.path: each for each in entries}
    pages = render_pages(
        table, LONGTERM, "zh" if chinese else "en", Resolver(table), tuple(health), only=only
    )
    return {page.path.removeprefix("Index/").removesuffix(".md"): page for page in pages}


def linked(page: Page, entries: Iterable[Entry]) -> list[str]:
    """Paths of the notes that the links of the written page reach, in order; a dead link shows as its target."""
    resolver = Resolver([each.path for each in entries])
    text = splice(None, page.block, page.preface).text
    links = find_links(text, 0)
    return [resolver.resolve_link(link, page.path) or f"dead: {link.target}" for link in links]


def entry_lines(page: Page) -> list[str]:
    """The page's list items."""
    return [line for line in page.block.split("\n") if line.startswith("- ")]


@pytest.mark.rule("LT-52")
def test_there_is_a_page_for_each_type_each_status_but_active_and_five_more() -> None:
    assert list(page_paths(LONGTERM).values()) == [
        f"Index/{name}.md"
        for name in (
            *(
                "Profile",
                "Preferences",
                "Projects",
                "Project State",
                "Decisions",
                "Knowledge",
                "Experiences",
                "Tasks",
            ),
            *("Pending", "Stale", "Superseded", "Conflicts", "Archived"),
            *("All", "Tags", "Pinned", "Recent", "Health"),
        )
    ]
    assert [page.path for page in rendered([]).values()] == list(page_paths(LONGTERM).values())


@pytest.mark.rule("LT-52")
@pytest.mark.parametrize("fmt", FORMATS.values(), ids=list(FORMATS))
def test_page_names_of_a_format_are_distinct_and_short(fmt: object) -> None:
    assert fmt is LONGTERM
    names = [path.casefold() for path in page_paths(LONGTERM).values()]
    assert len(set(names)) == len(names)
    assert max(len(f"{name.removeprefix('index/')} 999999") for name in names) <= 40


@pytest.mark.rule("LT-52", "K-96")
def test_a_page_without_entries_exists_and_says_so() -> None:
    for name, page in rendered([]).items():
        assert ("(nothing wrong was found)" if name == "Health" else "(none yet)") in page.block
    for name, page in rendered([], chinese=True).items():
        assert ("（没有发现问题）" if name == "Health" else "（暂无）") in page.block
        assert page.preface.startswith("# ")


@pytest.mark.rule("LT-52")
def test_each_note_stands_on_the_pages_that_its_record_names() -> None:
    notes = [
        entry("Decisions/a.md", number=1, tags=("decision", "x")),
        entry("Inbox/b.md", number=2, status="pending", type_name="task", tags=("task",), pinned=True),
        entry("Archive/c.md", number=3, status="superseded"),
        entry("Projects/State/d.md", number=4, type_name="project-state", status="stale"),
        entry("Notes/plain.md", kind="plain"),
        entry("Index/All.md", kind="page"),
    ]
    pages = rendered(notes)
    paths = page_paths(LONGTERM)
    for name, page in pages.items():
        if name == "Health":
            continue
        key = next(key for key, path in paths.items() if path == page.path)
        wanted = {note.path for note in notes if key in page_keys(note.record, LONGTERM)}
        assert set(linked(page, notes)) == {path for path in wanted if key != "tags" or path[0] in "DI"}
    assert {name for name, page in pages.items() if "Archive" not in name and "c|c" in page.block} == set()
    assert linked(pages["Decisions"], notes) == ["Decisions/a.md", "Archive/c.md"]


@pytest.mark.rule("LT-52")
def test_a_file_without_record_stands_on_no_page() -> None:
    assert page_keys(None, LONGTERM) == frozenset()


@pytest.mark.rule("LT-52", "K-7")
def test_lists_are_sorted_by_importance_then_title_then_id() -> None:
    notes = [
        entry("Decisions/1.md", "b", number=1, importance=10),
        entry("Decisions/2.md", "Z", number=2, importance=10),
        entry("Decisions/3.md", "a", number=3),
        entry("Decisions/4.md", "é", number=4, importance=90),
        entry("Decisions/6.md", "same", number=5),
        entry("Decisions/5.md", "same", number=6),
        entry("Decisions/7.md", "0", number=7, importance=0),
    ]
    order = [f"Decisions/{digit}.md" for digit in "4217365"]
    order[3:] = ["Decisions/7.md", "Decisions/3.md", "Decisions/6.md", "Decisions/5.md"]
    for name in ("Decisions", "All"):
        assert linked(rendered(notes)[name], notes) == order
        assert rendered(reversed(notes))[name] == rendered(notes)[name]


@pytest.mark.rule("LT-52", "K-96")
def test_headings_count_and_entries_tell_facts_in_the_vaults_language() -> None:
    notes = [
        entry("Decisions/a.md", "Apples", number=1, importance=80, pinned=True),
        entry("Inbox/b.md", "Pears", number=2, status="pending", updated_at="2026-02-03T00:00:00.000Z"),
        entry("Tasks/b 2.md", "Plums", number=3, status="stale", type_name="task", updated_at=""),
    ]
    english, chinese = rendered(notes), rendered(notes, chinese=True)
    assert "## Active (1)\n\n- [[a|Apples]] · importance 80 · 📌\n\n## Pending (1)\n\n- [[b|Pears]]" in (
        english["Decisions"].block
    )
    assert "## 活动 (1)\n\n- [[a|Apples]] · 重要度 80 · 📌\n\n## 待确认 (1)" in chinese["Decisions"].block
    assert "## Pending (1)\n\n- [[b|Pears]] · Decisions" in english["Pending"].block
    assert entry_lines(english["All"]) == [
        "- [[a|Apples]] · Decisions · importance 80 · 📌",
        "- [[b|Pears]] · Decisions · Pending",
        "- [[b 2|Plums]] · Tasks · Stale",
    ]
    assert entry_lines(chinese["Recent"]) == [
        "- [[b|Pears]] · 2026-02-03 · 决策 · 待确认",
        "- [[a|Apples]] · 2026-01-01 · 决策 · 重要度 80 · 📌",
        "- [[b 2|Plums]] · 任务 · 过时",
    ]
    assert english["Decisions"].preface == "# Decisions\n"
    assert chinese["Decisions"].preface == "# 决策\n"
    assert "*Generated by vaultkeeper" in english["All"].block


@pytest.mark.rule("LT-52")
def test_tags_are_listed_without_becoming_tags_of_the_page() -> None:
    notes = [
        entry("Decisions/a.md", number=1, tags=("zoo", "ant")),
        entry("Decisions/b.md", number=2, tags=("ant",)),
        entry("Decisions/c.md", number=3, tags=("[[x]]\n#y<!-- vaultkeeper:end -->",)),
    ]
    page = rendered(notes)["Tags"]
    headings = [line for line in page.block.split("\n") if line.startswith("#")]
    assert headings == ["## ［［x］］ ＃y＜!-- vaultkeeper:end --＞ (1)", "## ant (2)", "## zoo (1)"]
    assert linked(page, notes) == ["Decisions/c.md", "Decisions/a.md", "Decisions/b.md", "Decisions/a.md"]
    made = splice(None, page.block, page.preface).text
    assert splice(made, page.block, page.preface).text == made


@pytest.mark.rule("LT-52")
def test_recent_holds_the_hundred_notes_changed_last() -> None:
    notes = [
        entry(
            f"Decisions/{n}.md", number=n, updated_at=f"2026-01-01T00:{n // 2:02}:00.000Z", importance=n % 7
        )
        for n in range(110)
    ]
    order = linked(rendered(notes)["Recent"], notes)
    expected = sorted(range(110), key=lambda n: (-(n // 2), str(n)))[:100]
    assert order == [f"Decisions/{n}.md" for n in expected]


@pytest.mark.rule("LT-52")
@pytest.mark.parametrize("title", HARD_TITLES)
def test_links_reach_the_note_whatever_its_title(title: str) -> None:
    notes = [
        entry("Decisions/hard.md", title, number=1, tags=("t",), pinned=True),
        entry("Decisions/easy.md", number=2, tags=("t",)),
    ]
    health = [
        found("stray-line", "Decisions/hard.md", 3, text=title),
        found("missing-id", "Decisions/easy.md"),
    ]
    for chinese in (False, True):
        pages = rendered(notes, health, chinese=chinese)
        for name in ("Decisions", "All", "Tags", "Recent", "Health"):
            assert sorted(linked(pages[name], notes)) == ["Decisions/easy.md", "Decisions/hard.md"], name
            made = splice(None, pages[name].block, pages[name].preface).text
            assert splice(made, pages[name].block, "").text == made


@pytest.mark.rule("LT-52")
@pytest.mark.parametrize(
    "path",
    [
        *(
            f"Decisions/{name}.md"
            for name in ("a#b", "Bra]cket", "Paren (x", "x|y", "50% ^block", "[[nested]]")
        ),
        *(
            "Projects /odd.md",
            "Projects\u00a0/odd.md",
            "De\u0301cisions/odd.md",
            "v1.2.md",
            "something.yo.md",
            "a b.md",
        ),
        *("Knowledge/All.md", "Knowledge/all 2.md", "Inbox/Health.md", "Index/mine.md"),
    ],
)
def test_links_reach_the_note_whatever_its_path(path: str) -> None:
    notes = [entry(path, number=1), entry("Decisions/other.md", number=2), entry("Tasks/Tags.md", number=3)]
    files = [*notes, *(entry(each, kind="page") for each in page_paths(LONGTERM).values())]
    files.append(entry("Index/All 2.md", kind="page"))
    page = rendered(notes)["Decisions"]
    assert sorted(linked(page, files)) == sorted([path, "Decisions/other.md", "Tasks/Tags.md"])
    assert rendered(files)["Decisions"] == page


@pytest.mark.rule("LT-52")
def test_notes_of_one_name_in_two_folders_are_told_apart() -> None:
    notes = [entry("Decisions/x.md", number=1), entry("Decisions/2026/x.md", number=2)]
    assert sorted(linked(rendered(notes)["Decisions"], notes)) == ["Decisions/2026/x.md", "Decisions/x.md"]


@pytest.mark.rule("LT-37", "LT-52")
def test_notes_that_share_an_id_are_listed_once_and_all_told_on_health() -> None:
    notes = [entry("Decisions/b.md", "x", number=1), entry("Decisions/a.md", "x", number=1, importance=9)]
    health = [
        found("duplicate-id", note.path, id="mem_1", paths="Decisions/a.md, Decisions/b.md") for note in notes
    ]
    for given in (notes, notes[::-1]):
        pages = rendered(given, health)
        assert linked(pages["Decisions"], notes) == ["Decisions/a.md"]
        assert linked(pages["Health"], notes) == ["Decisions/a.md", "Decisions/b.md"]


@pytest.mark.rule("LT-52")
def test_a_title_without_words_shows_the_file_name() -> None:
    note = Entry(NotePath("Tasks/x.md"), 1, 1, "d", "memory", Record("mem_1", "task", "active", "", "", ""))
    assert entry_lines(rendered([note])["Tasks"]) == ["- [[x]]"]


@pytest.mark.rule("LT-52")
def test_a_title_that_no_file_can_hold_does_not_stop_the_page() -> None:
    page = rendered([entry("Tasks/x.md", "bad \ud800 half", type_name="task")])["Tasks"]
    assert "[[x|bad ? half]]" in page.block


def many(count: int) -> list[Entry]:
    """That many decisions, their titles in order."""
    return [
        entry(f"Decisions/n{n:05}.md", number=n, tags=("odd",) if n % 2 else ("even",)) for n in range(count)
    ]


@pytest.mark.rule("LT-52")
@pytest.mark.parametrize(("count", "sizes"), [(500, [500]), (501, [500, 1]), (1200, [500, 500, 200])])
def test_a_page_over_500_entries_is_split(count: int, sizes: list[int]) -> None:
    notes = many(count)
    pages = [page for name, page in rendered(notes).items() if name.split()[0] == "All"]
    assert [page.path for page in pages] == ["Index/All.md", "Index/All 2.md", "Index/All 3.md"][: len(sizes)]
    assert [len(entry_lines(page)) for page in pages] == sizes
    files = [*notes, *(entry(page.path, kind="page") for page in pages)]
    reached = [path for page in pages for path in linked(page, files)]
    assert [path for path in reached if path.startswith("Dec")] == [note.path for note in notes]
    assert f"## All memories ({count})" in pages[0].block
    assert all("## All memories (continued)" in page.block for page in pages[1:])
    for at, page in enumerate(pages):
        around = {other.path for other in (*pages[max(0, at - 1) : at], *pages[at + 1 : at + 2])}
        assert {path for path in linked(page, files) if path.startswith("Index/")} == around


@pytest.mark.rule("LT-52")
def test_a_list_that_begins_late_on_a_page_goes_on_on_the_next() -> None:
    pages = rendered(many(600))
    assert "Tags 2" in pages
    assert "## even (300)" in pages["Tags"].block
    assert "## odd (300)" in pages["Tags"].block
    assert "## odd (continued)" in pages["Tags 2"].block
    assert len(entry_lines(pages["Tags 2"])) == 100
    assert pages["Tags 2"].preface == "# Tags 2\n"


@pytest.mark.rule("K-34", "LT-52")
def test_only_the_pages_asked_for_are_made() -> None:
    notes = [entry("Decisions/a.md", number=1), entry("Tasks/b.md", number=2, type_name="task", pinned=True)]
    everything = rendered(notes)
    keys = set(page_keys(notes[0].record, LONGTERM))
    some = rendered(notes, only=keys)
    assert list(some) == ["Decisions", "All", "Tags", "Recent"]
    assert all(everything[name] == page for name, page in some.items())
    assert list(rendered(notes, only={HEALTH_KEY})) == ["Health"]
    assert rendered(notes, only=set()) == {}


@pytest.mark.rule("LT-52", "K-25")
@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("Index/All.md", True),
        ("index/ALL.MD", True),
        ("Index/All 2.md", True),
        ("Index/Project State 17.md", True),
        ("Index/All 1.md", False),
        ("Index/All 02.md", False),
        ("Index/Alles.md", False),
        ("Index/mine.md", False),
        ("Index/sub/All.md", False),
        ("All.md", False),
        ("Index/Memories.base", False),
    ],
)
def test_a_page_is_known_by_its_name(path: str, named: bool) -> None:
    assert is_page(NotePath(path), LONGTERM) is named


@pytest.mark.rule("LT-52")
def test_split_pages_that_are_no_longer_needed_are_named() -> None:
    existing = [
        NotePath(f"Index/{name}.md")
        for name in ("All 3", "All 2", "All", "Tags 2", "Mine 2", "Tags", "Pinned 2", "health 2")
    ]
    pages = list(rendered(many(501), only={"all", "pinned", "health"}).values())
    assert surplus(existing, pages, LONGTERM) == ("Index/All 3.md", "Index/Pinned 2.md", "Index/health 2.md")


@pytest.mark.rule("LT-52")
def test_health_groups_findings_by_severity_and_code_with_link_line_and_fix() -> None:
    notes = [entry("Decisions/a.md", "Apples", number=1), entry("Decisions/b.md", "Pears", number=2)]
    health = [
        found("bad-date", "Decisions/b.md", 5, key="created_at", word="2026-02-30"),
        found("missing-key", "Decisions/a.md", key="tags", taken=""),
        found("missing-key", "Decisions/b.md", key="tags", taken=""),
        found("conflict-markers", "Decisions/b.md"),
        found("unknown-type", "Decisions/b.md", 3, word="idea", taken="knowledge"),
        found("bad-date", "Decisions/a.md", 4, key="created_at", word="soon"),
        found("bad-date", "Decisions/a.md", 4, key="created_at", word="soon"),
        found("not-a-code", ""),
        found("link-dangling", "Decisions/gone`.md", target="x"),
    ]
    block = rendered(notes, health)["Health"].block
    lines = block.split("\n\n", 1)[1].split("\n")
    assert [line for line in lines if line] == [
        "## Errors (2)",
        "### conflict-markers (1)",
        "- [[b|Pears]] · holds merge conflict markers · settle the conflict and save",
        "### not-a-code (1)",
        "- the whole vault · not-a-code",
        "## Warnings (4)",
        "### bad-date (2)",
        "- [[a|Apples]] · line 4 · created_at is no date that can be read: soon · write it like 2026-10-17",
        "- [[b|Pears]] · line 5 · created_at is no date that can be read: 2026-02-30 · write it like 2026-10-17",
        "### link-dangling (1)",
        "- `Decisions/gone'.md` · a symbolic link to nothing: x · remove the link",
        "### unknown-type (1)",
        "- [[b|Pears]] · line 3 · unknown type “idea”, taken as knowledge · use one of the format's types",
        "## Hints (2)",
        "- missing-key · 2",
    ]
    assert rendered(notes[::-1], health[::-1])["Health"].block == block


@pytest.mark.rule("K-96", "LT-52")
def test_health_speaks_chinese_too() -> None:
    block = rendered(
        [entry("Decisions/a.md")], [found("bad-id", "Decisions/a.md", 2, word="x")], chinese=True
    )
    assert "## 错误 (1)\n\n### bad-id (1)\n\n- [[a]] · 第 2 行 · id 格式不对：x · " in block["Health"].block


@pytest.mark.rule("K-1", "K-7")
def test_health_leaves_out_what_another_machine_would_not_find() -> None:
    assert (
        "(nothing wrong was found)" in rendered([], [found(code, "a.md") for code in PASSING])["Health"].block
    )


@pytest.mark.rule("K-14", "LT-34", "LT-52")
def test_health_lists_quarantined_notes() -> None:
    notes = [entry(f"Inbox/{name}.md", kind="quarantined") for name in ("z", "a")]
    page = rendered(notes)["Health"]
    assert "## Quarantined (2)" in page.block
    assert linked(page, notes) == ["Inbox/a.md", "Inbox/z.md"]


@pytest.mark.rule("LT-52")
def test_health_tells_500_findings_and_counts_the_rest() -> None:
    errors = [found("missing-id", f"{n:03}.md") for n in range(300)]
    warnings = [found("slip-tab", f"{n:03}.md") for n in range(300)]
    broken = [entry(f"Inbox/{n}.md", kind="quarantined") for n in range(501)]
    page = rendered(broken, errors + warnings)["Health"]
    assert page.block.count("it has no id") == 300
    assert "## Warnings (300)\n\n### slip-tab (300)" in page.block
    assert page.block.count("a tab used as indentation") == 200
    assert "- 100 more · see them with vaultkeeper check" in page.block
    assert page.block.count("[[") == 500
    assert page.block.endswith("- 1 more · see them with vaultkeeper check")
    chinese = rendered([], errors * 2 + [found("nul-bytes", f"{n}.md") for n in range(201)], chinese=True)
    assert "- 另有 1 条 · 用 vaultkeeper check 查看" in chinese["Health"].block


@pytest.mark.rule("K-9")
def test_nothing_a_finding_quotes_can_break_the_page() -> None:
    nasty = "a\n<!-- vaultkeeper:end --> [[x]] `code %% | #tag " + "w" * 400
    health = [found("stray-line", "a.md", text=nasty), found("link-outside", nasty, target=nasty)]
    page = rendered([], health)["Health"]
    assert linked(page, []) == []
    assert "%%" not in page.block
    assert "…" in page.block
    made = splice(None, page.block, page.preface).text
    assert splice(made, page.block, "").text == made


@pytest.mark.rule("K-6", "K-7", "LT-52")
def test_pages_grow_note_by_note_without_gathering_blank_lines() -> None:
    texts: dict[str, str] = {}
    notes: list[Entry] = []
    for number, name in enumerate(("v1.2", "something.yo", *"abcdefgh")):
        notes.append(entry(f"Decisions/{name}.md", number=number))
        for key, page in rendered(notes).items():
            once = splice(texts.get(key), page.block, page.preface)
            assert splice(once.text, page.block, page.preface) == once
            assert not once.kept
            texts[key] = once.text
    fresh = {key: splice(None, page.block, page.preface).text for key, page in rendered(notes).items()}
    assert texts == fresh
    assert all("\n\n\n" not in text for text in texts.values())


@pytest.mark.rule("K-9", "K-96")
def test_a_page_can_change_its_language_without_keeping_old_lines() -> None:
    notes = [*many(501), entry("Inbox/p.md", number=9999, status="pending", importance=4, pinned=True)]
    health = [found("missing-id", "x.md"), found("missing-key", "y.md")]
    english, chinese = rendered(notes, health), rendered(notes, health, chinese=True)
    for name, page in english.items():
        old = splice(None, page.block, page.preface).text
        assert not splice(old, chinese[name].block, "").kept
        remarked = old.replace("write your own words", "write", 1)
        assert remarked != old
        assert splice(remarked, page.block, "").kept
