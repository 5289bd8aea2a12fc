"""A member in the protocol of KIP-848, in virtual time: what it says, and what it does then."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import pytest

from fakes.cluster import SILENCE, FakeCluster
from kafka import errors
from kafka.cluster import Backoff
from kafka.coordinator.consumer_group.state import IN_GROUP, TRANSITIONS, MemberState, MemberStateMachine
from kafka.coordinator.consumer_group.target import Target
from kafka.coordinator.membership import StepKind
from kafka.errors import CommitFailedError, IllegalStateError, KafkaConnectionError, UnsupportedVersionError
from unit.coordinator.scripted_consumer_group import API, INTERVAL_S, Member, answered, claimed, play, requests
from unit.coordinator.scripted_group import partitions
from unit.virtual_loop import simulate

HELD = partitions("t", 0, 1)
ADD, KEEP, LOSE, REVOKE = StepKind.ADD, StepKind.KEEP, StepKind.LOSE, StepKind.REVOKE


# Joining --------------------------------------------------------------------------------------------------------------


def test_joining_requires_a_poll_and_the_first_heartbeat_is_complete() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, rack="r1", max_poll_interval_ms=60_000, group_remote_assignor="range")
        await asyncio.sleep(60)
        assert not requests(cluster)
        await member.join()
        first, acknowledges = requests(cluster)
        assert (first.group_id, first.member_epoch, first.rack_id) == ("g", 0, "r1")
        assert (first.rebalance_timeout_ms, first.server_assignor) == (60_000, "range")
        assert (first.subscribed_topic_names, first.subscribed_topic_regex) == (["t"], None)
        assert claimed(cluster, first) == {}
        assert UUID(first.member_id)
        assert acknowledges.member_id == first.member_id
        assert acknowledges.member_epoch == 1
        assert claimed(cluster, acknowledges) == {"t": [0, 1]}
        assert acknowledges.subscribed_topic_names is None
        assert acknowledges.rebalance_timeout_ms == -1
        assert member.changes == [(KEEP, set()), (ADD, {0, 1})]
        assert member.watched == {"t"}
        assert member.membership.generation[:2] == (1, first.member_id)

    play(scenario)


def test_a_member_that_is_assigned_nothing_is_stable_all_the_same() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script(API, answered(1, cluster, {}))
        member = Member(cluster)
        member.poll()
        await member.until(MemberState.STABLE)
        assert member.take_step() is None

    play(scenario)


def test_the_time_of_a_rebalance_is_that_until_the_caller_has_seen_to_it() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script(API, answered(1, cluster, {"t": [0]}))
        member = Member(cluster)
        member.poll()
        await member.until(MemberState.RECONCILING)
        statistics = member.membership._statistics
        await asyncio.sleep(3)
        assert statistics.rebalance_ms == 0.0
        member.poll()
        await member.until(MemberState.STABLE)
        assert 3_000 <= statistics.rebalance_ms <= 3_100

    play(scenario)


def test_the_id_that_an_older_coordinator_gives_is_taken() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script(API, answered(1, cluster, {"t": [0]}, member_id="given"))
        await (member := Member(cluster)).join()
        assert requests(cluster)[-1].member_id == "given"
        assert member.membership.generation.member_id == "given"

    play(scenario)


def test_a_join_without_a_response_is_resent_completely() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script(API, KafkaConnectionError("lost"))
        await (member := Member(cluster)).join()
        first, again = requests(cluster)[:2]
        assert first == again
        assert cluster.forgotten == 1
        assert member.held == HELD

    play(scenario)


# Heartbeats -----------------------------------------------------------------------------------------------------------


def test_heartbeats_use_the_coordinators_interval_and_contain_only_changes() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        seen = len(requests(cluster))
        await asyncio.sleep(3_600)
        times = cluster.times(API)[seen:]
        gaps = {round(late - early - cluster.latency_s, 3) for early, late in itertools.pairwise(times)}
        assert gaps == {INTERVAL_S}
        last = requests(cluster)[-1]
        assert (last.subscribed_topic_names, last.topic_partitions, last.server_assignor) == (None, None, None)
        assert member.state is MemberState.STABLE

    play(scenario)


def test_after_a_heartbeat_that_was_lost_the_next_says_everything_again() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        cluster.script(API, SILENCE)
        seen = len(requests(cluster))
        await asyncio.sleep(2 * INTERVAL_S + 20)
        lost, whole = requests(cluster)[seen : seen + 2]
        assert lost.topic_partitions is None
        assert claimed(cluster, whole) == {"t": [0, 1]}
        assert whole.subscribed_topic_names == ["t"]
        assert whole.member_epoch == 1
        assert cluster.times(API)[seen + 1] - cluster.times(API)[seen] < 3 * INTERVAL_S + 1
        assert member.state is MemberState.STABLE

    play(scenario)


def test_a_new_subscription_is_sent_immediately() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        member.topics = frozenset({"t", "u"})
        member.membership.subscription_changed("the test wants it")
        await asyncio.sleep(0.01)
        assert requests(cluster)[-1].subscribed_topic_names == ["t", "u"]
        assert requests(cluster)[-1].topic_partitions is None

    play(scenario, u=1)


def test_a_regular_expression_is_the_coordinators_to_match() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster)
        member.topics, member.regex = frozenset(), "t.*"
        await member.join()
        first = requests(cluster)[0]
        assert (first.subscribed_topic_names, first.subscribed_topic_regex) == ([], "t.*")
        member.topics, member.regex = frozenset({"t"}), None
        member.membership.subscription_changed("the test wants it")
        await asyncio.sleep(0.01)
        last = requests(cluster)[-1]
        assert (last.subscribed_topic_names, last.subscribed_topic_regex) == (["t"], "")

    play(scenario)


# Reconciling ----------------------------------------------------------------------------------------------------------


def test_revocations_are_acknowledged_before_additions() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        cluster.script(API, answered(1, cluster, {"t": [1]}))
        await member.until(MemberState.RECONCILING)
        member.poll()
        assert member.state is MemberState.ACKNOWLEDGING
        cluster.script(API, answered(2, cluster, {"t": [1, 3]}))
        at = asyncio.get_running_loop().time()
        await member.until(MemberState.RECONCILING)
        assert asyncio.get_running_loop().time() - at < 0.1, "acknowledged at once"
        assert claimed(cluster, requests(cluster)[-1]) == {"t": [1]}
        member.poll()
        await member.until(MemberState.STABLE)
        assert member.changes[2:] == [(REVOKE, {0}), (ADD, set()), (ADD, {3})]
        assert member.membership.commit_generation().generation_id == 2

    play(scenario)


def test_a_heartbeat_that_goes_out_meanwhile_acknowledges_nothing() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        cluster.script(API, answered(1, cluster, {"t": [1]}))
        await member.until(MemberState.RECONCILING)
        seen = len(requests(cluster))
        await asyncio.sleep(3 * INTERVAL_S)
        meanwhile = requests(cluster)[seen:]
        assert len(meanwhile) == 3
        assert [each.topic_partitions for each in meanwhile] == [None] * 3
        cluster.script(API, KafkaConnectionError("lost"))
        await asyncio.sleep(2 * INTERVAL_S)
        told = [claimed(cluster, each) for each in requests(cluster)[seen + 3 :]]
        assert {"t": [0, 1]} in told, "what the caller has, and may be taking over"

    play(scenario)


def test_an_assignment_during_adoption_is_handled_next() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        cluster.script(API, answered(2, cluster, {"t": [0, 1, 2]}))
        await member.until(MemberState.RECONCILING)
        step = member.begin_step()
        assert step is not None
        cluster.script(API, answered(3, cluster, {"t": [0, 1]}))
        await member.until(MemberState.STABLE)  # with what was held before the step, as far as anybody has told
        member.membership.step_done(step, member.held)
        assert member.state is MemberState.RECONCILING
        member.poll()
        await member.until(MemberState.STABLE)
        assert member.held == HELD
        assert member.changes[2:] == [(ADD, {2}), (REVOKE, {2}), (ADD, set())]
        await asyncio.sleep(0.01)
        assert claimed(cluster, requests(cluster)[-1]) == {"t": [0, 1]}

    play(scenario)


def test_a_partition_reassigned_while_being_revoked_is_added_again() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        cluster.script(API, answered(2, cluster, {"t": [0]}))
        await member.until(MemberState.RECONCILING)
        step = member.begin_step()
        assert step is not None
        cluster.script(API, answered(3, cluster, {"t": [0, 1]}))
        await member.until(MemberState.STABLE)
        member.membership.step_done(step, member.held)
        member.poll()
        assert member.held == HELD

    play(scenario)


def test_a_topic_that_the_metadata_do_not_have_is_looked_up_by_its_id() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.topics["late"] = 2
        cluster.script(API, answered(1, cluster, {"t": [0], "late": [1]}))
        member = Member(cluster)
        member.poll()
        await member.until(MemberState.RECONCILING)
        member.poll()
        await asyncio.sleep(1)
        member.poll()
        await member.until(MemberState.STABLE)
        assert member.held == partitions("t", 0) | partitions("late", 1)
        assert member.watched == {"t", "late"}
        assert claimed(cluster, requests(cluster)[-1]) == {"t": [0], "late": [1]}
        await member.membership.close(1_000)

    play(scenario)


def test_an_unknown_topic_does_not_delay_others() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        nobodys = UUID(int=77)
        cluster.script(API, answered(1, cluster, {"t": [0], nobodys: [0]}))
        member = Member(cluster)
        member.poll()
        await member.until(MemberState.RECONCILING)
        member.poll()
        await asyncio.sleep(30)
        assert member.state is MemberState.RECONCILING
        assert member.held == partitions("t", 0)
        cluster.script(API, answered(2, cluster, {"t": [0]}))
        await member.until(MemberState.STABLE)
        await member.membership.close(1_000)

    play(scenario)


def test_a_recreated_topic_is_revoked_before_it_is_added() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        old = cluster.topic_id("t")
        new = UUID(int=99)
        cluster.topic_id = lambda name: new if name == "t" else old  # type: ignore[method-assign]
        cluster.publish({"t"})
        cluster.script(API, answered(2, cluster, {"t": [0, 1]}))
        await member.until(MemberState.RECONCILING)
        member.poll()
        await member.until(MemberState.RECONCILING)
        member.poll()
        await member.until(MemberState.STABLE)
        assert member.changes[2:] == [(REVOKE, {0, 1}), (ADD, set()), (ADD, {0, 1})]
        await asyncio.sleep(0.01)
        told = requests(cluster)[-1].topic_partitions
        assert told is not None
        assert [(each.topic_id, each.partitions) for each in told] == [(new, [0, 1])]

    play(scenario)


@pytest.mark.parametrize("hears_of_it", [True, False])
def test_a_recreated_topic_is_added_once_the_metadata_contain_it(hears_of_it: bool) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.publish({"t"})
        await (member := Member(cluster)).join()
        lags_behind = True

        def request_refresh(topics: Iterable[str] | None = None) -> Any:
            if not lags_behind and not hears_of_it:
                cluster.publish({"t"})

        cluster.request_refresh = request_refresh  # type: ignore[method-assign]
        cluster.topic_id = lambda name: UUID(int=99)  # type: ignore[method-assign]
        cluster.script(API, answered(2, cluster, {"t": [0, 1]}))
        await member.until(MemberState.RECONCILING)
        member.poll()
        await asyncio.sleep(1)
        member.poll()
        assert member.held == frozenset()
        lags_behind = False
        if hears_of_it:
            cluster.on_metadata(member.membership.metadata_changed)
            cluster.publish({"t"})
        else:
            await asyncio.sleep(1)
        member.poll()
        assert member.held == HELD
        await member.until(MemberState.STABLE)

    play(scenario)


# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [110, 25, 69])
def test_a_member_that_is_fenced_loses_everything_and_joins_with_epoch_0(code: int) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        before = member.membership.generation
        cluster.script(API, code)
        await member.until(MemberState.FENCED)
        with pytest.raises(CommitFailedError):
            member.membership.commit_generation()
        assert member.membership.last_generation == before
        assert member.membership.leave_step(HELD).kind is LOSE
        seen = len(requests(cluster))
        await asyncio.sleep(30)
        assert len(requests(cluster)) == seen
        member.take_step()
        assert member.state is MemberState.JOINING
        await member.until(MemberState.RECONCILING)
        member.poll()
        assert member.changes[2:] == [(LOSE, {0, 1}), (ADD, {0, 1})]
        again = requests(cluster)[seen]
        assert (again.member_epoch, again.subscribed_topic_names) == (0, ["t"])
        assert (again.member_id == before.member_id) is (code != 69), (
            "a group that is made again has no member from before"
        )
        assert member.membership.generation.membership > before.membership

    play(scenario)


@pytest.mark.parametrize("code", [14, 15, 16])
def test_a_coordinator_that_is_not_ready_or_not_the_one_is_asked_again(code: int) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.script(API, code)
        await (member := Member(cluster)).join()
        cluster.script(API, code, code)
        await asyncio.sleep(20)
        assert member.state is MemberState.STABLE
        assert cluster.forgotten == (0 if code == 14 else 3)
        assert claimed(cluster, requests(cluster)[-2]) in (None, {"t": [0, 1]})
        assert not member.errors

    play(scenario)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (35, "requires Apache Kafka 4.0 or later"),
        (111, "another consumer has this group_instance_id"),
        (112, "'uniform' or 'range'"),
        (128, "RE2/J"),
        (82, "heartbeat of group 'g'"),
        (81, "heartbeat of group 'g'"),
        (42, "heartbeat of group 'g'"),
        (30, "g"),
        (-1, "heartbeat of group 'g'"),
    ],
)
def test_permanent_refusals_are_raised_at_every_poll(code: int, text: str) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        cluster.script(API, code)
        await member.until(MemberState.FATAL)
        assert member.take_step() is not None
        assert member.changes[-1] == (LOSE, {0, 1})
        for _ in range(2):
            with pytest.raises(errors.for_code(code), match=text):
                member.take_step()
        seen = len(requests(cluster))
        await asyncio.sleep(60)
        assert len(requests(cluster)) == seen
        member.membership.subscription_changed("the caller tries once more")
        member.poll()
        await member.until(MemberState.RECONCILING)

    play(scenario)


def test_an_unsupported_group_protocol_raises_with_advice() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.versions[API] = (50, 51)
        member = Member(cluster)
        member.poll()
        await member.until(MemberState.FATAL)
        with pytest.raises(
            UnsupportedVersionError, match=r"group_protocol='consumer' requires Apache Kafka 4\.0 or later"
        ):
            member.take_step()

    play(scenario)


def test_a_regular_expression_needs_a_broker_that_matches_it() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        cluster.versions[API] = (0, 0)
        member = Member(cluster)
        member.topics, member.regex = frozenset(), "t.*"
        member.poll()
        await member.until(MemberState.FATAL)
        with pytest.raises(UnsupportedVersionError, match="a SubscriptionPattern is evaluated by brokers"):
            member.take_step()
        member.topics, member.regex = frozenset({"t"}), None
        member.membership.subscription_changed("without it")
        await member.join()

    play(scenario)


def test_an_unauthorized_topic_raises_until_it_is_allowed() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        cluster.script(API, 29)
        await asyncio.sleep(2 * INTERVAL_S)
        assert [type(each) for each in member.errors] == [errors.TopicAuthorizationFailedError]
        assert member.state is MemberState.STABLE

    play(scenario)


def test_heartbeats_survive_anything(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        cluster.script(API, *[OSError(9, "Bad file descriptor")] * 3)
        await asyncio.sleep(30)
        assert member.state is MemberState.STABLE

    with caplog.at_level(logging.INFO):
        play(scenario)
    assert len([each for each in caplog.records if each.levelno == logging.ERROR]) == 1


# Leaving --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("instance", "epoch"), [(None, -1), ("i", -2)])
def test_a_member_says_that_it_leaves_and_a_static_one_that_it_will_be_back(instance: str | None, epoch: int) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster, group_instance_id=instance)).join()
        assert {each.instance_id for each in requests(cluster)} == {instance}
        assert member.membership.leave_step(HELD).kind is REVOKE
        await member.membership.leave("on purpose", 1_000)
        member.held = frozenset()
        last = requests(cluster)[-1]
        assert (last.member_epoch, last.instance_id) == (epoch, instance)
        assert member.state is MemberState.UNSUBSCRIBED
        assert not member.membership.last_generation.is_valid
        sent = len(requests(cluster))
        await asyncio.sleep(60)
        assert len(requests(cluster)) == sent
        await member.join()
        await member.membership.close(1_000)

    play(scenario)


def test_rejoining_waits_until_the_coordinator_was_notified() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        cluster.script(API, SILENCE)
        await member.membership.leave("on purpose", 100)
        member.held = frozenset()
        assert member.state is MemberState.LEAVING
        assert member.take_step() is None
        await member.until(MemberState.UNSUBSCRIBED)
        await member.join()

    play(scenario)


@pytest.mark.parametrize(("instance", "epoch"), [(None, -1), ("i", -2)])
def test_a_caller_that_does_not_poll_is_put_out_and_joins_at_its_next_poll(instance: str | None, epoch: int) -> None:
    async def scenario(cluster: FakeCluster) -> None:
        member = Member(cluster, max_poll_interval_ms=12_000, group_instance_id=instance)
        await member.join()
        before = member.membership.generation
        loop = asyncio.get_running_loop()
        member.clock.end(loop.time())
        await asyncio.sleep(11.999)
        assert member.state is MemberState.STABLE
        await asyncio.sleep(0.01)
        assert member.state is MemberState.STALE
        assert requests(cluster)[-1].member_epoch == epoch
        assert member.membership.last_generation == before, "a transaction of it is to be refused"
        sent = len(requests(cluster))
        await asyncio.sleep(60)
        assert len(requests(cluster)) == sent
        member.clock.begin(loop.time())
        member.take_step()
        await member.until(MemberState.RECONCILING)
        member.poll()
        assert member.changes[2:] == [(LOSE, {0, 1}), (ADD, {0, 1})]

    play(scenario)


def test_a_response_after_leaving_is_ignored() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        cluster.script(API, answered(2, cluster, {"t": [3]}))
        await asyncio.sleep(INTERVAL_S - 0.0105)
        await member.membership.leave("on purpose", 1_000)
        assert not member.membership.generation.is_valid
        member.held = frozenset()
        await member.membership.close(1_000)
        await member.membership.close(1_000)
        assert not [task for task in asyncio.all_tasks() if "heartbeat" in task.get_name()]

    play(scenario)


def test_a_member_that_is_refused_may_be_closed() -> None:
    async def scenario(cluster: FakeCluster) -> None:
        await (member := Member(cluster)).join()
        cluster.script(API, 111)
        await member.until(MemberState.FATAL)
        sent = len(requests(cluster))
        await member.membership.close(1_000)
        assert len(requests(cluster)) == sent, "it is not a member, so there is nothing to leave"

    play(scenario)


# States ---------------------------------------------------------------------------------------------------------------


def test_the_table_has_every_state_and_other_transitions_are_refused() -> None:
    assert set(TRANSITIONS) == set(MemberState)
    for state in IN_GROUP:
        assert TRANSITIONS[state] >= {MemberState.FENCED, MemberState.FATAL, MemberState.LEAVING}
    machine = MemberStateMachine()
    with pytest.raises(IllegalStateError, match="cannot go from UNSUBSCRIBED to STABLE"):
        machine.move(MemberState.STABLE)


def test_a_topic_is_not_taken_before_the_metadata_have_it_by_the_id_that_is_assigned() -> None:
    async def main() -> None:
        cluster = FakeCluster({"t": 4})
        await cluster.start()
        cluster.publish({"t"})
        target = Target(cluster, lambda: None, Backoff(100, 1_000))
        old, new = cluster.topic_id("t"), UUID(int=99)
        target.replace({old: [0, 1]})
        assert target.towards(frozenset()) == HELD
        cluster.topic_id = lambda name: new  # type: ignore[method-assign]
        target.replace({new: [0, 1]})
        async with asyncio.timeout(60):
            while not (wanted := target.towards(frozenset())):  # looks for the name, and for newer metadata
                await asyncio.sleep(0.1)
        assert wanted == HELD
        assert cluster.metadata.topic_id("t") == new, "or positions would count as the deleted topic's"
        target.close()
        await cluster.close()

    simulate(main)
