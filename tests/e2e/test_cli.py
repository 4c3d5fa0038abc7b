"""The program as a process: its streams, signals and exit codes, on real vaults."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

PROGRAM = [sys.executable, "-m", "vaultkeeper"]
HEAVY = {"rich", "pydantic", "watchdog", "ruamel", "msgspec", "platformdirs", "filelock"}

posix_only = pytest.mark.skipif(os.name != "posix", reason="signals and pseudo-terminals of POSIX")


def ask(*args: str, code: int = 0, text: str | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*PROGRAM, *args], capture_output=True, encoding="utf-8", input=text, timeout=50, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def ask_json(*args: str, code: int = 0, text: str | None = None) -> dict[str, Any]:
    done = ask(*args, "--json", code=code, text=text)
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "笔记 vault"
    ask("init", str(root), "--language", "en")
    return root


@contextmanager
def watching(vault: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    process = subprocess.Popen(
        [*PROGRAM, "watch", str(vault), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout
    finally:
        process.kill()
        process.communicate()


def imported(*args: str) -> set[str]:
    """The top-level packages that a command imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *PROGRAM[1:], *args],
        capture_output=True,
        encoding="utf-8",
        timeout=50,
        check=False,
    )
    assert done.returncode == 0
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


# start-up


@pytest.mark.rule("IF-22", "IF-23")
def test_the_version_is_told_without_importing_the_command_line() -> None:
    assert ask("--version").stdout.startswith("vaultkeeper ")
    assert not imported("--version") & (HEAVY | {"click"})


@pytest.mark.rule("IF-23")
@pytest.mark.parametrize("args", [("--help",), ("tidy", "--help"), ("completion", "fish")])
def test_what_needs_no_vault_imports_nothing_heavy(args: tuple[str, ...]) -> None:
    assert not imported(*args) & (HEAVY - {"msgspec"})


def test_called_without_a_command_it_shows_its_help() -> None:
    assert "Commands:" in ask(code=2).stderr


# streams


@posix_only
@pytest.mark.rule("IF-20")
def test_a_broken_pipe_is_quiet() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*PROGRAM, "--help"], stdout=write, stderr=subprocess.PIPE, encoding="utf-8", timeout=50, check=False
    )
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.rule("IF-20", "K-97")
def test_an_error_is_one_json_document_too(tmp_path: Path) -> None:
    assert ask_json("check", str(tmp_path / "nowhere"), code=2)["error"]["message"]


# a vault


@pytest.mark.rule("IF-1", "IF-2")
def test_a_new_vault_is_in_order(vault: Path) -> None:
    assert ask_json("init", str(vault))["created"] == []
    document = ask_json("check", str(vault))
    assert document["vault"] == str(vault)
    assert [finding["code"] for finding in document["findings"]] == ["pages-stale"]
    assert ask_json("tidy", str(vault))["findings"] == []
    assert ask_json("check", str(vault))["findings"] == []


