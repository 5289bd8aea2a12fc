"""Parses the options that determine the types of keys and values."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from kafka.errors import KafkaConfigurationError

FIELDS = ("key", "value")
REGISTRY_PREFIX = "schemaregistry."
"""Prefix of options of `SchemaRegistryClient`."""
SCHEMA_FORMATS = ("avro", "json", "json-schema", "protobuf")
"""Formats that require a schema."""
REGISTRY_FORMATS = {"avro": "AVRO", "json-schema": "JSON", "protobuf": "PROTOBUF"}
"""The formats whose values start with a schema id if there is a registry, each with its schema type in the registry."""
PLAIN_FORMATS = ("string", "short", "int", "long", "float", "double")
FORMATS = (*SCHEMA_FORMATS, *PLAIN_FORMATS)

_NOT_REDACTED = {
    "basic.auth.user.info": "schemaRegistryUser and schemaRegistryPassword",
    "url": "schemaRegistryUrl",
    "bearer.auth.token": "schemaRegistryToken",
}
"""Options of the registry client that Spark does not redact, each with the redacted option to use instead."""
_NUMBERS = (
    "timeout",
    "max.retries",
    "retries.wait.ms",
    "retries.max.wait.ms",
    "cache.capacity",
    "cache.latest.ttl.sec",
)


def bytes_column(field: str) -> str:
    """Return the name of the column with the undecoded bytes of keys or values."""
    return f"{field}_bytes"


class Row(Protocol):
    """The part of a row of the option table (`SparkOption`) that this module uses."""

    @property
    def name(self) -> str: ...

    @property
    def default(self) -> str: ...

    @property
    def parse(self) -> Callable[[str, str], Any]: ...

    @property
    def field(self) -> str: ...


@dataclasses.dataclass(frozen=True, slots=True)
class FieldOptions:
    """The options for keys or for values.

    Arguments:
        field: "key" or "value".
        format: one of `FORMATS`.
        schema: the option valueSchema.
        schema_file: the option valueSchemaFile.
        subject: the option valueSubject.
        version: the option valueVersion; None for the latest version.
        errors: the option valueErrors: fail, null or column.
        message: the option valueMessage; None for the first message in the schema.
    """

    field: str
    format: str
    schema: str | None = None
    schema_file: str | None = None
    subject: str | None = None
    version: int | None = None
    errors: str = "fail"
    message: str | None = None

    def option(self, name: str) -> str:
        """Return the name of an option of this field, such as valueSchema for Schema."""
        return f"{self.field}{name}"


@dataclasses.dataclass(frozen=True, slots=True)
class TypedOptions:
    """The types of keys and values.

    Arguments:
        fields: the options for keys, for values, or for both.
        registry: options of `SchemaRegistryClient`, sorted for use as a cache key; () without a registry.
        registry_wait_ms: how long to wait for a registry that does not answer.
        register: the option autoRegister.
        original_bytes: the option originalBytes.
    """

    fields: tuple[FieldOptions, ...] = ()
    registry: tuple[tuple[str, Any], ...] = dataclasses.field(default=(), repr=False)
    registry_wait_ms: int = 0
    register: bool = True
    original_bytes: bool = False

    def of(self, field: str) -> FieldOptions | None:
        """Return the options for keys or values; None if these are bytes."""
        return next((each for each in self.fields if each.field == field), None)

    @property
    def error_columns(self) -> tuple[str, ...]:
        """The error columns of a read, such as value_error."""
        return tuple(f"{each.field}_error" for each in self.fields if each.errors == "column")

    @property
    def bytes_columns(self) -> tuple[str, ...]:
        """The columns of a read with undecoded keys and values, such as value_bytes."""
        return tuple(bytes_column(each.field) for each in self.fields) if self.original_bytes else ()


UNTYPED = TypedOptions()


def parse_typed(
    parsed: Mapping[str, Any], given: Mapping[str, str], rows: Sequence[Row], **settings: Any
) -> TypedOptions:
    """Check the options that determine the types of keys and values.

    Arguments:
        parsed: the given options of the option table, by name.
        given: all options, with lower-case names.
        rows: the option table.
        settings: the fields of `TypedOptions` that are set by single options.

    Raises a `KafkaConfigurationError` that names the option and contains no secret.
    """
    fields = tuple(found for field in FIELDS if (found := _field(field, parsed, rows)) is not None)
    if settings.get("original_bytes") and not fields:
        raise KafkaConfigurationError(
            "option 'originalBytes' requires 'valueFormat' or 'keyFormat': without them, the columns value and key "
            "already contain the bytes"
        )
    registry = _registry(parsed, given)
    if registry and not any(each.format in REGISTRY_FORMATS for each in fields):
        raise KafkaConfigurationError(
            "option 'schemaRegistryUrl' needs 'valueFormat' or 'keyFormat' to be one of " + ", ".join(REGISTRY_FORMATS)
        )
    for each in fields:
        _check_schema(each, has_registry=bool(registry))
    return TypedOptions(fields, registry, **settings)


def _field(field: str, parsed: Mapping[str, Any], rows: Sequence[Row]) -> FieldOptions | None:
    names = {each.name for each in dataclasses.fields(FieldOptions)}
    own = [row for row in rows if row.field in names and row.name.startswith(field)]
    given = {row.field: parsed[row.name] for row in own if row.name in parsed}
    if "format" not in given:
        for row in own:
            if row.name in parsed:
                raise KafkaConfigurationError(f"option {row.name!r} requires {field + 'Format'!r}")
        return None
    defaults = {row.field: row.parse(row.name, row.default) for row in own if row.default and row.field not in given}
    return FieldOptions(field, **{**defaults, **given})


def _check_schema(field: FieldOptions, *, has_registry: bool) -> None:
    """Check that the options that specify the schema fit the format and each other."""
    said = {
        field.option("Schema"): field.schema,
        field.option("SchemaFile"): field.schema_file,
        field.option("Subject"): field.subject,
        field.option("Version"): field.version,
    }
    given = [name for name, value in said.items() if value is not None]
    if field.message is not None and field.format != "protobuf":
        raise KafkaConfigurationError(f"option {field.option('Message')!r} does not apply to the format {field.format}")
    if field.format not in SCHEMA_FORMATS:
        if given:
            raise KafkaConfigurationError(f"option {given[0]!r} does not apply to the format {field.format}")
        return
    texts = [name for name in given if name in (field.option("Schema"), field.option("SchemaFile"))]
    if len(texts) == 2:
        raise KafkaConfigurationError(f"options {texts[0]!r} and {texts[1]!r} are mutually exclusive")
    others = [name for name in given if name not in texts]
    if others and (field.format not in REGISTRY_FORMATS or not has_registry):
        needs = (
            "'schemaRegistryUrl'"
            if field.format in REGISTRY_FORMATS
            else f"one of the formats {', '.join(REGISTRY_FORMATS)}"
        )
        raise KafkaConfigurationError(f"option {others[0]!r} requires {needs}")


def _registry(parsed: Mapping[str, Any], given: Mapping[str, str]) -> tuple[tuple[str, Any], ...]:
    prefixed = {name.removeprefix(REGISTRY_PREFIX): text for name, text in given.items() if _is_prefixed(name)}
    for name in prefixed:
        if name in _NOT_REDACTED:
            raise KafkaConfigurationError(f"option 'schemaRegistry.{name}': use {_NOT_REDACTED[name]} instead")
    conf: dict[str, Any] = dict(prefixed)
    own = ("schemaRegistryUser", "schemaRegistryPassword", "schemaRegistryToken")
    if "schemaRegistryUrl" not in parsed:
        alone = [name for name in own if name in parsed] + [f"schemaRegistry.{name}" for name in prefixed]
        if alone:
            raise KafkaConfigurationError(f"option {alone[0]!r} requires 'schemaRegistryUrl'")
        return ()
    conf["url"] = parsed["schemaRegistryUrl"]
    user, password = parsed.get("schemaRegistryUser"), parsed.get("schemaRegistryPassword")
    if (user is None) != (password is None):
        raise KafkaConfigurationError("options 'schemaRegistryUser' and 'schemaRegistryPassword' must be set together")
    if user is not None:
        conf["basic.auth.user.info"] = f"{user}:{password}"
    if user is not None and "schemaRegistryToken" in parsed:
        raise KafkaConfigurationError("options 'schemaRegistryUser' and 'schemaRegistryToken' are mutually exclusive")
    if "schemaRegistryToken" in parsed:
        conf |= {"bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": parsed["schemaRegistryToken"]}
    for name in _NUMBERS:
        if name in conf:
            conf[name] = _number(name, conf[name])
    if conf.get("ssl.ca.location") in ("false", "False"):
        conf["ssl.ca.location"] = False
    from kafka.formats.registry.client_options import parse

    try:
        parse(conf)
    except KafkaConfigurationError as error:
        raise KafkaConfigurationError(f"options 'schemaRegistry...': {error.args[0]}") from None
    return tuple(sorted(conf.items()))


def _is_prefixed(name: str) -> bool:
    return name.startswith(REGISTRY_PREFIX)


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise KafkaConfigurationError(f"option 'schemaRegistry.{name}' must be a number, not {text!r}") from None
    return int(number) if number.is_integer() else number
