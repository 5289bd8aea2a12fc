"""The clients of kafka-python 0.9 to 2.x that send single requests, on today's brokers."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from harness.fetch import release_numbers
from integration.consumer_support import is_since
from kafka import (
    KafkaClient,
    KafkaConsumer,
    KeyedProducer,
    SimpleClient,
    SimpleProducer,
    create_gzip_message,
    create_message,
    create_snappy_message,
)
from kafka.common import (
    FailedPayloadsError,
    FetchRequestPayload,
    ListOffsetRequestPayload,
    OffsetCommitRequestPayload,
    OffsetFetchRequestPayload,
    OffsetRequestPayload,
    ProduceRequestPayload,
    ProduceResponsePayload,
    UnknownTopicOrPartitionError,
)
from kafka.protocol import CODEC_GZIP, CODEC_SNAPPY
from kafka.protocol.fetch import FetchRequest
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from conftest import MakeTopic

pytestmark = pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")


@pytest.fixture
def client(broker: Any) -> Iterator[SimpleClient]:
    client = SimpleClient(broker.bootstrap_servers, timeout=30)
    yield client
    client.close()


@pytest.fixture
def make_led_topic(make_topic: MakeTopic, client: SimpleClient) -> MakeTopic:
    """As `make_topic`, but the broker knows already that it leads the partitions: these clients do not try again."""

    def make(partitions: int = 1, config: Any = None) -> str:
        topic = make_topic(partitions, config)
        asked = [FetchRequestPayload(topic, number, 0, 100) for number in range(partitions)]
        while any(
            isinstance(answer, FailedPayloadsError) or answer.error
            for answer in client.send_fetch_request(asked, fail_on_error=False, max_wait_time=1)
        ):
            client.load_metadata_for_topics()
        return topic

    return make


def read(servers: str, topic: str, count: int, partitions: int = 1) -> list[Any]:
    """Read records with today's consumer."""
    with KafkaConsumer(bootstrap_servers=servers, consumer_timeout_ms=10_000) as consumer:
        consumer.assign([TopicPartition(topic, number) for number in range(partitions)])
        consumer.seek_to_beginning()
        found: list[Any] = []
        for record in consumer:
            found.append(record)
            if len(found) == count:
                break
        return found


def test_messages_compressed_or_not_become_records(
    broker: Any, make_led_topic: MakeTopic, client: SimpleClient
) -> None:
    topic = make_led_topic()
    messages = [
        create_message(b"plain", b"key"),
        create_gzip_message([(b"zipped", None), (b"zipped too", b"other key")]),
        create_snappy_message([(b"snapped", None)]),
        create_message(None, b"tombstone"),
    ]
    before = int(time.time() * 1000) - 60_000
    assert client.send_produce_request([ProduceRequestPayload(topic, 0, messages)]) == [
        ProduceResponsePayload(topic, 0, 0, 0)
    ]
    records = read(broker.bootstrap_servers, topic, 5)
    assert [(record.key, record.value) for record in records] == [
        (b"key", b"plain"),
        (None, b"zipped"),
        (b"other key", b"zipped too"),
        (None, b"snapped"),
        (b"tombstone", None),
    ]
    if is_since(broker, (0, 10)):
        assert all(record.timestamp > before for record in records)


def test_the_end_and_the_beginning_are_found(make_led_topic: MakeTopic, client: SimpleClient) -> None:
    topic = make_led_topic()
    client.send_produce_request([ProduceRequestPayload(topic, 0, [create_message(b"x")] * 3)])
    for time_ms, most, offsets in ((-1, 1, (3,)), (-1, 10, (3, 0)), (-2, 10, (0,))):
        (answer,) = client.send_offset_request([OffsetRequestPayload(topic, 0, time_ms, most)])
        assert answer == (topic, 0, 0, offsets)


