# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Writers of rows of Arrow columns as Avro values: each has the memory of one column, and writes a row of it.

Compiled by Cython, equal when it runs plain.
"""

from __future__ import annotations

import math
from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.formats.avro.output import Output
    from cython.cimports.kafka.formats.utf8 import is_utf8
else:
    from kafka.formats.avro.output import Output
    from kafka.formats.utf8 import is_utf8

BAD = cython.declare(cython.int, 1)
"""Returned by a writer for a value that does not fit its type."""
_LARGEST_FLOAT = cython.declare(cython.double, 3.4028235677973366e38)
"""Numbers from here on are no float, rounded to the nearest one."""
_MAX_DATA = cython.declare(cython.Py_ssize_t, 0x7FFFFFFF)
_DAMAGED = "Expected growing end positions within the values of a column"


@cython.cclass
class ArrowWriter:
    """Writes the rows of one column as values of a type."""

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        """Append a row's value; returns 0, or `BAD` with the reason in the output."""
        raise NotImplementedError


@cython.final
@cython.cclass
class NullRows(ArrowWriter):
    """Writes nulls, which take no bytes."""

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        return 0


@cython.final
@cython.cclass
class BooleanRows(ArrowWriter):
    """Writes truth values, a bit each."""

    bits: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    offset: cython.Py_ssize_t

    def __init__(self, bits: Any, offset: cython.Py_ssize_t) -> None:
        self.bits, self.offset = bits, offset

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = self.offset + row
        return out.put_byte((self.bits[at >> 3] >> (at & 7)) & 1)


@cython.final
@cython.cclass
class IntegerRows(ArrowWriter):
    """Writes ints or longs within bounds, and changes their unit: what is there times or divided by a number."""

    values: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    least: cython.longlong
    most: cython.longlong
    times: cython.longlong
    divisor: cython.longlong

    def __init__(
        self,
        values: Any,
        least: cython.longlong,
        most: cython.longlong,
        times: cython.longlong,
        divisor: cython.longlong,
    ) -> None:
        self.values = values
        self.least, self.most, self.times, self.divisor = least, most, times, divisor

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        value: cython.longlong = self.values[row]
        if value < self.least or value > self.most:
            return out.fail(f"expected a number from {self.least} to {self.most}, got {value}")
        if self.times != 1:
            value *= self.times
        elif self.divisor != 1:
            if value < 0:  # rounded down, in C and in Python
                value = -((-(value + 1)) // self.divisor) - 1
            else:
                value //= self.divisor
        return out.put_long(value)


@cython.final
@cython.cclass
class FloatRows(ArrowWriter):
    """Writes floats (`is_float`) or doubles."""

    values: cython.const[cython.double][::1]  # type: ignore[valid-type]
    is_float: cython.bint

    def __init__(self, values: Any, is_float: cython.bint) -> None:
        self.values, self.is_float = values, is_float

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        value: cython.double = self.values[row]
        if not self.is_float:
            return out.put_double(value)
        if (value >= _LARGEST_FLOAT or value <= -_LARGEST_FLOAT) and not math.isinf(value):
            return out.fail(f"expected a number that 32 bits can hold, got {value}")
        return out.put_float(value)


@cython.final
@cython.cclass
class BytesRows(ArrowWriter):
    """Writes bytes or texts. `size` is that of a fixed type, else -1; `checked` wants UTF-8."""

    ends: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    size: cython.Py_ssize_t
    checked: cython.bint

    def __init__(self, ends: Any, data: Any, size: cython.Py_ssize_t, checked: cython.bint) -> None:
        self.ends, self.data, self.size, self.checked = ends, data, size, checked

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        start: cython.Py_ssize_t = self.ends[row]
        size: cython.Py_ssize_t = self.ends[row + 1] - start
        if start < 0 or size < 0 or size > len(self.data) - start:
            raise ValueError(_DAMAGED)
        if self.checked and not is_utf8(self.data, start, size):
            return out.fail(f"expected a string in UTF-8, got {bytes(self.data[start : start + size])!r:.60}")
        if self.size < 0:
            out.put_long(size)
        elif size != self.size:
            return out.fail(f"expected {self.size} bytes, got {size}")
        return out.put_slice(self.data, start, size)


@cython.final
@cython.cclass
class UuidRows(ArrowWriter):
    """Writes the texts of UUIDs as 16 bytes."""

    ends: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]

    def __init__(self, ends: Any, data: Any) -> None:
        self.ends, self.data = ends, data

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        start: cython.Py_ssize_t = self.ends[row]
        end: cython.Py_ssize_t = self.ends[row + 1]
        if start < 0 or end < start or end > len(self.data):
            raise ValueError(_DAMAGED)
        text = bytes(self.data[start:end])
        try:
            made = bytes.fromhex(text.replace(b"-", b"").decode("ascii"))
        except ValueError:
            made = b""
        if len(made) != 16:
            return out.fail(f"expected a UUID, got {text!r:.60}")
        return out.put_bytes(made)


