"""kafka-python's import path of the types of schemas."""

from kafka.legacy.protocol.compact import (
    CompactArray,
    CompactBytes,
    CompactString,
    TaggedFields,
    UnsignedVarInt32,
    VarInt32,
    VarInt64,
)
from kafka.legacy.protocol.types import (
    AbstractType,
    Array,
    BitField,
    Boolean,
    Bytes,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Schema,
    String,
)

__all__ = [
    "AbstractType",
    "Array",
    "BitField",
    "Boolean",
    "Bytes",
    "CompactArray",
    "CompactBytes",
    "CompactString",
    "Float64",
    "Int16",
    "Int32",
    "Int64",
    "Int8",
    "Schema",
    "String",
    "TaggedFields",
    "UnsignedVarInt32",
    "VarInt32",
    "VarInt64",
]
