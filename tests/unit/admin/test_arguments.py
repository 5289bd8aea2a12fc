"""Arguments of admin calls: conversions, rejected values, and the thread in which user code runs."""

import math
import threading

import numpy as np
import pytest

from kafka.admin import ConfigResource, KafkaAdminClient, NewPartitions, NewTopic
from kafka.errors import IllegalArgumentError, IllegalArgumentTypeError
from kafka.structs import TopicPartition

TP = TopicPartition("t", 0)


class Unconnected(KafkaAdminClient):
    """An admin client that returns the arguments of an operation instead of running it."""

    def __init__(self):
        self._closed = True
        self._requests = None

    def _run(self, operation):
        frame = operation.cr_frame.f_locals
        operation.close()
        return frame


@pytest.fixture
def admin():
    return Unconnected()


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (lambda admin: admin.update_features([("metadata.version", 19)]), "expected a dict"),
        (lambda admin: admin.delete_topics(3), "expected a list"),
        (lambda admin: admin.delete_topics([3]), "expected a str"),
        (lambda admin: admin.reset_group_offsets("g", {TP: "earliest"}), "expected an OffsetSpec"),
        (lambda admin: admin.describe_configs(["t"]), "expected ConfigResource objects"),
        (lambda admin: admin.alter_partition_reassignments({TP: ["1"]}), "expected a whole number"),
    ],
)
def test_a_wrong_type_raises_type_error_as_in_kafka_python_3(admin, call, given):
    with pytest.raises(IllegalArgumentTypeError, match=given) as told:
        call(admin)
    assert isinstance(told.value, TypeError)
    assert isinstance(told.value, IllegalArgumentError)


def test_an_unknown_resource_type_raises_key_error_as_in_kafka_python():
    with pytest.raises(KeyError, match=r"resource_type: expected one of unknown, topic, broker, .*, got 'something'"):
        ConfigResource("something", "foo")


def test_a_time_before_1970_is_rejected(admin):
    with pytest.raises(IllegalArgumentError, match="expected an OffsetSpec or milliseconds since 1970, got -100"):
        admin.list_partition_offsets({TP: -100})


@pytest.mark.parametrize(
    ("call", "given", "argument", "expected"),
    [
        ("delete_topics", "topic", "topics", ["topic"]),
        ("describe_topics", ("a", "b"), "topics", ["a", "b"]),
        ("describe_topics", [], "topics", []),
        ("describe_topics", None, "topics", None),
        ("describe_consumer_groups", "group", "group_ids", ["group"]),
        ("delete_consumer_groups", "group", "group_ids", ["group"]),
        ("delete_consumer_groups", {"group": 1}, "group_ids", ["group"]),
        ("list_consumer_groups", np.arange(2), "broker_ids", [0, 1]),
        ("delete_records", {("t", np.int64(0)): np.int64(5)}, "records_to_delete", {TP: 5}),
    ],
)
def test_accepted_arguments(admin, call, given, argument, expected):
    assert getattr(admin, call)(given)[argument] == expected


def test_a_single_partition_is_accepted_as_a_list(admin):
    assert admin.list_consumer_group_offsets("g", partitions=TP)["partitions"] == [TP]
    assert admin.list_consumer_group_offsets("g", partitions=[("t", 0)])["partitions"] == [TP]


def test_a_single_setting_name_is_not_split_into_letters():
    assert ConfigResource("topic", "t", "retention.ms").configs == ["retention.ms"]


def test_settings_of_a_new_topic_are_converted_to_kafkas_strings():
    topic = NewTopic("t", 1, 1, topic_configs={"preallocate": True, "retention.ms": np.int64(5), "unset": None})
    assert topic.topic_configs == {"preallocate": "true", "retention.ms": "5", "unset": None}


