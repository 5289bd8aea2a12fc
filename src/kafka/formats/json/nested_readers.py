# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads JSON objects and arrays into columns. Compiled with Cython; the plain variant behaves the same."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.formats.column_builders import BytesColumn, ListColumn, StructColumn
    from cython.cimports.kafka.formats.json.cursor import Cursor, Reader, read_value
    from cython.cimports.kafka.formats.json.scan import next_byte, same_bytes, text_end
    from cython.cimports.kafka.formats.json.skip import skip_value
    from cython.cimports.kafka.formats.json.texts import read_text, skip_text
else:
    from kafka.formats.column_builders import BytesColumn, ListColumn, StructColumn
    from kafka.formats.json.cursor import Cursor, Reader, read_value
    from kafka.formats.json.scan import next_byte, same_bytes, text_end
    from kafka.formats.json.skip import skip_value
    from kafka.formats.json.texts import read_text, skip_text

BAD = cython.declare(cython.int, 1)
"""Returned by a reader for bytes that are not a value of its type."""
_UNKNOWN = cython.declare(cython.Py_ssize_t, -1)
_FAILED = cython.declare(cython.Py_ssize_t, -2)
_FEW = cython.declare(cython.Py_ssize_t, 16)
"""Maximum number of keys that are compared one by one."""


@cython.cfunc
def _text_of(cursor: Cursor) -> bytes:
    """Return the last string read."""
    if cursor.text_at >= 0:
        return bytes(cursor.data[cursor.text_at : cursor.text_at + cursor.text_size])
    return bytes(cursor.text[: cursor.text_size])


@cython.cfunc
@cython.exceptval(-1)
def _read_colon(cursor: Cursor) -> cython.int:
    """Skip the colon after a key; returns 0 or `BAD`."""
    if next_byte(cursor) != 58:
        return cursor.expected(cursor.at, "a colon")
    cursor.at += 1
    return 0


@cython.cfunc
@cython.exceptval(-2)
def _next_entry(cursor: Cursor, close: cython.int) -> cython.int:
    """Read the delimiter after an entry or item; returns 1 for a comma, 0 for the closing bracket, -1 otherwise."""
    byte: cython.int = next_byte(cursor)
    if byte == 44:
        cursor.at += 1
        return 1
    if byte == close:
        cursor.at += 1
        return 0
    cursor.expected(cursor.at, f"a comma or '{chr(close)}'")
    return -1


