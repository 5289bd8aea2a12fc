"""A membership that asks for what a test tells it to, and a consumer over it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any

import pytest

from fakes.cluster import Call, FakeCluster
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.config import parse_consumer
from kafka.consumer._async.poll_loop import AsyncPollLoop
from kafka.consumer.buffer.partition_state import FetchPosition
from kafka.consumer.buffer.polled_batch import PolledBatch
from kafka.consumer.subscription.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.classic import membership as classic
from kafka.coordinator.membership import NO_GENERATION, Generation, Membership, Partitions, Step, StepKind, step_towards
from kafka.errors import CommitFailedError
from kafka.structs import TopicPartition
from kafka.wire.api.offset_commit import OffsetCommitResponse
from kafka.wire.api.offset_fetch import OffsetFetchResponse, OffsetFetchResponseGroup
from unit.virtual_loop import simulate

A, B, C, D = (TopicPartition("t", number) for number in range(4))
REVOKE, KEEP, LOSE, ADD = StepKind.REVOKE, StepKind.KEEP, StepKind.LOSE, StepKind.ADD


class ScriptedMembership:
    """Asks for what a test tells it to, one turn after the other."""

    def __init__(self, *arguments: Any) -> None:
        self.listener = arguments[4]
        self.generation = self.lost = NO_GENERATION
        self.done: list[tuple[StepKind, Partitions, Partitions]] = []
        self.subscription_changes = 0
        self.left = 0
        self.failure: Exception | None = None
        self._ask: Callable[[Partitions, int], Step | None] = lambda held, turn: None
        self._turn = 0

    # What a test says

    def eagerly(self, kind: StepKind, partitions: Collection[TopicPartition] = ()) -> None:
        """One step: give all up, or take these."""
        self._next(lambda held, turn: Step(kind, frozenset(partitions) if kind is ADD else held, turn))

    def towards(self, *target: TopicPartition) -> None:
        """As many steps as lead from what is held to `target`, as in cooperative protocols."""
        self._next(lambda held, turn: step_towards(frozenset(target), held, turn))

    def _next(self, ask: Callable[[Partitions, int], Step | None]) -> None:
        self._turn += 1
        self._ask = ask
        self.listener.step_ready()

    # The protocol

    def status(self) -> None:
        """There is nothing to show."""

    @property
    def last_generation(self) -> Generation:
        return self.generation if self.generation.is_valid else self.lost

    def commit_generation(self) -> Generation:
        if not self.generation.is_valid:
            raise CommitFailedError
        return self.generation

    def next_step(self, held: Partitions) -> Step | None:
        if self.failure is not None:
            raise self.failure
        return self._ask(held, self._turn)

    def leave_step(self, held: Partitions) -> Step:
        return Step(REVOKE if self.generation.is_valid else LOSE, held, self._turn)

    def step_done(self, step: Step, held: Partitions) -> None:
        self.done.append((step.kind, step.partitions, held))
        if step.turn == self._turn and step.kind is ADD:
            self._ask = lambda held, turn: None
            self.generation = Generation(self._turn, "me", None)

    def subscription_changed(self, reason: str) -> None:
        self.subscription_changes += 1

    def metadata_changed(self, metadata: ClusterMetadata) -> None:
        pass

    def commit_refused(self, error_code: int, generation: Generation) -> None:
        pass

    async def leave(self, reason: str, timeout_ms: float) -> None:
        self.left += 1

    async def close(self, timeout_ms: float) -> None:
        pass


_fits: type[Membership] = ScriptedMembership


class ScriptedConsumer(ConsumerRebalanceListener):
    """A consumer over a scripted membership, and its listener."""

    def __init__(self, driver: AsyncPollLoop, cluster: FakeCluster) -> None:
        self.driver = driver
        self.core = driver.core
        self.cluster = cluster
        membership = self.core.membership
        assert isinstance(membership, ScriptedMembership)
        self.membership = membership
        self.told: list[tuple[str, set[TopicPartition], set[TopicPartition]]] = []
        self.raises: BaseException | None = None
        self.core.subscription.subscribe(["t"], listener=self)
        self.core.subscribed()

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        self._note("revoked", revoked)

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        self._note("assigned", assigned)

    def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
        self._note("lost", lost)

    def _note(self, kind: str, partitions: Collection[TopicPartition]) -> None:
        self.told.append((kind, set(partitions), self.core.subscription.assigned_partitions()))
        failure, self.raises = self.raises, None
        if failure is not None:
            raise failure

    async def poll(self, timeout_ms: float = 0) -> None:
        """What `poll()` does before it takes records."""
        await self.driver.wait_for(timeout_ms, lambda: PolledBatch(lambda piece: None))

    @property
    def held(self) -> set[TopicPartition]:
        return self.core.subscription.assigned_partitions()

    def read_to(self, offset: int) -> None:
        """All that is held has been read so far."""
        for state in self.core.subscription.states():
            self.core.buffer.discard(state, FetchPosition(offset))

    def positions(self) -> dict[TopicPartition, FetchPosition | None]:
        return {state.tp: state.position for state in self.core.subscription.states()}

    def committed(self) -> list[dict[int, int]]:
        """The offsets of each commit so far, by partition."""
        return [
            {entry.partition_index: entry.committed_offset for topic in each.topics for entry in topic.partitions}
            for each in self.cluster.requests("OffsetCommit")
        ]


def still_loading(call: Call) -> OffsetFetchResponse:
    """The answer of a coordinator that cannot tell committed offsets yet: positions stay as the scenario sets them."""
    if call.version < 8:
        return OffsetFetchResponse(error_code=14)
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id="g", error_code=14)])


def play(
    monkeypatch: pytest.MonkeyPatch, scenario: Callable[[ScriptedConsumer], Awaitable[None]], **options: Any
) -> None:
    monkeypatch.setattr(classic, "ClassicMembership", ScriptedMembership)
    cluster = FakeCluster({"t": 4})
    cluster.serve("OffsetCommit", lambda call: OffsetCommitResponse())
    cluster.serve("OffsetFetch", still_loading)

    async def main() -> None:
        config = parse_consumer({"group_id": "g", "bootstrap_servers": "nowhere:1", **options})
        driver = AsyncPollLoop(config, cluster)  # type: ignore[arg-type]
        driver.core.fetcher.close()
        await driver.core.start()
        await scenario(ScriptedConsumer(driver, cluster))
        await driver.close(autocommit=False, timeout_ms=1_000)

    simulate(main)
