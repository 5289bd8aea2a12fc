"""A consumer's fetch statistics: responses are counted on the loop, and returned records in the caller's thread.

Nothing is counted per record. A topic has metrics once data from it has arrived; a partition has metrics from its first
returned records until it is unassigned.
"""

import math
import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kafka.consumer.buffer.partition_state import (
    Consumed,
    PartitionConsumption,
    PartitionState,
    TopicConsumption,
    current_lag,
    readable_end,
)
from kafka.metrics.client_metrics import ClientMetrics, Metric, largest_value_of, mean_value_of
from kafka.metrics.windows import Counts, Window, Windows, largest, mean, rate, total


class _Responses(Window):
    """Totals for responses: latencies, throttle times (KIP-219, usually 0), and the sizes of those with partitions."""

    __slots__ = (
        "count",
        "largest_size",
        "latency_ms",
        "longest_latency_ms",
        "longest_throttle_ms",
        "nbytes",
        "sized",
        "throttle_ms",
    )

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.count = self.sized = self.nbytes = 0
        self.latency_ms = self.throttle_ms = self.longest_throttle_ms = 0.0
        self.longest_latency_ms = self.largest_size = -math.inf


class FetchStatistics:
    """The statistics of one consumer; see the module.

    Arguments:
        metrics: the registry of metrics.
        group: the name of the metric group.
        clock: the loop's clock in seconds; read in both threads.
        read_committed: determines the end of the log from which lag is measured; see `readable_end`.

    Attributes:
        responses: totals for all responses.
        topics: statistics by topic.
    """

    def __init__(self, metrics: ClientMetrics, group: str, clock: Callable[[], float], read_committed: bool) -> None:
        self._metrics = metrics
        self._group = group
        self._clock = clock
        self._read_committed = read_committed
        self.responses = Windows(_Responses, metrics.window)
        self.topics: dict[str, TopicConsumption] = {}
        self._unlisted: dict[PartitionState, None] = {}
        """Partitions whose metrics have not been listed yet: a consumer may have many thousands."""
        self._listing = threading.Lock()
        metrics.add(group, _FETCHES, self)
        metrics.before_listing(self._list)

    # On the loop

    def answered(self, sent_at: float, sizes: Mapping[str, int], throttle_ms: int = 0) -> None:
        """Count a response to a request that was sent at ``sent_at``; ``sizes`` contains the record bytes by topic.

        Arguments:
            throttle_ms: the pause that the broker requests; 0: no pause.
        """
        now = self._clock()
        responses: _Responses = self.responses.present if now < self.responses.until else self.responses.turn(now)
        latency_ms = 1000 * (now - sent_at)
        responses.count += 1
        responses.latency_ms += latency_ms
        if latency_ms > responses.longest_latency_ms:
            responses.longest_latency_ms = latency_ms
        if throttle_ms > 0:
            responses.throttle_ms += throttle_ms
            responses.longest_throttle_ms = max(responses.longest_throttle_ms, throttle_ms)
        if sizes:
            size = sum(sizes.values())
            responses.sized += 1
            responses.nbytes += size
            if size > responses.largest_size:
                responses.largest_size = size
            for topic, size in sizes.items():
                (self.topics.get(topic) or self._topic(topic)).sizes.record(size, now)

    # In the caller's thread

    def handed_out(self, state: PartitionState, records: int, next_offset: int) -> None:
        """Count records that were returned from a partition, up to an offset."""
        partition = state.consumption or self._begin(state)
        now = self._clock()
        consumed = partition.topic.consumed
        window: Consumed = consumed.present if now < consumed.until else consumed.turn(now)
        window.records += records
        end = readable_end(state, self._read_committed)
        if end is not None:
            lag = max(0, end - next_offset)
            partition.record(lag, now)
            if lag > window.largest_lag:
                window.largest_lag = lag

    def given_back(self, state: PartitionState, records: int) -> None:
        """Subtract records that are not returned after all."""
        if state.consumption is not None:
            state.consumption.topic.consumed.at(self._clock()).records -= records

    def emptied(self, state: PartitionState, nbytes: int) -> None:
        """Count the bytes of a response that was returned completely."""
        if state.consumption is not None:
            state.consumption.topic.consumed.at(self._clock()).nbytes += nbytes

    def given_up(self, state: PartitionState) -> None:
        """Remove the metrics of a partition that is no longer assigned."""
        with self._listing:
            if state.consumption is not None:
                state.consumption = None
                if state in self._unlisted:
                    del self._unlisted[state]
                else:
                    self._metrics.remove(self._group, _PARTITION, _tags(state))

    def _begin(self, state: PartitionState) -> PartitionConsumption:
        found = state.consumption = PartitionConsumption(self._metrics.window, self._topic(state.tp.topic))
        self._unlisted[state] = None
        if self._metrics.is_listed:
            self._list()
        return found

    def _list(self) -> None:
        with self._listing:
            for state in list(self._unlisted):
                if state.consumption is not None:
                    self._metrics.add(
                        self._group,
                        _PARTITION,
                        _Partition(state, state.consumption, self._read_committed),
                        _tags(state),
                    )
                del self._unlisted[state]

    def _topic(self, name: str) -> TopicConsumption:
        found = self.topics.get(name)
        if found is None:
            found = self.topics.setdefault(name, TopicConsumption(self._metrics.window))  # both threads get here
            self._metrics.add(self._group, _TOPIC, found, {"topic": _tag(name)})
        return found


