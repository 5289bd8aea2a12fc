"""The API DeleteShareGroupOffsets (key 92, version 0): delete a share group's start offsets."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DeleteShareGroupOffsetsRequestTopic(Struct):
    """An element of `DeleteShareGroupOffsetsRequest.topics`."""

    topic_name: str = string()


class DeleteShareGroupOffsetsRequest(
    Request["DeleteShareGroupOffsetsResponse"], api_key=92, versions=(0, 0), flexible_since=0
):
    """Delete a share group's start offsets."""

    group_id: str = string()
    topics: list[DeleteShareGroupOffsetsRequestTopic] = array(DeleteShareGroupOffsetsRequestTopic)


class DeleteShareGroupOffsetsResponseTopic(Struct):
    """An element of `DeleteShareGroupOffsetsResponse.responses`."""

    topic_name: str = string()
    topic_id: UUID = uuid()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)


class DeleteShareGroupOffsetsResponse(Response, request=DeleteShareGroupOffsetsRequest):
    """The response to `DeleteShareGroupOffsetsRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    responses: list[DeleteShareGroupOffsetsResponseTopic] = array(DeleteShareGroupOffsetsResponseTopic)
