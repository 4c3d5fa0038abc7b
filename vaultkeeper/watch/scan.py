"""Walks a vault: every note with its size and time, and what stands in the way of knowing them all (K-25 … K-27, K-33)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.note import NotePath
from vaultkeeper.core.slug import same_name_key
from vaultkeeper.watch.ignore import IgnoreRules, conflict_original, hints_at_conflict, is_note_name

FileStat = tuple[int, int]
"""Size in bytes and time of modification in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What one walk saw."""

    files: dict[NotePath, FileStat]
    """Every Markdown file that is not ignored, no link and no conflict copy; in no particular order."""
    folders: int
    """How many folders were listed."""
    findings: tuple[Finding, ...]
    """Links, conflict copies, names and folders that are out of order; sorted."""
    unreadable: tuple[str, ...]
    """Folders that could not be listed, the root as an empty path: of their notes nothing is known."""
    under: str = ""
    """The folder that was walked; empty for the whole vault."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a walk and what was known before do not agree; both lists sorted."""

    changed: list[NotePath]
    """New files, and files of another size or time: different, not newer."""
    gone: list[NotePath]


def walk(root: Path, rules: IgnoreRules, under: str = "") -> Listing:
    """List the notes of a vault, or of one folder of it, without opening a file or following a link.

    Never raises for what it finds: a folder that cannot be listed is in `unreadable`, one that is not there has no
    notes. Only a missing root counts as unreadable too, since it may come back.
    """
    walker = _Walker(str(root), rules)
    walker.run(under)
    return Listing(
        files=walker.files,
        folders=walker.folders,
        findings=tuple(sorted(walker.findings)),
        unreadable=tuple(sorted(walker.unreadable)),
        under=under,
    )


def compare(known: Mapping[NotePath, FileStat], listing: Listing) -> Difference:
    """What changed since `known`; only paths that the walk could see are ever gone (K-33)."""
    files = listing.files
    changed = [path for path, seen in files.items() if known.get(path) != seen]
    missing = [path for path in known if path not in files and _is_below(path, listing.under)]
    gone = [path for path in missing if not any(_is_below(path, folder) for folder in listing.unreadable)]
    return Difference(sorted(changed), sorted(gone))


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(folder + "/")


