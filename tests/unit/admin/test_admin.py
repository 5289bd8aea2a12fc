"""Operations against scripted brokers: retries, errors, and the shapes of results."""

import asyncio
import copy
import pickle
import struct

import pytest

from kafka.admin import AlterConfigOp, ConfigResource, ConfigResourceType, KafkaAdminClient, NewPartitions, NewTopic
from kafka.errors import (
    GroupIdNotFoundError,
    IllegalArgumentError,
    IllegalStateError,
    InvalidConfigurationError,
    InvalidRequestError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaProtocolError,
    NoBrokersAvailable,
    NoError,
    OffsetOutOfRangeError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.wire.api import alter_configs, incremental_alter_configs
from kafka.wire.api.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolAssignmentTopicPartition,
    ConsumerProtocolSubscription,
)
from kafka.wire.api.create_partitions import CreatePartitionsResponse, CreatePartitionsTopicResult
from kafka.wire.api.create_topics import CreatableTopicResult, CreateTopicsResponse
from kafka.wire.api.delete_groups import DeletableGroupResult, DeleteGroupsResponse
from kafka.wire.api.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from kafka.wire.api.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from kafka.wire.api.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kafka.wire.api.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsResponse
from kafka.wire.api.list_groups import ListedGroup, ListGroupsResponse
from kafka.wire.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from unit.net.scripted import HANG_UP

TP = TopicPartition("t", 0)


async def reconnect(admin, cluster):
    """Make the client request the brokers' API versions again."""
    for broker in cluster.brokers:
        broker.hang_up()
    async with asyncio.timeout(60):
        while any(admin.client._core.cluster.ready_connection(broker.node_id) for broker in cluster.brokers):
            await asyncio.sleep(0)


def answer_everywhere(cluster, api, handler):
    for broker in cluster.brokers:
        broker.on(api, handler)


def asked(cluster, api):
    return [request for broker in cluster.brokers for request in broker.requests(api)]


def created(*codes):
    def answer(header, request):
        results = [
            CreatableTopicResult(name=topic.name, error_code=code, error_message="because" if code else None)
            for topic, code in zip(request.topics, codes, strict=True)
        ]
        return CreateTopicsResponse(topics=results)

    return answer


# Life cycle


async def test_the_constructor_reports_the_servers_answers():
    with pytest.raises(NoBrokersAvailable, match="refused"):
        await asyncio.to_thread(KafkaAdminClient, bootstrap_servers="127.0.0.1:1", bootstrap_timeout_ms=500)


def test_an_unknown_option_is_rejected_with_a_suggestion():
    with pytest.raises(KafkaConfigurationError, match="request_timeout_ms"):
        KafkaAdminClient(request_timeout=5)


async def test_a_closed_client_rejects_calls(admin):
    await admin.close()
    await admin.close()
    with pytest.raises(IllegalStateError, match="closed"):
        await admin.list_topics()


async def test_it_is_a_context_manager(cluster):
    def use():
        broker = cluster.brokers[0]
        with KafkaAdminClient(bootstrap_servers=f"{broker.host}:{broker.port}") as client:
            return client, client.list_topics()

    client, topics = await asyncio.to_thread(use)
    assert topics == ["t"]
    with pytest.raises(IllegalStateError):
        client.list_topics()


async def test_a_garbage_collected_client_closes_its_connections(cluster):
    broker = cluster.brokers[0]
    await asyncio.to_thread(lambda: KafkaAdminClient(bootstrap_servers=f"{broker.host}:{broker.port}").list_topics())
    async with asyncio.timeout(60):
        while broker._writers:
            await asyncio.sleep(0)


@pytest.mark.parametrize("lose", [pickle.dumps, copy.copy, copy.deepcopy])
async def test_pickling_and_copying_raise_an_explanation(admin, lose):
    with pytest.raises(TypeError, match=r"^(Async)?KafkaAdminClient objects own connections, so they cannot"):
        lose(admin.client)
    assert await admin.list_topics() == ["t"], "no copy has closed it"