def test_fetching_begins_at_the_offset_asked_for(make_led_topic: MakeTopic, client: SimpleClient) -> None:
    topic = make_led_topic()
    values = [b"%d" % number for number in range(10)]
    client.send_produce_request([ProduceRequestPayload(topic, 0, [create_gzip_message([(v, None) for v in values])])])
    (answer,) = client.send_fetch_request([FetchRequestPayload(topic, 0, 7, 4096)], max_wait_time=1000, min_bytes=1)
    assert (answer.topic, answer.partition, answer.error, answer.highwaterMark) == (topic, 0, 0, 10)
    assert [(each.offset, each.message.value) for each in answer.messages] == [(7, b"7"), (8, b"8"), (9, b"9")]
    assert answer.messages[0].message.key is None
    assert answer.messages[0].message.validate_crc()
    (end,) = client.send_fetch_request([FetchRequestPayload(topic, 0, 10, 4096)], max_wait_time=1)
    assert end.messages == []
    (beyond,) = client.send_fetch_request([FetchRequestPayload(topic, 0, 99, 4096)], fail_on_error=False)
    assert beyond.error == 1


def test_answers_come_in_the_order_of_the_payloads_and_through_the_callback(
    make_led_topic: MakeTopic, client: SimpleClient
) -> None:
    topic, other = make_led_topic(3), make_led_topic()
    payloads = [
        ProduceRequestPayload(name, partition, [create_message(b"x")])
        for name, partition in ((topic, 2), (other, 0), (topic, 0), (topic, 1))
    ]
    answers = client.send_produce_request(payloads, acks=-1, callback=lambda answer: answer[:2])
    assert answers == [(topic, 2), (other, 0), (topic, 0), (topic, 1)]


def test_without_acknowledgements_nothing_comes_back(
    broker: Any, make_led_topic: MakeTopic, client: SimpleClient
) -> None:
    topic = make_led_topic()
    assert client.send_produce_request([ProduceRequestPayload(topic, 0, [create_message(b"x")])], acks=0) == []
    assert [record.value for record in read(broker.bootstrap_servers, topic, 1)] == [b"x"]


@pytest.mark.needs(broker=(0, 10, 1), why="lookup of offsets by time (KIP-79)")
def test_offsets_by_time(make_led_topic: MakeTopic, client: SimpleClient) -> None:
    topic = make_led_topic()

    def offsets(time_ms: int, most: int) -> Any:
        return client.send_offset_request([OffsetRequestPayload(topic, 0, time_ms, most)])[0].offsets

    assert offsets(-1, 10) == (0,)
    client.send_produce_request([ProduceRequestPayload(topic, 0, [create_message(b"x")] * 3)])
    assert offsets(-1, 1) == (3,)
    assert offsets(-1, 10) == (3, 0)
    assert offsets(-2, 10) == (0,)
    assert offsets(1, 1) == (0,)
    assert offsets(int(time.time() * 1000) + 3_600_000, 2) == (3, 0)
    (found,) = client.send_list_offset_request([ListOffsetRequestPayload(topic, 0, 1)])
    assert found[:3] == (topic, 0, 0)
    assert found.offset == 0
    assert found.timestamp > 1


def test_offsets_of_a_group(make_led_topic: MakeTopic, client: SimpleClient) -> None:
    topic, group = make_led_topic(), f"group-{uuid.uuid4()}"
    wanted = [OffsetFetchRequestPayload(topic, 0)]
    assert client.send_offset_fetch_request_kafka(group, wanted) == [(topic, 0, -1, "", 0)]
    with pytest.raises(UnknownTopicOrPartitionError):
        client.send_offset_fetch_request(group, wanted)
    client.load_metadata_for_topics()
    commit = OffsetCommitRequestPayload(topic, 0, 42, b"as bytes")
    assert client.send_offset_commit_request(group, [commit]) == [(topic, 0, 0)]
    assert client.send_offset_fetch_request_kafka(group, wanted) == [(topic, 0, 42, "as bytes", 0)]
    assert client.send_offset_fetch_request(group, wanted) == [(topic, 0, 42, "as bytes", 0)]
    found = client.send_consumer_metadata_request(group)
    assert found.error == 0
    assert (found.host, found.port) == client.brokers[found.nodeId][1:]


