# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Writes rows of Arrow columns as Avro values. Each writer reads the memory of one column.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

import math
from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.formats.avro.encoder_output import Output
    from cython.cimports.kafka.formats.byte_operations import is_utf8
else:
    from kafka.formats.avro.encoder_output import Output
    from kafka.formats.byte_operations import is_utf8

BAD = cython.declare(cython.int, 1)
"""Returned by a writer for a value that does not fit its type."""
_LARGEST_FLOAT = cython.declare(cython.double, 3.4028235677973366e38)
"""The smallest double that overflows a float when rounded."""
DAMAGED = "Expected growing end positions within the values of a column"


@cython.cclass
class ArrowWriter:
    """Base class: writes the rows of one column as values of one type."""

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
    """Writes booleans, stored as one bit each."""

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
    """Writes ints or longs within bounds, and converts them to another unit by multiplying or dividing."""

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
            if value < 0:  # C division truncates; round down like Python
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
    """Writes bytes or strings. `size` is the size of a fixed type, or -1; `checked` requires valid UTF-8."""

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
            raise ValueError(DAMAGED)
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
    """Writes UUIDs, given as text, as 16 bytes."""

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
            raise ValueError(DAMAGED)
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
    """Writes enum symbols. `numbers` contains the symbol index for each row; it is negative for unknown symbols."""

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
    """Writes little-endian decimals of `width` bytes as bytes (`size` is -1) or as a fixed type.

    `most` is the largest allowed unscaled number; None if there is no limit.
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
            needed -= 1  # a byte that only repeats the sign bit
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
        """Return 1 for the smallest number of its width, which is written with an extra byte, as in fastavro."""
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
    """Converts months, days and nanoseconds (4, 4 and 8 bytes) to Avro's months, days and milliseconds."""

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
