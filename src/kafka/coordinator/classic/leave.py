"""Sends LeaveGroup, so that the coordinator removes a member at once and not only when its session expires."""

import asyncio
import logging

from kafka.cluster import CoordinatorRequests
from kafka.errors import UnsupportedVersionError, for_code
from kafka.wire.api.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity

log = logging.getLogger(__name__)

_SINGLE_UNTIL = 2
"""The last version of LeaveGroup that contains a single member instead of a list."""


_TIMEOUT_MS = 5_000
"""How long LeaveGroup may try to reach the coordinator."""


class Leaving:
    """Sends LeaveGroup requests in the background.

    Arguments:
        client: sends the requests.
        group_id: the group.
    """

    def __init__(self, client: CoordinatorRequests, group_id: str) -> None:
        self._client = client
        self._group_id = group_id
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, member_id: str, reason: str) -> None:
        """Send LeaveGroup in the background."""
        leave = leave_group(self._client, self._group_id, member_id, reason, _TIMEOUT_MS)
        task = asyncio.get_running_loop().create_task(leave)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait(self, timeout_ms: float) -> None:
        """Wait for the coordinator's responses, up to the timeout."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout_ms / 1000)

    def close(self) -> None:
        """Cancel all requests."""
        for task in list(self._tasks):
            task.cancel()


async def leave_group(
    client: CoordinatorRequests, group_id: str, member_id: str, reason: str, timeout_ms: float
) -> None:
    """Send LeaveGroup once.

    A failure is only logged, because the session expires anyway.
    """
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            response = await _ask(client, group_id, member_id, reason, timeout_ms)
    except Exception as error:
        log.info("could not tell the coordinator of group %s that %s leaves: %r", group_id, member_id, error)
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
