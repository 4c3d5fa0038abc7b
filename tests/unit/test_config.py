"""Settings: which value counts, what is wrong with one, how one is changed (K-95)."""

from __future__ import annotations

import dataclasses

import pytest

from vaultkeeper.config import Settings, describe_settings, load_settings, options_of, set_setting
from vaultkeeper.core.errors import UserError
from vaultkeeper.core.finding import found
from vaultkeeper.core.messages import message_of
from vaultkeeper.core.options import Options

WRONG: dict[str, tuple[object, str]] = {
    "language": ("fr", "it is one of zh, en"),
    "settle": (61, "it is a number from 0 to 60"),
    "repair_grace": (-1, "it is a number from 0 to 3,600"),
    "touch_grace": ("soon", "it is a number from 0 to 3,600"),
    "rescan_minutes": (0, "it is a number from 0.01 to 1,440"),
    "adopt_manual_moves": ("maybe", "it is true or false"),
    "rename_on_title_change": (2, "it is true or false"),
    "file_names": ("id", "it is one of title-id, title"),
    "export_index": (None, "it is one of auto, on, off"),
    "bases": ([], "it is true or false"),
    "exclude": (["ok", "../out"], "it is a list of folders, named from the vault's own, without `..`"),
    "polling": ("always", "it is one of auto, on, off"),
    "history_days": (1.5, "it is a whole number from 1 to 3,650"),
    "history_megabytes": (0, "it is a whole number from 1 to 100,000"),
}


def test_every_setting_is_described_and_has_a_wrong_value_here() -> None:
    assert all(field.description for field in Settings.model_fields.values())
    assert list(WRONG) == list(Settings.model_fields)


@pytest.mark.rule("K-95")
def test_nothing_set_gives_the_defaults() -> None:
    assert load_settings({}, {}, {}) == (Settings(), ())


def test_the_defaults_of_planning_are_those_of_the_settings() -> None:
    assert options_of(Settings()) == Options()


def test_planning_gets_every_setting_it_depends_on() -> None:
    chosen = {
        "language": "en", "adopt_manual_moves": False, "rename_on_title_change": True, "file_names": "title",
        "bases": False, "exclude": ["Private"],
    }  # fmt: skip
    options = options_of(load_settings({}, chosen, {})[0])
    assert dataclasses.asdict(options) == {**chosen, "exclude": ("Private",)}


@pytest.mark.rule("K-95")
def test_a_vaults_setting_counts_before_the_users_and_the_environment_before_both() -> None:
    user: dict[str, object] = {"settle": 1, "history_days": 10, "bases": False}
    settings, findings = load_settings(user, {"settle": 2, "history_days": 20}, {"VAULTKEEPER_SETTLE": "4.5"})
    assert (settings.settle, settings.history_days, settings.bases, findings) == (4.5, 20, False, ())


@pytest.mark.rule("K-95")
@pytest.mark.parametrize("key", WRONG)
def test_a_wrong_value_is_a_finding_that_names_the_key_and_the_default_is_used(key: str) -> None:
    value, reason = WRONG[key]
    settings, findings = load_settings({}, {key: value}, {})
    assert settings == Settings()
    assert findings == (found("bad-setting", "", key=key, value=str(value), reason=reason),)
    assert key in message_of(findings[0], "en")


@pytest.mark.rule("K-95")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("settle", "5"),
        ("settle", True),
        ("settle", float("nan")),
        ("settle", float("inf")),
        ("history_days", "30"),
        ("history_days", True),
        ("bases", 1),
        ("bases", "yes"),
        ("language", ["zh"]),
        ("exclude", [1]),
        ("exclude", {"a": 1}),
        ("exclude", None),
    ],
)
def test_a_value_of_another_type_in_a_file_is_a_finding(key: str, value: object) -> None:
    settings, findings = load_settings({}, {key: value}, {})
    assert settings == Settings()
    assert [dict(finding.facts)["key"] for finding in findings] == [key]


@pytest.mark.rule("K-95")
def test_what_counts_next_stands_in_for_a_wrong_value() -> None:
    """Above all `exclude`: a slip in one place must not have folders touched that another place excludes."""
    settings, findings = load_settings({"exclude": ["Diary"]}, {"exclude": 7}, {"VAULTKEEPER_SETTLE": "x"})
    assert settings.exclude == ["Diary"]
    assert [dict(finding.facts)["key"] for finding in findings] == ["settle", "exclude"]


def test_a_long_wrong_value_is_told_shortened() -> None:
    _, (finding,) = load_settings({}, {"settle": "x" * 10_000}, {})
    assert len(dict(finding.facts)["value"]) == 80


