"""Streaming reads and writes of Spark, on both brokers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from kafka.spark import run_available, upsert

from .spark_support import (
    FORMAT,
    Rec,
    add_partitions,
    consume,
    load,
    load_stream,
    numbered,
    numbers,
    options,
    produce,
    spark,
    wait_until,
    walked,
)

__all__ = ["spark"]


def drain(frame: Any, where: Any, **given: str) -> Any:
    """Run a stream to the end of what is there now, into Parquet; gives the query."""
    writer = frame.writeStream.format("parquet").option("checkpointLocation", f"{where}/checkpoint").options(**given)
    return run_available(writer.option("path", f"{where}/rows"))


def written(spark: Any, where: Any) -> list[int]:
    return numbers(spark.read.parquet(f"{where}/rows"))


def logged_ends(where: Any) -> list[dict[str, Any]]:
    """The offsets of each batch in a checkpoint."""
    batches = sorted((int(path.name), path) for path in (where / "checkpoint" / "offsets").glob("[0-9]*"))
    return [json.loads(path.read_text().splitlines()[-1]) for _, path in batches]


def test_a_stream_follows_a_topic(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(10, partitions=2))
    name = topic.replace("-", "_")
    stream = load_stream(spark, broker, topic, startingOffsets="earliest")
    query = stream.writeStream.format("memory").queryName(name).start()
    try:
        wait_until(lambda: spark.table(name).count() == 10, query)
        produce(broker.bootstrap_servers, topic, numbered(10, partitions=2, first=10))
        wait_until(lambda: spark.table(name).count() == 20, query)
        assert numbers(spark.table(name)) == list(range(20))
        progress = query.lastProgress
        assert walked(progress["sources"][0]["latestOffset"]) == {topic: {0: 10, 1: 10}}
    finally:
        query.stop()


def test_a_stream_from_the_end_sees_only_what_comes(spark, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(10))
    name = topic.replace("-", "_")
    query = load_stream(spark, broker, topic).writeStream.format("memory").queryName(name).start()
    try:
        wait_until(lambda: query.lastProgress is not None, query)
        produce(broker.bootstrap_servers, topic, numbered(5, first=10))
        wait_until(lambda: spark.table(name).count() == 5, query)
        assert numbers(spark.table(name)) == [10, 11, 12, 13, 14]
    finally:
        query.stop()


def test_available_now_ends_and_goes_on_from_its_checkpoint(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(100, partitions=2))
    for count in (100, 150, 150):
        drain(load_stream(spark, broker, topic, startingOffsets="earliest"), tmp_path)
        assert written(spark, tmp_path) == list(range(count))
        if count == 100:
            produce(broker.bootstrap_servers, topic, numbered(50, partitions=2, first=100))


def test_a_limit_holds_for_every_batch(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(100, partitions=2))
    stream = load_stream(spark, broker, topic, startingOffsets="earliest", maxOffsetsPerTrigger=30)
    drain(stream, tmp_path)
    assert [sum(end[topic].values()) for end in logged_ends(tmp_path)] == [30, 60, 90, 100]
    assert written(spark, tmp_path) == list(range(100))


def from_python_tasks(spark: Any, run: Any) -> int:
    """How many bytes tasks in Python give to Spark during a call. Spark's metric of that is one for the whole JVM."""
    home = spark.sparkContext._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    metrics = home.loadClass("org.apache.spark.sql.execution.datasources.v2.python.PythonCustomMetric$")
    received = metrics.getField("MODULE$").get(None).pythonMetrics().apply("pythonDataReceived")
    before = received.value()
    run()
    return int(received.value() - before)


