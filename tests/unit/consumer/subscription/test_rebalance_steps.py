"""The caller's side of a membership, driven through the same steps as `poll()` does, in virtual time.

The membership is scripted: the caller's side must do the same for the eager protocol, a cooperative one (KIP-429) and
that of KIP-848, of which only the sets of partitions differ.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Collection

import pytest

from fakes.cluster import Call
from kafka.consumer.buffer.partition_state import FetchPosition
from kafka.consumer.subscription.subscription_state import AsyncConsumerRebalanceListener
from kafka.coordinator.classic.membership import CallerView, CooperativeSteps
from kafka.coordinator.classic.state import MemberState
from kafka.coordinator.membership import NO_GENERATION, Generation, Step, StepKind
from kafka.errors import (
    FencedInstanceIdError,
    IllegalStateError,
    NotCoordinatorError,
    RebalanceInProgressError,
    UnknownTopicOrPartitionError,
)
from kafka.structs import MemberState as MembershipState
from kafka.structs import TopicPartition
from kafka.wire.api.offset_commit import OffsetCommitResponse
from unit.consumer.consumer_harness import commit_answer
from unit.consumer.scripted_membership import ADD, KEEP, LOSE, REVOKE, A, B, C, D, ScriptedConsumer, play


def test_the_eager_protocol_gives_all_up_and_takes_all_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.eagerly(REVOKE)
        await setup.poll()
        setup.membership.eagerly(ADD, [A, B])
        await setup.poll()
        setup.read_to(7)
        setup.membership.eagerly(REVOKE)
        await setup.poll()
        assert setup.held == set()
        setup.membership.eagerly(ADD, [B, C])
        await setup.poll()
        assert setup.told == [
            ("revoked", set(), set()),
            ("assigned", {A, B}, {A, B}),
            ("revoked", {A, B}, {A, B}),
            ("assigned", {B, C}, {B, C}),
        ]
        assert setup.positions() == {B: None, C: None}  # to be read on from what the group has committed
        assert setup.committed() == [{0: 7, 1: 7}]

    play(monkeypatch, scenario)


def test_a_member_that_keeps_partitions_commits_without_calling_the_listener(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)
        setup.membership._next(lambda held, turn: Step(KEEP, frozenset(), turn))
        await setup.poll()
        assert setup.committed() == [{0: 7, 1: 7}]
        assert setup.told == [("assigned", {A, B}, {A, B})]
        assert setup.positions() == {A: FetchPosition(7), B: FetchPosition(7)}
        assert setup.membership.done[1:] == [(KEEP, set(), {A, B})]

    play(monkeypatch, scenario)


def test_a_cooperative_rebalance_keeps_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)
        kept = setup.core.subscription.state_of(B)
        setup.membership.towards(B, C)  # revoke A, then add C, in one turn
        await setup.poll()
        assert setup.told == [
            ("assigned", {A, B}, {A, B}),
            ("revoked", {A}, {A, B}),
            ("assigned", {C}, {B, C}),
        ]
        assert setup.core.subscription.state_of(B) is kept
        assert setup.positions() == {B: FetchPosition(7), C: None}
        assert setup.committed() == [{0: 7, 1: 7}]  # before A went
        assert setup.membership.done == [
            (ADD, {A, B}, {A, B}),
            (REVOKE, {A}, {B}),
            (ADD, {C}, {B, C}),
        ]
        setup.membership.towards(B, C)  # nothing new, which KIP-848 tells the listener too
        await setup.poll()
        assert setup.told[-1] == ("assigned", set(), {B, C})

    play(monkeypatch, scenario)


def test_a_target_that_changes_between_steps_is_reconciled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.membership.towards(B, C)
        setup.raises = ZeroDivisionError()
        with pytest.raises(ZeroDivisionError):
            await setup.poll()  # A is revoked, C not taken yet
        setup.membership.towards(D)
        await setup.poll()
        assert [entry[:2] for entry in setup.told[1:]] == [("revoked", {A}), ("revoked", {B}), ("assigned", {D})]
        assert setup.held == {D}

    play(monkeypatch, scenario)


def test_lost_partitions_are_not_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)
        setup.membership.generation = NO_GENERATION
        setup.membership.eagerly(LOSE)
        await setup.poll()
        assert setup.told[-1] == ("lost", {A, B}, {A, B})
        assert setup.held == set()
        assert setup.committed() == []

    play(monkeypatch, scenario)


def test_without_a_membership_nothing_is_committed_automatically(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A)
        await setup.poll()
        setup.read_to(7)
        setup.membership.generation = NO_GENERATION
        for _ in range(5):
            await asyncio.sleep(1)
            await setup.poll()
        assert setup.committed() == []
        setup.membership.generation = Generation(5, "me", None)
        await asyncio.sleep(1)
        await setup.poll()
        await asyncio.sleep(0.1)
        assert setup.committed() == [{0: 7}]

    play(monkeypatch, scenario, auto_commit_interval_ms=900)


@pytest.mark.parametrize("failure", [ZeroDivisionError, KeyboardInterrupt, asyncio.CancelledError])
@pytest.mark.parametrize("kind", ["revoked", "assigned", "lost"])
def test_a_step_is_finished_even_if_the_listener_raises(
    monkeypatch: pytest.MonkeyPatch, kind: str, failure: type[BaseException]
) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        if kind != "assigned":
            await setup.poll()
            if kind == "lost":
                setup.membership.eagerly(LOSE)
            else:
                setup.membership.towards(B, C)
        setup.raises = failure()
        with pytest.raises(failure):
            await setup.poll()
        expected = {"assigned": {A, B}, "revoked": {B}, "lost": set()}[kind]
        assert setup.held == expected
        assert setup.membership.done[-1][2] == expected
        told = len(setup.told)
        await setup.poll()
        if kind == "revoked":  # the turn goes on
            assert setup.told[told:] == [("assigned", {C}, {B, C})]
        else:
            assert setup.told[told:] == []

    play(monkeypatch, scenario)


def test_a_step_with_an_interrupted_commit_is_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)

        async def interrupted(*arguments: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(setup.core.commits, "commit_before", interrupted)
            setup.membership.towards(A)
            with pytest.raises(KeyboardInterrupt):
                await setup.poll()
        assert setup.held == {A, B}
        await setup.poll()
        assert setup.committed() == [{0: 7, 1: 7}]
        assert setup.told[1:] == [("revoked", {B}, {A, B}), ("assigned", set(), {A})]

    play(monkeypatch, scenario)


def test_each_rebalance_has_a_commit_of_its_own_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)
        setup.membership.towards(A)
        await setup.poll()
        setup.read_to(9)
        setup.membership.towards()
        await setup.poll()
        assert setup.committed() == [{0: 7, 1: 7}, {0: 9}]

    play(monkeypatch, scenario)


def test_the_commit_before_a_step_is_resent_if_the_coordinator_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)
        codes = [NotCoordinatorError.errno, 0]
        setup.cluster.serve("OffsetCommit", lambda call: commit_answer(call, error=codes.pop(0)))
        setup.membership.towards(A)
        await setup.poll(2_000)
        assert setup.held == {A}
        assert setup.committed() == [{0: 7, 1: 7}] * 2

    play(monkeypatch, scenario)


def test_nothing_is_committed_before_partitions_are_only_added(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A)
        await setup.poll()
        setup.read_to(7)
        setup.membership.towards(A, B)
        await setup.poll(2_000)
        assert setup.held == {A, B}
        assert setup.committed() == []

    play(monkeypatch, scenario)


def test_manual_commits_add_no_commit_before_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)
        setup.membership.towards(A)
        await setup.poll(5_000)
        assert setup.held == {A}
        assert setup.committed() == []

    play(monkeypatch, scenario, enable_auto_commit=False)


@pytest.mark.parametrize("timeout_ms", [0, 300])
def test_poll_waits_for_the_commit_before_a_step_no_longer_than_it_may(
    monkeypatch: pytest.MonkeyPatch, timeout_ms: float
) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)
        answers = asyncio.Event()

        async def late(call: Call) -> OffsetCommitResponse:
            await answers.wait()
            return OffsetCommitResponse()

        setup.cluster.serve("OffsetCommit", late)
        setup.membership.towards(A)
        taken: list[str] = []
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for _ in range(3):
            assert not await setup.driver.wait_for(
                timeout_ms, lambda: taken.append("records") or setup.core.buffer.take(1)
            )
        assert loop.time() - begun <= 3 * max(timeout_ms, 100) / 1000 + 0.1
        assert not taken, "what is handed out now would not be in the commit"
        assert setup.held == {A, B}
        answers.set()
        await setup.poll(300)
        assert setup.held == {A}
        assert setup.committed() == [{0: 7, 1: 7}]

    play(monkeypatch, scenario)


def test_an_unlimited_wait_finishes_a_step_with_an_unanswered_commit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)
        setup.cluster.serve("OffsetCommit", lambda call: asyncio.Event().wait())
        setup.membership.towards(A)
        assert await setup.driver.process_events()
        assert setup.held == {A}

    play(monkeypatch, scenario)


def test_a_seek_while_the_commit_before_a_step_waits_is_committed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A)
        await setup.poll()
        setup.read_to(7)
        setup.cluster.latency_s = 1.0
        setup.membership.towards()
        await setup.poll()
        assert setup.held == {A}
        setup.core.seek(setup.core.subscription.assigned(A), 3)
        await setup.poll(10_000)
        assert setup.held == set()
        assert setup.committed() == [{0: 7}, {0: 3}]

    play(monkeypatch, scenario)


def test_a_cancelled_poll_leaves_the_commit_before_a_step_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)
        setup.cluster.latency_s = 1.0
        setup.membership.towards(A)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await setup.poll(3_500)
        assert setup.held == {A, B}
        await setup.poll(3_500)
        assert setup.held == {A}
        assert setup.committed() == [{0: 7, 1: 7}]

    play(monkeypatch, scenario)


@pytest.mark.parametrize("kind", [REVOKE, KEEP])
def test_a_deleted_topic_does_not_hold_a_rebalance_up(monkeypatch: pytest.MonkeyPatch, kind: StepKind) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)
        setup.cluster.serve("OffsetCommit", lambda call: commit_answer(call, error=UnknownTopicOrPartitionError.errno))
        setup.membership.eagerly(kind)
        await setup.poll(1_000)
        assert setup.membership.done[-1][0] is kind
        assert setup.committed() == [{0: 7, 1: 7}]

    play(monkeypatch, scenario)


def test_a_step_is_carried_out_once_even_if_the_loop_hears_of_it_late(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.eagerly(REVOKE)  # stays until something newer is asked for
        for _ in range(3):
            setup.core.events.pending = True
            await setup.poll()
        assert len(setup.told) == 1

    play(monkeypatch, scenario)


def test_the_error_that_ended_a_membership_is_raised_at_every_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.failure = FencedInstanceIdError("another one has it")
        setup.membership.listener.step_ready()
        for _ in range(3):
            with pytest.raises(FencedInstanceIdError):
                await setup.poll()
        setup.membership.failure = None
        await setup.poll()

    play(monkeypatch, scenario)


def test_leaving_revokes_or_loses_held_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        assert setup.core.rebalance.leave_step() is None
        setup.membership.towards(A)
        await setup.poll()
        await setup.driver.give_up_partitions(1_000)
        assert setup.told[-1] == ("revoked", {A}, {A})
        setup.membership.generation = NO_GENERATION
        await setup.driver.give_up_partitions(1_000)
        assert setup.told[-1] == ("lost", {A}, {A})
        setup.core.unsubscribe()
        setup.core.assign([A])
        assert setup.core.rebalance.leave_step() is None
        assert setup.core.rebalance.next_step() is None

    play(monkeypatch, scenario)


def test_resubscribing_notifies_the_membership(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.core.subscription.subscribe(["u"])
        setup.core.subscribed()
        assert setup.membership.subscription_changes == 2

    play(monkeypatch, scenario)


def test_nothing_of_an_old_subscription_is_taken_before_the_membership_has_heard_of_the_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        later: list[tuple[Callable[..., object], tuple[object, ...]]] = []
        setup.membership.eagerly(ADD, [A])
        with monkeypatch.context() as patch:
            # As between a caller's thread and the loop: what is submitted runs some time later.
            patch.setattr(setup.core._runner, "submit", lambda function, *args: later.append((function, args)))
            setup.core.subscription.subscribe(["u"], listener=setup)
            setup.core.subscribed()
        await setup.poll()
        assert setup.told == []
        setup.membership.eagerly(REVOKE)  # what the membership makes of the news
        for function, args in later:
            function(*args)
        await setup.poll()
        assert setup.told == [("revoked", set(), set())]

    play(monkeypatch, scenario)


def test_a_step_interrupted_at_its_end_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.eagerly(ADD, [A])
        await setup.poll()
        setup.membership.eagerly(REVOKE)
        drop = setup.core._drop

        def interrupted(gone: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(setup.core, "_drop", interrupted)
        with pytest.raises(KeyboardInterrupt):
            await setup.poll()
        monkeypatch.setattr(setup.core, "_drop", drop)
        await setup.poll()
        assert setup.membership.done[-1][0] is REVOKE

    play(monkeypatch, scenario)


def test_positions_are_looked_for_after_an_interrupt_at_the_end_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        looked: list[None] = []

        def interrupted() -> None:
            monkeypatch.setattr(setup.core, "find_positions", lambda: looked.append(None))
            raise KeyboardInterrupt

        monkeypatch.setattr(setup.core, "find_positions", interrupted)
        monkeypatch.setattr(setup.membership, "step_done", lambda step, held: None)  # the loop has not heard of it yet
        setup.membership.eagerly(ADD, [A])
        with pytest.raises(KeyboardInterrupt):
            await setup.poll()
        await setup.poll()
        assert looked

    play(monkeypatch, scenario)


def later(setup: ScriptedConsumer, patch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Hold back what is submitted, as between a caller's thread and the loop, until this is called."""
    waiting: list[tuple[Callable[..., object], tuple[object, ...]]] = []
    patch.setattr(setup.core.rebalance, "_submit", lambda function, *args: waiting.append((function, args)))

    def arrive() -> None:
        while waiting:
            function, args = waiting.pop(0)
            function(*args)

    return arrive


