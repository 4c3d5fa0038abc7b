"""A vault's marker and settings on disk, and making a vault in all kinds of folders (LT-1 to LT-3)."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest

from vaultkeeper.core.errors import FormatError, UserError
from vaultkeeper.formats.longterm import LONGTERM
from vaultkeeper.store.marker import _make_file, make_vault, read_marker, read_settings, write_settings

NOW, LATER = "2026-10-17T07:59:20.596Z", "2026-10-18T00:00:00.000Z"
CONFIG = ".dsh-memory/config.json"


def write(root: Path, text: str | bytes) -> Path:
    file = root / CONFIG
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def listing(root: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None
        for path in root.rglob("*")
    }


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    make_vault(tmp_path / "vault", LONGTERM, "zh", NOW)
    return tmp_path / "vault"


# reading


@pytest.mark.rule("LT-1")
def test_a_folder_with_our_marker_is_a_vault_and_any_other_is_none(vault: Path, tmp_path: Path) -> None:
    assert read_marker(vault, LONGTERM).is_vault
    assert not read_marker(tmp_path, LONGTERM).is_vault
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / ".dsh-memory").write_text("a file")
    assert not read_marker(tmp_path / "odd", LONGTERM).is_vault


@pytest.mark.rule("LT-1")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"product": "another", "schemaVersion": 1}', "belongs to another product, 'another'"),
        ('{"schemaVersion": 1}', "names no product"),
        ('{"product": "dsh-longterm-memory",\n "settings": {,}}', "line 2, column 15"),
        ("", "is empty"),
        (b"\0" * 300, "is empty"),
        ("[]", "holds a list, not an object"),
        ('"text"', "holds a text"),
        ("17", "holds a number"),
        ("null", "holds null"),
        ("true", "holds true or false"),
        (b'{"product": "\xff"}', "not UTF-8 text (byte 13)"),
        ('{"product": NaN}', "NaN is no JSON value"),
        ('{"product": "dsh-longterm-memory", "product": "x"}', "has the key 'product' twice"),
        ("[" * 100_000, "is not JSON"),
        ('{"n": ' + "9" * 5000 + "}", "is not JSON"),
        (" " * (4 * 1024 * 1024 + 1), "is larger than 4 MiB"),
        ('{"product": "dsh-longterm-memory", "schemaVersion": 2}', "schemaVersion is 2"),
        ('{"product": "dsh-longterm-memory", "schemaVersion": "1"}', "'1', which is no whole number"),
        ('{"product": "dsh-longterm-memory", "schemaVersion": true}', "no whole number"),
    ],
)
def test_a_marker_that_is_not_ours_to_touch_is_refused_and_stays(
    tmp_path: Path, text: str | bytes, reason: str
) -> None:
    file = write(tmp_path, text)
    before = listing(tmp_path)
    for attempt in (
        lambda: read_marker(tmp_path, LONGTERM),
        lambda: read_settings(tmp_path, LONGTERM),
        lambda: write_settings(tmp_path, LONGTERM, {"language": "en"}, NOW),
        lambda: make_vault(tmp_path, LONGTERM, "zh", NOW),
    ):
        with pytest.raises(FormatError) as caught:
            attempt()
        assert reason in caught.value.reason
        assert caught.value.path == str(file)
    assert listing(tmp_path) == before


@pytest.mark.rule("LT-1")
def test_a_marker_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / CONFIG).mkdir(parents=True)
    with pytest.raises(FormatError, match="cannot be read"):
        read_marker(tmp_path, LONGTERM)


@pytest.mark.rule("LT-3")
def test_a_marker_with_a_bom_and_without_a_version_is_read(tmp_path: Path) -> None:
    write(tmp_path, '\ufeff{"product": "dsh-longterm-memory"}')
    assert read_marker(tmp_path, LONGTERM).is_vault
    assert read_settings(tmp_path, LONGTERM) == {}


# settings


@pytest.mark.rule("LT-3", "K-95")
def test_writing_settings_keeps_unknown_keys_and_their_order(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        '{"zeta": [1, 2.5], "settings": {"mine": {"a": null}, "settle": 5}, "product": "dsh-longterm-memory",'
        ' "schemaVersion": 1, "createdAt": "c", "updatedAt": "u", "notes": [], "中": "文"}',
    )
    write_settings(tmp_path, LONGTERM, {**read_settings(tmp_path, LONGTERM), "language": "en"}, LATER)
    document = json.loads(file.read_text("utf-8"))
    assert list(document) == [
        "zeta",
        "settings",
        "product",
        "schemaVersion",
        "createdAt",
        "updatedAt",
        "notes",
        "中",
    ]
    assert document["settings"] == {"mine": {"a": None}, "settle": 5, "language": "en"}
    assert (document["createdAt"], document["updatedAt"], document["zeta"]) == ("c", LATER, [1, 2.5])
    assert "文" in file.read_text("utf-8")


def test_settings_that_are_as_they_were_are_not_written(vault: Path) -> None:
    before = (vault / CONFIG).read_bytes()
    write_settings(vault, LONGTERM, {}, LATER)
    assert (vault / CONFIG).read_bytes() == before


@pytest.mark.rule("LT-3")
def test_text_that_utf8_cannot_hold_survives_in_the_marker(vault: Path) -> None:
    write_settings(vault, LONGTERM, {"odd": "\ud800"}, LATER)
    assert read_settings(vault, LONGTERM) == {"odd": "\ud800"}


@pytest.mark.rule("K-95")
def test_settings_that_are_no_object_are_told_and_never_written_over(tmp_path: Path) -> None:
    file = write(tmp_path, '{"product": "dsh-longterm-memory", "settings": ["language"]}')
    before = file.read_bytes()
    assert read_settings(tmp_path, LONGTERM) == {"settings": ["language"]}
    with pytest.raises(FormatError, match="are a list, not an object"):
        write_settings(tmp_path, LONGTERM, {"language": "en"}, NOW)
    assert file.read_bytes() == before


def test_settings_of_no_vault_are_empty_and_cannot_be_written(tmp_path: Path) -> None:
    assert read_settings(tmp_path, LONGTERM) == {}
    with pytest.raises(FormatError, match="is not there"):
        write_settings(tmp_path, LONGTERM, {"language": "en"}, NOW)
    assert os.listdir(tmp_path) == []


# making


@pytest.mark.rule("LT-2", "LT-3")
def test_a_new_vault_has_all_folders_files_and_a_marker(tmp_path: Path) -> None:
    root = tmp_path / "new" / "vault"
    created = make_vault(root, LONGTERM, "zh", NOW)
    assert set(created) == set(listing(root)) == {*LONGTERM.folders, *LONGTERM.files, CONFIG}
    assert created[-1] == CONFIG
    assert json.loads((root / CONFIG).read_text("utf-8")) == {
        "product": "dsh-longterm-memory",
        "schemaVersion": 1,
        "createdAt": NOW,
        "updatedAt": NOW,
        "settings": {},
        "notes": [],
    }
    assert os.listdir(root / ".dsh-memory" / "quarantine") == []


@pytest.mark.rule("LT-2", "K-96")
def test_a_vault_speaks_the_language_it_was_made_in(tmp_path: Path) -> None:
    make_vault(tmp_path, LONGTERM, "en", NOW)
    assert "Long-term memory" in (tmp_path / "README.md").read_text("utf-8")
    assert read_settings(tmp_path, LONGTERM) == {"language": "en"}


@pytest.mark.rule("LT-2")
def test_making_a_vault_twice_changes_nothing(vault: Path) -> None:
    before = {path: path.stat() for path in vault.rglob("*")}
    assert make_vault(vault, LONGTERM, "en", LATER) == []
    assert {path: path.stat().st_mtime_ns for path in vault.rglob("*")} == {
        path: stat.st_mtime_ns for path, stat in before.items()
    }


@pytest.mark.rule("LT-2")
def test_only_what_is_missing_is_made_again(vault: Path) -> None:
    (vault / "README.md").unlink()
    (vault / "Tasks").rmdir()
    (vault / "Memory Home.md").write_text("mine")
    config = (vault / CONFIG).read_bytes()
    assert make_vault(vault, LONGTERM, "zh", LATER) == ["Tasks", "README.md"]
    assert (vault / "Memory Home.md").read_text() == "mine"
    assert (vault / CONFIG).read_bytes() == config


@pytest.mark.rule("LT-2")
def test_a_folder_with_foreign_notes_keeps_every_file_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "Knowledge").mkdir()
    (tmp_path / ".obsidian").mkdir()
    for name in ("README.md", "Knowledge/a.md", ".obsidian/app.json"):
        (tmp_path / name).write_bytes(name.encode() + b"\r\n")
    before = listing(tmp_path)
    created = make_vault(tmp_path, LONGTERM, "zh", NOW)
    after = listing(tmp_path)
    assert {path: after[path] for path in before} == before
    assert "README.md" not in created
    assert "Knowledge" not in created


@pytest.mark.rule("LT-2", "K-25")
def test_a_file_whose_name_differs_only_by_case_counts_as_there(tmp_path: Path) -> None:
    (tmp_path / "readme.MD").write_text("mine")
    assert "README.md" not in make_vault(tmp_path, LONGTERM, "zh", NOW)


@pytest.mark.rule("LT-2")
@pytest.mark.parametrize(
    ("obstacle", "reason"),
    [
        ("file", "is a file, so no vault"),
        ("below", "is a file, so no vault"),
        ("dangling", "is a link to nothing"),
        ("Inbox", "Inbox is a file"),
        ("private", ".dsh-memory is a file"),
        ("link", "Archive is a symbolic link"),
        ("dead link", "Archive is a symbolic link"),
    ],
)
def test_a_place_that_can_be_no_vault_is_refused_and_left_alone(
    tmp_path: Path, obstacle: str, reason: str
) -> None:
    root = tmp_path / "vault"
    match obstacle:
        case "file" | "below":
            root.write_text("x")
        case "dangling":
            root.symlink_to(tmp_path / "nothing")
        case "link" | "dead link":
            root.mkdir()
            (root / "Archive").symlink_to(tmp_path if obstacle == "link" else tmp_path / "nothing")
        case _:
            root.mkdir()
            (root / {"private": ".dsh-memory"}.get(obstacle, obstacle)).write_text("x")
    before = listing(tmp_path)
    with pytest.raises(UserError, match=reason):
        make_vault(root / "deeper" if obstacle == "below" else root, LONGTERM, "zh", NOW)
    assert listing(tmp_path) == before


def limited(size: int, root: Path) -> str:
    """What `make_vault` says where no file can be larger than that many bytes, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        with pytest.raises(UserError) as caught:
            make_vault(root, LONGTERM, "zh", NOW)
        return str(caught.value)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.rule("LT-2", "K-28")
