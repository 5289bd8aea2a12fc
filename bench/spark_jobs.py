"""The Spark jobs of the benchmarks, the same for this package and for Spark's own connector.

Each runs in a process with a session of its own. Making the session is not timed. Before the time begins everything is
read once through the same source and summed up, and the same query runs until the JVM has compiled it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.job import BATCH_BYTES, FETCH_BYTES, LINGER_MS, PARTITION_FETCH_BYTES, Job, Watch
from bench.workload import Sums, make_records
from kafka.spark import session

MASTER = "local[2]"
WARM_UP = 2
"""Untimed runs of the query that is timed; after these a further one is as quick as the last."""
READ_OPTIONS = {
    "kafka.fetch.max.bytes": str(FETCH_BYTES),
    "kafka.max.partition.fetch.bytes": str(PARTITION_FETCH_BYTES),
}
WRITE_OPTIONS = {
    "kafka.acks": "all",
    "kafka.batch.size": str(BATCH_BYTES),
    "kafka.linger.ms": str(LINGER_MS),
    "kafka.max.request.size": str(16 << 20),
}
"""As the other clients have it. The connector's buffer.memory stays at its default, as the JVM has 1 GiB for all."""


@dataclass(frozen=True)
class Source:
    """A source and sink of Spark.

    Arguments:
        format_name: as Spark knows it.
        read_options: beyond `READ_OPTIONS`.
        settings: of the session, beyond those that both have.
    """

    format_name: str
    read_options: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Bench:
    """A session, a source and a folder for what is written, for one job."""

    spark: Any
    source: Source
    job: Job
    folder: Path

    def frame(self) -> Any:
        """All rows of the topic, planned now."""
        return self._configure(self.spark.read, READ_OPTIONS | dict(self.source.read_options)).load()

    def stream(self, **options: str) -> Any:
        """All rows of the topic, as a stream."""
        given = READ_OPTIONS | dict(self.source.read_options) | {"startingOffsets": "earliest"} | options
        return self._configure(self.spark.readStream, given).load()

    def _configure(self, reader: Any, options: Mapping[str, str]) -> Any:
        servers = {"kafka.bootstrap.servers": self.job.bootstrap_servers, "subscribe": self.job.topic}
        return reader.format(self.source.format_name).options(**servers, **options)

    def to_noop(self) -> None:
        """Read all rows, and do nothing with them."""
        self.frame().write.format("noop").mode("overwrite").save()

    def to_parquet(self) -> Path:
        """Read all rows into Parquet files; gives their folder."""
        target = self.folder / "rows.parquet"
        self.frame().write.mode("overwrite").parquet(str(target))
        return target


@contextmanager
def bench(source: Source, job: Job) -> Iterator[Bench]:
    """A session with the settings that `kafka.spark.session` makes, for both sources the same."""
    folder = Path(tempfile.mkdtemp(prefix="kafka-bench-spark-"))
    settings = {
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
    }
    try:
        spark = session("bench", MASTER, **settings, **source.settings)
        try:
            yield Bench(spark, source, job, folder)
        finally:
            spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def noop(source: Source, job: Job, watch: Watch) -> None:
    """Read all rows and drop them. They are summed up in a pass before, and counted again in the timed one."""
    with bench(source, job) as made:
        add_parquet(watch.sums, made.to_parquet())
        _timed(made, watch, made.to_noop)
        rows = rows_scanned(made.spark)
        if rows != job.count:
            raise RuntimeError(f"the timed query read {rows} rows instead of {job.count}")


def parquet(source: Source, job: Job, watch: Watch) -> None:
    """Read all rows into Parquet files. What the timed query wrote is summed up."""
    with bench(source, job) as made:
        _timed(made, watch, made.to_parquet)
        add_parquet(watch.sums, made.folder / "rows.parquet")


def write(source: Source, job: Job, watch: Watch) -> None:
    """Write the rows of Parquet files to the topic; to another one first, as warm-up."""
    from harness.topics import create_topic, delete_topics

    with bench(source, job) as made:
        rows = prepared_rows(made)
        warm_up = f"{job.topic}-warm-up"
        create_topic(job.bootstrap_servers, warm_up, job.partitions)
        try:
            for _ in range(WARM_UP):
                _save(made, rows, warm_up)
            watch.start()
            _save(made, rows, job.topic)
            watch.stop()
        finally:
            delete_topics(job.bootstrap_servers, [warm_up])
        watch.acknowledged(job.count)


def _save(made: Bench, rows: Any, topic: str) -> None:
    options = WRITE_OPTIONS | {"kafka.bootstrap.servers": made.job.bootstrap_servers, "topic": topic}
    if made.job.codec != "none":
        options["kafka.compression.type"] = made.job.codec
    rows.write.format(made.source.format_name).options(**options).mode("append").save()


def _timed(made: Bench, watch: Watch, run: Callable[[], object]) -> None:
    for _ in range(WARM_UP):
        run()
    watch.start()
    run()
    watch.stop()


def prepared_rows(made: Bench) -> Any:
    """The workload in Parquet files, as a frame with a key and a value."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    keys, values = make_records(made.job.count, made.job.size)
    table: Any = pa.table({"key": pa.array(keys, pa.binary()), "value": pa.array(values, pa.binary())})
    target = made.folder / "prepared"
    target.mkdir()
    step = -(-len(table) // made.job.partitions)
    for number in range(made.job.partitions):
        pq.write_table(table.slice(number * step, step), target / f"{number}.parquet")
    return made.spark.read.parquet(str(target))


def add_parquet(sums: Sums, folder: Path) -> None:
    """Sum up the keys and values in Parquet files."""
    import pyarrow.parquet as pq

    for file in sorted(folder.glob("*.parquet")):
        for batch in pq.ParquetFile(file).iter_batches(columns=["key", "value"]):
            sums.add_arrow(batch)


def rows_scanned(spark: Any) -> int:
    """How many rows the last query read, as Spark's own metrics tell it."""
    status = spark._jsparkSession.sharedState().statusStore()
    executions = status.executionsList()
    last = executions.apply(executions.size() - 1)
    for index in range(last.metrics().size()):
        metric = last.metrics().apply(index)
        if metric.name() == "number of output rows":
            value = status.executionMetrics(last.executionId()).apply(metric.accumulatorId())
            return int(value.replace(",", ""))
    raise RuntimeError("Spark told no number of rows for the last query")
