"""Walks over real folders: what is listed, what is reported, and what is not believed (K-25 … K-28, K-33)."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.messages import MESSAGES, message_of
from vaultkeeper.core.note import NotePath
from vaultkeeper.watch import scan
from vaultkeeper.watch.ignore import IgnoreRules
from vaultkeeper.watch.scan import Difference, Listing, compare, walk

RULES = IgnoreRules(private=".keeper", template_folders=("Templates",))
linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not take such names")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    vault.mkdir()
    return vault


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("text")


@contextmanager
def nested(root: Path, name: str, depth: int) -> Iterator[None]:
    """Folders nested so deep that neither a path nor a recursion reaches the last, in which one note stands."""
    here = Path.cwd()
    os.chdir(root)
    try:
        for _ in range(depth):
            os.mkdir(name)
            os.chdir(name)
        Path("a.md").touch()
        os.chdir(here)
        yield
    finally:
        os.chdir(here)
        subprocess.run(["rm", "-r", str(root / name)], check=True)


def names(listing: Listing) -> list[str]:
    return sorted(listing.files)


def codes(listing: Listing) -> list[tuple[str, str]]:
    return [(finding.code, finding.path) for finding in listing.findings]


# what is listed ------------------------------------------------------------------------------------------------------


def test_every_note_is_listed_with_its_size_and_time(root: Path) -> None:
    make(root, "a.md", "sub/deep/B.MD", "长期/记忆.md")
    os.utime(root / "a.md", ns=(5, 1_234_567_891))
    listing = walk(root, RULES)
    assert listing.files[NotePath("a.md")] == (4, 1_234_567_891)
    assert names(listing) == ["a.md", "sub/deep/B.MD", "长期/记忆.md"]
    assert (listing.folders, listing.findings, listing.unreadable) == (4, (), ())


@pytest.mark.rule("K-26")
def test_what_is_ignored_is_neither_listed_nor_reported(root: Path) -> None:
    make(
        root,
        ".obsidian/a.md",
        ".git/b.md",
        "sub/node_modules/c.md",
        "templates/d.md",
        ".e.md",
        "f.md~",
        "~$g.md",
        "h.txt",
    )
    (root / ".link").symlink_to("nowhere")
    (root / "node_modules").symlink_to("nowhere")
    listing = walk(root, RULES)
    assert (names(listing), listing.findings) == ([], ())
    assert listing.folders == 2


@pytest.mark.rule("K-26")
def test_a_vault_in_a_hidden_folder_is_walked(tmp_path: Path) -> None:
    make(tmp_path / ".agent/memory", "a.md", "sub/b.md")
    assert names(walk(tmp_path / ".agent/memory", RULES)) == ["a.md", "sub/b.md"]


def test_a_vault_that_is_reached_through_a_link_is_walked(root: Path, tmp_path: Path) -> None:
    make(root, "a.md")
    (root / "inside.md").symlink_to("a.md")
    (tmp_path / "link").symlink_to(root)
    listing = walk(tmp_path / "link", RULES)
    assert (names(listing), listing.findings) == (["a.md"], ())


@linux
def test_folders_with_odd_names_are_listed_as_they_stand_on_disk(root: Path) -> None:
    paths = [
        "Projects /a.md",
        "Projects\u00a0/b.md",
        unicodedata.normalize("NFD", "Décisions/ç.md"),
        "line\nbreak/c.md",
    ]
    make(root, *paths)
    listing = walk(root, RULES)
    assert names(listing) == sorted(paths)
    assert listing.findings == ()


def test_folders_and_pipes_named_like_notes_are_no_notes(root: Path) -> None:
    make(root, "folder.md/a.md")
    if hasattr(os, "mkfifo"):
        os.mkfifo(root / "pipe.md")
    assert names(walk(root, RULES)) == ["folder.md/a.md"]


@linux
def test_folders_nested_deeper_than_python_calls_are_walked(root: Path) -> None:
    make(root, "x.md")
    with nested(root, "d", 1500):
        assert names(walk(root, RULES)) == ["d/" * 1500 + "a.md", "x.md"]


@pytest.mark.rule("K-7")
def test_two_walks_of_the_same_vault_say_the_same(root: Path) -> None:
    make(root, *(f"{name}.sync-conflict-20261017-075957-ABCDEFG.md" for name in "qwertz"), "b/x.md", "a/x.md")
    for name in "zyx":
        (root / name).symlink_to("nowhere")
    first, second = walk(root, RULES), walk(root, RULES)
    assert first == second
    assert list(first.findings) == sorted(first.findings)
    assert len(first.findings) == 9


# links ---------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("K-27")
def test_links_out_of_the_vault_are_reported_and_not_followed(root: Path, tmp_path: Path) -> None:
    make(tmp_path, "out/secret.md", "vault2/b.md")
    (root / "a.md").symlink_to(tmp_path / "out/secret.md")
    (root / "folder").symlink_to("../out")
    (root / "near").symlink_to("../vault2")
    listing = walk(root, RULES)
    assert listing.files == {}
    assert listing.findings == (
        found("link-outside", "a.md", target=tmp_path / "out/secret.md"),
        found("link-outside", "folder", target="../out"),
        found("link-outside", "near", target="../vault2"),
    )


@pytest.mark.rule("K-27")
def test_links_into_hidden_folders_are_reported(root: Path) -> None:
    make(root, ".git/hooks/x", "sub/.hidden/b.md", ".c.md")
    (root / "safe").symlink_to(".git/hooks")
    (root / "b.md").symlink_to("sub/.hidden/b.md")
    (root / "c.md").symlink_to(".c.md")
    assert codes(walk(root, RULES)) == [
        ("link-hidden", "b.md"),
        ("link-hidden", "c.md"),
        ("link-hidden", "safe"),
    ]


@pytest.mark.rule("K-27")
def test_dangling_links_and_links_to_themselves_are_reported(root: Path) -> None:
    (root / "b.md").symlink_to("/nowhere/at/all.md")
    (root / "self").symlink_to("self")
    listing = walk(root, RULES)
    assert listing.findings == (
        found("link-dangling", "b.md", target="/nowhere/at/all.md"),
        found("link-dangling", "self", target="self"),
    )


@pytest.mark.rule("K-27")
def test_links_inside_the_vault_are_no_second_record_and_loops_do_not_hang(root: Path) -> None:
    make(root, "sub/a.md")
    (root / "again.md").symlink_to("sub/a.md")
    (root / "folder").symlink_to("sub")
    (root / "sub/up").symlink_to("..")
    (root / "sub/root").symlink_to(root)
    listing = walk(root, RULES)
    assert (names(listing), listing.findings) == (["sub/a.md"], ())


def test_a_link_that_is_replaced_meanwhile_has_no_target() -> None:
    assert scan._target("/") == "?"


class _Junction(os.PathLike[str]):
    """An entry as Windows gives it for a junction: a folder, by what other systems ask."""

    name = path = "junction"

    def __fspath__(self) -> str:
        return self.path

    def is_symlink(self) -> bool:
        return False

    def is_dir(self, *, follow_symlinks: bool) -> bool:
        return True

    def is_junction(self) -> bool:
        return True


@pytest.mark.rule("K-27")
def test_a_windows_junction_is_judged_like_a_link(root: Path) -> None:
    walker = scan._Walker(str(root), RULES)
    assert not walker._leads_down(_Junction(), "")  # type: ignore[arg-type]
    assert [finding.code for finding in walker.findings] == ["link-dangling"]


# names ---------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("K-26")
def test_a_conflict_copy_is_a_finding_that_names_the_original(root: Path) -> None:
    copy = "a.sync-conflict-20261017-075957-ABCDEFG.md"
    make(root, "sub/a.md", f"sub/{copy}", "folder.sync-conflict-20261017-075957-ABCDEFG.md/b.md")
    listing = walk(root, RULES)
    assert names(listing) == ["folder.sync-conflict-20261017-075957-ABCDEFG.md/b.md", "sub/a.md"]
    assert listing.findings == (found("sync-conflict", f"sub/{copy}", original="sub/a.md"),)


@linux
@pytest.mark.rule("K-25")
def test_names_that_differ_only_by_case_or_normalisation_are_reported(root: Path) -> None:
    nfd = unicodedata.normalize("NFD", "é.md")
    make(root, "a.md", "A.md", "A.MD", "é.md", nfd, "Sub/x.md", "sub/y.md", "other/a.md")
    listing = walk(root, RULES)
    assert len(listing.files) == 8
    assert set(listing.findings) == {
        found("case-clash", "A.md", other="A.MD"),
        found("case-clash", "a.md", other="A.MD"),
        found("case-clash", "é.md", other=nfd),
        found("case-clash", "sub", other="Sub"),
    }


@linux
@pytest.mark.rule("K-2")
def test_names_that_are_not_utf8_are_a_finding_and_do_not_spoil_the_rest(root: Path) -> None:
    make(root, "good.md", "é.md", os.fsdecode(b"caf\xe9.md"), os.fsdecode(b"d\xff/a.md"))
    (root / os.fsdecode(b"l\xfe")).symlink_to(os.fsdecode(b"nowhere\xfd"))
    listing = walk(root, RULES)
    assert names(listing) == ["good.md", "é.md"]
    assert listing.findings == (
        found("bad-name", "caf\\xe9.md"),
        found("bad-name", "d\\xff"),
        found("link-dangling", "l\\xfe", target="nowhere\\xfd"),
    )
    for finding in listing.findings:
        assert str(finding).encode()
        assert "{" not in message_of(finding, "en") + message_of(finding, "zh")


def test_every_code_of_a_walk_has_its_words() -> None:
    wanted = {
        "link-outside",
        "link-hidden",
        "link-dangling",
        "sync-conflict",
        "case-clash",
        "unreadable",
        "bad-name",
    }
    assert wanted <= MESSAGES.keys()


# what cannot be seen -------------------------------------------------------------------------------------------------


@contextmanager
def broken(monkeypatch: pytest.MonkeyPatch, folder: Path, error: OSError) -> Iterator[None]:
    """A disk on which this folder cannot be listed."""
    real = os.scandir

    def scandir(path: str) -> object:
        if Path(path) == folder:
            raise error
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        yield


@pytest.mark.rule("K-28", "K-33")
@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE, errno.ETIMEDOUT])
def test_notes_in_a_folder_that_cannot_be_listed_are_not_gone(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    make(root, "a.md", "sub/b.md", "sub/deep/c.md", "sub2/d.md")
    known = walk(root, RULES).files
    (root / "sub2/d.md").unlink()
    with broken(monkeypatch, root / "sub", OSError(number, "no luck")):
        listing = walk(root, RULES)
    assert listing.unreadable == ("sub",)
    assert listing.findings == (found("unreadable", "sub", reason="no luck"),)
    assert compare(known, listing) == Difference([], [NotePath("sub2/d.md")])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to become somebody else")
@pytest.mark.rule("K-28", "K-33")
@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_notes_in_a_folder_without_permission_are_not_gone(tmp_path: Path, mode: int) -> None:
    make(tmp_path, "a.md", "sub/b.md")
    known = walk(tmp_path, RULES).files
    (tmp_path / "sub").chmod(mode)
    tmp_path.chmod(0o755)
    here = os.getcwd()
    os.chdir(tmp_path)
    os.seteuid(65534)
    try:
        listing = walk(Path("."), RULES)
    finally:
        os.seteuid(0)
        os.chdir(here)
    assert (listing.unreadable, codes(listing)) == (("sub",), [("unreadable", "sub")])
    assert compare(known, listing) == Difference([], [])


@linux
@pytest.mark.rule("K-28")
def test_a_path_that_is_too_long_for_the_system_is_a_finding(root: Path) -> None:
    with nested(root, "d" * 200, 25):
        assert [code for code, _ in codes(walk(root, RULES))] == ["unreadable"]


@pytest.mark.rule("K-33", "K-38")
def test_where_the_root_is_missing_nothing_is_gone(root: Path, tmp_path: Path) -> None:
    make(root, "a.md", "sub/b.md")
    known = walk(root, RULES).files
    root.rename(tmp_path / "elsewhere")
    for under in ("", "sub"):
        listing = walk(root, RULES, under)
        assert listing.unreadable == ("",)
        assert codes(listing) == [("unreadable", "")]
        assert compare(known, listing) == Difference([], [])


def test_a_root_that_is_a_file_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert walk(tmp_path / "file", RULES).unreadable == ("",)


@pytest.mark.rule("K-33")
def test_what_vanishes_during_the_walk_is_gone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, "a.md", "b.md", "sub/c.md")
    known = walk(root, RULES).files
    real = os.scandir

    class Late:
        """Entries of a folder from which everything is deleted after it was listed."""

        def __init__(self, path: str) -> None:
            with real(path) as entries:
                self.entries = list(entries)
            (root / "b.md").unlink(missing_ok=True)
            (root / "sub/c.md").unlink(missing_ok=True)
            if (root / "sub").exists():
                (root / "sub").rmdir()

        def __enter__(self) -> Iterator[os.DirEntry[str]]:
            return iter(self.entries)

        def __exit__(self, *error: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Late)
    listing = walk(root, RULES)
    assert (names(listing), listing.findings, listing.unreadable) == (["a.md"], (), ())
    assert compare(known, listing).gone == ["b.md", "sub/c.md"]


# parts of a vault ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("K-33", "K-39")
def test_a_walk_of_one_folder_sees_that_folder_only(root: Path) -> None:
    make(root, "a.md", "sub/b.md", "sub/deep/c.md", "sub2/d.md")
    listing = walk(root, RULES, "sub")
    assert names(listing) == ["sub/b.md", "sub/deep/c.md"]
    known = walk(root, RULES).files
    (root / "sub/b.md").unlink()
    assert compare(known, walk(root, RULES, "sub")) == Difference([], [NotePath("sub/b.md")])


@pytest.mark.rule("K-39")
def test_a_folder_that_is_gone_has_no_notes(root: Path) -> None:
    make(root, "sub/b.md")
    known = walk(root, RULES).files
    (root / "sub").rename(root / "sub3")
    listing = walk(root, RULES, "sub")
    assert (listing.findings, listing.unreadable) == ((), ())
    assert compare(known, listing).gone == ["sub/b.md"]
    assert walk(root, RULES, "sub3/b.md").files == {}


@pytest.mark.rule("K-26", "K-27")
@pytest.mark.parametrize("under", [".git", "Templates/x", "link", "link/deep"])
def test_a_walk_of_one_folder_goes_nowhere_a_full_walk_would_not(
    root: Path, tmp_path: Path, under: str
) -> None:
    make(root, ".git/a.md", "Templates/x/a.md")
    make(tmp_path, "out/a.md", "out/deep/a.md")
    (root / "link").symlink_to(tmp_path / "out")
    assert walk(root, RULES, under).files == {}


# what changed --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("K-33")
def test_files_of_another_size_or_time_changed_whether_newer_or_older() -> None:
    known = {NotePath(path): (5, 100) for path in ("same.md", "newer.md", "older.md", "longer.md", "gone.md")}
    files = {
        NotePath("same.md"): (5, 100),
        NotePath("older.md"): (5, 50),
        NotePath("newer.md"): (5, 200),
        NotePath("new.md"): (5, 100),
        NotePath("longer.md"): (6, 100),
    }
    difference = compare(known, Listing(files, 1, (), ()))
    assert difference.changed == ["longer.md", "new.md", "newer.md", "older.md"]
    assert difference.gone == ["gone.md"]


@pytest.mark.rule("K-33")
def test_a_folder_whose_name_begins_alike_is_another_folder() -> None:
    known = {NotePath("sub/a.md"): (1, 1), NotePath("sub2/a.md"): (1, 1)}
    finding: tuple[Finding, ...] = ()
    assert compare(known, Listing({}, 1, finding, ("sub",))).gone == ["sub2/a.md"]
    assert compare(known, Listing({}, 1, finding, (), under="sub")).gone == ["sub/a.md"]
