# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Encodes Python objects as Avro values. Compiled by Cython; the plain variant behaves the same."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.errors import AvroEncodeError
from kafka.formats.avro.schema import Schema
from kafka.formats.avro.writer_plan import WriterPlan

if cython.compiled:
    from cython.cimports.kafka.formats.avro.output import ObjectWriter, Output
else:
    from kafka.formats.avro.output import ObjectWriter, Output


@cython.final
@cython.cclass
class AvroObjectEncoder:
    """Encodes objects as values of one schema. Thread-safe."""

    _writer: ObjectWriter
    _spare: Any

    def __init__(self, schema: Schema, *, strict: bool = False, strict_allow_default: bool = False) -> None:
        """Plan how values are written.

        Args:
            schema: the writer's schema.
            strict: records must have all fields of their type, and no others.
            strict_allow_default: records must have all fields that have no default, and no others.

        Raises:
            AvroSchemaError: a default does not fit its field.
        """
        self._writer = WriterPlan(strict=strict, strict_allow_default=strict_allow_default).writer(schema)
        self._spare = None

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Encode one value.

        Args:
            value: what `AvroObjectDecoder` returns for the type, or anything else that fastavro accepts: `(name,
                value)` for the branch of a union that a record's `"-type"` can name too, the number or bytes below a
                logical type. A record may also be an object of a dataclass, or of a class of attrs or pydantic.
            prefix: bytes to write before it.

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
