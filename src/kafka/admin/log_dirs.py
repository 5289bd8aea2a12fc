"""Log directories: what is in them, and which replica goes into which (KIP-113)."""

from collections.abc import Mapping
from typing import Any

from kafka.admin.concurrently import all_of
from kafka.admin.requests import AdminRequests, check_answered
from kafka.admin.results import LogDirsResult, as_result
from kafka.errors import BrokerResponseError, for_code
from kafka.structs import TopicPartitionReplica
from kafka.wire.api.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kafka.wire.api.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest


async def describe_log_dirs(
    requests: AdminRequests, topic_partitions: dict[str, list[int]] | None, broker_ids: list[int] | None
) -> LogDirsResult:
    """See `KafkaAdminClient.describe_log_dirs`."""
    topics = None
    if topic_partitions is not None:
        topics = [DescribableLogDirTopic(topic=topic, partitions=each) for topic, each in topic_partitions.items()]

    async def ask(node_id: int) -> dict[str, Any]:
        response = await requests.any_broker(DescribeLogDirsRequest(topics=topics), node_id)
        if response.error_code:
            raise for_code(response.error_code)(f"describing the log directories of broker {node_id}")
        return {"broker": node_id, "log_dirs": as_result(response.results)}

    nodes = await requests.broker_ids(broker_ids)
    return LogDirsResult(await all_of(ask(node_id) for node_id in nodes))


async def alter_replica_log_dirs(
    requests: AdminRequests, assignments: Mapping[TopicPartitionReplica, str]
) -> dict[TopicPartitionReplica, type[BrokerResponseError]]:
    """See `KafkaAdminClient.alter_replica_log_dirs`."""
    by_broker: dict[int, dict[str, dict[str, list[int]]]] = {}
    for (topic, partition, broker_id), path in assignments.items():
        by_broker.setdefault(broker_id, {}).setdefault(path, {}).setdefault(topic, []).append(partition)
    results: dict[TopicPartitionReplica, type[BrokerResponseError]] = {}
    for broker_id, dirs in by_broker.items():
        response = await requests.any_broker(_move_request(dirs), broker_id)
        for each in response.results:
            for one in each.partitions:
                replica = TopicPartitionReplica(each.topic_name, one.partition_index, broker_id)
                results[replica] = for_code(one.error_code)
    check_answered("replicas", assignments, results)
    return results


def _move_request(dirs: dict[str, dict[str, list[int]]]) -> AlterReplicaLogDirsRequest:
    return AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=path,
                topics=[AlterReplicaLogDirTopic(name=topic, partitions=each) for topic, each in topics.items()],
            )
            for path, topics in dirs.items()
        ]
    )
