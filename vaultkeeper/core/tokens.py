"""The words of a text for exports and comparisons, with Chinese, Japanese and Korean in mind (K-60, seed 001 section 6)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import log

_CJK = (
    "\u1100-\u11ff"  # Hangul jamo
    "\u3005-\u3007"  # 々 〆 〇
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3105-\u312f\u31a0-\u31bf"  # bopomofo
    "\u3131-\u318e\uac00-\ud7a3"  # Hangul
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
)
_RUN = re.compile(rf"(?P<cjk>[{_CJK}]+)|[^\W_{_CJK}]+")
_AS_IT_IS = re.compile(
    r"[\x00-\x7f\u2010-\u2027\u3000-\u3002\u3008-\u3011\u4e00-\u9fff\uff01-\uff0f\uff1a-\uff20]*"
)
"""Text whose words normalisation does not change: ASCII, common Chinese and punctuation, which is most of most vaults."""

_ACCENTED = re.compile("([a-z])[\u0300-\u036f]+")

TITLE_WEIGHT, NAME_WEIGHT, SUMMARY_WEIGHT, BODY_WEIGHT = 8, 6, 3, 1
"""Weight of a word in the title; in aliases and in tags; in the summary; in the body (K-61)."""


def tokens(text: str) -> list[str]:
    """The words of a text, in order, doubles kept.

    A run of letters and digits gives itself in lower case, unless it is a single letter. A run of CJK gives every
    character, then every adjacent pair: 长期记忆 → 长 期 记 忆 长期 期记 记忆. Full-width forms, letters composed or
    not, and Latin accents make no difference.
    """
    words: list[str] = []
    for run in _RUN.finditer(_fold(text)):
        word = run[0]
        if run["cjk"]:
            words += word
            words += map("".join, pairwise(word))
        elif len(word) > 1 or word.isdecimal():
            words.append(word)
    return words


def _fold(text: str) -> str:
    if _AS_IT_IS.fullmatch(text):
        return text.lower()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    # Accents go from Latin letters only: й without its breve is another letter.
    return unicodedata.normalize("NFC", _ACCENTED.sub(r"\1", apart))


def term_weights(
    title: str, aliases: Sequence[str], tags: Sequence[str], summary: str, body: str
) -> dict[str, float]:
    """How much each word of a note weighs, in order of first appearance (K-61).

    A word that occurs n times in a field weighs (1 + ln n) × the field's weight there; the fields are summed. Aliases
    and tags are two fields.
    """
    weights: dict[str, float] = {}
    for texts, weight in (
        ((title,), TITLE_WEIGHT),
        (aliases, NAME_WEIGHT),
        (tags, NAME_WEIGHT),
        ((summary,), SUMMARY_WEIGHT),
        ((body,), BODY_WEIGHT),
    ):
        for word, times in _counted(texts).items():
            weights[word] = weights.get(word, 0.0) + weight * (1 + log(times))
    return weights


def _counted(texts: Iterable[str]) -> Counter[str]:
    return Counter(word for text in texts for word in tokens(text))
