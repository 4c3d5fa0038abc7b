"""Benches of commands: the first check, a tidy with nothing to do, the start."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.perf.measure import PYTHON, Place, Row, compared, cpu_s, limited, medians, vaultkeeper

YAML_LOOP = """
import os, re, sys
import yaml
fence = re.compile(r"---\\n(.*?\\n)---\\n", re.DOTALL)
for folder, folders, names in os.walk(sys.argv[1]):
    folders[:] = [name for name in folders if not name.startswith(".")]
    for name in names:
        if name.endswith(".md"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found = fence.match(file.read())
            if found:
                yaml.load(found[1], Loader=yaml.CSafeLoader)
"""
"""Lists, reads and parses the same files with PyYAML's C loader; does nothing else."""

STAT_LOOP = """
import os, sys
waiting = [sys.argv[1]]
while waiting:
    with os.scandir(waiting.pop()) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                entry.stat(follow_symlinks=False)
"""

COUNT_READS = """
import json, sys
opened = []
def hear(event, args):
    if event == "open" and str(args[0]).endswith(".md"):
        opened.append(str(args[0]))
sys.addaudithook(hear)
from vaultkeeper.__main__ import main
sys.argv = ["vaultkeeper", *sys.argv[1:]]
try:
    main()
finally:
    print(json.dumps(len(opened)), file=sys.stderr)
"""


def first_check(place: Place) -> Iterator[Row]:
    """`check` of a vault that the program has never seen."""
    count = place.size(10_000)
    root = place.vault("check", count)

    def ours() -> float:
        place.forget("check")
        return vaultkeeper(["check", str(root), "--json"], place.env("check"))

    def loop() -> float:
        return cpu_s([PYTHON, "-c", YAML_LOOP, str(root)])

    mine, other = medians(5, ours, loop)
    yield compared(f"first check of {count:,} notes", mine, other, "read and PyYAML's C loader", 4)


def quiet_tidy(place: Place) -> Iterator[Row]:
    """`tidy` with nothing to do and nothing changed, start-up apart."""
    empty = place.settled_vault("empty", 0)
    for full, most in ((10_000, 2.0), (50_000, 3.0)):
        count = place.size(full)
        name = f"tidy-{full}"
        root = place.settled_vault(name, count)
        mine, start, other, bare = medians(
            9,
            lambda root=root, name=name: _tidy(root, place, name),  # type: ignore[misc]
            lambda: _tidy(empty, place, "empty"),
            lambda root=root: cpu_s([PYTHON, "-c", STAT_LOOP, str(root)]),  # type: ignore[misc]
            lambda: cpu_s([PYTHON, "-c", "import os, sys"]),
        )
        what = f"tidy with nothing to do, {count:,} notes"
        yield compared(what, max(mine - start, 1e-4), max(other - bare, 1e-4), "scandir and stat", most)
        reads = _reads(root, place, name)
        yield Row("… notes opened in it", str(reads), "", "", "0", reads == 0)


def _tidy(root: Path, place: Place, name: str) -> float:
    return vaultkeeper(["tidy", str(root), "--json"], place.env(name))


def _reads(root: Path, place: Place, name: str) -> int:
    done = subprocess.run(
        [PYTHON, "-c", COUNT_READS, "tidy", str(root), "--json"],
        env=place.env(name),
        capture_output=True,
        text=True,
        check=False,
    )
    return int(json.loads(done.stderr.strip().splitlines()[-1]))


def start(place: Place) -> Iterator[Row]:
    """`vaultkeeper --version`."""
    mine, _ = medians(
        9,
        lambda: vaultkeeper(["--version"], place.env("start")),
        lambda: cpu_s([PYTHON, "-c", "pass"]),
    )
    yield limited("vaultkeeper --version", mine, 0.150)
