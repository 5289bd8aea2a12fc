"""`kafka.protocol` of 0.9 and 1.0: `KafkaProtocol` and the functions that create messages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import kafka
from kafka.common import (
    ChecksumError,
    ConsumerFetchSizeTooSmall,
    FetchRequestPayload,
    Message,
    OffsetCommitRequestPayload,
    OffsetFetchRequestPayload,
    OffsetRequestPayload,
    ProduceRequestPayload,
    UnsupportedCodecError,
)
from kafka.protocol import (
    KafkaProtocol,
    create_gzip_message,
    create_message,
    create_message_set,
    create_snappy_message,
)
from kafka.protocol.commit import OffsetCommitResponse, OffsetFetchResponse
from kafka.protocol.fetch import FetchResponse
from kafka.protocol.message import Message as MessageObject
from kafka.protocol.message import MessageSet, PartialMessage
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.offset import OffsetResponse
from kafka.protocol.produce import ProduceResponse

ORIGINALS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "data" / "legacy" / "payloads.json").read_text()
)
OLD, NEW = ORIGINALS["0.9.5"], ORIGINALS["1.0.2"]
MESSAGES = [create_message(b"v1", b"k1"), create_message(b"v2"), create_message(None, b"k3")]
COMMITS = [OffsetCommitRequestPayload("topic1", 0, 123, "meta"), OffsetCommitRequestPayload("topic1", 1, 234, None)]
FETCHES = [OffsetFetchRequestPayload("topic1", 0), OffsetFetchRequestPayload("topic1", 1)]
ENCODED: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "encode_produce_request": (
        ([ProduceRequestPayload("topic1", 0, MESSAGES), ProduceRequestPayload("topic1", 1, [create_message(b"x")])],),
        {"acks": -1, "timeout": 2000},
    ),
    "encode_fetch_request": (
        ([FetchRequestPayload("topic1", 0, 10, 1024), FetchRequestPayload("topic1", 1, 20, 100)],),
        {"max_wait_time": 2, "min_bytes": 100},
    ),
    "encode_offset_request": (([OffsetRequestPayload("topic1", 3, -1, 2)],), {}),
    "encode_metadata_request": ((), {"topics": ["t1", "t2"]}),
    "encode_metadata_request_all": ((), {}),
    "encode_offset_commit_request": (("group", COMMITS), {}),
    "encode_offset_fetch_request": (("group", FETCHES), {}),
    "encode_offset_fetch_request_kafka": (("group", FETCHES), {"from_kafka": True}),
}


@pytest.mark.parametrize("name", ENCODED)
def test_requests_match_the_originals(name: str) -> None:
    args, kwargs = ENCODED[name]
    encode = getattr(KafkaProtocol, name.removesuffix("_all").removesuffix("_kafka"))
    assert encode(*args, **kwargs).encode().hex() == NEW[name]
    assert encode(b"client", 7, *args, **kwargs).hex() == OLD[name]
    assert encode(client_id=b"client", correlation_id=7, **kwargs).hex() == OLD[name] if not args else True


def test_the_coordinator_request_matches_the_originals() -> None:
    frame = KafkaProtocol.encode_consumer_metadata_request(b"client", 7, b"group")
    assert frame.hex() == OLD["encode_consumer_metadata_request"] == NEW["encode_consumer_metadata_request"]


@pytest.mark.parametrize("name", sorted(name for name in OLD if name.startswith("decode_")))
def test_responses_as_bytes_are_decoded_like_the_original(name: str) -> None:
    data, shown = OLD[name]
    found = getattr(KafkaProtocol, name)(bytes.fromhex(data))
    if not isinstance(found, tuple):
        found = [p._replace(messages=list(p.messages)) if hasattr(p, "messages") else p for p in found]
    # Python 2 shows bytes without the prefix b, and in 0.9 the names do not end in "Payload".
    assert re.sub(r"(?<=[=(\[ ])b'", "'", repr(found)).replace("ResponsePayload(", "Response(") == shown


@pytest.mark.parametrize(
    ("name", "response"),
    [
        ("decode_produce_response", ProduceResponse([("topic1", [(0, 1, 10), (1, 0, 20)])])),
        ("decode_offset_response", OffsetResponse([("topic1", [(3, 0, [8, 4])])])),
        ("decode_offset_commit_response", OffsetCommitResponse[0]([("topic1", [(0, 12)])])),
        ("decode_offset_fetch_response", OffsetFetchResponse[0]([("topic1", [(0, 99, "meta", 0)])])),
    ],
)
def test_responses_as_objects_are_decoded_like_the_original(name: str, response: Any) -> None:
    assert repr(getattr(KafkaProtocol, name)(response)) == NEW[name]


def test_messages_in_a_response_are_objects_and_are_decompressed() -> None:
    inner = create_gzip_message([(b"a", b"k"), (b"b", None)])
    records = KafkaProtocol._encode_message_set([create_message(b"first"), inner])
    (payload,) = KafkaProtocol.decode_fetch_response(FetchResponse([("t", [(0, 0, 9, records)])]))
    assert [(m.message.key, m.message.value) for m in payload.messages] == [
        (None, b"first"),
        (b"k", b"a"),
        (None, b"b"),
    ]
    assert (payload.topic, payload.partition, payload.error, payload.highwaterMark) == ("t", 0, 0, 9)


def test_metadata_requests() -> None:
    assert KafkaProtocol.encode_metadata_request(["a"]) == MetadataRequest[0](["a"])
    assert KafkaProtocol.encode_metadata_request(["a"], payloads=["b"]) == MetadataRequest[0](["b"])


def test_invalid_acks_are_rejected() -> None:
    with pytest.raises(ValueError, match="must be 1, 0, -1"):
        KafkaProtocol.encode_produce_request([], acks=2)


def test_created_messages_match_the_originals() -> None:
    assert create_message(b"payload", b"key") == Message(0, 0, b"key", b"payload")
    assert create_message_set([(b"a", b"k"), (b"b", None)]) == [Message(0, 0, b"k", b"a"), Message(0, 0, None, b"b")]
    assert KafkaProtocol._encode_message_set(MESSAGES).hex() == OLD["message_set"]
    with pytest.raises(UnsupportedCodecError, match=r"^Codec 0x07 unsupported$"):
        create_message_set([], codec=7)


@pytest.mark.parametrize("make", [create_gzip_message, create_snappy_message])
def test_a_compressed_message_contains_the_others(make: Any) -> None:
    made = make([(b"a", b"k"), (b"b", None)], key=b"w")
    assert (made.magic, made.attributes, made.key) == (0, 1 if make is create_gzip_message else 2, b"w")
    inside = MessageObject(made.value, made.key, 0, made.attributes).decompress()
    assert [(offset, m.key, m.value) for offset, _, m in inside] == [(0, b"k", b"a"), (0, None, b"b")]
    assert create_message_set([(b"a", b"k")], codec=made.attributes, key=b"w")[0].attributes == made.attributes
    assert getattr(kafka, make.__name__) is make


def test_messages_compressed_by_0_9_are_decoded() -> None:
    magic, attributes, key, value = OLD["gzip"]
    message = MessageObject(bytes.fromhex(value), key.encode(), magic, attributes)
    assert [m.value for _, _, m in message.decompress()] == [b"a", b"b"]


def test_damaged_and_incomplete_messages_raise_errors() -> None:
    whole = KafkaProtocol._encode_message_set(MESSAGES)
    with pytest.raises(ChecksumError):
        list(KafkaProtocol._decode_message_set_iter(whole[:-5] + b"X" + whole[-4:]))
    with pytest.raises(ConsumerFetchSizeTooSmall):
        list(KafkaProtocol._decode_message_set_iter(whole[:20]))
    assert len(list(KafkaProtocol._decode_message_set_iter(whole[:-1]))) == len(MESSAGES) - 1
    assert MessageSet.decode(whole[:20], bytes_to_read=20) == [(None, None, PartialMessage())]


def test_message_objects_have_checksums() -> None:
    message = MessageObject(b"v1", b"k1")
    assert message.encode() == bytes.fromhex(OLD["message_set"])[12:30]
    assert MessageObject.decode(message.encode()) == message
    assert message.validate_crc()
    message.value = b"v2"
    assert not MessageObject.decode(message.encode(recalc_crc=False)).validate_crc()
    assert MessageObject(b"v", magic=1, timestamp=5, attributes=8).timestamp_type == 1
