"""What an action will do, found out before it is written down: the bytes before, the free place, the intent (K-21, K-22)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal

from vaultkeeper.core.action import Action
from vaultkeeper.core.note import NotePath, Snapshot, Stat, digest_of
from vaultkeeper.core.slug import numbered, same_name_key, split_path
from vaultkeeper.store.atomic import temp_name
from vaultkeeper.store.records import Intent
from vaultkeeper.store.tree import LinkRefusedError, Tree, UnreadableError, parts_of

_GROUP_ACTIONS: Final = 500
_GROUP_BYTES: Final = 16_000_000
"""What is written down at once: enough to flush seldom, little enough to hold in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of one action."""

    action: Action
    state: Literal["done", "changed", "failed"]
    """changed: somebody else wrote; nothing was done, plan again. failed: see `reason`."""
    path: NotePath
    """Where the file stands now, or stood where it was taken away."""
    digest: str | None = None
    stat: Stat | None = None
    reason: str = ""
    taken: bool = False
    """Whether the wanted place was occupied, so that the next free number was taken (K-22)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """An action, with what the file gets besides its bytes."""

    action: Action
    mode: int | None = None
    mtime_ns: int | None = None


@dataclass(slots=True)
class Prepared:
    """An action that can be written down and done."""

    wish: Wish
    intent: Intent
    image: bytes | None
    taken: bool


class Names:
    """The names in one folder, where those that differ by case or normalisation only count as the same (K-25)."""

    def __init__(self, found: Sequence[str]) -> None:
        keys = same_name_key("/".join(found)).split("/")  # all at once: a folder may hold thousands
        self._names = dict(zip(keys, found, strict=True)) if found else {}
        all_differ = len(self._names) == len(found)
        self._shared = set() if all_differ else {key for key, times in Counter(keys).items() if times > 1}
        """Keys that several names have; one of them is in `_names`."""

    def add(self, name: str) -> None:
        """Have a name counted as taken."""
        key = same_name_key(name)
        if self._names.setdefault(key, name) != name:
            self._shared.add(key)

    def has(self, name: str, *, besides: str) -> bool:
        """Whether the name is taken by another file than the one of the name `besides`.

        A disk that is blind to case may have that file under another spelling.
        """
        key = same_name_key(name)
        if key not in self._names:
            return False
        return key in self._shared or not besides or same_name_key(besides) != key


@dataclass(slots=True)
class Group:
    """Actions that do not depend on one another, so that all can be written down before the first is done."""

    items: list[Prepared | Receipt] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    """Keys of all names that the actions use."""
    names: dict[str, Names] = field(default_factory=dict)
    """Names in the folders where something will stand."""
    size: int = 0

    def concerns(self, action: Action) -> bool:
        """Whether the action can only be prepared when these are done."""
        places = {same_name_key(action.path), same_name_key(action.to or action.path)}
        return len(self.items) >= _GROUP_ACTIONS or self.size >= _GROUP_BYTES or bool(places & self.places)

    def speak_for(self, action: Action, target: NotePath) -> None:
        """Have the names that an action uses counted as taken."""
        self.places |= {same_name_key(action.path), same_name_key(target)}
        folder, name = split_path(target)
        if folder in self.names:
            self.names[folder].add(name)


def prepare(tree: Tree, wish: Wish, number: int, group: Group) -> Prepared | Receipt:
    """Find out what an action will do and take it into the group; the receipt where nothing can be done.

    Args:
        tree: the vault.
        wish: the action.
        number: of its intent.
        group: what will be done together with it, and so what places are spoken for.
    """
    action = wish.action
    try:
        before = tree.read(action.path)
        if (before.digest if before is not None else None) != action.expects:
            return Receipt(action=action, state="changed", path=action.path)
        _refuse(wish, before)
        target = _free_place(tree, action, group)
        target.encode(), action.path.encode()
    except UnicodeEncodeError:
        reason = "its name is not valid Unicode; rename it"
        return Receipt(action=action, state="failed", path=action.path, reason=reason)
    except (LinkRefusedError, UnreadableError, OSError) as error:
        return Receipt(action=action, state="failed", path=action.path, reason=words_of(error))
    group.speak_for(action, target)
    image = before.data if before is not None else None
    group.size += len(image or b"") + len(action.data or b"")
    intent = _intent(wish, before, target, number)
    return Prepared(wish, intent, image, taken=target != (action.to or action.path))


def _refuse(wish: Wish, before: Snapshot | None) -> None:
    """K-28: a file that its owner made read-only is not written."""
    if before is not None and wish.action.data is not None and not before.mode & 0o222:
        raise UnreadableError(before.path, "it is read-only")


def _free_place(tree: Tree, action: Action, group: Group) -> NotePath:
    """Where the file will stand: the wanted place, or the next free number of it (K-22, K-25)."""
    if action.op != "create" and action.to in {None, action.path}:
        return action.path
    wanted = action.path if action.to is None else action.to
    parts_of(wanted)
    folder = split_path(wanted)[0]
    if folder not in group.names:
        group.names[folder] = _names(tree, folder)
    taken, own = group.names[folder], ""
    if action.op != "create" and split_path(action.path)[0] == folder:
        own = split_path(action.path)[1]
    place, number = wanted, 1
    while taken.has(split_path(place)[1], besides=own):
        number += 1
        place = NotePath(numbered(wanted, number))
    return place


def _names(tree: Tree, folder: str) -> Names:
    with suppress(FileNotFoundError), tree.folder(folder) as opened:
        return Names(tree.disk.names(opened))
    return Names([])


def _intent(wish: Wish, before: Snapshot | None, target: NotePath, number: int) -> Intent:
    action = wish.action
    kept = before.digest if before is not None else None
    data_digest = digest_of(action.data) if action.data is not None else kept
    return Intent(
        number=number,
        op=action.op,
        path=target if before is None else action.path,
        to=target,
        wanted=action.to,
        before=kept,
        after=None if action.op == "trash" else data_digest,
        temp=temp_name(),
        aside=temp_name(),
        image=-1,
        size=before.stat.size if before is not None else 0,
        mode=before.mode if before is not None else None,
        mtime_ns=before.stat.mtime_ns if before is not None else None,
        new_mode=wish.mode if wish.mode is not None else before.mode if before is not None else None,
        new_mtime_ns=wish.mtime_ns if wish.mtime_ns is not None else _pure(action, before),
        rule=action.rule,
        reason=action.reason,
        lines=action.journal,
    )


def _pure(action: Action, before: Snapshot | None) -> int | None:
    """K-22: the time of a file that only moves survives, however it is moved."""
    return before.stat.mtime_ns if before is not None and action.data is None else None


def words_of(error: Exception) -> str:
    """Why something failed, as a receipt tells it."""
    if isinstance(error, LinkRefusedError | UnreadableError):
        return error.reason
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
