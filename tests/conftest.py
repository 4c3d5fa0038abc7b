"""Options and fixtures of all tests: the rules they prove, golden files, a home of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

RULES = Path(__file__).with_name("rules.txt")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rules", action="store_true", help="list the rules that no collected test proves")
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


def pytest_collection_finish(session: pytest.Session) -> None:
    known = RULES.read_text().split()
    proven: dict[str, list[str]] = {rule: [] for rule in known}
    for item in session.items:
        for mark in item.iter_markers("rule"):
            for rule in mark.args:
                if rule not in proven:
                    raise pytest.UsageError(
                        f"{item.nodeid} proves {rule}, which is no rule of tests/rules.txt"
                    )
                proven[rule].append(item.nodeid)
    if session.config.getoption("--rules"):
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        assert reporter is not None
        missing = [rule for rule, tests in proven.items() if not tests]
        reporter.write_line(f"{len(known) - len(missing)} of {len(known)} rules are proven; not proven:")
        for rule in missing:
            reporter.write_line(f"  {rule}")
        session.items.clear()


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A VAULTKEEPER_HOME of the test's own, so that nothing else on the machine is touched."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("VAULTKEEPER_HOME", str(folder))
    monkeypatch.delenv("VAULTKEEPER_VAULT", raising=False)
    return folder