def test_lost_partitions_are_not_revoked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A)
        await setup.poll()
        arrive = later(setup, monkeypatch)
        view, topics = CallerView(0, MemberState.UNJOINED, lost=True), frozenset({"t"})
        setup.membership._next(
            lambda held, turn: view._replace(number=turn).next_step(held, topics, CooperativeSteps())
        )
        await setup.poll()
        await setup.poll()
        assert setup.told[1:] == [("lost", {A}, {A})]
        arrive()
        assert [kind for kind, *_ in setup.membership.done] == [ADD, LOSE]

    play(monkeypatch, scenario)


@pytest.mark.parametrize("when", ["committing", "revoked", "assigned"])
def test_two_tasks_that_poll_carry_a_step_out_once(monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        told: list[tuple[str, set[TopicPartition]]] = []

        class Slow(AsyncConsumerRebalanceListener):
            async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
                told.append(("revoked", set(revoked)))
                await asyncio.sleep(when == "revoked")

            async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
                await asyncio.sleep(when == "assigned")
                told.append(("assigned", set(assigned)))

        if when == "committing":
            setup.cluster.latency_s = 1.0
        setup.core.subscription.subscribe(["t"], listener=Slow())
        setup.membership.eagerly(ADD, [A])
        await asyncio.gather(setup.poll(), setup.poll())
        assert told == [("assigned", {A})]
        setup.read_to(7)
        setup.membership.eagerly(REVOKE)
        await asyncio.gather(setup.poll(5_000), setup.poll(5_000))
        assert told[1:] == [("revoked", {A})]
        assert setup.committed() == [{0: 7}]

    play(monkeypatch, scenario)


def test_unsubscribing_beside_a_step_does_not_tell_the_listener_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        told: list[set[TopicPartition]] = []

        class Slow(AsyncConsumerRebalanceListener):
            async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
                told.append(set(revoked))
                await asyncio.sleep(1)

            async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
                pass

        async def another() -> None:
            await asyncio.sleep(0.5)
            await setup.driver.give_up_partitions(1_000)  # as unsubscribe() does

        setup.core.subscription.subscribe(["t"], listener=Slow())
        setup.membership.eagerly(ADD, [A])
        await setup.poll()
        setup.membership.eagerly(REVOKE)
        await asyncio.wait_for(asyncio.gather(setup.poll(), another()), 60)
        assert told == [{A}]

    play(monkeypatch, scenario)


def test_a_listener_may_wait_for_a_task_of_its_own_that_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        left: list[asyncio.Task[None]] = []
        told: list[set[TopicPartition]] = []

        class Waits(AsyncConsumerRebalanceListener):
            async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
                pass

            async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
                told.append(set(assigned))
                await asyncio.gather(setup.poll())  # a task more, as asyncio.wait_for() before Python 3.12
                if len(told) == 1:
                    left.append(asyncio.create_task(goes_on()))

        async def goes_on() -> None:
            await asyncio.sleep(1)
            await setup.poll()

        setup.core.subscription.subscribe(["t"], listener=Waits())
        setup.membership.eagerly(ADD, [A])
        await asyncio.wait_for(setup.poll(), 60)
        setup.membership.eagerly(ADD, [B])
        await left[0]
        assert told == [{A}, {B}], "a task that outlives the listener polls like any other"

    play(monkeypatch, scenario)


def test_a_concurrent_poll_waits_for_the_listener(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        order: list[str] = []

        class Seeks(AsyncConsumerRebalanceListener):
            async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
                pass

            async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
                await asyncio.sleep(1)
                await setup.poll()  # which the task that is asked to take a step may do
                order.append("listener")

        async def another() -> None:
            await asyncio.sleep(0.5)
            await setup.driver.wait_for(5_000, list)
            order.append("another")

        setup.core.subscription.subscribe(["t"], listener=Seeks())
        setup.membership.eagerly(ADD, [A])
        await asyncio.gather(setup.poll(), another())
        assert order == ["listener", "another"]

    play(monkeypatch, scenario)


@pytest.mark.parametrize("timeout_ms", [0, 200])
def test_a_concurrent_poll_with_a_slow_listener_times_out(monkeypatch: pytest.MonkeyPatch, timeout_ms: float) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        taken: list[str] = []

        class Slow(AsyncConsumerRebalanceListener):
            async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
                pass

            async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
                await asyncio.sleep(100)

        setup.core.subscription.subscribe(["t"], listener=Slow())
        setup.membership.eagerly(ADD, [A])
        first = asyncio.create_task(setup.poll())
        await asyncio.sleep(1)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        polled = await setup.driver.wait_for(timeout_ms, lambda: taken.append("records") or setup.core.buffer.take(1))
        assert not polled
        assert loop.time() - begun == pytest.approx(timeout_ms / 1000)
        assert not taken, "the listener may seek before anything is handed out"
        assert not first.done()
        await first

    play(monkeypatch, scenario)


def test_health_shows_the_progress_of_a_membership(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        tell = setup.core.commits.group_metadata
        assert tell() == ("g", -1, "", None, MembershipState.UNJOINED)
        setup.membership.generation = Generation(3, "me", "range")
        assert tell() == ("g", 3, "me", "i", MembershipState.STABLE)

        def rebalances() -> Generation:
            raise RebalanceInProgressError

        monkeypatch.setattr(setup.membership, "commit_generation", rebalances)
        assert tell() == ("g", 3, "me", "i", MembershipState.REBALANCING)
        setup.membership.generation = NO_GENERATION
        assert tell() == ("g", -1, "", None, MembershipState.REBALANCING)

    play(monkeypatch, scenario, group_instance_id="i")


def test_a_lost_membership_keeps_its_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.eagerly(ADD, [A])
        await setup.poll()
        assert setup.core.commits.group_metadata().state == MembershipState.STABLE
        setup.membership.lost, setup.membership.generation = setup.membership.generation, NO_GENERATION
        assert setup.core.commits.group_metadata() == ("g", 1, "me", None, MembershipState.UNJOINED)
        setup.membership.eagerly(LOSE)
        await setup.poll()
        assert setup.core.commits.group_metadata() == ("g", 1, "me", None, MembershipState.UNJOINED), "to be refused"

    play(monkeypatch, scenario)


def test_a_rebalance_may_be_asked_for(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.eagerly(ADD, [A])
        await setup.poll()
        changes = setup.membership.subscription_changes
        setup.core.enforce_rebalance("the test wants it")
        assert setup.membership.subscription_changes == changes + 1
        group = dataclasses.replace(setup.core.config.group, group_protocol="consumer")
        setup.core.config = dataclasses.replace(setup.core.config, group=group)
        setup.core.enforce_rebalance("the test wants it")
        assert setup.membership.subscription_changes == changes + 1
        assert "the coordinator assigns" in caplog.text
        setup.core.config = dataclasses.replace(setup.core.config, group=dataclasses.replace(group, group_id=None))
        with pytest.raises(IllegalStateError, match="group_id"):
            setup.core.enforce_rebalance("the test wants it")

    play(monkeypatch, scenario)


def test_iteration_continues_after_a_step_with_an_unanswered_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: ScriptedConsumer) -> None:
        setup.membership.towards(A, B)
        await setup.poll()
        setup.read_to(7)

        async def never(call: Call) -> OffsetCommitResponse:
            await asyncio.Event().wait()
            return OffsetCommitResponse()

        setup.cluster.serve("OffsetCommit", never)
        setup.membership.towards(A)
        assert await setup.driver.process_events()
        assert setup.held == {A}

    play(monkeypatch, scenario)
