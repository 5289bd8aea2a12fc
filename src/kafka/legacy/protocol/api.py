"""`Request`, `Response` and their headers."""

from __future__ import annotations

from typing import Any, ClassVar

from kafka.legacy.protocol.schema_types import Array, Int16, Int32, Schema, String, Struct, TaggedFields


class RequestHeader(Struct):
    """The header of a request."""

    SCHEMA = Schema(
        ("api_key", Int16), ("api_version", Int16), ("correlation_id", Int32), ("client_id", String("utf-8"))
    )

    def __init__(self, request: Any, correlation_id: int = 0, client_id: str | None = "kafka-python") -> None:
        """Create the header of a request, with the request's API key and version."""
        super().__init__(request.API_KEY, request.API_VERSION, correlation_id, client_id)


class RequestHeaderV2(Struct):
    """The header of a request in a flexible version (KIP-482)."""

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
        """Create the header of a request, with the request's API key and version."""
        super().__init__(request.API_KEY, request.API_VERSION, correlation_id, client_id, tags or {})


class ResponseHeader(Struct):
    """The header of a response."""

    SCHEMA = Schema(("correlation_id", Int32))


class ResponseHeaderV2(Struct):
    """The header of a response in a flexible version (KIP-482)."""

    SCHEMA = Schema(("correlation_id", Int32), ("tags", TaggedFields))


class _Message(Struct):
    """Base class of requests and responses."""

    API_KEY: ClassVar[int]
    """The API key, Kafka's number for the API."""
    API_VERSION: ClassVar[int]
    """The version of the message."""
    FLEXIBLE_VERSION: ClassVar[bool] = False
    """Whether the header has tagged fields (KIP-482)."""

    def to_object(self) -> dict[str, Any]:
        """Return the message as nested dicts and lists, with the field names of the schema."""
        found: dict[str, Any] = _to_object(self.SCHEMA, [getattr(self, name) for name in self.SCHEMA.names])
        return found


class Response(_Message):
    """A response from a broker."""

    @classmethod
    def parse_header(cls, read_buffer: Any) -> ResponseHeader | ResponseHeaderV2:
        """Decode the header of the response."""
        return (ResponseHeaderV2 if cls.FLEXIBLE_VERSION else ResponseHeader).decode(read_buffer)


class Request(_Message):
    """A request from a client."""

    RESPONSE_TYPE: ClassVar[Any]
    """The class of the response."""

    def expect_response(self) -> bool:
        """Return whether the broker answers this request."""
        return True

    def build_header(self, correlation_id: int, client_id: str | None) -> RequestHeader | RequestHeaderV2:
        """Return the header of this request."""
        return (RequestHeaderV2 if self.FLEXIBLE_VERSION else RequestHeader)(self, correlation_id, client_id)


def _to_object(field: Any, value: Any) -> Any:
    """Convert a value to a dict if its type is a schema, recursively."""
    if isinstance(field, Schema):
        return {n: _to_object(f, v) for n, f, v in zip(field.names, field.fields, value, strict=True)}
    if isinstance(field, Array) and isinstance(field.array_of, (Array, Schema)) and value is not None:
        return [_to_object(field.array_of, item) for item in value]
    return value
