"""What the documentation of kafka-python 2.x shows of consumers, groups and the cluster, on both brokers."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import pytest

import kafka
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import ConfigResource
from kafka.client_async import KafkaClient
from kafka.consumer import ConsumerRebalanceListener
from kafka.errors import IllegalStateError

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic


@pytest.fixture
def group() -> str:
    return f"group-{uuid.uuid4()}"


def send(broker: Broker, topic: str, *values: bytes, partition: int = 0) -> None:
    with KafkaProducer(bootstrap_servers=[broker.bootstrap_servers]) as producer:
        for value in values:
            producer.send(topic, value, partition=partition)


def test_a_group_that_commits_by_itself(broker: Broker, make_topic: MakeTopic, group: str) -> None:
    topic = make_topic()
    send(broker, topic, b'{"n": 1}', b'{"n": 2}')
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=[broker.bootstrap_servers],
        group_id=group,
        value_deserializer=lambda m: json.loads(m.decode("utf-8")),
        auto_offset_reset="earliest",
        enable_auto_commit=True,
        auto_commit_interval_ms=1000,
    )
    seen = []
    for message in consumer:
        seen.append((message.topic, message.partition, message.offset, message.key, message.value))
        assert message.timestamp > 0
        if len(seen) == 2:
            break
    assert seen == [(topic, 0, 0, None, {"n": 1}), (topic, 0, 1, None, {"n": 2})]
    consumer.close()
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id=group) as other:
        committed = other.committed(TopicPartition(topic, 0))
        assert committed is not None
        assert committed.offset == 2


def test_partitions_chosen_by_hand(broker: Broker, make_topic: MakeTopic) -> None:
    topic1, topic2 = make_topic(2), make_topic()
    send(broker, topic1, b"0", b"1", b"2")
    send(broker, topic1, b"passed over", partition=1)
    send(broker, topic2, b"3")
    consumer = KafkaConsumer(
        bootstrap_servers=[broker.bootstrap_servers], group_id=None, value_deserializer=lambda m: m.decode("utf-8")
    )
    consumer.assign([TopicPartition(topic1, 0), TopicPartition(topic1, 1), TopicPartition(topic2, 0)])
    consumer.seek(TopicPartition(topic1, 0), 1)
    consumer.seek_to_end(TopicPartition(topic1, 1))
    consumer.seek_to_beginning(TopicPartition(topic2, 0))
    found: dict[TopicPartition, list[str]] = defaultdict(list)

    def read() -> int:
        for partition, messages in consumer.poll(timeout_ms=1000).items():
            found[partition] += [message.value for message in messages]
        return sum(map(len, found.values()))

    while read() < 3:
        pass
    assert found == {TopicPartition(topic1, 0): ["1", "2"], TopicPartition(topic2, 0): ["3"]}
    assert consumer.position(TopicPartition(topic1, 1)) == 1
    consumer.close()


def test_one_name_of_a_partition_serves_both_clients(broker: Broker, make_topic: MakeTopic) -> None:
    events, logs = make_topic(2), make_topic()
    tp1, tp2, tp3 = TopicPartition(events, 0), TopicPartition(topic=events, partition=1), TopicPartition(logs, 0)
    consumer = KafkaConsumer(
        bootstrap_servers=[broker.bootstrap_servers], auto_offset_reset="earliest", max_poll_records=100
    )
    consumer.assign([tp1, tp2, tp3])
    producer = KafkaProducer(bootstrap_servers=[broker.bootstrap_servers])
    future = producer.send(tp1.topic, value=b"message", partition=tp1.partition, headers=[("type", b"event")])
    metadata = future.get()
    assert (metadata.topic, metadata.partition, metadata.offset) == (*tp1, 0)
    assert producer.partitions_for(tp1.topic) == {0, 1}
    batch: Any = {}
    while not batch:
        batch = consumer.poll(timeout_ms=5000)
    ((partition, (record,)),) = batch.items()
    assert (partition, dict(record.headers)) == (tp1, {"type": b"event"})
    assert abs(time.time() * 1000 - record.timestamp) < 300_000
    consumer.close()
    producer.close()


def test_offsets_are_committed_by_hand_with_metadata(broker: Broker, make_topic: MakeTopic, group: str) -> None:
    topic = make_topic()
    send(broker, topic, b"0", b"1")
    with KafkaConsumer(
        bootstrap_servers=[broker.bootstrap_servers],
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    ) as consumer:
        consumer.subscribe([topic])
        done = 0
        while done < 2:
            for partition, messages in consumer.poll(timeout_ms=5000).items():
                for message in messages:
                    text = f"processed_at_{int(time.time())}"
                    consumer.commit({partition: OffsetAndMetadata(offset=message.offset + 1, metadata=text)})
                    done += 1
        for partition in consumer.assignment():
            committed = consumer.committed(partition)
            assert committed
            assert (committed.offset, committed.metadata) == (2, text)
        consumer.commit({partition: OffsetAndMetadata(1, None)})
        assert consumer.committed(partition) == 1


def test_a_listener_that_commits(broker: Broker, make_topic: MakeTopic, group: str) -> None:
    topic = make_topic()
    send(broker, topic, b"0", b"1")
    calls = []

    class MyRebalanceListener(ConsumerRebalanceListener):
        def __init__(self, consumer: KafkaConsumer) -> None:
            self.consumer = consumer

        def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
            calls.append(("revoked", set(revoked)))
            self.consumer.commit()

        def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
            calls.append(("assigned", set(assigned)))

    consumer = KafkaConsumer(
        bootstrap_servers=[broker.bootstrap_servers],
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    consumer.subscribe([topic], listener=MyRebalanceListener(consumer))
    assert [consumer.next_v1().value, consumer.next_v2().value] == [b"0", b"1"]
    mine = {TopicPartition(topic, 0)}
    consumer.close()
    assert calls[-2:] == [("assigned", mine), ("revoked", mine)]
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id=group) as other:
        assert other.committed(TopicPartition(topic, 0)) == 2


def test_a_new_listener_is_told_of_its_own_subscription(broker: Broker, make_topic: MakeTopic, group: str) -> None:
    """And `commit()` where there is nothing to commit returns, before the first `poll()` and in a listener."""
    before, after = make_topic(), make_topic()
    told: list[tuple[str, str, set[str]]] = []

    class Listener(ConsumerRebalanceListener):
        def __init__(self, name: str) -> None:
            self.name = name

        def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
            consumer.commit()
            told.append((self.name, "revoked", {tp.topic for tp in revoked}))

        def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
            told.append((self.name, "assigned", {tp.topic for tp in assigned}))

    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id=group) as consumer:
        consumer.commit()
        consumer.subscribe([before], listener=Listener("first"))
        consumer.commit()
        while not consumer.assignment():
            consumer.poll(timeout_ms=100)
        consumer.subscribe([after], listener=Listener("second"))
        while ("second", "assigned", {after}) not in told:
            consumer.poll(timeout_ms=100)
    assert told[:2] == [("first", "revoked", set()), ("first", "assigned", {before})]
    assert {name for name, _, topics in told if before in topics} == {"first"}
    assert {name for name, _, topics in told if after in topics} == {"second"}


def test_calls_about_a_partition_that_is_not_assigned_are_errors_of_every_release(broker: Broker) -> None:
    tp = TopicPartition("t", 0)
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        for call in (
            lambda: consumer.pause(tp),
            lambda: consumer.resume(tp),
            lambda: consumer.seek(tp, 0),
            lambda: consumer.position(tp),
            lambda: consumer.highwater(tp),
        ):
            for kind in (AssertionError, KeyError, ValueError, IllegalStateError):
                with pytest.raises(kind, match="not assigned"):
                    call()


def test_the_configuration_that_clients_show(broker: Broker) -> None:
    servers = broker.bootstrap_servers
    with KafkaConsumer(bootstrap_servers=servers) as consumer, KafkaProducer(bootstrap_servers=servers) as producer:
        assert consumer.config["client_id"] == f"kafka-python-{kafka.__version__}"
        assert producer.config["client_id"].startswith("kafka-python-producer-")
        assert producer.config["acks"] == -1
    with KafkaProducer(bootstrap_servers=servers, acks=1, client_id="mine") as producer:
        assert (producer.config["acks"], producer.config["client_id"]) == (1, "mine")


def test_what_admin_calls_give_goes_into_json(broker: Broker) -> None:
    first, second = (f"json-{uuid.uuid4()}" for _ in range(2))
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        made = json.loads(json.dumps(admin.create_topics([first])))
        assert [each["name"] for each in made["topics"]] == [first]
        assert uuid.UUID(made["topics"][0]["topic_id"])
        json.dumps(admin.create_topics({second: {"num_partitions": 2, "replication_factor": 1}}))
        grown = json.loads(json.dumps(admin.create_partitions({first: 4})))
        assert grown["results"][0]["error_code"] == 0
        described: Any = []
        while not described or len(described[0]["partitions"]) < 4:
            described = json.loads(json.dumps(admin.describe_topics([first])))
        assert json.loads(json.dumps(admin.describe_cluster()))["brokers"]
        json.dumps(admin.describe_configs([ConfigResource("topic", first)]))
        assert dict(admin.delete_topics([first, second]).topic_error_codes) == {first: 0, second: 0}


def test_records_in_batches(broker: Broker, make_topic: MakeTopic, group: str) -> None:
    topic = make_topic(2)
    for partition in (0, 1):
        send(broker, topic, *[b"%d" % number for number in range(60)], partition=partition)
    stats: dict[TopicPartition, dict[str, int]] = defaultdict(lambda: {"count": 0, "latest_offset": -1})
    with KafkaConsumer(
        topic,
        bootstrap_servers=[broker.bootstrap_servers],
        group_id=group,
        max_poll_records=100,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    ) as consumer:
        while sum(each["count"] for each in stats.values()) < 120:
            batch = consumer.poll(timeout_ms=5000, max_records=50)
            if not batch:
                continue
            everything: list[Any] = []
            last: dict[TopicPartition, int] = {}
            for partition, records in batch.items():
                everything.extend(records)
                stats[partition]["count"] += len(records)
                stats[partition]["latest_offset"] = last[partition] = records[-1].offset
                assert batch.records(partition) == records
            assert len(everything) == len(batch) <= 50
            assert list(batch) == everything == batch.by_topic()[topic]
            assert batch.partitions() == set(last)
            consumer.commit({partition: OffsetAndMetadata(at + 1, None) for partition, at in last.items()})
        assert all(each == {"count": 60, "latest_offset": 59} for each in stats.values())
        assert {consumer.committed(TopicPartition(topic, partition)) for partition in (0, 1)} == {60}


def test_the_lag_of_a_consumer(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic()
    send(broker, topic, b"0", b"1", b"2")
    with KafkaConsumer(
        topic, bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest", max_poll_records=1
    ) as consumer:
        assert next(consumer).value == b"0"
        (partition,) = consumer.assignment()
        assert consumer.end_offsets([partition])[partition] - consumer.position(partition) == 2


def test_the_cluster_as_its_client_knows_it(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    client = KafkaClient(bootstrap_servers=[broker.bootstrap_servers])
    try:
        cluster = client.cluster
        while topic not in cluster.topics():
            client.poll(timeout_ms=5000, future=cluster.request_update())
        (node,) = cluster.brokers()
        assert f"{node.host}:{node.port}" == broker.bootstrap_servers.replace("localhost", node.host)
        assert node.rack is None
        partitions = cluster.partitions_for_topic(topic)
        assert partitions == {0, 1}
        for number in partitions:
            tp = TopicPartition(topic, number)
            assert cluster.leader_for_partition(tp) == node.nodeId
            assert list(cluster.replicas_for_partition(tp)) == [node.nodeId]
            assert list(cluster.in_sync_replicas_for_partition(tp)) == [node.nodeId]
    finally:
        client.close()


def test_groups_and_their_members(broker: Broker, make_topic: MakeTopic, group: str) -> None:
    topic = make_topic(2)
    send(broker, topic, b"0")
    with (
        KafkaAdminClient(bootstrap_servers=[broker.bootstrap_servers]) as admin,
        KafkaConsumer(
            topic, bootstrap_servers=broker.bootstrap_servers, group_id=group, auto_offset_reset="earliest"
        ) as consumer,
    ):
        assert next(consumer).value == b"0"
        listed = {each.group: each for each in admin.list_consumer_groups()}
        assert (listed[group].state, listed[group]) == ("Stable", (group, "consumer"))
        descriptions = admin.describe_consumer_groups([group])
        ((name, description),) = descriptions.items()
        assert (name, description.state, description.partition_assignor) == (group, "Stable", "range")
        assert descriptions[group] is descriptions[0] is description
        (member,) = description.members
        assert member.member_id.startswith(member.client_id)
        assert member.host == member.client_host
        found: Any = member.assignment
        assert sorted(found.topic_partitions) == [TopicPartition(topic, 0), TopicPartition(topic, 1)]


def test_records_without_a_key_that_are_sent_one_by_one_spread(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic(4)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        assert producer.partitions_for(topic) == {0, 1, 2, 3}
        used = Counter(producer.send(topic, b"x").get(60).partition for _ in range(80))
    assert set(used) == {0, 1, 2, 3}
    assert max(used.values()) < 60


@pytest.mark.parametrize("release", [(0, 9), "0.8.2"])
def test_topics_are_told_in_the_way_of_old_brokers(broker: Broker, make_topic: MakeTopic, release: Any) -> None:
    topic = make_topic()
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, api_version=release) as consumer:
        told = consumer.topics()
    assert topic in told
    assert "__consumer_offsets" not in told