def test_the_default_options_are_listed():
    assert KafkaAdminClient.DEFAULT_CONFIG["request_timeout_ms"] == 30_000
    assert "group_id" not in KafkaAdminClient.DEFAULT_CONFIG


# Topics


async def test_create_topics_supports_both_generations(admin, cluster):
    answer_everywhere(cluster, "CreateTopics", created(0, 0))
    new = [NewTopic("a", 3, 2, topic_configs={"retention.ms": 5}), NewTopic("b", replica_assignments={0: [1, 2]})]
    result = await admin.create_topics(new)
    assert result.topic_errors == [("a", 0, None), ("b", 0, None)]
    assert [topic["name"] for topic in result["topics"]] == ["a", "b"]
    assert result.throttle_time_ms == result["throttle_time_ms"] == 0
    (request,) = asked(cluster, "CreateTopics")
    assert (request.topics[0].num_partitions, request.topics[0].replication_factor) == (3, 2)
    assert (request.topics[0].configs[0].name, request.topics[0].configs[0].value) == ("retention.ms", "5")
    assert request.topics[1].assignments[0].broker_ids == [1, 2]
    assert request.timeout_ms == 3_000


async def test_create_topics_raises_the_error_of_a_topic(admin, cluster):
    answer_everywhere(cluster, "CreateTopics", created(0, 36))
    with pytest.raises(TopicAlreadyExistsError, match="'b': because"):
        await admin.create_topics([NewTopic("a"), NewTopic("b")])
    assert len(asked(cluster, "CreateTopics")) == 1


async def test_a_request_follows_a_moved_controller(admin, cluster):
    def moved(header, request):
        cluster.controller = 2
        return created(41)(header, request)

    cluster.brokers[0].on("CreateTopics", moved)
    cluster.brokers[1].on("CreateTopics", created(0))
    assert (await admin.create_topics([NewTopic("a")])).topic_errors == [("a", 0, None)]


async def test_a_creation_with_unknown_outcome_is_not_repeated(admin, cluster):
    answer_everywhere(cluster, "CreateTopics", lambda *_: HANG_UP)
    with pytest.raises(KafkaConnectionError, match="closed the connection"):
        await admin.create_topics([NewTopic("a")])
    assert len(asked(cluster, "CreateTopics")) == 1


async def test_old_brokers_need_partition_and_replica_counts(admin, cluster):
    for broker in cluster.brokers:
        broker.versions[19] = (0, 3)
    await reconnect(admin, cluster)
    answer_everywhere(cluster, "CreateTopics", created(0))
    with pytest.raises(UnsupportedVersionError, match="set num_partitions"):
        await admin.create_topics([NewTopic("a")])
    await admin.create_topics([NewTopic("a", 1, 1)])


def test_a_new_topic_has_either_counts_or_assignments():
    with pytest.raises(IllegalArgumentError):
        NewTopic("a", 1, 1, replica_assignments={0: [1]})


async def test_other_objects_than_new_topics_are_rejected(admin):
    with pytest.raises(IllegalArgumentError, match="NewTopic"):
        await admin.create_topics([7])


async def test_delete_topics_supports_both_generations(admin, cluster):
    answer_everywhere(
        cluster,
        "DeleteTopics",
        lambda _, request: DeleteTopicsResponse(responses=[DeletableTopicResult(name=n) for n in request.topic_names]),
    )
    result = await admin.delete_topics(["a", "b"])
    assert result.topic_error_codes == [("a", 0), ("b", 0)]
    assert result["topics"][1]["name"] == "b"


async def test_create_partitions_sends_counts_and_assignments(admin, cluster):
    answer_everywhere(
        cluster,
        "CreatePartitions",
        lambda *_: CreatePartitionsResponse(results=[CreatePartitionsTopicResult(name="t")]),
    )
    result = await admin.create_partitions({"t": NewPartitions(4, [[1], [2]])}, validate_only=True)
    assert result.topic_errors == [("t", 0, None)]
    (request,) = asked(cluster, "CreatePartitions")
    assert (request.topics[0].count, request.topics[0].assignments[1].broker_ids) == (4, [2])
    assert request.validate_only


