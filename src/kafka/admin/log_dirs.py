"""Log directories: describe them, and move replicas between them (KIP-113)."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kafka.admin.admin_requests import AdminRequests
from kafka.admin.results import LogDirsResult, as_result
from kafka.admin.routing import ByBroker, EachBroker, Outcome, ask_each, error_classes, values_or_raise
from kafka.errors import KafkaError, KafkaStorageError, for_code
from kafka.structs import TopicPartitionReplica
from kafka.wire.api.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kafka.wire.api.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest


class ReplicaLogDir(NamedTuple):
    """The log directory of a replica, and the directory it is moving to. Directories are absolute paths, or None.

    Arguments:
        current_replica_log_dir: current directory of the replica.
        current_replica_offset_lag: lag of the current replica.
        future_replica_log_dir: directory to which the replica is moving.
        future_replica_offset_lag: lag of the new copy.

    A lag is the number of missing records, or -1 if unknown.
    """

    current_replica_log_dir: str | None = None
    current_replica_offset_lag: int = -1
    future_replica_log_dir: str | None = None
    future_replica_offset_lag: int = -1


async def describe_log_dirs(
    requests: AdminRequests,
    topic_partitions: dict[str, list[int]] | None,
    broker_ids: list[int] | None,
    raise_errors: bool = True,
) -> LogDirsResult:
    """See `KafkaAdminClient.describe_log_dirs`."""
    topics = None
    if topic_partitions is not None:
        topics = [DescribableLogDirTopic(topic=topic, partitions=each) for topic, each in topic_partitions.items()]

    async def ask(node_id: int, _: list[int]) -> list[Outcome]:
        response = await requests.cluster.send(node_id, DescribeLogDirsRequest(topics=topics))
        return [Outcome(node_id, response.error_code, None, as_result(response.results))]

    nodes = await requests.broker_ids(broker_ids)
    found = await ask_each(requests, "describing the log directories of broker", nodes, EachBroker(), ask)
    values_or_raise(found, raise_errors)
    return LogDirsResult(_of_broker(node_id, told) for node_id, told in found.items())


def _of_broker(node_id: int, told: Any) -> dict[str, Any]:
    if isinstance(told, KafkaError):
        return {"broker": node_id, "log_dirs": [], "error": told}
    return {"broker": node_id, "log_dirs": told}


async def describe_replica_log_dirs(
    requests: AdminRequests, replicas: Iterable[TopicPartitionReplica], raise_errors: bool
) -> dict[TopicPartitionReplica, ReplicaLogDir]:
    """See `KafkaAdminClient.describe_replica_log_dirs`."""

    async def ask(node_id: int, some: list[TopicPartitionReplica]) -> list[Outcome]:
        wanted: dict[str, list[int]] = {}
        for topic, partition, _ in some:
            wanted.setdefault(topic, []).append(partition)
        topics = [DescribableLogDirTopic(topic=topic, partitions=each) for topic, each in wanted.items()]
        response = await requests.cluster.send(node_id, DescribeLogDirsRequest(topics=topics))
        found = _replicas(node_id, response)
        return [Outcome(each, response.error_code, None, found.get(each, ReplicaLogDir())) for each in some]

    route = ByBroker[TopicPartitionReplica](lambda replica: replica.broker_id)
    told = await ask_each(requests, "describing the log directory of replica", replicas, route, ask)
    return values_or_raise(told, raise_errors)


def _replicas(node_id: int, response: Any) -> dict[TopicPartitionReplica, ReplicaLogDir]:
    """Return the directories of a broker's replicas. Offline directories are skipped."""
    found: dict[TopicPartitionReplica, ReplicaLogDir] = {}
    for each in response.results:
        if each.error_code and each.error_code != KafkaStorageError.errno:
            raise for_code(each.error_code)(f"directory {each.log_dir!r} of broker {node_id}")
        for topic in each.topics:
            for one in topic.partitions:
                replica = TopicPartitionReplica(topic.name, one.partition_index, node_id)
                known = found.get(replica, ReplicaLogDir())
                if one.is_future_key:
                    found[replica] = known._replace(
                        future_replica_log_dir=each.log_dir, future_replica_offset_lag=one.offset_lag
                    )
                else:
                    found[replica] = known._replace(
                        current_replica_log_dir=each.log_dir, current_replica_offset_lag=one.offset_lag
                    )
    return found


async def alter_replica_log_dirs(
    requests: AdminRequests, assignments: Mapping[TopicPartitionReplica, str]
) -> dict[TopicPartitionReplica, type[KafkaError]]:
    """See `KafkaAdminClient.alter_replica_log_dirs`."""

    async def ask(node_id: int, some: list[TopicPartitionReplica]) -> list[Outcome]:
        dirs: dict[str, dict[str, list[int]]] = {}
        for replica in some:
            topics = dirs.setdefault(assignments[replica], {})
            topics.setdefault(replica.topic, []).append(replica.partition)
        response = await requests.cluster.send(node_id, _move_request(dirs))
        return [
            Outcome(TopicPartitionReplica(each.topic_name, one.partition_index, node_id), one.error_code, None, None)
            for each in response.results
            for one in each.partitions
        ]

    route = ByBroker[TopicPartitionReplica](lambda replica: replica.broker_id)
    moved = await ask_each(requests, "moving replica", assignments, route, ask)
    return error_classes(moved)


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
