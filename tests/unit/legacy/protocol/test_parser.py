"""`kafka.protocol.parser.KafkaProtocol`: the frames of a connection."""

from __future__ import annotations

import pytest

from kafka.errors import CorrelationIdError, InvalidReceiveError, KafkaProtocolError
from kafka.protocol.api_versions import ApiVersionsRequest_v3, ApiVersionsResponse_v3
from kafka.protocol.commit import GroupCoordinatorRequest, GroupCoordinatorResponse
from kafka.protocol.metadata import MetadataRequest, MetadataResponse
from kafka.protocol.parser import KafkaProtocol
from kafka.protocol.produce import ProduceRequest

pytestmark = pytest.mark.once


def framed(correlation_id: int, message: bytes) -> bytes:
    return (4 + len(message)).to_bytes(4, "big") + correlation_id.to_bytes(4, "big") + message


def test_requests_are_framed_and_responses_are_assembled() -> None:
    protocol = KafkaProtocol(client_id="me")
    assert protocol.send_request(MetadataRequest[0](["t"])) == 1
    assert protocol.send_bytes().hex() == "000000130003000000000001" + "00026d65" + "00000001000174"
    assert protocol.send_bytes() == b""
    response = MetadataResponse[0]([(0, "h", 9092)], [])
    data = framed(1, response.encode())
    assert [protocol.receive_bytes(data[at : at + 1]) for at in range(len(data) - 1)] == [[]] * (len(data) - 1)
    assert protocol.receive_bytes(data[-1:]) == [(1, response)]


def test_several_responses_at_once() -> None:
    protocol = KafkaProtocol(client_id="me")
    ids = [protocol.send_request(ApiVersionsRequest_v3("a", "b", {})), protocol.send_request(MetadataRequest[0]([]))]
    assert len(protocol.send_bytes()) == 4 + 18 + 4 + 16
    versions, metadata = ApiVersionsResponse_v3(0, [(3, 0, 9, {})], 0, {}), MetadataResponse[0]([], [])
    found = protocol.receive_bytes(framed(ids[0], versions.encode()) + framed(ids[1], metadata.encode()))
    assert found == [(ids[0], versions), (ids[1], metadata)]


def test_a_request_without_a_response_is_not_tracked() -> None:
    protocol = KafkaProtocol()
    protocol.send_request(ProduceRequest[0](0, 100, []))
    assert not protocol.in_flight_requests
    with pytest.raises(CorrelationIdError):
        protocol.receive_bytes(framed(1, b""))


def test_unexpected_responses_are_rejected() -> None:
    protocol = KafkaProtocol(max_frame_size=100)
    protocol.send_request(MetadataRequest[0]([]), correlation_id=5)
    with pytest.raises(CorrelationIdError, match="sent 5, recv 6"):
        protocol.receive_bytes(framed(6, MetadataResponse[0]([], []).encode()))
    protocol = KafkaProtocol(max_frame_size=100)
    protocol.send_request(MetadataRequest[0]([]))
    with pytest.raises(KafkaProtocolError, match="Unable to decode"):
        protocol.receive_bytes(framed(1, b"\x00"))
    with pytest.raises(InvalidReceiveError, match="101"):
        protocol.receive_bytes((101).to_bytes(4, "big"))


@pytest.mark.parametrize("version", [(0, 8, 2), None])
def test_kafka_0_8_2_answers_a_coordinator_lookup_without_a_correlation_id(version: tuple[int, ...] | None) -> None:
    protocol = KafkaProtocol(api_version=version)
    protocol.send_request(GroupCoordinatorRequest[0]("g"), correlation_id=9)
    response = GroupCoordinatorResponse[0](15, -1, "", -1)
    assert protocol.receive_bytes(framed(0, response.encode())) == [(9, response)]
