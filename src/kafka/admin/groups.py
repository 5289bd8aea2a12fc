"""Consumer groups: list, describe, delete, and their committed offsets."""

import asyncio
import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

from kafka.admin.requests import AdminRequests, check_answered
from kafka.errors import BrokerResponseError, KafkaError, NoError, WireFormatError, for_code
from kafka.structs import GroupInformation, MemberInformation, OffsetAndMetadata, TopicPartition
from kafka.wire import Message, Request
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka.wire.api.delete_groups import DeleteGroupsRequest
from kafka.wire.api.describe_groups import DescribeGroupsRequest
from kafka.wire.api.list_groups import ListGroupsRequest
from kafka.wire.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)

_GROUPS_SINCE = 8
_NAMES_UNTIL = 9
_ALL_SINCE = 2
_OPERATIONS = (
    *("UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION"),
    *("DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT"),
)
"""ACL operations by their number on the wire."""


class MemberSubscription(NamedTuple):
    """What a member of a consumer group subscribes to."""

    version: int
    subscription: list[str]
    user_data: bytes | None

    @property
    def topics(self) -> list[str]:
        """The same as ``subscription``."""
        return self.subscription


class MemberAssignment(NamedTuple):
    """What a member of a consumer group was assigned: pairs of a topic and its partitions."""

    version: int
    assignment: list[tuple[str, list[int]]]
    user_data: bytes | None

    def partitions(self) -> list[TopicPartition]:
        """The partitions one by one."""
        return [TopicPartition(topic, partition) for topic, each in self.assignment for partition in each]


async def list_consumer_groups(requests: AdminRequests, broker_ids: Iterable[int] | None) -> list[tuple[str, str]]:
    """See `KafkaAdminClient.list_consumer_groups`."""
    if broker_ids is None:
        await requests.cluster.retry(lambda: requests.cluster.refresh_metadata(()), requests.options.request_timeout_ms)
        broker_ids = [node.nodeId for node in requests.cluster.metadata.brokers()]

    async def ask(node_id: int) -> list[tuple[str, str]]:
        async def once() -> Any:
            response = await requests.cluster.send(node_id, ListGroupsRequest())
            if response.error_code:
                raise for_code(response.error_code)(f"listing the groups of broker {node_id}")
            return response

        response = await requests.cluster.retry(once, requests.options.request_timeout_ms)
        return [(each.group_id, each.protocol_type) for each in response.groups]

    answers = await asyncio.gather(*(ask(node_id) for node_id in broker_ids))
    return list(dict.fromkeys(group for answer in answers for group in answer))


async def describe_consumer_groups(
    requests: AdminRequests, group_ids: Iterable[str], node_id: int | None, include_authorized_operations: bool
) -> list[GroupInformation]:
    """See `KafkaAdminClient.describe_consumer_groups`."""

    async def describe(group_id: str) -> GroupInformation:
        def make(version: int) -> tuple[Request[Any], int]:
            wants_operations = include_authorized_operations and version >= 3
            return DescribeGroupsRequest(groups=[group_id], include_authorized_operations=wants_operations), version

        response = await requests.coordinator(
            group_id,
            make,
            DescribeGroupsRequest,
            lambda response: [each.error_code for each in response.groups],
            node_id,
        )
        check_answered("groups", [group_id], (each.group_id for each in response.groups))
        return _group(response.groups[0])

    return list(await asyncio.gather(*(describe(group_id) for group_id in group_ids)))


def _group(group: Any) -> GroupInformation:
    if group.error_code:
        error = for_code(group.error_code)
        raise error(f"group {group.group_id!r}: {group.error_message or error.description}")
    operations = group.authorized_operations
    return GroupInformation(
        error_code=group.error_code,
        group=group.group_id,
        state=group.group_state,
        protocol_type=group.protocol_type,
        protocol=group.protocol_data,
        members=[_member(each, group.protocol_type) for each in group.members],
        authorized_operations=None if operations < 0 else _operation_names(operations),
    )


def _operation_names(bits: int) -> list[str]:
    """The ACL operations of a bit field (KIP-430)."""
    return [name for bit, name in enumerate(_OPERATIONS) if bits >> bit & 1]


def _member(member: Any, protocol_type: str) -> MemberInformation:
    subscription: object = member.member_metadata
    assignment: object = member.member_assignment
    if protocol_type == "consumer":
        subscription = _subscription(member.member_metadata)
        assignment = _assignment(member.member_assignment)
    return MemberInformation(member.member_id, member.client_id, member.client_host, subscription, assignment)


