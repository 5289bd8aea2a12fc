"""Figures are medians, and a ratio says how many times better ours is."""

from __future__ import annotations

import pytest
from bench.figures import MEDIAN, P99, PEAK, RATE, Row, Target, reached

from .results import latency_row, rate_row, result


def test_more_records_a_second_are_better() -> None:
    row = rate_row([4e6, 9e6, 6e6], [2e6, 3e6, 1e6])
    assert row.ratio("confluent", RATE) == pytest.approx(3.0)


def test_less_time_is_better() -> None:
    row = latency_row([1.0] * 90 + [8.0] * 10, [2.0] * 90 + [4.0] * 10)
    assert row.ratio("confluent", MEDIAN) == pytest.approx(2.0)
    assert row.ratio("confluent", P99) == pytest.approx(0.5)


def test_the_99th_percentile_leaves_out_one_trip_in_a_hundred() -> None:
    assert P99.of(result(trips=[float(number) for number in range(1, 102)])) == pytest.approx(100.0)


def test_less_memory_is_better() -> None:
    results = {"ours": [result(peak_mb=40.0)], "confluent": [result(peak_mb=100.0)]}
    row = Row("memory", "memory", "100 bytes, none", "peak", ("ours", "confluent"), (), results)
    assert row.ratio("confluent", PEAK) == pytest.approx(2.5)


def test_nothing_is_compared_with_itself_or_with_who_failed() -> None:
    row = rate_row([1.0], [])
    assert row.ratio("ours", RATE) is None
    assert row.ratio("confluent", RATE) is None


@pytest.mark.parametrize(("ratio", "holds"), [(6.2, True), (5.996, True), (5.99, False)])
def test_a_target_is_reached_if_its_two_digits_are(ratio: float, holds: bool) -> None:
    assert reached(ratio, Target("confluent", 6.0)) is holds
