"""A member against a scripted coordinator, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable

import pytest

from kafka.coordinator.generation import NO_GENERATION
from kafka.coordinator.protocol import decode_assignment
from kafka.coordinator.state import MemberState
from kafka.errors import (
    CoordinatorNotAvailableError,
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
    InconsistentGroupProtocolError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NotCoordinatorError,
    UnknownMemberIdError,
)
from kafka.structs import TopicPartition
from kafka.wire.api.heartbeat import HeartbeatResponse
from kafka.wire.api.join_group import JoinGroupResponse
from kafka.wire.api.sync_group import SyncGroupResponse
from unit.coordinator.scripted_coordinator import Consumer, ScriptedCoordinator, cluster, joined, synced
from unit.virtual_loop import simulate

Scenario = Callable[[ScriptedCoordinator], Awaitable[None]]


def play(scenario: Scenario, **counts: int) -> ScriptedCoordinator:
    """Run a scenario against a coordinator of a cluster with these topics; `t` has two partitions."""
    coordinator = ScriptedCoordinator(cluster(**{"t": 2, **counts}))

    async def main() -> None:
        await scenario(coordinator)

    simulate(main)
    return coordinator


def test_the_leader_assigns_and_every_state_is_gone_through() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator)
        await consumer.join()
        assert consumer.states == [
            MemberState.JOINING,
            MemberState.SYNCING,
            MemberState.ADOPTING,
            MemberState.STABLE,
        ]
        assert consumer.member.assignment == [TopicPartition("t", 0), TopicPartition("t", 1)]
        assert consumer.watched == {"t"}
        (sync,) = coordinator.sent("SyncGroup")
        assigned = decode_assignment(sync.assignments[0].assignment).assigned_partitions
        assert [(each.topic, each.partitions) for each in assigned] == [("t", [0, 1])]
        await consumer.member.close(1_000)

    play(scenario)


def test_a_follower_sends_no_assignment() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        coordinator.on("JoinGroup", joined("me", leader="other", generation=7))
        coordinator.on("SyncGroup", synced(t=[1]))
        consumer = Consumer(coordinator)
        await consumer.join()
        (sync,) = coordinator.sent("SyncGroup")
        assert (sync.assignments, sync.generation_id, sync.member_id) == ([], 7, "me")
        assert consumer.member.assignment == [TopicPartition("t", 1)]

    play(scenario)


def test_the_member_id_that_the_coordinator_requires_is_used_at_once() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        coordinator.on("JoinGroup", JoinGroupResponse(error_code=79, member_id="given"))
        await Consumer(coordinator).join()
        assert [request.member_id for request in coordinator.sent("JoinGroup")] == ["", "given"]
        first, second = coordinator.times("JoinGroup")
        assert second - first < 0.01

    play(scenario)


@pytest.mark.parametrize(
    "failure",
    [
        KafkaConnectionError("gone"),
        KafkaTimeoutError("late"),
        JoinGroupResponse(error_code=NotCoordinatorError.errno),
        JoinGroupResponse(error_code=CoordinatorNotAvailableError.errno),
    ],
)
def test_joining_goes_on_at_the_next_coordinator(failure: object) -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        coordinator.on("JoinGroup", failure, failure)
        await Consumer(coordinator).join()
        assert len(coordinator.sent("JoinGroup")) == 3
        assert coordinator.forgotten >= 2
        first, _, third = coordinator.times("JoinGroup")
        assert 0.2 < third - first < 1

    play(scenario)


def test_a_coordinator_that_is_loading_is_asked_again_and_not_forgotten() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        coordinator.on("JoinGroup", JoinGroupResponse(error_code=14))
        await Consumer(coordinator).join()
        assert len(coordinator.sent("JoinGroup")) == 2
        assert coordinator.forgotten == 0

    play(scenario)


def test_an_unknown_member_joins_as_a_new_one() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator)
        await consumer.join()
        consumer.member.request_rejoin("the test wants it")
        coordinator.on("JoinGroup", JoinGroupResponse(error_code=25))
        await consumer.join()
        assert [request.member_id for request in coordinator.sent("JoinGroup")] == ["", "me", ""]

    play(scenario)


def test_a_group_that_rebalances_while_syncing_is_joined_again() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        coordinator.on("SyncGroup", SyncGroupResponse(error_code=27))
        consumer = Consumer(coordinator)
        await consumer.join()
        assert len(coordinator.sent("JoinGroup")) == 2
        assert consumer.member.state is MemberState.STABLE

    play(scenario)


@pytest.mark.parametrize("error", [GroupAuthorizationFailedError, InconsistentGroupProtocolError])
def test_what_does_not_pass_is_handed_to_the_caller(error: type[KafkaError]) -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        coordinator.on("JoinGroup", JoinGroupResponse(error_code=error.errno))  # type: ignore[attr-defined]
        consumer = Consumer(coordinator)
        consumer.member.start_join()
        await consumer.until(lambda: bool(consumer.errors))
        assert type(consumer.errors[0]) is error
        assert consumer.member.state is MemberState.UNJOINED
        await consumer.join()  # the next poll may try again
        assert consumer.member.state is MemberState.STABLE

    play(scenario)


def test_heartbeats_go_out_at_their_interval_while_the_caller_polls() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator, heartbeat_interval_ms=3_000)
        await consumer.join()
        consumer.clock.begin(asyncio.get_running_loop().time())
        await asyncio.sleep(24 * 3_600)
        times = coordinator.times("Heartbeat")
        assert len(times) == pytest.approx(28_800, abs=30)
        assert max(late - early for early, late in itertools.pairwise(times)) < 3.1
        assert consumer.member.state is MemberState.STABLE
        assert len(coordinator.sent("JoinGroup")) == 1
        await consumer.member.close(1_000)

    play(scenario)


def test_a_rebalance_that_a_heartbeat_tells_of_waits_for_the_caller_and_goes_on_beating() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator)
        await consumer.join()
        coordinator.on("Heartbeat", HeartbeatResponse(error_code=27))
        await consumer.until(lambda: consumer.member.state is MemberState.REBALANCING)
        assert not consumer.member.lost
        beats = len(coordinator.sent("Heartbeat"))
        await asyncio.sleep(10)
        assert len(coordinator.sent("Heartbeat")) >= beats + 3
        coordinator.on("JoinGroup", joined("me", generation=2))
        await consumer.join()
        assert consumer.member.generation.generation_id == 2

    play(scenario)


@pytest.mark.parametrize(("code", "next_id"), [(25, ""), (22, "me")])
def test_a_membership_that_is_gone_is_lost(code: int, next_id: str) -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator)
        await consumer.join()
        coordinator.on("Heartbeat", HeartbeatResponse(error_code=code))
        await consumer.until(lambda: consumer.member.state is MemberState.UNJOINED)
        assert consumer.member.lost
        assert not consumer.member.generation.is_valid
        beats = len(coordinator.sent("Heartbeat"))
        await asyncio.sleep(30)
        assert len(coordinator.sent("Heartbeat")) == beats
        await consumer.join()
        assert coordinator.sent("JoinGroup")[1].member_id == next_id
        assert not consumer.member.lost

    play(scenario)


def test_a_fenced_static_member_tells_the_caller() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator, group_instance_id="i")
        await consumer.join()
        coordinator.on("Heartbeat", HeartbeatResponse(error_code=82))
        await consumer.until(lambda: bool(consumer.errors))
        assert isinstance(consumer.errors[0], FencedInstanceIdError)
        assert consumer.member.generation == NO_GENERATION

    play(scenario)


def test_heartbeats_survive_a_coordinator_that_is_away() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator)
        await consumer.join()
        away = KafkaConnectionError("gone")
        coordinator.on("Heartbeat", away, away, HeartbeatResponse(error_code=16), HeartbeatResponse(error_code=14))
        await asyncio.sleep(20)
        assert consumer.member.state is MemberState.STABLE
        assert coordinator.forgotten == 3

    play(scenario)


def test_a_caller_that_does_not_poll_leaves_the_group() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator, max_poll_interval_ms=60_000)
        await consumer.join()
        loop = asyncio.get_running_loop()
        for _ in range(10):
            await asyncio.sleep(50)
            consumer.clock.begin(loop.time())
            consumer.clock.end(loop.time())
        assert consumer.member.state is MemberState.STABLE
        await asyncio.sleep(55)
        consumer.clock.progressed = True  # iteration counts as well
        await asyncio.sleep(55)
        assert consumer.member.state is MemberState.STABLE
        await asyncio.sleep(10)
        assert consumer.member.state is MemberState.UNJOINED
        assert consumer.member.lost
        (leave,) = coordinator.sent("LeaveGroup")
        assert leave.members[0].member_id == "me"
        consumer.clock.begin(loop.time())
        await consumer.join()
        assert consumer.member.state is MemberState.STABLE

    play(scenario)


def test_a_caller_inside_poll_is_never_overdue() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator, max_poll_interval_ms=60_000)
        await consumer.join()
        consumer.clock.begin(asyncio.get_running_loop().time())
        await asyncio.sleep(3_600)
        assert consumer.member.state is MemberState.STABLE

    play(scenario)


def test_a_subscription_that_changes_during_a_round_makes_for_another() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator)
        consumer.member.start_join()
        await consumer.until(lambda: consumer.member.state is MemberState.SYNCING)
        consumer.topics = frozenset({"t", "u"})
        consumer.member.request_rejoin("the subscription has changed")
        await consumer.until(lambda: consumer.member.state is MemberState.ADOPTING)
        consumer.member.adopt()
        assert consumer.member.state is MemberState.REBALANCING

    play(scenario)


def test_a_leader_joins_again_when_a_topic_grows() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator)
        await consumer.join()
        consumer.member.check_metadata(cluster(t=2, other=5))
        assert consumer.member.state is MemberState.STABLE
        consumer.member.check_metadata(cluster(t=3))
        assert consumer.member.state is MemberState.REBALANCING

    play(scenario)


def test_leaving_and_closing_tell_the_coordinator_once() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator)
        await consumer.join()
        await consumer.member.leave("enough", 1_000)
        assert consumer.member.state is MemberState.UNJOINED
        assert not consumer.member.lost
        await consumer.member.close(1_000)
        await consumer.member.close(1_000)
        assert len(coordinator.sent("LeaveGroup")) == 1
        assert consumer.member.state is MemberState.CLOSED

    play(scenario)


def test_a_static_member_does_not_leave() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator, group_instance_id="i")
        await consumer.join()
        await consumer.member.close(1_000)
        assert coordinator.sent("LeaveGroup") == []

    play(scenario)


def test_closing_in_the_middle_of_a_round_ends_it() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator)
        consumer.member.start_join()
        await consumer.until(lambda: consumer.member.state is MemberState.SYNCING)
        await consumer.member.close(1_000)
        await asyncio.sleep(60)
        assert consumer.member.state is MemberState.CLOSED

    play(scenario)


def test_a_failed_leave_does_not_keep_a_member_from_closing() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        coordinator.on("LeaveGroup", KafkaConnectionError("gone"))
        consumer = Consumer(coordinator)
        await consumer.join()
        await consumer.member.close(1_000)
        assert consumer.member.state is MemberState.CLOSED

    play(scenario)


def test_a_refused_commit_is_news_only_about_the_generation_it_was_made_with() -> None:
    async def scenario(coordinator: ScriptedCoordinator) -> None:
        consumer = Consumer(coordinator)
        await consumer.join()
        consumer.member.commit_refused(UnknownMemberIdError.errno, NO_GENERATION)
        assert consumer.member.state is MemberState.STABLE
        consumer.member.commit_refused(UnknownMemberIdError.errno, consumer.member.generation)
        assert consumer.member.state is MemberState.UNJOINED
        assert consumer.member.lost

    play(scenario)
