"""Note ids."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from vaultkeeper.core.ids import id_state, id_time, new_id
from vaultkeeper.formats.longterm import LONGTERM


@pytest.mark.rule("LT-21")
def test_a_new_id_tells_its_utc_second_and_reads_back() -> None:
    now = datetime(2026, 10, 17, 15, 59, 57, 999999, tzinfo=timezone(timedelta(hours=8)))
    note_id = new_id(LONGTERM, now, "b1c8069b")
    assert note_id == "mem_20261017t075957_b1c8069b"
    assert id_state(LONGTERM, note_id) == "ok"
    assert id_time(LONGTERM, note_id) == "2026-10-17T07:59:57.000Z"


@pytest.mark.rule("LT-21")
@pytest.mark.parametrize("random8", ["", "b1c8069", "B1C8069B", "b1c8069g", "b1c8069b0", "b1c8069b\n"])
def test_an_id_is_made_of_eight_lower_case_hex_digits_only(random8: str) -> None:
    with pytest.raises(ValueError, match="make no id"):
        new_id(LONGTERM, datetime(2026, 10, 17, tzinfo=UTC), random8)


@pytest.mark.rule("LT-21")
def test_an_id_is_never_made_from_a_time_without_a_zone() -> None:
    with pytest.raises(ValueError, match="make no id"):
        new_id(LONGTERM, datetime(2026, 10, 17), "b1c8069b")  # noqa: DTZ001 — the very thing that is refused


@pytest.mark.rule("LT-21", "LT-34")
@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("mem_20261017t075957_b1c8069b", "ok"),
        ("mem_20261399t256161_b1c8069b", "ok"),
        ("", "missing"),
        ("mem_x", "bad"),
        ("mem_20261017T075957_b1c8069b", "bad"),
        ("mem_20261017t075957_B1C8069B", "bad"),
        ("mem_20261017t075957_b1c8069b\n", "bad"),
        ("mem_２０２６1017t075957_b1c8069b", "bad"),
        ("xmem_20261017t075957_b1c8069b", "bad"),
    ],
)
def test_only_an_id_of_the_formats_shape_is_one(text: str, state: str) -> None:
    assert id_state(LONGTERM, text) == state


@pytest.mark.rule("LT-33")
@pytest.mark.parametrize("text", ["", "mem_x", "mem_20261399t256161_b1c8069b"])
def test_an_id_without_a_possible_time_tells_none(text: str) -> None:
    assert id_time(LONGTERM, text) is None
