"""The cluster: its brokers, and one page of the partitions of topics (KIP-966)."""

from typing import Any

from kafka.admin.acls import operation_names
from kafka.admin.requests import AdminRequests, own_error_code, raise_first
from kafka.admin.results import as_result
from kafka.admin.topics import read_metadata
from kafka.errors import UnsupportedVersionError
from kafka.wire.api.describe_cluster import DescribeClusterRequest
from kafka.wire.api.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest, TopicRequest

_FENCED_SINCE = 2


async def describe_cluster(requests: AdminRequests, fenced_brokers: bool = False) -> dict[str, Any]:
    """See `KafkaAdminClient.describe_cluster`."""
    request = DescribeClusterRequest(include_cluster_authorized_operations=True, include_fenced_brokers=fenced_brokers)
    try:
        response: Any = await requests.any_broker(
            request, min_version=_FENCED_SINCE if fenced_brokers else 0, error_codes=own_error_code
        )
    except UnsupportedVersionError:
        if fenced_brokers:
            raise
        return _cluster(await read_metadata(requests, ()))  # brokers before 2.8
    raise_first([("describing the cluster", response.error_code, response.error_message)])
    return _cluster(response)


def _cluster(response: Any) -> dict[str, Any]:
    return {
        "throttle_time_ms": response.throttle_time_ms,
        "cluster_id": response.cluster_id,
        "controller_id": response.controller_id,
        "brokers": [_broker(each) for each in response.brokers],
        "authorized_operations": operation_names(response.cluster_authorized_operations),
    }


def _broker(broker: Any) -> dict[str, Any]:
    """A broker by the names of both generations of kafka-python."""
    node_id = getattr(broker, "broker_id", None)
    if node_id is None:
        node_id = broker.node_id
    return {
        "node_id": node_id,
        "broker_id": node_id,
        "host": broker.host,
        "port": broker.port,
        "rack": broker.rack,
        "is_fenced": getattr(broker, "is_fenced", False),
    }


async def all_partitions(requests: AdminRequests, topics: list[str]) -> dict[str, list[int]]:
    """The numbers of all partitions of these topics; raises for one that does not exist."""
    response = await read_metadata(requests, topics)
    raise_first([(f"topic {each.name!r}", each.error_code, None) for each in response.topics])
    return {each.name or "": sorted(one.partition_index for one in each.partitions) for each in response.topics}


async def describe_topic_partitions(
    requests: AdminRequests, topics: list[str], limit: int, cursor: tuple[str, int] | None
) -> dict[str, Any]:
    """See `KafkaAdminClient.describe_topic_partitions`."""
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=topic) for topic in sorted(topics)],
        response_partition_limit=limit,
        cursor=None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    response = await requests.any_broker(request)
    described = as_result(response.topics)
    for topic, told in zip(described, response.topics, strict=True):
        topic["topic_id"] = told.topic_id  # as kafka-python 3 has it here
        topic["authorized_operations"] = operation_names(told.topic_authorized_operations)
    return {"topics": described, "next_cursor": as_result(response.next_cursor)}
