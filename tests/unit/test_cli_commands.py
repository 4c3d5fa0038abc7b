"""The commands of the terminal: what they ask of the daemon, and what they print."""

from __future__ import annotations

import io
import json
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest

import vaultkeeper
from vaultkeeper.cli.main import cli, run
from vaultkeeper.core import errors

FINDING = {
    "code": "slip-colon",
    "severity": "warning",
    "path": "Inbox/a.md",
    "line": 4,
    "message": "a colon",
    "fix": "tidy",
}
MOVE = {
    "op": "move",
    "path": "Decisions/x.md",
    "to": "Archive/x.md",
    "rule": "LT-10",
    "reason": "status is archived",
}


class FakeDaemon(types.ModuleType):
    """Stands in for the composition root at the process edge: keeps what it was asked, answers what it was told."""

    def __init__(self, vault: Path) -> None:
        super().__init__("vaultkeeper.daemon")
        self.vault = vault
        self.calls: list[tuple[object, ...]] = []
        self.answer: dict[str, Any] = {"path": "x.md", "batch": "b1", "actions": [MOVE], "ok": True}
        self.error: BaseException | None = None
        self.events: list[dict[str, object]] = []
        self.registered: list[Path] = []

    def choose_vault(self, given: str | None) -> Path:
        return Path(given) if given else self.vault

    def run(self, vault: Path, verb: str, args: dict[str, object], progress: object = None) -> dict[str, Any]:
        return self._called("run", vault, verb, args)

    def read(self, vault: Path, verb: str, args: dict[str, object]) -> dict[str, Any]:
        return self._called("read", vault, verb, args)

    def check_vault(self, vault: Path, progress: object = None) -> dict[str, Any]:
        return self._called("check", vault)

    def init_vault(
        self, path: Path, format_id: str, language: str | None, *, dry_run: bool
    ) -> dict[str, Any]:
        return self._called("init", path, format_id, language, dry_run)

    def config_get(self, vault: Path | None, key: str | None) -> dict[str, Any]:
        return self._called("get", vault, key)

    def config_set(self, vault: Path | None, key: str, value: str, *, dry_run: bool) -> dict[str, Any]:
        return self._called("set", vault, key, value, dry_run)

    def schema(self, format_id: str) -> dict[str, Any]:
        return self._called("schema", format_id)

    def watch(self, vaults: Sequence[Path], publish: Callable[[dict[str, object]], None], stop: Any) -> None:
        self.calls.append(("watch", list(vaults)))
        for event in self.events:
            publish(event)

    def registry(self) -> FakeDaemon:
        return self

    def add(self, path: Path) -> None:
        self.registered.append(path)

    def remove(self, path: Path) -> None:
        self.registered.remove(path)

    def list(self) -> Sequence[Path]:
        return tuple(self.registered)

    def _called(self, *call: object) -> dict[str, Any]:
        self.calls.append(call)
        if self.error is not None:
            raise self.error
        return self.answer


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeDaemon:
    fake = FakeDaemon(tmp_path / "vault")
    fake.vault.mkdir()
    monkeypatch.setitem(sys.modules, "vaultkeeper.daemon", fake)
    monkeypatch.setattr(vaultkeeper, "daemon", fake, raising=False)
    monkeypatch.setenv("VAULTKEEPER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VAULTKEEPER_LANGUAGE", "en")
    monkeypatch.delenv("VAULTKEEPER_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)
    return fake


def every_command() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {sub}", command.commands[sub]) for sub in command.commands)
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield name, command


COMMANDS = dict(every_command())


@pytest.mark.rule("IF-22")
@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_in_one_line_what_the_command_does_and_shows_it(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*name.split(), "--help"]) == 0
    out = capsys.readouterr().out
    assert (
        f"Example:\n    vaultkeeper {name.split()[0]}" in out
        or f"vaultkeeper {name.split()[0]}" in out.partition("Example:")[2]
    )
    assert out.splitlines()[2].strip().endswith((".", "..."))


@pytest.mark.rule("IF-22")
def test_help_lists_every_command_without_cutting_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["--help"]) == 0
    listed = capsys.readouterr().out.partition("Commands:")[2].partition("Example:")[0]
    assert "..." not in listed
    assert [line.split()[0] for line in listed.splitlines() if line.strip()] == cli.list_commands(
        click.Context(cli)
    )


@pytest.mark.rule("IF-20", "K-97")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_json(name: str) -> None:
    assert any("--json" in parameter.opts for parameter in COMMANDS[name].params)


@pytest.mark.rule("K-51")
@pytest.mark.parametrize(
    "name",
    ["tidy", "rebuild", "new", "set", "undo", "duplicates", "confirm", "reject", "archive", "stale", "restore",
     "supersede", "conflict", "resolve", "merge", "adopt", "init", "config set"],
)  # fmt: skip
def test_every_command_that_changes_files_has_dry_run(name: str) -> None:
    assert any("--dry-run" in parameter.opts for parameter in COMMANDS[name].params)


