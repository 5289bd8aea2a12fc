"""A member of a cooperative group (KIP-429) in virtual time: what it keeps, and what it says."""

from __future__ import annotations

import asyncio

import pytest

from fakes.cluster import Call, FakeCluster
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.classic.state import MemberState
from kafka.coordinator.consumer_protocol import decode_subscription
from kafka.coordinator.membership import Step, StepKind
from kafka.errors import RebalanceInProgressError
from kafka.wire.api.consumer_protocol import ConsumerProtocolSubscription
from kafka.wire.api.heartbeat import HeartbeatResponse
from kafka.wire.api.join_group import JoinGroupResponse
from kafka.wire.api.sync_group import SyncGroupResponse
from unit.coordinator.scripted_group import Member, joined, partitions, play, synced

PROTOCOL = "cooperative-sticky"


def named(response: JoinGroupResponse | SyncGroupResponse) -> JoinGroupResponse | SyncGroupResponse:
    response.protocol_name = PROTOCOL
    return response


def member_of(cluster: FakeCluster, **options: object) -> Member:
    """A cooperative member, in a group where each JoinGroup is a new generation and another member leads."""
    generations = iter(range(1, 100))

    def join(call: Call) -> JoinGroupResponse:
        response = joined("me", leader="other", generation=next(generations))
        response.protocol_name = PROTOCOL
        return response

    cluster.serve("JoinGroup", join)
    return Member(cluster, partition_assignment_strategy=[CooperativeStickyAssignor], **options)


def gives(cluster: FakeCluster, *numbers: int) -> None:
    """Have the next SyncGroup assign these partitions of `t`."""
    cluster.script("SyncGroup", named(synced(t=list(numbers))))


def told(cluster: FakeCluster) -> list[tuple[list[tuple[str, list[int]]], int]]:
    """What each JoinGroup said is owned, and since which generation."""
    subscriptions = [decode_subscription(each.protocols[0].metadata) for each in cluster.requests("JoinGroup")]
    return [(_owned(each), each.generation_id) for each in subscriptions]


def _owned(subscription: ConsumerProtocolSubscription) -> list[tuple[str, list[int]]]:
    return [(each.topic, each.partitions) for each in subscription.owned_partitions]


def changes(member: Member) -> list[tuple[StepKind, set[int]]]:
    """The steps so far, with the numbers of their partitions."""
    return [(step.kind, {tp.partition for tp in step.partitions}) for step in member.steps]


async def rebalance(cluster: FakeCluster, member: Member) -> None:
    """Have the group rebalance, and the member join."""
    cluster.script("Heartbeat", HeartbeatResponse(error_code=27))
    await member.until(lambda: member.state is MemberState.REBALANCING)
    member.take_step()
    await member.until(lambda: member.state is MemberState.ADOPTING)


def test_a_member_keeps_reassigned_partitions_and_adds_new_ones() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = member_of(cluster)
        gives(cluster, 0)
        await member.join()
        gives(cluster, 0, 1)
        await rebalance(cluster, member)
        member.take_step()
        assert member.state is MemberState.STABLE
        assert changes(member) == [
            (StepKind.KEEP, set()),
            (StepKind.ADD, {0}),
            (StepKind.KEEP, set()),
            (StepKind.ADD, {1}),
        ]
        assert told(cluster) == [([], -1), ([("t", [0])], 1)]
        await member.membership.close(0)

    play(scenario)


def test_moving_partitions_are_revoked_in_the_new_generation_before_rejoining() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = member_of(cluster)
        gives(cluster, 0, 1)
        await member.join()
        gives(cluster, 0)
        await rebalance(cluster, member)
        member.take_step()
        assert member.state is MemberState.ADOPTING, "the rest is to be taken over yet"
        assert member.membership.commit_generation().generation_id == 2
        member.take_step()
        assert member.state is MemberState.REBALANCING, "what was given up waits for its new owner"
        gives(cluster, 0)
        member.take_step()
        await member.until(lambda: member.state is MemberState.ADOPTING)
        member.take_step()
        assert member.state is MemberState.STABLE
        assert changes(member)[2:] == [
            (StepKind.KEEP, set()),
            (StepKind.REVOKE, {1}),
            (StepKind.ADD, set()),
            (StepKind.KEEP, set()),
            (StepKind.ADD, set()),
        ]
        assert told(cluster)[1:] == [([("t", [0, 1])], 1), ([("t", [0])], 2)]
        await member.membership.close(0)

    play(scenario)


