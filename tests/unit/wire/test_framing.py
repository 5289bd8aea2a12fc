"""Requests and responses with their headers and sizes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest

from kafka.errors import UnsupportedVersionError, WireFormatError
from kafka.wire import Request, framing, request_class
from kafka.wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka.wire.api.controlled_shutdown import ControlledShutdownRequest
from kafka.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka.wire.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka.wire.index import API_NAMES


def frame_of(parts: list[Any]) -> bytes:
    """Join the parts of a frame, and remove its size."""
    data = b"".join(parts)
    assert struct.unpack_from(">i", data)[0] == len(data) - 4
    return data[4:]


@pytest.mark.parametrize(
    ("request_", "version", "header"),
    [
        (HeartbeatRequest(group_id="g"), 3, "000c 0003 00000007 0002 6d65"),
        (HeartbeatRequest(group_id="g"), 4, "000c 0004 00000007 0002 6d65 00"),
        (ControlledShutdownRequest(broker_id=1), 0, "0007 0000 00000007"),
        (ControlledShutdownRequest(broker_id=1), 1, "0007 0001 00000007 0002 6d65"),
        (ApiVersionsRequest(), 3, "0012 0003 00000007 0002 6d65 00"),
    ],
)
def test_the_header_of_a_request_follows_from_its_version(request_: Any, version: int, header: str) -> None:
    frame = frame_of(framing.encode_request(request_, version, 7, "me"))
    assert frame == bytes.fromhex(header) + request_.encode(version)
    decoded_header, decoded = framing.decode_request(frame)
    assert decoded == request_
    assert (decoded_header.request_api_key, decoded_header.request_api_version) == (request_.API_KEY, version)
    assert decoded_header.correlation_id == 7


def test_a_client_may_have_no_name() -> None:
    frame = frame_of(framing.encode_request(HeartbeatRequest(), 0, 7, None))
    assert frame[8:10] == b"\xff\xff"
    assert framing.decode_request(frame)[0].client_id is None


@pytest.mark.parametrize(
    ("response", "version", "header"),
    [
        (HeartbeatResponse(error_code=5), 3, "00000007"),
        (HeartbeatResponse(error_code=5), 4, "00000007 00"),
        (ApiVersionsResponse(error_code=5), 4, "00000007"),
    ],
)
def test_the_header_of_a_response_follows_from_its_version(response: Any, version: int, header: str) -> None:
    frame = frame_of(framing.encode_response(response, version, 7))
    assert frame == bytes.fromhex(header) + response.encode(version)
    assert framing.correlation_id(frame) == 7
    assert framing.decode_response(response.REQUEST, version, memoryview(frame)) == response


def every_version() -> Iterator[tuple[type[Request[Any]], int]]:
    for request in map(request_class, API_NAMES):
        for version in range(request.MIN_VERSION, request.MAX_VERSION + 1):
            yield request, version


def test_every_request_and_response_round_trips_as_a_frame() -> None:
    for request, version in every_version():
        asked = request()
        header, decoded = framing.decode_request(frame_of(framing.encode_request(asked, version, 3, "c")))
        assert decoded.encode(version) == asked.encode(version)
        assert header.correlation_id == 3
        answer = request.RESPONSE()
        frame = frame_of(framing.encode_response(answer, version, 4))
        assert framing.decode_response(request, version, frame).encode(version) == answer.encode(version)


def test_records_are_parts_of_the_frame() -> None:
    records = [b"a" * 100, bytearray(b"b" * 50)]
    topic = TopicProduceData(
        name="t", partition_data=[PartitionProduceData(index=i, records=r) for i, r in enumerate(records)]
    )
    produce = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic])
    parts = framing.encode_request(produce, 9, 7, "me")
    assert [part for part in parts if any(part is given for given in records)] == records
    assert framing.decode_request(frame_of(parts))[1] == produce


def test_remaining_bytes_are_rejected() -> None:
    frame = frame_of(framing.encode_response(HeartbeatResponse(), 4, 7))
    with pytest.raises(WireFormatError, match=r"HeartbeatResponse v4: expected the end at byte 12, found 1 more bytes"):
        framing.decode_response(HeartbeatRequest, 4, frame + b"x")


def test_only_a_request_has_a_response() -> None:
    with pytest.raises(TypeError, match="expected the class of a request, got HeartbeatResponse"):
        framing.decode_response(HeartbeatResponse, 0, bytes(10))


@pytest.mark.parametrize("length", [0, 3])
def test_a_frame_without_a_header_is_refused(length: int) -> None:
    for read in (framing.correlation_id, framing.decode_request, framing.decode_request_header):
        with pytest.raises(WireFormatError):
            read(bytes(length))


def test_an_unknown_api_is_refused() -> None:
    with pytest.raises(UnsupportedVersionError, match="got 999"):
        framing.decode_request(bytes.fromhex("03e7 0000 00000001 ffff"))


def test_the_header_of_an_unknown_version_can_still_be_read() -> None:
    frame = bytes.fromhex("0012 0063 00000005 0001 63 00") + b"who knows"
    header, start = framing.decode_request_header(frame)
    assert (header.request_api_version, header.correlation_id, header.client_id) == (99, 5, "c")
    assert frame[start:] == b"who knows"
    with pytest.raises(UnsupportedVersionError, match="ApiVersionsRequest has the versions 0 to 5, not 99"):
        framing.decode_request(frame)


def test_a_response_that_is_too_long_for_its_size_is_refused() -> None:
    class Endless(bytearray):
        def __len__(self) -> int:
            return 2**31

    produce = ProduceRequest(
        topic_data=[TopicProduceData(partition_data=[PartitionProduceData(records=Endless(b"x"))])]
    )
    with pytest.raises(WireFormatError, match="expected a message of at most 2147483647 bytes"):
        framing.encode_request(produce, 9, 7, "me")
