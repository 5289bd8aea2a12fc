"""Finding positions, against a cluster in memory and in virtual time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from uuid import UUID

import pytest

from fakes.cluster import FakeCluster
from kafka.cluster import Backoff, RetryPolicy
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.position.offset_requests import ListOffsets
from kafka.consumer.position.positions import PositionResolver
from kafka.consumer.position.special_timestamps import EARLIEST, LATEST
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import (
    GroupAuthorizationFailedError,
    IllegalStateError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NoOffsetForPartitionError,
    TopicAuthorizationFailedError,
)
from kafka.structs import OffsetAndMetadata, TopicPartition
from unit.consumer.batches import at
from unit.consumer.log_ends import LogEnds
from unit.virtual_loop import simulate

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))
U0 = TopicPartition("u", 0)


class ResolverHarness:
    """A resolver over two brokers, of which 1 leads partitions 0 and 2 and 2 leads 1, and scripted commits."""

    def __init__(
        self, strategy: int | None, committed: dict[TopicPartition, Any] | None, *assigned: TopicPartition
    ) -> None:
        self.cluster = FakeCluster({"t": 3, "u": 1}, brokers=2)
        self.cluster.publish(["t", "u"])
        self.ends = LogEnds()
        self.cluster.serve("ListOffsets", self.ends)
        self.subscription = SubscriptionState()
        self.subscription.assign_from_user(assigned)
        self.committed = committed
        self.strategy = strategy
        self.topic_ids: dict[str, UUID] = {}
        self.errors: list[Exception] = []
        self.commit_errors: list[Any] = []
        self.fetches: list[list[TopicPartition]] = []
        self.resolver = PositionResolver(
            self.subscription,
            None if committed is None else self._fetch,
            ListOffsets(self.cluster, "read_uncommitted", 30_000),
            self,
            RetryPolicy(Backoff(100, 1_000), logging.getLogger("test.positions")),
        )

    def start_timestamp(self, tp: TopicPartition) -> int | None:
        return self.strategy

    def topic_id(self, topic: str) -> UUID | None:
        return self.topic_ids.get(topic)

    def position_failed(self, error: Exception) -> None:
        self.errors.append(error)

    async def _fetch(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        wanted = list(partitions)
        self.fetches.append(wanted)
        await asyncio.sleep(0.001)
        if self.commit_errors:
            raise self.commit_errors.pop(0)
        found = {tp: self.committed[tp] for tp in wanted if tp in (self.committed or {})}
        return {tp: each if isinstance(each, tuple) else OffsetAndMetadata(each) for tp, each in found.items()}

    def position_found(self, state: PartitionState, generation: int, position: FetchPosition) -> None:
        state.locate(generation, position)

    def state(self, tp: TopicPartition) -> PartitionState:
        return self.subscription.assigned(tp)

    def seek(self, tp: TopicPartition, position: int | None = None, reset: int | None = None) -> None:
        self.state(tp).go_to(None if position is None else FetchPosition(position), reset)

    def positions(self) -> dict[int, int | None]:
        return {state.tp.partition: at(state) for state in self.subscription.states()}


Scenario = Callable[[ResolverHarness], Awaitable[None]]


def resolve(
    scenario: Scenario, strategy: int | None, committed: dict[TopicPartition, Any] | None, *assigned: TopicPartition
) -> None:
    async def main() -> None:
        harness = ResolverHarness(strategy, committed, *assigned)
        await scenario(harness)
        harness.resolver.close()
        await harness.cluster.close()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    simulate(main)


def test_a_committed_offset_takes_precedence_over_the_reset_policy() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.resolver.resolve()
        await asyncio.sleep(1)
        assert harness.positions() == {0: 7, 1: 100}

    resolve(scenario, LATEST, {T0: 7}, T0, T1)


def test_a_requested_reset_takes_precedence_over_both() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.state(T0).reset = EARLIEST
        harness.resolver.resolve()
        await asyncio.sleep(1)
        assert harness.positions() == {0: 0, 1: 8}

    resolve(scenario, LATEST, {T0: 7, T1: 8}, T0, T1)


def test_seeks_that_come_together_are_looked_up_together() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        for tp in (T0, T1, T2):
            harness.seek(tp, reset=EARLIEST)
            harness.resolver.resolve_soon()
        await asyncio.sleep(1)
        assert harness.positions() == {0: 0, 1: 0, 2: 0}
        assert sorted(harness.ends.asked) == [(1, [0, 2]), (2, [1])]
        harness.seek(T1, reset=LATEST)
        harness.resolver.resolve_soon()
        await asyncio.sleep(1)
        assert harness.positions() == {0: 0, 1: 100, 2: 0}

    resolve(scenario, LATEST, None, T0, T1, T2)


def test_without_a_policy_a_missing_offset_is_an_error_and_others_are_found() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.resolver.resolve()
        await asyncio.sleep(1)
        assert harness.positions() == {0: 7, 1: None}
        assert harness.errors == [NoOffsetForPartitionError([T1])]
        await asyncio.sleep(100)
        assert len(harness.errors) == 1
        harness.committed = {T1: 3}
        harness.resolver.resolve()
        await asyncio.sleep(1)
        assert harness.positions() == {0: 7, 1: 3}

    resolve(scenario, None, {T0: 7}, T0, T1)


def test_failures_that_pass_are_waited_out() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.commit_errors = [KafkaTimeoutError("late"), KafkaConnectionError("gone")]
        harness.ends.errors = {1: [6, 6]}
        harness.resolver.resolve()
        await asyncio.sleep(10)
        assert harness.positions() == {0: 7, 1: 100}
        assert harness.errors == []

    resolve(scenario, LATEST, {T0: 7}, T0, T1)


def test_a_partition_assigned_meanwhile_is_found_as_well() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.resolver.resolve()
        await asyncio.sleep(0)
        harness.subscription.assign_from_user([T0, T1])
        harness.resolver.resolve()
        await asyncio.sleep(1)
        assert harness.positions() == {0: 100, 1: 100}
        assert sorted(harness.ends.asked) == [(1, [0]), (2, [1])]

    resolve(scenario, LATEST, None, T0)


def test_a_seek_during_the_lookup_stands() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.resolver.resolve()
        await asyncio.sleep(0)
        harness.seek(T0, 42)
        await asyncio.sleep(1)
        assert harness.positions() == {0: 42}

    resolve(scenario, LATEST, None, T0)


def test_a_silent_leader_delays_its_own_partitions_alone() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.ends.silent = {2}
        harness.resolver.resolve()
        await asyncio.sleep(0.01)
        assert harness.positions() == {0: 100, 1: None, 2: 100}
        await asyncio.sleep(100)
        assert harness.positions()[1] is None
        harness.ends.silent = set()
        await asyncio.sleep(40)
        assert harness.positions()[1] == 100

    resolve(scenario, LATEST, None, T0, T1, T2)


def test_a_seek_while_another_leader_is_silent_is_not_held_up() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.ends.silent = {2}
        harness.resolver.resolve()
        await asyncio.sleep(5)
        harness.seek(T0, reset=EARLIEST)
        harness.resolver.resolve()
        await asyncio.sleep(0.01)
        assert harness.positions() == {0: 0, 1: None}

    resolve(scenario, LATEST, None, T0, T1)


def test_a_partition_sought_again_is_looked_up_again_though_its_leader_has_not_answered() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.ends.silent = {1}
        harness.resolver.resolve()
        await asyncio.sleep(1)
        harness.ends.silent = set()
        harness.cluster.lead(0, 2, 1)
        harness.cluster.publish(["t"])
        harness.seek(T0, reset=EARLIEST)
        harness.resolver.resolve()
        await asyncio.sleep(0.01)
        assert harness.positions() == {0: 0}
        await asyncio.sleep(100)
        assert harness.positions() == {0: 0}

    resolve(scenario, LATEST, None, T0)


def test_silent_commits_do_not_hold_up_a_seek_to_an_end() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.commit_errors = [KafkaTimeoutError("late")] * 1_000
        harness.resolver.resolve()
        await asyncio.sleep(1)
        harness.seek(T0, reset=LATEST)
        harness.resolver.resolve()
        await asyncio.sleep(0.01)
        assert harness.positions() == {0: 100, 1: None}

    resolve(scenario, LATEST, {}, T0, T1)


def test_an_error_belongs_to_its_partition_and_backs_off_each_time() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.ends.errors = {1: 29}
        for _ in range(3):
            harness.resolver.resolve()
            await asyncio.sleep(10)
        assert harness.positions() == {0: 100, 1: None, 2: 100}
        assert harness.errors == [TopicAuthorizationFailedError({"t"})] * 3
        for _ in range(1_000):  # a caller that polls quickly
            harness.resolver.resolve()
            await asyncio.sleep(0.01)
        assert len(harness.errors) < 3 + 30
        harness.ends.errors = {}
        harness.resolver.resolve()
        await asyncio.sleep(10)
        assert harness.positions()[1] == 100

    resolve(scenario, LATEST, None, T0, T1, T2)


def test_a_topic_with_unreadable_commits_does_not_affect_others() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.commit_errors = [TopicAuthorizationFailedError({"u"})]
        harness.resolver.resolve()
        await asyncio.sleep(1)
        assert harness.errors == [TopicAuthorizationFailedError({"u"})]
        assert at(harness.state(T0)) == 7
        assert harness.state(U0).position is None
        assert harness.fetches == [[T0, U0], [T0]]

    resolve(scenario, LATEST, {T0: 7, U0: 8}, T0, U0)


def test_an_unauthorized_group_raises_once() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.commit_errors = [GroupAuthorizationFailedError("g")]
        harness.resolver.resolve()
        await asyncio.sleep(100)
        assert harness.errors == [GroupAuthorizationFailedError("g")]
        assert harness.positions() == {0: None, 1: None}

    resolve(scenario, LATEST, {}, T0, T1)


def test_any_exception_is_survived_and_logged_once_a_cause(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.commit_errors = [OSError("bad file descriptor")] * 5
        harness.ends.errors = {0: [ZeroDivisionError("on purpose")] * 5}
        harness.resolver.resolve()
        await asyncio.sleep(29)
        assert harness.positions() == {0: 100}
        assert harness.errors == []
        logged = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
        assert sum("bad file descriptor" in line for line in logged) == 1
        assert sum("on purpose" in line for line in logged) == 1

    resolve(scenario, LATEST, {}, T0)


def test_a_waiter_only_gets_the_error_of_its_partition() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.ends.errors = {1: 29}
        with pytest.raises(TopicAuthorizationFailedError):
            await harness.resolver.outcome(harness.state(T1))
        await harness.resolver.outcome(harness.state(T0))
        assert harness.positions() == {0: 100, 1: None}
        assert harness.errors == []

    resolve(scenario, LATEST, None, T0, T1)


def test_a_seek_wakes_waiters() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.ends.silent = {1}
        waiting = asyncio.ensure_future(harness.resolver.outcome(harness.state(T0)))
        await asyncio.sleep(1)
        harness.seek(T0, 42)
        harness.resolver.moved(harness.state(T0))
        async with asyncio.timeout(0.01):
            await waiting

    resolve(scenario, LATEST, None, T0)


def test_closing_ends_lookups_and_waits() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.ends.silent = {1}
        waiting = asyncio.ensure_future(harness.resolver.outcome(harness.state(T0)))
        await asyncio.sleep(1)
        harness.resolver.close()
        await waiting
        harness.resolver.resolve()
        assert len(harness.ends.asked) == 1

    resolve(scenario, LATEST, None, T0)


def test_a_position_is_not_waited_for_once_the_consumer_is_closed() -> None:
    async def scenario() -> None:
        harness = ResolverHarness(EARLIEST, None, T0)
        harness.resolver.close()
        with pytest.raises(IllegalStateError, match="closed"):
            await harness.resolver.outcome(harness.subscription.assigned(T0))

    simulate(scenario)


def test_a_duration_policy_without_a_late_record_starts_at_the_end() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.ends.after_all = 4_000
        harness.resolver.resolve()
        await asyncio.sleep(1)
        assert harness.positions() == {0: 100, 1: 100}
        assert len(harness.ends.asked) == 4  # two brokers, each for the time and for the end

    resolve(scenario, 5_000, None, T0, T1)


@pytest.mark.parametrize("found_by", ["policy", "commit", "seek", "left"])
def test_a_position_that_was_looked_for_in_a_deleted_topic_is_looked_for_in_the_new_one(found_by: str) -> None:
    async def scenario(harness: ResolverHarness) -> None:
        state, old, new = harness.state(T0), UUID(int=1), UUID(int=2)
        harness.topic_ids["t"] = old
        if found_by == "seek":
            state.reset = LATEST
        elif found_by == "left":
            state.left_at = FetchPosition(40)
        harness.resolver.resolve()
        await asyncio.sleep(0)
        harness.topic_ids["t"] = new  # which the members of a group do not all hear of at once
        harness.strategy = EARLIEST
        if harness.committed is not None:
            await asyncio.sleep(0.0015)  # it was read by then, and is read again
            harness.committed.clear()
        await asyncio.sleep(1)
        assert at(state) == (100 if found_by == "seek" else 0)
        assert len(harness.ends.asked) == (1 if found_by in ("commit", "left") else 2)

    resolve(scenario, LATEST, {"commit": {T0: 7}, "left": {T1: 1}}.get(found_by), T0)


def test_the_leader_epochs_of_offsets_come_along() -> None:
    async def scenario(harness: ResolverHarness) -> None:
        harness.resolver.resolve()
        await asyncio.sleep(1)
        assert harness.state(T0).position == FetchPosition(7, 3)

    resolve(scenario, LATEST, {T0: OffsetAndMetadata(7, "", 3)}, T0)
