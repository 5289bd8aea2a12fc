# cython: boundscheck=False, wraparound=False, initializedcheck=False
# mypy: allow-untyped-decorators
"""Decodes messages from bytes, in one loop over a plan. It behaves the same when not compiled, but is slower.

`kafka.wire.plan` creates the plans. A plan lists the fields of one version of a struct, in wire order. The decoder
compares each length with the number of remaining bytes before it allocates memory, and an array must not declare more
elements than could fit into those bytes. An empty struct may take only two bytes on the wire, but far more
memory. So the size of a message also limits its number of structs: `FREE_STRUCTS`, and one more for every
`BYTES_A_STRUCT` bytes. As a result, a decoded message takes at most a small multiple of its encoded size.
"""

from __future__ import annotations

import struct as _struct
from functools import lru_cache
from typing import Any
from uuid import UUID

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.errors import WireFormatError

if cython.compiled:
    from cython.cimports.kafka.wire.kinds import (
        ARRAY,
        BOOL,
        FLOAT64,
        INT8,
        INT16,
        INT32,
        INT64,
        RECORDS,
        STRING,
        STRUCT,
        UINT16,
    )
    from cython.cimports.kafka.wire.kinds import UUID as UUID_KIND
else:
    from kafka.wire.kinds import ARRAY, BOOL, FLOAT64, INT8, INT16, INT32, INT64, RECORDS, STRING, STRUCT, UINT16
    from kafka.wire.kinds import UUID as UUID_KIND

FREE_STRUCTS = cython.declare(cython.longlong, 80_000)
"""Number of structs that any message may contain, whatever its size."""
PAUSE_AFTER = cython.declare(cython.longlong, 4_096)
"""Number of structs after which other threads may run, because compiled code blocks them."""
BYTES_A_STRUCT = cython.declare(cython.longlong, 24)
"""Number of bytes per additional struct. The most frequent structs are larger: a partition takes 26 bytes in a Metadata
response and 30 in a Fetch response.
"""

_float64 = _struct.Struct(">d")


@lru_cache(maxsize=4096)
def _uuid(data: bytes) -> UUID:
    """Create a UUID from its 16 bytes.

    UUIDs are cached, because topic ids recur, and creating a UUID takes a microsecond.
    """
    return UUID(bytes=data)


@cython.final
@cython.cclass
class ReadPlan:
    """The plan for reading one version of a struct: class, fields, and whether tagged fields follow."""

    target: type
    fields: list[Any]
    tagged: list[Any]
    flexible: cython.bint
    label: str

    def __init__(self, target: type, fields: list[Any], tagged: list[Any], flexible: bool, label: str) -> None:
        self.target = target
        self.fields = fields
        self.tagged = tagged
        self.flexible = flexible
        self.label = label


@cython.final
@cython.cclass
class ReadField:
    """The plan for reading one field. `floor` is the minimum size of an array element in bytes."""

    name: str
    kind: cython.int
    element: cython.int
    struct: ReadPlan
    nullable: cython.bint
    compact: cython.bint
    tag: cython.longlong
    floor: cython.Py_ssize_t

    def __init__(
        self,
        name: str,
        kind: int,
        element: int,
        struct: ReadPlan | None,
        nullable: bool,
        compact: bool,
        tag: int,
        floor: int,
    ) -> None:
        self.name = name
        self.kind = kind
        self.element = element
        self.struct = struct  # type: ignore[assignment]  # None where the field holds no struct
        self.nullable = nullable
        self.compact = compact
        self.tag = tag
        self.floor = floor