@cython.final
@cython.cclass
class EnumRows(ArrowWriter):
    """Writes symbols: `numbers` has a row's number, below 0 where the text is no symbol."""

    numbers: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    texts: Any
    symbols: Any

    def __init__(self, numbers: Any, texts: Any, symbols: Any) -> None:
        self.numbers, self.texts, self.symbols = numbers, texts, symbols

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        if self.numbers[row] < 0:
            found = self.texts[row].as_py()
            return out.fail(f"expected one of the symbols {', '.join(self.symbols):.80}, got {found!r:.60}")
        return out.put_long(self.numbers[row])


@cython.final
@cython.cclass
class DecimalRows(ArrowWriter):
    """Writes decimals of `width` bytes, little-endian, on bytes (`size` is -1) or on a fixed number of bytes.

    `most` is the greatest number that has few enough digits, None if all have.
    """

    data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    width: cython.Py_ssize_t
    size: cython.Py_ssize_t
    most: Any

    def __init__(self, data: Any, width: cython.Py_ssize_t, size: cython.Py_ssize_t, most: int | None) -> None:
        self.data, self.width, self.size, self.most = data, width, size, most

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        start: cython.Py_ssize_t = row * self.width
        needed: cython.Py_ssize_t = self.width
        index: cython.Py_ssize_t
        size: cython.Py_ssize_t
        sign: cython.int = 255 if self.data[start + self.width - 1] > 127 else 0
        if self.most is not None:
            number = int.from_bytes(bytes(self.data[start : start + self.width]), "little", signed=True)
            if abs(number) > self.most:
                return out.fail(
                    f"expected a decimal of at most {len(str(self.most))} digits, got {len(str(abs(number)))}"
                )
        while (
            needed > 1 and self.data[start + needed - 1] == sign and (self.data[start + needed - 2] > 127) == (sign > 0)
        ):
            needed -= 1  # a byte that only repeats the sign
        if self.size < 0:
            size = needed + self._is_least(start, needed)
            out.put_long(size)
        else:
            size = self.size
            if needed > size:
                return out.fail(f"expected a decimal that fits into {size} bytes")
        for index in range(size - 1, -1, -1):
            out.put_byte(self.data[start + index] if index < needed else sign)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_least(self, start: cython.Py_ssize_t, needed: cython.Py_ssize_t) -> cython.int:
        """Return 1 for the least number of so many bytes: as in fastavro, it has a byte more, as its opposite needs."""
        index: cython.Py_ssize_t
        if self.data[start + needed - 1] != 128:
            return 0
        for index in range(needed - 1):
            if self.data[start + index] != 0:
                return 0
        return 1


@cython.final
@cython.cclass
class DurationRows(ArrowWriter):
    """Writes months, days and nanoseconds, four, four and eight bytes each, as months, days and milliseconds."""

    data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]

    def __init__(self, data: Any) -> None:
        self.data = data

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        start: cython.Py_ssize_t = 16 * row
        value = bytes(self.data[start : start + 16])
        nanoseconds = int.from_bytes(value[8:], "little", signed=True)
        if value[3] > 127 or value[7] > 127 or not 0 <= nanoseconds // 1_000_000 < 1 << 32:
            return out.fail("expected a duration of months, days and milliseconds that are not negative")
        out.put_bytes(value[:8] + (nanoseconds // 1_000_000).to_bytes(4, "little"))
        return 0


@cython.final
@cython.cclass
class OptionalRows(ArrowWriter):
    """Writes the branch of null, or a value after the number of its branch; `null` is None where null does not fit."""

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
            valid, offset: bitmap of what is not null, and the first row's bit; None if nothing is null.
            null: the number of null's branch.
            number: the number of the value's branch; None for a type that is no union.
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
            members, numbers: what writes each field, and the number of its branch.
            bitmaps: of each field a bitmap of what is not null, from the first row on.
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
    """Writes lists as arrays; of maps, `keys` writes the key before each item."""

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
            raise ValueError(_DAMAGED)
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
    """Writes the default of a field that the struct has not."""

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
        prefix: what stands before each value.
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
