"""One frontmatter's values by canonical key, each as a text, a list, a word or a time; what is amiss becomes a finding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.format import Format
from vaultkeeper.core.note import NotePath
from vaultkeeper.core.timestamps import read_time
from vaultkeeper.core.vocabulary import WordTable, known_keys
from vaultkeeper.core.yamltext import Quoted, Value, as_list, split_words


def canonical_key(written: str, fmt: Format) -> str | None:
    """The format's key that a key as written stands for; None: it is the person's own."""
    known = known_keys(fmt)
    return known.get(written) or known.get(written.strip().casefold())


def names_of(values: Mapping[str, Value], fmt: Format) -> dict[str, str]:
    """Canonical key → key as written; a canonical spelling before a synonym, else the first."""
    names: dict[str, str] = {}
    for written in values:
        name = canonical_key(written, fmt)
        if name is not None and (name not in names or written == name):
            names[name] = written
    return names


_NULLS = frozenset({"null", "Null", "NULL", "~"})


def plain_text(value: Value) -> str | None:
    """The one text of a value: itself, or a list's only item; empty for nothing; None where there is no one text."""
    if isinstance(value, str):
        return "" if value in _NULLS and not isinstance(value, Quoted) else value.strip()
    if isinstance(value, list) and len(value) == 1:
        return plain_text(value[0])
    return None if value else ""


@dataclass(slots=True)
class FieldReader:
    """One frontmatter being read, with what was noticed on the way; one per call of `read_fields`."""

    values: Mapping[str, Value]
    lines: Mapping[str, int]
    fmt: Format
    path: NotePath
    names: dict[str, str]
    rewrites: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def report_doubles(self) -> None:
        """Note a finding for each key that says what a synonym of it says already: `tag` beside `tags` (K-15).

        The same key twice, whatever its case, is the business of whoever read the frontmatter.
        """
        for written in self.values:
            name = canonical_key(written, self.fmt)
            taken = self.names[name] if name is not None else written
            if taken.casefold() != written.casefold():
                line, other = self.lines.get(written, 1), self.lines.get(taken, 1)
                self.findings.append(found("duplicate-key", self.path, line, key=written, other=other))

    def get(self, key: str) -> Value:
        """The value of a canonical key; None when missing or empty."""
        return self.values.get(self.names[key]) if key in self.names else None

    def say(self, code: str, key: str, /, **facts: object) -> None:
        """Note a finding at the key's line; a missing key's is the frontmatter's first."""
        self.findings.append(found(code, self.path, self.lines.get(self.names.get(key, ""), 1), **facts))

    def text(self, key: str) -> str:
        """The key's one text; empty when missing, and with a finding when it holds several or a mapping."""
        text = plain_text(self.get(key))
        if text is None:
            self.say("not-one-value", key, key=key)
        return text or ""

    def items(self, key: str, split: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
        """The key's list, in order and without doubles; `split` takes a text apart that stands in a list's place."""
        value = self.get(key)
        if plain_text(value) == "":
            return ()
        listed = as_list(value)
        if listed is None:
            self.say("not-a-list", key, key=key)
            return ()
        if isinstance(value, str) and len(listed) == 1 and listed[0].strip() == value.strip():
            listed = list(split(value))
        return tuple(dict.fromkeys(item for item in map(str.strip, listed) if item))

    def word(self, key: str, table: WordTable, *, missing: str, unknown: str) -> tuple[str, bool]:
        """The format's word for what the key says, and whether it is known (LT-32, LT-38)."""
        written = self.text(key)
        if not written:
            self.say("missing-key", key, key=key, taken=missing)
            return missing, key not in self.names
        word = table.match(written)
        taken = word.name if word else unknown
        if word is None:
            self.say(f"unknown-{key}", key, word=written, taken=taken)
        if taken != written:
            self.rewrites[key] = taken
        return taken, word is not None

    def time(self, key: str, missing: str) -> tuple[str, bool]:
        """The canonical time that the key tells, and whether it does (LT-30, LT-33)."""
        written = self.text(key)
        instant = read_time(written) if written else None
        if instant is not None:
            return instant, True
        if written:
            self.say("bad-date", key, key=key, word=written)
        else:
            self.say("missing-key", key, key=key, taken=missing or "mtime")
        return missing, False


def split_at_commas(text: str) -> Iterable[str]:
    """The items of a text in a list's place: `a, b` is two, `New York` is one, and so is what was quoted (K-17)."""
    if isinstance(text, Quoted) or not re.search("[,，、]", text):
        return (text,)
    return split_words(text)
