"""What the Spark tests share: one session, records to read, and ways to change a topic behind a query's back."""

from __future__ import annotations

import ast
import atexit
import contextlib
import dataclasses
import functools
import itertools
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest

from harness.fetch import FetchError, fetch_spark_connector
from harness.java import JavaError
from harness.tools import JVM
from harness.topics import Wire, await_topic
from kafka import KafkaConsumer, KafkaProducer
from kafka.spark import session
from kafka.spark.pyspark_versions import TELLS_TRIGGER
from kafka.structs import TopicPartition
from kafka.wire import message_class

FORMAT = "kafka_columnar"
WAIT_S = 180.0
"""Some times what the slowest wait, for a driver to start and do its first batch, takes on a busy machine."""
QUICK_START = " ".join(JVM)
needs_reports = pytest.mark.skipif(
    not TELLS_TRIGGER, reason="PySpark before 4.2 asks a source neither for reports nor after the last micro-batch"
)
FRAMES_ARE_SNAPSHOTS = not pyspark.__version__.startswith("4.0.")
"""PySpark 4.0 plans a frame of a Python data source anew for each action."""
GAVE_UP = "Python worker failed to connect back"
"""What Spark says where a Python process takes more than ten seconds to start, as on a busy machine."""


def walked(offsets: str) -> dict[str, dict[int, int]]:
    """Return the offsets of a progress report by topic and partition, as a script takes them apart."""
    try:
        parsed = json.loads(offsets)
    except ValueError:
        parsed = ast.literal_eval(offsets)  # PySpark before 4.2 writes the report's JSON objects as Python's dicts
    found: dict[str, dict[int, int]] = {}
    for topic, partitions in parsed.items():  # the ids of topics are among them, without partitions
        for number, offset in partitions.items():
            found.setdefault(topic, {})[int(number)] = int(offset)
    return found


@functools.cache
def connector_jars() -> list[str]:
    """Spark's own Kafka connector, to compare with; raises `FetchError` where it is not to be had."""
    return [str(jar) for jar in sorted(fetch_spark_connector().glob("*.jar"))]


