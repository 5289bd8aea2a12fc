"""Topics and partitions: create, delete, list, describe."""

from collections.abc import Iterable
from typing import Any

from kafka.admin.new_partitions import NewPartitions
from kafka.admin.new_topic import NewTopic
from kafka.admin.requests import AdminRequests, check_answered, raise_first
from kafka.admin.results import CreateTopicsResult, DeleteTopicsResult
from kafka.errors import UnsupportedVersionError
from kafka.wire.api.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafka.wire.api.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka.wire.api.delete_topics import DeleteTopicsRequest
from kafka.wire.api.metadata import MetadataResponse

_DEFAULTS_SINCE = 4
_DELETE_BY_STATE_SINCE = 6


def _creatable(topic: NewTopic) -> CreatableTopic:
    assignments = [
        CreatableReplicaAssignment(partition_index=partition, broker_ids=brokers)
        for partition, brokers in topic.replica_assignments.items()
    ]
    configs = [CreatableTopicConfig(name=name, value=value) for name, value in topic.topic_configs.items()]
    return CreatableTopic(
        name=topic.name,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignments=assignments,
        configs=configs,
    )


async def create_topics(
    requests: AdminRequests, topics: list[NewTopic], timeout_ms: int | None, validate_only: bool
) -> CreateTopicsResult:
    """See `KafkaAdminClient.create_topics`."""
    creatable = [_creatable(topic) for topic in topics]
    uses_defaults = any(
        not each.assignments and (each.num_partitions == -1 or each.replication_factor == -1) for each in creatable
    )
    request = CreateTopicsRequest(
        topics=creatable, timeout_ms=requests.limit_ms(timeout_ms), validate_only=validate_only
    )
    try:
        response = await requests.controller(
            request,
            lambda response: [each.error_code for each in response.topics],
            timeout_ms,
            min_version=_DEFAULTS_SINCE if uses_defaults else int(validate_only),
        )
    except UnsupportedVersionError as error:
        if uses_defaults:
            raise UnsupportedVersionError(
                "brokers before 2.4 have no defaults for new topics: give num_partitions and replication_factor"
            ) from error
        raise
    raise_first([(f"topic {each.name!r}", each.error_code, each.error_message) for each in response.topics])
    check_answered("topics", (each.name for each in creatable), (each.name for each in response.topics))
    described = [
        {
            "name": each.name,
            "topic_id": each.topic_id,
            "error_code": each.error_code,
            "error_message": each.error_message,
            "num_partitions": each.num_partitions,
            "replication_factor": each.replication_factor,
        }
        for each in response.topics
    ]
    return CreateTopicsResult(throttle_time_ms=response.throttle_time_ms, topics=described)


async def delete_topics(requests: AdminRequests, topics: list[str], timeout_ms: int | None) -> DeleteTopicsResult:
    """See `KafkaAdminClient.delete_topics`."""
    request = DeleteTopicsRequest(topic_names=topics, timeout_ms=requests.limit_ms(timeout_ms))
    response = await requests.controller(
        request,
        lambda response: [each.error_code for each in response.responses],
        timeout_ms,
        max_version=_DELETE_BY_STATE_SINCE - 1,
    )
    raise_first([(f"topic {each.name!r}", each.error_code, each.error_message) for each in response.responses])
    check_answered("topics", topics, (each.name for each in response.responses))
    described = [
        {"name": each.name, "error_code": each.error_code, "error_message": each.error_message}
        for each in response.responses
    ]
    return DeleteTopicsResult(throttle_time_ms=response.throttle_time_ms, topics=described)


async def create_partitions(
    requests: AdminRequests,
    topic_partitions: dict[str, NewPartitions],
    timeout_ms: int | None,
    validate_only: bool,
) -> CreateTopicsResult:
    """See `KafkaAdminClient.create_partitions`."""
    wanted = []
    for name, new in topic_partitions.items():
        assignments = None
        if new.new_assignments is not None:
            assignments = [CreatePartitionsAssignment(broker_ids=each) for each in new.new_assignments]
        wanted.append(CreatePartitionsTopic(name=name, count=new.total_count, assignments=assignments))
    request = CreatePartitionsRequest(
        topics=wanted, timeout_ms=requests.limit_ms(timeout_ms), validate_only=validate_only
    )
    response = await requests.controller(
        request, lambda response: [each.error_code for each in response.results], timeout_ms
    )
    raise_first([(f"topic {each.name!r}", each.error_code, each.error_message) for each in response.results])
    check_answered("topics", topic_partitions, (each.name for each in response.results))
    described = [
        {"name": each.name, "error_code": each.error_code, "error_message": each.error_message}
        for each in response.results
    ]
    return CreateTopicsResult(throttle_time_ms=response.throttle_time_ms, topics=described)


async def read_metadata(requests: AdminRequests, topics: Iterable[str] | None) -> MetadataResponse:
    """A broker's present metadata of some topics, without creating any; None: of all."""
    names = None if topics is None else set(topics)
    cluster, options = requests.cluster, requests.options
    return await cluster.retry(lambda: cluster.read_metadata(names), options.request_timeout_ms)


async def list_topics(requests: AdminRequests) -> list[str]:
    """See `KafkaAdminClient.list_topics`."""
    return [each.name for each in (await read_metadata(requests, None)).topics if each.name is not None]


async def describe_topics(requests: AdminRequests, topics: list[str] | None) -> list[dict[str, Any]]:
    """See `KafkaAdminClient.describe_topics`."""
    response = await read_metadata(requests, topics)
    order = {name: place for place, name in enumerate(topics or ())}
    return [
        {
            "error_code": each.error_code,
            "topic": each.name,
            "name": each.name,
            "topic_id": each.topic_id,
            "is_internal": each.is_internal,
            "partitions": [_partition(p) for p in sorted(each.partitions, key=lambda p: p.partition_index)],
        }
        for each in sorted(response.topics, key=lambda topic: order.get(topic.name or "", len(order)))
    ]


def _partition(partition: Any) -> dict[str, Any]:
    """One partition by the names of both generations of kafka-python."""
    return {
        "error_code": partition.error_code,
        "partition": partition.partition_index,
        "partition_index": partition.partition_index,
        "leader": partition.leader_id,
        "leader_id": partition.leader_id,
        "leader_epoch": partition.leader_epoch,
        "replicas": partition.replica_nodes,
        "replica_nodes": partition.replica_nodes,
        "isr": partition.isr_nodes,
        "isr_nodes": partition.isr_nodes,
        "offline_replicas": partition.offline_replicas,
    }


async def describe_cluster(requests: AdminRequests) -> dict[str, Any]:
    """See `KafkaAdminClient.describe_cluster`."""
    response = await read_metadata(requests, ())
    return {
        "throttle_time_ms": response.throttle_time_ms,
        "cluster_id": response.cluster_id,
        "controller_id": response.controller_id,
        "brokers": [
            {
                "node_id": each.node_id,
                "broker_id": each.node_id,
                "host": each.host,
                "port": each.port,
                "rack": each.rack,
            }
            for each in response.brokers
        ],
    }
