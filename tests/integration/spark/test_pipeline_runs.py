"""Pipelines: what reaches the sink, the dead letters and the events, and that nothing is processed twice."""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka import KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.pipelines import Pipeline, foreach_batch_sink, kafka_sink, kafka_source, rule
from kafka.pipelines.backfill import backfill
from kafka.pipelines.combined_rows import Form
from kafka.pipelines.declaration import Declaration, InvalidDeclaration
from kafka.pipelines.events import read_events
from kafka.pipelines.outcomes import outcomes
from kafka.pipelines.record_headers import parse_position
from kafka.pipelines.replay import replay
from kafka.pipelines.run import PipelineFailedError, TooManyRejectedError, run
from kafka.pipelines.yaml_file import parse
from kafka.structs import TopicPartition

from .spark_support import spark, wait_until

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

SCHEMA = "id int, carrier string, origin string, delay double"
QUERY = "select id, origin, delay from source where delay > 0"
EXPLODED = "select id, d as delay from source lateral view explode(array(delay)) t as d where delay > 0"
ORIGINS = ("EWR", "JFK", "LGA", "XXX")


def flight(number: int) -> bytes:
    """Return a record's value; every tenth is not JSON, and every seventh has no carrier."""
    if number % 10 == 0:
        return b"broken %d" % number
    carrier = None if number % 7 == 0 else "AA"
    return json.dumps(
        {"id": number, "carrier": carrier, "origin": ORIGINS[number % 4], "delay": number - 50.0}
    ).encode()


def expected(number: int, longest: float = 100) -> str:
    """Return what the pipeline does with a record: out, filtered, dropped or dead."""
    if number % 10 == 0 or number % 7 == 0 or number - 50 > longest:
        return "dead"
    if number % 4 == 3:
        return "dropped"
    return "out" if number > 50 else "filtered"


class Flights:
    """Topics with flights, and the pipelines that read them.

    Arguments:
        broker: the broker.
        make_topic: creates a topic.
        directory: where pipelines keep their progress.
    """

    def __init__(self, broker: Any, make_topic: Any, directory: Path) -> None:
        self.servers = broker.bootstrap_servers
        self.source, self.sink, self.dead = (make_topic(partitions=2) for _ in range(3))
        self._name = f"flights-{uuid.uuid4().hex[:8]}"
        self.directory = directory

    def produce(self, numbers: range) -> None:
        with KafkaProducer(bootstrap_servers=self.servers) as producer:
            for number in numbers:
                producer.send(
                    self.source,
                    flight(number),
                    key=b"key %d" % number,
                    headers=[("n", b"%d" % number)],
                    partition=number % 2,
                )

    def declaration(
        self, query: str = QUERY, longest: int = 100, more: str = "", name: str = "", sink: str = "", source: str = ""
    ) -> Declaration:
        return parse(
            f"""
pipeline: {self._name}{name}
kafka: {{bootstrap.servers: "{self.servers}"}}
checkpoint: {self.directory}/pipeline{name}
source:
  topic: {self.source}
  value: {{format: json, schema: "{SCHEMA}"}}
  {source}
rules:
  - {{name: carrier is known, holds: carrier is not null}}
  - {{name: delay is plausible, holds: delay between -120 and {longest}}}
  - {{name: airport is ours, holds: "origin in ('EWR', 'JFK', 'LGA')", otherwise: drop}}
query: {query}
{sink or f"sink: {{topic: {self.sink}, key: id}}"}
dead_letters: {{topic: {self.dead}}}
{more}
"""
        )

    def committed(self, topic: str) -> list[Any]:
        """Return the committed records of a topic."""
        return list(_committed(self.servers, topic))

    def out(self) -> list[int]:
        """Return the ids in the sink, sorted."""
        return sorted(json.loads(record.value)["id"] for record in self.committed(self.sink))

    def letters(self) -> list[tuple[int, int, tuple[str, ...]]]:
        """Return the number of the record, the attempt and the rules of each dead letter, sorted."""
        found = []
        for record in self.committed(self.dead):
            headers = dict(record.headers)
            rules = tuple(value.decode() for name, value in record.headers if name == "kafka.rule")
            found.append((int(headers["n"]), int(headers["kafka.attempt"]), rules))
        return sorted(found)


