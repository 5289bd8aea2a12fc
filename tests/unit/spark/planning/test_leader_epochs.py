"""Logs that an unclean leader election truncated between two micro-batches, and that may have grown again."""

import logging

import pytest

from kafka.spark.planning.checkpoint_layout import (
    Layout,
    from_layout,
    leader_epochs,
    topic_ids,
    truncations,
    with_leader_epochs,
    with_truncations,
)
from kafka.spark.planning.data_loss import DataLossError
from kafka.spark.planning.ranges import OffsetRange
from kafka.structs import TopicPartition

from .fake_cluster import FakeCluster
from .planned_query import Query

pytestmark = pytest.mark.once

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def read_up_to(end: int, **options: str) -> tuple[Query, Layout]:
    """Return a query that has read partition 0 in leader epoch 3, and partition 1, whose leader stays the same."""
    query = Query({T0: (0, end), T1: (0, 7)}, startingOffsets="earliest", **options)
    query.cluster.epochs = {T0: 3, T1: 8}
    return query, query.latest(query.initial())


def elect(query: Query, cut_at: int | None, end: int) -> None:
    """Elect another leader for partition 0, whose log has epoch 3 up to an offset (None: unknown)."""
    query.cluster.epochs[T0] = 5
    query.cluster.logs.update(FakeCluster({T0: (0, end)}).logs)
    if cut_at is not None:
        query.cluster.ends_of_epochs[T0, 3] = cut_at


def test_epochs_next_to_offsets_are_ignored_by_other_versions():
    epochs = {T0: 3, T1: 3, TopicPartition("t", 2): 4, TopicPartition("t", 5): 4, TopicPartition("u", 0): 0}
    offsets = {"t": {"0": 1, "1": 1, "2": 1, "5": 1}, "u": {"0": 9}}
    layout = with_truncations(with_leader_epochs(offsets, epochs), {T1: 5})
    assert layout == offsets | {"t leader epochs 0-1:3,2:4,5:4": {}, "u leader epochs 0:0": {}, "t cut back 1:5": {}}
    assert leader_epochs(layout) == epochs
    assert truncations(layout) == {T1: 5}
    assert from_layout(layout) == from_layout(offsets)
    assert topic_ids(layout) == {}


def test_epochs_of_other_topics_are_not_in_the_checkpoint():
    assert with_leader_epochs({"t": {"0": 1}}, {T0: 2, TopicPartition("u", 0): 1}) == {
        "t": {"0": 1},
        "t leader epochs 0:2": {},
    }


@pytest.mark.parametrize("end", [31, 45, 50, 80], ids=["cut", "shorter", "as long", "longer"])
def test_a_truncated_log_ends_the_query_whatever_its_length(end):
    query, done = read_up_to(50)
    assert leader_epochs(done) == {T0: 3, T1: 8}
    elect(query, cut_at=31, end=end)
    query.restart()
    with pytest.raises(DataLossError, match=r"log of t-0 was truncated to offset 31 .* had read up to 50: .* epoch 3"):
        query.latest(done)


@pytest.mark.parametrize("end", [45, 50, 80], ids=["shorter", "as long", "longer"])
def test_if_loss_is_allowed_the_new_records_are_read_once(end, caplog):
    query, done = read_up_to(50, failOnDataLoss="false")
    elect(query, cut_at=31, end=end)
    later = query.latest(done)
    ranges = [OffsetRange("t", 0, 31, end, leader_epoch=5)]
    assert query.ranges(done, later) == ranges
    assert "t-0 was truncated to offset 31" in caplog.text
    query.restart()
    assert query.ranges(done, later) == ranges, "a replay reads the same"
    query.produce(0, 5)
    last = query.latest(later)
    assert query.ranges(later, last) == [OffsetRange("t", 0, end, end + 5, leader_epoch=5)]
    assert truncations(last) == {}


def test_the_query_waits_for_new_records_after_a_truncation():
    query, done = read_up_to(50, failOnDataLoss="false")
    elect(query, cut_at=31, end=31)
    assert query.latest(done) == done
    query.produce(0, 2)
    assert query.ranges(done, query.latest(done)) == [OffsetRange("t", 0, 31, 33, leader_epoch=5)]