@functools.cache
def importable() -> Path:
    """The folder from which Spark's Python processes import what a test puts there.

    Kerberos finds its settings there, too, in `krb5.conf`.
    """
    folder = Path(tempfile.mkdtemp(prefix="spark-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextlib.contextmanager
def environment_of_spark() -> Iterator[None]:
    """What a JVM that is started inside gives its Python processes."""
    before = dict(os.environ)
    os.environ["PYTHONPATH"] = str(importable())
    os.environ["KRB5_CONFIG"] = str(importable() / "krb5.conf")
    os.environ["KRB5CCNAME"] = f"FILE:{importable()}/no-ticket"
    try:
        yield
    finally:
        for name in ("PYTHONPATH", "KRB5_CONFIG", "KRB5CCNAME"):
            os.environ.pop(name)
            if name in before:
                os.environ[name] = before[name]


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The one Spark session of the test run, with Spark's own connector in it if that is to be had."""
    jars: list[str] = []
    with contextlib.suppress(FetchError, JavaError):
        jars = connector_jars()
    settings = {
        "spark.driver.memory": "768m",
        "spark.driver.extraJavaOptions": QUICK_START,
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "2",
        "spark.jars": ",".join(jars),
    }
    with environment_of_spark():
        running = session("kafka-columnar-tests", **settings)
    # Why the producer of Spark's own connector tries again is told in warnings alone.
    log4j = running._jvm.org.apache.logging.log4j
    sender = "org.apache.kafka.clients.producer.internals.Sender"
    log4j.core.config.Configurator.setLevel(sender, log4j.Level.WARN)
    yield running
    running.stop()


@dataclasses.dataclass(frozen=True)
class Rec:
    """A record to produce."""

    value: bytes | None
    key: bytes | None = None
    partition: int = 0
    timestamp_ms: int = 1_700_000_000_000
    headers: tuple[tuple[str, bytes | None], ...] = ()


def numbered(count: int, partitions: int = 1, first: int = 0) -> list[Rec]:
    """Records whose values are numbers, in turn over the partitions."""
    return [Rec(b"%d" % number, partition=number % partitions) for number in range(first, first + count)]


def produce(bootstrap_servers: str, topic: str, records: Iterable[Rec]) -> None:
    """Write records and wait for their acknowledgement."""
    with KafkaProducer(bootstrap_servers=bootstrap_servers) as producer:
        sent = [
            producer.send(
                topic,
                value=each.value,
                key=each.key,
                partition=each.partition,
                timestamp_ms=each.timestamp_ms,
                headers=list(each.headers),
            )
            for each in records
        ]
        for future in sent:
            future.get(timeout=60)


def consume(bootstrap_servers: str, topic: str) -> list[Any]:
    """Every record of a topic."""
    with KafkaConsumer(bootstrap_servers=bootstrap_servers, group_id=None, auto_offset_reset="earliest") as consumer:
        partitions = [TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic)]
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        found: list[Any] = []
        deadline = time.monotonic() + WAIT_S
        while any(consumer.position(each) < ends[each] for each in partitions):
            assert time.monotonic() < deadline, f"{topic} could not be read to its end"
            found += itertools.chain.from_iterable(consumer.poll(timeout_ms=500).values())
    return found


def options(broker: Any, **given: Any) -> dict[str, str]:
    """Options of a read or a write, with the brokers in them; a dictionary becomes JSON."""
    texts = {name: json.dumps(value) if isinstance(value, dict) else str(value) for name, value in given.items()}
    return {"kafka.bootstrap.servers": broker.bootstrap_servers, **texts}


def load(spark: Any, broker: Any, topic: str, format_name: str = FORMAT, **given: Any) -> Any:
    """A batch read of a topic."""
    return spark.read.format(format_name).options(**options(broker, subscribe=topic, **given)).load()


def load_stream(spark: Any, broker: Any, topic: str, format_name: str = FORMAT, **given: Any) -> Any:
    """A streaming read of a topic."""
    return spark.readStream.format(format_name).options(**options(broker, subscribe=topic, **given)).load()


def numbers(frame: Any) -> list[int]:
    """The values of `numbered` records in a frame, sorted."""
    return sorted(int(row.value) for row in frame.select("value").collect())


def wait_until(condition: Callable[[], bool], query: Any = None) -> None:
    """Wait for something that a query brings about; its failure is raised at once."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        if query is not None and query.exception() is not None:
            raise query.exception()
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def add_partitions(bootstrap_servers: str, topic: str, total: int) -> None:
    """Give a topic more partitions, ``total`` of them."""
    request: Any = message_class("CreatePartitionsRequest")
    module = __import__(request.__module__, fromlist=["x"])
    with Wire(bootstrap_servers) as wire:
        wanted = [module.CreatePartitionsTopic(name=topic, count=total, assignments=None)]
        (result,) = wire.ask(request(topics=wanted, timeout_ms=10_000), 1).results
    assert result.error_code == 0, result.error_message
    await_topic(bootstrap_servers, topic, total, time.monotonic() + WAIT_S)


def delete_records(bootstrap_servers: str, topic: str, before: int) -> None:
    """Delete the records of partition 0 before an offset, as retention does."""
    request: Any = message_class("DeleteRecordsRequest")
    module = __import__(request.__module__, fromlist=["x"])
    partition = module.DeleteRecordsPartition(partition_index=0, offset=before)
    with Wire(bootstrap_servers) as wire:
        wanted = [module.DeleteRecordsTopic(name=topic, partitions=[partition])]
        (answer,) = wire.ask(request(topics=wanted, timeout_ms=10_000), 1).topics
    assert answer.partitions[0].error_code == 0
