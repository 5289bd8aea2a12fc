"""Encodes Arrow columns as JSON values."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafka.formats.arrow import array_of_taken
from kafka.formats.arrow_types import check_valid
from kafka.formats.json.encode_plan import all_nullable, plan_writer, written_type
from kafka.formats.json.options import EncodeOptions
from kafka.formats.json.output import Output, write_rows
from kafka.formats.json.schema import arrow_type


class JsonEncodeError(ValueError):
    """A row has a value that JSON cannot represent. The text names the row, the field and the value.

    Args:
        row: the number of the row.
        cause: the path of the field, and why its value cannot be written.
    """

    remedy = "Correct the value of the row and field that the message names."

    def __init__(self, row: int, cause: str) -> None:
        super().__init__(f"Row {row} cannot be written as JSON: {cause}")
        self.row = row
        self.cause = cause

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.row, self.cause)


class JsonColumnEncoder:
    """Encodes the rows of a column, or of several, as JSON values. Not thread-safe."""

    def __init__(self, schema: Any, options: EncodeOptions | None = None) -> None:
        """Plan the writing.

        Args:
            schema: the type of the columns, in any of the forms of `JsonColumnDecoder`.
            options: how values are written.

        Raises:
            JsonSchemaError: JSON has no values of this type.
        """
        self.type: pa.DataType = arrow_type(schema)
        """The type of the rows."""
        self._written = all_nullable(written_type(self.type))
        self._writer = plan_writer(self._written, options if options is not None else EncodeOptions())

    def encode(self, rows: Any) -> Any:
        """Encode rows; one that is null is null.

        Args:
            rows: an array of the type, or a record batch with its columns.

        Returns:
            A `pyarrow.BinaryArray` with a compact JSON value in UTF-8 for each row.

        Raises:
            JsonEncodeError: JSON cannot represent a value: NaN, infinities, years before 1 or after 9999.
            OverflowError: the values would have more than 2 GiB.
            ValueError: the rows are of another type, or damaged (`pyarrow.ArrowInvalid`).
        """
        array = rows.to_struct_array() if isinstance(rows, pa.RecordBatch) else rows
        written = written_type(array.type)
        if all_nullable(written) != self._written:
            raise ValueError(f"Expected rows of the type {self.type}, got {array.type}")
        check_valid(array)
        if written != array.type:
            array = array.cast(written)
        self._writer.bind(array)
        output = Output()
        row = write_rows(self._writer, output, len(array))
        if row < len(array):
            raise JsonEncodeError(row, output.failure())
        return array_of_taken(output.take(), pa.binary())
