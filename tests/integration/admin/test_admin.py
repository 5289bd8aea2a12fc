"""The admin client on both brokers."""

import time
import uuid

import pytest

from integration.admin.admin_faces import FACES, opened
from kafka.admin import ConfigResource, NewPartitions, NewTopic
from kafka.errors import (
    GroupIdNotFoundError,
    InvalidConfigurationError,
    InvalidPartitionsError,
    InvalidRequestError,
    InvalidTopicError,
    TopicAlreadyExistsError,
    UnknownError,
    UnknownTopicOrPartitionError,
)
from kafka.structs import OffsetAndMetadata, TopicPartition, TopicPartitionReplica

MISSING = "there-is-no-such-topic"


@pytest.fixture(params=FACES)
def admin(request, broker):
    with opened(request.param, bootstrap_servers=broker.bootstrap_servers) as client:
        yield client


@pytest.fixture
def name():
    return f"admin-{uuid.uuid4().hex[:12]}"


def await_listed(admin, topic, listed):
    """Wait until the broker lists a topic, or no more: it hears of a change just after the controller has answered."""
    deadline = time.monotonic() + 60
    while (topic in admin.list_topics()) is not listed:
        assert time.monotonic() < deadline, f"{topic} is {'not ' if listed else ''}listed after 60 s"


def await_partitions(admin, topic, count):
    """Wait until the broker knows so many partitions of a topic; it hears of them as `await_listed` says."""
    deadline = time.monotonic() + 60
    while (known := len(admin.describe_topics([topic])[0]["partitions"])) != count:
        assert time.monotonic() < deadline, f"{known} partitions of {topic} after 60 s"


def settings(admin, topic, *names):
    (result,) = admin.describe_configs([ConfigResource("topic", topic, list(names) or None)])
    return {config["name"]: config["value"] for config in result["results"][0]["configs"]}


def await_settings(admin, topic, fulfilled):
    """Wait until the broker tells such settings; it hears of them as `await_listed` says."""
    deadline = time.monotonic() + 60
    while not fulfilled(told := settings(admin, topic)):
        assert time.monotonic() < deadline, told


def fill(broker, topic, count):
    from kafka.producer import KafkaProducer

    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        futures = [producer.send(topic, value=b"x", partition=0) for _ in range(count)]
        assert [future.get(60).offset for future in futures] == list(range(count))


@pytest.mark.needs(broker=(0, 11), why="DescribeConfigs")
def test_a_topic_is_created_described_listed_and_deleted(admin, name):
    result = admin.create_topics([NewTopic(name, 3, 1, topic_configs={"retention.ms": "60000"})])
    assert result.topic_errors == [(name, 0, None)]
    await_listed(admin, name, True)
    (described,) = admin.describe_topics([name])
    assert (described["topic"], described["error_code"], described["is_internal"]) == (name, 0, False)
    assert sorted(partition["partition"] for partition in described["partitions"]) == [0, 1, 2]
    assert all(partition["leader"] >= 0 and partition["isr"] for partition in described["partitions"])
    assert settings(admin, name, "retention.ms") == {"retention.ms": "60000"}
    assert admin.delete_topics([name]).topic_error_codes == [(name, 0)]
    await_listed(admin, name, False)


@pytest.mark.needs(broker=(2, 4), why="cluster defaults for new topics (KIP-464)")
def test_a_topic_gets_the_clusters_defaults(admin, name):
    admin.create_topics([NewTopic(name)])
    await_listed(admin, name, True)
    assert len(admin.describe_topics([name])[0]["partitions"]) == 1


def test_validate_only_creates_nothing(admin, name):
    admin.create_topics([NewTopic(name, 1, 1)], validate_only=True)
    assert name not in admin.list_topics()


