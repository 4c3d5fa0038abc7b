"""Where a running keeper can be reached: `endpoint.json` in the user's state folder (IF-31, K-80)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from vaultkeeper.store.atomic import write_atomic

_ADDRESS = re.compile(r"http://127\.0\.0\.1:([0-9]{1,5})", re.ASCII)
_FILE_NAME = "endpoint.json"


class Endpoint(msgspec.Struct, frozen=True):
    """Address and token of a running keeper. `vaults` are those it serves, each with `key` and folder."""

    url: str
    token: str
    pid: int
    vaults: tuple[dict[str, object], ...] = ()

    @property
    def port(self) -> int:
        """The port in `url`; 0 where `url` is not on 127.0.0.1: a token is never sent anywhere else."""
        match = _ADDRESS.fullmatch(self.url)
        return int(match[1]) if match and int(match[1]) < 65_536 else 0


def endpoint_files(state: Path, keys: Sequence[str]) -> tuple[Path, ...]:
    """The files that name a keeper of these vaults: one for the user (IF-31), and one beside each vault's own state.

    The second kind keeps two keepers on different vaults from hiding each other.
    """
    return (*(state / "vaults" / key / _FILE_NAME for key in keys), state / _FILE_NAME)


def write_endpoint(file: Path, endpoint: Endpoint) -> None:
    """Write it so that only the user can read it, in one step."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomic(file, msgspec.json.format(msgspec.json.encode(endpoint)) + b"\n", mode=0o600)


def read_endpoint(file: Path) -> Endpoint | None:
    """What stands in the file; None where there is none or it makes no sense, which both mean: nobody to talk to."""
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.json.decode(file.read_bytes(), type=Endpoint)
    return None


def remove_endpoint(file: Path, token: str) -> None:
    """Take the file away if it is still the one of the keeper with this token."""
    found = read_endpoint(file)
    if found is not None and found.token == token:
        with suppress(OSError):
            file.unlink()


def is_alive(pid: int) -> bool:
    """Whether a process with this id may be running; True where the system cannot be asked without harm."""
    if pid <= 0:
        return False
    if os.name != "posix":  # os.kill would end the process there
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