async def test_topic_descriptions_have_the_keys_of_both_generations(admin, cluster):
    assert await admin.list_topics() == ["t"]
    known, missing = await admin.describe_topics(["t", "missing"])
    assert known["topic"] == known["name"] == "t"
    assert (
        [p["partition"] for p in known["partitions"]] == [p["partition_index"] for p in known["partitions"]] == [0, 1]
    )
    assert known["partitions"][1]["leader"] == known["partitions"][1]["leader_id"] == 2
    assert (missing["error_code"], missing["partitions"]) == (3, [])
    assert not any(request.allow_auto_topic_creation for request in asked(cluster, "Metadata")[1:])


async def test_the_cluster_is_described(admin, cluster):
    described = await admin.describe_cluster()
    assert (described["cluster_id"], described["controller_id"]) == ("scripted", 1)
    assert [(b["node_id"], b["port"]) for b in described["brokers"]] == [(b.node_id, b.port) for b in cluster.brokers]


# Configurations


async def test_a_brokers_settings_are_requested_from_that_broker(admin, cluster):
    def describe(header, request):
        configs = [
            DescribeConfigsResourceResult(
                name="k", value="v", config_source=5, synonyms=[DescribeConfigsSynonym(name="s", value="w", source=4)]
            )
        ]
        return DescribeConfigsResponse(
            results=[
                DescribeConfigsResult(resource_type=r.resource_type, resource_name=r.resource_name, configs=configs)
                for r in request.resources
            ]
        )

    answer_everywhere(cluster, "DescribeConfigs", describe)
    resources = [ConfigResource("topic", "t", ["k"]), ConfigResource(ConfigResourceType.BROKER, "2")]
    first, second = await admin.describe_configs(resources, include_synonyms=True)
    assert first.resources == [(0, "", 2, "t", [("k", "v", False, 5, False, [("s", "w", 4)])])]
    assert second["results"][0]["configs"][0]["value"] == "v"
    assert [request.resources[0].resource_name for request in cluster.brokers[1].requests("DescribeConfigs")][-1] == "2"


@pytest.mark.parametrize("omits", [True, False])
async def test_an_unknown_type_of_resource_names_its_release(admin, cluster, omits):
    def describe(header, request):
        kinds = [(r.resource_type, r.resource_name) for r in request.resources]
        results = [DescribeConfigsResult(error_code=42, resource_type=k, resource_name=n) for k, n in kinds]
        return DescribeConfigsResponse(results=[] if omits else results)

    answer_everywhere(cluster, "DescribeConfigs", describe)
    with pytest.raises(UnsupportedVersionError, match=r"group 'g': .* requires Kafka 4\.0"):
        await admin.describe_configs([ConfigResource("group", "g")])
    with pytest.raises(KafkaProtocolError if omits else InvalidRequestError):
        await admin.describe_configs([ConfigResource("topic", "t")])


def altered(module, code=0):
    response = getattr(module, next(n for n in vars(module) if n.endswith("AlterConfigsResponse")))

    def answer(header, request):
        results = [
            module.AlterConfigsResourceResponse(
                error_code=code, error_message="no", resource_type=r.resource_type, resource_name=r.resource_name
            )
            for r in request.resources
        ]
        return response(responses=results)

    return answer


async def test_configs_are_replaced_as_a_whole_by_default(admin, cluster):
    answer_everywhere(cluster, "AlterConfigs", altered(alter_configs))
    result = await admin.alter_configs([ConfigResource("TOPIC", "t", {"a": 1, "b": True})])
    assert result.resources == [(0, "no", 2, "t")]
    (request,) = asked(cluster, "AlterConfigs")
    assert [(c.name, c.value) for c in request.resources[0].configs] == [("a", "1"), ("b", "true")]


