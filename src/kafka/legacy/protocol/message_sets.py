"""Creates messages as the named tuples of 0.9 and 1.x, and encodes and decodes message sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kafka.errors import ChecksumError, ConsumerFetchSizeTooSmall, ProtocolError, UnsupportedCodecError
from kafka.legacy.payloads import Message, OffsetAndMessage
from kafka.legacy.protocol import message as classes
from kafka.record.batch_types import Compression
from kafka.record.codecs import compress
from kafka.record.legacy_messages import encode_message

ATTRIBUTE_CODEC_MASK = 0x03
CODEC_NONE = int(Compression.NONE)
CODEC_GZIP = int(Compression.GZIP)
CODEC_SNAPPY = int(Compression.SNAPPY)
ALL_CODECS = (CODEC_NONE, CODEC_GZIP, CODEC_SNAPPY)


def create_message(payload: bytes | None, key: bytes | None = None) -> Message:
    """Create a message from a value and a key."""
    return Message(0, 0, key, payload)


def create_gzip_message(
    payloads: Iterable[tuple[Any, Any]], key: bytes | None = None, compresslevel: int | None = None
) -> Message:
    """Create one message that contains others, given as pairs of value and key, compressed with gzip."""
    return _wrapper(Compression.GZIP, payloads, key, compresslevel)


def create_snappy_message(payloads: Iterable[tuple[Any, Any]], key: bytes | None = None) -> Message:
    """Create one message that contains others, given as pairs of value and key, compressed with snappy."""
    return _wrapper(Compression.SNAPPY, payloads, key, None)


def create_message_set(
    messages: Iterable[tuple[Any, Any]],
    codec: int = CODEC_NONE,
    key: bytes | None = None,
    compresslevel: int | None = None,
) -> list[Message]:
    """Create messages from pairs of value and key: one message per pair or, with a codec, one that contains all pairs.

    Raises:
        UnsupportedCodecError: the codec is not in `ALL_CODECS`.
    """
    if codec == CODEC_NONE:
        return [create_message(value, own_key) for value, own_key in messages]
    if codec not in ALL_CODECS:
        raise UnsupportedCodecError(f"Codec 0x{codec:02x} unsupported")
    return [_wrapper(Compression(codec), messages, key, compresslevel)]


def _wrapper(codec: Compression, pairs: Iterable[tuple[Any, Any]], key: bytes | None, level: int | None) -> Message:
    """Return a compressed message that contains others."""
    inside = encode_message_set(create_message(value, own_key) for value, own_key in pairs)
    return Message(0, int(codec), key, bytes(compress(codec, inside, level=level, magic=0)))


def encode_message_set(messages: Iterable[Any]) -> bytes:
    """Encode magic 0 messages as a set, all with offset 0."""
    written = []
    for message in messages:
        if message.magic != 0:
            raise ProtocolError(f"Unexpected magic number: {message.magic}")
        written.append(encode_message(0, 0, -1, message.key, message.value, attributes=message.attributes))
    return b"".join(written)


def message_objects(raw_data: bytes) -> Iterator[OffsetAndMessage]:
    """Decode a set to objects with their offsets, replacing compressed messages with their contents (1.x)."""
    for offset, _, message in classes.MessageSet.decode(raw_data, bytes_to_read=len(raw_data)):
        if not isinstance(message, classes.Message) or not message.is_compressed():
            yield OffsetAndMessage(offset, message)
            continue
        inside = message.decompress()
        shift = offset - inside[-1][0] if message.magic and inside else 0
        for inner_offset, _, inner in inside:
            yield OffsetAndMessage(inner_offset + shift, inner)


def message_tuples(data: bytes) -> Iterator[OffsetAndMessage]:
    """Decode a set to named tuples with their offsets, replacing compressed messages with their contents (0.9).

    Raises:
        ChecksumError: a message is damaged.
        ConsumerFetchSizeTooSmall: not even the first message is complete.
    """
    is_first = True
    for offset, _, message in classes.MessageSet.decode(data, bytes_to_read=len(data)):
        if not isinstance(message, classes.Message):
            if is_first:
                raise ConsumerFetchSizeTooSmall()
            return
        if not message.validate_crc():
            raise ChecksumError("Message checksum failed")
        is_first = False
        if message.is_compressed():
            inside = classes.MessageSet.encode(message.decompress(), prepend_size=False)
            yield from message_tuples(inside)
        else:
            yield OffsetAndMessage(offset, Message(message.magic, message.attributes, message.key, message.value))
