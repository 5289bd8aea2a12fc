"""The tables of the demo: flights, airlines and airports, whether they are real or made up."""

import dataclasses

import pandas as pd

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
