"""What `send_arrow()` takes: anything that gives Arrow data, with the columns that make records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import pyarrow as pa

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch, pa.Table | pa.RecordBatch)

NOT_SENT = ("topic", "offset", "timestamp_type", "timestampType", "leader_epoch")
"""Columns of `KafkaConsumer.poll_arrow()` and of Spark's source that say where a record was, not what it is."""
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def as_rows(data: Any) -> pa.Table | pa.RecordBatch:
    """Arrow data with the columns that `send_arrow` sends; see `as_arrow`."""
    return sent_columns(as_arrow(data))


def sent_columns(rows: Rows) -> Rows:
    """The rows without columns that say where a record was, not what it is."""
    sent = [name for name in rows.schema.names if name not in NOT_SENT and not _PANDAS_INDEX.fullmatch(name)]
    return rows if len(sent) == rows.num_columns else rows.select(sent)


def as_arrow(data: Any) -> pa.Table | pa.RecordBatch:
    """Arrow data, of types that can be encoded.

    Arguments:
        data: a `pyarrow.Table` or `RecordBatch`, an object with ``__arrow_c_stream__`` (a polars or pandas DataFrame, a
            `RecordBatchReader`, which is read to its end) or ``__arrow_c_array__``, or a dict of columns.

    Raises `TypeError` for anything else, and for columns of Python objects whose type is not clear.
    """
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return _plain(data)
    try:
        rows = _made(data)
    except pa.ArrowException as error:
        raise TypeError(
            f"no Arrow columns can be made of this {type(data).__name__}: {'; '.join(map(str, error.args))}; "
            "give a pyarrow.Table, whose columns have types, such as pa.Table.from_pandas(frame, schema=...)"
        ) from error
    return _plain(rows)


def _made(data: Any) -> pa.Table | pa.RecordBatch:
    if isinstance(data, Mapping):
        return pa.table(dict(data))
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data).read_all()
    if hasattr(data, "__arrow_c_array__"):
        return pa.record_batch(data)
    raise TypeError(
        "send_arrow() takes a pyarrow Table or RecordBatch, anything with __arrow_c_stream__ or __arrow_c_array__ "
        f"(as polars and pandas have), or a dict of columns, not {type(data).__name__}"
    )


def _plain(rows: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
    """The same rows without views of text and bytes, as polars and DuckDB have, and without dictionaries."""
    schema = pa.schema([each.with_type(_plain_type(each.type)) for each in rows.schema])
    return rows if schema.equals(rows.schema) else rows.cast(schema)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if types.is_struct(kind):
        return pa.struct([each.with_type(_plain_type(each.type)) for each in kind])
    if types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain_type(kind.value_type)))
    if types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_plain_type(kind.value_type)))
    return kind
