"""JoinGroup (key 11), Heartbeat (12), LeaveGroup (13) and SyncGroup (14): membership in a classic group.

Versions served: JoinGroup 0 to 9, Heartbeat 0 to 4, LeaveGroup 0 to 5, SyncGroup 0 to 5.
Behaviour: Kafka's classic protocol (KIP-62). From JoinGroup 4 on the coordinator assigns member ids (KIP-394), from 5
on members can be static (KIP-345), and from 9 on leaders can skip the assignment (KIP-814).
Known gaps: memberships are not persistent. After the broker restarts, all members are unknown and must rejoin.
"""

import asyncio

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups.classic_group import JoinRequest, JoinResult, Protocol, SyncResult
from kafka.wire import Message
from kafka.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka.wire.api.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from kafka.wire.api.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from kafka.wire.api.sync_group import SyncGroupRequest, SyncGroupResponse

_KNOWN_ID_SINCE = 4
_PROTOCOL_NULLABLE_SINCE = 7
_SKIPPING_SINCE = 9
_PROTOCOL_NAMED_SINCE = 5
_LEAVE_TOGETHER_SINCE = 3


def join_group(broker: Broker, request: JoinGroupRequest, context: RequestContext) -> "asyncio.Future[Message]":
    """Add a member, or let it rejoin. The response is sent when the rebalance ends."""
    future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

    def answer(result: JoinResult) -> None:
        if not future.done():
            future.set_result(_joined(result, context.version))

    if request.group_id in broker.shares.groups:  # a share group has this id
        answer(JoinResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id))
        return future
    timeout_ms = request.rebalance_timeout_ms if context.version >= 1 else request.session_timeout_ms
    broker.groups.join(
        JoinRequest(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            context.client_id,
            f"/{context.client_host}",
            request.session_timeout_ms,
            timeout_ms,
            request.protocol_type,
            tuple(Protocol(one.name, one.metadata) for one in request.protocols),
            context.version >= _KNOWN_ID_SINCE,
            context.version >= _SKIPPING_SINCE,
        ),
        answer,
    )
    return future


def _joined(result: JoinResult, version: int) -> JoinGroupResponse:
    name = result.protocol_name
    return JoinGroupResponse(
        error_code=result.error,
        generation_id=result.generation_id,
        protocol_type=result.protocol_type,
        protocol_name=name if version >= _PROTOCOL_NULLABLE_SINCE else name or "",
        leader=result.leader,
        skip_assignment=result.skip_assignment,
        member_id=result.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=one.member_id, group_instance_id=one.group_instance_id, metadata=one.metadata
            )
            for one in result.members
        ],
    )


def sync_group(broker: Broker, request: SyncGroupRequest, context: RequestContext) -> "asyncio.Future[Message]":
    """Store the leader's assignment, or return a member's assignment once the leader has sent it."""
    future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

    def answer(result: SyncResult) -> None:
        if not future.done():
            future.set_result(
                SyncGroupResponse(
                    error_code=result.error,
                    protocol_type=result.protocol_type,
                    protocol_name=result.protocol_name,
                    assignment=result.assignment,
                )
            )

    named = request.protocol_type is not None and request.protocol_name is not None
    if context.version >= _PROTOCOL_NAMED_SINCE and not named:
        answer(SyncResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        return future
    broker.groups.sync(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        (request.protocol_type, request.protocol_name),
        {one.member_id: one.assignment for one in request.assignments},
        answer,
    )
    return future


def heartbeat(broker: Broker, request: HeartbeatRequest, context: RequestContext) -> HeartbeatResponse:
    """Extend a member's session; the error code indicates whether the member must rejoin."""
    try:
        error = broker.groups.heartbeat(
            request.group_id, request.member_id, request.group_instance_id, request.generation_id
        )
    except RequestFailed as failed:
        error = failed.code
    return HeartbeatResponse(error_code=error)


def leave_group(broker: Broker, request: LeaveGroupRequest, context: RequestContext) -> LeaveGroupResponse:
    """Remove members from a group."""
    if context.version < _LEAVE_TOGETHER_SINCE:
        return LeaveGroupResponse(error_code=_leave(broker, request.group_id, request.member_id, None))
    return LeaveGroupResponse(
        members=[
            MemberResponse(
                member_id=one.member_id,
                group_instance_id=one.group_instance_id,
                error_code=_leave(broker, request.group_id, one.member_id, one.group_instance_id),
            )
            for one in request.members
        ]
    )


def _leave(broker: Broker, group_id: str, member_id: str, group_instance_id: str | None) -> ErrorCode:
    try:
        broker.groups.leave(group_id, member_id, group_instance_id)
    except RequestFailed as error:
        return error.code
    return ErrorCode.NONE
