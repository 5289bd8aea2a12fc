"""A group of the type "consumer" (KIP-848): its members, their target assignments, and the steps towards them.

When members, subscriptions or topics change, the group gets a new epoch and new target assignments. A member revokes
the partitions that are not in its target, confirms the revocation with a heartbeat, and gets its new partitions as soon
as no other member owns them. The assignors in `ASSIGNORS` compute the targets.
Counterpart: Kafka's ConsumerGroup, TargetAssignmentBuilder, CurrentAssignmentBuilder, and UniformAssignor and
RangeAssignor without racks. If several members could keep a partition, "uniform" may choose a different one than Kafka.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple
from uuid import UUID

from kafka.broker.clock import Timer
from kafka.broker.error_codes import ErrorCode, RequestFailed

LEAVE_EPOCH = -1
LEAVE_STATIC_EPOCH = -2
"""Epoch of a static member that will return (KIP-345). The member keeps its partitions while it is away."""

TopicPartition = tuple[UUID, int]
Subscriptions = Mapping[str, frozenset[UUID]]
"""The topics that each member subscribes to."""
Assignments = dict[str, set[TopicPartition]]
Assignor = Callable[[Subscriptions, Mapping[UUID, int], Mapping[str, set[TopicPartition]]], Assignments]
"""Computes assignments from the subscriptions, the number of partitions of each topic, and the previous assignments."""


def assign_uniform(
    wanted: Subscriptions, counts: Mapping[UUID, int], before: Mapping[str, set[TopicPartition]]
) -> Assignments:
    """Assign partitions as evenly as the subscriptions allow. Members keep their partitions if possible."""
    held: Assignments = {member: set() for member in wanted}
    free = {(topic, number) for topic, count in counts.items() for number in range(count)}
    for member in sorted(wanted):
        kept = {tp for tp in before.get(member, set()) if tp in free and tp[0] in wanted[member]}
        held[member] = kept
        free -= kept
    for tp in sorted(free):
        takers = [member for member in held if tp[0] in wanted[member]]
        if takers:
            held[min(takers, key=lambda member: (len(held[member]), member))].add(tp)
    while _move_one(wanted, held):
        pass
    return held


def _move_one(wanted: Subscriptions, held: Assignments) -> bool:
    """Move one partition to a member that has at least two fewer; return False if no such move exists.

    Each move reduces the sum of the squared partition counts, so repeated moves terminate.
    """
    for giver in sorted(held, key=lambda member: (-len(held[member]), member)):
        for tp in sorted(held[giver], reverse=True):
            takers = [member for member in held if tp[0] in wanted[member] and len(held[giver]) - len(held[member]) > 1]
            if takers:
                held[giver].remove(tp)
                held[min(takers, key=lambda member: (len(held[member]), member))].add(tp)
                return True
    return False


def assign_range(
    wanted: Subscriptions, counts: Mapping[UUID, int], before: Mapping[str, set[TopicPartition]]
) -> Assignments:
    """Assign consecutive partitions of each topic, so that topics with equal partition counts are co-partitioned."""
    held: Assignments = {member: set() for member in wanted}
    for topic, count in counts.items():
        members = sorted(member for member in wanted if topic in wanted[member])
        number = 0
        for place, member in enumerate(members):
            share = count // len(members) + (place < count % len(members))
            held[member] |= {(topic, each) for each in range(number, number + share)}
            number += share
    return held


ASSIGNORS: Final[Mapping[str, Assignor]] = {"uniform": assign_uniform, "range": assign_range}
"""Assignors by name; the first is the default."""


class ConsumerGroupState(Enum):
    """A state of a consumer group; the value is Kafka's name for it."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


@dataclass(slots=True, eq=False)
class ConsumerMember:
    """A member of a consumer group. Times are in milliseconds.

    Attributes:
        epoch: the epoch of the target that the member has reached or is moving to.
        assigned: the partitions that the member may own.
        revoking: the partitions that the member must revoke and has not confirmed yet.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rack_id: str | None = None
    topics: frozenset[str] = frozenset()
    regex: str | None = None
    server_assignor: str | None = None
    rebalance_timeout_ms: int = 0
    epoch: int = 0
    previous_epoch: int = -1
    assigned: set[TopicPartition] = field(default_factory=set)
    revoking: set[TopicPartition] = field(default_factory=set)
    waits: bool = False
    """Whether partitions in this member's target must still be revoked by other members."""
    session: Timer | None = field(default=None, repr=False)
    rebalance: Timer | None = field(default=None, repr=False)

    def stop(self) -> None:
        """Cancel the member's timers."""
        for timer in (self.session, self.rebalance):
            if timer is not None:
                timer.cancel()
        self.session = self.rebalance = None

    @property
    def is_away(self) -> bool:
        """Whether this is a static member that has left and will return."""
        return self.epoch == LEAVE_STATIC_EPOCH


class Basis(NamedTuple):
    """The input from which a target was computed."""

    subscriptions: Mapping[str, tuple[frozenset[str], str | None]]
    counts: Mapping[UUID, int]
    assignor: str


