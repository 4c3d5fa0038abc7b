"""The vaults that this user has registered (IF-10)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from vaultkeeper.core.errors import UserError
from vaultkeeper.store.folders import vault_key
from vaultkeeper.store.user_file import read_user_file, turn_at, write_user_file


class Registry:
    """A file of absolute paths, in the order in which they were added; unknown keys of the file stay."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def list(self) -> tuple[Path, ...]:
        """All of them, whether they are there now or not.

        Raises:
            UserError: the file is broken; it is left as it is, and the message says what is wrong and where.
        """
        return tuple(Path(path).expanduser() for path in self._paths(read_user_file(self._file)))

    def add(self, root: Path) -> None:
        """Register a vault; nothing happens where it is registered already, by whatever way it is reached.

        Raises:
            UserError: the file is broken, see `list`, or cannot be written.
        """
        with turn_at(self._file):
            document = read_user_file(self._file)
            paths = self._paths(document)
            if not any(_is_same(path, root) for path in paths):
                write_user_file(self._file, {**document, "vaults": (*paths, os.path.abspath(root))})

    def remove(self, root: Path) -> None:
        """Forget a vault; its files stay.

        Raises:
            UserError: it is not registered; or the file is broken, see `list`, or cannot be written.
        """
        with turn_at(self._file):
            document = read_user_file(self._file)
            paths = self._paths(document)
            kept = tuple(path for path in paths if not _is_same(path, root))
            if len(kept) == len(paths):
                raise UserError(f"{root} is not registered; registered: {', '.join(paths) or 'none'}")
            write_user_file(self._file, {**document, "vaults": kept})

    def _paths(self, document: Mapping[str, object]) -> tuple[str, ...]:
        paths = document.get("vaults", [])
        if not isinstance(paths, list) or not all(isinstance(path, str) and path for path in paths):
            raise UserError(f"{self._file}: `vaults` is no list of paths; mend it, or move the file away")
        return tuple(paths)


def _is_same(path: str, root: Path) -> bool:
    return vault_key(Path(path).expanduser()) == vault_key(root)
