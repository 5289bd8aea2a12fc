# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Writers of objects as a branch of an Avro union. Compiled by Cython; the plain variant behaves the same."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.formats.avro.output import shown

if cython.compiled:
    from cython.cimports.kafka.formats.avro.output import ObjectWriter, Output
else:
    from kafka.formats.avro.output import ObjectWriter, Output

BAD = cython.declare(cython.int, 1)
"""Returned by a writer for a value that does not fit its type."""


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
    """Return whether a tuple is the name of a branch and the value."""
    return len(value) == 2 and isinstance(value[0], str)


@cython.final
@cython.cclass
class UnionWriter(ObjectWriter):
    """Writes a value as the branch that it fits: the one that a tuple names, or the first.

    Of several records it is the one with most of the value's fields; double takes precedence over float.
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
        """Return the number of the branch that a value fits; -1 for none. The choice is fastavro's."""
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
