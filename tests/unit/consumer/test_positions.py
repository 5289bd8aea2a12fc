"""Finding positions and looking up offsets, against answers from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest

from kafka.cluster import Backoff, ClusterMetadata
from kafka.consumer.handover.partition_state import PartitionState
from kafka.consumer.position.list_offsets import OffsetLookup
from kafka.consumer.position.positions import PositionResolver
from kafka.consumer.position.timestamps import EARLIEST, LATEST
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NoOffsetForPartitionError,
    TopicAuthorizationFailedError,
    UnsupportedForMessageFormatError,
)
from kafka.structs import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition
from kafka.wire.api.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from unit.consumer.fake_leader import metadata
from unit.virtual_loop import simulate

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
BACKOFF = Backoff(100, 1_000)


class Leaders:
    """Answers ListOffsets: 0 for EARLIEST, 100 for LATEST, the time itself otherwise; `errors` come first."""

    def __init__(self, leaders: dict[int, int]) -> None:
        self.metadata = metadata(leaders)
        self.errors: dict[int, list[Any]] = {}
        self.requests: list[tuple[int, ListOffsetsRequest, int]] = []
        self.refreshed = 0
        self.on_refresh: Callable[[], None] = lambda: None

    async def refresh_metadata(self, topics: Iterable[str] | None = None) -> ClusterMetadata:
        self.refreshed += 1
        self.on_refresh()
        return self.metadata

    async def send(
        self, node_id: int, request: ListOffsetsRequest, *, timeout_ms: float | None = None, min_version: int = 0
    ) -> ListOffsetsResponse:
        self.requests.append((node_id, request, min_version))
        await asyncio.sleep(0.001)
        answers = []
        for asked in request.topics[0].partitions:
            script = self.errors.get(asked.partition_index)
            error = script.pop(0) if script else 0
            if isinstance(error, KafkaError):
                raise error
            offset = {EARLIEST: 0, LATEST: 100}.get(asked.timestamp, asked.timestamp)
            answers.append(
                ListOffsetsPartitionResponse(
                    partition_index=asked.partition_index, error_code=error, offset=offset, timestamp=offset + 1
                )
            )
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=answers)])


def lookup(leaders: Leaders) -> OffsetLookup:
    return OffsetLookup(leaders, "read_uncommitted", 1_000, BACKOFF)


def test_each_leader_is_asked_once_for_all_of_its_partitions() -> None:
    async def scenario() -> None:
        leaders = Leaders({0: 1, 1: 2, 2: 1})
        found = await lookup(leaders).lookup({T0: EARLIEST, T1: 55, TopicPartition("t", 2): LATEST}, 1_000)
        assert found == {
            T0: OffsetAndTimestamp(0, 1, -1),
            T1: OffsetAndTimestamp(55, 56, -1),
            TopicPartition("t", 2): OffsetAndTimestamp(100, 101, -1),
        }
        assert [(node, len(request.topics[0].partitions)) for node, request, _ in leaders.requests] == [(1, 2), (2, 1)]
        assert [min_version for _, _, min_version in leaders.requests] == [0, 1]

    simulate(scenario)


def test_what_may_pass_is_asked_again_with_fresh_metadata() -> None:
    async def scenario() -> None:
        leaders = Leaders({0: 1, 1: 1})
        leaders.errors = {0: [6, 74, 78], 1: []}
        found = await lookup(leaders).lookup({T0: LATEST, T1: LATEST}, 10_000)
        assert len(found) == 2
        assert [len(request.topics[0].partitions) for _, request, _ in leaders.requests] == [2, 1, 1, 1]
        assert leaders.refreshed == 3

    simulate(scenario)


def test_a_leader_that_appears_later_is_found() -> None:
    async def scenario() -> None:
        leaders = Leaders({0: -1})

        def elect() -> None:
            if leaders.refreshed == 3:
                leaders.metadata = metadata({0: 2})

        leaders.on_refresh = elect
        assert (await lookup(leaders).lookup({T0: LATEST}, 10_000))[T0].offset == 100

    simulate(scenario)


def test_a_lookup_gives_up_when_its_time_is_up_and_says_what_for() -> None:
    async def scenario() -> None:
        leaders = Leaders({0: 1})
        with pytest.raises(KafkaTimeoutError, match=r"1 of 2 partitions.*t-7"):
            await lookup(leaders).lookup({T0: LATEST, TopicPartition("t", 7): LATEST}, 2_000)

    simulate(scenario)


@pytest.mark.parametrize(
    ("code", "error"), [(29, TopicAuthorizationFailedError), (43, UnsupportedForMessageFormatError)]
)
def test_what_does_not_pass_is_raised(code: int, error: type[KafkaError]) -> None:
    async def scenario() -> None:
        leaders = Leaders({0: 1})
        leaders.errors = {0: [code]}
        with pytest.raises(error):
            await lookup(leaders).lookup({T0: 5}, 1_000)

    simulate(scenario)


class Resolver:
    """A resolver over scripted leaders and committed offsets."""

    def __init__(
        self, strategy: int | None, committed: dict[TopicPartition, int] | None, *assigned: TopicPartition
    ) -> None:
        self.leaders = Leaders({0: 1, 1: 1})
        self.subscription = SubscriptionState()
        self.subscription.assign_from_user(assigned)
        self.committed = committed
        self.errors: list[KafkaError] = []
        self.commit_errors: list[KafkaError] = []
        fetch = None if committed is None else self._fetch
        self.resolver = PositionResolver(
            self.subscription, fetch, lookup(self.leaders), strategy, self._found, self.errors.append, BACKOFF
        )

    async def _fetch(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        await asyncio.sleep(0.001)
        if self.commit_errors:
            raise self.commit_errors.pop(0)
        return {tp: OffsetAndMetadata(self.committed[tp]) for tp in partitions if tp in (self.committed or {})}

    def _found(self, state: PartitionState, generation: int, offset: int) -> None:
        if state.generation == generation:
            state.position = offset

    def positions(self) -> dict[int, int | None]:
        return {state.tp.partition: state.position for state in self.subscription.states()}


def resolve(bench: Callable[[], Resolver], scenario: Callable[[Resolver], Awaitable[None]]) -> None:
    async def main() -> None:
        await scenario(bench())

    simulate(main)


def test_a_committed_offset_comes_before_the_policy() -> None:
    async def scenario(bench: Resolver) -> None:
        bench.resolver.kick()
        await asyncio.sleep(1)
        assert bench.positions() == {0: 7, 1: 100}

    resolve(lambda: Resolver(LATEST, {T0: 7}, T0, T1), scenario)


def test_a_reset_that_was_asked_for_comes_before_both() -> None:
    async def scenario(bench: Resolver) -> None:
        bench.subscription.assigned(T0).reset = EARLIEST
        bench.resolver.kick()
        await asyncio.sleep(1)
        assert bench.positions() == {0: 0, 1: 8}

    resolve(lambda: Resolver(LATEST, {T0: 7, T1: 8}, T0, T1), scenario)


def test_without_a_policy_a_missing_offset_is_an_error_and_others_are_found() -> None:
    async def scenario(bench: Resolver) -> None:
        bench.resolver.kick()
        await asyncio.sleep(1)
        assert bench.positions() == {0: 7, 1: None}
        assert isinstance(bench.errors[0], NoOffsetForPartitionError)
        assert bench.errors[0].args == ([T1],)
        await asyncio.sleep(100)
        assert len(bench.errors) == 1
        bench.committed = {T1: 3}
        bench.resolver.kick()
        await asyncio.sleep(1)
        assert bench.positions() == {0: 7, 1: 3}

    resolve(lambda: Resolver(None, {T0: 7}, T0, T1), scenario)


def test_failures_that_pass_are_waited_out() -> None:
    async def scenario(bench: Resolver) -> None:
        bench.commit_errors = [KafkaTimeoutError("late"), KafkaConnectionError("gone")]
        bench.leaders.errors = {1: [6, 6]}
        bench.resolver.kick()
        await asyncio.sleep(10)
        assert bench.positions() == {0: 7, 1: 100}
        assert bench.errors == []

    resolve(lambda: Resolver(LATEST, {T0: 7}, T0, T1), scenario)


def test_a_partition_assigned_meanwhile_is_found_as_well() -> None:
    async def scenario(bench: Resolver) -> None:
        bench.resolver.kick()
        await asyncio.sleep(0)
        bench.subscription.assign_from_user([T0, T1])
        bench.resolver.kick()
        await asyncio.sleep(1)
        assert bench.positions() == {0: 100, 1: 100}

    resolve(lambda: Resolver(LATEST, None, T0), scenario)


def test_a_seek_during_the_lookup_stands() -> None:
    async def scenario(bench: Resolver) -> None:
        bench.resolver.kick()
        await asyncio.sleep(0)
        state = bench.subscription.assigned(T0)
        state.generation += 1
        state.position = 42
        await asyncio.sleep(1)
        assert bench.positions() == {0: 42}

    resolve(lambda: Resolver(LATEST, None, T0), scenario)
