"""The fixed head of a record batch (magic 2), as far as the log reads it without touching a record.

The log holds nothing but magic 2: older formats are converted when they are produced.
"""

from struct import Struct
from typing import Final, NamedTuple, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

PREFIX_SIZE: Final = 12
"""Base offset and length: what the length field does not count."""
HEAD_SIZE: Final = 61
MAGIC: Final = 2
_HEAD: Final = Struct(">qiiBIhiqqqhii")
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20
assert _HEAD.size == HEAD_SIZE


class BatchHead(NamedTuple):
    """The fields of a stored batch that offsets, times and producers' states are computed from."""

    base_offset: int
    last_offset: int
    size: int
    """Bytes of the whole batch."""
    magic: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: int
    attributes: int

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return bool(self.attributes & _TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """Whether it holds no records of users, but a marker that ends a transaction."""
        return bool(self.attributes & _CONTROL)


def read_head(data: Buffer, position: int = 0) -> BatchHead:
    """The head of the batch at `position`; `data` has to hold at least `HEAD_SIZE` bytes from there."""
    base, length, _, magic, _, attributes, delta, _, max_timestamp, producer, epoch, sequence, count = (
        _HEAD.unpack_from(data, position)
    )
    return BatchHead(
        base,
        base + delta,
        length + PREFIX_SIZE,
        magic,
        max_timestamp,
        producer,
        epoch,
        sequence,
        count,
        attributes,
    )
