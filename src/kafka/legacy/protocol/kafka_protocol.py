"""`KafkaProtocol` of 0.9 and 1.x: converts payload tuples to requests, and responses to payload tuples.

In 0.9, methods took a client id and a correlation id first, returned frames, and decoded bytes. In 1.x they used the
requests and responses of `kafka.protocol`, without these ids. Both forms are supported, depending on the arguments. In
results decoded from bytes, topic names are bytes, as in 0.9 on Python 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from typing import Any

from kafka.legacy import payloads as tuples
from kafka.legacy.protocol import payload_conversion as convert
from kafka.legacy.protocol.api import RequestHeader
from kafka.legacy.protocol.catalogue import versions
from kafka.legacy.protocol.message_sets import encode_message_set, message_objects, message_tuples
from kafka.legacy.protocol.schema_types import Bytes, Int32


def _frame(client_id: Any, correlation_id: int, request: Any) -> bytes:
    """Encode a request with its size and header, as 0.9 did."""
    return Bytes.encode(RequestHeader(request, correlation_id, client_id).encode() + request.encode())


def _call(make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Create a request, and encode it if the first arguments are a client id and a correlation id."""
    is_old = "client_id" in kwargs or "correlation_id" in kwargs
    if not is_old and not (len(args) > 1 and isinstance(args[0], (str, bytes)) and isinstance(args[1], int)):
        return make(*args, **kwargs)
    names = [name for name in ("client_id", "correlation_id") if name not in kwargs]
    given = kwargs | dict(zip(names, args[: len(names)], strict=True))
    client_id, correlation_id = given.pop("client_id"), given.pop("correlation_id")
    return _frame(client_id, correlation_id, make(*args[len(names) :], **given))


def _is_bytes(response: Any) -> bool:
    return isinstance(response, (bytes, bytearray, memoryview))


def _read(module: str, api: str, data: Any) -> Any:
    """Decode version 0 of a response, preceded by a correlation id, as in 0.9."""
    stream = BytesIO(bytes(data))
    Int32.decode(stream)
    return versions(module, api, "Response")[0].decode(stream)


def _with_bytes(payload: Any) -> Any:
    """Return a payload with the topic name as bytes."""
    return payload._replace(topic=payload.topic.encode())


def _produce(payloads: Iterable[Any] | None = (), acks: int = 1, timeout: int = 1000) -> Any:
    return convert.produce_request(payloads or (), acks, timeout)


def _fetch(payloads: Iterable[Any] | None = (), max_wait_time: int = 100, min_bytes: int = 4096) -> Any:
    return convert.fetch_request(payloads or (), max_wait_time, min_bytes)


def _offset(payloads: Iterable[Any] | None = ()) -> Any:
    return convert.offset_request(payloads or ())


def _metadata(topics: Iterable[Any] | None = (), payloads: Iterable[Any] | None = None) -> Any:
    return convert.metadata_request((topics or ()) if payloads is None else payloads)


def _offset_fetch(group: Any, payloads: Iterable[Any], from_kafka: bool = False) -> Any:
    return convert.offset_fetch_request(group, payloads, from_kafka)


