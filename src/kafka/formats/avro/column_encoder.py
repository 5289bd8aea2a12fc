"""Encodes Arrow columns as Avro values, one for each row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafka.formats.arrow_types import check_valid
from kafka.formats.avro.arrow_binding import bind
from kafka.formats.avro.arrow_nested import write_rows
from kafka.formats.avro.errors import AvroEncodeError
from kafka.formats.avro.output import Output
from kafka.formats.avro.schema import Schema
from kafka.formats.avro.writer_plan import is_nullable


class AvroColumnEncoder:
    """Encodes rows as values of one schema. Thread-safe."""

    def __init__(self, schema: Schema) -> None:
        """Take the writer's schema."""
        self._schema = schema

    def check(self, type_: pa.DataType | pa.Schema) -> None:
        """Check that columns of a type can be encoded; single values may still not fit.

        Raises:
            AvroResolutionError: the type cannot be written as the schema's.
            AvroSchemaError: a default that is needed does not fit its field.
        """
        given: Any = pa.struct(list(type_)) if isinstance(type_, pa.Schema) else type_
        bind(self._schema, pa.nulls(0, given), "")

    def encode(self, rows: Any, prefix: bytes = b"") -> pa.BinaryArray:
        """Encode rows.

        Args:
            rows: an array, a chunked array, a record batch or a table; the columns of the last two are a record's
                fields. A row that is null is null, unless null is a value of the schema.
            prefix: bytes to write before each value, such as the zero byte and the schema id of Confluent's
                serializers.

        Raises:
            AvroResolutionError: the columns' types cannot be written as the schema's.
            AvroEncodeError: a value does not fit the schema.
            ArrowInvalid: the array is not valid, for example a text is not UTF-8.
            AvroSchemaError: a default that is needed does not fit its field.
            TypeError: rows are of another type.
            OverflowError: the values have more than 2 GiB.
        """
        if isinstance(rows, pa.Table):
            columns = [column.combine_chunks() for column in rows.columns]
            rows = pa.StructArray.from_arrays(columns, fields=list(rows.schema)) if columns else [{}] * rows.num_rows
        elif isinstance(rows, pa.ChunkedArray):
            rows = rows.combine_chunks()
        elif isinstance(rows, pa.RecordBatch):
            rows = rows.to_struct_array()
        elif not isinstance(rows, pa.Array):
            raise TypeError(f"Expected an array, a record batch or a table, got {type(rows).__name__}")
        return self._encoded(pa.array(rows, pa.struct([])) if isinstance(rows, list) else rows, prefix)

    def _encoded(self, array: Any, prefix: bytes) -> pa.BinaryArray:
        check_valid(array)
        has_gaps = array.null_count > 0 and not is_nullable(self._schema)
        valid, offset = None, 0
        if has_gaps and not pa.types.is_null(array.type):
            valid, offset = memoryview(array.buffers()[0]).cast("B"), array.offset
        elif has_gaps:
            return pa.nulls(len(array), pa.binary())
        out = Output()
        ends = memoryview(bytearray(4 * (len(array) + 1))).cast("i")
        row = write_rows(bind(self._schema, array, ""), out, valid, offset, prefix, ends)
        if row >= 0:
            raise AvroEncodeError(out.where(), out.reason, row)
        bitmap = array.is_valid().buffers()[1] if has_gaps else None
        buffers = [bitmap, pa.py_buffer(ends), pa.py_buffer(out.memory())]
        return pa.Array.from_buffers(pa.binary(), len(array), buffers)  # type: ignore[return-value]
