"""Everything that is worded or drawn for people: blocks on the terminal, progress, and advice on errors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, assert_never

from vaultkeeper.cli.blocks import Block, Item, Items, Table, Text
from vaultkeeper.core import errors
from vaultkeeper.core.format import Bilingual, Language

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

_STYLES = {
    **dict.fromkeys(("error", "错误"), "bold red"),
    **dict.fromkeys(("warning", "警告"), "yellow"),
    **dict.fromkeys(("hint", "提示"), "cyan"),
}
"""Colour of a severity's word, wherever it is the first cell of a row."""
_PIPED_WIDTH = 100_000
"""Wider than any row: what is piped is never wrapped, so that a line stays a line for other programs."""
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, which a note could use to command the terminal; overrides of writing direction; lone surrogates."""


def language_of(document: Mapping[str, object] | None = None) -> Language:
    """The language to word an answer in: the document's own, else `$VAULTKEEPER_LANGUAGE`, else the locale's (K-96)."""
    named = (document or {}).get("language") or os.environ.get("VAULTKEEPER_LANGUAGE")
    if named not in {"zh", "en"}:
        variables = ("LC_ALL", "LC_MESSAGES", "LANG")
        named = next((value for name in variables if (value := os.environ.get(name))), "")
    return "zh" if str(named).lower().startswith("zh") else "en"


def printable(text: str, *, keep_lines: bool = False) -> str:
    """The text with everything in it escaped that a terminal would obey instead of showing; one line unless asked."""
    if not keep_lines:
        text = text.replace("\n", "⏎").replace("\t", " ")
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def elided(text: str, cells: int) -> str:
    """The text, shortened in its middle to that many cells of a terminal (a Chinese character takes two)."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= cells:
        return text
    tail = text
    while cell_len(tail) > cells // 3:
        tail = tail[1:]
    return set_cell_size(text, cells - cell_len(tail) - 1).rstrip() + "…" + tail


def console(*, stderr: bool = False) -> Console:
    """A console on the present standard stream: coloured and as wide as the terminal, or plain and unwrapped."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPED_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def show(blocks: Iterable[Block]) -> None:
    """Print blocks on standard output."""
    out = console()
    for block in blocks:
        match block:
            case Table():
                _print(out, rows(block.headings, block.rows, framed=out.is_terminal))
            case Items():
                _print(out, _told(block, out.width if out.is_terminal else None))
            case Text(text=text):
                # Not through rich, which would wrap it.
                out.file.write(printable(text, keep_lines=True).rstrip("\n") + "\n")
            case str():
                out.print(printable(block), soft_wrap=True)
            case _:
                assert_never(block)


def rows(headings: Sequence[str], cells: Iterable[Sequence[str]], *, framed: bool = True) -> RichTable:
    """A table for the terminal, or when not `framed` just its cells in columns."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    drawn = RichTable(
        box=box.SIMPLE_HEAD if framed else None,
        show_header=framed and any(headings),
        pad_edge=False,
        header_style="bold",
    )
    for heading in headings:
        drawn.add_column(RichText(heading), overflow="fold")
    for row in cells:
        first, *others = (RichText(printable(cell)) for cell in row)
        first.stylize(_STYLES.get(row[0], ""))
        drawn.add_row(first, *others)
    return drawn


def _print(out: Console, drawn: RichTable) -> None:
    """Print columns; what is piped has no blanks at the ends of its lines."""
    if out.is_terminal:
        out.print(drawn)
        return
    with out.capture() as captured:
        out.print(drawn)
    out.file.write("\n".join(line.rstrip() for line in captured.get().split("\n")))


def _told(block: Items, width: int | None) -> RichTable:
    """The items below one another; without a width each is one line, in columns."""
    from rich.cells import cell_len
    from rich.table import Table as RichTable

    marked = any(item.mark for item in block.items)
    if width is None:
        cells = ((item.mark, item.head, item.text) for item in block.items)
        return rows(("", "", ""), (each if marked else each[1:] for each in cells), framed=False)
    room = width - max(cell_len(item.mark) + 2 for item in block.items) * marked
    drawn = RichTable.grid(padding=(0, 2, 0, 0))
    for item in block.items:
        mark, lines = _plain(item.mark), _lines_of(item, room)
        mark.stylize(_STYLES.get(item.mark, ""))
        drawn.add_row(*((mark, lines) if marked else (lines,)))
    return drawn


def _lines_of(item: Item, room: int) -> RenderableType:
    """Head and text on one line, or where that is too long the text indented below."""
    from rich.console import Group
    from rich.padding import Padding

    head, text = _plain(item.head), _plain(item.text)
    if head.cell_len + 2 + text.cell_len <= room:
        return head + _plain("  ") + text
    return Group(head, Padding(text, (0, 0, 0, 2)))


def _plain(text: str) -> RichText:
    from rich.text import Text as RichText

    return RichText(printable(text), overflow="fold")


def grid(facts: Iterable[tuple[str, str]]) -> RichTable:
    """Names and values beside each other, without frame or headings."""
    return rows(("", ""), facts, framed=False)


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A callable that shows `(what, done, total)` as a bar on standard error; the bar leaves no trace."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:

        def show_progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(printable(what), total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield show_progress


def advice(error: BaseException, language: Language) -> str:
    """What to do about an error; empty where its own text says it all."""
    match error:
        case errors.UnknownNoteError(near=near) if near:
            return _lines(Bilingual("是不是要找：", "Did you mean:")[language], near)
        case errors.UnknownNoteError():
            return Bilingual("用路径、id 或标题指定笔记。", "Name a note by its path, its id or its title.")[
                language
            ]
        case errors.AmbiguousNoteError(paths=paths):
            return _lines(
                Bilingual("请用路径指定其中一篇：", "Name one of them by its path:")[language], paths
            )
        case errors.VaultBusyError(pid=pid, host=host):
            return Bilingual(
                f"等它结束，或在 {host} 上停止进程 {pid} 后再试。",
                f"Wait until it is done, or stop process {pid} on {host} and try again.",
            )[language]
        case errors.ChangedMeanwhileError():
            return Bilingual("文件没有被改动；请重试。", "The file was left as it is; try again.")[language]
        case errors.VaultUnavailableError():
            return Bilingual(
                "没有改动任何东西；检查磁盘、网络盘或云盘是否在线，然后重试。",
                "Look whether its disk, network share or cloud folder is there, then try again.",
            )[language]
        case errors.NoVaultError():
            return Bilingual(
                "用 vaultkeeper init 新建仓库，或指定另一个文件夹。",
                "Make a vault with `vaultkeeper init PATH`, or name another folder.",
            )[language]
        case _:
            return ""


def _lines(first: str, names: Iterable[str]) -> str:
    return "\n".join((first, *(f"  {printable(name)}" for name in names)))
