"""What the history holds of a batch: intents before files are touched, and the record of what was done after."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

import msgspec

from vaultkeeper.core.action import JournalLine, Op
from vaultkeeper.core.note import NotePath

Kind = Literal["new", "rewrite", "move", "trash"]
"""What an intent does to the disk, whatever its `op` means to people."""


class Intent(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One action as it will be done, with all that is needed to know later how far it came."""

    number: int
    """Counts the actions of a batch; an intent with the same number stands in place of the earlier one."""
    op: Op
    path: NotePath
    to: NotePath
    """Where the bytes will stand; `path` where nothing moves."""
    wanted: NotePath | None
    """The place the action asked for, where it asked for one."""
    before: str | None
    after: str | None
    temp: str
    """Private name of the new bytes, in the folder of `to`."""
    aside: str
    """Private name of the old file while it is taken away, in the folder of `path`."""
    image: int
    """Where the bytes before stand in the batch's file; -1 where there were none."""
    size: int
    mode: int | None
    mtime_ns: int | None
    """Of the file before."""
    new_mode: int | None
    new_mtime_ns: int | None
    """What the file gets; None: mode bits as they are or the default, time as it comes."""
    rule: str
    reason: str
    lines: tuple[JournalLine, ...]

    @property
    def kind(self) -> Kind:
        """What to do on the disk."""
        if self.after is None:
            return "trash"
        if self.before is None:
            return "new"
        return "rewrite" if self.to == self.path else "move"

    @property
    def rewrites(self) -> bool:
        """Whether other bytes are written."""
        return self.after not in {None, self.before}


class DoneAction(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One action that was done."""

    op: Op
    path: NotePath
    to: NotePath | None
    """The new place of a move."""
    before: str | None
    after: str | None
    image: int
    size: int
    mode: int | None
    mtime_ns: int | None
    rule: str
    reason: str
    lines: tuple[JournalLine, ...]

    @property
    def place(self) -> NotePath:
        """Where the file stood afterwards, or had stood."""
        return self.to or self.path


class BatchInfo(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One batch of the history."""

    id: str
    """Sortable by time, unique: `20261201T055000123-1a2b3c`."""
    at: str
    cause: str
    source: str
    undoes: str = ""
    """The batch that this one takes back."""
    takes_back: bool = False
    """Whether it takes away what the keeper had done; not so for one that takes back an undo."""
    actions: tuple[DoneAction, ...] = ()
    entries: tuple[dict[str, str], ...] = ()
    """Its lines of the journal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAction:
    """One action of the history, for `why` and `log`."""

    at: str
    batch: str
    op: Op
    path: NotePath
    to: NotePath | None
    before: str | None
    after: str | None
    rule: str
    reason: str


class Intents(msgspec.Struct, frozen=True, array_like=True):
    """One frame: what became of the intents so far, and the next ones."""

    done: tuple[int, ...]
    settled: int
    """Intents below this number are settled: done if their number is in `done`."""
    intents: tuple[Intent, ...]


def done_of(intent: Intent) -> DoneAction:
    """What the history says of an intent that was done."""
    return DoneAction(
        op=intent.op,
        path=intent.path,
        to=intent.to if intent.to != intent.path else None,
        before=intent.before,
        after=intent.after,
        image=intent.image,
        size=intent.size,
        mode=intent.mode,
        mtime_ns=intent.mtime_ns,
        rule=intent.rule,
        reason=intent.reason,
        lines=intent.lines,
    )


def entries_of(intent: Intent, at: str, source: str) -> list[dict[str, str]]:
    """The journal's lines for an intent that was done, with the place it really got."""
    entries: list[dict[str, str]] = []
    for line in intent.lines:
        entry = entry_of(line, at, source)
        if entry.get("to") and entry["to"] == intent.wanted:
            entry["to"] = intent.to
        entries.append(entry)
    return entries


def entry_of(line: JournalLine, at: str, source: str) -> dict[str, str]:
    """A line of the journal as it is written; the batch's source stands in for the program's own name."""
    entry = {
        "at": at,
        "op": line.op,
        "id": line.id,
        "reason": line.reason,
        "before": line.before,
        "after": line.after,
        "source": source if line.source == "vaultkeeper" else line.source,
    }
    if line.from_path:
        entry["from"] = line.from_path
    if line.to_path:
        entry["to"] = line.to_path
    return entry


# The batch's file: frames one after another. A torn frame ends what counts.

_FRAME: Final = struct.Struct("<cIQ")
_TRAILER: Final = struct.Struct("<Q4s")
_MAGIC: Final = b"vk1\n"
TRAILER_SIZE: Final = _TRAILER.size
HEADER, IMAGE, INTENTS, RECORD = b"H", b"I", b"P", b"R"
IMAGE_AT: Final = _FRAME.size
"""How far behind the beginning of its frame an image stands."""

_encoder = msgspec.msgpack.Encoder()


def frame(kind: bytes, payload: bytes) -> bytes:
    """A frame with its length and checksum."""
    return _FRAME.pack(kind, zlib.crc32(payload), len(payload)) + payload


def packed(value: object) -> bytes:
    """A value as the payload of a frame; UnicodeEncodeError for text that is not UTF-8."""
    return _encoder.encode(value)


def record_frame(info: BatchInfo, offset: int) -> bytes:
    """The last frame of a closed batch, with the trailer by which it is found from the end."""
    return frame(RECORD, packed(info)) + _TRAILER.pack(offset, _MAGIC)


def record_offset(trailer: bytes) -> int | None:
    """Where the record's frame begins; None where the file ends otherwise."""
    if len(trailer) != _TRAILER.size:
        return None
    offset, magic = _TRAILER.unpack(trailer)
    return offset if magic == _MAGIC else None


def frames(data: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """Kind, payload and end of each whole frame, up to the first that is torn."""
    at = 0
    while at + _FRAME.size <= len(data):
        kind, checksum, length = _FRAME.unpack_from(data, at)
        end = at + _FRAME.size + length
        payload = data[at + _FRAME.size : end]
        if len(payload) < length or zlib.crc32(payload) != checksum:
            return
        yield kind, payload, end
        at = end


@dataclass(slots=True)
class OpenBatch:
    """What the file of a batch that was not closed says."""

    info: BatchInfo
    intents: dict[int, Intent] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    settled: int = 0
    sealed: BatchInfo | None = None
    """The record, where everything was done and only closing was missing."""
    end: int = 0
    """Where what counts ends."""


def read_open(data: bytes) -> OpenBatch | None:
    """A batch that was left open; None where not even its first frame is whole, so that no file was touched.

    Raises:
        msgspec.DecodeError: its frames are whole, but another version wrote them.
    """
    batch: OpenBatch | None = None
    for kind, payload, end in frames(data):
        if kind == HEADER:
            batch = OpenBatch(msgspec.msgpack.decode(payload, type=BatchInfo))
        if batch is None:
            return None
        if kind == INTENTS:
            _take(batch, msgspec.msgpack.decode(payload, type=Intents))
        elif kind == RECORD:
            batch.sealed = msgspec.msgpack.decode(payload, type=BatchInfo)
        batch.end = end
    return batch


def _take(batch: OpenBatch, group: Intents) -> None:
    batch.done |= set(group.done)
    batch.settled = max(batch.settled, group.settled)
    for intent in group.intents:
        batch.intents[intent.number] = intent
