"""What Confluent's serializers write before a value, so that readers find its schema in a registry."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from kafka.formats.protobuf.prefix import index_bytes

_HEAD = struct.Struct(">BI")


def prefix_of(schema_id: int | None, indexes: Sequence[int] | None = None) -> bytes:
    """The prefix of values: a zero byte, the id of their schema, and for Protobuf the position of the message.

    Args:
        schema_id: the id; None if there is no registry, or if a header names the schema: then the prefix is empty.
        indexes: for Protobuf, the position of the message in its file.
    """
    if schema_id is None:
        return b""
    head = _HEAD.pack(0, schema_id)
    return head if indexes is None else head + index_bytes(indexes)


def prefixed(values: Any, prefix: bytes) -> Any:
    """An array of binary with a prefix before each value; null stays null."""
    import pyarrow as pa
    import pyarrow.compute

    if not prefix:
        return values
    compute: Any = pyarrow.compute
    return compute.binary_join_element_wise(pa.scalar(prefix, pa.binary()), values, pa.scalar(b"", pa.binary()))
