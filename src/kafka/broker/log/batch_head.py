"""The fixed head of a record batch (magic 2), and transaction markers.

The log reads only the head, not the records. It contains only magic 2; older formats are converted when they are
produced. A marker is a control batch with one record, written to each partition of a transaction (KIP-98).
"""

from struct import Struct
from typing import Final, NamedTuple

from kafka.broker.log.log_options import Buffer
from kafka.record import BatchBuilder
from kafka.record.layout import crc32c

PREFIX_SIZE: Final = 12
"""Total size of the base offset and length fields; the value of the length field does not include it."""
HEAD_SIZE: Final = 61
MAGIC: Final = 2
_HEAD: Final = Struct(">qiiBIhiqqqhii")
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20
assert _HEAD.size == HEAD_SIZE


class BatchHead(NamedTuple):
    """The fields of a stored batch that determine offsets, timestamps and producer states."""

    base_offset: int
    last_offset: int
    size: int
    """Size of the whole batch in bytes."""
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
        """Whether the batch contains a transaction marker instead of user records."""
        return bool(self.attributes & _CONTROL)


def read_head(data: Buffer, position: int = 0) -> BatchHead:
    """Read the head of the batch at `position`; `data` must contain at least `HEAD_SIZE` bytes from there."""
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


_KEY: Final = Struct(">hh")
_VALUE: Final = Struct(">hi")
_RECORD: Final = Struct(">5Bhh B hi B")
"""The encoded record: five one-byte numbers, the last of which is the key size; key; value size; value; headers."""
_VERSION: Final = 0
_ABORT, _COMMIT = 0, 1
_CRC_AT, _ATTRIBUTES_AT = 17, 21


class Marker(NamedTuple):
    """The content of a transaction marker."""

    committed: bool
    coordinator_epoch: int


def marker_batch(marker: Marker, producer_id: int, producer_epoch: int, now_ms: int) -> memoryview:
    """Build the control batch for a marker, in writable memory."""
    builder = BatchBuilder(2)
    key = _KEY.pack(_VERSION, _COMMIT if marker.committed else _ABORT)
    builder.append(now_ms, key, _VALUE.pack(_VERSION, marker.coordinator_epoch), ())
    batch = bytearray(builder.build(producer_id=producer_id, producer_epoch=producer_epoch, transactional=True))
    batch[_ATTRIBUTES_AT + 1] |= _CONTROL
    batch[_CRC_AT:_ATTRIBUTES_AT] = crc32c(memoryview(batch)[_ATTRIBUTES_AT:]).to_bytes(4, "big")
    return memoryview(batch)


def read_marker(batch: Buffer) -> Marker:
    """Read the marker in a control batch. All markers come from `marker_batch`, as clients cannot write any."""
    _, _, _, _, _, _, kind, _, _, coordinator_epoch, _ = _RECORD.unpack_from(batch, HEAD_SIZE)
    return Marker(kind == _COMMIT, coordinator_epoch)
