"""Links that the keeper writes itself: they reach exactly one note and show any title (LT-43, LT-52)."""

from __future__ import annotations

import re

from vaultkeeper.core.link_resolve import Resolver, is_dotted
from vaultkeeper.core.link_syntax import encoded
from vaultkeeper.core.note import NotePath
from vaultkeeper.core.slug import stem_of

_UNLINKABLE = re.compile(
    r"[#^|\[\]<>`\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|%%|://|\A(?:\s|/|mailto:)|\s\Z", re.IGNORECASE
)
"""What the target of a wikilink cannot hold, or what might open code, a comment or a web address there."""
_UNSHOWABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\s]+")
_LOOKALIKES = str.maketrans("[]|`", "［］｜'")


def link_text(target: NotePath, title: str, resolver: Resolver) -> str:
    """A link that opens exactly that note from wherever it is read, and shows the title.

    `[[name]]` where that says all, else `[[name|title]]`, with the path where several files have the name. Names that no
    wikilink can hold get a Markdown link, percent-encoded. Characters of the title that would end the link or open code
    or a comment are shown by look-alikes.

    Args:
        target: the note; one of the resolver's paths.
        title: any text; where nothing of it can be shown, the file's name stands in.
        resolver: the vault's files.
    """
    shown = _shown(title) or _shown(stem_of(target)) or "?"
    path = target[: -len(".md")] if target.lower().endswith(".md") else target
    if resolver.is_alone(target):
        path = path.rpartition("/")[2]
    elif "/" not in path:
        path = f"/{path}"
    if _UNLINKABLE.search(path.removeprefix("/")) or is_dotted(path) or not _reaches(path, target, resolver):
        return _markdown_link(target, shown, resolver)
    alias = re.sub(r"\\\Z", "＼", shown)
    return f"[[{path}]]" if shown == path else f"[[{path}|{alias}]]"


def _reaches(written: str, target: NotePath, resolver: Resolver) -> bool:
    """Whether the target opens the note; from the root, as a bare name here is alone and any path is a whole one."""
    return resolver.resolve(written, NotePath("")) == target


def _markdown_link(target: NotePath, shown: str, resolver: Resolver) -> str:
    label = shown.replace("\\", "\\\\").replace("<", "＜").replace("#", "＃")
    slash = "" if resolver.is_alone(target) else "/"
    return f"[{label}]({slash}{encoded(target)})"


def _shown(title: str) -> str:
    text = _UNSHOWABLE.sub(" ", title).strip().translate(_LOOKALIKES)
    return text.replace("<!--", "＜!--").replace("%%", "％％")
