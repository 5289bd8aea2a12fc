"""The state of a member as the caller's thread sees it, and the step that the caller has to take next."""

from typing import NamedTuple

from kafka.coordinator.consumer_group.state import MemberState
from kafka.coordinator.membership import Partitions, Step, StepKind, step_towards
from kafka.errors import KafkaError


class CallerView(NamedTuple):
    """A member at one moment: one object, so that what the caller reads belongs together.

    Arguments:
        number: counts the changes: the `Step.turn` of what is asked for in this one.
        state: the state.
        target: what to take over, None: nothing.
        fatal: why the coordinator refuses this member.
    """

    number: int = 0
    state: MemberState = MemberState.UNSUBSCRIBED
    target: Partitions | None = None
    fatal: KafkaError | None = None

    def next_step(self, held: Partitions) -> Step | None:
        """See `Membership.next_step`."""
        match self.state:
            case MemberState.RECONCILING if self.target is not None:
                return step_towards(self.target, held, self.number)
            case MemberState.FENCED | MemberState.STALE | MemberState.FATAL if held:
                return Step(StepKind.LOSE, held, self.number)
            case MemberState.UNSUBSCRIBED if held:
                return Step(StepKind.REVOKE, held, self.number)
            case MemberState.UNSUBSCRIBED | MemberState.FENCED | MemberState.STALE:
                return Step(StepKind.KEEP, frozenset(), self.number)
            case MemberState.FATAL:
                assert self.fatal is not None
                raise type(self.fatal)(*self.fatal.args) from self.fatal
        return None
