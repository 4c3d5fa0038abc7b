"""Laws of waiting: nothing is forgotten, nothing is early, nothing waits past the ceiling (K-31, K-34)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultkeeper.watch.quiet import QuietTimer

GATHER, CEILING = 0.1, 5.0
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["a.md", "b.md", "c.md", "d.md", "e.md"]),
        st.sampled_from([0.0, 0.01, 0.05, 0.2, 1.0, 7.0]),
        st.sampled_from([None, 0.0, 0.5, 3.0, 30.0]),
    ),
    max_size=60,
)


@pytest.mark.rule("K-31", "K-34")
@settings(deadline=None, max_examples=150)
@given(STEPS)
def test_every_ask_is_answered_after_its_grace_and_before_the_ceiling(
    steps: list[tuple[str, float, float | None]],
) -> None:
    timer = QuietTimer(gather=GATHER, ceiling=CEILING)
    now = 100.0
    touched: dict[str, float] = {}
    asked: dict[str, float] = {}

    def advance(to: float) -> None:
        nonlocal now
        for _ in range(10_000):
            at = timer.next_due(now)
            if at is None or at > to:
                break
            now = max(now, at)
            batch = timer.due(now)
            assert batch == sorted(batch)
            for path in batch:
                quiet_at = touched[path] + asked.pop(path)
                assert quiet_at <= now <= quiet_at + CEILING + 1e-6
        else:
            raise AssertionError("the timer wakes without end")
        now = max(now, to)

    for path, pause, grace in steps:
        advance(now + pause)
        timer.touch(path, now)
        touched[path] = now
        if grace is not None:
            timer.ask(path, grace)
            asked[path] = grace
    advance(now + 100.0)
    assert not asked
    assert timer.next_due(now) is None
