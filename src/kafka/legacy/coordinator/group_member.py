"""A member of a group: its credentials and state, and the heartbeats that keep them."""

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
"""How long the coordinator is tried to be told that a member leaves."""


class _TimedRequests:
    """Sends heartbeats, and keeps their times and whether the coordinator is still known."""

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
    """Sends on a connection of its own: while the coordinator holds a JoinGroup back, it reads nothing else there."""

    def __init__(self, link: CoordinatorLink) -> None:
        self._link = link

    async def send_coordinator(self, kind: Any, key: str, request: Any, **options: Any) -> Any:
        return await self._link.cluster.send_coordinator(kind, key, request, channel="leave", **options)


class Member:
    """See the module. Heartbeats are sent and answered on the loop; all else is called in the caller's thread.

    Arguments:
        link: the coordinator.
        options: group, timeouts and intervals.
        timing: where the times of heartbeats are kept for programs.
        sensors: the metrics, if there are any.
        retry_backoff_ms: the pause after a heartbeat that did not get through.

    Attributes:
        generation: the credentials.
        state: one of `MemberState`.
        rejoin_needed: whether the group is to be joined (again).
        failure: what ended the heartbeats, until somebody has been told.
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
        self._group_id = options.group_id or ""  # a ConsumerCoordinator may have none, and does not join then
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
        """Whether it leaves the group when it is closed; a static member only stops (KIP-345)."""
        return self._options.group_instance_id is None

    def seen(self) -> None:
        """The caller is alive."""
        now = time.monotonic()
        self._clock.begin(now)
        self._clock.end(now)
        self._timing.poll()

    # Joining

    def joining(self) -> None:
        """JoinGroup is about to be sent: no heartbeats until the round is over."""
        self.state = MemberState.REBALANCING
        self.stop_heartbeats()

    def accepted(self, joined: Generation) -> bool:
        """JoinGroup was answered; False if the member has left meanwhile."""
        with self._lock:
            if self.state is not MemberState.REBALANCING:
                return False
            self.generation = joined
            return True

    def joined(self) -> None:
        """The round is over."""
        with self._lock:
            self.state = MemberState.STABLE
            self.rejoin_needed = False
        self.start_heartbeats()

    def reset(self, member_id: str = "") -> None:
        """It is no longer a member, but may have an id to join with."""
        with self._lock:
            self.generation = Generation(-1, member_id, None)
            self.rejoin_needed = True
            self.state = MemberState.UNJOINED

    def leave(self, timeout_ms: float | None) -> None:
        """Stop, and tell the coordinator if it is known; raises nothing."""
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
        """Send heartbeats from now on."""
        self.seen()
        self._timing.reset_timeouts()
        self._link.loop_thread.call(self._sender.start)

    def stop_heartbeats(self) -> None:
        """Send none any more."""
        with contextlib.suppress(KafkaError):
            self._link.loop_thread.call(self._sender.stop)

    def heartbeat_answered(self, error_code: int) -> None:
        """Act on the answer to a heartbeat."""
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

    def commit_refused(self, error_code: int, credentials: membership.Generation) -> None:
        """The answer to a commit tells something about the membership."""
        if credentials == self.generation:
            self.heartbeat_answered(error_code)

    def poll_overdue(self, idle_s: float) -> None:
        """The caller is stuck: leave, so that the others get its work."""
        log.warning(
            "group %s: nothing was asked of the coordinator for %.1f s, longer than max_poll_interval_ms=%d allows; "
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
    """Where a member stands."""

    UNJOINED = "<unjoined>"
    REBALANCING = "<rebalancing>"
    STABLE = "<stable>"


class Generation(membership.Generation):
    """A member's credentials, as `kafka.coordinator.membership` has them.

    Attributes:
        NO_GENERATION: of no member.
    """

    __slots__ = ()
    NO_GENERATION: ClassVar[Generation]

    def has_member_id(self) -> bool:
        """Return whether the coordinator has given an id; it does so before there is a generation."""
        return self.member_id != ""

    def __str__(self) -> str:
        return f"<Generation {self.generation_id} (member_id: {self.member_id}, protocol: {self.protocol})>"


Generation.NO_GENERATION = Generation()


class GenerationId(int):
    """`coordinator.generation`: a number, as in 1.0, that can be called, as from 1.4 on."""

    stable: Generation | None

    @classmethod
    def of(cls, credentials: Generation, is_stable: bool) -> GenerationId:
        """The number of a generation, and the generation that a call gives: None while the group is not stable."""
        made = cls(credentials.generation_id)
        made.stable = credentials if is_stable else None
        return made

    def __call__(self) -> Generation | None:
        """Give the generation; None while the group is not stable."""
        return self.stable


class GroupMember(tuple[str, bytes]):
    """What the leader is told of a member: ``(member_id, metadata_bytes)``, as 1.x had it, with names as in 2.3."""

    group_instance_id: str | None

    def __new__(cls, member_id: str, metadata_bytes: bytes, group_instance_id: str | None = None) -> GroupMember:
        """Make one."""
        made = super().__new__(cls, (member_id, metadata_bytes))
        made.group_instance_id = group_instance_id
        return made

    @property
    def member_id(self) -> str:
        """Its id."""
        return self[0]

    @property
    def metadata_bytes(self) -> bytes:
        """What it said about itself, in the protocol that was chosen."""
        return self[1]


class UnjoinedGroupException(KafkaError):
    """The member left the group while it was joining."""

    retriable = True
