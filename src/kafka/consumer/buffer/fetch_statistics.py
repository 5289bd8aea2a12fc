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
from kafka.metrics.windows import Counts, SampledValues, largest, rate, total


class FetchStatistics:
    """The statistics of one consumer; see the module.

    Arguments:
        metrics: the registry of metrics.
        group: the name of the metric group.
        clock: the loop's clock in seconds; read in both threads.
        read_committed: determines the end of the log from which lag is measured; see `readable_end`.

    Attributes:
        latencies: the latencies of all responses, in milliseconds.
        sizes: the sizes of responses that contain partitions, in bytes.
        throttles: pauses that brokers requested, in milliseconds; usually 0.
        topics: statistics by topic.
    """

    def __init__(self, metrics: ClientMetrics, group: str, clock: Callable[[], float], read_committed: bool) -> None:
        self._metrics = metrics
        self._group = group
        self._clock = clock
        self._read_committed = read_committed
        self.latencies = SampledValues(metrics.window)
        self.sizes = SampledValues(metrics.window)
        self.throttles = SampledValues(metrics.window)
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
        self.throttles.record(max(throttle_ms, 0), now)
        self.latencies.record(1000 * (now - sent_at), now)
        if sizes:
            self.sizes.record(sum(sizes.values()), now)
            for topic, size in sizes.items():
                self._topic(topic).sizes.record(size, now)

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


def _records_per_answer(of: FetchStatistics | TopicConsumption, now: float) -> float:
    answers = total((of.sizes,), "count", now)
    return total(_consumed(of), "records", now) / answers if answers else 0.0


_TOPIC = (
    Metric(
        "fetch-size-avg",
        "mean size of the records in a response, in bytes",
        mean_value_of("sizes"),
    ),
    Metric("fetch-size-max", "maximum size of the records in a response, in bytes", largest_value_of("sizes")),
    Metric(
        "bytes-consumed-rate",
        "bytes of records returned per second",
        lambda of, now: rate(_consumed(of), "nbytes", now),
    ),
    Metric("records-per-request-avg", "mean number of records returned per response", _records_per_answer),
    Metric("records-consumed-rate", "records returned per second", lambda of, now: rate(_consumed(of), "records", now)),
)
"""Metrics of a `TopicConsumption`, or of a `FetchStatistics` for all topics."""

_FETCHES = (
    *_TOPIC,
    Metric(
        "fetch-latency-avg",
        "mean response time in ms, including the time that the broker waits for data",
        mean_value_of("latencies"),
    ),
    Metric(
        "fetch-latency-max",
        "maximum response time in ms",
        largest_value_of("latencies"),
    ),
    Metric("fetch-throttle-time-avg", "mean throttle time in ms requested by a broker", mean_value_of("throttles")),
    Metric(
        "fetch-throttle-time-max", "maximum throttle time in ms requested by a broker", largest_value_of("throttles")
    ),
    Metric("fetch-rate", "responses per second", lambda of, now: rate((of.latencies,), "count", now)),
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
