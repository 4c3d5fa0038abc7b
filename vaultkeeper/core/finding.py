"""Findings: what is wrong with a vault, as facts; the wording by language stands in `messages.py`."""

from __future__ import annotations

from typing import Literal

import msgspec

Severity = Literal["error", "warning", "info"]
"""error and warning make `check` exit 1; info is told and changes no exit code (IF-2)."""


class Finding(msgspec.Struct, frozen=True, array_like=True, gc=False, order=True):
    """One thing that is wrong, in one place. Ordered by path, line and code when sorted."""

    path: str
    """Vault-relative path with `/`; empty for the vault as a whole."""
    line: int
    """1-based line in the file; 0 where the file as a whole is meant."""
    code: str
    """Stable name, a key of `messages.MESSAGES`."""
    facts: tuple[tuple[str, str], ...] = ()
    """What fills the `{…}` slots of the message, as (slot, text)."""


def found(code: str, path: str, line: int = 0, **facts: object) -> Finding:
    """A finding whose facts are given as keywords; every value is turned to text."""
    return Finding(path, line, code, tuple((name, str(value)) for name, value in facts.items()))
