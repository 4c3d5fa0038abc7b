"""The documents say what the code does: generated tables, commands that are shown, links, markers."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from tests.documents import DOCUMENTS, PROJECT, TABLES, refreshed
from vaultkeeper.cli.main import cli

ALL = sorted(path.name for path in PROJECT.glob("*.md"))


def text_of(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_generated_tables_are_fresh(name: str) -> None:
    text = text_of(name)
    assert refreshed(text) == text, "run `make docs`"


def test_every_table_is_shown_somewhere() -> None:
    shown = {name for document in DOCUMENTS for name in re.findall(r"<!-- table:(\S+)", text_of(document))}
    assert shown == set(TABLES)


def test_a_stale_table_is_written_anew_and_the_rest_stays() -> None:
    text = "before\n<!-- table:formats -->\nlong ago\n<!-- end -->\nafter <!-- end -->\n"
    fresh = refreshed(text)
    assert fresh.startswith("before\n<!-- table:formats -->\n| format |")
    assert "long ago" not in fresh
    assert fresh.endswith(" |\n<!-- end -->\nafter <!-- end -->\n")
    assert refreshed(fresh) == fresh


def shown_commands() -> list[tuple[str, str]]:
    """Lines of the documents that a person would type: `$ vaultkeeper …`, or a block of such lines without answers."""
    found = []
    for name in ALL:
        for block in re.findall(r"^```\w*\n(.*?)^```$", text_of(name), re.DOTALL | re.MULTILINE):
            for line in block.splitlines():
                typed = re.match(r"(?:\$ )?(?:\S+=\S+ )*(?:\S*/)?(vaultkeeper .*)", line)
                if typed is not None:
                    found.append((name, typed[1]))
    return found


@pytest.mark.rule("IF-22")
@pytest.mark.parametrize(("name", "line"), shown_commands())
def test_every_command_line_shown_is_one_that_is_understood(name: str, line: str) -> None:
    words = shlex.split(re.split(r" [|<>#] | && ", line)[0])[1:]
    command: click.Command = cli
    context = click.Context(cli, info_name="vaultkeeper")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        inner = command.get_command(context, words[0])
        assert inner is not None, f"{name} shows {line!r}"
        command, words = inner, words[1:]
    if isinstance(command, click.Group):
        return
    command.make_context(command.name or "", words, resilient_parsing=False)


@pytest.mark.parametrize("name", ALL)
def test_links_between_documents_lead_somewhere(name: str) -> None:
    text = text_of(name)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not re.match(r"[a-z]+:", target):
            assert (PROJECT / target).exists(), f"{name} links to {target}"
    for anchor in re.findall(r"\]\(#([^)]+)\)", text):
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        assert anchor in {slug(heading) for heading in headings}, f"{name} links to #{anchor}"


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("name", ALL)
def test_every_make_target_named_exists(name: str) -> None:
    targets = set(
        re.findall(r"^([a-z]+):", Path(PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert set(re.findall(r"`make ([a-z]+)`", text_of(name))) <= targets


def test_the_chinese_readme_names_every_command() -> None:
    context = click.Context(cli, info_name="vaultkeeper")
    named = set(re.findall(r"`([a-z]+)`", text_of("README.zh.md")))
    assert set(cli.list_commands(context)) <= named
