"""Receives answers: matches each frame to its request by correlation id, reads it, and gives it to the caller."""

import asyncio
import logging
from typing import Any, Protocol

from kafka.errors import CorrelationIdError, InvalidReceiveError, KafkaConnectionError, KafkaError, WireFormatError
from kafka.net.answer_reader import AnswerReader
from kafka.net.buffers import FrameBuffer
from kafka.net.inflight import InFlight, InFlightTable
from kafka.net.outbox import Outbox
from kafka.net.statistics import NodeTraffic
from kafka.net.throttle import ThrottleLog
from kafka.wire.framing import correlation_id

log = logging.getLogger(__name__)

_SHORTEST_FRAME = 4
_SIZE_BYTES = 4
"""What comes before each frame."""


class ReceivingConnection(Protocol):
    """What a receiver uses of the connection it belongs to."""

    @property
    def described_as(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    @property
    def traffic(self) -> NodeTraffic: ...
    def abort(self, error: KafkaError) -> None: ...


class Receiver:
    """Takes the frames of one connection.

    Arguments:
        table: the requests that wait for answers.
        outbox: may send more after each answer, and keeps quiet for a broker that throttles.

    Attributes:
        answered: how many requests the broker has answered so far.
        raw: takes the next frame as it is, which is no answer then; None: there is no such exchange.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, connection: ReceivingConnection, table: InFlightTable, outbox: Outbox
    ) -> None:
        self._loop = loop
        self._connection = connection
        self._table = table
        self._outbox = outbox
        self._reader = AnswerReader(loop, self._give, self._unreadable)
        self._throttle_log = ThrottleLog()
        self.answered = 0
        self.raw: asyncio.Future[bytes] | None = None

    def take(self, view: memoryview, buffer: FrameBuffer | None) -> bool:
        """Take a frame, see `kafka.net.framing.FrameSink`; False if the connection was closed because of it."""
        if self.raw is not None:
            if not self.raw.done():
                self.raw.set_result(bytes(view))
            return True
        if len(view) < _SHORTEST_FRAME:
            self._refuse(
                InvalidReceiveError, f"sent a frame of {len(view)} bytes, which is not an answer; is it a Kafka broker?"
            )
            return False
        entry = self._table.pop(correlation_id(view), None)
        if entry is None:
            number = correlation_id(view)
            self._refuse(CorrelationIdError, f"answered a request that was not sent (correlation id {number})")
            return False
        self.answered += 1
        now = self._loop.time()
        self._connection.traffic.answered(len(view) + _SIZE_BYTES, now - entry.sent_at, now)
        if not entry.future.done():
            goes_on = self._reader.read(entry, view, buffer) and not self._connection.closed
        else:  # the caller gave up
            goes_on = True
            if buffer is not None:
                buffer.release()
        if self._outbox.waiting:
            self._outbox.flush()
        return goes_on

    def _refuse(self, error: type[KafkaError], text: str) -> None:
        self._connection.abort(error(f"{self._connection.described_as} {text}"))

    def _unreadable(self, entry: InFlight, error: Exception) -> None:
        where = f"in the answer of {self._connection.described_as} to {entry.request.NAME} version {entry.version}"
        if isinstance(error, WireFormatError):
            broken = WireFormatError(f"{error.args[0] if error.args else error} ({where})")
        else:
            log.error("reading failed unexpectedly %s", where, exc_info=error)
            broken = WireFormatError(f"reading failed with {error!r} ({where})")
        self._connection.abort(KafkaConnectionError(f"closed after a response that could not be read {where}"))
        if not entry.future.done():
            entry.future.set_exception(broken)

    def _give(self, entry: InFlight, quiet_s: float, response: Any, buffer: FrameBuffer | None) -> None:
        if quiet_s and not self._connection.closed:
            self._throttle(entry, quiet_s)
        if buffer is not None:
            if entry.request.RESPONSE.HAS_RECORDS:
                response.frame = buffer
            else:
                buffer.release()
        entry.future.set_result(response)

    def _throttle(self, entry: InFlight, seconds: float) -> None:
        """The broker reads nothing for so long (KIP-219): send nothing, and expect no answers meanwhile."""
        now = self._loop.time()
        self._connection.traffic.throttled(seconds, now)
        self._outbox.throttle(seconds)
        self._table.extend(now + seconds)
        self._throttle_log.tell(now, self._connection.described_as, entry.request.NAME, seconds)
