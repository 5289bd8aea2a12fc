"""The producer's metrics, counted once per batch or request; names as in the Java client where it has them.

Counted in plain attributes, and put together when somebody looks: a batch of one record is answered in a fraction of a
millisecond, of which a dozen objects with methods would take their part.
"""

from __future__ import annotations

from collections.abc import Callable

from kafka.metrics import Metrics
from kafka.producer.batch.record_buffer import RecordBuffer

_GROUP = "producer-metrics"
_NAN = float("nan")


class ProducerStatistics:
    """Counts what happens to batches and requests.

    Arguments:
        metrics: the client's registry.
        clock: the loop's time in seconds.
    """

    __slots__ = (
        "_batches",
        "_bytes",
        "_clock",
        "_delivery_max_s",
        "_delivery_s",
        "_errors",
        "_latency_max_s",
        "_latency_s",
        "_records",
        "_requested",
        "_requests",
        "_retries",
        "_since",
    )

    def __init__(self, metrics: Metrics, clock: Callable[[], float]) -> None:
        self._clock, self._since = clock, clock()
        self._records = self._bytes = self._batches = 0
        self._delivery_s = self._delivery_max_s = 0.0
        self._requests = self._requested = 0
        self._latency_s = self._latency_max_s = 0.0
        self._errors = self._retries = 0
        for name, read in {
            "record-send-total": lambda: self._records,
            "record-send-rate": lambda: self._a_second(self._records),
            "record-error-total": lambda: self._errors,
            "record-retry-total": lambda: self._retries,
            "outgoing-byte-total": lambda: self._bytes,
            "outgoing-byte-rate": lambda: self._a_second(self._bytes),
            "request-total": lambda: self._requests,
            "batch-size-avg": lambda: _mean(self._bytes, self._batches),
            "records-per-batch-avg": lambda: _mean(self._records, self._batches),
            "records-per-request-avg": lambda: _mean(self._requested, self._requests),
            "record-delivery-time-avg": lambda: _mean(1000 * self._delivery_s, self._batches),
            "record-delivery-time-max": lambda: 1000 * self._delivery_max_s if self._batches else _NAN,
            "request-latency-avg": lambda: _mean(1000 * self._latency_s, self._requests),
            "request-latency-max": lambda: 1000 * self._latency_max_s if self._requests else _NAN,
        }.items():
            metrics.gauge(_GROUP, name, read)

    def requested(self, records: int, seconds: float) -> None:
        """A request with so many records was answered after this time."""
        self._requests += 1
        self._requested += records
        self._latency_s += seconds
        if seconds > self._latency_max_s:
            self._latency_max_s = seconds

    def delivered(self, records: int, size: int, seconds: float) -> None:
        """A batch of `size` bytes is in the log, this time after its first record came."""
        self._batches += 1
        self._records += records
        self._bytes += size
        self._delivery_s += seconds
        if seconds > self._delivery_max_s:
            self._delivery_max_s = seconds

    def failed(self, records: int) -> None:
        """Records were given up."""
        self._errors += records

    def retried(self, records: int) -> None:
        """Records are sent again."""
        self._retries += records

    def _a_second(self, amount: int) -> float:
        elapsed = self._clock() - self._since
        return amount / elapsed if elapsed > 0 else 0.0


def _mean(total: float, count: int) -> float:
    """The mean; NaN as long as there is nothing."""
    return total / count if count else _NAN


def add_gauges(metrics: Metrics, buffer: RecordBuffer, in_flight: Callable[[], int]) -> None:
    """Show what is under way and how much memory is left.

    Arguments:
        in_flight: the number of requests under way.
    """
    memory = buffer.memory
    metrics.gauge(_GROUP, "requests-in-flight", in_flight)
    metrics.gauge(_GROUP, "buffer-available-bytes", lambda: memory.free)
    metrics.gauge(_GROUP, "buffer-total-bytes", lambda: memory.total)
    metrics.gauge(_GROUP, "incomplete-batches", lambda: len(buffer.incomplete))
