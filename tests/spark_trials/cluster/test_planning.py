"""How long it takes to plan a read of a topic of 1,000 partitions, in the process that Spark has for it."""

from __future__ import annotations

import json
import statistics
import time

import pytest
from pyspark.sql.types import BinaryType, StructField, StructType

from harness.apache import ApacheKafka
from harness.topics import create_topic
from kafka import KafkaProducer
from kafka.spark.batch_reader import KafkaBatchReader
from kafka.spark.stream_reader import KafkaStreamReader

PARTITIONS = 1_000
RECORDS_EACH = 20
ROUNDS = 7
LIMIT_S = 0.5
SCHEMA = StructType([StructField("value", BinaryType())])


@pytest.fixture(scope="module")
def topic(tmp_path_factory):
    with ApacheKafka(tmp_path_factory.mktemp("kafka")) as kafka:
        create_topic(kafka.bootstrap_servers, "wide", PARTITIONS)
        with KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, linger_ms=50) as producer:
            for number in range(PARTITIONS * RECORDS_EACH):
                producer.send("wide", b"%d" % number, partition=number % PARTITIONS)
            producer.flush()
        yield kafka.bootstrap_servers, "wide"


def planned_batch(options):
    return KafkaBatchReader(options, SCHEMA).partitions()


def planned_stream(options):
    reader = KafkaStreamReader({**options, "startingoffsets": "earliest"}, SCHEMA)
    start = reader.initialOffset()
    tasks = reader.partitions(start, reader.latestOffset(start, reader.getDefaultReadLimit()))
    reader.stop()
    return tasks


@pytest.mark.parametrize("planned", [planned_batch, planned_stream])
@pytest.mark.parametrize("apart", [False, True], ids=["shared", "apart"])
def test_a_thousand_partitions_are_planned_within_half_a_second(topic, planned, apart, capsys):
    servers, name = topic
    options = {"kafka.bootstrap.servers": servers, "subscribe": name}
    if apart:
        options["minpartitions"] = str(PARTITIONS)
    took, used = [], []
    for _ in range(ROUNDS):
        began, began_cpu = time.perf_counter(), time.process_time()
        tasks = planned(options)
        used.append(time.process_time() - began_cpu)
        took.append(time.perf_counter() - began)
        assert sum(len(each) for task in tasks for each in task.value) == PARTITIONS * RECORDS_EACH
        assert len(tasks) == (PARTITIONS if apart else PARTITIONS * RECORDS_EACH // 10_000)
    times = {"processor": used, "elapsed": took}
    with capsys.disabled():
        print(
            f"\n{planned.__name__}, {len(tasks)} tasks:",
            json.dumps({k: [round(x, 3) for x in v] for k, v in times.items()}),
        )
    # Processor time, as others may use the machine; the first round also imports and compiles.
    assert statistics.median(used) < LIMIT_S
