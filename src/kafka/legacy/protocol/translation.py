"""Sends requests of any version to brokers of any version.

A request whose version the broker supports is sent unchanged. Any other is converted to the nearest version that the
broker supports, and the response is converted back. Therefore, programs from the time of Kafka 0.8 work with brokers
that no longer support their requests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kafka.errors import UnsupportedVersionError
from kafka.legacy.protocol.message import Message, MessageSet
from kafka.legacy.protocol.message_sets import message_objects
from kafka.net.broker_versions import ApiVersions
from kafka.record import BatchBuilder, Compression, decode_batches
from kafka.record.batch_types import Buffer
from kafka.record.layout import MAGIC_AT
from kafka.record.legacy_messages import encode_message
from kafka.wire import Request, Response, request_class
from kafka.wire.structs import Struct

_PRODUCE, _FETCH, _LIST_OFFSETS, _JOIN_GROUP, _DESCRIBE_CONFIGS = 0, 1, 2, 11, 32
_MAGIC_2_IN_PRODUCE, _MAGIC_2_IN_FETCH, _MAGIC_1_IN_FETCH = 3, 4, 2
_DEFAULT_CONFIG = 5


class Translated(NamedTuple):
    """A request that can be sent."""

    message: Request[Any]
    version: int
    """The version to send it in."""
    read: Callable[[Response], Any]
    """Converts the response to the one that the program expects."""


def translate(request: Any, offered: ApiVersions, broker: str = "the broker") -> Translated:
    """Convert a request of `kafka.protocol` to a version that a broker supports.

    Args:
        request: an instance of a class of `kafka.protocol`, or of a program's class with the key of one of Kafka's
            APIs.
        offered: the versions that the broker supports.
        broker: the broker's name in errors.

    Raises:
        UnsupportedVersionError: neither the request's version nor another one can be used; the message names the
            requested version and the supported ones.
        ValueError: the request cannot be encoded.
    """
    asked, name = request.API_VERSION, type(request).__name__
    try:
        declared = request_class(request.API_KEY)
    except LookupError as error:
        raise UnsupportedVersionError(
            f"{name} has the API key {request.API_KEY}, which Kafka does not have: {error}"
        ) from None
    message = declared.decode(request.encode(), asked)
    served = _served(offered, declared.API_KEY)
    if served is None:
        raise UnsupportedVersionError(f"{broker} does not support {declared.NAME}, which {name} is version {asked} of")
    version = min(max(asked, served[0]), served[1])
    if version != asked:
        try:
            declared.check_version(version)
            _adapt_request(message, asked, version)
            message.encode(version)
        except (UnsupportedVersionError, ValueError) as error:
            raise UnsupportedVersionError(
                f"{broker} supports {declared.NAME} in the versions {served[0]} to {served[1]}, not in {asked} as "
                f"{name} requests, and version {version} cannot replace it: {error}"
            ) from error

    def read(response: Response) -> Any:
        if version != asked:
            _adapt_response(response, message, asked, version)
        return request.RESPONSE_TYPE.decode(response.encode(asked))

    return Translated(message, version, read)


def _served(offered: ApiVersions, api_key: int) -> tuple[int, int] | None:
    """Return the versions that a broker accepts. Kafka 4 lists Produce 0 to 2, for librdkafka, but rejects them."""
    served, fetch = offered.range(api_key), offered.range(_FETCH)
    if api_key == _PRODUCE and served is not None and fetch is not None and fetch[0] >= _MAGIC_2_IN_FETCH:
        return max(served[0], _MAGIC_2_IN_PRODUCE), served[1]
    return served


def _adapt_request(message: Any, asked: int, version: int) -> None:
    """Convert a request to another version without changing its meaning."""
    if version < asked:
        return
    key = message.API_KEY
    if key == _PRODUCE and asked < _MAGIC_2_IN_PRODUCE <= version:
        for topic in message.topic_data:
            for partition in topic.partition_data:
                partition.records = to_batch(partition.records)
    elif key == _JOIN_GROUP and asked == 0:
        message.rebalance_timeout_ms = message.session_timeout_ms
    _forget(message, version)


def _adapt_response(response: Any, request: Any, asked: int, version: int) -> None:
    """Convert a response to the version that the program requested, without changing its meaning."""
    key = response.API_KEY
    if key == _FETCH and asked < _MAGIC_2_IN_FETCH <= version:
        _old_messages(response, request, 1 if asked >= _MAGIC_1_IN_FETCH else 0)
    elif key == _LIST_OFFSETS and asked == 0 < version:
        for topic in response.topics:
            for partition in topic.partitions:
                partition.old_style_offsets = [partition.offset] if partition.offset >= 0 else []
    elif key == _DESCRIBE_CONFIGS and asked == 0 < version:
        for result in response.results:
            for config in result.configs:
                config.is_default = config.config_source == _DEFAULT_CONFIG
    _forget(response, asked)


def _old_messages(response: Any, request: Any, magic: int) -> None:
    """Convert the records in a response to a format that the version of the request supports."""
    starts = {(t.topic, p.partition): p.fetch_offset for t in request.topics for p in t.partitions}
    for topic in response.responses:
        for partition in topic.partitions:
            start = starts.get((topic.topic, partition.partition_index), 0)
            partition.records = to_message_set(partition.records, magic, start)


def _forget(struct: Struct, version: int) -> None:
    """Reset fields that a version does not have to their defaults."""
    for field in struct.FIELDS:
        if not field.in_version(version) or field.tag >= 0:
            struct.__dict__.pop(field.name, None)
        elif field.struct is not None:
            value = getattr(struct, field.name)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, Struct):
                    _forget(part, version)


_NO_TIMESTAMP = -1


def to_batch(records: Buffer | None) -> bytes | None:
    """Convert a magic 0 or 1 message set to one magic 2 batch, with the codec of its first message.

    Other records are returned unchanged.

    Raises:
        ValueError: the set is damaged.
    """
    data = bytes(records or b"")
    if not data or data[MAGIC_AT] > 1:
        return data or None
    first = MessageSet.decode(data, bytes_to_read=len(data))[0][2]
    codec = first.attributes & first.CODEC_MASK if isinstance(first, Message) else 0
    builder = BatchBuilder(2, Compression(codec), size_limit=len(data))
    for _, found in message_objects(data):
        message: Any = found
        if not isinstance(message, Message) or not message.validate_crc():
            raise ValueError("a message in the set is incomplete, or its checksum is wrong")
        timestamp = _NO_TIMESTAMP if message.timestamp is None else message.timestamp
        builder.append(timestamp, message.key, message.value)
    return builder.build()


def to_message_set(records: Buffer | None, magic: int, start_offset: int = 0) -> bytes:
    """Convert batches of any magic to uncompressed magic 0 or 1 messages without headers, starting at an offset."""
    if not records:
        return b""
    found = decode_batches(records, start_offset=start_offset, check_crcs=False).to_records()
    return b"".join(encode_message(magic, r.offset, r.timestamp or 0, r.key, r.value) for r in found)