def _decode(cls: type[Message], data: bytes) -> tuple[int, Any]:
    """A message of the consumer protocol, which carries its version in front; later versions add at the end only."""
    if len(data) < 2:
        raise WireFormatError("no version")
    (version,) = struct.unpack_from(">h", data)
    return version, cls.decode_prefix(data, min(version, cls.MAX_VERSION), 2)[0]


def _subscription(data: bytes) -> MemberSubscription | bytes:
    try:
        version, decoded = _decode(ConsumerProtocolSubscription, data)
    except WireFormatError:  # a protocol of the application's own, or newer than this client: hand out the bytes
        return data
    return MemberSubscription(version, list(decoded.topics), decoded.user_data)


def _assignment(data: bytes) -> MemberAssignment | bytes:
    try:
        version, decoded = _decode(ConsumerProtocolAssignment, data)
    except WireFormatError:  # as above; empty while the group rebalances
        return data
    pairs = [(each.topic, list(each.partitions)) for each in decoded.assigned_partitions]
    return MemberAssignment(version, pairs, decoded.user_data)


async def delete_consumer_groups(
    requests: AdminRequests, group_ids: Iterable[str], node_id: int | None
) -> list[tuple[str, type[BrokerResponseError]]]:
    """See `KafkaAdminClient.delete_consumer_groups`."""

    async def delete(group_id: str) -> tuple[str, type[BrokerResponseError]]:
        response = await requests.coordinator(
            group_id,
            lambda version: (DeleteGroupsRequest(groups_names=[group_id]), version),
            DeleteGroupsRequest,
            lambda response: [each.error_code for each in response.results],
            node_id,
        )
        check_answered("groups", [group_id], (each.group_id for each in response.results))
        code = response.results[0].error_code
        return group_id, for_code(code) if code else NoError

    return list(await asyncio.gather(*(delete(group_id) for group_id in group_ids)))


async def list_consumer_group_offsets(
    requests: AdminRequests, group_id: str, node_id: int | None, partitions: Iterable[TopicPartition] | None
) -> dict[TopicPartition, OffsetAndMetadata]:
    """See `KafkaAdminClient.list_consumer_group_offsets`."""
    by_topic: dict[str, list[int]] | None = None
    if partitions is not None:
        by_topic = {}
        for topic, partition in partitions:
            by_topic.setdefault(topic, []).append(partition)
    response = await requests.coordinator(
        group_id,
        lambda version: _offset_request(group_id, by_topic, version),
        OffsetFetchRequest,
        _offset_error_codes,
        node_id,
    )
    answer = response.groups[0] if response.groups else response
    _raise_for(answer.error_code, f"offsets of group {group_id!r}")
    answered = ((topic.name, each.partition_index) for topic in answer.topics for each in topic.partitions)
    asked = ((topic, partition) for topic, partitions in (by_topic or {}).items() for partition in partitions)
    check_answered("partitions", asked, answered)
    offsets = {}
    for topic in answer.topics:
        for each in topic.partitions:
            _raise_for(each.error_code, f"offset of group {group_id!r} for {topic.name}-{each.partition_index}")
            offsets[TopicPartition(topic.name, each.partition_index)] = OffsetAndMetadata(
                each.committed_offset, each.metadata, each.committed_leader_epoch
            )
    return offsets


def _offset_request(group_id: str, by_topic: dict[str, list[int]] | None, version: int) -> tuple[Request[Any], int]:
    version = min(version, _NAMES_UNTIL)
    if version >= _GROUPS_SINCE:
        wanted = None
        if by_topic is not None:
            wanted = [OffsetFetchRequestTopics(name=t, partition_indexes=p) for t, p in by_topic.items()]
        return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=wanted)]), version
    topics = None
    if by_topic is not None:
        topics = [OffsetFetchRequestTopic(name=t, partition_indexes=p) for t, p in by_topic.items()]
    elif version < _ALL_SINCE:
        raise for_code(35)("brokers before 0.10.2 do not list all offsets of a group: name the partitions")
    return OffsetFetchRequest(group_id=group_id, topics=topics), version


def _offset_error_codes(response: Any) -> list[int]:
    if response.groups:
        return [each.error_code for each in response.groups]
    inner = [each.error_code for topic in response.topics for each in topic.partitions]
    return [response.error_code, *inner]


def _raise_for(code: int, what: str) -> None:
    if code:
        error: type[KafkaError] = for_code(code)
        raise error(what)
