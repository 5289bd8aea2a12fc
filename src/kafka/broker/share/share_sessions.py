"""Share sessions: which partitions a member fetches, and what it has acquired with them. Gone with its connection.

Counterpart: Kafka's ShareSession; a session is named by its group and its member.
"""

from collections import OrderedDict
from typing import Final
from uuid import UUID

from kafka.broker.error_codes import ErrorCode, RequestFailed

INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
_EPOCHS: Final = 2**31 - 1

PartitionKey = tuple[UUID, int]


class ShareSession:
    """One session; the partitions are in the order in which they are served."""

    __slots__ = ("connection", "epoch", "group_id", "member_id", "partitions", "used")

    def __init__(self, group_id: str, member_id: str, connection: object) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.connection = connection
        self.epoch = 1
        self.partitions: OrderedDict[PartitionKey, None] = OrderedDict()
        self.used: dict[PartitionKey, None] = {}
        """All that it ever fetched: it may still have records of what it does not fetch any more."""


class ShareSessions:
    """All sessions, up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sessions: dict[tuple[str, str], ShareSession] = {}

    def open(self, group_id: str, member_id: str, connection: object) -> ShareSession:
        """A new session; raises `RequestFailed` where there are too many. One that is there has to be closed before."""
        if len(self._sessions) >= self._limit:
            raise RequestFailed(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
        session = self._sessions[group_id, member_id] = ShareSession(group_id, member_id, connection)
        return session

    def resume(self, group_id: str, member_id: str, epoch: int) -> ShareSession:
        """The session for a request of this epoch, which is counted up; raises `RequestFailed`."""
        session = self.get(group_id, member_id)
        if session.epoch != epoch:
            raise RequestFailed(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        session.epoch = 1 if epoch == _EPOCHS else epoch + 1
        return session

    def get(self, group_id: str, member_id: str) -> ShareSession:
        """The session, whatever its epoch; raises `RequestFailed`."""
        session = self._sessions.get((group_id, member_id))
        if session is None:
            raise RequestFailed(ErrorCode.SHARE_SESSION_NOT_FOUND)
        return session

    def close(self, group_id: str, member_id: str) -> ShareSession | None:
        """End a session, if it is there."""
        return self._sessions.pop((group_id, member_id), None)

    def of_connection(self, connection: object) -> list[ShareSession]:
        """The sessions of a connection."""
        return [one for one in self._sessions.values() if one.connection is connection]
