"""Changes single keys of a note's frontmatter, every other byte as it was (K-3, K-54)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.frontmatter import Frontmatter, find_fences, read_frontmatter
from vaultkeeper.core.patch_lines import is_value, key_chunks, new_key_at, rewritten
from vaultkeeper.core.yamlchunks import chunks_of
from vaultkeeper.core.yamlwrite import WriteValue, new_block, quote

__all__ = ["PatchRefusedError", "WriteValue", "new_block", "patch", "quote"]


class PatchRefusedError(VaultkeeperError):
    """The key cannot be changed without risk to the rest of the note: leave the file as it is (K-54)."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} cannot be changed safely")
        self.key = key


def patch(text: str, changes: Mapping[str, WriteValue | None], order: Sequence[str]) -> str:
    """The note with some keys changed.

    Args:
        text: the whole note, with LF.
        changes: new value by key, as the note writes the key; None takes the key away.
        order: the format's keys in the order they are written; a new key is put at its place among them.

    Returns:
        The new text; the very same where every key has its value already.

    Raises:
        PatchRefusedError: there is no frontmatter that can be read and written, the key stands twice, or the result
            would not read back as intended.
    """
    if not changes:
        return text
    known = {key.casefold(): key for key in (*order, *changes)}
    before = read_frontmatter(text, "", known)
    fences = find_fences(text)
    if fences is None or before.state != "read":
        raise PatchRefusedError(next(iter(changes)))
    lines = text[fences.begin : fences.end].split("\n")[:-1]
    for key, value in changes.items():
        lines = _with_key(lines, key, value, order, before)
    block = "".join(line + "\n" for line in lines)
    patched = text[: fences.begin] + block + text[fences.end :]
    after = read_frontmatter(patched, "", known)
    if patched[after.body_at :] != text[before.body_at :] or _is_worse(before, after, changes):
        raise PatchRefusedError(next(iter(changes)))
    values = {key.casefold(): value for key, value in after.values.items()}
    for key, wanted in changes.items():
        there = key.casefold() in values
        if there == (wanted is None) or not (wanted is None or is_value(values[key.casefold()], wanted)):
            raise PatchRefusedError(key)
    return patched


def _is_worse(before: Frontmatter, after: Frontmatter, changes: Mapping[str, WriteValue | None]) -> bool:
    """K-54: whether anything but the changed keys reads in another way than before, or less smoothly."""
    folded = {key.casefold() for key in changes}
    rest_before = [item for item in before.values.items() if item[0].casefold() not in folded]
    rest_after = [item for item in after.values.items() if item[0].casefold() not in folded]
    return after.state != "read" or len(after.findings) > len(before.findings) or rest_before != rest_after


def _with_key(
    lines: list[str], key: str, value: WriteValue | None, order: Sequence[str], before: Frontmatter
) -> list[str]:
    """The block's lines with one key changed.

    Raises:
        PatchRefusedError: the key stands twice, or not at the beginning of a line.
    """
    chunks = chunks_of(lines)
    own = key_chunks(chunks, key)
    current = {name.casefold(): now for name, now in before.values.items()}
    if not own:
        if key.casefold() in current:
            raise PatchRefusedError(key)
        return lines if value is None else new_key_at(lines, chunks, key, value, order)
    if len(own) > 1:
        raise PatchRefusedError(key)
    (chunk,) = own
    if value is not None and is_value(current.get(key.casefold()), value):
        return lines
    size, new = (chunk.size, []) if value is None else rewritten(chunk, value, lines)
    return [*lines[: chunk.at], *new, *lines[chunk.at + size :]]
