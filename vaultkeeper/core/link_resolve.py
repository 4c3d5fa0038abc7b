"""Which note a link opens: Obsidian's rules, over the names of all files of a vault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from vaultkeeper.core.link_syntax import Link
from vaultkeeper.core.note import NotePath
from vaultkeeper.core.slug import same_name_key

Way = Literal["dotted", "rooted", "beside", "path", "name"]
"""How a target reaches its note: `./x` or `../x`, `/x`, from the source's folder, from the vault's root or as the end of
a path, by the bare name."""


def loose_key(text: str) -> str:
    """What spellings of a title, alias or id have in common that count as the same name of a note (LT-43)."""
    return same_name_key(text.strip())


def joined(folder: str, target: str) -> str | None:
    """The vault path that a relative target means in that folder; None where it leads out of the vault."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def is_dotted(target: str) -> bool:
    """Whether a target says that it is relative to its note."""
    return target in {".", ".."} or target.startswith(("./", "../"))


class Resolver:
    """What Obsidian would open, over one set of paths; a value: `after` gives another one.

    Names count as the same whatever their case and Unicode normalisation (K-25).
    """

    def __init__(self, paths: Iterable[NotePath]) -> None:
        """Takes all files that a link may mean; attachments may be missing.

        Args:
            paths: vault paths, in any order.
        """
        names: dict[str, list[_Known]] = {}
        for path in paths:
            key = same_name_key(path)
            names.setdefault(_name(key), []).append((len(path), path, key))
        self._names = {name: tuple(sorted(same)) for name, same in names.items()}
        self._changes: dict[str, tuple[_Known, ...]] = {}
        self._folders: frozenset[str] | None = None

    def after(self, moves: Mapping[NotePath, NotePath]) -> Resolver:
        """The same vault with these moves made; what it costs depends on their number only.

        Args:
            moves: new paths by old ones; swaps and chains are understood.
        """
        return self.changed(moves, moves.values())

    def changed(self, gone: Iterable[NotePath], came: Iterable[NotePath]) -> Resolver:
        """The same vault without some files and then with others; costs as little as `after`."""
        other = Resolver(())
        other._names, other._changes = self._names, dict(self._changes)
        other._folders = self._folders
        for old in gone:
            name = _name(same_name_key(old))
            other._changes[name] = tuple(known for known in other._named(name) if known[1] != old)
        for new in came:
            key = same_name_key(new)
            other._changes[_name(key)] = tuple(sorted({*other._named(_name(key)), (len(new), new, key)}))
            if other._folders is not None and "/" in key:
                other._folders |= {key[: key.index("/")]}
        return other

    def _named(self, name: str) -> tuple[_Known, ...]:
        changed = self._changes.get(name)
        return self._names.get(name, ()) if changed is None else changed

    def resolve(self, target: str, source: NotePath) -> NotePath | None:
        """The file that a wikilink's target opens from the note `source`; None where it opens none.

        A name is looked for in the whole vault, a path from the root and then as the end of a path. Of several, the one
        in the source's folder is taken, then the one with the shortest path, then the first.
        """
        if is_dotted(target):
            return self._exact(joined(_folder(source), target))
        if target.startswith("/"):
            return self._exact(joined("", target))
        if "/" in target:
            return self._exact(joined("", target)) or self._ending(target, source)
        return self._by_name(target, source)

    def resolve_link(self, link: Link, source: NotePath) -> NotePath | None:
        """The file that a link in the note `source` opens; Markdown links look in the note's folder first."""
        if link.kind == "markdown" and not link.target.startswith("/"):
            beside = self._exact(joined(_folder(source), link.target))
            if beside is not None:
                return beside
        return self.resolve(link.target, source)

    def way(self, link: Link, source: NotePath) -> Way:
        """How a link reaches its file, or would."""
        target = link.target
        if is_dotted(target):
            return "dotted"
        if target.startswith("/"):
            return "rooted"
        if link.kind == "markdown" and self._exact(joined(_folder(source), target)) is not None:
            return "beside"
        return "path" if "/" in target else "name"

    def is_alone(self, path: NotePath) -> bool:
        """Whether no other file has a name that a link with this file's name could mean."""
        name = _name(same_name_key(path))
        return [known[1] for each in {name, name.removesuffix(".md")} for known in self._named(each)] == [
            path
        ]

    def has_folder(self, name: str) -> bool:
        """Whether a folder of that name, at the root of the vault, holds one of the files, or has held one."""
        if self._folders is None:
            kept = (*self._names.values(), *self._changes.values())
            keys = (known[2] for same in kept for known in same)
            self._folders = frozenset(key[: key.index("/")] for key in keys if "/" in key)
        return same_name_key(name) in self._folders

    def _candidates(self, target: str) -> Iterator[tuple[str, tuple[_Known, ...]]]:
        """What a target may mean, and the files of that name: the target as written, then with `.md` behind it."""
        key = same_name_key(target)
        for wanted in (key, key + ".md"):
            yield wanted, self._named(_name(wanted))

    def _exact(self, path: str | None) -> NotePath | None:
        for wanted, candidates in self._candidates(path) if path else ():
            same = [known[1] for known in candidates if known[2] == wanted]
            if same:  # several where names differ by case only; the one as written, then
                return next((each for each in same if each in {path, f"{path}.md"}), same[0])
        return None

    def _ending(self, target: str, source: NotePath) -> NotePath | None:
        folder = _folder(source)
        for wanted, candidates in self._candidates(target):
            same = [known[1] for known in candidates if known[2].endswith("/" + wanted)]
            if same:
                return next((path for path in same if _folder(path) == folder), same[0])
        return None

    def _by_name(self, name: str, source: NotePath) -> NotePath | None:
        folder = _folder(source)
        for _, candidates in self._candidates(name):
            if candidates:
                beside = self._exact(f"{folder}/{name}" if folder else name) if len(candidates) > 1 else None
                return beside or candidates[0][1]
        return None


_Known = tuple[int, NotePath, str]
"""A file: the length of its path, the path, and the path's `same_name_key`; in the order in which links prefer them."""


def _name(key: str) -> str:
    return key[key.rfind("/") + 1 :]


def _folder(path: str) -> str:
    return path[: max(path.rfind("/"), 0)]
