"""Joining a classic group, on the cluster in memory, in virtual time."""

from __future__ import annotations

import asyncio
import logging

import pytest

from fakes.cluster import SILENCE, FakeCluster
from kafka.coordinator.classic.state import MemberState
from kafka.coordinator.consumer_protocol import decode_assignment
from kafka.coordinator.group_metrics import GroupStatistics
from kafka.coordinator.membership import StepKind
from kafka.errors import (
    CoordinatorNotAvailableError,
    GroupAuthorizationFailedError,
    InconsistentGroupProtocolError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NotCoordinatorError,
)
from kafka.metrics.windows import largest, total
from kafka.wire.api.heartbeat import HeartbeatResponse
from kafka.wire.api.join_group import JoinGroupResponse
from kafka.wire.api.sync_group import SyncGroupResponse
from unit.coordinator.scripted_group import REQUEST_TIMEOUT_MS, Member, asks_for_id, joined, partitions, play, synced

HELD = partitions("t", 0, 1)


def test_the_leader_assigns_and_the_caller_is_asked_to_give_up_and_to_take() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        assert [step[:2] for step in member.steps] == [(StepKind.REVOKE, frozenset()), (StepKind.ADD, HELD)]
        assert member.watched == {"t"}
        (sync,) = cluster.requests("SyncGroup")
        assigned = decode_assignment(sync.assignments[0].assignment).assigned_partitions
        assert [(each.topic, each.partitions) for each in assigned] == [("t", [0, 1])]
        assert member.membership.next_step(HELD) is None
        await member.membership.close(1_000)

    play(scenario)


def test_the_caller_hears_of_each_turn_that_is_its_own() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        cluster.script("Heartbeat", HeartbeatResponse(error_code=27))
        await member.until(lambda: member.state is MemberState.REBALANCING)
        await member.join()
        cluster.script("Heartbeat", HeartbeatResponse(error_code=25))
        await member.until(lambda: member.state is MemberState.UNJOINED)
        expected = [MemberState.ADOPTING, MemberState.REBALANCING, MemberState.ADOPTING, MemberState.UNJOINED]
        assert member.ready_in == expected

    play(scenario)


def test_a_follower_sends_no_assignment() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("JoinGroup", joined("me", leader="other", generation=7))
        cluster.script("SyncGroup", synced(t=[1]))
        member = Member(cluster)
        await member.join()
        (sync,) = cluster.requests("SyncGroup")
        assert (sync.assignments, sync.generation_id, sync.member_id) == ([], 7, "me")
        assert member.held == partitions("t", 1)

    play(scenario)


def test_the_member_id_that_the_coordinator_requires_is_used_at_once() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("JoinGroup", asks_for_id("given"))
        await Member(cluster).join()
        assert [request.member_id for request in cluster.requests("JoinGroup")] == ["", "given"]
        first, second = cluster.times("JoinGroup")
        assert second - first < 0.01

    play(scenario)


@pytest.mark.parametrize(
    "failure",
    [
        KafkaConnectionError("gone"),
        KafkaTimeoutError("late"),
        OSError(9, "Bad file descriptor"),
        JoinGroupResponse(error_code=NotCoordinatorError.errno),
        JoinGroupResponse(error_code=CoordinatorNotAvailableError.errno),
    ],
)
def test_joining_goes_on_at_the_next_coordinator(failure: object) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("JoinGroup", failure, failure)
        member = Member(cluster)
        await member.join()
        assert len(cluster.requests("JoinGroup")) == 3
        assert cluster.forgotten == 2
        assert member.errors == []
        first, _, third = cluster.times("JoinGroup")
        assert 0.2 < third - first < 1

    play(scenario)


def test_a_coordinator_that_is_loading_is_asked_again_and_not_forgotten() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("JoinGroup", JoinGroupResponse(error_code=14))
        await Member(cluster).join()
        assert len(cluster.requests("JoinGroup")) == 2
        assert cluster.forgotten == 0

    play(scenario)


