"""The broken and implausible flights that the demo plants among the real ones.

Each has a number that no real flight has, so that the demo knows how many of each kind there are, and recognizes them
in the results. To plant another kind: a `Kind` in `KINDS`, and its change in `_changed` or `_broken_value`.
"""

import dataclasses

import numpy as np
import pandas as pd

from kafka.cli.demo.declaration import NO_TEST, OURS, PLAUSIBLE
from kafka.pipelines.source_declaration import DECODES, REQUIRED, TIMES

UNKNOWN_SCHEMA_ID = 2_000_000_000


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of planted flights.

    Arguments:
        name: what is wrong with them.
        rule: the rule that they fail.
        is_broken: whether they cannot be decoded.
        is_dropped: whether the rule drops them, instead of writing them to the dead letters.
    """

    name: str
    rule: str
    is_broken: bool = False
    is_dropped: bool = False


UNDECODABLE = Kind("bytes that are not Avro", DECODES, is_broken=True)
UNKNOWN_SCHEMA = Kind("schema id that the registry does not know", DECODES, is_broken=True)
NO_CARRIER = Kind("no carrier", REQUIRED)
AHEAD = Kind("departure a thousand years ahead", TIMES)
ABSURD = Kind("delay of ten weeks", PLAUSIBLE)
ELSEWHERE = Kind("unknown airport", OURS)
TEST = Kind("test flight", NO_TEST, is_dropped=True)
KINDS = (UNDECODABLE, UNKNOWN_SCHEMA, NO_CARRIER, AHEAD, ABSURD, ELSEWHERE, TEST)

_FLIGHTS_FOR_EACH = 2_000
_FEWEST = 3
_TEN_WEEKS = 10 * 7 * 24 * 60.0


@dataclasses.dataclass(frozen=True)
class Planted:
    """The flights to send.

    Arguments:
        rows: all flights that can be encoded, with the column ``id``.
        broken: the values of the others, each with the number of rows to send before it.
        each: number of planted flights of each kind.
    """

    rows: pd.DataFrame
    broken: tuple[tuple[int, bytes], ...]
    each: int

    @property
    def count(self) -> int:
        """Number of flights, real and planted."""
        return len(self.rows) + len(self.broken)


def plant(flights: pd.DataFrame) -> Planted:
    """Number the flights from 0, and plant others among them, evenly over the year.

    Arguments:
        flights: the flights, as `kafka.cli.demo.flights.Flights` contains them.
    """
    each = max(_FEWEST, len(flights) // _FLIGHTS_FOR_EACH)
    places = np.linspace(0, len(flights) - 1, each * len(KINDS)).astype(int)
    departures = flights["departure"].dt.as_unit("us")  # nanoseconds end in the year 2262
    rows = flights.assign(id=np.arange(len(flights), dtype=np.int64), departure=departures)
    planted = rows.iloc[places].assign(
        id=len(flights) + np.arange(len(places)), dep_delay=0.0, arr_delay=0.0, after=places + 0.5
    )
    parts = [rows.assign(after=np.arange(len(rows), dtype=float))]
    broken: list[tuple[float, bytes]] = []
    for first, kind in enumerate(KINDS):
        mine = planted.iloc[first :: len(KINDS)]
        if kind.is_broken:
            values = [_broken_value(kind, number) for number in mine["id"].tolist()]
            broken += zip(mine["after"].tolist(), values, strict=True)
        else:
            parts.append(_changed(kind, mine))
    together = pd.concat(parts).sort_values("after", kind="stable", ignore_index=True)
    at = np.searchsorted(together["after"].to_numpy(), [after for after, _ in broken], side="right")
    placed = sorted((int(before), value) for before, (_, value) in zip(at, broken, strict=True))
    return Planted(together.drop(columns="after"), tuple(placed), each)


def _changed(kind: Kind, rows: pd.DataFrame) -> pd.DataFrame:
    if kind is NO_CARRIER:
        return rows.assign(carrier=None)
    if kind is AHEAD:
        return rows.assign(departure=rows["departure"] + pd.DateOffset(years=1_000))
    if kind is ABSURD:
        return rows.assign(dep_delay=_TEN_WEEKS)
    if kind is ELSEWHERE:
        return rows.assign(origin="XXX")
    return rows.assign(flight=0)


def _broken_value(kind: Kind, number: int) -> bytes:
    text = b"flight %d" % number
    return text if kind is UNDECODABLE else b"\0" + UNKNOWN_SCHEMA_ID.to_bytes(4, "big") + text
