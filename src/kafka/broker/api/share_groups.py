"""Members and offsets of share groups (KIP-932).

ShareGroupHeartbeat (key 76), ShareGroupDescribe (77), DescribeShareGroupOffsets (90), AlterShareGroupOffsets (91) and
DeleteShareGroupOffsets (92).

Versions served: ShareGroupHeartbeat 1, ShareGroupDescribe 1, DescribeShareGroupOffsets 0 to 1, with the lag from 1 on
(KIP-1226), AlterShareGroupOffsets 0, DeleteShareGroupOffsets 0.
Behaviour: a member chooses its own id, joins with epoch 0 and leaves with -1. Partitions are assigned at once, as share
groups do not revoke partitions. The session timeout and the heartbeat interval are group configs.
If the group has not read a partition, its start offset is -1. Offsets can be changed only while the group is empty; the
change discards records in flight. Setting offsets for a group that does not exist creates the group.
Known gaps: memberships are not persistent. After the broker restarts, all members are unknown and must rejoin.
"""

from collections.abc import Iterable
from uuid import UUID

from kafka.broker.api import GROUP_OPERATIONS, OPERATIONS_NOT_REQUESTED
from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.partition import LEADER_EPOCH
from kafka.broker.share.share_coordinator import JOIN_EPOCH, LEAVE_EPOCH
from kafka.broker.share.share_group import Assignment, ShareGroup, ShareGroupState, ShareMember
from kafka.broker.topic_store import Topic
from kafka.wire.api import alter_share_group_offsets as alter
from kafka.wire.api import delete_share_group_offsets as delete
from kafka.wire.api import describe_share_group_offsets as described_offsets
from kafka.wire.api import share_group_describe as described_groups
from kafka.wire.api import share_group_heartbeat as heartbeat
from kafka.wire.api.alter_share_group_offsets import AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse
from kafka.wire.api.delete_share_group_offsets import DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse
from kafka.wire.api.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
)
from kafka.wire.api.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from kafka.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

_ASSIGNOR = "simple"
_UNREAD = -1


def share_group_heartbeat(
    broker: Broker, request: ShareGroupHeartbeatRequest, context: RequestContext
) -> ShareGroupHeartbeatResponse:
    """Add a member, extend its session, or remove it."""
    try:
        _check(request)
        return _answered(broker, request, context)
    except RequestFailed as error:
        return ShareGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
    except OSError as error:
        return ShareGroupHeartbeatResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE, error_message=str(error))


def _check(request: ShareGroupHeartbeatRequest) -> None:
    wrong = None
    if not request.group_id:
        wrong = "GroupId can't be empty."
    elif not request.member_id:
        wrong = "MemberId can't be empty."
    elif request.member_epoch < LEAVE_EPOCH:
        wrong = f"MemberEpoch is {request.member_epoch}, but must be greater than or equal to -1."
    elif request.rack_id == "":
        wrong = "RackId can't be empty."
    elif request.member_epoch == JOIN_EPOCH and not request.subscribed_topic_names:
        wrong = "SubscribedTopicNames must be set in first request."
    if wrong is not None:
        raise RequestFailed(ErrorCode.INVALID_REQUEST, wrong)


def _answered(
    broker: Broker, request: ShareGroupHeartbeatRequest, context: RequestContext
) -> ShareGroupHeartbeatResponse:
    shares, group_id, epoch = broker.shares, request.group_id, request.member_epoch
    if epoch == JOIN_EPOCH:
        member = ShareMember(request.member_id, context.client_id, f"/{context.client_host}")
        member.topics, member.rack_id = frozenset(request.subscribed_topic_names or ()), request.rack_id
        member = shares.join(group_id, member)
    else:
        member = shares.member(group_id, request.member_id, epoch)
    if epoch == LEAVE_EPOCH:
        shares.leave(group_id, member)
        return ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=LEAVE_EPOCH)
    if request.subscribed_topic_names is not None:
        member.topics = frozenset(request.subscribed_topic_names)
    shares.settle(group_id, member)
    full = epoch == JOIN_EPOCH or request.subscribed_topic_names is not None
    return ShareGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=member.epoch,
        heartbeat_interval_ms=shares.configs.number(group_id, "share.heartbeat.interval.ms"),
        assignment=_assignment(member.assignment) if full or member.epoch != epoch else None,
    )


