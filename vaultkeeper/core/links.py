"""Links between notes, for the rest of the core: how they are written, what they reach, how they follow moves."""

from vaultkeeper.core.link_resolve import Resolver, loose_key
from vaultkeeper.core.link_syntax import Link, find_links
from vaultkeeper.core.link_text import link_text
from vaultkeeper.core.relink import relink

__all__ = ["Link", "Resolver", "find_links", "link_text", "loose_key", "relink"]
