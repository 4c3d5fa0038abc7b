"""Laws of reading frontmatter values: they hold for whatever a file says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultkeeper.core.fields import claims, clean_tags, match_word, read_fields
from vaultkeeper.core.note import NotePath
from vaultkeeper.core.timestamps import read_time
from vaultkeeper.core.yamltext import Quoted, Value
from vaultkeeper.formats.longterm import LONGTERM

_WORDS = st.sampled_from(
    ["active", "Active", "活动", "pending", "arch", "决策", "null", "~", "", "1", "999", "-5", "2026-10-17", "是", "[a, b]", "a、b"]
)  # fmt: skip
_SCALARS = st.one_of(_WORDS, _WORDS.map(Quoted), st.text(max_size=20))
_LEAVES: st.SearchStrategy[Value] = st.one_of(st.none(), _SCALARS)
_VALUES: st.SearchStrategy[Value] = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
_KEYS = st.sampled_from([*(key.name for key in LONGTERM.keys), "tag", "Alias", "STATUS", "own", ""])
_FRONT = st.dictionaries(_KEYS, _VALUES, max_size=12)
_PATHS = st.sampled_from(["a.md", "Decisions/a.md", "Projects/State/b/a.md", ".md", "Inbox/x"]).map(NotePath)

law = settings(max_examples=200, deadline=None)


@pytest.mark.rule("K-2", "LT-32")
@law
@given(_FRONT, _PATHS, st.text(max_size=5))
def test_whatever_a_file_says_is_read_in_the_formats_words(
    values: dict[str, Value], path: NotePath, heading: str
) -> None:
    claims(values, LONGTERM)
    fields = read_fields(values, {}, LONGTERM, path, heading)
    assert fields.type in {word.name for word in LONGTERM.types}
    assert fields.status in {word.name for word in LONGTERM.statuses}
    assert fields.importance is None or 0 <= fields.importance <= 100
    assert fields.created_at == "" or read_time(fields.created_at) == fields.created_at
    assert fields.updated_at == "" or read_time(fields.updated_at) == fields.updated_at
    assert fields.title_given or fields.title or not heading
    assert clean_tags(fields.tags, fields.type) == fields.tags


@pytest.mark.rule("LT-32")
@law
@given(_FRONT)
def test_trust_never_rises(values: dict[str, Value]) -> None:
    fields = read_fields(values, {}, LONGTERM, NotePath("a.md"), "")
    if fields.status == "pending":
        return
    said = values[fields.key_names["status"]]
    while isinstance(said, list):
        (said,) = said
    assert isinstance(said, str)
    word = match_word(said, LONGTERM.statuses)
    assert word is not None
    assert word.name == fields.status


@pytest.mark.rule("K-6", "LT-32")
@law
@given(_FRONT)
def test_what_was_rewritten_has_nothing_to_rewrite(values: dict[str, Value]) -> None:
    fields = read_fields(values, {}, LONGTERM, NotePath("a.md"), "")
    mended = values | {fields.key_names[key]: word for key, word in fields.rewrites.items()}
    again = read_fields(mended, {}, LONGTERM, NotePath("a.md"), "")
    assert again.rewrites == {}
    assert (again.type, again.status) == (fields.type, fields.status)
