"""Timestamps for Arrow, and what making Arrow batches must not load."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kafka.record import BatchBuilder, decode_batches
from kafka.record.timestamp_columns import any_missing, extremes, first_outside, microseconds

LAST_MS = (2**63 - 1) // 1000


def column(*times: int) -> memoryview:
    view = memoryview(bytearray(8 * len(times))).cast("q")
    for row, time in enumerate(times):
        view[row] = time
    return view


@pytest.mark.parametrize(
    ("times", "missing"), [((), False), ((0, 1, -2), False), ((-1,), True), ((5, 6, -1), True), ((-1, 5, 6), True)]
)
def test_a_missing_timestamp_is_found_wherever_it_is(times: tuple[int, ...], missing: bool) -> None:
    assert any_missing(column(*times)) is missing


def test_only_the_given_part_of_a_column_is_checked() -> None:
    assert not any_missing(column(-1, 5, 6, -1)[1:3])


def test_milliseconds_become_microseconds() -> None:
    times = column(0, -1, 1_700_000_000_000, LAST_MS, -LAST_MS)
    last = LAST_MS * 1000
    assert list(microseconds(times)) == [0, -1000, 1_700_000_000_000_000, last, -last]
    assert list(microseconds(column())) == []


@pytest.mark.parametrize("wrong", [LAST_MS + 1, -LAST_MS - 1, 2**62, 2**63 - 1, -(2**63)])
def test_the_first_time_outside_of_bounds_is_found(wrong: int) -> None:
    assert first_outside(column(0, LAST_MS, wrong, wrong, -LAST_MS), -LAST_MS, LAST_MS) == 2
    assert first_outside(column(0, -1, LAST_MS, -LAST_MS), -LAST_MS, LAST_MS) == -1
    assert first_outside(column(), -LAST_MS, LAST_MS) == -1


@pytest.mark.parametrize(
    ("times", "rows"),
    [((), (-1, -1)), ((-1, -1), (-1, -1)), ((-1, 5), (1, 1)), ((3, -1, -7, 9, 9), (2, 3)), ((2**62, -(2**63)), (1, 0))],
)
def test_the_earliest_and_the_latest_time_are_found(times: tuple[int, ...], rows: tuple[int, int]) -> None:
    assert extremes(column(*times)) == rows


def test_a_time_beyond_microseconds_is_refused_with_its_record() -> None:
    builder = BatchBuilder()
    for time in (1, 1_795_000_000_000_000_000):
        builder.append(time, None, b"value", [])
    columns = decode_batches(builder.build(base_offset=7), topic="flights", partition=3)
    message = "topic 'flights', partition 3, at offset 8 has the time 1795000000000000000 .* microseconds cannot hold"
    with pytest.raises(ValueError, match=message):
        columns.to_arrow(schema="spark")
    assert columns.to_arrow(["value"], schema="spark").num_rows == 2
    assert columns.to_arrow(["timestamp"]).column(0).cast("int64").to_pylist() == [1, 1_795_000_000_000_000_000]


@pytest.mark.slow
@pytest.mark.parametrize("schema", ["kafka", "spark"])
def test_plain_records_do_not_load_large_libraries(schema: str) -> None:
    program = f"""
import sys
from kafka.record import BatchBuilder, concat_arrow, decode_batches
builder = BatchBuilder()
builder.append(1, b"key", b"value", [])
columns = decode_batches(builder.build(), topic="flights", partition=3)
batch = concat_arrow([columns.to_arrow(schema={schema!r})] * 2)
assert batch.num_rows == 2
assert decode_batches(b"").to_arrow(schema={schema!r}).num_rows == 0
print(*sorted({{"pandas", "pyarrow.compute"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == ""