def _committed(servers: str, topic: str) -> Iterator[Any]:
    with KafkaConsumer(
        bootstrap_servers=servers, group_id=None, auto_offset_reset="earliest", isolation_level="read_committed"
    ) as consumer:
        partitions = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic))]
        with KafkaConsumer(bootstrap_servers=servers, group_id=None) as uncommitted:
            ends = uncommitted.end_offsets(partitions)
        # The markers of a transaction may be written shortly after its commit has been answered.
        wait_until(lambda: all(end >= ends[tp] for tp, end in consumer.end_offsets(partitions).items()))
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        ends = consumer.end_offsets(partitions)
        while any(consumer.position(each) < ends[each] for each in partitions):
            for records in consumer.poll(timeout_ms=500).values():
                yield from records


@pytest.fixture
def flights(broker, make_topic, tmp_path):
    return Flights(broker, make_topic, tmp_path)


@pytest.fixture
def one_broker(make_embedded_topic, tmp_path):
    """Flights on the embedded broker alone, for what does not depend on the broker."""
    broker, make_topic = make_embedded_topic
    return Flights(broker, make_topic, tmp_path)


@pytest.fixture(scope="module")
def embedded():
    with EmbeddedBroker() as broker:
        yield broker


@pytest.fixture
def make_embedded_topic(embedded):
    from kafka import KafkaAdminClient
    from kafka.admin import NewTopic

    def make_topic(partitions: int) -> str:
        name = f"topic-{uuid.uuid4().hex[:10]}"
        with KafkaAdminClient(bootstrap_servers=embedded.bootstrap_servers) as admin:
            admin.create_topics([NewTopic(name, num_partitions=partitions, replication_factor=1)])
        return name

    return embedded, make_topic


def numbers_of(outcome: str, numbers: range, longest: float = 100) -> list[int]:
    return [number for number in numbers if expected(number, longest) == outcome]


def test_each_record_is_in_the_sink_or_a_dead_letter_or_neither_as_its_rules_say(spark, flights):
    flights.produce(range(200))
    result = run(flights.declaration(), spark)
    numbers = range(200)
    assert flights.out() == numbers_of("out", numbers)
    assert [number for number, _, _ in flights.letters()] == numbers_of("dead", numbers)
    assert (result.rows, result.out, result.dead, result.dropped) == (
        200,
        len(numbers_of("out", numbers)),
        len(numbers_of("dead", numbers)),
        len(numbers_of("dropped", numbers)),
    )
    assert result.by_rule() == {
        "decodes": 20,
        "carrier is known": len([n for n in numbers if n % 10 and n % 7 == 0]),
        "delay is plausible": len([n for n in numbers if n % 10 and n > 150]),
        "airport is ours": len([n for n in numbers if n % 10 and n % 4 == 3]),
    }
    (event,) = [event for event in result.events if event.kind == "batch"]
    assert event.sources["source"].ranges == {f"{flights.source}-0": (0, 100), f"{flights.source}-1": (0, 100)}
    assert event.sources["source"].lag == 0
    assert [each.kind for each in read_events(result.directory.events)] == ["start", "batch", "stop"]


def test_a_dead_letter_is_the_original_record_with_headers_that_say_why(spark, flights):
    flights.produce(range(50, 75))
    run(flights.declaration(), spark)
    letters = {dict(record.headers)["n"]: record for record in flights.committed(flights.dead)}
    originals = {dict(record.headers)["n"]: record for record in flights.committed(flights.source)}
    assert sorted(letters) == sorted(b"%d" % number for number in numbers_of("dead", range(50, 75)))
    for number, letter in letters.items():
        original = originals[number]
        assert (letter.key, letter.value) == (original.key, original.value)
        assert letter.headers[: len(original.headers)] == original.headers
        headers = dict(letter.headers)
        position = parse_position(headers["kafka.source"].decode())
        assert (position.topic, position.partition, position.offset) == (
            flights.source,
            original.partition,
            original.offset,
        )
        assert position.topic_id
        assert int(headers["kafka.timestamp"]) == original.timestamp
        assert headers["kafka.attempt"] == b"1"
        assert headers["__connect.errors.offset"] == b"%d" % original.offset
    assert dict(letters[b"60"].headers)["kafka.cause"].startswith(b"decodes: expected an object, got broken")
    for record in flights.committed(flights.sink):
        (position,) = [parse_position(value.decode()) for name, value in record.headers if name == "kafka.source"]
        assert originals[b"%d" % json.loads(record.value)["id"]].offset == position.offset


