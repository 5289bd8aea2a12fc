"""What the caller's thread has to do for the group, step by step; the faces carry the steps out (D10 of the design)."""

import enum
from collections.abc import Callable, Iterable
from typing import NamedTuple

from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.coordinator.member import GroupMember
from kafka.coordinator.state import MemberState
from kafka.structs import TopicPartition


class StepKind(enum.Enum):
    """What a step does; the listener is called in between beginning and finishing it."""

    GIVE_UP = "commit, call on_partitions_revoked, join"
    LOSE = "call on_partitions_lost, join"
    TAKE_OVER = "assign, call on_partitions_assigned, fetch"


class Step(NamedTuple):
    """A step.

    Arguments:
        kind: what to do.
        partitions: which the listener is told of.
        turn: the change of state that asked for it; each asks once.
    """

    kind: StepKind
    partitions: frozenset[TopicPartition]
    turn: int


class Rebalance:
    """Decides on the steps. Belongs to the caller's thread, but for `member_moved`.

    Arguments:
        member: the membership.
        subscription: what is assigned.
        submit: has a function run on the loop.
        reassign: takes the group's partitions in place of what was assigned.
        find_positions: run on the loop after partitions were taken over.
    """

    def __init__(
        self,
        member: GroupMember,
        subscription: SubscriptionState,
        submit: Callable[..., None],
        reassign: Callable[[Iterable[TopicPartition]], None],
        find_positions: Callable[[], None],
    ) -> None:
        self._member = member
        self._subscription = subscription
        self._submit = submit
        self._reassign = reassign
        self._find_positions = find_positions
        self._turn = 0
        self._turn_done = -1
        self.completed = 0
        """How many assignments have been taken over."""

    def member_moved(self) -> None:
        """The member's state has changed; called on the loop."""
        self._turn += 1

    def ask_again(self) -> None:
        """The subscription has changed: what was done for the present state counts no more."""
        self._turn_done = -1

    def next_step(self) -> Step | None:
        """What the caller has to do now."""
        turn = self._turn  # before the state: a change in between makes for another turn
        if turn == self._turn_done or not self._subscription.is_automatic:
            return None
        state, lost = self._member.state, self._member.lost
        held = frozenset(self._subscription.assigned_partitions())
        if state is MemberState.ADOPTING:
            return Step(StepKind.TAKE_OVER, frozenset(self._member.assignment), turn)
        if state is MemberState.UNJOINED and lost and held:
            return Step(StepKind.LOSE, held, turn)
        if state in (MemberState.UNJOINED, MemberState.REBALANCING):
            return Step(StepKind.GIVE_UP, held, turn)
        return None

    def begin(self, step: Step) -> None:
        """Before the listener is called: what is taken over is assigned by then, so that the listener can seek."""
        if step.kind is StepKind.TAKE_OVER:
            self._reassign(step.partitions)

    def finish(self, step: Step) -> None:
        """After the listener was called, whether it raised or not."""
        self._turn_done = step.turn
        if step.kind is StepKind.TAKE_OVER:
            self.completed += 1
            self._submit(self._member.adopt)
            self._submit(self._find_positions)
        else:
            self._reassign(())
            self._submit(self._member.start_join)
