"""The user's own JSON files, settings and the list of vaults: never written over when they cannot be understood."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

from vaultkeeper.core.errors import UserError
from vaultkeeper.store.atomic import write_atomic
from vaultkeeper.store.json_file import NotJsonError, object_bytes, read_object
from vaultkeeper.store.lock import short_lock

_TURN = timedelta(seconds=10)
"""Another command has such a file for milliseconds; after this long it is taken to be stuck."""


def turn_at(file: Path) -> AbstractContextManager[bool]:
    """While this lasts, no other command reads the file to change it."""
    return short_lock(file.with_name(f"{file.name}.lock"), _TURN)


def read_user_file(file: Path) -> dict[str, object]:
    """The object in the file; empty where there is no file.

    Raises:
        UserError: it cannot be read or holds something else; the message says what is wrong and where.
    """
    try:
        return read_object(file) or {}
    except NotJsonError as error:
        raise UserError(f"{file} {error}; mend it, or move the file away") from error
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}") from error


def write_user_file(file: Path, document: dict[str, object]) -> None:
    """Replace the file, for this user's eyes only.

    Raises:
        UserError: it could not be written; the old one stands.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, object_bytes(document), mode=0o600)
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}") from error
