"""Decodes Avro values into an Arrow column, whatever schemas they were written with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from kafka.formats.arrow import array_of, binary_buffers
from kafka.formats.avro.cursor import Reader
from kafka.formats.avro.nested_readers import ImpossibleReader
from kafka.formats.avro.plan import plan
from kafka.formats.avro.rows import read_rows
from kafka.formats.avro.schema import Schema
from kafka.formats.avro.types import target_of
from kafka.formats.bad_values import BadValue, bad_value, id_at


class AvroColumnDecoder:
    """Decodes values into a column of the type of one schema, the reader's. Not thread-safe."""

    def __init__(self, reader: Schema) -> None:
        """Plan the column.

        Raises:
            AvroSchemaError: no column can hold the reader's schema.
        """
        self._target = target_of(reader)
        self._readers: dict[int | None, Reader] = {}
        self._by_guid: dict[str, Reader] = {}

    @property
    def type(self) -> pa.DataType:
        """The column's type."""
        return self._target.arrow

    def use(self, schema_id: int | None, writer: Schema) -> None:
        """Read values of a schema id, or unframed values for None, as written with a schema.

        Raises:
            AvroResolutionError: they cannot be read with the reader's schema.
        """
        self._readers[schema_id] = plan(writer, self._target)

    def decode(
        self,
        values: Any,
        *,
        framed: bool,
        find: Callable[[Any], Schema] | None = None,
        guids: Mapping[int, str] | None = None,
    ) -> tuple[Any, list[BadValue]]:
        """Decode values; null is null.

        Args:
            values: a `pyarrow.BinaryArray`.
            framed: whether each value begins with a zero byte and the schema id, four bytes.
            find: gives the writer's schema of an id that `use` was not called for. If it raises ValueError or
                LookupError, that is why values with this id cannot be decoded; other errors are raised.
            guids: GUIDs of schemas, by the numbers that stand for them in the prefixes of these values instead of ids;
                `find` gets the GUID.

        Returns:
            The column, with as many rows as there are values, and which values could not be decoded.

        Raises:
            OverflowError: the column would have more than 2 GiB.
        """
        data, ends, valid, has_nulls = binary_buffers(values)
        readers = dict(self._readers)
        for number, guid in (guids or {}).items():
            if guid in self._by_guid:
                readers[number] = self._by_guid[guid]
            else:
                readers.pop(number, None)
        failures: list[tuple[int, str | None, str]] = []
        row = 0
        try:
            while True:
                row = read_rows(readers, self._target.column, data, ends, valid, has_nulls, row, framed, failures)
                if row == len(values):
                    break
                schema_id = id_at(data, ends[row])
                readers[schema_id] = self._found(schema_id, find, (guids or {}).get(schema_id))
            column = array_of(self._target.column, self._target.arrow)
        except BaseException:
            self._target.column.take()
            raise
        return column, [bad_value(data, ends, *failure, framed) for failure in failures]

    def _found(self, schema_id: int, find: Callable[[Any], Schema] | None, guid: str | None) -> Reader:
        """Return the reader for values of a new schema; it is cached if the schema was found."""
        if find is None:
            return ImpossibleReader(f"there is no schema with the id {schema_id}")
        try:
            reader = plan(find(schema_id if guid is None else guid), self._target)
        except (ValueError, LookupError) as error:
            return ImpossibleReader(str(error))
        if guid is None:
            self._readers[schema_id] = reader
        else:
            self._by_guid[guid] = reader
        return reader