async def test_incremental_changes_set_delete_and_append(admin, cluster):
    answer_everywhere(cluster, "IncrementalAlterConfigs", altered(incremental_alter_configs))
    changes = {"a": "1", "b": None, "c": (AlterConfigOp.APPEND, "x")}
    await admin.alter_configs([ConfigResource("topic", "t", changes)], incremental=True)
    (request,) = asked(cluster, "IncrementalAlterConfigs")
    assert [(c.name, c.config_operation, c.value) for c in request.resources[0].configs] == [
        ("a", 0, "1"),
        ("b", 1, None),
        ("c", 2, "x"),
    ]


async def test_a_rejected_change_raises(admin, cluster):
    answer_everywhere(cluster, "AlterConfigs", altered(alter_configs, code=40))
    with pytest.raises(InvalidConfigurationError, match="topic 't': no"):
        await admin.alter_configs([ConfigResource("topic", "t", {"a": "x"})])


async def test_altering_needs_names_and_values(admin):
    with pytest.raises(IllegalArgumentError, match="dict"):
        await admin.alter_configs([ConfigResource("topic", "t", ["a"])])


# Groups


async def test_the_groups_of_all_brokers_are_listed_once(admin, cluster):
    cluster.brokers[0].on("ListGroups", lambda *_: ListGroupsResponse(groups=[ListedGroup(group_id="a")]))
    both = [ListedGroup(group_id="a"), ListedGroup(group_id="b", protocol_type="consumer")]
    cluster.brokers[1].on("ListGroups", lambda *_: ListGroupsResponse(groups=both))
    assert sorted(await admin.list_consumer_groups()) == [("a", ""), ("b", "consumer")]
    assert await admin.list_consumer_groups([1]) == [("a", "")]


def versioned(message, version):
    return struct.pack(">h", version) + message.encode(min(version, type(message).MAX_VERSION))


async def test_a_group_is_described_with_its_members_decoded(admin, cluster):
    subscription = ConsumerProtocolSubscription(topics=["t"], user_data=b"u")
    assigned = [ConsumerProtocolAssignmentTopicPartition(topic="t", partitions=[0, 1])]
    members = [
        DescribedGroupMember(
            member_id="m1",
            client_id="c",
            client_host="/h",
            member_metadata=versioned(subscription, 1),
            member_assignment=versioned(ConsumerProtocolAssignment(assigned_partitions=assigned), 0),
        ),
        DescribedGroupMember(
            member_id="m2",
            member_metadata=versioned(subscription, 9) + b"what later versions add",
            member_assignment=b"",
        ),
    ]
    group = DescribedGroup(
        group_id="g",
        group_state="Stable",
        protocol_type="consumer",
        protocol_data="range",
        members=members,
        authorized_operations=(1 << 3) | (1 << 8),
    )
    answer_everywhere(cluster, "DescribeGroups", lambda *_: DescribeGroupsResponse(groups=[group]))
    (described,) = await admin.describe_consumer_groups(["g"], include_authorized_operations=True)
    assert (described.group, described.state, described.protocol) == ("g", "Stable", "range")
    assert described.authorized_operations == ["READ", "DESCRIBE"]
    first, second = described.members
    assert first.member_metadata.subscription == first.member_metadata.topics == ["t"]
    assert first.member_metadata.user_data == b"u"
    assert first.member_assignment.assignment == [("t", [0, 1])]
    assert first.member_assignment.partitions() == [TopicPartition("t", 0), TopicPartition("t", 1)]
    assert (second.member_metadata.version, second.member_metadata.topics) == (9, ["t"])
    assert second.member_assignment == b""


def only_g_is_missing(_, request):
    missing = DescribedGroup(group_id="g", error_code=69, error_message="not found", group_state="Dead")
    stable = DescribedGroup(group_id="h", group_state="Stable", authorized_operations=0b1_0000_1000)
    return DescribeGroupsResponse(groups=[missing if name == "g" else stable for name in request.groups])


async def test_a_missing_group_is_dead_and_does_not_hide_others(admin, cluster):
    answer_everywhere(cluster, "DescribeGroups", only_g_is_missing)
    missing, stable = await admin.describe_consumer_groups(["g", "h"])
    assert (missing.group, missing.state, missing.error_code) == ("g", "Dead", 0)
    assert (stable.group, stable.state, stable.authorized_operations) == ("h", "Stable", ["READ", "DESCRIBE"])