@dataclass(slots=True)
class _Walker:
    root: str
    rules: IgnoreRules
    files: dict[NotePath, FileStat] = field(default_factory=dict)
    folders: int = 0
    findings: list[Finding] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    real_root: str = ""
    """The root with all links resolved; found out with the first link."""

    def run(self, under: str) -> None:
        """Walk down from a folder; with a list instead of recursion, since folders nest deeper than Python calls."""
        if under and self._leaves_alone(under):
            return
        waiting = [under]
        while waiting:
            folder = waiting.pop()
            try:
                waiting += self._list(folder)
            except (FileNotFoundError, NotADirectoryError) as error:
                if not os.path.isdir(self.root):  # the vault itself went away: nothing is known of any note
                    self._cannot_read("", error)
                    return
            except OSError as error:
                self._cannot_read(folder, error)

    def _leaves_alone(self, under: str) -> bool:
        """Whether a full walk would not come to this folder: it is ignored, or one of its parts is a link."""
        parts = under.split("/")
        parents = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
        return self.rules.ignores_folder(under) or any(
            os.path.islink(self._full(parent)) for parent in parents
        )

    def _full(self, path: str) -> str:
        return os.path.join(self.root, path) if path else self.root

    def _list(self, folder: str) -> list[str]:
        """Take in one folder; returns the folders in it that are to be walked."""
        prefix = f"{folder}/" if folder else ""
        notes: dict[str, FileStat] = {}
        inner: list[str] = []
        with os.scandir(self._full(folder)) as entries:
            for entry in entries:
                name = entry.name
                # Most entries are notes, and one call tells all about them: the speed of every walk hangs on this.
                if is_note_name(name):
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:  # deleted while the folder was being listed
                        continue
                    if status.st_mode & _KIND == stat.S_IFREG:
                        notes[name] = (status.st_size, status.st_mtime_ns)
                        continue
                if self._leads_down(entry, prefix):
                    inner.append(name)
        self._look_at_names(notes, inner, prefix)
        self.files |= cast(dict[NotePath, FileStat], {prefix + name: seen for name, seen in notes.items()})
        self.folders += 1
        return [prefix + name for name in inner]

    def _look_at_names(self, notes: dict[str, FileStat], inner: list[str], prefix: str) -> None:
        """Take out names that cannot be kept and conflict copies; report them, and names that count as the same.

        Looks at all names of a folder as one text, since there is hardly ever anything to find.
        """
        text = "\0".join((*notes, *inner))
        if not _is_utf8(text):
            bad = [name for name in (*notes, *inner) if not _is_utf8(name)]
            self.findings += [found("bad-name", _readable(prefix + name)) for name in bad]
            inner[:] = [name for name in inner if name not in bad]
            for name in notes.keys() & bad:
                del notes[name]
            text = "\0".join((*notes, *inner))
        if hints_at_conflict(text):
            copies = {name: original for name in notes if (original := conflict_original(name)) is not None}
            for name, original in copies.items():
                self.findings.append(found("sync-conflict", prefix + name, original=prefix + original))
                del notes[name]
            text = "\0".join((*notes, *inner))
        keys = same_name_key(text).split("\0")
        if len(set(keys)) < len(keys):
            self._report_clashes(zip(keys, (*notes, *inner), strict=True), prefix)

    def _leads_down(self, entry: os.DirEntry[str], prefix: str) -> bool:
        """Whether an entry is a folder to be walked; links are judged instead."""
        name, path = entry.name, prefix + entry.name
        if name.startswith("."):
            return False
        if entry.is_symlink() or _is_junction(entry):
            if not self.rules.skips_entry(name, path):
                self._report_link(path)
            return False
        return entry.is_dir(follow_symlinks=False) and not self.rules.skips_entry(name, path)

    def _report_link(self, path: str) -> None:
        """K-27: a finding for a link that leads out of the vault, into what is hidden there, or nowhere.

        One that leads to another place of the vault is no finding: what stands there is listed there.
        """
        code = self._link_code(self._full(path))
        if code:
            self.findings.append(found(code, _readable(path), target=_target(self._full(path))))

    def _link_code(self, link: str) -> str:
        if not os.path.exists(link):
            return "link-dangling"
        self.real_root = self.real_root or os.path.join(os.path.realpath(self.root), "")
        place = os.path.join(os.path.realpath(link), "")
        if not place.startswith(self.real_root):
            return "link-outside"
        inside = place[len(self.real_root) :]
        return "link-hidden" if any(part.startswith(".") for part in inside.split(os.sep)) else ""

    def _report_clashes(self, names: Iterable[tuple[str, str]], prefix: str) -> None:
        """K-25: names that another system would take for the same, given with their keys; each tells the first."""
        first: dict[str, str] = {}
        for key, name in sorted(names):
            if first.setdefault(key, name) != name:
                self.findings.append(found("case-clash", prefix + name, other=prefix + first[key]))

    def _cannot_read(self, folder: str, error: OSError) -> None:
        self.unreadable.append(folder)
        self.findings.append(found("unreadable", folder, reason=error.strerror or str(error)))


_KIND: Final = 0o170000
"""The bits of a mode that tell a file from a folder, a pipe or a link."""


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """Whether a folder is a Windows junction, which leads elsewhere like a link; never so before Python 3.12."""
    is_junction = getattr(entry, "is_junction", None)
    return is_junction is not None and bool(is_junction())


def _target(link: str) -> str:
    try:
        return _readable(os.readlink(link))
    except OSError:  # replaced meanwhile
        return "?"


def _readable(text: str) -> str:
    r"""The text with every byte that is no UTF-8 shown as `\x…`, so that it can be stored and printed."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")
