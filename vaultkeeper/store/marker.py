"""A vault's marker file, which says whose vault a folder is and holds its settings; and making a vault (LT-1 to LT-3)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vaultkeeper.core.errors import FormatError, UserError
from vaultkeeper.core.format import Format, Language
from vaultkeeper.core.options import Options
from vaultkeeper.core.slug import same_name_key, split_path
from vaultkeeper.store.atomic import write_atomic
from vaultkeeper.store.json_file import NotJsonError, kind_of, object_bytes, read_object

_PROBE = "vaultkeeper-probe.tmp"
_PROBE_TEXT = "vaultkeeper 记忆\n".encode()


@dataclass(frozen=True, slots=True)
class MarkerState:
    """What the marker of a folder says."""

    is_vault: bool
    document: Mapping[str, object]
    """All of the marker file, keys that we do not know too; empty where there is none."""


def read_marker(root: Path, fmt: Format) -> MarkerState:
    """Whether the folder is a vault of that format.

    Raises:
        FormatError: something stands there that is not ours to touch: another product's marker, a newer one, a broken
            one. Nothing may be written into the folder.
    """
    file = root / fmt.marker.path
    try:
        document = read_object(file)
    except NotJsonError as error:
        reason = f"{error}; mend it, restore it from a backup, or move it away and run `vaultkeeper init`"
        raise FormatError(str(file), reason) from error
    except NotADirectoryError:
        return MarkerState(False, {})
    except OSError as error:
        raise FormatError(str(file), f"cannot be read ({error.strerror})") from error
    if document is None:
        return MarkerState(False, {})
    product = document.get("product")
    if product != fmt.marker.product:
        whose = "names no product" if product is None else f"belongs to another product, {product!r}"
        raise FormatError(
            str(file), f"{whose}; a vault of this format has {fmt.marker.product!r}: name another folder"
        )
    _check_version(file, document.get("schemaVersion"), fmt)
    return MarkerState(True, document)


def _check_version(file: Path, version: object, fmt: Format) -> None:
    if version is None:
        return
    if isinstance(version, bool) or not isinstance(version, int):
        raise FormatError(str(file), f"its schemaVersion is {version!r}, which is no whole number")
    if version > fmt.marker.schema_version:
        newest = fmt.marker.schema_version
        reason = (
            f"its schemaVersion is {version}, and this vaultkeeper knows only {newest}; upgrade vaultkeeper"
        )
        raise FormatError(str(file), reason)


def read_settings(root: Path, fmt: Format) -> dict[str, object]:
    """The settings that stand in the vault, known keys and others.

    Where `settings` itself is no object, it is given under its own name, for `config.load_settings` to report.

    Raises:
        FormatError: see `read_marker`.
    """
    settings = read_marker(root, fmt).document.get("settings")
    if settings is None:
        return {}
    return dict(settings) if isinstance(settings, dict) else {"settings": settings}


def write_settings(root: Path, fmt: Format, settings: Mapping[str, object], now: str) -> None:
    """Have exactly these settings stand in the vault; all else in the marker file stays, keys in their order.

    Args:
        root: the vault.
        fmt: its format.
        settings: what differs from the defaults, and the keys that were there and are not known.
        now: canonical time, for `updatedAt`.

    Raises:
        FormatError: the folder is no vault, see `read_marker`; or its `settings` are no object, which a person must mend.
        OSError: it could not be written; the old file stands.
    """
    state = read_marker(root, fmt)
    file = root / fmt.marker.path
    if not state.is_vault:
        raise FormatError(str(file), "is not there")
    present = state.document.get("settings")
    if present is not None and not isinstance(present, dict):
        raise FormatError(str(file), f"its `settings` are {kind_of(present)}, not an object; mend that first")
    if dict(settings) == (present or {}):
        return
    document = {**state.document, "settings": dict(settings), "updatedAt": now}
    write_atomic(file, object_bytes(document))


def make_vault(root: Path, fmt: Format, language: Language, now: str, *, dry_run: bool = False) -> list[str]:
    """Make what a vault of the format has and this folder lacks; no file that exists is touched (LT-2).

    Args:
        root: the vault's folder; made where missing.
        fmt: the format.
        language: of the texts that are made, and of a new vault.
        now: canonical time.
        dry_run: only say what would be made (K-51).

    Returns:
        Vault-relative paths of what was made, in that order; empty when nothing was missing.

    Raises:
        FormatError: another product's vault, see `read_marker`; nothing was touched.
        UserError: the folder cannot be a vault, the message says why. Run again when that is mended: what was made
            meanwhile is part of the vault.
    """
    try:
        _check_root(root)
        state = read_marker(root, fmt)
        wanted = [folder for folder in fmt.folders if not _folder_stands(root, folder)]
        texts = [path for path in fmt.files if not _file_stands(root, path)]
        if state.is_vault and not wanted and not texts:
            return []
        if dry_run:
            return wanted + texts + [fmt.marker.path] * (not state.is_vault)
        _prove_usable(root, fmt)
        for folder in wanted:
            (root / folder).mkdir(parents=True, exist_ok=True)
        for path in texts:
            _make_file(root / path, fmt.files[path][language].encode())
        if not state.is_vault:  # the last step: a folder that was left half made is no vault yet
            write_atomic(root / fmt.marker.path, object_bytes(_new_document(fmt, language, now)))
            texts.append(fmt.marker.path)
    except OSError as error:
        where = error.filename or root
        raise UserError(f"{root} cannot be made a vault: {where}: {error.strerror or error}") from error
    return wanted + texts


def _new_document(fmt: Format, language: Language, now: str) -> dict[str, object]:
    return {
        "product": fmt.marker.product,
        "schemaVersion": fmt.marker.schema_version,
        "createdAt": now,
        "updatedAt": now,
        "settings": {} if language == Options().language else {"language": language},
        "notes": [],
    }


def _check_root(root: Path) -> None:
    """UserError unless the path is a folder or may become one."""
    nearest = next(place for place in (root, *root.parents) if os.path.lexists(place))
    if not nearest.is_dir():
        what = "a link to nothing" if nearest.is_symlink() and not nearest.exists() else "a file"
        raise UserError(f"{nearest} is {what}, so no vault can be made at {root}")


def _folder_stands(root: Path, folder: str) -> bool:
    """Whether the folder is there; UserError where something else has its name."""
    place = root / folder
    if place.is_symlink():
        raise UserError(f"{place} is a symbolic link, which is never followed; put a folder in its place")
    if place.is_dir():
        return True
    if os.path.lexists(place):
        raise UserError(f"{place} is a file, and a vault needs a folder of that name; rename the file")
    return False


def _file_stands(root: Path, path: str) -> bool:
    """Whether a file is there under that name, or under one that counts as the same (K-25)."""
    folder, name = split_path(path)
    try:
        names = os.listdir(root / folder)
    except FileNotFoundError:
        return False
    return same_name_key(name) in set(map(same_name_key, names))


def _make_file(file: Path, data: bytes) -> None:
    """Make a file that must not exist; one that appeared meanwhile stays as it is."""
    try:
        with file.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except FileExistsError:
        return
    except OSError:
        file.unlink(missing_ok=True)  # half a text would count as there from now on
        raise


def _prove_usable(root: Path, fmt: Format) -> None:
    """Write a file in the format's last private folder, read it back and take it away again.

    Raises:
        OSError: one of these could not be done; what was made for it is taken away.
    """
    folder = root / [each for each in fmt.folders if f"{each}/".startswith(f"{fmt.private}/")][-1]
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    probe = folder / _PROBE
    try:
        probe.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(probe, _PROBE_TEXT)
        if probe.read_bytes() != _PROBE_TEXT:
            raise OSError(None, "what was written reads back as something else", str(probe))
        probe.unlink()
    except OSError:
        _take_away(probe, made)
        raise


def _take_away(probe: Path, folders: list[Path]) -> None:
    with suppress(OSError):
        probe.unlink(missing_ok=True)
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
