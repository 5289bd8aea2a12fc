"""The columns of a read, with the names and types of Spark's own connector, and checks of schemas. Pure."""

from collections.abc import Collection, Mapping, Sequence

from kafka.config.option import nearest
from kafka.errors import KafkaConfigurationError
from kafka.spark.options.field_options import FIELDS, bytes_column

COLUMNS: dict[str, str] = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
    "headers": "array<struct<key:string,value:binary>>",
}
"""All columns and their types, in Spark's order and notation."""

NEVER_NULL = frozenset({"topic", "partition", "offset", "timestamp", "timestampType"})
"""Columns that a user's schema may declare as not null, because every record has them."""

HEADERS = "headers"
TIMESTAMP = "timestamp"


def ddl(columns: Sequence[str], types: Mapping[str, str] = COLUMNS) -> str:
    """Return the schema for these columns in Spark's notation."""
    return ", ".join(f"{name} {types[name]}" for name in columns)


def check_columns(option: str, columns: Sequence[str], there: Collection[str] = COLUMNS) -> None:
    """Raise `KafkaConfigurationError` for the first name that is not a column of a read."""
    for name in columns:
        if name not in there:
            raise KafkaConfigurationError(
                f"{option} names {name!r}, which is not a column of a read from Kafka{nearest(name, there)}; the "
                f"columns are {', '.join(there)}"
            )


def check_user_schema(fields: Sequence[tuple[str, str, bool]], types: Mapping[str, str] = COLUMNS) -> tuple[str, ...]:
    """Check the fields of a user's schema: name, type in Spark's notation, and whether the field is nullable.

    Returns the names of the fields. Raises `KafkaConfigurationError` if a type differs, because the source does not
    convert columns.
    """
    names = tuple(name for name, _, _ in fields)
    check_columns("the schema", names, types)
    for name, given, nullable in fields:
        if given != types[name]:
            raise KafkaConfigurationError(
                f"the schema gives column {name!r} the type {given}, but it is {types[name]}; read it as that type, "
                "then cast or parse it in Spark"
            )
        if not nullable and name not in NEVER_NULL:
            raise KafkaConfigurationError(
                f"the schema declares column {name!r} as not null, but it can be null; remove the constraint"
            )
    if not names or len(set(names)) != len(names):
        raise KafkaConfigurationError(
            f"the schema must name at least one column and no column twice, not {list(names)}"
        )
    return names


def not_null(fields: Sequence[tuple[str, str, bool]]) -> frozenset[str]:
    """Return the names of the fields of a checked schema that are declared as not null."""
    return frozenset(name for name, _, nullable in fields if not nullable)


def check_sink_schema(
    fields: Sequence[tuple[str, str]],
    topic: str | None,
    *,
    timestamps: bool = False,
    typed: Mapping[str, str] | None = None,
    original_bytes: bool = False,
) -> tuple[str, ...]:
    """Check the fields (name and type in Spark's notation) of a DataFrame; return the names of the fields to write.

    Arguments:
        fields: the fields of the DataFrame. Columns that the sink does not support are ignored.
        topic: the option `topic`.
        timestamps: whether a column `timestamp` of Spark's type timestamp sets the records' timestamps. With another
            type, it is ignored, as in Spark's connector.
        typed: the formats of typed columns.
        original_bytes: whether columns such as value_bytes replace encoded values. They are not among the names.

    Raises `KafkaConfigurationError` if `value` or the topic is missing, or if a type is wrong.
    """
    types = dict(fields)
    if "value" not in types:
        format_ = (typed or {}).get("value")
        kind, how = ("string or binary", "to_json(struct(*))") if format_ is None else (f"for {format_}", "struct(*)")
        raise KafkaConfigurationError(
            f"a write to Kafka requires a column 'value' ({kind}), but the columns are {', '.join(types)}; create it, "
            f"for example with selectExpr('{how} AS value')"
        )
    if topic is None and "topic" not in types:
        raise KafkaConfigurationError("a write to Kafka requires the option 'topic' or a column 'topic'")
    for name, format_ in (typed or {}).items():
        _check_typed(name, format_, types)
    if original_bytes:
        _check_bytes(types, typed or {})
    for name, allowed in _SINK_TYPES.items():
        if name in (typed or {}):
            continue
        if name in types and types[name] not in allowed and not (name == "topic" and topic is not None):
            raise KafkaConfigurationError(
                f"column {name!r} must be {' or '.join(allowed)} to be written to Kafka, not {types[name]}"
            )
    written = {name for name in types if name in _SINK_TYPES and not (name == "topic" and topic is not None)}
    if timestamps and types.get(TIMESTAMP) == COLUMNS[TIMESTAMP]:
        written.add(TIMESTAMP)
    return tuple(name for name in types if name in written)


def _check_typed(name: str, format_: str, types: Mapping[str, str]) -> None:
    """Raise `KafkaConfigurationError` if a typed column is missing, or cannot be written in its format."""
    if name not in types:
        raise KafkaConfigurationError(f"option {name + 'Format'!r} is set, but there is no column {name!r} to write")
    allowed = _PLAIN_TYPES.get(format_)
    if allowed is not None and types[name] not in allowed:
        raise KafkaConfigurationError(
            f"column {name!r} must be {' or '.join(allowed)} to be written as {format_}, not {types[name]}"
        )


def _check_bytes(types: Mapping[str, str], typed: Mapping[str, str]) -> None:
    """Raise `KafkaConfigurationError` for a missing or wrong column with original bytes."""
    for field in FIELDS:
        name = bytes_column(field)
        if name not in types:
            if field in typed:
                raise KafkaConfigurationError(
                    f"options 'originalBytes' and {field + 'Format'!r} require a column {name!r} (binary), but the "
                    f"columns are {', '.join(types)}; create it, for example with selectExpr('*', "
                    f"'cast(null AS binary) AS {name}'), or remove 'originalBytes'"
                )
        elif types[name] != "binary":
            raise KafkaConfigurationError(
                f"column {name!r} must be binary to be written with 'originalBytes', not {types[name]}"
            )
        elif field not in types:
            raise KafkaConfigurationError(
                f"column {name!r} replaces rows of a column {field!r} with 'originalBytes', but there is no column "
                f"{field!r}; create it, or drop {name!r}"
            )


_PLAIN_TYPES = {
    "string": ("string",),
    "short": ("tinyint", "smallint"),
    "int": ("tinyint", "smallint", "int"),
    "long": ("tinyint", "smallint", "int", "bigint"),
    "float": ("float",),
    "double": ("float", "double"),
}
_SINK_TYPES = {
    "topic": ("string",),
    "key": ("string", "binary"),
    "value": ("string", "binary"),
    "partition": ("int",),
    HEADERS: (COLUMNS[HEADERS],),
}
