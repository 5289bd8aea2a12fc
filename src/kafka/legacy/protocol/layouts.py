"""From the declarations of `kafka.wire` to schemas: the fields of one version, under kafka-python's names."""

from __future__ import annotations

import functools
from typing import Any

from kafka.legacy.protocol import types
from kafka.legacy.protocol.field_names import NAMES, TAGS, VERSIONED
from kafka.legacy.protocol.message import Records
from kafka.wire import Message, message_class
from kafka.wire.kinds import Kind
from kafka.wire.structs import Field, Struct

_STRING, _COMPACT_STRING = types.String("utf-8"), types.CompactString("utf-8")
_TYPES: dict[Kind, types.FieldType] = {
    Kind.INT8: types.Int8,
    Kind.INT16: types.Int16,
    Kind.INT32: types.Int32,
    Kind.INT64: types.Int64,
    Kind.FLOAT64: types.Float64,
    Kind.BOOL: types.Boolean,
    Kind.STRING: _STRING,
    Kind.BYTES: types.Bytes,
    Kind.RECORDS: Records,
}
_COMPACT: dict[Kind, types.FieldType] = {Kind.STRING: _COMPACT_STRING, Kind.BYTES: types.CompactBytes}
_BIT_FIELDS = frozenset(
    {
        "DescribeGroupsResponse.groups.authorized_operations",
        "MetadataResponse.cluster_authorized_operations",
        "MetadataResponse.topics.topic_authorized_operations",
    }
)
_NESTED = {"CreatePartitionsRequest.topics": ("new_partitions", 1)}
"""Structs whose fields from a number on stood in a struct of their own, which takes no bytes: its name, the number."""


def schema_of(message: str, version: int) -> types.Schema:
    """Return the schema of a version of a message of Kafka; versions with the same fields have the same one.

    Raises:
        LookupError: there is no such message.
        UnsupportedVersionError: it has no such version.
    """
    declared = message_class(message)
    declared.check_version(version)
    made: types.Schema = _schema(_fields(declared, declared, version, ""))
    return made


@functools.cache
def _schema(fields: tuple[tuple[str, Any], ...]) -> types.Schema:
    return types.Schema(*fields)


@functools.cache
def _array(kind: type[types.Array], element: Any) -> types.Array:
    return kind(element)


def _fields(
    message: type[Message], struct: type[Struct], version: int, prefix: str
) -> tuple[tuple[str, types.FieldType], ...]:
    """The fields of a struct, each with its name and type."""
    flexible = version >= message.FLEXIBLE_SINCE
    fields = []
    for field in struct.FIELDS:
        if field.in_version(version) and field.tag < 0:
            path = prefix + field.name
            fields.append((_name(message.NAME, path, field.name, version), _type(message, field, version, path)))
    if flexible:
        fields.append(("tags" if message.NAME in TAGS else "_tagged_fields", types.TaggedFields))
    nested = _NESTED.get(f"{message.NAME}.{prefix.removesuffix('.')}")
    if nested is not None:
        name, start = nested
        fields = [*fields[:start], (name, _schema(tuple(fields[start:])))]
    return tuple(fields)


def _name(message: str, path: str, own: str, version: int) -> str:
    """What kafka-python called a field."""
    versioned = VERSIONED.get((message, path))
    if versioned is not None:
        return [name for since, name in versioned if since <= version][-1]
    return NAMES.get(message, {}).get(path, own)


def _type(message: type[Message], field: Field, version: int, path: str) -> types.FieldType:
    """The type of a field."""
    flexible = version >= message.FLEXIBLE_SINCE
    if f"{message.NAME}.{path}" in _BIT_FIELDS:
        return types.BitField
    if field.kind is Kind.STRUCT and field.struct is not None:
        return _schema(_fields(message, field.struct, version, f"{path}."))
    is_compact = flexible and not field.never_compact
    if field.kind is not Kind.ARRAY:
        return _simple(field.kind, is_compact)
    if field.struct is None:
        element = _simple(field.element or field.kind, is_compact)
    else:
        fields = _fields(message, field.struct, version, f"{path}.")
        element = fields[0][1] if len(fields) == 1 else _schema(fields)
    return _array(types.CompactArray if is_compact else types.Array, element)


def _simple(kind: Kind, is_compact: bool) -> types.FieldType:
    """The type of a value that is not made of others."""
    return _COMPACT[kind] if is_compact and kind in _COMPACT else _TYPES[kind]
