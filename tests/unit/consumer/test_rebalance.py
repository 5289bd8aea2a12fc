"""The caller's side of a membership, driven through the same steps as `poll()` does, in virtual time.

The membership is scripted: the caller's side must do the same for the eager protocol, a cooperative one (KIP-429) and
that of KIP-848, of which only the sets of partitions differ.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Any

import pytest

from fakes.cluster import Call, FakeCluster
from kafka.cluster import ClusterMetadata
from kafka.config import parse_consumer
from kafka.consumer import core as consumer_core
from kafka.consumer.drive.async_driver import AsyncDriver
from kafka.consumer.handover.position import Position
from kafka.consumer.subscription.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.generation import NO_GENERATION, Generation
from kafka.coordinator.membership import Membership, Partitions, Step, StepKind, step_towards
from kafka.errors import CommitFailedError, FencedInstanceIdError
from kafka.structs import TopicPartition
from kafka.wire.api.offset_commit import OffsetCommitResponse
from kafka.wire.api.offset_fetch import OffsetFetchResponse, OffsetFetchResponseGroup
from unit.virtual_loop import simulate

A, B, C, D = (TopicPartition("t", number) for number in range(4))
REVOKE, LOSE, ADD = StepKind.REVOKE, StepKind.LOSE, StepKind.ADD


class ScriptedMembership:
    """Asks for what a test tells it to, one turn after the other."""

    def __init__(self, *arguments: Any) -> None:
        self.host = arguments[4]
        self.generation = NO_GENERATION
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
        self.host.step_ready()

    # The protocol

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


class Scene(ConsumerRebalanceListener):
    """A consumer over a scripted membership, and its listener."""

    def __init__(self, driver: AsyncDriver, cluster: FakeCluster) -> None:
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

    async def poll(self) -> None:
        """What `poll()` does before it takes records."""
        await self.driver.wait_for(0, list)

    @property
    def held(self) -> set[TopicPartition]:
        return self.core.subscription.assigned_partitions()

    def read_to(self, offset: int) -> None:
        """All that is held has been read so far."""
        for state in self.core.subscription.states():
            self.core.buffer.discard(state, Position(offset))

    def positions(self) -> dict[TopicPartition, Position | None]:
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


def play(monkeypatch: pytest.MonkeyPatch, scenario: Callable[[Scene], Awaitable[None]], **options: Any) -> None:
    monkeypatch.setattr(consumer_core, "ClassicMembership", ScriptedMembership)
    cluster = FakeCluster({"t": 4})
    cluster.serve("OffsetCommit", lambda call: OffsetCommitResponse())
    cluster.serve("OffsetFetch", still_loading)

    async def main() -> None:
        config = parse_consumer({"group_id": "g", "bootstrap_servers": "nowhere:1", **options})
        driver = AsyncDriver(config, cluster)  # type: ignore[arg-type]
        driver.core.fetcher.close()
        await driver.core.start()
        await scenario(Scene(driver, cluster))
        await driver.close(autocommit=False, timeout_ms=1_000)

    simulate(main)


def test_the_eager_protocol_gives_all_up_and_takes_all_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(scene: Scene) -> None:
        scene.membership.eagerly(REVOKE)
        await scene.poll()
        scene.membership.eagerly(ADD, [A, B])
        await scene.poll()
        scene.read_to(7)
        scene.membership.eagerly(REVOKE)
        await scene.poll()
        assert scene.held == set()
        scene.membership.eagerly(ADD, [B, C])
        await scene.poll()
        assert scene.told == [
            ("revoked", set(), set()),
            ("assigned", {A, B}, {A, B}),
            ("revoked", {A, B}, {A, B}),
            ("assigned", {B, C}, {B, C}),
        ]
        assert scene.positions() == {B: None, C: None}  # to be read on from what the group has committed
        assert scene.committed() == [{0: 7, 1: 7}]

    play(monkeypatch, scenario)


def test_a_cooperative_protocol_keeps_what_stays_with_its_position(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(scene: Scene) -> None:
        scene.membership.towards(A, B)
        await scene.poll()
        scene.read_to(7)
        kept = scene.core.subscription.state_of(B)
        scene.membership.towards(B, C)  # revoke A, then add C, in one turn
        await scene.poll()
        assert scene.told == [
            ("assigned", {A, B}, {A, B}),
            ("revoked", {A}, {A, B}),
            ("assigned", {C}, {B, C}),
        ]
        assert scene.core.subscription.state_of(B) is kept
        assert scene.positions() == {B: Position(7), C: None}
        assert scene.committed() == [{0: 7, 1: 7}]  # before A went
        assert scene.membership.done == [
            (ADD, {A, B}, {A, B}),
            (REVOKE, {A}, {B}),
            (ADD, {C}, {B, C}),
        ]
        scene.membership.towards(B, C)  # nothing new, which KIP-848 tells the listener too
        await scene.poll()
        assert scene.told[-1] == ("assigned", set(), {B, C})

    play(monkeypatch, scenario)


def test_a_target_that_changes_between_the_steps_is_followed_from_what_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(scene: Scene) -> None:
        scene.membership.towards(A, B)
        await scene.poll()
        scene.membership.towards(B, C)
        scene.raises = ZeroDivisionError()
        with pytest.raises(ZeroDivisionError):
            await scene.poll()  # A is revoked, C not taken yet
        scene.membership.towards(D)
        await scene.poll()
        assert [entry[:2] for entry in scene.told[1:]] == [("revoked", {A}), ("revoked", {B}), ("assigned", {D})]
        assert scene.held == {D}

    play(monkeypatch, scenario)


def test_what_is_lost_is_not_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(scene: Scene) -> None:
        scene.membership.towards(A, B)
        await scene.poll()
        scene.read_to(7)
        scene.membership.generation = NO_GENERATION
        scene.membership.eagerly(LOSE)
        await scene.poll()
        assert scene.told[-1] == ("lost", {A, B}, {A, B})
        assert scene.held == set()
        assert scene.committed() == []

    play(monkeypatch, scenario)


def test_without_a_membership_nothing_is_committed_automatically(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(scene: Scene) -> None:
        scene.membership.towards(A)
        await scene.poll()
        scene.read_to(7)
        scene.membership.generation = NO_GENERATION
        for _ in range(5):
            await asyncio.sleep(1)
            await scene.poll()
        assert scene.committed() == []
        scene.membership.generation = Generation(5, "me", None)
        await asyncio.sleep(1)
        await scene.poll()
        await asyncio.sleep(0.1)
        assert scene.committed() == [{0: 7}]

    play(monkeypatch, scenario, auto_commit_interval_ms=900)


@pytest.mark.parametrize("failure", [ZeroDivisionError, KeyboardInterrupt, asyncio.CancelledError])
@pytest.mark.parametrize("kind", ["revoked", "assigned", "lost"])
def test_a_step_is_finished_whatever_the_listener_raises(
    monkeypatch: pytest.MonkeyPatch, kind: str, failure: type[BaseException]
) -> None:
    async def scenario(scene: Scene) -> None:
        scene.membership.towards(A, B)
        if kind != "assigned":
            await scene.poll()
            if kind == "lost":
                scene.membership.eagerly(LOSE)
            else:
                scene.membership.towards(B, C)
        scene.raises = failure()
        with pytest.raises(failure):
            await scene.poll()
        expected = {"assigned": {A, B}, "revoked": {B}, "lost": set()}[kind]
        assert scene.held == expected
        assert scene.membership.done[-1][2] == expected
        told = len(scene.told)
        await scene.poll()
        if kind == "revoked":  # the turn goes on
            assert scene.told[told:] == [("assigned", {C}, {B, C})]
        else:
            assert scene.told[told:] == []

    play(monkeypatch, scenario)


def test_a_step_whose_commit_is_interrupted_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(scene: Scene) -> None:
        scene.membership.towards(A, B)
        await scene.poll()
        scene.read_to(7)

        async def interrupted(*arguments: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(scene.core.commits, "commit_automatically", interrupted)
            scene.membership.towards(A)
            with pytest.raises(KeyboardInterrupt):
                await scene.poll()
        assert scene.held == {A, B}
        await scene.poll()
        assert scene.committed() == [{0: 7, 1: 7}]
        assert scene.told[1:] == [("revoked", {B}, {A, B}), ("assigned", set(), {A})]

    play(monkeypatch, scenario)


def test_a_step_is_carried_out_once_even_if_the_loop_hears_of_it_late(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(scene: Scene) -> None:
        scene.membership.eagerly(REVOKE)  # stays until something newer is asked for
        for _ in range(3):
            scene.core.attention = True
            await scene.poll()
        assert len(scene.told) == 1

    play(monkeypatch, scenario)


def test_what_has_ended_the_membership_is_raised_at_every_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(scene: Scene) -> None:
        scene.membership.failure = FencedInstanceIdError("another one has it")
        scene.membership.host.step_ready()
        for _ in range(3):
            with pytest.raises(FencedInstanceIdError):
                await scene.poll()
        scene.membership.failure = None
        await scene.poll()

    play(monkeypatch, scenario)


def test_leaving_revokes_what_is_held_or_counts_it_as_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(scene: Scene) -> None:
        assert scene.core.rebalance.leave_step() is None
        scene.membership.towards(A)
        await scene.poll()
        await scene.driver.give_up(1_000)
        assert scene.told[-1] == ("revoked", {A}, {A})
        scene.membership.generation = NO_GENERATION
        await scene.driver.give_up(1_000)
        assert scene.told[-1] == ("lost", {A}, {A})
        scene.core.unsubscribe()
        scene.core.assign([A])
        assert scene.core.rebalance.leave_step() is None
        assert scene.core.rebalance.next_step() is None

    play(monkeypatch, scenario)


def test_subscribing_again_is_told_to_the_membership(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(scene: Scene) -> None:
        scene.core.subscription.subscribe(["u"])
        scene.core.subscribed()
        assert scene.membership.subscription_changes == 2

    play(monkeypatch, scenario)


def test_nothing_of_an_old_subscription_is_taken_before_the_membership_has_heard_of_the_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(scene: Scene) -> None:
        later: list[tuple[Callable[..., object], tuple[object, ...]]] = []
        scene.membership.eagerly(ADD, [A])
        with monkeypatch.context() as patch:
            # As between a caller's thread and the loop: what is submitted runs some time later.
            patch.setattr(scene.core._caller, "submit", lambda function, *args: later.append((function, args)))
            scene.core.subscription.subscribe(["u"], listener=scene)
            scene.core.subscribed()
        await scene.poll()
        assert scene.told == []
        scene.membership.eagerly(REVOKE)  # what the membership makes of the news
        for function, args in later:
            function(*args)
        await scene.poll()
        assert scene.told == [("revoked", set(), set())]

    play(monkeypatch, scenario)
