"""Times as people and tools write them → one canonical UTC form; pure, so the machine's zone and clock play no part."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta, timezone

_CANONICAL = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z", re.ASCII)
"""The form of LT-23. Nearly every time in a vault has it, so it is recognised before anything is taken apart."""

_LONGEST = 64
"""No time is longer, in characters; what is longer is prose, and is not worth taking apart."""

_ZONE = r"(?P<zone>Z|(?:UTC|GMT)?[+-]\d{1,2}(?::?[0-5]\d)?|UTC|GMT)?(?:\[[^\]]*\])?"
"""An offset, or a name for UTC. `[Asia/Shanghai]` behind an offset, as Java and JavaScript write it, adds nothing."""

_WRITTEN = re.compile(
    r"(?P<year>\d{4})(?:(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})"
    r"|\s*年\s*(?P<cmonth>\d{1,2})\s*月\s*(?P<cday>\d{1,2})\s*[日号])"
    r"(?:(?:\s*T\s*|[\s,]+|(?<=[日号]))"
    r"(?:(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"|(?P<chour>\d{1,2})\s*[时時点]\s*(?:(?P<cminute>\d{1,2})\s*分\s*(?:(?P<csecond>\d{1,2})\s*秒)?)?)"
    r"\s*" + _ZONE + r")?",
    re.ASCII | re.IGNORECASE,
)
_COMPACT = re.compile(
    r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)"
    r"(?:T?(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?" + _ZONE + ")?",
    re.ASCII | re.IGNORECASE,
)
"""ISO 8601's basic form: 20261017, 20261017T031200Z, 20261017031200."""

_EPOCH = re.compile(r"(?P<seconds>\d{9,10})(?:\.(?P<fraction>\d{1,9}))?|(?P<millis>\d{13})", re.ASCII)
"""Epoch numbers as files hold them: seconds from 1973 to 2286, milliseconds from 2001 to 2286. Other lengths are left,
since twelve digits may as well be a note's `yyyymmddhhmm`."""

_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d\d)?$", re.ASCII)


def read_time(text: str) -> str | None:
    """The instant that a person or a tool wrote, as `YYYY-MM-DDThh:mm:ss.sssZ`; None when it is impossible (LT-30).

    A date alone is its midnight, a time without a zone is taken as UTC, fractions beyond milliseconds are cut. A date
    that does not begin with its year (`17/10/2026`) may mean two days and is not guessed.
    """
    if _CANONICAL.fullmatch(text):
        try:
            datetime.fromisoformat(text)
        except ValueError:
            return None
        return text
    if len(text) > _LONGEST:
        return None
    plain = unicodedata.normalize("NFKC", text).replace("\N{MINUS SIGN}", "-").strip()
    try:
        instant = _read(plain)
        return None if instant is None else write_time(instant)
    except (ValueError, OverflowError):
        return None


def _read(text: str) -> datetime | None:
    epoch = _EPOCH.fullmatch(text)
    if epoch:
        millis = int(epoch["millis"] or 0) or int(epoch["seconds"]) * 1000 + _millis(epoch["fraction"])
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)
    match = _WRITTEN.fullmatch(text) or _COMPACT.fullmatch(text)
    return _instant({name: part for name, part in match.groupdict().items() if part}) if match else None


def _instant(parts: dict[str, str]) -> datetime:
    """The instant of matched parts.

    Raises:
        ValueError: there is no such day, time or offset.
        OverflowError: it lies outside the years 1 to 9999.
    """

    def number(name: str) -> int:
        return int(parts.get(name) or parts.get("c" + name) or 0)

    day = datetime(number("year"), number("month"), number("day"), tzinfo=_zone(parts.get("zone", "")))
    hour, minute, second, millis = (
        number("hour"),
        number("minute"),
        number("second"),
        _millis(parts.get("fraction")),
    )
    if minute > 59 or second > 59 or hour > 24 or (hour == 24 and (minute or second or millis)):
        raise ValueError(parts)
    # By addition, since ISO 8601's T24:00:00 is the next day's midnight.
    return day + timedelta(hours=hour, minutes=minute, seconds=second, milliseconds=millis)


def _millis(fraction: str | None) -> int:
    return int((fraction or "0").ljust(3, "0")[:3])


def _zone(text: str) -> timezone:
    offset = _OFFSET.search(text)
    if offset is None:
        return UTC
    minutes = int(offset[2]) * 60 + int(offset[3] or 0)
    return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))


def write_time(instant: datetime) -> str:
    """The canonical form of an aware instant, in UTC, cut to milliseconds.

    Raises:
        ValueError: the instant has no zone; give it one, since the machine's must not be guessed.
    """
    if instant.utcoffset() is None:
        raise ValueError(f"{instant} has no time zone")
    return instant.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def parse_time(canonical: str) -> datetime:
    """The aware UTC instant of a time in canonical form."""
    return datetime.fromisoformat(canonical)
