"""Frames: messages with their size and header, as they are sent.

A frame consists of a four-byte size, a header, and the message. The version of the header depends on that of the
message: a flexible version has a flexible header (KIP-482), except for two APIs that are handled here.
"""

from __future__ import annotations

import functools
import struct
from typing import Any, TypeVar, overload

from kafka.errors import UnsupportedVersionError, WireFormatError
from kafka.wire.api.headers import RequestHeader, ResponseHeader
from kafka.wire.decoder import ReadPlan, decode
from kafka.wire.encoder import WritePlan, encode
from kafka.wire.index import request_class
from kafka.wire.message import Message, Request, Response

R = TypeVar("R", bound=Response)

_CONTROLLED_SHUTDOWN = 7
_API_VERSIONS = 18
CORRELATION_ID = struct.Struct(">i")
"""The first field of a response header."""
_CORRELATION_ID_AT = 4
"""Position of the correlation id in a request header."""
_MOST_STRUCTS_OF_A_REQUEST = 200_000
"""Maximum number of structs in a request: more than clients send, and few enough to read in a fifth of a second."""


def request_header_version(request: type[Request[Any]], version: int) -> int:
    """Return the header version for a version of a request."""
    if version >= request.FLEXIBLE_SINCE:
        return 2
    return 0 if request.API_KEY == _CONTROLLED_SHUTDOWN and version == 0 else 1


def response_header_version(response: type[Message], version: int) -> int:
    """Return the header version for a version of a response.

    For ApiVersions, this is always 0, because the client does not know the broker's versions yet (KIP-511).
    """
    return 1 if version >= response.FLEXIBLE_SINCE and response.API_KEY != _API_VERSIONS else 0


def encode_request(message: Request[Any], version: int, correlation_id: int, client_id: str | None) -> list[Any]:
    """Write a request as a frame; return its parts, which contain the given record bytes without a copy.

    Raises:
        WireFormatError: a value does not fit its field.
        UnsupportedVersionError: there is no such version, or it lacks a field that is set and is not ignorable.
    """
    plan, before, after = _request_plan(type(message), version, client_id)  # type: ignore[arg-type]  # hashable
    return encode([(plan, message)], True, before + CORRELATION_ID.pack(correlation_id) + after)


@functools.lru_cache(maxsize=256)
def _request_plan(request: type[Request[Any]], version: int, client_id: str | None) -> tuple[WritePlan, bytes, bytes]:
    """Return how to write a request, and the parts of its header before and after the correlation id."""
    header_version = request_header_version(request, version)
    header = RequestHeader(
        request_api_key=request.API_KEY,
        request_api_version=version,
        client_id=client_id if header_version else "",
    ).encode(header_version)
    after = _CORRELATION_ID_AT + CORRELATION_ID.size
    return request.writer(version), header[:_CORRELATION_ID_AT], header[after:]


def encode_response(message: Message, version: int, correlation_id: int) -> list[Any]:
    """Write a response as a frame; return its parts, which contain the given record bytes without a copy.

    Raises:
        The same errors as `encode_request`.
    """
    header = ResponseHeader(correlation_id=correlation_id)
    body = message.writer(version)
    header_version = response_header_version(type(message), version)
    return encode([(ResponseHeader.writer(header_version), header), (body, message)], True)


def correlation_id(frame: Any) -> int:
    """Return the correlation id of a response, given the bytes after the size.

    Raises:
        WireFormatError: there are fewer than four bytes.
    """
    try:
        found: int = CORRELATION_ID.unpack_from(frame)[0]
    except struct.error:
        raise WireFormatError(f"ResponseHeader: expected 4 bytes, found {memoryview(frame).nbytes}") from None
    return found


@overload
def decode_response(request: type[Request[R]], version: int, frame: Any) -> R: ...
@overload
def decode_response(request: type[Message], version: int, frame: Any) -> Message: ...
def decode_response(request: type[Any], version: int, frame: Any) -> Message:
    """Read the response to a version of a request, given the bytes after the size; records are views of these bytes.

    Raises:
        WireFormatError: the bytes are not a response to this version of the request.
        UnsupportedVersionError: the request does not have this version.
        TypeError: `request` is not a request class.
    """
    plan, flexible = _response_plan(request, version)  # type: ignore[arg-type]  # hashable
    start = CORRELATION_ID.size
    if len(frame) <= start or (flexible and frame[start]):  # the frame is too short, or its header has tagged fields
        _, start = ResponseHeader.decode_prefix(frame, flexible)
    else:
        start += flexible
    response: Message = decode(plan, frame, start, True)[0]
    return response


@functools.lru_cache(maxsize=256)
def _response_plan(request: type[Any], version: int) -> tuple[ReadPlan, int]:
    """Return how to read the response to a version of a request, and the version of its header."""
    if not issubclass(request, Request):
        raise TypeError(f"expected the class of a request, got {request.__name__}")
    response = request.RESPONSE
    return response.reader(version), response_header_version(response, version)


def decode_request_header(frame: Any) -> tuple[RequestHeader, int]:
    """Read the header of a request, given the bytes after the size; return it and the position of the message.

    Also supports unknown versions of the message, because a broker must respond to them (ApiVersions, KIP-511).

    Raises:
        WireFormatError: the bytes are not a header.
        UnsupportedVersionError: the API is unknown.
    """
    first, _ = RequestHeader.decode_prefix(frame, 0)
    try:
        request = request_class(first.request_api_key)
    except LookupError as error:
        raise UnsupportedVersionError(str(error)) from None
    return RequestHeader.decode_prefix(frame, request_header_version(request, first.request_api_version))


def decode_request(frame: Any) -> tuple[RequestHeader, Request[Any]]:
    """Read a request with its header, given the bytes after the size; records are views of these bytes.

    Bytes after the request are ignored, as in Apache Kafka: since 2.3, librdkafka writes three extra bytes after a null
    array.

    Raises:
        WireFormatError: the bytes are not a request, or the request has more than 200,000 structs.
        UnsupportedVersionError: the API, or this version of it, is unknown.
    """
    header, start = decode_request_header(frame)
    request = request_class(header.request_api_key)
    made: Request[Any] = decode(
        request.reader(header.request_api_version), frame, start, False, _MOST_STRUCTS_OF_A_REQUEST
    )[0]
    return header, made
