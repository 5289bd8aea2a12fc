# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Writes objects as Avro primitive types, fixed types and enums.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

import enum
import math
import numbers
import operator
from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.encoder_output import shown

if cython.compiled:
    from cython.cimports.kafka.formats.avro.encoder_output import ObjectWriter, Output
else:
    from kafka.formats.avro.encoder_output import ObjectWriter, Output

BAD = cython.declare(cython.int, 1)
"""Returned by a writer for a value that does not fit its type."""
_LARGEST_FLOAT = cython.declare(cython.double, 3.4028235677973366e38)
"""The smallest double that overflows a float when rounded."""


@cython.cfunc
def whole(value: Any) -> Any:
    """Return an integer as an int; None for any other type, including booleans."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        return None
    return operator.index(value)


@cython.cfunc
def as_bytes(value: Any) -> Any:
    """Return the bytes of a bytes-like object; None for any other object."""
    if type(value) is bytes:
        return value
    return bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else None


@cython.final
@cython.cclass
class NullWriter(ObjectWriter):
    """Writes None, which takes no bytes."""

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        return 0 if value is None else out.fail(f"expected None, got {shown(value)}")

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return value is None


@cython.final
@cython.cclass
class BooleanWriter(ObjectWriter):
    """Writes a boolean."""

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        if not isinstance(value, bool):
            return out.fail(f"expected a bool, got {shown(value)}")
        out.put_byte(1 if value else 0)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return isinstance(value, bool)


@cython.final
@cython.cclass
class IntegerWriter(ObjectWriter):
    """Writes an int (`is_int`) or a long."""

    is_int: cython.bint
    least: Any
    most: Any

    def __init__(self, is_int: cython.bint) -> None:
        self.is_int = is_int
        self.least, self.most = (-(1 << 31), (1 << 31) - 1) if is_int else (-(1 << 63), (1 << 63) - 1)

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        number: cython.longlong
        found = whole(value)
        if found is None:
            return out.fail(f"expected an int, got {shown(value)}")
        if not self.least <= found <= self.most:
            return out.fail(f"expected a number from {self.least} to {self.most}, got {shown(value)}")
        number = found
        out.put_long(number)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        found = whole(value)
        return found is not None and self.least <= found <= self.most


@cython.cfunc
def _real(value: Any) -> Any:
    """Return a number as a float; None for any other type, including booleans."""
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


@cython.final
@cython.cclass
class FloatWriter(ObjectWriter):
    """Writes a float."""

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        number: cython.double
        found = _real(value)
        if found is None:
            return out.fail(f"expected a float, got {shown(value)}")
        number = found
        if (number >= _LARGEST_FLOAT or number <= -_LARGEST_FLOAT) and not math.isinf(number):
            return out.fail(f"expected a number that 32 bits can hold, got {shown(value)}")
        out.put_float(number)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return isinstance(value, numbers.Real) and not isinstance(value, bool)


@cython.final
@cython.cclass
class DoubleWriter(ObjectWriter):
    """Writes a double."""

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        found = _real(value)
        if found is None:
            return out.fail(f"expected a float, got {shown(value)}")
        out.put_double(found)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return isinstance(value, numbers.Real) and not isinstance(value, bool)


@cython.final
@cython.cclass
class BytesWriter(ObjectWriter):
    """Writes bytes."""

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        data = as_bytes(value)
        if data is None:
            return out.fail(f"expected bytes, got {shown(value)}")
        out.put_long(len(data))
        out.put_bytes(data)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return isinstance(value, (bytes, bytearray, memoryview))


@cython.final
@cython.cclass
class TextWriter(ObjectWriter):
    """Writes a string."""

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        if not isinstance(value, str):
            return out.fail(f"expected a str, got {shown(value)}")
        return out.put_text(value)

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return isinstance(value, str)


@cython.final
@cython.cclass
class FixedWriter(ObjectWriter):
    """Writes a fixed number of bytes."""

    size: cython.Py_ssize_t

    def __init__(self, size: cython.Py_ssize_t) -> None:
        self.size = size

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        data = as_bytes(value)
        if data is None:
            return out.fail(f"expected {self.size} bytes, got {shown(value)}")
        if len(data) != self.size:
            return out.fail(f"expected {self.size} bytes, got {len(data)}")
        out.put_bytes(data)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        data = as_bytes(value)
        return data is not None and len(data) == self.size


def symbol_of(value: Any) -> str:
    """Return the symbol for an `enum.Enum` member: its value if that is a string, otherwise its name."""
    if not isinstance(value, enum.Enum):
        return ""
    return value.value if isinstance(value.value, str) else value.name


@cython.final
@cython.cclass
class EnumWriter(ObjectWriter):
    """Writes a symbol as its index."""

    numbers: dict[str, int]

    def __init__(self, symbols: tuple[str, ...]) -> None:
        self.numbers = {symbol: number for number, symbol in enumerate(symbols)}

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        number = self.numbers.get(value if isinstance(value, str) else symbol_of(value))
        if number is None:
            return out.fail(f"expected one of the symbols {', '.join(self.numbers):.80}, got {shown(value)}")
        out.put_long(number)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        return (value if isinstance(value, str) else symbol_of(value)) in self.numbers
