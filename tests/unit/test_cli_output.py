"""What the terminal shows: tables, phrases, advice, safety of names, the live view."""

from __future__ import annotations

import io
import json
import sys
import threading
from pathlib import Path

import pytest

from vaultkeeper.cli import blocks, output, phrases, render, views
from vaultkeeper.cli.blocks import Item, Items
from vaultkeeper.cli.live import LiveView, event_line, narrator
from vaultkeeper.cli.resolve import note_reference
from vaultkeeper.core import errors

READY: dict[str, object] = {
    "event": "ready",
    "api": "http://127.0.0.1:5000",
    "vaults": [{"key": "k", "vault": "/v/笔记"}],
}
MOVE: dict[str, object] = {
    "event": "action", "vault": "/v", "op": "move", "path": "Decisions/数据库选型.md", "to": "Archive/数据库选型.md",
    "rule": "LT-10", "reason": "status is archived",
}  # fmt: skip


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard output from here on: a terminal of 80 columns."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("VAULTKEEPER_LANGUAGE", "en")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return stream


TABLE = blocks.Table(("severity", "where"), (("error", "a" * 200), ("hint", "笔记.md:3")))


@pytest.mark.rule("IF-20")
def test_a_terminal_gets_headings_and_colour_within_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    render.show([TABLE, "done"])
    text = terminal.getvalue()
    assert "where" in text
    assert "\x1b[1;31merror" in text
    assert text.count("a" * 60) == 3, "folded, not cut"


@pytest.mark.rule("IF-20")
def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    render.show([TABLE])
    text = terminal.getvalue()
    assert "error" in text
    assert "31m" not in text


@pytest.mark.rule("IF-20")
def test_what_is_piped_is_plain_and_one_line_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    render.show([TABLE, "a sentence"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["error", "a" * 200],
        ["hint", "笔记.md:3"],
        ["a", "sentence"],
    ]


LIST = Items((Item("warning", "Tasks/短.md:3", "a colon"), Item("hint", "Tasks/b.md", "w " * 60 + "end")))


@pytest.mark.rule("IF-20")
def test_on_a_terminal_a_long_message_stands_below_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.cells import cell_len

    terminal = on_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    render.show([LIST])
    lines = [line.rstrip() for line in terminal.getvalue().splitlines()]
    assert lines[0] == "warning  Tasks/短.md:3  a colon"
    assert lines[1] == "hint     Tasks/b.md"
    assert lines[2].startswith("           w w w")
    assert lines[-1].endswith("w end")
    assert max(map(cell_len, lines)) <= 80


@pytest.mark.rule("IF-20")
def test_a_severity_is_coloured_in_both_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    render.show([Items((Item("error", "a.md", "x"), Item("警告", "b.md", "y")))])
    text = terminal.getvalue()
    assert "\x1b[1;31merror" in text
    assert "\x1b[33m警告" in text


@pytest.mark.rule("IF-20")
def test_a_piped_list_is_one_line_an_item(capsys: pytest.CaptureFixture[str]) -> None:
    render.show([LIST, Items((Item("", "moved a\nb", "why"),))])
    lines = capsys.readouterr().out.splitlines()
    assert lines == [line.rstrip() for line in lines]
    assert lines[0].split() == ["warning", "Tasks/短.md:3", "a", "colon"]
    assert lines[1].endswith("w end")
    assert lines[2] == "moved a⏎b  why"


def test_a_note_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    render.show(
        [
            blocks.Table(("", ""), (("x\x1b]0;evil\x07", "a\u202eb"),)),
            "\x9b2J",
            blocks.Text("one\n\ttwo\x08\n"),
        ]
    )
    out = capsys.readouterr().out
    assert not set(out) & set("\x1b\x07\u202e\x9b\x08")
    assert "\\u001b" in out
    assert "one\n\ttwo" in out


def test_names_are_one_line_in_a_table() -> None:
    assert render.printable("a\nb\tc") == "a⏎b c"
    assert render.printable("\udcff") == "\\udcff"


@pytest.mark.rule("K-96")
@pytest.mark.parametrize(
    ("environ", "document", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, {}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "de_DE.UTF-8"}, {}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, {"language": "en"}, "en"),
        ({"VAULTKEEPER_LANGUAGE": "zh", "LANG": "C"}, {}, "zh"),
        ({}, {}, "en"),
    ],
)
def test_wording_follows_the_vault_then_the_user(
    environ: dict[str, str], document: dict[str, object], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VAULTKEEPER_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert render.language_of(document) == language


@pytest.mark.rule("IF-20")
def test_json_survives_a_code_page_without_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(data, encoding="cp1252"))
    output.print_json({"path": "笔记.md"})
    sys.stdout.flush()
    assert json.loads(data.getvalue()) == {"path": "笔记.md"}


