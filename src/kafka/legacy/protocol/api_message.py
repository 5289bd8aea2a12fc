"""`ApiMessage` of kafka-python 3: a message of `kafka.wire` together with its version."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Self

from kafka.wire import Message, message_class
from kafka.wire.framing import decode_request_header, encode_request, encode_response, response_header_version
from kafka.wire.kinds import Kind
from kafka.wire.structs import Field, Struct

_SIZE = 4
_NO_ANSWER = "ProduceRequest"


class _ByVersion(type):
    """Metaclass that makes ``Message[version]`` a subclass whose instances have that version."""

    WIRE: type[Message]

    def __getitem__(cls, version: int) -> Any:
        return _of_version(cls, version)

    def __len__(cls) -> int:
        return cls.WIRE.MAX_VERSION + 1


@functools.cache
def _of_version(cls: Any, version: int) -> Any:
    cls.check(version)
    return type(cls)(f"{cls.name}_v{version}", (cls,), {"_version": version, "__module__": cls.__module__})


class ApiMessage(metaclass=_ByVersion):
    """A request, a response or a data structure, with the fields of Kafka's message as attributes.

    Arguments:
        args: the fields in Kafka's order; for a data structure, its version may precede them.
        version: the version to encode; None: the version is passed to `encode`.
        fields: the fields by name; omitted fields have Kafka's default.

    Raises `ValueError` for a field or a version that the message does not have.
    """

    WIRE: ClassVar[type[Message]]
    API_KEY: ClassVar[int]
    name: ClassVar[str]
    type: ClassVar[str]
    min_version: ClassVar[int]
    max_version: ClassVar[int]
    valid_versions: ClassVar[tuple[int, int]]
    fields: ClassVar[dict[str, Field]]
    _version: int | None = None
    _header: tuple[int, str | None] | None = None
    _message: Message

    def __init__(self, *args: Any, version: int | None = None, **fields: Any) -> None:
        if self.type == "data" and args and isinstance(args[0], int):
            version, args = args[0], args[1:]
        values = {**dict(zip(self.fields, args, strict=False)), **fields}
        unknown = values.keys() - self.fields.keys()
        if unknown or len(args) > len(self.fields):
            raise ValueError(f"{self.name} has the fields {', '.join(self.fields)}, not {', '.join(sorted(unknown))}")
        if version is not None:
            self.check(version)
            self._version = version
        self._message = self.WIRE(**values)

    def __getattr__(self, name: str) -> Any:
        if name in type(self).fields:
            return getattr(self._message, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.fields:
            setattr(self._message, name, value)
        else:
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ApiMessage) or self.WIRE is not other.WIRE:
            return NotImplemented
        return bool(self._message == other._message)

    __hash__ = None  # type: ignore[assignment]  # its fields can change

    def __repr__(self) -> str:
        told = [] if self._version is None else [f"version={self._version}"]
        told += [f"{name}={getattr(self, name)!r}" for name in self._present(self._version)]
        return f"{self.name}({', '.join(told)})"

    @property
    def version(self) -> int | None:
        """The version; None if it is not set."""
        return self._version

    API_VERSION = version

    @property
    def header(self) -> tuple[int, str | None] | None:
        """The correlation id and client id set by `with_header`."""
        return self._header

    @classmethod
    def check(cls, version: int) -> None:
        """Raise `ValueError` for a version that the message does not have."""
        if not cls.min_version <= version <= cls.max_version:
            raise ValueError(f"{cls.name} has the versions {cls.min_version} to {cls.max_version}, not {version}")

    @classmethod
    def is_request(cls) -> bool:
        """Return whether the message is a request."""
        return cls.type == "request"

    @classmethod
    def flexible_version_q(cls, version: int) -> bool:
        """Return whether a version has tagged fields (KIP-482)."""
        return version >= cls.WIRE.FLEXIBLE_SINCE

    def expect_response(self) -> bool:
        """Return whether the broker answers this request."""
        return not (self.name == _NO_ANSWER and self.acks == 0)

    def with_header(self, correlation_id: int = 0, client_id: str | None = "kafka-python") -> None:
        """Set the header."""
        self._header = correlation_id, client_id

    def encode(self, version: int | None = None, header: bool = False, framed: bool = False) -> bytearray:
        """Encode the message.

        Arguments:
            version: the version; None: the version of the message.
            header: whether to prepend the header set by `with_header`.
            framed: whether to prepend the size.

        Raises `ValueError` without a version or a header, and for a value that the version cannot represent.
        """
        chosen = self._chosen(version)
        _complete(self._message, chosen)
        data = bytearray()
        if header:
            if self._header is None:
                raise ValueError(f"{self.name} has no header: call with_header() first")
            parts: list[Any] = (
                encode_request(self._message, chosen, *self._header)  # type: ignore[arg-type]  # it is one
                if self.is_request()
                else encode_response(self._message, chosen, self._header[0])
            )
            data += b"".join(parts)[_SIZE:]
        else:
            data += chosen.to_bytes(2, "big") if self.type == "data" else b""
            data += self._message.encode(chosen)
        return bytearray(len(data).to_bytes(_SIZE, "big")) + data if framed else data

    @classmethod
    def decode(cls, data: Any, version: int | None = None, header: bool = False, framed: bool = False) -> Self:
        """Decode a message, with a size and header as `encode` writes them.

        Raises `ValueError` without a version, and `ProtocolError` for invalid bytes.
        """
        data = bytes(data if isinstance(data, (bytes, bytearray, memoryview)) else data.read())
        data = data[_SIZE:] if framed else data
        if cls.type == "data":
            version, data = int.from_bytes(data[:2], "big"), data[2:]
        version = cls._version if version is None else version
        if version is None:
            raise ValueError("Version required to decode data")
        cls.check(version)
        start, found = cls._behind_header(data, version) if header else (0, None)
        made = cls(version=version)
        made._header = found
        made._message = cls.WIRE.decode(data[start:], version)
        return made

    @classmethod
    def _behind_header(cls, data: bytes, version: int) -> tuple[int, tuple[int, str | None]]:
        """Return the position after the header, and the header."""
        if cls.is_request():
            header, start = decode_request_header(data)
            return start, (header.correlation_id, header.client_id)
        kind = message_class("ResponseHeader")
        read, start = kind.decode_prefix(data, response_header_version(cls.WIRE, version))
        return start, (read.correlation_id, None)  # type: ignore[attr-defined]  # the header's only field

    def to_dict(self, meta: bool = False, json: bool = True) -> dict[str, Any]:
        """Return the fields of the message's version as nested dicts and lists.

        With ``meta``, the result also contains the message's name and version.
        """
        found = {name: _plain(getattr(self, name), self._version) for name in self._present(self._version)}
        return {"_name": self.name, "_version": self._version, **found} if meta else found

    def _present(self, version: int | None) -> list[str]:
        return [name for name, field in self.fields.items() if version is None or field.in_version(version)]

    def _chosen(self, version: int | None) -> int:
        chosen = self._version if version is None else version
        if chosen is None:
            raise ValueError("Version required to encode data")
        self.check(chosen)
        return chosen


def _plain(value: Any, version: int | None) -> Any:
    if isinstance(value, Struct):
        fields = [field for field in value.FIELDS if version is None or field.in_version(version)]
        return {field.name: _plain(getattr(value, field.name), version) for field in fields}
    return [_plain(each, version) for each in value] if isinstance(value, list) else value


def _complete(thing: Struct, version: int) -> None:
    """Replace plain values with the structs they stand for: a tuple of the fields, or the value of a single field."""
    for field in thing.FIELDS:
        if field.struct is None or not field.in_version(version):
            continue
        value = getattr(thing, field.name)
        if field.kind is Kind.ARRAY and value is not None:
            names = [each.name for each in field.struct.FIELDS if each.in_version(version)]
            found = [each if isinstance(each, Struct) else _struct_of(field.struct, names, each) for each in value]
            setattr(thing, field.name, found)
            for each in found:
                _complete(each, version)
        elif isinstance(value, Struct):
            _complete(value, version)


def _struct_of(kind: type[Struct], names: list[str], value: Any) -> Struct:
    """Create a struct from a tuple of its fields, or from the value of its first field."""
    values = value if isinstance(value, tuple) else (value,)
    return kind(**dict(zip(names, values, strict=len(values) > 1)))


@functools.cache
def api_message(name: str) -> type[ApiMessage]:
    """Return the class of one of Kafka's messages. Raises `LookupError` if the message does not exist."""
    wire = message_class(name)
    kind = next((end.lower() for end in ("Request", "Response") if name.endswith(end)), "data")
    members: dict[str, Any] = {
        "WIRE": wire,
        "API_KEY": wire.API_KEY,
        "name": name,
        "type": kind,
        "min_version": wire.MIN_VERSION,
        "max_version": wire.MAX_VERSION,
        "valid_versions": (wire.MIN_VERSION, wire.MAX_VERSION),
        "fields": {field.name: field for field in wire.FIELDS},
        "__doc__": f"{name} of Kafka.",
        **_structs(wire, name),
    }
    if name == "MetadataRequest":
        members |= {"ALL_TOPICS": None, "NO_TOPICS": []}
    made: Any = _ByVersion(name, (ApiMessage,), members)
    return made  # type: ignore[no-any-return]


def _structs(struct: type[Struct], message: str) -> dict[str, type[Struct]]:
    """Return the structs nested in a struct, by Kafka's names. Structs nested in these become their attributes."""
    found: dict[str, type[Struct]] = {}
    for field in struct.FIELDS:
        if field.struct is not None:
            within = _structs(field.struct, message)
            for name, each in within.items():
                setattr(field.struct, name, each)
            names = {field.struct.__name__, field.struct.__name__.removeprefix(message)} - {""}
            found |= {**dict.fromkeys(names, field.struct), **within}
    return found
