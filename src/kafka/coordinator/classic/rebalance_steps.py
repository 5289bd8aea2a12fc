"""What a member does with its partitions before and after joining: `EagerSteps`, or `CooperativeSteps` (KIP-429)."""

from typing import Protocol

from kafka.coordinator.assignors.abstract import RebalanceProtocol
from kafka.coordinator.membership import Partitions, Step, StepKind, step_towards


class RebalanceSteps(Protocol):
    """The steps of one `RebalanceProtocol`."""

    def before_joining(self, held: Partitions, topics: frozenset[str], turn: int) -> Step:
        """What to do before JoinGroup is sent.

        Arguments:
            held: the partitions that the caller has.
            topics: what it is subscribed to.
            turn: see `Step`.
        """

    def adoption(self, assignment: Partitions, held: Partitions, turn: int) -> Step:
        """How to adopt an assignment, which may need a REVOKE before the ADD that ends it."""


class EagerSteps:
    """A member gives everything up before it joins, and adds what it is assigned."""

    def before_joining(self, held: Partitions, topics: frozenset[str], turn: int) -> Step:
        """See `RebalanceSteps`."""
        return Step(StepKind.REVOKE, held, turn)

    def adoption(self, assignment: Partitions, held: Partitions, turn: int) -> Step:
        """See `RebalanceSteps`."""
        return Step(StepKind.ADD, assignment, turn)


class CooperativeSteps:
    """A member keeps its partitions, except those of unwanted topics, until they are assigned to others."""

    def before_joining(self, held: Partitions, topics: frozenset[str], turn: int) -> Step:
        """See `RebalanceSteps`."""
        unwanted = frozenset(tp for tp in held if tp.topic not in topics)
        return Step(StepKind.REVOKE if unwanted else StepKind.KEEP, unwanted, turn)

    def adoption(self, assignment: Partitions, held: Partitions, turn: int) -> Step:
        """See `RebalanceSteps`."""
        return step_towards(assignment, held, turn)


def steps_of(protocol: RebalanceProtocol) -> RebalanceSteps:
    """The steps of a protocol."""
    return CooperativeSteps() if protocol is RebalanceProtocol.COOPERATIVE else EagerSteps()
