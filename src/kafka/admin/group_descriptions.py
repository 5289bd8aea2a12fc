"""Describes groups of every type, with a single request to each coordinator for all of its groups."""

import struct
from collections.abc import ItemsView, Iterable, KeysView, ValuesView
from typing import Any, NamedTuple

from kafka.admin.acls import operation_names
from kafka.admin.admin_requests import AdminRequests
from kafka.admin.results import Result, as_result
from kafka.admin.routing import Outcome, ask_each, group_route
from kafka.errors import GroupIdNotFoundError, KafkaError, WireFormatError, for_code
from kafka.structs import GroupInformation, MemberInformation, TopicPartition
from kafka.wire import Message, Request
from kafka.wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka.wire.api.describe_groups import DescribedGroup, DescribeGroupsRequest
from kafka.wire.api.share_group_describe import ShareGroupDescribeRequest
from kafka.wire.api.streams_group_describe import StreamsGroupDescribeRequest


class DescribedGroups(list[GroupInformation]):
    """Descriptions of groups in the requested order, which can also be looked up by group id."""

    def _by_id(self) -> dict[str, GroupInformation]:
        return {each.group: each for each in self}

    def keys(self) -> KeysView[str]:
        """Return the ids of the described groups, in the requested order."""
        return self._by_id().keys()

    def values(self) -> ValuesView[GroupInformation]:
        """Return the descriptions, in the requested order; iterating over the list yields the same."""
        return self._by_id().values()

    def items(self) -> ItemsView[str, GroupInformation]:
        """Return pairs of a group id and its description, in the requested order."""
        return self._by_id().items()

    def __getitem__(self, at: Any) -> Any:
        return self._by_id()[at] if isinstance(at, str) else super().__getitem__(at)

    def _repr_html_(self) -> str:
        """Return a table with one row per group, for notebooks."""
        from kafka.display.html_tables import groups

        return groups(self)


class GroupDescriptions(dict[str, dict[str, Any]]):
    """The result of `describe_groups` and its variants for single group types: a dict for each group id."""

    def _repr_html_(self) -> str:
        """Return a table with one row per group, for notebooks."""
        from kafka.display.html_tables import groups

        return groups(self.values())


class MemberSubscription(NamedTuple):
    """The subscription of a member of a consumer group."""

    version: int
    subscription: list[str]
    user_data: bytes | None

    @property
    def topics(self) -> list[str]:
        """The same as ``subscription``."""
        return self.subscription


class MemberAssignment(NamedTuple):
    """The assignment of a member of a consumer group, as pairs of a topic and its partitions."""

    version: int
    assignment: list[tuple[str, list[int]]]
    user_data: bytes | None

    def partitions(self) -> list[TopicPartition]:
        """The assigned partitions as a flat list."""
        return [TopicPartition(topic, partition) for topic, each in self.assignment for partition in each]

    @property
    def topic_partitions(self) -> list[TopicPartition]:
        """The same as `partitions`."""
        return self.partitions()


def classic_member(member: Any, protocol_type: str) -> MemberInformation:
    """Return a member in the format of kafka-python 2.x."""
    subscription: object = member.member_metadata
    assignment: object = member.member_assignment
    if protocol_type == "consumer":
        subscription = _subscription(member.member_metadata)
        assignment = _assignment(member.member_assignment)
    return MemberInformation(member.member_id, member.client_id, member.client_host, subscription, assignment)


def _decode(cls: type[Message], data: bytes) -> tuple[int, Any]:
    """Decode a message of the consumer protocol and the version number before it. Later versions only append fields."""
    if len(data) < 2:
        raise WireFormatError("no version")
    (version,) = struct.unpack_from(">h", data)
    return version, cls.decode_prefix(data, min(version, cls.MAX_VERSION), 2)[0]


def decoded(cls: type[Message], data: bytes) -> Any:
    """Decode a message of the consumer protocol; return the bytes unchanged if they have another format."""
    try:
        return _decode(cls, data)[1]
    except WireFormatError:
        return data


def _subscription(data: bytes) -> MemberSubscription | bytes:
    try:
        version, decoded = _decode(ConsumerProtocolSubscription, data)
    except WireFormatError:  # an application's own protocol, or a version newer than this client: return the bytes
        return data
    return MemberSubscription(version, list(decoded.topics), decoded.user_data)


