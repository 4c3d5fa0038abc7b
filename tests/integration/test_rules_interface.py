"""Rules of `interface.md`, clause by clause, through the command line where no other test says them (IF-1 … IF-22)."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Kit
from tests.watching import watching
from vaultkeeper.cli.main import run

pytestmark = pytest.mark.timeout(120)

OPS = {"create", "rewrite", "move", "page", "trash"}
FINDING = {"code", "severity", "path", "line", "message", "fix"}
ACTION = {"op", "path", "to", "rule", "reason"}


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit.make(tmp_path / "vault", language="en")


def cli(*args: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """What a command prints and ends with, in this process: a second one takes a third of a second to start."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        code = run(args)
    return subprocess.CompletedProcess(args, code, out.getvalue(), err.getvalue())


def ask(*args: str, code: int = 0, **env: str) -> Any:
    """The one JSON document that a command prints."""
    done = cli(*args, "--json", env=env)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


# which vault


def run_in(folder: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vaultkeeper", *args],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )


@pytest.mark.rule("IF-2")
def test_a_vault_left_out_is_the_environments_then_the_one_around_here_then_the_only_one(
    kit: Kit, tmp_path: Path
) -> None:
    other = Kit.make(tmp_path / "other", language="en")

    def chosen(folder: Path, **env: str) -> str:
        done = run_in(folder, "check", "--json", **env)
        return str(json.loads(done.stdout).get("vault", done.stdout))

    deep = kit.root / "Tasks/deep"
    deep.mkdir()
    assert chosen(deep) == str(kit.root)
    assert chosen(deep, VAULTKEEPER_VAULT=str(other.root)) == str(other.root)
    assert json.loads(run_in(deep, "check", str(other.root), "--json").stdout)["vault"] == str(other.root)
    nowhere = run_in(tmp_path, "check")
    assert nowhere.returncode == 2
    assert str(kit.root) in nowhere.stderr
    assert str(other.root) in nowhere.stderr
    cli("vaults", "remove", str(other.root))
    assert chosen(tmp_path) == str(kit.root)
    cli("vaults", "remove", str(kit.root))
    assert run_in(tmp_path, "check").returncode == 2


@pytest.mark.rule("IF-1")
def test_nothing_is_touched_but_the_vault_and_the_programs_own_home(tmp_path: Path) -> None:
    home, own = tmp_path / "user", tmp_path / "own"
    home.mkdir()
    env = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": "",
        "XDG_CACHE_HOME": "",
        "XDG_STATE_HOME": "",
        "VAULTKEEPER_HOME": str(own),
    }
    for args in (
        ("init", "vault"),
        ("tidy", "vault"),
        ("new", "Tea", "--vault", "vault"),
        ("check", "vault"),
    ):
        assert run_in(tmp_path, *args, **env).returncode == 0
    assert list(home.iterdir()) == []
    assert {path.name for path in own.iterdir()} <= {"config", "state", "cache"}
    assert {path.name for path in tmp_path.iterdir()} == {"user", "own", "vault"}


# the commands


