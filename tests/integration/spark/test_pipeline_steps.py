"""The steps of pipelines on Spark: a stream gives what a batch gives, in pieces, after a flush, and after kills."""

from __future__ import annotations

import contextlib
import datetime
import json
import logging
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as f

import kafka
from kafka.errors import IllegalArgumentError, IllegalStateError
from kafka.pipelines.steps import UNTIMED, apply_steps, dedupe, join, longest_wait, watermark, watermarks
from kafka.pipelines.window_flush import Flush, Markers, flush
from kafka.spark import run_available
from kafka.spark.pyspark_versions import TELLS_TRIGGER

from . import steps_driver
from .spark_support import QUICK_START, Rec, load, load_stream, produce, spark, wait_until

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

DAY = datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC)
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
ROW = "id int, minute int, ts timestamp"


def at(minute: float) -> str:
    """A time of the day, as text."""
    return (DAY + datetime.timedelta(minutes=minute)).isoformat()


def row(number: int, minute: float) -> dict[str, Any]:
    return {"id": number, "minute": int(minute), "ts": at(minute)}


class Stream:
    """A stream from a directory of JSON files, one for each micro-batch, and the query that reads it."""

    def __init__(self, spark: Any, folder: Path, name: str = "in", schema: str = ROW) -> None:
        self.spark = spark
        self.folder = folder
        self.input = folder / name
        self.input.mkdir(parents=True)
        self.schema = schema
        self.checkpoint = folder / "checkpoint"
        self.markers = Markers(folder / "markers")

    def add(self, *batches: Iterable[dict[str, Any]]) -> None:
        """Add a micro-batch for each of the arguments."""
        for batch in batches:
            number = len(list(self.input.glob("*.json")))
            path = self.input / f"{number:05}.json"
            path.write_text("".join(json.dumps(each) + "\n" for each in batch))
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))  # Spark reads files by their times

    def frame(self) -> Any:
        return self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1).json(str(self.input))

    def batch(self) -> Any:
        return self.spark.read.schema(self.schema).json(str(self.input))

    def run(self, result: Any, mode: str = "append") -> list[dict[str, Any]]:
        """Run a query until it has read all files; returns Spark's reports."""
        writer = result.writeStream.outputMode(mode).option("checkpointLocation", str(self.checkpoint))
        output = str(self.folder / "out")
        query = writer.foreachBatch(lambda rows, number: rows.write.mode("overwrite").json(f"{output}/{number}"))
        with contextlib.closing(_Stopped(query.trigger(availableNow=True).start())) as running:
            running.query.awaitTermination()
            return [json.loads(each.json) for each in running.query.recentProgress]

    def flush(self, result: Any, mode: str = "append", **more: Any) -> Flush:
        return flush(self.spark, self.checkpoint, self.markers, lambda: self.run(result, mode), **more)

    def written(self, schema: Any) -> list[tuple[Any, ...]]:
        """The rows that the query has written, sorted."""
        parts = [str(each) for each in (self.folder / "out").iterdir()]
        return rows_of(self.spark.read.schema(schema).json(parts))


class _Stopped:
    def __init__(self, query: Any) -> None:
        self.query = query

    def close(self) -> None:
        self.query.stop()


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(each) for each in frame.collect()), key=repr)


# Duplicates


def test_the_first_row_is_kept_in_a_batch(spark: Any) -> None:
    data = [
        (1, "later", DAY + datetime.timedelta(minutes=1), ("t", 0, 0), {"a": 1}),
        (1, "second position", DAY, ("t", 1, 2), {"a": 1}),
        (1, "first position", DAY, ("t", 0, 9), {"a": 2}),
        (1, "9 minutes after the first, so not kept", DAY + datetime.timedelta(minutes=9), ("t", 0, 1), None),
        (1, "11 minutes after the first", DAY + datetime.timedelta(minutes=11), ("t", 0, 0), None),
        (1, "9 minutes after the last that was kept", DAY + datetime.timedelta(minutes=20), ("t", 0, 3), None),
        (None, "NULL is a key", DAY, ("t", 0, 1), None),
        (None, "NULL equals NULL", DAY, ("t", 0, 2), None),
        (2, "without a time", None, ("t", 0, 1), None),
        (3, "another key", DAY, ("t", 0, 1), None),
        (3, "10 minutes after it, so not kept", DAY + datetime.timedelta(minutes=10), ("t", 0, 2), None),
    ]
    position = "struct<topic: string, partition: int, offset: long>"
    schema = f"id int, text string, ts timestamp, kafka {position}, m map<string, int>"
    frame = spark.createDataFrame(data, schema)
    kept = {"11 minutes after the first", "first position", "NULL is a key", "another key"}
    for rows in (frame, frame.repartition(5, "text"), frame.orderBy(f.desc("text"))):
        result = dedupe(rows, "id")
        assert result.schema == rows.schema
        assert {each.text for each in result.collect()} == kept


