"""What has a member of a classic group join again, and what it says then; its assignors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakes.cluster import FakeCluster
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.classic import assignment
from kafka.coordinator.classic.state import MemberState
from kafka.coordinator.consumer_protocol import assigned_partitions, decode_subscription
from kafka.coordinator.membership import Step, StepKind
from kafka.errors import (
    KafkaError,
)
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment
from kafka.wire.api.heartbeat import HeartbeatResponse
from unit.coordinator.scripted_group import Member, partitions, play, synced

HELD = partitions("t", 0, 1)


def metadata_of(**counts: int) -> ClusterMetadata:
    cluster = FakeCluster(counts)
    cluster.publish(counts)
    return cluster.metadata


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


def test_the_leader_receives_owned_partitions_generation_and_rack() -> None:
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
def test_an_assignor_receives_its_members_assignment(assignor: type[Older]) -> None:
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


def test_a_leader_joins_again_when_a_topic_grows() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        await member.join()
        member.membership.metadata_changed(metadata_of(t=2, other=5))
        assert member.state is MemberState.STABLE
        member.membership.metadata_changed(metadata_of(t=3))
        assert member.state is MemberState.REBALANCING

    play(scenario)
