"""A member of a share group: a task on the loop that joins, sends heartbeats, and adopts its assignment.

The member chooses its id once. Assignments come with responses and are not acknowledged. Java:
``ShareMembershipManager`` and ``ShareHeartbeatRequestManager``.
"""

import asyncio
import contextlib
import enum
import logging
from typing import Protocol
from uuid import UUID

from kafka._loop_services import new_uuid
from kafka.cluster import Backoff, CoordinatorRequests, RetryPolicy
from kafka.coordinator.group_metrics import PollClock
from kafka.coordinator.membership import MemberStatus
from kafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    FencedMemberEpochError,
    IllegalStateError,
    KafkaError,
    NotCoordinatorError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
    UnsupportedVersionError,
    for_code,
)
from kafka.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

log = logging.getLogger(__name__)

_JOIN, _LEAVE = 0, -1
_OLDEST_VERSION = 1
"""Version 0 belongs to the early access release in Kafka 4.0, which works differently."""
_ELSEWHERE = (NotCoordinatorError, CoordinatorNotAvailableError, CoordinatorLoadInProgressError)
_REJOIN = (UnknownMemberIdError, FencedMemberEpochError)
_FEATURE = "share.version"
_SHORTEST_TIMEOUT_MS = 1_000.0


class ShareMemberState(enum.Enum):
    """The state of a member."""

    UNSUBSCRIBED = "not subscribed: not a member"
    JOINING = "the next heartbeat joins the group"
    STABLE = "a member, kept alive by heartbeats"
    STALE = "left because poll() was not called: the next one joins again"
    FATAL = "the coordinator refuses this member: every poll() raises"
    CLOSED = "the consumer is closed"


_S = ShareMemberState
TRANSITIONS: dict[ShareMemberState, frozenset[ShareMemberState]] = {
    _S.UNSUBSCRIBED: frozenset({_S.JOINING, _S.CLOSED}),
    _S.JOINING: frozenset({_S.JOINING, _S.STABLE, _S.UNSUBSCRIBED, _S.FATAL, _S.CLOSED}),
    _S.STABLE: frozenset({_S.STABLE, _S.JOINING, _S.STALE, _S.UNSUBSCRIBED, _S.FATAL, _S.CLOSED}),
    _S.STALE: frozenset({_S.JOINING, _S.UNSUBSCRIBED, _S.CLOSED}),
    _S.FATAL: frozenset({_S.UNSUBSCRIBED, _S.CLOSED}),
    _S.CLOSED: frozenset(),
}


def check_move(before: ShareMemberState, after: ShareMemberState) -> None:
    """Raise `IllegalStateError` for a transition that the table does not allow."""
    if after not in TRANSITIONS[before]:
        raise IllegalStateError(f"a share group's member cannot become {after.name} while it is {before.name}")


class ShareMemberListener(Protocol):
    """The share consumer that the membership belongs to. Called on the loop."""

    def assigned(self, partitions: dict[UUID, list[int]]) -> None:
        """Called with the assigned partitions, by topic id."""

    def failed(self, error: Exception) -> None:
        """Called with an error that is to be raised once."""

    def refused(self, error: Exception) -> None:
        """Called with an error that is to be raised in every call until the consumer unsubscribes."""


