"""Makes descriptors for Protobuf schemas from text or serialized descriptors, and text from descriptors."""

from __future__ import annotations

import base64
import binascii
import functools
import importlib.util
import json
import re
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

from kafka.formats.protobuf.errors import ProtobufSchemaError, library

MAIN = "schema.proto"
"""File name of a schema that is given as text."""
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
_SYNTAX = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*(?:syntax|edition)\b", re.DOTALL)
_PROTO2 = 'syntax = "proto2"; '
"""The default syntax, added to files that do not declare one, to avoid the compiler's warning on standard error."""
_COMPILING = threading.Lock()
_MAX_FILES = 1000
_INDENT = "  "


def is_known(name: str) -> bool:
    """Return whether a file is part of every Protobuf library, and so need not be passed with a schema."""
    return name.startswith(("google/protobuf/", "google/type/", "confluent/"))


def file_of(schema: Any, references: Mapping[str, Any] | None = None) -> Any:
    """Make the `FileDescriptor` for a schema, in a new pool.

    Args:
        schema: the text of a .proto file; a `FileDescriptorProto` or a `FileDescriptorSet` (its last file), also
            serialized, or serialized in base64 as registries store it.
        references: the schemas that are imported, directly or indirectly, by the names in ``import``. Google's
            well-known types are not needed.

    Raises:
        ProtobufSchemaError: the schema is invalid, or imports a missing file.
        KafkaConfigurationError: a library is not installed.
    """
    protos = {name: _parsed(each, name) for name, each in (references or {}).items()}
    main = _parsed(schema, None)
    files: dict[str, Any] = {}
    for each in (*protos.values(), main):
        if not isinstance(each, str):
            files.update((proto.name, proto) for proto in each)
    for name, each in protos.items():
        if not isinstance(each, str):
            each[-1].name = name
            files[name] = each[-1]
    name = MAIN if isinstance(main, str) else main[-1].name
    texts = {each: text for each, text in protos.items() if isinstance(text, str)}
    if isinstance(main, str):
        texts[MAIN] = main
    if texts:
        files.update(_compiled(texts, files, name))
    return _pooled(files, name)


def message_of(file: Any, message: str | Sequence[int] | None) -> Any:
    """Find the descriptor of a message in a file.

    Args:
        file: the `FileDescriptor`.
        message: the message's full name, its name within the package, or its position (preceded by the positions of the
            enclosing messages, outermost first); None: the first message.

    Raises `ProtobufSchemaError` if there is no such message.
    """
    proto = descriptor_proto(file)
    if not proto.message_type:
        raise ProtobufSchemaError("expected a Protobuf schema with a message, got one without")
    if isinstance(message, str):
        for name in (message, f"{file.package}.{message}"):
            try:
                return file.pool.FindMessageTypeByName(name)
            except KeyError:
                continue
        known = ", ".join(each.name for each in proto.message_type)
        raise ProtobufSchemaError(f"the schema has no message {message!r}; it has {known}")
    parts, messages = [], proto.message_type
    for position in [0] if message is None else message:
        if not 0 <= position < len(messages):
            raise ProtobufSchemaError(f"the schema has no message at position {list(message or ())}")
        parts.append(messages[position].name)
        messages = messages[position].nested_type
    return file.pool.FindMessageTypeByName(".".join([file.package, *parts] if file.package else parts))


def indexes_of(descriptor: Any) -> list[int]:
    """Return the position of a message in its file, preceded by the positions of the enclosing messages."""
    found: list[int] = []
    while descriptor.containing_type is not None:
        outer = descriptor.containing_type
        found.insert(0, [each.name for each in outer.nested_types].index(descriptor.name))
        descriptor = outer
    found.insert(0, list(descriptor.file.message_types_by_name).index(descriptor.name))
    return found


@functools.lru_cache(64)
def position_in(schema: str, message: str, references: tuple[tuple[str, str], ...]) -> Sequence[int]:
    """Return the position of a message in a schema's file.

    Args:
        schema: text of a .proto file, or a serialized file in base64.
        message: its full name.
        references: the names and texts of the imported schemas.

    Raises `ProtobufSchemaError` if the schema is invalid or lacks the message.
    """
    return indexes_of(message_of(file_of(schema, dict(references)), message))


def descriptor_proto(file: Any) -> Any:
    """Return the `FileDescriptorProto` of a `FileDescriptor`."""
    proto = library("google.protobuf.descriptor_pb2").FileDescriptorProto()
    file.CopyToProto(proto)
    return proto


