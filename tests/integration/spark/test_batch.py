"""Batch reads and writes of Spark, on both brokers."""

from __future__ import annotations

import datetime
import pkgutil
import sys

import confluent_kafka
import pyspark
import pytest

from kafka.spark import session

from .spark_support import (
    FORMAT,
    FRAMES_ARE_SNAPSHOTS,
    Rec,
    consume,
    delete_records,
    load,
    numbered,
    numbers,
    options,
    produce,
    spark,
)

__all__ = ["spark"]

FIRST_MS = 1_700_000_000_000
RECORDS = [
    Rec(b"one", key=b"k1", partition=0, timestamp_ms=FIRST_MS),
    Rec(None, key=b"tombstone", partition=0, timestamp_ms=FIRST_MS + 1),
    Rec(b"\x00\xff", partition=1, timestamp_ms=FIRST_MS + 2, headers=(("h", b"1"), ("none", None), ("h", b"2"))),
    Rec(b"", key=b"", partition=1, timestamp_ms=FIRST_MS + 3),
]


def utc(milliseconds: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(milliseconds / 1_000, datetime.UTC)


def test_a_batch_holds_what_was_produced(spark, broker, make_topic):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, RECORDS)
    frame = load(spark, broker, topic, includeHeaders="true").orderBy("partition", "offset")
    assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
        ("key", "binary"),
        ("value", "binary"),
        ("topic", "string"),
        ("partition", "int"),
        ("offset", "bigint"),
        ("timestamp", "timestamp"),
        ("timestampType", "int"),
        ("headers", "array<struct<key:string,value:binary>>"),
    ]
    rows = frame.collect()
    assert [(row.key, row.value) for row in rows] == [(each.key, each.value) for each in RECORDS]
    assert [(row.topic, row.partition, row.offset) for row in rows] == [
        (topic, 0, 0),
        (topic, 0, 1),
        (topic, 1, 0),
        (topic, 1, 1),
    ]
    assert [row.timestamp.astimezone(datetime.UTC) for row in rows] == [utc(each.timestamp_ms) for each in RECORDS]
    assert [row.timestampType for row in rows] == [0] * 4
    assert [row.headers and [(each.key, each.value) for each in row.headers] for row in rows] == [
        None,
        None,
        [("h", b"1"), ("none", None), ("h", b"2")],
        None,
    ]


def test_columns_are_pruned_by_option_and_by_schema(spark, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(3))
    by_option = load(spark, broker, topic, columns="offset,value")
    assert by_option.columns == ["offset", "value"]
    assert [tuple(row) for row in by_option.orderBy("offset").collect()] == [(0, b"0"), (1, b"1"), (2, b"2")]
    reader = spark.read.format(FORMAT).options(**options(broker, subscribe=topic))
    by_schema = reader.schema("value binary, timestamp timestamp, partition int").load()
    assert by_schema.columns == ["value", "timestamp", "partition"]
    assert numbers(by_schema) == [0, 1, 2]


def test_many_records_come_out_exactly_once(spark, broker, make_topic):
    topic = make_topic(partitions=3)
    produce(broker.bootstrap_servers, topic, numbered(30_000, partitions=3))
    assert numbers(load(spark, broker, topic, columns="value")) == list(range(30_000))


def test_a_range_of_offsets(spark, broker, make_topic):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(20, partitions=2))
    frame = load(
        spark,
        broker,
        topic,
        startingOffsets={topic: {"0": 2, "1": -2}},
        endingOffsets={topic: {"0": 4, "1": -1}},
    )
    assert numbers(frame) == sorted([4, 6, *range(1, 20, 2)])


def test_a_range_of_time(spark, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [Rec(b"%d" % n, timestamp_ms=FIRST_MS + 10 * n) for n in range(10)])
    frame = load(spark, broker, topic, startingTimestamp=FIRST_MS + 25, endingTimestamp=FIRST_MS + 60)
    assert numbers(frame) == [3, 4, 5]
    late = {"startingOffsetsByTimestamp": {topic: {"0": FIRST_MS + 1_000}}}
    assert numbers(load(spark, broker, topic, startingOffsetsByTimestampStrategy="latest", **late)) == []
    with pytest.raises(Exception, match=r"no record of .* has a timestamp of"):
        load(spark, broker, topic, **late).collect()


def test_min_partitions_splits_a_read(spark, broker, make_topic):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(1_000, partitions=2))
    shared = load(spark, broker, topic)
    assert shared.rdd.getNumPartitions() == 1
    split = load(spark, broker, topic, minPartitions=8)
    assert split.rdd.getNumPartitions() == 8
    assert numbers(split) == numbers(shared) == list(range(1_000))
    assert load(spark, broker, topic, maxRecordsPerPartition=300).rdd.getNumPartitions() == 4


