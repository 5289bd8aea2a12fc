"""The search for the record for which a query fails."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.pipelines.bounded_runs import Ranges
from kafka.pipelines.failing_records import kind_of, narrowed
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

SIZES = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 40)), min_size=1, max_size=4)


def contains(ranges: Ranges, partition: int, offset: int) -> bool:
    start, end = ranges.get(TopicPartition("t", partition), (0, 0))
    return start <= offset < end


@given(SIZES, st.data())
def test_one_failing_record_is_found(sizes: list[tuple[int, int]], data: st.DataObject) -> None:
    ranges = {TopicPartition("t", number): (start, start + size) for number, (start, size) in enumerate(sizes)}
    partition = data.draw(st.integers(0, len(sizes) - 1))
    start, size = sizes[partition]
    offset = data.draw(st.integers(start, start + size - 1))
    tries: list[Ranges] = []

    def fails(part: Ranges) -> bool:
        tries.append(part)
        assert all(first < end for first, end in part.values())
        return contains(part, partition, offset)

    found = narrowed(ranges, fails, time.monotonic() + 600)
    assert found == {TopicPartition("t", partition): (offset, offset + 1)}
    assert len(tries) <= 1 + 2 * sum(size for _, size in sizes).bit_length()


def test_the_first_of_several_failing_records_is_found() -> None:
    bad = {3, 11, 12}
    whole = {TopicPartition("t", 0): (0, 16)}

    def fails(part: Ranges) -> bool:
        return any(contains(part, 0, each) for each in bad)

    assert narrowed(whole, fails, time.monotonic() + 600) == {TopicPartition("t", 0): (3, 4)}


def test_records_that_fail_only_together_are_not_separated() -> None:
    whole = {TopicPartition("t", 0): (0, 4), TopicPartition("t", 1): (0, 4)}

    def fails(part: Ranges) -> bool:
        return contains(part, 0, 1) and contains(part, 1, 2)

    found = narrowed(whole, fails, time.monotonic() + 600)
    assert contains(found, 0, 1)
    assert contains(found, 1, 2)


def test_nothing_is_found_if_the_failure_does_not_happen_again() -> None:
    assert narrowed({TopicPartition("t", 0): (0, 4)}, lambda _: False, time.monotonic() + 600) == {}


def test_the_search_ends_with_what_it_knows_when_its_time_is_over() -> None:
    whole = {TopicPartition("t", 0): (0, 4)}
    assert narrowed(whole, lambda _: True, time.monotonic() - 1) == whole


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        ("[DIVIDE_BY_ZERO] Division by zero.", "DIVIDE_BY_ZERO"),
        ("[CAST_INVALID_INPUT] The value", "CAST_INVALID_INPUT"),
        ("ValueError: invalid literal", "ValueError"),
        ("flights.codes.UnknownCodeError: XY", "UnknownCodeError"),
        ("kafka.errors.KafkaTimeoutError: 30 s", None),
        ("NoBrokersAvailable: nothing answers", None),
        ("something else", None),
    ],
)
def test_kinds_of_errors(cause: str, kind: str | None) -> None:
    assert kind_of(cause) == kind
