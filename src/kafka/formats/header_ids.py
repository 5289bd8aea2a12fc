"""Schemas that a header of the record names, instead of an id before the value: columns cannot be read by these yet."""

from __future__ import annotations

import uuid
from typing import Any

HEADERS = {"key": "__key_schema_id", "value": "__value_schema_id"}
"""The headers of Confluent's `header_schema_id_serializer`."""
_BY_GUID = b"\1"
_GUID_END = 17


def named_in_headers(headers: Any, values: Any, field: str) -> dict[int, str]:
    """Find the records whose header names the schema of their value, and say of each why it cannot be read.

    Args:
        headers: of the records, an array of lists of structs with ``key`` and ``value``.
        values: their keys or values; null has no schema.
        field: which of both, "key" or "value".
    """
    import pyarrow.compute

    pc: Any = pyarrow.compute
    pairs = pc.list_flatten(headers)
    is_id = pc.equal(pairs.field("key"), HEADERS[field])
    if not pc.any(is_id).as_py():
        return {}
    rows = pc.filter(pc.list_parent_indices(headers), is_id).to_pylist()
    ids = pc.filter(pairs.field("value"), is_id).to_pylist()
    return {row: _cause(found, field) for row, found in zip(rows, ids, strict=True) if found and values[row].is_valid}


def _cause(found: bytes, field: str) -> str:
    if found[:1] == _BY_GUID and len(found) >= _GUID_END:
        schema = f"the GUID {uuid.UUID(bytes=found[1:_GUID_END])}"
    else:
        schema = f"the bytes {found[:_GUID_END].hex(' ')}"
    return (
        f"the header {HEADERS[field]} names the schema, by {schema}; columns need the schema id before the {field}: "
        "have it written there, as serializers do without header_schema_id_serializer, or read such records with a "
        "deserializer"
    )
