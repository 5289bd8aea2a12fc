"""The demo's own check: the pandas computation, and that a difference is found."""

import pandas as pd
import pytest

from kafka.cli.demo import check
from kafka.cli.demo.expected import expected_delays
from kafka.cli.demo.flights import Flights, read_flights

pytestmark = pytest.mark.once


def small() -> Flights:
    flights = pd.DataFrame(
        {
            "departure": pd.to_datetime(
                ["2013-01-01T10:15Z", "2013-01-01T10:45Z", "2013-01-01T10:59Z", "2013-01-01T11:00Z"], utc=True
            ),
            "carrier": ["UA", "AA", "AA", "UA"],
            "flight": [1, 2, 3, 4],
            "origin": ["EWR", "EWR", "EWR", "EWR"],
            "dest": ["IAH", "XXX", "IAH", "IAH"],
            "dep_delay": [2.0, 10.0, None, None],
            "arr_delay": [4.0, None, None, None],
        }
    )
    airlines = pd.DataFrame({"carrier": ["UA", "AA"], "name": ["United", "American"]})
    airports = pd.DataFrame({"faa": ["EWR", "IAH"], "name": ["Newark", "Houston"]})
    return Flights(flights, airlines, airports)


def test_pandas_counts_averages_and_finds_the_worst_flight() -> None:
    first, second = expected_delays(small()).to_dict("records")
    assert (first["flights"], first["cancelled"], first["dep_delay"], first["arr_delay"]) == (3, 1, 6.0, 4.0)
    assert (first["worst_dep_delay"], first["worst_airline"], first["worst_destination"]) == (10.0, "American", "XXX")
    assert (second["flights"], second["cancelled"]) == (1, 1)
    assert pd.isna(second["dep_delay"])


def test_equal_tables_pass_in_any_order() -> None:
    right = expected_delays(small())
    check.compare("it", right.iloc[::-1], right)


@pytest.mark.parametrize(
    ("column", "value"), [("flights", 2), ("cancelled", 0), ("dep_delay", 6.5), ("worst_airline", "United")]
)
def test_a_difference_is_an_error(column: str, value: object) -> None:
    right = expected_delays(small())
    wrong = right.copy()
    wrong.loc[0, column] = value
    with pytest.raises(check.DifferentResult, match="it "):
        check.compare("it", wrong, right)


def test_a_missing_row_is_an_error() -> None:
    right = expected_delays(small())
    with pytest.raises(check.DifferentResult, match="1 rows, pandas computes 2"):
        check.compare("it", right.head(1), right)


def test_the_data_are_all_flights_of_the_year_in_order() -> None:
    flights = read_flights().flights
    assert len(flights) == 336_776
    assert flights["departure"].is_monotonic_increasing
