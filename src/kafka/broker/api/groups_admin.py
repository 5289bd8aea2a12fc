"""DescribeGroups (key 15), ListGroups (16), DeleteGroups (42) and OffsetDelete (47).

Versions served: DescribeGroups 0 to 6, ListGroups 0 to 5, DeleteGroups 0 to 2, OffsetDelete 0.
Behaviour: a group exists if it has members or offsets, or has had members since the broker started. DescribeGroups
returns the state Dead for a group that does not exist, and from version 6 on also the error GROUP_ID_NOT_FOUND. Share
groups are listed and deleted like other groups; ShareGroupDescribe describes them.
Known gaps: there are no streams groups.
"""

import logging

from kafka.broker.api import GROUP_OPERATIONS, OPERATIONS_NOT_REQUESTED
from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups.classic_group import Group, GroupState
from kafka.errors import WireFormatError
from kafka.wire.api.consumer_protocol import ConsumerProtocolSubscription
from kafka.wire.api.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from kafka.wire.api.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kafka.wire.api.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from kafka.wire.api.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

log = logging.getLogger(__name__)

_NOT_FOUND_SINCE = 6
_SHARE = "share"
_CONSUMERS = "consumer"


def describe_groups(broker: Broker, request: DescribeGroupsRequest, context: RequestContext) -> DescribeGroupsResponse:
    """Describe groups and their members."""
    operations = GROUP_OPERATIONS if request.include_authorized_operations else OPERATIONS_NOT_REQUESTED
    return DescribeGroupsResponse(
        groups=[_described(broker, group_id, operations, context.version) for group_id in request.groups]
    )


def _described(broker: Broker, group_id: str, operations: int, version: int) -> DescribedGroup:
    group = broker.groups.groups.get(group_id)
    if group is None or group.consumer is not None:
        missing = DescribedGroup(group_id=group_id, group_state=GroupState.DEAD.value, authorized_operations=operations)
        if version >= _NOT_FOUND_SINCE:
            text = f"Group {group_id} not found." if group is None else f"Group {group_id} is not a classic group."
            missing.error_code, missing.error_message = ErrorCode.GROUP_ID_NOT_FOUND, text
        return missing
    # Only a stable group has assignments and a protocol.
    stable = group.state is GroupState.STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if stable else "",
        members=[
            DescribedGroupMember(
                member_id=one.member_id,
                group_instance_id=one.group_instance_id,
                client_id=one.client_id,
                client_host=one.client_host,
                member_metadata=one.metadata(group.protocol_name) if stable else b"",
                member_assignment=one.assignment,
            )
            for one in group.members.values()
        ],
        authorized_operations=operations,
    )


def list_groups(broker: Broker, request: ListGroupsRequest, context: RequestContext) -> ListGroupsResponse:
    """List the groups, optionally filtered by state or type."""
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    groups = [
        ListedGroup(
            group_id=group.group_id,
            protocol_type=group.protocol_type or "",
            group_state=group.state_name,
            group_type=group.type_name,
        )
        for group in broker.groups.groups.values()
    ]
    groups += [
        ListedGroup(group_id=share.group_id, protocol_type=_SHARE, group_state=share.state.value, group_type=_SHARE)
        for share in broker.shares.groups.values()
    ]
    return ListGroupsResponse(
        groups=[
            one
            for one in groups
            if (not states or one.group_state.lower() in states) and (not types or one.group_type in types)
        ]
    )


def delete_groups(broker: Broker, request: DeleteGroupsRequest, context: RequestContext) -> DeleteGroupsResponse:
    """Delete empty groups and their offsets."""
    results = []
    for group_id in request.groups_names:
        code = ErrorCode.NONE
        try:
            if group_id in broker.shares.groups:
                broker.shares.delete_group(group_id)
            else:
                broker.groups.delete_group(group_id)
        except RequestFailed as error:
            code = error.code
        except OSError:
            log.exception("group %s could not be deleted", group_id)
            code = ErrorCode.NOT_COORDINATOR
        results.append(DeletableGroupResult(group_id=group_id, error_code=code))
    return DeleteGroupsResponse(results=results)


def offset_delete(broker: Broker, request: OffsetDeleteRequest, context: RequestContext) -> OffsetDeleteResponse:
    """Delete a group's offsets for topics to which no member subscribes (KIP-496)."""
    group = broker.groups.groups.get(request.group_id)
    if group is None:
        return OffsetDeleteResponse(error_code=ErrorCode.GROUP_ID_NOT_FOUND)
    if group.state is not GroupState.EMPTY and group.protocol_type != _CONSUMERS:
        return OffsetDeleteResponse(error_code=ErrorCode.NON_EMPTY_GROUP)
    subscribed = _subscribed_topics(group)
    topics, gone = [], []
    for topic in request.topics:
        code = ErrorCode.NONE
        if topic.name not in broker.topics:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif topic.name in subscribed:
            code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        if code is ErrorCode.NONE:
            gone += [(topic.name, one.partition_index) for one in topic.partitions]
        answers = [
            OffsetDeleteResponsePartition(
                partition_index=one.partition_index,
                error_code=code,
            )
            for one in topic.partitions
        ]
        topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=answers))
    try:
        broker.groups.delete_offsets(group, gone)
    except OSError:
        log.exception("the offsets of group %s could not be deleted", request.group_id)
        return OffsetDeleteResponse(error_code=ErrorCode.NOT_COORDINATOR)
    return OffsetDeleteResponse(topics=topics)


def _subscribed_topics(group: Group) -> set[str]:
    """Return the topics in the members' subscriptions.

    As in Kafka, a subscription that cannot be decoded counts as empty.
    """
    topics: set[str] = set()
    if group.consumer is not None:
        return topics.union(*(member.topics for member in group.consumer.members.values()))
    for member in group.members.values():
        data = member.metadata(group.protocol_name) or (member.protocols[0].metadata if member.protocols else b"")
        version = int.from_bytes(data[:2], "big")
        version = min(version, ConsumerProtocolSubscription.MAX_VERSION)
        try:
            topics.update(ConsumerProtocolSubscription.decode(data[2:], version).topics)
        except WireFormatError:
            continue
    return topics
