"""The data of the demo, the planted flights, and the detection of differences."""

import importlib.util
import pathlib
from typing import Any

import pandas as pd
import pytest

from kafka.cli.demo import check, declaration
from kafka.cli.demo.flights import COLUMNS, Flights, read_flights
from kafka.cli.demo.names import Names, random_suffix
from kafka.cli.demo.planted import KINDS, UNKNOWN_SCHEMA_ID, plant
from kafka.pipelines import load

pytestmark = pytest.mark.once


def small(count: int = 4) -> Flights:
    """Return flights of which the last one was cancelled, and the first one arrived three hours late."""
    flights = pd.DataFrame(
        {
            "departure": pd.date_range("2013-01-01T10:15Z", periods=count, freq="h"),
            "carrier": ["UA"] * count,
            "flight": range(1, count + 1),
            "origin": ["EWR"] * count,
            "dest": ["IAH"] * count,
            "dep_delay": [190.0, *[2.0] * (count - 2), None],
            "arr_delay": [180.0, *[-4.0] * (count - 2), None],
        }
    )
    return Flights(flights, pd.DataFrame({"faa": ["EWR", "IAH"], "name": ["Newark", "Houston"]}))


def test_each_kind_is_planted_equally_often_with_numbers_of_its_own() -> None:
    data = small(20)
    planted = plant(data.flights)
    assert planted.each == 3
    assert planted.count == 20 + 3 * len(KINDS)
    assert planted.rows["id"].is_unique
    added = planted.rows[planted.rows["id"] >= 20]
    assert len(added) + len(planted.broken) == 3 * len(KINDS)
    found = {
        "no carrier": added["carrier"].isna().sum(),
        "ahead": (added["departure"] > pd.Timestamp("2900-01-01", tz="UTC").as_unit("us")).sum(),
        "absurd": (added["dep_delay"] > 1_440).sum(),
        "elsewhere": (added["origin"] == "XXX").sum(),
        "test": (added["flight"] == 0).sum(),
        "unknown schema": sum(value[1:5] == UNKNOWN_SCHEMA_ID.to_bytes(4, "big") for _, value in planted.broken),
        "no Avro": sum(value.startswith(b"flight ") for _, value in planted.broken),
    }
    assert set(found.values()) == {3}, found
    assert len({value for _, value in planted.broken}) == 6


def test_planting_leaves_the_real_flights_as_they_are() -> None:
    data = small(20)
    rows = plant(data.flights).rows
    real = rows[rows["id"] < 20].reset_index(drop=True)
    pd.testing.assert_frame_equal(real[COLUMNS], data.flights, check_dtype=False)


def test_planted_flights_are_spread_over_the_year() -> None:
    planted = plant(small(100).flights)
    places = [before for before, _ in planted.broken]
    assert places == sorted(places)
    assert places[0] < 20
    assert places[-1] > 80


def test_the_results_are_the_real_flights() -> None:
    first, *_, last = check.expected_results(small()).to_dict("records")
    assert (first["id"], first["carrier"], first["made_up"]) == (0, "UA", 10.0)
    assert last["id"] == 3
    assert pd.isna(last["made_up"])


def test_equal_tables_pass_in_any_order() -> None:
    right = check.expected_results(small())
    check.compare(right.iloc[::-1], right)


@pytest.mark.parametrize(
    ("column", "value"), [("made_up", 11.0), ("dest", "XXX"), ("departure", pd.Timestamp("2014-01-01", tz="UTC"))]
)
def test_a_different_value_is_an_error(column: str, value: Any) -> None:
    right = check.expected_results(small())
    wrong = right.copy()
    wrong.loc[0, column] = value
    with pytest.raises(check.DifferentResult, match="differs from what pandas computes"):
        check.compare(wrong, right)


def test_lost_repeated_and_strange_rows_are_errors() -> None:
    right = check.expected_results(small())
    with pytest.raises(check.DifferentResult, match=r"lacks 2 of 4 rows: flights 2, 3$"):
        check.compare(right.head(2), right)
    with pytest.raises(check.DifferentResult, match=r"1 rows more than once: flights 3$"):
        check.compare(pd.concat([right, right.tail(1)]), right)
    with pytest.raises(check.DifferentResult, match=r"1 rows that should not be there: flights 9$"):
        check.compare(pd.concat([right, right.tail(1).assign(id=9)]), right)


def test_the_expected_dead_letters_are_the_planted_and_the_cancelled_flights() -> None:
    data = small(20)
    planted = plant(data.flights)
    assert check.expected_dead_letters(data, planted, is_replayed=False) == {
        "decodes": (6, 0, 6),
        "required fields are present": (3, 0, 3),
        "times are within bounds": (3, 0, 3),
        "delay is plausible": (4, 0, 4),
        "airport is in New York": (3, 0, 3),
    }
    replayed = check.expected_dead_letters(data, planted, is_replayed=True)
    assert replayed["delay is plausible"] == (7, 3, 4)
    assert check.late_arrivals(data) == 1


def audit(**changed: Any) -> dict[str, Any]:
    """Return the audit of `small(20)`, as the command prints it."""
    rows = [{"in": 41, "out": 20, "dropped": 3, "dead": 18} | changed]
    return {"balances": True, "partitions": rows, "faults": []}


def test_an_audit_that_does_not_balance_is_an_error() -> None:
    data = small(20)
    planted = plant(data.flights)
    assert check.check_audit(audit(), data, planted).out == 20
    with pytest.raises(check.DifferentResult, match=r"does not balance.*lost"):
        check.check_audit(audit() | {"balances": False, "faults": ["lost"]}, data, planted)
    with pytest.raises(check.DifferentResult, match=r"counts Audited.records=40"):
        check.check_audit(audit(**{"in": 40}), data, planted)


def test_the_declaration_is_valid_before_and_after_the_correction(tmp_path: pathlib.Path) -> None:
    names = Names("host:1", "http://host:2", tmp_path, random_suffix())
    declaration.write_declaration(names, 100)
    before = load(names.file)
    lines = declaration.correct_rule(names.file)
    after = load(names.file)
    assert [line[0] for line in lines] == ["-", "+"]
    assert all(declaration.PLAUSIBLE in line for line in lines)
    ((wrong, right),) = [
        (one.expression, other.expression)
        for one, other in zip(before.all_sources["source"].rules, after.all_sources["source"].rules, strict=True)
        if one != other
    ]
    assert right == f"dep_delay is null or {wrong}"
    outcomes = {rule.otherwise.value for rule in after.all_sources["source"].rules}
    assert outcomes == {"dead_letter", "drop", "keep", "fail"}
    assert pathlib.Path(after.checkpoint or "") / "stream" == names.stream


@pytest.mark.slow
def test_the_data_are_all_flights_of_the_year_in_order() -> None:
    flights = read_flights().flights
    assert len(flights) == 336_776
    assert flights["departure"].is_monotonic_increasing


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
