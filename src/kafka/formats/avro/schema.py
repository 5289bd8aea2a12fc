"""Parses the JSON of Avro schemas into a tree of types with resolved names, following the Avro 1.12 specification.

A type may refer to itself by name, so a tree may contain cycles. As the specification requires, the parser ignores
unknown logical types and those that do not fit their underlying type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
MAX_NAME_LENGTH: Final = 10_000
MAX_DEPTH: Final = 200
"""Maximum nesting depth of a schema's JSON; deeper schemas are rejected."""
MAX_PRECISION: Final = 100_000
"""Maximum precision of a decimal. Decimals above it are read as bytes, because converting them could take minutes."""
NO_DEFAULT: Final = object()
"""Marks a field without a default; None means that the default is `null`."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ORDERS = ("ascending", "descending", "ignore")


class AvroSchemaError(ValueError):
    """A schema is invalid. The message names the place in the schema, what was expected and what was found."""

    remedy = "Correct the schema at the position that the message names."


@dataclass(frozen=True, slots=True)
class Logical:
    """A logical type that fits its underlying type: its name, and precision and scale for decimals."""

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(eq=False, slots=True)
class Primitive:
    """A primitive type, one of `PRIMITIVES`."""

    kind: str
    logical: Logical | None = None

    @property
    def label(self) -> str:
        """The type's name in error messages."""
        return self.kind if self.logical is None else f"{self.kind} ({self.logical.name})"


@dataclass(eq=False, slots=True)
class Named:
    """A named type with its full name, `namespace.name`, and its aliases."""

    name: str
    aliases: tuple[str, ...]

    @property
    def short_name(self) -> str:
        """The name without its namespace."""
        return self.name.rpartition(".")[2]


@dataclass(eq=False, slots=True)
class Fixed(Named):
    """A fixed number of bytes."""

    size: int
    logical: Logical | None = None
    kind: str = "fixed"

    @property
    def label(self) -> str:
        """The type's name in error messages."""
        return f"fixed {self.name}"


@dataclass(eq=False, slots=True)
class Enum(Named):
    """An enum; readers use `default` for unknown symbols."""

    symbols: tuple[str, ...]
    default: str | None = None
    kind: str = "enum"

    @property
    def label(self) -> str:
        """The type's name in error messages."""
        return f"enum {self.name}"


@dataclass(eq=False, slots=True)
class Field:
    """A field of a record. Its default is the JSON value in the schema; it is checked when it is used."""

    name: str
    type: Schema
    default: Any = NO_DEFAULT
    aliases: tuple[str, ...] = ()
    order: str = "ascending"
    doc: str | None = None


@dataclass(eq=False, slots=True)
class Record(Named):
    """A record with its fields in encoding order."""

    fields: list[Field] = field(default_factory=list)
    doc: str | None = None
    kind: str = "record"

    @property
    def label(self) -> str:
        """The type's name in error messages."""
        return f"record {self.name}"


@dataclass(eq=False, slots=True)
class Array:
    """A list of items of one type."""

    items: Schema
    kind: str = "array"
    label: str = "array"


@dataclass(eq=False, slots=True)
class Map:
    """A map from strings to values of one type."""

    values: Schema
    kind: str = "map"
    label: str = "map"


@dataclass(eq=False, slots=True)
class Union:
    """A union of several types."""

    branches: tuple[Schema, ...]
    kind: str = "union"

    @property
    def label(self) -> str:
        """The type's name in error messages."""
        return f"union [{', '.join(branch.label for branch in self.branches)}]"


Schema: TypeAlias = Primitive | Fixed | Enum | Record | Array | Map | Union


def parse(text: str | bytes | list[Any] | dict[str, Any], named: Mapping[str, Schema] | None = None) -> Schema:
    """Parse a schema.

    Args:
        text: JSON text, or the result of `json.loads`. The name of a primitive type may be given without quotes.
        named: types from other schemas that this one refers to, by full name.

    Raises:
        AvroSchemaError: the text is not JSON, or not a valid schema.
    """
    return _Parser(dict(named or {})).parse(_loaded(text), "", "", 0)


def parse_named(
    text: str | bytes | list[Any] | dict[str, Any], named: Mapping[str, Schema] | None = None
) -> tuple[Schema, dict[str, Schema]]:
    """Parse a schema like `parse`; also return all named types, both defined in the schema and passed in `named`."""
    parser = _Parser(dict(named or {}))
    return parser.parse(_loaded(text), "", "", 0), parser.named


def _loaded(text: Any) -> Any:
    """Return a schema's JSON value."""
    if not isinstance(text, (str, bytes, bytearray)):
        return text
    given = text.decode() if isinstance(text, (bytes, bytearray)) else text
    if given.strip() in PRIMITIVES:
        return given.strip()
    try:
        return json.loads(given)
    except (ValueError, RecursionError) as error:
        raise AvroSchemaError(f"Expected an Avro schema in JSON, got {given[:60]!r}: {error}") from error


