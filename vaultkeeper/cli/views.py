"""Answers of commands as blocks for reading: sentences and tables, still without terminal, colour or width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from vaultkeeper.cli.blocks import Block, Item, Items, Table, Text
from vaultkeeper.cli.phrases import action_phrase, plain, told, why_of
from vaultkeeper.core.format import Bilingual, Language

Document = Mapping[str, object]


_UNDO = Bilingual("已撤销批次 {batch}：", "Took back batch {batch}:")
_UNDO_WANTED = Bilingual("将撤销批次 {batch}，它做了：", "Would take back batch {batch}, which did this:")
_SEVERITIES: dict[str, Bilingual] = {
    "error": Bilingual("错误", "error"),
    "warning": Bilingual("警告", "warning"),
    "info": Bilingual("提示", "hint"),
}
_COUNTED: dict[str, tuple[Bilingual, Bilingual]] = {
    "error": (Bilingual("{n} 个错误", "{n} error"), Bilingual("{n} 个错误", "{n} errors")),
    "warning": (Bilingual("{n} 个警告", "{n} warning"), Bilingual("{n} 个警告", "{n} warnings")),
    "info": (Bilingual("{n} 条提示", "{n} hint"), Bilingual("{n} 条提示", "{n} hints")),
}
"""One and several findings of a severity; those of severity info are hints to people."""
_EMPTY: tuple[object, ...] = (None, "", [], ())
"""Values of fields that a note does not have."""
_HEADINGS: dict[str, Bilingual] = {
    "severity": Bilingual("级别", "severity"),
    "when": Bilingual("时间", "when"),
    "where": Bilingual("位置", "where"),
    "what": Bilingual("内容", "what"),
    "rule": Bilingual("规则", "rule"),
    "reason": Bilingual("原因", "why"),
    "path": Bilingual("路径", "path"),
    "updated": Bilingual("更新时间", "updated"),
    "vault": Bilingual("仓库", "vault"),
}


def checked(document: Document, language: Language, *, hints: bool = False) -> Iterator[Block]:
    """The answer of `check` (IF-2); hints are listed when asked for, else counted."""
    yield Bilingual(
        "{vault}：{notes} 篇记忆，{ordinary} 篇普通笔记，{quarantined} 篇被隔离",
        "{vault}: {notes} memories, {ordinary} ordinary notes, {quarantined} quarantined",
    )[language].format(
        vault=document.get("vault"),
        notes=_count(document.get("notes")),
        ordinary=_count(document.get("ordinary", 0)),
        quarantined=_count(document.get("quarantined")),
    )
    if rows_of(document, "findings"):
        yield from _findings(document, language, hints=hints)
    else:
        yield Bilingual("没有发现问题。", "Nothing is wrong.")[language]


def acted(document: Document, language: Language, *, hints: bool = False) -> Iterator[Block]:
    """The answer of every command that acts on files: its actions, what it found, what it refused (IF-3, IF-8).

    Where nothing was done, findings are only counted unless hints are asked for: `check` has told them.
    """
    dry_run, undone = bool(document.get("dry_run")), document.get("undone")
    actions = rows_of(document, "actions")
    if actions and undone:
        words = _UNDO_WANTED if dry_run else _UNDO
        yield words[language].format(batch=undone)
        yield Items(tuple(told([{**action, "reason": "", "rule": ""} for action in actions], language)))
    elif actions:
        yield Items(tuple(told(actions, language, dry_run=dry_run)))
    else:
        yield Bilingual("没有要做的事。", "Nothing to do.")[language]
    if actions or hints:
        yield from _findings(document, language, hints=hints)
    else:
        yield from _counts(document, language, listed=False)
    for refused in rows_of(document, "refused"):
        yield Bilingual("{path} 之后又改过，没有撤销：", "{path} has changed since and was left alone:")[
            language
        ].format(path=refused.get("path"))
        yield Text(plain(refused.get("diff")))
    if dry_run:
        yield Bilingual("以上只是预演，没有改动任何文件。", "Nothing was changed: this was a dry run.")[
            language
        ]
    elif document.get("batch"):
        yield Bilingual(
            "批次 {batch}；撤销：vaultkeeper undo {batch}",
            "Batch {batch}; take it back: vaultkeeper undo {batch}",
        )[language].format(batch=document["batch"])


def written(document: Document, language: Language) -> Iterator[Block]:
    """The answer of `new` and `set` (IF-7)."""
    place = _place(document)
    if document.get("committed"):
        yield Bilingual("已写入 {place}（{id}）", "Wrote {place} ({id})")[language].format(
            place=place, id=document.get("id")
        )
    else:
        yield Bilingual("没有写入：{reason}", "Nothing was written: {reason}")[language].format(
            reason=document.get("reason")
        )
    for warning in _list(document.get("warnings")):
        yield plain(warning)
    if rows_of(document, "actions"):
        dry_run = document.get("reason") == "dry run"
        yield from acted({"dry_run": dry_run, **document}, language)


def shown(document: Document, language: Language) -> Iterator[Block]:
    """The answer of `show`: the facts of a note, then its text."""
    fields = document.get("fields")
    known = {"path": document.get("path")} | (dict(fields) if isinstance(fields, Mapping) else {})
    yield from facts({key: value for key, value in known.items() if value not in _EMPTY}, language)
    if "text" in document:
        yield Text(plain(document["text"]))


def explained(document: Document, language: Language) -> Iterator[Block]:
    """The answer of `why` (K-52): the note's place and rule, then the last actions on it."""
    lists = {"actions", "findings"}
    empty = (*_EMPTY, False)
    told = {key: value for key, value in document.items() if key not in lists and value not in empty}
    yield from facts(told, language)
    actions = rows_of(document, "actions")
    if actions:
        yield Items(
            tuple(Item(plain(row.get("at")), action_phrase(row, language), why_of(row)) for row in actions)
        )
    yield from _findings(document, language, hints=True, counted=False)


