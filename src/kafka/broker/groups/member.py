"""One member of a classic group, and the responses that it may be waiting for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kafka.broker.clock import Timer
from kafka.broker.error_codes import ErrorCode


class Protocol(NamedTuple):
    """An assignor that a member supports, with the member's subscription for it."""

    name: str
    metadata: bytes


class JoinedMember(NamedTuple):
    """A member as sent to the leader."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinResult(NamedTuple):
    """The response to a JoinGroup."""

    error: ErrorCode
    member_id: str
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    members: Sequence[JoinedMember] = ()
    skip_assignment: bool = False


class SyncResult(NamedTuple):
    """The response to a SyncGroup."""

    error: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class JoinRequest(NamedTuple):
    """The fields of a JoinGroup; times in milliseconds."""

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
    """From version 4 on a member without an id is assigned one first and then joins with it (KIP-394)."""
    supports_skipping_assignment: bool
    """From version 9 on a leader can be told to keep the assignment (KIP-814)."""


@dataclass(slots=True, eq=False)
class Member:
    """A member; `deadline` is when its session ends unless it sends a request before."""

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
        """Create the member of a JoinGroup."""
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
        """Whether a response is pending: the member is alive and cannot send heartbeats meanwhile."""
        return self.answer_join is not None or self.answer_sync is not None

    def metadata(self, protocol_name: str | None) -> bytes:
        """Return its subscription for a protocol."""
        for protocol in self.protocols:
            if protocol.name == protocol_name:
                return protocol.metadata
        return b""

    def vote(self, candidates: set[str]) -> str:
        """Return its preferred protocol among `candidates`, all of which it supports."""
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