def _assignment(assigned: Assignment) -> heartbeat.Assignment:
    return heartbeat.Assignment(
        topic_partitions=[
            heartbeat.TopicPartitions(topic_id=topic_id, partitions=sorted(numbers))
            for topic_id, numbers in assigned.items()
        ]
    )


def share_group_describe(
    broker: Broker, request: ShareGroupDescribeRequest, context: RequestContext
) -> ShareGroupDescribeResponse:
    """Describe share groups and their members."""
    operations = GROUP_OPERATIONS if request.include_authorized_operations else OPERATIONS_NOT_REQUESTED
    names = {topic.topic_id: topic.name for topic in broker.topics}
    described = []
    for group_id in request.group_ids:
        group = broker.shares.groups.get(group_id)
        if group is None:
            found = described_groups.DescribedGroup(
                error_code=ErrorCode.GROUP_ID_NOT_FOUND,
                error_message=f"Group {group_id} not found.",
                group_id=group_id,
                group_state=ShareGroupState.DEAD.value,
            )
        else:
            found = _described(group, names)
        found.authorized_operations = operations
        described.append(found)
    return ShareGroupDescribeResponse(groups=described)


def _described(group: ShareGroup, names: dict[UUID, str]) -> described_groups.DescribedGroup:
    return described_groups.DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.epoch,
        assignor_name=_ASSIGNOR,
        members=[
            described_groups.Member(
                member_id=one.member_id,
                rack_id=one.rack_id,
                member_epoch=one.epoch,
                client_id=one.client_id,
                client_host=one.client_host,
                subscribed_topic_names=sorted(one.topics),
                assignment=described_groups.Assignment(
                    topic_partitions=[
                        described_groups.TopicPartitions(
                            topic_id=topic_id, topic_name=names.get(topic_id, ""), partitions=sorted(numbers)
                        )
                        for topic_id, numbers in one.assignment.items()
                    ]
                ),
            )
            for one in group.members.values()
        ],
    )


# -- offsets ----------------------------------------------------------------------------------------------------------


def describe_share_group_offsets(
    broker: Broker, request: DescribeShareGroupOffsetsRequest, context: RequestContext
) -> DescribeShareGroupOffsetsResponse:
    """Return the start offsets of share groups."""
    return DescribeShareGroupOffsetsResponse(groups=[_of_group(broker, asked) for asked in request.groups])


def _of_group(
    broker: Broker, asked: DescribeShareGroupOffsetsRequestGroup
) -> described_offsets.DescribeShareGroupOffsetsResponseGroup:
    group = described_offsets.DescribeShareGroupOffsetsResponseGroup(group_id=asked.group_id)
    try:
        broker.shares.group(asked.group_id)
    except RequestFailed as error:
        group.error_code, group.error_message = error.code, error.message
        return group
    for name, numbers in _asked(broker, asked):
        topic = described_offsets.DescribeShareGroupOffsetsResponseTopic(topic_name=name)
        for number in numbers:
            topic.partitions.append(_described_offset(broker, asked.group_id, name, number))
        if name in broker.topics:
            topic.topic_id = broker.topics.get(name).topic_id
        group.topics.append(topic)
    return group


def _asked(broker: Broker, asked: DescribeShareGroupOffsetsRequestGroup) -> Iterable[tuple[str, list[int]]]:
    """Return the requested partitions; by default, those read by the group and those of its subscribed topics."""
    if asked.topics is not None:
        return [(topic.topic_name, topic.partitions) for topic in asked.topics]
    found: dict[str, set[int]] = {}
    names = {topic.topic_id: topic.name for topic in broker.topics}
    for _, topic_id, number in broker.shares.keys(asked.group_id):
        if topic_id in names:
            found.setdefault(names[topic_id], set()).add(number)
    for name in broker.shares.group(asked.group_id).topics:
        if name in broker.topics:
            found.setdefault(name, set()).update(range(broker.topics.get(name).partitions))
    return [(name, sorted(numbers)) for name, numbers in found.items()]