@pytest.mark.rule("IF-3", "IF-7", "IF-8", "IF-9", "K-50", "K-51", "K-52")
def test_a_note_goes_through_its_life(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULTKEEPER_VAULT", str(vault))
    made = ask_json(
        "new", "Use SQLite", "--type", "decision", "--text", "-", "--pending", text="It is enough.\n"
    )
    assert made["committed"]
    assert made["path"].startswith("Inbox/")
    planned = ask_json("confirm", made["id"], "--dry-run")
    assert planned["actions"]
    assert (vault / made["path"]).is_file()
    ask_json("confirm", "Use SQLite")
    why = ask_json("why", made["id"])
    assert why["path"].startswith("Decisions/")
    monkeypatch.chdir(vault / "Decisions")
    name = Path(why["path"]).name
    assert ask_json("set", name, "importance=80")["committed"]
    assert "importance: 80" in ask_json("show", name)["text"]
    assert ask_json("log", made["id"])["entries"]
    undone = ask_json("undo")
    assert undone["refused"] == []
    assert "importance" not in ask_json("show", name)["text"]
    assert ask_json("duplicates")["duplicates"] == []
    assert ask_json("tidy", "--dry-run")["dry_run"]
    ask("doctor")
    ask("rebuild")


@pytest.mark.rule("IF-2", "K-97")
def test_check_exits_with_1_when_something_is_wrong(vault: Path) -> None:
    note = vault / "Knowledge" / "broken.md"
    note.write_text("---\nid: mem_20260101t000000_00000001\ntype: [\n---\n", "utf-8")
    assert ask_json("check", str(vault), code=1)["findings"]
    assert "broken.md" in ask("check", str(vault), code=1).stdout


@pytest.mark.rule("IF-10")
def test_settings_and_vaults_are_kept(vault: Path, tmp_path: Path) -> None:
    ask("config", "set", "settle", "5", "--vault", str(vault))
    assert ask_json("config", "get", "settle", "--vault", str(vault))["value"] == 5
    assert ask_json("config", "list", "--vault", str(vault))
    ask("config", "set", "settel", "5", "--vault", str(vault), code=2)
    assert [row["path"] for row in ask_json("vaults")["vaults"]] == [str(vault)]
    assert ask_json("vaults", "remove", str(vault))["vaults"] == []
    assert ask_json("schema", "longterm")["properties"]


# a running keeper


@posix_only
@pytest.mark.rule("IF-4", "IF-21", "IF-31", "K-29", "K-36")
def test_commands_go_through_the_running_keeper_until_ctrl_c(vault: Path, home: Path) -> None:
    with watching(vault, "--json") as (process, lines):
        ready = json.loads(lines.readline())
        assert ready["event"] == "ready"
        port = int(ready["api"].rpartition(":")[2])
        health = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        health.request("GET", "/v1/health")
        assert json.loads(health.getresponse().read())["name"] == "vaultkeeper"
        health.close()
        made = ask_json("new", "From a command", "--type", "task", "--vault", str(vault))
        assert made["committed"]
        assert (vault / made["path"]).is_file()
        ask("show", "From nobody", "--vault", str(vault), code=2)
        ask("archive", "From nobody", "--vault", str(vault), code=2)
        ask_json("pause", str(vault))
        ask_json("resume", str(vault))
        ask("watch", str(vault), code=3)
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=50)
        assert process.returncode == 0, errors
        assert all(json.loads(line)["event"] for line in rest.splitlines())
    assert not (home / "state" / "endpoint.json").exists()
    ask("pause", str(vault), code=2)


@posix_only
@pytest.mark.rule("IF-4")
def test_piped_the_first_line_holds_the_address(vault: Path) -> None:
    with watching(vault) as (process, lines):
        assert lines.readline().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=50)[1] == ""
        assert process.returncode == 0


@posix_only
@pytest.mark.rule("IF-4")
def test_on_a_terminal_the_address_stands_first_and_the_view_follows(vault: Path) -> None:
    import pty

    screen, terminal = pty.openpty()
    environ = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen([*PROGRAM, "watch", str(vault)], stdout=terminal, stderr=terminal, env=environ)
    os.close(terminal)
    try:
        shown = b""
        while b"Ctrl-C" not in shown:
            shown += os.read(screen, 65_536)
        assert shown.splitlines()[0].startswith(b"http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        while chunk := _read(screen):
            shown += chunk
        assert process.wait(timeout=50) == 0
        assert b"Traceback" not in shown
    finally:
        process.kill()
        process.wait()
        os.close(screen)


def _read(screen: int) -> bytes:
    """What the terminal shows next; nothing once its program has ended, which Linux tells as an error."""
    try:
        return os.read(screen, 65_536)
    except OSError:
        return b""


@pytest.mark.rule("K-28", "K-97")
def test_a_tidy_that_could_not_do_all_says_so_by_its_exit_code(vault: Path) -> None:
    (vault / "Tasks").mkdir(exist_ok=True)
    note = vault / "Tasks/a.md"
    note.write_text(
        "---\nid: mem_20260301t080000_0000000a\ntype: task\nstatus: active\ntitle: a: b\n---\n\n# a: b\n"
    )
    before = note.read_bytes()
    note.chmod(0o444)
    document = ask_json("tidy", str(vault), code=3)
    failed = [finding for finding in document["findings"] if finding["code"] == "action-failed"]
    assert [finding["path"] for finding in failed] == ["Tasks/a.md"]
    assert "read-only" in failed[0]["message"]
    assert note.read_bytes() == before
    note.chmod(0o644)
    ask_json("tidy", str(vault))
    assert note.read_bytes() != before
