"""What a broker answers to requests that clients rarely send: the embedded one has to answer as Apache Kafka does."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import confluent_kafka
import confluent_kafka.admin
import pytest

from integration.wire_support import DEADLINE_S, Wire, ask_again_while, batch, coordinator
from kafka.record import BatchBuilder, Compression, batch_headers, decode_batches
from kafka.wire.api.api_versions import ApiVersionsRequest
from kafka.wire.api.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kafka.wire.api.delete_groups import DeleteGroupsRequest
from kafka.wire.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kafka.wire.api.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from kafka.wire.api.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka.wire.api.init_producer_id import InitProducerIdRequest
from kafka.wire.api.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kafka.wire.api.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafka.wire.api.metadata import MetadataRequest, MetadataRequestTopic
from kafka.wire.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka.wire.api.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka.wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from kafka.wire.api.produce import PartitionProduceData, PartitionProduceResponse, ProduceRequest, TopicProduceData
from kafka.wire.api.sync_group import SyncGroupRequest
from kafka.wire.framing import encode_request

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

TOPIC = 2


@pytest.fixture
def wire(broker: Broker) -> Iterator[Wire]:
    with contextlib.closing(Wire(broker.bootstrap_servers)) as connected:
        yield connected


def answered(wire: Wire, topic: str, records: bytes, acks: int = -1) -> PartitionProduceResponse:
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])
    response = wire.call(ProduceRequest(acks=acks, timeout_ms=5000, topic_data=[data]), 9)
    return response.responses[0].partition_responses[0]


def produced(wire: Wire, topic: str, records: bytes, acks: int = -1) -> int:
    return answered(wire, topic, records, acks).error_code


def listed(wire: Wire, topic: str, timestamp: int, version: int, times: int = 1) -> list[int]:
    rows = [ListOffsetsPartition(partition_index=0, timestamp=timestamp) for _ in range(times)]
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=rows)])
    return [one.error_code for one in wire.call(request, version).topics[0].partitions]


# -- topics -----------------------------------------------------------------------------------------------------------


def test_producing_to_an_unknown_topic_does_not_make_it(wire: Wire) -> None:
    name = f"unknown-{uuid.uuid4()}"
    assert produced(wire, name, batch()) == 3
    assert produced(wire, name, b"\0" * 80) in (2, 3)
    asked = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    assert wire.call(asked, 12).topics[0].error_code == 3


def test_a_metadata_request_without_a_name_or_with_an_id_needs_version_12(wire: Wire) -> None:
    for version in (10, 11):
        asked = MetadataRequestTopic(name="t", topic_id=uuid.uuid4())
        (topic,) = wire.call(MetadataRequest(topics=[asked]), version).topics
        assert (topic.error_code, topic.name, topic.partitions) == (42, "t", [])


def test_a_topic_asked_for_twice_is_described_once(wire: Wire, make_topic: MakeTopic) -> None:
    topic = make_topic()
    asked = [MetadataRequestTopic(name=topic)] * 2
    assert [one.name for one in wire.call(MetadataRequest(topics=asked), 12).topics] == [topic]


def test_a_topic_to_be_made_twice_is_refused_once(wire: Wire) -> None:
    asked = CreatableTopic(name=f"twice-{uuid.uuid4()}", num_partitions=1, replication_factor=1)
    response = wire.call(CreateTopicsRequest(topics=[asked, asked], timeout_ms=10_000), 7)
    assert [one.error_code for one in response.topics] == [42]


def test_the_topic_of_offsets_is_listed_as_internal(wire: Wire) -> None:
    coordinator(wire)
    internal = {one.name: one.is_internal for one in wire.call(MetadataRequest(topics=None), 12).topics}
    assert internal["__consumer_offsets"]
    assert produced(wire, "__consumer_offsets", batch()) == 17


def test_all_topics_are_listed_to_librdkafka(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic()
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    assert topic in admin.list_topics(timeout=DEADLINE_S).topics


# -- producing --------------------------------------------------------------------------------------------------------


def configured(wire: Wire, **configs: str) -> str:
    name = f"configured-{uuid.uuid4()}"
    rows = [CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()]
    asked = CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=rows)
    (made,) = wire.call(CreateTopicsRequest(topics=[asked], timeout_ms=10_000), 7).topics
    assert made.error_code == 0
    # Right after it was made a broker may not lead it yet.
    ask_again_while({3, 5, 6}, lambda: listed(wire, name, -1, 5)[0])
    return name


def resealed(records: bytearray) -> bytes:
    from crc32c import crc32c

    records[17:21] = crc32c(records[21:]).to_bytes(4, "big")
    return bytes(records)


def test_records_that_cannot_be_read_are_refused(wire: Wire) -> None:
    topic = configured(wire)
    garbage = bytearray(batch())
    garbage[61:] = b"\xff" * (len(garbage) - 61)
    # Apache Kafka has no better name for it than an unknown error.
    assert produced(wire, topic, resealed(garbage)) in (-1, 87)
    assert fetched_bytes(wire, topic) == b""


def fetched_bytes(wire: Wire, topic: str) -> bytes:
    asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(max_bytes=1 << 20, topics=[FetchTopic(topic=topic, partitions=[asked])])
    return bytes(wire.call(request, 11).responses[0].partitions[0].records or b"")


def test_the_largest_timestamp_is_that_of_the_records(wire: Wire) -> None:
    topic = configured(wire)
    lying = bytearray(batch(timestamp=1000))
    lying[35:43] = (1_600_000_000_000).to_bytes(8, "big")
    assert produced(wire, topic, resealed(lying)) == 0
    row = ListOffsetsPartition(partition_index=0, timestamp=-3)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[row])])
    (found,) = wire.call(request, 7).topics[0].partitions
    assert (found.timestamp, found.offset) == (1000, 0)


@pytest.mark.needs(broker=(3, 6), why="limits for timestamps in both directions (KIP-937)")
def test_records_whose_timestamps_are_out_of_bounds_are_named(wire: Wire) -> None:
    bounds = {"message_timestamp_before_max_ms": "600000", "message_timestamp_after_max_ms": "600000"}
    topic = configured(wire, **bounds)
    now = int(time.time() * 1000)
    for stamps, refused in (([now, -1], []), ([now, now - 10**6, now + 10**6, now], [1, 2]), ([now - 10**6], [0])):
        builder = BatchBuilder(2, Compression.GZIP, size_limit=1 << 20)
        for stamp in stamps:
            builder.append(stamp, b"k", b"v", ())
        answer = answered(wire, topic, bytes(builder.build()))
        assert answer.error_code == (32 if refused else 0)
        assert [one.batch_index for one in answer.record_errors] == refused
        assert all("is out of range" in str(one.batch_index_error_message) for one in answer.record_errors)


@pytest.mark.parametrize("kept", ["uncompressed", "gzip", "snappy", "lz4"])
def test_batches_are_kept_with_the_codec_of_the_topic(wire: Wire, kept: str) -> None:
    topic = configured(wire, compression_type=kept)
    for codec in (Compression.NONE, Compression.GZIP, Compression.LZ4):
        builder = BatchBuilder(2, codec, size_limit=1 << 20)
        builder.append(1000, b"k", b"v" * 100, [("h", b"1")])
        assert produced(wire, topic, bytes(builder.build())) == 0
    found = fetched_bytes(wire, topic)
    wanted = {"uncompressed": 0, "gzip": 1, "snappy": 2, "lz4": 3}[kept]
    assert [header.codec for header in batch_headers(found)] == [wanted] * 3
    columns = decode_batches(found)
    assert [columns.value(row) for row in range(3)] == [b"v" * 100] * 3
    assert [columns.headers(row) for row in range(3)] == [[("h", b"1")]] * 3
    assert list(columns.offsets) == [0, 1, 2]


def test_one_replica_is_enough_for_a_topic_that_has_but_one(wire: Wire) -> None:
    topic = configured(wire, min_insync_replicas="2")
    assert produced(wire, topic, batch()) == 0


def test_a_producer_id_without_a_transaction_is_always_new(wire: Wire) -> None:
    def ask() -> int:
        return wire.call(InitProducerIdRequest(transactional_id=None), 4).error_code

    assert ask_again_while({14}, ask) == 0
    first = wire.call(InitProducerIdRequest(transactional_id=None), 4)
    again = InitProducerIdRequest(transactional_id=None, producer_id=first.producer_id, producer_epoch=0)
    second = wire.call(again, 4)
    assert (second.error_code, second.producer_epoch) == (0, 0)
    assert second.producer_id != first.producer_id


# -- fetching, offsets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("isolation", [0, 1])
@pytest.mark.parametrize("version", [4, 11, 12])
def test_the_aborted_transactions_of_errors(wire: Wire, make_topic: MakeTopic, isolation: int, version: int) -> None:
    for topic, code, aborted in ((make_topic(), 1, None), (f"unknown-{uuid.uuid4()}", 3, [])):
        asked = FetchPartition(partition=0, fetch_offset=77, partition_max_bytes=1000)
        request = FetchRequest(
            max_bytes=1000, isolation_level=isolation, topics=[FetchTopic(topic=topic, partitions=[asked])]
        )
        found: list[PartitionData] = []

        def fetch(request: FetchRequest = request, found: list[PartitionData] = found) -> int:
            found[:] = wire.call(request, version).responses[0].partitions
            return found[0].error_code

        assert ask_again_while({6}, fetch) == code
        assert found[0].aborted_transactions == aborted


@pytest.mark.parametrize(("timestamp", "since"), [(-3, 7), (-4, 8), (-5, 9), (-6, 11), (-7, 99)])
def test_special_times_need_their_version(wire: Wire, make_topic: MakeTopic, timestamp: int, since: int) -> None:
    topic = make_topic()
    for version in (1, 6, 7, 8, 9, 10, 11):
        assert listed(wire, topic, timestamp, version) == [0 if version >= since else 35], version


def test_a_partition_listed_twice_is_refused(wire: Wire, make_topic: MakeTopic) -> None:
    assert set(listed(wire, make_topic(), -1, 5, times=2)) == {42}


# -- configs ----------------------------------------------------------------------------------------------------------


def altered(wire: Wire, topic: str, name: str, operation: int, value: str | None) -> int:
    change = AlterableConfig(name=name, config_operation=operation, value=value)
    resource = AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=[change])
    return wire.call(IncrementalAlterConfigsRequest(resources=[resource]), 1).responses[0].error_code


def test_configs_are_altered_with_kafkas_codes(wire: Wire, make_topic: MakeTopic) -> None:
    topic = make_topic()
    assert altered(wire, topic, "no.such", 1, None) == 0
    assert altered(wire, topic, "no.such", 0, "1") == 40
    assert altered(wire, topic, "retention.ms", 0, None) == 42


def test_configs_of_a_topic_without_a_name_are_of_no_topic(wire: Wire) -> None:
    asked = DescribeConfigsResource(resource_type=TOPIC, resource_name="", configuration_keys=None)
    assert wire.call(DescribeConfigsRequest(resources=[asked]), 4).results[0].error_code == 17


# -- groups -----------------------------------------------------------------------------------------------------------


def committed(wire: Wire, topic: str, group: str, generation: int, version: int) -> int:
    row = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    request = OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id="m" if generation >= 0 else "",
        topics=[OffsetCommitRequestTopic(name=topic, partitions=[row])],
    )
    return ask_again_while({14, 15, 16}, lambda: wire.call(request, version).topics[0].partitions[0].error_code)


def test_offsets_are_committed_with_kafkas_codes(wire: Wire, make_topic: MakeTopic) -> None:
    topic, group = make_topic(), f"g-{uuid.uuid4()}"
    coordinator(wire)
    assert committed(wire, topic, group, 5, 8) == 22
    assert committed(wire, topic, group, 5, 9) == 69
    assert committed(wire, topic, "", -1, 8) == 0
    assert committed(wire, topic, group, -1, 8) == 0
    gone = OffsetDeleteRequestTopic(
        name=f"unknown-{uuid.uuid4()}", partitions=[OffsetDeleteRequestPartition(partition_index=0)]
    )
    response = wire.call(OffsetDeleteRequest(group_id=group, topics=[gone]), 0)
    assert (response.error_code, response.topics[0].partitions[0].error_code) == (0, 3)


def test_what_a_client_sends_before_it_closes_is_carried_out(wire: Wire, broker: Broker, make_topic: MakeTopic) -> None:
    topic, group = make_topic(), f"g-{uuid.uuid4()}"
    coordinator(wire)
    asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    fetch = FetchRequest(
        max_wait_ms=300, min_bytes=1, max_bytes=1000, topics=[FetchTopic(topic=topic, partitions=[asked])]
    )
    row = OffsetCommitRequestPartition(partition_index=0, committed_offset=7)
    commit = OffsetCommitRequest(group_id=group, topics=[OffsetCommitRequestTopic(name=topic, partitions=[row])])
    wanted = OffsetFetchRequest(group_id=group, topics=[OffsetFetchRequestTopic(name=topic, partition_indexes=[0])])
    ask_again_while({14, 15, 16}, lambda: wire.call(wanted, 5).error_code)
    with contextlib.closing(Wire(broker.bootstrap_servers)) as client:
        client.send(b"".join([*encode_request(fetch, 11, 1, "c"), *encode_request(commit, 2, 2, "c")]))

    def missing() -> int:
        found = [one.committed_offset for each in wire.call(wanted, 5).topics for one in each.partitions]
        return int(found != [7])

    ask_again_while({1}, missing)


def test_a_group_without_a_name_is_not_found(wire: Wire) -> None:
    coordinator(wire)

    def delete() -> int:
        name = f"never-{uuid.uuid4()}"
        return wire.call(DeleteGroupsRequest(groups_names=[name]), 2).results[0].error_code

    assert ask_again_while({14, 15, 16}, delete) == 69


def test_a_sync_has_to_name_its_protocol(wire: Wire) -> None:
    coordinator(wire)
    request = SyncGroupRequest(group_id="g", generation_id=1, member_id="m", protocol_type=None, protocol_name=None)
    assert ask_again_while({14, 15, 16}, lambda: wire.call(request, 5).error_code) == 23


def test_a_session_too_short_is_refused(wire: Wire) -> None:
    coordinator(wire)
    request = JoinGroupRequest(
        group_id=f"g-{uuid.uuid4()}",
        session_timeout_ms=900,
        rebalance_timeout_ms=900,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    assert ask_again_while({14, 15, 16}, lambda: wire.call(request, 5).error_code) == 26


# -- versions ---------------------------------------------------------------------------------------------------------


def test_the_version_of_the_metadata_is_a_feature(wire: Wire) -> None:
    request = ApiVersionsRequest(client_software_name="x", client_software_version="1")
    response = wire.call(request, 3)
    assert "metadata.version" in {one.name for one in response.supported_features}
    assert "metadata.version" in {one.name for one in response.finalized_features}
    assert response.finalized_features_epoch >= 0
