"""One round of joining: JoinGroup, the assignment if this member leads the group, and SyncGroup.

A round that fails is not tried again here; the membership does that.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kafka.cluster import CoordinatorRequests
from kafka.config import GroupOptions
from kafka.coordinator.classic.assignment import Assignors, JoinSubscription, read_members, run_assignor
from kafka.coordinator.consumer_protocol import PROTOCOL_TYPE, decode_assignment
from kafka.coordinator.generation import Generation
from kafka.coordinator.group_statistics import GroupStatistics
from kafka.errors import check_error
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment
from kafka.wire.api.join_group import JoinGroupRequest, JoinGroupResponse
from kafka.wire.api.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

JOIN_MARGIN_MS = 5_000
"""How much longer than the rebalance may take we wait for JoinGroup's answer."""


class Joined(NamedTuple):
    """What JoinGroup gave.

    Arguments:
        generation: this member's credentials.
        response: the coordinator's answer; it lists the members if this one leads.
    """

    generation: Generation
    response: JoinGroupResponse

    @property
    def leads(self) -> bool:
        """Whether this member has to work out the assignment."""
        return self.response.leader == self.response.member_id


class JoinRound:
    """Builds the requests of a round and reads its answers.

    Arguments:
        client: sends to the coordinator.
        group_id: the group.
        options: timeouts in milliseconds, static membership.
        request_timeout_ms: how long SyncGroup may take, and JoinGroup at least: that one waits for all other members.
        assignors: what this member can use.
        watch: called by a leader with all topics of the group, so that their metadata are kept fresh.
        statistics: counts rounds.
    """

    def __init__(
        self,
        client: CoordinatorRequests,
        group_id: str,
        options: GroupOptions,
        request_timeout_ms: float,
        assignors: Assignors,
        watch: Callable[[frozenset[str]], None],
        statistics: GroupStatistics | None = None,
    ) -> None:
        self._client = client
        self._group_id = group_id
        self._options = options
        self._sync_timeout_ms = request_timeout_ms
        rebalance_ms = max(options.max_poll_interval_ms, options.session_timeout_ms)
        self._join_timeout_ms = max(request_timeout_ms, rebalance_ms + JOIN_MARGIN_MS)
        self._assignors = assignors
        self._watch = watch
        self._statistics = statistics or GroupStatistics()
        self.partition_counts: dict[str, int] = {}
        """Of a leader: the partitions of each topic that the last assignment went by; else empty."""

    async def join(self, member_id: str, subscription: JoinSubscription, reason: str) -> JoinGroupResponse:
        """Send JoinGroup; its error code is left to the caller, because MEMBER_ID_REQUIRED comes with an id."""
        self.partition_counts = {}
        request = JoinGroupRequest(
            group_id=self._group_id,
            session_timeout_ms=self._options.session_timeout_ms,
            rebalance_timeout_ms=self._options.max_poll_interval_ms,
            member_id=member_id,
            group_instance_id=self._options.group_instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=await self._assignors.protocols(subscription),
            reason=reason[:255],
        )
        loop = asyncio.get_running_loop()
        sent_at = loop.time()
        response: JoinGroupResponse = await self._client.send_coordinator(
            "group", self._group_id, request, timeout_ms=self._join_timeout_ms
        )
        if not response.error_code:
            now = loop.time()
            self._statistics.joins.record(1000 * (now - sent_at), now)
        return response

    async def assign(self, joined: Joined) -> dict[str, bytes]:
        """Have the assignor work out the assignments of all members; raises `AssignorFailed`."""
        members = read_members(joined.response)
        topics = frozenset(topic for member in members.values() for topic in member.topics)
        self._watch(topics)
        metadata = await self._client.refresh_metadata(topics)
        self.partition_counts = {topic: len(metadata.partitions_for_topic(topic) or ()) for topic in topics}
        if joined.response.skip_assignment:
            return {}
        return await run_assignor(self._assignors.choose(joined.generation.protocol), metadata, members)

    async def sync(self, generation: Generation, assignments: Mapping[str, bytes]) -> ConsumerProtocolAssignment:
        """Send SyncGroup, with the group's assignment if this member leads; returns this member's part of it."""
        request = SyncGroupRequest(
            group_id=self._group_id,
            generation_id=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=self._options.group_instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=generation.protocol,
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=data)
                for member_id, data in assignments.items()
            ],
        )
        loop = asyncio.get_running_loop()
        sent_at = loop.time()
        response: SyncGroupResponse = await self._client.send_coordinator(
            "group", self._group_id, request, timeout_ms=self._sync_timeout_ms
        )
        check_error(response.error_code, f"SyncGroup of {self._group_id!r}")
        now = loop.time()
        self._statistics.syncs.record(1000 * (now - sent_at), now)
        return decode_assignment(bytes(response.assignment))
