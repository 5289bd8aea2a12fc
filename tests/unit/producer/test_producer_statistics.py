"""What a producer counts."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from kafka.config import parse_producer
from kafka.metrics.client_metrics import ClientMetrics
from kafka.producer.producer_statistics import ProducerStatistics
from kafka.structs import TopicPartition


def batch(topic: str, records: int, size: int, raw: int, largest: int, created: float) -> Any:
    """An encoded batch, as far as counting goes."""
    return SimpleNamespace(
        topic_partition=TopicPartition(topic, 0),
        records=records,
        count=records,
        data=b"x" * size,
        raw_size=raw,
        largest_record=largest,
        created=created,
    )


class StatisticsWithClock:
    """Statistics, and a clock for them."""

    def __init__(self) -> None:
        self.now = 10.0
        self.metrics = ClientMetrics(parse_producer({}).connection, lambda: self.now)
        self.statistics = ProducerStatistics(self.metrics)

    def shown(self, group: str = "producer-metrics") -> dict[str, float]:
        return self.metrics.snapshot()[group]


def test_statistics_start_empty() -> None:
    shown = StatisticsWithClock().shown()
    extremes = {name for name, value in shown.items() if value == -math.inf}
    assert extremes == {
        "batch-size-max",
        "record-queue-time-max",
        "record-size-max",
        "record-delivery-time-max",
        "produce-throttle-time-max",
    }
    assert {value for name, value in shown.items() if name not in extremes} == {0}


def test_sent_batches_are_counted() -> None:
    counted = StatisticsWithClock()
    counted.statistics.sent([batch("t", 3, 300, 600, 150, 9.0), batch("u", 1, 100, 0, 90, 9.5)], 10.0)
    counted.statistics.sent([batch("t", 2, 200, 200, 120, 10.0)], 10.0)
    shown = counted.shown()
    assert {name: value for name, value in shown.items() if value} == pytest.approx(
        {
            "batch-size-avg": 200,
            "batch-size-max": 300,
            "compression-rate-avg": 2.5 / 3,
            "record-queue-time-avg": 500,
            "record-queue-time-max": 1000,
            "record-send-rate": 6 / 30,
            "records-per-batch-avg": 2,
            "records-per-request-avg": 3,
            "byte-rate": 600 / 30,
            "record-size-max": 150,
            "record-size-avg": 120,
            "record-delivery-time-max": -math.inf,
            "produce-throttle-time-max": -math.inf,
        }
    )
    assert counted.shown("producer-topic-metrics.t") == pytest.approx(
        {
            "record-send-rate": 5 / 30,
            "byte-rate": 500 / 30,
            "compression-rate": 0.75,
            "record-retry-rate": 0,
            "record-error-rate": 0,
        }
    )
    counted.now += 60
    assert counted.shown()["record-send-rate"] == 0
    assert counted.shown()["batch-size-max"] == -math.inf


def test_results_are_counted() -> None:
    counted = StatisticsWithClock()
    counted.statistics.delivered(3, 300, 0.25, 10.0)
    counted.statistics.delivered(1, 100, 0.75, 10.0)
    counted.statistics.failed(batch("t", 2, 0, 0, 0, 0), 10.0)
    counted.statistics.retried(batch("t", 6, 0, 0, 0, 0), 10.0)
    counted.statistics.answered(0, 10.0)
    counted.statistics.answered(50, 10.0)
    shown = counted.shown()
    totals = {name: shown[name] for name in shown if name.endswith("total") and shown[name]}
    assert totals == {
        "record-send-total": 4,
        "outgoing-byte-total": 400,
        "record-error-total": 2,
        "record-retry-total": 6,
        "request-total": 2,
    }
    assert (shown["produce-throttle-time-avg"], shown["produce-throttle-time-max"]) == (25, 50)
    assert (shown["record-delivery-time-avg"], shown["record-delivery-time-max"]) == (500, 750)
    assert (shown["record-error-rate"], shown["record-retry-rate"]) == pytest.approx((2 / 30, 6 / 30))
    assert counted.shown("producer-topic-metrics.t")["record-error-rate"] == pytest.approx(2 / 30)


def test_the_time_spent_in_calls_is_counted() -> None:
    counted = StatisticsWithClock()
    for call in ("flush", "metadata-wait", "txn-init", "txn-begin", "txn-send-offsets", "txn-commit", "txn-abort"):
        counted.statistics.called(call, 0.25)
        counted.statistics.called(call, 0.5)
        assert counted.shown()[f"{call}-time-ns-total"] == 750_000_000
