"""Note ids: made from a moment and eight random digits, and read back (LT-21)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

from vaultkeeper.core.format import Format
from vaultkeeper.core.timestamps import read_time

IdState = Literal["ok", "missing", "bad"]
"""bad: something stands there, but it is no id of the format."""


@lru_cache(maxsize=16)
def _pattern(fmt: Format) -> re.Pattern[str]:
    return re.compile(fmt.id_pattern, re.ASCII)


def new_id(fmt: Format, now: datetime, random8: str) -> str:
    """The id of a note made at that moment.

    Args:
        fmt: whose ids they are.
        now: aware; only whole seconds of UTC show.
        random8: eight lower-case hex digits.

    Raises:
        ValueError: the parts make no id of the format; give eight hex digits and an aware time.
    """
    note_id = f"{fmt.id_prefix}{now.astimezone(UTC):%Y%m%dt%H%M%S}_{random8}"
    if now.utcoffset() is None or id_state(fmt, note_id) != "ok":
        raise ValueError(f"{random8!r} and {now} make no id")
    return note_id


def id_time(fmt: Format, note_id: str) -> str | None:
    """The canonical time in an id; None where it is no id or there is no such time."""
    match = _pattern(fmt).fullmatch(note_id)
    return read_time(match[1]) if match else None


def id_state(fmt: Format, text: str) -> IdState:
    """Whether the text is an id of the format; one whose time is impossible still names a note."""
    if not text:
        return "missing"
    return "ok" if _pattern(fmt).fullmatch(text) else "bad"
