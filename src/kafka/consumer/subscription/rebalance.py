"""The caller's part of a rebalance, step by step. The drivers carry the steps out.

The listener is called between `begin` and `finish`. The step is finished whatever the listener raises, so that the
consumer, the listener and the membership always agree on which partitions are held. The next `poll()` goes on with the
next step.
"""

from collections.abc import Callable, Iterable

from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.coordinator.membership import Membership, Partitions, Step, StepKind
from kafka.structs import TopicPartition

__all__ = ["Rebalance", "Step", "StepKind"]


class Rebalance:
    """The caller's side of a `Membership`, whatever its protocol. Belongs to the caller's thread.

    Arguments:
        membership: asks for the steps.
        subscription: what is assigned.
        submit: has a function run on the loop.
        reassign: takes partitions in place of what was assigned, and keeps the state of those that stay.
        find_positions: run on the loop after partitions were taken.
        tell_caller: has the next `poll()` look at this again.
    """

    def __init__(
        self,
        membership: Membership,
        subscription: SubscriptionState,
        submit: Callable[..., None],
        reassign: Callable[[Iterable[TopicPartition]], None],
        find_positions: Callable[[], None],
        tell_caller: Callable[[], None],
    ) -> None:
        self._membership = membership
        self._subscription = subscription
        self._submit = submit
        self._reassign = reassign
        self._find_positions = find_positions
        self._tell_caller = tell_caller
        self._untold: Partitions = frozenset()
        """Taken ahead of `poll()`: the listener has not been told of them."""
        self._taken_at: tuple[int, int] | None = None
        self._finished: tuple[int, bool] | None = None
        """The last step: its turn, and whether it took partitions or gave some up."""
        self._changes = 0  # written in the caller's thread
        self._changes_heard = 0  # written on the loop
        self.completed = 0
        """How often partitions have been taken."""

    def next_step(self) -> Step | None:
        """What the caller has to do now; raises what has ended the membership for good, at every `poll()`."""
        if not self._subscription.is_automatic or self._changes != self._changes_heard:
            return None
        try:
            step = self._membership.next_step(self._held())
        except Exception:
            self._tell_caller()
            raise
        if (
            step is None or (step.turn, step.kind is StepKind.ADD) == self._finished
        ):  # of which the loop may not have heard yet
            return None
        self._tell_caller()  # whatever happens on the way, the next poll() goes on
        return step

    def subscription_changed(self) -> None:
        """The caller has subscribed anew: what the membership has for the old subscription is not taken any more."""
        self._changes += 1

    def subscription_heard(self) -> None:
        """The membership has heard of one such change; called on the loop."""
        self._changes_heard += 1
        self._tell_caller()

    def take_ahead(self, metadata_version: int) -> None:
        """Without a group: take the partitions that are known before `poll()` tells the listener of them.

        So a program may seek and pause before it polls first. What goes is left to `poll()` where a listener is to hear
        of it.

        Arguments:
            metadata_version: with the same one there is nothing new.
        """
        if self._taken_at == (metadata_version, self._changes):
            return
        held = self._held()
        step = self._membership.next_step(held)
        if step is not None and step.kind is StepKind.REVOKE and self._subscription.listener_for(False) is None:
            held -= step.partitions
            step = self._membership.next_step(held)
        if step is not None and step.kind is StepKind.ADD:
            self._reassign(held | step.partitions)
            self._untold = step.partitions
        self._taken_at = metadata_version, self._changes

    def leave_step(self) -> Step | None:
        """What the caller has to do before it gives everything up by itself; None: it has nothing of a subscription."""
        held = self._held()
        return self._membership.leave_step(held) if held and self._subscription.is_automatic else None

    def begin(self, step: Step) -> None:
        """Before the listener is called: what is added is assigned by then, so that the listener can seek."""
        if step.kind is StepKind.ADD:
            self._reassign(self._held() | step.partitions)
            self._untold = frozenset()

    def finish(self, step: Step) -> None:
        """After the listener was called, whether it raised or not."""
        if step.kind is StepKind.ADD:
            self.completed += 1
        else:
            self._reassign(self._held() - step.partitions)
        self._submit(self._membership.step_done, step, self._held())
        if step.kind is StepKind.ADD:
            self._submit(self._find_positions)
        self._finished = step.turn, step.kind is StepKind.ADD  # an interrupt before this has the step carried out again

    def _held(self) -> frozenset[TopicPartition]:
        """The partitions that the listener has been told of."""
        return frozenset(self._subscription.assigned_partitions()) - self._untold
