"""A group member: its generation, its state, and the heartbeats that keep it in the group."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Coroutine
from typing import Any, ClassVar, cast

from kafka.cluster import Backoff, CoordinatorRequests
from kafka.config import GroupOptions
from kafka.coordinator import membership
from kafka.coordinator.classic.heartbeat import Heartbeat as HeartbeatSender
from kafka.coordinator.classic.leave import leave_group
from kafka.coordinator.group_metrics import PollClock
from kafka.errors import (
    CoordinatorLoadInProgressError,
    IllegalGenerationError,
    KafkaError,
    RebalanceInProgressError,
    UnknownMemberIdError,
    for_code,
)
from kafka.legacy.coordinator.coordinator_link import CoordinatorLink
from kafka.legacy.coordinator.coordinator_metrics import GroupCoordinatorMetrics
from kafka.legacy.coordinator.heartbeat_times import Heartbeat

log = logging.getLogger("kafka.coordinator")

LEAVE_TIMEOUT_MS = 5_000.0
"""Maximum time to notify the coordinator when a member leaves."""


class _TimedRequests:
    """Sends heartbeats, records their times, and notices if the coordinator is no longer known."""

    def __init__(self, link: CoordinatorLink, timing: Heartbeat, sensors: GroupCoordinatorMetrics | None) -> None:
        self._link = link
        self._timing = timing
        self._sensors = sensors

    async def send_coordinator(self, kind: Any, key: str, request: Any, *, timeout_ms: float) -> Any:
        self._timing.sent_heartbeat()
        begin = time.monotonic()
        answer = await self._link.cluster.send_coordinator(kind, key, request, timeout_ms=timeout_ms)
        if self._sensors is not None:
            self._sensors.heartbeat_latency.record((time.monotonic() - begin) * 1000)
        return answer

    def forget_coordinator(self, kind: Any, key: str) -> None:
        self._timing.fail_heartbeat()
        self._link.node_id = None
        self._link.cluster.forget_coordinator(kind, key)


class _OwnChannel:
    """Uses a separate connection, because a broker that delays a JoinGroup reads nothing else from its connection."""

    def __init__(self, link: CoordinatorLink) -> None:
        self._link = link

    async def send_coordinator(self, kind: Any, key: str, request: Any, **options: Any) -> Any:
        return await self._link.cluster.send_coordinator(kind, key, request, channel="leave", **options)


class Member:
    """A group member. Heartbeats run on the loop; methods are called in the caller's thread unless stated otherwise.

    Arguments:
        link: the coordinator.
        options: group, timeouts and intervals.
        timing: receives the times of heartbeats, for programs.
        sensors: the metrics, or None.
        retry_backoff_ms: the pause after a failed heartbeat.

    Attributes:
        generation: the member id and generation.
        state: one of `MemberState`.
        rejoin_needed: whether the member has to join or rejoin.
        failure: the error that ended the heartbeats, until it is raised.
    """

    def __init__(
        self,
        link: CoordinatorLink,
        options: GroupOptions,
        timing: Heartbeat,
        sensors: GroupCoordinatorMetrics | None,
        retry_backoff_ms: float,
    ) -> None:
        self._link = link
        self._options = options
        self._timing = timing
        self._group_id = options.group_id or ""  # a ConsumerCoordinator without a group does not join
        self._clock = PollClock(time.monotonic())
        self._lock = threading.Lock()
        self.generation = Generation.NO_GENERATION
        self.state = MemberState.UNJOINED
        self.rejoin_needed = True
        self.failure: Exception | None = None
        requests = cast(CoordinatorRequests, _TimedRequests(link, timing, sensors))
        backoff = Backoff(retry_backoff_ms, max(retry_backoff_ms, 1000))
        timeout_ms = link.request_timeout_ms
        self._sender = HeartbeatSender(requests, self._group_id, options, timeout_ms, self._clock, self, backoff)

    @property
    def is_dynamic(self) -> bool:
        """Whether the member leaves the group when it is closed; a static member does not (KIP-345)."""
        return self._options.group_instance_id is None

    def seen(self) -> None:
        """Record that the caller is alive."""
        now = time.monotonic()
        self._clock.begin(now)
        self._clock.end(now)
        self._timing.poll()

    # Joining

    def joining(self) -> None:
        """Stop heartbeats until the round ends, because JoinGroup is about to be sent."""
        self.state = MemberState.REBALANCING
        self.stop_heartbeats()

    def accepted(self, joined: Generation) -> bool:
        """Store the generation from the JoinGroup response. Return False if the member has left in the meantime."""
        with self._lock:
            if self.state is not MemberState.REBALANCING:
                return False
            self.generation = joined
            return True

    def joined(self) -> None:
        """Record that the round has ended successfully."""
        with self._lock:
            self.state = MemberState.STABLE
            self.rejoin_needed = False
        self.start_heartbeats()

    def reset(self, member_id: str = "") -> None:
        """Discard the membership, keeping only a member id to rejoin with."""
        with self._lock:
            self.generation = Generation(-1, member_id, None)
            self.rejoin_needed = True
            self.state = MemberState.UNJOINED

    def leave(self, timeout_ms: float | None) -> None:
        """Stop heartbeats, and notify the coordinator if it is known. Errors of the coordinator are ignored."""
        self.stop_heartbeats()
        member_id = self.generation.member_id
        is_member = self.state is not MemberState.UNJOINED and member_id
        self.reset()
        if not (is_member and self.is_dynamic and self._link.is_connected()):
            return
        limit_ms = LEAVE_TIMEOUT_MS if timeout_ms is None else min(timeout_ms, LEAVE_TIMEOUT_MS)
        leave = self._leave_group(member_id, "the coordinator is closed", limit_ms)
        with contextlib.suppress(KafkaError):
            self._link.loop_thread.run(leave)

    def _leave_group(self, member_id: str, reason: str, timeout_ms: float) -> Coroutine[Any, Any, None]:
        requests = cast(CoordinatorRequests, _OwnChannel(self._link))
        return leave_group(requests, self._group_id, member_id, reason, timeout_ms)

    # Heartbeats

    def start_heartbeats(self) -> None:
        """Start sending heartbeats."""
        self.seen()
        self._timing.reset_timeouts()
        self._link.loop_thread.call(self._sender.start)

    def stop_heartbeats(self) -> None:
        """Stop sending heartbeats."""
        with contextlib.suppress(KafkaError):
            self._link.loop_thread.call(self._sender.stop)

    def heartbeat_answered(self, error_code: int) -> None:
        """Handle the response to a heartbeat."""
        if error_code in (0, RebalanceInProgressError.errno):
            self._timing.received_heartbeat()
            self.rejoin_needed = self.rejoin_needed or error_code != 0
        elif error_code != CoordinatorLoadInProgressError.errno:
            error = for_code(error_code)(f"heartbeat of group {self._group_id!r}")
            log.warning("Heartbeat failed for group %s: %s", self._group_id, error)
            if not isinstance(error, IllegalGenerationError | UnknownMemberIdError):
                self.failure = error
            self._sender.stop()
            self.reset("" if isinstance(error, UnknownMemberIdError) else self.generation.member_id)

    def commit_refused(self, error_code: int, generation: membership.Generation) -> None:
        """Handle a commit error that concerns the membership."""
        if generation == self.generation:
            self.heartbeat_answered(error_code)

    def poll_overdue(self, idle_s: float) -> None:
        """Leave the group because the caller has not polled in time; other members take over its work."""
        log.warning(
            "group %s: the coordinator was not polled for %.1f s, longer than max_poll_interval_ms=%d allows; "
            "leaving the group",
            self._group_id,
            idle_s,
            self._options.max_poll_interval_ms,
        )
        member_id = self.generation.member_id
        self._sender.stop()
        self.reset()
        if self.is_dynamic:
            leave = self._leave_group(member_id, "poll() was not called in time", LEAVE_TIMEOUT_MS)
            self._link.loop_thread.spawn(leave)


class MemberState:
    """The states of a member."""

    UNJOINED = "<unjoined>"
    REBALANCING = "<rebalancing>"
    STABLE = "<stable>"


class Generation(membership.Generation):
    """A member's id and generation, as in `kafka.coordinator.membership`.

    Attributes:
        NO_GENERATION: the value for a member that has not joined.
    """

    __slots__ = ()
    NO_GENERATION: ClassVar[Generation]

    def has_member_id(self) -> bool:
        """Return whether the coordinator has assigned a member id; it does so before the first generation."""
        return self.member_id != ""

    def __str__(self) -> str:
        return f"<Generation {self.generation_id} (member_id: {self.member_id}, protocol: {self.protocol})>"


Generation.NO_GENERATION = Generation()


class GenerationId(int):
    """`coordinator.generation`: a number, as in 1.0, that can also be called like the method of 1.4 and later."""

    stable: Generation | None

    @classmethod
    def of(cls, generation: Generation, is_stable: bool) -> GenerationId:
        """Return a generation's number. Calling it returns the generation, or None unless the group is stable."""
        made = cls(generation.generation_id)
        made.stable = generation if is_stable else None
        return made

    def __call__(self) -> Generation | None:
        """Return the generation; None unless the group is stable."""
        return self.stable


class GroupMember(tuple[str, bytes]):
    """A member as the leader sees it: ``(member_id, metadata_bytes)``, as in 1.x, with named fields, as in 2.3."""

    group_instance_id: str | None

    def __new__(cls, member_id: str, metadata_bytes: bytes, group_instance_id: str | None = None) -> GroupMember:
        """Create a member."""
        made = super().__new__(cls, (member_id, metadata_bytes))
        made.group_instance_id = group_instance_id
        return made

    @property
    def member_id(self) -> str:
        """The member's id."""
        return self[0]

    @property
    def metadata_bytes(self) -> bytes:
        """The member's metadata for the chosen protocol."""
        return self[1]


class UnjoinedGroupException(KafkaError):
    """The member left the group while it was joining."""

    retriable = True
