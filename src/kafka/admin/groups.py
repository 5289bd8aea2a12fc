"""Groups: list, describe, delete."""

import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from kafka.admin.concurrently import all_of
from kafka.admin.group_results import DescribedGroups, ListedGroup
from kafka.admin.operations import operation_names
from kafka.admin.requests import AdminRequests, check_answered
from kafka.admin.results import as_result
from kafka.errors import BrokerResponseError, GroupIdNotFoundError, WireFormatError, for_code
from kafka.structs import GroupInformation, MemberInformation, TopicPartition
from kafka.wire import Message, Request
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka.wire.api.delete_groups import DeleteGroupsRequest
from kafka.wire.api.describe_groups import DescribeGroupsRequest
from kafka.wire.api.list_groups import ListGroupsRequest

_STATES_SINCE = 4
_TYPES_SINCE = 5


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

    @property
    def topic_partitions(self) -> list[TopicPartition]:
        """The same as `partitions`."""
        return self.partitions()


async def list_groups(
    requests: AdminRequests,
    broker_ids: list[int] | None,
    states: Sequence[str] = (),
    types: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """See `KafkaAdminClient.list_groups`."""
    version = _TYPES_SINCE if types else _STATES_SINCE if states else 0
    request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))

    async def ask(node_id: int) -> list[dict[str, Any]]:
        async def once() -> Any:
            response = await requests.cluster.send(node_id, request, min_version=version)
            if response.error_code:
                raise for_code(response.error_code)(f"listing the groups of broker {node_id}")
            return response

        response = await requests.cluster.retry(once, requests.options.request_timeout_ms)
        groups: list[dict[str, Any]] = as_result(response.groups)
        return groups

    answers = await all_of(ask(node_id) for node_id in await requests.broker_ids(broker_ids))
    return list({group["group_id"]: group for answer in answers for group in answer}.values())


async def list_consumer_groups(requests: AdminRequests, broker_ids: list[int] | None) -> list[ListedGroup]:
    """See `KafkaAdminClient.list_consumer_groups`."""
    return [
        ListedGroup.of(each["group_id"], each["protocol_type"], each.get("group_state", ""))
        for each in await list_groups(requests, broker_ids)
    ]


async def _described(
    requests: AdminRequests, group_ids: Iterable[str], node_id: int | None, include_authorized_operations: bool
) -> list[Any]:
    """What the coordinators say of each group."""

    async def describe(group_id: str) -> Any:
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
        return response.groups[0]

    return await all_of(describe(group_id) for group_id in group_ids)


async def describe_consumer_groups(
    requests: AdminRequests, group_ids: Iterable[str], node_id: int | None, include_authorized_operations: bool
) -> DescribedGroups:
    """See `KafkaAdminClient.describe_consumer_groups`."""
    described = await _described(requests, group_ids, node_id, include_authorized_operations)
    return DescribedGroups(_group(each) for each in described)


async def describe_groups(
    requests: AdminRequests, group_ids: Iterable[str], node_id: int | None
) -> dict[str, dict[str, Any]]:
    """See `KafkaAdminClient.describe_groups`."""
    return {each.group_id: _as_dict(each) for each in await _described(requests, group_ids, node_id, True)}


def _as_dict(group: Any) -> dict[str, Any]:
    described: dict[str, Any] = as_result(group)
    code, message = described.pop("error_code"), described.pop("error_message")
    described["error"] = str(for_code(code)(message or "")) if code else None
    described["authorized_operations"] = operation_names(group.authorized_operations)
    for member, told in zip(described["members"], group.members, strict=True):
        if group.protocol_type == "consumer":
            member["member_metadata"] = as_result(_decoded(ConsumerProtocolSubscription, told.member_metadata))
            member["member_assignment"] = as_result(_decoded(ConsumerProtocolAssignment, told.member_assignment))
    return described


def _group(group: Any) -> GroupInformation:
    if group.error_code and group.error_code != GroupIdNotFoundError.errno:  # which is "Dead", as before Kafka 4.0
        error = for_code(group.error_code)
        raise error(f"group {group.group_id!r}: {group.error_message or error.description}")
    return GroupInformation(
        error_code=0,
        group=group.group_id,
        state=group.group_state,
        protocol_type=group.protocol_type,
        protocol=group.protocol_data,
        members=[_member(each, group.protocol_type) for each in group.members],
        authorized_operations=operation_names(group.authorized_operations),
    )


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


def _decoded(cls: type[Message], data: bytes) -> Any:
    """As `_decode`; the bytes where they are of a protocol of the application's own, or newer than this client."""
    try:
        return _decode(cls, data)[1]
    except WireFormatError:
        return data


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
        return group_id, for_code(code)

    return await all_of(delete(group_id) for group_id in group_ids)
