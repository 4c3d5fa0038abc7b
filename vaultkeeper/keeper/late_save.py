"""An editor's late save of a note that the keeper has just moved (K-39): its text becomes the moved note's."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from vaultkeeper.core.action import Action
from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.note import NotePath
from vaultkeeper.core.parse import Parsed, parse
from vaultkeeper.core.plan import Candidate
from vaultkeeper.core.text import NotTextError, decode, encode
from vaultkeeper.keeper.census import Census


def late_save_candidates(census: Census, paths: Collection[NotePath]) -> list[tuple[Candidate, Action]]:
    """For each late save among these paths: the edit of the moved note, and the clearing of the old place.

    What an editor writes late was typed over the bytes that stood at the old place. Where its frontmatter is still
    the one of those bytes, the moved note keeps its own frontmatter and takes the late body; else it takes all.
    """
    pairs: list[tuple[Candidate, Action]] = []
    for path in sorted({*paths, *census.late_saves_of(paths)}):
        moved = census.late_save(path)
        late = census.look(path) if moved is not None else None
        there = census.look(moved.to) if moved is not None else None
        if moved is None or late is None or there is None:
            continue
        text = _merged(late, there, _bytes_before(census, moved.digest))
        data = encode(text)
        edited = parse(replace(there.snapshot, data=data), census.tools.fmt)
        taken_over = Candidate(
            parsed=edited,
            expects=there.snapshot.digest,
            edited=data != there.snapshot.data,
            rule="K-39",
            reason="an editor's late save at the old place",
            source="outside",
        )
        cleared = Action(
            op="trash",
            path=path,
            expects=late.snapshot.digest,
            rule="K-39",
            reason=f"its text is in {moved.to}",
        )
        pairs.append((taken_over, cleared))
    return pairs


def _bytes_before(census: Census, digest: str) -> bytes | None:
    try:
        return census.tools.files.before_image(digest)
    except (VaultkeeperError, OSError):
        return None


def _merged(late: Parsed, there: Parsed, before: bytes | None) -> str:
    if before is None or late.front is None or there.front is None:
        return late.text
    try:
        old_text = decode(before)
    except NotTextError:
        return late.text
    if not old_text.startswith(late.text[: late.body_at]) or not late.body_at:
        return late.text
    return there.text[: there.body_at] + late.text[late.body_at :]
