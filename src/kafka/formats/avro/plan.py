"""From a writer's and a reader's schema to readers that fill the reader's columns: Avro's schema resolution."""

from __future__ import annotations

from kafka.formats.avro.byte_readers import (
    BytesReader,
    DecimalReader,
    DurationReader,
    EnumReader,
    FixedReader,
    UuidReader,
)
from kafka.formats.avro.cursor import Reader
from kafka.formats.avro.defaults import encoded_default
from kafka.formats.avro.matching import branch_for, matches, same_name
from kafka.formats.avro.nested_readers import (
    BlockReader,
    ConstantReader,
    ImpossibleReader,
    MemberReader,
    RecordReader,
    UnionReader,
)
from kafka.formats.avro.number_readers import (
    BooleanReader,
    DoubleReader,
    FloatReader,
    IntReader,
    LongAsDoubleReader,
    LongAsFloatReader,
    LongReader,
    NullReader,
)
from kafka.formats.avro.schema import (
    NO_DEFAULT,
    Array,
    Enum,
    Fixed,
    Logical,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
)
from kafka.formats.avro.skippers import BlockSkipper, BytesSkipper, IntegerSkipper, SequenceSkipper, SizeSkipper
from kafka.formats.avro.types import Target
from kafka.formats.columns import ListColumn, StructColumn

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1
LONG_MIN, LONG_MAX = -(1 << 63), (1 << 63) - 1
_DAY = {"time-millis": 86_400_000, "time-micros": 86_400_000_000}
_UNITS = {"millis": 1_000, "micros": 1_000_000, "nanos": 1_000_000_000}


class AvroResolutionError(ValueError):
    """Values of a writer's schema cannot be read with a reader's schema. The text names the field and both types."""


def plan(writer: Schema, target: Target, path: str = "") -> Reader:
    """Make the reader of a writer's type that fills a target.

    Raises:
        AvroResolutionError: the writer's type does not resolve to the reader's. Branches of a writer's union that do
            not are an error of the values that have them.
        AvroSchemaError: a default that is needed does not fit its field.
    """
    reader = target.schema
    if isinstance(writer, Union):
        return _from_union(writer, target, path)
    if isinstance(reader, Union):
        return _to_union(writer, target, reader, path)
    if isinstance(writer, Record) and isinstance(reader, Record):
        return _record(writer, reader, target, path)
    if isinstance(writer, Array) and isinstance(reader, Array):
        items = plan(writer.items, target.parts[0], f"{path}[]")
        return BlockReader(target.column, items, None, None, least_size(writer.items))
    if isinstance(writer, Map) and isinstance(reader, Map):
        keys, values = target.parts
        assert isinstance(target.column, ListColumn)
        entries = target.column.items
        return BlockReader(
            target.column, plan(writer.values, values, f"{path}{{}}"), BytesReader(keys.column, True), entries, 1
        )
    if isinstance(writer, Enum) and isinstance(reader, Enum) and same_name(writer, reader):
        return _enum(writer, reader, target)
    if isinstance(writer, Fixed) and isinstance(reader, Fixed) and matches(writer, reader, exactly=False):
        return _fixed(writer, reader, target, path)
    if isinstance(writer, Primitive) and isinstance(reader, Primitive):
        made = _primitive(writer, reader, target, path)
        if made is not None:
            return made
    raise AvroResolutionError(f"{_at(path)}the writer's {writer.label} cannot be read as the reader's {reader.label}")


def _at(path: str) -> str:
    return f"At {path.strip('.')}: " if path.strip(".") else ""


def _from_union(writer: Union, target: Target, path: str) -> Reader:
    """Each branch is read as what it resolves to; those that do not resolve fail where a value has them."""
    branches: list[Reader] = []
    reasons = []
    for number, branch in enumerate(writer.branches):
        try:  # of one and the same union a branch is what it was, and need not be looked for
            same = writer is target.schema
            branches.append(_into(branch, target, number, path) if same else plan(branch, target, path))
        except AvroResolutionError as error:
            branches.append(ImpossibleReader(str(error)))
            reasons.append(error)
    if len(reasons) == len(branches) and reasons:
        raise reasons[0]
    return UnionReader(branches)


