"""Random Protobuf schemas with messages, and the expected columns as Python objects."""

from __future__ import annotations

import datetime
import math
import struct
from typing import Any

from google.protobuf import descriptor_pb2 as pb
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_FIELD = pb.FieldDescriptorProto
_TIMES = (-62_135_596_800, 253_402_300_799)
_SPAN = 315_576_000_000
_SMALL, _BIG = (-(1 << 31), (1 << 31) - 1), (-(1 << 63), (1 << 63) - 1)
_TEXT = st.text(max_size=8).filter(lambda text: not any(0xD800 <= ord(c) < 0xE000 for c in text))
_SCALARS: dict[int, st.SearchStrategy[Any]] = {
    _FIELD.TYPE_DOUBLE: st.floats(),
    _FIELD.TYPE_FLOAT: st.floats(width=32),
    _FIELD.TYPE_INT64: st.integers(*_BIG),
    _FIELD.TYPE_UINT64: st.integers(0, (1 << 64) - 1),
    _FIELD.TYPE_INT32: st.integers(*_SMALL),
    _FIELD.TYPE_FIXED64: st.integers(0, (1 << 64) - 1),
    _FIELD.TYPE_FIXED32: st.integers(0, (1 << 32) - 1),
    _FIELD.TYPE_BOOL: st.booleans(),
    _FIELD.TYPE_STRING: _TEXT,
    _FIELD.TYPE_BYTES: st.binary(max_size=8),
    _FIELD.TYPE_UINT32: st.integers(0, (1 << 32) - 1),
    _FIELD.TYPE_SFIXED32: st.integers(*_SMALL),
    _FIELD.TYPE_SFIXED64: st.integers(*_BIG),
    _FIELD.TYPE_SINT32: st.integers(*_SMALL),
    _FIELD.TYPE_SINT64: st.integers(*_BIG),
}
_NOT_PACKED = (_FIELD.TYPE_STRING, _FIELD.TYPE_BYTES, _FIELD.TYPE_MESSAGE)
_KEYS = sorted(set(_SCALARS) - {_FIELD.TYPE_DOUBLE, _FIELD.TYPE_FLOAT, _FIELD.TYPE_BYTES})
_WRAPPERS = ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
_KNOWN = ["Timestamp", "Duration", *(f"{name}Value" for name in _WRAPPERS)]
_NUMBERS = st.one_of(st.integers(1, 40), st.integers(1, (1 << 29) - 1)).filter(lambda n: not 19_000 <= n < 20_000)


@st.composite
def files(draw: Any) -> pb.FileDescriptorProto:
    """A .proto file whose first message has fields of every kind, and nested messages."""
    file = pb.FileDescriptorProto(name="random.proto", syntax=draw(st.sampled_from(["proto2", "proto3"])))
    if draw(st.booleans()):
        file.package = "some.where"
    file.dependency.extend(f"google/protobuf/{name}.proto" for name in ("timestamp", "duration", "wrappers"))
    is_open = file.syntax == "proto3"
    for number in range(2):
        enum = file.enum_type.add(name=f"E{number}")
        values = draw(st.lists(st.integers(*_SMALL), max_size=3, unique=True).filter(lambda found: 0 not in found))
        values = [0, *values] if is_open or not number else values or [7]
        for place, value in enumerate(values):
            enum.value.add(name=f"E{number}_{place}", number=value)
        if draw(st.booleans()):
            enum.options.allow_alias = True
            enum.value.add(name=f"E{number}_AGAIN", number=values[-1])
    _fill(draw, file.message_type.add(name="M"), file, [f".{file.package}.M" if file.package else ".M"], 2)
    return file


def _fill(draw: Any, message: Any, file: Any, scopes: list[str], depth: int) -> None:
    """Add fields to a message; `scopes` contains its name and those of the enclosing messages."""
    is_open = file.syntax == "proto3"
    count = draw(st.integers(0 if depth < 2 else 1, 5))
    numbers = draw(st.lists(_NUMBERS, min_size=count, max_size=count, unique=True))
    with_presence = []
    for place, number in enumerate(numbers):
        field = message.field.add(name=f"f{place}", number=number, label=_FIELD.LABEL_OPTIONAL)
        labels = ["plain", "repeated", "map", "oneof", "optional" if is_open else "required"]
        label = draw(st.sampled_from(labels))
        _type(draw, field, message, file, scopes, depth, f"N{place}")
        if label == "repeated":
            field.label = _FIELD.LABEL_REPEATED
            if field.type not in _NOT_PACKED and draw(st.booleans()):
                field.options.packed = draw(st.booleans())
        elif label == "required" and field.type_name not in scopes:
            field.label = _FIELD.LABEL_REQUIRED
        elif label == "map":
            _map(draw, field, message, scopes)
        elif label == "oneof":
            if not message.oneof_decl or draw(st.booleans()):
                message.oneof_decl.add(name=f"choice{len(message.oneof_decl)}")
            field.oneof_index = len(message.oneof_decl) - 1
        elif label == "optional":
            with_presence.append(field)
    for field in with_presence:  # synthetic oneofs follow the others
        field.proto3_optional = True
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{field.name}")


