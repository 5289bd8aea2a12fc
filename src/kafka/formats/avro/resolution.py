"""Avro's schema resolution: matches each type of the writer's schema with a type of the reader's.

`column_decoder` turns a resolved schema into readers that fill columns, `object_plan` into readers that return objects.
Where the specification leaves a choice, this module follows the Java library: in a reader's union, a branch of the
writer's own type takes precedence over a promotion, and records outside of unions match regardless of their names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kafka.formats.avro.defaults import encoded_default
from kafka.formats.avro.schema import (
    NO_DEFAULT,
    Array,
    Enum,
    Fixed,
    Logical,
    Map,
    Named,
    Primitive,
    Record,
    Schema,
    Union,
)
from kafka.formats.avro.size_limits import check_values

PROMOTIONS = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
"""The types that each primitive type can be promoted to."""


def same_name(writer: Named, reader: Named) -> bool:
    """Return whether names match, ignoring namespaces and including the reader's aliases."""
    return writer.short_name == reader.short_name or writer.name in reader.aliases


def matches(writer: Schema, reader: Schema, *, exactly: bool) -> bool:
    """Return whether a writer's type, other than a union, matches a reader's type.

    Args:
        exactly: exclude promotions, and compare records by their full names.
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
    """Return whether types of array items or map values may match, judging only by the outermost types."""
    if isinstance(writer, Union):
        return True
    return isinstance(reader, Union) or matches(writer, reader, exactly=False)


def branch_for(writer: Schema, reader: Union) -> int:
    """Return the index of the reader's branch for a writer's type other than a union; -1 if there is none."""
    for exactly in (True, False):
        for number, branch in enumerate(reader.branches):
            if matches(writer, branch, exactly=exactly):
                return number
    return -1


INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1
LONG_MIN, LONG_MAX = -(1 << 63), (1 << 63) - 1
DAY = {"time-millis": 86_400_000, "time-micros": 86_400_000_000}
"""The number of units in a day, for each time-of-day logical type."""
_UNITS = {"millis": 1_000, "micros": 1_000_000, "nanos": 1_000_000_000}


class AvroResolutionError(ValueError):
    """The reader's schema cannot read values of the writer's schema. The message names the field and both types."""

    remedy = "Read with a compatible schema, or with the writer's schema."


@dataclass(eq=False, slots=True)
class Leaf:
    """A primitive type, a fixed type or an enum."""

    writer: Primitive | Fixed | Enum
    reader: Primitive | Fixed | Enum


@dataclass(eq=False, slots=True)
class Items:
    """An array."""

    writer: Array
    items: Resolved


@dataclass(eq=False, slots=True)
class Entries:
    """A map."""

    writer: Map
    values: Resolved


@dataclass(eq=False, slots=True)
class FieldStep:
    """A field of the writer's record: the index of the reader's field and its value, or None to skip the field."""

    written: str
    type: Schema
    number: int | None = None
    value: Resolved | None = None


@dataclass(eq=False, slots=True)
class DefaultStep:
    """A field that only the reader's record has: the field's index, the encoded default, and its resolved type."""

    number: int
    encoded: bytes
    value: Resolved


@dataclass(eq=False, slots=True)
class Fields:
    """A record. A recursive record refers to the same object."""

    writer: Record
    reader: Record
    steps: list[FieldStep] = field(default_factory=list)
    defaults: list[DefaultStep] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Branches:
    """A writer's union with the resolution of each branch."""

    writer: Union
    branches: list[Resolved] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Into:
    """A writer's type that is read as a branch of the reader's union."""

    reader: Union
    number: int
    value: Resolved


@dataclass(eq=False, slots=True)
class Impossible:
    """A branch of the writer's union that does not resolve to the reader's schema."""

    reason: str


Resolved: TypeAlias = Leaf | Items | Entries | Fields | Branches | Into | Impossible


def resolve(writer: Schema, reader: Schema) -> Resolved:
    """Resolve a writer's type.

    Raises:
        AvroResolutionError: the type does not resolve to the reader's. For a branch of a writer's union, the error is
            reported when a value of that branch is read.
        AvroSchemaError: a required default does not fit its field, or a few bytes could decode to too many values.
    """
    check_values(writer)
    return _Resolver().resolve(writer, reader, "")


