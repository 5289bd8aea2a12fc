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

    Raises `TypeError` for anything else.
    """
    rows: pa.Table | pa.RecordBatch
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        rows = data
    elif isinstance(data, Mapping):
        rows = pa.table(dict(data))
    elif hasattr(data, "__arrow_c_stream__"):
        rows = pa.RecordBatchReader.from_stream(data).read_all()
    elif hasattr(data, "__arrow_c_array__"):
        rows = pa.record_batch(data)
    else:
        raise TypeError(
            "send_arrow() takes a pyarrow Table or RecordBatch, anything with __arrow_c_stream__ or __arrow_c_array__ "
            f"(as polars and pandas have), or a dict of columns, not {type(data).__name__}"
        )
    return _plain(rows)


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
