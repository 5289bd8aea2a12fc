"""The API AssignReplicasToDirs (key 73, version 0):
report which log directories contain which replicas (broker to controller).
"""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, int64, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class AssignReplicasToDirsRequestPartitionData(Struct):
    """An element of `AssignReplicasToDirsRequestTopicData.partitions`."""

    partition_index: int = int32()


class AssignReplicasToDirsRequestTopicData(Struct):
    """An element of `AssignReplicasToDirsRequestDirectoryData.topics`."""

    topic_id: UUID = uuid()
    partitions: list[AssignReplicasToDirsRequestPartitionData] = array(AssignReplicasToDirsRequestPartitionData)


class AssignReplicasToDirsRequestDirectoryData(Struct):
    """An element of `AssignReplicasToDirsRequest.directories`."""

    id: UUID = uuid()
    topics: list[AssignReplicasToDirsRequestTopicData] = array(AssignReplicasToDirsRequestTopicData)


class AssignReplicasToDirsRequest(
    Request["AssignReplicasToDirsResponse"], api_key=73, versions=(0, 0), flexible_since=0
):
    """Report which log directories contain which replicas (broker to controller)."""

    broker_id: int = int32()
    broker_epoch: int = int64(default=-1)
    directories: list[AssignReplicasToDirsRequestDirectoryData] = array(AssignReplicasToDirsRequestDirectoryData)


class AssignReplicasToDirsResponsePartitionData(Struct):
    """An element of `AssignReplicasToDirsResponseTopicData.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()


class AssignReplicasToDirsResponseTopicData(Struct):
    """An element of `AssignReplicasToDirsResponseDirectoryData.topics`."""

    topic_id: UUID = uuid()
    partitions: list[AssignReplicasToDirsResponsePartitionData] = array(AssignReplicasToDirsResponsePartitionData)


class AssignReplicasToDirsResponseDirectoryData(Struct):
    """An element of `AssignReplicasToDirsResponse.directories`."""

    id: UUID = uuid()
    topics: list[AssignReplicasToDirsResponseTopicData] = array(AssignReplicasToDirsResponseTopicData)


class AssignReplicasToDirsResponse(Response, request=AssignReplicasToDirsRequest):
    """The response to `AssignReplicasToDirsRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    directories: list[AssignReplicasToDirsResponseDirectoryData] = array(AssignReplicasToDirsResponseDirectoryData)
