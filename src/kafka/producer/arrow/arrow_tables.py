"""Converts the data that `send_arrow()` accepts to Arrow tables of records, and encodes their typed keys and values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import pyarrow as pa

from kafka.formats.column_io import ColumnWriter, writer_of

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch, pa.Table | pa.RecordBatch)

NOT_SENT = ("topic", "offset", "timestamp_type", "timestampType", "leader_epoch")
"""Columns of `KafkaConsumer.poll_arrow()` and Spark's source that describe a record's origin, not its content."""
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


_OWN = ("key", "value", "headers", "partition", "timestamp")
"""Columns for parts of a record other than fields of its value."""


def as_rows(data: Any) -> pa.Table | pa.RecordBatch:
    """Return Arrow data with only the columns that `send_arrow` sends; see `as_arrow`."""
    return sent_columns(as_arrow(data))


def sent_columns(rows: Rows) -> Rows:
    """Return the rows without columns that describe a record's origin."""
    sent = [name for name in rows.schema.names if name not in NOT_SENT and not _PANDAS_INDEX.fullmatch(name)]
    return rows if len(sent) == rows.num_columns else rows.select(sent)


def as_arrow(data: Any) -> pa.Table | pa.RecordBatch:
    """Convert data to Arrow data of types that can be encoded.

    Arguments:
        data: a `pyarrow.Table` or `RecordBatch`, an object with ``__arrow_c_stream__`` (a polars or pandas DataFrame, a
            `RecordBatchReader`, which is read to its end) or ``__arrow_c_array__``, or a dict of columns.

    Raises `TypeError` for other types of data, and for columns of Python objects whose type is ambiguous.
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
    """Return the rows without dictionaries and without view types of text and bytes, which polars and DuckDB use."""
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


def typed_rows(data: Any, key: Any, value: Any) -> pa.Table:
    """Encode typed keys and values of rows as bytes.

    Arguments:
        data: see `as_arrow`. Where it has no column `value`, and values are typed, all columns that are not a record's
            own are the fields of the value.
        key, value: what writes them, see `writer_of`; None: they are bytes or text already.

    Raises `TypeError` and `ValueError` for what cannot be written; says which row and field.
    """
    writers = {name: writer_of(each, name) for name, each in (("key", key), ("value", value)) if each is not None}
    rows = as_arrow(data)
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])
    if "value" in writers and "value" not in table.schema.names:
        _check_names(table.schema.names, writers["value"])
        table = sent_columns(table)
        fields = [field for field in table.schema if field.name not in _OWN]
        columns: list[Any] = [_whole(table.column(field.name)) for field in fields]
        struct = pa.StructArray.from_arrays(columns, fields=fields) if columns else pa.array([{}] * table.num_rows)
        table = table.drop_columns([field.name for field in fields]).append_column("value", struct)
    table = sent_columns(table)
    for name, writer in writers.items():
        if name not in table.schema.names:
            raise ValueError(f"send_arrow() is to write typed {name}s, and the data have no column {name!r}")
        at = table.schema.names.index(name)
        try:
            encoded = writer.encode(_whole(table.column(at)))
        except (TypeError, ValueError) as error:
            error.add_note(f"in the column {name!r}")
            raise
        table = table.set_column(at, name, encoded)
    return table


def _check_names(names: list[str], writer: ColumnWriter) -> None:
    """Raise `ValueError` for columns that could be either part of the record or fields of its value."""
    both = [name for name in names if name in writer.field_names and name in (*_OWN, *NOT_SENT)]
    if both:
        listed = " and ".join(map(repr, both))
        raise ValueError(
            f"send_arrow() cannot tell whether {listed} of the data is the record's own or a field of its value, whose "
            "schema has it too: give the value's fields as one struct column 'value', such as "
            "pyarrow.table({'value': table.to_struct_array()})"
        )


def _whole(column: Any) -> Any:
    whole = column.combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
