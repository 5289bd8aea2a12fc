"""Messages as JSON, in the form of Apache Kafka's own JSON converters."""

from __future__ import annotations

from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from kafka.errors import UnsupportedVersionError, WireFormatError
from kafka.wire.kinds import Kind
from kafka.wire.structs import Field, Struct

S = TypeVar("S", bound=Struct)


def json_name(name: str) -> str:
    """Return Kafka's JSON name of an attribute, such as `maxWaitMs` for `max_wait_ms`."""
    first, *others = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)


def to_dict(thing: Struct, version: int, place: str) -> dict[str, Any]:
    """Return the JSON form of a struct; see `Message.to_dict`. Errors contain its `place`."""
    return _write_struct(thing, version, place)


def from_dict(kind: type[S], json: Any, version: int, place: str) -> S:
    """Create a struct from its JSON form; see `Message.from_dict`. Errors contain its `place`."""
    made: S = _read_struct(kind, json, version, place)
    return made


def _write_struct(thing: Struct, version: int, place: str) -> dict[str, Any]:
    json: dict[str, Any] = {}
    for field in thing.FIELDS:
        value = getattr(thing, field.name)
        if not field.in_version(version):
            if not field.ignorable and value != field.make_default():
                raise UnsupportedVersionError(f"{place} has no field {field.name}, which is set to {value!r:.80}")
        elif field.tag < 0 or value != field.make_default():
            json[json_name(field.name)] = _write_field(field, value, version, f"{place}.{field.name}")
    return json


def _write_field(field: Field, value: Any, version: int, place: str) -> Any:
    if value is None:
        if not field.nullable_in(version):
            raise WireFormatError(f"{place}: expected a value that is not null in this version, got null")
        return None
    if field.element is None:
        return _write_value(field.kind, value, version, place)
    return [_write_value(field.element, item, version, f"{place}[{index}]") for index, item in enumerate(value)]


def _write_value(kind: Kind, value: Any, version: int, place: str) -> Any:
    if value is None:
        raise WireFormatError(f"{place}: expected a value that is not null, got null")
    if kind is Kind.STRUCT:
        return _write_struct(value, version, place)
    if kind in (Kind.BYTES, Kind.RECORDS):
        return b64encode(value).decode("ascii")
    if kind is Kind.UUID:
        return urlsafe_b64encode(value.bytes).rstrip(b"=").decode("ascii")
    return value


def _read_struct(kind: type[Struct], json: Any, version: int, place: str) -> Any:
    if not isinstance(json, dict):
        raise WireFormatError(f"{place}: expected an object, got {json!r:.80}")
    values: dict[str, Any] = {}
    names: set[str] = set()
    for field in kind.FIELDS:
        if not field.in_version(version):
            continue
        name = json_name(field.name)
        names.add(name)
        if name in json:
            values[field.name] = _read_field(field, json[name], version, f"{place}.{name}")
        elif field.tag < 0:
            raise WireFormatError(f"{place}: expected the key {name!r}, got {', '.join(map(repr, json)) or 'no key'}")
    unknown = [name for name in json if name not in names]
    if unknown:
        known, found = ", ".join(sorted(names)), ", ".join(map(repr, unknown))
        raise WireFormatError(f"{place}: expected no other keys than {known}; got {found}")
    return kind(**values)


def _read_field(field: Field, json: Any, version: int, place: str) -> Any:
    if json is None:
        if not field.nullable_in(version):
            raise WireFormatError(f"{place}: expected a value that is not null in this version, got null")
        return None
    if field.element is None:
        return _read_value(field.kind, field.struct, json, version, place)
    if not isinstance(json, list):
        raise WireFormatError(f"{place}: expected a list, got {json!r:.80}")
    return [
        _read_value(field.element, field.struct, item, version, f"{place}[{index}]") for index, item in enumerate(json)
    ]


def _read_value(kind: Kind, struct: type[Struct] | None, json: Any, version: int, place: str) -> Any:
    if struct is not None:
        return _read_struct(struct, json, version, place)
    expected, convert = _READERS[kind]
    try:
        return convert(json)
    except (TypeError, ValueError):
        raise WireFormatError(f"{place}: expected {expected}, got {json!r:.80}") from None


def _integer(json: Any) -> int:
    if type(json) is not int:
        raise TypeError(json)
    return json


def _boolean(json: Any) -> bool:
    if type(json) is not bool:
        raise TypeError(json)
    return json


def _float(json: Any) -> float:
    if type(json) not in (int, float):
        raise TypeError(json)
    return float(json)


def _text(json: Any) -> str:
    if type(json) is not str:
        raise TypeError(json)
    return json


def _bytes(json: Any) -> bytes:
    return b64decode(_text(json), validate=True)


def _uuid(json: Any) -> UUID:
    return UUID(bytes=urlsafe_b64decode(_text(json) + "=="))


_READERS: dict[Kind, tuple[str, Callable[[Any], Any]]] = {
    Kind.INT8: ("an integer", _integer),
    Kind.INT16: ("an integer", _integer),
    Kind.UINT16: ("an integer", _integer),
    Kind.INT32: ("an integer", _integer),
    Kind.INT64: ("an integer", _integer),
    Kind.FLOAT64: ("a number", _float),
    Kind.BOOL: ("true or false", _boolean),
    Kind.STRING: ("a string", _text),
    Kind.BYTES: ("base64", _bytes),
    Kind.RECORDS: ("base64", _bytes),
    Kind.UUID: ("a uuid in 22 characters of base64url", _uuid),
}