def test_a_second_run_continues_where_the_first_one_ended(spark, flights):
    flights.produce(range(60))
    run(flights.declaration(), spark)
    flights.produce(range(60, 100))
    result = run(flights.declaration(), spark)
    assert result.rows == 40
    assert flights.out() == numbers_of("out", range(100))
    assert run(flights.declaration(), spark).rows == 0


def test_a_replay_processes_the_dead_letters_of_a_rule_with_the_current_declaration(spark, flights):
    flights.produce(range(200))
    run(flights.declaration(), spark)
    result = replay(flights.declaration(longest=140), spark, rule="delay is plausible", slice_offsets=30)
    late = [number for number in range(151, 200) if number % 10]
    assert result.rows == len(late)
    assert flights.out() == numbers_of("out", range(200), 140)
    assert sorted(number for number, attempt, _ in flights.letters() if attempt == 2) == [
        number for number in late if expected(number, 140) == "dead"
    ]
    again = replay(flights.declaration(longest=140), spark)
    remaining = Counter(numbers_of("dead", range(200), 140))
    assert again.rows == sum(remaining.values())
    assert Counter(number for number, attempt, _ in flights.letters() if attempt == 3) == Counter(
        number for number in late if expected(number, 140) == "dead"
    )
    assert flights.out() == numbers_of("out", range(200), 140)


def test_a_replay_of_offsets_and_of_times_leaves_other_letters_alone(spark, one_broker):
    one_broker.produce(range(40))
    run(one_broker.declaration(), spark)
    run(one_broker.declaration(name="-other"), spark)  # writes its dead letters to the same topic
    assert replay(one_broker.declaration(), spark, offsets={0: (0, 2)}).rows == 2
    assert replay(one_broker.declaration(), spark, offsets={0: (0, 2)}).rows == 0
    assert replay(one_broker.declaration(), spark, offsets={0: (0, 2)}, again=True).rows == 2
    assert replay(one_broker.declaration(), spark, until=parse_time("2020-01-01")).rows == 0
    rejected_again = 2 + 2
    assert replay(one_broker.declaration(), spark).rows == len(numbers_of("dead", range(40))) - 2 + rejected_again


def parse_time(text: str) -> Any:
    import datetime

    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)


@pytest.mark.parametrize("done", [0, 1])
def test_an_interrupted_replay_is_continued_and_writes_nothing_twice(spark, one_broker, monkeypatch, done):
    """The first attempt ends after a slice was written, before the plan says so."""
    one_broker.produce(range(200))
    run(one_broker.declaration(), spark)
    from kafka.pipelines.bounded_runs import RunDirectory

    stored = RunDirectory.store
    calls = []

    def store(self: RunDirectory, plan: Any) -> None:
        calls.append(plan)
        if plan.done == done + 1:
            raise KeyboardInterrupt
        stored(self, plan)

    monkeypatch.setattr(RunDirectory, "store", store)
    with pytest.raises(KeyboardInterrupt):
        replay(one_broker.declaration(longest=140), spark, slice_offsets=30)
    monkeypatch.setattr(RunDirectory, "store", stored)
    replay(one_broker.declaration(longest=140), spark, slice_offsets=30)
    assert one_broker.out() == numbers_of("out", range(200), 140)
    letters = [(number, attempt) for number, attempt, _ in one_broker.letters()]
    assert [number for number, attempt in letters if attempt == 2] == numbers_of("dead", range(200), 140)
    assert {attempt for _, attempt in letters} == {1, 2}, "what the replay rejected is not replayed"


