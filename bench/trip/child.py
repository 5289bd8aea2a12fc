"""Measurements in a process of their own: `python -m bench.trip.child JSON` prints their results as JSON, a line each.

Starting Python and importing the package happen once; each measurement forks. It so finds no threads of earlier ones,
and its allocators and profile functions do not stay.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from dataclasses import dataclass
from typing import Any, Literal

from bench.trip.allocations import CannotCountError, begin_counting, per_trip
from bench.trip.calls import CallLog, summarize
from bench.trip.programs import Style, make_trips
from bench.trip.system_calls import mark

Kind = Literal["calls", "allocations", "system calls"]
WARM_UP = 20
"""Trips that do not count: caches fill, and a consumer's first fetches look for its position."""


@dataclass(frozen=True)
class Measurement:
    """What to measure.

    Arguments:
        kind: what is counted. System calls are only marked: the process must run under strace.
        style: the API that the program uses.
        bootstrap_servers: the broker.
        topic: a topic without records.
        trips: how many trips count; those of the warm-up are made before them.
    """

    kind: Kind
    style: Style
    bootstrap_servers: str
    topic: str
    trips: int


def measure(wanted: Measurement) -> Any:
    """Return what was counted, as JSON allows it; a text says why nothing was."""
    trips = WARM_UP + wanted.trips
    where = (wanted.style, wanted.bootstrap_servers, wanted.topic, trips)
    if wanted.kind == "system calls":
        make_trips(*where, mark)
        return None
    if wanted.kind == "calls":
        with CallLog() as log:
            make_trips(*where, log.mark)
        return dataclasses.asdict(summarize(list(log.trips())[WARM_UP:]))
    try:
        count = begin_counting()
    except CannotCountError as error:
        return str(error)
    counts = [0] * (trips + 2)
    at = iter(range(trips + 2))

    def read() -> None:
        counts[next(at)] = count()

    make_trips(*where, read)
    read()
    read()
    return per_trip(counts[WARM_UP - 1 : trips], counts[-1] - counts[-2])


def main() -> None:
    """Measure what the command line lists."""
    for wanted in json.loads(sys.argv[1]):
        child = os.fork()
        if not child:
            print(json.dumps(measure(Measurement(**wanted))), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
