"""Finds credentials of known shapes in a text (K-91). The value itself never leaves this module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Secret:
    """One credential: what kind it is and where, not what it says."""

    kind: str
    line: int
    """1-based."""


@dataclass(frozen=True, slots=True)
class SecretShape:
    """One known shape, with examples that the tests read."""

    kind: str
    pattern: re.Pattern[str]
    examples: tuple[str, ...]


def _shape(kind: str, pattern: str, *examples: str) -> SecretShape:
    return SecretShape(kind, re.compile(pattern), examples)


SHAPES: tuple[SecretShape, ...] = (
    _shape("private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----", "-----BEGIN " + "RSA PRIVATE KEY-----"),
    _shape("AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", "AKIA" + "Q" * 16),
    _shape("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{30,}\b", "ghp_" + "a1" * 18),
    _shape("GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{40,}\b", "github_pat_" + "a1" * 22),
    _shape("GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}", "glpat-" + "a1" * 10),
    _shape("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}", "xoxb-" + "1234567890ab"),
    _shape("Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{16,}", "sk_live_" + "a1" * 10),
    _shape("API key", r"\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{24,}", "sk-" + "aB3" * 12),
    _shape("Google API key", r"\bAIza[0-9A-Za-z_-]{35}\b", "AIza" + "b" * 35),
    _shape("npm token", r"\bnpm_[A-Za-z0-9]{36}\b", "npm_" + "a1" * 18),
    _shape("JSON web token", r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}", "eyJ" + "a" * 12 + ".eyJ" + "b" * 12 + "." + "c" * 12),
    _shape("password in an address", r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/:@]{3,}@", "postgres://" + "ada:s3cr3t@host/db"),
)  # fmt: skip
"""Public token formats as their issuers document them; generic shapes come from `_ASSIGNED`."""

_ASSIGNED = re.compile(
    r"(?i)(?:^|[\s,;{(\"'`])[\"']?(?P<key>[\w-]*(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key)|密码|口令|密钥)"
    r"[\"']?[ \t]*(?:[:=：]|是|为)[ \t]*[\"'`]?(?P<value>[^\s\"'`,;，。；]{8,})"
)
_ALLOWED = "vaultkeeper: allow-secret"
"""A line that holds these words is passed over: the person has looked at it."""


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Credentials in a text, in order of their lines; one for each line and kind."""
    lines = text.split("\n")
    return tuple(
        dict.fromkeys(
            secret
            for number, line in enumerate(lines, 1)
            if _ALLOWED not in line
            for secret in _in_line(line, number)
        )
    )


def _in_line(line: str, number: int) -> Iterator[Secret]:
    for shape in SHAPES:
        if shape.pattern.search(line):
            yield Secret(shape.kind, number)
    for match in _ASSIGNED.finditer(line):
        if _looks_random(match["value"]):
            yield Secret("password or token", number)


def _looks_random(value: str) -> bool:
    """Whether a value after `password:` is one, and no word, placeholder, link, path or key combination."""
    if re.fullmatch(
        r"\W*|[a-z]+(?:[+_-][a-z]+)*|<.*|\{.*|\$.*|\*+|x+|\[\[.*|https?://.*|[./~].*", value, re.I
    ):
        return False
    kinds = sum(bool(re.search(kind, value)) for kind in (r"[a-z]", r"[A-Z]", r"\d", r"[^\w\s]"))
    return kinds >= 3 or (kinds >= 2 and len(value) >= 12)