@pytest.mark.rule("K-97")
def test_progress_shows_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with output.progress() as show:
        assert show is None
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with output.progress() as show:
        assert show is not None
        show("reading", 1, 2)
        show("reading", 2, 2)
    assert "reading" in stream.getvalue()


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (errors.UnknownNoteError("x", ("near.md",)), "  near.md"),
        (errors.UnknownNoteError("x"), "its id or its title"),
        (errors.AmbiguousNoteError("x", ("a.md", "b.md")), "  a.md\n  b.md"),
        (errors.VaultBusyError("/v", 12, "desk"), "process 12 on desk"),
        (errors.ChangedMeanwhileError("a.md"), "try again"),
        (errors.VaultUnavailableError("/v", "gone"), "network share"),
        (errors.NoVaultError("/v"), "vaultkeeper init"),
    ],
)
def test_every_error_says_what_to_do(error: errors.VaultkeeperError, part: str) -> None:
    assert part in render.advice(error, "en")
    assert render.advice(error, "zh") not in {"", render.advice(error, "en")}


def test_an_error_that_says_it_all_gets_no_advice() -> None:
    assert render.advice(errors.UserError("no"), "en") == ""


@pytest.mark.rule("IF-3", "K-51")
def test_actions_are_told_in_words() -> None:
    told = [
        phrases.action_phrase({"op": op, "path": "a/x.md", "to": "b/y.md"}, "en")
        for op in ("create", "move", "odd")
    ]
    assert told == ["made a/x.md", "moved a/x.md → b/y.md", "odd a/x.md"]
    assert phrases.action_phrase(MOVE, "zh") == "移动 Decisions/数据库选型.md → Archive/"
    assert phrases.action_phrase(MOVE, "en", dry_run=True).startswith("would move")


@pytest.mark.rule("K-51")
def test_a_dry_run_says_that_nothing_was_changed() -> None:
    told = list(views.acted({"dry_run": True, "batch": None, "actions": [MOVE], "findings": []}, "en"))
    assert told[0] == Items(
        (Item("", "would move Decisions/数据库选型.md → Archive/", "status is archived [LT-10]"),)
    )
    assert told[-1] == "Nothing was changed: this was a dry run."


def finding(severity: str, path: str) -> dict[str, object]:
    return {"severity": severity, "path": path, "line": 2, "code": "c", "message": "m", "fix": "f"}


FINDINGS = [finding(severity, "a.md") for severity in ("error", "info", "warning", "info", "error")]


@pytest.mark.rule("IF-2")
def test_hints_are_counted_unless_they_are_asked_for() -> None:
    document = {"vault": "/v", "notes": 3, "quarantined": 1, "findings": FINDINGS}
    short = list(views.checked(document, "en"))
    assert isinstance(short[1], Items)
    assert [item.mark for item in short[1].items] == ["error", "warning", "error"]
    assert short[1].items[0] == Item("error", "a.md:2", "m [c] → f")
    assert short[2] == "2 errors, 1 warning, 2 hints; all of them: vaultkeeper check --hints"
    full = list(views.checked(document, "zh", hints=True))
    assert isinstance(full[1], Items)
    assert [item.mark for item in full[1].items] == ["错误", "提示", "警告", "提示", "错误"]
    assert full[2] == "2 个错误，1 个警告，2 条提示"


@pytest.mark.rule("IF-2")
def test_a_vault_with_hints_alone_is_told_in_two_lines() -> None:
    document = {"vault": "/v", "notes": 3, "quarantined": 0, "findings": [finding("info", "a.md")]}
    assert list(views.checked(document, "en")) == [
        "/v: 3 memories, 0 ordinary notes, 0 quarantined",
        "1 hint; all of them: vaultkeeper check --hints",
    ]


@pytest.mark.rule("IF-3")
def test_a_tidy_with_nothing_to_do_counts_what_is_wrong() -> None:
    document: dict[str, object] = {"actions": [], "findings": FINDINGS}
    assert list(views.acted(document, "en")) == [
        "Nothing to do.",
        "2 errors, 1 warning, 2 hints; all of them: vaultkeeper check --hints",
    ]
    assert list(views.acted({"actions": [], "findings": []}, "en")) == ["Nothing to do."]
    assert len(list(views.acted(document, "en", hints=True))) == 3