async def test_describe_groups_returns_dicts_with_errors_by_group(admin, cluster):
    answer_everywhere(cluster, "DescribeGroups", only_g_is_missing)
    described = await admin.describe_groups(["g", "h"])
    assert described["g"]["group_state"] == "Dead"
    assert "not found" in described["g"]["error"]
    assert described["h"]["error"] is None
    assert described["h"]["group_state"] == "Stable"


async def test_delete_records_of_an_unknown_topic_raises_without_retrying(admin, cluster):
    with pytest.raises(UnknownTopicOrPartitionError, match="partition 0 of topic 'missing': there is no such topic"):
        await admin.delete_records({TopicPartition("missing", 0): 1})
    with pytest.raises(UnknownTopicOrPartitionError, match=r"partition 9 of topic 't': the topic has .*partition"):
        await admin.delete_records({TopicPartition("t", 9): 1})
    asked = [request for broker in cluster.brokers for request in broker.requests("Metadata")]
    assert not any(request.allow_auto_topic_creation for request in asked if request.topics)


async def test_configurations_are_a_list_as_in_2_and_a_mapping_as_in_3(admin, cluster):
    configs = [
        DescribeConfigsResourceResult(name="retention.ms", value="5", config_source=1, config_type=5),
        DescribeConfigsResourceResult(name="segment.ms", value="7", config_source=5, config_type=5),
    ]
    result = DescribeConfigsResult(resource_type=2, resource_name="t", configs=configs)
    answer_everywhere(cluster, "DescribeConfigs", lambda *_: DescribeConfigsResponse(results=[result]))
    described = await admin.describe_configs([ConfigResource("topic", "t")])
    assert [entry[0] for entry in described[0].resources[0][4]] == ["retention.ms", "segment.ms"]
    assert list(described["topic"]["t"]) == ["retention.ms"]
    shown = described["topic"]["t"]["retention.ms"]
    assert (shown["value"], shown["config_source"], shown["config_type"]) == ("5", "DYNAMIC_TOPIC_CONFIG", "LONG")
    everything = await admin.describe_configs([ConfigResource("topic", "t")], config_filter="all")
    assert list(everything.get("topic")["t"]) == ["retention.ms", "segment.ms"]
    assert "broker" not in everything


async def test_a_moved_or_loading_coordinator_is_retried(admin, cluster):
    def moved(*_):
        cluster.coordinator = 2
        return DeleteGroupsResponse(results=[DeletableGroupResult(group_id="g", error_code=16)])

    codes = iter([14, 15, 0])
    cluster.brokers[0].on("DeleteGroups", moved)
    cluster.brokers[1].on(
        "DeleteGroups",
        lambda *_: DeleteGroupsResponse(results=[DeletableGroupResult(group_id="g", error_code=next(codes))]),
    )
    assert await admin.delete_consumer_groups(["g"]) == [("g", NoError)]


async def test_deleting_groups_returns_an_error_class_for_each(admin, cluster):
    answer_everywhere(
        cluster,
        "DeleteGroups",
        lambda _, request: DeleteGroupsResponse(
            results=[DeletableGroupResult(group_id=name, error_code=69) for name in request.groups_names]
        ),
    )
    assert await admin.delete_consumer_groups(["a"]) == [("a", GroupIdNotFoundError)]


@pytest.mark.parametrize("version", [1, 5, 7, 8, 9, 10])
async def test_the_offsets_of_a_group_are_read_in_every_style(admin, cluster, version):
    def offsets(header, request):
        if header.request_api_version >= 8:
            partition = OffsetFetchResponsePartitions(partition_index=0, committed_offset=5, metadata="m")
            topics = [OffsetFetchResponseTopics(name="t", partitions=[partition])]
            return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id="g", topics=topics)])
        partition = OffsetFetchResponsePartition(partition_index=0, committed_offset=5, metadata="m")
        return OffsetFetchResponse(topics=[OffsetFetchResponseTopic(name="t", partitions=[partition])])

    for broker in cluster.brokers:
        broker.versions[OffsetFetchRequest.API_KEY] = (0, version)
    await reconnect(admin, cluster)
    answer_everywhere(cluster, "OffsetFetch", offsets)
    assert await admin.list_consumer_group_offsets("g", partitions=[TP]) == {TP: OffsetAndMetadata(5, "m", -1)}
    if version == 1:
        with pytest.raises(UnsupportedVersionError, match="name the partitions"):
            await admin.list_consumer_group_offsets("g")
    else:
        assert (await admin.list_consumer_group_offsets("g"))[TP].offset == 5


