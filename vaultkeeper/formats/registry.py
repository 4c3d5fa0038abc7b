"""Every format vaultkeeper knows, and which one a folder is."""

from __future__ import annotations

from vaultkeeper.core.format import Format
from vaultkeeper.formats.longterm import LONGTERM

FORMATS: dict[str, Format] = {fmt.id: fmt for fmt in (LONGTERM,)}
"""Format by its id, in the order they are offered."""
