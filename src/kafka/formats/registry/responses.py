"""Reads a registry's responses up to a size limit, checks the types in their JSON, and caches the results."""

from __future__ import annotations

import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar

from kafka.formats.registry.associations import Association, AssociationResponse
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.schema_objects import RegisteredSchema, SchemaVersion, ServerConfig
from kafka.net.peer_text import shown_text

ACCEPTED = "gzip"
"""The accepted response compression. It is decoded here because the HTTP library does not limit the size."""
_GZIP = 16 + zlib.MAX_WBITS
_LARGEST = (1 << 32) - 1
_TYPES = {
    "subject": str,
    "version": int,
    "id": int,
    "guid": str,
    "schema": str,
    "schemaType": str,
    "references": list,
    "metadata": dict,
    "ruleSet": dict,
    "schemaTags": list,
}
_REFERENCE_TYPES = {"name": str, "subject": str, "version": int}
_RESOURCE_TYPES = {"resourceName": str, "resourceNamespace": str, "resourceId": str, "resourceType": str}
_ASSOCIATION_TYPES = {
    "subject": str,
    "guid": str,
    "associationType": str,
    "lifecycle": str,
    "frozen": bool,
    "schema": dict,
}
_SETTING_TYPES = {
    "compatibility": str,
    "compatibilityLevel": str,
    "compatibilityGroup": str,
    "compatibilityPolicy": str,
    "alias": str,
    "aliasForDeks": str,
    "normalize": bool,
    "validateFields": bool,
    "validateRules": bool,
    "validateNewSchemas": bool,
}