@cython.final
@cython.cclass
class ObjectReader(Reader):
    """Reads an object into a struct.

    Each key is first compared with the key of the next field, because the keys of most objects are in the schema's
    order. `_keys` contains the fields' keys one after another, beginning at `_starts`; a key that needs escapes has the
    size -1.
    """

    _struct: StructColumn
    _fields: list[Reader]
    _names: list[str]
    _numbers: dict[bytes, int]
    _keys: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _starts: cython.int[::1]
    _sizes: cython.int[::1]
    _count: cython.Py_ssize_t
    _refuses_unknown: cython.bint
    _takes_last: cython.bint

    def __init__(
        self,
        column: StructColumn,
        nullable: cython.bint,
        names: list[str],
        fields: list[Reader],
        refuses_unknown: cython.bint,
        takes_last: cython.bint,
    ) -> None:
        Reader.__init__(self, column, nullable, "an object")
        self._struct, self._names, self._fields = column, names, fields
        self._count = len(fields)
        self._refuses_unknown, self._takes_last = refuses_unknown, takes_last
        keys = [name.encode() for name in names]
        self._numbers = {key: number for number, key in enumerate(keys)}
        self._keys = b"".join(keys) + b"\0"
        self._starts, self._sizes = _ints(len(keys)), _ints(len(keys))
        start: cython.Py_ssize_t = 0
        for number, key in enumerate(keys):
            self._starts[number] = start
            self._sizes[number] = -1 if any(byte < 32 or byte == 34 or byte == 92 for byte in key) else len(key)
            start += len(key)

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        row: cython.Py_ssize_t = self._struct.rows
        index: cython.Py_ssize_t
        expected: cython.Py_ssize_t = 0
        found: cython.Py_ssize_t = 0
        more: cython.int
        field: Reader
        if cursor.data[cursor.at] != 123:
            return cursor.expected(cursor.at, self.expects)
        cursor.at += 1
        more = 1
        if next_byte(cursor) == 125:
            cursor.at += 1
            more = 0
        while more:
            index = self._read_key(cursor, expected)
            if index == _FAILED:
                return BAD
            if _read_colon(cursor):
                return BAD
            if index == _UNKNOWN:
                if skip_value(cursor):
                    return BAD
            else:
                field = self._fields[index]
                if field.column.rows > row:
                    if not self._takes_last:
                        return self._fail_again(cursor, index)
                    field.column.truncate(row)
                    found -= 1
                if read_value(field, cursor):
                    return cursor.fail_in(f".{self._names[index]}")
                found += 1
                expected = index + 1
            more = _next_entry(cursor, 125)
            if more < 0:
                return BAD
        if found < self._count and self._append_missing(cursor, row):
            return BAD
        self._struct.end_row()
        return 0

    @cython.cfunc
    @cython.exceptval(-3)
    def _read_key(self, cursor: Cursor, expected: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read a key, after any white space; returns the field's index, `_UNKNOWN`, or `_FAILED` with a reason."""
        start: cython.Py_ssize_t
        size: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        index: cython.Py_ssize_t
        if next_byte(cursor) != 34:
            cursor.expected(cursor.at, "a key in quotes")
            return _FAILED
        start = cursor.at + 1
        if expected < self._count:
            size = self._sizes[expected]
            if (
                size >= 0
                and cursor.end - start > size
                and cursor.data[start + size] == 34
                and same_bytes(cursor.data, start, self._keys, self._starts[expected], size)
            ):
                cursor.at = start + size + 1
                return expected
        stop = text_end(cursor.data, start, cursor.end) >> 1
        if self._count > _FEW or stop >= cursor.end or cursor.data[stop] != 34:
            return self._look_up(cursor)
        size = stop - start
        for index in range(self._count):
            if self._sizes[index] == size and same_bytes(cursor.data, start, self._keys, self._starts[index], size):
                cursor.at = stop + 1
                return index
        return self._pass_over(cursor)

    @cython.cfunc
    @cython.exceptval(-3)
    def _look_up(self, cursor: Cursor) -> cython.Py_ssize_t:
        """Read a key like `_read_key`, for keys that may contain escapes and for objects with many fields."""
        at: cython.Py_ssize_t = cursor.at
        replaces: cython.bint = cursor.replaces_surrogates
        cursor.replaces_surrogates = False
        failed: cython.bint = read_text(cursor) != 0
        cursor.replaces_surrogates = replaces
        if failed:  # a key with a lone surrogate is valid, but matches no field
            cursor.at = at
            return self._pass_over(cursor)
        number = self._numbers.get(_text_of(cursor))
        if number is not None:
            return cython.cast(cython.Py_ssize_t, number)
        cursor.at = at
        return self._pass_over(cursor)

    @cython.cfunc
    @cython.exceptval(-3)
    def _pass_over(self, cursor: Cursor) -> cython.Py_ssize_t:
        """Skip a key that matches no field; returns `_UNKNOWN`, or `_FAILED` with a reason."""
        at: cython.Py_ssize_t = cursor.at
        if skip_text(cursor):
            return _FAILED
        if self._refuses_unknown:
            key = bytes(cursor.data[at + 1 : cursor.at - 1]).decode("utf-8", "replace")
            cursor.fail(at, f"the schema has no field {key[:60]!r}")
            return _FAILED
        return _UNKNOWN

    @cython.cfunc
    @cython.exceptval(-1)
    def _fail_again(self, cursor: Cursor, index: cython.Py_ssize_t) -> cython.int:
        """Report a duplicate key as the reason for failure."""
        cursor.fail(cursor.at, "expected each key once, got this one again")
        return cursor.fail_in(f".{self._names[index]}")

    @cython.cfunc
    @cython.exceptval(-1)
    def _append_missing(self, cursor: Cursor, row: cython.Py_ssize_t) -> cython.int:
        """Append null for missing fields; returns 0, or `BAD` if one of them is required."""
        index: cython.Py_ssize_t
        field: Reader
        for index in range(self._count):
            field = self._fields[index]
            if field.column.rows == row:
                if not field.nullable:
                    cursor.fail(cursor.at - 1, f"expected {field.expects}, but the field is missing")
                    return cursor.fail_in(f".{self._names[index]}")
                field.column.append_null()
        return 0


def _ints(count: int) -> Any:
    """Return a buffer for int32 numbers."""
    return memoryview(bytearray(4 * max(count, 1))).cast("i")


@cython.final
@cython.cclass
class ArrayReader(Reader):
    """Reads an array into a list."""

    _lists: ListColumn
    _items: Reader

    def __init__(self, column: ListColumn, nullable: cython.bint, items: Reader) -> None:
        Reader.__init__(self, column, nullable, "an array")
        self._lists, self._items = column, items

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        more: cython.int = 1
        count: cython.Py_ssize_t = 0
        if cursor.data[cursor.at] != 91:
            return cursor.expected(cursor.at, self.expects)
        cursor.at += 1
        if next_byte(cursor) == 93:
            cursor.at += 1
            more = 0
        while more:
            if read_value(self._items, cursor):
                return cursor.fail_in(f"[{count}]")
            count += 1
            more = _next_entry(cursor, 93)
            if more < 0:
                return BAD
        self._lists.end_list()
        return 0


@cython.final
@cython.cclass
class MapReader(Reader):
    """Reads an object into a map: a list of keys and values."""

    _lists: ListColumn
    _entries: StructColumn
    _keys: BytesColumn
    _values: Reader
    _takes_last: cython.bint

    def __init__(
        self, column: ListColumn, nullable: cython.bint, keys: BytesColumn, values: Reader, takes_last: cython.bint
    ) -> None:
        Reader.__init__(self, column, nullable, "an object")
        self._lists, self._entries = column, column.items
        self._keys, self._values, self._takes_last = keys, values, takes_last

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, cursor: Cursor) -> cython.int:
        start: cython.Py_ssize_t = cursor.at
        first: cython.Py_ssize_t = self._entries.rows
        if cursor.data[start] != 123:
            return cursor.expected(start, self.expects)
        if self._read_entries(cursor, None):
            return BAD
        if self._entries.rows - first > 1:
            last = self._last_entries(first)
            if last is not None:
                if not self._takes_last:
                    return cursor.fail(start, "expected each key of an object once")
                self._entries.truncate(first)
                cursor.at = start
                if self._read_entries(cursor, last):
                    return BAD
        self._lists.end_list()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _read_entries(self, cursor: Cursor, wanted: set[int] | None) -> cython.int:
        """Read an object's entries, or only those whose indexes are in `wanted`. Returns 0 or `BAD`."""
        more: cython.int = 1
        number: cython.Py_ssize_t = 0
        cursor.at += 1
        if next_byte(cursor) == 125:
            cursor.at += 1
            more = 0
        while more:
            if next_byte(cursor) != 34:
                return cursor.expected(cursor.at, "a key in quotes")
            if read_text(cursor):
                return BAD
            if wanted is not None and number not in wanted:
                if _read_colon(cursor) or skip_value(cursor):
                    return BAD
            else:
                if cursor.text_at >= 0:
                    self._keys.append(cursor.data, cursor.text_at, cursor.text_size)
                else:
                    self._keys.append(cursor.text, 0, cursor.text_size)
                if _read_colon(cursor):
                    return BAD
                if read_value(self._values, cursor):
                    return cursor.fail_in(f"[{self._key_at(self._keys.rows - 1).decode()[:60]!r}]")
                self._entries.end_row()
            number += 1
            more = _next_entry(cursor, 125)
            if more < 0:
                return BAD
        return 0

    @cython.cfunc
    def _last_entries(self, first: cython.Py_ssize_t) -> set[int] | None:
        """Return the indexes of entries that no later duplicate replaces; None if all keys are distinct."""
        row: cython.Py_ssize_t
        count: cython.Py_ssize_t = self._entries.rows - first
        if count <= _FEW and not self._has_same_keys(first):
            return None
        numbers: dict[bytes, int] = {}
        for row in range(first, first + count):
            numbers[self._key_at(row)] = row - first
        return set(numbers.values()) if len(numbers) < count else None

    @cython.cfunc
    def _key_at(self, row: cython.Py_ssize_t) -> bytes:
        """Return an entry's key."""
        return bytes(self._keys._data[self._keys._ends[row] : self._keys._ends[row + 1]])

    @cython.cfunc
    @cython.exceptval(-1)
    def _has_same_keys(self, first: cython.Py_ssize_t) -> cython.bint:
        """Return whether any two entries from `first` on have the same key."""
        row: cython.Py_ssize_t
        other: cython.Py_ssize_t
        start: cython.Py_ssize_t
        size: cython.Py_ssize_t
        before: cython.Py_ssize_t
        for row in range(first + 1, self._entries.rows):
            start = self._keys._ends[row]
            size = self._keys._ends[row + 1] - start
            for other in range(first, row):
                before = self._keys._ends[other]
                if self._keys._ends[other + 1] - before == size and (
                    size == 0 or same_bytes(self._keys._data, start, self._keys._data, before, size)
                ):
                    return True
        return False