class _Parser:
    """Parses one schema; `named` contains the types defined so far."""

    def __init__(self, named: dict[str, Schema]) -> None:
        self.named = named

    def parse(self, value: Any, namespace: str, path: str, depth: int) -> Schema:
        """Parse the JSON value at a path of the schema; `namespace` applies to names without one."""
        if depth > MAX_DEPTH:
            raise AvroSchemaError(f"{_at(path)}expected at most {MAX_DEPTH} levels of nesting")
        if isinstance(value, str):
            return self._referred(value, namespace, path)
        if isinstance(value, list):
            return self._union(value, namespace, path, depth)
        if not isinstance(value, dict):
            raise AvroSchemaError(f"{_at(path)}expected a type (a name, an object or a list), got {value!r:.60}")
        kind = value.get("type")
        if isinstance(kind, (dict, list)):  # {"type": {"type": "int"}}, which the Java library also accepts
            return self.parse(kind, namespace, path, depth + 1)
        if kind in PRIMITIVES:
            return Primitive(kind, _logical(value, kind, 0))
        if kind == "array":
            return Array(self.parse(_required(value, "items", path), namespace, f"{path}[]", depth + 1))
        if kind == "map":
            return Map(self.parse(_required(value, "values", path), namespace, f"{path}{{}}", depth + 1))
        if kind in ("record", "error"):
            return self._record(value, namespace, path, depth)
        if kind == "enum":
            return self._enum(value, namespace, path)
        if kind == "fixed":
            return self._fixed(value, namespace, path)
        if isinstance(kind, str):
            return self._referred(kind, namespace, path)
        raise AvroSchemaError(f"{_at(path)}expected an object with a 'type', got {value!r:.60}")

    def _referred(self, name: str, namespace: str, path: str) -> Schema:
        """Return a primitive type, or a named type that has already been defined."""
        if name in PRIMITIVES:
            return Primitive(name)
        for full in (_full(name, namespace), name):
            if full in self.named:
                return self.named[full]
        raise AvroSchemaError(
            f"{_at(path)}expected a primitive type or a type defined before, got {name!r}: define it first, or add "
            "the schema that defines it as a reference"
        )

    def _union(self, value: list[Any], namespace: str, path: str, depth: int) -> Union:
        branches = tuple(self.parse(each, namespace, path, depth + 1) for each in value)
        seen = set()
        for branch in branches:
            if isinstance(branch, Union):
                raise AvroSchemaError(f"{_at(path)}a union must not contain a union directly")
            key = branch.name if isinstance(branch, (Fixed, Enum, Record)) else branch.kind
            if key in seen:
                raise AvroSchemaError(f"{_at(path)}a union must not contain {key} twice")
            seen.add(key)
        return Union(branches)

    def _record(self, value: dict[str, Any], namespace: str, path: str, depth: int) -> Record:
        name, inner = self._name(value, namespace, path)
        record = Record(name, _aliases(value, inner, path), doc=_text(value.get("doc")))
        self._define(name, record, path)
        fields = _required(value, "fields", path)
        if not isinstance(fields, list):
            raise AvroSchemaError(f"{_at(path)}expected the fields of record {name} as a list, got {fields!r:.60}")
        seen: set[str] = set()
        for each in fields:
            if not isinstance(each, dict):
                raise AvroSchemaError(f"{_at(path)}expected a field of record {name} as an object, got {each!r:.60}")
            made = self._field(each, name, inner, path, depth)
            if made.name in seen:
                raise AvroSchemaError(f"{_at(path)}record {name} has two fields {made.name!r}")
            seen.add(made.name)
            record.fields.append(made)
        return record

    def _field(self, value: dict[str, Any], record: str, namespace: str, path: str, depth: int) -> Field:
        name = value.get("name")
        if not isinstance(name, str) or not _NAME.match(name):
            raise AvroSchemaError(
                f"{_at(path)}expected a field name of letters, digits and _ in record {record}, got {name!r:.60}"
            )
        where = f"{path}.{name}" if path else name
        order = value.get("order", "ascending")
        if order not in _ORDERS:
            raise AvroSchemaError(f"{_at(where)}expected the order as one of {', '.join(_ORDERS)}, got {order!r:.60}")
        aliases = value.get("aliases", [])
        if not isinstance(aliases, list) or not all(isinstance(each, str) for each in aliases):
            raise AvroSchemaError(f"{_at(where)}expected aliases as a list of names, got {aliases!r:.60}")
        type_ = self.parse(_required(value, "type", where), namespace, where, depth + 1)
        return Field(name, type_, value.get("default", NO_DEFAULT), tuple(aliases), order, doc=_text(value.get("doc")))

    def _enum(self, value: dict[str, Any], namespace: str, path: str) -> Enum:
        name, inner = self._name(value, namespace, path)
        symbols = _required(value, "symbols", path)
        if not isinstance(symbols, list) or not all(isinstance(each, str) and _NAME.match(each) for each in symbols):
            raise AvroSchemaError(
                f"{_at(path)}expected the symbols of enum {name} as a list of names, got {symbols!r:.60}"
            )
        if len(set(symbols)) < len(symbols):
            raise AvroSchemaError(f"{_at(path)}expected different symbols in enum {name}, got {symbols!r:.60}")
        default = value.get("default")
        if default is not None and default not in symbols:
            raise AvroSchemaError(
                f"{_at(path)}expected the default of enum {name} among its symbols, got {default!r:.60}"
            )
        enum = Enum(name, _aliases(value, inner, path), tuple(symbols), default)
        self._define(name, enum, path)
        return enum

    def _fixed(self, value: dict[str, Any], namespace: str, path: str) -> Fixed:
        name, inner = self._name(value, namespace, path)
        size = _required(value, "size", path)
        if type(size) is not int or not 0 <= size < 1 << 31:
            raise AvroSchemaError(
                f"{_at(path)}expected the size of fixed {name} as a number of bytes, got {size!r:.60}"
            )
        fixed = Fixed(name, _aliases(value, inner, path), size, _logical(value, "fixed", size))
        self._define(name, fixed, path)
        return fixed

    def _name(self, value: dict[str, Any], namespace: str, path: str) -> tuple[str, str]:
        """Return a type's full name, and the namespace that applies to names inside the type."""
        name, given = value.get("name"), value.get("namespace")
        if not isinstance(name, str) or not name:
            raise AvroSchemaError(f"{_at(path)}expected a name for the {value['type']}, got {name!r:.60}")
        if given is not None and not isinstance(given, str):
            raise AvroSchemaError(f"{_at(path)}expected the namespace of {name} as a string, got {given!r:.60}")
        full = _full(name, namespace if given is None else given)
        if len(full) > MAX_NAME_LENGTH or not all(_NAME.match(part) for part in full.split(".")):
            raise AvroSchemaError(
                f"{_at(path)}expected a name of letters, digits and _, parts separated by dots, got {full!r:.60}"
            )
        if full in PRIMITIVES:
            raise AvroSchemaError(f"{_at(path)}{full!r} is the name of a primitive type: choose another name")
        return full, full.rpartition(".")[0]

    def _define(self, name: str, schema: Schema, path: str) -> None:
        if name in self.named:
            raise AvroSchemaError(f"{_at(path)}{name} is defined twice")
        self.named[name] = schema


