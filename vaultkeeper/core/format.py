"""Format: the data that tells the core how one kind of vault is laid out; every format is a value of this type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Language = Literal["zh", "en"]
KeyKind = Literal[
    "id",
    "type",
    "status",
    "title",
    "time",
    "tags",
    "list",
    "ids",
    "id-ref",
    "importance",
    "flag",
    "confidence",
    "text",
    "schema",
]
"""How the text of a key is read; `core/fields.py` has one reader for each."""


@dataclass(frozen=True, slots=True)
class Bilingual:
    """One text in the two languages of vaults (K-96)."""

    zh: str
    en: str

    def __getitem__(self, language: Language) -> str:
        """The text in that language."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a format's vocabulary (a type, a status, a confidence)."""

    name: str
    label: Bilingual
    folder: str | None = None
    """The folder it asks for, vault-relative; None: this word has no say."""
    synonyms: tuple[str, ...] = ()
    """Other ways people write it; compared after NFKC, case folding and with blanks, `_` and `-` alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One frontmatter key that the format knows, in the order it is written in a new note."""

    name: str
    kind: KeyKind
    required: bool = False
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSection:
    """A `##` section with a meaning of its own; read under any of its headings, written under the vault's language's."""

    heading: Bilingual
    empty: Bilingual = field(default_factory=lambda: Bilingual("", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """The file that makes a folder a vault of this format."""

    path: str
    product: str
    """Value of its `product` key."""
    schema_version: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Format:
    """A vault format as data. What the core does with a field stands at the core's function that reads it.

    Two formats are the same only when they are the same object, so that tables made from one can be cached by it.
    """

    id: str
    marker: Marker
    private: str
    """The keeper's own folder in the vault."""
    index_folder: str
    folders: tuple[str, ...]
    """Made by `init`, in this order."""
    files: Mapping[str, Bilingual]
    """Made by `init` where missing, never rewritten: path → text."""
    template_folders: tuple[str, ...]
    """Folders whose notes are never touched (K-26), compared by `slug.same_name_key`."""
    types: tuple[Word, ...]
    statuses: tuple[Word, ...]
    """A status with a folder beats the type's folder."""
    confidences: tuple[Word, ...]
    default_type: str
    cautious_status: str
    """Taken for an unknown or missing status (LT-32): never raises trust."""
    adopted_status: str
    """Given to a note that a person drags out of a status folder into a type's folder (LT-13)."""
    dragged_statuses: Mapping[str, str]
    """Status folder → the status that a note takes when a person drags it there (LT-13)."""
    listed_statuses: tuple[str, ...]
    """Statuses that have an index page of their own."""
    keys: tuple[Key, ...]
    id_prefix: str
    id_pattern: str
    """Regular expression that a whole id matches; its first group is the UTC time `yyyymmddThhmmss`."""
    schema_version: int
    title_limit: int
    """Longest title in characters (LT-22)."""
    preview_limit: int
    """Length in characters of a record's preview and of a journal summary (LT-53)."""
    rules: Mapping[str, str]
    """Which rule of the specification stands behind a decision, by the decision's name (`place`, `drag`, `words`,
    `title`, `evidence`, `touch`): shown by `why` and in plans."""
    summary: OwnSection
    evidence: OwnSection
    related: OwnSection

    def type_word(self, name: str) -> Word:
        """The type called `name`; KeyError when the format has none."""
        return next(word for word in self.types if word.name == name)

    def status_word(self, name: str) -> Word:
        """The status called `name`; KeyError when the format has none."""
        return next(word for word in self.statuses if word.name == name)
