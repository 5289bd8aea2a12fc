"""What consumers of committed records see of the trial's topics, in columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka import KafkaConsumer
from kafka.structs import TopicPartition

from .planted_records import PARTITIONS

OWN = ("kafka.", "__connect.errors.")
"""What the names of the headers begin with that a pipeline adds."""


def batches(servers: str, topic: str) -> Iterator[pa.RecordBatch]:
    """Return the committed records of a topic."""
    with KafkaConsumer(
        bootstrap_servers=servers, group_id=None, auto_offset_reset="earliest", isolation_level="read_committed"
    ) as consumer:
        partitions = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic))]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        ends = consumer.end_offsets(partitions)
        while any(consumer.position(each) < ends[each] for each in partitions):
            batch = consumer.poll_arrow(timeout_ms=500)
            if batch.num_rows:
                yield batch


@dataclasses.dataclass(frozen=True)
class Original:
    """The bytes of a record."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@dataclasses.dataclass(frozen=True)
class Letter:
    """A dead letter.

    Arguments:
        number: of the record, by its position.
        attempt: how often it was rejected.
        rules: that it failed.
        place: its partition and offset in the topic of the dead letters.
        original: its bytes, without the headers of the pipeline.
    """

    number: int
    attempt: int
    rules: tuple[str, ...]
    place: tuple[int, int]
    original: Original


def _number(topic: str, position: bytes) -> int:
    found, partition, offset = position.decode().split("/")[:3]
    assert found == topic, position
    return int(offset) * PARTITIONS + int(partition)


def _original(row: dict[str, Any], headers: list[tuple[str, bytes | None]]) -> Original:
    return Original(row["key"], row["value"], tuple(each for each in headers if not each[0].startswith(OWN)))


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[dict[str, Any], list[tuple[str, bytes | None]]]]:
    for row in batch.select(["partition", "offset", "key", "value", "headers"]).to_pylist():
        yield row, [(each["key"], each["value"]) for each in row["headers"]]


def letters(servers: str, topic: str, source: str) -> list[Letter]:
    """Return the dead letters in a topic, whose source is another one."""
    found = []
    for batch in batches(servers, topic):
        for row, headers in _rows(batch):
            own = dict(headers)
            number = _number(source, own["kafka.source"] or b"")
            rules = tuple((value or b"").decode() for name, value in headers if name == "kafka.rule")
            place = (row["partition"], row["offset"])
            found.append(Letter(number, int(own["kafka.attempt"] or b""), rules, place, _original(row, headers)))
    return found


def originals(servers: str, topic: str, numbers: set[int]) -> tuple[int, dict[int, Original]]:
    """Return the number of records in the source, and those with some numbers."""
    count, found = 0, {}
    wanted = np.fromiter(numbers, np.int64, len(numbers))
    for batch in batches(servers, topic):
        count += batch.num_rows
        offsets = batch.column("offset").to_numpy(zero_copy_only=False).astype(np.int64)
        at = offsets * PARTITIONS + batch.column("partition").to_numpy(zero_copy_only=False)
        mask = np.isin(at, wanted)
        for (row, headers), number in zip(_rows(batch.filter(pa.array(mask))), at[mask].tolist(), strict=True):
            assert dict(headers)["n"] == b"%d" % number, (row, number)
            found[number] = _original(row, headers)
    return count, found


def sink_numbers(servers: str, topic: str, source: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the number of each row in a sink, by its position, sorted; it must be that of its id and its key."""
    parts = [np.empty(0, np.int64)]
    for batch in batches(servers, topic):
        headers = batch.column("headers")
        assert pc.all(pc.equal(pc.list_value_length(headers), 1)).as_py(), "a row has other headers"
        position = pc.cast(pc.struct_field(pc.list_flatten(headers), "value"), pa.string())
        found = pc.extract_regex(position, r"^(?P<t>.+?)/(?P<p>\d+)/(?P<o>\d+)(?P<i>/.*)?$")
        assert pc.all(pc.equal(pc.struct_field(found, "t"), source)).as_py(), "a position is in another topic"
        at = _integers(pc.struct_field(found, "o")) * PARTITIONS + _integers(pc.struct_field(found, "p"))
        value = pc.extract_regex(pc.cast(batch.column("value"), pa.string()), r'"id": ?(?P<id>\d+)')
        assert np.array_equal(at, _integers(pc.struct_field(value, "id"))), "a row is not that of its position"
        assert np.array_equal(at, _integers(pc.cast(batch.column("key"), pa.string()))), "a key is not that of its row"
        parts.append(at)
    return np.sort(np.concatenate(parts))


def _integers(texts: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    numbers: np.ndarray[Any, np.dtype[np.int64]] = pc.cast(texts, pa.int64()).to_numpy(zero_copy_only=False)
    return numbers