def _at(path: str) -> str:
    """Return the beginning of an error message: the place in the schema."""
    return f"In the schema at {path.strip('.')}: " if path else "In the schema: "


def _required(value: dict[str, Any], key: str, path: str) -> Any:
    if key not in value:
        raise AvroSchemaError(f"{_at(path)}expected {key!r} in the {value.get('type', 'field')}, got {value!r:.60}")
    return value[key]


def _full(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _aliases(value: dict[str, Any], namespace: str, path: str) -> tuple[str, ...]:
    aliases = value.get("aliases") or []
    if not isinstance(aliases, list) or not all(isinstance(each, str) for each in aliases):
        raise AvroSchemaError(f"{_at(path)}expected aliases as a list of names, got {aliases!r:.60}")
    return tuple(_full(each, namespace) for each in aliases)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


_SIMPLE_LOGICAL = {
    "date": ("int",),
    "time-millis": ("int",),
    "time-micros": ("long",),
    "timestamp-millis": ("long",),
    "timestamp-micros": ("long",),
    "timestamp-nanos": ("long",),
    "local-timestamp-millis": ("long",),
    "local-timestamp-micros": ("long",),
    "local-timestamp-nanos": ("long",),
    "uuid": ("string", "fixed"),
    "duration": ("fixed",),
    "decimal": ("bytes", "fixed"),
}
"""The allowed underlying types of each logical type."""
_FIXED_SIZES = {"uuid": 16, "duration": 12}


def _logical(value: dict[str, Any], kind: str, size: int) -> Logical | None:
    """Return the logical type of a schema, or None if it has none or one that does not fit the underlying type."""
    name = value.get("logicalType")
    if not isinstance(name, str) or kind not in _SIMPLE_LOGICAL.get(name, ()):
        return None
    if name != "decimal":
        return Logical(name) if kind != "fixed" or size == _FIXED_SIZES[name] else None
    precision, scale = value.get("precision"), value.get("scale", 0)
    if type(precision) is not int or type(scale) is not int or not 0 <= scale <= precision:
        return None
    if not 1 <= precision <= MAX_PRECISION:
        return None
    if kind == "fixed" and precision > max_precision(size):
        return None
    return Logical(name, precision, scale)


def max_precision(size: int) -> int:
    """Return the number of decimal digits that always fit into a two's complement number of `size` bytes."""
    return len(str((1 << (8 * size - 1)) - 1)) - 1 if size > 0 else 0


class AvroDuration(NamedTuple):
    """Months, days and milliseconds, each from 0 to 4,294,967,295; they cannot be converted to each other."""

    months: int
    days: int
    milliseconds: int
