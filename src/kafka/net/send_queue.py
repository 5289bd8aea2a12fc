"""The queue of requests that a connection may not send yet. They are sent in order.

Nothing is sent while the connection reauthenticates (`hold`), while the broker throttles this client (KIP-219), or
while ``max_in_flight_requests_per_connection`` requests wait for their answers.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from kafka.net.inflight import Answered, InFlight
from kafka.net.stream import Part


class Outgoing:
    """An encoded request. ``entry`` is None if it gets no answer (acks=0)."""

    __slots__ = ("entry", "number", "parts", "reply", "written")

    def __init__(
        self,
        number: int,
        parts: Sequence[Part],
        reply: Answered[Any],
        entry: InFlight | None,
        written: Callable[[], object] | None,
    ) -> None:
        self.number = number
        self.parts = parts
        self.reply = reply
        self.entry = entry
        self.written = written


class SendQueue:
    """Sends the requests of one connection as soon as they may be sent.

    Arguments:
        transmit: writes a request to the stream, and starts its timeout.
        in_flight: returns the number of requests that wait for their answers.
        limit: maximum number of requests that may wait for their answers.

    Attributes:
        waiting: the queued requests.
    """

    __slots__ = (
        "_held",
        "_in_flight",
        "_limit",
        "_loop",
        "_throttle_timer",
        "_throttled_until",
        "_transmit",
        "waiting",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transmit: Callable[[Outgoing], None],
        in_flight: Callable[[], int],
        limit: int,
    ) -> None:
        self._loop = loop
        self._transmit = transmit
        self._in_flight = in_flight
        self._limit = limit
        self.waiting: deque[Outgoing] = deque()
        self._held = False
        self._throttled_until = 0.0
        self._throttle_timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self.waiting)

    def put(self, outgoing: Outgoing) -> None:
        """Send a request, now or after those queued before it."""
        if not self.waiting and not self._held and self._throttle_timer is None and self._in_flight() < self._limit:
            self._transmit(outgoing)
        else:
            self.waiting.append(outgoing)

    def flush(self) -> None:
        """Send the requests that may be sent now, after an answer."""
        while self.waiting and not self._held and self._throttle_timer is None and self._in_flight() < self._limit:
            outgoing = self.waiting.popleft()
            if not outgoing.reply.done():  # else the caller gave up before it was sent
                self._transmit(outgoing)

    def hold(self) -> None:
        """Queue everything until `unhold`."""
        self._held = True

    def unhold(self) -> None:
        """Send the requests queued since `hold`."""
        self._held = False
        self.flush()

    def throttle(self, seconds: float) -> None:
        """Queue everything for this time: the broker does not read from this connection meanwhile (KIP-219)."""
        until = self._loop.time() + seconds
        if until <= self._throttled_until:
            return
        self._throttled_until = until
        if self._throttle_timer is not None:
            self._throttle_timer.cancel()
        self._throttle_timer = self._loop.call_at(until, self._throttle_over)

    def _throttle_over(self) -> None:
        self._throttle_timer = None
        self.flush()

    def close(self) -> list[Answered[Any]]:
        """Stop sending; return the waiters of unsent requests."""
        if self._throttle_timer is not None:
            self._throttle_timer.cancel()
            self._throttle_timer = None
        left = [outgoing.reply for outgoing in self.waiting]
        self.waiting.clear()
        return left
