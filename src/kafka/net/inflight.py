"""Requests on one connection that wait for their answers."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from kafka.wire import Request

R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)


class Answered(Protocol[R_contra]):
    """What is given the answer to a request: an asyncio future, or a `Reply`."""

    def done(self) -> bool:
        """Whether it needs no answer any more."""

    def set_result(self, result: R_contra, /) -> None:
        """Here is the response."""

    def set_exception(self, exception: Any, /) -> None:
        """There will be no response."""


class Reply(Generic[R]):
    """Takes an answer at the moment it is read, where awaiting a future would cost a turn of the loop and more.

    Arguments:
        take: called once, with the response and None, or with None and why there is none. It runs inside the
            connection, so it may not raise; the connection can be used in it, and be closed.
    """

    __slots__ = ("_take",)

    def __init__(self, take: Callable[[R | None, Exception | None], object]) -> None:
        self._take: Callable[[R | None, Exception | None], object] | None = take

    def done(self) -> bool:
        """Whether it has its answer, or nobody wants one any more."""
        return self._take is None

    def set_result(self, result: R, /) -> None:
        """Here is the response."""
        take, self._take = self._take, None
        if take is not None:
            take(result, None)

    def set_exception(self, exception: Exception, /) -> None:
        """There will be no response."""
        take, self._take = self._take, None
        if take is not None:
            take(None, exception)

    def cancel(self) -> bool:
        """Want no answer any more."""
        self._take = None
        return True


class InFlight:
    """One such request: what it was, who waits for it and, once it is sent, since when and until when (loop's seconds).

    Arguments:
        digest: makes of the response what ``future`` is given, in the thread that reads it; None: the response itself.
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
    """The requests by their correlation ids. Brokers answer in order, but nothing here relies on that.


    A dict, so that adding, taking out and counting are no calls of functions in Python.
    """

    __slots__ = ("_last_id",)

    def __init__(self) -> None:
        super().__init__()
        self._last_id = 0

    def next_id(self) -> int:
        """A correlation id that is not in use."""
        self._last_id = (self._last_id + 1) & 0x7FFFFFFF
        return self._last_id

    def remove(self, entry: InFlight) -> None:
        """Wait for the answer to a request no longer."""
        for number in [number for number, each in self.items() if each is entry]:
            del self[number]

    def extend(self, quiet_until: float) -> None:
        """No answer can come before a time: give all requests as long from then on as they had from the beginning."""
        for entry in self.values():
            entry.deadline = max(entry.deadline, quiet_until + entry.timeout_s)

    def earliest_deadline(self) -> float | None:
        """When the first of the requests has waited too long; None: no request waits."""
        return min((entry.deadline for entry in self.values()), default=None)

    def expired(self, now: float) -> InFlight | None:
        """The oldest request whose time is up."""
        return next((entry for entry in self.values() if entry.deadline <= now), None)

    def drain(self) -> list[InFlight]:
        """All requests, oldest first; none wait afterwards."""
        entries = list(self.values())
        self.clear()
        return entries
