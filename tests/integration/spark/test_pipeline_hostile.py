"""Pipelines: hostile records, lost directories, unusual queries, and runs that end at a bad moment."""

from __future__ import annotations

import json
import shutil
import threading
import uuid
from pathlib import Path
from typing import Any

import pytest

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.broker import EmbeddedBroker
from kafka.errors import IllegalStateError
from kafka.pipelines.backfill import backfill
from kafka.pipelines.declaration import Declaration, FieldFormat
from kafka.pipelines.events import Event, EventFile, read_events
from kafka.pipelines.failing_records import FailedPart
from kafka.pipelines.replay import replay
from kafka.pipelines.run import PipelineFailedError, run, start
from kafka.pipelines.yaml_file import parse
from kafka.structs import TopicPartition

from .spark_support import spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

Headers = list[tuple[str, bytes | None]]


INT = FieldFormat(format="int")


class Numbers:
    """A pipeline whose records are numbers, in topics of their own. Records with an ``n`` over 100 are rejected."""

    def __init__(self, servers: str, directory: Path) -> None:
        self.servers = servers
        self.directory = directory
        self.name = f"numbers-{uuid.uuid4().hex[:8]}"
        self.source, self.sink, self.dead = (f"{kind}.{self.name}-1" for kind in ("in", "out", "dead"))
        self.create(self.source, self.sink, self.dead)

    def create(self, *topics: str) -> None:
        with KafkaAdminClient(bootstrap_servers=self.servers) as admin:
            admin.create_topics([NewTopic(each, num_partitions=1, replication_factor=1) for each in topics])

    def produce(self, *values: dict[str, int], headers: Headers | None = None) -> None:
        with KafkaProducer(bootstrap_servers=self.servers) as producer:
            for each in values:
                producer.send(self.source, json.dumps(each).encode(), key=b"k", headers=headers or [])

    def declaration(self, query: str = "select id, n from source", most: int = 100, sink: str = "") -> Declaration:
        return parse(
            f"""
pipeline: {self.name}
kafka: {{bootstrap.servers: "{self.servers}"}}
checkpoint: {self.directory}/pipeline
source:
  topic: {self.source}
  value: {{format: json, schema: "id int, n int"}}
rules:
  - {{name: n is small, holds: n <= {most}}}
query: {query}
{sink or f"sink: {{topic: {self.sink}}}"}
dead_letters: {{topic: {self.dead}}}
"""
        )

    def records(self, topic: str) -> list[Any]:
        """Return the committed records of a topic."""
        partition = TopicPartition(topic, 0)
        with KafkaConsumer(bootstrap_servers=self.servers, isolation_level="read_committed") as consumer:
            consumer.assign([partition])
            consumer.seek_to_beginning(partition)
            end = consumer.end_offsets([partition])[partition]
            found = []
            while consumer.position(partition) < end:
                for records in consumer.poll(timeout_ms=500).values():
                    found += records
        return found

    def out(self) -> list[int]:
        """Return the ids in the sink, sorted."""
        return sorted(json.loads(each.value)["id"] for each in self.records(self.sink))


@pytest.fixture(scope="module")
def embedded():
    with EmbeddedBroker() as broker:
        yield broker


@pytest.fixture
def numbers(embedded, tmp_path):
    return Numbers(embedded.bootstrap_servers, tmp_path)


def test_headers_of_the_original_record_survive_replays_and_do_not_count_as_those_of_the_dead_letter(spark, numbers):
    own: Headers = [
        ("kafka.source", b"other/3/4"),
        ("kafka.pipeline", b"other"),
        ("kafka.rule", b"foreign"),
        ("kafka.attempt", b"7"),
        ("a", None),
        ("a", b""),
        ("a", b"\xff\x00"),
        ("__connect.errors.topic", b"elsewhere"),
        ("kafka.timestamp", b"12"),
        ("kafka.rule", b"last"),
    ]
    numbers.produce({"id": 2, "n": 200}, headers=own)
    run(numbers.declaration(), spark)
    assert replay(numbers.declaration(most=300), spark, rule="last").rows == 0
    assert replay(numbers.declaration(), spark).dead == 1
    (original,) = numbers.records(numbers.source)
    for attempt, record in enumerate(numbers.records(numbers.dead), 1):
        assert record.headers[: len(own)] == own
        added = record.headers[len(own) :]
        assert [value for name, value in added if name == "kafka.rule"] == [b"n is small"]
        assert [name for name, _ in added].count("kafka.pipeline") == 1
        assert dict(added)["kafka.attempt"] == b"%d" % attempt
        assert dict(added)["kafka.timestamp"] == b"%d" % original.timestamp
        assert dict(added)["kafka.source"].startswith(f"{numbers.source}/0/0/".encode())

    # A new directory begins again with replay 1, which must not be taken for the one above.
    shutil.rmtree(numbers.directory / "pipeline")
    assert replay(numbers.declaration(most=300), spark).out == 2
    assert numbers.out() == [2, 2]


def test_a_key_that_does_not_decode_is_in_the_dead_letter_as_it_was(spark, numbers):
    numbers.produce({"id": 1, "n": 1})
    declaration = numbers.declaration()
    typed = {"source": declaration.all_sources["source"].model_copy(update={"key": INT})}
    assert run(declaration.model_copy(update={"sources": typed}), spark).by_rule() == {"decodes": 1}
    (letter,), (original,) = numbers.records(numbers.dead), numbers.records(numbers.source)
    assert (letter.key, letter.value) == (original.key, original.value)
    assert replay(declaration, spark).out == 1
    assert numbers.out() == [1]


