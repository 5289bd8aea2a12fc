"""Metrics by group and name."""

from __future__ import annotations

import math

import pytest

from kafka.metrics import Average, Counter, Maximum, Metrics, Rate


def test_a_snapshot_has_the_present_values() -> None:
    now = [10.0]
    metrics = Metrics()
    counter = metrics.add("g", "count", Counter())
    average = metrics.add("g", "avg", Average())
    largest = metrics.add("g", "max", Maximum())
    rate = metrics.add("g", "rate", Rate(lambda: now[0]))
    metrics.gauge("h", "now", lambda: now[0])
    empty = metrics.snapshot()
    assert empty["g"]["count"] == empty["g"]["rate"] == 0
    assert math.isnan(empty["g"]["avg"])
    assert math.isnan(empty["g"]["max"])
    counter.add()
    counter.add(2)
    for value in (-1, -3):
        average.record(value)
        largest.record(value)
    rate.add(30)
    now[0] = 15
    assert metrics.snapshot() == {"g": {"count": 3, "avg": -2, "max": -1, "rate": 6}, "h": {"now": 15}}


def test_a_name_is_given_once() -> None:
    metrics = Metrics()
    metrics.add("g", "n", Counter())
    with pytest.raises(ValueError, match="'n' in group 'g'"):
        metrics.gauge("g", "n", lambda: 0)


def test_metrics_that_are_switched_off_show_nothing() -> None:
    metrics = Metrics(enabled=False)
    metrics.add("g", "n", Counter()).add()
    assert metrics.snapshot() == {}
