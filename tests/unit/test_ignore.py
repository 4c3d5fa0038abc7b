"""Which names are notes, which are left alone, and which are conflict copies (K-26)."""

from __future__ import annotations

import unicodedata

import pytest

from vaultkeeper.watch.ignore import IgnoreRules, conflict_original, hints_at_conflict, is_note_name

RULES = IgnoreRules(private="Keeper", template_folders=("Templates", "Notes/模板", "Modèles"))


@pytest.mark.rule("K-26")
@pytest.mark.parametrize(
    "name", ["a.md", "A.MD", "b.Md", "c.mD", "长期记忆.md", "a.b.md", " .md", "4913.md", "x 2.md"]
)
def test_markdown_files_are_notes(name: str) -> None:
    assert is_note_name(name)
    assert not RULES.ignores_file(name)
    assert not RULES.ignores_file(f"Some folder/{name}")


@pytest.mark.rule("K-26")
@pytest.mark.parametrize(
    "name",
    [
        ".md",
        ".hidden.md",
        "._a.md",
        ".#a.md",
        "~$a.md",
        "a.md~",
        "#a.md#",
        ".a.md.swp",
        "4913",
        "a.md.tmp",
        "a.md.crswap",
        "a.md.part",
        "a.md.crdownload",
        ".a.md.icloud",
        "a.md.gdoc",
        ".syncthing.a.md.tmp",
        "~syncthing~a.md.tmp",
        ".vaultkeeper-0123.tmp",
        "a.txt",
        "a.markdown",
        "md",
        "",
    ],
)
def test_temporary_files_placeholders_and_other_files_are_ignored(name: str) -> None:
    assert not is_note_name(name)
    assert RULES.ignores_file(name)


@pytest.mark.rule("K-26")
@pytest.mark.parametrize(
    "folder",
    [
        ".obsidian",
        ".git",
        ".trash",
        ".",
        "a/.git",
        "a/.git/b",
        ".a/b",
        "node_modules",
        "a/node_modules/b",
        "Templates",
        "templates",
        "Templates/deep/down",
        "Notes/模板",
        unicodedata.normalize("NFD", "Modèles"),
        "MODÈLES",
        "keeper",
        "Keeper/journal",
    ],
)
def test_hidden_module_template_and_private_folders_are_ignored(folder: str) -> None:
    assert RULES.ignores_folder(folder)
    assert RULES.ignores_file(f"{folder}/a.md")


@pytest.mark.rule("K-26")
@pytest.mark.parametrize(
    "folder", ["", "a", "a/b", "my_node_modules", "Templates2", "a/Templates", "模板", "a.b", "Notes"]
)
def test_other_folders_are_not_ignored(folder: str) -> None:
    assert not RULES.ignores_folder(folder)
    assert not RULES.ignores_file(f"{folder}/a.md" if folder else "a.md")


@pytest.mark.parametrize(
    "path", [".git", "node_modules", "Templates", "Notes/模板", "Notes", "a/Templates", "Keeper", "x"]
)
def test_a_single_step_down_is_judged_like_the_whole_path(path: str) -> None:
    assert RULES.skips_entry(path.rpartition("/")[2], path) == RULES.ignores_folder(path)


def test_a_format_without_private_or_template_folders_ignores_none() -> None:
    rules = IgnoreRules(private="", template_folders=())
    assert not rules.ignores_folder("a")
    assert not rules.ignores_folder("")


