"""Typed keys and values of rows, encoded before they are sent."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafka.formats.rows import ColumnWriter, writer_of
from kafka.producer.arrow.tables import NOT_SENT, as_arrow, sent_columns

_OWN = ("key", "value", "headers", "partition", "timestamp")
"""Columns that are a record's, and no fields of its value."""


def typed_rows(data: Any, key: Any, value: Any) -> pa.Table:
    """Rows with keys and values as bytes.

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
    """Raise `ValueError` for columns that may be a record's own, or fields of its value."""
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
