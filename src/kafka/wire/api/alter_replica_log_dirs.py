"""The API AlterReplicaLogDirs (key 34, versions 0 to 2): move replicas between log directories."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class AlterReplicaLogDirTopic(Struct):
    """An element of `AlterReplicaLogDir.topics`."""

    name: str = string()
    partitions: list[int] = array(int32)


class AlterReplicaLogDir(Struct):
    """An element of `AlterReplicaLogDirsRequest.dirs`."""

    path: str = string()
    topics: list[AlterReplicaLogDirTopic] = array(AlterReplicaLogDirTopic)


class AlterReplicaLogDirsRequest(Request["AlterReplicaLogDirsResponse"], api_key=34, versions=(0, 2), flexible_since=2):
    """Move replicas between log directories."""

    dirs: list[AlterReplicaLogDir] = array(AlterReplicaLogDir)


class AlterReplicaLogDirPartitionResult(Struct):
    """An element of `AlterReplicaLogDirTopicResult.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()


class AlterReplicaLogDirTopicResult(Struct):
    """An element of `AlterReplicaLogDirsResponse.results`."""

    topic_name: str = string()
    partitions: list[AlterReplicaLogDirPartitionResult] = array(AlterReplicaLogDirPartitionResult)


class AlterReplicaLogDirsResponse(Response, request=AlterReplicaLogDirsRequest):
    """The response to `AlterReplicaLogDirsRequest`."""

    throttle_time_ms: int = int32()
    results: list[AlterReplicaLogDirTopicResult] = array(AlterReplicaLogDirTopicResult)
