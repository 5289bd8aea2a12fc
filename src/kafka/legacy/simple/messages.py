"""Messages as programs of 0.9 to 1.4 have them, to and from the record batches of today's brokers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from kafka.errors import ProtocolError
from kafka.legacy.payloads import OffsetAndMessage
from kafka.legacy.protocol.message import Message
from kafka.record import BatchBuilder, Buffer, Compression, decode_batches
from kafka.record.codecs import decompress
from kafka.record.layout import CODEC_MASK

_Record = tuple[int, bytes | None, bytes | None]
"""Timestamp (-1: none), key and value."""


def record_batch(messages: Iterable[Any], magic: int = 2) -> bytes | None:
    """Encode the messages of a payload as one batch; None if there are none.

    Messages that hold others are taken apart, as brokers take one batch at a time, compressed as a whole: by the codec
    of the first of them. A message without a timestamp, as magic 0 has none, gets the present time.
    """
    codec = Compression.NONE
    records: list[_Record] = []
    for message in messages:
        own = Compression(message.attributes & CODEC_MASK)
        codec = codec or own
        records += _inside(own, message.value) if own else [(_timestamp(message), message.key, message.value)]
    if not records:
        return None
    now = int(time.time() * 1000)
    builder = BatchBuilder(magic, codec)
    for timestamp, key, value in records:
        builder.append(now if timestamp < 0 else timestamp, key, value)
    return builder.build()


def _timestamp(message: Any) -> int:
    timestamp = getattr(message, "timestamp", None)
    return -1 if timestamp is None else int(timestamp)


def _inside(codec: Compression, value: bytes | None) -> Iterator[_Record]:
    """The records that a compressed message holds."""
    if value is None:
        raise ProtocolError("a message that names a codec has no value, which would hold other messages")
    columns = decode_batches(decompress(codec, memoryview(value)))
    for index, timestamp in enumerate(columns.timestamps):
        yield timestamp, columns.key(index), columns.value(index)


class Messages(list[OffsetAndMessage]):
    """The messages of an answer.

    Attributes:
        next_offset: where to go on: also behind what brokers keep for transactions, which is no message.
    """

    next_offset = 0


def messages_of(data: Buffer, topic: str, partition: int, start_offset: int) -> Messages:
    """Decode what a broker answered to Fetch, without what is below the offset that was asked for.

    Raises:
        CorruptRecordException: a batch is damaged.
    """
    columns = decode_batches(data, topic=topic, partition=partition, start_offset=start_offset)
    messages = Messages(
        OffsetAndMessage(offset, message_of(columns.key(index), columns.value(index)))
        for index, offset in enumerate(columns.offsets)
    )
    messages.next_offset = columns.next_offset
    return messages


def message_of(key: bytes | None, value: bytes | None) -> Any:
    """A `kafka.protocol.message.Message` as brokers of the time sent it, whose batch has been checked already."""
    message = Message(value, key)
    message._validated_crc = message.crc
    return message
