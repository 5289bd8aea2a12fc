"""What clients count with."""

from __future__ import annotations

import math

import pytest

from kafka.metrics import windows
from kafka.metrics.windows import SampledValues, WindowOptions

pytestmark = pytest.mark.once


def read(counts: list[SampledValues], now: float) -> tuple[float, float, float, float]:
    """Mean, maximum, sum a second, and how often a second."""
    return (
        windows.mean(counts, "total", "count", now),
        windows.largest(counts, "largest", now),
        windows.rate(counts, "total", now),
        windows.rate(counts, "count", now),
    )


def test_nothing_counted_yet() -> None:
    values = SampledValues(WindowOptions(2, 30))
    assert read([values], 5.0) == (0, -math.inf, 0, 0)
    assert windows.total([values], "count", 5.0) == 0


def test_values_are_those_of_the_last_windows() -> None:
    values = SampledValues(WindowOptions(2, 30))
    values.record(4, 100)
    values.record(2, 110)
    assert read([values], 110) == (3, 4, 6 / 40, 2 / 40)  # one window of 30 s counts as full
    values.record(9, 130)  # the first is over
    assert read([values], 140) == (5, 9, 15 / 40, 3 / 40)
    assert read([values], 160) == (9, 9, 9 / 30, 1 / 30)  # and too old
    values.record(1, 161)
    values.record(1, 192)
    assert read([values], 192) == (1, 1, 2 / 31, 2 / 31)
    assert read([values], 300) == (0, -math.inf, 0, 0)


def test_one_window_alone() -> None:
    values = SampledValues(WindowOptions(1, 10))
    values.record(3, 0)
    assert windows.rate([values], "total", 0) == 0  # no time has gone by
    assert windows.rate([values], "total", 6) == 0.5
    values.record(5, 10)
    assert windows.mean([values], "total", "count", 10) == 5


def test_several_counts_are_read_together() -> None:
    first, second = SampledValues(WindowOptions(2, 30)), SampledValues(WindowOptions(2, 30))
    first.record(6, 0)
    second.record(2, 0)
    second.record(1, 0)
    assert read([first, second], 0) == pytest.approx((3, 6, 9 / 30, 3 / 30))
    assert windows.total([first, second], "count", 0) == 3
