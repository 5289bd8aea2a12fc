"""`Request`, `Response` and their headers."""

from __future__ import annotations

from typing import Any, ClassVar

from kafka.legacy.protocol.schema_types import Array, Int16, Int32, Schema, String, Struct, TaggedFields


class RequestHeader(Struct):
    """What stands before a request."""

    SCHEMA = Schema(
        ("api_key", Int16), ("api_version", Int16), ("correlation_id", Int32), ("client_id", String("utf-8"))
    )

    def __init__(self, request: Any, correlation_id: int = 0, client_id: str | None = "kafka-python") -> None:
        """Make the header of a request, whose key and version it names."""
        super().__init__(request.API_KEY, request.API_VERSION, correlation_id, client_id)


class RequestHeaderV2(Struct):
    """What stands before a request of a flexible version (KIP-482)."""

    SCHEMA = Schema(
        ("api_key", Int16),
        ("api_version", Int16),
        ("correlation_id", Int32),
        ("client_id", String("utf-8")),
        ("tags", TaggedFields),
    )

    def __init__(
        self,
        request: Any,
        correlation_id: int = 0,
        client_id: str | None = "kafka-python",
        tags: dict[int, bytes] | None = None,
    ) -> None:
        """Make the header of a request, whose key and version it names."""
        super().__init__(request.API_KEY, request.API_VERSION, correlation_id, client_id, tags or {})


class ResponseHeader(Struct):
    """What stands before a response."""

    SCHEMA = Schema(("correlation_id", Int32))


class ResponseHeaderV2(Struct):
    """What stands before a response of a flexible version (KIP-482)."""

    SCHEMA = Schema(("correlation_id", Int32), ("tags", TaggedFields))


class _Message(Struct):
    """What requests and responses share."""

    API_KEY: ClassVar[int]
    """Kafka's number of the API."""
    API_VERSION: ClassVar[int]
    """The version of the message."""
    FLEXIBLE_VERSION: ClassVar[bool] = False
    """Whether its header has tagged fields (KIP-482)."""

    def to_object(self) -> dict[str, Any]:
        """Return the message as nested dicts and lists, with the names of the schema."""
        found: dict[str, Any] = _to_object(self.SCHEMA, [getattr(self, name) for name in self.SCHEMA.names])
        return found


class Response(_Message):
    """What a broker answers."""

    @classmethod
    def parse_header(cls, read_buffer: Any) -> ResponseHeader | ResponseHeaderV2:
        """Read the header that stands before the response."""
        return (ResponseHeaderV2 if cls.FLEXIBLE_VERSION else ResponseHeader).decode(read_buffer)


class Request(_Message):
    """What a client sends."""

    RESPONSE_TYPE: ClassVar[Any]
    """The class of the response."""

    def expect_response(self) -> bool:
        """Return whether the broker answers this request."""
        return True

    def build_header(self, correlation_id: int, client_id: str | None) -> RequestHeader | RequestHeaderV2:
        """Make the header of this request."""
        return (RequestHeaderV2 if self.FLEXIBLE_VERSION else RequestHeader)(self, correlation_id, client_id)


def _to_object(field: Any, value: Any) -> Any:
    """Give the values of schemas their names."""
    if isinstance(field, Schema):
        return {n: _to_object(f, v) for n, f, v in zip(field.names, field.fields, value, strict=True)}
    if isinstance(field, Array) and isinstance(field.array_of, (Array, Schema)) and value is not None:
        return [_to_object(field.array_of, item) for item in value]
    return value