class KafkaProtocol:
    """Converts payload tuples; it has no state.

    Each `encode_*` method accepts the arguments of 1.x and returns a request of `kafka.protocol`, or accepts the
    arguments of 0.9, preceded by `client_id` and `correlation_id`, and returns the bytes to send. Each `decode_*`
    method accepts a response of `kafka.protocol` and returns a list, or accepts bytes and returns an iterator.
    """

    PRODUCE_KEY = 0
    FETCH_KEY = 1
    OFFSET_KEY = 2
    METADATA_KEY = 3
    OFFSET_COMMIT_KEY = 8
    OFFSET_FETCH_KEY = 9
    CONSUMER_METADATA_KEY = 10

    _encode_message_set = staticmethod(encode_message_set)
    _decode_message_set_iter = staticmethod(message_tuples)
    decode_message_set = staticmethod(message_objects)

    @classmethod
    def encode_produce_request(cls, *args: Any, **kwargs: Any) -> Any:
        """Accept `payloads=(), acks=1, timeout=1000`.

        With the arguments of 1.x, raises `ValueError` for acks other than 1, 0 and -1.
        """
        made = _call(_produce, args, kwargs)
        if not _is_bytes(made) and made.required_acks not in (1, 0, -1):
            raise ValueError(f"ProduceRequest acks ({made.required_acks}) must be 1, 0, -1")
        return made

    @classmethod
    def decode_produce_response(cls, response: Any) -> Any:
        """Return `ProduceResponsePayload` tuples."""
        if _is_bytes(response):
            return map(_with_bytes, convert.produce_payloads(_read("produce", "Produce", response)))
        return convert.produce_payloads(response)

    @classmethod
    def encode_fetch_request(cls, *args: Any, **kwargs: Any) -> Any:
        """Accept `payloads=(), max_wait_time=100, min_bytes=4096`."""
        return _call(_fetch, args, kwargs)

    @classmethod
    def decode_fetch_response(cls, response: Any) -> Any:
        """Return `FetchResponsePayload` tuples, each with `OffsetAndMessage` tuples."""
        if not _is_bytes(response):
            return convert.fetch_payloads(response)
        return cls._lazy_fetch_payloads(_read("fetch", "Fetch", response))

    @staticmethod
    def _lazy_fetch_payloads(response: Any) -> Iterator[tuples.FetchResponsePayload]:
        """Yield payloads whose messages are decoded and checked during iteration."""
        for topic, partitions in response.topics:
            for partition, error, highwater, records in partitions:
                messages: Any = message_tuples(records or b"")
                yield tuples.FetchResponsePayload(topic.encode(), partition, error, highwater, messages)

    @classmethod
    def encode_offset_request(cls, *args: Any, **kwargs: Any) -> Any:
        """Accept `payloads=()`."""
        return _call(_offset, args, kwargs)

    @classmethod
    def decode_offset_response(cls, response: Any) -> Any:
        """Return `OffsetResponsePayload` tuples."""
        if _is_bytes(response):
            return map(_with_bytes, convert.offset_payloads(_read("offset", "Offset", response)))
        return convert.offset_payloads(response)

    @classmethod
    def encode_list_offset_request(cls, payloads: Iterable[Any] = ()) -> Any:
        """Return the request for an offset by time (1.4)."""
        return convert.list_offset_request(payloads)

    @classmethod
    def decode_list_offset_response(cls, response: Any) -> list[tuples.ListOffsetResponsePayload]:
        """Return `ListOffsetResponsePayload` tuples (1.4)."""
        return convert.list_offset_payloads(response)

    @classmethod
    def encode_metadata_request(cls, *args: Any, **kwargs: Any) -> Any:
        """Accept `topics=(), payloads=None`; `payloads` takes precedence."""
        return _call(_metadata, args, kwargs)

    @classmethod
    def decode_metadata_response(cls, response: Any) -> Any:
        """Return the response unchanged; decode bytes to a `MetadataResponse` tuple."""
        if not _is_bytes(response):
            return response
        found = convert.metadata_payload(_read("metadata", "Metadata", response))
        brokers = [broker._replace(host=broker.host.encode()) for broker in found.brokers]
        topics = [
            _with_bytes(topic)._replace(partitions=[_with_bytes(partition) for partition in topic.partitions])
            for topic in found.topics
        ]
        return tuples.MetadataResponse(brokers, topics)

    @classmethod
    def encode_consumer_metadata_request(cls, client_id: Any, correlation_id: int, payloads: Any) -> bytes:
        """Return the frame of a request for a group's coordinator; `payloads` is the group's name."""
        return _frame(client_id, correlation_id, convert.coordinator_request(payloads))

    @classmethod
    def decode_consumer_metadata_response(cls, data: bytes) -> tuples.ConsumerMetadataResponse:
        """Decode bytes to a `ConsumerMetadataResponse` tuple."""
        found: Any = convert.coordinator_payload(_read("commit", "GroupCoordinator", data))
        made: tuples.ConsumerMetadataResponse = found._replace(host=found.host.encode())
        return made

    @classmethod
    def encode_offset_commit_request(cls, *args: Any, **kwargs: Any) -> Any:
        """Accept `group, payloads`."""
        return _call(convert.offset_commit_request, args, kwargs)

    @classmethod
    def decode_offset_commit_response(cls, response: Any) -> Any:
        """Return `OffsetCommitResponsePayload` tuples."""
        if _is_bytes(response):
            return map(_with_bytes, convert.offset_commit_payloads(_read("commit", "OffsetCommit", response)))
        return convert.offset_commit_payloads(response)

    @classmethod
    def encode_offset_fetch_request(cls, *args: Any, **kwargs: Any) -> Any:
        """Accept `group, payloads, from_kafka=False`."""
        return _call(_offset_fetch, args, kwargs)

    @classmethod
    def decode_offset_fetch_response(cls, response: Any) -> Any:
        """Return `OffsetFetchResponsePayload` tuples."""
        if _is_bytes(response):
            found = convert.offset_fetch_payloads(_read("commit", "OffsetFetch", response))
            return (_with_bytes(p)._replace(metadata=_bytes_or_none(p.metadata)) for p in found)
        return convert.offset_fetch_payloads(response)


def _bytes_or_none(text: Any) -> bytes | None:
    return None if text is None else str(text).encode()
