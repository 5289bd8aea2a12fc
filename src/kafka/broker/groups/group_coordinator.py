"""The group coordinator: validates requests from members against the state of their group.

`classic_rebalance` runs the rebalances of classic groups. `consumers` contains the members of groups of the type
"consumer", and validates their commits.

Counterpart: Kafka's classic group coordinator (JoinGroup, SyncGroup, Heartbeat and LeaveGroup as of KIP-62, static
members as of KIP-345, member ids assigned by the coordinator as of KIP-394).
"""

import random
import uuid
from collections.abc import Callable, Collection

from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.clock import Clock
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups.classic_group import Group, GroupState, JoinRequest, JoinResult, Member, SyncResult
from kafka.broker.groups.classic_rebalance import AnswerJoin, ClassicRebalances
from kafka.broker.groups.consumer_journal import ConsumerGroupJournal
from kafka.broker.groups.consumer_members import ConsumerMembers, Topics
from kafka.broker.groups.group_offsets import OffsetJournal, Offsets, PartitionKey
from kafka.broker.topic_store import offsets_partition

_E = ErrorCode
_S = GroupState
_GROUP_ERRORS_SINCE = 9
"""The first OffsetCommit version that reports unknown groups (KIP-848)."""


class GroupCoordinator:
    """All groups of the broker. Handles the requests of their members."""

    def __init__(
        self,
        clock: Clock,
        settings: BrokerSettings,
        journal: OffsetJournal,
        consumer_journal: ConsumerGroupJournal,
        randomness: random.Random,
        topics: Callable[[], Topics] = dict,
        session_timeout_ms: Callable[[str], int] | None = None,
    ) -> None:
        self.groups: dict[str, Group] = {}
        timeout = session_timeout_ms or (lambda group_id: settings.consumer_session_timeout_ms)
        self.consumers = ConsumerMembers(clock, timeout, randomness, self.groups, topics, consumer_journal)
        self._rebalances = ClassicRebalances(clock, settings.group_initial_rebalance_delay_ms)
        self._settings = settings
        self._journal = journal
        self._random = randomness
        for group_id, offsets in journal.load().items():
            self._group(group_id).stored = offsets

    def _group(self, group_id: str) -> Group:
        group = self.groups.get(group_id)
        if group is None:
            group = self.groups[group_id] = Group(group_id)
        return group

    # -- joining ------------------------------------------------------------------------------------------------------

    def join(self, request: JoinRequest, answer: AnswerJoin) -> None:
        """Handle a JoinGroup request. Calls `answer` once: at once for an error, otherwise when the rebalance ends."""
        try:
            self._join(request, answer)
        except RequestFailed as error:
            answer(JoinResult(error.code, request.member_id))

    def _join(self, request: JoinRequest, answer: AnswerJoin) -> None:
        if not request.group_id:
            raise RequestFailed(_E.INVALID_GROUP_ID)
        settings = self._settings
        low, high = settings.group_min_session_timeout_ms, settings.group_max_session_timeout_ms
        if not low <= request.session_timeout_ms <= high:
            raise RequestFailed(_E.INVALID_SESSION_TIMEOUT)
        if request.member_id and request.group_id not in self.groups:
            raise RequestFailed(_E.UNKNOWN_MEMBER_ID)
        group = self._group(request.group_id)
        self._make_classic(group)
        if not group.accepts(request):
            raise RequestFailed(_E.INCONSISTENT_GROUP_PROTOCOL)
        if group.state is _S.EMPTY:
            group.protocol_type = request.protocol_type
        if request.member_id:
            self._join_known(group, request, answer)
        elif request.group_instance_id is not None:
            self._join_static(group, request, answer)
        else:
            self._join_new(group, request, answer)

    def _make_classic(self, group: Group) -> None:
        """Convert an empty group of the type "consumer" to a classic group.

        Raises `RequestFailed` if it has members.
        """
        if group.consumer is not None:
            if group.consumer.members:
                raise RequestFailed(_E.INCONSISTENT_GROUP_PROTOCOL)
            self.consumers.forget(group.group_id)
            group.generation_id = max(group.generation_id, group.consumer.epoch)
            group.consumer = None

    def _new_member_id(self, start: str) -> str:
        return f"{start}-{uuid.UUID(int=self._random.getrandbits(128), version=4)}"

    def _join_new(self, group: Group, request: JoinRequest, answer: AnswerJoin) -> None:
        member_id = self._new_member_id(request.client_id)
        if request.requires_known_member_id:
            self._rebalances.add_pending(group, member_id, request.session_timeout_ms)
            answer(JoinResult(_E.MEMBER_ID_REQUIRED, member_id))
        else:
            self._rebalances.add(group, Member.of(request, member_id), answer)

    def _join_static(self, group: Group, request: JoinRequest, answer: AnswerJoin) -> None:
        member_id = self._new_member_id(request.group_instance_id or "")
        old_id = group.static_member_id(request.group_instance_id or "")
        if old_id is None:
            self._rebalances.add(group, Member.of(request, member_id), answer)
            return
        member, old_leader = group.members[old_id], group.leader
        member.finish_join(JoinResult(_E.FENCED_INSTANCE_ID, old_id))
        member.finish_sync(SyncResult(_E.FENCED_INSTANCE_ID))
        before = member.metadata(group.protocol_name)
        group.replace_static(member, member_id)
        self._rebalances.update(member, request)
        if group.state is not _S.STABLE or member.metadata(group.protocol_name) != before:
            self._rebalances.rejoin(group, member, request, answer)
            return
        # The static member returned without changes: it keeps its partitions, so no rebalance is necessary.
        self._rebalances.touch(member)
        leads = group.leader == member_id
        skips = leads and request.supports_skipping_assignment
        answer(
            JoinResult(
                _E.NONE,
                member_id,
                group.generation_id,
                group.protocol_type,
                group.protocol_name,
                (group.leader if request.supports_skipping_assignment else old_leader) or "",
                group.joined_members() if skips else (),
                skips,
            )
        )

    def _join_known(self, group: Group, request: JoinRequest, answer: AnswerJoin) -> None:
        if request.member_id in group.pending:
            group.pending.pop(request.member_id).cancel()
            self._rebalances.add(group, Member.of(request, request.member_id), answer)
            return
        member = self._member(group, request.member_id, request.group_instance_id)
        if group.state is _S.EMPTY:
            raise RequestFailed(_E.UNKNOWN_MEMBER_ID)
        unchanged = member.protocols == request.protocols
        settled = group.state is _S.COMPLETING_REBALANCE or (
            group.state is _S.STABLE and group.leader != member.member_id
        )
        if not (unchanged and settled):
            self._rebalances.rejoin(group, member, request, answer)
            return
        # The response to the member's first request was lost, so send it again.
        self._rebalances.touch(member)
        leads = group.leader == member.member_id
        answer(
            JoinResult(
                _E.NONE,
                member.member_id,
                group.generation_id,
                group.protocol_type,
                group.protocol_name,
                group.leader or "",
                group.joined_members() if leads else (),
            )
        )

    @staticmethod
    def _member(group: Group, member_id: str, group_instance_id: str | None) -> Member:
        """Return the member with this id; if `group_instance_id` is set, it must be that static member."""
        if group_instance_id is not None:
            current = group.static_member_id(group_instance_id)
            if current is None:
                raise RequestFailed(_E.UNKNOWN_MEMBER_ID)
            if current != member_id:
                raise RequestFailed(_E.FENCED_INSTANCE_ID)
        member = group.members.get(member_id)
        if member is None:
            raise RequestFailed(_E.UNKNOWN_MEMBER_ID)
        return member

    def _current_member(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int
    ) -> tuple[Group, Member]:
        group = self.groups.get(group_id)
        if group is None:
            raise RequestFailed(_E.UNKNOWN_MEMBER_ID if group_id else _E.INVALID_GROUP_ID)
        member = self._member(group, member_id, group_instance_id)
        if generation_id != group.generation_id:
            raise RequestFailed(_E.ILLEGAL_GENERATION)
        return group, member

    # -- members ------------------------------------------------------------------------------------------------------

    def sync(
        self,
        group_id: str,
        member_id: str,
        group_instance_id: str | None,
        generation_id: int,
        protocol: tuple[str | None, str | None],
        assignments: dict[str, bytes],
        answer: Callable[[SyncResult], None],
    ) -> None:
        """Handle a SyncGroup request. Calls `answer` once, when the assignment is available or for an error.

        `protocol` is the type and the name of the protocol that the member expects; each is None if the request does
        not contain it.
        """
        try:
            group, member = self._current_member(group_id, member_id, group_instance_id, generation_id)
            for said, agreed in zip(protocol, (group.protocol_type, group.protocol_name), strict=True):
                if said is not None and said != agreed:
                    raise RequestFailed(_E.INCONSISTENT_GROUP_PROTOCOL)
            if group.state is _S.PREPARING_REBALANCE:
                raise RequestFailed(_E.REBALANCE_IN_PROGRESS)
        except RequestFailed as error:
            answer(SyncResult(error.code))
            return
        self._rebalances.touch(member)
        if group.state is _S.STABLE:
            answer(SyncResult(_E.NONE, group.protocol_type, group.protocol_name, member.assignment))
            return
        member.answer_sync = answer
        if group.leader == member_id:
            self._rebalances.assign(group, assignments)

    def heartbeat(self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Handle a Heartbeat request.

        The result indicates whether the member may continue, must rejoin, or has been removed.
        """
        group, member = self._current_member(group_id, member_id, group_instance_id, generation_id)
        self._rebalances.touch(member)
        return _E.REBALANCE_IN_PROGRESS if group.state is _S.PREPARING_REBALANCE else _E.NONE

    def leave(self, group_id: str, member_id: str, group_instance_id: str | None) -> None:
        """Handle a LeaveGroup request for one member. A static member may be identified by its instance id alone."""
        group = self.groups.get(group_id)
        if group is None:
            raise RequestFailed(_E.UNKNOWN_MEMBER_ID if group_id else _E.INVALID_GROUP_ID)
        if group.consumer is not None:
            self.consumers.put_out(group_id, group.consumer, member_id, group_instance_id)
            return
        if group_instance_id is None and member_id in group.pending:
            self._rebalances.remove_pending(group, member_id)
            return
        if group_instance_id is not None and not member_id:
            member_id = group.static_member_id(group_instance_id) or ""
        self._rebalances.remove(group, self._member(group, member_id, group_instance_id))

    # -- offsets ------------------------------------------------------------------------------------------------------

    def check_commit(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int, version: int
    ) -> Group:
        """Return the group to which an OffsetCommit may write.

        A commit without a member id, from a consumer that assigns its own partitions, requires an empty group; its
        group id may be the empty string. A member must belong to the current generation.
        """
        group = self.groups.get(group_id)
        if group is None:
            if generation_id >= 0:
                raise RequestFailed(_E.ILLEGAL_GENERATION if version < _GROUP_ERRORS_SINCE else _E.GROUP_ID_NOT_FOUND)
            return self._group(group_id)
        if group.consumer is not None:
            self.consumers.check_commit(group.consumer, member_id, group_instance_id, generation_id, version)
            return group
        if generation_id < 0 and group.state is _S.EMPTY:
            return group
        group, member = self._current_member(group_id, member_id, group_instance_id, generation_id)
        if group.state is _S.COMPLETING_REBALANCE:
            raise RequestFailed(_E.REBALANCE_IN_PROGRESS)
        self._rebalances.touch(member)
        return group

    def check_transactional_commit(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int
    ) -> Group:
        """Return the group to which a TxnOffsetCommit may write (KIP-447).

        If the request identifies a member, its id and generation must be current. Requests without a member id are
        accepted, as older producers do not send one.
        """
        if not group_id:
            raise RequestFailed(_E.INVALID_GROUP_ID)
        group = self.groups.get(group_id)
        if group is None:
            if generation_id >= 0:
                raise RequestFailed(_E.ILLEGAL_GENERATION)
            return self._group(group_id)
        if group.consumer is not None:
            self.consumers.check_transactional_commit(group.consumer, member_id, group_instance_id, generation_id)
            return group
        names_a_member = generation_id >= 0 or member_id or group_instance_id is not None
        if names_a_member and not (generation_id < 0 and group.state is _S.EMPTY):
            self._current_member(group_id, member_id, group_instance_id, generation_id)
        return group

    def commit(self, group: Group, offsets: Offsets) -> None:
        """Store offsets durably, then make them visible. Raises OSError if storing them fails."""
        self._journal.commit(group.group_id, offsets)
        group.stored.commit(offsets)

    def commit_pending(self, group: Group, producer_id: int, offsets: Offsets) -> None:
        """Store offsets that become visible when the producer's transaction is committed. Raises OSError."""
        self._journal.commit_pending(group.group_id, producer_id, offsets)
        group.stored.commit_pending(producer_id, offsets)

    def end_pending(self, producer_id: int, committed: bool, partitions: Collection[int]) -> None:
        """End a producer's transaction in the groups of the given partitions of __consumer_offsets. Raises OSError."""
        for group in tuple(self.groups.values()):
            if group.stored.has_pending(producer_id) and offsets_partition(group.group_id) in partitions:
                self._journal.end_pending(group.group_id, producer_id, committed)
                group.stored.end_pending(producer_id, committed)

    def delete_offsets(self, group: Group, partitions: Collection[PartitionKey]) -> None:
        """Delete committed and pending offsets for partitions."""
        known = sorted(group.stored.partitions().intersection(partitions))
        self._journal.delete(group.group_id, known)
        group.stored.delete(known)

    def forget_topic(self, topic: str) -> None:
        """Delete all offsets for a deleted topic."""
        for group in self.groups.values():
            gone = [one for one in group.stored.partitions() if one[0] == topic]
            if gone:
                self.delete_offsets(group, gone)

    def compact_if_worthwhile(self) -> None:
        """Rewrite the journal when most of it is out of date."""
        if self._journal.is_wasteful:
            self._journal.rewrite({group_id: group.stored for group_id, group in self.groups.items()})

    # -- administration -----------------------------------------------------------------------------------------------

    def delete_group(self, group_id: str) -> None:
        """Delete an empty group."""
        group = self.groups.get(group_id)
        if group is None:
            raise RequestFailed(_E.GROUP_ID_NOT_FOUND)
        if not group.is_empty:
            raise RequestFailed(_E.NON_EMPTY_GROUP)
        if group.consumer is not None:
            self.consumers.forget(group_id)
        self.delete_offsets(group, group.stored.partitions())
        group.move(_S.DEAD)
        del self.groups[group_id]

    def discard_unsynced(self) -> None:
        """Discard commits and membership changes that a machine failure could lose."""
        self._journal.discard_unsynced()
        self.consumers.discard_unsynced()

    def close(self) -> None:
        """Cancel all timers, and close the journal. Members are not notified."""
        for group in self.groups.values():
            self._rebalances.stop(group)
        self.consumers.close()
        self._journal.close()