def test_limits_apply_to_the_new_records_after_a_truncation():
    query, done = read_up_to(50, failOnDataLoss="false", maxOffsetsPerTrigger="10")
    while from_layout(done)[T0] < 50:
        done = query.latest(done, 10)
    elect(query, cut_at=31, end=60)
    first = query.latest(done, 10)
    assert query.ranges(done, first) == [OffsetRange("t", 0, 31, 41, leader_epoch=5)]
    assert query.ranges(first, query.latest(first, 10)) == [OffsetRange("t", 0, 41, 51, leader_epoch=5)]


def test_a_leader_without_truncation_is_queried_once():
    query, done = read_up_to(50)
    elect(query, cut_at=55, end=80)
    later = query.latest(done)
    assert query.ranges(done, later) == [OffsetRange("t", 0, 50, 80, leader_epoch=5)]
    assert query.latest(done) == later
    assert query.cluster.asked_epochs == [{T0: 3}]
    assert leader_epochs(later) == {T0: 5, T1: 8}


def test_a_log_truncated_to_the_querys_position_is_not_data_loss():
    query, done = read_up_to(50)
    elect(query, cut_at=50, end=80)
    assert query.ranges(done, query.latest(done)) == [OffsetRange("t", 0, 50, 80, leader_epoch=5)]


def test_each_leader_is_queried_for_the_end_of_the_previous_epoch():
    query, done = read_up_to(50)
    elect(query, cut_at=50, end=80)
    done = query.latest(done)
    query.cluster.epochs[T0] = 6
    query.cluster.ends_of_epochs[T0, 5] = 70
    with pytest.raises(DataLossError, match="t-0 was truncated to offset 70"):
        query.latest(done)


def test_no_leader_is_queried_while_leaders_stay_the_same():
    query, done = read_up_to(50)
    for _ in range(3):
        query.produce(0, 1)
        done = query.latest(done)
    query.restart()
    query.latest(done)
    assert query.cluster.asked_epochs == []


def test_an_available_now_query_keeps_the_epochs_of_its_start():
    query, done = read_up_to(50)
    query.produce(0, 30)
    query.now += 2.0
    query.planner.freeze()
    elect(query, cut_at=60, end=90)
    last = query.latest(done)
    assert (from_layout(last)[T0], leader_epochs(last)[T0]) == (80, 3)
    query.restart()
    with pytest.raises(DataLossError, match="t-0 was truncated to offset 60"):
        query.latest(last)


def test_a_query_adds_epochs_to_a_checkpoint_without_them():
    query, _ = read_up_to(50)
    elect(query, cut_at=31, end=80)
    query.restart()
    assert leader_epochs(query.latest({"t": {"0": 50, "1": 7}})) == {T0: 5, T1: 8}
    assert query.cluster.asked_epochs == []


def test_brokers_without_epochs_are_not_queried():
    query, done = read_up_to(50)
    query.cluster.epochs.clear()
    query.produce(0, 1)
    assert query.latest(done) == {"t": {"0": 51, "1": 7}}


def test_an_unanswered_epoch_query_is_not_data_loss(caplog):
    query, done = read_up_to(50)
    elect(query, cut_at=None, end=80)
    with caplog.at_level(logging.WARNING):
        assert query.ranges(done, query.latest(done)) == [OffsetRange("t", 0, 50, 80, leader_epoch=5)]
    assert "whether the logs of t-0 were truncated" in caplog.text


def test_a_lagging_broker_is_not_queried_for_later_epochs():
    query, done = read_up_to(50)
    query.cluster.epochs[T0] = 2
    query.produce(0, 1)
    query.latest(done)
    assert query.cluster.asked_epochs == []


def test_a_recreated_topic_is_reported_as_such():
    query, done = read_up_to(50)
    query.cluster.ids["t"] = "one"
    query.produce(0, 1)
    done = query.latest(done)
    query.cluster.ids["t"] = "two"
    elect(query, cut_at=31, end=80)
    with pytest.raises(DataLossError, match="deleted and recreated"):
        query.latest(done)
