"""Settings: what may be set, where a value comes from, and the list of this user's vaults (K-95, IF-10)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from vaultkeeper.core.errors import UserError
from vaultkeeper.core.finding import Finding, found
from vaultkeeper.core.options import Options
from vaultkeeper.store.registry import Registry
from vaultkeeper.store.user_file import read_user_file, turn_at, write_user_file

__all__ = [
    "Registry",
    "Settings",
    "describe_settings",
    "load_settings",
    "options_of",
    "set_setting",
    "set_user_setting",
    "user_settings",
]

Result = dict[str, object]

USER_FILE = "settings.json"
"""In the user's config folder: what holds for vaults that say nothing themselves."""

_SHOWN = 80
"""Characters of a wrong value that are told again."""


def _folders(value: object) -> object:
    """Folders as people write them: one alone or several between commas, with slashes of either kind at their ends."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return parts
    folders = [part.strip().replace("\\", "/").removeprefix("./").strip("/") for part in parts]
    if any(".." in folder.split("/") for folder in folders):
        raise ValueError("leads out of the vault")
    return [folder for folder in folders if folder]


def _about(default: object, description: str, least: float | None = None, most: float | None = None) -> Any:  # noqa: ANN401 — as pydantic's own Field: it stands where a value of the setting's type does
    return Field(default=default, description=description, ge=least, le=most)


class Settings(BaseModel):
    """All settings with their defaults; keys that are not here are left alone where they stand."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    language: Literal["zh", "en"] = _about(
        "zh", "Language of headings, index pages and messages of the vault."
    )
    settle: float = _about(3.0, "Seconds a note must be quiet before it is rewritten or moved.", 0, 60)
    repair_grace: float = _about(
        30.0,
        "Seconds it must be quiet before a type or status that is no word of the format is replaced.",
        0,
        3600,
    )
    touch_grace: float = _about(
        60.0, "Seconds it must be quiet before it is rewritten only to date its last change.", 0, 3600
    )
    rescan_minutes: float = _about(
        10.0, "Minutes between walks through the whole vault, which find what file events missed.", 0.01, 1440
    )
    adopt_manual_moves: bool = _about(
        True, "Whether a note dragged into a folder with a meaning takes that type or status."
    )
    rename_on_title_change: bool = _about(False, "Whether a note's file is renamed when its title changes.")
    file_names: Literal["title-id", "title"] = _about(
        "title-id", "How new notes are named: by title and id, or by the title alone."
    )
    export_index: Literal["auto", "on", "off"] = _about(
        "auto", "Whether index.json is written for other tools; auto: up to 3,000 notes."
    )
    bases: bool = _about(True, "Whether Index/Memories.base, a table for Obsidian, is made.")
    exclude: Annotated[list[str], BeforeValidator(_folders)] = _about(
        [], "Folders of the vault whose notes are left entirely alone."
    )
    polling: Literal["auto", "on", "off"] = _about(
        "auto",
        "Whether folders are looked through instead of waiting for file events; auto: where there are none.",
    )
    history_days: int = _about(30, "Days for which changes can be undone.", 1, 3650)
    history_megabytes: int = _about(
        500, "Megabytes that the history may take; the oldest changes go first.", 1, 100_000
    )


_DEFAULTS = Settings()
_KEYS = tuple(Settings.model_fields)


_Candidate = tuple[str, object, bool]
"""Where a value comes from, the value, and whether it is text that stands for one."""


def _candidates(
    key: str, user: Mapping[str, object], vault: Mapping[str, object], environ: Mapping[str, str]
) -> list[_Candidate]:
    """What is said of a setting, what counts most first."""
    variable = f"VAULTKEEPER_{key.upper()}"
    said: list[_Candidate] = [(variable, environ[variable], True)] if environ.get(variable) else []
    said += [("vault", vault[key], False)] if key in vault else []
    return said + ([("user", user[key], False)] if key in user else [])


def _chosen(key: str, said: list[_Candidate]) -> tuple[object, str, list[Finding]]:
    """The first value that can be used, where it comes from, and a finding for each before it that cannot."""
    findings: list[Finding] = []
    for source, value, is_text in said:
        try:
            return _read(key, value, is_text=is_text), source, findings
        except UserError as error:
            findings.append(found("bad-setting", "", key=key, value=str(value)[:_SHOWN], reason=error))
    return getattr(_DEFAULTS, key), "default", findings


