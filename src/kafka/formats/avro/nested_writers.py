# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Writes objects as Avro arrays, maps, records and unions.

Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

from collections.abc import Mapping
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
_MISSING = cython.declare(object, object())


@cython.cfunc
@cython.exceptval(-1)
def _is_sequence(value: Any) -> cython.bint:
    """Return whether a value can be written as an array: any sequence except strings, bytes and dicts."""
    if isinstance(value, (list, tuple)):
        return True
    if isinstance(value, (str, bytes, bytearray, memoryview, Mapping)):
        return False
    return hasattr(value, "__len__") and hasattr(value, "__iter__")


@cython.final
@cython.cclass
class ListWriter(ObjectWriter):
    """Writes a list or another sequence as an array."""

    items: ObjectWriter

    def __init__(self, items: ObjectWriter) -> None:
        self.items = items

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        at: cython.Py_ssize_t = 0
        if not _is_sequence(value):
            return out.fail(f"expected a list, got {shown(value)}")
        given: list[Any] = value if type(value) is list else list(value)
        out.depth += 1
        if out.is_too_deep():
            return BAD
        count: cython.Py_ssize_t = len(given)
        if count > 0:
            out.put_long(count)
        for at in range(count):
            if at >= len(given):
                return out.fail("the list became shorter while it was written")
            if self.items.write(out, given[at]):
                return out.fail_in(f"[{at}]")
        out.put_byte(0)
        out.depth -= 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        if not _is_sequence(value):
            return False
        out.depth += 1
        is_fit: cython.bint = out.depth <= 300
        if is_fit:
            for each in value:
                if not self.items.fits(out, each):
                    is_fit = False
                    break
        out.depth -= 1
        return is_fit


@cython.final
@cython.cclass
class MapWriter(ObjectWriter):
    """Writes a dict as a map."""

    values: ObjectWriter

    def __init__(self, values: ObjectWriter) -> None:
        self.values = values

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        if not isinstance(value, Mapping):
            return out.fail(f"expected a dict, got {shown(value)}")
        out.depth += 1
        if out.is_too_deep():
            return BAD
        if len(value) > 0:
            out.put_long(len(value))
        for key, each in list(value.items()):
            if not isinstance(key, str):
                return out.fail(f"expected keys of type str, got {shown(key)}")
            if out.put_text(key):
                return out.fail_in("{key}")
            if self.values.write(out, each):
                return out.fail_in(f"[{key!r:.60}]")
        out.put_byte(0)
        out.depth -= 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        if not isinstance(value, Mapping):
            return False
        out.depth += 1
        is_fit: cython.bint = out.depth <= 300
        if is_fit:
            for key, each in value.items():
                if not isinstance(key, str) or not self.values.fits(out, each):
                    is_fit = False
                    break
        out.depth -= 1
        return is_fit


@cython.cfunc
@cython.exceptval(-1)
def _has_fields(value: Any) -> cython.bint:
    """Return whether a value's attributes are its fields: a dataclass, attrs class or pydantic model."""
    kind = type(value)
    return (
        hasattr(kind, "__dataclass_fields__")
        or hasattr(kind, "__attrs_attrs__")
        or hasattr(kind, "__pydantic_fields__")
    )


@cython.final
@cython.cclass
class RecordWriter(ObjectWriter):
    """Writes a dict, or an object with the fields as attributes, as a record.

    A missing field gets its default, or null if null is allowed. `strict` rejects all missing fields; `with_defaults`
    rejects only those without a default.
    """

    name: str
    names: list[str]
    fields: list[ObjectWriter]
    defaults: list[Any]
    nullable: list[bool]
    strict: cython.bint
    with_defaults: cython.bint

    def __init__(self, name: str, strict: cython.bint, with_defaults: cython.bint) -> None:
        self.name = name
        self.strict, self.with_defaults = strict, with_defaults

    def write_fields(
        self, names: list[str], fields: list[ObjectWriter], defaults: list[Any], nullable: list[bool]
    ) -> None:
        """Set the field writers. This is not part of the constructor because types may be recursive.

        Args:
            names: the field names.
            fields: the writer of each field.
            defaults: each field's encoded default; None if it has none.
            nullable: whether null is a value of the field.
        """
        self.names, self.fields, self.defaults, self.nullable = names, fields, defaults, nullable

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        index: cython.Py_ssize_t
        found: cython.Py_ssize_t = 0
        field: ObjectWriter
        is_dict: cython.bint = type(value) is dict
        is_mapping: cython.bint = is_dict or isinstance(value, Mapping)
        if not is_mapping and not _has_fields(value):
            return out.fail(f"expected a dict for record {self.name}, got {shown(value)}")
        out.depth += 1
        if out.is_too_deep():
            return BAD
        for index in range(len(self.fields)):
            name = self.names[index]
            if is_dict:
                each = cython.cast(dict, value).get(name, _MISSING)
            elif is_mapping:
                each = value.get(name, _MISSING)
            else:
                each = getattr(value, name, _MISSING)
            if each is _MISSING:
                if self._write_missing(out, index):
                    return out.fail_in(f".{name}")
                continue
            found += 1
            field = cython.cast(ObjectWriter, self.fields[index])
            if field.write(out, each):
                return out.fail_in(f".{name}")
        if is_mapping and (self.strict or self.with_defaults) and found < len(value):
            extra = [each for each in value if each not in self.names and each != "-type"]
            if extra:
                return out.fail(f"expected no fields beside those of record {self.name}, got {extra!r:.60}")
        out.depth -= 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _write_missing(self, out: Output, index: cython.Py_ssize_t) -> cython.int:
        """Write a field that the value lacks."""
        field: ObjectWriter
        default = self.defaults[index]
        if self.strict or (self.with_defaults and default is None):
            return out.fail("the field is missing")
        if default is not None:
            out.put_bytes(default)
            return 0
        if not self.nullable[index]:
            return out.fail("the field is missing, and has no default")
        field = cython.cast(ObjectWriter, self.fields[index])
        return field.write(out, None)

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        index: cython.Py_ssize_t
        field: ObjectWriter
        is_mapping: cython.bint = isinstance(value, Mapping)
        if not is_mapping and not _has_fields(value):
            return False
        if is_mapping and value.get("-type", self.name) != self.name:
            return False
        out.depth += 1
        is_fit: cython.bint = out.depth <= 300
        for index in range(len(self.fields) if is_fit else 0):
            field = cython.cast(ObjectWriter, self.fields[index])
            name = self.names[index]
            each = value.get(name, _MISSING) if is_mapping else getattr(value, name, _MISSING)
            if each is not _MISSING:
                is_fit = field.fits(out, each)
            elif self.defaults[index] is None or self.strict:
                is_fit = self.nullable[index] and not self.strict
            if not is_fit:
                break
        out.depth -= 1
        return is_fit

    @cython.ccall
    @cython.exceptval(-1)
    def count(self, value: Any) -> cython.Py_ssize_t:
        """Return how many of the record's fields a value has."""
        name: str
        found: cython.Py_ssize_t = 0
        for name in self.names:
            if name in value if isinstance(value, Mapping) else hasattr(value, name):
                found += 1
        return found


