"""Counts by window: differences and repeated rows are faults."""

from __future__ import annotations

import datetime
import types
from typing import Any, cast

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.errors import IllegalArgumentError
from kafka.pipelines.audit import groups
from kafka.pipelines.audit.faults import FaultKind
from kafka.pipelines.audit.group_plans import COUNT, END, Grouping
from kafka.pipelines.audit.groups import NotCompared, Part, balance_groups, late_bounds
from kafka.pipelines.audit.micro_batches import MicroBatch
from kafka.pipelines.audit.scope import scope_of
from kafka.pipelines.audit.windows import compare_groups, texts
from kafka.pipelines.events import Event

pytestmark = pytest.mark.once

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
def test_each_difference_is_reported(counts: dict[int, int], data: st.DataObject) -> None:
    change = data.draw(st.dictionaries(st.sampled_from(sorted(counts)), st.integers(-50, 10), min_size=1))
    found = {key: max(0, count + change.get(key, 0)) for key, count in counts.items()}
    differing = {key for key in counts if found[key] != counts[key]}
    kept = {key: count for key, count in found.items() if count}
    for updates in (False, True):
        result = compare_groups(windows(counts), windows(kept), KEYS, "n", updates=updates)
        assert {each.detail.split(",")[0] for each in result.faults} == {
            f"minute {START + datetime.timedelta(minutes=key)}" for key in differing
        }
        assert {each.kind for each in result.faults} <= {FaultKind.WINDOW_DIFFERS}
        assert (result.balances, result.differing) == (not differing, len(differing))


@given(counted, st.data())
def test_a_repeated_row_is_a_fault_unless_the_sink_has_updates(counts: dict[int, int], data: st.DataObject) -> None:
    again = data.draw(st.sets(st.sampled_from(sorted(counts)), min_size=1))
    more = windows({key: counts[key] - 1 for key in again})
    sink = pa.concat_tables([windows(counts), more])
    assert compare_groups(windows(counts), sink, KEYS, "n", updates=True).balances
    result = compare_groups(windows(counts), sink, KEYS, "n")
    assert [each.kind for each in result.faults] == [FaultKind.WINDOW_REPEATED] * len(again)
    assert all(each.detail.endswith(": 2 rows in the sink, 1 expected") for each in result.faults)


def test_a_query_without_keys_has_one_group() -> None:
    expected = pa.table({"n": pa.array([7], pa.int64())})
    assert compare_groups(expected, pa.table({"n": pa.array([3, 7], pa.int64())}), [], "n", updates=True).balances
    (fault,) = compare_groups(expected, pa.table({"n": pa.array([3], pa.int64())}), [], "n", updates=True).faults
    assert fault.detail == "all rows all: 7 rows expected, 3 in the sink"


def test_times_are_equal_whatever_wrote_them() -> None:
    moment = datetime.datetime(2026, 1, 1, 12, 30, 0, 250_000)
    for kind in (pa.timestamp("us"), pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")):
        given = pa.array([moment.replace(tzinfo=datetime.UTC) if kind.tz else moment], kind)
        (text,) = texts(given).to_pylist()
        assert text.rstrip("0") == "2026-01-01 12:30:00.25"
    window = pa.array(
        [{"start": moment, "end": None}], pa.struct([("start", pa.timestamp("us")), ("end", pa.string())])
    )
    assert texts(window).to_pylist() == ["2026-01-01 12:30:00.250000 to null"]


def test_wrong_columns_and_repeated_groups_are_errors() -> None:
    table = windows({1: 2})
    with pytest.raises(IllegalArgumentError, match="expected a column 'count', got minute, carrier, n"):
        compare_groups(table, table, KEYS, "count")
    with pytest.raises(IllegalArgumentError, match="expected: expected a row for each group, got several for minute"):
        compare_groups(pa.concat_tables([table, table]), table, KEYS, "n")


def batch(number: int, late: int | None, watermark_ms: int | None = None) -> MicroBatch:
    """Return a micro-batch; without `late`, it has no event."""
    event = (
        None if late is None else Event("batch", "2026-01-01", "p", batch=number, late=late, watermark_ms=watermark_ms)
    )
    return MicroBatch(number, {}, event)


def test_rows_are_late_by_the_watermark_of_the_micro_batch_before() -> None:
    scope = scope_of("p", [batch(0, 0, 0), batch(1, 0, 50), batch(2, 3, 70), batch(3, None), batch(4, 0, 90)])
    assert late_bounds(scope, {}) == {2: 50, 3: 70}
    assert late_bounds(scope, {3: 80}, allows_multiple=False) == {2: 70, 3: 80}
    with pytest.raises(NotCompared, match="the watermark of micro-batch 3 is unknown"):
        late_bounds(scope, {}, allows_multiple=False)


def evaluated(counts: dict[int, int]) -> pa.Table:
    """Return what the evaluation of a part gives: a count for each minute, and the end of the minute."""
    table = windows(counts).drop_columns(["n"])
    ends = pa.array([START + datetime.timedelta(minutes=each + 1) for each in counts], pa.timestamp("us"))
    return table.append_column(COUNT, pa.array(list(counts.values()), pa.int64())).append_column(END, ends)


def minute_ms(minute: int) -> int:
    """Return the start of a minute as a watermark."""
    return round((START + datetime.timedelta(minutes=minute)).replace(tzinfo=datetime.UTC).timestamp() * 1000)


@pytest.mark.parametrize("mode", ["append", "update"])
def test_late_rows_and_open_windows_are_not_expected_in_the_sink(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parts are added up; the second one has late rows. In output mode update, no window is open."""
    tables = iter([evaluated({0: 5, 1: 3}), evaluated({0: 2, 1: 4, 2: 6})])
    frame = cast(Any, types.SimpleNamespace(select=lambda *names: types.SimpleNamespace(schema=names)))
    of_parts = iter([Grouping(frame, tuple(KEYS), ("n",), True, True), None])  # the first one says what is compared
    monkeypatch.setattr(groups, "_evaluated", lambda *_: (next(of_parts), next(tables)))
    sink = {0: 5, 1: 7} if mode == "append" else {0: 5, 1: 7, 2: 6}
    monkeypatch.setattr(groups, "sink_rows", lambda *_: windows(sink))
    declared = cast(Any, types.SimpleNamespace(output_mode=mode))
    parts = [Part(declared, None, {}), Part(declared, None, {}, late_ms=minute_ms(1))]
    found = balance_groups(
        declared, cast(Any, None), None, cast(Any, types.SimpleNamespace(backfills=())), parts, minute_ms(2)
    )
    assert found.faults == ()
    rows = sum(sink.values())
    assert (found.expected, found.found, found.groups) == (rows, rows, len(sink))
    assert (found.late, found.open) == (2, 1 if mode == "append" else 0)
