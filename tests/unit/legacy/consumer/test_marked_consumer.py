"""`KafkaConsumer` of 0.9: what selects it, what it reads, and what it commits."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import kafka.consumer.kafka as old_path
from kafka import KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.common import (
    ConsumerTimeout,
    IllegalStateError,
    KafkaConfigurationError,
    KafkaMessage,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
)
from kafka.structs import OffsetAndMetadata, TopicPartition

TOPIC = "topic"
SMALLEST = {"auto_offset_reset": "smallest", "consumer_timeout_ms": 50}
MakeConsumer = Callable[..., Any]
Kafka: Any = KafkaConsumer


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(num_partitions=2, group_initial_rebalance_delay_ms=0) as broker:
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for number in range(6):
                producer.send(TOPIC, b"%d" % number, b"key", partition=number % 2).get(10)
        yield broker


@pytest.fixture
def make(broker: EmbeddedBroker) -> Iterator[MakeConsumer]:
    made = []

    def make(*topics: Any, **options: Any) -> Any:
        """Create a consumer of `kafka.consumer.kafka`, which is always that of 0.9."""
        made.append(old_path.KafkaConsumer(*topics, bootstrap_servers=broker.bootstrap_servers, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


PATIENCE_S = 60


def rest(consumer: Any, count: int) -> list[bytes]:
    """Read this many messages, and check that no more follow, which raises an exception in 0.9."""
    found: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S

    def read() -> None:
        for message in consumer:
            found.append(message.value)

    while True:  # a fetch may take longer than the timeout
        with pytest.raises(ConsumerTimeout, match="timed out after 50 ms"):
            read()
        if len(found) >= count or time.monotonic() > deadline:
            return sorted(found)


ALL = [b"0", b"1", b"2", b"3", b"4", b"5"]


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        ((TOPIC,), ALL),
        ((TOPIC.encode(),), ALL),
        (((TOPIC, 1),), [b"1", b"3", b"5"]),
        (((TOPIC, 1, 2), (TOPIC, 0)), [b"0", b"2", b"4", b"5"]),
        (({TOPIC: 0},), [b"0", b"2", b"4"]),
        (({TOPIC: [0, 1]},), ALL),
        (({TOPIC: (1,)},), [b"1", b"3", b"5"]),
        (({(TOPIC, 0): 1, (TOPIC, 1): 2},), [b"2", b"4", b"5"]),
    ],
)
def test_forms_of_topics(make: MakeConsumer, topics: tuple[Any, ...], expected: list[bytes]) -> None:
    assert rest(make(*topics, **SMALLEST), len(expected)) == expected


@pytest.mark.parametrize("topics", [(5,), (["topic"],), ((TOPIC,),), ({TOPIC: "0"},), ({5: 1},), ((TOPIC, "0"),)])
def test_other_forms_of_topics(make: MakeConsumer, topics: tuple[Any, ...]) -> None:
    with pytest.raises(KafkaConfigurationError, match=r"Unknown (topic|partition) type"):
        make(*topics)


def test_partitions_that_do_not_exist(make: MakeConsumer) -> None:
    with pytest.raises(UnknownTopicOrPartitionError, match="Partition 7 not found in Topic topic"):
        make((TOPIC, 7))
    for unknown in (("unknown", 0), {"unknown": 0}, {("unknown", 0): 5}):
        with pytest.raises(UnknownTopicOrPartitionError, match="Topic unknown not found"):
            make(unknown)
    with pytest.raises(KafkaConfigurationError, match="No topics or partitions"):
        next(make().fetch_messages())


def test_messages(make: MakeConsumer) -> None:
    consumer = make((TOPIC, 1), deserializer_class=int, **SMALLEST)
    assert consumer.next() == KafkaMessage(TOPIC, 1, 0, b"key", 1)
    assert next(consumer).value == 3
    assert [message.value for message in make((TOPIC, 1), **SMALLEST).fetch_messages()] == [b"1", b"3", b"5"]
    assert repr(consumer) == "<KafkaConsumer topics=(topic-1)>"


def test_a_message_whose_deserializer_fails_is_returned_again(make: MakeConsumer) -> None:
    results = [ValueError, 1]

    def deserialize(value: bytes) -> Any:
        result = results.pop(0)
        if result is ValueError:
            raise ValueError(value)
        return result

    consumer = make((TOPIC, 1), deserializer_class=deserialize, **SMALLEST)
    with pytest.raises(ValueError, match="1"):
        consumer.next()
    assert consumer.next().offset == 0


def test_offsets_and_commits(broker: EmbeddedBroker, make: MakeConsumer) -> None:
    """The dicts are the results of kafka-python 0.9.5 for the same calls."""
    consumer = make((TOPIC, 0), group_id="group", **SMALLEST)
    place = (TOPIC, 0)
    assert consumer.offsets() == {
        "fetch": {place: 0}, "commit": {place: None}, "task_done": {place: None}, "highwater": {place: None}
    }  # fmt: skip
    assert consumer.commit() is False
    for _ in range(2):
        consumer.task_done(consumer.next())
    assert consumer.commit() is True
    assert consumer.commit() is False
    assert consumer.offsets() == {
        "fetch": {place: 2}, "commit": {place: 2}, "task_done": {place: 1}, "highwater": {place: 3}
    }  # fmt: skip
    copied = consumer.offsets("fetch")
    copied.clear()
    assert consumer.offsets("fetch") == {place: 2}
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id="group") as today:
        assert today.committed(TopicPartition(TOPIC, 0)) == 2
        today.assign([TopicPartition(TOPIC, 0)])
        today.commit({TopicPartition(TOPIC, 0): OffsetAndMetadata(1, "")})
    assert rest(make((TOPIC, 0), group_id="group", **SMALLEST), 2) == [b"2", b"4"]
    with pytest.raises(KafkaConfigurationError, match="group_id"):
        make(TOPIC).commit()


def test_marks_out_of_order_are_logged(make: MakeConsumer, caplog: pytest.LogCaptureFixture) -> None:
    consumer = make((TOPIC, 0), group_id="group", **SMALLEST)
    messages = list(consumer.fetch_messages())
    consumer.task_done(messages[0])
    consumer.task_done(messages[2])
    assert "non-continuous offset: 2 != 0 + 1" in caplog.text
    consumer.commit()
    consumer.task_done(messages[1])
    assert "previously committed offset: 1 < 3" in caplog.text


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"auto_commit_interval_messages": 2, "auto_commit_interval_ms": None}, [None, 2, 2]),
        ({"auto_commit_interval_ms": 3_600_000}, [None, None, None]),
        ({"auto_commit_interval_ms": 1e-6}, [1, 2, 3]),
    ],
)
def test_automatic_commits(make: MakeConsumer, options: dict[str, Any], expected: list[int | None]) -> None:
    consumer = make((TOPIC, 0), group_id="group", auto_commit_enable=True, **SMALLEST, **options)
    found = []
    for message in consumer.fetch_messages():
        consumer.task_done(message)
        found.append(consumer.offsets("commit")[TOPIC, 0])
    assert found == expected


def test_options(broker: EmbeddedBroker, make: MakeConsumer) -> None:
    with pytest.raises(KafkaConfigurationError, match=r"Unknown configuration key.*'session_timeout_ms'"):
        make(TOPIC, session_timeout_ms=10)
    with pytest.raises(KafkaConfigurationError, match="group_id"):
        make(TOPIC, auto_commit_enable=True)
    with pytest.raises(KafkaConfigurationError, match="bootstrap_servers required"):
        old_path.KafkaConsumer(TOPIC)
    documented = dict(old_path.DEFAULT_CONSUMER_CONFIG)
    assert documented.pop("deserializer_class")(b"x") == b"x"
    assert documented == {
        "client_id": "kafka.consumer.kafka",
        "group_id": None,
        "bootstrap_servers": [],
        "socket_timeout_ms": 30_000,
        "fetch_message_max_bytes": 1024 * 1024,
        "auto_offset_reset": "largest",
        "fetch_min_bytes": 1,
        "fetch_wait_max_ms": 100,
        "refresh_leader_backoff_ms": 200,
        "auto_commit_enable": False,
        "auto_commit_interval_ms": 60_000,
        "auto_commit_interval_messages": None,
        "consumer_timeout_ms": -1,
        "socket_receive_buffer_bytes": 65_536,
        "num_consumer_fetchers": 1,
        "default_fetcher_backoff_ms": 1_000,
        "queued_max_message_chunks": 10,
        "rebalance_max_retries": 4,
        "rebalance_backoff_ms": 2_000,
    }
    consumer = make()
    with pytest.warns(DeprecationWarning, match="metadata_broker_list is deprecated") as caught:
        consumer.configure(metadata_broker_list=[broker.bootstrap_servers], **SMALLEST)
    assert caught[0].filename == __file__
    consumer.set_topic_partitions((TOPIC, 0))
    assert rest(consumer, 3) == [b"0", b"2", b"4"]


@pytest.mark.parametrize(("reset", "expected"), [("largest", []), ("smallest", [b"0", b"2", b"4"])])
def test_offset_out_of_range(make: MakeConsumer, reset: str, expected: list[bytes]) -> None:
    consumer = make((TOPIC, 0, 99), auto_offset_reset=reset, consumer_timeout_ms=60_000 if expected else 50)
    assert ([next(consumer).value for _ in expected] or rest(consumer, 0)) == expected
    assert consumer.get_partition_offsets(TOPIC, 0, -1, 1) == [3]
    assert consumer.get_partition_offsets(TOPIC, 0, -2, 1) == [0]


def test_offset_out_of_range_without_a_policy(make: MakeConsumer) -> None:
    with pytest.raises(OffsetOutOfRangeError, match="auto_offset_reset"):
        make(TOPIC, auto_offset_reset="none")
    with pytest.raises(OffsetOutOfRangeError):
        make((TOPIC, 0, 99), auto_offset_reset="none").next()


def test_temporary_failures(broker: EmbeddedBroker, make: MakeConsumer) -> None:
    consumer = make((TOPIC, 0), refresh_leader_backoff_ms=1, **SMALLEST)
    broker.faults.hang_up(api="Fetch", times=1)
    broker.faults.fail(NotLeaderForPartitionError, api="Fetch", times=1)
    broker.faults.fail(7, api="Fetch", times=1)
    consumer._config["consumer_timeout_ms"] = 10_000
    assert consumer.next().value == b"0"


# Selection of the old consumer


@pytest.mark.parametrize(
    ("topics", "options"),
    [
        ((TOPIC,), {"auto_commit_enable": False}),
        ((TOPIC,), {"socket_timeout_ms": 30_000}),
        (((TOPIC, 0), (TOPIC, 1)), {}),
        (({TOPIC: [0, 1]},), {}),
        ((TOPIC.encode(),), {}),
    ],
)
def test_options_and_topic_forms_of_0_9_select_the_old_consumer(
    broker: EmbeddedBroker, topics: tuple[Any, ...], options: dict[str, Any]
) -> None:
    consumer = Kafka(*topics, bootstrap_servers=broker.bootstrap_servers, **SMALLEST, **options)
    assert isinstance(consumer, KafkaConsumer)
    assert isinstance(consumer, old_path.KafkaConsumer)
    assert rest(consumer, len(ALL)) == ALL
    with pytest.raises(IllegalStateError, match=r"kafka-python 0\.9"):
        consumer.poll()
    consumer.close()


def test_a_subclass_of_a_program(broker: EmbeddedBroker) -> None:
    class Mine(KafkaConsumer):
        def __init__(self, topic: str) -> None:
            options: Any = {"bootstrap_servers": broker.bootstrap_servers, "fetch_wait_max_ms": 50, **SMALLEST}
            super().__init__(topic, **options)

        def doubled(self) -> bytes:
            value: bytes = next(self).value
            return value * 2

    consumer = Mine(TOPIC)
    assert isinstance(consumer, Mine)
    assert consumer.doubled() in (b"00", b"11")
    consumer.close()


def test_a_method_of_0_9_continues_at_the_current_positions(broker: EmbeddedBroker) -> None:
    consumer = Kafka(
        TOPIC, bootstrap_servers=broker.bootstrap_servers, group_id="group", auto_offset_reset="smallest",
        consumer_timeout_ms=5_000,
    )  # fmt: skip
    seen = []
    for message in consumer:
        seen.append(message.value)
        consumer.task_done(message)
        if len(seen) == 6:
            break
    assert sorted(seen) == ALL
    assert isinstance(consumer, old_path.KafkaConsumer)
    assert consumer.commit() is True
    assert consumer.offsets("commit") == {(TOPIC, 0): 3, (TOPIC, 1): 3}
    consumer.close()


@pytest.mark.parametrize(
    "call",
    [
        lambda consumer: consumer.set_topic_partitions((TOPIC, 0)),
        lambda consumer: consumer.offsets(),
        lambda consumer: consumer.get_partition_offsets(TOPIC, 0, -1, 1),
    ],
)
def test_other_methods_of_0_9(broker: EmbeddedBroker, call: Callable[[Any], Any]) -> None:
    consumer = Kafka(bootstrap_servers=broker.bootstrap_servers)
    call(consumer)
    assert isinstance(consumer, old_path.KafkaConsumer)
    consumer.close()


def test_current_options_conflict_with_methods_of_0_9(broker: EmbeddedBroker) -> None:
    consumer = Kafka(TOPIC, bootstrap_servers=broker.bootstrap_servers, max_poll_records=5)
    with pytest.raises(KafkaConfigurationError, match="max_poll_records"):
        consumer.fetch_messages()
    assert type(consumer) is KafkaConsumer
    assert consumer.subscription() == {TOPIC}
    consumer.close()


def test_a_current_consumer_stays_unchanged(broker: EmbeddedBroker) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with KafkaConsumer(
            TOPIC, bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="smallest"
        ) as consumer:  # waits for them without a limit
            assert sorted(next(consumer).value for _ in ALL) == ALL
            assert type(consumer) is KafkaConsumer


@pytest.mark.slow
def test_a_current_consumer_does_not_load_the_old_one(broker: EmbeddedBroker) -> None:
    code = (
        "import json, sys; from kafka import KafkaConsumer; KafkaConsumer('t', bootstrap_servers=sys.argv[1]).close();"
        "print(json.dumps([name for name in sys.modules if name.startswith('kafka.legacy')]))"
    )
    out = subprocess.run([sys.executable, "-c", code, broker.bootstrap_servers], capture_output=True, check=True)
    assert json.loads(out.stdout) == []
