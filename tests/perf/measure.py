"""Measuring tools of the benches: processor time of a process, medians of alternating runs, rows of the table."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.perf.vaults import make_notes

PYTHON = sys.executable


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    ours: str
    other: str
    """What it is compared to, with its figure; empty for a plain limit."""
    ratio: str
    goal: str
    is_met: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where the benches work, and how big."""

    base: Path
    scale: float = 1.0
    """Part of the full sizes; below 1 the figures say nothing about the goals."""

    def size(self, count: int) -> int:
        """A number of notes, folders or saves."""
        return max(20, int(count * self.scale))

    def env(self, name: str, **more: str) -> dict[str, str]:
        """An environment in which the program keeps its state in a folder of the bench's own."""
        return {**os.environ, "VAULTKEEPER_HOME": str(self.base / "homes" / name), **more}

    def forget(self, name: str) -> None:
        """Delete all that the program knows of the vaults it met in that environment."""
        shutil.rmtree(self.base / "homes" / name, ignore_errors=True)

    def vault(self, name: str, count: int) -> Path:
        """A vault with that many generated notes, for one bench alone."""
        root = self.base / "vaults" / name
        shutil.rmtree(root, ignore_errors=True)
        self.forget(name)
        vaultkeeper(["init", str(root), "--format", "longterm"], self.env(name))
        make_notes(root, count)
        return root

    def settled_vault(self, name: str, count: int) -> Path:
        """The same, with nothing left to do."""
        root = self.vault(name, count)
        for _ in range(2):
            vaultkeeper(["tidy", str(root), "--json"], self.env(name))
        return root


def vaultkeeper(args: Sequence[str], env: dict[str, str]) -> float:
    """Run the program; gives the processor time that it took, in seconds."""
    return cpu_s([PYTHON, "-m", "vaultkeeper", *args], env)


def cpu_s(command: Sequence[str], env: dict[str, str] | None = None) -> float:
    """Run a command to its end; gives its processor time, user and system, with its children's, in seconds.

    Raises:
        RuntimeError: it ended with a code above 1, which is the program's word for "findings remain".
    """
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def medians(runs: int, *sides: Callable[[], float]) -> list[float]:
    """The median of each side, all sides measured in turn."""
    figures = [[side() for side in sides] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*figures, strict=True)]


def p95(values: Sequence[float]) -> float:
    """The value that 95 of 100 do not exceed."""
    return sorted(values)[max(0, int(len(values) * 0.95) - 1)]


def seconds(value: float) -> str:
    """A time for people."""
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"


def compared(what: str, ours: float, other: float, name: str, most: float) -> Row:
    """A row whose goal is a ratio."""
    ratio = ours / other
    return Row(what, seconds(ours), f"{name}: {seconds(other)}", f"{ratio:.2f}", f"≤ {most:g}", ratio <= most)


def limited(what: str, value: float, most: float, show: Callable[[float], str] = seconds) -> Row:
    """A row whose goal is a limit."""
    return Row(what, show(value), "", "", f"≤ {show(most)}", value <= most)
