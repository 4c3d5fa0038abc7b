"""The exception tree; every error carries the facts, the wording stands at the edge (`cli/render.py`)."""

from __future__ import annotations


class VaultkeeperError(Exception):
    """Something vaultkeeper cannot go on with; `str(error)` is a plain English fact, without advice."""


class UserError(VaultkeeperError):
    """What was asked for cannot be done as asked (exit code 2)."""


class UnknownNoteError(UserError):
    """No note answers to the reference that was given."""

    def __init__(self, reference: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(f"no note is called {reference!r}")
        self.reference = reference
        self.near = near


class AmbiguousNoteError(UserError):
    """More than one note answers to the reference that was given."""

    def __init__(self, reference: str, paths: tuple[str, ...]) -> None:
        super().__init__(f"{len(paths)} notes answer to {reference!r}")
        self.reference = reference
        self.paths = paths


class RefusedError(UserError):
    """A write was checked and refused before a byte changed (K-90); `code` names the check."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class FormatError(VaultkeeperError):
    """A folder is not a vault of the format that was expected, or of none that is known."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class NoVaultError(FormatError):
    """No vault stands at that folder; make one, or name another."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "no vault stands here")


class ConflictError(VaultkeeperError):
    """Somebody else wrote, or holds what is needed (exit code 3 at the command line)."""


class ChangedMeanwhileError(ConflictError):
    """The file no longer has the bytes the plan was made from: read it again and plan again."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} changed meanwhile")
        self.path = path


class VaultBusyError(ConflictError):
    """Another keeper holds the vault."""

    def __init__(self, vault: str, pid: int, host: str) -> None:
        super().__init__(f"{vault} is kept by process {pid} on {host}")
        self.vault = vault
        self.pid = pid
        self.host = host


class VaultUnavailableError(VaultkeeperError):
    """The vault cannot be believed or reached now: unmounted, marker lost, suddenly empty (K-38; exit code 3)."""

    def __init__(self, vault: str, reason: str) -> None:
        super().__init__(f"{vault}: {reason}")
        self.vault = vault
        self.reason = reason
