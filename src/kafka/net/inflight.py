"""Requests on one connection that are waiting for their answers."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from kafka.wire import Request

R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)


class Answered(Protocol[R_contra]):
    """Receives the answer to a request: an asyncio future, or a `Reply`."""

    def done(self) -> bool:
        """Whether it no longer needs an answer."""

    def set_result(self, result: R_contra, /) -> None:
        """Take the response."""

    def set_exception(self, exception: Any, /) -> None:
        """Take the error: there will be no response."""


class Reply(Generic[R]):
    """Takes an answer as soon as it is decoded; awaiting a future would cost an iteration of the loop and more.

    Arguments:
        take: called once, with the response and None, or with None and the error. It runs inside the connection, so it
            must not raise; it may use the connection, and close it.
    """

    __slots__ = ("_take",)

    def __init__(self, take: Callable[[R | None, Exception | None], object]) -> None:
        self._take: Callable[[R | None, Exception | None], object] | None = take

    def done(self) -> bool:
        """Whether it has its answer, or was cancelled."""
        return self._take is None

    def set_result(self, result: R, /) -> None:
        """Take the response."""
        take, self._take = self._take, None
        if take is not None:
            take(result, None)

    def set_exception(self, exception: Exception, /) -> None:
        """Take the error: there will be no response."""
        take, self._take = self._take, None
        if take is not None:
            take(None, exception)

    def cancel(self) -> bool:
        """Ignore the answer."""
        self._take = None
        return True


class InFlight:
    """One such request, the future of its answer and, once it is sent, its time and deadline (seconds of the loop).

    Arguments:
        digest: converts the response, in the thread that decodes it, to the result of ``future``; None: the response
            itself.
    """

    __slots__ = ("deadline", "digest", "future", "request", "sent_at", "timeout_s", "version")

    def __init__(
        self,
        request: "type[Request[Any]]",
        version: int,
        future: Answered[Any],
        timeout_s: float,
        digest: Callable[[Any], Any] | None = None,
    ) -> None:
        self.request = request
        self.digest = digest
        self.version = version
        self.future = future
        self.deadline = math.inf
        self.sent_at = 0.0
        self.timeout_s = timeout_s


class InFlightTable(dict[int, InFlight]):
    """The requests by correlation id. Brokers answer in order, but nothing here relies on that.

    A dict, so that adding, removing and counting do not call Python functions.
    """

    __slots__ = ("_last_id",)

    def __init__(self) -> None:
        super().__init__()
        self._last_id = 0

    def next_id(self) -> int:
        """Return a correlation id that is not in use."""
        self._last_id = (self._last_id + 1) & 0x7FFFFFFF
        return self._last_id

    def remove(self, entry: InFlight) -> None:
        """Stop waiting for the answer to a request."""
        for number in [number for number, each in self.items() if each is entry]:
            del self[number]

    def extend(self, quiet_until: float) -> None:
        """No answer can arrive before ``quiet_until``: restart the timeouts of all requests at that time."""
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