@pytest.mark.parametrize("code", [27, 79])
def test_a_repeatedly_failing_join_backs_off_and_logs_rarely(code: int, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.serve("JoinGroup", lambda call: JoinGroupResponse(error_code=code, member_id="given"))
        member = Member(cluster)
        member.take_step()
        await asyncio.sleep(60)
        assert len(cluster.requests("JoinGroup")) < 150  # two a second: pauses grow to a second
        assert member.state is MemberState.JOINING
        await member.membership.close(1_000)

    with caplog.at_level(logging.INFO):
        play(scenario)
    told = [record for record in caplog.records if "joining group 'g' failed" in record.message]
    assert 1 <= len(told) <= 3
    assert all(record.levelno == logging.WARNING for record in told)


def test_an_unknown_member_joins_as_a_new_one() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        cluster.script("Heartbeat", HeartbeatResponse(error_code=27))
        await member.until(lambda: member.state is MemberState.REBALANCING)
        cluster.script("JoinGroup", JoinGroupResponse(error_code=25))
        await member.join()
        assert [request.member_id for request in cluster.requests("JoinGroup")] == ["", "me", ""]

    play(scenario)


def test_a_generation_that_has_passed_while_syncing_keeps_the_member_id() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("SyncGroup", SyncGroupResponse(error_code=22))
        member = Member(cluster)
        await member.join()
        assert [request.member_id for request in cluster.requests("JoinGroup")] == ["", "me"]

    play(scenario)


def test_a_group_that_rebalances_while_syncing_is_joined_again_at_once() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("SyncGroup", SyncGroupResponse(error_code=27))
        member = Member(cluster)
        await member.join()
        (answered, again) = cluster.times("SyncGroup")[0], cluster.times("JoinGroup")[1]
        assert again - answered < 0.01

    play(scenario)


@pytest.mark.parametrize("error", [GroupAuthorizationFailedError, InconsistentGroupProtocolError])
def test_permanent_errors_reach_the_caller(error: type[KafkaError]) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("JoinGroup", JoinGroupResponse(error_code=error.errno))  # type: ignore[attr-defined]
        member = Member(cluster)
        member.take_step()
        await member.until(lambda: member.errors)
        assert type(member.errors[0]) is error
        assert member.state is MemberState.UNJOINED
        await member.join()  # the next poll may try again

    play(scenario)


@pytest.mark.slow
def test_a_caller_that_polls_on_after_a_refusal_is_held_up_more_and_more() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.serve("JoinGroup", lambda call: JoinGroupResponse(error_code=30))
        member = Member(cluster)
        for count in range(1, 21):
            member.take_step()
            await member.until(lambda n=count: len(member.errors) == n)  # type: ignore[misc]
        times = cluster.times("JoinGroup")
        assert times[-1] - times[0] > 10

    play(scenario)


def test_a_coordinator_that_is_silent_in_sync_group_costs_the_request_timeout() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("SyncGroup", SILENCE)
        member = Member(cluster)
        await member.join()
        answered, again = cluster.times("SyncGroup")[0], cluster.times("JoinGroup")[1]
        assert REQUEST_TIMEOUT_MS / 1000 <= again - answered < REQUEST_TIMEOUT_MS / 1000 + 1

    play(scenario)


def test_a_join_is_waited_for_as_long_as_the_group_may_take() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        async def late(call: object) -> JoinGroupResponse:
            await asyncio.sleep(304)
            return joined("me")

        cluster.script("JoinGroup", late)
        member = Member(cluster, max_poll_interval_ms=300_000)
        member.clock.begin(asyncio.get_running_loop().time())
        await member.join()
        assert len(cluster.requests("JoinGroup")) == 1

    play(scenario)


def test_a_long_reason_is_truncated() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        member.membership.subscription_changed("x" * 300)
        member.take_step()
        await member.until(lambda: len(cluster.requests("JoinGroup")) == 2)
        assert cluster.requests("JoinGroup")[-1].reason == "x" * 255
        await member.until(lambda: member.state is MemberState.ADOPTING)
        await member.membership.leave("y" * 300, 1_000)
        assert cluster.requests("LeaveGroup")[-1].members[0].reason == "y" * 255
        await member.membership.close(1_000)

    play(scenario)


def test_the_time_that_each_request_of_the_group_took_is_counted() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        statistics = GroupStatistics()
        member = Member(cluster, statistics=statistics)
        await member.join()
        await member.until(lambda: bool(cluster.requests("Heartbeat")))
        await asyncio.sleep(1)
        now = asyncio.get_running_loop().time()
        for answered in (statistics.joins, statistics.syncs, statistics.heartbeats):
            assert total([answered], "count", now) == 1
            assert 1 <= round(largest([answered], "largest", now) / (1_000 * cluster.latency_s)) <= 4  # look-ups too
        assert total([statistics.rebalances], "count", now) == 1
        took_ms = largest([statistics.rebalances], "largest", now)
        assert statistics.rebalance_ms == took_ms
        assert took_ms >= largest([statistics.joins], "largest", now) + largest([statistics.syncs], "largest", now)
        await member.membership.close(1_000)

    play(scenario)
