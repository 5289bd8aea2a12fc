"""Compiles declarations into plans: the fields of one version of a message, in wire order.

A plan is created when a version of a message is first read or written, and stored in the class.
"""

from __future__ import annotations

from kafka.wire.decoder import ReadField, ReadPlan
from kafka.wire.encoder import WriteField, WritePlan
from kafka.wire.kinds import Kind
from kafka.wire.structs import Field, Struct

_LIMITS = {
    Kind.INT8: (-(1 << 7), (1 << 7) - 1),
    Kind.INT16: (-(1 << 15), (1 << 15) - 1),
    Kind.UINT16: (0, (1 << 16) - 1),
    Kind.INT32: (-(1 << 31), (1 << 31) - 1),
    Kind.INT64: (-(1 << 63), (1 << 63) - 1),
}

_WIDTHS = {
    Kind.INT8: 1,
    Kind.INT16: 2,
    Kind.UINT16: 2,
    Kind.INT32: 4,
    Kind.INT64: 8,
    Kind.FLOAT64: 8,
    Kind.BOOL: 1,
    Kind.UUID: 16,
}


def read_plan(target: type[Struct], version: int, flexible: bool, label: str) -> ReadPlan:
    """Create the plan for reading a version of a struct. Errors contain the message's `label`."""
    present = [field for field in target.FIELDS if field.in_version(version)]
    fields = [_read_field(field, version, flexible, label) for field in present if field.tag < 0]
    tagged = [_read_field(field, version, flexible, label) for field in present if field.tag >= 0]
    return ReadPlan(target, fields, tagged, flexible, label)


def _read_field(field: Field, version: int, flexible: bool, label: str) -> ReadField:
    kind, element = field.kind, field.element
    return ReadField(
        field.name,
        int(kind),
        int(kind if element is None else element),
        None if field.struct is None else read_plan(field.struct, version, flexible, label),
        field.nullable_in(version),
        flexible and not field.never_compact,
        field.tag,
        1 if element is None else max(1, _floor(element, field.struct, version, flexible)),
    )


def _floor(kind: Kind, struct: type[Struct] | None, version: int, flexible: bool) -> int:
    """Return the minimum size of a value in bytes."""
    if struct is not None and kind is Kind.STRUCT:
        own = [field for field in struct.FIELDS if field.in_version(version) and field.tag < 0]
        return flexible + sum(
            1
            if field.kind is Kind.STRUCT and field.nullable_in(version)
            else _floor(field.kind, field.struct, version, flexible)
            for field in own
        )
    if kind in _WIDTHS:
        return _WIDTHS[kind]
    return 1 if flexible else 2 if kind is Kind.STRING else 4


def write_plan(target: type[Struct], version: int, flexible: bool, message: str) -> WritePlan:
    """Create the plan for writing a version of a struct. Errors contain the name `message`."""
    label = message if message.startswith(target.__name__ + " ") else f"{message} {target.__name__}"
    present = [field for field in target.FIELDS if field.in_version(version)]
    fields = [_write_field(field, version, flexible, message, label) for field in present if field.tag < 0]
    tagged = [_write_field(field, version, flexible, message, label) for field in present if field.tag >= 0]
    absent = [
        _write_field(field, version, flexible, message, label)
        for field in target.FIELDS
        if not field.in_version(version) and not field.ignorable
    ]
    return WritePlan(target, fields, tagged, absent, flexible, label)


def _write_field(field: Field, version: int, flexible: bool, message: str, label: str) -> WriteField:
    kind, element = field.kind, field.element
    return WriteField(
        field.name,
        label,
        int(kind),
        int(kind if element is None else element),
        None if field.struct is None else write_plan(field.struct, version, flexible, message),
        field.nullable_in(version),
        flexible and not field.never_compact,
        field.tag,
        _LIMITS.get(kind if element is None else element, (0, 0)),
        field.make_default(),
    )
