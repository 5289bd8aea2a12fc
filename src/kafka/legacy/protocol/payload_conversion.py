"""Converts payload tuples to requests, and responses to payload tuples, as `SimpleClient` uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kafka.legacy import payloads as tuples
from kafka.legacy.payloads import group_by_topic_and_partition
from kafka.legacy.protocol.catalogue import versions
from kafka.legacy.protocol.message_sets import encode_message_set, message_objects


def _topics(payloads: Iterable[Any], entry: Callable[[int, Any], Any]) -> list[tuple[Any, list[Any]]]:
    """Group payloads by topic, converting each to the entry for its partition."""
    return [
        (topic, [entry(partition, payload) for partition, payload in partitions.items()])
        for topic, partitions in group_by_topic_and_partition(payloads).items()
    ]


def _entries(response: Any) -> Iterable[tuple[Any, ...]]:
    """Return the entries of all partitions in a response, each preceded by its topic."""
    return ((topic, *entry) for topic, partitions in response.topics for entry in partitions)


def produce_request(payloads: Iterable[Any], acks: int, timeout: int) -> Any:
    """Return a request to append messages."""
    topics = _topics(payloads, lambda partition, payload: (partition, encode_message_set(payload.messages)))
    return versions("produce", "Produce", "Request")(required_acks=acks, timeout=timeout, topics=topics)


def produce_payloads(response: Any) -> list[tuples.ProduceResponsePayload]:
    """Return the results in a produce response."""
    return [tuples.ProduceResponsePayload(*entry[:4]) for entry in _entries(response)]


def fetch_request(payloads: Iterable[Any], max_wait_time: int, min_bytes: int) -> Any:
    """Return a request to fetch messages."""
    topics = _topics(payloads, lambda partition, payload: (partition, payload.offset, payload.max_bytes))
    request = versions("fetch", "Fetch", "Request")
    return request(replica_id=-1, max_wait_time=max_wait_time, min_bytes=min_bytes, topics=topics)


def fetch_payloads(
    response: Any, read: Callable[[bytes], Iterable[Any]] = message_objects
) -> list[tuples.FetchResponsePayload]:
    """Return the messages in a fetch response, by partition; `read` decodes a message set."""
    return [
        tuples.FetchResponsePayload(topic, partition, error, highwater, [*read(records or b"")])
        for topic, partition, error, highwater, records in ((*e[:4], e[-1]) for e in _entries(response))
    ]


def offset_request(payloads: Iterable[Any]) -> Any:
    """Return a request for offsets before a time."""
    topics = _topics(payloads, lambda partition, payload: (partition, payload.time, payload.max_offsets))
    return versions("offset", "Offset", "Request")(replica_id=-1, topics=topics)


def offset_payloads(response: Any) -> list[tuples.OffsetResponsePayload]:
    """Return the offsets in a response, by partition."""
    return [tuples.OffsetResponsePayload(t, p, error, tuple(offsets)) for t, p, error, offsets in _entries(response)]  # type: ignore[arg-type]  # the originals gave a tuple


def list_offset_request(payloads: Iterable[Any]) -> Any:
    """Return a request for the first offset at or after a time."""
    topics = _topics(payloads, lambda partition, payload: (partition, payload.time))
    return versions("offset", "Offset", "Request")[1](replica_id=-1, topics=topics)


def list_offset_payloads(response: Any) -> list[tuples.ListOffsetResponsePayload]:
    """Return one offset for each partition in a response, with its timestamp."""
    return [tuples.ListOffsetResponsePayload(*entry[:5]) for entry in _entries(response)]


def metadata_request(topics: Iterable[Any]) -> Any:
    """Return a request for the metadata of the given topics, or of all topics if none are given."""
    return versions("metadata", "Metadata", "Request")(list(topics))


def metadata_payload(response: Any) -> tuples.MetadataResponse:
    """Return the brokers and topics in a response, as named tuples (0.9)."""
    topics = [
        tuples.TopicMetadata(
            name,
            error,
            [
                tuples.PartitionMetadata(name, number, leader, tuple(replicas), tuple(isr), code)  # type: ignore[arg-type]  # the originals gave tuples
                for code, number, leader, replicas, isr in partitions
            ],
        )
        for error, name, partitions in response.topics
    ]
    return tuples.MetadataResponse([tuples.BrokerMetadata(*broker) for broker in response.brokers], topics)


def offset_commit_request(group: Any, payloads: Iterable[Any]) -> Any:
    """Return a version 0 request to commit offsets; brokers store these offsets in ZooKeeper."""
    topics = _topics(payloads, lambda partition, payload: (partition, payload.offset, payload.metadata))
    return versions("commit", "OffsetCommit", "Request")(consumer_group=group, topics=topics)


def offset_commit_payloads(response: Any) -> list[tuples.OffsetCommitResponsePayload]:
    """Return the results in an offset commit response."""
    return [tuples.OffsetCommitResponsePayload(*entry) for entry in _entries(response)]


def offset_fetch_request(group: Any, payloads: Iterable[Any], from_kafka: bool) -> Any:
    """Return a request for committed offsets: version 1 for those stored in Kafka, version 0 for those in ZooKeeper."""
    topics = _topics(payloads, lambda partition, _: partition)
    request = versions("commit", "OffsetFetch", "Request")[1 if from_kafka else 0]
    return request(consumer_group=group, topics=topics)


def offset_fetch_payloads(response: Any) -> list[tuples.OffsetFetchResponsePayload]:
    """Return committed offsets."""
    return [tuples.OffsetFetchResponsePayload(*entry) for entry in _entries(response)]


def coordinator_request(group: Any) -> Any:
    """Return a request for a group's coordinator."""
    return versions("commit", "GroupCoordinator", "Request")(group)


def coordinator_payload(response: Any) -> tuples.ConsumerMetadataResponse:
    """Return the group coordinator in a response."""
    return tuples.ConsumerMetadataResponse(response.error_code, response.coordinator_id, response.host, response.port)
