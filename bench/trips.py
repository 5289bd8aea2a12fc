"""Round trips: a record to the broker and back, and only then the next."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from bench.job import PATIENCE_S, Job, Watch
from bench.workload import make_records

WARM_UP_TRIPS = 200
Pairs = Sequence[tuple[bytes, bytes]]
"""Keys and values of the records that came."""


class Trips:
    """The records to send, and the times of those that are back."""

    def __init__(self, job: Job, watch: Watch) -> None:
        self.records = list(zip(*make_records(job.count, job.size), strict=True))
        self._watch = watch
        self._out: list[float] = []
        self._back: list[float] = []

    def add(self, started: float, sent: float, pairs: Pairs) -> None:
        """Note the end of a trip.

        Raises:
            RuntimeError: not one record came, but several or none.
        """
        self._back.append(time.perf_counter() - sent)
        self._out.append(sent - started)
        if len(pairs) != 1:
            raise RuntimeError(f"{len(pairs)} records came back instead of the one that is under way")
        (key, value) = pairs[0]
        self._watch.sums.add([key], [value])
        if len(self._back) == WARM_UP_TRIPS:
            self._watch.start()

    def finish(self) -> None:
        """Tell the watch. The processor time that it measures includes summing up the records."""
        self._watch.stop()
        out, back = self._out[WARM_UP_TRIPS:], self._back[WARM_UP_TRIPS:]
        self._watch.latency([a + b for a, b in zip(out, back, strict=True)], acknowledged=out, received=back)


def round_trips(job: Job, watch: Watch, send: Callable[[bytes, bytes], object], receive: Callable[[], Pairs]) -> None:
    """Make the trips. `send` returns when its key and value are acknowledged; `receive` may find nothing yet."""
    trips = Trips(job, watch)
    for key, value in trips.records:
        started = time.perf_counter()
        send(key, value)
        sent = time.perf_counter()
        pairs = receive()
        while not pairs and time.perf_counter() < sent + PATIENCE_S:
            pairs = receive()
        trips.add(started, sent, pairs)
    trips.finish()


async def async_round_trips(
    job: Job,
    watch: Watch,
    send: Callable[[bytes, bytes], Awaitable[object]],
    receive: Callable[[], Awaitable[Pairs]],
) -> None:
    """As `round_trips`, with coroutines."""
    trips = Trips(job, watch)
    for key, value in trips.records:
        started = time.perf_counter()
        await send(key, value)
        sent = time.perf_counter()
        pairs = await receive()
        while not pairs and time.perf_counter() < sent + PATIENCE_S:
            pairs = await receive()
        trips.add(started, sent, pairs)
    trips.finish()
