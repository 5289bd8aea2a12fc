"""Since when a caller has not polled."""

from __future__ import annotations

import math

from kafka.coordinator.group_metrics import POLL_METRICS, PollClock


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


def read(clock: PollClock, now: float) -> dict[str, float]:
    return {metric.name: metric.read(clock, now) for metric in POLL_METRICS}


def test_how_the_time_of_the_caller_is_spent() -> None:
    clock = PollClock(10.0)
    assert read(clock, 12.0) == {
        "last-poll-seconds-ago": math.inf,
        "time-between-poll-avg": 0.0,
        "time-between-poll-max": -math.inf,
        "poll-idle-ratio-avg": 0.0,
    }
    for begin, end in ((20.0, 21.0), (24.0, 25.0), (26.0, 28.0)):
        clock.begin(begin)
        clock.end(end)
    assert read(clock, 30.0) == {
        "last-poll-seconds-ago": 4.0,
        "time-between-poll-avg": 3_000.0,  # 4 seconds, and 2
        "time-between-poll-max": 4_000.0,
        "poll-idle-ratio-avg": 0.5,  # 3 seconds of 6
    }
    assert read(clock, 1_000.0)["time-between-poll-max"] == -math.inf  # that was long ago


def test_a_caller_that_does_nothing_but_poll_is_idle() -> None:
    clock = PollClock(0.0)
    for second in range(5):
        clock.begin(second)
        clock.end(second + 1.0)
    clock.begin(5.0)
    clock.end(9.0)
    assert read(clock, 9.0)["poll-idle-ratio-avg"] == 1.0