@pytest.mark.rule("IF-22")
@pytest.mark.parametrize(
    ("args", "nearest"),
    [
        (["chek"], "check"),
        (["config", "gett", "x"], "get"),
        (["tidy", "--dryrun"], "--dry-run"),
        (["tidi"], "tidy"),
    ],
)
def test_a_mistyped_name_gets_the_nearest_one(
    args: list[str], nearest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(args) == 2
    assert f"Did you mean '{nearest}'?" in capsys.readouterr().err


@pytest.mark.rule("IF-22")
def test_a_name_near_to_nothing_is_just_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["qqqqqq"]) == 2
    assert "Did you mean" not in capsys.readouterr().err


@pytest.mark.rule("IF-20")
def test_wrong_usage_with_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["chek", "--json"]) == 2
    out = capsys.readouterr()
    assert json.loads(out.out)["error"]["code"] == "usage"
    assert not out.err


VERBS = {
    "tidy --all --fix-links": ("run", "tidy", {"dry_run": False, "all": True, "fix_links": True}),
    "tidy --dry-run": ("run", "tidy", {"dry_run": True, "all": False, "fix_links": False}),
    "rebuild": ("run", "rebuild", {"dry_run": False}),
    "doctor": ("read", "doctor", {}),
    "new T --type task --text body --pending": (
        "run", "new", {"title": "T", "type": "task", "text": "body", "pending": True, "dry_run": False}),
    "new T": ("run", "new", {"title": "T", "type": None, "text": "", "pending": False, "dry_run": False}),
    "show n": ("read", "show", {"note": "n"}),
    "set n a=1 b=c=d e=": ("run", "set", {"note": "n", "values": {"a": "1", "b": "c=d", "e": ""}, "dry_run": False}),
    "confirm n": ("run", "confirm", {"note": "n", "dry_run": False}),
    "reject n": ("run", "reject", {"note": "n", "dry_run": False}),
    "archive n --dry-run": ("run", "archive", {"note": "n", "dry_run": True}),
    "stale n": ("run", "stale", {"note": "n", "dry_run": False}),
    "restore n": ("run", "restore", {"note": "n", "dry_run": False}),
    "adopt n": ("run", "adopt", {"note": "n", "dry_run": False}),
    "supersede o n": ("run", "supersede", {"old": "o", "new": "n", "dry_run": False}),
    "conflict x y": ("run", "conflict", {"a": "x", "b": "y", "dry_run": False}),
    "resolve x y --keep A": ("run", "resolve", {"a": "x", "b": "y", "keep": "A", "dry_run": False}),
    "resolve x y --keep b": ("run", "resolve", {"a": "x", "b": "y", "keep": "B", "dry_run": False}),
    "resolve x y --keep y": ("run", "resolve", {"a": "x", "b": "y", "keep": "B", "dry_run": False}),
    "resolve x y --keep BOTH": ("run", "resolve", {"a": "x", "b": "y", "keep": "both", "dry_run": False}),
    "merge f i": ("run", "merge", {"source": "f", "into": "i", "dry_run": False}),
    "why n": ("read", "why", {"note": "n"}),
    "log": ("read", "log", {"note": None, "limit": 50}),
    "log n --limit 3": ("read", "log", {"note": "n", "limit": 3}),
    "undo": ("run", "undo", {"batch": None, "dry_run": False}),
    "undo b7 --dry-run": ("run", "undo", {"batch": "b7", "dry_run": True}),
    "duplicates": ("read", "duplicates", {}),
    "duplicates mem_1 --keep a.md --others archive": (
        "run", "duplicates-keep", {"id": "mem_1", "keep": "a.md", "others": "archive", "dry_run": False}),
    "pause": ("run", "pause", {}),
    "resume": ("run", "resume", {}),
}  # fmt: skip


@pytest.mark.rule("IF-3", "IF-7", "IF-8", "IF-9", "IF-10", "IF-20")
@pytest.mark.parametrize("line", VERBS)
def test_a_command_asks_for_its_verb_and_prints_the_answer(
    line: str, daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, verb, args = VERBS[line]
    assert run([*line.split(), "--json"]) == 0
    assert daemon.calls == [(kind, daemon.vault, verb, args)]
    out = capsys.readouterr()
    assert json.loads(out.out) == daemon.answer
    assert not out.err
    assert run(line.split()) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    ["resolve x y --keep z", "resolve x x --keep A", "set n novalue", "set n a=1 a=2", "duplicates mem_1",
     "duplicates --dry-run", "config get settle --user --vault .", "log --limit 0", "convert a b"],
)  # fmt: skip
@pytest.mark.rule("K-97")
def test_wrong_usage_asks_nothing_and_exits_with_2(line: str, daemon: FakeDaemon) -> None:
    assert run(line.split()) == 2
    assert not daemon.calls


