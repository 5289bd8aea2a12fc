"""The requests of one connection that are queued or waiting for their answers, and their deadlines.

Requests are sent in order. They are queued while the connection reauthenticates (`SendQueue.hold`), while the broker
throttles this client (KIP-219), and while ``max_in_flight_requests_per_connection`` requests are waiting for their
answers.

A connection is closed if an answer is late, or if the connection has been idle for too long. One timer serves all the
deadlines of a connection, so requests need no timers of their own.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from kafka.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError
from kafka.net.frame_stream import Part

if TYPE_CHECKING:
    from kafka.wire import Request

R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)


class Answered(Protocol[R_contra]):
    """The receiver of an answer: an asyncio future, or a `Reply`."""

    def done(self) -> bool:
        """Return whether the answer is no longer needed."""

    def set_result(self, result: R_contra, /) -> None:
        """Accept the response."""

    def set_exception(self, exception: Any, /) -> None:
        """Accept an error, because there will be no response."""


class Reply(Generic[R]):
    """Receives an answer as soon as it is decoded. Awaiting a future would cost at least an iteration of the loop.

    Arguments:
        take: called once by the connection, with the response and None, or with None and the error. It must not raise.
            It may use or close the connection.
    """

    __slots__ = ("_take",)

    def __init__(self, take: Callable[[R | None, Exception | None], object]) -> None:
        self._take: Callable[[R | None, Exception | None], object] | None = take

    def done(self) -> bool:
        """Return whether the reply has its answer, or was cancelled."""
        return self._take is None

    def set_result(self, result: R, /) -> None:
        """Pass on the response."""
        take, self._take = self._take, None
        if take is not None:
            take(result, None)

    def set_exception(self, exception: Exception, /) -> None:
        """Pass on the error, because there will be no response."""
        take, self._take = self._take, None
        if take is not None:
            take(None, exception)

    def cancel(self) -> bool:
        """Ignore the answer when it arrives."""
        self._take = None
        return True


class InFlight:
    """A request that is queued or waiting for its answer, and the future for the answer.

    The send time and the deadline, in seconds of the loop's clock, are set when the request is sent.

    Arguments:
        digest: converts the response, in the thread that decodes it, to the result of ``future``; None: the result is
            the response itself.
        number: the correlation id.
        parts: the encoded request; emptied when the request is sent.
        written: called once the request is passed to the socket; None for a request that has an answer.
    """

    __slots__ = (
        "deadline",
        "digest",
        "future",
        "number",
        "parts",
        "request",
        "sent_at",
        "timeout_s",
        "version",
        "written",
    )

    def __init__(
        self,
        request: "type[Request[Any]]",
        version: int,
        future: Answered[Any],
        timeout_s: float,
        digest: Callable[[Any], Any] | None = None,
        number: int = 0,
        parts: Sequence[Part] = (),
        written: Callable[[], object] | None = None,
    ) -> None:
        self.request = request
        self.digest = digest
        self.version = version
        self.future = future
        self.number = number
        self.parts = parts
        self.written = written
        self.deadline = math.inf
        self.sent_at = 0.0
        self.timeout_s = timeout_s


LAST_ID = 0x7FFFFFFF
"""The largest correlation id, and the mask that makes 0 of the number after it."""


class InFlightTable(dict[int, InFlight]):
    """The requests in flight by correlation id. Brokers answer in order, but this class does not rely on that.

    It is a dict so that adding, removing and counting do not call Python functions.

    Attributes:
        last_id: the correlation id of the last request. The next one, which is not in use, is one more; 0 follows
            `LAST_ID`.
    """

    __slots__ = ("last_id",)

    def __init__(self) -> None:
        super().__init__()
        self.last_id = 0

    def remove(self, entry: InFlight) -> None:
        """Stop waiting for the answer to a request."""
        for number in [number for number, each in self.items() if each is entry]:
            del self[number]

    def extend(self, quiet_until: float) -> None:
        """Restart the timeouts of all requests at ``quiet_until``, because no answer can arrive before that time."""
        for entry in self.values():
            entry.deadline = max(entry.deadline, quiet_until + entry.timeout_s)

    def earliest_deadline(self) -> float | None:
        """Return the earliest deadline of all requests; None if there are none."""
        return min((entry.deadline for entry in self.values()), default=None)

    def expired(self, now: float) -> InFlight | None:
        """Return the oldest request whose deadline has passed, or None."""
        return next((entry for entry in self.values() if entry.deadline <= now), None)

    def drain(self) -> list[InFlight]:
        """Remove and return all requests, oldest first."""
        entries = list(self.values())
        self.clear()
        return entries


class SendQueue:
    """Sends the requests of one connection as soon as they may be sent.

    Arguments:
        transmit: writes a request to the stream, and starts its timeout.
        in_flight: returns the number of requests waiting for an answer.
        limit: maximum number of requests waiting for an answer.

    Attributes:
        waiting: the queued requests.
        is_blocked: whether nothing may be sent now, because sending is held or throttled.
        limit: maximum number of requests waiting for an answer.
    """

    __slots__ = (
        "_held",
        "_in_flight",
        "_loop",
        "_throttle_timer",
        "_throttled_until",
        "_transmit",
        "is_blocked",
        "limit",
        "waiting",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transmit: Callable[[InFlight], None],
        in_flight: Callable[[], int],
        limit: int,
    ) -> None:
        self._loop = loop
        self._transmit = transmit
        self._in_flight = in_flight
        self.limit = limit
        self.is_blocked = False
        self.waiting: deque[InFlight] = deque()
        self._held = False
        self._throttled_until = 0.0
        self._throttle_timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self.waiting)

    def put(self, outgoing: InFlight) -> None:
        """Send a request if possible; otherwise queue it."""
        if not self.waiting and not self.is_blocked and self._in_flight() < self.limit:
            self._transmit(outgoing)
        else:
            self.waiting.append(outgoing)

    def flush(self) -> None:
        """Send the queued requests that may be sent now. Called after each answer."""
        while self.waiting and not self.is_blocked and self._in_flight() < self.limit:
            outgoing = self.waiting.popleft()
            if not outgoing.future.done():  # otherwise the caller gave up before the request was sent
                self._transmit(outgoing)

    def hold(self) -> None:
        """Queue all requests until `unhold` is called."""
        self._held = self.is_blocked = True

    def unhold(self) -> None:
        """Send the requests queued since `hold` was called."""
        self._held = False
        self.is_blocked = self._throttle_timer is not None
        self.flush()

    def throttle(self, seconds: float) -> None:
        """Queue all requests for ``seconds``, during which the broker does not read from the connection (KIP-219)."""
        until = self._loop.time() + seconds
        if until <= self._throttled_until:
            return
        self._throttled_until = until
        if self._throttle_timer is not None:
            self._throttle_timer.cancel()
        self._throttle_timer = self._loop.call_at(until, self._throttle_over)
        self.is_blocked = True

    def _throttle_over(self) -> None:
        self._throttle_timer = None
        self.is_blocked = self._held
        self.flush()

    def close(self) -> list[Answered[Any]]:
        """Stop sending; return the waiters of unsent requests."""
        if self._throttle_timer is not None:
            self._throttle_timer.cancel()
            self._throttle_timer = None
        left = [outgoing.future for outgoing in self.waiting]
        self.waiting.clear()
        return left


class CheckTimer:
    """Calls ``check`` at the earliest requested time, and then forgets all requested times.

    Arguments:
        check: must again request all times that are still needed.

    Attributes:
        due_at: the earliest requested time; infinity if none is requested. A later time need not be requested.
    """

    __slots__ = ("_check", "_loop", "_timer", "due_at")

    def __init__(self, loop: asyncio.AbstractEventLoop, check: Callable[[], None]) -> None:
        self._loop = loop
        self._check = check
        self._timer: asyncio.TimerHandle | None = None
        self.due_at = math.inf

    def at(self, when: float) -> None:
        """Request a check at ``when`` (seconds of the loop's clock) or earlier."""
        if self.due_at <= when:
            return
        if self._timer is not None:
            self._timer.cancel()
        self.due_at = when
        self._timer = self._loop.call_at(when, self._fire)

    def cancel(self) -> None:
        """Cancel the next check."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self.due_at = math.inf

    def _fire(self) -> None:
        self._timer = None
        self.due_at = math.inf
        self._check()


class TimedConnection(Protocol):
    """The part of a connection that its deadlines use."""

    ended_here: bool

    @property
    def described_as(self) -> str: ...
    def abort(self, error: KafkaError) -> None: ...


class Deadlines:
    """Closes a connection if an answer is late, or if the connection has been idle for too long.

    Arguments:
        table: the requests waiting for answers, with their deadlines.
        send_queue: the queued requests; while there are any, the connection is not idle.
        max_idle_ms: ``connections_max_idle_ms`` (see `watch_use`); negative for no limit.

    Attributes:
        timer: must be notified of each new deadline.
        last_used: when the last request was sent, in seconds of the loop's clock.
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
        """Start closing the connection when it has been idle for ``connections_max_idle_ms``."""
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
        self._table.remove(late)  # the late request gets its own error below, once the connection can no longer send
        broker.abort(KafkaConnectionError(f"the connection was closed, because {what}"))
        if not late.future.done():
            late.future.set_exception(KafkaTimeoutError(f"{what}; the connection was closed"))