class ShareMembership:
    """A member of a share group; see the module. Used on the loop only.

    Arguments:
        client: sends requests to the coordinator.
        group_id: the group.
        rack: the client's rack; "" if unknown.
        max_poll_interval_ms: the maximum time between two polls.
        request_timeout_ms: the timeout of a heartbeat.
        clock: knows when the caller last polled.
        backoff: pauses after failures.
        listener: notified of events.

    Attributes:
        member_id: the id that the member chose.
        heartbeats, joins: the numbers of successful heartbeats and joins.
    """

    def __init__(
        self,
        client: CoordinatorRequests,
        group_id: str,
        rack: str,
        max_poll_interval_ms: float,
        request_timeout_ms: float,
        clock: PollClock,
        backoff: Backoff,
        listener: ShareMemberListener,
    ) -> None:
        self.member_id = str(new_uuid())
        self.state = ShareMemberState.UNSUBSCRIBED
        self.heartbeats = self.joins = 0
        self._client = client
        self._group_id = group_id
        self._rack = rack or None
        self._max_poll_s = max_poll_interval_ms / 1000
        self._timeout_ms = request_timeout_ms
        self._clock = clock
        self._listener = listener
        self._attempts = RetryPolicy(backoff, log, quiet=1, fatal=lambda error: False)
        self._topics: frozenset[str] = frozenset()
        self._told: frozenset[str] | None = None
        """The topics that were sent to the coordinator; None if it may not have received them."""
        self._epoch = _JOIN
        self._joins_begun = 0
        self._is_join_out = False
        self._interval_s = 0.0
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def status(self) -> MemberStatus:
        """Return the member's status. Thread-safe."""
        state = self.state
        waits_for = f"its group: {state.value}" if state in (ShareMemberState.JOINING, ShareMemberState.STALE) else ""
        return MemberStatus(state.name, waits_for, state is ShareMemberState.STALE)

    # Called by the consumer -------------------------------------------------------------------------------------------

    def subscribe(self, topics: frozenset[str]) -> None:
        """Join the group, if necessary, and read these topics."""
        self._topics = topics
        if self.state is ShareMemberState.FATAL:
            self._go(ShareMemberState.UNSUBSCRIBED)
        if self.state is ShareMemberState.UNSUBSCRIBED:
            self._rejoin()
        if self._task is None:
            name = f"heartbeats of share group {self._group_id}"
            self._task = asyncio.get_running_loop().create_task(self._run(), name=name)
        self._news.set()

    def polled(self) -> None:
        """Rejoin if this member was removed because it did not poll."""
        if self.state is ShareMemberState.STALE:
            self._rejoin()
            self._news.set()

    async def leave(self, timeout_ms: float) -> None:
        """Leave the group, and wait up to the timeout for the coordinator. Does not raise."""
        if self.state in (ShareMemberState.UNSUBSCRIBED, ShareMemberState.CLOSED):
            return
        # A join without a response also creates a member, which would own partitions until its session expires.
        may_be_member = self.state is ShareMemberState.STABLE or self._is_join_out
        self._go(ShareMemberState.UNSUBSCRIBED)
        self._listener.assigned({})
        if may_be_member:
            await self._tell_of_leaving(timeout_ms)

    async def close(self, timeout_ms: float) -> None:
        """Leave the group and stop. Does not raise."""
        task, self._task = self._task, None
        try:
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        finally:
            try:
                await self.leave(timeout_ms)
            finally:
                if self.state is not ShareMemberState.CLOSED:
                    self._go(ShareMemberState.CLOSED)

    # Internals --------------------------------------------------------------------------------------------------------

    def _go(self, state: ShareMemberState) -> None:
        check_move(self.state, state)
        self.state = state

    def _rejoin(self) -> None:
        self._go(ShareMemberState.JOINING)
        self._epoch, self._told = _JOIN, None
        self._joins_begun += 1

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        attempts = self._attempts.attempts(f"heartbeat of share group {self._group_id!r}")
        due = loop.time()
        while True:
            self._news.clear()
            now = loop.time()
            if self.state not in (ShareMemberState.JOINING, ShareMemberState.STABLE):
                await self._news.wait()
                due = loop.time()
                continue
            idle = self._clock.idle(now)
            if idle > self._max_poll_s and self.state is ShareMemberState.STABLE:
                await self._leave_for_want_of_polls(idle)
                continue
            if now < due and not (self.state is ShareMemberState.STABLE and self._told not in (None, self._topics)):
                await self._wait(min(due - now, max(self._max_poll_s - idle, 0.001)))
                continue
            try:
                await self._send()
            except Exception as error:
                self._told = None
                if not isinstance(error, _REJOIN):
                    self._client.forget_coordinator("group", self._group_id)
                due = loop.time() + attempts.note(error)
            else:
                attempts.succeeded()
                due = loop.time() + self._interval_s

    async def _wait(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()

    async def _leave_for_want_of_polls(self, idle_s: float) -> None:
        log.warning(
            "share group %s: leaving, as the consumer was not polled for %.1f s, longer than max_poll_interval_ms=%d; "
            "process records faster, request fewer of them (max_poll_records), or raise it",
            self._group_id,
            idle_s,
            self._max_poll_s * 1000,
        )
        self._go(ShareMemberState.STALE)
        self._listener.assigned({})
        await self._tell_of_leaving(self._timeout_ms)

    async def _tell_of_leaving(self, timeout_ms: float) -> None:
        request = ShareGroupHeartbeatRequest(group_id=self._group_id, member_id=self.member_id, member_epoch=_LEAVE)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self._client.send_coordinator(
                    "group",
                    self._group_id,
                    request,
                    timeout_ms=max(timeout_ms, _SHORTEST_TIMEOUT_MS),
                    min_version=_OLDEST_VERSION,
                )
        except (KafkaError, TimeoutError) as error:
            log.debug("share group %s: could not tell the coordinator of leaving: %s", self._group_id, error)

    async def _send(self) -> None:
        topics, epoch, begun = self._topics, self._epoch, self._joins_begun
        joins = self.state is ShareMemberState.JOINING
        request = ShareGroupHeartbeatRequest(
            group_id=self._group_id,
            member_id=self.member_id,
            member_epoch=epoch,
            rack_id=self._rack if joins else None,
            subscribed_topic_names=None if self._told == topics and not joins else sorted(topics),
        )
        self._is_join_out = joins
        try:
            response = await self._client.send_coordinator(
                "group", self._group_id, request, timeout_ms=self._timeout_ms, min_version=_OLDEST_VERSION
            )
        except UnsupportedVersionError as error:
            self._is_join_out = False
            self._refuse(self._unsupported(str(error)))
            return
        except Exception:
            self._is_join_out = False
            raise
        self._is_join_out = False
        if self._joins_begun != begun or self.state not in (ShareMemberState.JOINING, ShareMemberState.STABLE):
            return  # the member has left or rejoined in the meantime
        if response.error_code:
            self._failed(for_code(response.error_code), response.error_message)
        else:
            self._answered(response, topics)

    def _answered(self, response: ShareGroupHeartbeatResponse, topics: frozenset[str]) -> None:
        self.heartbeats += 1
        if self.state is ShareMemberState.JOINING:
            self.joins += 1
            log.info("share group %s: joined as member %s", self._group_id, self.member_id)
        self._go(ShareMemberState.STABLE)
        self._told = topics
        self._epoch = response.member_epoch
        self._interval_s = response.heartbeat_interval_ms / 1000
        if response.assignment is not None:
            self._listener.assigned(
                {each.topic_id: list(each.partitions) for each in response.assignment.topic_partitions}
            )

    def _failed(self, kind: type[KafkaError], text: str | None) -> None:
        """Handle an error from the coordinator. Raises errors that are to be retried."""
        error = kind(f"share group {self._group_id!r}: {text or kind.__name__}")
        if issubclass(kind, _REJOIN):
            log.info("%s; joining again", error)
            self._rejoin()
            self._listener.assigned({})
            raise error
        if issubclass(kind, _ELSEWHERE):
            raise error
        if issubclass(kind, TopicAuthorizationFailedError):
            self._listener.failed(TopicAuthorizationFailedError(set(self._topics)))
            raise error
        if isinstance(error, UnsupportedVersionError):
            self._refuse(self._unsupported(text or "it refuses share groups"))
        elif getattr(error, "retriable", False):
            raise error
        else:
            self._refuse(error)

    def _refuse(self, error: Exception) -> None:
        self._go(ShareMemberState.FATAL)
        self._listener.assigned({})
        self._listener.refused(error)

    def _unsupported(self, why: str) -> UnsupportedVersionError:
        level = self._client.feature_level(_FEATURE)
        return UnsupportedVersionError(
            f"share group {self._group_id!r}: share groups (KIP-932) require Kafka 4.2, or 4.1 with the feature "
            f"{_FEATURE} at level 1; in this cluster it is at level {level} ({why}). If the brokers are new enough, "
            f"enable it with kafka-features.sh upgrade --feature {_FEATURE}=1"
        )
