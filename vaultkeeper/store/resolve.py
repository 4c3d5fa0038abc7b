"""A half-done intent, after a kill or a failure: finished or taken back by what stands on disk, and only that (K-23).

All of it looks first and can itself be killed and begun again.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass

from vaultkeeper.core.errors import VaultkeeperError
from vaultkeeper.core.note import Snapshot
from vaultkeeper.core.slug import split_path
from vaultkeeper.store.atomic import discard, place_new
from vaultkeeper.store.disk import Folder
from vaultkeeper.store.records import Intent
from vaultkeeper.store.steps import Steps, changes_case_only
from vaultkeeper.store.tree import LinkRefusedError

_Place = tuple[Folder, str]


@dataclass(frozen=True, slots=True)
class _Scene:
    """What stands at the places an intent uses; folders that are gone hold nothing."""

    old_folder: Folder | None
    new_folder: Folder | None
    old: Snapshot | None
    new: Snapshot | None
    temp: Snapshot | None
    aside: Snapshot | None


def resolve(steps: Steps, intent: Intent, *, restarted: bool) -> bool:
    """Finish or take back; says whether the intent is done now.

    Args:
        steps: the files.
        intent: what was meant to be done.
        restarted: whether the process that began it is gone. Then a file that is where it should be got there by the
            intent; else it was somebody else who was faster, since the intent has just failed.

    Raises:
        OSError, VaultkeeperError: it stays half done for now; whole copies stand somewhere all the same.
    """
    with ExitStack() as stack:
        scene = _look(steps, intent, stack)
        if intent.kind == "new":
            return _resolve_new(steps, intent, scene, restarted=restarted)
        if intent.kind == "rewrite":
            return _resolve_rewrite(steps, intent, scene)
        if intent.kind == "trash":
            return _resolve_trash(steps, intent, scene, restarted=restarted)
        if intent.rewrites and changes_case_only(intent):
            return _resolve_case(steps, intent, scene)
        return _resolve_move(steps, intent, scene, restarted=restarted)


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


def _drop_temp(steps: Steps, intent: Intent, scene: _Scene) -> None:
    """Where nothing is exchanged, the private name only ever holds our bytes, whole or torn."""
    if scene.new_folder is not None and scene.temp is not None:
        discard(steps.disk, scene.new_folder, intent.temp)


def _resolve_new(steps: Steps, intent: Intent, scene: _Scene, *, restarted: bool) -> bool:
    folder, empty = scene.new_folder, scene.new is not None and not scene.new.data
    if restarted and empty and folder is not None and _is(scene.temp, intent.after):
        # `place_new`'s last resort: an empty file holds the name until the bytes follow.
        steps.disk.replace(folder, intent.temp, folder, split_path(intent.to)[1])
        return True
    _drop_temp(steps, intent, scene)
    return _is(scene.new, intent.after)


def _resolve_rewrite(steps: Steps, intent: Intent, scene: _Scene) -> bool:
    folder, name = scene.old_folder, split_path(intent.path)[1]
    if folder is None or scene.temp is None:
        return _is(scene.old, intent.after)
    if (
        scene.temp.digest == intent.before
    ):  # exchanged; what became of the new bytes since is somebody else's doing
        discard(steps.disk, folder, intent.temp)
        return True
    if _is(scene.old, intent.after):
        _swap_back(steps, intent, folder, name)
        return False
    if _is(scene.old, intent.before) or scene.temp.digest == intent.after:
        discard(steps.disk, folder, intent.temp)
        return False
    steps.let_go(
        folder, intent.temp, intent.path
    )  # torn bytes of ours, or fresh ones of somebody: not to be told apart
    return False


def _swap_back(steps: Steps, intent: Intent, folder: Folder, name: str) -> None:
    """What came out of the exchange were somebody's fresh bytes: they stand in their place again."""
    steps.disk.exchange(folder, intent.temp, name)
    if steps.digest(folder, intent.temp) != intent.after:  # saved once more in between: that is the latest
        steps.disk.exchange(folder, intent.temp, name)
    steps.let_go(folder, intent.temp, intent.path, intent.after)


def _resolve_case(steps: Steps, intent: Intent, scene: _Scene) -> bool:
    """A rewrite and then a rename of the same file."""
    if scene.old is not None and not _resolve_rewrite(steps, intent, scene):
        return False
    if scene.old is None:
        if scene.new_folder is not None:
            steps.let_go(scene.new_folder, intent.temp, intent.path, intent.before, intent.after)
        return scene.new is not None
    with steps.source(intent) as source, steps.target(intent) as target:
        steps.rename_new(intent, source, target)
    return True


def _resolve_trash(steps: Steps, intent: Intent, scene: _Scene, *, restarted: bool) -> bool:
    if scene.old_folder is None or scene.aside is None:
        return restarted and scene.old is None
    if scene.aside.digest == intent.before:
        discard(steps.disk, scene.old_folder, intent.aside)
        return True
    _put_back(steps, intent, scene.old_folder)
    return False


def _put_back(steps: Steps, intent: Intent, folder: Folder) -> None:
    """What was set aside gets its name again, or is kept where somebody else has taken that."""
    with suppress(FileExistsError):
        place_new(steps.disk, folder, intent.aside, split_path(intent.path)[1])
        return
    steps.let_go(folder, intent.aside, intent.path, intent.before)


def _resolve_move(steps: Steps, intent: Intent, scene: _Scene, *, restarted: bool) -> bool:
    _drop_temp(steps, intent, scene)
    if scene.aside is not None and scene.old_folder is not None:
        return _resolve_aside(steps, intent, scene, scene.old_folder)
    if scene.old is None:
        return restarted and scene.new is not None
    if intent.rewrites and _is(scene.new, intent.after):
        _take_new_away(steps, intent, scene)
        return False
    # A pure move is one rename. Both places filled with the same bytes: a copy of somebody's, which is not ours to take.
    return restarted and not intent.rewrites and scene.new is not None and scene.old.digest != intent.before


def _resolve_aside(steps: Steps, intent: Intent, scene: _Scene, folder: Folder) -> bool:
    if _is(scene.aside, intent.before) and scene.new is not None:
        discard(steps.disk, folder, intent.aside)
        return True
    _put_back(steps, intent, folder)
    _take_new_away(steps, intent, scene)
    return False


def _take_new_away(steps: Steps, intent: Intent, scene: _Scene) -> None:
    if scene.new_folder is not None and _is(scene.new, intent.after):
        with suppress(OSError, VaultkeeperError):
            name = split_path(intent.to)[1]
            if steps.digest(scene.new_folder, name) == intent.after:
                discard(steps.disk, scene.new_folder, name)
