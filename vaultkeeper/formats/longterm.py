"""The `longterm` format: category and status folders, `Index/` pages, a journal (specification LT-1 to LT-63)."""

from __future__ import annotations

from vaultkeeper.core.format import Bilingual, Format, Key, Marker, OwnSection, Word

_README = Bilingual(
    zh="""# 长期记忆仓库

这个文件夹是一个 Obsidian 仓库，也是 vaultkeeper 维护的长期记忆。Markdown 文件是唯一事实来源。

- 每条记忆按类型和状态放在对应文件夹里：`Decisions/`、`Knowledge/`、`Inbox/`、`Archive/` 等。
- `Index/` 是自动生成的索引页；标记之外的文字归你所有。
- `.dsh-memory/` 是程序自己的文件夹。

这个文件只在缺失时创建，你可以随意修改。
""",
    en="""# Long-term memory

This folder is an Obsidian vault and a long-term memory kept by vaultkeeper. The Markdown files are the only truth.

- Each memory stands in the folder of its type and status: `Decisions/`, `Knowledge/`, `Inbox/`, `Archive/` …
- `Index/` holds generated pages; what you write outside their markers is yours.
- `.dsh-memory/` is the program's own folder.

This file is made only where missing; change it as you like.
""",
)
_HOME = Bilingual(
    zh="""# Memory Home

- [[All|全部记忆]]
- [[Recent|最近更新]]
- [[Pinned|置顶]]
- [[Tags|标签]]
- [[Health|健康状况]]

这个页面只在缺失时创建，你可以随意修改。
""",
    en="""# Memory Home

- [[All|All memories]]
- [[Recent|Recently updated]]
- [[Pinned|Pinned]]
- [[Tags|Tags]]
- [[Health|Health]]

This page is made only where missing; change it as you like.
""",
)
_HISTORY = Bilingual(
    zh="# History\n\n变更历史记录在 `.dsh-memory/journal/` 中，每月一个文件。用 `vaultkeeper log` 查看。\n",
    en="# History\n\nWhat changed stands in `.dsh-memory/journal/`, one file a month. See it with `vaultkeeper log`.\n",
)

