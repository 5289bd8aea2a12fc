# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Writers of rows of Arrow columns as Avro's unions, arrays, maps and records, and of all rows of a column.

Compiled by Cython; the plain variant behaves the same.
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
    """Writes the branch of null, or a value after the number of its branch; `null` is None if null does not fit."""

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
            valid, offset: the validity bitmap and the first row's bit; None if nothing is null.
            null: the number of null's branch.
            number: the number of the value's branch; None for a type that is not a union.
            value: writes the values; None if there are none.
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
    """Writes the one field of a struct that is not null, after the number of its branch."""

    members: list[ArrowWriter]
    bitmaps: list[Any]
    numbers: list[int]
    null: Any

    def __init__(self, members: list[ArrowWriter], bitmaps: list[Any], numbers: list[int], null: int | None) -> None:
        """Make the writer.

        Args:
            members, numbers: the writer of each field, and the number of its branch.
            bitmaps: the validity bitmap of each field, from the first row on.
            null: the number of null's branch, None if there is none.
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
    """Writes lists as arrays; for maps, `keys` writes the key before each item."""

    ends: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    count: cython.Py_ssize_t
    items: ArrowWriter
    keys: ArrowWriter | None

    def __init__(self, ends: Any, count: cython.Py_ssize_t, items: ArrowWriter, keys: ArrowWriter | None) -> None:
        """Make the writer; `count` is the number of all items."""
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
    """Writes the fields of structs as records."""

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
    """Writes the default of a field that the struct lacks."""

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
    """Write all rows of a column, one value after the other.

    Args:
        writer: writes a row.
        out: where the values are written.
        valid, offset: bitmap of the rows that have a value, and the first row's bit; None if all have. The others
            take no bytes.
        prefix: bytes to write before each value.
        ends: an int32 buffer with a zero, and room for each row's end position behind it.

    Returns:
        The row that does not fit, whose reason is in the output; -1 if all do.

    Raises:
        OverflowError: the values have more than 2 GiB.
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