def _described_offset(
    broker: Broker, group_id: str, name: str, number: int
) -> described_offsets.DescribeShareGroupOffsetsResponsePartition:
    answer = described_offsets.DescribeShareGroupOffsetsResponsePartition(partition_index=number, start_offset=_UNREAD)
    try:
        topic = broker.topics.get(name)
        log = topic.log(number)
    except RequestFailed as error:
        answer.error_code, answer.error_message = error.code, error.message
        return answer
    key = group_id, topic.topic_id, number
    start = broker.shares.start_offset(key)
    if start is not None:
        answer.start_offset, answer.leader_epoch = start, LEADER_EPOCH
        answer.lag = broker.shares.undelivered(key, log)
    return answer


def alter_share_group_offsets(
    broker: Broker, request: AlterShareGroupOffsetsRequest, context: RequestContext
) -> AlterShareGroupOffsetsResponse:
    """Set the start offsets of an empty share group."""
    shares, group_id = broker.shares, request.group_id
    try:
        if not group_id:
            raise RequestFailed(ErrorCode.INVALID_GROUP_ID, "The group id is invalid.")
        shares.check_type(group_id)
        if group_id in shares.groups:
            _check_empty(broker, group_id)
        elif any(asked.topic_name in broker.topics for asked in request.topics):
            shares.group_or_new(group_id)
    except RequestFailed as error:
        return AlterShareGroupOffsetsResponse(error_code=error.code, error_message=error.message)
    except OSError as error:
        return AlterShareGroupOffsetsResponse(error_code=ErrorCode.KAFKA_STORAGE_ERROR, error_message=str(error))
    answers = []
    for asked in request.topics:
        topic = alter.AlterShareGroupOffsetsResponseTopic(topic_name=asked.topic_name)
        for one in asked.partitions:
            answer = alter.AlterShareGroupOffsetsResponsePartition(partition_index=one.partition_index)
            try:
                found = broker.topics.get(asked.topic_name)
                topic.topic_id = found.topic_id
                _set_start(broker, request.group_id, found, one.partition_index, one.start_offset)
            except RequestFailed as error:
                answer.error_code, answer.error_message = error.code, error.message
            except OSError as error:
                answer.error_code, answer.error_message = ErrorCode.KAFKA_STORAGE_ERROR, str(error)
            topic.partitions.append(answer)
        answers.append(topic)
    return AlterShareGroupOffsetsResponse(responses=answers)


def _set_start(broker: Broker, group_id: str, topic: Topic, number: int, start: int) -> None:
    topic.log(number)
    broker.shares.set_start((group_id, topic.topic_id, number), start)


def delete_share_group_offsets(
    broker: Broker, request: DeleteShareGroupOffsetsRequest, context: RequestContext
) -> DeleteShareGroupOffsetsResponse:
    """Delete an empty share group's offsets for topics."""
    try:
        _check_empty(broker, request.group_id)
    except RequestFailed as error:
        return DeleteShareGroupOffsetsResponse(error_code=error.code, error_message=error.message)
    answers = []
    for asked in request.topics:
        answer = delete.DeleteShareGroupOffsetsResponseTopic(topic_name=asked.topic_name)
        try:
            topic = broker.topics.get(asked.topic_name)
            answer.topic_id = topic.topic_id
            for key in broker.shares.keys(request.group_id):
                if key[1] == topic.topic_id:
                    broker.shares.set_start(key, None)
        except RequestFailed as error:
            answer.error_code, answer.error_message = error.code, error.message
        except OSError as error:
            answer.error_code, answer.error_message = ErrorCode.KAFKA_STORAGE_ERROR, str(error)
        answers.append(answer)
    return DeleteShareGroupOffsetsResponse(responses=answers)


def _check_empty(broker: Broker, group_id: str) -> None:
    if broker.shares.group(group_id).members:
        raise RequestFailed(ErrorCode.NON_EMPTY_GROUP, f"The share group {group_id} is not empty.")
