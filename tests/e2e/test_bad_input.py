"""Bad input, as a person meets it: what is wrong, where and what to do is said, and not a byte is lost (K-2, K-5, K-28, K-38)."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit import Kit, cli
from tests.watching import until, watching

MARKER = ".dsh-memory/config.json"


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    kit = Kit.make(tmp_path / "vault")
    kit.note("Tasks/t.md", type="task")
    kit.settled()
    return kit


def refused(*args: str, code: int = 2) -> str:
    """What the program says, once it has refused."""
    done = cli(*args)
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    assert "Traceback" not in said
    return " ".join(said.split())


def digests(root: Path) -> dict[str, str]:
    return {
        file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }


COMMANDS = [("check",), ("tidy",), ("rebuild",), ("watch",)]


@pytest.mark.rule("K-97")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_that_is_no_vault_is_named_with_the_way_on(command: tuple[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("words")
    (tmp_path / "empty").mkdir()
    assert "is a file" in refused(*command, str(tmp_path / "file"))
    assert "does not exist; look whether the path is right" in refused(*command, str(tmp_path / "missing"))
    said = refused(*command, str(tmp_path / "empty"))
    assert "no vault stands here" in said
    assert "vaultkeeper init" in said
    assert (tmp_path / "file").read_text() == "words"
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.rule("IF-1", "LT-1")
@pytest.mark.parametrize("command", [*COMMANDS, ("init",)])
def test_another_products_vault_is_left_alone(command: tuple[str], tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    (folder / ".dsh-memory").mkdir(parents=True)
    (folder / MARKER).write_text('{"product": "other-tool", "schemaVersion": 1}')
    before = digests(folder)
    said = refused(*command, str(folder))
    assert MARKER in said
    assert "another product, 'other-tool'" in said
    assert digests(folder) == before


@pytest.mark.rule("LT-2", "K-97")
@pytest.mark.parametrize("command", [*COMMANDS, ("init",)])
def test_a_config_that_is_no_json_is_told_with_its_line(kit: Kit, command: tuple[str]) -> None:
    kit.write(MARKER, '{\n  "product": "dsh-longterm-memory",\n  "schemaVersion": 1,')
    before = digests(kit.root)
    said = refused(*command, str(kit.root))
    assert MARKER in said
    assert "line 3" in said
    assert "mend it, restore it from a backup" in said
    assert "name another folder" not in said
    assert digests(kit.root) == before


@pytest.mark.rule("LT-51")
@pytest.mark.parametrize(
    "data",
    ['{"schemaVersion": 1, "vault": "/elsewhere", "records": [{"id": "x"}]}', "[", "", '{"records": 7}'],
)
def test_an_index_of_another_vault_or_none_at_all_is_not_believed(kit: Kit, data: str) -> None:
    kit.write(".dsh-memory/index.json", data)
    shutil.rmtree(Path(os.environ["VAULTKEEPER_HOME"]) / "cache")
    assert kit.tidy()["actions"] == []
    assert [finding for finding in kit.check()["findings"] if finding["severity"] == "error"] == []


@pytest.mark.rule("LT-53", "IF-10")
def test_a_torn_line_of_the_journal_costs_no_other(kit: Kit) -> None:
    kit.run("archive", note="t")
    (file,) = (kit.root / ".dsh-memory/journal").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"at":"2026-12-01T10:00:00.000Z","op":"upd')
    kit.run("restore", note="t")
    assert file.read_bytes().startswith(whole)
    entries = json.loads(cli("log", "t", "--vault", str(kit.root), "--json").stdout)["entries"]
    assert [entry["op"] for entry in entries][-2:] == ["archive", "update"]
    said = refused("doctor", str(kit.root), code=1)
    assert f"{file.name}: line {len(whole.splitlines()) + 1} is torn" in said
    assert "mend or delete it" in said


@pytest.mark.rule("K-2", "K-5", "K-14", "K-27")
def test_bad_notes_are_told_and_untouched_and_the_rest_goes_on(kit: Kit) -> None:
    memory = b"---\nid: mem_20260301t080000_0000000b\ntype: task\nstatus: archived\n"
    bad = {
        "Tasks/nul.md": memory + b"---\n\0\0\0",
        "Tasks/latin.md": memory + b"title: caf\xe9\n---\n",
        "Tasks/yaml.md": memory + b'title: "open\n---\n',
        "Tasks/unclosed.md": memory,
        "Tasks/empty.md": b"",
        f"Tasks/{'a' * 250}.md": b"An ordinary note with a long name.\n",
        "Reading/huge.md": b"word " * 10_000_000,
    }
    for path, data in bad.items():
        kit.write(path, data)
    outside = kit.root.parent / "outside.md"
    outside.write_bytes(memory + b"---\n")
    (kit.root / "Tasks/link.md").symlink_to(outside)
    (kit.root / "Tasks/loop").symlink_to(kit.root / "Tasks")
    os.mkfifo(kit.root / "Tasks/fifo.md")
    good = kit.note("Tasks/中文 笔记.md", type="decision", title="中文 笔记")
    done = cli("tidy", str(kit.root))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    (kit.root / "Tasks/fifo.md").unlink()  # or this test would wait for who writes into it
    assert kit.where(good) == ["Decisions/中文 笔记.md"]
    assert {path: (kit.root / path).read_bytes() for path in bad} == bad
    assert outside.read_bytes() == memory + b"---\n"
    said = {finding["path"]: finding for finding in kit.check()["findings"] if finding["severity"] == "error"}
    assert said["Tasks/nul.md"]["code"] == "nul-bytes"
    assert said["Tasks/latin.md"]["code"] == "not-utf8"
    assert (said["Tasks/yaml.md"]["code"], said["Tasks/yaml.md"]["line"]) == ("frontmatter-unreadable", 5)
    assert all(finding["message"] and finding["fix"] for finding in said.values())
    assert kit.tidy()["actions"] == []


@pytest.fixture
def read_only(kit: Kit) -> Iterator[Kit]:
    """The vault on a disk that cannot be written, not even by root."""
    root = str(kit.root)
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root can mount")
    if subprocess.run(["mount", "--bind", root, root], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    subprocess.run(["mount", "-o", "remount,ro,bind", root], check=True)
    yield kit
    subprocess.run(["umount", root], check=True)


@pytest.mark.rule("K-28")
def test_on_a_read_only_disk_reading_works_and_writing_fails_with_a_reason(read_only: Kit) -> None:
    kit = read_only
    assert cli("check", str(kit.root)).returncode == 0
    assert "Read-only file system" in refused("archive", "t", "--vault", str(kit.root), code=3)
    assert cli("tidy", str(kit.root)).returncode == 0
    assert "status: active" in kit.text("Tasks/t.md")
    with watching(kit.root, settle=0) as watched:
        assert watched.process.poll() is None


@pytest.mark.rule("K-38", "K-28")
def test_a_vault_that_vanishes_is_waited_for_and_nothing_is_believed_deleted(kit: Kit) -> None:
    away = kit.root.parent / "unmounted"
    journal = kit.journal()
    with watching(kit.root, settle=0) as watched:
        kit.root.rename(away)
        state = watched.wait(lambda event: event["event"] == "state" and event["state"] == "waiting")
        assert state["reason"]
        assert watched.process.poll() is None
        kit.root.mkdir()  # a mount point without its disk
        kit.root.rmdir()
        before = digests(away)
        away.rename(kit.root)
        watched.wait(
            lambda event: event["event"] == "state" and event["state"] == "watching", len(watched.events) - 1
        )
        assert digests(kit.root) == before
        kit.edit("Tasks/t.md", "status: active", "status: archived")
        until((kit.root / "Archive/t.md").exists, "the keeper goes on")
    assert [line["op"] for line in kit.journal()[len(journal) :]] == ["archive"]
