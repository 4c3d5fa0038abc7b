"""`make demo`: a copy of the sample vault is watched while a person edits, moves and breaks notes; both are shown."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.text import Text

from tests.showing import LANGUAGE, below, chapter, console, say, show, show_change, show_items
from vaultkeeper.cli import views
from vaultkeeper.cli.blocks import Block
from vaultkeeper.cli.phrases import told
from vaultkeeper.core.format import Bilingual, Language

View = Callable[[Mapping[str, Any], Language], Iterable[Block]]

PROJECT = Path(__file__).parents[1]
DEMO = Path(os.environ.get("DEMO_FOLDER") or PROJECT / ".demo")
VAULT = DEMO / "vault"
SHORT = os.path.relpath(VAULT, PROJECT) if VAULT.is_relative_to(PROJECT) else str(VAULT)
"""The vault, as a person in the project's folder would name it."""
PROGRAM = [sys.executable, "-m", "vaultkeeper"]
QUIET_S, LIMIT_S = 0.8, 20.0
"""A step is over when the keeper has been silent that long after a batch, or at the latest after that long."""
MANY = 300

# running -------------------------------------------------------------------------------------------------------


def run(view: View, *args: str, limit: int = 6) -> dict[str, Any]:
    """Run the program as a person would, and show what it answers, shortened."""
    print_prompt(" ".join(("vaultkeeper", *args)))
    done = subprocess.run(
        [*PROGRAM, *args, "--json"], capture_output=True, text=True, encoding="utf-8", check=False
    )
    document: dict[str, Any] = json.loads(done.stdout)
    show(view(document, LANGUAGE), limit)
    return document


def print_prompt(command: str) -> None:
    console.print()
    say("you" if LANGUAGE == "en" else "你", "bold cyan", f"$ {command}")


class Watched:
    """A keeper in another process, whose batches are shown as they come."""

    def __init__(self) -> None:
        self.batches: queue.SimpleQueue[list[dict[str, Any]]] = queue.SimpleQueue()
        self.ready = threading.Event()
        self.process = subprocess.Popen(
            [*PROGRAM, "watch", SHORT, "--json"], stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        actions: list[dict[str, Any]] = []
        for line in self.process.stdout:
            event = json.loads(line)
            if event["event"] == "ready":
                self.ready.set()
            elif event["event"] == "action":
                actions.append(event)
            elif event["event"] == "batch":
                self.batches.put(actions)
                actions = []

    def show_batches(self, limit: int = 6) -> None:
        """Show what the keeper does until it is silent."""
        wait = LIMIT_S
        while True:
            try:
                actions = self.batches.get(timeout=wait)
            except queue.Empty:
                return
            items = tuple(told(actions, LANGUAGE))
            one = Bilingual("一批改动：", "one batch of changes:")[LANGUAGE]
            say("keeper" if LANGUAGE == "en" else "守护", "bold green", f"{one} {len(actions)}")
            show_items(items[-1:] + items[:-1] if len(items) > limit else items, limit)
            wait = QUIET_S

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)
        self.thread.join(20)


def step(watched: Watched, shell: str, act: Callable[[], object], *, limit: int = 6) -> None:
    """One thing a person does in another program, and what the keeper makes of it."""
    print_prompt(shell)
    act()
    watched.show_batches(limit)


def replace_in(path: Path, old: str, new: str) -> None:
    """Save as editors do: a temporary file renamed over the note."""
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{path} has no {old!r}"
    temporary = path.with_name(path.name + "~")
    temporary.write_text(text.replace(old, new), encoding="utf-8", newline="\n")
    temporary.replace(path)


def text_of(path: str) -> str:
    return (VAULT / path).read_text(encoding="utf-8")


def notes() -> int:
    return sum(1 for path in VAULT.rglob("*.md") if path.parent.name != "Index")


# the steps -----------------------------------------------------------------------------------------------------


def archive_by_status(watched: Watched) -> None:
    chapter(
        "1. 在编辑器里改状态：笔记移到状态要求的文件夹，链接跟着走。",
        "1. A status is changed in an editor: the note moves where its status belongs, links follow.",
    )
    note, linking = "Projects/State/茶馆网站 七月进展.md", "Projects/纸灯笼茶馆 网站.md"
    before = text_of(linking)
    step(
        watched,
        f"sed -i 's/status: active/status: archived/' '{note}'",
        lambda: replace_in(VAULT / note, "status: active", "status: archived"),
    )
    below(f"{linking}:")
    show_change(before, text_of(linking))


def archive_by_hand(watched: Watched) -> None:
    chapter(
        "2. 把笔记拖进 Archive/：它的状态跟着变。",
        "2. A note is dragged into Archive/ in the file manager: its status follows.",
    )
    note = "给茶单页补图片.md"
    before = text_of(f"Tasks/{note}")
    step(
        watched,
        f"mv 'Tasks/{note}' Archive/",
        lambda: shutil.move(VAULT / "Tasks" / note, VAULT / "Archive" / note),
    )
    below(f"Archive/{note}:")
    show_change(before, text_of(f"Archive/{note}"))


HURRIED = """---
id: mem_20260801t000000_0a1b2cff
type: 决策
status: active
title: 周一: 不营业 #通知
tags：通知
opened: [x, y]   # a key of your own
---

店休。
"""


