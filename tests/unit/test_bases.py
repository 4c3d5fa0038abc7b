"""The Bases view: valid YAML of the shape Obsidian reads, the same on every machine, known again while unchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from vaultkeeper.core.bases import BASE_PATH, bases_view, is_ours
from vaultkeeper.core.format import Bilingual, Language, Word
from vaultkeeper.formats.longterm import LONGTERM

LANGUAGES: tuple[Language, ...] = ("zh", "en")


def read(language: Language) -> Any:
    """The view as Obsidian's YAML reader sees it."""
    return yaml.safe_load(bases_view(LONGTERM, language))


def test_the_view_stands_in_the_index_folder() -> None:
    assert BASE_PATH.rsplit("/", 1) == [LONGTERM.index_folder, "Memories.base"]


@pytest.mark.rule("LT-54", "LT-35")
def test_only_memories_show() -> None:
    assert read("en")["filters"] == {
        "and": [
            'file.ext == "md"',
            {
                "or": [
                    'file.hasProperty("id") && note["id"].toString().startsWith("mem_")',
                    'file.hasProperty("schema_version")',
                ]
            },
            {"not": [f'file.inFolder("{folder}")' for folder in LONGTERM.template_folders]},
        ]
    }


@pytest.mark.rule("LT-54")
def test_the_first_view_shows_what_waits_to_be_confirmed() -> None:
    first = read("en")["views"][0]
    assert first["name"] == "Pending"
    assert first["filters"] == {"and": ['note["status"] == "pending"']}


@pytest.mark.rule("LT-54", "K-96")
@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("en", ["Pending", "By type", "By status", "Recently updated"]),
        ("zh", ["待确认", "按类型", "按状态", "最近更新"]),
    ],
)
def test_views_by_type_and_by_status_carry_names_in_the_vaults_language(
    language: Language, names: list[str]
) -> None:
    views = read(language)["views"]
    assert [view["name"] for view in views] == names
    assert [view.get("groupBy", {}).get("property") for view in views] == [
        None,
        "formula.kind",
        "formula.state",
        None,
    ]


@pytest.mark.rule("LT-54")
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_column_is_a_property_or_a_formula_of_the_view(language: Language) -> None:
    view = read(language)
    keys = {f"note.{key.name}" for key in LONGTERM.keys}
    formulas = {f"formula.{name}" for name in view["formulas"]}
    for each in view["views"]:
        assert each["type"] == "table"
        assert set(each["order"]) == set(view["properties"])
        assert set(each["order"]) <= keys | formulas
        assert {sort["property"] for sort in each["sort"]} <= keys
        assert {sort["direction"] for sort in each["sort"]} <= {"ASC", "DESC"}


@pytest.mark.rule("LT-54")
def test_grouping_by_status_begins_with_the_pending_ones() -> None:
    state = read("en")["formulas"]["state"]
    assert state.startswith(
        'if(note["status"] == "pending", "1 Pending", if(note["status"] == "active", "2 Active", '
    )
    assert state.endswith('note["status"]))))))')


@pytest.mark.rule("LT-54")
def test_labels_with_quotes_stay_strings() -> None:
    word = Word(name='a"b', label=Bilingual("'", 'it\'s \\ "so"'), folder="X")
    view = yaml.safe_load(bases_view(replace(LONGTERM, types=(word,)), "en"))
    assert view["formulas"]["kind"] == 'if(note["type"] == "a\\"b", "it\'s \\\\ \\"so\\"", note["type"])'


@pytest.mark.rule("LT-54", "K-7")
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_view_is_known_again_until_somebody_changes_it(language: Language) -> None:
    view = bases_view(LONGTERM, language)
    assert view == bases_view(LONGTERM, language)
    assert is_ours(view)
    assert is_ours(view.replace("\n", "\r\n"))
    for changed in (
        view + "\n",
        view.replace("table", "cards", 1),
        view.split("\n", 1)[1],
        "",
        "views: []\n",
    ):
        assert not is_ours(changed)