def test_a_backfill_processes_a_range_again_next_to_the_query(spark, flights):
    flights.produce(range(100))
    declaration = flights.declaration()
    run(declaration, spark)
    other = flights.dead + "-again"
    part = {TopicPartition(flights.source, 0): (10, 40)}
    result = backfill(declaration, spark, offsets=part, to=other, slice_offsets=7)
    assert result.rows == 30
    found = [json.loads(record.value)["id"] for record in flights.committed(other)]
    assert sorted(found) == [number for number in range(20, 80, 2) if expected(number) == "out"]
    assert flights.out() == numbers_of("out", range(100))


@pytest.mark.parametrize("dies", [False, True])
def test_a_declared_backfill_comes_first_and_the_stream_starts_where_it_ends(spark, one_broker, monkeypatch, dies):
    """Also if the process dies between the two, and records arrive in the meantime."""
    from kafka.pipelines import run as module

    one_broker.produce(range(100))
    declaration = one_broker.declaration(source="backfill: {since: earliest}")
    if dies:
        monkeypatch.setattr(module, "start_query", lambda writer: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(declaration, spark)
        monkeypatch.undo()
        one_broker.produce(range(100, 120))
    run(declaration, spark)
    last = 140 if dies else 120
    one_broker.produce(range(last - 20, last))
    run(declaration, spark)
    assert one_broker.out() == numbers_of("out", range(last))
    assert [number for number, _, _ in one_broker.letters()] == numbers_of("dead", range(last))
    events = [event for event in read_events(Path(declaration.checkpoint) / "events") if event.rows]
    assert [(event.run, event.rows) for event in events] == [
        ("backfill", 100),
        *([("stream", 20)] if dies else []),
        ("stream", 20),
    ]
    streamed = [event.sources["source"].ranges for event in events if event.run == "stream"]
    assert streamed[0] == {f"{one_broker.source}-{each}": (50, 60) for each in range(2)}


@pytest.mark.parametrize(
    ("query", "form"),
    [
        (QUERY, Form.ROWS),
        ("select * from source where delay > 0", Form.ROWS),
        ("select x.* from (select id, 100 div (id - 51) as origin, delay from source where delay > 1) x", Form.ROWS),
        (EXPLODED, Form.BATCH),
        ("select s.id, s.delay from source s join (select 1 as one) t on one = 1 where delay > 0", Form.BATCH),
        (f"{QUERY} and id % 2 = 0 union all {QUERY} and id % 2 = 1", Form.UNION),
    ],
)
def test_the_same_rows_come_out_of_each_form_of_query(spark, one_broker, query, form, monkeypatch):
    from kafka.pipelines import planning

    seen = []
    chosen = planning.choose_form

    def choose_form(*given: Any, **options: Any) -> Any:
        seen.append(chosen(*given, **options))
        return seen[-1]

    monkeypatch.setattr(planning, "choose_form", choose_form)
    one_broker.produce(range(200))
    result = run(one_broker.declaration(query), spark)
    assert [each for each, _ in seen] == [form]
    wanted = [number for number in numbers_of("out", range(200)) if "delay > 1)" not in query or number > 51]
    assert one_broker.out() == wanted
    assert [number for number, _, _ in one_broker.letters()] == numbers_of("dead", range(200))
    assert (result.rows, result.out, result.dead) == (200, len(wanted), len(numbers_of("dead", range(200))))


def test_windows_are_counted_from_good_rows_and_bad_ones_become_dead_letters_once(spark, one_broker):
    one_broker.produce(range(100))
    declaration = one_broker.declaration(
        "select min(id) as id, origin, count(*) as flights from source group by origin", more="output_mode: update"
    )
    run(declaration, spark)
    one_broker.produce(range(100, 140))
    run(declaration, spark)
    newest = {}
    for record in one_broker.committed(one_broker.sink):
        found = json.loads(record.value)
        newest[found["origin"]] = max(newest.get(found["origin"], 0), found["flights"])
    good = [number for number in range(140) if expected(number) in ("out", "filtered")]
    assert newest == Counter(ORIGINS[number % 4] for number in good)
    assert [number for number, _, _ in one_broker.letters()] == numbers_of("dead", range(140))
    with pytest.raises(InvalidDeclaration, match="the query keeps state"):
        replay(declaration, spark)


def test_a_join_with_a_table_is_replayed_with_its_current_rows(spark, one_broker):
    one_broker.produce(range(200))
    query = "select id, city from source left join cities on origin = code where delay > 0"
    cities = spark.createDataFrame([("EWR", "Newark"), ("JFK", "New York")], "code string, city string")
    cities.createOrReplaceTempView("cities")
    try:
        run(one_broker.declaration(query), spark)
        assert one_broker.out() == numbers_of("out", range(200))
        cities.where("code = 'EWR'").createOrReplaceTempView("cities")
        replayed = replay(one_broker.declaration(query, longest=120), spark, rule="delay is plausible")
    finally:
        spark.catalog.dropTempView("cities")
    assert one_broker.out() == numbers_of("out", range(200), 120)
    again = [number for number in range(150, 171) if expected(number, 120) == "out"]
    rows = {
        found["id"]: found["city"]
        for found in (json.loads(each.value) for each in one_broker.committed(one_broker.sink))
    }
    assert {number: rows[number] for number in again} == {
        number: "Newark" if ORIGINS[number % 4] == "EWR" else None for number in again
    }
    assert replayed.out == len(again)


def test_a_random_rule_is_refused_where_it_would_be_evaluated_twice(spark, one_broker):
    pipeline = Pipeline("random", kafka={"bootstrap.servers": one_broker.servers}, dead_letters=one_broker.dead)
    source = kafka_source(one_broker.source, value_format="json", value_schema=SCHEMA)
    pipeline.source(source, "flights").rules(rule("some", "rand() < 0.5"))

    @pipeline.sink(kafka_sink(one_broker.sink))
    def count(flights: Any) -> Any:
        return flights.groupBy("origin").count()

    with pytest.raises(InvalidDeclaration, match=r"rule 'some': expected an expression that always has the same"):
        pipeline.start(spark)


def test_without_dead_letters_a_stateful_query_reads_its_source_once(spark, one_broker):
    """Rows that a rule drops are counted, and a record that cannot be decoded stops the pipeline."""
    one_broker.produce(range(71, 79))
    declaration = parse(
        f"""
pipeline: once-{uuid.uuid4().hex[:8]}
kafka: {{bootstrap.servers: "{one_broker.servers}"}}
checkpoint: {one_broker.directory}/once
source: {{topic: {one_broker.source}, value: {{format: json, schema: "{SCHEMA}"}}}}
rules:
  - {{name: carrier is known, holds: carrier is not null, otherwise: drop}}
query: select carrier, count(*) as flights from source group by carrier
sink: {{topic: {one_broker.sink}, key: carrier}}
output_mode: update
"""
    )
    result = run(declaration, spark)
    assert (result.rows, result.dropped, result.dead, result.by_rule()) == (8, 1, 0, {"carrier is known": 1})
    (record,) = one_broker.committed(one_broker.sink)
    assert json.loads(record.value) == {"carrier": "AA", "flights": 7}
    one_broker.produce(range(80, 81))
    with pytest.raises(PipelineFailedError, match="decodes"):
        run(declaration, spark)


def test_two_sources_are_joined_and_each_has_its_own_rules_and_dead_letters(spark, one_broker, make_embedded_topic):
    one_broker.produce(range(51, 80))
    _, make_topic = make_embedded_topic
    names = make_topic(partitions=1)
    with KafkaProducer(bootstrap_servers=one_broker.servers) as producer:
        for code in (*ORIGINS[:3], None):
            producer.send(names, json.dumps({"code": code, "name": f"{code} airport"}).encode(), headers=[("n", b"-1")])
    declaration = parse(
        f"""
pipeline: join-{uuid.uuid4().hex[:8]}
kafka: {{bootstrap.servers: "{one_broker.servers}"}}
checkpoint: {one_broker.directory}/join
sources:
  flights:
    topic: {one_broker.source}
    value: {{format: json, schema: "{SCHEMA}"}}
    rules: [{{name: carrier is known, holds: carrier is not null}}]
  airports:
    topic: {names}
    value: {{format: json, schema: "code string, name string"}}
    required: [code]
query: select id, name from flights join airports on origin = code
sink: {{topic: {one_broker.sink}, key: id}}
dead_letters: {{topic: {one_broker.dead}}}
"""
    )
    result = run(declaration, spark)
    good = [number for number in range(51, 80) if number % 10 and number % 7]
    assert one_broker.out() == [number for number in good if number % 4 != 3]
    assert [number for number, _, _ in one_broker.letters()] == [
        -1,
        *(number for number in range(51, 80) if number not in good),
    ]
    (event,) = [event for event in result.events if event.kind == "batch"]
    assert {name: each.rows for name, each in event.sources.items()} == {"flights": 29, "airports": 4}


def test_declared_steps_remove_duplicates_and_write_the_last_windows(spark, one_broker):
    """Duplicates are neither dropped rows nor dead letters. A later run continues with the state."""
    one_broker.produce(range(51, 80))
    one_broker.produce(range(51, 80))
    declaration = parse(
        f"""
pipeline: steps-{uuid.uuid4().hex[:8]}
kafka: {{bootstrap.servers: "{one_broker.servers}"}}
checkpoint: {one_broker.directory}/steps
source:
  topic: {one_broker.source}
  value: {{format: json, schema: "{SCHEMA}"}}
  watermark: {{time: kafka.timestamp, delay: 1 hour}}
  dedupe: {{by: [id], within: 10 minutes, time: kafka.timestamp}}
rules:
  - {{name: carrier is known, holds: carrier is not null}}
query: >
  select window.end as until, min(id) as id, count(*) as flights from source
  group by window(kafka_timestamp, '2 hours')
sink: {{topic: {one_broker.sink}, key: id}}
dead_letters: {{topic: {one_broker.dead}}}
flush_at_end: true
"""
    )
    result = run(declaration, spark)
    good = [number for number in range(51, 80) if number % 10 and number % 7]
    counts = [json.loads(record.value)["flights"] for record in one_broker.committed(one_broker.sink)]
    assert sum(counts) == len(good)
    assert (result.rows, result.dead) == (58, 2 * (29 - len(good)))
    assert len(one_broker.letters()) == result.dead
    assert run(declaration, spark).rows == 0
    assert len(one_broker.committed(one_broker.sink)) == len(counts)


def test_a_query_in_python_gives_the_same_as_sql(spark, one_broker):
    one_broker.produce(range(100))
    pipeline = Pipeline(
        f"python-{uuid.uuid4().hex[:8]}",
        kafka={"bootstrap.servers": one_broker.servers},
        dead_letters=one_broker.dead,
        checkpoint=one_broker.directory / "python",
    )
    source = pipeline.source(
        kafka_source(one_broker.source, value_format="json", value_schema=SCHEMA), name="flights"
    ).rules(
        rule("carrier is known", "carrier is not null"),
        rule("delay is plausible", "delay between -120 and 100"),
        rule("airport is ours", "origin in ('EWR', 'JFK', 'LGA')", otherwise="drop"),
    )
    assert source.name == "flights"

    @pipeline.sink(kafka_sink(one_broker.sink, key="id"))
    def delays(flights: Any) -> Any:
        return flights.where("delay > 0").select("id", "origin", "delay")

    assert pipeline.run(spark).out == len(numbers_of("out", range(100)))
    assert one_broker.out() == numbers_of("out", range(100))
    assert pipeline.replay(spark).out == 0
    assert pipeline.backfill(spark, to=one_broker.dead + "-b").rows == 100


@pytest.mark.parametrize(
    "query", [QUERY, "select id, d as delay from source lateral view explode(array(delay)) t as d where delay > 0"]
)
def test_a_target_other_than_a_topic_gets_the_good_rows_and_kafka_the_dead_letters(spark, one_broker, query):
    one_broker.produce(range(100))
    declaration = one_broker.declaration(query, sink=f"sink: {{parquet: {one_broker.directory}/rows}}")
    result = run(declaration, spark)
    assert (result.rows, result.out) == (100, len(numbers_of("out", range(100))))
    one_broker.produce(range(100, 140))
    run(declaration, spark)
    rows = spark.read.parquet(f"{one_broker.directory}/rows")
    assert sorted(row.id for row in rows.collect()) == numbers_of("out", range(140))
    assert [number for number, _, _ in one_broker.letters()] == numbers_of("dead", range(140))


def test_a_function_gets_each_batch_with_its_number(spark, one_broker):
    written = []
    pipeline = Pipeline(
        f"function-{uuid.uuid4().hex[:8]}",
        kafka={"bootstrap.servers": one_broker.servers},
        dead_letters=one_broker.dead,
        checkpoint=one_broker.directory / "function",
    )
    pipeline.source(kafka_source(one_broker.source, value_format="json", value_schema=SCHEMA), name="flights")
    pipeline.sink(
        foreach_batch_sink(lambda frame, batch: written.append((batch, sorted(row.id for row in frame.collect())))),
        "select id from flights where delay > 0",
    )
    one_broker.produce(range(51, 54))
    pipeline.run(spark)
    one_broker.produce(range(54, 56))
    pipeline.run(spark)
    assert written == [(0, [51, 52, 53]), (1, [54, 55])]


def test_a_row_with_the_outcome_fail_stops_the_pipeline_and_the_error_names_it(spark, one_broker):
    one_broker.produce(range(51, 60))
    declaration = one_broker.declaration()
    failing = parse_with(declaration, "carrier is known", "fail")
    with pytest.raises(PipelineFailedError, match=rf"{one_broker.source}/0/2 .*carrier is known"):
        run(failing, spark)
    assert one_broker.committed(one_broker.sink) == []
    run(declaration, spark)
    assert one_broker.out() == numbers_of("out", range(51, 60))


def parse_with(declaration: Declaration, name: str, otherwise: str) -> Declaration:
    source = declaration.all_sources["source"]
    rules = tuple(
        each.model_copy(update={"otherwise": type(each.otherwise)(otherwise)}) if each.name == name else each
        for each in source.rules
    )
    return declaration.model_copy(update={"sources": {"source": source.model_copy(update={"rules": rules})}})


def test_a_pipeline_stops_after_a_micro_batch_that_rejects_too_much(spark, one_broker):
    one_broker.produce(range(100))
    declaration = one_broker.declaration(more="max_bad: 0.05")
    with pytest.raises(TooManyRejectedError, match=r"rejected \d+ of 100 rows, but max_bad is 0.05"):
        run(declaration, spark)
    assert one_broker.out() == numbers_of("out", range(100))
    (failure,) = [event for event in read_events(Path(declaration.checkpoint) / "events") if event.kind == "failure"]
    assert "max_bad" in failure.cause


def test_a_query_with_an_unknown_column_is_refused_with_the_closest_one(spark, one_broker):
    one_broker.produce(range(1))
    declaration = one_broker.declaration("select delays from source")
    with pytest.raises(InvalidDeclaration, match="there is no column 'delays'; did you mean 'delay'"):
        run(declaration, spark)
    with pytest.raises(InvalidDeclaration, match=r"`delays` cannot be resolved.*`delay`"):
        run(declaration, spark, check=False)
    query = "select carrier, delay, delay + 1 as Delay from source"
    repeated = rf"several columns of the same name: 'delay', 'Delay'\. .*The query: {re.escape(query)}"
    with pytest.raises(InvalidDeclaration, match=repeated):
        run(one_broker.declaration(query), spark, check=False)


def test_a_temporary_view_with_the_name_of_a_source_is_left_alone(spark, one_broker):
    one_broker.produce(range(60))
    spark.range(3).createOrReplaceTempView("source")
    try:
        run(one_broker.declaration(), spark)
        assert one_broker.out() == numbers_of("out", range(60))
        assert spark.table("source").count() == 3
    finally:
        spark.catalog.dropTempView("source")
    assert not [table.name for table in spark.catalog.listTables() if table.name.startswith("kafka_pipelines")]


def test_the_outcome_of_each_record_can_be_computed_again(spark, one_broker):
    one_broker.produce(range(200))
    ranges = {TopicPartition(one_broker.source, number): (0, 100) for number in range(2)}
    rows = outcomes(one_broker.declaration(), spark, ranges).collect()
    assert {(row.partition + 2 * row.offset): row.outcome for row in rows} == {
        number: expected(number) for number in range(200)
    }
    assert len(rows) == 200
