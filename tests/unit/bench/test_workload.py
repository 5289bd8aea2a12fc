"""The benchmarks notice a wrong answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.workload import FOLDER_VARIABLE, KEY_SIZE, Sums, expected, make_key, make_records, make_value, store

pytestmark = pytest.mark.once

COUNT, SIZE = 1000, 100


def sums_of(keys: list[bytes], values: list[bytes]) -> str:
    sums = Sums(SIZE)
    sums.add(keys, values)
    return sums.checksum


def test_every_record_has_the_same_size() -> None:
    for number in (0, 1, 77, 1_999_999):
        assert len(make_value(number, SIZE)) == SIZE
        assert len(make_value(number, 1000)) == 1000
        assert len(make_key(number)) == KEY_SIZE


def test_the_order_and_the_batches_do_not_matter() -> None:
    keys, values = make_records(COUNT, SIZE)
    sums = Sums(SIZE)
    for start in range(0, COUNT, 130):
        sums.add(keys[start : start + 130][::-1], values[start : start + 130][::-1])
    assert sums.checksum == expected(COUNT, SIZE).checksum
    assert sums.count == COUNT


def test_columns_and_records_have_the_same_sum() -> None:
    pa = pytest.importorskip("pyarrow")
    keys, values = make_records(COUNT, SIZE)
    table = pa.table({"value": pa.array(values, pa.binary()), "key": pa.array(keys, pa.binary())})
    sums = Sums(SIZE)
    for batch in table.to_batches(max_chunksize=333):
        sums.add_arrow(batch)
    assert sums.checksum == expected(COUNT, SIZE).checksum


@pytest.mark.parametrize("number", [0, 1, 500, 999])
def test_a_changed_record_is_noticed(number: int) -> None:
    keys, values = make_records(COUNT, SIZE)
    values[number] = values[number][:50] + b"\x00" + values[number][51:]
    assert sums_of(keys, values) != expected(COUNT, SIZE).checksum


def test_a_record_twice_in_the_place_of_another_is_noticed() -> None:
    keys, values = make_records(COUNT, SIZE)
    keys[3], values[3] = keys[4], values[4]
    assert sums_of(keys, values) != expected(COUNT, SIZE).checksum


def test_a_value_of_another_size_is_refused() -> None:
    keys, values = make_records(COUNT, SIZE)
    with pytest.raises(ValueError, match="are not 1000 records of 100 bytes"):
        sums_of(keys, [*values[:-1], b"short"])


def test_stored_records_are_those_that_are_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keys, values = make_records(COUNT, SIZE)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    store(COUNT, SIZE)
    assert make_records(COUNT, SIZE) == (keys, values)
    assert make_records(10, SIZE) == (keys[:10], values[:10])
    assert make_records(COUNT + 1, SIZE)[0][:COUNT] == keys, "too few are stored: they are made"
    assert expected(10, SIZE).checksum == sums_of(keys[:10], values[:10])
