"""Options for the formats of keys and values, and conversion to text and back."""

import functools
import pathlib
import struct
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

import click

from kafka.cli.command_output import note
from kafka.cli.registry_options import with_registry_if_given
from kafka.cli.typed_fields import Document, Field, Headers, ToBytes, ToText

R = TypeVar("R")

_NUMBERS = {"short": ">h", "int": ">i", "long": ">q", "float": ">f", "double": ">d"}
KINDS = ("string", "bytes", *_NUMBERS, "json", "avro", "protobuf")
_OF_SCHEMAS = ("json", "avro", "protobuf")
_INTEGERS = ("short", "int", "long")


class Typed(NamedTuple):
    """The formats of keys and values (None: bytes), and the options of the registry's client, if there is one."""

    key: Field | None
    value: Field | None
    registry: Mapping[str, Any] | None

    def __bool__(self) -> bool:
        return self.key is not None or self.value is not None


def with_typed_values(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options; the command gets a `Typed` as `typed`."""

    @functools.wraps(command)
    def run(
        *args: Any,
        registry: Mapping[str, Any] | None,
        key_format: str | None,
        key_schema: pathlib.Path | None,
        key_subject: str | None,
        key_message: str | None,
        value_format: str | None,
        value_schema: pathlib.Path | None,
        value_subject: str | None,
        value_message: str | None,
        **given: Any,
    ) -> R:
        key = _field("key", key_format, key_schema, key_subject, key_message, registry)
        value = _field("value", value_format, value_schema, value_subject, value_message, registry)
        return command(*args, typed=Typed(key, value, registry), **given)

    noted: Callable[..., R] = with_registry_if_given(run)
    for part in ("key", "value"):
        names = ["--value-format", "--value"] if part == "value" else ["--key-format"]
        for option in (
            click.option(f"--{part}-message", metavar="NAME", help="Protobuf message. [default: the schema's first]"),
            click.option(
                f"--{part}-subject", metavar="NAME", help="Subject in the registry. [default: TOPIC-" + part + "]"
            ),
            click.option(
                f"--{part}-schema",
                type=click.Path(exists=True, dir_okay=False, path_type=pathlib.Path),
                help="File with an Avro, Protobuf or JSON Schema. [default: from the registry]",
            ),
            click.option(*names, f"{part}_format", type=click.Choice(KINDS), help=f"Format of {part}s."),
        ):
            noted = option(noted)
    return noted


def _field(
    part: str,
    kind: str | None,
    file: pathlib.Path | None,
    subject: str | None,
    message: str | None,
    registry: Mapping[str, Any] | None,
) -> Field | None:
    """Parse the options. Raises `click.UsageError`."""
    if kind is None:
        for name, given in (("schema", file), ("subject", subject), ("message", message)):
            if given is not None:
                kinds = "protobuf" if name == "message" else "avro, protobuf or json"
                raise click.UsageError(f"--{part}-{name} requires --{part}-format {kinds}")
        return None
    if (file is not None or subject is not None) and kind not in _OF_SCHEMAS:
        raise click.UsageError(f"--{part}-schema and --{part}-subject apply to avro, protobuf and json, not {kind}")
    if message is not None and kind != "protobuf":
        raise click.UsageError(f"--{part}-message applies to protobuf, not {kind}")
    if subject is not None and registry is None:
        raise click.UsageError(f"--{part}-subject requires --registry URL")
    if kind in ("avro", "protobuf") and file is None and registry is None:
        raise click.UsageError(
            f"--{part}-format {kind} requires --registry URL, or --{part}-schema FILE for data without schema ids"
        )
    try:
        text = None if file is None else file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"cannot read --{part}-schema {file}: {error}") from None
    if text is not None and not text.strip():
        raise click.UsageError(f"--{part}-schema {file}: the file is empty")
    return Field(part, kind, text, subject, message, None if file is None else str(file))


class Translator:
    """Converts keys and values to text and back.

    Arguments:
        typed: the formats of keys and values.

    Attributes:
        key, value: convert bytes to text; None: the bytes are text.
    """

    def __init__(self, typed: Typed) -> None:
        self._typed = typed
        self._client: Any = None

    def to_text(self, field: Field | None) -> ToText | None:
        """Return the converter from keys or values to text; None: they are already text. Raises `click.UsageError`."""
        if field is None or field.kind in ("string", "bytes"):
            return None
        if field.kind in _NUMBERS:
            return _number_text(field.kind)
        if field.kind == "avro":
            from kafka.cli.typed_avro import avro_text

            return avro_text(field, self._registry())
        if field.kind == "json":
            _check_unused(field, "JSON is read without its schema")
            from kafka.cli.typed_json import json_text

            return json_text
        if self._typed.registry is not None:
            _check_unused(field, "Protobuf values name their own schema and message")
        from kafka.cli.typed_protobuf import protobuf_text

        return protobuf_text(field, self._registry())

    def to_bytes(self, field: Field | None) -> ToBytes | None:
        """Return the converter from text to keys or values; None: they stay text. Raises `click.UsageError`."""
        if field is None or field.kind in ("string", "bytes"):
            return None
        if field.kind in _NUMBERS:
            return ToBytes(_number_bytes(field.kind))
        if field.kind == "protobuf":
            from kafka.cli.typed_protobuf import protobuf_bytes

            return protobuf_bytes(field, self._registry())
        if field.kind == "avro":
            from kafka.cli.typed_avro import avro_bytes

            return avro_bytes(field, self._registry())
        from kafka.cli.typed_json import json_bytes

        return json_bytes(field, self._registry())

    def _registry(self) -> Any:
        """Return the registry's client, or None if there is no registry."""
        if self._client is None and self._typed.registry is not None:
            from kafka.schema_registry import SchemaRegistryClient

            self._client = SchemaRegistryClient({"timeout": 10, "max.retries": 1, **self._typed.registry})
        return self._client

    def close(self) -> None:
        """Close the registry's client."""
        if self._client is not None:
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def note_likely_mistakes(typed: Typed, keys: Sequence[str], writes: bool) -> None:
    """Warn on standard error about options that are probably mistakes.

    Arguments:
        typed: the formats of keys and values.
        keys: the keys given with ``--key``.
        writes: whether the command writes records.
    """
    for key in keys:
        if key in KINDS and typed.key is None:
            note(f"--key {key} is the key {key!r}, not a format; for keys of this format, use --key-format {key}")
    for field in (typed.key, typed.value):
        if writes and field is not None and field.kind in ("avro", "protobuf") and typed.registry is None:
            note(
                f"{field.part}s are written without a schema id because no registry is given (--registry URL, or the "
                "environment variable KAFKA_SCHEMA_REGISTRY_URL)"
            )


def typed_bytes(translator: Translator, typed: Typed) -> tuple[ToBytes | None, ToBytes | None]:
    """Return the converters from text to keys and to values. Raises `click.UsageError`."""
    return translator.to_bytes(typed.key), translator.to_bytes(typed.value)


def _check_unused(field: Field, why: str) -> None:
    """Raise `click.UsageError` for options that would have no effect."""
    for name, given in (("schema", field.schema), ("subject", field.subject), ("message", field.message)):
        if given is not None:
            raise click.UsageError(f"--{field.part}-{name} has no effect when reading: {why}; leave it out")


def _number_text(kind: str) -> ToText:
    form = struct.Struct(_NUMBERS[kind])

    def text(topic: str, data: bytes, headers: Headers) -> Document:
        if len(data) != form.size:
            raise ValueError(f"expected the {form.size} bytes of {_article(kind)}, got {len(data)}")
        [number] = form.unpack(data)
        if kind == "float":
            number = _shortest(number)
        return Document(repr(number).encode())

    return text


def _shortest(number: float) -> float:
    """Return the number with the fewest digits that is the same 32-bit float."""
    for digits in range(1, 9):
        short = float(f"{number:.{digits}g}")
        if struct.pack(">f", short) == struct.pack(">f", number):
            return short
    return number


def _number_bytes(kind: str) -> Callable[[str, bytes], bytes]:
    form = struct.Struct(_NUMBERS[kind])

    def data(topic: str, text: bytes) -> bytes:
        try:
            return form.pack(int(text) if kind in _INTEGERS else float(text))
        except (ValueError, struct.error, OverflowError):
            raise ValueError(f"expected {_article(kind)}, got {text.decode(errors='backslashreplace')!r:.60}") from None

    return data


def _article(kind: str) -> str:
    return f"an {kind}" if kind == "int" else f"a {kind}"
