# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Writes rows of Arrow columns as Avro unions, arrays, maps and records; `write_rows` writes all rows of a column.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.arrow_writers import DAMAGED

if cython.compiled:
    from cython.cimports.kafka.formats.avro.arrow_writers import ArrowWriter
    from cython.cimports.kafka.formats.avro.encoder_output import Output
else:
    from kafka.formats.avro.arrow_writers import ArrowWriter
    from kafka.formats.avro.encoder_output import Output

_MAX_DATA = cython.declare(cython.Py_ssize_t, 0x7FFFFFFF)


@cython.final
@cython.cclass
class OptionalRows(ArrowWriter):
    """Writes rows that may be null: the null branch of a union, or a value preceded by its branch index."""

    valid: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    offset: cython.Py_ssize_t
    null: Any
    number: Any
    value: ArrowWriter | None

    def __init__(
        self, valid: Any, offset: cython.Py_ssize_t, null: int | None, number: int | None, value: ArrowWriter | None
    ) -> None:
        """Make the writer.

        Args:
            valid: the validity bitmap; None if nothing is null.
            offset: the index of the first row's bit.
            null: the index of the null branch; None if null is not allowed.
            number: the index of the value's branch; None for a type that is not a union.
            value: writes the values; None if all rows are null.
        """
        self.valid = b"\0" if valid is None else valid
        self.offset = -1 if valid is None else offset
        self.null, self.number, self.value = null, number, value

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = self.offset + row
        if self.value is None or (self.offset >= 0 and not (self.valid[at >> 3] >> (at & 7)) & 1):
            if self.null is None:
                return out.fail("expected a value, got null")
            return out.put_long(self.null)
        if self.number is not None:
            out.put_long(self.number)
        return self.value.write(out, row)


@cython.final
@cython.cclass
class MemberRows(ArrowWriter):
    """Writes a struct as a union: the branch index, then the value of the only field that is not null."""

    members: list[ArrowWriter]
    bitmaps: list[Any]
    numbers: list[int]
    null: Any

    def __init__(self, members: list[ArrowWriter], bitmaps: list[Any], numbers: list[int], null: int | None) -> None:
        """Make the writer.

        Args:
            members: the writer of each field.
            bitmaps: the validity bitmap of each field, starting at the first row.
            numbers: the branch index of each field.
            null: the index of the null branch; None if there is none.
        """
        self.members, self.bitmaps, self.numbers, self.null = members, bitmaps, numbers, null

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        index: cython.Py_ssize_t
        member: ArrowWriter
        for index in range(len(self.members)):
            if (self.bitmaps[index][row >> 3] >> (row & 7)) & 1:
                out.put_long(self.numbers[index])
                member = cython.cast(ArrowWriter, self.members[index])
                return member.write(out, row)
        if self.null is None:
            return out.fail("expected one field that is not null")
        return out.put_long(self.null)


@cython.final
@cython.cclass
class ListRows(ArrowWriter):
    """Writes lists as arrays, or as maps if `keys` is set, which writes the key before each item."""

    ends: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    count: cython.Py_ssize_t
    items: ArrowWriter
    keys: ArrowWriter | None

    def __init__(self, ends: Any, count: cython.Py_ssize_t, items: ArrowWriter, keys: ArrowWriter | None) -> None:
        """Make the writer; `count` is the total number of items."""
        self.ends, self.count, self.items = ends, count, items
        self.keys = keys

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        start: cython.Py_ssize_t = self.ends[row]
        end: cython.Py_ssize_t = self.ends[row + 1]
        item: cython.Py_ssize_t
        if start < 0 or end < start or end > self.count:
            raise ValueError(DAMAGED)
        if end > start:
            out.put_long(end - start)
        for item in range(start, end):
            if self.keys is not None and self.keys.write(out, item):
                return out.fail_in("{key}")
            if self.items.write(out, item):
                return out.fail_in(f"[{item - start}]" if self.keys is None else "{}")
        return out.put_byte(0)


@cython.final
@cython.cclass
class RecordRows(ArrowWriter):
    """Writes structs as records."""

    fields: list[ArrowWriter]
    names: list[str]

    def __init__(self, fields: list[ArrowWriter], names: list[str]) -> None:
        self.fields, self.names = fields, names

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        index: cython.Py_ssize_t
        field: ArrowWriter
        for index in range(len(self.fields)):
            field = cython.cast(ArrowWriter, self.fields[index])
            if field.write(out, row):
                return out.fail_in(f".{self.names[index]}")
        return 0


@cython.final
@cython.cclass
class ConstantRows(ArrowWriter):
    """Writes the default for a field that is missing from the struct."""

    encoded: bytes

    def __init__(self, encoded: bytes) -> None:
        self.encoded = encoded

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        return out.put_bytes(self.encoded)


def write_rows(
    writer: ArrowWriter, out: Output, valid: Any, offset: cython.Py_ssize_t, prefix: bytes, ends: Any
) -> cython.Py_ssize_t:
    """Write all rows of a column, one value after another.

    Args:
        writer: writes one row.
        out: the output buffer.
        valid: the validity bitmap; None if no row is null. Null rows take no bytes.
        offset: the index of the first row's bit.
        prefix: bytes to write before each value.
        ends: an int32 buffer that begins with 0 and has room for the end position of each row.

    Returns:
        The index of the first row that does not fit (the output then contains the reason), or -1 if all rows fit.

    Raises:
        OverflowError: the values exceed 2 GiB.
    """
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    positions: cython.int[::1] = ends
    bits: cython.const[cython.uchar][::1] = b"\0" if valid is None else valid  # type: ignore[valid-type]
    is_partial: cython.bint = valid is not None
    for row in range(len(positions) - 1):
        at = offset + row
        if not is_partial or (bits[at >> 3] >> (at & 7)) & 1:
            out.put_bytes(prefix)
            if writer.write(out, row):
                return row
            if out.at > _MAX_DATA:
                raise OverflowError("Values of one batch cannot have more than 2 GiB: encode fewer rows at once")
        positions[row + 1] = out.at
    return -1
