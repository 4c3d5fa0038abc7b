"""A half-done intent, after a kill or a failure: finished or taken back by what stands on disk, and only that (K-23).

All of it looks first and can itself be killed and begun again.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Final

from vaultkeeper.core.errors import ChangedMeanwhileError
from vaultkeeper.core.note import Snapshot
from vaultkeeper.core.slug import split_path
from vaultkeeper.store.atomic import discard, place_new
from vaultkeeper.store.disk import Folder
from vaultkeeper.store.records import Intent
from vaultkeeper.store.steps import Steps, changes_case_only
from vaultkeeper.store.tree import LinkRefusedError, UnreadableError

_TIME_STEP_NS: Final = 2_000_000_000
"""How coarsely a file system may keep times: FAT."""


@dataclass(frozen=True, slots=True)
class _Scene:
    """What stands at the places an intent uses; folders that are gone hold nothing."""

    old_folder: Folder | None
    new_folder: Folder | None
    old: Snapshot | None
    new: Snapshot | None
    temp: Snapshot | None
    aside: Snapshot | None


def resolve(steps: Steps, intent: Intent, *, ours: bool) -> bool:
    """Finish or take back; says whether the intent is done now.

    Args:
        steps: the files.
        intent: what was meant to be done.
        ours: whether what is where it should be got there by the intent: after a restart, or an error of the system that
            may have come after the deed. Not so where somebody else was faster.

    Raises:
        OSError, VaultkeeperError: it stays half done for now; whole copies stand somewhere all the same.
    """
    with ExitStack() as stack:
        scene = _look(steps, intent, stack)
        if intent.kind == "new":
            return _resolve_new(steps, intent, scene, ours=ours)
        if intent.kind == "rewrite":
            return _resolve_rewrite(steps, intent, scene, ours=ours)
        if intent.kind == "trash":
            return _resolve_trash(steps, intent, scene, ours=ours)
        if intent.rewrites and changes_case_only(intent) and _is_renamed(scene):
            return _resolve_case(steps, intent, scene, ours=ours)
        return _resolve_move(steps, intent, scene, ours=ours)


def clear(steps: Steps, intent: Intent) -> None:
    """Remove the private names of an intent that was done; the file itself may be anywhere by now.

    Raises:
        OSError, VaultkeeperError: they stay for now.
    """
    with ExitStack() as stack:
        for path, private in ((intent.to, intent.temp), (intent.path, intent.aside)):
            folder = _folder(steps, path, stack)
            if folder is not None and not steps.let_go(folder, private, path, intent.before, intent.after):
                raise UnreadableError(path, "its old bytes could not be removed")


def _look(steps: Steps, intent: Intent, stack: ExitStack) -> _Scene:
    old_folder, new_folder = (_folder(steps, path, stack) for path in (intent.path, intent.to))

    def there(folder: Folder | None, name: str) -> Snapshot | None:
        return steps.snapshot(folder, name) if folder is not None else None

    return _Scene(
        old_folder,
        new_folder,
        old=there(old_folder, split_path(intent.path)[1]),
        new=there(new_folder, split_path(intent.to)[1]),
        temp=there(new_folder, intent.temp),
        aside=there(old_folder, intent.aside),
    )


def _folder(steps: Steps, path: str, stack: ExitStack) -> Folder | None:
    try:
        return stack.enter_context(steps.tree.folder(split_path(path)[0]))
    except (FileNotFoundError, NotADirectoryError, LinkRefusedError):
        return None


def _is(snapshot: Snapshot | None, digest: str | None) -> bool:
    return snapshot is not None and snapshot.digest == digest


def _is_placeholder(intent: Intent, scene: _Scene) -> bool:
    """Whether the place holds the empty file of `place_new`'s last resort, and the bytes have yet to follow."""
    return scene.new is not None and not scene.new.data and _is(scene.temp, intent.after)


def _remove(steps: Steps, folder: Folder, name: str) -> None:
    if not discard(steps.disk, folder, name):
        raise UnreadableError(name, "it could not be removed")


def _drop_temp(steps: Steps, intent: Intent, scene: _Scene) -> None:
    """Where nothing is exchanged, the private name only ever holds our bytes, whole or torn."""
    if scene.new_folder is not None and scene.temp is not None:
        _remove(steps, scene.new_folder, intent.temp)


# a new file, or new bytes for one ----------------------------------------------------------------------------------


def _resolve_new(steps: Steps, intent: Intent, scene: _Scene, *, ours: bool) -> bool:
    folder = scene.new_folder
    if ours and folder is not None and _is_placeholder(intent, scene):
        steps.disk.replace(folder, intent.temp, folder, split_path(intent.to)[1])
        return True
    _drop_temp(steps, intent, scene)
    return ours and _is(scene.new, intent.after)


def _resolve_rewrite(steps: Steps, intent: Intent, scene: _Scene, *, ours: bool) -> bool:
    folder = scene.new_folder
    if folder is None or scene.temp is None:
        return ours and _is(scene.new, intent.after)
    if _is(scene.new, intent.before) or scene.temp.digest == intent.after:  # nothing was exchanged
        _remove(steps, folder, intent.temp)
        return False
    if scene.temp.digest == intent.before:
        # Exchanged; what became of the new bytes since is somebody else's doing.
        _remove(steps, folder, intent.temp)
        return True
    if scene.new is not None and scene.new.digest == intent.after and not _is_torn(scene.temp, scene.new):
        _swap_back(steps, intent, folder)
    else:  # torn bytes of ours, or fresh ones of somebody: not to be told apart
        steps.let_go(folder, intent.temp, intent.path)
    return False


