"""Record batches as a broker would send them."""

from __future__ import annotations

from collections.abc import Sequence

from kafka.consumer.buffer.partition_state import PartitionState
from kafka.record import BatchBuilder, batch_headers, set_offsets


def batch(values: Sequence[bytes | None], base_offset: int = 0, magic: int = 2) -> bytes:
    """One batch; keys are `k` and the offset."""
    builder = BatchBuilder(magic=magic, size_limit=1 << 20)
    for index, value in enumerate(values):
        builder.append(1_000 + index, b"k%d" % (base_offset + index), value, [])
    data = bytearray(builder.build(base_offset=base_offset))
    for header in list(batch_headers(data)):
        set_offsets(data, header, header.base_offset, 0)
    return bytes(data)


def at(state: PartitionState) -> int | None:
    """The offset of the position of a partition."""
    return None if state.position is None else state.position.offset


def numbered(start: int, stop: int) -> bytes:
    """One batch with the offsets from `start` to before `stop`, and values `v` and the offset."""
    return batch([b"v%d" % offset for offset in range(start, stop)], start)
