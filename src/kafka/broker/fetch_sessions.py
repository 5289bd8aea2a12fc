"""Fetch sessions (KIP-227): the broker remembers the partitions that a client fetches, so both sides send only changes.

Counterpart: Kafka's FetchSession cache.
"""

import random
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

from kafka.broker.error_codes import ErrorCode, RequestFailed

FINAL_EPOCH: Final = -1
INITIAL_EPOCH: Final = 0
_EPOCHS: Final = 2**31 - 1

PartitionKey: TypeAlias = tuple[str | UUID, int]
"""A partition in a request: the topic's name or id, and the partition number."""


@dataclass(slots=True)
class FetchedPartition:
    """A partition in a session: the position and limits of the fetch, and the offsets in the last response."""

    fetch_offset: int
    max_bytes: int
    current_leader_epoch: int = -1
    told_high_watermark: int = -1
    told_start_offset: int = -1


class FetchSession:
    """A fetch session: its partitions, in the order in which they are served."""

    __slots__ = ("epoch", "partitions", "session_id")

    def __init__(self, session_id: int) -> None:
        self.session_id = session_id
        self.epoch = 1
        self.partitions: OrderedDict[PartitionKey, FetchedPartition] = OrderedDict()


class FetchSessions:
    """All fetch sessions. If there are too many, the least recently used one is removed."""

    def __init__(self, limit: int, randomness: random.Random) -> None:
        self._limit = limit
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()
        # Ids are random; otherwise the id of a client from an earlier run could be in use by another client.
        self._random = randomness

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self) -> FetchSession | None:
        """Open a session. Returns None if sessions are disabled; clients then send only full requests."""
        if self._limit == 0:
            return None
        session_id = self._random.randrange(1, 2**31 - 1)
        while session_id in self._sessions:
            session_id = self._random.randrange(1, 2**31 - 1)
        if len(self._sessions) >= self._limit:
            self._sessions.popitem(last=False)
        session = self._sessions[session_id] = FetchSession(session_id)
        return session

    def resume(self, session_id: int, epoch: int) -> FetchSession:
        """Return the session for an incremental request, and increment its epoch; raises `RequestFailed`."""
        session = self._sessions.get(session_id)
        if session is None:
            raise RequestFailed(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            raise RequestFailed(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        session.epoch = 1 if epoch == _EPOCHS else epoch + 1
        self._sessions.move_to_end(session_id)
        return session

    def partitions(self, session_id: int) -> "list[tuple[PartitionKey, FetchedPartition]]":
        """Return the partitions in a session; empty if the session is unknown."""
        session = self._sessions.get(session_id)
        return [] if session is None else list(session.partitions.items())

    def close(self, session_id: int) -> None:
        """End a session, if it exists."""
        self._sessions.pop(session_id, None)