def mend(watched: Watched) -> None:
    chapter(
        "3. 匆忙写下的笔记：文件夹不对，冒号没加引号，全角冒号，中文类型。只改有问题的行。",
        "3. A note typed in a hurry: wrong folder, unquoted colon, full-width colon, Chinese type.\n"
        "   It is read all the same, and only the lines concerned change.",
    )
    note = VAULT / "Knowledge" / "周一.md"
    step(watched, "cat > Knowledge/周一.md", lambda: note.write_text(HURRIED, "utf-8", newline="\n"))
    show_change(HURRIED, text_of("Decisions/周一.md"))


def arrive(watched: Watched) -> None:
    chapter(
        f"4. 一次来了 {MANY} 篇笔记（好比 git pull）：一批处理，每个索引页只写一次。",
        f"4. {MANY} notes arrive at once, as from git: one batch, each index page written once.",
    )
    began = time.monotonic()
    step(watched, "git pull", write_orders, limit=3)
    below(Text(f"({time.monotonic() - began - QUIET_S:.1f} s)", "dim"))


def write_orders() -> None:
    """Many notes at once."""
    for number in range(MANY):
        text = (
            f"---\nid: mem_20260802t000000_{number:08x}\ntype: task\nstatus: pending\ntitle: Order {number}\n"
            "created_at: 2026-08-02\nupdated_at: 2026-08-02\nschema_version: 1\n---\n\n"
            f"# Order {number}\n\nTwo pots of white tea.\n"
        )
        (VAULT / "Tasks" / f"Order {number}.md").write_text(text, "utf-8", newline="\n")


def kill(watched: Watched) -> None:
    chapter(
        f"5. 正要移动这 {MANY} 篇笔记时，守护进程被强行杀死：一篇不少，下次启动接着做完。",
        f"5. The keeper is killed while it moves {MANY} notes: none is lost, and the next start goes on.",
    )
    print_prompt("sed -i 's/status: pending/status: archived/' Inbox/Order*.md; kill -9 …")
    before = notes()
    for file in (VAULT / "Inbox").glob("Order*.md"):
        replace_in(file, "status: pending", "status: archived")
    deadline = time.monotonic() + LIMIT_S
    while moved() < MANY // 5 and time.monotonic() < deadline:
        time.sleep(0.001)
    watched.process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    watched.process.wait(20)
    line = Bilingual(
        "被杀时：{moved} 篇已移走，{left} 篇未动；之前 {before} 篇笔记，现在 {now} 篇",
        "killed with {moved} notes moved and {left} not yet; {before} notes before, {now} now",
    )
    below(line[LANGUAGE].format(moved=moved(), left=MANY - moved(), before=before, now=notes()))
    run(
        lambda document, language: views.acted({**document, "findings": []}, language), "tidy", SHORT, limit=3
    )
    assert moved() == MANY, "a note is missing"
    below(Bilingual("{n} 篇都在 Archive/ 里了", "all {n} stand in Archive/ now")[LANGUAGE].format(n=moved()))


def moved() -> int:
    return sum(1 for _ in (VAULT / "Archive").glob("Order*.md"))


def take_back() -> None:
    chapter(
        "6. 为什么在那里？撤销第 1 步。", "6. Why does a note stand where it does? And step 1 is taken back."
    )
    name = "茶馆网站 七月进展"
    why = run(views.explained, "why", name, "--vault", SHORT)
    batch = why["actions"][0]["batch"]
    run(views.acted, "undo", batch, "--vault", SHORT)
    run(views.acted, "tidy", SHORT, limit=3)
    chapter(
        "撤销过的改动不会自动再做。保管的历史在仓库之外，保留 30 天。",
        "What was taken back is not done again by itself. The history stands outside the vault, for 30 days.",
    )


def begin() -> None:
    shutil.rmtree(DEMO, ignore_errors=True)
    shutil.copytree(PROJECT / "sample-vault", VAULT)
    os.environ["VAULTKEEPER_HOME"] = str(DEMO / "home")
    os.environ["VAULTKEEPER_SETTLE"] = "0.5"
    os.environ["VAULTKEEPER_LANGUAGE"] = LANGUAGE
    os.chdir(PROJECT)
    chapter(
        "vaultkeeper 演示，约半分钟。示例仓库的副本在 .demo/vault；保存后等 0.5 秒就整理（平时是 3 秒）。",
        "vaultkeeper demo, half a minute. A copy of the sample vault stands in .demo/vault.\n"
        "Here a note is put in order 0.5 s after its last save; usually it is 3 s.",
    )
    run(views.facts, "init", SHORT)
    chapter("先看看仓库里有什么不对。", "First, what is wrong in this vault?")
    run(views.checked, "check", SHORT)


def main() -> None:
    """Copy, watch, act, and take it back."""
    begin()
    chapter("守护开始：能修的马上修好。", "The keeper starts, and mends what it can.")
    print_prompt("vaultkeeper watch .demo/vault")
    watched = Watched()
    try:
        assert watched.ready.wait(LIMIT_S), "the keeper does not start"
        watched.show_batches()
        for act in (archive_by_status, archive_by_hand, mend, arrive, kill):
            act(watched)
        take_back()
    finally:
        watched.stop()
    ends = Bilingual(
        "仓库在 .demo/vault：可以用 Obsidian 打开，然后运行",
        "The vault is in .demo/vault: open it in Obsidian, then run",
    )
    console.print(ends[LANGUAGE])
    console.print("  VAULTKEEPER_HOME=.demo/home .venv/bin/vaultkeeper watch .demo/vault", style="bold")


if __name__ == "__main__":
    main()