def logged(document: Document, language: Language) -> Iterator[Block]:
    """The answer of `log`: what was done, to which note, why and by whom; the newest last."""
    entries = rows_of(document, "entries")
    if entries:
        yield Items(tuple(Item(plain(row.get("at")), _deed(row), _circumstances(row)) for row in entries))
    else:
        yield Bilingual("还没有记录。", "Nothing was done yet.")[language]


def _deed(entry: Document) -> str:
    summary = plain(entry.get("after") or entry.get("before") or entry.get("id"))
    return f"{plain(entry.get('op'))} {summary.partition(' :: ')[0]}"


def _circumstances(entry: Document) -> str:
    way = f"{plain(entry['from'])} → {plain(entry['to'])}" if entry.get("from") and entry.get("to") else ""
    return " · ".join(part for part in (plain(entry.get("reason")), plain(entry.get("source")), way) if part)


def configured(document: Document, language: Language) -> Iterator[Block]:
    """The answer of `config`: each setting with its value, where that comes from, and what it means."""
    rows = rows_of(document, "settings") or [document]
    yield Items(tuple(Item("", _setting(row, language), plain(row.get("description"))) for row in rows))


def _setting(row: Document, language: Language) -> str:
    told = f"{plain(row.get('key'))} = {_typed(row.get('value'))}"
    if "source" not in row:
        return told
    if row.get("source") == "default":
        return told + Bilingual("（默认）", " (the default)")[language]
    origin = Bilingual("（来自 {source}；默认 {default}）", " (from {source}; default {default})")[language]
    return told + origin.format(source=plain(row.get("source")), default=_typed(row.get("default")))


