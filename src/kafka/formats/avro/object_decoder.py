# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Decodes Avro values into Python objects, and encodes objects as Avro values.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.errors import AvroDecodeError, AvroEncodeError
from kafka.formats.avro.object_plan import WriterPlan, object_plan
from kafka.formats.avro.schema import Schema

if cython.compiled:
    from cython.cimports.kafka.formats.avro.cursor import Cursor, ObjectReader
    from cython.cimports.kafka.formats.avro.encoder_output import ObjectWriter, Output
else:
    from kafka.formats.avro.cursor import Cursor, ObjectReader
    from kafka.formats.avro.encoder_output import ObjectWriter, Output


@cython.final
@cython.cclass
class AvroObjectDecoder:
    """Decodes values of the writer's schema into objects of the reader's. Thread-safe."""

    _reader: ObjectReader

    def __init__(self, writer: Schema, reader: Schema | None = None, *, return_record_name: bool = False) -> None:
        """Plan the decoding.

        Args:
            writer: the schema that the values were written with.
            reader: the schema to read the values with; None: the writer's schema.
            return_record_name: return records in a union as pairs of their full name and the record.

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
            raise AvroDecodeError("", cursor.at, f"{cursor.end - cursor.at} bytes remain after the value")
        return value


@cython.final
@cython.cclass
class AvroObjectEncoder:
    """Encodes objects as values of one schema. Thread-safe."""

    _writer: ObjectWriter
    _spare: Any

    def __init__(self, schema: Schema, *, strict: bool = False, strict_allow_default: bool = False) -> None:
        """Plan the encoding.

        Args:
            schema: the writer's schema.
            strict: records must have all fields of their type, and no others.
            strict_allow_default: records must have all fields without a default, and no unknown fields.

        Raises:
            AvroSchemaError: a default does not fit its field.
        """
        self._writer = WriterPlan(strict=strict, strict_allow_default=strict_allow_default).writer(schema)
        self._spare = None

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Encode one value.

        Args:
            value: an object as returned by `AvroObjectDecoder`, or any other object that fastavro accepts: `(name,
                value)`, or a record with `"-type"`, to select a union branch; or the number or bytes underlying a
                logical type. A record may also be an instance of a dataclass, an attrs class or a
                pydantic model.
            prefix: bytes to write before the value.

        Raises:
            AvroEncodeError: the value does not fit the schema.
        """
        out: Output
        spare = self._spare
        self._spare = None
        out = Output() if spare is None else spare
        out.put_bytes(prefix)
        try:
            if self._writer.write(out, value):
                raise AvroEncodeError(out.where(), out.reason)
            return out.made()
        finally:
            out.forget()
            self._spare = out
