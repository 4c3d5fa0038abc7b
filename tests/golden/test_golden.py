"""Whole vaults before and after one `tidy`, as files to read side by side: `golden/<format>/<case>/{before,after}/`.

`findings.json` is what `check` says afterwards. `make golden` writes `after/` and `findings.json` anew.
"""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.kit import Kit
from vaultkeeper import daemon

HERE = Path(__file__).parent
NOW = datetime(2026, 10, 17, 8, 0, tzinfo=UTC)
CASES = sorted(path.parent.relative_to(HERE).as_posix() for path in HERE.glob("*/*/before"))


def files_of(folder: Path) -> dict[str, str]:
    """Texts by path; empty where there is no folder."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes().decode()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def make(folder: Path, root: Path) -> Kit:
    """A vault with the case's files, all of the same age; the language stands in the case's name."""
    kit = Kit.make(root, "zh" if folder.name.endswith("-zh") else "en", export_index="off")
    for path in ("Memory Home.md", "History/README.md"):
        (root / path).unlink()
    shutil.copytree(folder / "before", root, dirs_exist_ok=True)
    for file in root.rglob("*.md"):
        os.utime(file, (NOW.timestamp() - 86400,) * 2)
    return kit


@pytest.mark.rule("K-6", "K-13", "K-41", "LT-32", "LT-35", "LT-52", "K-96")
@pytest.mark.parametrize("case", CASES)
def test_one_tidy_makes_after_of_before(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder = HERE / case
    monkeypatch.setattr(daemon, "_now", lambda: NOW)
    kit = make(folder, tmp_path / "vault")
    kit.settled()
    after = {
        path: data.decode()
        for path, data in kit.files(derived=True).items()
        if not path.startswith(".dsh-memory")
    }
    told = [
        {"code": each["code"], "path": each["path"], "line": each["line"], "message": each["message"]}
        for each in kit.check()["findings"]
    ]
    if request.config.getoption("--update-golden"):
        shutil.rmtree(folder / "after", ignore_errors=True)
        for path, text in after.items():
            file = folder / "after" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        lines = json.dumps(told, ensure_ascii=False, indent=1)
        (folder / "findings.json").write_text(lines + "\n", encoding="utf-8")
    assert after == files_of(folder / "after")
    assert told == json.loads((folder / "findings.json").read_text(encoding="utf-8"))


def test_every_file_here_belongs_to_a_case() -> None:
    known = ("before/", "after/", "findings.json")
    stray = [
        path
        for path in files_of(HERE)
        if not path.endswith((".py", ".pyc", ".gitattributes"))
        and not (path.split("/", 2)[-1].startswith(known) and "/".join(path.split("/")[:2]) in CASES)
    ]
    assert stray == []