def test_keys_can_be_fields_and_times_can_be_fields(spark: Any) -> None:
    data = [("a", ("k", DAY)), ("b", ("k", DAY)), ("c", ("x", DAY))]
    frame = spark.createDataFrame(data, "text string, kafka struct<key: string, timestamp: timestamp>")
    result = dedupe(frame, ["kafka.key"], time="kafka.timestamp")
    assert sorted(each.text for each in result.collect()) == ["a", "c"]
    assert result.columns == ["text", "kafka", "kafka_timestamp"]


events = st.lists(
    st.tuples(
        st.integers(0, 59),  # when
        st.lists(st.integers(0, 25), max_size=2),  # how much later it is sent again
        st.booleans(),  # whether the id is used again, 60 minutes later
    ),
    min_size=1,
    max_size=25,
)


def test_a_stream_counts_the_rows_without_a_time_that_it_drops(spark: Any, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.add([row(1, 0), {**row(2, 0), "ts": None}, {**row(3, 0), "ts": None}, row(4, 0)])
    reports = stream.run(dedupe(stream.frame(), "id"))
    observed = [each for report in reports for each in (report.get("observedMetrics") or {}).items()]
    assert sum(values[UNTIMED] for name, values in observed if name.startswith(UNTIMED)) == 2
    assert [each for each, _ in stream.written("id int, minute int")] == [1, 4]


def test_a_stream_keeps_what_a_batch_keeps(spark: Any, tmp_path: Path) -> None:
    folders = iter(range(1000))

    @settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(events)
    def check(drawn: Sequence[tuple[int, Sequence[int], bool]]) -> None:
        stream = Stream(spark, tmp_path / str(next(folders)))
        sent: list[tuple[float, dict[str, Any]]] = []
        for number, (minute, again, is_reused) in enumerate(drawn):
            sent += [(minute + delay, row(number, minute)) for delay in (0, *again)]
            sent += [(minute + 60, row(number, minute + 60))] * is_reused
        clock = [(minute + 14.9, row(-1 - minute, minute + 14.9)) for minute in range(0, 120, 15)]
        for start in range(0, 120, 15):
            stream.add([each for minute, each in [*sent, *clock] if start <= minute < start + 15])
        stream.run(dedupe(stream.frame(), "id"))
        expected = rows_of(dedupe(stream.batch(), ["id"]).select("id", "minute"))
        assert stream.written("id int, minute int") == expected
        assert len(expected) == len(clock) + len(drawn) + sum(is_reused for _, _, is_reused in drawn)

    check()


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (lambda rows: dedupe(rows, "idd"), "expected a column of the frame, got 'idd'; did you mean 'id'?"),
        (lambda rows: dedupe(rows, []), "expected at least one column in 'by'"),
        (lambda rows: dedupe(rows, "id", time="minute"), "expected 'minute' to be a timestamp, got int"),
        (lambda rows: dedupe(rows, "id", within="soon"), "dedupe: within: expected a duration such as"),
        (lambda rows: dedupe(rows.withColumn("m", f.create_map("id", "id")), "m"), "'m' of type map<int,int>"),
        (lambda rows: dedupe(watermark(rows, "ts", "1 minute"), "id"), "'within' of at most 0:01:00"),
        (
            lambda rows: dedupe(watermark(rows.withColumn("t", f.col("ts")), "t", "1 hour"), "id"),
            "expected a watermark on 'ts' alone, got one on 't'",
        ),
        (lambda rows: watermark(watermark(rows, "ts", "1 minute"), "ts", "1 hour"), "a frame without a watermark"),
        (lambda rows: watermark(rows, "ts", "-1 minute"), "watermark: delay: expected a duration"),
        (lambda rows: join(rows, rows, "id"), "expected 'within' for two streams"),
        (lambda rows: join(rows, rows, "id", "1 minute", how="cross"), "expected how to be inner"),
        (lambda rows: join(rows, rows, [], "1 minute"), "expected at least one column in 'on'"),
        (lambda rows: join(rows, rows, "id.x", "1 minute"), "got the field 'id.x'"),
        (
            lambda rows: join(rows, rows.withColumn("id", f.col("id").cast("string")), "id", "1 minute"),
            "expected 'id' to have one type, got int and string",
        ),
        (
            lambda rows: join(rows.withColumn("right_ts", f.lit(1)), rows, "id", "1 minute"),
            "got 'ts' on both, and 'right_ts', too",
        ),
    ],
)
def test_what_is_wrong_is_named(spark: Any, tmp_path: Path, step: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(IllegalArgumentError) as raised:
        step(Stream(spark, tmp_path).frame())
    assert text in str(raised.value)


# Joins


def test_a_joined_stream_gives_what_a_batch_gives(spark: Any, tmp_path: Path) -> None:
    chosen = random.Random(7)
    left, right = Stream(spark, tmp_path, "left"), Stream(spark, tmp_path, "right")
    for start in range(0, 60, 20):
        for side in (left, right):
            minutes = [start + chosen.random() * 20 for _ in range(12)]
            without = {"id": 1, "minute": -1, "ts": None}
            side.add([*(row(chosen.randrange(4), minute) for minute in minutes), without])

    left.add([row(8, 55), row(9, 50)])  # exactly 5 minutes apart, in both directions
    right.add([row(8, 50), row(9, 55)])

    def joined(one: Any, other: Any, how: str) -> Any:
        result = join(one, other, "id", within="5 minutes", how=how, delay="20 minutes", markers=left.markers)
        return result.select("id", "minute", "right_minute")

    stream = joined(left.frame(), right.frame(), "full")
    left.run(stream)
    assert left.flush(stream, waits="5 minutes").runs == 1
    expected = {how: rows_of(joined(left.batch(), right.batch(), how)) for how in ("inner", "left", "right", "full")}
    assert left.written("id int, minute int, right_minute int") == expected["full"]
    both = [each for each in expected["full"] if None not in each]
    assert expected["inner"] == both
    assert expected["left"] == [each for each in expected["full"] if each[1] is not None]
    assert expected["right"] == [each for each in expected["full"] if each[2] is not None]
    assert 0 < len(both) < len(expected["full"])
    by_hand = {
        (one.id, one.minute, other.minute)
        for one in left.batch().where("ts is not null").collect()
        for other in right.batch().where("ts is not null").collect()
        if one.id == other.id and abs(one.ts - other.ts) <= datetime.timedelta(minutes=5)
    }
    assert set(both) == by_hand


def test_names_that_both_sides_have(spark: Any) -> None:
    position = f.struct(f.lit("t").alias("topic"))
    left = spark.range(2).select("id", f.lit(1).alias("n"), position.alias("kafka"))
    right = spark.range(1, 3).select("id", f.lit(2).alias("n"), f.lit(3).alias("m"), f.lit(None).alias("kafka"))
    result = join(left, right, "id", how="full")
    assert result.columns == ["id", "n", "kafka", "right_n", "m"]
    found = sorted(
        (each.id, each.n, each.kafka and each.kafka.topic, each.right_n, each.m) for each in result.collect()
    )
    assert found == [(0, 1, "t", None, None), (1, 1, "t", 2, 3), (2, None, None, 2, 3)]
    assert join(left, right, "id", prefix="other_").columns == ["id", "n", "kafka", "other_n", "m"]
    assert rows_of(join(left, right, "id", how="semi").select("id", "n")) == [(1, 1)]


def test_a_stream_is_joined_with_a_table(spark: Any, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.add([row(1, 0), row(2, 0)], [row(3, 1)])
    table = spark.createDataFrame([(1, "one"), (3, "three")], "id int, name string")
    result = join(stream.frame(), table, "id", how="left")
    assert not watermarks(result)
    stream.run(result.select("id", "name"))
    assert stream.written("id int, name string") == [(1, "one"), (2, None), (3, "three")]


def test_it_says_how_long_a_row_waits(spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    left, right = Stream(spark, tmp_path, "left").frame(), Stream(spark, tmp_path, "right").frame()
    with caplog.at_level(logging.INFO, "kafka.pipelines.steps"):
        result = join(watermark(left, "ts", "1 hour"), right, "id", within="5 minutes")
    assert "a row waits for a partner up to 1:05:00 of event time" in caplog.text
    assert watermarks(result) == {"ts": 3_600_000_000, "right_ts": 300_000_000}
    assert longest_wait("5 minutes", "1 hour", "5 minutes") == datetime.timedelta(hours=1, minutes=5)
    with pytest.raises(IllegalArgumentError, match="got one on 'ts', 'right_ts'"):
        dedupe(result, "id")


# The last windows


def counted(stream: Stream, rows: Any) -> Any:
    windows = watermark(rows, "ts", "10 minutes", markers=stream.markers).groupBy(f.window("ts", "30 minutes"))
    return windows.agg(f.count("*").alias("n")).select(f.date_format("window.start", "HH:mm").alias("start"), "n")


def test_the_last_windows_are_flushed_and_no_others(spark: Any, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.add([row(1, 5), row(2, 40)], [row(3, 65), row(4, 70)])
    result = counted(stream, stream.frame())
    reports = stream.run(result)
    assert sum(each["sources"][1]["numInputRows"] for each in reports) == 0
    done = stream.flush(result)
    assert done == Flush(1, DAY + datetime.timedelta(minutes=90))
    schema = "start string, n int"
    assert stream.written(schema) == rows_of(counted(stream, stream.batch()))
    assert stream.written(schema) == [("00:00", 1), ("00:30", 1), ("01:00", 2)]
    assert stream.flush(result) == Flush(0, None)

    # A later run: rows for flushed windows are late, and all others count.
    stream.add([row(5, 75), row(6, 91), row(7, 121)])
    reports = stream.run(result)
    assert sum(each["numInputRows"] for each in reports) == 3
    assert sum(each["sources"][0]["numInputRows"] for each in reports) == 3
    late = sum(each["numRowsDroppedByWatermark"] for report in reports for each in report["stateOperators"])
    assert late == 1
    assert stream.flush(result).until == DAY + datetime.timedelta(minutes=150)
    assert stream.written(schema) == [("00:00", 1), ("00:30", 1), ("01:00", 2), ("01:30", 1), ("02:00", 1)]


def test_a_flush_needs_no_empty_micro_batches_and_works_with_rocks_db(spark: Any, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.add([row(1, 5), row(2, 40), row(3, 65)])
    result = counted(stream, stream.frame())
    changed = {
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.streaming.stateStore.providerClass": ROCKS_DB,
    }
    for name, value in changed.items():
        spark.conf.set(name, value)
    try:
        stream.run(result)
        assert stream.flush(result).runs == 2
    finally:
        for name in changed:
            spark.conf.unset(name)
    assert stream.written("start string, n int") == [("00:00", 1), ("00:30", 1), ("01:00", 1)]


def test_rows_that_arrive_during_a_flush_stay_in_the_state(spark: Any, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.add([row(1, 5)])
    result = counted(stream, stream.frame())
    stream.run(result)

    def run() -> None:
        stream.add([row(2, 50), row(3, 55)])
        stream.run(result)

    assert flush(spark, stream.checkpoint, stream.markers, run) == Flush(1, DAY + datetime.timedelta(minutes=30))
    assert stream.written("start string, n int") == [("00:00", 1)]
    assert stream.flush(result).until == DAY + datetime.timedelta(minutes=60)
    assert stream.written("start string, n int") == [("00:00", 1), ("00:30", 2)]


def test_windows_of_windows_are_flushed(spark: Any, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.add([row(1, 5), row(2, 40)], [row(3, 65)])

    def hourly(rows: Any) -> Any:
        small = watermark(rows, "ts", "1 minute", markers=stream.markers).groupBy(f.window("ts", "10 minutes")).count()
        large = small.groupBy(f.window(f.window_time("window"), "1 hour")).agg(f.sum("count").alias("n"))
        return large.select(f.date_format("window.start", "HH:mm").alias("start"), "n")

    result = hourly(stream.frame())
    stream.run(result)
    assert stream.flush(result).until == DAY + datetime.timedelta(minutes=120)
    assert stream.written("start string, n int") == rows_of(hourly(stream.batch())) == [("00:00", 2), ("01:00", 1)]


def test_sessions_and_duplicates_before_windows(spark: Any, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.add([row(1, 0), row(1, 0), row(2, 3)], [row(1, 0), row(3, 30)], [row(2, 3), row(4, 33)])
    steps = SimpleNamespace(
        watermark=SimpleNamespace(time="ts", delay="30 minutes"),
        dedupe=SimpleNamespace(by=("id",), within="10 minutes", time=None),
    )

    def sessions(rows: Any) -> Any:
        applied = apply_steps(rows, steps, stream.markers)
        grouped = applied.groupBy(f.session_window("ts", "5 minutes").alias("w"), (f.col("id") % 2).alias("odd"))
        return grouped.agg(f.count("*").alias("n")).select(f.date_format("w.end", "HH:mm").alias("end"), "n")

    result = sessions(stream.frame())
    stream.run(result)
    assert stream.flush(result).until == DAY + datetime.timedelta(minutes=38)
    found = stream.written("end string, n int")
    assert found == rows_of(sessions(stream.batch())) == [("00:05", 1), ("00:08", 1), ("00:35", 1), ("00:38", 1)]


def test_steps_that_are_not_declared_change_nothing(spark: Any, tmp_path: Path) -> None:
    frame = Stream(spark, tmp_path).frame()
    assert apply_steps(frame, SimpleNamespace(watermark=None, dedupe=None)) is frame
    alone = SimpleNamespace(watermark=None, dedupe=SimpleNamespace(by="id", within="5 minutes", time=None))
    assert watermarks(apply_steps(frame, alone)) == {"ts": 300_000_000}


def test_a_query_that_keeps_its_windows_cannot_be_flushed(spark: Any, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.add([row(1, 5)])
    result = counted(stream, stream.frame())
    stream.run(result, "complete")
    with pytest.raises(IllegalStateError, match="some are still there"):
        stream.flush(result, "complete")


def test_a_wrong_time_does_not_make_all_later_rows_late(spark: Any, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path)
    stream.add([row(1, 5), {"id": 2, "minute": 0, "ts": "8024-05-01T00:00:00Z"}])
    result = counted(stream, stream.frame())
    stream.run(result)
    with pytest.raises(IllegalStateError, match="a row has a wrong time"):
        stream.flush(result)


# Kills

IDS = 150


@pytest.fixture
def embedded_topic(embedded_broker: Any, make_topic_on: Any) -> Any:
    """A function that makes a topic on the embedded broker: kills take too long to try them with two brokers."""
    return make_topic_on(embedded_broker)


def records() -> list[Rec]:
    """Records of an hour whose order is slightly shuffled; each third one is sent twice."""
    chosen = random.Random(5)
    sent = []
    for number in range(IDS):
        seconds = number * 24
        value = json.dumps({"id": number, "ts": at(seconds / 60)}).encode()
        sent.append((seconds + chosen.random() * 60, value))
        if number % 3 == 0:
            sent.append((seconds + 60 + chosen.random() * 240, value))
    return [Rec(value) for _, value in sorted(sent)]


class Driver:
    """A process with `steps_driver`, and the directory in which it works."""

    def __init__(self, broker: Any, kind: str, topic: str, target: str, folder: Path) -> None:
        script = str(Path(steps_driver.__file__))
        self.command = [sys.executable, script, broker.bootstrap_servers, kind, topic, target, str(folder), QUICK_START]
        self.folder = folder

    def run(self, kill_at: Callable[[], bool] | None = None) -> None:
        """Run the driver to its end, or kill it with its JVM when a function is true."""
        with (self.folder / "driver.log").open("ab") as log:
            process = subprocess.Popen(self.command, stdout=log, stderr=log, start_new_session=True)
            try:
                if kill_at is None:
                    assert process.wait(300) == 0, self.log()
                    return
                wait_until(lambda: kill_at() or process.poll() is not None)
                assert process.poll() is None, self.log()
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def log(self) -> str:
        return (self.folder / "driver.log").read_text()[-4_000:]

    def batches(self, kind: str) -> int:
        """How many micro-batches are planned (offsets) or done (commits)."""
        return sum(1 for _ in (self.folder / "checkpoint" / kind).glob("[0-9]*"))

    def markers(self) -> int:
        return sum(1 for _ in (self.folder / "markers").glob("*.json"))


def values(broker: Any, topic: str) -> list[str]:
    table = kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, isolation_level="read_committed").to_arrow()
    return sorted(each.decode() for each in table.column("value").to_pylist())


def in_batches(spark: Any, broker: Any, topic: str, step: Callable[[Any], Any]) -> list[str]:
    return sorted(each.value for each in step(steps_driver.typed(load(spark, broker, topic))).collect())


def all_or(moments: list[str], one: str) -> list[Any]:
    """Return the moments of kills for the full tests, and one for the sample."""
    return [pytest.param(moments, id="all", marks=pytest.mark.exhaustive), pytest.param([one], id=one)]


@pytest.mark.parametrize("kills", all_or(["offsets", "commits"], "commits"))
@pytest.mark.all_cases
def test_each_id_is_written_once_though_the_driver_is_killed(
    spark: Any, embedded_broker: Any, embedded_topic: Any, tmp_path: Path, kills: list[str]
) -> None:
    topic, target = embedded_topic(1), embedded_topic(1)
    produce(embedded_broker.bootstrap_servers, topic, records())
    driver = Driver(embedded_broker, "dedupe", topic, target, tmp_path)
    for number, kind in enumerate(kills, 1):
        driver.run(lambda kind=kind, number=number: driver.batches(kind) >= number)  # type: ignore[misc]
    driver.run()
    assert sorted(map(int, values(embedded_broker, target))) == list(range(IDS))
    assert in_batches(spark, embedded_broker, topic, steps_driver.unique) == values(embedded_broker, target)


@pytest.mark.parametrize("kills", all_or(["batch", "marker", "planned", "committed"], "planned"))
@pytest.mark.all_cases
def test_each_window_is_written_once_though_the_driver_is_killed(
    spark: Any, embedded_broker: Any, embedded_topic: Any, tmp_path: Path, kills: list[str]
) -> None:
    topic, target = embedded_topic(1), embedded_topic(1)
    produce(embedded_broker.bootstrap_servers, topic, records())
    driver = Driver(embedded_broker, "windows", topic, target, tmp_path)
    last = -(-len(records()) // steps_driver.OFFSETS_A_BATCH)
    moments: dict[str, Callable[[], bool]] = {
        "batch": lambda: driver.batches(random.Random(2).choice(["offsets", "commits"])) >= 2,
        "marker": lambda: driver.markers() > 0,
        "planned": lambda: driver.batches("offsets") > max(last, planned),
        "committed": lambda: driver.batches("commits") > committed,
    }
    for kill in kills:
        planned, committed = driver.batches("offsets"), driver.batches("commits")
        driver.run(moments[kill])
        assert kill != "marker" or driver.batches("offsets") >= last
    driver.run()
    expected = in_batches(spark, embedded_broker, topic, steps_driver.counts)
    assert values(embedded_broker, target) == expected
    assert sum(int(each.split()[1]) for each in expected) == len(records())


def test_the_kafka_source_reports_its_rows_and_lag_next_to_markers(
    spark: Any, embedded_broker: Any, embedded_topic: Any, tmp_path: Path
) -> None:
    topic = embedded_topic(1)
    produce(embedded_broker.bootstrap_servers, topic, records()[:60])
    source = load_stream(spark, embedded_broker, topic, startingOffsets="earliest", maxOffsetsPerTrigger=40)
    markers = Markers(tmp_path / "markers")
    observed = steps_driver.typed(source).observe("read", f.count("*").alias("rows"))
    writer = steps_driver.counts(observed, markers).writeStream.format("noop").queryName("counted")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    with kafka.spark.watch(spark) as watched:
        run_available(writer)
        done = flush(spark, tmp_path / "checkpoint", markers, lambda: run_available(writer))
        assert done.runs == (1 if TELLS_TRIGGER else 2)
        wait_until(lambda: watched.lag() == {"counted": 0} and sum(each.rows for each in watched.progress) >= 60)
        reports = [each for each in watched.progress if each.rows]
    assert [[source.rows for source in each.sources] for each in reports[:2]] == [[40], [20]]
    assert all([source.rows for source in each.sources] == [0] for each in reports[2:])
