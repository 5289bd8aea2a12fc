"""Converts between record formats: what old producers send to magic 2, and magic 2 to what old consumers read.

The log holds magic 2 only. Converting decodes and encodes every record, so it is slow, as it is in Kafka.
"""

from kafka.broker.log.layout import Buffer
from kafka.record import BatchBuilder, batch_headers, decode_batches

_NO_LIMIT = 2**31 - 1


def to_magic_2(data: Buffer) -> bytearray:
    """One batch of magic 2 with the records of a message set of magic 0 or 1, compressed with the same codec.

    Raises `CorruptRecordException` where the set is damaged.
    """
    headers = list(batch_headers(data))
    columns = decode_batches(data)
    builder = BatchBuilder(2, headers[0].codec, size_limit=_NO_LIMIT)
    for row in range(len(columns)):
        builder.append(columns.timestamps[row], columns.key(row), columns.value(row), ())
    return bytearray(builder.build())


def to_old_magic(data: bytes, magic: int) -> bytes:
    """A message set of magic 0 or 1 with the records of batches of magic 2; headers of records are lost."""
    converted = []
    for header in batch_headers(data):
        columns = decode_batches(memoryview(data)[header.position : header.position + header.size])
        builder = BatchBuilder(magic, header.codec, size_limit=_NO_LIMIT)
        for row in range(len(columns)):
            builder.append(columns.timestamps[row], columns.key(row), columns.value(row), ())
        if len(columns):
            converted.append(builder.build(base_offset=columns.offsets[0]))
    return b"".join(converted)
