"""The catalog: one Entry for each Markdown file, with the look-ups that decisions need. In memory, pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from vaultkeeper.core.errors import AmbiguousNoteError, UnknownNoteError
from vaultkeeper.core.links import Resolver, loose_key
from vaultkeeper.core.note import Entry, NotePath
from vaultkeeper.core.slug import same_name_key, stem_of

_DRIFT = 1000
"""Changed paths after which the resolver is made anew: an updated one answers as well but holds on to what went."""


class Catalog:
    """Entries by path, kept together with who has which id and which names are taken.

    Only `put` and `drop` change it. Not safe for threads: it belongs to the keeper's one thread.
    """

    def __init__(self, entries: Mapping[NotePath, Entry] | None = None) -> None:
        self._entries: dict[NotePath, Entry] = {}
        self._ids: dict[str, tuple[NotePath, ...]] = {}
        self._names: dict[str, NotePath] = {}
        self._stems: Counter[str] = Counter()
        self._related: dict[NotePath, Entry] = {}
        self._resolver: Resolver | None = None
        self._gone: list[NotePath] = []
        self._came: list[NotePath] = []
        """Paths that went and came since the resolver was last asked for; a path may be in both."""
        self._drift = 0
        """How many went and came since the resolver was made from all paths."""
        self._linking: dict[str, set[NotePath]] | None = None
        for entry in (entries or {}).values():
            self.put(entry)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __contains__(self, path: object) -> bool:
        return path in self._entries

    @property
    def entries(self) -> Mapping[NotePath, Entry]:
        """All entries by path; not to be changed by the caller."""
        return self._entries

    def get(self, path: NotePath) -> Entry | None:
        """The entry of that path as it stands on disk."""
        return self._entries.get(path)

    def put(self, entry: Entry) -> None:
        """Take in an entry, in place of the one with its path."""
        old = self._entries.get(entry.path)
        if old is None:
            self._names[same_name_key(entry.path)] = entry.path
            self._stems[link_key(entry.path)] += 1
            self._came.append(entry.path)
        self._forget_parts(old, entry)
        self._entries[entry.path] = entry
        if _names_others(entry):
            self._related[entry.path] = entry
        if entry.record is not None and entry.kind == "memory":
            known = self._ids.get(entry.record.id, ())
            if entry.path not in known:
                self._ids[entry.record.id] = tuple(sorted((*known, entry.path)))
        if self._linking is not None:
            for key in map(link_key, entry.links):
                self._linking.setdefault(key, set()).add(entry.path)

    def drop(self, path: NotePath) -> Entry | None:
        """Forget the entry of that path; returns it."""
        old = self._entries.pop(path, None)
        if old is not None:
            self._stems[link_key(path)] -= 1
            key = same_name_key(path)
            if self._names.get(key) == path:
                del self._names[key]
            self._forget_parts(old, None)
            self._gone.append(path)
        return old

    def _forget_parts(self, old: Entry | None, new: Entry | None) -> None:
        if old is None:
            return
        self._related.pop(old.path, None)
        if old.record is not None and (new is None or new.record is None or new.record.id != old.record.id):
            rest = tuple(path for path in self._ids.get(old.record.id, ()) if path != old.path)
            if rest:
                self._ids[old.record.id] = rest
            else:
                self._ids.pop(old.record.id, None)
        if self._linking is not None:
            for key in map(link_key, old.links):
                self._linking.get(key, set()).discard(old.path)

    def holders(self, note_id: str) -> tuple[NotePath, ...]:
        """Paths of the memories that have this id, in order; more than one is a duplicate (LT-37)."""
        return self._ids.get(note_id, ())

    def by_id(self, note_id: str) -> Entry | None:
        """The one memory with that id; None where none or several have it."""
        paths = self._ids.get(note_id, ())
        return self._entries[paths[0]] if len(paths) == 1 else None

    def duplicates(self) -> dict[str, tuple[NotePath, ...]]:
        """Every id that stands in more than one note, with their paths."""
        doubled = ((note_id, paths) for note_id, paths in self._ids.items() if len(paths) > 1)
        return dict(sorted(doubled))

    @property
    def related(self) -> Iterable[Entry]:
        """Memories that name other notes by id, or whose status says that they should."""
        return self._related.values()

    def name_taken(self, path: str) -> bool:
        """Whether a note stands there under a name that counts as the same (K-25)."""
        return same_name_key(path) in self._names

    def others_named(self, path: NotePath) -> int:
        """How many other files have the file name of `path`, in whichever folder, so that links need a folder too."""
        return self._stems[link_key(path)] - (path in self._entries)

    @property
    def resolver(self) -> Resolver:
        """What Obsidian would open for a link, over all notes known now."""
        self._drift += len(self._gone) + len(self._came)
        if self._resolver is None or self._drift > _DRIFT:
            self._resolver, self._drift = Resolver(self._entries), 0
        elif self._gone or self._came:
            came = (path for path in self._came if path in self._entries)
            self._resolver = self._resolver.changed(self._gone, came)
        self._gone.clear()
        self._came.clear()
        return self._resolver

    def linking_to(self, path: NotePath) -> set[NotePath]:
        """Notes with a link whose last part is that note's file name: those a move of it may concern."""
        if self._linking is None:
            self._linking = {}
            for entry in self._entries.values():
                for key in map(link_key, entry.links):
                    self._linking.setdefault(key, set()).add(entry.path)
        return set(self._linking.get(link_key(path), ()))

    def find(self, reference: str) -> Entry:
        """The note that a person means by a path, an id or a title (IF-8).

        Raises:
            UnknownNoteError: none answers; `near` names notes whose title or name begins alike.
            AmbiguousNoteError: several have that title; ask for a path.
        """
        wanted = reference.strip()
        for path in (wanted, wanted + ".md"):
            exact = self._entries.get(NotePath(path)) or self._entries.get(
                self._names.get(same_name_key(path), NotePath(""))
            )
            if exact is not None:
                return exact
        holders = self.holders(wanted)
        matches = list(holders) or self._titled(wanted)
        if len(matches) == 1:
            return self._entries[matches[0]]
        if matches:
            raise AmbiguousNoteError(reference, tuple(matches))
        raise UnknownNoteError(reference, self._near(wanted))

    def _titled(self, title: str) -> list[NotePath]:
        key = loose_key(title)
        found: list[NotePath] = []
        for entry in self._entries.values():
            names = [stem_of(entry.path)]
            if entry.record is not None:
                names += [entry.record.title, *entry.record.aliases]
            if entry.kind != "page" and any(loose_key(name) == key for name in names):
                found.append(entry.path)
        return sorted(found)

    def _near(self, reference: str) -> tuple[str, ...]:
        key = loose_key(reference)[:4]
        if not key:
            return ()
        titles = (
            entry.record.title if entry.record else stem_of(entry.path) for entry in self._entries.values()
        )
        return tuple(sorted({title for title in titles if loose_key(title).startswith(key)})[:5])


PAIRED: Final = {"superseded": "superseded_by", "conflict": "conflicts_with"}
"""Statuses that only make sense with another note, and the key that names it."""


def _names_others(entry: Entry) -> bool:
    record = entry.record
    if record is None or entry.kind != "memory":
        return False
    named = record.superseded_by or record.supersedes or record.conflicts_with
    return bool(named) or record.status in PAIRED


def link_key(target: str) -> str:
    """What a link's target and the path it may mean have in common: the folded file name without `.md`."""
    name = same_name_key(target.rsplit("/", 1)[-1].strip())
    return name.removesuffix(".md")


def memories(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Those entries that are memories with a record."""
    return (entry for entry in entries if entry.kind == "memory" and entry.record is not None)
