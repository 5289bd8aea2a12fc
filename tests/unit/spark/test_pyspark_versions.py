"""The replacements for classes that older PySpark versions lack."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.once

OLDER = """
import sys
import pyspark.sql.datasource as api
sys.modules["pyspark.sql.streaming.datasource"] = None
if hasattr(api, "DataSourceStreamArrowWriter"):
    del api.DataSourceStreamArrowWriter
from kafka.spark import pyspark_versions
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", OLDER + code], check=True, capture_output=True, text=True)
    return done.stdout


def test_a_stream_writer_has_the_class_of_batch_writers():
    code = (
        "from kafka.spark.writers import KafkaStreamWriter\n"
        "print(issubclass(KafkaStreamWriter, (api.DataSourceArrowWriter)), "
        "issubclass(KafkaStreamWriter, api.DataSourceStreamWriter))"
    )
    assert run(code) == "True True\n"


def test_a_task_without_a_partition_reads_nothing():
    code = (
        "print(pyspark_versions.task_of(None), pyspark_versions.task_of(api.InputPartition(None)), "
        "pyspark_versions.task_of(api.InputPartition((1,))))"
    )
    assert run(code) == "() () (1,)\n"


STREAM = """
import logging
from pyspark.sql.types import BinaryType, StructField, StructType
from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.spark.stream_reader import KafkaStreamReader
from kafka.structs import TopicPartition

handler = logging.StreamHandler(sys.stdout)
handler.setFormatter(logging.Formatter("%(levelname)s %(message).40s"))
log = logging.getLogger("kafka.spark.stream_reader")
log.addHandler(handler)
log.propagate = False
SCHEMA = StructType([StructField("value", BinaryType())])

with EmbeddedBroker() as broker:
    def fill(count):
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for _ in range(count):
                producer.send("t", b"x")

    def reader(**more):
        given = {"kafka.bootstrap.servers": broker.bootstrap_servers, "startingoffsets": "earliest"}
        topics = {} if "subscribepattern" in more else {"subscribe": "t"}
        return KafkaStreamReader({**given, **topics, **more}, SCHEMA)

    def offset(layout):
        return layout["t"]["0"]

    fill(10)
    PROGRAM
"""


def stream(program: str) -> list[str]:
    lines = program.strip().splitlines()
    return run(STREAM.replace("PROGRAM", "\n    ".join(line.strip() for line in lines))).splitlines()


def test_a_batch_starts_at_the_last_end_without_sparks_help():
    program = """
        one = reader(maxoffsetspertrigger="4")
        first = one.latestOffset()
        tasks = one.partitions(one.initialOffset(), first)
        second = one.latestOffset()
        third = one.latestOffset()
        print(offset(first), offset(second), offset(third), one.latestOffset() == third)
        one.stop()
    """
    warning = "WARNING maxOffsetsPerTrigger leaves 6 offsets fo"
    assert stream(program) == [warning, "4 8 10 True"]


def test_a_checkpoint_without_topics_is_used_unchanged():
    program = """
        one = reader(subscribepattern="u.*")
        one.partitions({}, {})
        print(one.latestOffset())
        one.stop()
    """
    assert stream(program) == ["{}"]


def test_a_batch_starts_where_the_checkpoint_ends_after_a_restart():
    program = """
        one = reader(maxoffsetspertrigger="4")
        first = one.latestOffset()
        one.stop()
        two = reader(maxoffsetspertrigger="4")
        two.partitions(first, first)
        two.initialOffset()
        print(offset(two.latestOffset()))
        two.stop()
    """
    assert stream(program)[1:] == ["WARNING maxOffsetsPerTrigger leaves 2 offsets fo", "8"]


def test_a_batch_planned_before_a_restart_is_reported_and_repeated():
    program = """
        one = reader()
        first = one.latestOffset()
        one.stop()
        fill(5)
        two = reader()
        two.partitions(first, first)
        start = two.initialOffset()
        print(sum(len(each) for task in two.partitions(start, first) for each in task.value))
        print(offset(two.latestOffset()))
        two.stop()
    """
    warning = "WARNING an unfinished micro-batch is run again a"
    assert stream(program) == [warning, "10", "15"]
