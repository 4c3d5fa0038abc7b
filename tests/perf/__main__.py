"""`make bench`: speed and memory, side by side with what they are compared to, as ratios.

`python -m tests.perf NAME…` runs some of them; `--quick` runs all on a twentieth of the size, to see that they work.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.perf import commands, watching
from tests.perf.measure import Place, Row

BENCHES: dict[str, Callable[[Place], Iterator[Row]]] = {
    "start": commands.start,
    "check": commands.first_check,
    "tidy": commands.quiet_tidy,
    "save": watching.one_save,
    "checkout": watching.checkout,
    "memory": watching.memory,
    "idle": watching.idle,
}


def main() -> int:
    """Run the benches; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.perf", description="speed and memory, as ratios")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(BENCHES)}; all without")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the size: see that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    given = parser.parse_args()
    if unknown := set(given.names) - BENCHES.keys():
        parser.error(f"there is no bench {', '.join(sorted(unknown))}; choose from {', '.join(BENCHES)}")
    base = Path(__file__).resolve().parents[2] / ".bench"
    shutil.rmtree(base, ignore_errors=True)
    rows = _run(given.names or list(BENCHES), Place(base, 0.05 if given.quick else 1.0))
    shutil.rmtree(base, ignore_errors=True)
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False) + "\n")
    _print(rows)
    return 0 if given.quick or all(row.is_met for row in rows) else 1


def _run(names: list[str], place: Place) -> list[Row]:
    rows: list[Row] = []
    console = Console(stderr=True)
    for name in names:
        with console.status(f"{name} …"):
            rows += BENCHES[name](place)
    return rows


def _print(rows: list[Row]) -> None:
    table = Table(title="Processor time unless it says otherwise; medians of runs in turn")
    for heading in ("what", "vaultkeeper", "compared to", "ratio", "goal", ""):
        table.add_column(heading, justify="left" if heading in {"what", "compared to"} else "right")
    for row in rows:
        table.add_row(
            row.what, row.ours, row.other, row.ratio, row.goal, "met" if row.is_met else "[red]missed[/]"
        )
    Console(width=None if Console().is_terminal else 150).print(table)


if __name__ == "__main__":
    raise SystemExit(main())
