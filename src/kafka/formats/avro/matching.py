"""Which of a reader's types a writer's type can be read as: the rules of schema resolution of the Avro specification.

Where the specification leaves a choice, it is Java's: in a reader's union, the branch that is the writer's type takes
precedence over one that it can be promoted to, and records outside unions match whatever they are called.
"""

from __future__ import annotations

from kafka.formats.avro.schema import Array, Enum, Fixed, Map, Named, Primitive, Record, Schema, Union

PROMOTIONS = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
"""The types that a primitive type can be promoted to."""


def same_name(writer: Named, reader: Named) -> bool:
    """Return whether names match: without their namespaces, or as one of the reader's aliases."""
    return writer.short_name == reader.short_name or writer.name in reader.aliases


def matches(writer: Schema, reader: Schema, *, exactly: bool) -> bool:
    """Return whether a writer's type, other than a union, matches a reader's type.

    Args:
        exactly: without promotions, and records by their full names.
    """
    if isinstance(writer, Primitive) and isinstance(reader, Primitive):
        return writer.kind == reader.kind or (not exactly and reader.kind in PROMOTIONS.get(writer.kind, ()))
    if isinstance(writer, Array) and isinstance(reader, Array):
        return not exactly or _may_match(writer.items, reader.items)
    if isinstance(writer, Map) and isinstance(reader, Map):
        return not exactly or _may_match(writer.values, reader.values)
    if isinstance(writer, Fixed) and isinstance(reader, Fixed) and writer.size != reader.size:
        return False
    for kind in (Fixed, Enum, Record):
        if isinstance(writer, kind) and isinstance(reader, kind):
            if exactly:
                return writer.name == reader.name or writer.name in reader.aliases
            return same_name(writer, reader)
    return False


def _may_match(writer: Schema, reader: Schema) -> bool:
    """Return whether the types of items or values match, as far as their outermost types tell."""
    if isinstance(writer, Union):
        return True
    return isinstance(reader, Union) or matches(writer, reader, exactly=False)


def branch_for(writer: Schema, reader: Union) -> int:
    """Return the number of the reader's branch for a writer's type other than a union; -1 for none."""
    for exactly in (True, False):
        for number, branch in enumerate(reader.branches):
            if matches(writer, branch, exactly=exactly):
                return number
    return -1
