"""The members of all groups of the type "consumer" (KIP-848): joining, heartbeats, expiry, removal and leaving."""

import logging
import uuid
from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple
from uuid import UUID

from kafka.broker.clock import Clock
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups.classic_group import Group, GroupState
from kafka.broker.groups.consumer_group import (
    ASSIGNORS,
    LEAVE_STATIC_EPOCH,
    ConsumerGroup,
    ConsumerGroupState,
    ConsumerMember,
    TopicPartition,
    check_regex,
)
from kafka.broker.groups.consumer_journal import ConsumerGroupJournal

log = logging.getLogger(__name__)

_E = ErrorCode
_COMMITS_SINCE = 9
"""The first OffsetCommit version that supports member epochs."""

Topics = Mapping[str, tuple[UUID, int]]
"""The id and partition count of each existing topic."""


class Heartbeat(NamedTuple):
    """A ConsumerGroupHeartbeat request. None means that a field is unchanged."""

    group_id: str
    member_id: str
    epoch: int
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    topics: frozenset[str] | None
    regex: str | None
    server_assignor: str | None
    owned: set[TopicPartition] | None

    @property
    def is_whole(self) -> bool:
        """Whether the request contains all fields, and so requests a full response."""
        return self.topics is not None and self.owned is not None and self.rebalance_timeout_ms != -1