@pytest.mark.rule("IF-3")
def test_a_tidy_that_did_something_lists_what_is_still_wrong() -> None:
    told = list(views.acted({"actions": [MOVE], "findings": FINDINGS}, "en"))
    assert isinstance(told[1], Items)
    assert len(told[1].items) == 3
    assert told[2] == "2 errors, 1 warning, 2 hints; all of them: vaultkeeper check --hints"


@pytest.mark.rule("IF-3")
def test_many_index_pages_are_told_together() -> None:
    def pages(*names: str) -> list[dict[str, object]]:
        return [{"op": "page", "path": f"Index/{name}.md", "rule": "LT-52", "reason": "r"} for name in names]

    few = list(phrases.told([MOVE, *pages("A", "B", "C")], "en"))
    assert [item.head for item in few[1:]] == [f"updated the page Index/{name}.md" for name in "ABC"]
    many = list(phrases.told([*pages("A", "B", "C", "D"), MOVE], "en", dry_run=True))
    assert many[0] == Item("", "would update 4 index pages in Index/", "A, B, C, D")
    assert many[1].head.startswith("would move")
    assert len(many) == 2


@pytest.mark.rule("K-50", "K-51")
def test_an_undo_tells_which_batch_and_what_became_of_its_files() -> None:
    done = {"batch": "b2", "undone": "b1", "actions": [{**MOVE, "reason": "undo of b1"}]}
    head, items, last = views.acted(done, "en")
    assert head == "Took back batch b1:"
    assert items == Items((Item("", "moved Decisions/数据库选型.md → Archive/", ""),))
    assert last == "Batch b2; take it back: vaultkeeper undo b2"
    head, items, last = views.acted({**done, "batch": None, "dry_run": True}, "en")
    assert head == "Would take back batch b1, which did this:"
    assert items == Items((Item("", "moved Decisions/数据库选型.md → Archive/", ""),))
    assert last == "Nothing was changed: this was a dry run."


def test_a_move_to_the_vaults_own_folder_names_the_file() -> None:
    told = phrases.action_phrase({"op": "move", "path": "Tasks/x.md", "to": "x.md"}, "en")
    assert told == "moved Tasks/x.md → x.md"


def test_a_batch_says_how_to_take_it_back() -> None:
    assert (
        list(views.acted({"batch": "b1", "actions": [MOVE]}, "en"))[-1]
        == "Batch b1; take it back: vaultkeeper undo b1"
    )


def test_a_written_note_is_named_with_what_else_changed() -> None:
    done = {
        "committed": True,
        "path": "Tasks/x.md",
        "line": 1,
        "id": "mem_1",
        "batch": "b1",
        "actions": [MOVE],
    }
    told = list(views.written(done | {"warnings": ["much like y.md"], "reason": "created"}, "en"))
    assert told[:2] == ["Wrote Tasks/x.md:1 (mem_1)", "much like y.md"]
    assert isinstance(told[2], Items)
    assert told[2].items[0].head.startswith("moved")


def test_a_note_that_was_not_written_says_why() -> None:
    told = list(views.written({"committed": False, "reason": "it says so already", "actions": []}, "en"))
    assert told == ["Nothing was written: it says so already"]


@pytest.mark.rule("K-51")
def test_a_dry_run_of_new_tells_what_it_would_do() -> None:
    told = list(views.written({"committed": False, "reason": "dry run", "actions": [MOVE]}, "en"))
    assert isinstance(told[1], Items)
    assert told[1].items[0].head.startswith("would move")


@pytest.mark.rule("K-52")
def test_an_explanation_shows_facts_then_actions_then_findings() -> None:
    finding = {"severity": "info", "path": "a.md", "line": 0, "code": "held", "message": "m"}
    document = {"path": "a.md", "actions": [{**MOVE, "at": "t"}], "findings": [finding]}
    assert list(views.explained({"held": True, "links": [], **document}, "en")) == [
        blocks.Table(("", ""), (("held", "yes"), ("path", "a.md"))),
        Items((Item("t", "moved Decisions/数据库选型.md → Archive/", "status is archived [LT-10]"),)),
        Items((Item("hint", "a.md", "m [held]"),)),
    ]
    assert list(views.explained({"path": "a.md", "held": False, "actions": [], "findings": []}, "en")) == [
        blocks.Table(("", ""), (("path", "a.md"),))
    ]