# Records


async def test_records_are_deleted_at_each_leader(admin, cluster):
    def delete(header, request):
        return deleted({p.partition_index: (p.offset, 0) for p in request.topics[0].partitions})

    answer_everywhere(cluster, "DeleteRecords", delete)
    other = TopicPartition("t", 1)
    result = await admin.delete_records({TP: 10, other: 20})
    assert {tp: each["low_watermark"] for tp, each in result.items()} == {TP: 10, other: 20}
    assert [len(broker.requests("DeleteRecords")) for broker in cluster.brokers] == [1, 1]


def deleted(partitions):
    results = [
        DeleteRecordsPartitionResult(partition_index=index, low_watermark=low, error_code=code)
        for index, (low, code) in partitions.items()
    ]
    return DeleteRecordsResponse(topics=[DeleteRecordsTopicResult(name="t", partitions=results)])


async def test_only_failed_deletions_are_retried_after_a_leader_moves(admin, cluster):
    cluster.leaders["t"] = [(1, 0), (1, 0)]

    def first(header, request):
        cluster.leaders["t"] = [(1, 0), (2, 1)]
        return deleted({0: (10, 0), 1: (-1, 6)})

    cluster.brokers[0].on("DeleteRecords", first)
    cluster.brokers[1].on("DeleteRecords", lambda *_: deleted({1: (20, 0)}))
    result = await admin.delete_records({TP: 10, TopicPartition("t", 1): 20})
    assert {tp.partition: each["low_watermark"] for tp, each in result.items()} == {0: 10, 1: 20}
    (again,) = cluster.brokers[1].requests("DeleteRecords")
    assert [p.partition_index for p in again.topics[0].partitions] == [1]


async def test_an_offset_out_of_range_raises(admin, cluster):
    answer_everywhere(cluster, "DeleteRecords", lambda *_: deleted({0: (-1, 1)}))
    with pytest.raises(OffsetOutOfRangeError, match="t-0"):
        await admin.delete_records({TP: 10})


# Unexpected responses


@pytest.mark.parametrize(
    ("api", "answer", "call", "arguments"),
    [
        ("CreateTopics", CreateTopicsResponse(), "create_topics", [[NewTopic("t", 1, 1)]]),
        ("DeleteTopics", DeleteTopicsResponse(), "delete_topics", [["t"]]),
        ("CreatePartitions", CreatePartitionsResponse(), "create_partitions", [{"t": NewPartitions(2)}]),
        ("DescribeConfigs", DescribeConfigsResponse(), "describe_configs", [[ConfigResource("topic", "t")]]),
        ("AlterConfigs", alter_configs.AlterConfigsResponse(), "alter_configs", [[ConfigResource("topic", "t", {})]]),
        ("DescribeGroups", DescribeGroupsResponse(), "describe_consumer_groups", [["t"]]),
        ("DeleteGroups", DeleteGroupsResponse(), "delete_consumer_groups", [["t"]]),
        ("DeleteRecords", DeleteRecordsResponse(), "delete_records", [{TP: 1}]),
        ("OffsetFetch", OffsetFetchResponse(), "list_consumer_group_offsets", ["g", None, [TP]]),
    ],
)
async def test_an_incomplete_response_is_an_error(admin, cluster, api, answer, call, arguments):
    answer_everywhere(cluster, api, lambda *_: answer)
    with pytest.raises(KafkaProtocolError, match=r"response lacks (1 .*'t'|'[tg]'|topic 't'|t-0)"):
        await getattr(admin, call)(*arguments)
