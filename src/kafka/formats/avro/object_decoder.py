# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Decodes Avro values into Python objects. Compiled by Cython; the plain variant behaves the same."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.errors import AvroDecodeError
from kafka.formats.avro.object_plan import object_plan
from kafka.formats.avro.schema import Schema

if cython.compiled:
    from cython.cimports.kafka.formats.avro.cursor import Cursor, ObjectReader
else:
    from kafka.formats.avro.cursor import Cursor, ObjectReader


@cython.final
@cython.cclass
class AvroObjectDecoder:
    """Decodes values of one writer's schema into objects of the reader's. Thread-safe."""

    _reader: ObjectReader

    def __init__(self, writer: Schema, reader: Schema | None = None, *, return_record_name: bool = False) -> None:
        """Plan the decoding.

        Args:
            writer: the schema that the values were written with.
            reader: the schema to read them with; None is the writer's.
            return_record_name: records in a union are pairs of their full name and the record.

        Raises:
            AvroResolutionError: the values cannot be read with the reader's schema.
            AvroSchemaError: a default of the reader's schema does not fit its field.
        """
        self._reader = object_plan(writer, writer if reader is None else reader, return_record_name=return_record_name)

    def decode(self, data: Any, start: cython.Py_ssize_t = 0) -> Any:
        """Decode one value.

        Args:
            data: bytes, or another object with a contiguous buffer.
            start: the offset of the value; 5 skips the schema id that Confluent's serializers write.

        Raises:
            AvroDecodeError: the bytes are not a value of the writer's schema.
        """
        cursor: Cursor = Cursor(data if type(data) is bytes else memoryview(data).cast("B"))
        if start < 0 or start > cursor.end:
            raise AvroDecodeError("", cursor.end, f"expected a value from byte {start} on, got {cursor.end} bytes")
        cursor.begin(start)
        value = self._reader.read(cursor)
        if value is cursor:
            raise AvroDecodeError(cursor.where(), cursor.failed_at, cursor.reason)
        if cursor.at != cursor.end:
            raise AvroDecodeError("", cursor.at, f"{cursor.end - cursor.at} bytes are left behind the value")
        return value
