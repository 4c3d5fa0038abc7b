"""`make demo` does what the README says it does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.demo import MANY, PROJECT


@pytest.mark.rule("K-23", "K-34", "K-35", "K-50")
def test_the_demo_shows_every_step_and_loses_no_note(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.demo"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=PROJECT,
        env={**os.environ, "DEMO_FOLDER": str(tmp_path), "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for said in (
        "+ - [[Archive/茶馆网站 七月进展|七月进展]]",
        "+ status: archived",
        '+ title: "周一: 不营业 #通知"',
        f"all {MANY} stand in Archive/ now",
        "Took back batch",
        "Nothing to do.",
    ):
        assert said in done.stdout
