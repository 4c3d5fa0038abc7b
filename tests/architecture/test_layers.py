"""What import-linter cannot see, checked on the syntax tree (STYLE section 2)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "vaultkeeper"
MODULES = sorted(PACKAGE.rglob("*.py"))
PURE = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] in {"core", "formats"}]
WRITERS = {"store"}
"""Packages that may open and write files of a vault or of the user."""
NO_FILE_OPENERS = {"cli/commands/notes.py", "cli/main.py"}
"""These open standard input and the null device, and read or write no file."""


def calls(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield node.func.attr
            elif isinstance(node.func, ast.Name):
                yield node.func.id


@pytest.mark.parametrize("module", PURE, ids=lambda path: path.name)
def test_the_core_takes_only_pure_paths(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "pathlib":
            assert {alias.name for alias in node.names} == {"PurePosixPath"}
        if isinstance(node, ast.Import):
            assert "pathlib" not in {alias.name for alias in node.names}


@pytest.mark.parametrize("module", PURE, ids=lambda path: path.name)
def test_the_core_takes_the_clock_from_its_caller(module: Path) -> None:
    assert not {"now", "today", "utcnow"} & set(calls(ast.parse(module.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(
    "module",
    [path for path in MODULES if path.relative_to(PACKAGE).parts[0] not in WRITERS],
    ids=lambda path: path.name,
)
def test_only_the_store_writes_files(module: Path) -> None:
    used = set(calls(ast.parse(module.read_text(encoding="utf-8"))))
    assert not {"write_text", "write_bytes"} & used
    assert "open" not in used or module.relative_to(PACKAGE).as_posix() in NO_FILE_OPENERS


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_no_module_knows_a_format_by_name(module: Path) -> None:
    if module.relative_to(PACKAGE).parts[0] == "formats":
        return
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            names = [part.value for part in (node.left, *node.comparators) if isinstance(part, ast.Constant)]
            assert not {"longterm", "engramory", "cortex", "layered", "personal"} & {
                n for n in names if isinstance(n, str)
            }
