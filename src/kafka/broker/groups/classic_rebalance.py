"""Rebalances of classic groups: which members must rejoin, when a rebalance ends, and when a session expires.

The joining phase (PREPARING_REBALANCE) ends as soon as every member has joined, or on timeout. Members that have not
joined by then are removed, except static members, which keep their place until their session expires. Then all joined
members get their responses, and the assignment phase (COMPLETING_REBALANCE) ends with the leader's SyncGroup.
"""

from collections.abc import Callable
from typing import Final

from kafka.broker.clock import Clock
from kafka.broker.error_codes import ErrorCode
from kafka.broker.groups.classic_group import Group, GroupState, JoinRequest, JoinResult, Member, SyncResult

AnswerJoin = Callable[[JoinResult], None]

JOIN_TIMEOUT_S: Final = 300.0
"""Maximum duration of a new member's first rebalance, during which it cannot send heartbeats."""


class ClassicRebalances:
    """Runs the rebalances of all groups. The first rebalance of an empty group waits at least `initial_delay_ms`."""

    def __init__(self, clock: Clock, initial_delay_ms: int) -> None:
        self._clock = clock
        self._initial_delay_s = initial_delay_ms / 1000

    # -- members ------------------------------------------------------------------------------------------------------

    def add(self, group: Group, member: Member, answer: AnswerJoin) -> None:
        """Add a new member and start a rebalance."""
        member.answer_join = answer
        group.add(member)
        self._watch(group, member, JOIN_TIMEOUT_S)
        self.prepare(group)

    def rejoin(self, group: Group, member: Member, request: JoinRequest, answer: AnswerJoin) -> None:
        """Let a member rejoin with new protocols. Starts a rebalance if none is running."""
        self.update(member, request)
        member.finish_join(JoinResult(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id))
        member.answer_join = answer
        self.prepare(group)

    @staticmethod
    def update(member: Member, request: JoinRequest) -> None:
        """Update a member's protocols and timeouts from its request."""
        member.protocols = request.protocols
        member.session_timeout_ms = request.session_timeout_ms
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
        member.client_id, member.client_host = request.client_id, request.client_host

    def remove(self, group: Group, member: Member) -> None:
        """Remove a member, and start a rebalance that reassigns its partitions."""
        if member.timer is not None:
            member.timer.cancel()
        member.finish_join(JoinResult(ErrorCode.UNKNOWN_MEMBER_ID, ""))
        member.finish_sync(SyncResult(ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member)
        self.prepare(group)

    def add_pending(self, group: Group, member_id: str, session_timeout_ms: int) -> None:
        """Expect a member to join with the member id assigned to it."""
        group.pending[member_id] = self._clock.call_later(
            session_timeout_ms / 1000, lambda: self.remove_pending(group, member_id)
        )

    def remove_pending(self, group: Group, member_id: str) -> None:
        """Stop expecting a member to join."""
        timer = group.pending.pop(member_id, None)
        if timer is not None:
            timer.cancel()
            self.try_complete(group)

    # -- rebalances ---------------------------------------------------------------------------------------------------

    def prepare(self, group: Group) -> None:
        """Start a rebalance if none is running. If all members have joined, end the rebalance at once."""
        if group.state is GroupState.DEAD:
            return
        if group.state is not GroupState.PREPARING_REBALANCE:
            self._begin(group)
        self.try_complete(group)

    def _begin(self, group: Group) -> None:
        self._cancel_timer(group)
        for member in group.members.values():
            member.assignment = b""
            member.finish_sync(SyncResult(ErrorCode.REBALANCE_IN_PROGRESS))
        group.initial_join = group.state is GroupState.EMPTY and self._initial_delay_s > 0
        group.move(GroupState.PREPARING_REBALANCE)
        delay = self._initial_delay_s if group.initial_join else group.rebalance_timeout_ms / 1000
        group.rebalance_timer = self._clock.call_later(delay, lambda: self._time_is_up(group))

    def stop(self, group: Group) -> None:
        """Cancel all timers of a group when the broker stops."""
        self._cancel_timer(group)
        waiting = [*group.pending.values(), *(member.timer for member in group.members.values())]
        group.pending.clear()
        for timer in waiting:
            if timer is not None:
                timer.cancel()

    @staticmethod
    def _cancel_timer(group: Group) -> None:
        if group.rebalance_timer is not None:
            group.rebalance_timer.cancel()
            group.rebalance_timer = None

    def try_complete(self, group: Group) -> None:
        """End the joining phase if all members have joined."""
        if group.state is GroupState.PREPARING_REBALANCE and not group.initial_join and group.all_have_joined:
            self._complete(group)

    def _time_is_up(self, group: Group) -> None:
        group.rebalance_timer = None
        if group.initial_join:
            group.initial_join = False
            if not group.all_have_joined:
                group.rebalance_timer = self._clock.call_later(
                    group.rebalance_timeout_ms / 1000, lambda: self._time_is_up(group)
                )
                return
        missing = [one for one in group.members.values() if one.answer_join is None and one.group_instance_id is None]
        self._drop(missing, group)
        self._complete(group)

    def _complete(self, group: Group) -> None:
        self._cancel_timer(group)
        joined = [member for member in group.members.values() if member.answer_join is not None]
        if group.members and not joined:
            # Only static members are left, and none has rejoined yet: keep their places until the next timeout.
            group.rebalance_timer = self._clock.call_later(
                group.rebalance_timeout_ms / 1000, lambda: self._time_is_up(group)
            )
            return
        if joined and group.leader not in {member.member_id for member in joined}:
            group.leader = joined[0].member_id
        group.next_generation()
        members = group.joined_members()
        for member in joined:
            self._watch(group, member, member.session_timeout_ms / 1000)
            member.finish_join(
                JoinResult(
                    ErrorCode.NONE,
                    member.member_id,
                    group.generation_id,
                    group.protocol_type,
                    group.protocol_name,
                    group.leader or "",
                    members if member.member_id == group.leader else (),
                )
            )
        if group.state is GroupState.COMPLETING_REBALANCE:
            generation = group.generation_id
            group.rebalance_timer = self._clock.call_later(
                group.rebalance_timeout_ms / 1000, lambda: self._sync_is_late(group, generation, joined)
            )

    def _sync_is_late(self, group: Group, generation: int, joined: list[Member]) -> None:
        """Remove members that have joined but have not sent their SyncGroup request in time."""
        if group.generation_id != generation or group.state is not GroupState.COMPLETING_REBALANCE:
            return
        late = [member for member in joined if member.answer_sync is None]
        self._drop([member for member in late if group.members.get(member.member_id) is member], group)
        self.prepare(group)

    @staticmethod
    def _drop(members: list[Member], group: Group) -> None:
        for member in members:
            if member.timer is not None:
                member.timer.cancel()
            group.remove(member)

    def assign(self, group: Group, assignments: dict[str, bytes]) -> None:
        """Send the leader's assignment to the members, which ends the rebalance."""
        self._cancel_timer(group)
        group.move(GroupState.STABLE)
        for member in group.members.values():
            member.assignment = assignments.get(member.member_id, b"")
            if member.answer_sync is not None:
                self.touch(member)
                member.finish_sync(
                    SyncResult(ErrorCode.NONE, group.protocol_type, group.protocol_name, member.assignment)
                )

    # -- sessions -----------------------------------------------------------------------------------------------------

    def touch(self, member: Member) -> None:
        """Restart the member's session."""
        member.deadline = self._clock.time() + member.session_timeout_ms / 1000

    def _watch(self, group: Group, member: Member, seconds: float) -> None:
        """Start a member's session timer. A heartbeat moves only the deadline, which the timer checks when it fires."""
        member.deadline = self._clock.time() + seconds
        if member.timer is not None:
            member.timer.cancel()
        member.timer = self._clock.call_later(seconds, lambda: self._session_may_be_over(group, member))

    def _session_may_be_over(self, group: Group, member: Member) -> None:
        left = member.deadline - self._clock.time()
        if group.members.get(member.member_id) is not member:
            return
        if member.is_waiting and left <= 0:
            left = member.session_timeout_ms / 1000
        if left > 0:
            member.timer = self._clock.call_later(left, lambda: self._session_may_be_over(group, member))
        else:
            self.remove(group, member)
