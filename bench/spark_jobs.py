"""The Spark jobs of the benchmarks, the same for this package and for Spark's own connector.

Each runs in its own process and session. In a shared session, peak memory would be that of the largest earlier row, and
the code that the JVM has compiled would depend on the order of the rows. Creating the session is not timed. The same
query runs for some seconds before the clock starts, because the JVM keeps compiling for that long. If the timed query
does not keep the rows of a source, a further pass sums them up.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from bench import spark_usage
from bench.job import BATCH_BYTES, FETCH_BYTES, LINGER_MS, PARTITION_FETCH_BYTES, Job, Watch
from bench.workload import Sums, make_records
from harness.topics import create_topic, delete_topics
from kafka.spark import session

Answer = TypeVar("Answer")
MASTER = "local[2]"
WARM_UP_S = 12.0
"""Seconds for which the timed query first runs untimed, while the JVM compiles. With this package, reading a million
rows takes 1.1 seconds in the second run, 0.7 in the fifth and 0.5 in the thirteenth; with Spark's connector, 2.1 from
the third on."""
TIMED_RUNS = 3
"""Number of timed runs."""
ENOUGH_RECORDS = 250_000
"""With fewer records the time means nothing, so the query runs once untimed and once timed."""
OFFSETS_A_TRIGGER = 40
WARM_UP_TRIGGERS = 5
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
        schema: of batch reads, in Spark's notation; "": the source's own.
        exactly_once: whether its sink is to deliver so.
        decodes: whether it gives typed values, or else bytes, which Spark's functions decode.
    """

    format_name: str
    read_options: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    schema: str = ""
    exactly_once: bool = False
    decodes: bool = False


@dataclass(frozen=True)
class Bench:
    """A session, a source and a folder for what is written, for one job."""

    spark: Any
    source: Source
    job: Job
    folder: Path

    @property
    def timed_runs(self) -> int:
        """How often a query runs while it is timed."""
        return TIMED_RUNS if self.job.count >= ENOUGH_RECORDS else 1

    def warm_up(self, query: Callable[[], object]) -> None:
        """Run a query until the JVM has compiled it."""
        query()
        end = time.monotonic() + WARM_UP_S
        while self.job.count >= ENOUGH_RECORDS and time.monotonic() < end:
            query()

    def frame(self) -> Any:
        """All rows of the topic, planned now."""
        reader = self.spark.read.schema(self.source.schema) if self.source.schema else self.spark.read
        return self._configure(reader, READ_OPTIONS | dict(self.source.read_options)).load()

    def columns(self, **options: str) -> Any:
        """All rows of the topic with other options, and the columns that are in `columns`."""
        return self._configure(self.spark.read, READ_OPTIONS | dict(self.source.read_options) | options).load()

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

    def to_parquet(self, frame: Callable[[], Any] | None = None) -> Path:
        """Read all rows, or those of another frame, into Parquet files; gives their folder."""
        target = self.folder / "rows.parquet"
        (frame or self.frame)().write.mode("overwrite").parquet(str(target))
        return target

    def to_topic(self, writer: Any, topic: str, name: str) -> Any:
        """Have a writer, of a batch or a stream, write to a topic; queries have names of their own."""
        options = WRITE_OPTIONS | {"kafka.bootstrap.servers": self.job.bootstrap_servers, "topic": topic}
        if self.source.exactly_once:
            options |= {"exactlyOnce": "true", "transactionalIdPrefix": f"{self.job.topic}-{name}"}
        if self.job.codec != "none":
            options["kafka.compression.type"] = self.job.codec
        return writer.format(self.source.format_name).options(**options)

    def save(self, rows: Any, topic: str) -> None:
        """Write rows to a topic."""
        self.to_topic(rows.write, topic, "write").mode("append").save()


@contextmanager
def bench(source: Source, job: Job) -> Iterator[Bench]:
    """A session with the settings that `kafka.spark.session` makes, Arrow unchecked, for both sources the same."""
    folder = Path(tempfile.mkdtemp(prefix="kafka-bench-spark-"))
    settings = {
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
    }
    try:
        spark = session("bench", MASTER, arrow_bounds_checks=False, **settings, **source.settings)
        try:
            yield Bench(spark, source, job, folder)
        finally:
            spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def noop(source: Source, job: Job, watch: Watch) -> None:
    """Read all rows and drop them. They are counted, and summed up in a pass after."""
    with bench(source, job) as made:
        made.warm_up(made.to_noop)
        before = newest_execution(made.spark)
        timed(made, watch, made.to_noop)
        rows = rows_read(made.spark, before)
        if rows != job.count:
            raise RuntimeError(f"the timed query read {rows} rows instead of {job.count}")
        add_parquet(watch.sums, made.to_parquet())