@pytest.mark.rule("IF-7")
def test_a_note_is_shown_with_its_fields_and_its_text() -> None:
    fields = {"id": "mem_1", "tags": ("x", "y"), "aliases": (), "pinned": False, "importance": None}
    assert list(
        views.shown({"path": "a.md", "reason": "shown", "fields": fields, "text": "# A\n"}, "en")
    ) == [
        blocks.Table(("", ""), (("path", "a.md"), ("id", "mem_1"), ("tags", "x, y"), ("pinned", "no"))),
        blocks.Text("# A\n"),
    ]
    assert len(list(views.shown({"path": "a.md"}, "en"))) == 1


@pytest.mark.rule("IF-9")
def test_the_log_tells_what_was_done_to_which_note() -> None:
    entry = {
        "at": "t", "op": "archive", "id": "mem_1", "reason": "archive", "source": "cli",
        "before": "[task/active] Tea :: text", "after": "[task/archived] Tea :: text", "from": "Tasks/x.md", "to": "Archive/x.md",
    }  # fmt: skip
    rebuilt = {"at": "u", "op": "index-rebuild", "id": "*", "reason": "rebuild", "source": "cli"}
    assert list(views.logged({"vault": "/v", "entries": [entry, rebuilt]}, "en")) == [
        Items(
            (
                Item("t", "archive [task/archived] Tea", "archive · cli · Tasks/x.md → Archive/x.md"),
                Item("u", "index-rebuild *", "rebuild · cli"),
            )
        )
    ]
    assert list(views.logged({"entries": []}, "en")) == ["Nothing was done yet."]


@pytest.mark.rule("IF-10")
def test_settings_are_shown_as_they_would_be_typed() -> None:
    def row(value: object, default: object) -> dict[str, object]:
        return {"key": "k", "value": value, "source": "vault", "default": default, "description": "D."}

    document = {
        "settings": [row(5.0, 3.0), row(True, False), row(["a", "b"], []), {**row(1, 1), "source": "default"}]
    }
    (told,) = views.configured(document, "en")
    assert isinstance(told, Items)
    assert [item.head for item in told.items] == [
        "k = 5 (from vault; default 3)",
        "k = true (from vault; default false)",
        'k = a, b (from vault; default "")',
        "k = 1 (the default)",
    ]
    assert told.items[0].text == "D."
    user: dict[str, object] = {"user": "f", "key": "k", "value": 5, "settings": {"k": 5}}
    assert list(views.configured(user, "en")) == [Items((Item("", "k = 5", ""),))]


def test_any_answer_can_be_read() -> None:
    assert list(
        views.facts(
            {
                "language": "en",
                "entries": [{"at": "t", "op": "move"}, {"op": "x", "id": 1, "more": {"a": 1}}],
            },
            "en",
        )
    ) == [blocks.Table(("at", "op", "id", "more"), (("t", "move", "", ""), ("", "x", "1", "a=1")))]


def test_a_file_named_from_a_subfolder_is_the_vaults_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / "vault"
    (vault / "Tasks").mkdir(parents=True)
    (vault / "Tasks" / "x.md").write_text("x", "utf-8")
    (tmp_path / "outside.md").write_text("x", "utf-8")
    (tmp_path / "linked").symlink_to(vault)
    monkeypatch.chdir(vault / "Tasks")
    assert note_reference(vault, "x.md") == "Tasks/x.md"
    assert note_reference(tmp_path / "linked", "x.md") == "Tasks/x.md"
    assert note_reference(vault, str(tmp_path / "linked" / "Tasks" / "x.md")) == "Tasks/x.md"
    assert note_reference(vault, "Tasks/x.md") == "Tasks/x.md"
    assert note_reference(vault, "A title") == "A title"
    assert note_reference(vault, "../../outside.md") == "../../outside.md"


def test_a_long_name_is_shortened_in_its_middle() -> None:
    from rich.cells import cell_len

    short = render.elided(
        "Decisions/一个很长很长的标题用来测试换行的情况-mem_20260101t000000_00000001.md", 40
    )
    assert cell_len(short) <= 40
    assert short.startswith("Decisions/一个很长很长的")
    assert short.endswith("00000001.md")
    assert render.elided("Decisions/短.md", 40) == "Decisions/短.md"


EVENTS = [
    (READY, "http://127.0.0.1:5000 /v/笔记"),
    (MOVE, "moved Decisions/数据库选型.md → Archive/ (LT-10 · status is archived)"),
    ({"event": "action", "op": "page", "path": "Index/All.md"}, "updated the page Index/All.md"),
    ({"event": "finding", "severity": "error", "path": "a.md", "message": "no"}, "error: a.md: no"),
    ({"event": "state", "state": "degraded", "reason": "no events"}, "degraded: no events"),
    ({"event": "state", "state": "odd"}, "odd"),
    ({"event": "batch", "batch": "b1"}, "batch batch=b1"),
    ({"event": "ready", "api": "http://127.0.0.1:1", "vaults": ["/a", "/b"]}, "http://127.0.0.1:1 /a, /b"),
]