def test_a_topic_is_created_and_known(client: SimpleClient) -> None:
    topic = f"made-{uuid.uuid4()}"
    client.ensure_topic_exists(topic)
    assert topic in client.topics
    assert client.has_metadata_for_topic(topic)
    assert client.get_partition_ids_for_topic(topic) == [0]
    assert client.topic_partitions[topic] == {0: client.topics_to_brokers[TopicPartition(topic, 0)].nodeId}  # type: ignore[union-attr]
    client.reset_topic_metadata(topic)
    assert not client.has_metadata_for_topic(topic)
    client.load_metadata_for_topics(topic)
    answer = client.send_metadata_request([topic])
    assert [(code, name) for code, name, _ in answer.topics] == [(0, topic)]
    client.reset_all_metadata()
    assert client.topics == []


def test_bytes_are_taken_for_names_as_in_0_9(make_led_topic: MakeTopic, broker: Any) -> None:
    topic = make_led_topic().encode()
    client = SimpleClient(broker.bootstrap_servers.encode(), client_id=b"name")
    assert client.has_metadata_for_topic(topic)  # type: ignore[arg-type]
    (answer,) = client.send_produce_request([ProduceRequestPayload(topic, 0, [create_message(b"x")])])  # type: ignore[arg-type]
    assert answer.topic == topic
    client.close()


def test_requests_by_node(broker: Any, make_led_topic: MakeTopic, client: SimpleClient) -> None:
    topic = make_led_topic()
    client.send_produce_request([ProduceRequestPayload(topic, 0, [create_message(b"x")])])
    by_node = KafkaClient(bootstrap_servers=broker.bootstrap_servers, api_version_auto_timeout_ms=30_000)
    by_node.poll(future=by_node.add_topic(topic))
    node = by_node.cluster.leader_for_partition(TopicPartition(topic, 0))
    assert node is not None
    while not by_node.ready(node):
        by_node.poll(timeout_ms=1000)
    request = FetchRequest[4](-1, 1000, 1, 100_000, 0, [(topic, [(0, 0, 100_000)])])
    response = by_node.send_and_receive(node, request)
    ((name, ((_, error, high_watermark, *_),)),) = response.topics
    assert (name, error, high_watermark) == (topic, 0, 1)
    if broker.kind == "apache":
        release = by_node.config["api_version"]
        assert release == min(release_numbers(broker.version)[: len(release)], (4, 1))
    by_node.close()


@pytest.mark.parametrize("codec", [None, CODEC_GZIP, CODEC_SNAPPY])
def test_a_simple_producer_goes_round(
    broker: Any, make_led_topic: MakeTopic, client: SimpleClient, codec: int | None
) -> None:
    topic = make_led_topic(3)
    producer = SimpleProducer(client, codec=codec, random_start=False, req_acks=-1)
    answers = [producer.send_messages(topic, b"%d" % number, b"more") for number in range(6)]
    assert [(each.partition, each.error, each.offset) for (each,) in answers] == [
        (0, 0, 0),
        (1, 0, 0),
        (2, 0, 0),
        (0, 0, 2),
        (1, 0, 2),
        (2, 0, 2),
    ]
    records = read(broker.bootstrap_servers, topic, 12, 3)
    assert [record.value for record in records if record.partition == 1] == [b"1", b"more", b"4", b"more"]


def test_a_keyed_producer_keeps_keys_together(broker: Any, make_led_topic: MakeTopic, client: SimpleClient) -> None:
    topic = make_led_topic(4)
    producer = KeyedProducer(client, codec=CODEC_GZIP)
    for number in range(20):
        producer.send_messages(topic, b"key %d" % (number % 5), b"%d" % number)
    records = read(broker.bootstrap_servers, topic, 20, 4)
    assert {record.value: record.key for record in records} == {b"%d" % n: b"key %d" % (n % 5) for n in range(20)}
    assert len({(record.key, record.partition) for record in records}) == 5


def test_stop_sends_what_waits(broker: Any, make_led_topic: MakeTopic, client: SimpleClient) -> None:
    topic = make_led_topic()
    producer = SimpleProducer(client, async_send=True, batch_send_every_n=7, batch_send_every_t=600)
    for number in range(100):
        assert producer.send_messages(topic, b"%d" % number) == []
    producer.stop()
    assert [record.value for record in read(broker.bootstrap_servers, topic, 100)] == [b"%d" % n for n in range(100)]