@pytest.mark.rule("IF-9", "LT-37")
def test_keeping_a_duplicate_finds_the_id_by_its_path(daemon: FakeDaemon) -> None:
    daemon.answer = {
        "duplicates": [{"id": "mem_0", "paths": ["z.md"]}, {"id": "mem_1", "paths": ["a.md", "b.md"]}]
    }
    assert run(["duplicates", "--keep", "b.md"]) == 0
    assert daemon.calls[-1][3] == {"id": "mem_1", "keep": "b.md", "others": "new-id", "dry_run": False}
    assert run(["duplicates", "--keep", "other.md"]) == 2


@pytest.mark.rule("IF-9")
def test_duplicates_are_listed_with_paths_and_times(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answer = {"duplicates": [{"id": "mem_1", "paths": ["a.md", "b.md"], "updated": ["2026-01-01"]}]}
    assert run(["duplicates"]) == 0
    out = capsys.readouterr().out
    assert "a.md  2026-01-01" in out
    assert "b.md" in out
    assert "--keep PATH" in out


@pytest.mark.rule("IF-2", "K-97")
@pytest.mark.parametrize(("severity", "code"), [("error", 1), ("warning", 1), ("info", 0)])
def test_check_exits_with_1_only_for_what_must_be_mended(
    severity: str, code: int, daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answer = {
        "vault": "v",
        "notes": 3,
        "quarantined": 1,
        "findings": [{**FINDING, "severity": severity}],
    }
    assert run(["check", "--hints"]) == code
    out = capsys.readouterr().out
    assert "v: 3 memories, 0 ordinary notes, 1 quarantined" in out
    assert "Inbox/a.md:4" in out
    assert "a colon [slip-colon] → tidy" in out


@pytest.mark.rule("IF-2", "IF-3", "IF-20")
@pytest.mark.parametrize("line", ["check", "tidy"])
def test_hints_are_listed_when_asked_for_and_always_in_json(
    line: str, daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answer = {"vault": "v", "actions": [], "findings": [{**FINDING, "severity": "info"}]}
    assert run([line]) == 0
    out = capsys.readouterr().out
    assert "Inbox/a.md" not in out
    assert "1 hint; all of them: vaultkeeper check --hints" in out
    assert run([line, "--hints"]) == 0
    assert "Inbox/a.md:4" in capsys.readouterr().out
    assert run([line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == daemon.answer


@pytest.mark.rule("IF-2")
def test_check_of_a_clean_vault_exits_with_0(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.answer = {"vault": "v", "format": "longterm", "notes": 3, "quarantined": 0, "findings": []}
    assert run(["check", str(daemon.vault)]) == 0
    assert daemon.calls == [("check", daemon.vault)]
    assert "Nothing is wrong." in capsys.readouterr().out


@pytest.mark.rule("IF-1")
def test_init_passes_format_and_language(daemon: FakeDaemon) -> None:
    assert run(["init", "new vault", "--language", "zh", "--json"]) == 0
    assert daemon.calls == [("init", Path("new vault"), "longterm", "zh", False)]


@pytest.mark.rule("K-50")
def test_an_undo_that_left_a_file_alone_shows_the_difference_and_exits_with_3(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answer = {
        "batch": None,
        "actions": [],
        "refused": [{"path": "a.md", "diff": "--- a\n+++ b\n\x1b[2Jx\n"}],
    }
    assert run(["undo"]) == 3
    out = capsys.readouterr().out
    assert "a.md has changed since" in out
    assert "--- a\n+++ b\n\\u001b[2Jx\n" in out


@pytest.mark.rule("IF-7")
def test_text_comes_from_standard_input(daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\ufeff正文\n".encode()), encoding="ascii"))
    assert run(["new", "T", "--text", "-"]) == 0
    args = daemon.calls[0][3]
    assert isinstance(args, dict)
    assert args["text"] == "正文\n"


@pytest.mark.rule("IF-7")
@pytest.mark.parametrize("data", [b"\xff\xfe\xfa", b"x" * (8 * 1024 * 1024 + 1)])
def test_standard_input_that_is_no_note_is_refused(
    data: bytes, daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert run(["new", "T", "--text", "-"]) == 2
    assert not daemon.calls


@pytest.mark.rule("IF-10")
def test_vaults_are_added_listed_and_removed(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["vaults"]) == 0
    assert "No vault is registered." in capsys.readouterr().out
    assert run(["vaults", "add", "vault", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"vaults": [{"path": str(daemon.vault), "exists": True}]}
    daemon.vault.rmdir()
    assert run(["vaults"]) == 0
    assert "not there now" in capsys.readouterr().out
    assert run(["vaults", "remove", "vault", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"vaults": []}
    assert run(["vaults", "add", "vault"]) == 2


@pytest.mark.rule("IF-10")
def test_settings_are_those_of_the_vault_or_of_the_user(daemon: FakeDaemon) -> None:
    assert run(["config", "get", "settle"]) == 0
    assert run(["config", "get", "settle", "--user"]) == 0
    assert run(["config", "set", "settle", "5"]) == 0
    assert daemon.calls == [
        ("get", daemon.vault, "settle"),
        ("get", None, "settle"),
        ("set", daemon.vault, "settle", "5", False),
    ]


@pytest.mark.rule("IF-10")
def test_a_list_of_settings_asks_for_every_one(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.answer = {"settings": [{"key": "settle", "value": 3}]}
    assert run(["config", "list", "--user", "--json"]) == 0
    assert daemon.calls == [("get", None, None)]
    assert json.loads(capsys.readouterr().out) == daemon.answer


@pytest.mark.rule("IF-10")
def test_schema_is_json_with_and_without_the_option(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["schema", "longterm"]) == 0
    assert json.loads(capsys.readouterr().out) == daemon.answer
    assert run(["schema", "unknown"]) == 2


@pytest.mark.rule("IF-22")
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_prints_the_shells_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "_VAULTKEEPER_COMPLETE" in script
    assert run(["completion", shell, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"shell": shell, "script": script}


@pytest.mark.rule("IF-22")
def test_the_shell_gets_command_names_completed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_VAULTKEEPER_COMPLETE", "zsh_complete")
    monkeypatch.setenv("COMP_WORDS", "vaultkeeper dup")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit) as leave:
        run([])
    assert leave.value.code == 0
    assert "duplicates" in capsys.readouterr().out


@pytest.mark.rule("IF-4")
def test_watch_chooses_each_vault_once(daemon: FakeDaemon) -> None:
    assert run(["watch", "vault", "vault", "--json"]) == 0
    assert daemon.calls == [("watch", [Path("vault")])]


@pytest.mark.rule("K-97")
@pytest.mark.parametrize(
    ("error", "exit_code", "code"),
    [
        (errors.UserError("no such batch"), 2, "user"),
        (errors.UnknownNoteError("x", ("y.md",)), 2, "unknown-note"),
        (errors.RefusedError("near-duplicate", "say it there"), 2, "near-duplicate"),
        (errors.FormatError("/v", "no marker"), 2, "format"),
        (errors.VaultBusyError("/v", 12, "desk"), 3, "vault-busy"),
        (errors.ChangedMeanwhileError("a.md"), 3, "changed-meanwhile"),
        (errors.VaultUnavailableError("/v", "unmounted"), 3, "vault-unavailable"),
        (errors.VaultkeeperError("something"), 3, "vaultkeeper"),
        (PermissionError(13, "Permission denied", "/v/a.md"), 3, "system"),
        (ZeroDivisionError("oops"), 3, "internal"),
    ],
)
def test_an_error_becomes_one_message_and_its_exit_code(
    error: Exception, exit_code: int, code: str, daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.error = error
    assert run(["why", "x"]) == exit_code
    text = capsys.readouterr()
    assert not text.out
    assert text.err.startswith("Error: ")
    assert "Traceback" not in text.err
    assert run(["why", "x", "--json"]) == exit_code
    document = capsys.readouterr()
    assert json.loads(document.out)["error"]["code"] == code
    assert not document.err


def test_an_unexpected_error_leaves_its_trace_where_the_message_says(
    daemon: FakeDaemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.error = ZeroDivisionError("oops")
    assert run(["why", "x"]) == 3
    file = tmp_path / "home" / "state" / "last-error.txt"
    assert str(file) in capsys.readouterr().err
    assert "ZeroDivisionError: oops" in file.read_text("utf-8")


def test_an_unexpected_error_is_told_even_when_no_trace_can_be_kept(
    daemon: FakeDaemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home").write_text("in the way", "utf-8")
    daemon.error = ZeroDivisionError("oops")
    assert run(["why", "x"]) == 3
    assert "VAULTKEEPER_DEBUG=1" in capsys.readouterr().err


def test_debugging_shows_the_trace_of_the_unexpected_only(
    daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULTKEEPER_DEBUG", "1")
    daemon.error = ZeroDivisionError("oops")
    with pytest.raises(ZeroDivisionError):
        run(["why", "x"])
    daemon.error = errors.UserError("no such batch")
    assert run(["why", "x"]) == 2


@pytest.mark.rule("K-97")
def test_an_interrupt_is_quiet(daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]) -> None:
    daemon.error = KeyboardInterrupt()
    assert run(["tidy"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_json_word_after_two_dashes_is_a_name(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.error = errors.UserError("no")
    assert run(["why", "--", "--json"]) == 2
    assert capsys.readouterr().out == ""
