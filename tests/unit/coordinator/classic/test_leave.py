"""How a member of a classic group loses its place, is fenced, leaves and closes."""

from __future__ import annotations

import asyncio
import logging

import pytest

from fakes.cluster import SILENCE, FakeCluster
from kafka.coordinator.classic.state import MemberState
from kafka.coordinator.membership import NO_GENERATION, StepKind
from kafka.errors import (
    FencedInstanceIdError,
    KafkaConnectionError,
    UnknownMemberIdError,
)
from kafka.wire.api.leave_group import LeaveGroupResponse, MemberResponse
from unit.coordinator.scripted_group import Member, partitions, play

HELD = partitions("t", 0, 1)


@pytest.mark.parametrize("where", ["Heartbeat", "JoinGroup", "SyncGroup", "commit"])
def test_a_fenced_member_raises_at_every_poll_and_joins_no_more(where: str) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, group_instance_id="i")
        if where in ("JoinGroup", "SyncGroup"):
            cluster.script(where, 82)
            member.take_step()
        else:
            await member.join()
        if where == "Heartbeat":
            cluster.script(where, 82)
        if where == "commit":
            member.membership.commit_refused(82, member.membership.generation)
        await member.until(lambda: member.state is MemberState.FENCED)
        joins, held = len(cluster.requests("JoinGroup")), member.held
        if held:
            step = member.take_step()
            assert step is not None
            assert step[:2] == (StepKind.LOSE, held)
        for _ in range(3):
            with pytest.raises(FencedInstanceIdError):
                member.take_step()
            await asyncio.sleep(10)
        assert len(cluster.requests("JoinGroup")) == joins
        assert member.errors == []
        assert member.membership.generation == NO_GENERATION
        await member.membership.leave("it subscribes again", 1_000)
        await member.join()
        await member.membership.close(1_000)

    play(scenario)


def test_a_fenced_member_can_be_closed() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, group_instance_id="i")
        cluster.script("JoinGroup", 82)
        member.take_step()
        await member.until(lambda: member.state is MemberState.FENCED)
        await member.membership.close(1_000)
        assert member.state is MemberState.CLOSED
        assert cluster.requests("LeaveGroup") == []

    play(scenario)


def test_a_caller_that_does_not_poll_leaves_the_group() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, max_poll_interval_ms=60_000)
        await member.join()
        loop = asyncio.get_running_loop()
        for _ in range(10):
            await asyncio.sleep(50)
            member.clock.begin(loop.time())
            member.clock.end(loop.time())
        assert member.state is MemberState.STABLE
        await asyncio.sleep(55)
        member.clock.progressed = True  # iteration counts as well
        await asyncio.sleep(55)
        assert member.state is MemberState.STABLE
        await asyncio.sleep(10)
        assert member.state is MemberState.UNJOINED
        (leave,) = cluster.requests("LeaveGroup")
        assert leave.members[0].member_id == "me"
        member.clock.begin(loop.time())
        await member.join()
        assert member.steps[2][:2] == (StepKind.LOSE, HELD)

    play(scenario)


def test_a_caller_inside_poll_is_never_overdue() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, max_poll_interval_ms=60_000)
        await member.join()
        member.clock.begin(asyncio.get_running_loop().time())
        await asyncio.sleep(3_600)
        assert member.state is MemberState.STABLE

    play(scenario)


def test_leaving_and_closing_tell_the_coordinator_once() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        await member.membership.leave("enough", 1_000)
        assert member.state is MemberState.UNJOINED
        for held in (frozenset(), HELD):
            step = member.membership.next_step(held)
            assert step is not None
            assert step[:2] == (StepKind.REVOKE, held)
        await member.membership.close(1_000)
        await member.membership.close(1_000)
        assert len(cluster.requests("LeaveGroup")) == 1
        assert member.state is MemberState.CLOSED

    play(scenario)


@pytest.mark.parametrize(("newest", "listed"), [(2, False), (3, True), (5, True)])
def test_a_member_is_named_as_the_coordinator_understands_it(newest: int, listed: bool) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.versions["LeaveGroup"] = (0, newest)
        member = Member(cluster)
        await member.join()
        await member.membership.leave("enough", 1_000)
        (request,) = cluster.requests("LeaveGroup")
        assert ([each.member_id for each in request.members], request.member_id) == (
            (["me"], "") if listed else ([], "me")
        )

    play(scenario)


def test_an_unresponsive_coordinator_is_tried_for_five_seconds() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("LeaveGroup", SILENCE)
        member = Member(cluster)
        await member.join()
        loop = asyncio.get_running_loop()
        for wait_ms, seconds in ((1_000, 1.0), (60_000, 4.0)):
            begun = loop.time()
            await member.membership.leave("enough", wait_ms)
            assert loop.time() - begun == pytest.approx(seconds)

    play(scenario)


@pytest.mark.parametrize("code", [0, 25])
def test_a_leave_that_is_refused_is_logged(code: int, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("LeaveGroup", LeaveGroupResponse(members=[MemberResponse(member_id="me", error_code=code)]))
        member = Member(cluster)
        await member.join()
        await member.membership.leave("enough", 1_000)

    with caplog.at_level(logging.INFO):
        play(scenario)
    told = [line for line in caplog.messages if line.startswith("leaving group g as me: ")]
    assert told == (["leaving group g as me: UNKNOWN_MEMBER_ID"] if code else [])


def test_a_static_member_does_not_leave() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, group_instance_id="i")
        await member.join()
        await member.membership.close(1_000)
        assert cluster.requests("LeaveGroup") == []

    play(scenario)


def test_a_poll_that_goes_on_while_a_member_is_closed_does_not_join_again() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("LeaveGroup", SILENCE)
        member = Member(cluster)
        await member.join()
        closing = asyncio.create_task(member.membership.close(1_000))
        await member.until(lambda: cluster.requests("LeaveGroup"))
        for _ in range(3):
            member.take_step()
            await asyncio.sleep(0.1)
        await closing
        await asyncio.sleep(60)
        assert len(cluster.requests("JoinGroup")) == 1
        assert member.state is MemberState.CLOSED

    play(scenario)


@pytest.mark.parametrize("state", [MemberState.JOINING, MemberState.ASSIGNING, MemberState.SYNCING])
def test_closing_in_the_middle_of_a_round_ends_it(state: MemberState) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        member.take_step()
        await member.until(lambda: member.state is state)
        await member.membership.close(1_000)
        sent = len(cluster.calls)
        await asyncio.sleep(60)
        assert member.state is MemberState.CLOSED
        assert len(cluster.calls) == sent

    play(scenario)


@pytest.mark.parametrize("failure", [KafkaConnectionError("gone"), OSError(9, "closed"), SILENCE])
def test_a_failed_leave_does_not_keep_a_member_from_closing(failure: object) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("LeaveGroup", failure)
        member = Member(cluster)
        await member.join()
        await member.membership.close(1_000)
        assert member.state is MemberState.CLOSED

    play(scenario)


def test_a_refused_commit_is_news_only_about_the_generation_it_was_made_with() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        member.membership.commit_refused(UnknownMemberIdError.errno, NO_GENERATION)
        assert member.state is MemberState.STABLE
        member.membership.commit_refused(UnknownMemberIdError.errno, member.membership.generation)
        assert member.state is MemberState.UNJOINED

    play(scenario)