class ConsumerGroup:
    """The state of a group of the type "consumer"."""

    def __init__(self) -> None:
        self.epoch = 0
        self.target_epoch = 0
        self.assignor = next(iter(ASSIGNORS))
        self.members: dict[str, ConsumerMember] = {}
        self.targets: dict[str, set[TopicPartition]] = {}
        self.basis: Basis | None = None

    @property
    def state(self) -> ConsumerGroupState:
        """The group's state."""
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.epoch > self.target_epoch:
            return ConsumerGroupState.ASSIGNING
        if all(one.is_away or self._is_settled(one) for one in self.members.values()):
            return ConsumerGroupState.STABLE
        return ConsumerGroupState.RECONCILING

    def _is_settled(self, member: ConsumerMember) -> bool:
        return member.epoch == self.target_epoch and not member.revoking and not member.waits

    def target(self, member: ConsumerMember) -> set[TopicPartition]:
        """Return the target assignment of a member."""
        return self.targets.get(member.member_id, set())

    def static_member(self, instance_id: str) -> ConsumerMember | None:
        """Return the member with this instance id."""
        return next((one for one in self.members.values() if one.instance_id == instance_id), None)

    def member(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        """Return the member with this id; if `instance_id` is set, it must be that static member."""
        if instance_id is not None:
            static = self.static_member(instance_id)
            if static is not None and static.member_id != member_id:
                raise RequestFailed(
                    ErrorCode.FENCED_INSTANCE_ID, f"Another member has replaced static member {instance_id}."
                )
        member = self.members.get(member_id)
        if member is None or (instance_id is not None and member.instance_id != instance_id):
            raise RequestFailed(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of the group.")
        return member

    def remove(self, member: ConsumerMember) -> None:
        """Remove a member; its partitions are reassigned with the next target."""
        member.stop()
        del self.members[member.member_id]
        self.targets.pop(member.member_id, None)

    def replace(self, old: ConsumerMember, new: ConsumerMember) -> None:
        """Replace a static member that has left with the returning one."""
        old.stop()
        self.targets[new.member_id] = self.targets.pop(old.member_id, set())
        self.members = {
            (new if one is old else one).member_id: new if one is old else one for one in self.members.values()
        }
        if self.basis is not None and old.member_id in self.basis.subscriptions:  # only the id is new
            subscriptions = dict(self.basis.subscriptions)
            subscriptions[new.member_id] = subscriptions.pop(old.member_id)
            self.basis = self.basis._replace(subscriptions=subscriptions)
        new.assigned, new.topics, new.regex = old.assigned, old.topics, old.regex
        new.server_assignor, new.previous_epoch = old.server_assignor, LEAVE_STATIC_EPOCH

    # -- targets ------------------------------------------------------------------------------------------------------

    def assign(self, topics: Mapping[str, tuple[UUID, int]]) -> None:
        """Compute new targets if members, subscriptions or topics have changed.

        `topics` contains the id and partition count of each existing topic.
        """
        wanted = {name: _matched(member, topics) for name, member in self.members.items()}
        counts = {topics[name][0]: topics[name][1] for each in wanted.values() for name in each}
        assignor = self._chosen()
        basis = Basis({name: (one.topics, one.regex) for name, one in self.members.items()}, counts, assignor)
        if basis == self.basis:
            return
        self.basis = basis
        self.epoch += 1
        by_id = {name: frozenset(topics[each][0] for each in names) for name, names in wanted.items()}
        self.targets = ASSIGNORS[assignor](by_id, counts, self.targets)
        self.assignor, self.target_epoch = assignor, self.epoch

    def _chosen(self) -> str:
        """Return the assignor that most members request."""
        votes = Counter(one.server_assignor for one in self.members.values() if one.server_assignor is not None)
        return votes.most_common(1)[0][0] if votes else next(iter(ASSIGNORS))

    # -- reconciliation -----------------------------------------------------------------------------------------------

    def reconcile(self, member: ConsumerMember, owned: set[TopicPartition] | None) -> None:
        """Move a member towards its target. `owned` is the set of partitions that it reports as owned, or None."""
        if member.revoking and (owned is None or owned & member.revoking):
            return
        member.revoking = set()
        if member.epoch == self.target_epoch and not member.waits:
            return
        target = self.target(member)
        kept, gone = member.assigned & target, member.assigned - target
        if gone and (owned is None or owned & gone):
            member.assigned, member.revoking = kept, gone
            return
        others = {tp for one in self.members.values() if one is not member for tp in (*one.assigned, *one.revoking)}
        member.assigned = kept | (target - others)
        member.waits = bool(target & others)
        if member.epoch != self.target_epoch:
            member.previous_epoch, member.epoch = member.epoch, self.target_epoch


def _matched(member: ConsumerMember, topics: Iterable[str]) -> frozenset[str]:
    """Return the existing topics to which a member subscribes."""
    named = member.topics.intersection(topics)
    if not member.regex:
        return named
    pattern = re.compile(member.regex)
    return named.union(name for name in topics if pattern.fullmatch(name))


def check_regex(regex: str | None) -> None:
    """Raise `RequestFailed` with INVALID_REGULAR_EXPRESSION for an invalid regular expression."""
    try:
        re.compile(regex or "")
    except (re.error, OverflowError, RecursionError) as error:
        raise RequestFailed(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{regex!r} is not valid: {error}") from error
