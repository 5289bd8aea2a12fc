"""Heartbeats: a task on the loop that tells the coordinator, again and again, that the member lives.

It also watches the caller: one that has not polled for `max_poll_interval_ms` counts as stuck, and its partitions are
given up (KIP-62).
"""

import asyncio
import logging
from typing import Protocol

from kafka.cluster import Backoff
from kafka.config import GroupOptions
from kafka.coordinator.client import GROUP, CoordinatorClient
from kafka.coordinator.generation import Generation
from kafka.coordinator.poll_clock import PollClock
from kafka.errors import KafkaError
from kafka.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse

log = logging.getLogger(__name__)


class Beating(Protocol):
    """The member that a heartbeat belongs to."""

    @property
    def generation(self) -> Generation:
        """Its credentials."""

    def heartbeat_answered(self, error_code: int) -> None:
        """The coordinator has answered."""

    def poll_overdue(self, idle_s: float) -> None:
        """The caller has not polled for longer than it may."""


class Heartbeat:
    """Beats from `start` to `stop`.

    Arguments:
        client: sends to the coordinator.
        group_id: the group.
        options: intervals and timeouts, in milliseconds.
        clock: tells when the caller last polled.
        member: is told of answers.
        backoff: pauses after heartbeats that did not get through.
    """

    def __init__(
        self,
        client: CoordinatorClient,
        group_id: str,
        options: GroupOptions,
        clock: PollClock,
        member: Beating,
        backoff: Backoff,
    ) -> None:
        self._client = client
        self._group_id = group_id
        self._options = options
        self._clock = clock
        self._member = member
        self._backoff = backoff
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether it is between `start` and `stop`."""
        return self._task is not None

    def start(self) -> None:
        """Begin to beat; does nothing if it does already."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name=f"heartbeat {self._group_id}")

    def stop(self) -> None:
        """Stop; may be called from within an answer."""
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        me = asyncio.current_task()
        interval = self._options.heartbeat_interval_ms / 1000
        max_poll = self._options.max_poll_interval_ms / 1000
        due = loop.time() + interval
        failures = 0
        while self._task is me:
            now = loop.time()
            idle = self._clock.idle(now)
            if idle > max_poll:
                self._member.poll_overdue(idle)
                return
            if now < due:
                await asyncio.sleep(min(due - now, max(max_poll - idle, 0.001)))
                continue
            failures = 0 if await self._beat() else failures + 1
            due = loop.time() + (min(interval, self._backoff.seconds(failures)) if failures else interval)

    async def _beat(self) -> bool:
        """One heartbeat; whether the coordinator answered it."""
        generation = self._member.generation
        request = HeartbeatRequest(
            group_id=self._group_id,
            generation_id=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=self._options.group_instance_id,
        )
        try:
            async with asyncio.timeout(self._options.session_timeout_ms / 1000):
                response: HeartbeatResponse = await self._client.send_coordinator(
                    GROUP, self._group_id, request, timeout_ms=self._options.session_timeout_ms
                )
        except (KafkaError, TimeoutError) as error:
            log.info("a heartbeat of group %s did not get through, trying again: %r", self._group_id, error)
            self._client.forget_coordinator(GROUP, self._group_id)
            return False
        if self._member.generation == generation:
            self._member.heartbeat_answered(response.error_code)
        return True
