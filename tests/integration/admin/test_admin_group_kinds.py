"""Admin calls about groups of each kind, on Apache Kafka: those of KIP-848, share groups and groups of Streams."""

from __future__ import annotations

import time
import uuid
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer

from integration.admin.admin_faces import FACES, opened
from kafka.admin import OffsetShift, OffsetSpec
from kafka.errors import GroupIdNotFoundError, NoError, UnknownMemberIdError, UnknownTopicOrPartitionError
from kafka.producer import KafkaProducer
from kafka.structs import TopicPartition
from kafka.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka.wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest, Subtopology, Topology

pytestmark = pytest.mark.apache


@pytest.fixture(params=FACES)
def admin(request, apache_kafka):
    with opened(request.param, bootstrap_servers=apache_kafka.bootstrap_servers) as client:
        yield client


@pytest.fixture
def group():
    return f"group-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def topic(admin, group, apache_kafka):
    """A topic of two partitions, with five records in the first."""
    name = f"topic-{group}"
    admin.create_topics({name: {"num_partitions": 2, "replication_factor": 1}}, wait_for_metadata=True)
    with KafkaProducer(bootstrap_servers=apache_kafka.bootstrap_servers) as producer:
        for _ in range(5):
            producer.send(name, b"x", partition=0)
    return name


def until(found):
    deadline = time.monotonic() + 60
    while not (answer := found()):
        assert time.monotonic() < deadline, "not seen after 60 s"
    return answer


def assert_refused(admin, group, partition):
    """A group with members cannot be moved, and a dry run says so as the real call does."""
    moved, dry = (admin.reset_group_offsets(group, {partition: 1}, dry_run=each) for each in (False, True))
    assert moved == dry == {partition: {"error": UnknownMemberIdError, "offset": 1}}


