"""The demo's own check: the pandas computation, detection of differences, and reports of a killed driver."""

import importlib.util
import json
import pathlib

import pandas as pd
import pytest

from kafka.cli.demo import check, driver_processes
from kafka.cli.demo.check import expected_delays
from kafka.cli.demo.flights import COLUMNS, Flights, read_flights
from kafka.cli.demo.plan import TOPIC_QUERY, Plan, read_plan

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


@pytest.mark.slow
def test_the_data_are_all_flights_of_the_year_in_order() -> None:
    flights = read_flights().flights
    assert len(flights) == 336_776
    assert flights["departure"].is_monotonic_increasing


def test_files_left_by_a_killed_driver_are_deleted(tmp_path: pathlib.Path) -> None:
    right = expected_delays(small())
    (tmp_path / "_spark_metadata").mkdir()
    for name in ("part-a.parquet", "part-b.parquet"):
        right.to_parquet(tmp_path / name)
    line = json.dumps({"path": f"file://{tmp_path}/part-a.parquet", "action": "add"})
    (tmp_path / "_spark_metadata" / "0").write_text(f"v1\n{line}")
    (tmp_path / "_spark_metadata" / ".0.crc").write_bytes(b"crc\n")
    found = check.from_parquet(tmp_path)
    assert len(found) == len(right)
    assert sorted(path.name for path in tmp_path.glob("*.parquet")) == ["part-a.parquet"]


@pytest.mark.slow
def test_synthetic_flights_are_used_without_the_real_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    made_up, again = read_flights(5_000), read_flights(5_000)
    assert not made_up.real
    pd.testing.assert_frame_equal(made_up.flights, again.flights)
    assert len(made_up.flights) == 5_000
    assert list(made_up.flights.columns) == COLUMNS
    assert made_up.flights["departure"].is_monotonic_increasing
    assert 0 < made_up.flights["dep_delay"].isna().sum() < 500
    assert expected_delays(made_up)["flights"].sum() == 5_000


def checkpoint(folder: pathlib.Path, begun: int, done: int) -> pathlib.Path:
    """Create a checkpoint with these numbers of begun and finished micro-batches of 10 records."""
    for name, count in (("offsets", begun), ("commits", done)):
        (folder / name).mkdir(parents=True)
        for number in range(count):
            (folder / name / f".{number}.crc").touch()
            (folder / name / str(number)).write_text(f'v1\n{{}}\n{{"flights":{{"0":{5 + 10 * (number + 1)}}}}}')
    return folder


@pytest.mark.parametrize(("begun", "done", "found"), [(0, 0, None), (1, 0, 0), (3, 3, None), (12, 11, 11)])
def test_a_micro_batch_in_flight_is_unfinished(
    tmp_path: pathlib.Path, begun: int, done: int, found: int | None
) -> None:
    assert driver_processes.in_flight(checkpoint(tmp_path, begun, done)) == found


def test_a_plan_round_trips_and_the_checkpoint_shows_progress(tmp_path: pathlib.Path) -> None:
    plan = Plan(
        "host:1", {0: 5}, 10, "prefix", {TOPIC_QUERY: "group"}, "parquet", str(tmp_path), [("UA", "United")], []
    )
    read = read_plan(plan.write())
    assert (read.starting, read.groups, read.airlines) == ({0: 5}, {TOPIC_QUERY: "group"}, [["UA", "United"]])
    assert driver_processes.rows_done(plan) == 0
    checkpoint(plan.checkpoint(TOPIC_QUERY), 4, 3)
    assert driver_processes.rows_done(plan) == 30
