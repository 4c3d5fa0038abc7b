"""What a person typed → the vault and the note that is meant."""

from __future__ import annotations

import os
from pathlib import Path


def note_reference(vault: Path, given: str) -> str:
    """`given` as the daemon takes it: a file named from the current folder becomes its path in the vault.

    Ids, titles and vault-relative paths pass as they are. The file's own name is not resolved, so that a symbolic
    link stays what was named.
    """
    file = Path(os.path.abspath(given))
    if not file.is_file():
        return given
    for root in (vault, Path(os.path.realpath(vault))):
        for folder in (file.parent, Path(os.path.realpath(file.parent))):
            if folder == root or root in folder.parents:
                return (folder / file.name).relative_to(root).as_posix()
    return given
