"""Which micro-batches an audit counts, and which offsets they have read: from events and from Spark's checkpoint."""

from __future__ import annotations

import dataclasses

import pytest

from kafka.consumer.bounds import OffsetRange
from kafka.errors import KafkaConfigurationError
from kafka.pipelines.audit.micro_batches import (
    MicroBatch,
    gaps,
    joined,
    overlaps,
    partition_named,
    ranges_of_event,
    whole,
    without_event,
)
from kafka.pipelines.events import Event, SourceCounts
from kafka.pipelines.stream_checkpoint import StreamCheckpoint
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
NOTHING = StreamCheckpoint({}, {}, None)


def event(number: int | None, start: int, end: int, partition: int = 0) -> Event:
    """The event of a micro-batch that read a range of offsets."""
    counts = SourceCounts(0, 0, 0, 0, ranges={f"t-{partition}": (start, end)})
    return Event("batch", "2026-01-01T00:00:00", "p", batch=number, sources={"s": counts})


def read(batches: list[MicroBatch]) -> list[tuple[int, dict[TopicPartition, OffsetRange]]]:
    """The numbers of micro-batches, and what each has read."""
    return [(each.number, dict(each.ranges)) for each in batches]


def test_only_batches_of_the_stream_are_micro_batches() -> None:
    """Replays and backfills number their batches, too, and other events have no number."""
    mine = event(0, 0, 10)
    others = [
        dataclasses.replace(event(0, 70, 80), run="replay"),
        dataclasses.replace(event(1, 80, 90), run="backfill"),
        dataclasses.replace(event(2, 0, 0), kind="stop"),
        event(None, 20, 30),
    ]
    for checkpoint in (NOTHING, StreamCheckpoint({0: {T0: 10}}, {}, 0)):
        assert read(joined([mine, *others], checkpoint)) == [(0, {T0: OffsetRange(0, 10)})]


def test_the_last_event_of_a_repeated_batch_counts() -> None:
    found = joined([event(0, 0, 10), event(1, 10, 15), event(1, 10, 20)], StreamCheckpoint({1: {T0: 20}}, {}, 1))
    assert read(found) == [(0, {T0: OffsetRange(0, 10)}), (1, {T0: OffsetRange(10, 20)})]


def test_a_batch_that_spark_has_not_committed_does_not_count() -> None:
    planned = {0: {T0: 10}, 1: {T0: 20}}
    assert joined([event(0, 0, 10)], StreamCheckpoint({0: {T0: 10}}, {}, None)) == []
    assert [number for number, _ in read(joined([event(0, 0, 10)], StreamCheckpoint(planned, {}, 0)))] == [0]
    assert [number for number, _ in read(joined([event(0, 0, 10)], StreamCheckpoint(planned, {}, 1)))] == [0, 1]
    events = [event(0, 0, 10), event(1, 10, 20)]
    assert [each.event for each in joined(events, StreamCheckpoint(planned, {}, 0))] == events[:1]
    assert [each.event for each in joined(events, StreamCheckpoint(planned, {}, 1))] == events


def test_batches_are_in_the_order_of_their_numbers() -> None:
    found = joined([event(2, 20, 30), event(0, 0, 10)], StreamCheckpoint({1: {T0: 20}, 2: {T0: 30}}, {}, 2))
    assert read(found) == [
        (0, {T0: OffsetRange(0, 10)}),
        (1, {T0: OffsetRange(10, 20)}),
        (2, {T0: OffsetRange(20, 30)}),
    ]


def test_a_lost_event_is_replaced_by_what_the_checkpoint_says() -> None:
    """A batch begins where the one before it ended, or, as the first one, at the initial offsets."""
    checkpoint = StreamCheckpoint({2: {T0: 30, T1: 4}, 1: {T0: 20}, 0: {T0: 12, T1: 7}}, {T0: 5}, 2)
    assert read(joined([], checkpoint)) == [
        (0, {T0: OffsetRange(5, 12), T1: OffsetRange(0, 7)}),
        (1, {T0: OffsetRange(12, 20)}),
        (2, {T0: OffsetRange(20, 30), T1: OffsetRange(0, 4)}),
    ]
    assert without_event(joined([event(1, 12, 20)], checkpoint)) == [0, 2]
    assert read(joined([], StreamCheckpoint({0: {T1: 0}}, {}, 0))) == [(0, {T1: OffsetRange(0, 0)})], "an empty log"
    assert [number for number, _ in read(joined([], StreamCheckpoint({7: {T0: 70}}, {}, 7)))] == [], "no begin is known"
    shrunk = StreamCheckpoint({0: {T0: 12}, 1: {T0: 9}}, {}, 1)  # the topic was created again
    assert read(joined([], shrunk))[1] == (1, {T0: OffsetRange(12, 12)})


def test_a_lost_batch_between_two_others_has_read_what_is_missing_and_nothing_else() -> None:
    batches = [event(4, 0, 10), event(4, 0, 10), event(6, 30, 40), event(9, 40, 50)]
    found = joined(batches, NOTHING)
    assert read(found) == [
        (4, {T0: OffsetRange(0, 10)}),
        (5, {T0: OffsetRange(10, 30)}),
        (6, {T0: OffsetRange(30, 40)}),
        (7, {}),
        (9, {T0: OffsetRange(40, 50)}),
    ]
    assert without_event(found) == [5, 7, 8]
    new = joined([event(0, 0, 10), event(2, 20, 30, partition=1)], NOTHING)
    assert read(new)[1] == (1, {}), "where a partition was read first is unknown"
    back = joined([event(0, 0, 10), event(2, 5, 30)], NOTHING)
    assert read(back)[1] == (1, {}), "offsets that were read twice are not missing"


def test_gaps_and_overlaps_of_neighbours() -> None:
    found = joined([event(0, 0, 10), event(1, 12, 20), event(2, 15, 18), event(3, 18, 25)], NOTHING)
    assert list(gaps(found)) == [(T0, OffsetRange(10, 12), "micro-batches 0 and 1")]
    assert list(overlaps(found)) == [(T0, OffsetRange(15, 18), "micro-batches 1 and 2")]
    adjoining = joined([event(0, 0, 10), event(1, 10, 10), event(2, 10, 20)], NOTHING)
    assert [*gaps(adjoining), *overlaps(adjoining)] == []
    empty = joined([event(0, 0, 10), event(1, 5, 5)], NOTHING)
    assert list(overlaps(empty)) == []


def test_the_whole_range_goes_from_the_first_to_the_last_offset() -> None:
    batches = joined([event(0, 5, 10), event(1, 3, 8), event(2, 0, 4, partition=1)], NOTHING)
    assert whole(batches) == {T0: OffsetRange(3, 10), T1: OffsetRange(0, 4)}
    assert without_event([]) == []


def test_several_sources_can_read_one_partition() -> None:
    sources = {
        name: SourceCounts(0, 0, 0, 0, ranges={"t-0": ends}) for name, ends in {"a": (4, 9), "b": (2, 7)}.items()
    }
    assert ranges_of_event(dataclasses.replace(event(0, 0, 0), sources=sources)) == {T0: OffsetRange(2, 9)}


@pytest.mark.parametrize("name", ["t", "t-", "t-x", "t-1-", "-"])
def test_a_name_without_a_partition_is_an_error(name: str) -> None:
    with pytest.raises(KafkaConfigurationError, match="expected TOPIC-PARTITION"):
        partition_named(name)
    assert partition_named("a-b-12") == TopicPartition("a-b", 12)
