"""A batch, a stream and writes, with the PySpark that is installed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kafka
from conftest import BUSY_SPARK, MakeTopic
from harness.function_checks import check_all_types
from harness.tools import JVM
from kafka.broker import EmbeddedBroker
from kafka.spark import run_available, session, watch

pytestmark = [pytest.mark.timeout(600), pytest.mark.flaky(reruns=2, only_rerun=[BUSY_SPARK])]
FORMAT = "kafka_columnar"
SETTINGS = {
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": " ".join(JVM),
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
}
ROWS = 300


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    running = session("kafka-columnar-versions", **SETTINGS)
    yield running
    running.stop()


@pytest.fixture
def brokers(embedded_broker: EmbeddedBroker) -> dict[str, str]:
    return {"kafka.bootstrap.servers": embedded_broker.bootstrap_servers}


@pytest.fixture
def topic(brokers: dict[str, str], embedded_topic: MakeTopic) -> str:
    """A topic with numbers in two partitions."""
    name = embedded_topic(2)
    send(brokers, name, range(ROWS))
    return name


def send(brokers: dict[str, str], topic: str, numbers: range) -> None:
    with kafka.KafkaProducer(bootstrap_servers=brokers["kafka.bootstrap.servers"]) as producer:
        for number in numbers:
            producer.send(topic, b"%d" % number, partition=number % 2)


def committed(brokers: dict[str, str], topic: str) -> list[int]:
    """What readers of committed records see."""
    servers = brokers["kafka.bootstrap.servers"]
    table = kafka.read(topic, bootstrap_servers=servers, isolation_level="read_committed").to_arrow()
    return sorted(map(int, table.column("value").to_pylist()))


def numbers(frame: Any) -> list[int]:
    return sorted(int(row.value) for row in frame.select("value").collect())


def test_a_batch(spark, brokers, topic):
    frame = spark.read.format(FORMAT).options(**brokers, subscribe=topic).load()
    assert numbers(frame) == list(range(ROWS))
    nothing = spark.read.format(FORMAT).options(**brokers, assign=f'{{"{topic}":[0]}}')
    ends = f'{{"{topic}":{{"0":5}}}}'
    assert nothing.options(startingOffsets=ends, endingOffsets=ends).load().count() == 0


def test_a_batch_write_that_is_all_or_nothing(spark, brokers, embedded_topic):
    target = embedded_topic(2)
    given = {**brokers, "topic": target, "exactlyOnce": "true", "transactionalIdPrefix": f"of-{target}"}
    rows = spark.range(ROWS).selectExpr("cast(id as string) as value")
    for _ in range(2):
        rows.write.format(FORMAT).options(**given, transactionalBatchId="rows").mode("append").save()
    assert committed(brokers, target) == list(range(ROWS))


def test_a_stream_in_bounded_batches_is_written_exactly_once(
    spark: Any, brokers: dict[str, str], topic: str, embedded_topic: MakeTopic, tmp_path: Path
) -> None:
    target = embedded_topic(2)
    source = {**brokers, "subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": "200"}
    sink = {**brokers, "topic": target, "exactlyOnce": "true", "transactionalIdPrefix": f"of-{target}"}

    def run() -> None:
        rows = spark.readStream.format(FORMAT).options(**source).load().selectExpr("value")
        writer = rows.writeStream.format(FORMAT).options(**sink).queryName(target)
        run_available(writer.option("checkpointLocation", str(tmp_path / "checkpoint")))

    with watch(spark) as watched:
        run()
        deadline = time.monotonic() + 60
        while sum(each.rows for each in watched.progress) < ROWS:
            assert time.monotonic() < deadline, "the reports did not arrive in time"
        assert [each.sources[0].rows for each in watched.progress if each.rows] == [200, 100]
        assert [each.sources[0].lag for each in watched.progress if each.rows] == [100, 0]
    assert committed(brokers, target) == list(range(ROWS))
    send(brokers, topic, range(ROWS, ROWS + 50))
    run()
    assert committed(brokers, target) == list(range(ROWS + 50))


def test_typed_values_are_written_and_read_in_a_batch_and_a_stream(spark: Any, tmp_path: Path) -> None:
    with EmbeddedBroker(registry=True) as broker:
        given = {"kafka.bootstrap.servers": broker.bootstrap_servers, "valueFormat": "avro"}
        given["schemaRegistryUrl"] = str(broker.registry_url)
        rows = spark.range(ROWS).selectExpr("named_struct('id', id, 'item', concat('item ', id % 10)) as value")
        rows.write.format(FORMAT).options(**given, topic="orders").mode("append").save()

        def read(topic: str) -> list[tuple[int, str]]:
            frame = spark.read.format(FORMAT).options(**given, subscribe=topic).load()
            return sorted(tuple(row) for row in frame.select("value.id", "value.item").collect())

        assert read("orders") == [(number, f"item {number % 10}") for number in range(ROWS)]
        stream = spark.readStream.format(FORMAT).options(**given, subscribe="orders", startingOffsets="earliest").load()
        shouted = stream.selectExpr("named_struct('id', value.id, 'item', upper(value.item)) as value")
        writer = shouted.writeStream.format(FORMAT).options(**given, topic="shouted")
        run_available(writer.option("checkpointLocation", str(tmp_path / "checkpoint")))
        assert read("shouted") == [(number, f"ITEM {number % 10}") for number in range(ROWS)]


def test_functions_read_and_write_values_of_all_types(spark: Any) -> None:
    check_all_types(spark)
