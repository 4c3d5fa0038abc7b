"""`make demo`: a copy of the sample vault is watched while a person edits, moves and breaks notes; both are shown."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.markup import escape

PROJECT = Path(__file__).parents[1]
DEMO = PROJECT / ".demo"
VAULT = DEMO / "vault"
PROGRAM = [sys.executable, "-m", "vaultkeeper"]
QUIET_S, LIMIT_S = 1.2, 20.0
"""A step is over when the keeper has been silent that long, or at the latest after that long."""

console = Console(highlight=False, soft_wrap=True)


class Watched:
    """A keeper in another process, whose events are printed as they come."""

    def __init__(self) -> None:
        self.last = time.monotonic()
        self.ready = threading.Event()
        self.process = subprocess.Popen(
            [*PROGRAM, "watch", str(VAULT), "--json"], stdout=subprocess.PIPE, text=True
        )
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)
            self.last = time.monotonic()
            if event["event"] == "ready":
                console.print(f"[green]keeper[/]  watching, API at {event['api']}")
                self.ready.set()
            elif event["event"] == "action" and event["op"] == "page":
                console.print(f"[green]keeper[/]  [dim]page     {escape(event['path'])}[/]")
            elif event["event"] == "action":
                to = f" → {event['to']}" if event["to"] else ""
                console.print(
                    f"[green]keeper[/]  [bold]{event['op']:8}[/] {escape(event['path'] + to)}\n"
                    f"                  [dim]{event['rule']}: {escape(event['reason'])}[/]"
                )

    def settle(self) -> None:
        start = self.last = time.monotonic()
        while time.monotonic() - self.last < QUIET_S and time.monotonic() - start < LIMIT_S:
            time.sleep(0.05)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


def run(*args: str) -> str:
    """Run the program as a person would, and show what it prints."""
    console.print(f"\n[cyan]you[/]     $ vaultkeeper {escape(' '.join(args))}")
    done = subprocess.run([*PROGRAM, *args], capture_output=True, text=True, check=False)
    for line in (done.stdout + done.stderr).rstrip().splitlines()[:14]:
        console.print(f"        [dim]{escape(line)}[/]")
    return done.stdout


def step(watched: Watched, said: str, shell: str, act: Callable[[], object]) -> None:
    """One thing a person does in another program, and what the keeper makes of it."""
    console.print(f"\n[cyan]you[/]     {said}\n        [dim]$ {escape(shell)}[/]")
    act()
    watched.settle()


def replace_in(path: Path, old: str, new: str) -> None:
    """Save as editors do: a temporary file renamed over the note."""
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{path} has no {old!r}"
    temporary = path.with_name(path.name + "~")
    temporary.write_text(text.replace(old, new), encoding="utf-8")
    temporary.replace(path)


def steps(watched: Watched) -> None:
    """What a person does, one after the other."""
    decisions, archive = VAULT / "Decisions", VAULT / "Archive"
    menu = decisions / "茶单用 Markdown 维护.md"
    step(
        watched,
        "a decision is no longer valid: its status is changed in an editor",
        "sed -i 's/status: active/status: archived/' 'Decisions/茶单用 Markdown 维护.md'",
        lambda: replace_in(menu, "status: active", "status: archived"),
    )
    step(
        watched,
        "a note is dragged into Archive/ in the file manager; links to it follow",
        "mv 'Tasks/给茶单页补图片.md' Archive/",
        lambda: shutil.move(VAULT / "Tasks" / "给茶单页补图片.md", archive),
    )
    broken = VAULT / "Knowledge" / "新笔记.md"
    text = "---\nid: mem_20260801t000000_0a1b2cff\ntype: decision\nstatus: active\ntitle: 周一: 不营业 #通知\ntags：通知\n---\n\n店休。\n"
    step(
        watched,
        "a note typed in a hurry: wrong folder, unquoted colon, full-width colon, no heading",
        "cat > 'Knowledge/新笔记.md'",
        lambda: broken.write_text(text, encoding="utf-8"),
    )
    step(
        watched,
        "300 notes arrive at once, as from git: one batch, each page once",
        "git pull",
        lambda: [note(number) for number in range(300)],
    )


def note(number: int) -> None:
    """One of many notes that arrive at once."""
    text = (
        f"---\nid: mem_20260802t000000_{number:08x}\ntype: task\nstatus: pending\ntitle: Order {number}\n"
        f"created_at: 2026-08-02\n---\n\n# Order {number}\n\nTwo pots of white tea.\n"
    )
    (VAULT / "Tasks" / f"Order {number}.md").write_text(text, encoding="utf-8")


def main() -> None:
    """Copy, watch, act, and take it back."""
    shutil.rmtree(DEMO, ignore_errors=True)
    shutil.copytree(PROJECT / "sample-vault", VAULT)
    os.environ["VAULTKEEPER_HOME"] = str(DEMO / "home")
    os.environ["VAULTKEEPER_SETTLE"] = "0.5"
    console.print("[bold]vaultkeeper demo[/] — a copy of the sample vault in .demo/vault")
    run("init", str(VAULT))
    run("check", str(VAULT))
    run("tidy", str(VAULT), "--dry-run")
    console.print(
        "\n[cyan]you[/]     $ vaultkeeper watch .demo/vault      [dim](and now in another program …)[/]"
    )
    watched = Watched()
    try:
        watched.ready.wait(30)
        watched.settle()
        steps(watched)
        run("why", "茶单用 Markdown 维护", "--vault", str(VAULT))
        run("undo", "--vault", str(VAULT))
        watched.settle()
        run("tidy", str(VAULT))
    finally:
        watched.stop()
    console.print("\nThe vault is in [bold].demo/vault[/]: open it in Obsidian, then run")
    console.print("  [bold]VAULTKEEPER_HOME=.demo/home .venv/bin/vaultkeeper watch .demo/vault[/]")


if __name__ == "__main__":
    main()
