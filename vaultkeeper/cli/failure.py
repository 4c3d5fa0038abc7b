"""What the command line says when a command could not be done, and the exit code that goes with it (K-97)."""

from __future__ import annotations

import os
import re
import sys
import traceback

import click

from vaultkeeper.cli.output import print_json
from vaultkeeper.cli.render import advice, language_of, printable
from vaultkeeper.core import errors

WRONG_USAGE = 2
FAILED = 3


def report(error: Exception, *, as_json: bool) -> int:
    """Print the error (as a JSON document on standard output, or as text on standard error); the exit code."""
    if isinstance(error, click.ClickException):
        return _report_usage(error, as_json=as_json)
    if isinstance(error, errors.VaultkeeperError):
        is_input = isinstance(error, errors.UserError | errors.FormatError)
        code = error.code if isinstance(error, errors.RefusedError) else _kebab(type(error).__name__)
        _say(code, str(error), advice(error, language_of()), as_json=as_json)
        return WRONG_USAGE if is_input else FAILED
    if os.environ.get("VAULTKEEPER_DEBUG") == "1":
        raise error
    if isinstance(error, OSError):
        _say("system", _of_system(error), "", as_json=as_json)
        return FAILED
    _say("internal", f"{type(error).__name__}: {error}", _kept_for_report(error), as_json=as_json)
    return FAILED


def _report_usage(error: click.ClickException, *, as_json: bool) -> int:
    if as_json:
        context = getattr(error, "ctx", None)
        hint = context.get_usage() if context else ""
        _say("usage", error.format_message(), hint, as_json=True)
    else:
        error.show(sys.stderr)
    return error.exit_code if isinstance(error, click.UsageError) else WRONG_USAGE


def _say(code: str, message: str, hint: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"error": {"code": code, "message": message, "hint": hint}})
        return
    sys.stderr.write(f"Error: {printable(message)}\n")
    if hint:
        sys.stderr.write(printable(hint, keep_lines=True) + "\n")


def _of_system(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename else reason


def _kept_for_report(error: Exception) -> str:
    """Keep where it happened in the state folder; the sentence that says so."""
    trace = "".join(traceback.format_exception(error))
    try:
        from vaultkeeper.store.atomic import write_atomic
        from vaultkeeper.store.folders import app_folders

        file = app_folders(os.environ).state / "last-error.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, trace.encode(errors="backslashreplace"), mode=0o600)
    except (OSError, ImportError, errors.VaultkeeperError):
        return "This is a bug in vaultkeeper; VAULTKEEPER_DEBUG=1 shows where it happened."
    return f"This is a bug in vaultkeeper; where it happened stands in {file}"


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removesuffix("Error")).lower()