def _type(draw: Any, field: Any, message: Any, file: Any, scopes: list[str], depth: int, name: str) -> None:
    kinds = ["scalar", "scalar", "enum", "known"]
    if depth:
        kinds += ["message", "message", "itself"]
    kind = draw(st.sampled_from(kinds))
    if kind == "scalar":
        field.type = draw(st.sampled_from(sorted(_SCALARS)))
    elif kind == "enum":
        field.type = _FIELD.TYPE_ENUM
        field.type_name = f".{file.package}.E{draw(st.integers(0, 1))}".replace("..", ".")
    else:
        field.type = _FIELD.TYPE_MESSAGE
        if kind == "known":
            field.type_name = f".google.protobuf.{draw(st.sampled_from(_KNOWN))}"
        elif kind == "itself":
            field.type_name = draw(st.sampled_from(scopes))
        else:
            field.type_name = f"{scopes[-1]}.{name}"
            _fill(draw, message.nested_type.add(name=name), file, [*scopes, field.type_name], depth - 1)


def _map(draw: Any, field: Any, message: Any, scopes: list[str]) -> None:
    """Turn a field into a map whose values have the field's type."""
    entry = message.nested_type.add(name=f"{field.name.upper()}Entry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=_FIELD.LABEL_OPTIONAL, type=draw(st.sampled_from(_KEYS)))
    value = entry.field.add(name="value", number=2, label=_FIELD.LABEL_OPTIONAL, type=field.type)
    if field.type == _FIELD.TYPE_ENUM:
        value.type_name = field.type_name[:-1] + "0"  # whose first value is 0 in proto2 too, as maps want it
    elif field.HasField("type_name"):
        value.type_name = field.type_name
    field.label, field.type, field.type_name = _FIELD.LABEL_REPEATED, _FIELD.TYPE_MESSAGE, f"{scopes[-1]}.{entry.name}"


@st.composite
def readers(draw: Any, file: pb.FileDescriptorProto) -> pb.FileDescriptorProto:
    """Another version of a file, with some fields removed and packed lists changed."""
    made = pb.FileDescriptorProto.FromString(file.SerializeToString())
    messages = [made.message_type[0]]
    for message in messages:
        messages += [each for each in message.nested_type if not each.options.map_entry]
        for field in message.field:
            if field.label == _FIELD.LABEL_REPEATED and field.type not in _NOT_PACKED:
                field.options.packed = draw(st.booleans())
        kept = [each for each in message.field if each.HasField("oneof_index") or draw(st.integers(0, 4))]
        if len(kept) < len(message.field):
            copies = [_FIELD.FromString(each.SerializeToString()) for each in kept]
            del message.field[:]
            message.field.extend(copies)
            used = {each.type_name.rpartition(".")[2] for each in copies}
            others = [each for each in message.nested_type if not each.options.map_entry or each.name in used]
            nested = [pb.DescriptorProto.FromString(each.SerializeToString()) for each in others]
            del message.nested_type[:]
            message.nested_type.extend(nested)
            messages[1:] = [each for each in messages[1:] if each not in list(message.nested_type)] + [
                each for each in message.nested_type if not each.options.map_entry
            ]
    return made


@st.composite
def messages(draw: Any, descriptor: Any, depth: int = 3) -> Any:
    """A message, in which not all nested messages, lists and maps are empty."""
    message = GetMessageClass(descriptor)()
    if descriptor.file.name == "google/protobuf/timestamp.proto":
        message.seconds = draw(st.integers(*_TIMES))
        message.nanos = draw(st.integers(0, 999_999_999))
        return message
    if descriptor.file.name == "google/protobuf/duration.proto":
        message.seconds = draw(st.integers(-_SPAN + 1, _SPAN - 1))
        nanos = draw(st.integers(0, 999_999_999))
        message.nanos = nanos if message.seconds > 0 or (message.seconds == 0 and draw(st.booleans())) else -nanos
        return message
    for field in descriptor.fields:
        if not field.is_required and not draw(st.integers(0, 3)):
            continue
        if field.message_type is not None and not field.is_required and not depth:
            continue
        target = getattr(message, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            _put(draw, target, field.message_type, depth)
        elif field.is_repeated:
            for _ in range(draw(st.integers(0, 3))):
                if field.message_type is not None:
                    target.add().CopyFrom(draw(messages(field.message_type, depth - 1)))
                else:
                    target.append(_value(draw, field))
        elif field.message_type is not None:
            target.CopyFrom(draw(messages(field.message_type, depth - 1)))
            target.SetInParent()
        else:
            setattr(message, field.name, _value(draw, field))
    return message


def _put(draw: Any, target: Any, entry: Any, depth: int) -> None:
    key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
    for _ in range(draw(st.integers(0, 3))):
        name = _value(draw, key)
        if value.message_type is not None:
            target[name].CopyFrom(draw(messages(value.message_type, depth - 1)))
        else:
            target[name] = _value(draw, value)


def _value(draw: Any, field: Any) -> Any:
    if field.enum_type is None:
        return draw(_SCALARS[field.type])
    named = st.sampled_from([each.number for each in field.enum_type.values])
    return draw(named if field.enum_type.is_closed else st.one_of(named, named, named, st.integers(*_SMALL)))


def is_merged(descriptor: Any, within: tuple[str, ...] = ()) -> bool:
    """Whether columns merge a message given in two parts: for some nested messages, ptars uses only the second part.

    These are well-known types and recursive messages that are not elements of a list or map.
    """
    within = (*within, descriptor.full_name)
    for field in descriptor.fields:
        kind = field.message_type
        if kind is None:
            continue
        if not field.is_repeated and (kind.full_name in within or kind.full_name.startswith("google.protobuf.")):
            return False
        if kind.full_name not in within and not is_merged(kind, within):
            return False
    return True


class MessageBytes:
    """The bytes of a message; equal if the messages are equal."""

    def __init__(self, message: Any) -> None:
        self.message = message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, bytes):
            return NotImplemented
        return canonical(type(self.message).FromString(other)) == canonical(self.message)

    def __repr__(self) -> str:
        return f"MessageBytes({canonical(self.message)!r})"

    __hash__ = None  # type: ignore[assignment]


class Row:
    """The expected columns of a message, as documented in docs/FORMATS.md.

    Attributes:
        value: the row, compared after `comparable`.
        is_writable: whether the columns can be written back as a message.
    """

    def __init__(self, message: Any) -> None:
        self.is_writable = True
        self.value = self._struct(message, ())

    def _struct(self, message: Any, above: tuple[str, ...]) -> dict[str, Any]:
        within = (*above, message.DESCRIPTOR.full_name)
        return {field.name: self._column(message, field, within) for field in message.DESCRIPTOR.fields}

    def _column(self, message: Any, field: Any, within: tuple[str, ...]) -> Any:
        value = getattr(message, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            of = field.message_type.fields_by_name["value"]
            return sorted(((key, self._item(value[key], of, within)) for key in value), key=lambda pair: pair[0])
        if field.is_repeated:
            return [self._item(each, field, within) for each in value]
        if field.has_presence and not message.HasField(field.name):
            return None
        return self._item(value, field, within)

    def _item(self, value: Any, field: Any, within: tuple[str, ...]) -> Any:
        if field.enum_type is not None:
            found = field.enum_type.values_by_number.get(value)
            self.is_writable = self.is_writable and found is not None
            return str(value) if found is None else found.name
        kind = field.message_type
        if kind is None:
            return comparable(value)
        if kind.full_name == "google.protobuf.Timestamp":
            return EPOCH + datetime.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
        if kind.full_name == "google.protobuf.Duration":
            return datetime.timedelta(seconds=value.seconds, microseconds=math.trunc(value.nanos / 1000))
        if kind.full_name.startswith("google.protobuf."):
            return comparable(value.value)
        if kind.full_name in within:
            self.is_writable = False
            return MessageBytes(value)
        return self._struct(value, within)


def comparable(value: Any) -> Any:
    """Convert a column value for comparison: floats to bits, maps sorted by key with the last value of each key."""
    if isinstance(value, float):
        return ("float", "nan" if math.isnan(value) else struct.pack(">d", value))
    if isinstance(value, dict):
        return {name: comparable(each) for name, each in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return sorted(((key, comparable(each)) for key, each in dict(value).items()), key=lambda pair: pair[0])
    if isinstance(value, list):
        return [comparable(each) for each in value]
    return value


def canonical(message: Any) -> bytes:
    """The bytes of a message, the same for messages that columns do not distinguish.

    Times are in whole microseconds; unknown fields, and the sign of a zero that ptars does not write, are omitted.
    """
    copy = type(message)()
    copy.CopyFrom(message)
    copy.DiscardUnknownFields()
    _make_plain(copy)
    data: bytes = copy.SerializePartialToString(deterministic=True)
    return data


def _make_plain(message: Any) -> None:
    if message.DESCRIPTOR.full_name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        message.nanos = math.trunc(message.nanos / 1000) * 1000
        return
    for field, value in message.ListFields():
        if field.message_type is None:
            if value == 0.0 and not field.has_presence:
                message.ClearField(field.name)
        elif field.message_type.GetOptions().map_entry:
            for key in value:
                if field.message_type.fields_by_name["value"].message_type is not None:
                    _make_plain(value[key])
                elif value[key] == 0.0:
                    value[key] = 0
        elif not field.message_type.full_name.endswith("Value"):  # wrappers keep the sign
            for each in value if field.is_repeated else [value]:
                _make_plain(each)
