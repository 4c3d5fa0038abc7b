"""The words of a text and their weights."""

from __future__ import annotations

import unicodedata
from math import log

import pytest

from vaultkeeper.core.tokens import term_weights, tokens


@pytest.mark.rule("K-60")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("长期记忆", ["长", "期", "记", "忆", "长期", "期记", "记忆"]),
        ("忆", ["忆"]),
        ("用 Markdown 作", ["用", "markdown", "作"]),
        ("Hello, World-wide foo_bar", ["hello", "world", "wide", "foo", "bar"]),
        ("a B c 7 x1 42", ["7", "x1", "42"]),
        ("can't", ["can"]),
        ("版本v2发布", ["版", "本", "版本", "v2", "发", "布", "发布"]),
        ("事实，来源", ["事", "实", "事实", "来", "源", "来源"]),
        ("ＡＢＣ１２", ["abc12"]),
        ("résumé", ["resume"]),
        ("йод", ["йод"]),
        ("Straße", ["strasse"]),
        ("カタカナ", ["カ", "タ", "カ", "ナ", "カタ", "タカ", "カナ"]),
        ("ｶﾞ", ["ガ"]),
        ("𠮷野", ["𠮷", "野", "𠮷野"]),
        ("", []),
        ("!?…—", []),
        ("\ud800x1", ["x1"]),
    ],
)
def test_a_text_gives_its_words(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@pytest.mark.rule("K-60")
@pytest.mark.parametrize("text", ["학점인정", "résumé", "がぎぐ", "Ångström"])
def test_composed_and_decomposed_text_have_the_same_words(text: str) -> None:
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(unicodedata.normalize("NFC", text)) != []


@pytest.mark.rule("K-61")
def test_a_word_weighs_by_field_and_by_how_often_it_stands_there() -> None:
    weights = term_weights("Alpha", ["alpha beta"], ["beta"], "gamma gamma gamma", "alpha gamma delta delta")
    assert weights == pytest.approx(
        {
            "alpha": 8 + 6 + 1,
            "beta": 6 + 6,
            "gamma": 3 * (1 + log(3)) + 1,
            "delta": 1 + log(2),
        }
    )


@pytest.mark.rule("K-61")
def test_a_word_in_two_aliases_is_one_word_twice_in_one_field() -> None:
    assert term_weights("", ["alpha", "alpha"], [], "", "") == pytest.approx({"alpha": 6 * (1 + log(2))})


@pytest.mark.rule("K-61")
def test_no_pair_reaches_from_one_alias_into_the_next() -> None:
    assert "乙丙" not in term_weights("", ["甲乙", "丙丁"], [], "", "")
