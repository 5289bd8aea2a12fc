"""Converts values of Kafka's own Java serializers to columns and back: strings, bytes and numbers.

Numbers are big-endian and take two, four or eight bytes; strings are UTF-8.
"""

from __future__ import annotations

import array
import sys
from typing import Any

import pyarrow as pa
import pyarrow.compute

from kafka.formats.arrow_arrays import binary_buffers
from kafka.formats.bad_values import BadValue

_NUMBERS: dict[str, tuple[pa.DataType, int]] = {
    "short": (pa.int16(), 2),
    "int": (pa.int32(), 4),
    "long": (pa.int64(), 8),
    "float": (pa.float32(), 4),
    "double": (pa.float64(), 8),
}
KINDS = ("string", "bytes", *_NUMBERS)
"""The supported kinds of values."""


class PlainColumns:
    """Decodes values of one kind into columns, and encodes them. Thread-safe."""

    def __init__(self, kind: str) -> None:
        """Set the kind, one of `KINDS`; raises ValueError for any other kind."""
        if kind not in KINDS:
            raise ValueError(f"Expected one of {', '.join(KINDS)}, got {kind!r}")
        self._kind = kind
        texts: dict[str, pa.DataType] = {"string": pa.string(), "bytes": pa.binary()}
        self.type: pa.DataType = texts[kind] if kind in texts else _NUMBERS[kind][0]
        """The type of the column that `decode` returns."""

    def decode(self, values: Any) -> tuple[Any, list[BadValue]]:
        """Decode a binary array; null stays null.

        Returns:
            The column, with one row per value, and the values that could not be decoded, whose rows are null.
        """
        if self._kind == "bytes":
            return values, []
        if self._kind == "string":
            return _texts(values)
        return _numbers(values, *_NUMBERS[self._kind], self._kind)

    def encode(self, column: Any) -> Any:
        """Encode a column of type `type` as a binary array; null stays null."""
        if self._kind in ("string", "bytes"):
            return column.cast(pa.binary())
        _, size = _NUMBERS[self._kind]
        if column.offset:
            column = pa.concat_arrays([column, column.slice(0, 0)])
        valid, numbers = column.buffers()
        data = _swapped(memoryview(numbers).cast("B")[: size * len(column)], size)
        fixed: Any = pa.Array.from_buffers(pa.binary(size), len(column), [valid, pa.py_buffer(data)])
        return fixed.cast(pa.binary())


_TOGETHER = 64
"""Maximum number of strings that are checked one by one to find those that are not UTF-8."""


def _texts(values: Any) -> tuple[Any, list[BadValue]]:
    try:
        return values.cast(pa.string()), []
    except pa.ArrowInvalid:
        pass
    bad: list[BadValue] = []
    pending = [(0, len(values))]
    while pending:
        start, stop = pending.pop()
        try:
            values.slice(start, stop - start).cast(pa.string())
        except pa.ArrowInvalid:
            if stop - start > _TOGETHER:
                middle = (start + stop) // 2
                pending += [(middle, stop), (start, middle)]
            else:
                bad += _bad_texts(values, start, stop)
    kept = memoryview(array.array("q", range(len(values))))
    valid = bytearray(b"\1" * len(values))
    for each in bad:
        valid[each.row] = 0
    flags: Any = pa.Array.from_buffers(pa.uint8(), len(values), [None, pa.py_buffer(valid)])
    bits = flags.cast(pa.bool_()).buffers()[1]
    rows: Any = pa.Array.from_buffers(pa.int64(), len(values), [bits, pa.py_buffer(kept)])
    return values.take(rows).cast(pa.string()), bad


def _bad_texts(values: Any, start: int, stop: int) -> list[BadValue]:
    bad: list[BadValue] = []
    for row in range(start, stop):
        try:
            (values[row].as_py() or b"").decode()
        except UnicodeDecodeError as error:
            bad.append(BadValue(row, None, f"byte {error.start} is not UTF-8"))
    return bad


def _numbers(values: Any, type_: pa.DataType, size: int, kind: str) -> tuple[Any, list[BadValue]]:
    compute: Any = pyarrow.compute
    lengths = compute.binary_length(values)
    fits = compute.equal(lengths, size)
    bad = [
        BadValue(row, None, f"expected the {size} bytes of a {kind}, got {lengths[row].as_py()}")
        for row in compute.indices_nonzero(compute.invert(fits)).to_pylist()
    ]
    valid = None
    if bad or values.null_count:
        fits = fits.fill_null(False)
        valid = fits.buffers()[1]
        values = compute.if_else(fits, values, pa.scalar(bytes(size), values.type))
    data, ends, _, _ = binary_buffers(values)
    numbers = pa.py_buffer(_swapped(data[ends[0] : ends[len(values)]], size))
    return pa.Array.from_buffers(type_, len(values), [valid, numbers]), bad


def _swapped(data: memoryview, size: int) -> memoryview:
    """Convert numbers from big-endian to native byte order, or back."""
    made = bytearray(len(data))
    order = range(size) if sys.byteorder == "big" else range(size - 1, -1, -1)
    for target, source in enumerate(order):
        made[target::size] = data[source::size]
    return memoryview(made)
