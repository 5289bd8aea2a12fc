"""Spark's checkpoint of a pipeline, and the micro-batches that follow from it and from events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka.consumer.bounds import OffsetRange
from kafka.errors import KafkaConfigurationError
from kafka.pipelines.audit.micro_batches import gaps, joined, without_event
from kafka.pipelines.events import Event, SourceCounts
from kafka.pipelines.stream_checkpoint import StreamCheckpoint, read_checkpoint
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def planned(directory: Path, number: int, *layouts: Any) -> None:
    """Write the file of a planned micro-batch, as Spark does."""
    folder = directory / "offsets"
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["v1", '{"batchWatermarkMs":0}', *(each if isinstance(each, str) else json.dumps(each) for each in layouts)]
    (folder / str(number)).write_text("\n".join(lines))
    (folder / f".{number}.crc").write_bytes(b"\xff")


def committed(directory: Path, number: int) -> None:
    """Write the file of a complete micro-batch."""
    (directory / "commits").mkdir(parents=True, exist_ok=True)
    (directory / "commits" / str(number)).write_text('v1\n{"nextBatchWatermarkMs":0}')


def test_a_checkpoint_is_read(tmp_path: Path) -> None:
    assert read_checkpoint(tmp_path / "none") == StreamCheckpoint({}, {}, None)
    planned(tmp_path, 0, {"t": {"0": 5}, "initial offsets of t": {"0": 2}, "t id abc": {}}, "-", {"u": {"0": 1}})
    planned(tmp_path, 1, {"t": {"0": 7, "1": 3}})
    planned(tmp_path, 2, {"t": {"0": 9, "1": 4}})
    committed(tmp_path, 0)
    committed(tmp_path, 1)
    found = read_checkpoint(tmp_path)
    assert found.ends[0] == {T0: 5, TopicPartition("u", 0): 1}
    assert (found.initial, found.committed, found.unfinished) == ({T0: 2}, 1, 2)
    assert found.last_end == {T0: 7, T1: 3}


def test_a_foreign_checkpoint_is_an_error(tmp_path: Path) -> None:
    planned(tmp_path, 0, {"t": {"zero": 5}})
    with pytest.raises(KafkaConfigurationError, match="expected offsets of Kafka sources"):
        read_checkpoint(tmp_path)


def event(number: int, **ranges: tuple[int, int]) -> Event:
    """Return the event of a micro-batch."""
    named = {f"t-{name[1:]}": each for name, each in ranges.items()}
    return Event("batch", f"2026-01-01T00:00:{number:02}", "p", batch=number, sources={"s": _counts(named)})


def _counts(ranges: dict[str, tuple[int, int]]) -> SourceCounts:
    return SourceCounts(0, 0, 0, 0, ranges=ranges)


def test_the_checkpoint_says_which_batches_are_complete_and_fills_in_for_lost_events() -> None:
    checkpoint = StreamCheckpoint({1: {T0: 20}, 2: {T0: 30}, 3: {T0: 40}}, {}, 2)
    found = joined([event(0, p0=(0, 10)), event(1, p0=(10, 20)), event(3, p0=(30, 40))], checkpoint)
    assert [(each.number, each.ranges) for each in found] == [
        (0, {T0: OffsetRange(0, 10)}),
        (1, {T0: OffsetRange(10, 20)}),
        (2, {T0: OffsetRange(20, 30)}),
    ]
    assert without_event(found) == [2]


def test_batches_without_event_and_file_read_what_lies_between() -> None:
    found = joined([event(0, p0=(0, 10)), event(3, p0=(30, 40))], StreamCheckpoint({}, {}, None))
    assert found[1].ranges == {T0: OffsetRange(10, 30)}
    assert without_event(found) == [1, 2]
    assert list(gaps(found)) == []


def test_a_partition_without_new_records_in_a_batch_is_no_gap() -> None:
    batches = [event(0, p0=(0, 10), p1=(5, 6)), event(1, p0=(10, 12)), event(2, p0=(13, 14), p1=(6, 8))]
    found = joined(batches, StreamCheckpoint({}, {}, None))
    assert list(gaps(found)) == [(T0, OffsetRange(12, 13), "micro-batches 1 and 2")]


@pytest.mark.parametrize(
    ("ends", "committed", "number", "ranges"),
    [
        ({}, None, None, {}),
        ({0: {T0: 10}}, 0, None, {}),
        ({0: {T0: 10}}, None, 0, {T0: (4, 10)}),
        ({0: {T0: 10}, 1: {T0: 20, T1: 7}}, 0, 1, {T0: (10, 20), T1: (0, 7)}),
        ({0: {T0: 10}, 1: {T0: 10, T1: 7}}, 0, 1, {T1: (0, 7)}),
        ({0: {T0: 10}, 1: {T0: 20}}, 1, None, {}),
    ],
    ids=["new", "complete", "first", "second", "partition without records", "two complete"],
)
def test_the_unfinished_micro_batch_is_planned_but_not_committed(
    ends: dict[int, dict[TopicPartition, int]],
    committed: int | None,
    number: int | None,
    ranges: dict[TopicPartition, tuple[int, int]],
) -> None:
    """Its offsets begin where the batch before ends, and those of the first batch where the query began."""
    checkpoint = StreamCheckpoint(ends, {T0: 4}, committed)
    assert checkpoint.unfinished == number
    assert checkpoint.unfinished_ranges == ranges
    assert checkpoint.last_end == ({} if committed is None else ends.get(committed, {}))
