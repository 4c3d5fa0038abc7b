"""A vault on disk for tests, with the program's own ways in: no mocks, only the clock may be faked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vaultkeeper import daemon

Result = dict[str, Any]


@dataclass
class Kit:
    """One `longterm` vault in a folder of its own."""

    root: Path
    _count: int = field(default=0)

    @classmethod
    def make(cls, root: Path, language: str = "en", **settings: object) -> Kit:
        """A fresh vault with these settings."""
        daemon.init_vault(root, "longterm", language)
        kit = cls(root)
        for key, value in settings.items():
            text = ", ".join(value) if isinstance(value, list) else str(value).lower()
            daemon.config_set(root, key, text)
        return kit

    def note(self, path: str, body: str = "", **keys: object) -> str:
        """Write a memory at that path; keys override the usual ones, None leaves a key out. Returns its id."""
        self._count += 1
        values: dict[str, object] = {
            "id": f"mem_20260301t0800{self._count % 60:02d}_{self._count:08x}",
            "type": "knowledge",
            "status": "active",
            "title": Path(path).stem,
            "created_at": "2026-03-01T08:00:00.000Z",
            "updated_at": "2026-03-01T08:00:00.000Z",
            "tags": "[knowledge]",
            "schema_version": 1,
            **keys,
        }
        lines = [f"{key}: {value}" for key, value in values.items() if value is not None]
        title = values["title"]
        self.write(path, "---\n" + "\n".join(lines) + "\n---\n\n" + (body or f"# {title}\n\nSome text.\n"))
        return str(values["id"])

    def write(self, path: str, text: str | bytes) -> None:
        """Write a file as it is, making its folders."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def text(self, path: str) -> str:
        """The text of a file."""
        return (self.root / path).read_bytes().decode()

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace text in a file, as `sed -i` would."""
        text = self.text(path)
        assert old in text, f"{path} does not hold {old!r}"
        self.write(path, text.replace(old, new))

    def move(self, path: str, to: str) -> None:
        """Move a file as a file manager would."""
        (self.root / to).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).rename(self.root / to)

    def run(self, verb: str, **args: object) -> Result:
        """A command, as the CLI runs it."""
        return daemon.run(self.root, verb, args)

    def tidy(self, **args: object) -> Result:
        """`vaultkeeper tidy`."""
        return self.run("tidy", **args)

    def settled(self) -> Result:
        """Tidy, and see that a second tidy has nothing to do (K-6)."""
        first = self.tidy()
        again = self.tidy()
        assert again["actions"] == [], again["actions"]
        return first

    def check(self) -> Result:
        """`vaultkeeper check`."""
        return daemon.check_vault(self.root)

    def codes(self, path: str | None = None) -> list[str]:
        """Codes of the findings, of one note or of all."""
        return [f["code"] for f in self.check()["findings"] if path is None or f["path"] == path]

    def files(self, *, derived: bool = False) -> dict[str, bytes]:
        """Bytes by path; the journal, the export and index pages only with `derived`."""
        found: dict[str, bytes] = {}
        for folder, _, names in os.walk(self.root):
            for name in names:
                file = Path(folder, name)
                path = file.relative_to(self.root).as_posix()
                if derived or not path.startswith((".dsh-memory/", "Index/")):
                    with suppress(FileNotFoundError):  # a keeper may be at work
                        found[path] = file.read_bytes()
        return found

    def where(self, note_id: str) -> list[str]:
        """Paths of the notes whose bytes hold that id as theirs."""
        line = f"id: {note_id}".encode()
        return sorted(path for path, data in self.files().items() if line in data.splitlines())

    def journal(self) -> list[dict[str, str]]:
        """All journal lines, oldest first."""
        lines: list[dict[str, str]] = []
        for file in sorted((self.root / ".dsh-memory" / "journal").glob("*.jsonl")):
            lines += [json.loads(line) for line in file.read_text().splitlines()]
        return lines


def cli(
    *args: str, env: Mapping[str, str] | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "vaultkeeper", *args],
        capture_output=True,
        text=True,
        input=stdin,
        check=False,
        env={**os.environ, **(env or {})},
    )
