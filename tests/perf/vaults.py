"""A seeded generator of big vaults: the same number of notes and seed give the same bytes."""

from __future__ import annotations

import random
from pathlib import Path

FOLDERS = {
    "profile": "Profile",
    "preference": "Preferences",
    "project": "Projects",
    "project-state": "Projects/State",
    "decision": "Decisions",
    "knowledge": "Knowledge",
    "experience": "Experiences",
    "task": "Tasks",
}
STATUS_FOLDERS = {"pending": "Inbox", "archived": "Archive"}
CHINESE = (
    "记忆决定索引文件重建策略茶馆订座数据网站字体进展偏好经验任务知识项目状态归档冲突时间浏览器发布接口备份"
)
ENGLISH = [
    "memory",
    "index",
    "note",
    "vault",
    "rebuild",
    "decision",
    "search",
    "folder",
    "link",
    "rename",
    "status",
    "archive",
    "table",
    "booking",
    "menu",
    "font",
    "deploy",
    "backup",
    "browser",
    "cache",
    "query",
    "token",
    "plan",
    "action",
    "batch",
    "journal",
    "history",
    "restore",
    "order",
]
TAGS = [
    "architecture",
    "frontend",
    "teahouse",
    "git",
    "writing",
    "hardware",
    "生活",
    "沟通",
    "设计",
    "sqlite",
]


def _words(rng: random.Random, count: int) -> str:
    parts: list[str] = []
    while count > 0:
        if rng.random() < 0.55:
            run = rng.randint(4, 18)
            parts.append("".join(rng.choice(CHINESE) for _ in range(run)) + "，")
            count -= run // 2
        else:
            run = rng.randint(3, 9)
            parts.append(" ".join(rng.choice(ENGLISH) for _ in range(run)) + ". ")
            count -= run
    return "".join(parts)


def note(number: int, rng: random.Random, total: int) -> tuple[str, str]:
    """Path and text of one memory that stands in its place and needs nothing."""
    kind = rng.choice(list(FOLDERS))
    status = rng.choices(["active", "stale", "pending", "archived"], [80, 5, 7, 8])[0]
    title = f"{''.join(rng.choice(CHINESE) for _ in range(4))} {rng.choice(ENGLISH)} {number}"
    day = f"2026-{1 + number % 9:02d}-{1 + number % 28:02d}"
    note_id = f"mem_{day.replace('-', '')}t{number % 24:02d}{number % 60:02d}00_{number:08x}"
    tags = "\n".join(f"  - {tag}" for tag in sorted({kind, *rng.sample(TAGS, 2)}))
    links = "\n".join(f"- [[note {rng.randrange(total)}]]" for _ in range(rng.randint(0, 3)))
    text = (
        f"---\nid: {note_id}\ntype: {kind}\nstatus: {status}\ntitle: {title}\n"
        f"created_at: {day}T08:00:00.000Z\nupdated_at: {day}T09:30:00.000Z\ntags:\n{tags}\n"
        f"confidence: {rng.choice(['low', 'medium', 'high'])}\nimportance: {rng.randint(0, 100)}\n"
        f"pinned: {'true' if rng.random() < 0.01 else 'false'}\nsource_sessions:\n  - session-{rng.randrange(1 << 24):06x}\n"
        f"schema_version: 1\n---\n\n# {title}\n\n## 核心内容\n\n{_words(rng, 60)}\n\n## 细节\n\n{_words(rng, 320)}\n\n"
        f"## 来源与依据\n\n（暂无可追溯来源）\n\n## 相关记忆\n\n{links}\n"
    )
    return f"{STATUS_FOLDERS.get(status, FOLDERS[kind])}/note {number}.md", text


def make_notes(root: Path, count: int, seed: int = 1) -> list[str]:
    """Write `count` notes below `root`; returns their paths."""
    rng = random.Random(seed)
    paths: list[str] = []
    for number in range(count):
        path, text = note(number, rng, count)
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths
