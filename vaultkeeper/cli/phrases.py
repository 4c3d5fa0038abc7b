"""Actions in words, one by one or many together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vaultkeeper.cli.blocks import Item
from vaultkeeper.core.format import Bilingual, Language

Document = Mapping[str, object]

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
_MANY: dict[str, Bilingual] = {
    "page": Bilingual("更新了 {folder}/ 里的 {count} 个索引页", "updated {count} index pages in {folder}/"),
    "trash": Bilingual("移走了 {folder}/ 里的 {count} 个文件", "took away {count} files in {folder}/"),
}
_MANY_WANTED: dict[str, Bilingual] = {
    "page": Bilingual(
        "将更新 {folder}/ 里的 {count} 个索引页", "would update {count} index pages in {folder}/"
    ),
    "trash": Bilingual("将移走 {folder}/ 里的 {count} 个文件", "would take away {count} files in {folder}/"),
}
_FEW = 3
"""So many of them in one folder are told one by one."""


def action_phrase(action: Document, language: Language, *, dry_run: bool = False) -> str:
    """What happened, or would happen, to a file, in words; a move that keeps the name shows the folder only."""
    path, to = str(action.get("path") or ""), str(action.get("to") or "")
    folder, _, name = to.rpartition("/")
    if folder and name == path.rpartition("/")[2]:
        to = f"{folder}/"
    words = (_WANTED if dry_run else _DONE).get(str(action.get("op")))
    return words[language].format(path=path, to=to) if words else f"{action.get('op')} {path}"


def told(actions: Sequence[Document], language: Language, *, dry_run: bool = False) -> Iterator[Item]:
    """Each action with its reason; many pages or files of one folder together, with their names."""
    together: dict[tuple[str, str], list[Document]] = {}
    for action in actions:
        together.setdefault(_kind(action), []).append(action)
    for action in actions:
        kind = _kind(action)
        if kind[0] not in _MANY or len(together[kind]) <= _FEW:
            yield Item("", action_phrase(action, language, dry_run=dry_run), why_of(action))
        elif action is together[kind][0]:
            yield _many(together[kind], kind, language, dry_run=dry_run)


def _kind(action: Document) -> tuple[str, str]:
    """What is done, and in which folder."""
    return plain(action.get("op")), plain(action.get("path")).rpartition("/")[0]


def many_phrase(op: str, count: int, folder: str, language: Language, *, dry_run: bool = False) -> str:
    """What happened, or would happen, to so many pages or files of one folder."""
    words = (_MANY_WANTED if dry_run else _MANY)[op]
    return words[language].format(count=count, folder=folder)


def _many(actions: Sequence[Document], kind: tuple[str, str], language: Language, *, dry_run: bool) -> Item:
    phrase = many_phrase(kind[0], len(actions), kind[1], language, dry_run=dry_run)
    names = (plain(action.get("path")).rpartition("/")[2].removesuffix(".md") for action in actions)
    return Item("", phrase, ", ".join(names))


def why_of(action: Document) -> str:
    """The reason for an action and the rule behind it."""
    reason, rule = plain(action.get("reason")), plain(action.get("rule"))
    return f"{reason} [{rule}]" if rule else reason


def plain(value: object) -> str:
    """Any value of an answer as words."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Mapping():
            return ", ".join(f"{key}={plain(item)}" for key, item in value.items())
        case str():
            return value
        case Sequence():
            return ", ".join(map(plain, value))
        case _:
            return str(value)