def test_a_small_micro_batch_needs_no_python_task_and_has_the_same_rows(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    records = [*numbered(20, partitions=2), Rec(None, key=b"k"), Rec(b"20", key=b"", partition=1, timestamp_ms=7)]
    produce(broker.bootstrap_servers, topic, records)
    patient = {"kafkaConsumer.pollTimeoutMs": 480_000}  # however busy the machine is, the planner reads the rows
    stream = load_stream(spark, broker, topic, startingOffsets="earliest", maxOffsetsPerTrigger=10, **patient)
    assert from_python_tasks(spark, lambda: drain(stream, tmp_path)) == 0
    by_place = ("partition", "offset")
    read = load(spark, broker, topic).orderBy(*by_place).collect()
    assert len(read) == 22
    assert spark.read.parquet(f"{tmp_path}/rows").orderBy(*by_place).collect() == read


def test_a_small_micro_batch_with_nested_columns_has_the_same_rows(spark, broker, make_topic, tmp_path):
    """Spark copies the rows from memory that it then frees."""
    topic = make_topic(partitions=2)
    headers = [(), (("h", b"1"),), (("a", None), ("", b""), ("a", b"x" * 40))]
    tags = ["[]", '["t"]', '["long enough for memory of its own", null]']
    values = [f'{{"id":{n},"tags":{tags[n % 3]},"of":{{"at":"2026-01-0{n % 9 + 1}"}}}}'.encode() for n in range(30)]
    records = [
        Rec(None if n == 4 else b"bad" if n == 5 else value, key=b"k", partition=n % 2, headers=headers[n // 2 % 3])
        for n, value in enumerate(values)
    ]
    produce(broker.bootstrap_servers, topic, records)
    given = {"includeHeaders": "true", "valueFormat": "json", "valueErrors": "column", "originalBytes": "true"}
    given["valueSchema"] = "id bigint, tags array<string>, of struct<at: date>"
    patient = {"kafkaConsumer.pollTimeoutMs": 480_000, "maxOffsetsPerTrigger": 10}
    stream = load_stream(spark, broker, topic, startingOffsets="earliest", **given, **patient)
    assert from_python_tasks(spark, lambda: drain(stream, tmp_path)) == 0
    by_place = ("partition", "offset")
    read = load(spark, broker, topic, **given).orderBy(*by_place).collect()
    assert len(read) == 30
    assert sum(row["headers"] is None for row in read) == 10
    assert sum(row["value_error"] is not None for row in read) == 1
    assert spark.read.parquet(f"{tmp_path}/rows").orderBy(*by_place).collect() == read


@pytest.mark.parametrize("limit", [10, 2_000])
def test_columns_that_are_declared_as_not_null_are_read_by_planner_and_tasks(
    spark, broker, make_topic, tmp_path, limit
):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(1_500 if limit > 1_000 else 15))
    given = options(broker, subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger=limit)
    schema = "value binary, partition int not null, offset bigint not null, timestamp timestamp not null"
    stream = spark.readStream.format(FORMAT).schema(schema).options(**given).load()
    drain(stream, tmp_path)
    assert written(spark, tmp_path) == list(range(1_500 if limit > 1_000 else 15))


def test_the_checkpoint_has_the_layout_of_sparks_connector(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(40, partitions=2))
    drain(load_stream(spark, broker, topic, startingOffsets="earliest", maxOffsetsPerTrigger=20), tmp_path)
    first, *others = logged_ends(tmp_path)
    assert first[topic] == {"0": 10, "1": 10}
    assert [{name: each for name, each in end.items() if each} for end in others] == [{topic: {"0": 20, "1": 20}}]


def test_a_checkpoint_of_sparks_connector_goes_on(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(20, partitions=2))
    drain(load_stream(spark, broker, topic, startingOffsets="earliest"), tmp_path)
    as_its_own = {topic: {"0": 7, "1": 9}}
    offsets = tmp_path / "checkpoint" / "offsets" / "0"
    lines = offsets.read_text().splitlines()
    offsets.write_text("\n".join([*lines[:-1], json.dumps(as_its_own, separators=(",", ":"))]))
    for checksum in (tmp_path / "checkpoint").rglob(".*.crc"):
        checksum.unlink()
    produce(broker.bootstrap_servers, topic, numbered(2, partitions=2, first=20))
    drain(load_stream(spark, broker, topic), tmp_path)
    behind = [number for number in range(22) if number // 2 >= (7, 9)[number % 2]]
    assert written(spark, tmp_path) == sorted([*range(20), *behind])
    assert logged_ends(tmp_path)[-1][topic] == {"0": 11, "1": 11}


def test_partitions_that_appear_are_read_from_their_beginning(spark, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(3))
    name = topic.replace("-", "_")
    stream = load_stream(spark, broker, topic, startingOffsets="earliest")
    query = stream.writeStream.format("memory").queryName(name).start()
    try:
        wait_until(lambda: spark.table(name).count() == 3, query)
        add_partitions(broker.bootstrap_servers, topic, 2)
        produce(broker.bootstrap_servers, topic, numbered(4, partitions=2, first=10))
        wait_until(lambda: spark.table(name).count() == 7, query)
        assert numbers(spark.table(name)) == [0, 1, 2, 10, 11, 12, 13]
    finally:
        query.stop()


def test_topics_that_appear_match_the_pattern(spark, broker, make_topic, tmp_path):
    stem = make_topic()
    reader = spark.readStream.format(FORMAT)
    pattern = options(broker, subscribePattern=f"{stem}|{stem.rsplit('-', 1)[0]}-.*", startingOffsets="earliest")
    drain(reader.options(**pattern).load().filter("false"), tmp_path)
    later = make_topic()
    produce(broker.bootstrap_servers, later, numbered(4))
    frame = spark.readStream.format(FORMAT).options(**pattern).load().filter(f"topic = '{later}'")
    drain(frame, tmp_path)
    assert written(spark, tmp_path) == [0, 1, 2, 3]


def test_a_stream_from_topic_to_topic(spark, broker, make_topic, tmp_path):
    source, target = make_topic(partitions=2), make_topic(partitions=3)
    produce(broker.bootstrap_servers, source, numbered(200, partitions=2))
    stream = load_stream(spark, broker, source, startingOffsets="earliest", maxOffsetsPerTrigger=100)
    writer = (
        stream.selectExpr("cast(value as string) as key", "concat('n', cast(value as string)) as value")
        .writeStream.format(FORMAT)
        .options(**options(broker, topic=target, checkpointLocation=tmp_path))
    )
    run_available(writer)
    records = consume(broker.bootstrap_servers, target)
    assert sorted((int(record.key), record.value) for record in records) == [(n, b"n%d" % n) for n in range(200)]


def test_a_run_ends_in_bounded_batches_at_what_was_there_at_the_start(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(130, partitions=2))
    batches: list[list[int]] = []

    def write(frame: Any, _: int) -> None:
        produce(broker.bootstrap_servers, topic, numbered(30, partitions=2, first=1_000 * (len(batches) + 1)))
        batches.append(numbers(frame))

    def run() -> list[int]:
        stream = load_stream(spark, broker, topic, startingOffsets="earliest", maxOffsetsPerTrigger=50)
        query = run_available(
            stream.writeStream.foreachBatch(write).option("checkpointLocation", str(tmp_path / "checkpoint"))
        )
        assert not query.isActive
        return [number for batch in batches for number in batch]

    assert sorted(run()) == list(range(130))
    assert [len(each) for each in batches] == [50, 50, 30]
    assert len(run()) == 130 + 3 * 30


def test_a_stateful_stream_in_complete_mode_is_written(spark, broker, make_topic, tmp_path):
    source, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, source, numbered(9))
    counts = load_stream(spark, broker, source, startingOffsets="earliest").groupBy("topic").count()
    query = (
        counts.selectExpr("topic as key", "cast(count as string) as value")
        .writeStream.format(FORMAT)
        .outputMode("complete")
        .options(**options(broker, topic=target, checkpointLocation=tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(60)
    assert [(record.key, record.value) for record in consume(broker.bootstrap_servers, target)] == [
        (source.encode(), b"9")
    ]


def test_updates_reach_a_topic(spark, broker, make_topic, tmp_path):
    source, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, source, numbered(9))
    counts = load_stream(spark, broker, source, startingOffsets="earliest").groupBy("topic").count()
    changed = counts.selectExpr("topic as key", "cast(count as string) as value").writeStream.trigger(availableNow=True)
    query = upsert(changed, options(broker, topic=target), checkpointLocation=tmp_path).start()
    assert query.awaitTermination(60)
    assert [record.value for record in consume(broker.bootstrap_servers, target)] == [b"9"]


def test_a_stream_over_an_empty_topic_ends(spark, broker, make_topic, tmp_path):
    drain(load_stream(spark, broker, make_topic(partitions=2), startingOffsets="earliest"), tmp_path)
    assert logged_ends(tmp_path)


def test_a_topic_deleted_under_a_query_does_not_hold_up_the_others(spark, broker, make_topic):
    kept, deleted = make_topic(), make_topic()
    for topic in (kept, deleted):
        produce(broker.bootstrap_servers, topic, numbered(2))
    name = kept.replace("-", "_")
    given = {"startingOffsets": "earliest", "failOnDataLoss": "false"}
    stream = load_stream(spark, broker, f"{kept},{deleted}", **given)
    query = stream.writeStream.format("memory").queryName(name).start()
    try:
        wait_until(lambda: spark.table(name).count() == 4, query)
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.delete_topics([deleted])
        produce(broker.bootstrap_servers, kept, numbered(2, first=2))
        wait_until(lambda: spark.table(name).count() == 6, query)
        assert numbers(spark.table(name)) == [0, 0, 1, 1, 2, 3]
    finally:
        query.stop()


def test_a_topic_made_again_between_two_runs_is_noticed(spark, broker, make_topic, tmp_path):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(5))
    drain(load_stream(spark, broker, topic, startingOffsets="earliest"), tmp_path)
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.delete_topics([topic])
        wait_until(lambda: topic not in admin.list_topics())
        admin.create_topics([NewTopic(topic, 1, 1)])
    produce(broker.bootstrap_servers, topic, numbered(8, first=100))
    with pytest.raises(Exception, match="was deleted and recreated"):
        drain(load_stream(spark, broker, topic), tmp_path)
    drain(load_stream(spark, broker, topic, failOnDataLoss="false"), tmp_path)
    assert written(spark, tmp_path) == [*range(5), *range(100, 108)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"endingOffsets": "latest"}, "'endingOffsets' cannot be used for a streaming read: a stream has no end"),
        ({"minOffsetsPerTrigger": 9, "maxOffsetsPerTrigger": 3}, "'minOffsetsPerTrigger' .9. must not be greater"),
        ({"startingOffsets": {"t": {"0": -3}}}, "'startingOffsets' expects"),
    ],
)
def test_wrong_options_of_a_stream_are_refused_by_name(spark, broker, given, said):
    with pytest.raises(Exception, match=said) as caught:
        load_stream(spark, broker, "t", **given).writeStream.format("noop").start().awaitTermination(60)

    assert "UnboundLocalError" not in str(caught.value)
    assert re.search(said, str(caught.value).splitlines()[0]), "the cause is to be in the first line"


def test_offsets_that_leave_a_partition_out_are_refused(spark, broker, make_topic):
    topic = make_topic(partitions=2)
    stream = load_stream(spark, broker, topic, startingOffsets={topic: {"0": 0}})
    with pytest.raises(Exception, match=f"must name every partition that is read, but leaves out {topic}-1"):
        stream.writeStream.format("noop").start().awaitTermination(60)
