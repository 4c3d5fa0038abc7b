"""Checks on what a command is about to write (K-90, K-91): a refusal has a code, changes nothing and is recorded."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import msgspec

from vaultkeeper.core.catalog import memories
from vaultkeeper.core.errors import RefusedError
from vaultkeeper.core.secrets import find_secrets
from vaultkeeper.core.timestamps import write_time
from vaultkeeper.core.tokens import tokens
from vaultkeeper.keeper.keeper import Keeper

log = logging.getLogger(__name__)

MAX_TEXT = 4 * 1024 * 1024
"""Bytes of text in one write; longer notes are skipped by search (K-66)."""
ALIKE = 0.8
"""Share of common words from which two notes count as near-duplicates (K-69's overlap coefficient)."""
MIN_WORDS = 4
"""Titles and texts of fewer telling words are never called duplicates."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is about to be written."""

    title: str
    text: str


def check_new(keeper: Keeper, title: str, text: str, *, duplicates: bool = True) -> list[str]:
    """Let a write pass, or refuse it.

    Returns:
        Warnings: notes that say nearly the same and might be updated instead.

    Raises:
        RefusedError: too large, or it holds a credential; nothing was written.
    """
    _size(text)
    _secrets(Draft(title, text))
    return _alike(keeper, title, text) if duplicates else []


def _size(text: str) -> None:
    size = len(text.encode(errors="surrogatepass"))
    if size > MAX_TEXT:
        raise RefusedError(
            "too-large", f"the text has {size:,} bytes, more than {MAX_TEXT:,}: split it into several notes"
        )


def _secrets(draft: Draft) -> None:
    for where, part in (("title", draft.title), ("text", draft.text)):
        for secret in find_secrets(part):
            raise RefusedError(
                "secret",
                f"line {secret.line} of the {where} holds a credential ({secret.kind}): keep it in a password manager "
                "and write where to find it",
            )


def _alike(keeper: Keeper, title: str, text: str) -> list[str]:
    words = _words(f"{title} {text}"[:2000])
    if len(words) < MIN_WORDS:
        return []
    alike: list[tuple[float, str]] = []
    for entry in memories(keeper.catalog):
        assert entry.record is not None
        other = _words(f"{entry.record.title} {entry.record.preview}")
        if len(other) < MIN_WORDS:
            continue
        share = len(words & other) / min(len(words), len(other))
        if share >= ALIKE:
            alike.append((-share, f"{entry.path} says nearly the same: update it instead?"))
    return [warning for _, warning in sorted(alike)[:3]]


def _words(text: str) -> set[str]:
    """Latin words and pairs of CJK characters (K-69)."""
    return {word for word in tokens(text) if len(word) > 1}


def audit(keeper: Keeper, error: RefusedError) -> None:
    """Add one line to the audit: that a write was refused and why, never what it held."""
    line = msgspec.json.encode(
        {
            "at": write_time(keeper.tools.clock()),
            "verdict": "deny",
            "code": error.code,
            "reason": error.reason,
        }
    )
    try:
        keeper.tools.files.append_audit(line.decode())
    except OSError as problem:
        log.warning("the audit line for a refused write could not be written: %s", problem)
