"""Giving up a subscription or an assignment while the coordinator is silent, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fakes.cluster import SILENCE, FakeCluster
from kafka.cluster import client_core
from kafka.consumer import AsyncKafkaConsumer
from kafka.wire.api.heartbeat import HeartbeatResponse
from kafka.wire.api.leave_group import LeaveGroupResponse
from unit.consumer.consumer_harness import T0, T1, ConsumerHarness, commit_answer
from unit.consumer.scripted_membership import still_loading
from unit.coordinator.scripted_group import joined, synced
from unit.virtual_loop import simulate

SHORT_S = 7.0


class GroupConsumer:
    """A consumer of a group on a cluster in memory."""

    def __init__(self, cluster: FakeCluster, consumer: AsyncKafkaConsumer) -> None:
        self.cluster = cluster
        self.consumer = consumer

    def say_nothing(self, *apis: str) -> None:
        for api in apis:
            self.cluster.serve(api, lambda call: SILENCE)

    async def hold(self, *partitions: Any) -> None:
        """Poll until these are assigned, and have been read."""
        while self.consumer.assignment() != set(partitions):
            await self.consumer.poll(100)
        for tp in partitions:
            self.consumer.seek(tp, 7)

    async def took(self, call: Awaitable[None]) -> float:
        """How many seconds something takes."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await call
        return loop.time() - begun


def play(
    monkeypatch: pytest.MonkeyPatch, scenario: Callable[[GroupConsumer], Awaitable[None]], **options: Any
) -> FakeCluster:
    async def main() -> FakeCluster:
        cluster = ConsumerHarness().cluster
        cluster.serve("JoinGroup", lambda call: joined(call.request.member_id or "me"))
        cluster.serve("SyncGroup", lambda call: synced(t=[0, 1]))
        cluster.serve("Heartbeat", lambda call: HeartbeatResponse())
        cluster.serve("LeaveGroup", lambda call: LeaveGroupResponse())
        cluster.serve("OffsetFetch", still_loading)
        monkeypatch.setattr(client_core, "ClusterClient", lambda *arguments, **options: cluster)
        consumer = AsyncKafkaConsumer(group_id="g", auto_commit_interval_ms=3_600_000, **options)
        await consumer.start()
        await scenario(GroupConsumer(cluster, consumer))
        await consumer.close(timeout_ms=1_000)
        return cluster

    return simulate(main)


def test_an_unresponsive_coordinator_does_not_block_unsubscribe(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: GroupConsumer) -> None:
        setup.consumer.subscribe(["t"])
        await setup.hold(T0, T1)
        setup.say_nothing("LeaveGroup")
        assert await setup.took(setup.consumer.unsubscribe()) < 2
        assert setup.consumer.assignment() == set()
        assert len(setup.cluster.requests("LeaveGroup")) == 1

    cluster = play(monkeypatch, scenario)
    assert len(cluster.requests("OffsetCommit")) == 1


def test_an_unresponsive_coordinator_does_not_block_assign(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: GroupConsumer) -> None:
        await setup.consumer.assign([T0])
        await setup.hold(T0)
        setup.say_nothing("OffsetCommit")
        assert await setup.took(setup.consumer.assign([T1])) < SHORT_S
        assert setup.consumer.assignment() == {T1}
        setup.cluster.serve("OffsetCommit", commit_answer)
        await asyncio.sleep(60)  # the commit goes on until the connection has ended, and is made on another one
        assert len(setup.cluster.requests("OffsetCommit")) == 2

    play(monkeypatch, scenario)


def test_an_unresponsive_coordinator_blocks_neither_commit_nor_leave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(setup: GroupConsumer) -> None:
        setup.consumer.subscribe(["t"])
        await setup.hold(T0, T1)
        setup.say_nothing("OffsetCommit", "LeaveGroup")
        assert await setup.took(setup.consumer.unsubscribe()) < SHORT_S

    play(monkeypatch, scenario)


def test_closing_hands_in_the_leave_that_unsubscribing_did_not_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: GroupConsumer) -> None:
        setup.consumer.subscribe(["t"])
        await setup.hold(T0, T1)
        cluster = setup.cluster
        cluster.coordinator_error = 15
        cluster.forget_coordinator("group", "g")
        await setup.consumer.unsubscribe()
        assert cluster.requests("LeaveGroup") == []
        asyncio.get_running_loop().call_later(2, setattr, cluster, "coordinator_error", 0)
        await setup.consumer.close(timeout_ms=10_000)

    cluster = play(monkeypatch, scenario, enable_auto_commit=False)
    assert len(cluster.requests("LeaveGroup")) == 1
