"""The producer's metrics, with the names of kafka-python and Java, counted on the loop once per batch or request.

Sent records are counted per topic, and added up when the metrics are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from kafka.metrics.client_metrics import (
    ClientMetrics,
    Metric,
    largest_of,
    mean_of,
    rate_of,
)
from kafka.metrics.windows import Window, Windows, largest, mean
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.producer_batch import ProducerBatch

_GROUP = "producer-metrics"


class _Exchanges(Window):
    """Totals for requests, their responses (with throttle times, KIP-219, mostly zero), and delivered batches."""

    __slots__ = (
        "deliveries",
        "delivery_ms",
        "longest_delivery_ms",
        "longest_throttle_ms",
        "records",
        "requests",
        "responses",
        "throttle_ms",
    )

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.requests = self.records = self.responses = self.deliveries = 0
        self.throttle_ms = self.delivery_ms = 0.0
        self.longest_throttle_ms = self.longest_delivery_ms = -math.inf


class _Sends(Window):
    """Totals for a topic's sent batches; a batch counts each time that it is sent."""

    __slots__ = (
        "batches",
        "compression_ratios",
        "errors",
        "largest_batch",
        "largest_record",
        "largest_records",
        "longest_queue_ms",
        "nbytes",
        "queue_ms",
        "records",
        "retries",
    )

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.batches = self.records = self.nbytes = self.largest_records = self.retries = self.errors = 0
        self.compression_ratios = self.queue_ms = 0.0
        self.largest_batch = self.largest_record = self.longest_queue_ms = -math.inf


_TOPIC = (
    Metric("record-send-rate", "records sent per second", rate_of("records")),
    Metric("byte-rate", "bytes of batches sent per second", rate_of("nbytes")),
    Metric(
        "compression-rate",
        "mean compressed size of a batch divided by its uncompressed size",
        mean_of("compression_ratios", "batches"),
    ),
    Metric("record-retry-rate", "records sent again per second", rate_of("retries")),
    Metric("record-error-rate", "failed records per second", rate_of("errors")),
)
"""Metrics computed from the `Windows` of one topic."""

_SENDS = (
    Metric("batch-size-avg", "mean size of a batch in bytes", mean_of("nbytes", "batches")),
    Metric("batch-size-max", "size of the largest batch in bytes", largest_of("largest_batch")),
    Metric(
        "compression-rate-avg",
        "mean compressed size of a batch divided by its uncompressed size",
        mean_of("compression_ratios", "batches"),
    ),
    Metric("record-queue-time-avg", "mean time in ms until a batch was sent", mean_of("queue_ms", "batches")),
    Metric("record-queue-time-max", "longest time in ms until a batch was sent", largest_of("longest_queue_ms")),
    Metric("record-send-rate", "records sent per second", rate_of("records")),
    Metric("records-per-batch-avg", "mean number of records per batch", mean_of("records", "batches")),
    Metric("byte-rate", "bytes of batches sent per second", rate_of("nbytes")),
    Metric("record-retry-rate", "records sent again per second", rate_of("retries")),
    Metric("record-error-rate", "failed records per second", rate_of("errors")),
    Metric("record-size-max", "uncompressed size of the largest record in bytes", largest_of("largest_record")),
    Metric(
        "record-size-avg",
        "mean size of the largest record of each batch in bytes",
        mean_of("largest_records", "batches"),
    ),
)
"""Metrics computed from the `Windows` of all topics."""


def time_of(call: str) -> Callable[[Any, float], float]:
    """Return a function that reads the total duration of a call, in nanoseconds, from a `ProducerStatistics`."""
    return lambda of, now: of.call_ns[call]


def _mean(field: str, by: str) -> Callable[[ProducerStatistics, float], float]:
    return lambda of, now: mean((of.exchanges,), field, by, now)


def _largest(field: str) -> Callable[[ProducerStatistics, float], float]:
    return lambda of, now: largest((of.exchanges,), field, now)


_TOTALS = (
    Metric(
        "produce-throttle-time-avg", "mean throttle time in ms requested by brokers", _mean("throttle_ms", "responses")
    ),
    Metric(
        "produce-throttle-time-max",
        "longest throttle time in ms requested by a broker",
        _largest("longest_throttle_ms"),
    ),
    Metric(
        "records-per-request-avg",
        "mean number of records per request",
        _mean("records", "requests"),
    ),
    Metric(
        "record-delivery-time-avg",
        "mean time in ms until a batch was acknowledged",
        _mean("delivery_ms", "deliveries"),
    ),
    Metric(
        "record-delivery-time-max",
        "longest time in ms until a batch was acknowledged",
        _largest("longest_delivery_ms"),
    ),
    Metric("record-send-total", "records acknowledged", lambda of, now: of.records_delivered),
    Metric("outgoing-byte-total", "bytes of batches acknowledged", lambda of, now: of.bytes_delivered),
    Metric("record-error-total", "failed records", lambda of, now: of.records_failed),
    Metric("record-retry-total", "records sent again", lambda of, now: of.records_retried),
    Metric("request-total", "produce requests answered", lambda of, now: of.requests_answered),
)
"""Metrics computed from a `ProducerStatistics`."""

CALLS = ("flush", "metadata-wait", "txn-init", "txn-begin", "txn-send-offsets", "txn-commit", "txn-abort")
"""The program's calls whose durations are measured (KIP-761)."""

