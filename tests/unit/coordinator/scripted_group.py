"""A group on the cluster in memory, and a member of it that stands where a consumer would."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from fakes.cluster import Call, FakeCluster
from kafka.cluster import Backoff
from kafka.config import parse_consumer
from kafka.coordinator.classic.membership import ClassicMembership
from kafka.coordinator.classic.state import MemberState
from kafka.coordinator.consumer_protocol import (
    encode_assignment,
    encode_subscription,
    make_assignment,
    make_subscription,
)
from kafka.coordinator.group_metrics import PollClock
from kafka.coordinator.membership import Partitions, Step, StepKind
from kafka.structs import TopicPartition
from kafka.wire.api.heartbeat import HeartbeatResponse
from kafka.wire.api.join_group import JoinGroupResponse, JoinGroupResponseMember
from kafka.wire.api.leave_group import LeaveGroupResponse
from kafka.wire.api.sync_group import SyncGroupResponse
from unit.virtual_loop import simulate

REQUEST_TIMEOUT_MS = 30_000


def partitions(topic: str, *numbers: int) -> Partitions:
    """Partitions of a topic."""
    return frozenset(TopicPartition(topic, number) for number in numbers)


def play(scenario: Callable[[FakeCluster], Awaitable[None]], **counts: int) -> FakeCluster:
    """Run a scenario on a cluster with these topics, in virtual time; `t` has two partitions.

    Unless a test says otherwise, the coordinator makes every member the leader and assigns it `t` 0 and 1.
    """
    cluster = FakeCluster({"t": 2, **counts})
    cluster.serve("JoinGroup", lambda call: joined(call.request.member_id or "me"))
    cluster.serve("SyncGroup", lambda call: synced(t=[0, 1]))
    cluster.serve("Heartbeat", lambda call: HeartbeatResponse())
    cluster.serve("LeaveGroup", lambda call: LeaveGroupResponse())

    async def main() -> None:
        await cluster.start()
        await scenario(cluster)
        await cluster.close()

    simulate(main)
    return cluster


def joined(member_id: str, leader: str = "", generation: int = 1, **more: Any) -> JoinGroupResponse:
    """JoinGroup's answer; to the leader it lists the one member."""
    leads = (leader or member_id) == member_id
    metadata = encode_subscription(make_subscription(["t"]))
    members = [JoinGroupResponseMember(member_id=member_id, metadata=metadata)] if leads else []
    return JoinGroupResponse(
        generation_id=generation,
        protocol_type="consumer",
        protocol_name="range",
        leader=leader or member_id,
        member_id=member_id,
        members=members,
        **more,
    )


def synced(**topics: list[int]) -> SyncGroupResponse:
    """SyncGroup's answer."""
    assignment = encode_assignment(make_assignment(topics))
    return SyncGroupResponse(protocol_type="consumer", protocol_name="range", assignment=assignment)


def asks_for_id(member_id: str) -> Callable[[Call], JoinGroupResponse]:
    """The answer to a first JoinGroup (KIP-394)."""
    return lambda call: JoinGroupResponse(error_code=79, member_id=member_id)


class Member:
    """A membership and its host: carries steps out when it is told to."""

    def __init__(self, cluster: FakeCluster, **options: Any) -> None:
        self.topics = frozenset({"t"})
        self.held: Partitions = frozenset()
        self.steps: list[Step] = []
        self.errors: list[Exception] = []
        self.ready_in: list[MemberState] = []
        self.watched: frozenset[str] = frozenset()
        self.clock = PollClock(asyncio.get_running_loop().time())
        rack = options.pop("client_rack", "")
        statistics = options.pop("statistics", None)
        group = parse_consumer({"group_id": "g", **options}).group
        self.membership = ClassicMembership(
            cluster, group, REQUEST_TIMEOUT_MS, rack, self, self.clock, Backoff(100, 1_000), statistics
        )

    @property
    def state(self) -> MemberState:
        return self.membership.state

    def subscribed_topics(self) -> frozenset[str]:
        return self.topics

    def watch_group_topics(self, topics: frozenset[str]) -> None:
        self.watched = topics

    def step_ready(self) -> None:
        self.ready_in.append(self.state)

    def membership_failed(self, error: Exception) -> None:
        self.errors.append(error)

    def take_step(self) -> Step | None:
        """What a `poll()` would do."""
        step = self.membership.next_step(self.held)
        if step is not None:
            self.held = self.held | step.partitions if step.kind is StepKind.ADD else self.held - step.partitions
            self.steps.append(step)
            self.membership.step_done(step, self.held)
        return step

    async def until(self, condition: Callable[[], object], patience_s: float = 3_600.0) -> None:
        """Wait until the condition holds."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        async with asyncio.timeout(patience_s):
            while not condition():
                # At first less than the cluster takes to answer, so that no state is passed over unseen.
                await asyncio.sleep(0.0005 if loop.time() < started + 1 else 0.05)

    async def join(self, patience_s: float = 3_600.0) -> None:
        """Join and take over."""
        self.take_step()
        await self.until(lambda: self.state is MemberState.ADOPTING, patience_s)
        self.take_step()
        assert self.state is MemberState.STABLE