def _assignment(data: bytes) -> MemberAssignment | bytes:
    try:
        version, decoded = _decode(ConsumerProtocolAssignment, data)
    except WireFormatError:  # as above; the bytes are also empty while the group rebalances
        return data
    pairs = [(each.topic, list(each.partitions)) for each in decoded.assigned_partitions]
    return MemberAssignment(version, pairs, decoded.user_data)


_OPERATIONS_SINCE = 3
_CONSUMERS = "consumer"
_DEAD = "Dead"
_OPEN_TO_ALL = (_DEAD, "Empty")
"""Group states in which any client may commit."""


async def _ask(
    requests: AdminRequests,
    api: type[Request[Any]],
    group_ids: Iterable[str],
    node_id: int | None,
    operations: bool = True,
    **options: Any,
) -> dict[str, Any]:
    """Return the coordinator's description of each group, or a `KafkaError`; ``options`` are fields of the request."""

    def make(ids: list[str], version: int) -> Request[Any]:
        if api is DescribeGroupsRequest:
            wanted = operations and version >= _OPERATIONS_SINCE
            return DescribeGroupsRequest(groups=ids, include_authorized_operations=wanted)
        return api(group_ids=ids, include_authorized_operations=operations, **options)

    async def ask(broker_id: int, ids: list[str]) -> list[Outcome]:
        connection = await requests.cluster.connection(broker_id)
        version = connection.api_versions.version_for(api)
        response: Any = await connection.send(make(ids, version), version)
        return [Outcome(each.group_id, _code(each), each.error_message, each) for each in response.groups]

    def _code(group: Any) -> int:
        # since Kafka 4.0, the description of a missing classic group has an error in addition to the state "Dead"
        is_told = api is DescribeGroupsRequest and group.error_code == GroupIdNotFoundError.errno
        return 0 if is_told else int(group.error_code)

    return await ask_each(requests, "describing group", group_ids, group_route(requests, node_id), ask)


async def _classic_or_consumer(
    requests: AdminRequests, group_ids: list[str], node_id: int | None, operations: bool
) -> dict[str, Any]:
    """Describe groups that use the classic protocol or KIP-848."""
    found = await _ask(requests, DescribeGroupsRequest, group_ids, node_id, operations)
    dead = [each for each, told in found.items() if not isinstance(told, KafkaError) and told.group_state == _DEAD]
    if dead:
        others = await _ask(requests, ConsumerGroupDescribeRequest, dead, node_id, operations)
        found.update((each, told) for each, told in others.items() if not isinstance(told, KafkaError))
    return found


async def members_of(requests: AdminRequests, group_id: str, node_id: int | None) -> list[tuple[str, str | None]]:
    """Return pairs of member id and group instance id for a classic or consumer group.

    Raises the coordinator's error, or `GroupIdNotFoundError` if there is no such group.
    """
    (told,) = (await _classic_or_consumer(requests, [group_id], node_id, False)).values()
    if isinstance(told, KafkaError):
        raise told
    if told.group_state == _DEAD:
        raise GroupIdNotFoundError(f"there is no group {group_id!r}")
    if isinstance(told, DescribedGroup):
        return [(each.member_id, each.group_instance_id) for each in told.members]
    return [(each.member_id, each.instance_id) for each in told.members]


async def has_members(requests: AdminRequests, group_id: str, node_id: int | None) -> bool:
    """Return whether a group has members; if so, only they may commit. False if the group does not exist."""
    (told,) = (await _classic_or_consumer(requests, [group_id], node_id, False)).values()
    if not isinstance(told, KafkaError) and told.group_state == _DEAD:
        (as_streams,) = (await _ask(requests, StreamsGroupDescribeRequest, [group_id], node_id, False)).values()
        told = told if isinstance(as_streams, KafkaError) else as_streams
    if isinstance(told, KafkaError):
        raise told
    return told.group_state not in _OPEN_TO_ALL


async def describe_consumer_groups(
    requests: AdminRequests, group_ids: list[str], node_id: int | None, operations: bool
) -> DescribedGroups:
    """See `KafkaAdminClient.describe_consumer_groups`."""
    found = await _classic_or_consumer(requests, group_ids, node_id, operations)
    return DescribedGroups(_information(found[each]) for each in group_ids)


