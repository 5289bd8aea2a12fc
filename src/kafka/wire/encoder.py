# cython: boundscheck=False, wraparound=False, initializedcheck=False
# mypy: allow-untyped-decorators
"""Encodes messages as bytes, in one loop over a plan. It behaves the same when not compiled, but is slower.

`kafka.wire.plan` creates the plans. Everything except record bytes is written into one growing buffer. Record bytes are
not copied: the buffer is split at their positions, and the parts are assembled at the end.
"""

from __future__ import annotations

import operator
import struct as _struct
from typing import Any
from uuid import UUID

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.errors import UnsupportedVersionError, WireFormatError

if cython.compiled:
    from cython.cimports.cpython.bytearray import PyByteArray_AS_STRING, PyByteArray_Resize
    from cython.cimports.cpython.bytes import PyBytes_AS_STRING
    from cython.cimports.kafka.wire.kinds import ARRAY, BOOL, FLOAT64, INT8, INT32, INT64, RECORDS, STRING, STRUCT
    from cython.cimports.kafka.wire.kinds import UUID as UUID_KIND
    from cython.cimports.libc.string import memcpy, memmove
else:
    from kafka.wire.kinds import ARRAY, BOOL, FLOAT64, INT8, INT32, INT64, RECORDS, STRING, STRUCT
    from kafka.wire.kinds import UUID as UUID_KIND

_ABSENT = object()
_float64 = _struct.Struct(">d")


@cython.final
@cython.cclass
class WritePlan:
    """The plan for writing one version of a struct: fields, tagged fields, and the fields that the version lacks."""

    target: type
    fields: list[Any]
    tagged: list[Any]
    absent: list[Any]
    flexible: cython.bint
    label: str

    def __init__(
        self, target: type, fields: list[Any], tagged: list[Any], absent: list[Any], flexible: bool, label: str
    ) -> None:
        self.target = target
        self.fields = fields
        self.tagged = tagged
        self.absent = absent
        self.flexible = flexible
        self.label = label


@cython.final
@cython.cclass
class WriteField:
    """The plan for writing one field.

    `low` and `high` limit an integer, or the integers of an array. `default` is only compared and written, never
    returned to callers.
    """

    name: str
    label: str
    kind: cython.int
    element: cython.int
    struct: WritePlan
    nullable: cython.bint
    compact: cython.bint
    tag: cython.longlong
    low: cython.longlong
    high: cython.longlong
    default: object

    def __init__(
        self,
        name: str,
        label: str,
        kind: int,
        element: int,
        struct: WritePlan | None,
        nullable: bool,
        compact: bool,
        tag: int,
        limits: tuple[int, int],
        default: Any,
    ) -> None:
        self.name = name
        self.label = label
        self.kind = kind
        self.element = element
        self.struct = struct  # type: ignore[assignment]  # None where the field holds no struct
        self.nullable = nullable
        self.compact = compact
        self.tag = tag
        self.low, self.high = limits
        self.default = default


@cython.cfunc
def _misfit(field: WriteField, expected: str, value: object) -> object:
    """Return the error for a value that does not fit its field."""
    shown = "null" if value is None else f"{value!r:.80}"
    return WireFormatError(f"{field.label}.{field.name}: expected {expected}, got {shown}")


@cython.cfunc
def _unfit_bytes(field: WriteField, expected: str, value: object) -> object:
    """Return the error for a value that is not bytes. The error does not contain the value."""
    return WireFormatError(f"{field.label}.{field.name}: expected {expected}, got {type(value).__name__}")


