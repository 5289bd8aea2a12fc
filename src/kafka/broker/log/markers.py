"""Markers: the control batches that end transactions (KIP-98), one record each, one in each partition."""

from struct import Struct
from typing import Final, NamedTuple

from kafka.broker.log.layout import HEAD_SIZE, Buffer
from kafka.record import BatchBuilder
from kafka.record.checksum import crc32c

_KEY: Final = Struct(">hh")
_VALUE: Final = Struct(">hi")
_RECORD: Final = Struct(">5Bhh B hi B")
"""The record as it is encoded: five numbers of one byte, the last of them the key's size; key; size; value; headers."""
_VERSION: Final = 0
_ABORT, _COMMIT = 0, 1
_CRC_AT, _ATTRIBUTES_AT = 17, 21
_CONTROL: Final = 0x20


class Marker(NamedTuple):
    """What a marker says."""

    committed: bool
    coordinator_epoch: int


def marker_batch(marker: Marker, producer_id: int, producer_epoch: int, now_ms: int) -> memoryview:
    """The control batch with a marker, in writable memory."""
    builder = BatchBuilder(2)
    key = _KEY.pack(_VERSION, _COMMIT if marker.committed else _ABORT)
    builder.append(now_ms, key, _VALUE.pack(_VERSION, marker.coordinator_epoch), ())
    batch = bytearray(builder.build(producer_id=producer_id, producer_epoch=producer_epoch, transactional=True))
    batch[_ATTRIBUTES_AT + 1] |= _CONTROL
    batch[_CRC_AT:_ATTRIBUTES_AT] = crc32c(memoryview(batch)[_ATTRIBUTES_AT:]).to_bytes(4, "big")
    return memoryview(batch)


def read_marker(batch: Buffer) -> Marker:
    """The marker in a control batch; as no client may write one, all are of `marker_batch`."""
    _, _, _, _, _, _, kind, _, _, coordinator_epoch, _ = _RECORD.unpack_from(batch, HEAD_SIZE)
    return Marker(kind == _COMMIT, coordinator_epoch)
