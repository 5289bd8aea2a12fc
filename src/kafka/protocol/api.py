"""kafka-python's import path of `Request`, `Response` and their headers."""

from kafka.legacy.protocol.api import (
    Request,
    RequestHeader,
    RequestHeaderV2,
    Response,
    ResponseHeader,
    ResponseHeaderV2,
)

__all__ = [
    "Request",
    "RequestHeader",
    "RequestHeaderV2",
    "Response",
    "ResponseHeader",
    "ResponseHeaderV2",
]