def _read(key: str, value: object, *, is_text: bool) -> object:
    """The value as the setting's own type. Text stands for any type; values in files must have the right one.

    Raises:
        UserError: it cannot be; the message says what can.
    """
    try:
        settings = Settings.model_validate({key: value}, strict=not is_text)
    except ValidationError as error:
        raise UserError(f"it is {_allowed(key)}") from error
    return getattr(settings, key)


def _allowed(key: str) -> str:
    """What the setting can be, in words."""
    match Settings.model_json_schema()["properties"][key]:
        case {"enum": words}:
            return f"one of {', '.join(words)}"
        case {"type": "boolean"}:
            return "true or false"
        case {"type": kind, "minimum": least, "maximum": most}:
            return f"a {'whole number' if kind == 'integer' else 'number'} from {least:g} to {most:,g}"
        case _:
            return "a list of folders, named from the vault's own, without `..`"


def load_settings(
    user: Mapping[str, object], vault: Mapping[str, object], environ: Mapping[str, str]
) -> tuple[Settings, tuple[Finding, ...]]:
    """The settings of a vault: an environment variable `VAULTKEEPER_<KEY>` before the vault's own before the user's.

    Returns:
        Settings without a fault, and a finding for each value that cannot be used; what counts next stands in for it, at
        last the default.
    """
    values: dict[str, object] = {}
    findings: list[Finding] = []
    for key in _KEYS:
        values[key], _, wrong = _chosen(key, _candidates(key, user, vault, environ))
        findings += wrong
    if "settings" in vault:
        shown = str(vault["settings"])[:_SHOWN]
        findings.append(found("bad-setting", "", key="settings", value=shown, reason="it is no object"))
    return Settings.model_construct(None, **values), tuple(findings)


def options_of(settings: Settings) -> Options:
    """What planning depends on."""
    return Options(
        language=settings.language,
        adopt_manual_moves=settings.adopt_manual_moves,
        rename_on_title_change=settings.rename_on_title_change,
        file_names=settings.file_names,
        bases=settings.bases,
        exclude=tuple(settings.exclude),
    )


def set_setting(
    settings: Mapping[str, object], key: str, text: str, under: Mapping[str, object] | None = None
) -> dict[str, object]:
    """These settings with one changed; only what differs from the default is kept, unknown keys stay (K-95).

    Args:
        settings: as they stand in the file.
        key: which one.
        text: its new value as typed.
        under: settings that these count before; a value that one of them would change is kept though it is the default.

    Raises:
        UserError: there is no such setting, or it cannot have that value; the message names what can be.
    """
    _require(key)
    try:
        value = _read(key, text, is_text=True)
    except UserError as error:
        raise UserError(f"{key} cannot be {text!r}: {error}") from error
    changed = {**settings, key: value}
    if value == getattr(_DEFAULTS, key) and key not in (under or {}):
        del changed[key]
    return changed


def _require(key: str) -> None:
    if key in _KEYS:
        return
    near = difflib.get_close_matches(key.lower().replace("-", "_"), _KEYS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(_KEYS)}"
    raise UserError(f"there is no setting {key!r}; {hint}")


def describe_settings(
    user: Mapping[str, object], vault: Mapping[str, object], environ: Mapping[str, str], key: str | None
) -> Result:
    """One setting, or under `settings` all of them: key, value, where it comes from, default and description.

    Raises:
        UserError: there is no such setting.
    """
    if key is None:
        return {"settings": [_described(each, user, vault, environ) for each in _KEYS]}
    _require(key)
    return _described(key, user, vault, environ)


def _described(
    key: str, user: Mapping[str, object], vault: Mapping[str, object], environ: Mapping[str, str]
) -> Result:
    value, source, _ = _chosen(key, _candidates(key, user, vault, environ))
    described = Settings.model_fields[key].description
    return {
        "key": key,
        "value": value,
        "source": source,
        "default": getattr(_DEFAULTS, key),
        "description": described,
    }


def user_settings(config: Path) -> dict[str, object]:
    """The settings of this user, from their config folder; none where there is no file.

    Raises:
        UserError: the file cannot be read; it is left as it is.
    """
    return read_user_file(config / USER_FILE)


def set_user_setting(config: Path, key: str, text: str, *, dry_run: bool = False) -> Result:
    """Change one setting of this user, or only say what it would be.

    Raises:
        UserError: see `set_setting` and `user_settings`.
    """
    file = config / USER_FILE
    if dry_run:
        changed = set_setting(read_user_file(file), key, text)
    else:
        with turn_at(file):
            changed = set_setting(read_user_file(file), key, text)
            write_user_file(file, changed)
    return {
        "user": str(file),
        "key": key,
        "value": changed.get(key, getattr(_DEFAULTS, key)),
        "settings": changed,
    }
