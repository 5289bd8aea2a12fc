"""Requests of any version for brokers that support others, and hosts as text."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from kafka.conn import collect_hosts, dns_lookup, get_ip_port_afi, is_inet_4_or_6
from kafka.errors import UnsupportedVersionError
from kafka.legacy.protocol.translation import to_batch, to_message_set, translate
from kafka.net.broker_versions import ApiVersions
from kafka.protocol import KafkaProtocol, create_gzip_message, create_message, create_snappy_message
from kafka.protocol.fetch import FetchRequest
from kafka.protocol.group import JoinGroupRequest
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.offset import OffsetRequest, OffsetResponse
from kafka.protocol.produce import ProduceRequest, ProduceResponse
from kafka.record import BatchBuilder, MemoryRecords, decode_batches
from kafka.wire.api.list_offsets import ListOffsetsPartitionResponse, ListOffsetsResponse, ListOffsetsTopicResponse
from kafka.wire.api.produce import PartitionProduceResponse, TopicProduceResponse
from kafka.wire.api.produce import ProduceResponse as WireProduceResponse


def served(request: Any, low: int, high: int) -> ApiVersions:
    return ApiVersions({request.API_KEY: (low, high)})


def test_a_supported_version_is_sent_unchanged() -> None:
    request = ProduceRequest[0](1, 1000, [("t", [(0, b"anything")])])
    translated = translate(request, served(request, 0, 3))
    assert translated.version == 0
    assert translated.message.encode(0) == request.encode()


def test_produced_records_become_a_batch_and_the_response_is_converted_back() -> None:
    messages = KafkaProtocol._encode_message_set([create_message(b"v", b"k"), create_gzip_message([(b"w", None)])])
    request = ProduceRequest[0](-1, 1000, [("t", [(0, messages)])])
    translated = translate(request, served(request, 3, 12))
    assert translated.version == 3
    message: Any = translated.message
    (topic,) = message.topic_data
    assert [(r.key, r.value) for r in decode_batches(topic.partition_data[0].records).to_records()] == [
        (b"k", b"v"),
        (None, b"w"),
    ]
    partition = PartitionProduceResponse(index=0, base_offset=7, log_append_time_ms=5, log_start_offset=2)
    answer = WireProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[partition])])
    answer.throttle_time_ms = 9
    assert translated.read(answer) == ProduceResponse[0]([("t", [(0, 0, 7)])])


def test_first_versions_of_produce_are_not_sent_to_kafka_4() -> None:
    request = ProduceRequest[0](1, 1000, [("t", [(0, None)])])
    assert translate(request, ApiVersions({0: (0, 13), 1: (4, 18)})).version == 3
    assert translate(request, ApiVersions({0: (0, 11), 1: (0, 17)})).version == 0


def test_a_list_offsets_response_is_converted_back_to_a_list() -> None:
    request = OffsetRequest[0](-1, [("t", [(0, -1, 5), (1, -1, 5)])])
    translated = translate(request, served(request, 1, 10))
    assert translated.version == 1
    partitions = [
        ListOffsetsPartitionResponse(partition_index=0, timestamp=3, offset=8),
        ListOffsetsPartitionResponse(partition_index=1, error_code=3, offset=-1),
    ]
    answer = ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=partitions)])
    assert translated.read(answer) == OffsetResponse[0]([("t", [(0, 0, [8]), (1, 3, [])])])


def test_rebalance_timeout_defaults_to_the_session_timeout() -> None:
    request = JoinGroupRequest[0]("g", 10_000, "", "consumer", [("range", b"")])
    message: Any = translate(request, served(request, 2, 9)).message
    assert message.rebalance_timeout_ms == 10_000


def test_a_newer_request_is_sent_in_the_latest_version_of_an_old_broker() -> None:
    request = MetadataRequest[4](["t"], True)
    assert translate(request, served(request, 0, 1)).version == 1
    with pytest.raises(
        UnsupportedVersionError, match=r"versions 0 to 1, not in 4 as MetadataRequest_v4 requests, and version 1"
    ):
        translate(MetadataRequest[4](["t"], False), served(request, 0, 1), "localhost:9092")


def test_an_unsupported_api_is_named() -> None:
    with pytest.raises(
        UnsupportedVersionError, match="old broker does not support FetchRequest, which FetchRequest_v4"
    ):
        translate(FetchRequest[4](-1, 1, 1, 1, 0, []), ApiVersions({}), "old broker")


@pytest.mark.parametrize("make", [create_gzip_message, create_snappy_message])
def test_a_batch_keeps_the_codec_of_its_messages(make: Any) -> None:
    data = KafkaProtocol._encode_message_set([make([(b"a", b"k"), (b"b" * 100, None)])])
    batch = to_batch(data)
    assert batch is not None
    (found,) = MemoryRecords(batch)
    assert found.compression_type == make([(b"a", None)]).attributes
    assert [(r.key, r.value, r.timestamp) for r in found] == [(b"k", b"a", -1), (None, b"b" * 100, -1)]


def test_batches_are_unchanged_and_damage_raises_an_error() -> None:
    builder = BatchBuilder()
    builder.append(5, b"k", b"v")
    assert to_batch(builder.build()) == builder.build()
    assert to_batch(None) is None
    damaged = bytearray(KafkaProtocol._encode_message_set([create_message(b"value")]))
    damaged[-1] ^= 1
    with pytest.raises(ValueError, match="checksum"):
        to_batch(damaged)


@pytest.mark.parametrize("magic", [0, 1])
def test_records_become_messages_from_an_offset_on(magic: int) -> None:
    builder = BatchBuilder()
    for number in range(3):
        builder.append(1000 + number, b"k", b"%d" % number, [("h", b"x")])
    data = to_message_set(builder.build(base_offset=10), magic, 11)
    found = [(r.offset, r.value, r.timestamp) for batch in MemoryRecords(data) for r in batch]
    assert found == [(11, b"1", 1001 if magic else None), (12, b"2", 1002 if magic else None)]
    assert to_message_set(None, magic) == b""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost", ("localhost", 9092, socket.AF_UNSPEC)),
        (" broker:9093 ", ("broker", 9093, socket.AF_UNSPEC)),
        ("127.0.0.1:1", ("127.0.0.1", 1, socket.AF_INET)),
        ("::1", ("::1", 9092, socket.AF_INET6)),
        ("[::1]", ("::1", 9092, socket.AF_INET6)),
        ("[::1]:5", ("::1", 5, socket.AF_INET6)),
    ],
)
def test_addresses_are_split(text: str, expected: tuple[str, int, int]) -> None:
    assert get_ip_port_afi(text) == expected


def test_hosts_are_collected() -> None:
    assert collect_hosts("a:1, b,c:3", randomize=False) == [("a", 1), ("b", 9092), ("c", 3)]
    assert sorted(collect_hosts(["a:1", "b"])) == [("a", 1), ("b", 9092)]
    assert collect_hosts("SASL_SSL://a:1, PLAINTEXT://b", randomize=False) == [("a", 1), ("b", 9092)]
    found = dns_lookup("127.0.0.1", 1)
    assert [entry[4] for entry in found] == [("127.0.0.1", 1)]
    assert all(is_inet_4_or_6(entry) for entry in found)
    assert dns_lookup("no-such-host.invalid", 1) == []
