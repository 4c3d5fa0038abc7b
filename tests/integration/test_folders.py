"""Where things stand outside vaults, and by which name a vault is known there."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from vaultkeeper.store.folders import AppFolders, app_folders, vault_cache, vault_key, vault_state


def test_a_home_of_its_own_holds_all_three_folders(tmp_path: Path) -> None:
    folders = app_folders({"VAULTKEEPER_HOME": str(tmp_path)})
    assert folders == AppFolders(tmp_path / "config", tmp_path / "state", tmp_path / "cache")


@pytest.mark.parametrize("environ", [{}, {"VAULTKEEPER_HOME": ""}])
def test_without_one_the_platforms_folders_are_taken(environ: dict[str, str]) -> None:
    for folder in (folders := app_folders(environ)).config, folders.state, folders.cache:
        assert folder.is_absolute()
        assert "vaultkeeper" in folder.parts


def test_a_vault_has_one_key_by_whatever_way_it_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / "My Notes"
    vault.mkdir()
    (tmp_path / "link").symlink_to(vault)
    monkeypatch.chdir(vault)
    ways = [vault, tmp_path / "link", Path(), tmp_path / "link" / ".." / "My Notes", Path(f"{vault}/")]
    assert {vault_key(way) for way in ways} == {vault_key(vault)}


def test_vaults_of_the_same_name_have_different_keys(tmp_path: Path) -> None:
    assert vault_key(tmp_path / "a" / "Notes") != vault_key(tmp_path / "b" / "Notes")


def test_case_counts_where_the_file_system_says_so(tmp_path: Path) -> None:
    (tmp_path / "Notes").mkdir()
    folds = (tmp_path / "nOTES").exists()
    (tmp_path / "nOTES").mkdir(exist_ok=True)
    assert (vault_key(tmp_path / "Notes") == vault_key(tmp_path / "nOTES")) is folds


def test_case_does_not_count_where_both_spellings_are_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows and macOS: the file system, which no test can change here, answers to either spelling."""
    monkeypatch.setattr(os.path, "samefile", lambda a, b: str(a).lower() == str(b).lower())
    assert vault_key(tmp_path / "Notes") == vault_key(tmp_path / "NOTES")
    assert vault_key(tmp_path / "Notes") != vault_key(tmp_path / "Other")


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("My Notes", "my-notes"),
        ("长期记忆", "长期记忆"),
        ("..a//", "a"),
        ("★", "vault"),
        ("x" * 200, "x" * 40),
        ("bad\udcff", "bad"),
    ],
)
def test_a_key_can_be_read_and_is_a_valid_name_anywhere(tmp_path: Path, name: str, readable: str) -> None:
    key = vault_key(tmp_path / name)
    assert re.fullmatch(rf"{readable}-[0-9a-f]{{12}}", key)


def test_the_root_of_a_disk_has_a_key_too() -> None:
    assert vault_key(Path("/")).startswith("vault-")


def test_a_vaults_state_and_cache_stand_apart_from_other_vaults(tmp_path: Path) -> None:
    folders = AppFolders(tmp_path / "config", tmp_path / "state", tmp_path / "cache")
    key = vault_key(tmp_path)
    assert vault_state(folders, tmp_path) == tmp_path / "state" / "vaults" / key
    assert vault_cache(folders, tmp_path) == tmp_path / "cache" / "vaults" / key
