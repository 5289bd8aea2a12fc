"""Share sessions: the partitions that a member fetches; a session ends with its connection.

Counterpart: Kafka's ShareSession; a session is identified by its group and its member.
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
    """One session; its partitions are in the order of service."""

    __slots__ = ("connection", "epoch", "group_id", "member_id", "partitions", "used")

    def __init__(self, group_id: str, member_id: str, connection: object) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.connection = connection
        self.epoch = 1
        self.partitions: OrderedDict[PartitionKey, None] = OrderedDict()
        self.used: dict[PartitionKey, None] = {}
        """All partitions it ever fetched: it may still hold records of partitions that it no longer fetches."""


class ShareSessions:
    """All sessions, up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sessions: dict[tuple[str, str], ShareSession] = {}

    def open(self, group_id: str, member_id: str, connection: object) -> ShareSession:
        """Open a session; the caller must close an existing one first. Raises `RequestFailed` if there are too many."""
        if len(self._sessions) >= self._limit:
            raise RequestFailed(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
        session = self._sessions[group_id, member_id] = ShareSession(group_id, member_id, connection)
        return session

    def resume(self, group_id: str, member_id: str, epoch: int) -> ShareSession:
        """Return the session for a request at this epoch, and increment it; raises `RequestFailed`."""
        session = self.get(group_id, member_id)
        if session.epoch != epoch:
            raise RequestFailed(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        session.epoch = 1 if epoch == _EPOCHS else epoch + 1
        return session

    def get(self, group_id: str, member_id: str) -> ShareSession:
        """Return the session, whatever its epoch; raises `RequestFailed`."""
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