def test_what_is_wrong_with_a_topic_is_raised(admin, make_topic, name):
    with pytest.raises(TopicAlreadyExistsError):
        admin.create_topics([NewTopic(make_topic(), 1, 1)])
    with pytest.raises(InvalidTopicError):
        admin.create_topics([NewTopic("not a topic name!", 1, 1)])
    with pytest.raises(InvalidPartitionsError):
        admin.create_topics([NewTopic(name, 0, 1)])
    # Brokers before 2.0 have no better name for it than an unknown error.
    with pytest.raises((InvalidConfigurationError, UnknownError)):
        admin.create_topics([NewTopic(name, 1, 1, topic_configs={"retention.ms": "soon"})])
    with pytest.raises(UnknownTopicOrPartitionError):
        admin.delete_topics([MISSING])


def test_describing_a_missing_topic_does_not_create_it(admin):
    assert admin.describe_topics([MISSING])[0]["error_code"] == 3
    assert MISSING not in admin.list_topics()


@pytest.mark.needs(broker=(1, 0), why="CreatePartitions")
def test_partitions_are_added_and_never_taken(admin, make_topic):
    topic = make_topic(2)
    admin.create_partitions({topic: NewPartitions(4)})
    await_partitions(admin, topic, 4)
    with pytest.raises(InvalidPartitionsError):
        admin.create_partitions({topic: NewPartitions(3)})
    with pytest.raises(UnknownTopicOrPartitionError):
        admin.create_partitions({MISSING: NewPartitions(3)})


@pytest.mark.needs(broker=(2, 3), why="IncrementalAlterConfigs")
def test_configs_are_altered_one_by_one_or_replaced(admin, make_topic):
    topic = make_topic()
    admin.alter_configs([ConfigResource("topic", topic, {"retention.ms": 1000})], incremental=True)
    admin.alter_configs([ConfigResource("topic", topic, {"segment.bytes": 2_000_000})], incremental=True)
    both = ("retention.ms", "segment.bytes")
    await_settings(admin, topic, lambda told: [told[each] for each in both] == ["1000", "2000000"])
    admin.alter_configs([ConfigResource("topic", topic, {"retention.ms": None})], incremental=True)
    await_settings(admin, topic, lambda told: told["retention.ms"] != "1000")
    admin.alter_configs([ConfigResource("topic", topic, {"retention.ms": 3000})])
    await_settings(admin, topic, lambda told: told["retention.ms"] == "3000" and told["segment.bytes"] != "2000000")


@pytest.mark.needs(broker=(2, 3), why="IncrementalAlterConfigs")
def test_configs_that_are_wrong_change_nothing_and_raise(admin, make_topic):
    topic = make_topic()
    # Brokers before 3.0 say that the request is wrong.
    with pytest.raises((InvalidConfigurationError, InvalidRequestError)):
        admin.alter_configs([ConfigResource("topic", topic, {"retention.ms": "soon"})], incremental=True)
    with pytest.raises(UnknownTopicOrPartitionError):
        admin.describe_configs([ConfigResource("topic", MISSING)])
    admin.alter_configs([ConfigResource("topic", topic, {"retention.ms": 7})], validate_only=True, incremental=True)
    assert settings(admin, topic, "retention.ms")["retention.ms"] != "7"


@pytest.mark.needs(broker=(0, 11), why="DescribeConfigs")
def test_a_broker_describes_its_own_settings(admin):
    node = admin.describe_cluster()["brokers"][0]["node_id"]
    (result,) = admin.describe_configs([ConfigResource("broker", node)])
    ((code, _, kind, name, entries),) = result.resources
    assert (code, kind, name) == (0, 4, str(node))
    assert entries


def test_the_cluster_is_described(admin, broker):
    described = admin.describe_cluster()
    assert described["cluster_id"]
    host, port = broker.bootstrap_servers.split(":")
    assert [(node["host"], node["port"]) for node in described["brokers"]] == [(host, int(port))]
    assert described["controller_id"] in [node["node_id"] for node in described["brokers"]]


