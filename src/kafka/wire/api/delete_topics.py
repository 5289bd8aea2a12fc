"""The API DeleteTopics (key 20, versions 0 to 6): delete topics."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DeleteTopicState(Struct):
    """An element of `DeleteTopicsRequest.topics`."""

    name: str | None = string(since=6, nullable=True, default=None)
    topic_id: UUID = uuid(since=6)


class DeleteTopicsRequest(Request["DeleteTopicsResponse"], api_key=20, versions=(0, 6), flexible_since=4):
    """Delete topics."""

    topics: list[DeleteTopicState] = array(DeleteTopicState, since=6)
    topic_names: list[str] = array(string, until=5, ignorable=True)
    timeout_ms: int = int32()


class DeletableTopicResult(Struct):
    """An element of `DeleteTopicsResponse.responses`."""

    name: str | None = string(nullable=True, null_since=6)
    topic_id: UUID = uuid(since=6, ignorable=True)
    error_code: int = int16()
    error_message: str | None = string(since=5, nullable=True, default=None, ignorable=True)


class DeleteTopicsResponse(Response, request=DeleteTopicsRequest):
    """The response to `DeleteTopicsRequest`."""

    throttle_time_ms: int = int32(since=1, ignorable=True)
    responses: list[DeletableTopicResult] = array(DeletableTopicResult)
