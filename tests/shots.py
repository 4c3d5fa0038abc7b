"""`make shots`: the picture of the live view in the README, from a real watch over a copy of the sample vault."""

from __future__ import annotations

import io
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from shutil import copytree, move
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI

from tests.demo import PROGRAM, PROJECT, replace_in
from vaultkeeper.cli.live import LiveView

PICTURE = PROJECT / "live-view.svg"
SHOWN_AS = "~/Notes"
"""What stands in the picture for the temporary folder of the copy."""
QUIET_S, LIMIT_S = 2.0, 30.0
COLUMNS = 100
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
"""Without fonts from the net: a picture should ask nobody for anything."""

Event = dict[str, Any]


def edit(vault: Path) -> None:
    """What a person does while the keeper watches."""
    replace_in(vault / "Projects/State/茶馆网站 七月进展.md", "status: active", "status: archived")
    move(vault / "Tasks/给茶单页补图片.md", vault / "Archive/给茶单页补图片.md")
    replace_in(
        vault / "Decisions/No framework for the menu page-mem_20260315t140000_0a1b2c12.md",
        "title: ",
        "title: Menu: ",
    )


def watched(vault: Path, home: Path) -> list[Event]:
    """The events of a watch during which a person edits."""
    environ = {
        **os.environ,
        "VAULTKEEPER_HOME": str(home),
        "VAULTKEEPER_LANGUAGE": "en",
        "VAULTKEEPER_SETTLE": "0.5",
    }
    command = [*PROGRAM, "watch", str(vault), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environ)
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    assert process.stdout is not None
    reader = threading.Thread(target=collect, args=(process.stdout, lines))
    reader.start()
    try:
        events = until_quiet(lines)
        edit(vault)
        return events + until_quiet(lines)
    finally:
        process.terminate()
        reader.join()
        process.wait()


def collect(stream: Iterable[str], lines: queue.SimpleQueue[str]) -> None:
    """Put every line into the queue."""
    for line in stream:
        lines.put(line)


def until_quiet(lines: queue.SimpleQueue[str]) -> list[Event]:
    """The next events, until none comes for a while."""
    events = [json.loads(lines.get(timeout=LIMIT_S))]
    while True:
        try:
            events.append(json.loads(lines.get(timeout=QUIET_S)))
        except queue.Empty:
            return events


def draw(events: list[Event]) -> str:
    """The live view after these events, as SVG."""
    now = next(event["at"] for event in events if "at" in event)
    view = LiveView("en", lambda: str(now)[11:19])
    for event in events:
        now = event.get("at", now)
        view.take(event)
    console = Console(
        file=io.StringIO(), record=True, width=COLUMNS, force_terminal=True, color_system="truecolor"
    )
    console.print(view)
    svg: str = console.export_svg(
        title="vaultkeeper watch ~/Notes", theme=MONOKAI, code_format=FORMAT, unique_id="live-view"
    )
    return svg


def main() -> None:
    """Watch, edit, draw."""
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder, "Notes").resolve()
        copytree(PROJECT / "sample-vault", vault)
        events = watched(vault, Path(folder, "home"))
        told = json.dumps(events, ensure_ascii=False).replace(str(vault), SHOWN_AS)
    PICTURE.write_text(draw(json.loads(told)), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{PICTURE.name} has {PICTURE.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
