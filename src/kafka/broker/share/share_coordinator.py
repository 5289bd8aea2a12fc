"""The share groups of the broker: their members, assignments, share-partitions and share sessions.

Counterpart: Kafka's group coordinator for share groups, its SharePartitionManager, and its ShareSession.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final
from uuid import UUID

from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.clock import Clock
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.group_configs import GroupConfigs, reset_duration_ms
from kafka.broker.log.partition import PartitionLog
from kafka.broker.share.record_state import Runs
from kafka.broker.share.share_group import ShareGroup, ShareMember
from kafka.broker.share.share_journal import Key, ShareJournal
from kafka.broker.share.share_partition import Limits, SharePartition
from kafka.broker.topic_store import TopicStore

_E = ErrorCode
JOIN_EPOCH = 0
LEAVE_EPOCH = -1
INITIAL_EPOCH: Final = 0
"""Epoch of the request that opens a share session."""
FINAL_EPOCH: Final = -1
"""Epoch of the request that closes a share session."""
_EPOCHS: Final = 2**31 - 1

PartitionKey = tuple[UUID, int]


class ShareSession:
    """A share session: the partitions that a member fetches, in the order in which they are served.

    The session ends when its connection closes.
    """

    __slots__ = ("connection", "epoch", "group_id", "member_id", "partitions", "used")

    def __init__(self, group_id: str, member_id: str, connection: object) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.connection = connection
        self.epoch = 1
        self.partitions: OrderedDict[PartitionKey, None] = OrderedDict()
        self.used: dict[PartitionKey, None] = {}
        """All partitions that were ever fetched. The member may still hold records of those it no longer fetches."""


class ShareSessions:
    """All share sessions by group and member, up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sessions: dict[tuple[str, str], ShareSession] = {}

    def open(self, group_id: str, member_id: str, connection: object) -> ShareSession:
        """Open a session.

        The caller must close any existing session of the member first. Raises `RequestFailed` if there are too many
        sessions.
        """
        if len(self._sessions) >= self._limit:
            raise RequestFailed(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
        session = self._sessions[group_id, member_id] = ShareSession(group_id, member_id, connection)
        return session

    def resume(self, group_id: str, member_id: str, epoch: int) -> ShareSession:
        """Return the session for a request with this epoch, and increment the epoch; raises `RequestFailed`."""
        session = self.get(group_id, member_id)
        if session.epoch != epoch:
            raise RequestFailed(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        session.epoch = 1 if epoch == _EPOCHS else epoch + 1
        return session

    def get(self, group_id: str, member_id: str) -> ShareSession:
        """Return a session regardless of its epoch; raises `RequestFailed`."""
        session = self._sessions.get((group_id, member_id))
        if session is None:
            raise RequestFailed(ErrorCode.SHARE_SESSION_NOT_FOUND)
        return session

    def close(self, group_id: str, member_id: str) -> ShareSession | None:
        """End a session, if it exists."""
        return self._sessions.pop((group_id, member_id), None)

    def of_connection(self, connection: object) -> list[ShareSession]:
        """Return the sessions of a connection."""
        return [one for one in self._sessions.values() if one.connection is connection]


class ShareCoordinator:
    """All share groups. `is_other_group` returns whether a group of another type uses an id."""

    def __init__(
        self,
        clock: Clock,
        settings: BrokerSettings,
        configs: GroupConfigs,
        topics: TopicStore,
        journal: ShareJournal,
        is_other_group: Callable[[str], bool],
    ) -> None:
        self.configs = configs
        self.sessions = ShareSessions(settings.max_share_sessions)
        self.waiters: dict[Callable[[], None], None] = {}
        """Called when records become available again, in the order of arrival. A callable may remove itself."""
        self._clock = clock
        self._settings = settings
        self._topics = topics
        self._journal = journal
        self._is_other_group = is_other_group
        self._closed = False
        self._partitions: dict[Key, SharePartition] = {}
        epochs, self._kept = journal.load()
        self.groups = {group_id: ShareGroup(group_id, epoch) for group_id, epoch in epochs.items()}

    # -- members ------------------------------------------------------------------------------------------------------

    def group(self, group_id: str) -> ShareGroup:
        """Return an existing group; raises `RequestFailed` with GROUP_ID_NOT_FOUND."""
        group = self.groups.get(group_id)
        if group is None:
            raise RequestFailed(_E.GROUP_ID_NOT_FOUND, f"Share group {group_id} not found.")
        return group

    def group_or_new(self, group_id: str) -> ShareGroup:
        """Return a group, creating it if necessary.

        Raises OSError, and `RequestFailed` if the group is of another type.
        """
        self.check_type(group_id)
        group = self.groups.get(group_id)
        if group is None:
            self._journal.group(group_id, 0)
            group = self.groups[group_id] = ShareGroup(group_id)
        return group

    def check_type(self, group_id: str) -> None:
        """Raise `RequestFailed` with GROUP_ID_NOT_FOUND if a group of another type has the id."""
        if self._is_other_group(group_id):
            raise RequestFailed(_E.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")

    def join(self, group_id: str, member: ShareMember) -> ShareMember:
        """Add a member, or let it rejoin; raises `RequestFailed` or OSError."""
        group = self.group_or_new(group_id)
        known = group.members.get(member.member_id)
        if known is None:
            if len(group.members) >= self._settings.share_max_size:
                raise RequestFailed(_E.GROUP_MAX_SIZE_REACHED, f"The share group {group_id} has reached its maximum.")
            known = group.members[member.member_id] = member
        known.topics, known.rack_id = member.topics, member.rack_id
        return known

    def member(self, group_id: str, member_id: str, epoch: int) -> ShareMember:
        """Return the member; raises `RequestFailed` if it is unknown or its epoch is wrong."""
        member = self.group(group_id).members.get(member_id)
        if member is None:
            raise RequestFailed(_E.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group_id}.")
        if epoch not in (LEAVE_EPOCH, member.epoch):
            raise RequestFailed(_E.FENCED_MEMBER_EPOCH, f"The member is at epoch {member.epoch}, not {epoch}.")
        return member

    def settle(self, group_id: str, member: ShareMember) -> None:
        """Compute the current assignment, and update the member's epoch. Raises OSError."""
        group = self.groups[group_id]
        self._assign(group)
        member.epoch = group.epoch
        self.touch(group_id, member)

    def touch(self, group_id: str, member: ShareMember) -> None:
        """Restart a member's session."""
        timeout_s = self.configs.number(group_id, "share.session.timeout.ms") / 1000
        member.expire_in(self._clock.call_later(timeout_s, lambda: self.leave(group_id, member)))

    def leave(self, group_id: str, member: ShareMember) -> None:
        """Remove a member. The other members get its partitions with their next heartbeats."""
        member.leave()
        group = self.groups.get(group_id)
        if group is not None and group.members.get(member.member_id) is member:
            del group.members[member.member_id]
            self._assign(group)

    def _assign(self, group: ShareGroup) -> None:
        before = group.epoch
        group.assign({topic.name: (topic.topic_id, topic.partitions) for topic in self._topics})
        if group.epoch != before:
            self._journal.group(group.group_id, group.epoch)

    def delete_group(self, group_id: str) -> None:
        """Delete an empty group; raises `RequestFailed` or OSError."""
        if self.group(group_id).members:
            raise RequestFailed(_E.NON_EMPTY_GROUP)
        self._journal.delete_group(group_id)
        del self.groups[group_id]
        for key in [key for key in self._kept if key[0] == group_id]:
            self._forget(key)

    # -- partitions ---------------------------------------------------------------------------------------------------

    def partition(self, group_id: str, topic_id: UUID, number: int) -> SharePartition:
        """Return a share-partition; raises `RequestFailed`.

        The start offset of a new share-partition depends on the group's config.
        """
        key = group_id, topic_id, number
        log = self._topics.by_id(topic_id).log(number)
        found = self._partitions.get(key)
        if found is not None and found.log is log:
            return found
        runs = self._kept.get(key)
        if runs is None:
            runs = Runs(self._first_offset(group_id, log))
            self._written(lambda: self._journal.reset(key, runs.start))
            self._kept[key] = runs
        made = self._partitions[key] = SharePartition(log, runs, self._clock, key, self)
        return made

    @staticmethod
    def _written(write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            raise RequestFailed(_E.KAFKA_STORAGE_ERROR, str(error)) from error

    def store(self, key: Key, start: int, changed: Sequence[tuple[int, int, int, int]]) -> None:
        """See `SharePartitionListener`."""
        self._journal.change(key, start, changed)

    def limits(self, group_id: str) -> Limits:
        """See `SharePartitionListener`."""
        value, number = self.configs.value, self.configs.number
        return Limits(
            number(group_id, "share.record.lock.duration.ms") / 1000,
            number(group_id, "share.delivery.count.limit"),
            number(group_id, "share.partition.max.record.locks"),
            value(group_id, "share.isolation.level") == "read_committed",
            value(group_id, "share.renew.acknowledge.enable") == "true",
        )

    def _first_offset(self, group_id: str, log: PartitionLog) -> int:
        reset = self.configs.value(group_id, "share.auto.offset.reset")
        back_ms = reset_duration_ms(reset)
        if back_ms is not None:
            found = log.offset_of_time(self._clock.wall_ms() - back_ms)
            return log.end_offset if found is None else found[1]
        return log.start_offset if reset == "earliest" else log.end_offset

    def records_available(self) -> None:
        """See `SharePartitionListener`."""
        for waiter in tuple(self.waiters):
            waiter()

    # -- offsets ------------------------------------------------------------------------------------------------------

    def start_offset(self, key: Key) -> int | None:
        """Return the start offset of a share-partition; None if the group has not read the partition."""
        runs = self._runs(key)
        return None if runs is None else runs.start

    def undelivered(self, key: Key, log: PartitionLog) -> int:
        """Return the number of unprocessed records in a share-partition; -1 if the number is unknown."""
        runs = self._runs(key)
        if runs is None:
            return -1
        done = sum(run.last - run.first + 1 for run in runs.rows if run.state.is_final)
        return max(0, log.end_offset - runs.start - done)

    def _runs(self, key: Key) -> Runs | None:
        partition = self._partitions.get(key)
        return partition.runs if partition is not None else self._kept.get(key)

    def keys(self, group_id: str) -> Iterator[Key]:
        """Yield the share-partitions of a group."""
        return (key for key in tuple(self._kept) if key[0] == group_id)

    def set_start(self, key: Key, start: int | None) -> None:
        """Set the start offset of a share-partition in an empty group; None deletes the share-partition.

        Raises OSError.
        """
        self._journal.reset(key, start)
        self._forget(key)
        if start is not None:
            self._kept[key] = Runs(start)

    def _forget(self, key: Key) -> None:
        partition = self._partitions.pop(key, None)
        if partition is not None:
            partition.close()
        self._kept.pop(key, None)

    def forget_topic(self, topic_id: UUID) -> None:
        """Remove the share-partitions of a deleted topic. Raises OSError."""
        for key in [key for key in self._kept if key[1] == topic_id]:
            self.set_start(key, None)
        for group in self.groups.values():
            self._assign(group)

    # -- sessions -----------------------------------------------------------------------------------------------------

    def close_session(self, session: ShareSession) -> None:
        """End a session, and release the records that its member has acquired."""
        self.sessions.close(session.group_id, session.member_id)
        for topic_id, number in session.used:
            partition = self._partitions.get((session.group_id, topic_id, number))
            if partition is not None:
                partition.release(session.member_id)

    def disconnected(self, connection: object) -> None:
        """End the sessions of a closed connection."""
        if self._closed:
            return
        for session in self.sessions.of_connection(connection):
            self.close_session(session)

    # -- storage and shutdown -----------------------------------------------------------------------------------------

    def compact_if_worthwhile(self) -> None:
        """Rewrite the journal when most of it is out of date."""
        kept = {
            key: self._partitions[key].runs if key in self._partitions else runs for key, runs in self._kept.items()
        }
        self._journal.compact_if_worthwhile({name: group.epoch for name, group in self.groups.items()}, kept)

    def discard_unsynced(self) -> None:
        """Discard data that a machine failure could lose. Do not use the coordinator afterwards."""
        self._journal.discard_unsynced()

    def close(self) -> None:
        """Stop the timers and close the file."""
        self._closed = True
        for partition in self._partitions.values():
            partition.close()
        for group in self.groups.values():
            for member in group.members.values():
                member.leave()
        self._journal.close()
