"""Members of groups: remove them (KIP-345)."""

from typing import Any

from kafka.admin.concurrently import all_of
from kafka.admin.group_descriptions import members_of
from kafka.admin.group_types import MemberToRemove
from kafka.admin.requests import AdminRequests, raise_first
from kafka.errors import BrokerResponseError, IllegalArgumentError, UnsupportedVersionError, for_code
from kafka.wire import Request
from kafka.wire.api.leave_group import LeaveGroupRequest, MemberIdentity

_MANY_SINCE = 3


async def remove_group_members(
    requests: AdminRequests, group_id: str, members: list[MemberToRemove] | None, node_id: int | None
) -> dict[str | None, type[BrokerResponseError]]:
    """See `KafkaAdminClient.remove_group_members`."""
    leaving = members if members is not None else await _all_members(requests, group_id, node_id)
    if not leaving:
        return {}
    target = node_id if node_id is not None else await requests.cluster.coordinator("group", group_id)
    connection = await requests.cluster.connection(target)
    if connection.api_versions.version_for(LeaveGroupRequest) < _MANY_SINCE:
        answers = await all_of(_leave(requests, group_id, [each], node_id) for each in leaving)
        return {each.member_id: for_code(answer.error_code) for each, answer in zip(leaving, answers, strict=True)}
    response = await _leave(requests, group_id, leaving, node_id)
    raise_first([(f"removing members of group {group_id!r}", response.error_code, None)])
    return {each.member_id or each.group_instance_id: for_code(each.error_code) for each in response.members}


async def _all_members(requests: AdminRequests, group_id: str, node_id: int | None) -> list[MemberToRemove]:
    """Static members by their instance ids, so that they do not come back as if they had never left."""
    members = await members_of(requests, group_id, node_id)
    return [MemberToRemove(member_id if instance is None else None, instance) for member_id, instance in members]


async def _leave(requests: AdminRequests, group_id: str, leaving: list[MemberToRemove], node_id: int | None) -> Any:
    return await requests.coordinator(
        group_id,
        lambda version: _request(group_id, leaving, version),
        LeaveGroupRequest,
        lambda response: [response.error_code],
        node_id,
    )


def _request(group_id: str, members: list[MemberToRemove], version: int) -> tuple[Request[Any], int]:
    if version >= _MANY_SINCE:
        leaving = [
            MemberIdentity(member_id=each.member_id or "", group_instance_id=each.group_instance_id, reason=each.reason)
            for each in members
        ]
        return LeaveGroupRequest(group_id=group_id, members=leaving), version
    (member,) = members
    if member.group_instance_id is not None:
        raise UnsupportedVersionError("brokers before 2.3 have no static members: give the member_id")
    if not member.member_id:
        raise IllegalArgumentError(f"{member}: expected a member_id")
    return LeaveGroupRequest(group_id=group_id, member_id=member.member_id), version
