"""The Obsidian Bases view over the memories of a vault: made when missing, a person's once it is changed (LT-54)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from vaultkeeper.core.format import Bilingual, Format, Language, Word
from vaultkeeper.core.note import NotePath

BASE_PATH: Final = NotePath("Index/Memories.base")
"""Where the view stands: LT-54."""

_MARK: Final = "# vaultkeeper "
"""Opens the first line, which ends with a digest of the rest: how the file is known again as generated."""

_BY_TYPE: Final = Bilingual("按类型", "By type")
_BY_STATUS: Final = Bilingual("按状态", "By status")
_RECENT: Final = Bilingual("最近更新", "Recently updated")
_COLUMNS: Final = (
    ("formula.memory", Bilingual("记忆", "Memory")),
    ("formula.kind", Bilingual("类型", "Type")),
    ("formula.state", Bilingual("状态", "Status")),
    ("note.importance", Bilingual("重要度", "Importance")),
    ("note.pinned", Bilingual("置顶", "Pinned")),
    ("note.updated_at", Bilingual("更新于", "Updated")),
    ("note.tags", Bilingual("标签", "Tags")),
)
_BY_IMPORTANCE: Final = (("note.importance", "DESC"), ("note.title", "ASC"))


def bases_view(fmt: Format, language: Language) -> str:
    """The `.base` file: the notes still to be confirmed first, then all by type, by status and by last change.

    It is YAML as Obsidian 1.9 and later reads it (help page "Bases syntax").
    """
    first = [word for word in fmt.statuses if word.name == fmt.cautious_status]
    states = [*first, *(word for word in fmt.statuses if word.name != fmt.cautious_status)]
    memory = 'file.asLink(if(note["title"], note["title"].toString(), file.name))'
    lines = [
        *_filters(fmt),
        "formulas:",
        f"  memory: {_quoted(memory)}",
        f"  kind: {_quoted(_label('type', fmt.types, language))}",
        f"  state: {_quoted(_label('status', states, language, numbered=True))}",
        "properties:",
    ]
    for column, name in _COLUMNS:
        lines += [f"  {column}:", f"    displayName: {_quoted(name[language])}"]
    lines.append("views:")
    for word in first:
        lines += _view(word.label[language], only=f'note["status"] == {_text(word.name)}')
    lines += _view(_BY_TYPE[language], group="formula.kind")
    lines += _view(_BY_STATUS[language], group="formula.state")
    lines += _view(_RECENT[language], sort=(("note.updated_at", "DESC"),))
    body = "\n".join(lines) + "\n"
    return f"{_MARK}{_digest(body)}\n{body}"


def is_ours(text: str) -> bool:
    """Whether the file is, but for line ends, as some version of vaultkeeper wrote it, in any language."""
    head, _, body = text.replace("\r\n", "\n").partition("\n")
    return head == f"{_MARK}{_digest(body)}"


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _filters(fmt: Format) -> list[str]:
    """Only memories: an id of the format, or a schema version (LT-35); no templates."""
    has_id = f'file.hasProperty("id") && note["id"].toString().startsWith({_text(fmt.id_prefix)})'
    return [
        "filters:",
        "  and:",
        "    - 'file.ext == \"md\"'",
        "    - or:",
        f"        - {_quoted(has_id)}",
        "        - 'file.hasProperty(\"schema_version\")'",
        "    - not:",
        *(f"        - {_quoted(f'file.inFolder({_text(folder)})')}" for folder in fmt.template_folders),
    ]


def _label(key: str, choices: Sequence[Word], language: Language, *, numbered: bool = False) -> str:
    """A formula that shows the label of a word; numbered, groups keep this order instead of the alphabet's."""
    formula = f'note["{key}"]'
    for number, word in reversed(list(enumerate(choices, start=1))):
        label = f"{number} {word.label[language]}" if numbered else word.label[language]
        formula = f'if(note["{key}"] == {_text(word.name)}, {_text(label)}, {formula})'
    return formula


def _view(
    name: str, *, only: str = "", group: str = "", sort: Sequence[tuple[str, str]] = _BY_IMPORTANCE
) -> list[str]:
    lines = ["  - type: table", f"    name: {_quoted(name)}"]
    if only:
        lines += ["    filters:", "      and:", f"        - {_quoted(only)}"]
    if group:
        lines += ["    groupBy:", f"      property: {group}", "      direction: ASC"]
    lines += ["    order:", *(f"      - {column}" for column, _ in _COLUMNS), "    sort:"]
    for column, direction in sort:
        lines += [f"      - property: {column}", f"        direction: {direction}"]
    return lines


def _quoted(text: str) -> str:
    """A YAML string in single quotes."""
    return "'" + text.replace("'", "''") + "'"


def _text(text: str) -> str:
    """A string of the Bases formula language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
