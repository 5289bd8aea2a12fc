"""When a connection is closed because of the time: an answer is late, or the connection was idle for too long.

One timer serves all the deadlines of a connection, so requests need no timers of their own.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from kafka.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError
from kafka.net.inflight import InFlight, InFlightTable
from kafka.net.send_queue import SendQueue


class CheckTimer:
    """Calls ``check`` at the earliest of the requested times, and then forgets all of them.

    Arguments:
        check: requests the times that still matter again.
    """

    __slots__ = ("_at", "_check", "_loop", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, check: Callable[[], None]) -> None:
        self._loop = loop
        self._check = check
        self._timer: asyncio.TimerHandle | None = None
        self._at = 0.0

    def at(self, when: float) -> None:
        """Check at ``when`` (the loop's time in seconds) at the latest."""
        if self._timer is not None:
            if self._at <= when:
                return
            self._timer.cancel()
        self._at = when
        self._timer = self._loop.call_at(when, self._fire)

    def cancel(self) -> None:
        """Stop checking."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._timer = None
        self._check()


class TimedConnection(Protocol):
    """The part of a connection that its deadlines use."""

    ended_here: bool

    @property
    def described_as(self) -> str: ...
    def abort(self, error: KafkaError) -> None: ...


class Deadlines:
    """Closes a connection whose time is up.

    Arguments:
        table: the requests that wait for answers, with their deadlines.
        send_queue: the queued requests; while there are any, the connection is in use.
        max_idle_ms: ``connections_max_idle_ms``, see `watch_use`; negative for no limit.

    Attributes:
        timer: must be notified of each new deadline.
        last_used: when the last request was sent, in the loop's seconds.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: TimedConnection,
        table: InFlightTable,
        send_queue: SendQueue,
        max_idle_ms: float,
    ) -> None:
        self._loop = loop
        self._connection = connection
        self._table = table
        self._send_queue = send_queue
        self._max_idle_ms = max_idle_ms
        self.timer = CheckTimer(loop, self.check)
        self.last_used = loop.time()

    def watch_use(self) -> None:
        """From now on, close the connection when it is idle for ``connections_max_idle_ms``."""
        if self._max_idle_ms >= 0:
            self.timer.at(self.last_used + self._max_idle_ms / 1000)

    def check(self) -> None:
        """Close the connection if a deadline has passed; otherwise check again at the next one."""
        now = self._loop.time()
        late = self._table.expired(now)
        if late is not None:
            self._time_out(late)
            return
        due = self._table.earliest_deadline()
        if due is None and self._max_idle_ms >= 0:
            since = now if self._send_queue else self.last_used
            due = since + self._max_idle_ms / 1000
            if due <= now:
                broker = self._connection
                broker.ended_here = True
                broker.abort(KafkaConnectionError(f"closed the unused connection to {broker.described_as}"))
                return
        if due is not None:
            self.timer.at(due)

    def _time_out(self, late: InFlight) -> None:
        broker = self._connection
        request = f"{late.request.NAME} version {late.version}"
        what = f"{request} got no answer from {broker.described_as} in {late.timeout_s:g} s"
        self._table.remove(late)  # it gets its own error, once nothing can be sent here any more
        broker.abort(KafkaConnectionError(f"the connection was closed, because {what}"))
        if not late.future.done():
            late.future.set_exception(KafkaTimeoutError(f"{what}; the connection was closed"))
