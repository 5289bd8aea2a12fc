"""What a producer counts."""

from __future__ import annotations

import math

from kafka.metrics import Metrics
from kafka.producer.statistics import ProducerStatistics

NUMBERS = {
    "record-send-total": 0,
    "record-send-rate": 0,
    "record-error-total": 0,
    "record-retry-total": 0,
    "outgoing-byte-total": 0,
    "outgoing-byte-rate": 0,
    "request-total": 0,
}
MEANS = {
    "batch-size-avg",
    "records-per-batch-avg",
    "records-per-request-avg",
    "record-delivery-time-avg",
    "record-delivery-time-max",
    "request-latency-avg",
    "request-latency-max",
}


def test_nothing_has_happened_yet() -> None:
    metrics = Metrics()
    ProducerStatistics(metrics, lambda: 5.0)
    shown = metrics.snapshot()["producer-metrics"]
    assert {name: shown[name] for name in NUMBERS} == NUMBERS
    assert shown.keys() == NUMBERS.keys() | MEANS
    assert all(math.isnan(shown[name]) for name in MEANS)


def test_what_happened_is_counted() -> None:
    now = [10.0]
    metrics = Metrics()
    statistics = ProducerStatistics(metrics, lambda: now[0])
    statistics.delivered(3, 300, 0.25)
    statistics.delivered(1, 100, 0.75)
    statistics.requested(4, 0.5)
    statistics.requested(0, 0.25)
    statistics.failed(2)
    statistics.retried(5)
    now[0] = 14.0
    assert metrics.snapshot()["producer-metrics"] == {
        "record-send-total": 4,
        "record-send-rate": 1,
        "record-error-total": 2,
        "record-retry-total": 5,
        "outgoing-byte-total": 400,
        "outgoing-byte-rate": 100,
        "request-total": 2,
        "batch-size-avg": 200,
        "records-per-batch-avg": 2,
        "records-per-request-avg": 2,
        "record-delivery-time-avg": 500,
        "record-delivery-time-max": 750,
        "request-latency-avg": 375,
        "request-latency-max": 500,
    }