@contextmanager
def consuming(servers, group, topic):
    """A member of a group of KIP-848, of another client."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    try:
        yield consumer
    finally:
        consumer.close()


def heartbeat(admin, request: Any, patience_s: float = 30) -> Any:
    """Join a group by hand, once its coordinator is ready."""
    deadline = time.monotonic() + patience_s
    while (answer := admin.send_request(request)).error_code in (14, 15, 16):
        assert time.monotonic() < deadline
    assert answer.error_code == 0, answer.error_message
    return answer


@pytest.mark.needs(broker=(4, 0), why="groups of the consumer protocol (KIP-848)")
def test_a_group_of_kip_848_is_listed_described_and_emptied(admin, apache_kafka, group, topic):
    first, second = (TopicPartition(topic, index) for index in (0, 1))
    with consuming(apache_kafka.bootstrap_servers, group, topic) as consumer:
        while len(consumer.assignment()) < 2:
            consumer.poll(0.2)
        (listed,) = [each for each in admin.list_groups(types_filter=["consumer"]) if each["group_id"] == group]
        assert (listed["protocol_type"], listed["group_type"].lower()) == ("consumer", "consumer")
        described = admin.describe_consumer_groups([group])[group]
        (member,) = described.members
        assert member.member_metadata.topics == [topic]
        assert sorted(member.member_assignment.partitions()) == [first, second]
        told = admin.describe_groups([group])[group]
        assert (told["error"], told["protocol_type"]) == (None, "consumer")
        assert told["group_epoch"] > 0
        assert admin.describe_classic_groups([group])[group]["error"]
        assert_refused(admin, group, first)
        removed = admin.remove_group_members(group)
        assert list(removed.values()) == [NoError]
    until(lambda: admin.describe_consumer_groups([group])[0].state == "Empty")
    assert admin.remove_group_members(group) == {}
    assert admin.reset_group_offsets(group, {topic: OffsetSpec.LATEST}, dry_run=True)[first]["offset"] == 5
    assert admin.list_group_offsets([group]) == {group: {}}
    assert admin.reset_group_offsets(group, {topic: OffsetSpec.LATEST})[first] == {"error": NoError, "offset": 5}
    assert admin.reset_group_offsets(group, OffsetShift(-2))[first]["offset"] == 3
    stable = admin.list_group_offsets({group: [first, second]}, require_stable=True)
    assert [stable[group][each].offset for each in (first, second)] == [3, 0]
    assert admin.delete_groups([group, f"no-{group}"]) == {group: "OK", f"no-{group}": GroupIdNotFoundError.__name__}


@pytest.mark.needs(broker=(4, 2), why="share groups (KIP-932)")
def test_a_share_group_is_described_and_its_offsets_are_moved(admin, group, topic):
    first = TopicPartition(topic, 0)
    member = str(uuid.uuid4())
    joining = ShareGroupHeartbeatRequest(
        group_id=group, member_id=member, member_epoch=0, subscribed_topic_names=[topic]
    )
    epoch = heartbeat(admin, joining).member_epoch
    assert group in [each["group_id"] for each in admin.list_groups(types_filter=["share"])]
    told = admin.describe_share_groups([group, f"no-{group}"])
    assert (told[group]["error"], [each["member_id"] for each in told[group]["members"]]) == (None, [member])
    assert told[group]["members"][0]["subscribed_topic_names"] == [topic]
    assert told[f"no-{group}"]["error"] is not None
    # The coordinator sets up the topic at a heartbeat, once it has heard of the topic itself.
    staying = ShareGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=epoch)

    def offsets_after_a_heartbeat():
        staying.member_epoch = heartbeat(admin, staying).member_epoch
        return admin.list_share_group_offsets([group])[group]

    until(offsets_after_a_heartbeat)
    leaving = ShareGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=-1)
    heartbeat(admin, leaving)
    assert admin.alter_share_group_offsets(group, {first: 3}) == {first: NoError}
    assert until(lambda: admin.list_share_group_offsets({group: [first]})[group][first]).start_offset == 3
    assert admin.delete_share_group_offsets(group, [topic]) == {topic: NoError}
    assert admin.list_share_group_offsets([group])[group] == {}
    assert admin.delete_groups([group]) == {group: "OK"}


@pytest.mark.needs(broker=(4, 2), why="share groups (KIP-932)")
def test_setting_offsets_makes_the_share_group(admin, group, topic):
    first, beyond = TopicPartition(topic, 0), TopicPartition(topic, 99)
    assert admin.alter_share_group_offsets(group, {TopicPartition(f"no-{topic}", 0): 1})
    assert group not in [each["group_id"] for each in admin.list_groups()]
    wanted = {first: 2, beyond: 2}
    # The coordinator hears of a topic later than the part of the broker that tells of its partitions.
    until(lambda: admin.alter_share_group_offsets(group, wanted)[first] is not UnknownTopicOrPartitionError)
    errors = admin.alter_share_group_offsets(group, wanted)
    assert errors == {first: NoError, beyond: UnknownTopicOrPartitionError}
    assert until(lambda: admin.list_share_group_offsets({group: [first]})[group][first]).start_offset == 2
    [listed] = [each for each in admin.list_groups() if each["group_id"] == group]
    assert (listed["group_type"], listed["group_state"]) == ("share", "Empty")
    assert admin.delete_groups([group]) == {group: "OK"}


@pytest.mark.needs(broker=(4, 2), why="Kafka Streams groups (KIP-1071)")
def test_a_group_of_streams_is_described_and_its_offsets_are_moved(admin, group, topic):
    first, member = TopicPartition(topic, 0), str(uuid.uuid4())
    topology = Topology(epoch=1, subtopologies=[Subtopology(subtopology_id="0", source_topics=[topic])])
    joining = StreamsGroupHeartbeatRequest(
        group_id=group,
        member_id=member,
        member_epoch=0,
        rebalance_timeout_ms=30_000,
        topology=topology,
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id="p",
        client_tags=[],
    )
    heartbeat(admin, joining)
    assert group in [each["group_id"] for each in admin.list_groups(types_filter=["streams"])]
    told = admin.describe_streams_groups([group, f"no-{group}"])
    assert told[group]["error"] is None
    assert told[group]["topology"]["subtopologies"][0]["source_topics"] == [topic]
    assert [each["member_id"] for each in told[group]["members"]] == [member]
    assert told[f"no-{group}"]["error"] is not None
    assert_refused(admin, group, first)
    leaving = StreamsGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=-1)
    heartbeat(admin, leaving)
    assert admin.reset_group_offsets(group, {first: 2})[first] == {"error": NoError, "offset": 2}
    assert admin.list_group_offsets([group])[group][first].offset == 2
    assert admin.delete_group_offsets(group, [first]) == {first: NoError}
    assert admin.delete_groups([group]) == {group: "OK"}
