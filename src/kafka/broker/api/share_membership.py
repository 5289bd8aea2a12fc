"""ShareGroupHeartbeat (key 76) and ShareGroupDescribe (77): members of share groups (KIP-932).

Versions served: 1 of both.
Behaviour: a member chooses its own id, joins with epoch 0 and leaves with -1. Partitions are assigned at once, as share
groups do not revoke any. The session timeout and the heartbeat interval are configs of the group.
Known gaps: memberships do not survive the broker: after a restart members are unknown and rejoin.
"""

from uuid import UUID

from kafka.broker import allowed_operations
from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.share.share_coordinator import JOIN_EPOCH, LEAVE_EPOCH
from kafka.broker.share.share_group import Assignment, ShareGroup, ShareGroupState, ShareMember
from kafka.wire.api import share_group_describe as describe
from kafka.wire.api import share_group_heartbeat as heartbeat
from kafka.wire.api.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from kafka.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

_ASSIGNOR = "simple"


def share_group_heartbeat(
    broker: Broker, request: ShareGroupHeartbeatRequest, context: RequestContext
) -> ShareGroupHeartbeatResponse:
    """Add a member, keep it alive, or remove it."""
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
    """Describe share groups with their members."""
    operations = allowed_operations.GROUP if request.include_authorized_operations else allowed_operations.NOT_ASKED
    names = {topic.topic_id: topic.name for topic in broker.topics}
    described = []
    for group_id in request.group_ids:
        group = broker.shares.groups.get(group_id)
        if group is None:
            found = describe.DescribedGroup(
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


def _described(group: ShareGroup, names: dict[UUID, str]) -> describe.DescribedGroup:
    return describe.DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.epoch,
        assignor_name=_ASSIGNOR,
        members=[
            describe.Member(
                member_id=one.member_id,
                rack_id=one.rack_id,
                member_epoch=one.epoch,
                client_id=one.client_id,
                client_host=one.client_host,
                subscribed_topic_names=sorted(one.topics),
                assignment=describe.Assignment(
                    topic_partitions=[
                        describe.TopicPartitions(
                            topic_id=topic_id, topic_name=names.get(topic_id, ""), partitions=sorted(numbers)
                        )
                        for topic_id, numbers in one.assignment.items()
                    ]
                ),
            )
            for one in group.members.values()
        ],
    )
