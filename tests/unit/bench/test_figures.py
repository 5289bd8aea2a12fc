"""Figures are medians, and a ratio says how many times better ours is."""

from __future__ import annotations

import pytest
from bench.figures import MEDIAN, P99, PEAK, RATE, Row, Target, reached, settled, slower

from .results import latency_row, rate_row, result

pytestmark = pytest.mark.once


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


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([4.0], [1.0], True),  # far above the 2 that are asked
        ([1.0], [1.0], True),  # far below
        ([2.2], [1.0], False),
        ([1.8], [1.0], False),
        ([2.2, 2.4], [1.0, 1.1], True),
        ([1.6, 1.8], [1.0, 1.1], True),
        ([2.2, 2.4], [1.0, 1.2], False),
    ],
)
def test_a_row_is_settled_if_further_rounds_would_say_the_same(
    ours: list[float], theirs: list[float], expected: bool
) -> None:
    assert settled(rate_row([rate * 100 for rate in ours], [rate * 100 for rate in theirs])) is expected


def test_a_row_of_whom_somebody_failed_or_nothing_is_asked_is_settled() -> None:
    assert settled(rate_row([1.0], []))
    row = rate_row([2.0], [1.0])
    row.targets = ()
    assert settled(row)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [([1.0, 2.0], [3.0, 4.0], True), ([1.0, 3.0], [3.0, 4.0], False), ([4.0, 5.0], [1.0, 2.0], False)],
)
def test_slower_is_what_is_worse_in_each_round(ours: list[float], theirs: list[float], expected: bool) -> None:
    assert slower(rate_row(ours, theirs), "confluent", RATE) is expected


def test_one_round_does_not_tell_what_is_slower() -> None:
    assert not slower(rate_row([1.0], [3.0]), "confluent", RATE)
    assert not slower(rate_row([1.0, 1.0], []), "confluent", RATE)


def test_of_milliseconds_less_is_not_slower() -> None:
    row = latency_row([2.0] * 100, [1.0] * 100)
    row.results = {client: results * 2 for client, results in row.results.items()}
    assert slower(row, "confluent", MEDIAN)
    assert not slower(row, "ours", MEDIAN)
