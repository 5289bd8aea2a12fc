"""The API DescribeLogDirs (key 35, versions 0 to 5): describe log directories and their replicas."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DescribableLogDirTopic(Struct):
    """An element of `DescribeLogDirsRequest.topics`."""

    topic: str = string()
    partitions: list[int] = array(int32)


class DescribeLogDirsRequest(Request["DescribeLogDirsResponse"], api_key=35, versions=(0, 5), flexible_since=2):
    """Describe log directories and their replicas."""

    topics: list[DescribableLogDirTopic] | None = array(DescribableLogDirTopic, nullable=True)


class DescribeLogDirsPartition(Struct):
    """An element of `DescribeLogDirsTopic.partitions`."""

    partition_index: int = int32()
    partition_size: int = int64()
    offset_lag: int = int64()
    is_future_key: bool = boolean()


class DescribeLogDirsTopic(Struct):
    """An element of `DescribeLogDirsResult.topics`."""

    name: str = string()
    partitions: list[DescribeLogDirsPartition] = array(DescribeLogDirsPartition)


class DescribeLogDirsResult(Struct):
    """An element of `DescribeLogDirsResponse.results`."""

    error_code: int = int16()
    log_dir: str = string()
    topics: list[DescribeLogDirsTopic] = array(DescribeLogDirsTopic)
    total_bytes: int = int64(since=4, default=-1, ignorable=True)
    usable_bytes: int = int64(since=4, default=-1, ignorable=True)
    is_cordoned: bool = boolean(since=5, ignorable=True)


class DescribeLogDirsResponse(Response, request=DescribeLogDirsRequest):
    """The response to `DescribeLogDirsRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16(since=3, ignorable=True)
    results: list[DescribeLogDirsResult] = array(DescribeLogDirsResult)
