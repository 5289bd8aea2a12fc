"""Counts by window: differences are faults, unless late rows explain them."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.errors import IllegalArgumentError
from kafka.pipelines.audit.windows import compare_groups, latest_rows

START = datetime.datetime(2026, 1, 1)


def windows(counts: dict[int, int]) -> pa.Table:
    """Return a table with a count for each minute."""
    return pa.table(
        {
            "minute": pa.array([START + datetime.timedelta(minutes=each) for each in counts], pa.timestamp("us")),
            "carrier": pa.array(["AA" if each % 2 else None for each in counts], pa.string()),
            "n": pa.array(list(counts.values()), pa.int64()),
        }
    )


KEYS = ["minute", "carrier"]
counted = st.dictionaries(st.integers(0, 20), st.integers(1, 50), min_size=1)


@given(counted, st.randoms(use_true_random=False))
def test_equal_counts_balance_in_any_order(counts: dict[int, int], random: object) -> None:
    shuffled = list(counts.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    found = compare_groups(windows(counts), windows(dict(shuffled)), KEYS, "n")
    assert found.balances
    assert (found.expected, found.found, found.differing) == (sum(counts.values()), sum(counts.values()), 0)


@given(counted, st.data())
def test_each_difference_is_reported_unless_late_rows_explain_it(counts: dict[int, int], data: st.DataObject) -> None:
    change = data.draw(st.dictionaries(st.sampled_from(sorted(counts)), st.integers(-50, 10), min_size=1))
    found = {key: max(0, count + change.get(key, 0)) for key, count in counts.items()}
    differing = {key for key in counts if found[key] != counts[key]}
    lacking = sum(counts.values()) - sum(found.values())
    kept = {key: count for key, count in found.items() if count}
    result = compare_groups(windows(counts), windows(kept), KEYS, "n")
    assert {each.detail.split(",")[0] for each in result.faults} == {
        f"minute {START + datetime.timedelta(minutes=key)}.000000" for key in differing
    }
    assert result.balances == (not differing)
    if lacking >= 0:
        only_less = all(found[key] <= counts[key] for key in counts)
        assert compare_groups(windows(counts), windows(kept), KEYS, "n", late=lacking).balances == only_less
        assert not compare_groups(windows(counts), windows(kept), KEYS, "n", late=lacking + 1).balances


def test_the_last_row_of_a_group_counts() -> None:
    rows = pa.table({"minute": [1, 2, 1, 3, 2], "n": [5, 1, 7, 2, 4], "offset": [0, 1, 2, 3, 4]})
    found = {row["minute"]: row["n"] for row in latest_rows(rows, ["minute"]).to_pylist()}
    assert found == {1: 7, 2: 4, 3: 2}


def test_wrong_columns_and_repeated_groups_are_errors() -> None:
    table = windows({1: 2})
    with pytest.raises(IllegalArgumentError, match="expected a column 'count', got minute, carrier, n"):
        compare_groups(table, table, KEYS, "count")
    with pytest.raises(IllegalArgumentError, match="found: expected a row for each group, got several for minute"):
        compare_groups(table, pa.concat_tables([table, table]), KEYS, "n")