def _to_union(writer: Schema, target: Target, reader: Union, path: str) -> Reader:
    number = branch_for(writer, reader)
    if number < 0:
        raise AvroResolutionError(f"{_at(path)}the writer's {writer.label} is none of the reader's {reader.label}")
    return _into(writer, target, number, path)


def _into(writer: Schema, target: Target, number: int, path: str) -> Reader:
    """Read a writer's type as one branch of the reader's union."""
    part = target.parts[number]
    if part.schema.kind == "null":
        return NullReader(target.column)
    made = plan(writer, part, path)
    if part.column is target.column:
        return made
    column = target.column
    assert isinstance(column, StructColumn)
    return MemberReader(column, made, [field is part.column for field in column.fields].index(True))


def _record(writer: Record, reader: Record, target: Target, path: str) -> Reader:
    by_name = {field.name: number for number, field in enumerate(reader.fields)}
    for number, field in enumerate(reader.fields):
        for alias in field.aliases:
            by_name.setdefault(alias, number)
    steps: list[Reader] = []
    names = []
    read = set()
    skippers: dict[str, Reader] = {}
    for field in writer.fields:
        wanted = by_name.get(field.name)
        names.append(field.name)
        if wanted is None or wanted in read:
            steps.append(_skipper(field.type, skippers))
            continue
        read.add(wanted)
        steps.append(plan(field.type, target.parts[wanted], f"{path}.{reader.fields[wanted].name}"))
    for number, field in enumerate(reader.fields):
        if number in read:
            continue
        if field.default is NO_DEFAULT:
            raise AvroResolutionError(
                f"{_at(path)}the reader's field {field.name!r} is missing from the writer's {writer.label}, and has no "
                "default: give it one, or leave it out"
            )
        schema, encoded = encoded_default(field)
        names.append(field.name)
        steps.append(ConstantReader(plan(schema, target.parts[number], f"{path}.{field.name}"), encoded))
    return RecordReader(target.column, steps, names)


def _enum(writer: Enum, reader: Enum, target: Target) -> Reader:
    texts = [symbol.encode() for symbol in reader.symbols]
    ends = [0]
    for text in texts:
        ends.append(ends[-1] + len(text))
    fallback = reader.symbols.index(reader.default) if reader.default is not None else -1
    targets = [reader.symbols.index(each) if each in reader.symbols else fallback for each in writer.symbols]
    return EnumReader(target.column, _ints(targets), _ints(ends), b"".join(texts), writer.symbols)


def _ints(numbers: list[int]) -> memoryview:
    """Return numbers as an int32 buffer."""
    made = memoryview(bytearray(4 * max(len(numbers), 1))).cast("i")
    for at, number in enumerate(numbers):
        made[at] = number
    return made


def _fixed(writer: Fixed, reader: Fixed, target: Target, path: str) -> Reader:
    logical = reader.logical
    if logical is None:
        return FixedReader(target.column)
    if logical.name == "decimal":
        _check_scale(writer.logical, logical, path)
        return DecimalReader(target.column, writer.size, logical.precision)
    return UuidReader(target.column) if logical.name == "uuid" else DurationReader(target.column)


def _check_scale(writer: Logical | None, reader: Logical, path: str) -> None:
    """Refuse decimals whose digits would mean something else."""
    if writer is not None and writer.scale != reader.scale:
        raise AvroResolutionError(
            f"{_at(path)}the writer's decimal has {writer.scale} digits behind the point, the reader's {reader.scale}: "
            "Avro cannot change that"
        )


