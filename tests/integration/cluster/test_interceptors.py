"""Interceptors of producers and consumers, on both brokers and both faces."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from kafka import KafkaConsumer, KafkaProducer
from kafka.consumer import AsyncKafkaConsumer
from kafka.errors import IllegalArgumentError, MessageSizeTooLargeError
from kafka.interceptor import ConsumerInterceptor, ProducerInterceptor, ProducerRecord
from kafka.producer import AsyncKafkaProducer
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

PATIENCE_S = 60.0


class Watching(ProducerInterceptor):
    """Marks records, and takes down what becomes of them and in which threads."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, int, Any]] = []
        self.threads: dict[str, set[int]] = {}
        self.configs: Mapping[str, Any] = {}
        self.closed = 0

    def configure(self, configs: Mapping[str, Any]) -> None:
        self.configs = configs

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        self._in("on_send")
        return record._replace(value=record.value + b"!", partition=0)

    def on_acknowledgement(self, metadata: Any, exception: Exception | None) -> None:
        self._in("on_acknowledgement")
        self.told.append((metadata.topic, metadata.partition, metadata.offset, type(exception)))

    def close(self) -> None:
        self.closed += 1

    def _in(self, method: str) -> None:
        self.threads.setdefault(method, set()).add(threading.get_ident())


class Failing(ProducerInterceptor, ConsumerInterceptor):
    """Raises wherever it can."""

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        raise ZeroDivisionError

    def on_acknowledgement(self, metadata: Any, exception: Exception | None) -> None:
        raise ZeroDivisionError

    def on_consume(self, records: Any) -> Any:
        return None

    def on_commit(self, offsets: Any) -> None:
        raise ZeroDivisionError

    def close(self) -> None:
        raise ZeroDivisionError


class Filtering(ConsumerInterceptor):
    """Leaves every second record out, and takes down commits."""

    def __init__(self) -> None:
        self.commits: list[dict[TopicPartition, int]] = []
        self.threads: set[int] = set()
        self.closed = 0

    def on_consume(self, records: Any) -> Any:
        self.threads.add(threading.get_ident())
        return {tp: [each for each in given if each.offset % 2 == 0] for tp, given in records.items()}

    def on_commit(self, offsets: Any) -> None:
        self.threads.add(threading.get_ident())
        self.commits.append({tp: each.offset for tp, each in offsets.items()})

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def topic(make_topic: MakeTopic) -> str:
    return make_topic()


def test_a_producers_interceptors_see_every_record(
    broker: Broker, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    watching = Watching()
    order: list[str] = []
    with KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers,
        interceptor_classes=[Failing, watching],
        max_request_size=2_000,
        linger_ms=1_000,  # otherwise a batch may be acknowledged before `send()` returns, and passed on in this thread
        sasl_plain_password="secret",
    ) as producer:
        assert watching.configs["max_request_size"] == 2_000
        assert "secret" not in str(watching.configs)
        futures = [producer.send(topic, b"v", partition=7) for _ in range(3)]
        futures[0].add_callback(lambda _: order.append(f"callback after {len(watching.told)}"))
        producer.flush()  # which waits for callbacks; what is refused below is told of at once, in this thread
        assert [future.get(PATIENCE_S).offset for future in futures] == [0, 1, 2]
        too_large = producer.send(topic, b"v" * 3_000)
        producer.flush()
        with pytest.raises(MessageSizeTooLargeError):
            too_large.get(PATIENCE_S)
        with pytest.raises(IllegalArgumentError):
            producer.send("not a topic", b"v")
    assert watching.told == [
        *((topic, 0, offset, type(None)) for offset in range(3)),
        (topic, 0, -1, MessageSizeTooLargeError),
        ("not a topic", 0, -1, watching.told[-1][3]),
    ]
    assert issubclass(watching.told[-1][3], IllegalArgumentError)
    assert watching.threads["on_send"] == {threading.get_ident()}
    assert len(watching.threads["on_acknowledgement"] - {threading.get_ident()}) == 1
    assert watching.closed == 1
    failed = [each for each in caplog.records if "of the interceptor Failing has failed" in each.getMessage()]
    assert {each.getMessage().partition("()")[0] for each in failed} == {"on_send", "on_acknowledgement", "close"}
    assert len(failed) == 3  # each once, however often


async def test_an_asyncio_producers_interceptors_see_every_record(broker: Broker, topic: str) -> None:
    watching = Watching()
    options: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers, "interceptor_classes": [watching]}
    async with AsyncKafkaProducer(**options) as producer:
        await producer.send_and_wait(topic, b"a")
        await producer.send_and_wait(topic, b"b")
    assert watching.told == [(topic, 0, offset, type(None)) for offset in range(2)]
    assert watching.closed == 1
    async with AsyncKafkaConsumer(topic, bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest") as c:
        values = [(await c.getone()).value for _ in range(2)]
    assert values == [b"a!", b"b!"]


def test_a_failure_that_only_interceptors_have_seen_is_raised_by_flush(broker: Broker, topic: str) -> None:
    options: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers, "interceptor_classes": [Watching()]}
    with KafkaProducer(**options, max_request_size=2_000) as producer:
        producer.send(topic, b"v" * 3_000)
        with pytest.raises(MessageSizeTooLargeError):
            producer.flush()


def filled(broker: Broker, topic: str, count: int) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(count):
            producer.send(topic, b"%d" % number)


def test_a_consumers_interceptors_see_what_is_polled_and_committed(
    broker: Broker, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    filled(broker, topic, 10)
    filtering = Filtering()
    partition = TopicPartition(topic, 0)
    with KafkaConsumer(
        topic,
        bootstrap_servers=broker.bootstrap_servers,
        group_id=f"group-{uuid.uuid4()}",
        auto_offset_reset="earliest",
        max_poll_records=4,
        interceptor_classes=(Failing, filtering),
    ) as consumer:
        found: list[int] = []
        deadline = time.monotonic() + PATIENCE_S
        while len(found) < 5 and time.monotonic() < deadline:
            found += [each.offset for each in consumer.poll(timeout_ms=200)]
        assert found == [0, 2, 4, 6, 8]
        consumer.commit()
        assert filtering.commits == [{partition: 10}]
        consumer.commit_async()
        while len(filtering.commits) < 2 and time.monotonic() < deadline:
            consumer.poll(timeout_ms=100)
        assert filtering.commits[1] == {partition: 10}
        consumer.seek(partition, 0)
        assert [next(consumer).offset for _ in range(5)] == [0, 2, 4, 6, 8]
        consumer.seek(partition, 6)
    assert filtering.commits[-1] == {partition: 6}  # automatically, within close()
    assert filtering.threads == {threading.get_ident()}
    assert filtering.closed == 1
    failed = {each.getMessage().partition("()")[0] for each in caplog.records if "interceptor" in each.getMessage()}
    assert failed == {"on_consume", "on_commit", "close"}


async def test_an_asyncio_consumers_interceptors_see_what_is_polled_and_committed(broker: Broker, topic: str) -> None:
    filled(broker, topic, 4)
    filtering = Filtering()
    options: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers, "auto_offset_reset": "earliest"}
    group = f"group-{uuid.uuid4()}"
    async with AsyncKafkaConsumer(topic, **options, group_id=group, interceptor_classes=filtering) as consumer:
        assert [(await consumer.getone()).offset for _ in range(2)] == [0, 2]
        await consumer.commit()
    assert filtering.commits[0] == {TopicPartition(topic, 0): 3}
    assert filtering.closed == 1
