"""Actions and plans: what should happen to files, decided by the core and done by `store`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vaultkeeper.core.finding import Finding
from vaultkeeper.core.note import NotePath

Op = Literal["create", "rewrite", "move", "page", "trash"]
"""IF-3. create: a new note. rewrite: new bytes in place. move: a new place, with or without new bytes. page: an index
page written or made. trash: a file taken away into the undo store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One step on one file. It is dropped, not forced, where the file is no longer what `expects` says (K-21)."""

    op: Op
    path: NotePath
    expects: str | None
    """Digest of the bytes at `path` that the plan was made from; None: nothing may stand there."""
    data: bytes | None = None
    """The new bytes; None for a trash or for a move that changes no byte."""
    to: NotePath | None = None
    """The new place of a move."""
    rule: str
    """The id of the rule that wants it, such as `LT-10`."""
    reason: str
    """A short English clause for people: `status is archived`."""
    journal: tuple[JournalLine, ...] = ()
    """What the journal says once the step is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalLine:
    """One line of the journal (LT-53) but for `at`, which the batch adds."""

    op: str
    id: str
    reason: str
    before: str = ""
    after: str = ""
    source: str = "vaultkeeper"
    from_path: str = ""
    to_path: str = ""


Grace = Literal["settle", "repair", "touch"]
"""How long a note must be quiet before its actions are done (K-31): settle, `repair_grace`, `touch_grace`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would bring the planned notes to where their format says they should be; no actions when they are there."""

    actions: tuple[Action, ...] = ()
    findings: tuple[Finding, ...] = ()
    """What was noticed while deciding; findings of single notes as read stand in their entries."""
    waiting: Mapping[NotePath, Grace] = field(default_factory=dict)
    """Notes that an action is decided for but whose wait is not over."""
    held: frozenset[NotePath] = frozenset()
    """Notes that an action is decided for but which a person took back (K-50)."""
    settled: frozenset[NotePath] = frozenset()
    """Memories with nothing left to do: what they are now is what later decisions compare with."""
    lines: tuple[JournalLine, ...] = ()
    """What people and other tools did to settled notes, for the journal."""
    taken: Mapping[NotePath, NotePath] = field(default_factory=dict)
    """Where each moved note goes, by where it stands."""
    journeys: Mapping[NotePath, NotePath] = field(default_factory=dict)
    """Where each note that was or is moved will stand, by where links still look for it."""
    mended: frozenset[NotePath] = frozenset()
    """Notes whose actions mend links for those journeys."""
