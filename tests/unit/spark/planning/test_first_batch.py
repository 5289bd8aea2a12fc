"""The start of a first batch is the same whenever Spark asks, and its end looks like any other if possible."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.spark.options.value_parsers import EARLIEST, LATEST, AtOffsets, AtTime, Boundary, Everywhere
from kafka.spark.planning.checkpoint_layout import from_layout, is_initial, mark_initial, to_layout
from kafka.spark.planning.ranges import ranges_between
from kafka.spark.planning.stream_plan import batch_start, first_end, first_limits
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

partitions = st.builds(
    TopicPartition, st.text("abcXYZ019._-", min_size=1, max_size=5), st.integers(min_value=0, max_value=200)
)
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@st.composite
def first_batches(draw):
    """Generate the start of a query, its first offsets, the ends of the logs, and the first offsets after a crash."""
    names = draw(st.lists(partitions, unique=True, max_size=6))
    begin = {each: draw(st.integers(0, 50)) for each in names}
    ends = {each: offset + draw(st.integers(0, 50)) for each, offset in begin.items()}
    moved = {each: offset + draw(st.integers(0, 90)) for each, offset in begin.items()}
    kinds: list[Boundary] = [Everywhere("startingOffsets", EARLIEST), Everywhere("startingOffsets", LATEST)]
    start = draw(st.sampled_from([*kinds, AtTime("startingTimestamp", 7), AtOffsets("startingOffsets", begin)]))
    return start, begin, ends, begin if isinstance(start, AtOffsets) else moved


@given(first_batches())
def test_a_replay_of_the_first_batch_reads_the_same_offsets(batch):
    start, begin, ends, moved = batch
    stops = first_limits(start, begin, ends)
    end = json.loads(json.dumps(first_end(start, begin, stops)))
    assert not is_initial(end)
    assert from_layout(end) == stops
    planned = ranges_between(batch_start(start, mark_initial(begin), end), stops)
    assert planned == ranges_between(begin, stops)
    assert ranges_between(batch_start(start, mark_initial(moved), end), stops) == planned


@given(first_batches())
def test_the_next_batch_starts_where_the_first_one_ended(batch):
    start, begin, ends, _ = batch
    stops = first_limits(start, begin, ends)
    later = {each: stop + 1 for each, stop in stops.items()}
    assert batch_start(start, first_end(start, begin, stops), to_layout(later)) == stops


@pytest.mark.parametrize(
    ("start", "begin"),
    [
        (Everywhere("startingOffsets", LATEST), 7),
        (Everywhere("startingOffsets", EARLIEST), 0),
        (AtOffsets("startingOffsets", {T0: 7, T1: 7}), 7),
    ],
)
def test_an_end_contains_only_topics_if_the_start_is_certain(start, begin):
    assert set(first_end(start, {T0: begin, T1: begin}, {T0: 9, T1: begin})) == {"t"}


@pytest.mark.parametrize("start", [Everywhere("startingOffsets", EARLIEST), AtTime("startingTimestamp", 7)])
def test_an_end_that_contains_the_start_is_read_like_any_other(start):
    end = first_end(start, {T0: 3, T1: 4}, {T0: 9, T1: 8})
    assert end == {"t": {"0": 9, "1": 8}, "initial offsets of t": {"0": 3, "1": 4}}
    assert all(int(partition) >= 0 <= offset for each in end.values() for partition, offset in each.items())


def test_a_query_from_the_latest_offsets_has_an_empty_first_batch():
    start = Everywhere("startingOffsets", LATEST)
    assert first_limits(start, {T0: 7}, {T0: 9, T1: 5}) == {T0: 7}


def test_partitions_of_a_query_may_start_in_different_ways():
    start = AtOffsets("startingOffsets", {T0: LATEST, T1: EARLIEST})
    stops = first_limits(start, {T0: 7, T1: 0}, {T0: 9, T1: 5})
    assert stops == {T0: 7, T1: 5}
    end = first_end(start, {T0: 7, T1: 0}, stops)
    assert end == {"t": {"0": 7, "1": 5}}
    assert batch_start(start, mark_initial({T0: 9, T1: 2}), end) == {T0: 7, T1: 0}


def test_a_first_end_of_an_older_release_still_contains_its_start():
    end = {"t": {"0": 9}, "initial offsets": {"t": {"0": 3}}}
    start = Everywhere("startingOffsets", LATEST)
    assert batch_start(start, mark_initial({T0: 50}), end) == {T0: 3}
    assert from_layout(end) == {T0: 9}