class ConsumerMembers:
    """The members of all groups of the type "consumer".

    `session_timeout_ms` returns a group's session timeout, `topics` returns all topics, and `groups` contains groups of
    all types. Groups in the `journal` exist from the start; their members have a full session timeout to send a
    heartbeat.
    """

    def __init__(
        self,
        clock: Clock,
        session_timeout_ms: Callable[[str], int],
        randomness: Random,
        groups: dict[str, Group],
        topics: Callable[[], Topics],
        journal: ConsumerGroupJournal,
    ) -> None:
        self._clock = clock
        self._session_timeout_ms = session_timeout_ms
        self._random = randomness
        self._groups = groups
        self._topics = topics
        self._journal = journal
        for group_id, consumer in journal.load().items():
            self._make(groups.setdefault(group_id, Group(group_id)), consumer)
            for member in consumer.members.values():
                self._watch(group_id, consumer, member)

    def heartbeat(self, said: Heartbeat) -> tuple[ConsumerMember, bool]:
        """Add a member or extend its session; return the member, and whether the response must contain its assignment.

        Raises `RequestFailed`.
        """
        check_regex(said.regex)
        if said.server_assignor is not None and said.server_assignor not in ASSIGNORS:
            known = ", ".join(ASSIGNORS)
            text = f"ServerAssignor {said.server_assignor} is not supported. Supported assignors: {known}."
            raise RequestFailed(_E.UNSUPPORTED_ASSIGNOR, text)
        group = self._joined(said) if said.epoch == 0 else self._existing(said.group_id)
        member = self._coming(group, said) if said.epoch == 0 else self._current(group, said)
        self._update(member, said)
        group.assign(self._topics())
        before = set(member.assigned)
        group.reconcile(member, said.owned)
        self._watch(said.group_id, group, member)
        self._store(said.group_id, group)
        return member, said.epoch == 0 or said.is_whole or member.assigned != before

    def leave(self, said: Heartbeat) -> None:
        """Let a member leave permanently or, if it is static, temporarily; raises `RequestFailed`."""
        group = self._existing(said.group_id)
        member = group.member(said.member_id, said.instance_id)
        if said.epoch == LEAVE_STATIC_EPOCH:
            member.epoch, member.previous_epoch = LEAVE_STATIC_EPOCH, member.epoch
            member.assigned |= member.revoking
            member.revoking = set()
            if member.rebalance is not None:
                member.rebalance.cancel()
        else:
            self._remove(group, member)
        self._store(said.group_id, group)

    def put_out(self, group_id: str, group: ConsumerGroup, member_id: str, instance_id: str | None) -> None:
        """Remove a member at an administrator's request; for a static member, the instance id alone is sufficient."""
        if instance_id is not None and not member_id:
            static = group.static_member(instance_id)
            member_id = "" if static is None else static.member_id
        self._remove(group, group.member(member_id, instance_id))
        self._store(group_id, group)

    def _store(self, group_id: str, group: ConsumerGroup | None) -> None:
        """Store the state of a group before it is sent to members; raises `RequestFailed`."""
        try:
            self._journal.store(group_id, group)
        except OSError as error:
            raise RequestFailed(_E.COORDINATOR_NOT_AVAILABLE, str(error)) from error

    def forget(self, group_id: str) -> None:
        """Record that a group is no longer of this type; raises `RequestFailed`."""
        self._store(group_id, None)

    # -- groups and members -------------------------------------------------------------------------------------------

    def _existing(self, group_id: str) -> ConsumerGroup:
        group = self._groups.get(group_id)
        if group is None or group.consumer is None:
            raise RequestFailed(_E.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
        return group.consumer

    def _joined(self, said: Heartbeat) -> ConsumerGroup:
        """Return the group that a member joins: a new or empty group, or one of this type."""
        group = self._groups.get(said.group_id)
        if group is None:
            group = self._groups[said.group_id] = Group(said.group_id)
        if group.consumer is None:
            if group.state is not GroupState.EMPTY or group.pending:
                raise RequestFailed(_E.GROUP_ID_NOT_FOUND, f"Group {said.group_id} is not a consumer group.")
            made = ConsumerGroup()
            made.epoch = made.target_epoch = group.generation_id
            self._make(group, made)
            return made
        return group.consumer

    @staticmethod
    def _make(group: Group, consumer: ConsumerGroup) -> None:
        """Convert a group to this type."""
        group.consumer = consumer
        group.protocol_type = "consumer"

    def _coming(self, group: ConsumerGroup, said: Heartbeat) -> ConsumerMember:
        member_id = said.member_id or str(uuid.UUID(int=self._random.getrandbits(128), version=4))
        known = group.members.get(member_id)
        new = ConsumerMember(member_id, said.instance_id, said.client_id, said.client_host)
        static = None if said.instance_id is None else group.static_member(said.instance_id)
        if static is not None and static is not known:
            if not static.is_away:
                text = f"Static member {static.member_id} with instance id {said.instance_id} was not released."
                raise RequestFailed(_E.UNRELEASED_INSTANCE_ID, text)
            group.replace(static, new)
            return new
        if known is None:
            group.members[member_id] = known = new
        elif known.is_away:
            known.epoch = 0
        return known

    @staticmethod
    def _current(group: ConsumerGroup, said: Heartbeat) -> ConsumerMember:
        """Return the member. Its epoch must be the current one, or the previous one if the last response was lost."""
        member = group.member(said.member_id, said.instance_id)
        is_late = said.epoch == member.previous_epoch and said.owned is not None and said.owned <= member.assigned
        if said.epoch != member.epoch and not is_late:
            raise RequestFailed(
                _E.FENCED_MEMBER_EPOCH,
                f"The member is at epoch {member.epoch}, not {said.epoch}: it must rejoin.",
            )
        return member

    @staticmethod
    def _update(member: ConsumerMember, said: Heartbeat) -> None:
        """Apply the changes in a heartbeat to a member."""
        member.client_id, member.client_host = said.client_id, said.client_host
        if said.rack_id is not None:
            member.rack_id = said.rack_id
        if said.rebalance_timeout_ms != -1:
            member.rebalance_timeout_ms = said.rebalance_timeout_ms
        if said.topics is not None:
            member.topics = said.topics
        if said.regex is not None:
            member.regex = said.regex
        if said.server_assignor is not None:
            member.server_assignor = said.server_assignor

    # -- timers -------------------------------------------------------------------------------------------------------

    def _watch(self, group_id: str, group: ConsumerGroup, member: ConsumerMember) -> None:
        """Restart a member's session timer, and its rebalance timer if it must revoke partitions."""
        if member.session is not None:
            member.session.cancel()
        timeout_s = self._session_timeout_ms(group_id) / 1000
        member.session = self._clock.call_later(timeout_s, lambda: self._expire(group_id, group, member))
        if not member.revoking:
            if member.rebalance is not None:
                member.rebalance.cancel()
                member.rebalance = None
        elif member.rebalance is None:
            patience_s = member.rebalance_timeout_ms / 1000
            member.rebalance = self._clock.call_later(patience_s, lambda: self._expire(group_id, group, member))

    def _remove(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        if group.members.get(member.member_id) is member:
            group.remove(member)
            group.assign(self._topics())

    def _expire(self, group_id: str, group: ConsumerGroup, member: ConsumerMember) -> None:
        """Remove a member whose timer has expired."""
        self._remove(group, member)
        try:
            self._store(group_id, group)
        except RequestFailed as error:
            log.warning("group %s: the removal of member %s could not be stored: %s", group_id, member.member_id, error)

    # -- offsets ------------------------------------------------------------------------------------------------------

    @staticmethod
    def check_commit(group: ConsumerGroup, member_id: str, instance_id: str | None, epoch: int, version: int) -> None:
        """Raise `RequestFailed` if an OffsetCommit is not allowed.

        A commit without a member id requires an empty group.
        """
        if epoch < 0 and group.state is ConsumerGroupState.EMPTY:
            return
        member = group.member(member_id, instance_id)
        if version < _COMMITS_SINCE:
            raise RequestFailed(_E.UNSUPPORTED_VERSION, "Only OffsetCommit version 9 and later supports member epochs.")
        if epoch != member.epoch:
            raise RequestFailed(_E.STALE_MEMBER_EPOCH, f"The member is at epoch {member.epoch}, not {epoch}.")

    @staticmethod
    def check_transactional_commit(group: ConsumerGroup, member_id: str, instance_id: str | None, epoch: int) -> None:
        """Raise `RequestFailed` if a TxnOffsetCommit is not allowed. These requests do not support member epochs."""
        if epoch < 0 and not member_id and instance_id is None:
            return
        if epoch != group.member(member_id, instance_id).epoch:
            raise RequestFailed(_E.ILLEGAL_GENERATION)

    def check_fetch(self, group_id: str, member_id: str | None, epoch: int) -> None:
        """Raise `RequestFailed` if a member may not read a group's offsets."""
        group = self._groups.get(group_id)
        if group is None or group.consumer is None or (member_id is None and epoch < 0):
            return
        member = group.consumer.member(member_id or "", None)
        if epoch != member.epoch:
            raise RequestFailed(_E.STALE_MEMBER_EPOCH, f"The member is at epoch {member.epoch}, not {epoch}.")

    def discard_unsynced(self) -> None:
        """Discard data that would be lost in a machine crash."""
        self._journal.discard_unsynced()

    def close(self) -> None:
        """Cancel all timers when the broker stops."""
        for group in self._groups.values():
            for member in group.consumer.members.values() if group.consumer is not None else ():
                member.stop()
        self._journal.close()
