"""The division of ranges of offsets into tasks."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka.spark.planning.log_sizes import find_sizes
from kafka.spark.planning.ranges import SHARED_TASK_OFFSETS, OffsetRange, describe, plan_tasks, ranges_between
from kafka.spark.planning.stream_plan import count_offsets, limit_offsets
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

ranges_of_topics = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.integers(0, 5)),
    st.tuples(st.integers(0, 10**6), st.integers(1, 100_000)),
    max_size=12,
).map(lambda found: sorted(OffsetRange(t, p, start, start + size) for (t, p), (start, size) in found.items()))
limits = st.none() | st.integers(1, 30)


def tp(partition: int, topic: str = "t") -> TopicPartition:
    return TopicPartition(topic, partition)


def sizes(tasks) -> list[list[int]]:
    return [[len(piece) for piece in task] for task in tasks]


def test_ranges_go_from_start_to_end_and_new_partitions_start_at_0():
    start = {tp(0): 5, tp(1): 7, tp(2): 9}
    end = {tp(0): 8, tp(1): 7, tp(2): 3, tp(3): 4}
    assert ranges_between(start, end) == [OffsetRange("t", 0, 5, 8), OffsetRange("t", 3, 0, 4)]


@pytest.mark.slow
@given(ranges_of_topics, limits, st.none() | st.integers(5_000, 200_000))
def test_tasks_cover_every_offset_once(ranges, min_partitions, max_records):
    tasks = plan_tasks(ranges, min_partitions, max_records)
    pieces = sorted(piece for task in tasks for piece in task)
    assert all(len(piece) > 0 for piece in pieces)
    joined: list[OffsetRange] = []
    for piece in pieces:
        if joined and joined[-1].topic_partition == piece.topic_partition and joined[-1].stop == piece.start:
            joined[-1] = OffsetRange(piece.topic, piece.partition, joined[-1].start, piece.stop)
        else:
            joined.append(piece)
    assert joined == ranges
    for task in tasks:
        assert max(Counter(piece.topic_partition for piece in task).values()) == 1
        assert len(task) == 1 or sum(map(len, task)) <= SHARED_TASK_OFFSETS
        assert max_records is None or sum(map(len, task)) <= max_records


@pytest.mark.slow
@given(ranges_of_topics, limits)
def test_the_same_ranges_give_the_same_tasks(ranges, min_partitions):
    assert plan_tasks(ranges, min_partitions, None) == plan_tasks(list(ranges), min_partitions, None)


def test_no_offsets_need_no_task():
    assert plan_tasks([], 4, 10) == []


def test_small_partitions_share_a_task_and_large_ones_keep_their_own():
    ranges = [OffsetRange("t", p, 0, size) for p, size in enumerate([10, 90_000, 20, 30, 9_990])]
    assert sorted(sizes(plan_tasks(ranges, None, None))) == [[10, 20, 30], [9_990], [90_000]]


def test_min_partitions_keeps_small_partitions_in_separate_tasks():
    ranges = [OffsetRange("t", p, 0, 10) for p in range(6)]
    assert len(plan_tasks(ranges, None, None)) == 1
    assert len(plan_tasks(ranges, 6, None)) == 6
    assert len(plan_tasks(ranges, 4, None)) == 4


def test_min_partitions_splits_large_ranges_in_proportion():
    ranges = [OffsetRange("t", 0, 0, 300_000), OffsetRange("t", 1, 100, 100_100), OffsetRange("t", 2, 0, 10)]
    tasks = plan_tasks(ranges, 9, None)
    assert sizes(tasks) == [[50_000]] * 6 + [[50_000]] * 2 + [[10]]
    assert tasks[0] == (OffsetRange("t", 0, 0, 50_000),)


def test_a_range_is_not_split_into_empty_pieces():
    assert sizes(plan_tasks([OffsetRange("t", 0, 7, 10)], 100, None)) == [[1], [1], [1]]


def test_max_records_caps_tasks():
    assert sizes(plan_tasks([OffsetRange("t", 0, 0, 25)], None, 10)) == [[8], [8], [9]]


def test_small_partitions_share_a_task_up_to_its_limit():
    half = SHARED_TASK_OFFSETS // 2
    even = [OffsetRange("t", number, 0, half) for number in range(4)]
    assert sizes(plan_tasks(even, None, None)) == [[half, half], [half, half]]
    more = [OffsetRange("t", number, 0, half + 1) for number in range(2)]
    assert sizes(plan_tasks(more, None, None)) == [[half + 1], [half + 1]]


def test_partitions_share_tasks_only_down_to_the_minimum_of_tasks():
    ranges = [OffsetRange("t", number, 0, 10) for number in range(10)]
    for wanted in range(1, 11):
        assert len(plan_tasks(ranges, wanted, None)) == wanted


def test_a_range_is_split_into_the_requested_number_of_pieces():
    whole = [OffsetRange("t", 0, 7, 17)]
    for wanted in range(1, 11):
        found = [piece for (piece,) in plan_tasks(whole, wanted, None)]
        assert len(found) == wanted
        assert (found[0].start, found[-1].stop) == (7, 17)
        assert max(map(len, found)) - min(map(len, found)) <= 1


def test_records_of_a_new_partition_count_from_its_beginning():
    assert limit_offsets(10, {}, {tp(0): 10, tp(1): 10}) == {tp(0): 5, tp(1): 5}
    assert limit_offsets(20, {}, {tp(0): 10, tp(1): 10}) == {tp(0): 10, tp(1): 10}
    assert limit_offsets(1, {}, {tp(0): 10, tp(1): 0}) == {tp(0): 1, tp(1): 0}


def test_a_limit_is_divided_in_proportion():
    begin = {tp(0): 0, tp(1): 100, tp(2): 0}
    end = {tp(0): 900, tp(1): 190, tp(2): 10}
    assert count_offsets(begin, end) == 1_000
    assert limit_offsets(100, begin, end) == {tp(0): 90, tp(1): 109, tp(2): 1}


def test_no_partition_starves_under_a_limit():
    begin = {tp(0): 0, tp(1): 0}
    assert limit_offsets(10, begin, {tp(0): 10_000, tp(1): 1}) == {tp(0): 9, tp(1): 1}


def test_a_limit_that_is_not_reached_changes_nothing():
    end = {tp(0): 3, tp(1): 1}
    assert limit_offsets(10, {tp(0): 0, tp(1): 5}, end) == end


@given(
    st.integers(1, 10**6),
    st.dictionaries(st.builds(tp, st.integers(0, 9)), st.tuples(st.integers(0, 10**9), st.integers(0, 10**9))),
)
def test_a_limit_moves_forward_and_never_past_the_end(limit, logs):
    begin = {each: low for each, (low, _) in logs.items()}
    end = {each: low + size for each, (low, size) in logs.items()}
    limited = limit_offsets(limit, begin, end)
    assert all(begin[each] <= limited[each] <= end[each] for each in end)
    assert count_offsets(begin, limited) <= limit + len(end)
    assert (count_offsets(begin, limited) > 0) == (count_offsets(begin, end) > 0)


def test_many_ranges_are_described_briefly():
    text = describe(OffsetRange("t", p, 0, 5) for p in range(20))
    assert text.startswith("t-0 [0, 5), t-1 [0, 5)")
    assert text.endswith("and 12 more")


def test_ranges_are_not_split_if_they_are_as_many_as_the_tasks():
    ranges = [OffsetRange("t", number, 0, size) for number, size in enumerate((60, 40, 20))]
    assert sizes(plan_tasks(ranges, 3, None)) == [[60], [40], [20]]
    assert sizes(plan_tasks(ranges, 4, None)) == [[30], [30], [40], [20]]


def test_eight_ranges_are_described_and_the_others_are_counted():
    ranges = [OffsetRange("t", number, 0, 5) for number in range(9)]
    assert describe(ranges[:8]) == ", ".join(str(each) for each in ranges[:8])
    assert describe(ranges) == ", ".join(str(each) for each in ranges[:8]) + " and 1 more"


def test_a_range_is_split_where_sparks_connector_splits_it():
    tasks = plan_tasks([OffsetRange("t", 0, 0, 200)], None, 7)
    assert [len(piece) for (piece,) in tasks] == [6] * 3 + [7] * 26


@pytest.mark.parametrize("lengths", [(), (5,), (5, SHARED_TASK_OFFSETS)])
def test_sizes_are_not_requested_if_no_ranges_could_share_a_task(lengths):
    ranges = [OffsetRange("t", number, 0, length) for number, length in enumerate(lengths)]
    assert find_sizes(ranges, None) == {}