async def describe_groups(requests: AdminRequests, group_ids: list[str], node_id: int | None) -> GroupDescriptions:
    """See `KafkaAdminClient.describe_groups`."""
    found = await _classic_or_consumer(requests, group_ids, node_id, True)
    return GroupDescriptions((group_id, _classic_dict(group_id, told)) for group_id, told in found.items())


async def describe_classic_groups(
    requests: AdminRequests, group_ids: list[str], node_id: int | None
) -> GroupDescriptions:
    """See `KafkaAdminClient.describe_classic_groups`."""
    found = await _ask(requests, DescribeGroupsRequest, group_ids, node_id)
    return GroupDescriptions((group_id, _classic_dict(group_id, told)) for group_id, told in found.items())


async def describe_share_groups(
    requests: AdminRequests, group_ids: list[str], node_id: int | None
) -> GroupDescriptions:
    """See `KafkaAdminClient.describe_share_groups`."""
    found = await _ask(requests, ShareGroupDescribeRequest, group_ids, node_id)
    return GroupDescriptions((group_id, _as_dict(group_id, told)) for group_id, told in found.items())


async def describe_streams_groups(
    requests: AdminRequests, group_ids: list[str], node_id: int | None, topology_description: bool
) -> GroupDescriptions:
    """See `KafkaAdminClient.describe_streams_groups`."""
    options = {"include_topology_description": True} if topology_description else {}
    found = await _ask(requests, StreamsGroupDescribeRequest, group_ids, node_id, **options)
    return GroupDescriptions((group_id, _as_dict(group_id, told)) for group_id, told in found.items())


def _as_dict(group_id: str, told: Any) -> dict[str, Any]:
    """Return a description as a dict, with only ``error`` and ``group_id`` if the group could not be described."""
    if isinstance(told, KafkaError):
        return Result(group_id=group_id, error=str(told))
    described: dict[str, Any] = as_result(told)
    code, message = described.pop("error_code"), described.pop("error_message")
    described["error"] = str(for_code(code)(message or "")) if code else None
    described["authorized_operations"] = operation_names(told.authorized_operations)
    return described


def _classic_dict(group_id: str, told: Any) -> dict[str, Any]:
    """Return the description of a classic or consumer group as a dict, with the same keys for both protocols."""
    if isinstance(told, KafkaError):
        described = _as_dict(group_id, DescribedGroup(group_id=group_id))
        described["error"] = str(told)
        return described
    described = _as_dict(group_id, told)
    if not isinstance(told, DescribedGroup):
        described["protocol_type"], described["protocol_data"] = _CONSUMERS, told.assignor_name
        for member, each in zip(described["members"], told.members, strict=True):
            member["group_instance_id"] = each.instance_id
            member["member_metadata"] = Result(topics=list(each.subscribed_topic_names), user_data=None)
            member["member_assignment"] = Result(
                assigned_partitions=[Result(topic=t, partitions=p) for t, p in _assigned(each)], user_data=None
            )
    elif told.protocol_type == _CONSUMERS:
        for member, each in zip(described["members"], told.members, strict=True):
            member["member_metadata"] = as_result(decoded(ConsumerProtocolSubscription, each.member_metadata))
            member["member_assignment"] = as_result(decoded(ConsumerProtocolAssignment, each.member_assignment))
    return described


def _assigned(member: Any) -> list[tuple[str, list[int]]]:
    return [(each.topic_name, list(each.partitions)) for each in member.assignment.topic_partitions]


def _information(told: Any) -> GroupInformation:
    if isinstance(told, KafkaError):
        raise told
    is_classic = isinstance(told, DescribedGroup)
    return GroupInformation(
        error_code=0,
        group=told.group_id,
        state=told.group_state,
        protocol_type=told.protocol_type if is_classic else _CONSUMERS,
        protocol=told.protocol_data if is_classic else told.assignor_name,
        members=[
            classic_member(each, told.protocol_type) if is_classic else _consumer_member(each) for each in told.members
        ],
        authorized_operations=operation_names(told.authorized_operations),
    )


def _consumer_member(member: Any) -> MemberInformation:
    """Return a member of a KIP-848 group in the format of a classic member."""
    return MemberInformation(
        member.member_id,
        member.client_id,
        member.client_host,
        MemberSubscription(0, list(member.subscribed_topic_names), None),
        MemberAssignment(0, _assigned(member), None),
    )
