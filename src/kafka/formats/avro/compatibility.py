"""Checks whether a reader's schema can read values of a writer's schema, by Avro's resolution rules.

Unlike decoders, this check supports recursive types and finds all incompatibilities.
"""

from __future__ import annotations

from typing import NamedTuple

from kafka.formats.avro.resolution import PROMOTIONS, same_name
from kafka.formats.avro.schema import NO_DEFAULT, Array, Enum, Field, Fixed, Map, Primitive, Record, Schema, Union


class Incompatibility(NamedTuple):
    """One reason why a reader cannot read a writer's values.

    Attributes:
        kind: the incompatibility's name in Avro's Java library, such as READER_FIELD_MISSING_DEFAULT_VALUE.
        path: the position in the reader's schema, such as ``/fields/1/type``.
        description: an explanation in one sentence.
        detail: the affected field, symbols or types.
    """

    kind: str
    path: str
    description: str
    detail: str


def incompatibilities(reader: Schema, writer: Schema) -> list[Incompatibility]:
    """Return the reasons why a reader cannot read all values of a writer; empty if it can."""
    return _Comparison().compare(reader, writer, "/")


class _Comparison:
    """One comparison, which assumes that pairs of records still being compared are compatible."""

    def __init__(self) -> None:
        self._open: set[tuple[int, int]] = set()
        self._assumed: set[tuple[int, int]] = set()
        self._known: dict[tuple[int, int], list[Incompatibility]] = {}

    def compare(self, reader: Schema, writer: Schema, path: str) -> list[Incompatibility]:
        """Return the reasons why the reader's type at a path cannot read the writer's type."""
        if isinstance(writer, Union):
            if isinstance(reader, Union):
                return [each for branch in writer.branches for each in self._branch(reader, branch, path)]
            return [each for branch in writer.branches for each in self.compare(reader, branch, path)]
        if isinstance(reader, Union):
            return self._branch(reader, writer, path)
        if isinstance(reader, Record) and isinstance(writer, Record):
            return self._records(reader, writer, path)
        if isinstance(reader, Array) and isinstance(writer, Array):
            return self.compare(reader.items, writer.items, _joined(path, "items"))
        if isinstance(reader, Map) and isinstance(writer, Map):
            return self.compare(reader.values, writer.values, _joined(path, "values"))
        if isinstance(reader, Enum) and isinstance(writer, Enum):
            return _names(reader, writer, path) + _symbols(reader, writer, path)
        if isinstance(reader, Fixed) and isinstance(writer, Fixed):
            return _names(reader, writer, path) + _sizes(reader, writer, path)
        if _reads(reader, writer):
            return []
        return [
            Incompatibility(
                "TYPE_MISMATCH",
                path,
                f"The type (path '{path}') of a field in the reader's schema, {reader.label}, does not match the "
                f"writer's, {writer.label}",
                f"reader type: {reader.kind.upper()} not compatible with writer type: {writer.kind.upper()}",
            )
        ]

    def _branch(self, reader: Union, writer: Schema, path: str) -> list[Incompatibility]:
        """Compare a writer's type with the branches of the reader's union."""
        if any(not self.compare(branch, writer, path) for branch in reader.branches):
            return []
        named = [
            each
            for each in reader.branches
            if isinstance(each, (Record, Enum, Fixed))
            and isinstance(writer, (Record, Enum, Fixed))
            and each.kind == writer.kind
            and same_name(writer, each)
        ]
        if len(named) == 1:  # this is clearly the intended branch, so its own incompatibilities are more helpful
            return self.compare(named[0], writer, _joined(path, str(reader.branches.index(named[0]))))
        return [
            Incompatibility(
                "MISSING_UNION_BRANCH",
                path,
                f"The reader's union (path '{path}') has no branch that reads the writer's {writer.label}",
                f"reader union lacking writer type: {writer.kind.upper()}",
            )
        ]

    def _records(self, reader: Record, writer: Record, path: str) -> list[Incompatibility]:
        pair = (id(reader), id(writer))
        if pair in self._known:
            return self._known[pair][:1]  # the first comparison has already reported all reasons
        if pair in self._open:
            self._assumed.add(pair)
            return []
        outside, self._assumed = self._assumed, set()
        self._open.add(pair)
        found = _names(reader, writer, path)
        for number, field in enumerate(reader.fields):
            found += self._field(field, writer, _joined(path, f"fields/{number}"))
        self._open.discard(pair)
        self._assumed.discard(pair)
        if found or not self._assumed:  # do not cache a result that depends on assumptions about other pairs
            self._known[pair] = found
        self._assumed |= outside
        return found

    def _field(self, field: Field, writer: Record, path: str) -> list[Incompatibility]:
        written = [each for each in writer.fields if each.name == field.name]
        written = written or [each for each in writer.fields if each.name in field.aliases]
        if written:
            return self.compare(field.type, written[0].type, _joined(path, "type"))
        if field.default is not NO_DEFAULT:
            return []
        return [
            Incompatibility(
                "READER_FIELD_MISSING_DEFAULT_VALUE",
                path,
                f"The field '{field.name}' (path '{path}') of the reader's schema has no default value and is missing "
                "in the writer's",
                field.name,
            )
        ]


def _reads(reader: Schema, writer: Schema) -> bool:
    """Return whether a primitive type is the same as the reader's or can be promoted to it."""
    if not isinstance(reader, Primitive) or not isinstance(writer, Primitive):
        return False
    return reader.kind == writer.kind or reader.kind in PROMOTIONS.get(writer.kind, ())


def _names(reader: Record | Enum | Fixed, writer: Record | Enum | Fixed, path: str) -> list[Incompatibility]:
    if same_name(writer, reader):
        return []
    where = _joined(path, "name")
    return [
        Incompatibility(
            "NAME_MISMATCH",
            where,
            f"The name of the reader's {reader.kind} (path '{where}'), {reader.name}, differs from the writer's, "
            f"{writer.name}, and is no alias of it",
            f"expected: {writer.name}",
        )
    ]


def _symbols(reader: Enum, writer: Enum, path: str) -> list[Incompatibility]:
    missing = [each for each in writer.symbols if each not in reader.symbols]
    if not missing or reader.default is not None:
        return []
    where = _joined(path, "symbols")
    return [
        Incompatibility(
            "MISSING_ENUM_SYMBOLS",
            where,
            f"The reader's enum (path '{where}') lacks symbols of the writer's and has no default",
            f"[{', '.join(missing)}]",
        )
    ]


def _sizes(reader: Fixed, writer: Fixed, path: str) -> list[Incompatibility]:
    if reader.size == writer.size:
        return []
    where = _joined(path, "size")
    return [
        Incompatibility(
            "FIXED_SIZE_MISMATCH",
            where,
            f"The size of the reader's fixed (path '{where}') differs from the writer's",
            f"expected: {writer.size}, found: {reader.size}",
        )
    ]


def _joined(path: str, part: str) -> str:
    return f"{path.rstrip('/')}/{part}"