@pytest.mark.needs(broker=(1, 1), why="DeleteGroups")
def test_groups_are_listed_described_and_deleted_with_their_offsets(admin, broker, make_topic, name):
    from kafka.consumer import KafkaConsumer

    topic = make_topic(2)
    tp = TopicPartition(topic, 0)
    fill(broker, topic, 10)
    consumer = KafkaConsumer(
        topic, bootstrap_servers=broker.bootstrap_servers, group_id=name, auto_offset_reset="earliest"
    )
    with consumer:
        while consumer.position(tp) < 10 if tp in consumer.assignment() else True:
            consumer.poll(timeout_ms=500)
        consumer.commit()
        assert (name, "consumer") in admin.list_consumer_groups()
        (described,) = admin.describe_consumer_groups([name])
        assert (described.group, described.state, described.protocol_type) == (name, "Stable", "consumer")
        (member,) = described.members
        assert member.member_metadata.topics == [topic]
        assert sorted(member.member_assignment.partitions()) == [tp, TopicPartition(topic, 1)]
        assert admin.delete_consumer_groups([name])[0][1].message == "NON_EMPTY_GROUP"
    offsets = admin.list_consumer_group_offsets(name)
    assert offsets[tp].offset == 10
    assert admin.list_consumer_group_offsets(name, partitions=[tp]) == {tp: offsets[tp]}
    ((_, error),) = admin.delete_consumer_groups([name])
    assert error.errno == 0
    assert name not in dict(admin.list_consumer_groups())


@pytest.mark.needs(broker=(1, 1), why="DeleteGroups")
def test_a_group_that_is_not_there(admin, name):
    (described,) = admin.describe_consumer_groups([name])
    assert (described.group, described.state, described.members) == (name, "Dead", [])
    assert admin.delete_consumer_groups([name]) == [(name, GroupIdNotFoundError)]
    assert admin.list_consumer_group_offsets(name) == {}
    tp = TopicPartition("t", 0)
    assert admin.list_consumer_group_offsets(name, partitions=[tp]) == {tp: OffsetAndMetadata(-1, "", -1)}


@pytest.mark.needs(broker=(0, 11), why="DeleteRecords")
def test_records_are_deleted_up_to_an_offset(admin, broker, make_topic):
    topic = make_topic()
    tp = TopicPartition(topic, 0)
    fill(broker, topic, 10)
    assert admin.delete_records({tp: 4})[tp]["low_watermark"] == 4
    assert admin.delete_records({tp: -1})[tp]["low_watermark"] == 10


@pytest.mark.needs(broker=(1, 1), why="describing log directories (KIP-113)")
def test_the_sizes_of_partitions_and_the_directories_of_replicas_are_told(admin, broker, make_topic):
    topic = make_topic(2)
    fill(broker, topic, 3)

    def sizes():
        (told,) = admin.describe_log_dirs({topic: [0, 1, 9], MISSING: [0]})
        (directory,) = told["log_dirs"]
        found = {each["name"]: each["partitions"] for each in directory["topics"]}
        return {each["partition_index"]: each["partition_size"] for each in found.get(topic, ())}

    deadline = time.monotonic() + 60
    while set(found := sizes()) != {0, 1}:  # the logs are made after the leaders are known
        assert time.monotonic() < deadline, found
    assert found[0] > 0
    assert found[1] == 0
    (node,) = (each["node_id"] for each in admin.describe_cluster()["brokers"])
    here, nowhere = TopicPartitionReplica(topic, 0, node), TopicPartitionReplica(topic, 9, node)
    places = admin.describe_replica_log_dirs([here, nowhere])
    assert places[here].current_replica_log_dir is not None
    assert (places[here].current_replica_offset_lag, places[here].future_replica_log_dir) == (0, None)
    assert places[nowhere].current_replica_log_dir is None


@pytest.mark.needs(broker=(4, 1), why="ListConfigResources (KIP-1142)")
def test_what_has_a_configuration_is_listed_by_kind(admin, make_topic, name):
    topic = make_topic()
    (node,) = (each["node_id"] for each in admin.describe_cluster()["brokers"])
    admin.alter_configs([ConfigResource("group", name, {"share.session.timeout.ms": "50000"})], incremental=True)
    deadline = time.monotonic() + 60
    while name not in admin.list_config_resources(["group"]).get("group", ()):
        assert time.monotonic() < deadline
    found = admin.list_config_resources()
    assert topic in found["topic"]
    assert found["broker"] == [str(node)]
    assert set(admin.list_config_resources(["topic", "broker"])) == {"topic", "broker"}
    assert admin.list_client_metrics_resources() == []
