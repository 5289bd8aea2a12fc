"""Decodes JSON values into an Arrow column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from kafka.formats.arrow import array_of, binary_buffers
from kafka.formats.bad_values import BadValue, bad_value
from kafka.formats.json.options import DecodeOptions
from kafka.formats.json.plan import plan
from kafka.formats.json.rows import read_rows
from kafka.formats.json.schema import arrow_type, plain_type


class JsonColumnDecoder:
    """Decodes values into a column of one type. Not thread-safe."""

    def __init__(
        self, schema: Any, options: DecodeOptions | None = None, *, references: Mapping[str, Any] | None = None
    ) -> None:
        """Plan the column.

        Args:
            schema: the type of values; see `kafka.formats.json.schema.arrow_type`.
            options: how to treat what JSON leaves open.
            references: schemas that a JSON Schema refers to, by name.

        Raises:
            JsonSchemaError: JSON values cannot be read as this type.
        """
        self._options = options if options is not None else DecodeOptions()
        self.type: pa.DataType = arrow_type(schema, references)
        """The column's type."""
        self._read_type = plain_type(self.type)
        self._reader = plan(self._read_type, self._options.null_document == "null", self._options)

    def decode(self, values: Any, *, framed: bool = False) -> tuple[Any, list[BadValue]]:
        """Decode values; null is null.

        Args:
            values: a `pyarrow.BinaryArray`, or one of strings.
            framed: whether each value begins with a zero byte and a schema id, four bytes; the id is skipped.

        Returns:
            The column, with as many rows as there are values, and which values could not be decoded.

        Raises:
            OverflowError: the column would have more than 2 GiB.
        """
        data, ends, valid, has_nulls = binary_buffers(values)
        failures: list[tuple[int, str | None, str]] = []
        replaces = self._options.lone_surrogates == "replace"
        try:
            read_rows(self._reader, data, ends, valid, has_nulls, framed, replaces, failures)
            column = array_of(self._reader.column, self._read_type)
        except BaseException:
            self._reader.column.take()
            raise
        if self._read_type != self.type:
            column = column.cast(self.type)
        return column, [bad_value(data, ends, *failure, framed) for failure in failures]
