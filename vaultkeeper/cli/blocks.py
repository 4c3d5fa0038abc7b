"""What the answer of a command is made of, for reading: sentences, tables, lists, texts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings. A row's first cell may be a severity, which is shown in its colour."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is told in a list; `mark` may be a severity, which is shown in its colour."""

    mark: str
    head: str
    text: str
    """More about it, on a line of its own where the terminal is too narrow for both."""


@dataclass(frozen=True, slots=True)
class Items:
    """Things told one after another."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text that keeps its lines, such as a note or a diff."""

    text: str


Block = str | Table | Items | Text
"""A sentence, a table, a list, or a text."""