@pytest.mark.rule("IF-1", "LT-2")
def test_init_tells_what_it_made_and_speaks_chinese_unless_told_otherwise(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    made = ask("init", str(root))
    assert set(made) == {"vault", "format", "created"}
    assert (made["vault"], made["format"]) == (str(root), "longterm")
    assert {"README.md", "Memory Home.md", "Inbox", ".dsh-memory/config.json"} <= {
        path.rstrip("/") for path in made["created"]
    }
    assert all((root / path).exists() for path in made["created"])
    assert ask("init", str(root))["created"] == []
    ask("tidy", str(root))
    assert "全部记忆" in (root / "Index/All.md").read_text("utf-8")
    assert cli("init", str(tmp_path / "x"), "--format", "nonsense").returncode == 2
    assert not (tmp_path / "x").exists()


@pytest.mark.rule("IF-2", "K-97")
def test_check_only_reads_and_tells_each_finding_whole(kit: Kit) -> None:
    kit.settled()
    kit.note("Wrong/x.md", type="novel", importance="999")
    kit.write("Tasks/broken.md", "---\nid: mem_20260301t080000_0000000a\ntype: [\n---\n")
    before = kit.files(derived=True)
    report = ask("check", str(kit.root), code=1)
    assert kit.files(derived=True) == before
    assert {"vault", "format", "notes", "quarantined", "findings"} <= set(report)
    assert (report["vault"], report["format"], report["notes"], report["quarantined"]) == (
        str(kit.root),
        "longterm",
        1,
        1,
    )
    for finding in report["findings"]:
        assert set(finding) == FINDING
        assert finding["severity"] in {"error", "warning", "info"}
        assert isinstance(finding["line"], int)
        assert finding["message"]
        assert finding["fix"]
    assert {"unknown-type", "importance-clamped", "misplaced", "frontmatter-unreadable"} <= {
        finding["code"] for finding in report["findings"]
    }


@pytest.mark.rule("IF-2", "K-97")
def test_hints_alone_are_no_reason_for_exit_code_1(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task", importance="999")
    kit.settled()
    report = ask("check", str(kit.root))
    assert [finding["severity"] for finding in report["findings"]] == ["info"]


@pytest.mark.rule("IF-3", "K-51")
def test_tidy_tells_what_it_did_or_would_do(kit: Kit) -> None:
    kit.note("Wrong/x.md", type="task")
    kit.note("Tasks/y.md", type="task", title="a: b")
    planned = ask("tidy", str(kit.root), "--dry-run")
    done = ask("tidy", str(kit.root))
    for answer in (planned, done):
        assert {"vault", "format", "dry_run", "batch", "actions", "findings"} <= set(answer)
        assert all(set(action) == ACTION and action["op"] in OPS for action in answer["actions"])
        assert all(set(finding) == FINDING for finding in answer["findings"])
    assert (planned["dry_run"], planned["batch"]) == (True, None)
    assert (done["dry_run"], bool(done["batch"])) == (False, True)
    assert planned["actions"] == done["actions"]
    by_path = {action["path"]: action for action in done["actions"]}
    assert (by_path["Wrong/x.md"]["op"], by_path["Wrong/x.md"]["to"]) == ("move", "Tasks/x.md")
    assert by_path["Wrong/x.md"]["rule"] == "LT-10"
    assert (by_path["Tasks/y.md"]["op"], by_path["Tasks/y.md"]["to"]) == ("rewrite", None)
    again = ask("tidy", str(kit.root))
    assert (again["actions"], again["batch"]) == ([], None)


@pytest.mark.rule("IF-4", "K-86")
def test_watch_keeps_several_vaults_and_speaks_one_object_a_line(kit: Kit, tmp_path: Path) -> None:
    other = Kit.make(tmp_path / "other", language="en")
    with watching(kit.root, settle=0) as watched:
        assert watched.events[0]["event"] == "ready"
        since = len(watched.events)
        note_id = kit.note("Wrong/x.md", type="task")
        event = watched.wait(lambda event: event["event"] == "action" and event["op"] == "move", since)
        assert set(event) >= ACTION
        assert event["vault"] == str(kit.root)
        assert kit.where(note_id) == ["Tasks/x.md"]
    process = subprocess.Popen(
        [sys.executable, "-m", "vaultkeeper", "watch", str(kit.root), str(other.root), "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout as lines:
        ready = json.loads(lines.readline())
        assert ready["event"] == "ready"
        assert ready["vaults"] == [str(kit.root), str(other.root)]
        assert ask("new", "Tea", "--vault", str(other.root))["committed"]
        process.terminate()
        assert all("event" in json.loads(line) for line in lines)
    assert process.wait(30) == 0


@pytest.mark.rule("IF-7")
def test_new_show_and_set_answer_alike(kit: Kit) -> None:
    vault = ["--vault", str(kit.root)]
    made = ask("new", "Tea", "--type", "task", "--text", "White tea keeps.", *vault)
    shown = ask("show", "Tea", *vault)
    changed = ask("set", "Tea", "importance=80", "tags=green tea", *vault)
    for answer in (made, shown, changed):
        assert {"committed", "path", "line", "id", "reason"} <= set(answer)
        assert (answer["path"], answer["id"]) == (made["path"], made["id"])
    assert (made["committed"], shown["committed"], changed["committed"]) == (True, False, True)
    assert "White tea keeps.\n" in shown["text"]
    assert not ask("set", "Tea", "importance=80", *vault)["committed"], "it says so already"
    pending = ask("new", "Maybe", "--pending", *vault)
    assert pending["path"].startswith("Inbox/")
    assert ask("set", "Tea", "importance=200", *vault, code=2)["error"]["code"] == "bad-value"


@pytest.mark.rule("IF-8", "LT-60")
def test_a_note_is_named_by_path_id_or_title_and_an_ambiguous_name_lists_the_choices(kit: Kit) -> None:
    note_id = kit.note("Tasks/file.md", type="task", title="The title")
    kit.note("Tasks/a.md", type="task", title="Twice")
    kit.note("Decisions/b.md", type="decision", title="Twice")
    kit.settled()
    vault = ["--vault", str(kit.root)]
    for name in (note_id, "The title", "the TITLE", "Tasks/file.md", "Tasks/file", "file"):
        done = ask("stale", name, "--dry-run", *vault)
        assert [action["path"] for action in done["actions"] if action["op"] != "page"] == [
            "Tasks/file.md"
        ], name
    refused = cli("archive", "Twice", *vault)
    assert refused.returncode == 2
    assert "Tasks/a.md" in refused.stderr
    assert "Decisions/b.md" in refused.stderr
    missing = cli("archive", "The titel", *vault)
    assert missing.returncode == 2
    assert "The title" in missing.stderr or "file" in missing.stderr
    assert (kit.root / "Tasks/a.md").exists()


@pytest.mark.rule("IF-8")
def test_every_step_of_life_answers_with_batch_and_actions(kit: Kit) -> None:
    for name in "abcdefghij":
        kit.note(f"Tasks/{name}.md", type="task", status="pending" if name in "ab" else "active")
    kit.write("plain.md", "plain\n")
    kit.settled()
    vault = ["--vault", str(kit.root)]
    steps = [
        ("confirm", "a"),
        ("reject", "b"),
        ("archive", "c"),
        ("stale", "d"),
        ("restore", "c"),
        ("supersede", "e", "f"),
        ("conflict", "g", "h"),
        ("resolve", "g", "h", "--keep", "B"),
        ("merge", "i", "j"),
        ("adopt", "plain.md"),
    ]
    for step in steps:
        answer = ask(*step, *vault)
        assert answer["batch"], step
        assert answer["actions"], step
        assert all(set(action) == ACTION and action["op"] in OPS for action in answer["actions"]), step
    assert (kit.root / "Archive/g.md").exists()
    assert (kit.root / "Tasks/h.md").exists()


@pytest.mark.rule("IF-9", "K-52", "K-50")
def test_what_happened_is_listed_explained_and_taken_back(kit: Kit) -> None:
    note_id = kit.note("Tasks/a.md", type="task")
    kit.note("Tasks/b.md", type="task")
    kit.settled()
    vault = ["--vault", str(kit.root)]
    batch = ask("archive", "a", *vault)["batch"]
    ask("stale", "b", *vault)
    entries = ask("log", "a", *vault)["entries"]
    assert {entry["id"] for entry in entries} == {note_id}
    assert [entry["op"] for entry in ask("log", "--limit", "1", *vault)["entries"]] == ["stale"]
    why = ask("why", "a", *vault)
    assert (why["type"], why["status"], why["place"], why["rule"]) == ("task", "archived", "Archive", "LT-10")
    assert [(each["op"], each["path"], each["batch"]) for each in why["actions"]][-1] == (
        "move",
        "Tasks/a.md",
        batch,
    )
    undone = ask("undo", batch, *vault)
    assert undone["undone"] == batch
    assert (kit.root / "Tasks/a.md").exists()
    assert "status: stale" in kit.text("Tasks/b.md")
    again = ask("undo", undone["batch"], *vault)
    assert again["undone"] == undone["batch"]
    assert (kit.root / "Archive/a.md").exists()
    assert ask("why", "a", *vault)["held"] is False
    assert cli("undo", "nonsense", *vault).returncode == 2


@pytest.mark.rule("IF-10", "K-95")
def test_vaults_settings_and_schema(kit: Kit, tmp_path: Path, home: Path) -> None:
    other = Kit.make(tmp_path / "other")
    assert [row["path"] for row in ask("vaults")["vaults"]] == [str(kit.root), str(other.root)]
    ask("vaults", "remove", str(other.root))
    ask("vaults", "add", str(other.root))
    assert [row["path"] for row in ask("vaults")["vaults"]] == [str(kit.root), str(other.root)]
    vault = ["--vault", str(kit.root)]
    assert ask("config", "get", "settle", *vault)["source"] == "default"
    ask("config", "set", "settle", "7", "--user")
    assert (
        ask("config", "get", "settle", *vault)["value"],
        ask("config", "get", "settle", *vault)["source"],
    ) == (7, "user")
    ask("config", "set", "settle", "9", *vault)
    assert ask("config", "get", "settle", *vault)["value"] == 9
    assert ask("config", "get", "settle", *vault, VAULTKEEPER_SETTLE="1")["value"] == 1
    assert ask("config", "get", "settle", "--vault", str(other.root))["value"] == 7
    for wrong in (("settle", "soon"), ("settle", "-1"), ("language", "fr"), ("nothing", "1")):
        assert cli("config", "set", *wrong, *vault).returncode == 2
    schema = ask("schema", "longterm")
    assert set(schema["required"]) == {
        "id",
        "type",
        "status",
        "title",
        "created_at",
        "updated_at",
        "schema_version",
    }
    assert set(schema["properties"]["status"]["enum"]) >= {
        "active",
        "pending",
        "stale",
        "superseded",
        "conflict",
        "archived",
    }
    assert cli("schema", "nonsense").returncode == 2


@pytest.mark.rule("IF-10", "K-1")
def test_rebuild_and_doctor_answer(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    kit.settled()
    rebuilt = ask("rebuild", str(kit.root))
    assert rebuilt["notes"] >= 1
    assert rebuilt["actions"] == []
    checks = ask("doctor", str(kit.root))["checks"]
    assert checks
    assert {check["name"] for check in checks if check["ok"]} >= {
        "vault",
        "vault folder",
        "keeper",
        "history",
    }


# what is printed


@pytest.mark.rule("IF-20", "K-97")
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("check",), 0),
        (("tidy",), 0),
        (("tidy", "--dry-run"), 0),
        (("rebuild",), 0),
        (("doctor",), 0),
        (("vaults",), 0),
        (("config", "list"), 0),
        (("schema", "longterm"), 0),
        (("duplicates",), 0),
        (("log",), 0),
        (("why", "nobody"), 2),
        (("show", "nobody"), 2),
        (("archive", "nobody"), 2),
        (("undo", "nonsense"), 2),
        (("tidy", "--nonsense"), 2),
        (("nonsense",), 2),
        (("pause",), 2),
        (("new", ""), 2),
    ],
)
def test_json_is_one_document_and_nothing_else_whatever_happens(
    kit: Kit, args: tuple[str, ...], code: int
) -> None:
    kit.settled()
    done = cli(*args, "--json", env={"VAULTKEEPER_VAULT": str(kit.root)})
    assert done.returncode == code, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert ("error" in document) == (code == 2)
    if code == 2:
        assert {"code", "message", "hint"} == set(document["error"])
    assert done.stderr == ""


@pytest.mark.rule("IF-20")
def test_messages_for_people_go_to_standard_error(kit: Kit) -> None:
    done = cli("show", "nobody", "--vault", str(kit.root))
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert "\x1b" not in done.stderr


@pytest.mark.rule("IF-22")
def test_an_unknown_option_names_the_nearest(kit: Kit) -> None:
    done = cli("tidy", str(kit.root), "--dry-rum")
    assert done.returncode == 2
    assert "--dry-run" in done.stderr
    assert "check" in cli("chekc", str(kit.root)).stderr
    assert "settle" in cli("config", "get", "setle", "--vault", str(kit.root)).stderr


# through the keeper


@pytest.mark.rule("IF-21", "K-29")
def test_through_a_keeper_every_command_gives_the_same_result(kit: Kit, tmp_path: Path) -> None:
    for name in "abcdefghij":
        kit.note(
            f"Tasks/{name}.md",
            type="task",
            status="pending" if name in "ab" else "active",
            body=f"# {name}\n\n[[Tasks/c]]\n",
        )
    kit.note("Tasks/twin1.md", type="task", id="mem_20260501t000000_00000001")
    kit.note("Tasks/twin2.md", type="task", id="mem_20260501t000000_00000001")
    kit.write("plain.md", "# Plain\n")
    kit.settled()
    twin = Kit(tmp_path / "twin")
    shutil.copytree(kit.root, twin.root, copy_function=shutil.copy2)
    twin.settled()
    steps = [
        ("confirm", "a"),
        ("reject", "b"),
        ("archive", "c"),
        ("supersede", "e", "f"),
        ("conflict", "g", "h"),
        ("resolve", "g", "h", "--keep", "both"),
        ("merge", "i", "j"),
        ("undo",),
        ("set", "d", "importance=5"),
        ("stale", "d", "--dry-run"),
        ("duplicates", "mem_20260501t000000_00000001", "--keep", "Tasks/twin1.md", "--others", "archive"),
        ("adopt", "plain.md"),
        ("tidy", "--fix-links"),
        ("rebuild",),
        ("confirm", "nobody"),
        ("confirm", "d"),
    ]

    def told(root: Path, step: tuple[str, ...]) -> str:
        done = cli(*step, "--json", env={"VAULTKEEPER_VAULT": str(root)})
        text = re.sub(r"mem_(?!20260301|20260501)\w+|\d{8}T\d{9}-\w+", "~", done.stdout)
        return f"{done.returncode} {text}".replace(str(root), "VAULT")

    alone = [told(twin.root, step) for step in steps]
    with watching(kit.root, settle=60, touch_grace=600, repair_grace=600):
        together = [told(kit.root, step) for step in steps]
    for step, one, other in zip(steps, alone, together, strict=True):
        assert one == other, step

    assert undated(kit) == undated(twin)


def undated(kit: Kit) -> dict[str, bytes]:
    """All files, without what was made anew: times and ids of today."""
    return {
        path: re.sub(
            rb"updated_at: .*|created_at: (?!2026-03-01).*|id: mem_(?!20260301|20260501)\w+", b"", data
        )
        for path, data in kit.files().items()
    }


@pytest.mark.rule("K-29")
def test_commands_that_only_read_work_beside_a_keeper(kit: Kit) -> None:
    kit.note("Tasks/x.md", type="task")
    with watching(kit.root, settle=60):
        before = kit.files()
        env = {"VAULTKEEPER_VAULT": str(kit.root)}
        for args in (
            ("check",),
            ("show", "x"),
            ("why", "x"),
            ("log",),
            ("duplicates",),
            ("doctor",),
            ("config", "list"),
            ("tidy", "--dry-run"),
        ):
            done = cli(*args, "--json", env=env)
            assert done.returncode in {0, 1}, (args, done.stdout, done.stderr)
            assert "error" not in json.loads(done.stdout)
        assert kit.files() == before


@pytest.mark.rule("K-51", "IF-1", "IF-10")
def test_a_dry_run_of_init_and_of_a_setting_says_what_would_be_and_makes_nothing(
    tmp_path: Path, home: Path
) -> None:
    root = tmp_path / "new"
    said = ask("init", str(root), "--dry-run")
    assert not root.exists()
    assert ask("vaults")["vaults"] == []
    made = ask("init", str(root))
    assert said["created"] == made["created"] != []
    before = {
        file: file.read_bytes() for folder in (root, home) for file in folder.rglob("*") if file.is_file()
    }
    for scope in (("--vault", str(root)), ("--user",)):
        assert ask("config", "set", "settle", "7", "--dry-run", *scope)["value"] == 7
        assert cli("config", "set", "settle", "soon", "--dry-run", *scope).returncode == 2
    after = {
        file: file.read_bytes() for folder in (root, home) for file in folder.rglob("*") if file.is_file()
    }
    assert after == before
