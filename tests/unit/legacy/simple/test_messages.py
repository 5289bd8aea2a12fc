"""Conversion of messages of 0.9 to 1.4 to record batches and back."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from kafka.errors import ProtocolError
from kafka.legacy.simple.apis import messages_of, record_batch
from kafka.protocol import CODEC_GZIP, CODEC_SNAPPY, create_gzip_message, create_message, create_snappy_message
from kafka.protocol.message import Message, MessageSet
from kafka.record import Compression, batch_headers, decode_batches

MESSAGES: list[Any] = [
    create_message(b"a", b"key"),
    create_snappy_message([(b"b", None), (None, b"other")]),
    create_gzip_message([(b"c", b"")]),
]


def batch(messages: list[Any], magic: int = 2) -> bytes:
    data = record_batch(messages, magic)
    assert data is not None
    return data


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_messages_round_trip_in_any_format(magic: int) -> None:
    found = messages_of(batch(MESSAGES, magic), "topic", 0, 0)
    assert [(each.offset, each.message.key, each.message.value) for each in found] == [
        (0, b"key", b"a"),
        (1, None, b"b"),
        (2, b"other", None),
        (3, b"", b"c"),
    ]
    assert [each.offset for each in messages_of(batch(MESSAGES, magic), "topic", 0, 2)] == [2, 3]


@pytest.mark.parametrize(
    ("messages", "codec"),
    [
        (MESSAGES[:1], Compression.NONE),
        (MESSAGES, Compression.SNAPPY),
        (MESSAGES[::-1], Compression.GZIP),
    ],
)
def test_a_batch_has_the_codec_of_the_first_compressed_message(messages: list[Any], codec: Compression) -> None:
    (header,) = batch_headers(batch(messages))
    assert header.codec == codec


def test_timestamps_are_kept() -> None:
    inside = MessageSet.encode([(0, Message(b"in", magic=1, timestamp=1234).encode())], prepend_size=False)
    messages = [
        Message(b"own", magic=1, timestamp=5678),
        Message(gzip.compress(inside), magic=1, attributes=CODEC_GZIP, timestamp=1),
        create_message(b"none"),
    ]
    columns = decode_batches(batch(messages))
    assert list(columns.timestamps[:2]) == [5678, 1234]
    assert columns.timestamps[2] > 1_700_000_000_000


def test_a_compressed_message_without_a_value_is_rejected() -> None:
    with pytest.raises(ProtocolError, match="has no value"):
        record_batch([Message(None, attributes=CODEC_SNAPPY)])


def test_no_batch_without_messages() -> None:
    assert record_batch([]) is None
    assert messages_of(b"", "topic", 0, 0) == []