def _parsed(schema: Any, name: str | None) -> Any:
    """Return a schema's text, or its files; the last one is the schema's own file."""
    pb = library("google.protobuf.descriptor_pb2")
    if isinstance(schema, pb.FileDescriptorSet):
        schema = schema.SerializeToString()
    if isinstance(schema, pb.FileDescriptorProto):
        return [pb.FileDescriptorProto.FromString(schema.SerializeToString())]
    if isinstance(schema, str):
        if schema.lstrip()[:1] in ("{", "["):
            raise ProtobufSchemaError(f"expected text of a .proto file, or base64, got JSON: {schema:.60}")
        if not _BASE64.fullmatch(schema):
            return schema
        try:
            schema = base64.b64decode(schema, validate=False)
        except binascii.Error as error:
            raise ProtobufSchemaError(f"expected text of a .proto file, or base64, got {schema:.60}") from error
    if not isinstance(schema, (bytes, bytearray, memoryview)):
        raise ProtobufSchemaError(
            f"expected a Protobuf schema as text, as a message class or as a descriptor, got {type(schema).__name__}"
        )
    data = bytes(schema)
    damaged = library("google.protobuf.message").DecodeError
    try:
        files = list(pb.FileDescriptorSet.FromString(data).file)
        if files and all(each.name.isprintable() and each.name for each in files):
            return files
    except damaged:
        pass
    try:
        file = pb.FileDescriptorProto.FromString(data)
    except damaged as cause:
        raise ProtobufSchemaError(f"expected a serialized descriptor of a Protobuf file: {cause}") from cause
    file.name = name or file.name or MAIN
    return [file]


def _compiled(texts: Mapping[str, str], files: Mapping[str, Any], main: str) -> dict[str, Any]:
    """Compile texts, which may import each other and well-known files."""

    compiler = library("grpc_tools._protoc_compiler")
    pb = library("google.protobuf.descriptor_pb2")
    written = {**{name: proto_text(each) for name, each in files.items() if not is_known(name)}, **texts}
    include = str(resources.files("grpc_tools") / "_proto")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in written.items():
            place = PurePosixPath(name)
            if place.is_absolute() or ".." in place.parts:
                raise ProtobufSchemaError(f"expected the name of an import as a relative path, got {name!r}")
            path = Path(folder, *place.parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if _SYNTAX.match(text) else _PROTO2 + text, "utf-8")
        paths = [folder, include, *_google_types()]
        wanted = main if main in texts else next(iter(texts))
        with _COMPILING:
            try:
                compiler.get_protos(wanted.encode(), [each.encode() for each in paths])
            except compiler.ProtocErrors as error:
                raise ProtobufSchemaError(_reason(error, written)) from None
            output = Path(folder, "descriptors.bin")
            named = [*texts] if main not in texts else [main]
            arguments = ["protoc", *(f"-I{each}" for each in paths), "--include_imports"]
            status = compiler.run_main(
                [each.encode() for each in (*arguments, f"--descriptor_set_out={output}", *named)]
            )
        if status or not output.exists():
            raise ProtobufSchemaError("expected a Protobuf schema: the compiler rejected it")
        return {each.name: each for each in pb.FileDescriptorSet.FromString(output.read_bytes()).file}


def _google_types() -> list[str]:
    """Return the folder that contains google/type, if it is installed."""
    spec = importlib.util.find_spec("google.type")
    places = [] if spec is None else spec.submodule_search_locations or []
    return [str(Path(each).parent.parent) for each in places]


def _reason(error: Any, texts: Mapping[str, str]) -> str:
    found = []
    for each in error.args[0]:
        name = each.filename.decode(errors="replace")
        column = each.column + 1
        if each.line == 0 and name in texts and not _SYNTAX.match(texts[name]):
            column = max(1, column - len(_PROTO2))
        where = f"line {each.line + 1}, column {column}" if each.line >= 0 else "the file"
        message = each.message.decode(errors="replace")
        found.append(f"{where}: {message}" if name == MAIN else f"{where} of {name}: {message}")
    return f"expected a Protobuf schema: {'; '.join(found[:5])}"


def _pooled(files: Mapping[str, Any], main: str) -> Any:
    """Add a file and its imports to a new pool."""
    pool = library("google.protobuf.descriptor_pool").DescriptorPool()
    done: set[str] = set()

    def add(name: str, importer: str) -> None:
        if name in done:
            return
        done.add(name)
        proto = files.get(name) or _known(name)
        if proto is None:
            raise ProtobufSchemaError(f"{importer} imports {name!r}, which is not among its references")
        if len(done) > _MAX_FILES:
            raise ProtobufSchemaError(f"expected at most {_MAX_FILES} imported files")
        for each in proto.dependency:
            add(each, name)
        try:
            pool.Add(proto)
        except (TypeError, ValueError) as error:
            raise ProtobufSchemaError(f"expected a Protobuf schema: {error}") from error

    try:
        add(main, main)
        return pool.FindFileByName(main)
    except (KeyError, RecursionError) as error:
        raise ProtobufSchemaError(f"expected a Protobuf schema: {error}") from error


def _known(name: str) -> Any:
    """Return the descriptor of a well-known file from its generated module."""
    if not is_known(name) or not re.fullmatch(r"[\w/]+\.proto", name):
        return None
    try:
        module = library(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    except Exception:
        return None
    return descriptor_proto(module.DESCRIPTOR)


def proto_text(file: Any) -> str:
    """Return the text of a `FileDescriptorProto`, without comments and custom options."""
    return _Writer(file).text()


class _Writer:
    def __init__(self, file: Any) -> None:
        self._file = file
        self._lines: list[str] = []
        self._pb = library("google.protobuf.descriptor_pb2").FieldDescriptorProto
        self._has_labels = file.syntax in ("", "proto2")

    def text(self) -> str:
        """Return the text of the whole file."""
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
                # its generated message gets the next position, and values identify messages by position
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
    """Return the options of a descriptor as ``name = value``."""
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
