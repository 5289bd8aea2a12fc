"""Records of one format as another: what old requests carry on brokers that take batches of magic 2 alone."""

from __future__ import annotations

from typing import Any

from kafka.legacy.protocol.message import Message, MessageSet
from kafka.legacy.protocol.message_sets import message_objects
from kafka.record import BatchBuilder, Compression, decode_batches
from kafka.record.layout import MAGIC_AT
from kafka.record.legacy_encode import encode_message
from kafka.record.types import Buffer

_NO_TIMESTAMP = -1


def to_batch(records: Buffer | None) -> bytes | None:
    """A message set of magic 0 or 1 as one batch of magic 2, with the codec of its first message; others as they are.

    Raises:
        ValueError: the set is damaged.
    """
    data = bytes(records or b"")
    if not data or data[MAGIC_AT] > 1:
        return data or None
    first = MessageSet.decode(data, bytes_to_read=len(data))[0][2]
    codec = first.attributes & first.CODEC_MASK if isinstance(first, Message) else 0
    builder = BatchBuilder(2, Compression(codec), size_limit=len(data))
    for _, found in message_objects(data):
        message: Any = found
        if not isinstance(message, Message) or not message.validate_crc():
            raise ValueError("a message of the set is cut off, or its checksum is not its own")
        timestamp = _NO_TIMESTAMP if message.timestamp is None else message.timestamp
        builder.append(timestamp, message.key, message.value)
    return builder.build()


def to_message_set(records: Buffer | None, magic: int, start_offset: int = 0) -> bytes:
    """Batches of any magic as messages of magic 0 or 1, uncompressed and without headers, from an offset on."""
    if not records:
        return b""
    found = decode_batches(records, start_offset=start_offset, check_crcs=False).to_records()
    return b"".join(encode_message(magic, r.offset, r.timestamp or 0, r.key, r.value) for r in found)
