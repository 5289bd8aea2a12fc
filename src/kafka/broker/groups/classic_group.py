"""A classic group: its members, its state, its generation, and the protocol that the members agreed on.

`classic_rebalance` decides which members must rejoin, and when a rebalance ends.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from kafka.broker.clock import Timer
from kafka.broker.error_codes import ErrorCode
from kafka.broker.groups.consumer_group import ConsumerGroup
from kafka.broker.groups.group_offsets import GroupOffsets, Offsets


class Protocol(NamedTuple):
    """An assignor that a member supports, and the member's subscription for it."""

    name: str
    metadata: bytes


class JoinedMember(NamedTuple):
    """A member in the response to the leader."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinResult(NamedTuple):
    """The response to a JoinGroup request."""

    error: ErrorCode
    member_id: str
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    members: Sequence[JoinedMember] = ()
    skip_assignment: bool = False


class SyncResult(NamedTuple):
    """The response to a SyncGroup request."""

    error: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class JoinRequest(NamedTuple):
    """A JoinGroup request. Times are in milliseconds."""

    group_id: str
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: tuple[Protocol, ...]
    requires_known_member_id: bool
    """From version 4 on a new member first gets its id from the coordinator, then joins with it (KIP-394)."""
    supports_skipping_assignment: bool
    """From version 9 on a leader can be told to skip the assignment (KIP-814)."""


@dataclass(slots=True, eq=False)
class Member:
    """A member of a classic group; its session ends at `deadline` unless it sends another request first."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[Protocol, ...]
    assignment: bytes = b""
    deadline: float = 0.0
    timer: Timer | None = field(default=None, repr=False)
    answer_join: Callable[[JoinResult], None] | None = field(default=None, repr=False)
    answer_sync: Callable[[SyncResult], None] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, request: JoinRequest, member_id: str) -> "Member":
        """Create a member from its JoinGroup request."""
        return cls(
            member_id,
            request.group_instance_id,
            request.client_id,
            request.client_host,
            request.session_timeout_ms,
            request.rebalance_timeout_ms,
            request.protocols,
        )

    @property
    def is_waiting(self) -> bool:
        """Whether a response is pending. A waiting member counts as alive, as it cannot send heartbeats."""
        return self.answer_join is not None or self.answer_sync is not None

    def metadata(self, protocol_name: str | None) -> bytes:
        """Return the member's subscription for a protocol."""
        for protocol in self.protocols:
            if protocol.name == protocol_name:
                return protocol.metadata
        return b""

    def vote(self, candidates: set[str]) -> str:
        """Return the member's preferred protocol among `candidates`, all of which it supports."""
        return next(protocol.name for protocol in self.protocols if protocol.name in candidates)

    def finish_join(self, result: JoinResult) -> None:
        """Send the pending JoinGroup response, if any."""
        answer, self.answer_join = self.answer_join, None
        if answer is not None:
            answer(result)

    def finish_sync(self, result: SyncResult) -> None:
        """Send the pending SyncGroup response, if any."""
        answer, self.answer_sync = self.answer_sync, None
        if answer is not None:
            answer(result)


class GroupState(Enum):
    """A state of a classic group; the value is Kafka's name for it in requests and responses.

        EMPTY ──────▶ PREPARING_REBALANCE ──────▶ COMPLETING_REBALANCE ──────▶ STABLE
          ▲                │  ▲      ▲                     │                      │
          └────────────────┘  │      └─────────────────────┘                      │
           (no member joined) └───────────────────────────────────────────────────┘

    Every state can become DEAD.
    """

    EMPTY = "Empty"
    """There are no members, but there may be committed offsets."""
    PREPARING_REBALANCE = "PreparingRebalance"
    """Members must rejoin; the phase ends when all have joined, or on timeout."""
    COMPLETING_REBALANCE = "CompletingRebalance"
    """All members have joined; the leader's assignment is pending."""
    STABLE = "Stable"
    """Every member has its assignment."""
    DEAD = "Dead"
    """The group was deleted."""


_S = GroupState
FOLLOWERS: Final[Mapping[GroupState, frozenset[GroupState]]] = {
    _S.EMPTY: frozenset({_S.PREPARING_REBALANCE, _S.DEAD}),
    _S.PREPARING_REBALANCE: frozenset({_S.COMPLETING_REBALANCE, _S.EMPTY, _S.DEAD}),
    _S.COMPLETING_REBALANCE: frozenset({_S.STABLE, _S.PREPARING_REBALANCE, _S.DEAD}),
    _S.STABLE: frozenset({_S.PREPARING_REBALANCE, _S.DEAD}),
    _S.DEAD: frozenset(),
}