@pytest.mark.parametrize(
    "call",
    [
        lambda admin: admin.delete_topics(None),
        lambda admin: admin.delete_topics([5]),
        lambda admin: admin.delete_topics(b"t"),
        lambda admin: admin.describe_topics([None]),
        lambda admin: admin.create_topics([5]),
        lambda admin: admin.create_topics(None),
        lambda admin: admin.create_partitions({"t": "5"}),
        lambda admin: admin.create_partitions([("t", NewPartitions(5))]),
        lambda admin: admin.create_partitions({5: NewPartitions(5)}),
        lambda admin: admin.describe_configs(["t"]),
        lambda admin: admin.describe_configs([ConfigResource("broker", "b1")]),
        lambda admin: admin.list_consumer_groups(["0"]),
        lambda admin: admin.list_consumer_groups(0),
        lambda admin: admin.describe_consumer_groups([None]),
        lambda admin: admin.list_consumer_group_offsets(None),
        lambda admin: admin.list_consumer_group_offsets("g", partitions=["t"]),
        lambda admin: admin.delete_records(None),
        lambda admin: admin.delete_records({TopicPartition("t", "0"): 1}),
        lambda admin: admin.delete_records({TP: None}),
        lambda admin: admin.alter_client_quotas([{"user": "a"}]),
        lambda admin: admin.alter_client_quotas([({"user": "a"}, {"producer_byte_rate": "1"})]),
        lambda admin: admin.alter_client_quotas([({"user": 5}, {})]),
        lambda admin: admin.alter_user_scram_credentials(["a"]),
        lambda admin: admin.create_acls(["a"]),
        lambda admin: admin.describe_acls(None),
        lambda admin: admin.elect_leaders(2),
        lambda admin: admin.list_groups(states_filter=["asleep"]),
        lambda admin: admin.describe_configs([], config_filter="some"),
        lambda admin: admin.alter_group_offsets("g", {TP: 5}),
        lambda admin: admin.reset_group_offsets("g", {TP: "first"}),
        lambda admin: admin.remove_group_members("g", ["m"]),
        lambda admin: admin.alter_partition_reassignments({TP: ["0"]}),
        lambda admin: admin.alter_replica_log_dirs({TP: "/d"}),
        lambda admin: admin.update_features({"f": "x"}),
        lambda admin: admin.list_config_resources(["topix"]),
        lambda admin: NewTopic(None, 1, 1),
        lambda admin: NewTopic("t", replica_assignments={0: 1}),
        lambda admin: NewPartitions(2, [1]),
        lambda admin: ConfigResource("topix", "t"),
        lambda admin: ConfigResource(99, "t"),
        lambda admin: ConfigResource("topic", "t", [5]),
    ],
)
def test_invalid_arguments_are_rejected_by_name(admin, call):
    with pytest.raises(IllegalArgumentError, match=r"^\w+: expected"):
        call(admin)


@pytest.mark.parametrize("timeout_ms", [-1, math.nan, "5", [], object()])
def test_invalid_timeouts_are_rejected(admin, timeout_ms):
    with pytest.raises(IllegalArgumentError, match="timeout_ms: expected milliseconds"):
        admin.delete_topics(["t"], timeout_ms)


@pytest.mark.parametrize("timeout_ms", [math.inf, 1 << 40])
def test_an_infinite_timeout_becomes_the_protocols_maximum(admin, timeout_ms):
    assert admin.delete_topics(["t"], timeout_ms)["timeout_ms"] == 2**31 - 1


@pytest.mark.parametrize("name", ["--5", "\u00b2"])
def test_broker_names_that_are_not_numbers_have_no_broker_id(name):
    assert ConfigResource("broker", name).broker_id is None


def test_user_generators_and_mappings_run_in_the_callers_thread(kafka_broker):
    threads = set()

    def names():
        threads.add(threading.current_thread())
        yield from sorted(client.list_topics())

    with KafkaAdminClient(bootstrap_servers=kafka_broker.bootstrap_servers) as client:
        client.create_topics(NewTopic(name, 1, 1) for name in ("t", "u"))
        assert {topic["name"] for topic in client.describe_topics(names())} == {"t", "u"}
        client.delete_topics(names())
        assert client.list_topics() == []
    assert threads == {threading.current_thread()}
