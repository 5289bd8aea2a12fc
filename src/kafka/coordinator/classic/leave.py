"""LeaveGroup: the coordinator hears at once that a member is gone, instead of after its session has expired."""

import asyncio
import logging

from kafka.cluster import CoordinatorRequests
from kafka.errors import UnsupportedVersionError, for_code
from kafka.wire.api.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity

log = logging.getLogger(__name__)

_SINGLE_UNTIL = 2
"""The last version that names one member instead of a list."""


async def leave_group(
    client: CoordinatorRequests, group_id: str, member_id: str, reason: str, timeout_ms: float
) -> None:
    """Tell the coordinator that a member leaves. One try; a failure is logged, as the session expires anyway."""
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            response = await _ask(client, group_id, member_id, reason, timeout_ms)
    except Exception as error:
        log.info("the coordinator of group %s was not told that %s leaves: %r", group_id, member_id, error)
        return
    codes = [response.error_code, *(member.error_code for member in response.members)]
    for code in codes:
        if code:
            log.info("leaving group %s as %s: %s", group_id, member_id, for_code(code).message)


async def _ask(
    client: CoordinatorRequests, group_id: str, member_id: str, reason: str, timeout_ms: float
) -> LeaveGroupResponse:
    listed = LeaveGroupRequest(group_id=group_id, members=[MemberIdentity(member_id=member_id, reason=reason[:255])])
    single = LeaveGroupRequest(group_id=group_id, member_id=member_id)
    response: LeaveGroupResponse
    try:
        response = await client.send_coordinator(
            "group", group_id, listed, timeout_ms=timeout_ms, min_version=_SINGLE_UNTIL + 1
        )
    except UnsupportedVersionError:
        response = await client.send_coordinator(
            "group", group_id, single, timeout_ms=timeout_ms, max_version=_SINGLE_UNTIL
        )
    return response
