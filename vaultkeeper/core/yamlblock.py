"""One frontmatter block read as well as it can be: whole, with slips mended, or key by key (K-13, K-14, K-18)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vaultkeeper.core.slips import Slip, mend_chunk
from vaultkeeper.core.yamlchunks import Chunk, canonical, chunks_of, split_head
from vaultkeeper.core.yamlplain import read_plain
from vaultkeeper.core.yamltext import Pair, YamlError, read_pairs

_MAX_BROKEN = 100
"""More unreadable chunks than this are no slips of a person; it bounds the time that a hostile block can cost."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A slip that was repaired; `line` counts from 1 in the block."""

    code: str
    key: str
    line: int


@dataclass(slots=True)
class Block:
    """What a block says; filled by `read_block`, not changed after. Lines count from 1 in the block."""

    pairs: list[Pair] = field(default_factory=list)
    mended: str = ""
    """The block with its slips repaired, every other byte as it was."""
    slips: list[Mended] = field(default_factory=list)
    strays: list[tuple[int, str]] = field(default_factory=list)
    """Lines that fit nowhere, each with its number."""
    broken: YamlError | None = None
    """Why the block must be quarantined: a known key cannot be read, or none could be recovered."""


def read_block(block: str, known: Mapping[str, str]) -> Block:
    """Read a block, given without its fences, each line with its newline.

    Raises:
        TooLargeError: it is past a limit of K-16; quarantine the note.
    """
    plain = read_plain(block)
    if plain is not None:
        return Block(plain, block)
    chunks = chunks_of(block[:-1].split("\n"))
    try:
        pairs = read_pairs(block)
    except YamlError as error:
        return _recovered(block, chunks, known, error)
    return _with_silent_slips(Block(pairs, block), chunks, known)


def _with_silent_slips(whole: Block, chunks: list[Chunk], known: Mapping[str, str]) -> Block:
    """A block that is YAML, with what YAML reads in a way that nobody meant mended."""
    mended = Block()
    texts: list[str] = []
    changed: set[int] = set()
    for chunk in chunks:
        text, slips = mend_chunk(chunk.text, known, readable=True)
        texts.append(text)
        if slips:
            mended.slips += _placed(slips, chunk, text)
            changed.add(chunk.at + 1)
    if not changed:
        return whole
    mended.mended = "\n".join(texts) + "\n"
    try:
        mended.pairs = read_pairs(mended.mended)
    except YamlError:
        return whole
    before = [(pair.line, pair.line in changed or (pair.key, pair.value)) for pair in whole.pairs]
    after = [(pair.line, pair.line in changed or (pair.key, pair.value)) for pair in mended.pairs]
    return mended if before == after else whole


def _recovered(block: str, chunks: list[Chunk], known: Mapping[str, str], error: YamlError) -> Block:
    """A block that is no YAML as a whole, key by key."""
    found = Block()
    texts: list[str] = []
    failures = 0
    for chunk in chunks:
        pairs, trouble = _read_chunk(chunk.text)
        text, slips = mend_chunk(chunk.text, known, readable=trouble is None)
        mended, still = _read_chunk(text) if slips else ([], trouble)
        if slips and still is None:
            pairs, trouble = mended, None
            found.slips += _placed(slips, chunk, text)
        else:
            text = chunk.text
        texts.append(text)
        found.pairs += (pair._replace(line=pair.line + chunk.at, span=None) for pair in pairs)
        if trouble is not None:
            failures += 1
            _note_trouble(found, chunk, trouble, known)
        if failures > _MAX_BROKEN:
            break
    else:
        whole = _whole(found.slips, texts, chunks, known)
        if whole is not None:
            return whole
    hopeless = failures > 0 and not any(canonical(pair.key, known) for pair in found.pairs)
    if hopeless or failures > _MAX_BROKEN:
        found.broken = found.broken or error
    found.mended = block if found.broken else "\n".join(texts) + "\n"
    return found


def _whole(
    slips: list[Mended], texts: list[str], chunks: list[Chunk], known: Mapping[str, str]
) -> Block | None:
    """The block as YAML reads it once its slips are mended: it knows better what belongs together than its chunks do."""
    mended = "\n".join(texts) + "\n"
    try:
        pairs = read_pairs(mended) if slips else []
    except YamlError:
        return None
    return Block(pairs, mended, slips) if slips and not _swallows(pairs, chunks, known) else None


def _swallows(pairs: list[Pair], chunks: list[Chunk], known: Mapping[str, str]) -> bool:
    """Whether lines of known keys are the words of a text, which a mended value below them closed by chance."""
    begun = {pair.line: pair for pair in pairs}
    last: Pair | None = None
    for chunk in chunks:
        head = split_head(chunk.lines[0])
        if chunk.at + 1 in begun:
            last = begun[chunk.at + 1]
        elif head and canonical(head.name, known) and last is not None and isinstance(last.value, str):
            return True
    return False


def _read_chunk(text: str) -> tuple[list[Pair], YamlError | None]:
    """The pair of one chunk, or why there is none."""
    pairs = read_plain(text)
    try:
        pairs = read_pairs(text + "\n") if pairs is None else pairs
    except YamlError as error:
        # libyaml follows YAML 1.1, where `[12:30]` is no list of a time
        on_one_line = " ".join(line.strip(" ") for line in text.split("\n"))
        pairs = read_plain(on_one_line) if "unexpected ':'" in error.reason else None
        if pairs is None:
            return [], error
    if pairs and split_head(text.partition("\n")[0]) is None:
        return [], YamlError("this is no line of a mapping", 1, 1)
    return pairs, None


def _note_trouble(found: Block, chunk: Chunk, trouble: YamlError, known: Mapping[str, str]) -> None:
    head = split_head(chunk.lines[0])
    if head is None or canonical(head.name, known) is None:
        found.strays.append((chunk.at + 1, chunk.lines[0]))
    elif found.broken is None:
        found.broken = YamlError(trouble.reason, trouble.line + chunk.at, trouble.column)


def _placed(slips: list[Slip], chunk: Chunk, mended: str) -> list[Mended]:
    head = split_head(mended.partition("\n")[0])
    key = head.name if head else ""
    return [Mended(slip.code, key, chunk.at + slip.line + 1) for slip in slips]
