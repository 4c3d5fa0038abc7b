"""How the demo shows what happens, within 100 columns."""

from __future__ import annotations

import difflib
import time
from collections.abc import Iterable

from rich.cells import set_cell_size
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from vaultkeeper.cli.blocks import Block, Item, Items, Table
from vaultkeeper.cli.render import grid, language_of, printable
from vaultkeeper.core.format import Bilingual, Language

PAUSE_S = 2.0
"""So that a person at a terminal has read what comes before it happens."""

LANGUAGE: Language = language_of()

console = Console(highlight=False, markup=False, emoji=False)
if console.width > 100 or not console.is_terminal:
    console = Console(highlight=False, markup=False, emoji=False, width=100)


def say(who: str, style: str, what: str) -> None:
    """A line with who did it before it."""
    console.print(Text(set_cell_size(who, 8), style) + Text(what, overflow="fold"))


def below(text: Text | str, indent: int = 8) -> None:
    told = Text(text, overflow="fold") if isinstance(text, str) else text
    console.print(Padding(told, (0, 0, 0, indent), expand=False))


def chapter(zh: str, en: str) -> None:
    """What comes next, in a sentence."""
    console.print()
    console.rule(characters="─", style="dim")
    console.print(Bilingual(zh, en)[LANGUAGE], style="bold")
    if console.is_terminal:
        time.sleep(PAUSE_S)


def show(blocks: Iterable[Block], limit: int) -> None:
    """Blocks, of which a long list is cut."""
    for block in blocks:
        if isinstance(block, Items):
            show_items(block.items, limit)
        elif isinstance(block, Table):
            console.print(Padding(grid((row[0], row[1]) for row in block.rows), (0, 0, 0, 8), expand=False))
        else:
            below(printable(str(block)))


def show_items(items: tuple[Item, ...], limit: int) -> None:
    for item in items[:limit]:
        mark = f"{item.mark}  " if item.mark else ""
        line = printable(f"{mark}{item.head}")
        text = Text(printable(item.text), "dim", overflow="fold")
        if Text(line).cell_len + 2 + text.cell_len + 8 <= console.width:
            below(Text(f"{line}  ") + text)
        else:
            below(line)
            below(text, 10)
    if len(items) > limit:
        more = Bilingual("…… 另有 {n} 条", "… and {n} more")[LANGUAGE]
        below(Text(more.format(n=len(items) - limit), "dim"))


def show_change(before: str, after: str) -> None:
    """The lines that differ."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    for line in lines:
        if line[:1] in "+-" and not line.startswith(("+++", "---")):
            changed = Text(printable(f"{line[0]} {line[1:]}"), "green" if line[0] == "+" else "red")
            below(changed, 10)
