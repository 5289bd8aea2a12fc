"""A member of a classic group on the cluster in memory, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable
from typing import Any

import pytest

from fakes.cluster import SILENCE, FakeCluster
from kafka.cluster import ClusterMetadata
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.classic import assignment
from kafka.coordinator.classic.state import MemberState
from kafka.coordinator.generation import NO_GENERATION
from kafka.coordinator.membership import Step, StepKind
from kafka.coordinator.protocol import assigned_partitions, decode_assignment, decode_subscription
from kafka.errors import (
    CommitFailedError,
    CoordinatorNotAvailableError,
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
    InconsistentGroupProtocolError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NotCoordinatorError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment
from kafka.wire.api.heartbeat import HeartbeatResponse
from kafka.wire.api.join_group import JoinGroupResponse
from kafka.wire.api.sync_group import SyncGroupResponse
from unit.coordinator.group import REQUEST_TIMEOUT_MS, Member, asks_for_id, joined, partitions, play, synced

HELD = partitions("t", 0, 1)


def metadata_of(**counts: int) -> ClusterMetadata:
    cluster = FakeCluster(counts)
    cluster.publish(counts)
    return cluster.metadata


# Joining --------------------------------------------------------------------------------------------------------------


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
def test_a_join_that_is_always_answered_alike_backs_off_and_says_so_rarely(
    code: int, caplog: pytest.LogCaptureFixture
) -> None:
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
def test_what_does_not_pass_is_handed_to_the_caller(error: type[KafkaError]) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("JoinGroup", JoinGroupResponse(error_code=error.errno))  # type: ignore[attr-defined]
        member = Member(cluster)
        member.take_step()
        await member.until(lambda: member.errors)
        assert type(member.errors[0]) is error
        assert member.state is MemberState.UNJOINED
        await member.join()  # the next poll may try again

    play(scenario)


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


def test_a_subscription_that_changes_while_joining_makes_for_another_round_before_anything_is_taken() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("SyncGroup", synced(t=[0, 1]), synced(u=[0]))
        member = Member(cluster)
        member.take_step()
        await member.until(lambda: member.state is MemberState.SYNCING)
        member.topics = frozenset({"u"})
        member.membership.subscription_changed("the test wants it")
        await member.until(lambda: member.state is MemberState.ADOPTING)
        member.take_step()
        assert member.held == partitions("u", 0)
        asked = [decode_subscription(each.protocols[0].metadata).topics for each in cluster.requests("JoinGroup")]
        assert asked == [["t"], ["u"]]

    play(scenario, u=1)


def test_a_subscription_that_changes_has_the_group_rebalance() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        member.topics = frozenset({"t", "u"})
        member.membership.subscription_changed("the test wants it")
        assert member.state is MemberState.REBALANCING
        await member.join()
        assert [step.kind for step in member.steps[2:]] == [StepKind.REVOKE, StepKind.ADD]
        assert member.steps[2].partitions == HELD

    play(scenario)


def test_a_step_that_something_newer_has_overtaken_is_passed_over() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        member.take_step()
        await member.until(lambda: member.state is MemberState.ADOPTING)
        late = member.membership.next_step(member.held)
        assert late is not None
        cluster.script("Heartbeat", HeartbeatResponse(error_code=27))
        await member.until(lambda: member.state is MemberState.REBALANCING)
        member.membership.step_done(late, late.partitions)
        assert member.state is MemberState.REBALANCING
        assert member.membership.next_step(late.partitions) == Step(StepKind.REVOKE, HELD, late.turn + 1)

    play(scenario)


def test_what_is_held_is_told_to_the_leader_with_its_generation_and_rack() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, client_rack="r1")
        await member.join()
        cluster.script("Heartbeat", HeartbeatResponse(error_code=27))
        await member.until(lambda: member.state is MemberState.REBALANCING)
        step = member.membership.next_step(member.held)
        assert step is not None
        member.membership.step_done(step, partitions("t", 1))  # a protocol that lets a member keep some
        await member.until(lambda: len(cluster.requests("JoinGroup")) == 2)
        first, second = (decode_subscription(each.protocols[0].metadata) for each in cluster.requests("JoinGroup"))
        assert (first.owned_partitions, first.generation_id, first.rack_id) == ([], -1, "r1")
        assert [(each.topic, each.partitions) for each in second.owned_partitions] == [("t", [1])]
        assert (second.generation_id, second.rack_id) == (1, "r1")
        versions = [each.protocols[0].metadata[:2] for each in cluster.requests("JoinGroup")]
        assert versions == [b"\0\3", b"\0\3"]

    play(scenario)


def test_the_eager_protocol_owns_nothing_when_it_joins_again() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        cluster.script("Heartbeat", HeartbeatResponse(error_code=27))
        await member.until(lambda: member.state is MemberState.REBALANCING)
        await member.join()
        again = cluster.requests("JoinGroup")[1].protocols[0].metadata
        assert (decode_subscription(again).owned_partitions, decode_subscription(again).generation_id) == ([], 1)
        assert again[:2] == b"\0\2"

    play(scenario)


# Assignors ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run assignors here and now: a thread would take time that the virtual clock does not know of."""

    async def run_here(function: Callable[[], Any]) -> Any:
        return function()

    monkeypatch.setattr(assignment, "run_blocking", run_here)


