"""Requests that wait for their answer on one connection."""

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka.wire import Request


class InFlight:
    """One such request: what it was, who waits for it and until when (in the loop's seconds)."""

    __slots__ = ("deadline", "future", "request", "timeout_s", "version")

    def __init__(
        self,
        request: "type[Request[Any]]",
        version: int,
        future: "asyncio.Future[Any]",
        deadline: float,
        timeout_s: float,
    ) -> None:
        self.request = request
        self.version = version
        self.future = future
        self.deadline = deadline
        self.timeout_s = timeout_s


class InFlightTable:
    """Correlation id to request. A broker answers in order, but nothing here relies on it."""

    __slots__ = ("_by_id", "_last_id")

    def __init__(self) -> None:
        self._by_id: dict[int, InFlight] = {}
        self._last_id = 0

    def __len__(self) -> int:
        return len(self._by_id)

    def next_id(self) -> int:
        """A correlation id that is not in use."""
        self._last_id = (self._last_id + 1) & 0x7FFFFFFF
        return self._last_id

    def add(self, correlation_id: int, entry: InFlight) -> None:
        """Wait for an answer with this id."""
        self._by_id[correlation_id] = entry

    def pop(self, correlation_id: int) -> InFlight | None:
        """The request that this id answers; None: there is none."""
        return self._by_id.pop(correlation_id, None)

    def earliest_deadline(self) -> float | None:
        """When the first of the requests has waited too long; None: no request waits."""
        return min((entry.deadline for entry in self._by_id.values()), default=None)

    def expired(self, now: float) -> InFlight | None:
        """The oldest request whose time is up."""
        return next((entry for entry in self._by_id.values() if entry.deadline <= now), None)

    def drain(self) -> list[InFlight]:
        """All requests, oldest first; none wait afterwards."""
        entries = list(self._by_id.values())
        self._by_id.clear()
        return entries
