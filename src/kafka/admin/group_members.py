"""Members of groups: remove them (KIP-345)."""

from kafka.admin.concurrently import all_of
from kafka.admin.group_descriptions import members_of
from kafka.admin.group_types import MemberToRemove
from kafka.admin.requests import AdminRequests
from kafka.admin.routing import Outcome, ask_each, group_route, values_or_raise
from kafka.errors import (
    BrokerResponseError,
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    IllegalArgumentError,
    NotCoordinatorError,
    UnsupportedVersionError,
    for_code,
)
from kafka.wire.api.leave_group import LeaveGroupRequest, MemberIdentity

_MANY_SINCE = 3
_PASSING = (CoordinatorLoadInProgressError.errno, CoordinatorNotAvailableError.errno, NotCoordinatorError.errno)


async def remove_group_members(
    requests: AdminRequests, group_id: str, members: list[MemberToRemove] | None, node_id: int | None
) -> dict[str | None, type[BrokerResponseError]]:
    """See `KafkaAdminClient.remove_group_members`."""
    leaving = members if members is not None else await _all_members(requests, group_id, node_id)
    if not leaving:
        return {}
    alone: dict[MemberToRemove, type[BrokerResponseError]] = {}

    async def ask(broker_id: int, _: list[str]) -> list[Outcome]:
        connection = await requests.cluster.connection(broker_id)
        version = connection.api_versions.version_for(LeaveGroupRequest)
        if version >= _MANY_SINCE:
            response = await connection.send(_request(group_id, leaving), version)
            told = {each.member_id or each.group_instance_id: for_code(each.error_code) for each in response.members}
            return [Outcome(group_id, response.error_code, None, told)]
        left = [each for each in leaving if each not in alone]
        asked = [_request_of_one(group_id, each) for each in left]
        codes = [answer.error_code for answer in await all_of(connection.send(each, version) for each in asked)]
        alone.update((each, for_code(code)) for each, code in zip(left, codes, strict=True) if code not in _PASSING)
        passing = next((code for code in codes if code in _PASSING), 0)
        return [Outcome(group_id, passing, None, {each.member_id: alone.get(each) for each in leaving})]

    route = group_route(requests, node_id)
    found = await ask_each(requests, "removing members of group", [group_id], route, ask)
    removed: dict[str | None, type[BrokerResponseError]] = values_or_raise(found)[group_id]
    return removed


async def _all_members(requests: AdminRequests, group_id: str, node_id: int | None) -> list[MemberToRemove]:
    """Static members by their instance ids, so that they do not come back as if they had never left."""
    members = await members_of(requests, group_id, node_id)
    return [MemberToRemove(member_id if instance is None else None, instance) for member_id, instance in members]


def _request(group_id: str, members: list[MemberToRemove]) -> LeaveGroupRequest:
    leaving = [
        MemberIdentity(member_id=each.member_id or "", group_instance_id=each.group_instance_id, reason=each.reason)
        for each in members
    ]
    return LeaveGroupRequest(group_id=group_id, members=leaving)


def _request_of_one(group_id: str, member: MemberToRemove) -> LeaveGroupRequest:
    if member.group_instance_id is not None:
        raise UnsupportedVersionError("brokers before 2.3 have no static members: give the member_id")
    if not member.member_id:
        raise IllegalArgumentError(f"{member}: expected a member_id")
    return LeaveGroupRequest(group_id=group_id, member_id=member.member_id)
