"""Dead letters: what records say of themselves, one by one and in columns, and what a topic contains."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.pipelines import record_headers as names
from kafka.pipelines import replayed_letters as replayed
from kafka.pipelines.bounded_runs import RunDirectory
from kafka.pipelines.dead_letters import DeadLetter, DeadLetterTopic, Selection, dead_letter_of
from kafka.pipelines.directories import directory_of
from kafka.pipelines.header_columns import OwnHeaders
from kafka.pipelines.record_headers import Position
from kafka.pipelines.replayed_letters import Part, ReplayedLetters, replayed_letters
from kafka.pipelines.yaml_file import parse
from kafka.structs import TopicPartition

from .dead_letter_support import Headers, own_headers

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
AT = Position("dead", 0, 3)


def letter(headers: Headers, **given: Any) -> DeadLetter:
    """Interpret a record with these headers."""
    return dead_letter_of(AT, 1, given.get("key"), given.get("value"), headers)


def test_a_dead_letter_is_read_from_its_headers() -> None:
    found = letter([("app", b"x"), ("none", None), *own_headers(rules=("one", "two"), attempt=3)], key=b"k", value=b"v")
    assert found == DeadLetter(
        position=AT,
        source=Position("flights", 0, 7),
        pipeline="p",
        rules=("one", "two"),
        cause="because",
        attempt=3,
        timestamp_ms=1,
        key=b"k",
        value=b"v",
        headers=(("app", b"x"), ("none", None)),
        source_timestamp_ms=1_700_000_000_000,
    )


def test_the_headers_of_another_pipeline_belong_to_the_original_record() -> None:
    """The source of a pipeline may be the sink or the dead letters of another one."""
    output = [(names.SOURCE, b"raw/2/5")]
    found = letter([*output, *own_headers()])
    assert (found.source, found.headers) == (Position("flights", 0, 7), tuple(output))
    before = own_headers("first", ("other",), "raw/1/1", 4)
    found = letter([*before, *own_headers("second")])
    assert (found.pipeline, found.rules, found.attempt, found.headers) == ("second", ("a rule",), 1, tuple(before))
    own = OwnHeaders(pa.array([[*before, *own_headers("second")]], HEADERS))
    assert own.pipelines().to_pylist() == [b"second"]
    assert own.have_rule("other").tolist() == [False]
    assert [(each.partition.topic, each.offsets.tolist()) for each in own.positions()] == [("flights", [7])]


def test_dead_letters_of_kafka_connect_and_foreign_records_are_read_as_far_as_possible() -> None:
    prefix = names.CONNECT_PREFIX
    found = letter(
        [
            ("mine", b"1"),
            (prefix + "topic", b"orders"),
            (prefix + "partition", b"2"),
            (prefix + "offset", b"9"),
            (prefix + "exception.message", b"bad \xff"),
        ]
    )
    assert (found.pipeline, found.rules, found.attempt) == ("", (), 0)
    assert (found.source, found.cause) == (Position("orders", 2, 9), "bad \ufffd")
    assert found.headers == (("mine", b"1"),)
    empty = letter([])
    assert (empty.source, empty.pipeline, empty.cause, empty.headers) == (None, "", "", ())


hostile = st.sampled_from(
    [
        b"",
        b"1",
        b"2",
        b"-1",
        b"9" * 30,
        b"\xff\xfe",
        b"flights/0/1",
        b"flights/0/1/AbC",
        b"/0/1",
        b"a/b/c",
        b"x/1/2/3/4",
        "f/\u0663/\u0664".encode(),
        b"f/1/99999999999999999999",
        b" 1",
        b"\xc2\xb2",
        None,
    ]
)
a_header = st.tuples(st.sampled_from([*names.OWN, "app", names.CONNECT_PREFIX + "topic", "", "\ufffd"]), hostile)


@given(st.lists(st.lists(a_header, max_size=8), max_size=6), st.integers(0, 3))
def test_columns_and_single_records_agree(records: list[Headers], first: int) -> None:
    own = OwnHeaders(pa.array(records, HEADERS)[first:])
    letters = [letter(headers) for headers in records[first:]]
    assert own.rows == len(letters)
    sources: dict[int, Position] = {}
    for tp, topic_id, rows, offsets in own.positions():
        for row, offset in zip(rows.tolist(), offsets.tolist(), strict=True):
            sources[row] = Position(tp.topic, tp.partition, offset, topic_id)
    rules = collections.defaultdict(list)
    for row, name in zip(*own.rules(own.are_of(None)), strict=True):
        rules[int(row)].append(name.as_py().decode("utf-8", "replace"))
    missing = set(own.without_position().tolist())
    for row, found in enumerate(letters):
        is_ours = any(name in names.OWN for name, _ in records[first:][row])
        assert (own.pipelines()[row].as_py() or b"").decode("utf-8", "replace") == found.pipeline
        assert list(dict.fromkeys(rules[row])) == list(found.rules)
        assert own.attempts()[row] == found.attempt
        assert own.have_rule("1")[row] == ("1" in found.rules)
        if is_ours:
            assert sources.get(row) == found.source
            assert (row in missing) == (found.source is None)


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    """A broker for the tests of this module."""
    with EmbeddedBroker() as embedded:
        yield embedded


def written(broker: EmbeddedBroker, topic: str, records: list[tuple[int, Headers]]) -> DeadLetterTopic:
    """Write records to partitions of a new topic, with increasing timestamps."""
    from kafka import KafkaAdminClient

    configs: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
    with KafkaAdminClient(**configs) as admin:
        admin.create_topics({topic: {"num_partitions": 2}})
    with KafkaProducer(**configs) as producer:
        for number, (partition, headers) in enumerate(records):
            producer.send(topic, b"%d" % number, partition=partition, headers=headers, timestamp_ms=1_000 + number)
        producer.flush()
    return DeadLetterTopic(topic, configs)


def test_dead_letters_are_counted_by_rule(broker: EmbeddedBroker) -> None:
    records: list[tuple[int, Headers]] = [
        (0, own_headers(rules=("one",), source="flights/0/1")),
        (1, own_headers(rules=("one", "two", "one"), source="flights/0/2")),
        (0, own_headers(rules=("two",), source="flights/0/1", attempt=2)),
        (0, own_headers("other", rules=("one",), source="flights/0/2", attempt=5)),
        (1, own_headers(rules=(), source="nonsense")),
        (1, own_headers(rules=("one",), source="nonsense", attempt=2)),
        (1, []),
    ]
    topic = written(broker, "counted", records)
    found = topic.count_by_rule(Selection("p"))
    assert (found.letters, found.superseded, found.others) == (5, 1, 2)
    assert {name: tuple(count) for name, count in found.rules.items()} == {
        "one": (3, 1, 2),
        "two": (2, 0, 2),
        "": (1, 0, 1),
    }
    replayed = ReplayedLetters([Part("two", {0: (0, 9), 1: (1, 9)}), Part(None, {1: (2, 4)})])
    done = topic.count_by_rule(Selection("p"), replayed)
    assert (found.open, done.open) == (4, 2), "the first of partition 0 is superseded, two are replayed"
    assert {name: count.open for name, count in done.rules.items()} == {"one": 1, "two": 1, "": 1}
    marks = {each.value: replayed.has(each.position, each.rules) for each in topic.letters(Selection("p"))}
    assert marks == {b"0": False, b"1": False, b"2": True, b"4": False, b"5": True}
    assert topic.count_by_rule(Selection("p", rule="two")).letters == 2
    everything = topic.count_by_rule()
    assert (everything.letters, everything.others) == (7, 0)
    assert topic.count_by_rule(Selection("p", start=10**6)).letters == 0
    assert topic.count_by_rule(Selection("p", partitions=(1,))).letters == 3


def test_the_newest_or_the_oldest_dead_letters_are_selected(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka.pipelines.dead_letters._WINDOW", 3)
    records = [
        (number % 2, own_headers("p" if number % 5 else "q", rules=("even" if number % 2 == 0 else "odd",)))
        for number in range(100)
    ]
    topic = written(broker, "selected", records)

    def values(selection: Selection, **given: Any) -> list[int]:
        return [int(each.value or b"") for each in topic.letters(selection, **given)]

    mine = [number for number in range(100) if number % 5]
    assert values(Selection("p"), limit=7) == mine[::-1][:7]
    assert values(Selection("p"), limit=7, newest_first=False) == mine[:7]
    assert values(Selection("p")) == mine[::-1]
    assert sorted(values(Selection("p"), newest_first=False)) == mine
    assert values(Selection("q", rule="odd"), limit=3) == [95, 85, 75]
    assert values(Selection("q", rule="odd"), limit=1000, newest_first=False) == list(range(5, 100, 10))
    assert values(Selection(None, start=10, end=12)) == [23, 22, 21, 20]
    assert values(Selection(None), limit=0) == []
    found = next(topic.letters(Selection("p"), limit=1))
    assert (found.position, found.timestamp_ms) == (Position("selected", 1, 49), 1_099)


def test_later_attempts_are_found(broker: EmbeddedBroker) -> None:
    records: list[tuple[int, Headers]] = [
        (0, own_headers(source="flights/0/1")),
        (0, own_headers(source="flights/0/2")),
        (1, own_headers(source="flights/0/1", attempt=2)),
        (1, own_headers("q", source="flights/0/2", attempt=2)),
        (1, own_headers(source="flights/0/1", attempt=3)),
        (0, []),
    ]
    topic = written(broker, "attempts", records)
    found = topic.later_attempts(topic.letters())
    assert found == {Position("attempts", 0, 0): 3, Position("attempts", 1, 0): 3}


def test_huge_values_are_read(broker: EmbeddedBroker) -> None:
    configs: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
    with KafkaProducer(**configs, max_request_size=1 << 24) as producer:
        producer.send("huge", bytes(900_000), key=b"\xff", headers=own_headers()).get(timeout=10)
    (found,) = DeadLetterTopic("huge", configs).letters()
    assert (found.value, found.key, found.cause) == (bytes(900_000), b"\xff", "because")


def test_rules_at_the_end_of_the_original_headers_are_not_those_of_the_dead_letter() -> None:
    original: Headers = [(names.PIPELINE, b"first"), (names.RULE, b"a"), (names.SOURCE, b"x/0/1"), (names.RULE, b"b")]
    found = letter([*original, *own_headers("second", ("c",), "y/0/2")])
    assert (found.pipeline, found.rules, found.source) == ("second", ("c",), Position("y", 0, 2))
    assert list(found.headers) == original
    assert names.position_of([*original, *own_headers("second", ("c",), "y/0/2")]) == Position("y", 0, 2)


def test_only_finished_slices_of_a_replay_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first offset of the first one to the end of the last one, in the partitions that the replay read."""
    declared = parse(
        """
pipeline: p
kafka: {bootstrap.servers: "localhost:9092"}
source: {topic: flights, value: {format: bytes}}
sink: {topic: out, value: {format: bytes}}
dead_letters: {topic: dead}
"""
    ).model_copy(update={"checkpoint": str(tmp_path)})
    first, second = TopicPartition("dead", 0), TopicPartition("dead", 1)
    runs = RunDirectory(directory_of(declared).replays, "replay")
    plan = runs.add({}, [{first: (3, 5)}, {first: (5, 8)}, {first: (8, 9), second: (0, 4)}], topic_ids={"dead": "old"})
    monkeypatch.setattr(replayed, "ids_of", lambda declaration, topics: {"dead": "old"})
    assert not replayed_letters(declared).has(Position("dead", 0, 4), ())
    runs.store(dataclasses.replace(plan, done=2))
    found = replayed_letters(declared)
    places = [(0, offset) for offset in range(10)] + [(1, 0)]
    expected = [(0, offset) for offset in range(3, 8)]
    assert [place for place in places if found.has(Position("dead", *place), ())] == expected
    own = OwnHeaders(pa.array([own_headers()], HEADERS))
    assert [place for place in places if found.mask(own, place[0], [place[1]]).all()] == expected
    monkeypatch.setattr(replayed, "ids_of", lambda declaration, topics: {"dead": "new"})
    assert not replayed_letters(declared).has(Position("dead", 0, 4), ()), "the topic was created again"