@cython.final
@cython.cclass
class Encoder:
    """A growing buffer, the positions at which to split it for record bytes, and the writers for each wire type."""

    buffer: bytearray
    p: cython.p_uchar
    pos: cython.Py_ssize_t
    capacity: cython.Py_ssize_t
    cuts: list[Any]

    def __init__(self, start: int) -> None:
        self.capacity = 512
        self.buffer = bytearray(512)
        self.pos = start
        self.cuts = []
        self.locate()

    @cython.cfunc
    def locate(self) -> object:
        """Update the pointer to the buffer's bytes, which move when the buffer grows."""
        if cython.compiled:
            self.p = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(self.buffer))
        else:
            self.p = self.buffer
        return None

    @cython.cfunc
    @cython.inline
    def room(self, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Reserve `count` bytes and return the position of the first of them."""
        at: cython.Py_ssize_t = self.pos
        if count > self.capacity - at:
            self.grow(count)
        self.pos = at + count
        return at

    @cython.cfunc
    def grow(self, count: cython.Py_ssize_t) -> object:
        self.capacity = 2 * (self.capacity + count)
        if cython.compiled:
            PyByteArray_Resize(self.buffer, self.capacity)
        else:
            self.buffer.extend(bytes(self.capacity - len(self.buffer)))
        self.locate()
        return None

    @cython.cfunc
    def big_endian(self, value: cython.longlong, width: cython.int) -> object:
        at: cython.Py_ssize_t = self.room(width)
        i: cython.int
        for i in range(width - 1, -1, -1):
            self.p[at + i] = value & 0xFF
            value >>= 8
        return None

    @cython.cfunc
    def uvarint(self, value: cython.longlong) -> object:
        while value > 127:
            self.p[self.room(1)] = (value & 127) | 128
            value >>= 7
        self.p[self.room(1)] = value
        return None

    @cython.cfunc
    def raw(self, data: bytes) -> object:
        count: cython.Py_ssize_t = len(data)
        at: cython.Py_ssize_t = self.room(count)
        if cython.compiled:
            memcpy(self.p + at, PyBytes_AS_STRING(data), count)
        else:
            self.buffer[at : at + count] = data
        return None

    @cython.cfunc
    def length(self, field: WriteField, kind: cython.int, count: cython.Py_ssize_t) -> object:
        """Write the length of a string, of bytes or of an array; -1 for null."""
        if count > 0x7FFFFFFE:
            raise _misfit(field, "at most 2147483646 bytes or elements", count)
        if field.compact:
            self.uvarint(count + 1)
        else:
            self.big_endian(count, 2 if kind == STRING else 4)
        return None

    @cython.cfunc
    def null(self, field: WriteField, kind: cython.int) -> object:
        if not field.nullable or kind != field.kind:
            raise _misfit(field, "a value that is not null in this version", None)
        if kind == STRUCT:
            return self.big_endian(-1, 1)
        return self.length(field, kind, -1)

    @cython.cfunc
    def integer(self, field: WriteField, kind: cython.int, value: object) -> object:
        number: cython.longlong
        try:
            exact = value if type(value) is int else operator.index(value)  # type: ignore[arg-type]  # checked here
            number = exact
        except (TypeError, OverflowError):
            raise _misfit(field, f"an integer from {field.low} to {field.high}", value) from None
        if number < field.low or number > field.high:
            raise _misfit(field, f"an integer from {field.low} to {field.high}", value)
        return self.big_endian(number, 4 if kind == INT32 else 8 if kind == INT64 else 1 if kind == INT8 else 2)

    @cython.cfunc
    def text(self, field: WriteField, value: object) -> object:
        if not isinstance(value, str):
            raise _misfit(field, "a str", value)
        try:
            data: bytes = value.encode("utf-8")
        except UnicodeEncodeError:
            raise _misfit(field, "a str that can be written in UTF-8", value) from None
        if len(data) > 32767:
            raise _misfit(field, "a str of at most 32767 bytes in UTF-8", f"{len(data)} bytes")
        self.length(field, STRING, len(data))
        return self.raw(data)

    @cython.cfunc
    def blob(self, field: WriteField, kind: cython.int, value: object) -> object:
        """Write bytes into the buffer, or split it and keep records without a copy.

        Errors contain only the type of the value, which may be a secret (SaslAuthenticateRequest).
        """
        try:
            view = memoryview(value)  # type: ignore[arg-type]  # checked here
        except TypeError:
            raise _unfit_bytes(field, "bytes or another buffer", value) from None
        if not view.c_contiguous:
            raise _unfit_bytes(field, "bytes in one piece", value)
        self.length(field, kind, view.nbytes)
        if kind == RECORDS:
            if view.nbytes:
                plain = view.ndim == 1 and view.itemsize == 1
                self.cuts.append((self.pos, value if plain else view.cast("B")))
            return None
        return self.raw(value if type(value) is bytes else view.tobytes())

    @cython.cfunc
    def boolean(self, field: WriteField, value: object) -> object:
        if value is True or value is False:
            self.p[self.room(1)] = value is True
            return None
        raise _misfit(field, "True or False", value)

    @cython.cfunc
    def number(self, field: WriteField, value: object) -> object:
        if not isinstance(value, (float, int)):
            raise _misfit(field, "a float", value)
        try:
            return self.raw(_float64.pack(value))
        except (OverflowError, _struct.error):
            raise _misfit(field, "a float of 64 bits", value) from None

    @cython.cfunc
    def value(self, field: WriteField, kind: cython.int, value: object) -> object:
        """Write a value of `kind`, which is the type of the field or of its elements."""
        if value is None:
            return self.null(field, kind)
        if kind <= INT64:
            return self.integer(field, kind, value)
        if kind == STRING:
            return self.text(field, value)
        if kind == ARRAY:
            return self.array(field, value)
        if kind == STRUCT:
            if field.nullable and kind == field.kind:
                self.big_endian(1, 1)
            return self.struct(field.struct, value)
        if kind == BOOL:
            return self.boolean(field, value)
        if kind == UUID_KIND:
            if not isinstance(value, UUID):
                raise _misfit(field, "a uuid.UUID", value)
            return self.raw(value.int.to_bytes(16, "big"))  # `UUID.bytes` is a Python function
        if kind == FLOAT64:
            return self.number(field, value)
        return self.blob(field, kind, value)

    @cython.cfunc
    def array(self, field: WriteField, value: object) -> object:
        if not isinstance(value, (list, tuple)):
            raise _misfit(field, "a list", value)
        items: list[Any] = value if type(value) is list else list(value)
        self.length(field, ARRAY, len(items))
        if field.element == STRUCT:
            for item in items:
                self.struct(field.struct, item)
        else:
            for item in items:
                self.value(field, field.element, item)
        return None

    @cython.cfunc
    def struct(self, plan: WritePlan, thing: object) -> object:
        if not isinstance(thing, plan.target):
            raise WireFormatError(f"{plan.label}: expected a {plan.target.__name__}, got {thing!r:.80}")
        values: dict[str, Any] = thing.__dict__
        field: WriteField
        for field in plan.fields:
            value = values.get(field.name, _ABSENT)
            if value is _ABSENT:
                value = field.default
            self.value(field, field.kind, value)
        for field in plan.absent:
            value = values.get(field.name, _ABSENT)
            if value is not _ABSENT and value != field.default:
                raise UnsupportedVersionError(
                    f"{plan.label} has no field {field.name}, which is set to {value!r:.80}: "
                    "leave it at its default, or use a version that has it"
                )
        if plan.flexible:
            self.tags(plan, values)
        elif values.get("unknown_tags"):
            raise UnsupportedVersionError(f"{plan.label} has no tagged fields, unknown_tags is set")
        return None

    @cython.cfunc
    def tags(self, plan: WritePlan, values: dict[str, Any]) -> object:
        """Write the tagged fields (KIP-482), sorted by tag: those that differ from their default, and unknown ones."""
        present: dict[int, Any] = {}
        field: WriteField
        for field in plan.tagged:
            value = values.get(field.name, _ABSENT)
            if value is not _ABSENT and value != field.default:
                present[field.tag] = field
        unknown = values.get("unknown_tags")
        if unknown:
            present.update(_unknown(plan, unknown))
        self.uvarint(len(present))
        for tag in sorted(present):
            self.uvarint(tag)
            entry = present[tag]
            if isinstance(entry, WriteField):
                field = entry
                self.tagged(field, values[field.name])
            else:
                self.uvarint(len(entry))
                self.raw(entry)
        return None

    @cython.cfunc
    def tagged(self, field: WriteField, value: object) -> object:
        """Write a value after its size: write it five bytes ahead, then its size, and move it to follow the size."""
        start: cython.Py_ssize_t = self.room(5)
        self.value(field, field.kind, value)
        count: cython.Py_ssize_t = self.pos - start - 5
        self.pos = start
        self.uvarint(count)
        at: cython.Py_ssize_t = self.pos
        self.pos = at + count
        if cython.compiled:
            memmove(self.p + at, self.p + start + 5, count)
        else:
            self.buffer[at : at + count] = self.buffer[start + 5 : start + 5 + count]
        return None

    @cython.cfunc
    def parts(self, framed: cython.bint) -> list[Any]:
        """Return the written bytes, split at record bytes. If `framed`, they start with the total size."""
        end: cython.Py_ssize_t = self.pos
        if framed:
            size = end - 4 + sum([len(data) for _, data in self.cuts])
            if size > 0x7FFFFFFF:
                raise WireFormatError(f"expected a message of at most 2147483647 bytes, got {size}")
            self.pos = 0
            self.big_endian(size, 4)
        whole = memoryview(self.buffer)
        parts: list[Any] = []
        at: cython.Py_ssize_t = 0
        cut: cython.Py_ssize_t
        for cut, data in self.cuts:
            if cut > at:
                parts.append(whole[at:cut])
            parts.append(data)
            at = cut
        if end > at or not parts:
            parts.append(whole[at:end])
        return parts


@cython.cfunc
def _unknown(plan: WritePlan, unknown: Any) -> Any:
    """Check the unknown tagged fields of a decoded message: this version must not use their tags for other fields."""
    field: WriteField
    for field in plan.tagged:
        if field.tag in unknown:
            raise WireFormatError(f"{plan.label}: expected unknown tags only, tag {field.tag} is {field.name}")
    for tag, data in unknown.items():
        if not isinstance(tag, int) or not 0 <= tag <= 0xFFFFFFFF or not isinstance(data, bytes):
            raise WireFormatError(
                f"{plan.label}: expected unknown_tags to map tags to bytes, got {tag!r}: {data!r:.60}"
            )
    return unknown


def encode(things: list[tuple[WritePlan, Any]], framed: bool, head: bytes = b"") -> list[Any]:
    """Write structs one after the other; return the parts, which contain the given record bytes without a copy.

    Args:
        things: the structs, each with its plan.
        framed: whether to write the total size in bytes first, as four bytes.
        head: bytes to write before the structs.

    Raises:
        WireFormatError: a value does not fit its field.
        UnsupportedVersionError: a field is set that the version lacks and that is not ignorable.
    """
    encoder: Encoder = Encoder(4 if framed else 0)
    plan: WritePlan
    encoder.raw(head)
    for plan, thing in things:
        encoder.struct(plan, thing)
    parts: list[Any] = encoder.parts(framed)
    return parts