@cython.final
@cython.cclass
class Decoder:
    """A position in a message, and the readers for each wire type."""

    source: Any
    view: cython.const[cython.uchar][::1]  # type: ignore[valid-type]  # Cython's typed memoryview
    p: cython.pointer[cython.const[cython.uchar]]
    pos: cython.Py_ssize_t
    end: cython.Py_ssize_t
    most_structs: cython.longlong
    structs_left: cython.longlong
    since_pause: cython.longlong
    trail: list[Any]

    def __init__(self, source: memoryview, start: int) -> None:
        self.source = source
        self.pos = start
        self.end = len(source)
        self.structs_left = self.most_structs = FREE_STRUCTS + self.end // BYTES_A_STRUCT
        self.since_pause = 0
        self.trail = []
        if cython.compiled:
            self.view = source
            if self.end > 0:
                self.p = cython.address(self.view[0])
        else:
            self.p = source

    @cython.cfunc
    @cython.inline
    def take(self, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Skip `count` bytes and return the position of the first of them."""
        at: cython.Py_ssize_t = self.pos
        if count > self.end - at:
            raise WireFormatError(f"expected {count} more bytes at byte {at}, found {self.end - at}")
        self.pos = at + count
        return at

    @cython.cfunc
    @cython.inline
    def spend(self, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Count structs or unknown tagged fields; raise an error if they are too many for the message's size."""
        self.structs_left -= count
        if self.structs_left < 0:
            raise WireFormatError(
                f"expected at most {self.most_structs} structs in {len(self.source)} bytes, "
                f"found {-self.structs_left} more at byte {self.pos}"
            )
        return count

    @cython.cfunc
    def int8(self) -> cython.longlong:
        at: cython.Py_ssize_t = self.take(1)
        value: cython.longlong = self.p[at]
        return value - 256 if value > 127 else value

    @cython.cfunc
    def uint16(self) -> cython.longlong:
        at: cython.Py_ssize_t = self.take(2)
        high: cython.longlong = self.p[at]
        return (high << 8) | self.p[at + 1]

    @cython.cfunc
    def int16(self) -> cython.longlong:
        value: cython.longlong = self.uint16()
        return value - 65536 if value > 32767 else value

    @cython.cfunc
    def int32(self) -> cython.longlong:
        at: cython.Py_ssize_t = self.take(4)
        if not cython.compiled:
            return int.from_bytes(self.p[at : at + 4], "big", signed=True)
        value: cython.uint = self.p[at]
        value = (value << 8) | self.p[at + 1]
        value = (value << 8) | self.p[at + 2]
        value = (value << 8) | self.p[at + 3]
        return cython.cast(cython.int, value)

    @cython.cfunc
    def int64(self) -> cython.longlong:
        at: cython.Py_ssize_t = self.take(8)
        if not cython.compiled:
            return int.from_bytes(self.p[at : at + 8], "big", signed=True)
        value: cython.ulonglong = 0
        i: cython.Py_ssize_t
        for i in range(at, at + 8):
            value = (value << 8) | self.p[i]
        return cython.cast(cython.longlong, value)

    @cython.cfunc
    def uvarint(self) -> cython.longlong:
        """Read an unsigned varint of at most 32 bits: seven bits per byte, lowest bits first."""
        value: cython.longlong = 0
        shift: cython.int = 0
        part: cython.longlong
        while True:
            part = self.p[self.take(1)]
            value |= (part & 127) << shift
            if part < 128:
                break
            shift += 7
            if shift > 28:
                raise WireFormatError(f"expected a varint of at most 5 bytes before byte {self.pos}")
        if value > 0xFFFFFFFF:
            raise WireFormatError(f"expected a varint of at most 32 bits before byte {self.pos}, got {value}")
        return value

    @cython.cfunc
    def length(self, field: ReadField, kind: cython.int) -> cython.Py_ssize_t:
        """Read the length of a string, of bytes or of an array; -1 for null, if the field is nullable."""
        count: cython.longlong
        if field.compact:
            count = self.uvarint() - 1
        elif kind == STRING:
            count = self.int16()
        else:
            count = self.int32()
        if count < 0 and not (count == -1 and field.nullable and kind == field.kind):
            what = "null, which it may not be" if count == -1 else f"the length {count}"
            raise WireFormatError(f"expected a length before byte {self.pos}, got {what}")
        if kind == STRING and count > 32767:
            raise WireFormatError(f"expected a text of at most 32767 bytes at byte {self.pos}, got the length {count}")
        return count

    @cython.cfunc
    def text(self, field: ReadField) -> object:
        count: cython.Py_ssize_t = self.length(field, STRING)
        if count < 0:
            return None
        at: cython.Py_ssize_t = self.take(count)
        try:
            if not cython.compiled:
                return str(self.p[at : at + count], "utf-8")
            return cython.cast(cython.p_char, self.p)[at : at + count].decode("utf-8")
        except UnicodeDecodeError as error:
            raise WireFormatError(f"expected UTF-8 at byte {at}, got {error.object!r:.80}") from None

    @cython.cfunc
    def blob(self, field: ReadField, kind: cython.int) -> object:
        """Read bytes as a copy, or records as a view of the input."""
        count: cython.Py_ssize_t = self.length(field, kind)
        if count < 0:
            return None
        at: cython.Py_ssize_t = self.take(count)
        part = self.source[at : at + count]
        return part if kind == RECORDS else bytes(part)

    @cython.cfunc
    def value(self, field: ReadField, kind: cython.int) -> object:
        """Read a value of `kind`, which is the type of the field or of its elements."""
        at: cython.Py_ssize_t
        if kind == INT32:
            return self.int32()
        if kind == INT64:
            return self.int64()
        if kind == INT16:
            return self.int16()
        if kind == STRING:
            return self.text(field)
        if kind == ARRAY:
            return self.array(field)
        if kind == STRUCT:
            return None if field.nullable and kind == field.kind and self.int8() < 0 else self.struct(field.struct)
        if kind == BOOL:
            return self.int8() != 0
        if kind == INT8:
            return self.int8()
        if kind == UINT16:
            return self.uint16()
        if kind == UUID_KIND:
            at = self.take(16)
            return _uuid(bytes(self.source[at : at + 16]))
        if kind == FLOAT64:
            return _float64.unpack_from(self.source, self.take(8))[0]
        return self.blob(field, kind)

    @cython.cfunc
    def array(self, field: ReadField) -> object:
        count: cython.Py_ssize_t = self.length(field, ARRAY)
        if count < 0:
            return None
        if count > (self.end - self.pos) // field.floor:
            raise WireFormatError(
                f"expected {count} elements of at least {field.floor} bytes at byte {self.pos}, "
                f"found {self.end - self.pos} bytes"
            )
        items: list[Any] = []
        _: cython.Py_ssize_t
        if field.element == STRUCT:
            self.spend(count)
            for _ in range(count):
                items.append(self.struct(field.struct))
                self.since_pause += 1
                if self.since_pause >= PAUSE_AFTER:
                    self.since_pause = 0
                    with cython.nogil:
                        pass
        else:
            for _ in range(count):
                items.append(self.value(field, field.element))
        return items

    @cython.cfunc
    def struct(self, plan: ReadPlan) -> object:
        target: type = plan.target
        made = target.__new__(target)  # type: ignore[call-overload]  # the class is a message's, not a metaclass
        values: dict[str, Any] = made.__dict__
        field: ReadField | None = None
        try:
            for field in plan.fields:
                values[field.name] = self.value(field, field.kind)
            if plan.flexible:
                field = None
                self.tags(plan, values)
        except WireFormatError:
            self.trail.append((plan.label, None if field is None else field.name))
            raise
        return made

    @cython.cfunc
    def tags(self, plan: ReadPlan, values: dict[str, Any]) -> object:
        """Read the section of tagged fields (KIP-482). Unknown ones are kept as bytes."""
        count: cython.longlong = self.uvarint()
        last: cython.longlong = -1
        end: cython.Py_ssize_t = self.end
        tag: cython.longlong
        size: cython.Py_ssize_t
        at: cython.Py_ssize_t
        field: ReadField | None
        unknown: dict[int, bytes] = {}
        while count > 0:
            count -= 1
            tag = self.uvarint()
            if tag <= last:
                raise WireFormatError(f"expected a tag above {last} before byte {self.pos}, got {tag}")
            last = tag
            size = self.uvarint()
            at = self.take(size)
            field = _tagged(plan, tag)
            if field is None:
                self.spend(1)
                unknown[tag] = bytes(self.source[at : at + size])
                continue
            self.pos = at
            self.end = at + size
            values[field.name] = self.value(field, field.kind)
            if self.pos != self.end:
                raise WireFormatError(f"expected tag {tag} to take {size} bytes at byte {at}, it took {self.pos - at}")
            self.end = end
        if unknown:
            values["unknown_tags"] = unknown
        return None


@cython.cfunc
def _tagged(plan: ReadPlan, tag: cython.longlong) -> ReadField | None:
    """Find the field of a tag in a plan."""
    field: ReadField
    for field in plan.tagged:
        if field.tag == tag:
            return field
    return None


def decode(plan: ReadPlan, data: Any, start: int, exact: bool, most_structs: int = 0) -> tuple[Any, int]:
    """Read a struct at byte `start` of a buffer; return it and the position after it.

    Args:
        plan: the plan for reading the struct.
        data: any contiguous buffer; records in the result are views of it.
        start: the position of the first byte.
        exact: whether trailing bytes are an error.
        most_structs: maximum number of structs, if that is less than the size of the data allows; 0 for no limit.

    Raises:
        WireFormatError: the bytes do not match the plan.
    """
    source = data if type(data) is memoryview else memoryview(data)
    if source.format != "B" or source.ndim != 1 or not source.c_contiguous:
        source = source.cast("B")
    if not 0 <= start <= len(source):
        raise WireFormatError(f"{plan.label}: expected it to begin at byte {start}, there are {len(source)}")
    decoder: Decoder = Decoder(source, start)
    if 0 < most_structs < decoder.most_structs:
        decoder.most_structs = decoder.structs_left = most_structs
    try:
        made = decoder.struct(plan)
    except WireFormatError as error:
        raise WireFormatError(f"{_place(decoder.trail)}: {error.args[0]}") from None
    if exact and decoder.pos != decoder.end:
        left = decoder.end - decoder.pos
        raise WireFormatError(f"{plan.label}: expected the end at byte {decoder.pos}, found {left} more bytes")
    return made, decoder.pos


def _place(trail: list[tuple[str, str | None]]) -> str:
    """Describe where decoding stopped: the message, then the fields from the outermost to the innermost."""
    message = trail[len(trail) - 1][0]
    return ".".join([message, *(field or "tagged fields" for _, field in reversed(trail))])