_CALL_TIMES = tuple(
    Metric(f"{call}-time-ns-total", f"nanoseconds spent in {call}, in total", time_of(call)) for call in CALLS
)
"""Metrics for call times, computed from a `ProducerStatistics`."""


class ProducerStatistics:
    """Counts batches, requests and their results.

    Arguments:
        metrics: the client's metrics, to which the producer's metrics are added.
    """

    def __init__(self, metrics: ClientMetrics) -> None:
        self._metrics = metrics
        self._topics: dict[str, Windows[_Sends]] = {}
        self.exchanges = Windows(_Exchanges, metrics.window)
        self.call_ns = dict.fromkeys(CALLS, 0)
        self.records_delivered = self.bytes_delivered = self.records_failed = self.records_retried = 0
        self.requests_answered = 0
        self.acknowledged_at = -math.inf
        """Time on the loop's clock when a batch was last acknowledged, in seconds."""
        metrics.add(_GROUP, _SENDS, self._topics.values())
        metrics.add(_GROUP, (*_TOTALS, *_CALL_TIMES), self)

    def sent(self, batches: Iterable[ProducerBatch], now: float) -> None:
        """Count a request that contains these encoded batches."""
        count = 0
        for batch in batches:
            sends = self._topics.get(batch.topic_partition.topic) or self._begin(batch)
            window: _Sends = sends.present if now < sends.until else sends.turn(now)
            records, size = batch.records, len(batch.data or b"")
            queued_ms = 1000 * (now - batch.created)
            count += records
            window.batches += 1
            window.records += records
            window.nbytes += size
            window.compression_ratios += size / batch.raw_size if batch.raw_size else 1.0
            window.queue_ms += queued_ms
            window.largest_records += batch.largest_record
            if size > window.largest_batch:
                window.largest_batch = size
            if queued_ms > window.longest_queue_ms:
                window.longest_queue_ms = queued_ms
            if batch.largest_record > window.largest_record:
                window.largest_record = batch.largest_record
        exchanges: _Exchanges = self.exchanges.present if now < self.exchanges.until else self.exchanges.turn(now)
        exchanges.requests += 1
        exchanges.records += count

    def delivered(self, records: int, size: int, seconds: float, now: float) -> None:
        """Count a delivered batch of `size` bytes, `seconds` after its first record was added."""
        self.acknowledged_at = now
        self.records_delivered += records
        self.bytes_delivered += size
        delivery_ms = 1000 * seconds
        exchanges: _Exchanges = self.exchanges.present if now < self.exchanges.until else self.exchanges.turn(now)
        exchanges.deliveries += 1
        exchanges.delivery_ms += delivery_ms
        if delivery_ms > exchanges.longest_delivery_ms:
            exchanges.longest_delivery_ms = delivery_ms

    def failed(self, batch: ProducerBatch, now: float) -> None:
        """Count a failed batch."""
        self.records_failed += batch.count
        (self._topics.get(batch.topic_partition.topic) or self._begin(batch)).at(now).errors += batch.count

    def called(self, call: str, seconds: float) -> None:
        """Count a successful call, one of `CALLS`, that took `seconds`."""
        self.call_ns[call] += round(seconds * 1e9)

    def answered(self, throttle_ms: float, now: float) -> None:
        """Count a response, and its throttle time."""
        self.requests_answered += 1
        exchanges: _Exchanges = self.exchanges.present if now < self.exchanges.until else self.exchanges.turn(now)
        exchanges.responses += 1
        exchanges.throttle_ms += throttle_ms
        if throttle_ms > exchanges.longest_throttle_ms:
            exchanges.longest_throttle_ms = throttle_ms

    def retried(self, batch: ProducerBatch, now: float) -> None:
        """Count a batch that is sent again."""
        self.records_retried += batch.count
        (self._topics.get(batch.topic_partition.topic) or self._begin(batch)).at(now).retries += batch.count

    def _begin(self, batch: ProducerBatch) -> Windows[_Sends]:
        topic = batch.topic_partition.topic
        found = self._topics[topic] = Windows(_Sends, self._metrics.window)
        self._metrics.add(f"producer-topic-metrics.{topic}", _TOPIC, (found,))
        return found


def add_gauges(
    metrics: ClientMetrics, buffer: RecordBuffer, in_flight: Callable[[], int], metadata_age_s: Callable[[float], float]
) -> None:
    """Add metrics for requests in flight, free memory and the age of the metadata.

    Arguments:
        in_flight: returns the number of requests in flight.
        metadata_age_s: returns the age of the metadata in seconds, given the loop's time.
    """
    memory = buffer.memory
    gauges = (
        Metric("requests-in-flight", "produce requests that wait for a response", lambda _, now: in_flight()),
        Metric("metadata-age", "seconds since the metadata was last refreshed", lambda _, now: metadata_age_s(now)),
        Metric("buffer-available-bytes", "free memory for records in bytes", lambda _, now: memory.free),
        Metric("buffer-total-bytes", "memory for records in bytes", lambda _, now: memory.total),
        Metric("incomplete-batches", "batches neither delivered nor failed", lambda _, now: len(buffer.incomplete)),
    )
    metrics.add(_GROUP, gauges, None)
