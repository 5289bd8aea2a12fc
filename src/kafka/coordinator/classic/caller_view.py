"""The state of a member as the caller's thread sees it, and the step that the caller has to take next."""

from typing import NamedTuple

from kafka.coordinator.classic.rebalance_steps import RebalanceSteps
from kafka.coordinator.classic.state import MemberState
from kafka.coordinator.membership import Partitions, Step, StepKind
from kafka.errors import FencedInstanceIdError


class CallerView(NamedTuple):
    """A member at one moment: one object, so that what the caller reads belongs together.

    Arguments:
        number: counts the changes of state: the `Step.turn` of what is asked for in this one.
        state: the state.
        assignment: what the last round gave.
        lost: whether the partitions held may belong to other members already.
        fenced: what the coordinator said when another consumer took this one's instance id.
    """

    number: int = 0
    state: MemberState = MemberState.UNJOINED
    assignment: Partitions = frozenset()
    lost: bool = False
    fenced: FencedInstanceIdError | None = None

    def next_step(self, held: Partitions, topics: frozenset[str], steps: RebalanceSteps) -> Step | None:
        """See `Membership.next_step`, and `RebalanceSteps` for ``topics``."""
        match self.state:
            case MemberState.ADOPTING:
                return steps.adoption(self.assignment, held, self.number)
            case MemberState.UNJOINED | MemberState.FENCED if self.lost and held:
                return Step(StepKind.LOSE, held, self.number)
            case MemberState.UNJOINED if held:
                return Step(StepKind.REVOKE, held, self.number)
            case MemberState.UNJOINED | MemberState.REBALANCING:
                return steps.before_joining(held, topics, self.number)
            case MemberState.FENCED:
                assert self.fenced is not None
                raise FencedInstanceIdError(*self.fenced.args) from self.fenced
        return None
