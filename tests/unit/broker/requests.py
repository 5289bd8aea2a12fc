"""Requests for the broker's tests, and functions that read the responses."""

from __future__ import annotations

from uuid import UUID

from kafka.record import decode_batches
from kafka.wire import RecordBytes
from kafka.wire.api.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kafka.wire.api.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from kafka.wire.api.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from unit.broker.wireclient import WireClient


async def create(client: WireClient, topic: str, partitions: int = 1, **configs: str) -> UUID:
    """Create a topic (config names with underscores), and return its id."""
    rows = [CreatableTopicConfig(name=name.replace("_", "."), value=value) for name, value in configs.items()]
    asked = CreatableTopic(name=topic, num_partitions=partitions, replication_factor=1, configs=rows)
    response = await client.call(CreateTopicsRequest(topics=[asked]), 7)
    assert response.topics[0].error_code == 0, response
    return response.topics[0].topic_id


def produce_request(
    topic: str | UUID, records: RecordBytes | None, *, partition: int = 0, acks: int = -1
) -> ProduceRequest:
    """Build a Produce request for one partition; the topic is given by name or, for version 13, by id."""
    data = TopicProduceData(partition_data=[PartitionProduceData(index=partition, records=records)])
    if isinstance(topic, UUID):
        data.topic_id = topic
    else:
        data.name = topic
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[data])


def produced(response: ProduceResponse) -> PartitionProduceResponse:
    """Return the response for the only partition."""
    (topic,) = response.responses
    (partition,) = topic.partition_responses
    return partition


def fetch_request(
    topic: str | UUID, offset: int = 0, *, partitions: int = 1, min_bytes: int = 1, max_wait_ms: int = 0, **more: int
) -> FetchRequest:
    """Build a Fetch request for the first partitions of a topic, all from the same offset."""
    asked = FetchTopic(
        partitions=[
            FetchPartition(partition=number, fetch_offset=offset, partition_max_bytes=1 << 20)
            for number in range(partitions)
        ]
    )
    if isinstance(topic, UUID):
        asked.topic_id = topic
    else:
        asked.topic = topic
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=1 << 20, topics=[asked], **more)


def fetched(response: FetchResponse) -> PartitionData:
    """Return the response for the only partition."""
    (topic,) = response.responses
    (partition,) = topic.partitions
    return partition


def values(partition: PartitionData) -> list[bytes | None]:
    """Return the values of the fetched records."""
    columns = decode_batches(partition.records or b"")
    return [columns.value(row) for row in range(len(columns))]
