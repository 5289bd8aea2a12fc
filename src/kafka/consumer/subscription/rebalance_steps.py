"""The caller's part of a rebalance, step by step. `AsyncPollLoop` and its twin carry out the steps.

The rebalance listener is called between `begin` and `finish`. Each step is finished even if the listener raises, so
that the consumer, the listener and the membership always agree on the assigned partitions. The next `poll()` continues
with the next step.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.coordinator.membership import Membership, Partitions, Step, StepKind
from kafka.structs import TopicPartition

__all__ = ["Rebalance", "Step", "StepKind"]


class StepListener(Protocol):
    """The consumer that a `Rebalance` belongs to."""

    def reassign(self, partitions: Iterable[TopicPartition]) -> None:
        """Replace the assignment; partitions that stay assigned keep their state."""

    def find_positions(self) -> None:
        """Find the positions of added partitions. Called on the loop."""

    def step_ready(self) -> None:
        """Called, in any thread, when the next `poll()` has to look for a step again."""


class Rebalance:
    """The caller's side of a `Membership`, whatever its protocol. Used in the caller's thread.

    Arguments:
        membership: requests the steps.
        subscription: the assignment.
        submit: runs a function on the loop.
        listener: the consumer.
    """

    def __init__(
        self,
        membership: Membership,
        subscription: SubscriptionState,
        submit: Callable[..., None],
        listener: StepListener,
    ) -> None:
        self._membership = membership
        self._subscription = subscription
        self._submit = submit
        self._listener = listener
        self._untold: Partitions = frozenset()
        """Partitions taken before `poll()`, which the listener does not know yet."""
        self._taken_at: tuple[int, int] | None = None
        self._finished: tuple[int, bool] | None = None
        """The last step: its turn, and whether it added partitions."""
        self._changes = 0  # written in the caller's thread
        self._changes_heard = 0  # written on the loop
        self.completed = 0
        """The number of steps that added partitions."""

    def next_step(self) -> Step | None:
        """Return the next step to carry out. Raises a permanent error of the membership in every `poll()`."""
        if not self._subscription.is_automatic or self._changes != self._changes_heard:
            return None
        try:
            step = self._membership.next_step(self._held())
        except Exception:
            self._listener.step_ready()
            raise
        if (
            step is None or (step.turn, step.kind is StepKind.ADD) == self._finished
        ):  # the loop may not know yet that the step is finished
            return None
        self._listener.step_ready()  # the next poll() continues in any case
        return step

    def subscription_changed(self) -> None:
        """Note that the caller has changed the subscription; steps for the old one are no longer carried out."""
        self._changes += 1

    def subscription_heard(self) -> None:
        """Note that the membership has handled one change of the subscription. Called on the loop."""
        self._changes_heard += 1
        self._listener.step_ready()

    def take_ahead(self, metadata_version: int) -> None:
        """Without a group, take the known partitions before `poll()` reports them to the listener.

        This allows a program to seek and pause before its first poll. Revocations that a listener must know of are left
        to `poll()`.

        Arguments:
            metadata_version: the version of the metadata; another call for the same version does nothing.
        """
        if self._taken_at == (metadata_version, self._changes):
            return
        held = self._held()
        step = self._membership.next_step(held)
        if step is not None and step.kind is StepKind.REVOKE and self._subscription.listener_for(False) is None:
            held -= step.partitions
            step = self._membership.next_step(held)
        if step is not None and step.kind is StepKind.ADD:
            self._listener.reassign(held | step.partitions)
            self._untold = step.partitions
        self._taken_at = metadata_version, self._changes

    def leave_step(self) -> Step | None:
        """Return the step before the caller gives up all partitions; None if no partition comes from a subscription."""
        held = self._held()
        return self._membership.leave_step(held) if held and self._subscription.is_automatic else None

    def begin(self, step: Step) -> None:
        """Begin a step. Called before the listener, so that added partitions are assigned when the listener seeks."""
        if step.kind is StepKind.ADD:
            self._listener.reassign(self._held() | step.partitions)
            self._untold = frozenset()

    def finish(self, step: Step) -> None:
        """Finish a step. Called after the listener, even if the listener raised an error."""
        if step.kind is StepKind.ADD:
            self.completed += 1
        else:
            self._listener.reassign(self._held() - step.partitions)
        self._submit(self._membership.step_done, step, self._held())
        if step.kind is StepKind.ADD:
            self._submit(self._listener.find_positions)
        self._finished = step.turn, step.kind is StepKind.ADD  # after an earlier interrupt, the step is repeated

    def _held(self) -> frozenset[TopicPartition]:
        """Return the partitions that were reported to the listener."""
        return frozenset(self._subscription.assigned_partitions()) - self._untold
