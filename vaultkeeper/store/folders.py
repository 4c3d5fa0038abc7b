"""Where things stand outside vaults: the user's folders for settings, state and caches, and each vault's part of them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vaultkeeper.core.slug import same_name_key

_NAME = "vaultkeeper"
_NAME_LENGTH = 40
"""Characters of a vault's own name in its key: enough to know it by, and short enough for any file system."""


@dataclass(frozen=True, slots=True)
class AppFolders:
    """The user's folders for this program; none of them need exist."""

    config: Path
    state: Path
    cache: Path


def app_folders(environ: Mapping[str, str]) -> AppFolders:
    """The platform's folders, or those in `$VAULTKEEPER_HOME`, so that tests and portable installs touch nothing else."""
    home = environ.get("VAULTKEEPER_HOME")
    if home:
        base = Path(home).expanduser().absolute()
        return AppFolders(base / "config", base / "state", base / "cache")
    from platformdirs import PlatformDirs

    dirs = PlatformDirs(_NAME, appauthor=False)
    return AppFolders(dirs.user_config_path, dirs.user_state_path, dirs.user_cache_path)


def vault_key(root: Path) -> str:
    """A name for the vault at that folder: the same whichever way the folder is reached, another for any other (K-29).

    Links are resolved; letters are folded where the file system itself takes both cases for one name. Made of letters,
    digits, `-` and `_`.
    """
    real = _one_spelling(Path(os.path.realpath(root)))
    readable = re.sub(r"[^\w]+", "-", real.name.lower())[:_NAME_LENGTH].strip("-")
    return f"{readable or 'vault'}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:12]}"


def _one_spelling(path: Path) -> Path:
    """The path with those parts folded that the file system finds under another case too."""
    spelt = Path(path.anchor.lower())
    for part in path.parts[1:]:
        spelt /= same_name_key(part) if _found_in_other_case(spelt, part) else part
    return spelt


def _found_in_other_case(folder: Path, name: str) -> bool:
    other = name.swapcase()
    try:
        return other != name and os.path.samefile(folder / name, folder / other)
    except (OSError, ValueError):
        return False


def vault_state(folders: AppFolders, root: Path) -> Path:
    """The vault's folder in the user's state: its lock, its history, what waits."""
    return folders.state / "vaults" / vault_key(root)


def vault_cache(folders: AppFolders, root: Path) -> Path:
    """The vault's folder in the user's cache: what can be made again from its notes."""
    return folders.cache / "vaults" / vault_key(root)
