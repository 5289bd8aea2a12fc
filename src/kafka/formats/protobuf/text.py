"""Writes the text of a .proto file from its descriptor; equal descriptors give equal texts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kafka.formats.protobuf.errors import library

_INDENT = "  "


def proto_text(file: Any) -> str:
    """Return the text of a `FileDescriptorProto`. It has neither comments nor custom options."""
    return _Writer(file).text()


class _Writer:
    def __init__(self, file: Any) -> None:
        self._file = file
        self._lines: list[str] = []
        self._pb = library("google.protobuf.descriptor_pb2").FieldDescriptorProto
        self._has_labels = file.syntax in ("", "proto2")

    def text(self) -> str:
        """The whole file."""
        file = self._file
        if file.syntax == "editions":
            edition = library("google.protobuf.descriptor_pb2").Edition.Name(file.edition).removeprefix("EDITION_")
            self._lines.append(f'edition = "{edition}";')
        else:
            self._lines.append(f'syntax = "{file.syntax or "proto2"}";')
        if file.package:
            self._lines.append(f"package {file.package};")
        if file.dependency:
            self._lines.append("")
        for position, name in enumerate(file.dependency):
            kind = "public " if position in file.public_dependency else ""
            kind = "weak " if position in file.weak_dependency else kind
            self._lines.append(f'import {kind}"{name}";')
        options = _options(file.options)
        if options:
            self._lines += ["", *(f"option {each};" for each in options)]
        for message in file.message_type:
            self._lines.append("")
            self._message(message, 0, f".{file.package}" if file.package else "")
        for enum in file.enum_type:
            self._lines.append("")
            self._enum(enum, 0)
        self._extensions(file.extension, 0)
        for service in file.service:
            self._lines.append("")
            self._service(service)
        return "\n".join(self._lines) + "\n"

    def _line(self, depth: int, text: str) -> None:
        self._lines.append(_INDENT * depth + text)

    def _message(self, message: Any, depth: int, scope: str, head: str | None = None) -> None:
        scope = f"{scope}.{message.name}"
        self._line(depth, head or f"message {message.name} {{")
        for option in _options(message.options, ("map_entry",)):
            self._line(depth + 1, f"option {option};")
        self._reserved(message, depth + 1, 1)
        for each in message.extension_range:
            self._line(depth + 1, f"extensions {_span(each.start, each.end - 1, 536870911)};")
        nested = {f"{scope}.{each.name}": each for each in message.nested_type}
        groups = {each.type_name for each in message.field if each.type == self._pb.TYPE_GROUP and self._has_labels}
        own = {name for name, each in nested.items() if not each.options.map_entry and name not in groups}
        order, done = list(nested), 0
        written: set[int] = set()
        for field in message.field:
            if field.type_name in nested and field.type_name not in own:
                # its generated message takes the next position, and values name messages by position
                place = order.index(field.type_name)
                for name in order[done:place]:
                    if name in own:
                        self._message(nested[name], depth + 1, scope)
                done = max(done, place)
            if not field.HasField("oneof_index") or field.proto3_optional:
                self._field(field, depth + 1, nested, scope)
            elif field.oneof_index not in written:
                written.add(field.oneof_index)
                oneof = message.oneof_decl[field.oneof_index]
                self._line(depth + 1, f"oneof {oneof.name} {{")
                for option in _options(oneof.options):
                    self._line(depth + 2, f"option {option};")
                for each in message.field:
                    if each.HasField("oneof_index") and each.oneof_index == field.oneof_index:
                        self._field(each, depth + 2, nested, scope, labeled=False)
                self._line(depth + 1, "}")
        for name in order[done:]:
            if name in own:
                self._message(nested[name], depth + 1, scope)
        for enum in message.enum_type:
            self._enum(enum, depth + 1)
        self._extensions(message.extension, depth + 1)
        self._line(depth, "}")

    def _field(self, field: Any, depth: int, nested: dict[str, Any], scope: str, labeled: bool = True) -> None:
        pb = self._pb
        entry = nested.get(field.type_name)
        if entry is not None and entry.options.map_entry:
            kind = f"map<{self._type(entry.field[0])}, {self._type(entry.field[1])}>"
            label = ""
        else:
            kind = self._type(field)
            label = ""
            if field.label == pb.LABEL_REPEATED:
                label = "repeated "
            elif field.label == pb.LABEL_REQUIRED:
                label = "required "
            elif labeled and (field.proto3_optional or self._has_labels):
                label = "optional "
        options = _options(field.options)
        if field.HasField("default_value"):
            options.insert(0, f"default = {self._default(field)}")
        if field.HasField("json_name") and field.json_name != _camel(field.name):
            options.append(f"json_name = {json.dumps(field.json_name)}")
        end = f" [{', '.join(options)}]" if options else ""
        if field.type == pb.TYPE_GROUP and self._has_labels and entry is not None:
            head = f"{label}group {entry.name} = {field.number}{end} {{"
            self._message(entry, depth, scope, head)
        else:
            self._line(depth, f"{label}{kind} {field.name} = {field.number}{end};")

    def _type(self, field: Any) -> str:
        if field.type_name:
            return str(field.type_name)
        return str(self._pb.Type.Name(field.type).removeprefix("TYPE_").lower())

    def _default(self, field: Any) -> str:
        if field.type == self._pb.TYPE_STRING:
            return json.dumps(field.default_value)
        return f'"{field.default_value}"' if field.type == self._pb.TYPE_BYTES else str(field.default_value)

    def _enum(self, enum: Any, depth: int) -> None:
        self._line(depth, f"enum {enum.name} {{")
        for option in _options(enum.options):
            self._line(depth + 1, f"option {option};")
        self._reserved(enum, depth + 1, 0)
        for value in enum.value:
            options = _options(value.options)
            end = f" [{', '.join(options)}]" if options else ""
            self._line(depth + 1, f"{value.name} = {value.number}{end};")
        self._line(depth, "}")

    def _reserved(self, owner: Any, depth: int, beyond: int) -> None:
        highest = 536870911 if beyond else 2147483647
        if owner.reserved_range:
            spans = ", ".join(_span(each.start, each.end - beyond, highest) for each in owner.reserved_range)
            self._line(depth, f"reserved {spans};")
        if owner.reserved_name:
            is_bare = self._file.syntax == "editions"
            names = ", ".join(each if is_bare else f'"{each}"' for each in owner.reserved_name)
            self._line(depth, f"reserved {names};")

    def _extensions(self, extensions: Iterable[Any], depth: int) -> None:
        for each in extensions:
            self._line(depth, f"extend {each.extendee} {{")
            self._field(each, depth + 1, {}, "")
            self._line(depth, "}")

    def _service(self, service: Any) -> None:
        self._line(0, f"service {service.name} {{")
        for option in _options(service.options):
            self._line(1, f"option {option};")
        for method in service.method:
            given = f"{'stream ' if method.client_streaming else ''}{method.input_type}"
            made = f"{'stream ' if method.server_streaming else ''}{method.output_type}"
            options = _options(method.options)
            body = f" {{ {' '.join(f'option {each};' for each in options)} }}" if options else ";"
            self._line(1, f"rpc {method.name} ({given}) returns ({made}){body}")
        self._line(0, "}")


def _options(options: Any, left_out: tuple[str, ...] = ()) -> list[str]:
    """The options that descriptors define, as ``name = value``."""
    found = []
    for field, value in options.ListFields():
        if field.is_extension or field.name in left_out or field.name == "uninterpreted_option":
            continue
        if field.message_type is not None:
            found += [f"{field.name}.{each}" for each in ([] if field.is_repeated else _options(value))]
        else:
            for each in value if field.is_repeated else [value]:
                found.append(f"{field.name} = {_value(field, each)}")
    return found


def _value(field: Any, value: Any) -> str:
    if field.enum_type is not None:
        return str(field.enum_type.values_by_number[value].name)
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, str) else str(value)


def _span(start: int, end: int, highest: int) -> str:
    if start == end:
        return str(start)
    return f"{start} to {'max' if end >= highest else end}"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each[:1].upper() + each[1:] for each in others)
