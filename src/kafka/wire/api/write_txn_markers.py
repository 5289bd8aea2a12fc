"""The API WriteTxnMarkers (key 27, versions 0 to 2):
write the markers that end transactions (coordinator to broker).
"""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int8, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class WritableTxnMarkerTopic(Struct):
    """An element of `WritableTxnMarker.topics`."""

    name: str = string()
    partition_indexes: list[int] = array(int32)


class WritableTxnMarker(Struct):
    """An element of `WriteTxnMarkersRequest.markers`."""

    producer_id: int = int64()
    producer_epoch: int = int16()
    transaction_result: bool = boolean()
    topics: list[WritableTxnMarkerTopic] = array(WritableTxnMarkerTopic)
    coordinator_epoch: int = int32()
    transaction_version: int = int8(since=2, ignorable=True)


class WriteTxnMarkersRequest(Request["WriteTxnMarkersResponse"], api_key=27, versions=(0, 2), flexible_since=1):
    """Write the markers that end transactions (coordinator to broker)."""

    markers: list[WritableTxnMarker] = array(WritableTxnMarker)


class WritableTxnMarkerPartitionResult(Struct):
    """An element of `WritableTxnMarkerTopicResult.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()


class WritableTxnMarkerTopicResult(Struct):
    """An element of `WritableTxnMarkerResult.topics`."""

    name: str = string()
    partitions: list[WritableTxnMarkerPartitionResult] = array(WritableTxnMarkerPartitionResult)


class WritableTxnMarkerResult(Struct):
    """An element of `WriteTxnMarkersResponse.markers`."""

    producer_id: int = int64()
    topics: list[WritableTxnMarkerTopicResult] = array(WritableTxnMarkerTopicResult)


class WriteTxnMarkersResponse(Response, request=WriteTxnMarkersRequest):
    """The response to `WriteTxnMarkersRequest`."""

    markers: list[WritableTxnMarkerResult] = array(WritableTxnMarkerResult)
