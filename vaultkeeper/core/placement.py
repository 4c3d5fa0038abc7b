"""Format × type and status → folder; and what a folder says about the notes that stand in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from vaultkeeper.core.format import Format
from vaultkeeper.core.note import NotePath
from vaultkeeper.core.slug import same_name_key, split_path


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a folder says: the type or the status of the notes in it, never both."""

    folder: str
    type: str | None = None
    status: str | None = None


def home_folder(fmt: Format, type_name: str, status_name: str) -> str:
    """The folder a note of that type and status belongs in: the status's where it has one, else the type's."""
    folder = fmt.status_word(status_name).folder or fmt.type_word(type_name).folder
    if folder is None:
        raise ValueError(f"{fmt.id} has no place for {type_name}/{status_name}")
    return folder


def is_home(fmt: Format, path: NotePath, type_name: str, status_name: str) -> bool:
    """Whether the note stands in its folder or in a person's subfolder of it (LT-11)."""
    meaning = meaning_of(fmt, path)
    return meaning is not None and meaning.folder == home_folder(fmt, type_name, status_name)


def meaning_of(fmt: Format, path: NotePath) -> Meaning | None:
    """What the folder of the note says, by the deepest folder of the format that holds it; None: nothing."""
    known = _meanings(fmt)
    parts = [_folder_key(part) for part in split_path(path)[0].split("/")]
    for depth in range(len(parts), 0, -1):
        meaning = known.get("/".join(parts[:depth]))
        if meaning is not None:
            return meaning
    return None


def _folder_key(name: str) -> str:
    """Folder names count as the same whatever their case, normalisation or blanks at the ends (K-25)."""
    return same_name_key(name.strip())


@lru_cache(maxsize=16)
def _meanings(fmt: Format) -> dict[str, Meaning]:
    known: dict[str, Meaning] = {}
    for word in fmt.types:
        if word.folder:
            known[_path_key(word.folder)] = Meaning(word.folder, type=word.name)
    for folder, status in fmt.dragged_statuses.items():
        known[_path_key(folder)] = Meaning(folder, status=status)
    return known


def _path_key(folder: str) -> str:
    return "/".join(_folder_key(part) for part in folder.split("/"))