def test_a_pattern_and_an_assignment_select(spark, broker, make_topic):
    topic = make_topic(partitions=2)
    other = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(6, partitions=2))
    produce(broker.bootstrap_servers, other, numbered(1, first=100))
    reader = spark.read.format(FORMAT)
    assigned = reader.options(**options(broker, assign={topic: [1]})).load()
    assert numbers(assigned) == [1, 3, 5]
    pattern = f"({topic}|{other})"
    matching = spark.read.format(FORMAT).options(**options(broker, subscribePattern=pattern)).load()
    assert numbers(matching) == [0, 1, 2, 3, 4, 5, 100]
    assert numbers(load(spark, broker, f"{topic},{other}")) == [0, 1, 2, 3, 4, 5, 100]


def test_an_empty_topic_gives_no_rows(spark, broker, make_topic):
    assert load(spark, broker, make_topic()).collect() == []


def test_a_frame_is_a_snapshot_and_a_new_load_is_fresh(spark, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(2))
    frame = load(spark, broker, topic)
    assert frame.count() == 2
    produce(broker.bootstrap_servers, topic, numbered(3, first=2))
    assert frame.count() == (2 if FRAMES_ARE_SNAPSHOTS else 5)
    assert load(spark, broker, topic).count() == 5


def test_a_reader_that_stops_early_leaves_the_worker_usable(spark, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(20_000))
    for _ in range(3):
        assert load(spark, broker, topic).limit(5).count() == 5
    assert load(spark, broker, topic).count() == 20_000


def test_deleted_records_are_loss_or_skipped(spark, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(10))
    delete_records(broker.bootstrap_servers, topic, before=4)
    start = {topic: {"0": 1}}
    with pytest.raises(Exception, match=rf"startingOffsets begins {topic}-0 at 1, but its log holds \[4, 10\)"):
        load(spark, broker, topic, startingOffsets=start).collect()
    frame = load(spark, broker, topic, startingOffsets=start, failOnDataLoss="false")
    assert numbers(frame) == [4, 5, 6, 7, 8, 9]
    assert numbers(load(spark, broker, topic)) == [4, 5, 6, 7, 8, 9]


def test_records_deleted_after_planning_are_loss_or_skipped(spark, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(10))
    strict, lenient = load(spark, broker, topic), load(spark, broker, topic, failOnDataLoss="false")
    assert strict.rdd.getNumPartitions() == lenient.rdd.getNumPartitions() == 1
    delete_records(broker.bootstrap_servers, topic, before=4)
    with pytest.raises(Exception, match=f"{topic}-0 was to be read from offset 0, but its log begins at 4"):
        strict.collect()
    assert numbers(lenient) == [4, 5, 6, 7, 8, 9]


def test_a_missing_topic_is_named(spark, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(2))
    both = f"{topic},no-such-topic"
    quick = {"fetchOffset.numRetries": 0}
    for strict in ("true", "false"):
        said = "Kafka has no topic 'no-such-topic', which the query reads"
        with pytest.raises(Exception, match=said) as caught:
            load(spark, broker, both, failOnDataLoss=strict, **quick).collect()
        assert said in str(caught.value).splitlines()[0], "the cause is to be in the first line"


def test_wrong_options_are_refused_by_name_before_anything_runs(spark, broker):
    for given, said in (
        ({"subscribe": "t", "startingOffset": "earliest"}, "did you mean 'startingOffsets'"),
        ({"subscribe": "t", "assign": '{"t":[0]}'}, "exactly one of the options"),
        ({"subscribe": "t", "minPartitions": "few"}, "'minPartitions' expects"),
        ({"subscribe": "t", "kafka.auto.offset.reset": "latest"}, "set where to start with startingOffsets"),
    ):
        with pytest.raises(Exception, match=said):
            spark.read.format(FORMAT).options(**options(broker, **given)).load()


def test_a_write_arrives_with_keys_headers_and_partitions(spark, broker, make_topic):
    topic = make_topic(partitions=3)
    frame = spark.sql(
        "select cast(id as string) as value, cast(concat('k', id) as binary) as key, cast(id % 3 as int) as partition,"
        " array(named_struct('key', 'h', 'value', cast(concat('h', id) as binary))) as headers, id as ignored"
        " from range(300)"
    )
    frame.write.format(FORMAT).options(**options(broker, topic=topic)).mode("append").save()
    records = consume(broker.bootstrap_servers, topic)
    assert sorted(int(record.value) for record in records) == list(range(300))
    for record in records:
        number = int(record.value)
        assert record.key == b"k%d" % number
        assert record.partition == number % 3
        assert [tuple(each) for each in record.headers] == [("h", b"h%d" % number)]


