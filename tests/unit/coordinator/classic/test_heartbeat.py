"""Heartbeats of a member of a classic group, on the cluster in memory, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
import logging

import pytest

from fakes.cluster import SILENCE, FakeCluster
from kafka.coordinator.classic.state import MemberState
from kafka.coordinator.membership import StepKind
from kafka.errors import (
    CommitFailedError,
    KafkaConnectionError,
    RebalanceInProgressError,
)
from kafka.wire.api.heartbeat import HeartbeatResponse
from kafka.wire.api.sync_group import SyncGroupResponse
from unit.coordinator.scripted_group import Member, joined, partitions, play, synced

HELD = partitions("t", 0, 1)


@pytest.mark.slow
def test_heartbeats_go_out_at_their_interval_while_the_caller_polls() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, heartbeat_interval_ms=3_000)
        await member.join()
        member.clock.begin(asyncio.get_running_loop().time())
        await asyncio.sleep(2 * 3_600)
        times = cluster.times("Heartbeat")
        assert len(times) == pytest.approx(2_400, abs=3)
        gaps = [late - early for early, late in itertools.pairwise(times)]
        assert (min(gaps), max(gaps)) == pytest.approx((3 + cluster.latency_s, 3 + cluster.latency_s))
        assert member.state is MemberState.STABLE
        assert len(cluster.requests("JoinGroup")) == 1
        await member.membership.close(1_000)

    play(scenario)


def test_a_caller_that_is_overdue_is_noticed_between_heartbeats() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, heartbeat_interval_ms=3_000, max_poll_interval_ms=10_000)
        await member.join()
        loop = asyncio.get_running_loop()
        member.clock.begin(loop.time())
        member.clock.end(loop.time())
        await asyncio.sleep(9.999)
        assert member.state is MemberState.STABLE
        await asyncio.sleep(0.01)
        assert member.state is MemberState.UNJOINED
        assert len(cluster.requests("LeaveGroup")) == 1

    play(scenario)


def test_a_timeout_is_reported_and_expected(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, session_timeout_ms=9_000, heartbeat_interval_ms=3_000)
        await member.join()
        member.clock.begin(asyncio.get_running_loop().time())
        cluster.script("Heartbeat", SILENCE, SILENCE)
        await asyncio.sleep(12)
        await member.membership.close(1_000)

    play(scenario)
    told = [record.getMessage() for record in caplog.records if "heartbeat of group" in record.getMessage()]
    assert any("failed: no answer within 3000 ms" in each for each in told)
    assert not [each for each in told if "unexpectedly" in each]


def test_a_lost_heartbeat_is_noticed_in_a_third_of_the_session() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, session_timeout_ms=12_000, heartbeat_interval_ms=3_000)
        await member.join()
        cluster.script("Heartbeat", SILENCE)
        await member.until(lambda: len(cluster.times("Heartbeat")) >= 2)
        lost, next_one = cluster.times("Heartbeat")[:2]
        assert 4.0 <= next_one - lost < 5.0
        await asyncio.sleep(60)
        assert member.state is MemberState.STABLE

    play(scenario)


def test_heartbeats_go_out_while_the_assignor_of_the_leader_is_slow() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        cluster.script("Heartbeat", 0, HeartbeatResponse(error_code=27))
        loop = asyncio.get_running_loop()
        started = asyncio.Event()

        async def slow(*arguments: object) -> object:
            started.set()
            await asyncio.sleep(20)
            return {}

        member.membership._round.assign = slow  # type: ignore[assignment, method-assign]
        member.take_step()
        await started.wait()
        at = loop.time()
        await member.until(lambda: member.state is MemberState.ADOPTING)
        assert len([each for each in cluster.times("Heartbeat") if each < at + 20]) == 6
        assert len(cluster.requests("JoinGroup")) == 1

    play(scenario)


def test_no_heartbeat_goes_out_while_the_coordinator_holds_sync_group() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        async def late(call: object) -> SyncGroupResponse:
            await asyncio.sleep(20)
            return synced(t=[0, 1])

        cluster.script("SyncGroup", late)
        await Member(cluster).join()
        assert cluster.requests("Heartbeat") == []
        assert len(cluster.requests("SyncGroup")) == 1

    play(scenario)


def test_commit_credentials_are_known_except_while_joining() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        with pytest.raises(CommitFailedError):
            member.membership.commit_generation()
        await member.join()
        assert member.membership.commit_generation().generation_id == 1
        cluster.script("Heartbeat", HeartbeatResponse(error_code=27))
        await member.until(lambda: member.state is MemberState.REBALANCING)
        assert member.membership.commit_generation().generation_id == 1
        member.take_step()
        for state in (MemberState.JOINING, MemberState.ASSIGNING, MemberState.SYNCING):
            await member.until(lambda now=state: member.state is now)  # type: ignore[misc]
            with pytest.raises(RebalanceInProgressError):
                member.membership.commit_generation()
        await member.until(lambda: member.state is MemberState.ADOPTING)
        assert member.membership.commit_generation().generation_id == 1

    play(scenario)


def test_a_rebalance_that_a_heartbeat_tells_of_waits_for_the_caller_and_goes_on_beating() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        cluster.script("Heartbeat", HeartbeatResponse(error_code=27))
        await member.until(lambda: member.state is MemberState.REBALANCING)
        sent = len(cluster.requests("Heartbeat"))
        await asyncio.sleep(10)
        assert len(cluster.requests("Heartbeat")) >= sent + 3
        cluster.script("JoinGroup", joined("me", generation=2))
        await member.join()
        assert member.membership.generation.generation_id == 2
        assert [step.kind for step in member.steps[2:]] == [StepKind.REVOKE, StepKind.ADD]

    play(scenario)


@pytest.mark.parametrize(("code", "next_id"), [(25, ""), (22, "me")])
def test_a_membership_that_is_gone_is_lost(code: int, next_id: str) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        cluster.script("Heartbeat", HeartbeatResponse(error_code=code))
        await member.until(lambda: member.state is MemberState.UNJOINED)
        assert member.membership.leave_step(HELD).kind is StepKind.LOSE
        assert not member.membership.generation.is_valid
        sent = len(cluster.requests("Heartbeat"))
        await asyncio.sleep(30)
        assert len(cluster.requests("Heartbeat")) == sent
        await member.join()
        assert member.steps[2][:2] == (StepKind.LOSE, HELD)
        assert cluster.requests("JoinGroup")[1].member_id == next_id
        assert member.membership.leave_step(HELD).kind is StepKind.REVOKE

    play(scenario)


def test_a_heartbeat_waits_for_the_look_up_of_its_coordinator_no_longer_than_for_its_answer() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, session_timeout_ms=6_000, heartbeat_interval_ms=1_000)
        await member.join()
        cluster.coordinator_id = -1
        cluster.script("Heartbeat", HeartbeatResponse(error_code=16))
        await member.until(lambda: cluster.forgotten >= 1)
        loop = asyncio.get_running_loop()
        since = loop.time()
        await member.until(lambda: cluster.forgotten >= 4)
        assert loop.time() - since < 3 * (2 + 1.3)
        await member.membership.close(1_000)

    play(scenario)


def test_heartbeats_survive_a_coordinator_that_is_away(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        away = KafkaConnectionError("gone")
        cluster.script("Heartbeat", away, away, HeartbeatResponse(error_code=16), HeartbeatResponse(error_code=14))
        await asyncio.sleep(20)
        assert member.state is MemberState.STABLE
        assert cluster.forgotten == 3
        assert len(cluster.requests("Heartbeat")) >= 7

    with caplog.at_level(logging.INFO):
        play(scenario)
    told = [record.message for record in caplog.records if record.message.startswith("heartbeat of group 'g'")]
    assert len(told) == 2  # not of the first that is lost, which happens
    assert "failed: " in told[0]
    assert told[1].endswith("works again")


@pytest.mark.parametrize(("lost", "lines"), [(1, 0), (2, 2)])
def test_two_heartbeats_in_a_row_that_are_lost_are_worth_a_line(
    caplog: pytest.LogCaptureFixture, lost: int, lines: int
) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        cluster.script("Heartbeat", *[KafkaConnectionError("gone")] * lost)
        await asyncio.sleep(20)

    with caplog.at_level(logging.INFO):
        play(scenario)
    assert len([line for line in caplog.messages if line.startswith("heartbeat of group 'g'")]) == lines


def test_heartbeats_survive_any_error_and_silence_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, session_timeout_ms=6_000, heartbeat_interval_ms=1_000)
        await member.join()

        def broken(call: object) -> OSError:
            return OSError(9, "Bad file descriptor")

        cluster.serve("Heartbeat", broken)
        await asyncio.sleep(20)
        cluster.serve("Heartbeat", lambda call: HeartbeatResponse())
        sent = len(cluster.requests("Heartbeat"))
        await asyncio.sleep(5)
        assert len(cluster.requests("Heartbeat")) >= sent + 4
        cluster.script("Heartbeat", HeartbeatResponse(error_code=25))
        await member.until(lambda: member.state is MemberState.UNJOINED, 10)

    with caplog.at_level(logging.INFO):
        play(scenario)
    (unexpected,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "heartbeat of group 'g' failed unexpectedly: OSError(9" in unexpected.message
    (silent,) = [record for record in caplog.records if "no heartbeat was answered" in record.message]
    assert silent.levelno == logging.WARNING


def test_no_task_is_left_of_heartbeats_that_were_stopped() -> None:
    def beating() -> bool:
        return any(task.get_name() == "heartbeat g" for task in asyncio.all_tasks())

    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, heartbeat_interval_ms=3_000)
        heartbeat = member.membership._heartbeat
        assert not heartbeat.running
        await member.join()
        assert heartbeat.running
        assert beating()
        await member.membership.leave("on purpose", 0)
        await asyncio.sleep(0)
        assert not heartbeat.running
        assert not beating()

    play(scenario)


def test_failed_heartbeats_are_retried_and_silence_is_logged_after_the_session(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, heartbeat_interval_ms=3_000)
        await member.join()
        cluster.script("Heartbeat", 16, 16, 16)
        await asyncio.sleep(5)
        times = cluster.times("Heartbeat")
        pauses = [late - early for early, late in itertools.pairwise(times)]
        assert len(times) == 4
        assert min(pauses) > 0.08
        await member.membership.close(1_000)

    play(scenario)
    assert "no heartbeat was answered" not in caplog.text
