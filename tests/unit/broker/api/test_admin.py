"""Topics, configs, offsets and groups over the wire, and their state after a restart."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kafka.broker import EmbeddedBroker, topic_file
from kafka.broker.error_codes import ErrorCode
from kafka.wire.api.alter_configs import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from kafka.wire.api.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kafka.wire.api.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kafka.wire.api.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kafka.wire.api.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka.wire.api.describe_cluster import DescribeClusterRequest
from kafka.wire.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kafka.wire.api.describe_groups import DescribeGroupsRequest
from kafka.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from kafka.wire.api.find_coordinator import FindCoordinatorRequest
from kafka.wire.api.incremental_alter_configs import AlterableConfig as Step
from kafka.wire.api.incremental_alter_configs import AlterConfigsResource as Steps
from kafka.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafka.wire.api.init_producer_id import InitProducerIdRequest
from kafka.wire.api.list_groups import ListGroupsRequest
from kafka.wire.api.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafka.wire.api.metadata import MetadataRequest, MetadataRequestTopic
from kafka.wire.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka.wire.api.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka.wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from unit.broker.batches import make_batch
from unit.broker.requests import create, fetch_request, fetched, produce_request, produced, values
from unit.broker.wireclient import WireClient

TOPIC = 2


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(tmp_path / "data", node_id=5, num_partitions=2, rack="r1") as running:
        yield running


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[WireClient]:
    async with WireClient(broker) as connected:
        yield connected


# -- topics -----------------------------------------------------------------------------------------------------------


async def test_metadata_contains_the_broker_and_the_topics(broker: EmbeddedBroker, client: WireClient) -> None:
    topic_id = await create(client, "t", 3)
    response = await client.call(MetadataRequest(topics=None), 13)
    (node,) = response.brokers
    assert (node.node_id, node.port, node.rack) == (5, broker.port, "r1")
    assert response.controller_id == 5
    (topic,) = response.topics
    assert (topic.name, topic.topic_id, len(topic.partitions)) == ("t", topic_id, 3)
    assert {one.leader_id for one in topic.partitions} == {5}
    by_id = await client.call(MetadataRequest(topics=[MetadataRequestTopic(topic_id=topic_id, name=None)]), 12)
    assert by_id.topics[0].name == "t"
    assert len((await client.call(MetadataRequest(topics=[]), 0)).topics) == 1
    assert not (await client.call(MetadataRequest(topics=[]), 1)).topics
    described = await client.call(DescribeClusterRequest(), 1)
    assert described.cluster_id == response.cluster_id


async def test_requested_topics_are_created_only_if_allowed(client: WireClient) -> None:
    async def ask(version: int, allow: bool) -> tuple[int, int]:
        request = MetadataRequest(topics=[MetadataRequestTopic(name="new")], allow_auto_topic_creation=allow)
        (topic,) = (await client.call(request, version)).topics
        return topic.error_code, len(topic.partitions)

    assert await ask(9, allow=False) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0)
    assert await ask(9, allow=True) == (0, 2)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": "bad name"}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ({"name": "there"}, ErrorCode.TOPIC_ALREADY_EXISTS),
        ({"name": "a_b"}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ({"num_partitions": 0}, ErrorCode.INVALID_PARTITIONS),
        ({"replication_factor": 2}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ({"configs": [CreatableTopicConfig(name="retention.ms", value="x")]}, ErrorCode.INVALID_CONFIG),
    ],
)
async def test_an_invalid_topic_is_rejected(client: WireClient, changes: dict[str, object], code: ErrorCode) -> None:
    await create(client, "there")
    await create(client, "a.b")
    asked = CreatableTopic(**{"name": "t", "num_partitions": 1, "replication_factor": 1, **changes})  # type: ignore[arg-type]
    (result,) = (await client.call(CreateTopicsRequest(topics=[asked]), 7)).topics
    assert result.error_code == code
    assert result.error_message


async def test_validate_only_creates_nothing(client: WireClient) -> None:
    asked = CreatableTopic(name="t", num_partitions=-1, replication_factor=-1)
    (result,) = (await client.call(CreateTopicsRequest(topics=[asked], validate_only=True), 7)).topics
    assert (result.error_code, result.num_partitions) == (0, 2)
    assert not (await client.call(MetadataRequest(topics=None), 12)).topics


async def test_partitions_can_be_added_but_not_removed(client: WireClient) -> None:
    await create(client, "t")
    codes = []
    for count in (3, 3, 2):
        request = CreatePartitionsRequest(topics=[CreatePartitionsTopic(name="t", count=count, assignments=None)])
        codes.append((await client.call(request, 3)).results[0].error_code)
    assert codes == [0, ErrorCode.INVALID_PARTITIONS, ErrorCode.INVALID_PARTITIONS]
    assert produced(await client.call(produce_request("t", make_batch([b"a"]), partition=2), 9)).error_code == 0


async def test_a_recreated_topic_is_empty(client: WireClient, tmp_path: Path) -> None:
    old_id = await create(client, "t")
    await client.call(produce_request("t", make_batch([b"old"])), 9)
    (result,) = (await client.call(DeleteTopicsRequest(topics=[DeleteTopicState(topic_id=old_id)]), 6)).responses
    assert (result.error_code, result.name) == (0, "t")
    assert not list((tmp_path / "data" / "logs").iterdir())
    assert await create(client, "t") != old_id
    assert values(fetched(await client.call(fetch_request("t"), 11))) == []
    (result,) = (await client.call(DeleteTopicsRequest(topic_names=["none"]), 1)).responses
    assert result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_topics_are_described_in_pages(client: WireClient) -> None:
    for name in ("a", "b"):
        await create(client, name, 3)
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name="a"), TopicRequest(name="b")])
    request.response_partition_limit = 2
    pages = []
    while True:
        response = await client.call(request, 0)
        pages.append([(one.name, [p.partition_index for p in one.partitions]) for one in response.topics])
        if response.next_cursor is None:
            break
        request.cursor = response.next_cursor
    assert pages == [[("a", [0, 1])], [("a", [2]), ("b", [0])], [("b", [1, 2])]]


async def test_records_are_deleted_before_an_offset(client: WireClient) -> None:
    await create(client, "t")
    await client.call(produce_request("t", make_batch([b"a", b"b", b"c"])), 9)
    for offset, expected in ((2, (0, 2)), (9, (ErrorCode.OFFSET_OUT_OF_RANGE, -1)), (-1, (0, 3))):
        request = DeleteRecordsRequest(
            topics=[DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)])]
        )
        (partition,) = (await client.call(request, 2)).topics[0].partitions
        assert (partition.error_code, partition.low_watermark) == expected


@pytest.mark.parametrize("version", [0, 1, 7, 11])
async def test_offsets_are_found_by_timestamp(client: WireClient, version: int) -> None:
    await create(client, "t")
    await client.call(produce_request("t", make_batch([b"a", b"b", b"c"], timestamp=100)), 9)
    found = {}
    for timestamp in (-1, -2, -3, 101, 500):
        asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        if version == 0:
            asked.max_num_offsets = 1
        request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="t", partitions=[asked])])
        (partition,) = (await client.call(request, version)).topics[0].partitions
        offsets = partition.old_style_offsets if version == 0 else [partition.offset]
        found[timestamp] = partition.error_code or (offsets[0] if offsets else -1)
    assert found == {-1: 3, -2: 0, -3: 2 if version >= 7 else ErrorCode.UNSUPPORTED_VERSION, 101: 1, 500: -1}


# -- configs ----------------------------------------------------------------------------------------------------------


async def described(client: WireClient, topic: str) -> dict[str, tuple[str | None, int]]:
    request = DescribeConfigsRequest(
        resources=[DescribeConfigsResource(resource_type=TOPIC, resource_name=topic, configuration_keys=None)]
    )
    (result,) = (await client.call(request, 4)).results
    assert result.error_code == 0
    return {one.name: (one.value, one.config_source) for one in result.configs}


async def test_configs_are_changed_one_by_one_or_all_at_once(client: WireClient) -> None:
    await create(client, "t", retention_ms="5", segment_bytes="1000")

    async def step(name: str, operation: int, value: str | None) -> int:
        steps = Steps(
            resource_type=TOPIC, resource_name="t", configs=[Step(name=name, config_operation=operation, value=value)]
        )
        response = await client.call(IncrementalAlterConfigsRequest(resources=[steps]), 1)
        return response.responses[0].error_code

    assert await step("retention.ms", 0, "77") == 0
    assert await step("segment.bytes", 1, None) == 0
    assert await step("cleanup.policy", 2, "compact") == 0
    assert await step("retention.ms", 2, "1") == ErrorCode.INVALID_CONFIG
    assert await step("no.such", 1, None) == 0
    assert await step("no.such", 0, "1") == ErrorCode.INVALID_CONFIG
    assert await step("retention.ms", 0, None) == ErrorCode.INVALID_REQUEST
    configs = await described(client, "t")
    assert configs["retention.ms"] == ("77", 1)
    assert configs["segment.bytes"] == ("1073741824", 5)
    assert configs["cleanup.policy"] == ("delete,compact", 1)
    everything = AlterConfigsResource(
        resource_type=TOPIC, resource_name="t", configs=[AlterableConfig(name="max.message.bytes", value="100")]
    )
    await client.call(AlterConfigsRequest(resources=[everything]), 2)
    configs = await described(client, "t")
    assert configs["retention.ms"] == ("604800000", 5)
    answer = produced(await client.call(produce_request("t", make_batch([b"x" * 100])), 9))
    assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE


# -- producers, coordinators ------------------------------------------------------------------------------------------


async def test_producer_ids_are_never_repeated(client: WireClient) -> None:
    answers = [await client.call(InitProducerIdRequest(transactional_id=None), 4) for _ in range(3)]
    assert len({one.producer_id for one in answers}) == 3
    again = InitProducerIdRequest(transactional_id=None, producer_id=answers[0].producer_id, producer_epoch=0)
    new = await client.call(again, 4)
    assert new.producer_epoch == 0
    assert new.producer_id not in {one.producer_id for one in answers}


async def test_the_broker_coordinates_groups_and_transactions(client: WireClient) -> None:
    old = await client.call(FindCoordinatorRequest(key="g"), 2)
    assert (old.error_code, old.node_id) == (0, 5)
    new = await client.call(FindCoordinatorRequest(coordinator_keys=["g", "h"]), 6)
    assert [(one.key, one.node_id) for one in new.coordinators] == [("g", 5), ("h", 5)]
    of_transactions = await client.call(FindCoordinatorRequest(coordinator_keys=["tx"], key_type=1), 6)
    assert [(one.error_code, one.node_id) for one in of_transactions.coordinators] == [(0, 5)]
    refused = await client.call(FindCoordinatorRequest(coordinator_keys=["x"], key_type=2), 6)
    assert refused.coordinators[0].error_code == ErrorCode.INVALID_REQUEST


# -- offsets and groups -----------------------------------------------------------------------------------------------


async def commit(client: WireClient, topic: str, offset: int, metadata: str = "", version: int = 8) -> int:
    row = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset, committed_metadata=metadata)
    request = OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=-1,
        topics=[OffsetCommitRequestTopic(name=topic, partitions=[row])],
    )
    return (await client.call(request, version)).topics[0].partitions[0].error_code


async def committed(client: WireClient) -> dict[str, int]:
    response = await client.call(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)]), 8)
    return {topic.name: topic.partitions[0].committed_offset for topic in response.groups[0].topics}


async def test_offsets_are_committed_fetched_and_deleted(client: WireClient) -> None:
    topic_id = await create(client, "t")
    assert await commit(client, "t", 42) == 0
    assert await commit(client, "none", 1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert await commit(client, "t", 43, metadata="x" * 5000) == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert await committed(client) == {"t": 42}
    by_id = OffsetFetchRequestGroup(
        group_id="g", topics=[OffsetFetchRequestTopics(topic_id=topic_id, partition_indexes=[0, 1])]
    )
    (topic,) = (await client.call(OffsetFetchRequest(groups=[by_id]), 10)).groups[0].topics
    assert [one.committed_offset for one in topic.partitions] == [42, -1]
    gone = OffsetDeleteRequestTopic(name="t", partitions=[OffsetDeleteRequestPartition(partition_index=0)])
    await client.call(OffsetDeleteRequest(group_id="g", topics=[gone]), 0)
    assert await committed(client) == {}


async def test_groups_are_listed_and_described(client: WireClient) -> None:
    await create(client, "t")
    await commit(client, "t", 1)
    (group,) = (await client.call(ListGroupsRequest(), 5)).groups
    assert (group.group_id, group.group_state, group.group_type) == ("g", "Empty", "classic")
    assert not (await client.call(ListGroupsRequest(states_filter=["Stable"]), 4)).groups
    response = await client.call(DescribeGroupsRequest(groups=["g", "none"]), 6)
    assert [(one.group_state, one.error_code) for one in response.groups] == [
        ("Empty", 0),
        ("Dead", ErrorCode.GROUP_ID_NOT_FOUND),
    ]


async def test_everything_but_memberships_survives_a_restart(tmp_path: Path) -> None:
    async with EmbeddedBroker(tmp_path / "kept") as first, WireClient(first) as client:
        topic_id = await create(client, "t", 2, retention_ms="12345")
        await client.call(produce_request("t", make_batch([b"a"]), partition=1), 9)
        await commit(client, "t", 7)
        cluster_id = (await client.call(MetadataRequest(topics=None), 12)).cluster_id
        producer_id = (await client.call(InitProducerIdRequest(transactional_id=None), 4)).producer_id
    async with EmbeddedBroker(tmp_path / "kept") as second, WireClient(second) as client:
        response = await client.call(MetadataRequest(topics=None), 12)
        assert response.cluster_id == cluster_id
        assert [(one.topic_id, len(one.partitions)) for one in response.topics] == [(topic_id, 2)]
        assert (await described(client, "t"))["retention.ms"] == ("12345", 1)
        assert await committed(client) == {"t": 7}
        assert (await client.call(InitProducerIdRequest(transactional_id=None), 4)).producer_id > producer_id
        request = fetch_request("t", partitions=2)
        found = (await client.call(request, 11)).responses[0].partitions
        assert [values(one) for one in found] == [[], [b"a"]]


async def test_many_topics_are_created_in_one_step(client: WireClient, monkeypatch: pytest.MonkeyPatch) -> None:
    saves: list[int] = []
    original = topic_file.replace_file
    monkeypatch.setattr(topic_file, "replace_file", lambda *a, **kw: (saves.append(1), original(*a, **kw)))
    names = [f"t{number}" for number in range(300)]
    asked = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    response = await client.call(CreateTopicsRequest(topics=[*asked, asked[0]]), 7)
    assert [one.name for one in response.topics if not one.error_code] == names[1:]
    assert saves == [1]
    request = MetadataRequest(topics=[MetadataRequestTopic(name=f"u{number}") for number in range(300)])
    assert not any(one.error_code for one in (await client.call(request, 9)).topics)
    assert saves == [1, 1]
    gone = DeleteTopicsRequest(topics=[DeleteTopicState(name=name) for name in names])
    assert sum(not one.error_code for one in (await client.call(gone, 6)).responses) == 299
    assert saves == [1, 1, 1]