COPIES = {
    "x.sync-conflict-20261017-075957-ABCDEFG.md": "Syncthing",
    "x.sync-conflict-20261017-075957-.md": "Syncthing, unknown device",
    "x.sync-conflict-20261017-075957.md": "Obsidian Sync as documented",
    "x (Ada's conflicted copy 2026-10-17).md": "Dropbox",
    "x (Ada’s MacBook (2)'s conflicted copy 2026-10-17).md": "Dropbox, a device with brackets",
    "x (Ada's conflicted copy 2026-10-17) (1).md": "Dropbox, the second of a day",
    "x (Ada's conflicted copy 2026-10-17) 2.md": "Dropbox, numbered by a keeper",
    "x (Ada 的冲突副本 2026-10-17).md": "Dropbox in Chinese",
    "x (Ada 的衝突複本 2026-10-17).md": "Dropbox in traditional Chinese",
    "x (Adaの競合コピー 2026-10-17).md": "Dropbox in Japanese",
    "x (In Konflikt stehende Kopie von Ada 2026-10-17).md": "Dropbox in German",
    "x (Copie en conflit de Ada 2026-10-17).md": "Dropbox in French",
    "x (Copia en conflicto de Ada 2026-10-17).md": "Dropbox in Spanish",
    "x (Cópia em conflito de Ada 2026-10-17).md": "Dropbox in Portuguese",
    "x(Ada-Windows的冲突副本1_2026-10-17 02-11-37).md": "Nutstore",
    "x(冲突文件_Ada_2026-10-17 02-11-37).md": "Nutstore of old",
    "x (conflicted copy 2026-10-17 075957).md": "Nextcloud",
    "x (conflicted copy).md": "other tools",
    "x (Conflicted copy ThinkPad-T14-G5 202610170759).md": "Obsidian Sync",
    "x (SFConflict ada@example.org 2026-10-17-07-59-57).md": "Seafile",
    "x_conflict-20261017-075957.md": "ownCloud of old",
    "x_conflict-ada-20261017-075957.md": "ownCloud of old, with a user",
    "x_DiskStation_Oct-17-075957-2026_Conflict.md": "Synology Drive",
    "x-DESKTOP-1A2B3C4.md": "OneDrive",
    "x-LAPTOP-1A2B3C4D-2.md": "OneDrive, the second",
    "x.sync-conflict-20261017-075957-ABCDEFG.sync-conflict-20261018-075957-ABCDEFG.md": "a copy of a copy",
}


@pytest.mark.rule("K-26")
@pytest.mark.parametrize("name", COPIES, ids=COPIES.values())
def test_a_conflict_copy_names_its_original(name: str) -> None:
    assert conflict_original(name) == "x.md"
    assert RULES.ignores_file(f"folder/{name}")
    assert hints_at_conflict(f"one.md\0{name}\0two.md")


def test_the_original_keeps_its_spelling_and_its_own_brackets() -> None:
    assert (
        conflict_original("My Notes (2026).sync-conflict-20261017-075957-ABCDEFG.MD") == "My Notes (2026).MD"
    )
    assert conflict_original("A (b) (Ada's conflicted copy 2026-10-17).md") == "A (b).md"


@pytest.mark.rule("K-26")
@pytest.mark.parametrize(
    "name",
    [
        "x 2.md",
        "x (1).md",
        "Conflict.md",
        "Border conflict 2026-10-17.md",
        "Romeo and Juliet (conflict between families).md",
        "Meeting (conflict resolution 2026-10-17).md",
        "My feelings (conflicted).md",
        "How we found the conflicted copy.md",
        "Notes (on conflicted copy files).md",
        "冲突副本.md",
        "合并 (冲突副本怎么办).md",
        "Set up a DESKTOP-PC.md",
        "a-desktop-1a2b3c4.md",
        "Copie en conflit.md",
        ".sync-conflict-20261017-075957-ABCDEFG.md",
        "x.sync-conflict-soon.md",
        "x.sync-conflict-20261017-075957-ABCDEFG.txt",
    ],
)
def test_a_persons_own_names_are_no_conflict_copies(name: str) -> None:
    assert conflict_original(name) is None


@pytest.mark.parametrize(
    "part", ["(", "()", "(()", " (Ada's ", "冲突副本2026-10-17(", "conflicted copy (", "_a_Oct", "2026-10-17"]
)
def test_a_hostile_name_is_judged_quickly(part: str) -> None:
    name = (part * 255)[:240] + "conflict 冲突副本.md"
    assert conflict_original(name) is None
