"""The producer's metrics, recorded once a batch or request; names as in the Java client where it has them."""

from __future__ import annotations

from collections.abc import Callable

from kafka.metrics import Average, Counter, Maximum, Metrics, Rate

_GROUP = "producer-metrics"


class ProducerStatistics:
    """Records what happens to batches and requests.

    Arguments:
        metrics: the client's registry.
        clock: the loop's time in seconds.
    """

    def __init__(self, metrics: Metrics, clock: Callable[[], float]) -> None:
        self._send_total = metrics.add(_GROUP, "record-send-total", Counter())
        self._send_rate = metrics.add(_GROUP, "record-send-rate", Rate(clock))
        self._error_total = metrics.add(_GROUP, "record-error-total", Counter())
        self._retry_total = metrics.add(_GROUP, "record-retry-total", Counter())
        self._byte_total = metrics.add(_GROUP, "outgoing-byte-total", Counter())
        self._byte_rate = metrics.add(_GROUP, "outgoing-byte-rate", Rate(clock))
        self._request_total = metrics.add(_GROUP, "request-total", Counter())
        self._batch_size = metrics.add(_GROUP, "batch-size-avg", Average())
        self._batch_records = metrics.add(_GROUP, "records-per-batch-avg", Average())
        self._request_records = metrics.add(_GROUP, "records-per-request-avg", Average())
        self._delivery_avg = metrics.add(_GROUP, "record-delivery-time-avg", Average())
        self._delivery_max = metrics.add(_GROUP, "record-delivery-time-max", Maximum())
        self._latency_avg = metrics.add(_GROUP, "request-latency-avg", Average())
        self._latency_max = metrics.add(_GROUP, "request-latency-max", Maximum())

    def requested(self, records: int, seconds: float) -> None:
        """A request with so many records was answered after this time."""
        self._request_total.add()
        self._request_records.record(records)
        self._latency_avg.record(seconds * 1000)
        self._latency_max.record(seconds * 1000)

    def delivered(self, records: int, size: int, seconds: float) -> None:
        """A batch of `size` bytes is in the log, this time after its first record came."""
        self._send_total.add(records)
        self._send_rate.add(records)
        self._byte_total.add(size)
        self._byte_rate.add(size)
        self._batch_size.record(size)
        self._batch_records.record(records)
        self._delivery_avg.record(seconds * 1000)
        self._delivery_max.record(seconds * 1000)

    def failed(self, records: int) -> None:
        """Records were given up."""
        self._error_total.add(records)

    def retried(self, records: int) -> None:
        """Records are sent again."""
        self._retry_total.add(records)