def test_a_folder_that_cannot_be_written_is_proven_so_before_anything_is_made(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("x")
    assert "cannot be made a vault" in limited(3, tmp_path)
    assert listing(tmp_path) == {"mine.md": b"x"}


def test_folders_made_for_a_vault_that_could_not_be_are_taken_away(tmp_path: Path) -> None:
    limited(3, tmp_path / "new" / "vault")
    assert listing(tmp_path) == {}


@pytest.mark.rule("LT-2", "K-28")
def test_a_vault_that_was_left_half_made_is_finished_by_the_next_try(tmp_path: Path) -> None:
    limited(60, tmp_path)
    assert not read_marker(tmp_path, LONGTERM).is_vault
    assert not (tmp_path / "README.md").exists()
    make_vault(tmp_path, LONGTERM, "zh", NOW)
    assert (tmp_path / "README.md").read_text("utf-8") == LONGTERM.files["README.md"].zh
    assert set(listing(tmp_path)) == {*LONGTERM.folders, *LONGTERM.files, CONFIG}


@pytest.mark.rule("LT-2")
def test_a_disk_that_gives_back_something_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda _self: b"")
    with pytest.raises(UserError, match="reads back as something else"):
        make_vault(tmp_path, LONGTERM, "zh", NOW)
    assert os.listdir(tmp_path) == []


def test_a_file_that_appears_while_the_vault_is_made_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    _make_file(tmp_path / "README.md", b"ours")
    assert (tmp_path / "README.md").read_text() == "mine"
