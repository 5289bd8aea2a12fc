"""The measurements of ``kafka perf``."""

import os
import secrets
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafka.cli.common_options import delivery
from kafka.cli.consume.source import Snapshot, closing, open_read
from kafka.cli.session import Session
from kafka.config.option import nearest
from kafka.errors import KafkaTimeoutError, UnknownTopicOrPartitionError
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.consumer import KafkaConsumer

_POOL = 512
"""Number of distinct record values."""
_WAIT_MS = 100
_ROUND_TRIP_S = 30.0


class Stopwatch:
    """Measures elapsed time and CPU time since its creation."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._cpu = _cpu_seconds()

    def figures(self, records: int, size: int) -> dict[str, Any]:
        """Return the figures for this number of records and bytes."""
        seconds = max(time.perf_counter() - self._began, 1e-9)
        return {
            "records": records,
            "bytes": size,
            "seconds": round(seconds, 4),
            "records_per_second": round(records / seconds),
            "mib_per_second": round(size / seconds / (1 << 20), 2),
            "cpu_seconds": round(_cpu_seconds() - self._cpu, 3),
        }


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system


def produced(
    session: Session,
    topic: str,
    count: int,
    size: int,
    key_size: int,
    compression: str | None,
    acks: str | None,
    noise: bool,
) -> dict[str, Any]:
    """Send records, and return the figures."""
    values = [secrets.token_bytes(size) if noise else bytes(size) for _ in range(_POOL)]
    keys = [secrets.token_bytes(key_size) if key_size else None for _ in range(_POOL)]
    with session.producer(**delivery(compression, acks)) as producer:
        producer.partitions_for(topic)
        watch = Stopwatch()
        send = producer.send
        for at in range(count):
            send(topic, values[at % _POOL], keys[at % _POOL])
        producer.flush()
        return watch.figures(count, count * (size + key_size))


def consumed(session: Session, topic: str, count: int | None, objects: bool) -> dict[str, Any]:
    """Read records, and return the figures."""
    read = open_read(session, [topic], "earliest")
    records = size = 0
    with closing(Snapshot(read)) as source:
        watch = Stopwatch()
        for columns in source.columns():
            if objects:
                records += len(columns.to_records())
            else:
                records += len(columns)
            size += columns.nbytes
            if count is not None and records >= count:
                break
        return watch.figures(records, size)


def round_trips(session: Session, topic: str, count: int, size: int) -> dict[str, Any]:
    """Send and read records one by one; return the duration of each in milliseconds.

    Raises `KafkaTimeoutError` if a record is not read within 30 seconds, and `UnknownTopicOrPartitionError`.
    """
    with session.consumer(group_id=None) as consumer, session.producer(linger_ms=0) as producer:
        found = consumer.partitions_for_topic(topic)
        if not found:
            hint = nearest(topic, consumer.topics()) or f"; create it with 'kafka topics create {topic}'"
            raise UnknownTopicOrPartitionError(f"there is no topic {topic!r}{hint}")
        consumer.assign([TopicPartition(topic, number) for number in found])
        consumer.seek_to_end()
        for tp in consumer.assignment():
            consumer.position(tp)
        mark = secrets.token_bytes(8)
        times = sorted(_trips(consumer, producer, topic, mark, count, size))
    return {
        "records": count,
        "mean_ms": round(sum(times) / count, 3),
        **{f"p{share}_ms": round(times[min(count - 1, count * share // 100)], 3) for share in (50, 90, 99)},
        "max_ms": round(times[-1], 3),
    }


def _trips(
    consumer: "KafkaConsumer[Any, Any]", producer: Any, topic: str, mark: bytes, count: int, size: int
) -> Iterator[float]:
    for number in range(count + 1):
        value = (mark + number.to_bytes(8, "big")).ljust(size, b".")
        began = time.perf_counter()
        producer.send(topic, value)
        while not any(record.value == value for found in consumer.poll(_WAIT_MS).values() for record in found):
            if time.perf_counter() - began > _ROUND_TRIP_S:
                raise KafkaTimeoutError(f"record {number} was not read within {_ROUND_TRIP_S:g} s of being sent")
        if number:  # skip the first round trip, which includes connecting
            yield (time.perf_counter() - began) * 1000
