"""The trips that are measured: those of `make bench`, with a call after each. `STYLES` lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from bench.clients import ours, ours_async
from bench.job import Job, Watch
from bench.workload import Sums

Style = Literal["sync", "asyncio"]
STYLES: dict[Style, Callable[[Job, Watch], None]] = {"sync": ours.round_trip, "asyncio": ours_async.round_trip_async}
SIZE = 100
"""Bytes of a value."""


class TripSums(Sums):
    """Sums that call back for each record, which is once a trip, instead of adding it up."""

    def __init__(self, on_trip: Callable[[], object]) -> None:
        super().__init__(SIZE)
        self._on_trip = on_trip

    def add(self, keys: Sequence[bytes | None], values: Sequence[bytes]) -> None:
        """Take in the record of a trip."""
        self.count += 1
        self._on_trip()


class TripWatch(Watch):
    """A watch that takes no times."""

    def latency(self, seconds: Sequence[float], **parts: Sequence[float]) -> None:
        """Ignore the times."""


def make_trips(style: Style, bootstrap_servers: str, topic: str, trips: int, on_trip: Callable[[], object]) -> None:
    """Make round trips in this process, with a new producer and a new consumer.

    Arguments:
        style: the API that the program uses.
        bootstrap_servers: the broker.
        topic: a topic without records.
        trips: the number of trips.
        on_trip: called in the program's thread after each trip.
    """
    job = Job("round-trip", "ours", bootstrap_servers, topic, 1, trips, SIZE, "none")
    STYLES[style](job, TripWatch(job, TripSums(on_trip)))
