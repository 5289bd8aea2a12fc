"""A member's heartbeats (KIP-848): the requests, the task that sends them, and the meaning of errors in responses.

A request contains only the fields that have changed since the last request that reached the coordinator.
"""

import asyncio
import contextlib
import enum
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple
from uuid import UUID

from kafka.cluster import Backoff, RetryPolicy
from kafka.config import GroupOptions
from kafka.coordinator.consumer_protocol import partitions_by_topic
from kafka.coordinator.group_metrics import PollClock
from kafka.coordinator.membership import Partitions
from kafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    FencedMemberEpochError,
    GroupAuthorizationFailedError,
    GroupIdNotFoundError,
    InvalidRegularExpressionError,
    KafkaError,
    NotCoordinatorError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
    UnreleasedInstanceIdError,
    UnsupportedAssignorError,
    UnsupportedVersionError,
    for_code,
)
from kafka.wire.api.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

log = logging.getLogger(__name__)

LEAVE_EPOCH = -1
"""The epoch in a request to leave the group."""
LEAVE_STATIC_EPOCH = -2
"""The epoch in a static member's request to leave temporarily; its partitions remain reserved for it (KIP-345)."""


class Wanted(NamedTuple):
    """The subscription of a member.

    Arguments:
        topics: topic names.
        regex: a regular expression that the coordinator evaluates, or None.
    """

    topics: frozenset[str]
    regex: str | None = None


class Heartbeats:
    """Builds heartbeat requests.

    Arguments:
        options: the group, the instance id, the assignor, and the rebalance timeout.
        rack_id: the client's rack, or None (KIP-881).
        id_of: returns the id of an assigned topic.
    """

    def __init__(self, options: GroupOptions, rack_id: str | None, id_of: Callable[[str], UUID]) -> None:
        self._options = options
        self._rack_id = rack_id
        self._id_of = id_of
        self._had_regex = False
        self._wanted: Wanted | None = None
        self._owned_told = False

    def forget(self) -> None:
        """Send all fields with the next request, because the last one may not have arrived."""
        self._wanted, self._owned_told = None, False

    def joining(self, member_id: str, wanted: Wanted) -> ConsumerGroupHeartbeatRequest:
        """Build a member's first request."""
        self.forget()
        self._had_regex = False
        request = self._request(member_id, 0)
        request.rack_id = self._rack_id
        request.topic_partitions = []
        self._owned_told = True
        self._add_everything(request, wanted)
        return request

    def next(
        self, member_id: str, epoch: int, wanted: Wanted, owned: Partitions, acknowledges: bool
    ) -> ConsumerGroupHeartbeatRequest:
        """Build a member's next request.

        Arguments:
            owned: the partitions that the caller has, or is adopting.
            acknowledges: whether the caller has adopted the coordinator's assignment; the coordinator waits for that.
        """
        request = self._request(member_id, epoch)
        if self._wanted is None:
            self._add_everything(request, wanted)
        elif wanted != self._wanted:
            self._add_wanted(request, wanted)
        if not self._owned_told or acknowledges:
            self._owned_told = True
            by_topic = partitions_by_topic(sorted(owned))
            request.topic_partitions = [
                TopicPartitions(topic_id=self._id_of(topic), partitions=numbers) for topic, numbers in by_topic.items()
            ]
        return request

    def leaving(self, member_id: str) -> ConsumerGroupHeartbeatRequest:
        """Build a member's last request."""
        return self._request(member_id, LEAVE_EPOCH if self._options.group_instance_id is None else LEAVE_STATIC_EPOCH)

    def _request(self, member_id: str, epoch: int) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(
            group_id=self._options.group_id or "",
            member_id=member_id,
            member_epoch=epoch,
            instance_id=self._options.group_instance_id,
        )

    def _add_everything(self, request: ConsumerGroupHeartbeatRequest, wanted: Wanted) -> None:
        request.rebalance_timeout_ms = self._options.max_poll_interval_ms
        request.server_assignor = self._options.group_remote_assignor
        self._add_wanted(request, wanted)

    def _add_wanted(self, request: ConsumerGroupHeartbeatRequest, wanted: Wanted) -> None:
        self._wanted = wanted
        request.subscribed_topic_names = sorted(wanted.topics)
        if wanted.regex is not None or self._had_regex:  # "" cancels an earlier regular expression
            self._had_regex = True
            request.subscribed_topic_regex = wanted.regex or ""


NEEDS = (
    "group_protocol='consumer' requires Apache Kafka 4.0 or later, with the feature group.version at 1; "
    "use group_protocol='classic' until the cluster is upgraded"
)
REGEX_NEEDS = (
    "a SubscriptionPattern is evaluated by brokers since Apache Kafka 4.0; with older ones, use "
    "subscribe(pattern='...') with a Python regular expression, which the client evaluates"
)


