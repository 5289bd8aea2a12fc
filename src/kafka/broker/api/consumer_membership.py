"""ConsumerGroupHeartbeat (key 68) and ConsumerGroupDescribe (69): members of groups of the type "consumer" (KIP-848).

Versions served: 0 and 1 for both.
Behaviour: as in Kafka, with epochs, target assignments by "uniform" and "range", revocation of partitions before they
are reassigned, static members that temporarily leave (epoch -2), and session and rebalance timeouts. An empty group
changes its type when a member of the other type joins. Joining a group that has members of the other type fails:
classic members get INCONSISTENT_GROUP_PROTOCOL, others GROUP_ID_NOT_FOUND.
Known gaps: a group with members cannot change its protocol. Regular expressions use Python's syntax, which differs
little from RE2/J's. Memberships are not persistent: after the broker restarts, all members are unknown and must rejoin.
"""

from collections.abc import Iterable
from itertools import groupby
from uuid import UUID

from kafka.broker.api import GROUP_OPERATIONS, OPERATIONS_NOT_REQUESTED
from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups.consumer_group import LEAVE_STATIC_EPOCH, ConsumerGroup, ConsumerMember, TopicPartition
from kafka.broker.groups.consumer_members import Heartbeat
from kafka.wire.api import consumer_group_describe as describe
from kafka.wire.api import consumer_group_heartbeat as heartbeat
from kafka.wire.api.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from kafka.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse

_DEAD = "Dead"
_CONSUMER_TYPE = 1


def consumer_group_heartbeat(
    broker: Broker, request: ConsumerGroupHeartbeatRequest, context: RequestContext
) -> ConsumerGroupHeartbeatResponse:
    """Add a member, extend its session, or remove it."""
    try:
        _check(request)
        if request.group_id in broker.shares.groups:
            raise RequestFailed(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} is not a consumer group.")
        said = _said(request, context)
        if request.member_epoch < 0:
            broker.groups.consumers.leave(said)
            return ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
        member, is_news = broker.groups.consumers.heartbeat(said)
    except RequestFailed as error:
        return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
    assignment = heartbeat.Assignment(
        topic_partitions=[
            heartbeat.TopicPartitions(topic_id=topic_id, partitions=numbers)
            for topic_id, numbers in _by_topic(member.assigned)
        ]
    )
    return ConsumerGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=member.epoch,
        heartbeat_interval_ms=broker.group_configs.number(request.group_id, "consumer.heartbeat.interval.ms"),
        assignment=assignment if is_news else None,
    )


def _check(request: ConsumerGroupHeartbeatRequest) -> None:
    wrong = None
    if not request.group_id:
        wrong = "GroupId can't be empty."
    elif request.instance_id == "":
        wrong = "InstanceId can't be empty."
    elif request.rack_id == "":
        wrong = "RackId can't be empty."
    elif request.member_epoch < LEAVE_STATIC_EPOCH:
        wrong = f"MemberEpoch is {request.member_epoch}, but must be greater than or equal to -2."
    elif request.member_epoch != 0 and not request.member_id:
        wrong = "MemberId can't be empty."
    elif request.member_epoch == LEAVE_STATIC_EPOCH and request.instance_id is None:
        wrong = "InstanceId can't be null."
    elif request.member_epoch == 0:
        wrong = _wrong_joining(request)
    if wrong is not None:
        raise RequestFailed(ErrorCode.INVALID_REQUEST, wrong)


def _wrong_joining(request: ConsumerGroupHeartbeatRequest) -> str | None:
    if request.rebalance_timeout_ms == -1:
        return "RebalanceTimeoutMs must be provided in first request."
    if request.topic_partitions is None or request.topic_partitions:
        return "TopicPartitions must be empty when (re-)joining."
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        return "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
    return None


def _said(request: ConsumerGroupHeartbeatRequest, context: RequestContext) -> Heartbeat:
    owned = request.topic_partitions
    return Heartbeat(
        request.group_id,
        request.member_id,
        request.member_epoch,
        request.instance_id,
        request.rack_id,
        context.client_id,
        f"/{context.client_host}",
        request.rebalance_timeout_ms,
        None if request.subscribed_topic_names is None else frozenset(request.subscribed_topic_names),
        request.subscribed_topic_regex,
        request.server_assignor,
        None if owned is None else {(one.topic_id, number) for one in owned for number in one.partitions},
    )


def _by_topic(partitions: Iterable[TopicPartition]) -> list[tuple[UUID, list[int]]]:
    return [(topic, [number for _, number in group]) for topic, group in groupby(sorted(partitions), lambda tp: tp[0])]


def consumer_group_describe(
    broker: Broker, request: ConsumerGroupDescribeRequest, context: RequestContext
) -> ConsumerGroupDescribeResponse:
    """Describe groups and their members."""
    operations = GROUP_OPERATIONS if request.include_authorized_operations else OPERATIONS_NOT_REQUESTED
    groups = []
    for group_id in request.group_ids:
        group = broker.groups.groups.get(group_id)
        if group is None or group.consumer is None:
            text = f"Group {group_id} not found." if group is None else f"Group {group_id} is not a consumer group."
            groups.append(
                describe.DescribedGroup(
                    error_code=ErrorCode.GROUP_ID_NOT_FOUND,
                    error_message=text,
                    group_id=group_id,
                    group_state=_DEAD,
                    authorized_operations=operations,
                )
            )
        else:
            groups.append(_described(broker, group_id, group.consumer, operations))
    return ConsumerGroupDescribeResponse(groups=groups)


def _described(broker: Broker, group_id: str, group: ConsumerGroup, operations: int) -> describe.DescribedGroup:
    return describe.DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.assignor,
        members=[_described_member(broker, group, one) for one in group.members.values()],
        authorized_operations=operations,
    )


def _described_member(broker: Broker, group: ConsumerGroup, member: ConsumerMember) -> describe.Member:
    return describe.Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex or None,
        assignment=_assignment(broker, member.assigned),
        target_assignment=_assignment(broker, group.target(member)),
        member_type=_CONSUMER_TYPE,
    )


def _assignment(broker: Broker, partitions: Iterable[TopicPartition]) -> describe.Assignment:
    names = {topic.topic_id: topic.name for topic in broker.topics}
    return describe.Assignment(
        topic_partitions=[
            describe.TopicPartitions(topic_id=topic_id, topic_name=names[topic_id], partitions=numbers)
            for topic_id, numbers in _by_topic(partitions)
            if topic_id in names
        ]
    )
