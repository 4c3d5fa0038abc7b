"""Giving freed memory back to the system after work that needed much of it for a moment."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Return what the C library keeps of freed memory, where it keeps any: glibc holds on to it for ever otherwise."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