def parquet(source: Source, job: Job, watch: Watch) -> None:
    """Read all rows into Parquet files. What the timed query wrote is summed up."""
    with bench(source, job) as made:
        made.warm_up(made.to_parquet)
        target = timed(made, watch, made.to_parquet)
        add_parquet(watch.sums, target)


def write(source: Source, job: Job, watch: Watch) -> None:
    """Write the rows of Parquet files to the topic; to another one first, as warm-up."""
    with bench(source, job) as made:
        rows = prepared_rows(made)
        with other_topic(job) as warm_up:
            made.warm_up(lambda: made.save(rows, warm_up))
            topics = iter([warm_up] * (made.timed_runs - 1) + [job.topic])
            timed(made, watch, lambda: made.save(rows, next(topics)))
        watch.acknowledged(job.count)


def stream(source: Source, job: Job, watch: Watch) -> None:
    """Take the topic in many small micro-batches, and tell how long each took.

    The topic is read so once before, as warm-up, and in one micro-batch after, to be summed up.
    """
    with bench(source, job) as made:
        _stream(made, watch, lambda writer, name: writer.format("noop"))


def copied(source: Source, job: Job, watch: Watch) -> None:
    """As `stream`, with micro-batches that are written to another topic."""
    with bench(source, job) as made, other_topic(job) as other:
        _stream(made, watch, lambda writer, name: made.to_topic(writer, other, name))


def _stream(made: Bench, watch: Watch, to_sink: Callable[[Any, str], Any]) -> None:
    _triggers(made, "first", to_sink)
    with used(watch):
        watch.latency(_triggers(made, "second", to_sink))
    add_streamed(made, watch)


def add_streamed(made: Bench, watch: Watch) -> None:
    """Sum up the topic, as a stream gives it in one micro-batch."""
    target = made.folder / "streamed.parquet"
    query = made.stream().writeStream.format("parquet").trigger(availableNow=True)
    query.option("checkpointLocation", str(made.folder / "streamed")).start(str(target)).awaitTermination()
    add_parquet(watch.sums, target)


@contextmanager
def other_topic(job: Job) -> Iterator[str]:
    """A second topic, for records that are not checked."""
    name = f"{job.topic}-other"
    create_topic(job.bootstrap_servers, name, job.partitions)
    try:
        yield name
    finally:
        delete_topics(job.bootstrap_servers, [name])


def _triggers(made: Bench, name: str, to_sink: Callable[[Any, str], Any]) -> list[float]:
    """The seconds of each small micro-batch of a query over the whole topic, without the first ones."""
    writer = to_sink(made.stream(maxOffsetsPerTrigger=str(OFFSETS_A_TRIGGER)).writeStream, name)
    query = writer.option("checkpointLocation", str(made.folder / name)).start()
    try:
        query.processAllAvailable()
        batches = [each for each in query.recentProgress if each["numInputRows"]]
    finally:
        query.stop()
    rows = sum(each["numInputRows"] for each in batches)
    if rows != made.job.count:
        raise RuntimeError(f"the stream read {rows} rows instead of {made.job.count}")
    return [each["durationMs"]["triggerExecution"] / 1000 for each in batches[WARM_UP_TRIGGERS:]]


def timed(made: Bench, watch: Watch, query: Callable[[], Answer]) -> Answer:
    """Run a query several times, return the last result, and report the mean to the watch."""
    runs = made.timed_runs
    with used(watch, runs):
        start = time.perf_counter()
        answers = [query() for _ in range(runs)]
        watch.measured(made.job.count, (time.perf_counter() - start) / runs)
    return answers[-1]


@contextmanager
def used(watch: Watch, runs: int = 1) -> Iterator[None]:
    """Tell the watch what Spark's processes use meanwhile in each run: not what starting and compiling took."""
    before = spark_usage.cpu_seconds(os.getpid())
    yield
    after = spark_usage.cpu_seconds(os.getpid())
    watch.used((sum(after.values()) - sum(before.values())) / runs, spark_usage.peak_mb(os.getpid()))


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


def newest_execution(spark: Any) -> int:
    """The number of Spark's newest query."""
    executions = _executions(spark)
    return int(executions.apply(executions.size() - 1).executionId())


def rows_read(spark: Any, after: int) -> int:
    """How many rows the queries after a certain one read, as Spark's own metrics tell it."""
    status, executions = spark._jsparkSession.sharedState().statusStore(), _executions(spark)
    told = [0]
    for number in range(executions.size()):
        query = executions.apply(number)
        if query.executionId() <= after:
            continue
        values = status.executionMetrics(query.executionId())
        for metric in (query.metrics().apply(index) for index in range(query.metrics().size())):
            value = values.get(metric.accumulatorId())
            if metric.name() == "number of output rows" and value.isDefined():
                told.append(int(value.get().replace(",", "")))
    return max(told)


def _executions(spark: Any) -> Any:
    """Spark's progress reports of its queries, which arrive in a separate thread."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return spark._jsparkSession.sharedState().statusStore().executionsList()
