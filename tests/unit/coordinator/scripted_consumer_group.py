"""A coordinator of KIP-848 on the cluster in memory, and a member of it that stands where a consumer would."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from fakes.cluster import Call, FakeCluster
from kafka.cluster import Backoff
from kafka.config import parse_consumer
from kafka.coordinator.consumer_group.membership import ConsumerGroupMembership
from kafka.coordinator.consumer_group.state import MemberState
from kafka.coordinator.group_metrics import PollClock
from kafka.coordinator.membership import Partitions, Step, StepKind
from kafka.wire.api.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from unit.virtual_loop import simulate

API = "ConsumerGroupHeartbeat"
INTERVAL_S = 5.0


def play(scenario: Callable[[FakeCluster], Awaitable[None]], **counts: int) -> FakeCluster:
    """Run a scenario on a cluster with these topics, in virtual time; `t` has four partitions.

    Unless a test says otherwise, who joins gets `t` 0 and 1 and the epoch 1, and later answers change nothing.
    """
    cluster = FakeCluster({"t": 4, **counts})

    def answer(call: Call) -> ConsumerGroupHeartbeatResponse:
        request = call.request
        if request.member_epoch < 0:
            return answered(request.member_epoch, member_id=request.member_id)
        if request.member_epoch == 0:
            return answered(1, cluster, {"t": [0, 1]}, member_id=request.member_id)
        return answered(request.member_epoch, member_id=request.member_id)

    cluster.serve(API, answer)

    async def main() -> None:
        await cluster.start()
        await scenario(cluster)
        await cluster.close()

    simulate(main)
    return cluster


def answered(
    epoch: int,
    cluster: FakeCluster | None = None,
    assignment: Mapping[str | UUID, Sequence[int]] | None = None,
    member_id: str | None = None,
) -> ConsumerGroupHeartbeatResponse:
    """An answer without an error; topics by name or by id."""
    given = None
    if assignment is not None:
        given = Assignment(
            topic_partitions=[
                TopicPartitions(topic_id=_id(cluster, topic), partitions=list(numbers))
                for topic, numbers in assignment.items()
            ]
        )
    return ConsumerGroupHeartbeatResponse(
        member_id=member_id, member_epoch=epoch, heartbeat_interval_ms=int(INTERVAL_S * 1000), assignment=given
    )


def _id(cluster: FakeCluster | None, topic: str | UUID) -> UUID:
    if isinstance(topic, UUID):
        return topic
    assert cluster is not None
    return cluster.topic_id(topic)


def requests(cluster: FakeCluster) -> list[ConsumerGroupHeartbeatRequest]:
    """The heartbeats so far."""
    return cluster.requests(API)


def claimed(cluster: FakeCluster, request: ConsumerGroupHeartbeatRequest) -> dict[str, list[int]] | None:
    """What a heartbeat says is owned, None: nothing about that."""
    if request.topic_partitions is None:
        return None
    return {cluster.topic_name(each.topic_id): each.partitions for each in request.topic_partitions}


class Member:
    """A membership and its host: carries steps out when it is told to."""

    def __init__(self, cluster: FakeCluster, rack: str = "", **options: Any) -> None:
        self.topics = frozenset({"t"})
        self.regex: str | None = None
        self.held: Partitions = frozenset()
        self.steps: list[Step] = []
        self.errors: list[Exception] = []
        self.watched: frozenset[str] = frozenset()
        self.ready = 0
        self.clock = PollClock(asyncio.get_running_loop().time())
        self.clock.begin(asyncio.get_running_loop().time())  # as if it polled all the time
        group = parse_consumer({"group_id": "g", "group_protocol": "consumer", **options}).group
        self.membership = ConsumerGroupMembership(
            cluster, group, 30_000, rack, self, self.clock, Backoff(100, 1_000), None
        )

    @property
    def state(self) -> MemberState:
        return self.membership.state

    def subscribed_topics(self) -> frozenset[str]:
        return self.topics

    def subscribed_regex(self) -> str | None:
        return self.regex

    def watch_group_topics(self, topics: frozenset[str]) -> None:
        self.watched = topics

    def step_ready(self) -> None:
        self.ready += 1

    def membership_failed(self, error: Exception) -> None:
        self.errors.append(error)

    def begin_step(self) -> Step | None:
        """Take a step, of which the membership does not hear yet."""
        step = self.membership.next_step(self.held)
        if step is not None:
            self.held = self.held | step.partitions if step.kind is StepKind.ADD else self.held - step.partitions
            self.steps.append(step)
        return step

    def take_step(self) -> Step | None:
        """What a `poll()` would do first."""
        step = self.begin_step()
        if step is not None:
            self.membership.step_done(step, self.held)
        return step

    def poll(self) -> None:
        """What a `poll()` would do."""
        while self.take_step() is not None:
            pass

    @property
    def changes(self) -> list[tuple[StepKind, set[int]]]:
        """The steps so far, with the numbers of their partitions."""
        return [(step.kind, {tp.partition for tp in step.partitions}) for step in self.steps]

    async def until(self, state: MemberState) -> None:
        """Wait for a state."""
        async with asyncio.timeout(60):
            while self.state is not state:
                await asyncio.sleep(0.004)

    async def join(self) -> None:
        """Join, take over, and have that acknowledged."""
        async with asyncio.timeout(60):
            while self.state is not MemberState.STABLE:
                self.poll()
                await asyncio.sleep(0.004)
        await asyncio.sleep(0.01)
