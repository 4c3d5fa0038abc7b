"""Errors on their way through the channel: RFC 9457 problem documents that turn back into the same exception (IF-32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vaultkeeper.core import errors

_FACTS: dict[type[errors.VaultkeeperError], tuple[str, ...]] = {
    errors.UnknownNoteError: ("reference", "near"),
    errors.AmbiguousNoteError: ("reference", "paths"),
    errors.RefusedError: ("code", "reason"),
    errors.FormatError: ("path", "reason"),
    errors.ChangedMeanwhileError: ("path",),
    errors.VaultBusyError: ("vault", "pid", "host"),
    errors.VaultUnavailableError: ("vault", "reason"),
    errors.UserError: (),
    errors.ConflictError: (),
    errors.VaultkeeperError: (),
}
"""The attributes that an error is made again from, in the order of its constructor; without any, its text is."""

_STATUS: dict[type[errors.VaultkeeperError], int] = {
    errors.UnknownNoteError: 404,
    errors.UserError: 422,
    errors.FormatError: 422,
    errors.ConflictError: 409,
    errors.VaultkeeperError: 503,
}


def facts_of(error: errors.VaultkeeperError) -> dict[str, object]:
    """The facts that an error holds, by name; empty where all it knows is in its text."""
    return {name: getattr(error, name) for name in _FACTS[known_class(error)]}


def known_class(error: errors.VaultkeeperError) -> type[errors.VaultkeeperError]:
    """The class of the error, or the nearest of its bases, that both ends of the channel know."""
    return next(kind for kind in type(error).__mro__ if kind in _FACTS)


def problem_of(error: errors.VaultkeeperError, roots: Mapping[str, str]) -> dict[str, object]:
    """The problem document of an error. `roots` are folders that no answer shows, each with the name to show instead."""
    kind = known_class(error)
    facts = {name: _concealed(value, roots) for name, value in facts_of(error).items()}
    status = next(_STATUS[base] for base in kind.__mro__ if base in _STATUS)
    return problem(status, kind.__name__, str(_concealed(str(error), roots))) | {"facts": facts}


def problem(status: int, code: str, detail: str) -> dict[str, object]:
    """A problem document (RFC 9457); `code` is what programs look at."""
    return {"type": "about:blank", "status": status, "code": code, "title": code, "detail": detail}


def error_of(document: Mapping[str, object]) -> errors.VaultkeeperError:
    """The error that a problem document stands for; where it is none we know, a plain one of the same exit code."""
    detail = str(document.get("detail") or "the keeper gave no reason")
    kind = next((kind for kind in _FACTS if kind.__name__ == document.get("code")), None)
    facts = document.get("facts")
    if kind is None or not isinstance(facts, Mapping) or any(name not in facts for name in _FACTS[kind]):
        return errors.UserError(detail) if document.get("status") == 422 else errors.VaultkeeperError(detail)
    arguments = [_tupled(facts[name]) for name in _FACTS[kind]] or [detail]
    return kind(*arguments)


def _tupled(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _concealed(value: object, roots: Mapping[str, str]) -> object:
    if isinstance(value, str):
        for root in sorted(roots, key=len, reverse=True):
            value = value.replace(root, roots[root])
        return value
    if isinstance(value, Sequence):
        return [_concealed(item, roots) for item in value]
    return value
