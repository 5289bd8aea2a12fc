"""The headers of requests and responses."""

from __future__ import annotations

from kafka.wire.fields import int16, int32, string
from kafka.wire.message import Message


class RequestHeader(Message, versions=(0, 2), flexible_since=2):
    """The header that precedes every request."""

    request_api_key: int = int16()
    request_api_version: int = int16()
    correlation_id: int = int32()
    client_id: str | None = string(since=1, nullable=True, never_compact=True)


class ResponseHeader(Message, versions=(0, 1), flexible_since=1):
    """The header before every response."""

    correlation_id: int = int32()
