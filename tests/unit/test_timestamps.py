"""Times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from vaultkeeper.core.timestamps import parse_time, read_time, write_time


@pytest.mark.rule("LT-30", "LT-23")
@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("2026-10-17T03:12:05.678Z", "2026-10-17T03:12:05.678Z"),
        ("2026-10-17", "2026-10-17T00:00:00.000Z"),
        ("2026-1-7", "2026-01-07T00:00:00.000Z"),
        ("2026-10-17 03:12", "2026-10-17T03:12:00.000Z"),
        ("2026-10-17 3:12", "2026-10-17T03:12:00.000Z"),
        ("2026-10-17T03:12", "2026-10-17T03:12:00.000Z"),
        ("2026-10-17t03:12:05z", "2026-10-17T03:12:05.000Z"),
        ("2026-10-17T03:12:05.6789999Z", "2026-10-17T03:12:05.678Z"),
        ("2026-10-17T03:12:05,6Z", "2026-10-17T03:12:05.600Z"),
        ("2026-10-17T24:00:00Z", "2026-10-18T00:00:00.000Z"),
        ("2026-10-17T24:00:00.000Z", "2026-10-18T00:00:00.000Z"),
        ("2026-10-17T11:12:00+08:00", "2026-10-17T03:12:00.000Z"),
        ("2026-10-17T11:12:00+0800", "2026-10-17T03:12:00.000Z"),
        ("2026-10-17 11:12 +08", "2026-10-17T03:12:00.000Z"),
        ("2026-10-17 11:12 UTC+8", "2026-10-17T03:12:00.000Z"),
        ("2026-10-17 11:12 UTC", "2026-10-17T11:12:00.000Z"),
        ("2026-10-17T11:12:00\N{MINUS SIGN}03:30", "2026-10-17T14:42:00.000Z"),
        ("2026-10-17T11:12:00+08:00[Asia/Shanghai]", "2026-10-17T03:12:00.000Z"),
        ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000Z"),
        ("2026/10/17", "2026-10-17T00:00:00.000Z"),
        ("2026/10/17 03:12:05", "2026-10-17T03:12:05.000Z"),
        ("2026.10.17", "2026-10-17T00:00:00.000Z"),
        ("2026年10月17日", "2026-10-17T00:00:00.000Z"),
        ("2026 年 1 月 7 日 03:12", "2026-01-07T03:12:00.000Z"),
        ("2026年10月17日03:12", "2026-10-17T03:12:00.000Z"),
        ("2026年10月17号 3点", "2026-10-17T03:00:00.000Z"),
        ("2026年10月17日3时12分5秒", "2026-10-17T03:12:05.000Z"),
        ("２０２６－１０－１７　０３：１２", "2026-10-17T03:12:00.000Z"),
        (" 2026-10-17 ", "2026-10-17T00:00:00.000Z"),
        ("1760000000", "2025-10-09T08:53:20.000Z"),
        ("1760000000.25", "2025-10-09T08:53:20.250Z"),
        ("1760000000123", "2025-10-09T08:53:20.123Z"),
        ("20261017", "2026-10-17T00:00:00.000Z"),
        ("20261017T031205Z", "2026-10-17T03:12:05.000Z"),
        ("20261017031205", "2026-10-17T03:12:05.000Z"),
    ],
)
def test_a_time_is_read_in_the_ways_people_and_tools_write_it(written: str, instant: str) -> None:
    assert read_time(written) == instant


@pytest.mark.rule("LT-30")
@pytest.mark.parametrize(
    "written",
    [
        "",
        "yesterday",
        "2026",
        "2026-10",
        "2026-02-30",
        "2026-02-30T00:00:00.000Z",
        "2026-13-01",
        "0000-01-01T00:00:00.000Z",
        "2026-10/17",
        "17/10/2026",
        "10/17/2026",
        "26-10-17",
        "2026-10-17T",
        "2026-10-17T25:00",
        "2026-10-17T24:00:01Z",
        "2026-10-17T03:60",
        "2026年10月17日3时61分",
        "2026-10-17T03:12:60Z",
        "2026-10-17T03:12+99:00",
        "0001-01-01T00:00+08:00",
        "9999-12-31T24:00Z",
        "12345",
        "202610170312",
        "12345678901234567890",
        "2026-10-17 " + "1" * 1000,
        "2026-10-17\n2026-10-18",
        "٢٠٢٦-١٠-١٧",
    ],
)
def test_a_time_that_is_impossible_or_may_mean_two_days_is_not_guessed(written: str) -> None:
    assert read_time(written) is None


@pytest.mark.rule("LT-30", "K-7")
@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/Los_Angeles"])
def test_the_zone_of_the_machine_plays_no_part(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    if not hasattr(time, "tzset"):
        pytest.skip("no tzset on this system")
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        read = [read_time(text) for text in ("2026-10-17", "2026-10-17 03:12", "2026-10-17T11:12:00+08:00")]
        written = write_time(datetime(2026, 10, 17, tzinfo=UTC))
    time.tzset()
    assert read == ["2026-10-17T00:00:00.000Z", "2026-10-17T03:12:00.000Z", "2026-10-17T03:12:00.000Z"]
    assert written == "2026-10-17T00:00:00.000Z"


@pytest.mark.rule("LT-23")
def test_a_written_time_is_utc_and_cut_to_milliseconds() -> None:
    shanghai = timezone(timedelta(hours=8))
    instant = datetime(2026, 10, 17, 11, 12, 5, 678999, tzinfo=shanghai)
    assert write_time(instant) == "2026-10-17T03:12:05.678Z"
    assert write_time(datetime(999, 1, 1, tzinfo=UTC)) == "0999-01-01T00:00:00.000Z"


@pytest.mark.rule("LT-23")
def test_a_time_without_a_zone_is_never_written() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        write_time(datetime(2026, 10, 17))  # noqa: DTZ001 — the very thing that is refused


@pytest.mark.rule("LT-23")
def test_a_canonical_time_is_an_aware_instant() -> None:
    assert parse_time("2026-10-17T03:12:05.678Z") == datetime(2026, 10, 17, 3, 12, 5, 678000, tzinfo=UTC)
