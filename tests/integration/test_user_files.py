"""The user's settings and list of vaults on disk (K-95, IF-10): kept when they are broken, changed by one at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from vaultkeeper.config import Registry, set_user_setting, user_settings
from vaultkeeper.core.errors import UserError


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def file(config: Path) -> Path:
    return config / "vaults.json"


@pytest.mark.rule("K-95")
def test_a_users_setting_is_kept_beside_keys_that_are_not_known(config: Path) -> None:
    config.mkdir()
    (config / "settings.json").write_text('{"mine": [1], "settle": 5}')
    answer = set_user_setting(config, "language", "en")
    assert user_settings(config) == {"mine": [1], "settle": 5, "language": "en"}
    assert (answer["key"], answer["value"], answer["user"]) == (
        "language",
        "en",
        str(config / "settings.json"),
    )


@pytest.mark.rule("K-95")
def test_only_what_differs_from_the_default_is_written(config: Path) -> None:
    set_user_setting(config, "settle", "5")
    assert set_user_setting(config, "settle", "3")["value"] == 3
    assert (config / "settings.json").read_text() == "{}\n"


def test_a_user_without_settings_has_none(config: Path) -> None:
    assert user_settings(config) == {}


def test_a_wrong_setting_is_refused_and_nothing_is_written(config: Path) -> None:
    with pytest.raises(UserError, match="from 0 to 60"):
        set_user_setting(config, "settle", "100")
    assert not (config / "settings.json").exists()


@pytest.mark.rule("K-95")
@pytest.mark.parametrize(
    ("text", "reason"),
    [("{\n  settle: 5}", "line 2, column 3"), ("[]", "holds a list"), ("", "is empty")],
)
def test_broken_settings_are_told_with_their_place_and_never_written_over(
    config: Path, text: str, reason: str
) -> None:
    config.mkdir()
    settings = config / "settings.json"
    settings.write_text(text)
    attempts: list[Callable[[], object]] = [
        lambda: user_settings(config),
        lambda: set_user_setting(config, "settle", "5"),
    ]
    for attempt in attempts:
        with pytest.raises(UserError, match=reason) as caught:
            attempt()
        assert str(settings) in str(caught.value)
    assert settings.read_text() == text


def test_settings_that_cannot_be_read_or_written_are_told(config: Path, tmp_path: Path) -> None:
    (config / "settings.json").mkdir(parents=True)
    with pytest.raises(UserError, match="cannot be read"):
        user_settings(config)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot be (read|written)"):
        set_user_setting(tmp_path / "file", "settle", "5")
    (tmp_path / "dead").symlink_to(tmp_path / "nothing" / "deeper")
    with pytest.raises(UserError, match="cannot be written"):
        set_user_setting(tmp_path / "dead", "settle", "5")


@pytest.mark.rule("IF-10")
def test_vaults_are_listed_in_the_order_they_were_added(file: Path, tmp_path: Path) -> None:
    registry = Registry(file)
    assert registry.list() == ()
    registry.add(tmp_path / "b")
    registry.add(tmp_path / "a 长期")
    assert registry.list() == (tmp_path / "b", tmp_path / "a 长期")


@pytest.mark.rule("IF-10")
def test_a_vault_is_registered_once_by_whatever_way_it_is_reached(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = Registry(file)
    (tmp_path / "vault").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    monkeypatch.chdir(tmp_path)
    for way in (Path("vault"), tmp_path / "vault", tmp_path / "link"):
        registry.add(way)
    assert registry.list() == (tmp_path / "vault",)
    registry.remove(tmp_path / "link")
    assert registry.list() == ()


@pytest.mark.rule("IF-10")
def test_a_vault_that_is_gone_can_be_forgotten_and_an_unknown_one_cannot(file: Path, tmp_path: Path) -> None:
    registry = Registry(file)
    with pytest.raises(UserError, match="registered: none"):
        registry.remove(tmp_path / "gone")
    registry.add(tmp_path / "gone")
    with pytest.raises(UserError, match="gone"):
        registry.remove(tmp_path / "other")
    registry.remove(tmp_path / "gone")
    assert registry.list() == ()


def test_unknown_keys_of_the_list_stay(file: Path, tmp_path: Path) -> None:
    file.parent.mkdir()
    file.write_text('{"comment": "mine", "vaults": ["~/Notes"]}')
    Registry(file).add(tmp_path)
    assert json.loads(file.read_text()) == {"comment": "mine", "vaults": ["~/Notes", str(tmp_path)]}
    assert Registry(file).list() == (Path.home() / "Notes", tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"vaults": [\n"/a",]}', "line 2, column 6"),
        ('{"vaults": "/a"}', "no list of paths"),
        ('{"vaults": [1]}', "no list of paths"),
        ('{"vaults": [""]}', "no list of paths"),
        ("[]", "holds a list"),
    ],
)
def test_a_broken_list_is_told_and_never_written_over(
    file: Path, tmp_path: Path, text: str, reason: str
) -> None:
    file.parent.mkdir()
    file.write_text(text)
    registry = Registry(file)
    attempts: list[Callable[[], object]] = [
        registry.list,
        lambda: registry.add(tmp_path),
        lambda: registry.remove(tmp_path),
    ]
    for attempt in attempts:
        with pytest.raises(UserError, match=reason) as caught:
            attempt()
        assert str(file) in str(caught.value)
    assert file.read_text() == text


def test_vaults_added_by_two_commands_at_once_are_both_there(file: Path) -> None:
    code = """
import sys
from pathlib import Path
from vaultkeeper.store.registry import Registry
for n in range(10):
    Registry(Path(sys.argv[1])).add(Path(f"/vaults/{sys.argv[2]}{n}"))
"""
    commands = [subprocess.Popen([sys.executable, "-c", code, str(file), name]) for name in "ab"]
    assert [command.wait() for command in commands] == [0, 0]
    assert len(Registry(file).list()) == 20