async def body_of(response: Any, limit: int) -> bytes:
    """Read and decompress the body of an HTTP response.

    Arguments:
        response: a response whose body has not been read.
        limit: maximum size in bytes.

    Raises ValueError if the body exceeds the limit or cannot be decompressed.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower() or "identity"
    if encoding not in ("gzip", "x-gzip", "identity"):
        raise ValueError(f"it is compressed as {shown_text(encoding, 40)!r}, which was not requested")
    inflater = None if encoding == "identity" else zlib.decompressobj(_GZIP)
    data = bytearray()
    is_empty = True
    async for part in response.aiter_raw():
        is_empty = False
        try:
            data += part if inflater is None else inflater.decompress(part, limit - len(data) + 1)
        except zlib.error as error:
            raise ValueError(f"it cannot be decompressed: {error}") from error
        if len(data) > limit:
            raise ValueError(f"it has more than {limit:,} bytes")
    if inflater is not None and not inflater.eof and not is_empty:
        raise ValueError("its compressed data is truncated")
    return bytes(data)


def registered(answer: Mapping[str, Any], asked: str, *needed: str) -> RegisteredSchema:
    """Read a registered schema from a response.

    Arguments:
        answer: the JSON value.
        asked: the request, for errors.
        needed: the required members, such as "schema" or "id".

    Raises `SchemaRegistryError` for an invalid response, which must not be cached.
    """
    for name in needed:
        if answer.get(name) is None:
            raise _lacking(answer, name, asked)
    _check(answer, _TYPES, asked)
    for each in answer.get("references") or ():
        _check(_of_type(each, dict, "reference", asked), _REFERENCE_TYPES, asked)
    try:
        return RegisteredSchema.from_dict(answer)
    except (AttributeError, TypeError, ValueError) as error:  # invalid metadata, rules or tags
        raise _unexpected(asked, f"the response has metadata, rules or tags that cannot be read: {error}") from error


def version_of(answer: Any, asked: str) -> SchemaVersion:
    """Read a subject and a version number; raises `SchemaRegistryError` for an invalid response."""
    _check(_of_type(answer, dict, "version", asked), _REFERENCE_TYPES, asked)
    return SchemaVersion.from_dict(answer)


def settings_of(answer: Mapping[str, Any], asked: str) -> ServerConfig:
    """Read settings; raises `SchemaRegistryError` for an invalid response."""
    _check(answer, _SETTING_TYPES, asked)
    try:
        return ServerConfig.from_dict(answer)
    except (AttributeError, TypeError, ValueError) as error:
        raise _unexpected(asked, f"the response has settings that cannot be read: {error}") from error


def association_of(answer: Any, asked: str) -> Association:
    """Read an association; raises `SchemaRegistryError` for an invalid response."""
    _check(_of_type(answer, dict, "association", asked), _RESOURCE_TYPES | _ASSOCIATION_TYPES, asked)
    return Association.from_dict(answer)


def associated(answer: Mapping[str, Any], asked: str) -> AssociationResponse:
    """Read the associations created by a request; raises `SchemaRegistryError` for an invalid response."""
    _check(answer, _RESOURCE_TYPES | {"associations": list}, asked)
    for each in answer.get("associations") or ():
        _check(_of_type(each, dict, "association", asked), _ASSOCIATION_TYPES, asked)
        if each.get("schema") is not None:
            registered(each["schema"], asked)
    return AssociationResponse.from_dict(answer)


def text_of(answer: Mapping[str, Any], asked: str, *names: str) -> str:
    """Return the first of the named strings in a response; raises `SchemaRegistryError` if there is none."""
    for name in names:
        if answer.get(name) is not None:
            return str(_of_type(answer[name], str, name, asked))
    raise _lacking(answer, names[0], asked)


def items_of(answer: list[Any], kind: type, asked: str) -> list[Any]:
    """Check a list of strings or numbers; raises `SchemaRegistryError` for items of another type."""
    return [_of_type(each, kind, "item", asked) for each in answer]


def _check(answer: Mapping[str, Any], types: Mapping[str, type], asked: str) -> None:
    for name, kind in types.items():
        if answer.get(name) is not None:
            _of_type(answer[name], kind, name, asked)


def _of_type(value: Any, kind: type, name: str, asked: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _unexpected(asked, f"expected {name!r} of type {kind.__name__}, got {shown_text(repr(value), 100)}")
    if isinstance(value, int) and not 0 <= value <= _LARGEST:
        raise _unexpected(asked, f"expected {name!r} from 0 to {_LARGEST}, got {shown_text(repr(value), 40)}")
    return value


def _lacking(answer: Mapping[str, Any], name: str, asked: str) -> SchemaRegistryError:
    found = shown_text(", ".join(map(repr, answer)), 200)
    return _unexpected(asked, f"expected an answer with {name!r}, got {found or 'nothing'}")


def _unexpected(asked: str, text: str) -> SchemaRegistryError:
    return SchemaRegistryError(0, SchemaRegistryError.UNKNOWN, text, asked)


T = TypeVar("T")


class Cache(Generic[T]):
    """An LRU cache of responses, with or without a time limit. Thread-safe.

    Arguments:
        capacity: maximum number of responses.
        ttl_s: lifetime of a response in seconds; None: unlimited.
        clock: returns the time in seconds.
    """

    def __init__(self, capacity: int, ttl_s: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = max(1, capacity)
        self._ttl_s = ttl_s
        self._clock = clock
        self._lock = threading.RLock()
        self._kept: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """Return the response for a key, or None."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            if self._ttl_s is not None and self._clock() - found[0] >= self._ttl_s:
                del self._kept[key]
                return None
            self._kept.move_to_end(key)
            return found[1]

    def put(self, key: Hashable, value: T) -> None:
        """Add a response, and drop the least recently used one if the cache is full."""
        with self._lock:
            self._kept[key] = (self._clock(), value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)

    def forget(self, which: Callable[[Hashable], bool] | None = None) -> None:
        """Remove the responses whose keys `which` selects, or all responses if `which` is None."""
        with self._lock:
            for key in [each for each in self._kept if which is None or which(each)]:
                del self._kept[key]