class Careless(RangePartitionAssignor):
    """An assignor of the user's that fails."""

    failure: BaseException = ValueError("on purpose")

    @classmethod
    def assign(cls, cluster: object, members: object) -> object:  # type: ignore[override]
        raise cls.failure


@pytest.mark.usefixtures("no_threads")
def test_an_error_of_an_assignor_reaches_the_caller_as_it_is() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, partition_assignment_strategy=[Careless])
        member.take_step()
        await member.until(lambda: member.errors)
        assert member.errors == [Careless.failure]
        assert member.state is MemberState.UNJOINED

    play(scenario)


class Older(RangePartitionAssignor):
    """As assignors were before they were told the generation."""

    told: tuple[object, ...] = ()

    def on_assignment(self, assignment: object) -> None:  # type: ignore[override]
        type(self).told = (assignment,)


class Newer(Older):
    def on_assignment(self, assignment: object, generation: int = -1) -> None:  # type: ignore[override]
        type(self).told = (assignment, generation)


@pytest.mark.usefixtures("no_threads")
@pytest.mark.parametrize("assignor", [Older, Newer])
def test_an_assignor_is_told_what_its_member_got(assignor: type[Older]) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await Member(cluster, partition_assignment_strategy=[assignor]).join()
        assignment, *generation = assignor.told
        assert isinstance(assignment, ConsumerProtocolAssignment)
        assert assigned_partitions(assignment) == sorted(HELD)
        assert generation == ([1] if assignor is Newer else [])

    play(scenario)


@pytest.mark.usefixtures("no_threads")
def test_an_assignor_that_exits_does_not_end_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Careless, "failure", SystemExit(3))

    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, partition_assignment_strategy=[Careless])
        member.take_step()
        await member.until(lambda: member.errors)
        with pytest.raises(KafkaError, match=r"assignor 'range' raised SystemExit\(3\)"):
            raise member.errors[0]

    play(scenario)


# Heartbeats -----------------------------------------------------------------------------------------------------------


def test_heartbeats_go_out_at_their_interval_while_the_caller_polls() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, heartbeat_interval_ms=3_000)
        await member.join()
        member.clock.begin(asyncio.get_running_loop().time())
        await asyncio.sleep(2 * 3_600)
        times = cluster.times("Heartbeat")
        assert len(times) == pytest.approx(2_400, abs=3)
        assert max(late - early for early, late in itertools.pairwise(times)) < 3.1
        assert member.state is MemberState.STABLE
        assert len(cluster.requests("JoinGroup")) == 1
        await member.membership.close(1_000)

    play(scenario)


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


def test_what_a_commit_may_go_out_with_is_known_but_while_joining() -> None:
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


def test_heartbeats_survive_any_error_and_silence_is_told(caplog: pytest.LogCaptureFixture) -> None:
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


# Fencing --------------------------------------------------------------------------------------------------------------


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
        await member.membership.leave("it subscribes anew", 1_000)
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


# Losing it and leaving ------------------------------------------------------------------------------------------------


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


def test_a_leader_joins_again_when_a_topic_grows() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        member.membership.metadata_changed(metadata_of(t=2, other=5))
        assert member.state is MemberState.STABLE
        member.membership.metadata_changed(metadata_of(t=3))
        assert member.state is MemberState.REBALANCING

    play(scenario)


def test_leaving_and_closing_tell_the_coordinator_once() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        await member.membership.leave("enough", 1_000)
        assert member.state is MemberState.UNJOINED
        step = member.membership.next_step(frozenset())
        assert step is not None
        assert step[:2] == (StepKind.REVOKE, frozenset())
        await member.membership.close(1_000)
        await member.membership.close(1_000)
        assert len(cluster.requests("LeaveGroup")) == 1
        assert member.state is MemberState.CLOSED

    play(scenario)


def test_a_static_member_does_not_leave() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, group_instance_id="i")
        await member.join()
        await member.membership.close(1_000)
        assert cluster.requests("LeaveGroup") == []

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
