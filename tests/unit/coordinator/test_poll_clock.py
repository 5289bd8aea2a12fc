"""Since when a caller has not polled."""

from __future__ import annotations

from kafka.coordinator.poll_clock import PollClock


def test_a_caller_is_idle_from_the_end_of_its_last_poll() -> None:
    clock = PollClock(10.0)
    assert clock.idle(13.0) == 3.0
    clock.begin(14.0)
    assert clock.idle(99.0) == 0.0
    clock.end(100.0)
    assert clock.idle(100.0) == 0.0
    assert clock.idle(105.0) == 5.0


def test_a_poll_within_another_does_not_end_that() -> None:
    clock = PollClock(0.0)
    clock.begin(1.0)
    clock.begin(2.0)
    clock.end(3.0)
    assert clock.idle(50.0) == 0.0
    clock.end(60.0)
    assert clock.idle(61.0) == 1.0


def test_progress_counts_from_when_it_is_seen_and_once() -> None:
    clock = PollClock(0.0)
    assert not clock.progressed
    clock.progressed = True
    assert clock.idle(5.0) == 0.0
    assert not clock.progressed
    assert clock.idle(9.0) == 4.0
