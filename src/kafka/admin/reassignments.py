"""Replicas and leaders of partitions: reassign (KIP-455), elect (KIP-460)."""

from collections.abc import Mapping
from typing import Any

from kafka.admin.leaders import by_topic
from kafka.admin.requests import AdminRequests, own_error_code, raise_first
from kafka.admin.results import ElectLeadersResult, Response, as_result
from kafka.errors import BrokerResponseError, ElectionNotNeededError, for_code
from kafka.structs import TopicPartition
from kafka.wire.api.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka.wire.api.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafka.wire.api.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)


async def elect_leaders(
    requests: AdminRequests,
    election_type: int,
    topic_partitions: dict[str, list[int]] | None,
    timeout_ms: int | None,
    raise_errors: bool,
) -> ElectLeadersResult:
    """See `KafkaAdminClient.elect_leaders`."""
    partitions = None
    if topic_partitions is not None:
        partitions = [TopicPartitions(topic=topic, partitions=each) for topic, each in topic_partitions.items()]
    request = ElectLeadersRequest(
        election_type=election_type, topic_partitions=partitions, timeout_ms=requests.limit_ms(timeout_ms)
    )
    response = await requests.controller(
        request, lambda response: [response.error_code], timeout_ms, min_version=min(election_type, 1)
    )
    if raise_errors:
        raise_first([("electing leaders", response.error_code, None)])
        raise_first(
            [
                (f"electing the leader of {topic.topic}-{each.partition_id}", each.error_code, each.error_message)
                for topic in response.replica_election_results
                for each in topic.partition_result
                if each.error_code != ElectionNotNeededError.errno
            ]
        )
    return ElectLeadersResult(as_result(response, Response))


async def alter_partition_reassignments(
    requests: AdminRequests, reassignments: Mapping[TopicPartition, list[int] | None], timeout_ms: int | None
) -> dict[TopicPartition, type[BrokerResponseError] | None]:
    """See `KafkaAdminClient.alter_partition_reassignments`."""
    topics = [
        ReassignableTopic(
            name=topic,
            partitions=[
                ReassignablePartition(partition_index=index, replicas=reassignments[TopicPartition(topic, index)])
                for index in indexes
            ],
        )
        for topic, indexes in by_topic(reassignments).items()
    ]
    request = AlterPartitionReassignmentsRequest(timeout_ms=requests.limit_ms(timeout_ms), topics=topics)
    response = await requests.controller(request, lambda response: [response.error_code], timeout_ms)
    raise_first([("reassigning partitions", response.error_code, response.error_message)])
    return {
        TopicPartition(topic.name, each.partition_index): for_code(each.error_code) if each.error_code else None
        for topic in response.responses
        for each in topic.partitions
    }


async def list_partition_reassignments(
    requests: AdminRequests, topic_partitions: dict[str, list[int]] | None, timeout_ms: int | None
) -> dict[TopicPartition, dict[str, Any]]:
    """See `KafkaAdminClient.list_partition_reassignments`."""
    topics = None
    if topic_partitions is not None:
        topics = [
            ListPartitionReassignmentsTopics(name=topic, partition_indexes=each)
            for topic, each in topic_partitions.items()
        ]
    request = ListPartitionReassignmentsRequest(timeout_ms=requests.limit_ms(timeout_ms), topics=topics)
    response = await requests.controller(request, own_error_code, timeout_ms, repeatable=True)
    raise_first([("listing reassignments", response.error_code, response.error_message)])
    return {
        TopicPartition(topic.name, each.partition_index): {
            "replicas": each.replicas,
            "adding_replicas": each.adding_replicas,
            "removing_replicas": each.removing_replicas,
        }
        for topic in response.topics
        for each in topic.partitions
    }