@pytest.mark.rule("K-95")
def test_settings_that_are_no_object_are_a_finding() -> None:
    _, findings = load_settings({}, {"settings": ["language"]}, {})
    assert findings == (
        found("bad-setting", "", key="settings", value="['language']", reason="it is no object"),
    )


def test_keys_that_are_not_known_are_ignored() -> None:
    assert load_settings({"recallMaxItems": 5}, {"other": []}, {"VAULTKEEPER_OTHER": "1"}) == (Settings(), ())


def test_an_empty_variable_says_nothing() -> None:
    assert load_settings({}, {"settle": 5}, {"VAULTKEEPER_SETTLE": ""})[0].settle == 5


@pytest.mark.parametrize(
    "value",
    [
        "Diary, Work/Secret",
        ["/Diary/", "./Work/Secret"],
        ["Diary", " Work\\Secret ", ""],
        "Diary,,Work/Secret/",
    ],
)
def test_excluded_folders_may_be_written_in_any_usual_way(value: object) -> None:
    settings, findings = load_settings({}, {"exclude": value}, {})
    assert (settings.exclude, findings) == (["Diary", "Work/Secret"], ())


@pytest.mark.rule("K-95", "IF-10")
@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("settle", "0", 0),
        ("settle", "2.5", 2.5),
        ("history_days", "7", 7),
        ("bases", "off", False),
        ("adopt_manual_moves", "no", False),
        ("exclude", "A, B/C", ["A", "B/C"]),
        ("language", "en", "en"),
    ],
)
def test_text_typed_at_the_command_line_becomes_a_value_of_the_right_type(
    key: str, text: str, value: object
) -> None:
    changed = set_setting({"mine": 1}, key, text)
    assert changed == {"mine": 1, key: value}
    assert type(changed[key]) is type(getattr(Settings(), key))


@pytest.mark.rule("K-95")
def test_a_value_that_is_the_default_is_not_kept() -> None:
    assert set_setting({"settle": 5, "mine": 1}, "settle", "3") == {"mine": 1}
    assert set_setting({}, "exclude", "") == {}


@pytest.mark.rule("K-95")
def test_the_default_is_kept_where_the_user_has_set_something_else() -> None:
    changed = set_setting({}, "settle", "3", {"settle": 10})
    assert load_settings({"settle": 10}, changed, {})[0].settle == 3


@pytest.mark.parametrize("key", WRONG)
def test_a_wrong_value_typed_is_refused_with_what_may_stand_there(key: str) -> None:
    text = "../out" if key == "exclude" else "nonsense"
    with pytest.raises(UserError) as caught:
        set_setting({}, key, text)
    assert str(caught.value) == f"{key} cannot be '{text}': {WRONG[key][1]}"


@pytest.mark.rule("IF-10")
@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("setle", "did you mean 'settle'?"),
        ("File-Names", "did you mean 'file_names'?"),
        ("xyzzy", "there are: language,"),
    ],
)
def test_an_unknown_key_names_the_nearest(key: str, hint: str) -> None:
    with pytest.raises(UserError, match="there is no setting") as caught:
        set_setting({}, key, "1")
    assert hint in str(caught.value)
    with pytest.raises(UserError):
        describe_settings({}, {}, {}, key)


@pytest.mark.rule("IF-10")
@pytest.mark.parametrize(
    ("user", "vault", "environ", "value", "source"),
    [
        ({}, {}, {}, 3, "default"),
        ({"settle": 5}, {}, {}, 5, "user"),
        ({"settle": 5}, {"settle": 6}, {}, 6, "vault"),
        ({"settle": 5}, {"settle": 6}, {"VAULTKEEPER_SETTLE": "7"}, 7, "VAULTKEEPER_SETTLE"),
        ({"settle": 5}, {"settle": "?"}, {"VAULTKEEPER_SETTLE": "?"}, 5, "user"),
    ],
)
def test_a_setting_tells_where_it_comes_from(
    user: dict[str, object], vault: dict[str, object], environ: dict[str, str], value: float, source: str
) -> None:
    described = describe_settings(user, vault, environ, "settle")
    assert {**described, "description": ""} == {
        "key": "settle", "value": value, "source": source, "default": 3, "description": "",
    }  # fmt: skip
    assert described["description"]


@pytest.mark.rule("IF-10")
def test_all_settings_are_listed_in_their_order() -> None:
    listed = describe_settings({}, {}, {}, None)["settings"]
    assert isinstance(listed, list)
    assert [row["key"] for row in listed] == list(Settings.model_fields)
