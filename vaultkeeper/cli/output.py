"""What a command prints: one JSON document, or something to read (IF-20); and progress, for people only."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from vaultkeeper.cli import render
from vaultkeeper.cli.blocks import Block
from vaultkeeper.core.format import Language

View = Callable[[Mapping[str, object], Language], Iterable[Block]]


def answer(document: Mapping[str, object], view: View, *, as_json: bool) -> None:
    """Print the answer of a command on standard output."""
    if as_json:
        print_json(document)
    else:
        render.show(view(document, render.language_of(document)))


def print_json(document: Mapping[str, object], *, indent: int | None = 2) -> None:
    """Print one JSON document; with `indent` None on one line."""
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # a code page without Chinese, or a file name that is no text
        text = json.dumps(document, indent=indent)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A callable that shows `(what, done, total)` on standard error; None where nobody watches (K-97)."""
    if not sys.stderr.isatty():
        yield None
        return
    with render.progress_bar() as show:
        yield show