class Refusal(enum.Enum):
    """How to handle an error in a heartbeat response."""

    TRY_AGAIN = "the coordinator is not ready"
    LOOK_FOR_COORDINATOR = "another broker is the coordinator"
    TELL_AND_TRY_AGAIN = "the error may be transient, but the caller must know"
    JOIN_AGAIN = "the membership is gone"
    GIVE_UP = "no repetition helps"


_MEANINGS = {
    CoordinatorLoadInProgressError.errno: Refusal.TRY_AGAIN,
    NotCoordinatorError.errno: Refusal.LOOK_FOR_COORDINATOR,
    CoordinatorNotAvailableError.errno: Refusal.LOOK_FOR_COORDINATOR,
    TopicAuthorizationFailedError.errno: Refusal.TELL_AND_TRY_AGAIN,
    FencedMemberEpochError.errno: Refusal.JOIN_AGAIN,
    UnknownMemberIdError.errno: Refusal.JOIN_AGAIN,
}

_HINTS = {
    UnsupportedVersionError.errno: NEEDS,
    UnsupportedAssignorError.errno: "group_remote_assignor must name an assignor of the broker: 'uniform' or 'range'",
    UnreleasedInstanceIdError.errno: (
        "another consumer has this group_instance_id: close it or wait for its session to expire, then create a new one"
    ),
    InvalidRegularExpressionError.errno: "the broker evaluates a SubscriptionPattern with RE2/J and its syntax",
}


def meaning_of(error_code: int, is_member: bool) -> Refusal:
    """Return how to handle an error.

    Arguments:
        is_member: whether the heartbeat was sent by a member, which rejoins if its group no longer exists. For a client
            that is joining, the same error means that the group is of another type.
    """
    if is_member and error_code == GroupIdNotFoundError.errno:
        return Refusal.JOIN_AGAIN
    return _MEANINGS.get(error_code, Refusal.GIVE_UP)


def refusal(group_id: str, response: ConsumerGroupHeartbeatResponse) -> KafkaError:
    """Return the error for the caller."""
    kind = for_code(response.error_code)
    if kind is GroupAuthorizationFailedError:
        return kind(group_id)
    texts = [f"heartbeat of group {group_id!r}", response.error_message or "", _HINTS.get(response.error_code, "")]
    return kind(": ".join(text for text in texts if text))


class HeartbeatTask:
    """Sends heartbeats from `start` to `stop`, at the interval that the coordinator requests, even after failures.

    The task also watches the caller: a member that does not poll must leave. Runs on the loop.

    Arguments:
        group_id: the group, for the log.
        beat: sends a heartbeat, handles the response, and returns the seconds until the next one. If it raises, it is
            called again after a pause.
        clock: knows when the caller last polled.
        max_poll_interval_ms: the maximum time between two polls.
        overdue: called with the seconds since the last poll once they exceed the maximum; no heartbeat follows.
        backoff: pauses after failed heartbeats.
    """

    def __init__(
        self,
        group_id: str,
        beat: Callable[[], Awaitable[float]],
        clock: PollClock,
        max_poll_interval_ms: float,
        overdue: Callable[[float], None],
        backoff: Backoff,
    ) -> None:
        self._group_id = group_id
        self._beat = beat
        self._clock = clock
        self._max_poll_s = max_poll_interval_ms / 1000
        self._overdue = overdue
        self._policy = RetryPolicy(backoff, log, quiet=1, fatal=lambda error: False)
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    @property
    def running(self) -> bool:
        """Whether heartbeats are being sent."""
        return self._task is not None

    def start(self) -> None:
        """Start with an immediate heartbeat, unless the task is already running."""
        if self._task is None:
            self._news.clear()
            self._task = asyncio.get_running_loop().create_task(self._run(), name=f"heartbeat {self._group_id}")

    def stop(self) -> None:
        """Stop sending heartbeats. May be called from within a heartbeat."""
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    def hurry(self) -> None:
        """Send the next heartbeat immediately, because something has changed. A pause after a failure still applies."""
        self._news.set()

    async def _run(self) -> None:
        loop, me = asyncio.get_running_loop(), asyncio.current_task()
        attempts = self._policy.attempts(f"heartbeat of group {self._group_id!r}")
        due = loop.time()
        while self._task is me:
            now = loop.time()
            idle = self._clock.idle(now)
            if idle > self._max_poll_s:
                self._task = None
                self._overdue(idle)
                return
            hurries = self._news.is_set() and not attempts.failures
            if now < due and not hurries:
                await self._wait(min(due - now, max(self._max_poll_s - idle, 0.001)), bool(attempts.failures))
                continue
            self._news.clear()
            try:
                interval = await self._beat()
            except Exception as error:
                due = loop.time() + attempts.note(error)
            else:
                attempts.succeeded()
                due = loop.time() + interval

    async def _wait(self, seconds: float, whatever_comes: bool) -> None:
        """Wait until the time has passed or, unless ``whatever_comes``, `hurry` is called."""
        if whatever_comes:
            await asyncio.sleep(seconds)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
