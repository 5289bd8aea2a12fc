"""Metrics by group and name."""

from __future__ import annotations

import pytest

from kafka.metrics import Metrics


def test_a_snapshot_has_the_present_values() -> None:
    now = {"a": 1.0, "b": 2.0}
    metrics = Metrics()
    metrics.gauge("g", "a", lambda: now["a"])
    metrics.gauge("g", "b", lambda: now["b"])
    metrics.gauge("h", "a", lambda: -now["a"])
    assert metrics.snapshot() == {"g": {"a": 1, "b": 2}, "h": {"a": -1}}
    now["a"] = 7
    assert metrics.snapshot() == {"g": {"a": 7, "b": 2}, "h": {"a": -7}}


def test_a_name_is_given_once() -> None:
    metrics = Metrics()
    metrics.gauge("g", "n", lambda: 1)
    with pytest.raises(ValueError, match="'n' in group 'g'"):
        metrics.gauge("g", "n", lambda: 0)


def test_metrics_that_are_switched_off_show_nothing() -> None:
    metrics = Metrics(enabled=False)
    metrics.gauge("g", "n", lambda: 1)
    assert metrics.snapshot() == {}