class StateMachine:
    """Holds a group's state, and allows only the transitions in `FOLLOWERS`."""

    __slots__ = ("_state",)

    def __init__(self) -> None:
        self._state = GroupState.EMPTY

    @property
    def state(self) -> GroupState:
        """The current state."""
        return self._state

    def move(self, target: GroupState) -> None:
        """Change the state. Raises RuntimeError for an unlisted transition, which is a bug in the broker."""
        if target not in FOLLOWERS[self._state]:
            raise RuntimeError(f"a group in state {self._state.value} cannot become {target.value}")
        self._state = target


class Group:
    """A group: its members, offsets and state.

    The members are in the order in which they joined; the first one is the leader. The members of a group of type
    "consumer" are in `consumer`; its offsets are stored like those of other groups.
    """

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.generation_id = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.pending: dict[str, Timer] = {}
        """Ids of members that have not joined with them yet, and the timers that expire them."""
        self.stored = GroupOffsets()
        self.consumer: ConsumerGroup | None = None
        self.rebalance_timer: Timer | None = None
        self.initial_join = False
        """Whether the rebalance started with an empty group, and its initial delay has not passed yet."""
        self._static: dict[str, str] = {}
        self._machine = StateMachine()

    @property
    def state(self) -> GroupState:
        """The group's state."""
        return self._machine.state

    def move(self, target: GroupState) -> None:
        """Change the state, if the state machine allows it."""
        self._machine.move(target)

    @property
    def type_name(self) -> str:
        """Kafka's name for the group's type."""
        return "classic" if self.consumer is None else "consumer"

    @property
    def state_name(self) -> str:
        """Kafka's name for the group's state."""
        return self.state.value if self.consumer is None else self.consumer.state.value

    @property
    def is_empty(self) -> bool:
        """Whether the group has no members, and no member is about to join."""
        if self.consumer is not None:
            return not self.consumer.members
        return self.state is GroupState.EMPTY and not self.pending

    @property
    def offsets(self) -> Offsets:
        """The committed offsets."""
        return self.stored.committed

    # -- members ------------------------------------------------------------------------------------------------------

    def add(self, member: Member) -> None:
        """Add a member."""
        if not self.members:
            self.leader = member.member_id
        self.members[member.member_id] = member
        if member.group_instance_id is not None:
            self._static[member.group_instance_id] = member.member_id

    def remove(self, member: Member) -> None:
        """Remove a member. If it was the leader, the next member becomes the leader."""
        del self.members[member.member_id]
        if member.group_instance_id is not None and self._static.get(member.group_instance_id) == member.member_id:
            del self._static[member.group_instance_id]
        if self.leader == member.member_id:
            self.leader = next(iter(self.members), None)

    def replace_static(self, old: Member, new_id: str) -> None:
        """Give the returning static member `old` a new id (KIP-345); it keeps its place among the members."""
        old_id, old.member_id = old.member_id, new_id
        self.members = {new_id if one == old_id else one: member for one, member in self.members.items()}
        if old.group_instance_id is not None:
            self._static[old.group_instance_id] = new_id
        if self.leader == old_id:
            self.leader = new_id

    def static_member_id(self, group_instance_id: str) -> str | None:
        """Return the current id of the static member `group_instance_id`."""
        return self._static.get(group_instance_id)

    @property
    def rebalance_timeout_ms(self) -> int:
        """Maximum time that a rebalance waits for members: the largest rebalance timeout of all members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def all_have_joined(self) -> bool:
        """Whether all members have joined this rebalance."""
        return not self.pending and all(member.answer_join is not None for member in self.members.values())

    # -- protocols ----------------------------------------------------------------------------------------------------

    def accepts(self, request: JoinRequest) -> bool:
        """Return whether all members, including the joining one, share at least one protocol."""
        if not request.protocol_type or not request.protocols:
            return False
        if self.state is GroupState.EMPTY:
            return True
        if request.protocol_type != self.protocol_type:
            return False
        offered = {protocol.name for protocol in request.protocols}
        return bool(offered & self._common()) if self.members else True

    def _common(self) -> set[str]:
        """Return the names of the protocols that every member supports."""
        return set.intersection(*({protocol.name for protocol in member.protocols} for member in self.members.values()))

    def next_generation(self) -> None:
        """End the rebalance: increment the generation, and select the protocol that most members prefer."""
        self.generation_id += 1
        if not self.members:
            self.protocol_name = None
            self.move(GroupState.EMPTY)
            return
        candidates = self._common()
        votes = Counter(member.vote(candidates) for member in self.members.values())
        self.protocol_name = votes.most_common(1)[0][0]
        self.move(GroupState.COMPLETING_REBALANCE)

    def joined_members(self) -> list[JoinedMember]:
        """Return the members and their subscriptions, for the leader."""
        return [
            JoinedMember(one.member_id, one.group_instance_id, one.metadata(self.protocol_name))
            for one in self.members.values()
        ]