def _typed(value: object) -> str:
    """A setting's value as a person would type it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else plain(value) or '""'


def doubled(document: Document, language: Language) -> Iterator[Block]:
    """The answer of `duplicates` (LT-37): every file of every id that stands in more than one."""
    groups = rows_of(document, "duplicates")
    if not groups:
        yield Bilingual("没有重复的 id。", "No id stands in two notes.")[language]
        return
    rows: list[tuple[str, ...]] = []
    for group in groups:
        paths, times = _list(group.get("paths")), _list(group.get("updated"))
        times += [""] * (len(paths) - len(times))
        rows += [
            (plain(group.get("id")), plain(path), plain(at)) for path, at in zip(paths, times, strict=False)
        ]
    yield Table(("id", *_headings(language, "path", "updated")), tuple(rows))
    yield Bilingual(
        "保留其中一个：vaultkeeper duplicates --keep 路径 ID",
        "Keep one: vaultkeeper duplicates --keep PATH ID",
    )[language]


def kept(document: Document, language: Language) -> Iterator[Block]:
    """The answer of `vaults`: the registered ones."""
    rows = rows_of(document, "vaults")
    if not rows:
        yield Bilingual("还没有登记仓库。", "No vault is registered.")[language]
        return
    missing = Bilingual("找不到", "not there now")[language]
    yield Table(
        _headings(language, "vault", "what"),
        tuple((plain(row.get("path")), "" if row.get("exists") else missing) for row in rows),
    )


def facts(document: Document, _language: Language) -> Iterator[Block]:
    """Any answer, generically: its single values as `name: value` lines, then a table for each list of rows."""
    singles = [(key, value) for key, value in document.items() if not _is_rows(value) and key != "language"]
    if singles:
        yield Table(("", ""), tuple((key, plain(value)) for key, value in singles))
    for key in document:
        rows = rows_of(document, key)
        if rows:
            headings = tuple(dict.fromkeys(name for row in rows for name in row))
            yield Table(headings, tuple(tuple(plain(row.get(name)) for name in headings) for row in rows))


def rows_of(document: Document, key: str) -> list[Document]:
    """The list of rows under a key; empty where there is none."""
    return [row for row in _list(document.get(key)) if isinstance(row, Mapping)]


def _findings(
    document: Document, language: Language, *, hints: bool, counted: bool = True
) -> Iterator[Block]:
    findings = rows_of(document, "findings")
    shown = [row for row in findings if hints or row.get("severity") != "info"]
    if shown:
        yield Items(tuple(Item(_severity(row, language), _place(row), _advice(row)) for row in shown))
    if counted:
        yield from _counts(document, language, listed=len(shown) == len(findings))


def _counts(document: Document, language: Language, *, listed: bool) -> Iterator[str]:
    """How many findings of each severity there are, and how to see those that were not told; nothing for none."""
    severities = [row.get("severity") for row in rows_of(document, "findings")]
    counted = [
        words[severities.count(severity) > 1][language].format(n=severities.count(severity))
        for severity, words in _COUNTED.items()
        if severity in severities
    ]
    if not counted:
        return
    told = Bilingual("，", ", ")[language].join(counted)
    if listed:
        yield told
    else:
        yield (
            told
            + Bilingual("；完整列表：vaultkeeper check --hints", "; all of them: vaultkeeper check --hints")[
                language
            ]
        )


def _severity(finding: Document, language: Language) -> str:
    words = _SEVERITIES.get(plain(finding.get("severity")))
    return words[language] if words else ""


def _advice(finding: Document) -> str:
    fix = plain(finding.get("fix"))
    return f"{plain(finding.get('message'))} [{finding.get('code')}]" + (f" → {fix}" if fix else "")


def _place(row: Document) -> str:
    line = row.get("line")
    return f"{plain(row.get('path'))}:{line}" if line else plain(row.get("path"))


def _headings(language: Language, *names: str) -> tuple[str, ...]:
    return tuple(_HEADINGS[name][language] for name in names)


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str | Mapping) else []


def _count(value: object) -> object:
    return len(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
