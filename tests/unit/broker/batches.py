"""Batches for the broker's unit tests, built with the package's own encoder."""

from __future__ import annotations

from kafka.broker.log.partition import PartitionLog
from kafka.record import BatchBuilder, Compression, batch_headers

NOW_MS = 1_000_000


def make_batch(
    values: list[bytes],
    *,
    timestamp: int = 1000,
    producer: tuple[int, int, int] = (-1, -1, -1),
    codec: Compression = Compression.NONE,
    transactional: bool = False,
) -> memoryview:
    """Build a batch of magic 2 in writable memory.

    `producer` is id, epoch and base sequence; the timestamps increase by 1 ms.
    """
    builder = BatchBuilder(2, codec, size_limit=1 << 24)
    for number, value in enumerate(values):
        builder.append(timestamp + number, b"key", value, ())
    producer_id, epoch, sequence = producer
    batch = builder.build(
        producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence, transactional=transactional
    )
    return memoryview(bytearray(batch))


def append(log: PartitionLog, values: list[bytes], **how: object) -> int:
    """Append one batch and return its base offset."""
    batch = make_batch(values, **how)  # type: ignore[arg-type]
    return log.append(batch, next(batch_headers(batch)), now_ms=NOW_MS)
