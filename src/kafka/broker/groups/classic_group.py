"""One group: its members, its generation and the protocol they agreed on. `rebalance` decides what happens when."""

from collections import Counter

from kafka.broker.clock import Timer
from kafka.broker.groups.consumer_group import ConsumerGroup
from kafka.broker.groups.group_state import GroupState, StateMachine
from kafka.broker.groups.member import JoinedMember, JoinRequest, Member
from kafka.broker.groups.offsets import GroupOffsets, Offsets


class Group:
    """The state of a group. Members are in the order in which they joined, and the first is the leader.

    A group of the type "consumer" has its members in `consumer`; its offsets are kept as in any other group.
    """

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.generation_id = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.pending: dict[str, Timer] = {}
        """Member ids that were assigned but have not joined yet, with the timers that expire them."""
        self.stored = GroupOffsets()
        self.consumer: ConsumerGroup | None = None
        self.rebalance_timer: Timer | None = None
        self.initial_join = False
        """Whether the rebalance started with an empty group and its initial delay has not passed yet."""
        self._static: dict[str, str] = {}
        self._machine = StateMachine()

    @property
    def state(self) -> GroupState:
        """The group's state."""
        return self._machine.state

    def move(self, target: GroupState) -> None:
        """Change the state; the state table must allow it."""
        self._machine.move(target)

    @property
    def type_name(self) -> str:
        """Kafka's name for its type."""
        return "classic" if self.consumer is None else "consumer"

    @property
    def state_name(self) -> str:
        """Kafka's name for its state."""
        return self.state.value if self.consumer is None else self.consumer.state.value

    @property
    def is_empty(self) -> bool:
        """Whether it has no members and none is about to join."""
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
        """Remove a member; if it was the leader, the next one becomes leader."""
        del self.members[member.member_id]
        if member.group_instance_id is not None and self._static.get(member.group_instance_id) == member.member_id:
            del self._static[member.group_instance_id]
        if self.leader == member.member_id:
            self.leader = next(iter(self.members), None)

    def replace_static(self, old: Member, new_id: str) -> None:
        """Give the returning static member `old` its new id (KIP-345), keeping its place among the members."""
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
        """How long a rebalance waits for members: the largest rebalance timeout of any member."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def all_have_joined(self) -> bool:
        """Whether all members have joined this rebalance."""
        return not self.pending and all(member.answer_join is not None for member in self.members.values())

    # -- protocols ----------------------------------------------------------------------------------------------------

    def accepts(self, request: JoinRequest) -> bool:
        """Whether all members, including the joining one, support a common protocol."""
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
        """End the rebalance: increment the generation and select the protocol that most members prefer."""
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
        """Return the members with their subscriptions, for the leader."""
        return [
            JoinedMember(one.member_id, one.group_instance_id, one.metadata(self.protocol_name))
            for one in self.members.values()
        ]
