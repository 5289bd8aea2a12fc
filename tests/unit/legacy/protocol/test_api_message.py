"""Messages of kafka-python 3's `kafka.protocol`, compared with the bytes of kafka-python 3.0.12."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from kafka.legacy.protocol.kafka_python_3 import APIS
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer import ConsumerProtocolSubscription
from kafka.protocol.metadata import MetadataRequest as EitherRequest
from kafka.protocol.metadata.metadata import MetadataRequest, MetadataResponse
from kafka.protocol.producer import ProduceRequest


def test_a_request_is_encoded_in_its_own_or_the_given_version() -> None:
    topic = MetadataRequest.MetadataRequestTopic(name="a")
    assert MetadataRequest(version=9, topics=[topic]).encode() == b"\x02\x02a\x00\x01\x00\x00\x00"
    assert MetadataRequest(version=4, topics=[topic]).encode() == b"\x00\x00\x00\x01\x00\x01a\x01"
    assert MetadataRequest(topics=None).encode(version=1) == b"\xff\xff\xff\xff"
    assert MetadataRequest[1](topics=["a"]).encode() == b"\x00\x00\x00\x01\x00\x01a"


def test_a_request_with_header_and_size_round_trips() -> None:
    request = MetadataRequest(version=9, topics=None)
    request.with_header(3, "me")
    written = request.encode(header=True, framed=True)
    assert written == b"\x00\x00\x00\x12\x00\x03\x00\x09\x00\x00\x00\x03\x00\x02me\x00\x00\x01\x00\x00\x00"
    read = MetadataRequest.decode(written, version=9, header=True, framed=True)
    assert (read, read.version, read.header) == (request, 9, (3, "me"))


def test_a_response_has_fields_and_structs_as_attributes() -> None:
    broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="h", port=2, rack=None)
    response = MetadataResponse(version=1, brokers=[broker])
    expected = b"\x00\x00\x00\x01\x00\x00\x00\x01\x00\x01h\x00\x00\x00\x02\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"
    assert response.encode() == expected
    read = MetadataResponse.decode(expected, version=1)
    assert (read.brokers[0].host, read.controller_id) == ("h", -1)
    brokers = [{"node_id": 1, "host": "h", "port": 2, "rack": None}]
    assert read.to_dict() == {"brokers": brokers, "controller_id": -1, "topics": []}
    read.controller_id = 7
    assert read != response
    response.with_header(5)
    for version in (1, 9):
        written = response.encode(version, header=True)
        assert MetadataResponse.decode(written, version, header=True).header == (5, None)


def test_group_protocol_data_start_with_their_version() -> None:
    written = ConsumerProtocolSubscription(version=1, topics=["a"]).encode()
    assert written == b"\x00\x01\x00\x00\x00\x01\x00\x01a\xff\xff\xff\xff\x00\x00\x00\x00"
    read = ConsumerProtocolSubscription.decode(written)
    assert (read.version, read.topics, read.user_data) == (1, ["a"], None)


def test_versions_of_a_class() -> None:
    assert (MetadataRequest.name, MetadataRequest.API_KEY, MetadataRequest.valid_versions) == (
        "MetadataRequest",
        3,
        (0, 13),
    )
    assert len(MetadataRequest) == 14
    assert [MetadataRequest.flexible_version_q(version) for version in (8, 9)] == [False, True]
    assert MetadataRequest.is_request()
    assert not MetadataResponse.is_request()
    assert not ProduceRequest(version=9, acks=0).expect_response()
    assert isinstance(MetadataRequest[1](topics=None), MetadataRequest)
    assert repr(MetadataRequest(version=1, topics=None)) == "MetadataRequest(version=1, topics=None)"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: MetadataRequest(version=99),
        lambda: MetadataRequest[99],
        lambda: MetadataRequest(topic="a"),
        lambda: MetadataRequest(topics=None).encode(),
        lambda: MetadataRequest.decode(b""),
        lambda: MetadataRequest(version=9, topics=None).encode(header=True),
    ],
)
def test_missing_or_unknown_fields_raise_value_error(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"Version required|has the|has no header"):
        wrong()


def test_a_name_of_both_2_x_and_3_creates_either_message() -> None:
    new = EitherRequest(version=4, topics=None)
    assert isinstance(new, ApiMessage)
    assert new.encode() == EitherRequest[4](None, True).encode()
    assert isinstance(new, EitherRequest)  # type: ignore[arg-type]  # a list that behaves like a class
    assert not isinstance(MetadataResponse(version=4), EitherRequest)  # type: ignore[arg-type]


def test_a_name_of_both_2_x_and_3_has_the_attributes_of_3() -> None:
    from kafka.protocol.metadata import MetadataRequest, MetadataResponse

    assert (MetadataRequest.min_version, MetadataRequest.max_version, MetadataRequest.name) == (
        0,
        13,
        "MetadataRequest",
    )
    assert MetadataRequest[12]([]).encode() == MetadataRequest([], version=12).encode()
    with pytest.raises(IndexError):
        MetadataRequest[14]
    assert MetadataRequest[-1] is list(MetadataRequest)[-1]
    broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="h", port=9)
    answer = MetadataResponse(version=8, brokers=[broker])
    assert MetadataResponse.decode(answer.encode(), version=8) == answer


def test_fields_of_kafka_python_3_only_create_its_message() -> None:
    from kafka.protocol.admin import CreateTopicsRequest

    topic = CreateTopicsRequest.CreatableTopic(name="t", num_partitions=1, replication_factor=1)
    made = CreateTopicsRequest(topics=[topic], timeout_ms=5, validate_only=True)
    assert CreateTopicsRequest.decode(made.encode(version=7), version=7).topics[0].name == "t"
    assert not isinstance(CreateTopicsRequest(create_topic_requests=[], timeout=5), ApiMessage)
    with pytest.raises(ValueError, match="not in schema"):
        CreateTopicsRequest(topics=[], other=1)


def test_nested_structs_have_kafkas_names() -> None:
    from kafka.protocol.admin import DescribeQuorumResponse
    from kafka.protocol.consumer import FetchRequest

    topic = FetchRequest.FetchTopic
    made = FetchRequest(version=4, topics=[topic(topic="t", partitions=[topic.FetchPartition(partition=3)])])
    assert FetchRequest.decode(made.encode(), version=4).topics[0].partitions[0].partition == 3
    quorum = DescribeQuorumResponse.TopicData.PartitionData
    assert quorum(current_voters=[quorum.ReplicaState(replica_id=5)]).current_voters[0].replica_id == 5


@pytest.mark.parametrize("module", APIS)
def test_each_module_contains_its_names(module: str) -> None:
    found = importlib.import_module(f"kafka.protocol.{module}")
    assert found.__all__
    for api in APIS[module]:
        for kind in ("Request", "Response"):
            cls = getattr(found, api + kind)
            for version in range(cls.min_version, cls.max_version + 1):
                assert cls.decode(cls(version=version).encode(), version) == cls(version=version)


def test_names_of_2_x_are_in_the_module_old() -> None:
    for name in ("fetch", "metadata", "types"):
        old = importlib.import_module(f"kafka.protocol.old.{name}")
        new = importlib.import_module(f"kafka.protocol.{name}")
        assert all(getattr(old, each) is getattr(new, each) for each in old.__all__)
