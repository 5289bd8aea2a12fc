"""A group coordinator on virtual time, and the requests of its members."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups.classic_group import GroupState, JoinRequest, JoinResult, Protocol, SyncResult
from kafka.broker.groups.consumer_journal import ConsumerGroupJournal
from kafka.broker.groups.group_coordinator import GroupCoordinator
from kafka.broker.groups.group_offsets import CommittedOffset, OffsetJournal
from unit.broker.clock import VirtualClock

GROUP = "g"
RANGE = Protocol("range", b"range subscription")
STICKY = Protocol("sticky", b"sticky subscription")


class GroupCoordinatorHarness:
    """A coordinator and its clock. By default sessions last 10 s and rebalances 60 s."""

    def __init__(self, folder: Path, **settings: int) -> None:
        self.clock = VirtualClock()
        self.folder = folder
        self.settings = BrokerSettings.from_names(settings)
        self.coordinator = self.reopened()

    def reopened(self) -> GroupCoordinator:
        """Open a coordinator on the files that earlier ones have left."""
        self.coordinator = GroupCoordinator(
            self.clock,
            self.settings,
            OffsetJournal(self.folder / "offsets.log", self.settings.fsync),
            ConsumerGroupJournal(self.folder / "consumers.log", self.settings.fsync),
            random.Random(1),
        )
        return self.coordinator

    @property
    def state(self) -> GroupState:
        return self.coordinator.groups[GROUP].state

    def join(
        self,
        member_id: str = "",
        *,
        protocols: Sequence[Protocol] = (RANGE,),
        instance: str | None = None,
        version: int = 3,
        session_ms: int = 10_000,
        protocol_type: str = "consumer",
        client: str = "client",
    ) -> list[JoinResult]:
        """Join with a version of JoinGroup. The response is added to the returned list when it is available."""
        answers: list[JoinResult] = []
        request = JoinRequest(
            GROUP,
            member_id,
            instance,
            client,
            "/127.0.0.1",
            session_ms,
            60_000,
            protocol_type,
            tuple(protocols),
            requires_known_member_id=version >= 4,
            supports_skipping_assignment=version >= 9,
        )
        self.coordinator.join(request, answers.append)
        return answers

    def sync(
        self, member: JoinResult, assignments: dict[str, bytes] | None = None, instance: str | None = None
    ) -> list[SyncResult]:
        """Send SyncGroup. The response is added to the returned list when it is available."""
        answers: list[SyncResult] = []
        self.coordinator.sync(
            GROUP,
            member.member_id,
            instance,
            member.generation_id,
            (member.protocol_type, member.protocol_name),
            assignments or {},
            answers.append,
        )
        return answers

    def stable(self, size: int) -> list[JoinResult]:
        """Create a STABLE group of `size` members, the first of which is the leader."""
        answers = [self.join()]
        for _ in range(size - 1):
            newcomer = self.join()
            answers = [*(self.join(one[0].member_id) for one in answers), newcomer]
        members = [one[0] for one in answers]
        self.settle(members)
        return members

    def settle(self, members: list[JoinResult]) -> list[SyncResult]:
        """Send SyncGroup for all members, the leader last; each member is assigned its own id."""
        answers = [self.sync(one) for one in members if one.leader != one.member_id]
        leader = next(one for one in members if one.leader == one.member_id)
        answers.append(self.sync(leader, {one.member_id: one.member_id.encode() for one in members}))
        return [one[0] for one in answers]

    def heartbeat(self, member: JoinResult, instance: str | None = None) -> ErrorCode:
        try:
            return self.coordinator.heartbeat(GROUP, member.member_id, instance, member.generation_id)
        except RequestFailed as error:
            return error.code

    def leave(self, member_id: str, instance: str | None = None) -> ErrorCode:
        try:
            self.coordinator.leave(GROUP, member_id, instance)
        except RequestFailed as error:
            return error.code
        return ErrorCode.NONE

    def commit(self, member_id: str, generation_id: int, offset: int, partition: int = 0) -> ErrorCode:
        try:
            group = self.coordinator.check_commit(GROUP, member_id, None, generation_id, version=8)
        except RequestFailed as error:
            return error.code
        self.coordinator.commit(group, {("t", partition): CommittedOffset(offset, -1, "")})
        return ErrorCode.NONE
