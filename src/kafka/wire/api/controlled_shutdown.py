"""The API ControlledShutdown (key 7, versions 0 to 3):
hand over a broker's partitions before it stops (removed in 4.0).
"""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ControlledShutdownRequest(Request["ControlledShutdownResponse"], api_key=7, versions=(0, 3), flexible_since=3):
    """Hand over a broker's partitions before it stops (removed in 4.0)."""

    broker_id: int = int32()
    broker_epoch: int = int64(since=2, default=-1, ignorable=True)


class RemainingPartition(Struct):
    """An element of `ControlledShutdownResponse.remaining_partitions`."""

    topic_name: str = string()
    partition_index: int = int32()


class ControlledShutdownResponse(Response, request=ControlledShutdownRequest):
    """The response to `ControlledShutdownRequest`."""

    error_code: int = int16()
    remaining_partitions: list[RemainingPartition] = array(RemainingPartition)
