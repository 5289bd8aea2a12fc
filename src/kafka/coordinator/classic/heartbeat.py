"""Heartbeats: a task on the loop that shows the coordinator that the member is alive.

The task also watches the caller. A caller that has not polled for `max_poll_interval_ms` counts as stuck, and the
member leaves the group so that other members get its partitions (KIP-62).
"""

import asyncio
import logging
from typing import Protocol

from kafka.cluster import Backoff, CoordinatorRequests, LogLimiter, RetryPolicy
from kafka.config import GroupOptions
from kafka.coordinator.group_metrics import GroupStatistics, PollClock
from kafka.coordinator.membership import Generation
from kafka.errors import CoordinatorNotAvailableError, KafkaTimeoutError, NotCoordinatorError, for_code
from kafka.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse

log = logging.getLogger(__name__)

_TRIES_A_SESSION = 3
"""A heartbeat request times out after a third of the session timeout, which leaves time for more attempts."""


class HeartbeatListener(Protocol):
    """The member for which heartbeats are sent."""

    @property
    def generation(self) -> Generation:
        """The member's generation."""

    def heartbeat_answered(self, error_code: int) -> None:
        """Called with the error code of each response."""

    def poll_overdue(self, idle_s: float) -> None:
        """Called once the caller has exceeded the poll interval."""


class Heartbeat:
    """Sends heartbeats from `start` to `stop`, even after failures.

    Arguments:
        client: sends requests to the coordinator.
        group_id: the group.
        options: intervals and timeouts, in milliseconds.
        request_timeout_ms: the timeout of a request; at most a third of the session.
        clock: knows when the caller last polled.
        listener: receives the outcomes.
        backoff: pauses after failed heartbeats.
        statistics: counts heartbeats.
    """

    def __init__(
        self,
        client: CoordinatorRequests,
        group_id: str,
        options: GroupOptions,
        request_timeout_ms: float,
        clock: PollClock,
        listener: HeartbeatListener,
        backoff: Backoff,
        statistics: GroupStatistics | None = None,
    ) -> None:
        self._client = client
        self._group_id = group_id
        self._options = options
        self._timeout_ms = min(request_timeout_ms, options.session_timeout_ms / _TRIES_A_SESSION)
        self._clock = clock
        self._statistics = statistics or GroupStatistics()
        self._listener = listener
        self._policy = RetryPolicy(backoff, log, quiet=1, fatal=lambda error: False)
        self._silence = LogLimiter(log)
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether heartbeats are being sent."""
        return self._task is not None

    def start(self) -> None:
        """Start sending heartbeats, unless they are already being sent."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name=f"heartbeat {self._group_id}")

    def stop(self) -> None:
        """Stop sending heartbeats. May be called while a response is being handled."""
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        me = asyncio.current_task()
        interval = self._options.heartbeat_interval_ms / 1000
        max_poll = self._options.max_poll_interval_ms / 1000
        attempts = self._policy.attempts(f"heartbeat of group {self._group_id!r}")
        answered = loop.time()
        due = answered + interval
        while self._task is me:
            now = loop.time()
            idle = self._clock.idle(now)
            if idle > max_poll:
                self._listener.poll_overdue(idle)
                return
            if now < due:
                await asyncio.sleep(min(due - now, max(max_poll - idle, 0.001)))
                continue
            try:
                await self._send_one()
            except Exception as error:
                self._client.forget_coordinator("group", self._group_id)
                due = loop.time() + min(interval, attempts.note(error))
                self._warn_of_silence(loop.time() - answered)
            else:
                attempts.succeeded()
                answered = loop.time()
                due = answered + interval

    async def _send_one(self) -> None:
        generation = self._listener.generation
        request = HeartbeatRequest(
            group_id=self._group_id,
            generation_id=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=self._options.group_instance_id,
        )
        loop = asyncio.get_running_loop()
        sent_at = self._statistics.last_heartbeat = loop.time()
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                response: HeartbeatResponse = await self._client.send_coordinator(
                    "group", self._group_id, request, timeout_ms=self._timeout_ms
                )
        except TimeoutError as error:  # also raised if the coordinator was not found or not reached
            raise KafkaTimeoutError(f"no answer within {self._timeout_ms:g} ms") from error
        now = loop.time()
        self._statistics.heartbeats.record(1000 * (now - sent_at), now)
        if response.error_code in (NotCoordinatorError.errno, CoordinatorNotAvailableError.errno):
            raise for_code(response.error_code)(f"heartbeat of group {self._group_id!r}")
        if self._listener.generation == generation:
            self._listener.heartbeat_answered(response.error_code)

    def _warn_of_silence(self, silent_s: float) -> None:
        """Warn, but continue, as in Java: a coordinator that returns after a failure still knows the member."""
        if silent_s * 1000 > self._options.session_timeout_ms:
            self._silence.warning(
                "silence",
                f"group {self._group_id}: no heartbeat was answered for {silent_s:.1f} s, longer than "
                f"session_timeout_ms={self._options.session_timeout_ms}; other members may have the partitions by now",
            )