class _Resolver:
    """Resolves one pair of schemas; `made` caches pairs of records, as records may be recursive."""

    def __init__(self) -> None:
        self.made: dict[tuple[int, int], Fields] = {}

    def resolve(self, writer: Schema, reader: Schema, path: str) -> Resolved:
        """Resolve a type; see the function `resolve`. `path` is the path of the reader's field."""
        if isinstance(writer, Union):
            return self._from_union(writer, reader, path)
        if isinstance(reader, Union):
            number = branch_for(writer, reader)
            if number < 0:
                raise AvroResolutionError(
                    f"{_at(path)}the writer's {writer.label} matches no branch of the reader's {reader.label}"
                )
            return Into(reader, number, self.resolve(writer, reader.branches[number], path))
        if isinstance(writer, Record) and isinstance(reader, Record):
            return self._known_record(writer, reader, path)
        if isinstance(writer, Array) and isinstance(reader, Array):
            return Items(writer, self.resolve(writer.items, reader.items, f"{path}[]"))
        if isinstance(writer, Map) and isinstance(reader, Map):
            return Entries(writer, self.resolve(writer.values, reader.values, f"{path}{{}}"))
        if isinstance(writer, Enum) and isinstance(reader, Enum) and same_name(writer, reader):
            return Leaf(writer, reader)
        if isinstance(writer, Fixed) and isinstance(reader, Fixed) and matches(writer, reader, exactly=False):
            _check_scale(writer.logical, reader.logical, path)
            return Leaf(writer, reader)
        if isinstance(writer, Primitive) and isinstance(reader, Primitive) and _is_promoted(writer, reader):
            _check_scale(writer.logical, reader.logical, path)
            return Leaf(writer, reader)
        raise AvroResolutionError(
            f"{_at(path)}the writer's {writer.label} cannot be read as the reader's {reader.label}"
        )

    def _from_union(self, writer: Union, reader: Schema, path: str) -> Resolved:
        """Resolve each branch. A branch that cannot be resolved fails when a value of that branch is read."""
        found = Branches(writer)
        reasons = []
        for number, branch in enumerate(writer.branches):
            try:  # for identical unions, each branch is read as itself
                if isinstance(reader, Union) and writer is reader:
                    found.branches.append(Into(reader, number, self.resolve(branch, branch, path)))
                else:
                    found.branches.append(self.resolve(branch, reader, path))
            except AvroResolutionError as error:
                found.branches.append(Impossible(str(error)))
                reasons.append(error)
        if len(reasons) == len(writer.branches) and reasons:
            raise reasons[0]
        return found

    def _known_record(self, writer: Record, reader: Record, path: str) -> Fields:
        """Resolve a record once. If that fails, discard everything resolved inside it."""
        key = (id(writer), id(reader))
        if key not in self.made:
            before = len(self.made)
            found = self.made[key] = Fields(writer, reader)
            try:
                self._record(found, path)
            except BaseException:
                while len(self.made) > before:
                    self.made.popitem()
                raise
        return self.made[key]

    def _record(self, found: Fields, path: str) -> None:
        writer, reader = found.writer, found.reader
        by_name = {field.name: number for number, field in enumerate(reader.fields)}
        for number, field_ in enumerate(reader.fields):
            for alias in field_.aliases:
                by_name.setdefault(alias, number)
        read = set()
        for field_ in writer.fields:
            wanted = by_name.get(field_.name)
            step = FieldStep(field_.name, field_.type)
            found.steps.append(step)
            if wanted is None or wanted in read:
                continue
            read.add(wanted)
            target = reader.fields[wanted]
            step.number, step.value = wanted, self.resolve(field_.type, target.type, f"{path}.{target.name}")
        for number, field_ in enumerate(reader.fields):
            if number in read:
                continue
            if field_.default is NO_DEFAULT:
                raise AvroResolutionError(
                    f"{_at(path)}the reader's field {field_.name!r} is missing from the writer's {writer.label}, and "
                    "has no default: give it one, or leave it out"
                )
            schema, encoded = encoded_default(field_)
            value = self.resolve(schema, field_.type, f"{path}.{field_.name}")
            found.defaults.append(DefaultStep(number, encoded, value))


def _at(path: str) -> str:
    return f"At {path.strip('.')}: " if path.strip(".") else ""


def _is_promoted(writer: Primitive, reader: Primitive) -> bool:
    """Return whether a primitive type is the reader's, or can be promoted to it."""
    if reader.logical is not None and reader.logical.name == "decimal":
        return writer.kind == "bytes"
    return writer.kind == reader.kind or reader.kind in PROMOTIONS.get(writer.kind, ())


def _check_scale(writer: Logical | None, reader: Logical | None, path: str) -> None:
    """Reject decimals with different scales, because the same digits would mean a different number."""
    if reader is None or reader.name != "decimal" or writer is None or writer.name != "decimal":
        return
    if writer.scale != reader.scale:
        raise AvroResolutionError(
            f"{_at(path)}the writer's decimal has {writer.scale} digits after the decimal point, the reader's "
            f"{reader.scale}: Avro cannot convert the scale"
        )


def int_bounds(reader: Primitive) -> tuple[int, int]:
    """Return the smallest and largest int of a type: the 32-bit range, or the range of a time of day."""
    if reader.logical is not None and reader.logical.name in DAY:
        return 0, DAY[reader.logical.name] - 1
    return INT_MIN, INT_MAX


def long_bounds(writer: Primitive, reader: Primitive) -> tuple[int, int, int, int]:
    """Return the smallest and largest number to accept, and the factor and divisor to apply.

    The factor and divisor convert between the two types' units of time, if both have one.
    """
    least, most = (INT_MIN, INT_MAX) if writer.kind == "int" else (LONG_MIN, LONG_MAX)
    times = divisor = 1
    if writer.logical is not None and reader.logical is not None:
        before, after = units(writer.logical), units(reader.logical)
        if before and after and _time_kind(writer.logical) == _time_kind(reader.logical):
            times, divisor = max(after // before, 1), max(before // after, 1)
    least, most = max(least, -(-LONG_MIN // times)), min(most, LONG_MAX // times)
    if reader.logical is not None and reader.logical.name in DAY:
        least, most = 0, DAY[reader.logical.name] * divisor // times - 1
    return least, most, times, divisor


def units(logical: Logical) -> int:
    """Return the number of units in a second; 0 for types without a unit of time."""
    return _UNITS.get(logical.name.rpartition("-")[2], 0)


def _time_kind(logical: Logical) -> str:
    return logical.name.rpartition("-")[0]
