"""Converts Arrow columns to Spark's types.

Nested values are nullable, as with Spark's own readers. Times of day are numbers, as with Spark's `from_avro`.
Timestamps have microsecond precision.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from kafka.errors import KafkaConfigurationError

_SAME = (
    pa.null(),
    pa.bool_(),
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.float32(),
    pa.float64(),
    pa.string(),
    pa.binary(),
    pa.date32(),
    pa.duration("us"),
)
_OTHERS: dict[pa.DataType, pa.DataType] = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.date64(): pa.date32(),
    pa.time32("s"): pa.int32(),
    pa.time32("ms"): pa.int32(),
    pa.time64("us"): pa.int64(),
    pa.time64("ns"): pa.int64(),
}
_NAMES: dict[pa.DataType, str] = {
    pa.null(): "void",
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.duration("us"): "interval day to second",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.timestamp("us"): "timestamp_ntz",
}
DEEPEST = 38
"""The maximum precision of Spark's decimals."""


def spark_arrow(type_: Any, path: str = "") -> Any:
    """Return the Arrow type that Spark uses for an Arrow type. Raises `KafkaConfigurationError` if there is none."""
    if isinstance(type_, pa.BaseExtensionType):
        return spark_arrow(type_.storage_type, path)
    if type_ in _SAME:
        return type_
    if type_ in _OTHERS:
        return _OTHERS[type_]
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", None if type_.tz is None else "UTC")
    if pa.types.is_fixed_size_binary(type_):
        return pa.binary()
    if pa.types.is_decimal(type_) and type_.precision <= DEEPEST:
        return pa.decimal128(type_.precision, type_.scale)
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(each.name, spark_arrow(each.type, f"{path}.{each.name}")) for each in type_])
    if pa.types.is_map(type_):
        keys, items = spark_arrow(type_.key_type, path), spark_arrow(type_.item_type, f"{path}{{}}")
        return pa.map_(pa.field("key", keys, False), pa.field("value", items))
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return pa.list_(pa.field("element", spark_arrow(type_.value_type, f"{path}[]")))
    raise KafkaConfigurationError(
        f"Spark has no type for {type_} at {path.strip('.') or 'the top'}: leave the field out of the reader's schema, "
        "or read it as another type"
    )


def ddl_of(type_: Any, *, quoted: bool = True) -> str:
    """Return a type from `spark_arrow` in Spark's notation.

    Arguments:
        type_: the type.
        quoted: whether to quote names if necessary, for a schema that Spark parses. Spark's `simpleString` does not
            quote names.
    """
    if pa.types.is_decimal(type_):
        return f"decimal({type_.precision},{type_.scale})"
    if pa.types.is_struct(type_):
        fields = (f"{_name(each.name, quoted)}:{ddl_of(each.type, quoted=quoted)}" for each in type_)
        return f"struct<{','.join(fields)}>"
    if pa.types.is_map(type_):
        return f"map<{ddl_of(type_.key_type, quoted=quoted)},{ddl_of(type_.item_type, quoted=quoted)}>"
    if pa.types.is_list(type_):
        return f"array<{ddl_of(type_.value_type, quoted=quoted)}>"
    return _NAMES[type_]


def _name(name: str, quoted: bool) -> str:
    return "`" + name.replace("`", "``") + "`" if quoted else name


def as_spark(column: Any, wanted: Any) -> Any:
    """Convert a column to a type from `spark_arrow`. Raises `pyarrow.ArrowInvalid` for times out of range.

    Arguments:
        column: an array.
        wanted: the type to convert to.
    """
    if column.type == wanted:
        return column
    if column.offset:  # the buffers below contain more than this slice
        column = pa.concat_arrays([column, column.slice(0, 0)])
    if isinstance(column, pa.ExtensionArray):
        return as_spark(column.storage, wanted)
    own = column.buffers()
    if pa.types.is_struct(wanted):
        children = [as_spark(column.field(at), wanted.field(at).type) for at in range(wanted.num_fields)]
        return pa.Array.from_buffers(wanted, len(column), own[:1], column.null_count, children=children)
    if pa.types.is_map(wanted):
        entries = [as_spark(column.keys, wanted.key_type), as_spark(column.items, wanted.item_type)]
        pairs = pa.StructArray.from_arrays(entries, fields=[wanted.key_field, wanted.item_field])
        return pa.Array.from_buffers(wanted, len(column), own[:2], column.null_count, children=[pairs])
    if pa.types.is_list(wanted) and pa.types.is_list(column.type):
        values = as_spark(column.values, wanted.value_type)
        return pa.Array.from_buffers(wanted, len(column), own[:2], column.null_count, children=[values])
    if pa.types.is_timestamp(wanted) and pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        return column.cast(wanted, safe=False)
    return column.cast(wanted)


def rows_that_fail(column: Any, wanted: Any, convert: Callable[[Any, Any], Any] = as_spark) -> dict[int, str]:
    """Return the indices of the rows that cannot be converted, with the reasons."""
    failures: dict[int, str] = {}
    pending = [(0, len(column))]
    while pending:
        start, stop = pending.pop()
        piece = pa.concat_arrays([column.slice(start, stop - start), column.slice(0, 0)])  # without an offset
        try:
            convert(piece, wanted)
        except pa.ArrowInvalid as error:
            if stop - start == 1:
                failures[start] = str(error)
            else:
                middle = (start + stop) // 2
                pending += [(start, middle), (middle, stop)]
    return failures
