"""Plain values, as the serializers of Kafka's Java clients write them, to columns and back: texts, bytes and numbers.

Numbers are big-endian, of two, four or eight bytes; texts are UTF-8.
"""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa

from kafka.formats.arrow import binary_buffers
from kafka.formats.bad_values import BadValue

_NUMBERS: dict[str, tuple[pa.DataType, int]] = {
    "short": (pa.int16(), 2),
    "int": (pa.int32(), 4),
    "long": (pa.int64(), 8),
    "float": (pa.float32(), 4),
    "double": (pa.float64(), 8),
}
KINDS = ("string", "bytes", *_NUMBERS)
"""What values may be."""


class PlainColumns:
    """Decodes values of one kind into columns, and encodes them. Several threads may use it."""

    def __init__(self, kind: str) -> None:
        """Take the kind, one of `KINDS`; raises ValueError for another one."""
        if kind not in KINDS:
            raise ValueError(f"Expected one of {', '.join(KINDS)}, got {kind!r}")
        self._kind = kind
        texts: dict[str, pa.DataType] = {"string": pa.string(), "bytes": pa.binary()}
        self.type: pa.DataType = texts[kind] if kind in texts else _NUMBERS[kind][0]
        """The type of the column that `decode` returns."""

    def decode(self, values: Any) -> tuple[Any, list[BadValue]]:
        """Decode an array of binary; null is null.

        Returns:
            The column, with as many rows as there are values, and which values could not be decoded; these are null.
        """
        if self._kind == "bytes":
            return values, []
        if self._kind == "string":
            return _texts(values)
        return _numbers(values, *_NUMBERS[self._kind], self._kind)

    def encode(self, column: Any) -> Any:
        """Encode a column of the type `type` as an array of binary; null is null."""
        if self._kind in ("string", "bytes"):
            return column.cast(pa.binary())
        _, size = _NUMBERS[self._kind]
        if column.offset:
            column = pa.concat_arrays([column, column.slice(0, 0)])
        valid, numbers = column.buffers()
        data = _swapped(memoryview(numbers).cast("B")[: size * len(column)], size)
        fixed: Any = pa.Array.from_buffers(pa.binary(size), len(column), [valid, pa.py_buffer(data)])
        return fixed.cast(pa.binary())


def _texts(values: Any) -> tuple[Any, list[BadValue]]:
    try:
        return values.cast(pa.string()), []
    except pa.ArrowInvalid:
        pass
    texts: list[str | None] = []
    bad: list[BadValue] = []
    for row, value in enumerate(values.to_pylist()):
        text = None
        if value is not None:
            try:
                text = value.decode()
            except UnicodeDecodeError as error:
                bad.append(BadValue(row, None, f"byte {error.start} is not UTF-8"))
        texts.append(text)
    return pa.array(texts, pa.string()), bad


def _numbers(values: Any, type_: pa.DataType, size: int, kind: str) -> tuple[Any, list[BadValue]]:
    data, ends, _, has_nulls = binary_buffers(values)
    rows = len(values)
    if (
        not has_nulls
        and ends[rows] - ends[0] == size * rows
        and all(ends[row] - ends[0] == size * row for row in range(rows))
    ):
        numbers = pa.py_buffer(_swapped(data[ends[0] : ends[rows]], size))
        return pa.Array.from_buffers(type_, rows, [None, numbers]), []
    kept = bytearray(size * rows)
    nulls = [value is None for value in values.to_pylist()]
    bad: list[BadValue] = []
    for row in range(rows):
        if nulls[row]:
            continue
        found = data[ends[row] : ends[row + 1]]
        if len(found) == size:
            kept[size * row : size * (row + 1)] = found
        else:
            nulls[row] = True
            bad.append(BadValue(row, None, f"expected the {size} bytes of a {kind}, got {len(found)}"))
    valid = pa.array([not null for null in nulls], pa.bool_()).buffers()[1]
    swapped = pa.py_buffer(_swapped(memoryview(kept), size))
    return pa.Array.from_buffers(type_, rows, [valid, swapped]), bad


def _swapped(data: memoryview, size: int) -> memoryview:
    """Return big-endian numbers in the machine's order, or the other way round."""
    made = bytearray(len(data))
    order = range(size) if sys.byteorder == "big" else range(size - 1, -1, -1)
    for target, source in enumerate(order):
        made[target::size] = data[source::size]
    return memoryview(made)