def test_a_replay_continues_after_its_dead_letters_were_deleted_and_after_their_topic_was_created_again(spark, numbers):
    numbers.produce(*({"id": number, "n": 200} for number in range(5)))
    run(numbers.declaration(), spark)
    stop = threading.Event()
    stop.set()
    corrected = numbers.declaration(most=300)
    assert not replay(corrected, spark, slice_offsets=4, stop=stop).is_complete
    with KafkaAdminClient(bootstrap_servers=numbers.servers) as admin:
        admin.delete_records({TopicPartition(numbers.dead, 0): 2})
    assert replay(corrected, spark, slice_offsets=4).out == 3
    assert numbers.out() == [2, 3, 4]
    with KafkaAdminClient(bootstrap_servers=numbers.servers) as admin:
        admin.delete_topics([numbers.dead])
    numbers.create(numbers.dead)
    numbers.produce({"id": 9, "n": 200})
    run(numbers.declaration(), spark)
    assert replay(corrected, spark).out == 1
    assert numbers.out() == [2, 3, 4, 9]


def test_a_target_gets_all_rows_of_a_stream_whose_directory_was_deleted(spark, numbers):
    declaration = numbers.declaration(sink=f"sink: {{parquet: {numbers.directory}/files}}")
    numbers.produce({"id": 1, "n": 1})
    run(declaration, spark)
    shutil.rmtree(numbers.directory / "pipeline")
    numbers.produce({"id": 2, "n": 1})
    run(declaration, spark)
    files = spark.read.parquet(f"{numbers.directory}/files")
    assert sorted(row.id for row in files.collect()) == [1, 1, 2]


def test_a_query_with_common_table_expressions_is_evaluated_row_by_row(spark, numbers):
    query = "with small as (select id, n * 2 as m from source where n < 90) select s.id from small s where m > 2"
    declaration = numbers.declaration(query)
    numbers.produce(*({"id": number, "n": number * 50} for number in range(4)))
    result = run(declaration, spark)
    assert (result.out, result.dead, numbers.out()) == (1, 1, [1])
    assert numbers.records(numbers.sink)[0].headers[0][0] == "kafka.source"
    assert replay(numbers.declaration(query.replace("90", "900"), most=300), spark).out == 1
    assert numbers.out() == [1, 3]


def test_a_stopped_run_has_ended_and_a_failed_start_holds_nothing(spark, numbers, monkeypatch):
    declaration = numbers.declaration()
    running = start(declaration, spark)
    with pytest.raises(IllegalStateError, match="another run of this pipeline is running"):
        start(declaration, spark)
    running.stop()
    assert [each.kind for each in running.result().events if each.kind != "batch"] == ["start", "stop"]
    listeners = len(spark.streams._jsqm.listListeners())

    def fail(file: EventFile, event: Event) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as changed:
        changed.setattr(EventFile, "append", fail)
        with pytest.raises(OSError, match="the disk is full"):
            start(declaration, spark)
    assert run(declaration, spark).events[0].kind == "start"
    assert len(spark.streams._jsqm.listListeners()) == listeners


@pytest.mark.parametrize(
    ("query", "cause"),
    [
        ("select id, 100 div n as n from source", "DIVIDE_BY_ZERO"),
        ("select id, explode(array(100 div n)) as n from source", "DIVIDE_BY_ZERO"),
        ("select id, sum(100 div n) as n from source group by id", "DIVIDE_BY_ZERO"),
    ],
    ids=["row by row", "in a batch", "with state"],
)
def test_the_error_of_a_query_names_the_record(spark, numbers, query, cause):
    numbers.produce(*[{"id": each, "n": each - 5} for each in range(8)])
    sink = f"sink: {{topic: {numbers.sink}}}\noutput_mode: update" if "sum" in query else ""
    with pytest.raises(PipelineFailedError, match=cause) as raised:
        run(numbers.declaration(query, sink=sink), spark)
    assert f"The query fails for the record {numbers.source}/0/5." in str(raised.value)
    assert "sum" in query or numbers.out() == []


def test_the_error_of_a_backfill_names_the_record(spark, numbers):
    numbers.produce(*[{"id": each, "n": each - 3} for each in range(6)])
    with pytest.raises(PipelineFailedError, match="DIVIDE_BY_ZERO") as raised:
        backfill(numbers.declaration("select id, 100 div n as n from source"), spark)
    assert f"The query fails for the record {numbers.source}/0/3." in str(raised.value)
    assert backfill(numbers.declaration("select id, n from source"), spark).out == 6
    assert numbers.out() == list(range(6))


def test_a_run_has_failed_even_if_the_search_for_its_record_is_interrupted(spark, numbers, monkeypatch):
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    numbers.produce({"id": 1, "n": 0})
    monkeypatch.setattr(FailedPart, "named", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(numbers.declaration("select id, 100 div n as n from source"), spark)
    *_, last = read_events(numbers.directory / "pipeline" / "events")
    assert last.kind == "failure"
    assert "DIVIDE_BY_ZERO" in (last.cause or "")
