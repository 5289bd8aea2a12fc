"""Admin calls about groups and offsets of partitions, on both brokers."""

import uuid

import pytest

from integration.admin.admin_faces import FACES, opened
from kafka.admin import MemberToRemove, OffsetSpec, OffsetTimestamp
from kafka.consumer import KafkaConsumer
from kafka.errors import GroupIdNotFoundError, NoError, UnknownMemberIdError, UnknownTopicOrPartitionError
from kafka.producer import KafkaProducer
from kafka.structs import OffsetAndMetadata, TopicPartition


@pytest.fixture(params=FACES)
def admin(request, broker):
    with opened(request.param, bootstrap_servers=broker.bootstrap_servers) as client:
        yield client


@pytest.fixture
def group():
    return f"group-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def partition(broker, make_topic):
    """A partition of five records, a second apart."""
    topic = make_topic()
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        futures = [producer.send(topic, b"x", partition=0, timestamp_ms=1000 * n) for n in range(1, 6)]
        assert [future.get(60).offset for future in futures] == [0, 1, 2, 3, 4]
    return TopicPartition(topic, 0)


@pytest.mark.needs(broker=(3, 0), why="lookup of the record with the largest timestamp (KIP-734)")
def test_offsets_of_partitions_are_found(admin, partition):
    def offset(spec, **options):
        return admin.list_partition_offsets({partition: spec}, **options)[partition].offset

    assert (offset(OffsetSpec.EARLIEST), offset(OffsetSpec.LATEST), offset(-1, isolation_level=1)) == (0, 5, 5)
    assert (offset(2500), offset(OffsetTimestamp(3000)), offset(9000)) == (2, 2, -1)
    assert offset(OffsetSpec.MAX_TIMESTAMP) == 4
    with pytest.raises(UnknownTopicOrPartitionError):
        admin.list_partition_offsets({TopicPartition(partition.topic, 7): OffsetSpec.LATEST})


@pytest.mark.needs(broker=(2, 4), why="OffsetDelete")
def test_offsets_of_a_group_are_altered_reset_and_deleted(admin, group, partition):
    assert admin.alter_group_offsets(group, {partition: OffsetAndMetadata(3, "note")}) == {partition: NoError}
    assert admin.list_group_offsets([group])[group][partition][:2] == (3, "note")
    assert admin.list_group_offsets({group: [partition]})[group][partition].offset == 3
    for spec, expected in (
        (OffsetSpec.EARLIEST, 0),
        (OffsetSpec.LATEST, 5),
        (OffsetTimestamp(2000), 1),
        (OffsetTimestamp(9000), 5),
        (4, 4),
        (99, 5),
    ):
        assert admin.reset_group_offsets(group, {partition: spec}) == {
            partition: {"error": NoError, "offset": expected}
        }
        assert admin.list_group_offsets(group)[group][partition].offset == expected
    assert admin.delete_group_offsets(group, [partition]) == {partition: NoError}
    assert admin.list_group_offsets(group) == {group: {}}


@pytest.mark.needs(broker=(3, 8), why="group types in lists of groups (KIP-848)")
def test_groups_are_listed_described_and_deleted(admin, group, partition):
    admin.alter_group_offsets(group, {partition: OffsetAndMetadata(3, "")})
    (listed,) = [each for each in admin.list_groups() if each["group_id"] == group]
    assert listed["group_state"] == "Empty"
    assert listed.group_type.lower() == "classic"
    assert group in [each["group_id"] for each in admin.list_groups(states_filter=["empty"], types_filter=["classic"])]
    assert group not in [each["group_id"] for each in admin.list_groups(states_filter=["Stable"])]
    missing = f"no-{group}"
    described = admin.describe_groups([group, missing])
    assert (described[group]["error"], described[group]["group_state"]) == (None, "Empty")
    assert described[missing]["group_state"] == "Dead"
    assert [each.state for each in admin.describe_consumer_groups([group, missing])] == ["Empty", "Dead"]
    assert admin.delete_groups([group, missing]) == {group: "OK", missing: GroupIdNotFoundError.__name__}


@pytest.mark.needs(broker=(2, 4), why="removal of static members (KIP-345)")
def test_a_member_is_described_and_removed(admin, broker, group, partition):
    servers = broker.bootstrap_servers
    with KafkaConsumer(
        partition.topic,
        bootstrap_servers=servers,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        group_instance_id="static",
    ) as consumer:
        while not consumer.poll(1000):
            pass
        (member,) = admin.describe_groups([group])[group]["members"]
        assert member["member_metadata"]["topics"] == [partition.topic]
        assert member["member_assignment"]["assigned_partitions"] == [{"topic": partition.topic, "partitions": [0]}]
        failed = admin.alter_group_offsets(group, {partition: OffsetAndMetadata(3, "")})
        assert failed == {partition: UnknownMemberIdError}
        assert admin.remove_group_members(group, [MemberToRemove(member_id="other")]) == {"other": UnknownMemberIdError}
        removed = admin.remove_group_members(group, [MemberToRemove(group_instance_id="static", reason="test")])
        assert list(removed.values()) == [NoError]
    (described,) = admin.describe_consumer_groups([group])
    assert described.members == []


def test_records_of_an_unknown_topic_are_not_deleted_and_none_is_created(admin, group):
    with pytest.raises(UnknownTopicOrPartitionError):
        admin.delete_records({TopicPartition(group, 0): 1})
    assert group not in admin.list_topics()


@pytest.mark.needs(broker=(2, 4), why="cluster defaults for new topics (KIP-464)")
def test_topics_are_created_in_each_form_and_grow(admin, group):
    answer = admin.create_topics([group], wait_for_metadata=True)
    assert answer["topics"][0].name == group
    assert admin.create_topics([group], raise_errors=False).topic_errors[0][1] == 36
    assert admin.create_partitions({group: 3}).results[0].error_code == 0
    assert admin.create_partitions({group: 2}, raise_errors=False)["results"][0]["error_code"] == 37
    admin.delete_topics([group])
    assert admin.delete_topics([f"no-{group}"], raise_errors=False).topic_error_codes == [(f"no-{group}", 3)]


@pytest.mark.needs(broker=(3, 8), why="DescribeTopicPartitions")
def test_the_partitions_of_topics_come_in_pages(admin, group):
    admin.create_topics({group: {"num_partitions": 3, "replication_factor": 1}}, wait_for_metadata=True)
    page = admin.describe_topic_partitions([group], response_partition_limit=2)
    assert [each["partition_index"] for each in page["topics"][0]["partitions"]] == [0, 1]
    rest = admin.describe_topic_partitions([group], cursor=page["next_cursor"])
    assert [each["partition_index"] for each in rest["topics"][0]["partitions"]] == [2]
    assert rest["next_cursor"] is None
    assert admin.describe_topics([page["topics"][0]["topic_id"]])[0]["name"] == group
    assert admin.describe_topics([f"no-{group}"])[0]["topic_id"] is None