LONGTERM = Format(
    id="longterm",
    marker=Marker(path=".dsh-memory/config.json", product="dsh-longterm-memory", schema_version=1),
    private=".dsh-memory",
    index_folder="Index",
    folders=(
        ".obsidian",
        "Profile",
        "Preferences",
        "Projects",
        "Projects/State",
        "Decisions",
        "Knowledge",
        "Experiences",
        "Tasks",
        "Inbox",
        "Archive",
        "Conflicts",
        "Index",
        "History",
        ".dsh-memory",
        ".dsh-memory/journal",
        ".dsh-memory/quarantine",
    ),
    files={"README.md": _README, "Memory Home.md": _HOME, "History/README.md": _HISTORY},
    template_folders=("Templates", "_templates", "模板"),
    types=(
        Word(
            name="profile",
            folder="Profile",
            label=Bilingual("个人资料", "Profile"),
            synonyms=("个人资料", "个人信息", "资料", "档案", "profiles"),
        ),
        Word(
            name="preference",
            folder="Preferences",
            label=Bilingual("偏好", "Preferences"),
            synonyms=("偏好", "喜好", "习惯", "preferences"),
        ),
        Word(
            name="project",
            folder="Projects",
            label=Bilingual("项目", "Projects"),
            synonyms=("项目", "projects"),
        ),
        Word(
            name="project-state",
            folder="Projects/State",
            label=Bilingual("项目状态", "Project state"),
            synonyms=("项目状态", "项目进展", "进展", "projectstate"),
        ),
        Word(
            name="decision",
            folder="Decisions",
            label=Bilingual("决策", "Decisions"),
            synonyms=("决策", "决定", "decisions"),
        ),
        Word(
            name="knowledge",
            folder="Knowledge",
            label=Bilingual("知识", "Knowledge"),
            synonyms=("知识", "常识"),
        ),
        Word(
            name="experience",
            folder="Experiences",
            label=Bilingual("经验", "Experiences"),
            synonyms=("经验", "经历", "experiences"),
        ),
        Word(
            name="task",
            folder="Tasks",
            label=Bilingual("任务", "Tasks"),
            synonyms=("任务", "待办", "tasks", "todo"),
        ),
    ),
    statuses=(
        Word(
            name="active",
            label=Bilingual("活动", "Active"),
            synonyms=("活动", "活跃", "有效", "生效", "当前"),
        ),
        Word(
            name="pending",
            folder="Inbox",
            label=Bilingual("待确认", "Pending"),
            synonyms=("待确认", "待定", "待处理", "未确认"),
        ),
        Word(name="stale", label=Bilingual("过时", "Stale"), synonyms=("过时", "陈旧", "过期")),
        Word(
            name="superseded",
            folder="Archive",
            label=Bilingual("已被替代", "Superseded"),
            synonyms=("已被替代", "被替代", "已替代", "替代", "已取代"),
        ),
        Word(
            name="conflict",
            folder="Conflicts",
            label=Bilingual("冲突", "Conflicts"),
            synonyms=("冲突", "矛盾", "conflicts"),
        ),
        Word(
            name="archived",
            folder="Archive",
            label=Bilingual("已归档", "Archived"),
            synonyms=("归档", "已归档", "存档", "archive"),
        ),
    ),
    confidences=(
        Word(name="low", label=Bilingual("低", "low"), synonyms=("低",)),
        Word(name="medium", label=Bilingual("中", "medium"), synonyms=("中", "中等", "med")),
        Word(name="high", label=Bilingual("高", "high"), synonyms=("高",)),
    ),
    default_type="knowledge",
    cautious_status="pending",
    adopted_status="active",
    dragged_statuses={"Inbox": "pending", "Archive": "archived", "Conflicts": "conflict"},
    listed_statuses=("pending", "stale", "superseded", "conflict", "archived"),
    keys=(
        Key(name="id", kind="id", required=True),
        Key(name="type", kind="type", required=True),
        Key(name="status", kind="status", required=True),
        Key(name="title", kind="title", required=True),
        Key(name="created_at", kind="time", required=True),
        Key(name="updated_at", kind="time", required=True),
        Key(name="tags", kind="tags", synonyms=("tag",)),
        Key(name="confidence", kind="confidence"),
        Key(name="importance", kind="importance"),
        Key(name="pinned", kind="flag"),
        Key(name="source_sessions", kind="list"),
        Key(name="aliases", kind="list", synonyms=("alias",)),
        Key(name="supersedes", kind="ids"),
        Key(name="superseded_by", kind="id-ref"),
        Key(name="conflicts_with", kind="ids"),
        Key(name="evidence", kind="text"),
        Key(name="schema_version", kind="schema", required=True),
    ),
    id_prefix="mem_",
    id_pattern=r"mem_(\d{8}t\d{6})_[0-9a-f]{8}",
    schema_version=1,
    title_limit=300,
    preview_limit=160,
    rules={
        "place": "LT-10",
        "drag": "LT-13",
        "words": "LT-32",
        "title": "LT-40",
        "evidence": "LT-42",
        "touch": "LT-23",
        "rename": "LT-12",
        "pair": "LT-61",
        "life": "LT-60",
        "new": "LT-12",
        "adopt": "LT-34",
        "pages": "LT-52",
        "bases": "LT-54",
        "links": "LT-43",
    },
    summary=OwnSection(heading=Bilingual("核心内容", "Summary")),
    evidence=OwnSection(
        heading=Bilingual("来源与依据", "Evidence"),
        empty=Bilingual("（暂无可追溯来源）", "(no source yet)"),
    ),
    related=OwnSection(heading=Bilingual("相关记忆", "Related")),
)
