"""`make docs`: writes the tables of the documents anew from the code. A test fails while one of them is stale."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import click

from vaultkeeper.cli.main import cli
from vaultkeeper.config import Settings
from vaultkeeper.core.format import Language, Word
from vaultkeeper.core.messages import MESSAGES
from vaultkeeper.core.slips import TEXT_REPAIRS
from vaultkeeper.formats.longterm import LONGTERM
from vaultkeeper.formats.registry import FORMATS

PROJECT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "README.zh.md", "ARCHITECTURE.md")
_BLOCK = re.compile(r"(<!-- table:(?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

Rows = Iterable[Sequence[str]]


def table(headings: Sequence[str], rows: Rows) -> str:
    """A Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def code(text: str) -> str:
    """Text as code; each of its lines on its own, tabs made visible. Empty text stays empty."""
    return "<br>".join(f"`{line}`" for line in text.replace("\t", "⇥").split("\n")) if text else ""


def commands() -> str:
    """Every command with its arguments and what it does."""
    return table(("command", "does"), _command_rows())


def _command_rows() -> Iterator[tuple[str, str]]:
    context = click.Context(cli, info_name="vaultkeeper")
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        nested = command.commands if isinstance(command, click.Group) else {}
        if not nested or getattr(command, "invoke_without_command", False):
            yield _usage(name, command, context), command.get_short_help_str(200)
        for below, inner in nested.items():
            yield _usage(f"{name} {below}", inner, context), inner.get_short_help_str(200)


def _usage(name: str, command: click.Command, context: click.Context) -> str:
    arguments = [
        argument.make_metavar(context) for argument in command.params if isinstance(argument, click.Argument)
    ]
    return code(" ".join([name, *arguments]))


def settings() -> str:
    """Every setting, its default and what it means."""
    fields = Settings.model_fields.items()
    return table(
        ("setting", "default", "means"),
        ((code(key), _shown(field.default), field.description or "") for key, field in fields),
    )


def _shown(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case []:
            return "none"
        case float() | int():
            return f"{value:g}"
        case _:
            return str(value)


def repairs(language: Language) -> str:
    """Every slip in frontmatter that is mended, by its example."""
    headings = {
        "en": ("what is wrong", "as typed", "as mended", "code"),
        "zh": ("问题", "原文", "改后", "代码"),
    }
    return table(
        headings[language],
        (
            (
                MESSAGES[repair.code].text[language].format(key=re.split("[:：]", repair.before)[0]),
                code(repair.before),
                code(repair.after),
                code(repair.code),
            )
            for repair in TEXT_REPAIRS
        ),
    )


def places(language: Language) -> str:
    """Types and statuses of `longterm`, the folder each asks for, and other ways they may be written."""
    headings = {
        "en": ("word", "folder", "also understood"),
        "zh": ("词", "文件夹", "也可以写作"),
    }
    kinds = {"en": ("type", "status"), "zh": ("类型", "状态")}[language]
    rows = [(_word(kinds[0], word), _folder(word), _others(word)) for word in LONGTERM.types]
    rows += [(_word(kinds[1], word), _folder(word), _others(word)) for word in LONGTERM.statuses]
    return table(headings[language], rows)


def _word(kind: str, word: Word) -> str:
    return f"{kind} `{word.name}`"


def _folder(word: Word) -> str:
    return code(f"{word.folder}/") if word.folder else "–"


def _others(word: Word) -> str:
    return ", ".join(word.synonyms)


def formats() -> str:
    """Every format and the file that makes a folder a vault of it."""
    return table(
        ("format", "marker file", "own folder", "types", "statuses", "ids"),
        (
            (
                code(fmt.id),
                code(fmt.marker.path),
                code(f"{fmt.private}/"),
                str(len(fmt.types)),
                str(len(fmt.statuses)),
                code(f"{fmt.id_prefix}…"),
            )
            for fmt in FORMATS.values()
        ),
    )


def keys() -> str:
    """The frontmatter keys of `longterm`."""
    return table(
        ("key", "read as", "required", "also written"),
        (
            (code(key.name), key.kind, "yes" if key.required else "", ", ".join(map(code, key.synonyms)))
            for key in LONGTERM.keys
        ),
    )


def findings() -> str:
    """Every finding code."""
    return table(
        ("code", "severity", "says", "what to do"),
        (
            (code(name), message.severity, message.text.en, message.fix.en)
            for name, message in MESSAGES.items()
        ),
    )


TABLES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings,
    "repairs": lambda: repairs("en"),
    "repairs-zh": lambda: repairs("zh"),
    "places": lambda: places("en"),
    "places-zh": lambda: places("zh"),
    "formats": formats,
    "keys": keys,
    "findings": findings,
}
"""What a block `<!-- table:NAME -->` … `<!-- end -->` of a document holds, by name."""


def refreshed(text: str) -> str:
    """The document with all of its tables as the code has them now."""
    return _BLOCK.sub(lambda match: f"{match[1]}{TABLES[match['name']]()}{match[3]}", text)


def main() -> None:
    """Write the documents whose tables are stale."""
    for name in DOCUMENTS:
        file = PROJECT / name
        text = file.read_text(encoding="utf-8")
        fresh = refreshed(text)
        if fresh != text:
            file.write_text(fresh, encoding="utf-8", newline="\n")
            print(f"{name} is fresh now")


if __name__ == "__main__":
    main()
