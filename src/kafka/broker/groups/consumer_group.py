"""A group of the type "consumer" (KIP-848): its members, what each shall have, and how they get there.

A change of members, subscriptions or topics makes a new group epoch, and a new target for everyone. A member gives up
what is not in its target, says so with a heartbeat, and then gets what is new as far as nobody else has it any more.
Counterpart: Kafka's ConsumerGroup, TargetAssignmentBuilder and CurrentAssignmentBuilder.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple
from uuid import UUID

from kafka.broker.clock import Timer
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups.consumer_assignors import ASSIGNORS, TopicPartition

LEAVE_EPOCH = -1
LEAVE_STATIC_EPOCH = -2
"""Of a static member that will be back (KIP-345): nobody else gets its partitions meanwhile."""


class ConsumerGroupState(Enum):
    """A state; the value is Kafka's name for it."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


@dataclass(slots=True, eq=False)
class ConsumerMember:
    """A member; times in milliseconds.

    Attributes:
        epoch: that of the target that it has reached, or is on its way to.
        assigned: what it may have.
        revoking: what it has to give up, and has not said that it did.
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
    """Whether others have yet to give up what is in its target."""
    session: Timer | None = field(default=None, repr=False)
    rebalance: Timer | None = field(default=None, repr=False)

    def stop(self) -> None:
        """Cancel its timers."""
        for timer in (self.session, self.rebalance):
            if timer is not None:
                timer.cancel()
        self.session = self.rebalance = None

    @property
    def is_away(self) -> bool:
        """Whether it is a static member that left, and will be back."""
        return self.epoch == LEAVE_STATIC_EPOCH


class Basis(NamedTuple):
    """What a target was made from."""

    subscriptions: Mapping[str, tuple[frozenset[str], str | None]]
    counts: Mapping[UUID, int]
    assignor: str


class ConsumerGroup:
    """See the module."""

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
        """What a member shall have."""
        return self.targets.get(member.member_id, set())

    def static_member(self, instance_id: str) -> ConsumerMember | None:
        """The member that has this instance id."""
        return next((one for one in self.members.values() if one.instance_id == instance_id), None)

    def member(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        """The member that says to be `member_id`, and the static member `instance_id` if that is given."""
        if instance_id is not None:
            static = self.static_member(instance_id)
            if static is not None and static.member_id != member_id:
                raise RequestFailed(ErrorCode.FENCED_INSTANCE_ID, f"Static member {instance_id} is another member now.")
        member = self.members.get(member_id)
        if member is None or (instance_id is not None and member.instance_id != instance_id):
            raise RequestFailed(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of the group.")
        return member

    def remove(self, member: ConsumerMember) -> None:
        """Let a member go; the others share what it had."""
        member.stop()
        del self.members[member.member_id]
        self.targets.pop(member.member_id, None)

    def replace(self, old: ConsumerMember, new: ConsumerMember) -> None:
        """Give the place of a static member that was away to the one that comes back."""
        old.stop()
        self.targets[new.member_id] = self.targets.pop(old.member_id, set())
        self.members = {
            (new if one is old else one).member_id: new if one is old else one for one in self.members.values()
        }
        if self.basis is not None and old.member_id in self.basis.subscriptions:  # a new id is no change
            subscriptions = dict(self.basis.subscriptions)
            subscriptions[new.member_id] = subscriptions.pop(old.member_id)
            self.basis = self.basis._replace(subscriptions=subscriptions)
        new.assigned, new.topics, new.regex = old.assigned, old.topics, old.regex
        new.server_assignor, new.previous_epoch = old.server_assignor, LEAVE_STATIC_EPOCH

    # -- targets ------------------------------------------------------------------------------------------------------

    def assign(self, topics: Mapping[str, tuple[UUID, int]]) -> None:
        """Make a new target where members, subscriptions or topics have changed.

        `topics` has the id and the number of partitions of each topic that is there.
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
        """The assignor that most members ask for."""
        votes = Counter(one.server_assignor for one in self.members.values() if one.server_assignor is not None)
        return votes.most_common(1)[0][0] if votes else next(iter(ASSIGNORS))

    # -- reconciling --------------------------------------------------------------------------------------------------

    def reconcile(self, member: ConsumerMember, owned: set[TopicPartition] | None) -> None:
        """Bring a member nearer to its target; `owned` is what it says that it has, None where it does not say."""
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
    """The topics that are there of those that a member subscribes to."""
    named = member.topics.intersection(topics)
    if not member.regex:
        return named
    pattern = re.compile(member.regex)
    return named.union(name for name in topics if pattern.fullmatch(name))


def check_regex(regex: str | None) -> None:
    """Raise `RequestFailed` with INVALID_REGULAR_EXPRESSION for what is none."""
    try:
        re.compile(regex or "")
    except (re.error, OverflowError, RecursionError) as error:
        raise RequestFailed(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{regex!r} is not valid: {error}") from error
