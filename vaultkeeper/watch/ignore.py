"""Which files of a vault are notes at all, and which are a sync tool's conflict copies, by their names alone (K-26)."""

from __future__ import annotations

import re
from typing import Final

from vaultkeeper.core.slug import same_name_key, split_path

_NEVER: Final = "node_modules"
_ENDINGS: Final = (".md", ".MD", ".Md", ".mD")
_NO_NOTE: Final = (".", "~$")


def is_note_name(name: str) -> bool:
    """Whether a file of this name can be a note: `.md` in any case, not hidden, not an office program's lock.

    The other temporary files (`x.md~`, `x.md.tmp`, `#x.md#`, `4913`, `x.md.crswap`, `x.md.part`) and the cloud's
    placeholders (`.x.md.icloud`, `x.gdoc`) have another ending or a leading dot, so they need no rule of their own.
    """
    return name.endswith(_ENDINGS) and not name.startswith(_NO_NOTE)


class IgnoreRules:
    """Says by its vault-relative path what is never touched nor indexed; the vault's own root may be hidden."""

    def __init__(self, *, private: str, template_folders: tuple[str, ...]) -> None:
        keys = (same_name_key(folder.strip("/")) for folder in (private, *template_folders))
        self._left_alone = frozenset(key for key in keys if key)
        self._below = tuple(f"{key}/" for key in sorted(self._left_alone))

    def ignores_folder(self, path: str) -> bool:
        """Whether a folder and everything in it is left alone; never so for the vault's root, the empty path."""
        if path.startswith(".") or "/." in path:
            return True
        if _NEVER in path and _NEVER in path.split("/"):
            return True
        return f"{same_name_key(path)}/".startswith(self._below)

    def skips_entry(self, name: str, path: str) -> bool:
        """`ignores_folder` for a folder whose parent is known to be walked: cheaper, since only `name` is new."""
        return name.startswith(".") or name == _NEVER or same_name_key(path) in self._left_alone

    def ignores_file(self, path: str) -> bool:
        """Whether a file is no note: by its name, by its folder, or because it is a conflict copy of a note."""
        folder, name = split_path(path)
        return not is_note_name(name) or self.ignores_folder(folder) or conflict_original(name) is not None


_DATE: Final = r"[^()]*\d{4}-?\d\d-?\d\d[^()]*"
_INNER: Final = r"(?:[^()]|\([^()]*\))*?"
"""Text in brackets that may itself hold brackets: `Ada's Mac (2)`."""

_COPY_WORDS: Final = (
    r"冲突(?:副本|文件)|衝突(?:副本|複本)|競合コピー|충돌\S* 사본|конфликтующая копия|In Konflikt stehende Kopie|"
    r"Conflicterende kopie|Copie en conflit|Copia en conflicto|Copia in conflitto|C[óo]pia em conflito"
)
"""What Dropbox and Nutstore write in other languages; believed only with a date beside it."""

_COUNTED: Final = r"(?: \(\d+\)| \d+)*"
"""Where a copy's name was taken as well: ` (1)`, ` 2`."""

_PATTERNS: Final = tuple(
    re.compile(rf"(?P<stem>.+?){mark}{_COUNTED}(?P<ext>\.md)", re.IGNORECASE)
    for mark in (
        # Syncthing, and Obsidian Sync as its manual once had it
        r"\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]*)?",
        # Dropbox, Nextcloud, ownCloud, OpenCloud, Obsidian Sync
        rf" ?\((?:{_INNER}\s)?conflicted copy(?:\s[^()]*\d[^()]*)?\)",
        rf" ?\((?:{_INNER}(?:{_COPY_WORDS}){_DATE}|{_DATE}(?:{_COPY_WORDS}){_INNER})\)",
        # Seafile
        rf" ?\(SFConflict {_DATE}\)",
        # ownCloud before 2.5
        r"_conflict-(?:[^-/]+-)?\d{8}-\d{6}",
        # Synology Drive: name_host_Oct-17-075957-2026_Conflict
        r"_[^_]+_[A-Z][a-z]{2}-\d\d-\d{6}-\d{4}_[A-Z]*Conflict",
        # OneDrive adds the computer's name; only those that Windows itself makes up cannot be a person's words
        r"-(?-i:DESKTOP-[A-Z0-9]{7}|LAPTOP-[A-Z0-9]{8})(?:-\d+)?",
    )
)

_HINTS: Final = ("onfli", "-desktop-", "-laptop-", "冲突", "衝突", "競合", "충돌", "конфли")
"""Each pattern needs one of these. Looking for them is many times faster than one regular expression."""


def hints_at_conflict(text: str) -> bool:
    """Whether `conflict_original` could know any name within this text: one quick look at a whole folder's names."""
    lower = text.lower()
    return any(hint in lower for hint in _HINTS)


def conflict_original(name: str) -> str | None:
    """The name of the note that a sync tool made this conflict copy of; None for every other file.

    Names that people or the keeper may give as well (`x 2.md` by iCloud, `x (1).md` by Google Drive) are not believed:
    two records with one id are reported anyway, while a note taken for a copy would not be found any more.
    """
    if not hints_at_conflict(name):
        return None
    original = name
    while (shorter := _without_mark(original)) is not None:
        original = shorter  # a copy of a copy
    return original if original != name else None


def _without_mark(name: str) -> str | None:
    matches = (pattern.fullmatch(name) for pattern in _PATTERNS)
    match = next((match for match in matches if match is not None), None)
    return match["stem"] + match["ext"] if match is not None else None
