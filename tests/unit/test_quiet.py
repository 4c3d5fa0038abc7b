"""When quiet notes are due, and in which batches (K-31, K-34, K-37)."""

from __future__ import annotations

import pytest

from vaultkeeper.watch.quiet import QuietTimer


def run(timer: QuietTimer, now: float, until: float = 1e9) -> list[tuple[float, list[str]]]:
    """Sleep and wake as the timer says, with nothing else happening: all batches with their times."""
    batches = []
    while (at := timer.next_due(now)) is not None and at < until:
        now = max(now, at)
        paths = timer.due(now)
        if paths:
            batches.append((now, paths))
    return batches


@pytest.mark.rule("K-37")
def test_where_nothing_waits_there_is_no_timer() -> None:
    timer = QuietTimer()
    assert timer.next_due(5.0) is None
    assert timer.due(5.0) == []
    timer.touch("a.md", 5.0)
    assert timer.next_due(5.0) is None
    assert timer.due(100.0) == []


@pytest.mark.rule("K-31")
def test_a_lone_change_without_grace_is_due_at_once() -> None:
    timer = QuietTimer()
    timer.touch("a.md", 10.0)
    timer.ask("a.md", 0.0)
    assert timer.next_due(10.0) == 10.0
    assert timer.due(10.0) == ["a.md"]
    assert timer.next_due(10.0) is None


@pytest.mark.rule("K-31")
def test_a_note_is_due_once_it_was_quiet_for_its_grace() -> None:
    timer = QuietTimer()
    timer.touch("a.md", 10.0)
    timer.ask("a.md", 3.0)
    assert timer.next_due(10.0) == 13.0
    assert timer.due(12.999) == []
    assert timer.due(13.0) == ["a.md"]


@pytest.mark.rule("K-31")
def test_each_touch_begins_the_quiet_anew() -> None:
    timer = QuietTimer()
    timer.touch("a.md", 10.0)
    timer.ask("a.md", 3.0)
    timer.touch("a.md", 12.0)
    assert timer.due(14.0) == []
    assert timer.due(15.0) == ["a.md"]


def test_a_touch_that_is_told_late_does_not_turn_time_back() -> None:
    timer = QuietTimer()
    timer.touch("a.md", 12.0)
    timer.touch("a.md", 10.0)
    timer.ask("a.md", 3.0)
    assert timer.next_due(12.0) == 15.0


@pytest.mark.rule("K-31")
def test_a_later_ask_replaces_the_earlier_and_counts_from_the_same_touch() -> None:
    timer = QuietTimer()
    timer.touch("a.md", 10.0)
    timer.ask("a.md", 3.0)
    assert timer.due(13.0) == ["a.md"]
    timer.ask("a.md", 60.0)
    timer.ask("a.md", 30.0)
    assert timer.next_due(13.0) == 40.0
    assert timer.due(40.0) == ["a.md"]


def test_a_path_that_was_never_touched_has_been_quiet_for_ever() -> None:
    timer = QuietTimer()
    timer.ask("a.md", 60.0)
    assert timer.due(0.0) == ["a.md"]


def test_what_was_processed_is_not_due_again_by_itself() -> None:
    timer = QuietTimer()
    timer.ask("a.md", 0.0)
    timer.due(1.0)
    timer.touch("a.md", 2.0)
    assert run(timer, 2.0) == []


def test_a_dropped_path_is_forgotten() -> None:
    timer = QuietTimer()
    timer.touch("a.md", 10.0)
    timer.ask("a.md", 3.0)
    timer.drop("a.md")
    timer.drop("never.md")
    assert timer.next_due(10.0) is None
    timer.ask("a.md", 3.0)
    assert timer.due(10.0) == ["a.md"]


@pytest.mark.rule("K-34")
def test_the_ends_of_a_move_are_one_batch_at_once() -> None:
    timer = QuietTimer()
    for path in ("b.md", "a.md"):
        timer.touch(path, 10.0)
        timer.ask(path, 0.0)
    assert timer.due(10.0) == ["a.md", "b.md"]


@pytest.mark.rule("K-34")
@pytest.mark.parametrize("grace", [0.0, 3.0])
def test_a_burst_is_one_batch(grace: float) -> None:
    timer = QuietTimer()
    paths = [f"{number:04}.md" for number in range(1000)]
    for number, path in enumerate(paths):
        timer.touch(path, 10.0 + number / 1000)
        timer.ask(path, grace)
    (batch,) = run(timer, 10.999)
    assert batch[1] == paths
    assert batch[0] == pytest.approx(11.099 if grace == 0.0 else 13.999)


@pytest.mark.rule("K-34")
def test_a_burst_is_waited_for_while_it_is_going_on() -> None:
    timer = QuietTimer()
    for number in range(20):
        now = 10.0 + number / 40
        timer.touch(f"{number}.md", now)
        timer.ask(f"{number}.md", 0.0)
        if number > 1:
            assert timer.due(now) == []
    assert len(timer.due(now + 0.1)) == 20


@pytest.mark.rule("K-34")
def test_a_burst_without_end_is_cut_at_the_ceiling() -> None:
    timer = QuietTimer(gather=0.1, ceiling=5.0)
    done: list[float] = []
    for number in range(1200):
        now = 10.0 + number / 100
        timer.touch(f"{number}.md", now)
        timer.ask(f"{number}.md", 0.0)
        if number > 1 and timer.due(now):
            done.append(now)
    assert done == pytest.approx([15.0, 20.01], abs=0.02)


@pytest.mark.rule("K-31")
def test_one_note_that_is_saved_all_the_time_holds_up_no_other() -> None:
    timer = QuietTimer()
    timer.touch("a.md", 10.0)
    timer.ask("a.md", 0.0)
    for number in range(50):
        timer.touch("b.md", 10.0 - number / 1000)
    assert timer.due(10.0) == ["a.md"]


@pytest.mark.rule("K-34")
def test_changes_further_apart_than_the_gathering_are_batches_of_their_own() -> None:
    timer = QuietTimer()
    for path, at in (("a.md", 10.0), ("b.md", 10.5), ("c.md", 10.55)):
        timer.touch(path, at)
        timer.ask(path, 3.0)
    assert run(timer, 11.0) == [(13.0, ["a.md"]), (13.55, ["b.md", "c.md"])]


@pytest.mark.rule("K-31")
def test_a_note_that_waits_longer_does_not_hold_up_the_others() -> None:
    timer = QuietTimer()
    for path, grace in (("a.md", 3.0), ("b.md", 30.0)):
        timer.touch(path, 10.0)
        timer.ask(path, grace)
    assert run(timer, 10.0) == [(13.0, ["a.md"]), (40.0, ["b.md"])]


def test_sleep_of_the_machine_is_quiet() -> None:
    timer = QuietTimer()
    for number in range(10):
        timer.touch(f"{number}.md", 10.0)
        timer.ask(f"{number}.md", 3.0)
    assert len(timer.due(100_000.0)) == 10