@cython.final
@cython.cclass
class OptionalWriter(ObjectWriter):
    """Writes None, or a value of the only other branch."""

    null: cython.longlong
    other: ObjectWriter
    name: str

    def __init__(self, null: cython.longlong, other: ObjectWriter, name: str) -> None:
        self.null, self.other, self.name = null, other, name

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        if type(value) is tuple and is_hint(value):
            if value[0] == "null":
                value = value[1]
                if value is not None:
                    return out.fail(f"expected None, got {shown(value)}")
            elif value[0] == self.name:
                out.put_byte(0 if self.null else 2)
                return self.other.write(out, value[1])
            else:
                return out.fail(f"expected null or {self.name} as the name of a branch, got {shown(value[0])}")
        if value is None:
            return out.put_byte(2 if self.null else 0)
        out.put_byte(0 if self.null else 2)
        return self.other.write(out, value)

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        if type(value) is tuple and is_hint(value):
            if value[0] == "null":
                return value[1] is None
            return value[0] == self.name and self.other.fits(out, value[1])
        return value is None or self.other.fits(out, value)


@cython.cfunc
@cython.exceptval(-1)
def is_hint(value: Any) -> cython.bint:
    """Return whether a value is a tuple of a branch name and a value."""
    return len(value) == 2 and isinstance(value[0], str)


@cython.final
@cython.cclass
class UnionWriter(ObjectWriter):
    """Writes a value as a union branch: the one named in a tuple, or the first one that the value fits.

    If the value fits several records, the one that has the most fields in common with it is chosen. Double is preferred
    to float.
    """

    branches: list[ObjectWriter]
    names: list[str]
    kinds: list[str]
    label: str

    def __init__(self, branches: list[ObjectWriter], names: list[str], kinds: list[str], label: str) -> None:
        self.branches, self.names, self.kinds, self.label = branches, names, kinds, label

    @cython.cfunc
    @cython.exceptval(-1)
    def write(self, out: Output, value: Any) -> cython.int:
        index: cython.Py_ssize_t
        branch: ObjectWriter
        if type(value) is tuple and is_hint(value):
            if value[0] not in self.names:
                return out.fail(
                    f"expected one of {', '.join(self.names):.80} as the name of a branch, got {value[0]!r}"
                )
            index = self.names.index(value[0])
            value = value[1]
        else:
            index = self._chosen(out, value)
            if index < 0:
                return out.fail(f"expected a value of {self.label:.200}, got {shown(value)}")
        out.put_long(index)
        branch = cython.cast(ObjectWriter, self.branches[index])
        return branch.write(out, value)

    @cython.cfunc
    @cython.exceptval(-2)
    def _chosen(self, out: Output, value: Any) -> cython.Py_ssize_t:
        """Return the index of the branch for a value, chosen as in fastavro; -1 if the value fits none."""
        index: cython.Py_ssize_t
        best: cython.Py_ssize_t = -1
        most: cython.Py_ssize_t = -1
        fields: cython.Py_ssize_t
        branch: ObjectWriter
        for index in range(len(self.branches)):
            branch = cython.cast(ObjectWriter, self.branches[index])
            if not branch.fits(out, value):
                continue
            if self.kinds[index] == "float":
                return self.kinds.index("double", index) if "double" in self.kinds[index:] else index
            if self.kinds[index] != "record":
                return index
            fields = self.branches[index].count(value)
            if fields > most:
                best, most = index, fields
        return best

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, out: Output, value: Any) -> cython.bint:
        branch: ObjectWriter
        if type(value) is tuple and is_hint(value):
            if value[0] not in self.names:
                return False
            branch = self.branches[self.names.index(value[0])]
            return branch.fits(out, value[1])
        for branch in self.branches:  # noqa: SIM110 - a generator cannot call C methods
            if branch.fits(out, value):
                return True
        return False
