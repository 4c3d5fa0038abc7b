"""Answers of commands as blocks for reading: sentences and tables, still without terminal, colour or width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vaultkeeper.core.format import Bilingual, Language

Document = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings. A row's first cell may be a severity, which is shown in its colour."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text that keeps its lines, such as a note or a diff."""

    text: str


Block = str | Table | Text
"""A sentence, a table, or a text."""

_DONE: dict[str, Bilingual] = {
    "create": Bilingual("新建 {path}", "made {path}"),
    "rewrite": Bilingual("改写 {path}", "rewrote {path}"),
    "move": Bilingual("移动 {path} → {to}", "moved {path} → {to}"),
    "page": Bilingual("更新索引页 {path}", "updated the page {path}"),
    "trash": Bilingual("移走 {path}", "took away {path}"),
}
_WANTED: dict[str, Bilingual] = {
    "create": Bilingual("将新建 {path}", "would make {path}"),
    "rewrite": Bilingual("将改写 {path}", "would rewrite {path}"),
    "move": Bilingual("将移动 {path} → {to}", "would move {path} → {to}"),
    "page": Bilingual("将更新索引页 {path}", "would update the page {path}"),
    "trash": Bilingual("将移走 {path}", "would take away {path}"),
}
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


def action_phrase(action: Document, language: Language, *, dry_run: bool = False) -> str:
    """What happened, or would happen, to a file, in words; a move that keeps the name shows the folder only."""
    path, to = str(action.get("path") or ""), str(action.get("to") or "")
    folder, _, name = to.rpartition("/")
    if name == path.rpartition("/")[2]:
        to = f"{folder}/"
    words = (_WANTED if dry_run else _DONE).get(str(action.get("op")))
    return words[language].format(path=path, to=to) if words else f"{action.get('op')} {path}"


def checked(document: Document, language: Language) -> Iterator[Block]:
    """The answer of `check` (IF-2)."""
    yield Bilingual(
        "{vault}：{notes} 篇笔记，{quarantined} 篇被隔离", "{vault}: {notes} notes, {quarantined} quarantined"
    )[language].format(
        vault=document.get("vault"),
        notes=_count(document.get("notes")),
        quarantined=_count(document.get("quarantined")),
    )
    findings = rows_of(document, "findings")
    if not findings:
        yield Bilingual("没有发现问题。", "Nothing is wrong.")[language]
        return
    yield _findings(findings, language)
    counts = {
        word: sum(row.get("severity") == word for row in findings) for word in ("error", "warning", "info")
    }
    yield Bilingual(
        "{error} 个错误，{warning} 个警告，{info} 条提示",
        "{error} errors, {warning} warnings, {info} notices",
    )[language].format(**counts)


def acted(document: Document, language: Language) -> Iterator[Block]:
    """The answer of every command that acts on files: its actions, what it found, what it refused (IF-3, IF-8)."""
    dry_run = bool(document.get("dry_run"))
    actions = rows_of(document, "actions")
    if actions:
        headings = _headings(language, "what", "rule", "reason")
        yield Table(
            headings,
            tuple(_told(row, language, dry_run=dry_run) for row in actions),
        )
    else:
        yield Bilingual("没有要做的事。", "Nothing to do.")[language]
    findings = rows_of(document, "findings")
    if findings:
        yield _findings(findings, language)
    for refused in rows_of(document, "refused"):
        yield Bilingual("{path} 之后又改过，没有撤销：", "{path} has changed since and was left alone:")[
            language
        ].format(path=refused.get("path"))
        yield Text(_text(refused.get("diff")))
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
        yield _text(warning)
    if rows_of(document, "actions"):
        dry_run = document.get("reason") == "dry run"
        yield from acted({"dry_run": dry_run, **document}, language)


def shown(document: Document, language: Language) -> Iterator[Block]:
    """The answer of `show`: the facts of a note, then its text."""
    fields = document.get("fields")
    known = {"path": document.get("path")} | (dict(fields) if isinstance(fields, Mapping) else {})
    yield from facts({key: value for key, value in known.items() if value not in _EMPTY}, language)
    if "text" in document:
        yield Text(_text(document["text"]))


def explained(document: Document, language: Language) -> Iterator[Block]:
    """The answer of `why` (K-52): the note's place and rule, then the last actions on it."""
    lists = {"actions", "findings"}
    yield from facts({key: value for key, value in document.items() if key not in lists}, language)
    actions = rows_of(document, "actions")
    if actions:
        yield Table(
            _headings(language, "when", "what", "rule", "reason"),
            tuple((_text(row.get("at")), *_told(row, language)) for row in actions),
        )
    findings = rows_of(document, "findings")
    if findings:
        yield _findings(findings, language)


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
            (_text(group.get("id")), _text(path), _text(at)) for path, at in zip(paths, times, strict=False)
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
        tuple((_text(row.get("path")), "" if row.get("exists") else missing) for row in rows),
    )


def facts(document: Document, _language: Language) -> Iterator[Block]:
    """Any answer, generically: its single values as `name: value` lines, then a table for each list of rows."""
    singles = [(key, value) for key, value in document.items() if not _is_rows(value)]
    if singles:
        yield Table(("", ""), tuple((key, _text(value)) for key, value in singles))
    for key in document:
        rows = rows_of(document, key)
        if rows:
            headings = tuple(dict.fromkeys(name for row in rows for name in row))
            yield Table(headings, tuple(tuple(_text(row.get(name)) for name in headings) for row in rows))


def rows_of(document: Document, key: str) -> list[Document]:
    """The list of rows under a key; empty where there is none."""
    return [row for row in _list(document.get(key)) if isinstance(row, Mapping)]


def _told(action: Document, language: Language, *, dry_run: bool = False) -> tuple[str, str, str]:
    phrase = action_phrase(action, language, dry_run=dry_run)
    return phrase, _text(action.get("rule")), _text(action.get("reason"))


def _findings(findings: Sequence[Document], language: Language) -> Table:
    return Table(
        _headings(language, "severity", "where", "what"),
        tuple((_text(row.get("severity")), _place(row), _advice(row)) for row in findings),
    )


def _advice(finding: Document) -> str:
    fix = _text(finding.get("fix"))
    return f"{_text(finding.get('message'))} [{finding.get('code')}]" + (f" → {fix}" if fix else "")


def _place(row: Document) -> str:
    line = row.get("line")
    return f"{_text(row.get('path'))}:{line}" if line else _text(row.get("path"))


def _headings(language: Language, *names: str) -> tuple[str, ...]:
    return tuple(_HEADINGS[name][language] for name in names)


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str | Mapping) else []


def _count(value: object) -> object:
    return len(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Mapping():
            return ", ".join(f"{key}={_text(item)}" for key, item in value.items())
        case str():
            return value
        case Sequence():
            return ", ".join(map(_text, value))
        case _:
            return str(value)