@pytest.mark.rule("IF-4")
@pytest.mark.parametrize(("event", "line"), EVENTS)
def test_an_event_is_one_line(event: dict[str, object], line: str) -> None:
    assert event_line(event, "en") == line


@pytest.mark.rule("IF-4")
def test_piped_the_first_line_holds_the_address(capsys: pytest.CaptureFixture[str]) -> None:
    with narrator(threading.Event(), as_json=False) as publish:
        publish(READY)
        publish({"event": "finding", "path": "a\x1b.md", "code": "c", "message": "x\ny"})
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("http://127.0.0.1:5000 ")
    assert second == "c: a\\u001b.md: x⏎y"


@pytest.mark.rule("IF-4", "IF-20")
def test_as_json_each_event_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with narrator(threading.Event(), as_json=True) as publish:
        publish(READY)
        publish(MOVE)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [READY, MOVE]


@pytest.mark.rule("IF-4")
def test_a_reader_that_goes_away_ends_the_watch_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    stop = threading.Event()
    monkeypatch.setattr(sys, "stdout", Closed())
    narrating = narrator(stop, as_json=False)
    publish = narrating.__enter__()
    publish(READY)
    assert stop.is_set()
    publish(MOVE)
    with pytest.raises(BrokenPipeError):
        narrating.__exit__(None, None, None)


@pytest.mark.rule("IF-4")
def test_the_live_view_shows_address_state_and_the_last_actions_in_80_columns() -> None:
    view = LiveView("zh", lambda: "12:00:00")
    for event in (READY, {"event": "state", "vault": "/v", "state": "paused", "notes": 12}):
        view.take(event)
    for _ in range(20):
        view.take(MOVE)
    for _ in range(2):
        view.take({"event": "finding", "vault": "/v", "path": "a.md", "code": "c", "message": "m"})
    view.take({"event": "batch", "batch": "b"})
    long_name = "很" * 60
    view.take({**MOVE, "path": f"Decisions/{long_name}.md", "to": f"Archive/{long_name}.md", "rule": "K-1"})
    view.take(
        {**MOVE, "path": f"Decisions/{long_name}.md", "to": f"Decisions/{long_name} 2.md", "rule": "K-2"}
    )
    from rich.cells import cell_len
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=80).print(view)
    lines = out.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= 80
    text = out.getvalue()
    assert "http://127.0.0.1:5000" in text
    assert "已暂停" in text
    assert "/v/笔记" in text
    assert "12:00:00" in text
    assert text.count("LT-10") == 13
    assert text.index("K-2") < text.index("K-1") < text.index("LT-10"), "the newest first"
    assert text.count("Archive/") == 14
    assert "22" in text


@pytest.mark.rule("IF-4")
def test_the_live_view_tells_the_index_pages_of_a_batch_together() -> None:
    from rich.console import Console

    view = LiveView("en", lambda: "12:00:00")
    view.take({**MOVE, "batch": "b1"})
    for batch, name in (("b1", "A"), ("b1", "B"), ("b1", "C"), ("b2", "D")):
        page = {"op": "page", "path": f"Index/{name}.md", "rule": "LT-52", "reason": "follows"}
        view.take({"event": "action", "batch": batch, **page})
    out = io.StringIO()
    Console(file=out, width=80).print(view)
    text = out.getvalue()
    assert text.count("LT-52") == 2
    assert "updated 3 index pages in Index/" in text
    assert "updated the page Index/D.md" in text
    assert "moved" in text
    assert ["done", "5"] in [line.split() for line in text.splitlines()]


@pytest.mark.rule("IF-4")
def test_on_a_terminal_the_address_stands_above_the_live_view(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with narrator(threading.Event(), as_json=False) as publish:
        publish({"event": "state", "state": "waiting"})
        publish(READY)
        publish(MOVE)
    text = terminal.getvalue()
    assert text.splitlines()[0].startswith("http://127.0.0.1:5000 ")
    assert "moved" in text


@pytest.mark.rule("IF-4")
def test_a_watch_that_never_got_ready_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with narrator(threading.Event(), as_json=False) as publish:
        publish({"event": "state", "state": "waiting"})
    assert terminal.getvalue().strip("\n") == ""
