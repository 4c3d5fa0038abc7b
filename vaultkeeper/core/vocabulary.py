"""A format's words and keys as look-up tables, understood in the ways that people write them (LT-24, LT-31, LT-32)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vaultkeeper.core.format import Format, Word


class WordTable:
    """One vocabulary of a format; `match` is one look-up for a word that is written as the format writes it."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._names = {word.name: word for word in words}
        self._others: dict[str, Word] = {}
        for word in words:
            self._others.setdefault(_fold(word.name), word)
        for word in words:
            for other in (*word.synonyms, word.label.zh, word.label.en):
                self._others.setdefault(_fold(other), word)

    def match(self, text: str) -> Word | None:
        """The word that a person means; None when it is none of them."""
        return self._names.get(text) or self._others.get(_fold(text))


_GAPS = re.compile(r"[\s_-]+")


def _fold(text: str) -> str:
    """What all ways to write a word have in common: width, case, and blanks, `_` and `-` alike."""
    return _GAPS.sub("-", unicodedata.normalize("NFKC", text).strip().casefold())


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tables of one format."""

    types: WordTable
    statuses: WordTable
    confidences: WordTable
    keys: dict[str, str]


@lru_cache(maxsize=16)
def vocabulary(fmt: Format) -> Vocabulary:
    """The tables of a format, made once."""
    keys: dict[str, str] = {}
    for key in fmt.keys:
        keys[key.name.casefold()] = key.name
    for key in fmt.keys:
        for synonym in key.synonyms:
            keys.setdefault(synonym.casefold(), key.name)
    return Vocabulary(
        types=WordTable(fmt.types),
        statuses=WordTable(fmt.statuses),
        confidences=WordTable(fmt.confidences),
        keys=keys,
    )


def known_keys(fmt: Format) -> dict[str, str]:
    """Every key that the format knows, and every synonym of one, case-folded → the key; not to be changed."""
    return vocabulary(fmt).keys


def match_word(text: str, words: Sequence[Word]) -> Word | None:
    """The word that a person means by the text: its name, label or synonym in any case or width, blanks, `_`, `-` alike."""
    return _table(tuple(words)).match(text)


@lru_cache(maxsize=64)
def _table(words: tuple[Word, ...]) -> WordTable:
    return WordTable(words)


def clean_tags(raw: Sequence[str], type_name: str) -> tuple[str, ...]:
    """Tags as LT-24 wants them: lower case, no `#`, `-` for blanks, no doubles, in order, the type's tag at least."""
    tags = ("-".join(tag.replace("#", " ").replace("＃", " ").lower().split()) for tag in raw)
    return tuple(dict.fromkeys(tag for tag in (*tags, type_name) if tag))