def test_partitions_of_unsubscribed_topics_are_revoked_before_joining() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script("SyncGroup", named(synced(t=[0], u=[0])))
        member = member_of(cluster)
        member.topics = frozenset({"t", "u"})
        await member.join()
        member.topics = frozenset({"t"})
        member.membership.subscription_changed("the test wants it")
        assert member.take_step() == Step(StepKind.REVOKE, partitions("u", 0), member.steps[-1].turn)
        await member.until(lambda: len(cluster.requests("JoinGroup")) == 2)
        assert told(cluster)[1] == ([("t", [0])], 1)
        await member.membership.close(0)

    play(scenario, u=1)


@pytest.mark.parametrize("code", [22, 25])
def test_a_member_that_lost_its_membership_loses_everything_and_claims_nothing(code: int) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = member_of(cluster)
        gives(cluster, 0, 1)
        await member.join()
        cluster.script("Heartbeat", HeartbeatResponse(error_code=code))
        await member.until(lambda: member.state is MemberState.UNJOINED)
        gives(cluster, 1)
        await member.join()
        assert changes(member)[2:] == [(StepKind.LOSE, {0, 1}), (StepKind.ADD, {1})]
        assert told(cluster)[1] == ([], -1)
        await member.membership.close(0)

    play(scenario)


@pytest.mark.parametrize(("api", "code"), [("JoinGroup", 25), ("SyncGroup", 25), ("SyncGroup", 22)])
def test_a_member_removed_while_joining_loses_its_partitions(api: str, code: int) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = member_of(cluster)
        gives(cluster, 0, 1)
        await member.join()
        refusal = JoinGroupResponse if api == "JoinGroup" else SyncGroupResponse
        cluster.script(api, refusal(error_code=code))
        cluster.script("Heartbeat", HeartbeatResponse(error_code=27))
        await member.until(lambda: member.state is MemberState.REBALANCING)
        member.take_step()
        await member.until(lambda: member.state in (MemberState.UNJOINED, MemberState.ADOPTING))
        gives(cluster, 1)
        await member.join()
        assert changes(member)[2:] == [(StepKind.KEEP, set()), (StepKind.LOSE, {0, 1}), (StepKind.ADD, {1})], (
            "others may have them by now, and a commit would take back what they have committed"
        )
        assert told(cluster)[-1] == ([], -1)
        await member.membership.close(0)

    play(scenario)


def test_a_round_that_fails_leaves_the_claim_as_old_as_it_is() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = member_of(cluster)
        gives(cluster, 0, 1)
        await member.join()
        cluster.script("SyncGroup", SyncGroupResponse(error_code=27), named(synced(t=[0, 1])))
        await rebalance(cluster, member)
        assert told(cluster)[1:] == [([("t", [0, 1])], 1)] * 2, "others may have got them in generation 2"
        assert member.membership.generation.generation_id == 3
        await member.membership.close(0)

    play(scenario)


def test_nothing_is_committed_within_a_round_but_before_and_after_it() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = member_of(cluster)
        gives(cluster, 0)
        await member.join()
        cluster.script("Heartbeat", HeartbeatResponse(error_code=27))
        await member.until(lambda: member.state is MemberState.REBALANCING)
        assert member.membership.commit_generation().generation_id == 1
        gives(cluster, 0)
        member.take_step()
        assert member.held == partitions("t", 0)
        with pytest.raises(RebalanceInProgressError):
            member.membership.commit_generation()
        await member.until(lambda: member.state is MemberState.ADOPTING)
        assert member.membership.commit_generation().generation_id == 2
        await member.membership.close(0)

    play(scenario)


def test_a_rebalance_between_revoke_and_add_causes_one_round() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = member_of(cluster)
        gives(cluster, 0, 1)
        await member.join()
        gives(cluster, 0)
        await rebalance(cluster, member)
        member.take_step()
        cluster.script("Heartbeat", HeartbeatResponse(error_code=27))
        await member.until(lambda: member.state is MemberState.REBALANCING)
        gives(cluster, 0)
        member.take_step()
        await member.until(lambda: member.state is MemberState.ADOPTING)
        member.take_step()
        await asyncio.sleep(60)
        assert member.state is MemberState.STABLE
        assert len(cluster.requests("JoinGroup")) == 3
        await member.membership.close(0)

    play(scenario)