def test_rows_go_to_the_topics_of_their_column_and_nulls_stay_null(spark, broker, make_topic):
    topics = [make_topic(), make_topic()]
    rows = [(topics[n % 2], None if n == 4 else f"v{n}", None if n == 5 else f"k{n}") for n in range(6)]
    frame = spark.createDataFrame(rows, "topic string, value string, key string").coalesce(1)
    frame.write.format(FORMAT).options(**options(broker)).mode("append").save()
    even, odd = (consume(broker.bootstrap_servers, topic) for topic in topics)
    assert [(record.key, record.value) for record in even] == [(b"k0", b"v0"), (b"k2", b"v2"), (b"k4", None)]
    assert [(record.key, record.value) for record in odd] == [(b"k1", b"v1"), (b"k3", b"v3"), (None, b"v5")]


def test_what_is_read_can_be_written_as_it_is(spark, broker, make_topic):
    source, target = make_topic(partitions=2), make_topic(partitions=2)
    produce(broker.bootstrap_servers, source, RECORDS)
    frame = load(spark, broker, source, includeHeaders="true")
    frame.write.format(FORMAT).options(**options(broker, topic=target)).mode("append").save()
    copied = load(spark, broker, target, includeHeaders="true").drop("topic", "timestamp")
    assert copied.exceptAll(frame.drop("topic", "timestamp")).count() == 0
    assert copied.count() == len(RECORDS)


def test_a_frame_that_cannot_be_written_is_refused(spark, broker, make_topic):
    topic = make_topic()
    writes = (
        (spark.range(1), {"topic": topic}, "requires a column 'value'"),
        (spark.range(1).selectExpr("id as value"), {"topic": topic}, "'value' must be string or binary"),
        (spark.range(1).selectExpr("'x' as value"), {}, "requires the option 'topic' or a column 'topic'"),
        (spark.range(1).selectExpr("'x' as value"), {"topic": topic, "subscribe": "t"}, "cannot be used for a write"),
    )
    for frame, given, said in writes:
        with pytest.raises(Exception, match=said):
            frame.write.format(FORMAT).options(**options(broker, **given)).mode("append").save()
    with pytest.raises(Exception, match="cannot overwrite a topic"):
        writes[2][0].write.format(FORMAT).options(**options(broker, topic=topic)).mode("overwrite").save()
    assert consume(broker.bootstrap_servers, topic) == []


def test_a_record_that_is_too_large_fails_the_write_with_topic_and_cause(spark, broker, make_topic):
    topic = make_topic(config={"max.message.bytes": "2000"})
    frame = spark.range(1).selectExpr("repeat('x', 5000) as value")
    with pytest.raises(Exception, match=rf"could not write rows to topic '{topic}'.*\n?.*(Size|Large)"):
        frame.write.format(FORMAT).options(**options(broker, topic=topic)).mode("append").save()


def test_the_format_is_found_in_sql_without_registering(spark, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, numbered(3))
    fresh = spark.newSession()
    fresh.sql(
        f"create temporary view {topic.replace('-', '_')} using {FORMAT} options "
        f"('kafka.bootstrap.servers' '{broker.bootstrap_servers}', subscribe '{topic}')"
    )
    assert fresh.sql(f"select count(*) from {topic.replace('-', '_')}").first()[0] == 3


def test_a_session_registers_the_format_only_where_spark_does_not_find_it(spark, monkeypatch):
    registered: list[object] = []
    monkeypatch.setattr(sys.modules[session.__module__], "register", registered.append)
    same = {"spark.sql.shuffle.partitions": spark.conf.get("spark.sql.shuffle.partitions")}
    session(**same)
    assert registered == []
    monkeypatch.setattr(pkgutil, "iter_modules", lambda: iter(()))
    session(**same)
    assert registered == [spark]


def test_transactions_are_read_as_the_isolation_level_says(spark, apache_kafka, make_topic_on):
    topic = make_topic_on(apache_kafka)()
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": apache_kafka.bootstrap_servers, "transactional.id": f"id-{topic}"}
    )
    producer.init_transactions(30)
    for first, end_transaction in ((0, "commit"), (10, "abort"), (20, "commit"), (30, "abort")):
        producer.begin_transaction()
        for number in range(first, first + 5):
            producer.produce(topic, value=b"%d" % number)
        producer.flush(30)
        getattr(producer, f"{end_transaction}_transaction")(30)
    committed = [*range(5), *range(20, 25)]
    frame = load(spark, apache_kafka, topic, **{"kafka.isolation.level": "read_committed"})
    assert numbers(frame) == committed
    assert numbers(load(spark, apache_kafka, topic)) == sorted([*committed, *range(10, 15), *range(30, 35)])


def test_spark_s_processes_do_not_compile_pyspark_anew(spark):
    def home(batches):
        import pyarrow
        import pyspark

        yield from (pyarrow.RecordBatch.from_pydict({"home": [pyspark.__file__]}) for _ in batches)

    (row,) = spark.range(1).mapInArrow(home, "home string").distinct().collect()
    assert row.home == pyspark.__file__
