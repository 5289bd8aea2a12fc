"""Formats the state of queries for Prometheus. Pure.

`exposition` writes the text format, also for the metrics of pipelines.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kafka.spark.monitoring.progress_reports import QueryProgress
from kafka.structs import TopicPartition

Sample = tuple[dict[str, str], float]


@dataclasses.dataclass
class QueryState:
    """The state of a query.

    Arguments:
        query: the name of the query, or its id.
        query_id: the id of the query, which stays the same when the query is restarted from its checkpoint.
    """

    query: str
    query_id: str
    running: bool = False
    failures: int = 0
    batches: int = 0
    rows: int = 0
    newest: QueryProgress | None = None
    lost: dict[tuple[str, TopicPartition], int] = dataclasses.field(default_factory=dict)
    _lost_before: dict[tuple[str, TopicPartition], int] = dataclasses.field(default_factory=dict)

    def start(self) -> None:
        """Record the start or restart of the query. Each run counts its lost records from 0."""
        self.running = True
        self._lost_before = dict(self.lost)

    def add(self, progress: QueryProgress) -> None:
        """Record a completed micro-batch."""
        self.running = True
        self.batches += 1
        self.rows += progress.rows
        self.newest = progress
        for source in progress.sources:
            for partition, found in source.partitions.items():
                key = (source.source, partition)
                self.lost[key] = self._lost_before.get(key, 0) + found.lost

    def end(self, *, failed: bool) -> None:
        """Record the end of the query."""
        self.running = False
        self.failures += failed


_QUERY_METRICS = (
    ("kafka_spark_query_running", "gauge", "1 while the query runs."),
    ("kafka_spark_query_failures_total", "counter", "Number of failures of the query."),
    ("kafka_spark_batches_total", "counter", "Number of completed micro-batches."),
    ("kafka_spark_rows_total", "counter", "Number of rows read by completed micro-batches."),
    ("kafka_spark_batch_id", "gauge", "Number of the last micro-batch."),
    ("kafka_spark_batch_seconds", "gauge", "Duration of the last micro-batch."),
    ("kafka_spark_batch_rows", "gauge", "Number of rows in the last micro-batch."),
    ("kafka_spark_state_rows", "gauge", "Number of rows in the state of stateful operators."),
    ("kafka_spark_state_bytes", "gauge", "Memory used by the state of stateful operators."),
)
_SOURCE_METRICS = (
    ("kafka_spark_input_rows_per_second", "gauge", "Input rows per second in the last micro-batch."),
    ("kafka_spark_processed_rows_per_second", "gauge", "Processed rows per second in the last micro-batch."),
)
_PARTITION_METRICS = (
    ("kafka_spark_offset", "gauge", "End offset (exclusive) of the last micro-batch."),
    ("kafka_spark_latest_offset", "gauge", "Log end offset when the last micro-batch was planned."),
    ("kafka_spark_lag_records", "gauge", "Number of offsets that the last micro-batch left unread."),
    ("kafka_spark_log_bytes", "gauge", "Size of the log on a broker's disk, up to a minute old."),
    ("kafka_spark_lost_records_total", "counter", "Number of records deleted before the query read them."),
)


def prometheus_text(queries: Sequence[QueryState]) -> str:
    """Return the state of queries in Prometheus' text format, with one sample per line."""
    samples: dict[str, list[Sample]] = {}
    for each in queries:
        for name, labels, value in _samples(each):
            if value is not None:
                samples.setdefault(name, []).append((labels, value))
    return exposition((*_QUERY_METRICS, *_SOURCE_METRICS, *_PARTITION_METRICS), samples)


def exposition(metrics: Iterable[tuple[str, str, str]], samples: Mapping[str, Sequence[Sample]]) -> str:
    """Return samples in Prometheus' text format.

    Arguments:
        metrics: name, type and help text of each metric. Metrics without samples are omitted.
        samples: labels and value of each sample, by the name of the metric.
    """
    lines = []
    for name, kind, text in metrics:
        if name in samples:
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
            lines += [f"{name}{{{_labels(labels)}}} {value:.17g}" for labels, value in samples[name]]
    return "".join(f"{line}\n" for line in lines)


def _samples(query: QueryState) -> Iterator[tuple[str, dict[str, str], float | None]]:
    labels = {"query": query.query, "id": query.query_id}
    yield "kafka_spark_query_running", labels, query.running
    yield "kafka_spark_query_failures_total", labels, query.failures
    yield "kafka_spark_batches_total", labels, query.batches
    yield "kafka_spark_rows_total", labels, query.rows
    newest = query.newest
    if newest is None:
        return
    yield "kafka_spark_batch_id", labels, newest.batch
    yield "kafka_spark_batch_seconds", labels, newest.seconds
    yield "kafka_spark_batch_rows", labels, newest.rows
    yield "kafka_spark_state_rows", labels, newest.state_rows
    yield "kafka_spark_state_bytes", labels, newest.state_bytes
    for source in newest.sources:
        of_source = {**labels, "source": source.source}
        yield "kafka_spark_input_rows_per_second", of_source, source.input_rate
        yield "kafka_spark_processed_rows_per_second", of_source, source.rate
        for partition, found in source.partitions.items():
            where = {**of_source, "topic": partition.topic, "partition": str(partition.partition)}
            yield "kafka_spark_offset", where, found.end
            yield "kafka_spark_latest_offset", where, found.latest
            yield "kafka_spark_lag_records", where, found.lag
            yield "kafka_spark_log_bytes", where, found.log_bytes
            yield "kafka_spark_lost_records_total", where, query.lost.get((source.source, partition), 0)


def _labels(labels: dict[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