def _primitive(writer: Primitive, reader: Primitive, target: Target, path: str) -> Reader | None:
    """Return the reader of a primitive type, None if it does not resolve."""
    column, pair = target.column, (writer.kind, reader.kind)
    if reader.logical is not None and reader.logical.name == "decimal":
        if pair != ("bytes", "bytes"):
            return None
        _check_scale(writer.logical, reader.logical, path)
        return DecimalReader(column, -1, reader.logical.precision)
    if pair == ("null", "null"):
        return NullReader(column)
    if pair == ("boolean", "boolean"):
        return BooleanReader(column)
    if pair == ("int", "int"):
        most = _DAY[reader.logical.name] if reader.logical and reader.logical.name in _DAY else None
        return IntReader(column, INT_MIN, INT_MAX) if most is None else IntReader(column, 0, most - 1)
    if pair in (("int", "long"), ("long", "long")):
        return _long(writer, reader, target)
    if pair in (("int", "float"), ("long", "float")):
        return LongAsFloatReader(column, writer.kind == "int")
    if pair in (("int", "double"), ("long", "double")):
        return LongAsDoubleReader(column, writer.kind == "int")
    if pair == ("float", "float"):
        return FloatReader(column)
    if pair in (("float", "double"), ("double", "double")):
        return DoubleReader(column, 4 if writer.kind == "float" else 8)
    if writer.kind in ("bytes", "string") and reader.kind in ("bytes", "string"):
        return BytesReader(column, reader.kind == "string")
    return None


def _long(writer: Primitive, reader: Primitive, target: Target) -> Reader:
    """Read an int or a long as a long; where both sides name a unit of time, it is changed."""
    least, most = (INT_MIN, INT_MAX) if writer.kind == "int" else (LONG_MIN, LONG_MAX)
    times = divisor = 1
    if writer.logical is not None and reader.logical is not None:
        before, after = _units(writer.logical), _units(reader.logical)
        if before and after and _time_kind(writer.logical) == _time_kind(reader.logical):
            times, divisor = max(after // before, 1), max(before // after, 1)
    least, most = max(least, -(LONG_MAX // times)), min(most, LONG_MAX // times)
    if reader.logical is not None and reader.logical.name in _DAY:
        least, most = 0, _DAY[reader.logical.name] * divisor // times - 1
    if times == divisor == 1 and writer.kind == "long" and reader.logical is None:
        least, most = LONG_MIN, LONG_MAX
    return LongReader(target.column, least, most, times, divisor)


def _units(logical: Logical) -> int:
    """Return how many units of a time there are in a second, 0 for what is no time."""
    return _UNITS.get(logical.name.rpartition("-")[2], 0)


def _time_kind(logical: Logical) -> str:
    return logical.name.rpartition("-")[0]


def least_size(schema: Schema, inside: tuple[Schema, ...] = ()) -> int:
    """Return how many bytes a value of a type takes at least."""
    if isinstance(schema, Primitive):
        return {"null": 0, "float": 4, "double": 8}.get(schema.kind, 1)
    if isinstance(schema, Fixed):
        return schema.size
    if isinstance(schema, Record):
        if schema in inside:
            return 0
        return sum(least_size(field.type, (*inside, schema)) for field in schema.fields)
    return 1


def _skipper(schema: Schema, made: dict[str, Reader]) -> Reader:
    """Make what skips a type; `made` has those of records, which may contain themselves."""
    if isinstance(schema, Primitive):
        if schema.kind in ("int", "long"):
            return IntegerSkipper()
        if schema.kind in ("bytes", "string"):
            return BytesSkipper()
        return SizeSkipper(least_size(schema))
    if isinstance(schema, Fixed):
        return SizeSkipper(schema.size)
    if isinstance(schema, Enum):
        return IntegerSkipper()
    if isinstance(schema, Union):
        return UnionReader([_skipper(each, made) for each in schema.branches])
    if isinstance(schema, Record):
        if schema.name not in made:
            sequence = made[schema.name] = SequenceSkipper()
            sequence.skip_fields([_skipper(field.type, made) for field in schema.fields])
        return made[schema.name]
    inner = schema.items if isinstance(schema, Array) else schema.values
    blocks = BlockSkipper(isinstance(schema, Map), least_size(inner) if isinstance(schema, Array) else 1)
    blocks.skip_items(_skipper(inner, made))
    return blocks