def _is_torn(temp: Snapshot, whole: Snapshot) -> bool:
    """Whether these are the beginning of the whole bytes, perhaps with a tail that a loss of power left blank."""
    return bool(temp.digest) and whole.data.startswith(temp.data.rstrip(b"\0"))


def _swap_back(steps: Steps, intent: Intent, folder: Folder) -> None:
    """What came out of the exchange were somebody's fresh bytes: they stand in their place again."""
    name = split_path(intent.to)[1]
    steps.disk.exchange(folder, intent.temp, name)
    if steps.digest(folder, intent.temp) != intent.after:  # saved once more in between: that is the latest
        steps.disk.exchange(folder, intent.temp, name)
    steps.let_go(folder, intent.temp, intent.path, intent.after)


# a file taken away -------------------------------------------------------------------------------------------------


def _resolve_trash(steps: Steps, intent: Intent, scene: _Scene, *, ours: bool) -> bool:
    if scene.old_folder is None or scene.aside is None:
        return ours and scene.old is None
    if scene.aside.digest == intent.before:
        _remove(steps, scene.old_folder, intent.aside)
        return True
    _put_back(steps, intent, scene.old_folder, scene.old)
    return False


def _put_back(steps: Steps, intent: Intent, folder: Folder, old: Snapshot | None) -> None:
    """What was set aside gets its name again, or is kept where somebody else has taken that."""
    name = split_path(intent.path)[1]
    # The last resort of `place_new`, killed in the middle.
    if old is not None and old.digest and not old.data:
        steps.disk.replace(folder, intent.aside, folder, name)
        return
    with suppress(FileExistsError):
        place_new(steps.disk, folder, intent.aside, name)
        return
    steps.let_go(folder, intent.aside, intent.path)


# a file in a new place ---------------------------------------------------------------------------------------------


def _is_renamed(scene: _Scene) -> bool:
    """Whether a name that differs by case only was given already, or the disk takes both names for one."""
    if scene.new is None or scene.aside is not None:
        return False
    return scene.old is None or scene.old.digest == scene.new.digest


def _resolve_case(steps: Steps, intent: Intent, scene: _Scene, *, ours: bool) -> bool:
    """A rename of a file and then new bytes for it."""
    if _resolve_rewrite(steps, intent, scene, ours=ours):
        return True
    with suppress(ChangedMeanwhileError), steps.source(intent) as source, steps.target(intent) as target:
        steps.rename_back(intent, target, source)
    return False


def _resolve_move(steps: Steps, intent: Intent, scene: _Scene, *, ours: bool) -> bool:
    if scene.aside is not None and scene.old_folder is not None:
        _drop_temp(steps, intent, scene)
        return _resolve_aside(steps, intent, scene, scene.old_folder)
    if scene.old is None:
        _drop_temp(steps, intent, scene)
        return ours and scene.new is not None
    if ours and scene.new_folder is not None and _is_placeholder(intent, scene):
        _remove(steps, scene.new_folder, split_path(intent.to)[1])
        _drop_temp(steps, intent, scene)
        return False
    _drop_temp(steps, intent, scene)
    if _is_one_file(steps, intent, scene):
        return ours and _is_spelled_as_wanted(steps, intent, scene)
    if ours and _is_our_copy(intent, scene.new):
        _take_new_away(steps, intent, scene)
        return False
    # Renamed, and somebody made a new file in the old place since.
    return ours and not intent.rewrites and scene.new is not None and scene.old.digest != intent.before


def _is_one_file(steps: Steps, intent: Intent, scene: _Scene) -> bool:
    """Whether the disk takes both names for one, so that whatever stands there is no copy."""
    if scene.old_folder is None or scene.new_folder is None:
        return False
    old_name, new_name = split_path(intent.path)[1], split_path(intent.to)[1]
    return steps.is_one_file((scene.old_folder, old_name), (scene.new_folder, new_name))


def _is_spelled_as_wanted(steps: Steps, intent: Intent, scene: _Scene) -> bool:
    return scene.new_folder is not None and split_path(intent.to)[1] in steps.disk.names(scene.new_folder)


def _is_our_copy(intent: Intent, new: Snapshot | None) -> bool:
    if new is None or new.digest != intent.after:
        return False
    return intent.rewrites or abs(new.stat.mtime_ns - (intent.mtime_ns or 0)) <= _TIME_STEP_NS


def _resolve_aside(steps: Steps, intent: Intent, scene: _Scene, folder: Folder) -> bool:
    if _is(scene.aside, intent.before) and scene.new is not None:
        _remove(steps, folder, intent.aside)
        return True
    _put_back(steps, intent, folder, scene.old)
    _take_new_away(steps, intent, scene)
    return False


def _take_new_away(steps: Steps, intent: Intent, scene: _Scene) -> None:
    if scene.new_folder is not None and _is(scene.new, intent.after):
        name = split_path(intent.to)[1]
        if steps.digest(scene.new_folder, name) == intent.after:
            _remove(steps, scene.new_folder, name)
