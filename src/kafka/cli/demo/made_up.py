"""Flights that are made up, where the package with the real ones is not installed: the same in every run."""

import numpy as np
import pandas as pd

from kafka.cli.demo.flight_tables import COLUMNS, Flights

COUNT = 336_776
"""As many as there are real ones."""
_YEAR_MINUTES = 365 * 24 * 60
_AIRLINES = {"AA": "First Air", "BB": "Second Air", "CC": "Third Air", "DD": "Fourth Air"}
_ORIGINS = {"EWR": "Newark", "JFK": "John F Kennedy", "LGA": "La Guardia"}
_DESTINATIONS = ["ATL", "BOS", "CLT", "DEN", "IAH", "LAX", "MCO", "ORD", "SFO", "XXX"]
"""The last has no name, as some real ones."""


def made_up_flights() -> Flights:
    """A year of flights, of which 2 % are cancelled; delays grow over the day."""
    random = np.random.default_rng(2013)
    minutes = np.sort(random.integers(0, _YEAR_MINUTES, COUNT))
    departure = pd.Timestamp("2013-01-01T05:00Z") + pd.to_timedelta(minutes, "min")
    late = random.exponential(5 + (minutes % 1440) / 60).round() - 6
    cancelled = random.random(COUNT) < 0.02
    flights = pd.DataFrame(
        {
            "departure": departure,
            "carrier": random.choice(list(_AIRLINES), COUNT),
            "flight": random.integers(1, 3_000, COUNT),
            "origin": random.choice(list(_ORIGINS), COUNT),
            "dest": random.choice(_DESTINATIONS, COUNT),
            "dep_delay": np.where(cancelled, np.nan, late),
            "arr_delay": np.where(cancelled, np.nan, late + random.integers(-20, 20, COUNT)),
        }
    )
    flights = flights.sort_values(["departure", "origin", "carrier", "flight"], kind="stable", ignore_index=True)
    names = {**_ORIGINS, **{code: f"Airport {code}" for code in _DESTINATIONS[:-1]}}
    return Flights(
        flights[COLUMNS],
        pd.DataFrame({"carrier": list(_AIRLINES), "name": list(_AIRLINES.values())}),
        pd.DataFrame({"faa": list(names), "name": list(names.values())}),
        real=False,
    )