class _Partition(NamedTuple):
    """The values from which a partition's metrics are computed."""

    state: PartitionState
    lags: PartitionConsumption
    read_committed: bool

    @property
    def lag(self) -> float:
        """Return the number of offsets after the position; NaN if unknown."""
        known = current_lag(self.state, self.read_committed)
        return math.nan if known is None else float(known)


def _tags(state: PartitionState) -> dict[str, str]:
    return {"topic": _tag(state.tp.topic), "partition": str(state.tp.partition)}


def _tag(topic: str) -> str:
    """Return a topic name in the form that kafka-python and Java use in tags."""
    return topic.replace(".", "_")


def _consumed(of: FetchStatistics | TopicConsumption) -> Counts:
    """Return the numbers of consumed records and bytes, for one topic or for all."""
    if isinstance(of, TopicConsumption):
        return (of.consumed,)
    return [topic.consumed for topic in list(of.topics.values())]


def _sized_responses(of: FetchStatistics | TopicConsumption, now: float) -> float:
    """Return the number of responses that contained partitions."""
    if isinstance(of, TopicConsumption):
        return total((of.sizes,), "count", now)
    return total((of.responses,), "sized", now)


def _records_per_answer(of: FetchStatistics | TopicConsumption, now: float) -> float:
    answers = _sized_responses(of, now)
    return total(_consumed(of), "records", now) / answers if answers else 0.0


def _mean_of(field: str, by: str) -> Callable[[FetchStatistics, float], float]:
    return lambda of, now: mean((of.responses,), field, by, now)


def _largest_of(field: str) -> Callable[[FetchStatistics, float], float]:
    return lambda of, now: largest((of.responses,), field, now)


def _longest_throttle_ms(of: FetchStatistics, now: float) -> float:
    responses = (of.responses,)
    return largest(responses, "longest_throttle_ms", now) if total(responses, "count", now) else -math.inf


_MEAN_SIZE, _LARGEST_SIZE = (
    "mean size of the records in a response, in bytes",
    "maximum size of the records in a response, in bytes",
)
_CONSUMED = (
    Metric(
        "bytes-consumed-rate",
        "bytes of records returned per second",
        lambda of, now: rate(_consumed(of), "nbytes", now),
    ),
    Metric("records-per-request-avg", "mean number of records returned per response", _records_per_answer),
    Metric("records-consumed-rate", "records returned per second", lambda of, now: rate(_consumed(of), "records", now)),
)
"""Metrics of a `TopicConsumption`, or of a `FetchStatistics` for all topics."""

_TOPIC = (
    Metric("fetch-size-avg", _MEAN_SIZE, mean_value_of("sizes")),
    Metric("fetch-size-max", _LARGEST_SIZE, largest_value_of("sizes")),
    *_CONSUMED,
)
"""Metrics of a `TopicConsumption`."""

_FETCHES = (
    Metric("fetch-size-avg", _MEAN_SIZE, _mean_of("nbytes", "sized")),
    Metric("fetch-size-max", _LARGEST_SIZE, _largest_of("largest_size")),
    *_CONSUMED,
    Metric(
        "fetch-latency-avg",
        "mean response time in ms, including the time that the broker waits for data",
        _mean_of("latency_ms", "count"),
    ),
    Metric(
        "fetch-latency-max",
        "maximum response time in ms",
        _largest_of("longest_latency_ms"),
    ),
    Metric(
        "fetch-throttle-time-avg", "mean throttle time in ms requested by a broker", _mean_of("throttle_ms", "count")
    ),
    Metric("fetch-throttle-time-max", "maximum throttle time in ms requested by a broker", _longest_throttle_ms),
    Metric("fetch-rate", "responses per second", lambda of, now: rate((of.responses,), "count", now)),
    Metric(
        "records-lag-max",
        "maximum lag of any partition when its records were returned",
        lambda of, now: largest(_consumed(of), "largest_lag", now),
    ),
)
"""Metrics of a `FetchStatistics`."""

_PARTITION = (
    Metric("records-lag", "number of records after the position, NaN if unknown", lambda of, now: of.lag),
    Metric(
        "records-lag-avg",
        "mean lag when records were returned",
        mean_value_of("lags"),
    ),
    Metric(
        "records-lag-max",
        "maximum lag when records were returned",
        largest_value_of("lags"),
    ),
)
"""Metrics of a `_Partition`."""
