# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Writes structs, lists and maps as JSON. Compiled with Cython; the plain variant behaves the same."""

from __future__ import annotations

import json
from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.json.encoder_output import view_of

if cython.compiled:
    from cython.cimports.kafka.formats.json.encoder_output import Output, Writer, write_value
    from cython.cimports.kafka.formats.json.scan import signed_at
else:
    from kafka.formats.json.encoder_output import Output, Writer, write_value
    from kafka.formats.json.scan import signed_at

BAD = cython.declare(cython.int, 1)
"""Returned by a writer for a value that JSON cannot represent."""


@cython.final
@cython.cclass
class ObjectWriter(Writer):
    """Writes a struct as an object; `_omits_nulls` leaves out null fields.

    `_keys` contains the quoted keys one after another, each preceded by a comma and followed by a colon.
    """

    _fields: list[Writer]
    _names: list[str]
    _keys: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _ends: cython.int[::1]
    _omits_nulls: cython.bint

    def __init__(self, names: list[str], fields: list[Writer], omits_nulls: cython.bint) -> None:
        self._names, self._fields, self._omits_nulls = names, fields, omits_nulls
        keys = [f",{json.dumps(name, ensure_ascii=False)}:".encode() for name in names]
        self._keys = b"".join(keys) + b"\0"
        self._ends = memoryview(bytearray(4 * len(keys) + 4)).cast("i")
        for number, key in enumerate(keys):
            self._ends[number + 1] = self._ends[number] + len(key)

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        for number, field in enumerate(self._fields):
            field.bind(array.field(number))

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        field: Writer
        index: cython.Py_ssize_t
        start: cython.Py_ssize_t
        comma: cython.Py_ssize_t = 1  # the first key has no comma
        out.put_byte(123)
        for index in range(len(self._fields)):
            field = self._fields[index]
            if self._omits_nulls and field.is_null(row):
                continue
            start = self._ends[index] + comma
            out.put(self._keys, start, self._ends[index + 1] - start)
            comma = 0
            if write_value(field, out, row):
                return out.fail_in(f".{self._names[index]}")
        return out.put_byte(125)


@cython.final
@cython.cclass
class ArrayWriter(Writer):
    """Writes a list as an array."""

    _ends: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _items: Writer

    def __init__(self, items: Writer) -> None:
        self._items = items

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        self._ends = view_of(array.buffers()[1])
        self._items.bind(array.values)

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = (row + self._offset) * 4
        first: cython.Py_ssize_t = signed_at(self._ends, at, 4)
        end: cython.Py_ssize_t = signed_at(self._ends, at + 4, 4)
        item: cython.Py_ssize_t
        out.put_byte(91)
        for item in range(first, end):
            if item > first:
                out.put_byte(44)
            if write_value(self._items, out, item):
                return out.fail_in(f"[{item - first}]")
        return out.put_byte(93)


@cython.final
@cython.cclass
class MapWriter(Writer):
    """Writes a map as an object."""

    _ends: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _keys: Writer
    _values: Writer

    def __init__(self, keys: Writer, values: Writer) -> None:
        self._keys, self._values = keys, values

    def bind(self, array: Any) -> None:
        """See `Writer.bind`."""
        Writer.bind(self, array)
        self._ends = view_of(array.buffers()[1])
        self._keys.bind(array.keys)
        self._values.bind(array.items)

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, row: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = (row + self._offset) * 4
        first: cython.Py_ssize_t = signed_at(self._ends, at, 4)
        end: cython.Py_ssize_t = signed_at(self._ends, at + 4, 4)
        item: cython.Py_ssize_t
        out.put_byte(123)
        for item in range(first, end):
            if item > first:
                out.put_byte(44)
            self._keys.write(out, item)
            out.put_byte(58)
            if write_value(self._values, out, item):
                return out.fail_in(f"{{{item - first}}}")
        return out.put_byte(125)
