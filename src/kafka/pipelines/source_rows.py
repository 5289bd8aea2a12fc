"""The rows of a source: the columns that a query sees, and hidden columns with the record and the result of the rules.

A query sees the fields of the value as columns, and the struct column `KAFKA`. If the value is not a struct, it is the
column `value`. All other columns of the record stay in hidden columns (`Hidden`), from which dead letters and the
headers of output records are made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kafka.pipelines.declaration import Declaration, FieldFormat, InvalidDeclaration, Otherwise, Source
from kafka.pipelines.field_types import selects
from kafka.pipelines.record_headers import ATTEMPT, PIPELINE, SOURCE, TIMESTAMP
from kafka.pipelines.rules import CURRENT, Evaluation, all_rules, cause

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KAFKA = "kafka"
"""The struct column with the metadata of the record: topic, partition, offset, timestamp, key and headers."""
PREFIX = "__kafka_pipelines_"
"""Prefix of the hidden columns."""


class Hidden:
    """The names of the hidden columns."""

    FAILURES = f"{PREFIX}failures"
    """Bitmask of the rules that the row fails, as in `rules.Evaluation`."""
    PASSES = f"{PREFIX}passes"
    """Whether the row is processed; after the query's filters, whether it is part of the result."""
    DEAD = f"{PREFIX}dead"
    """Whether the row is a dead letter."""
    DROPPED = f"{PREFIX}dropped"
    """Whether a rule drops the row."""
    TOPIC, PARTITION, OFFSET = f"{PREFIX}topic", f"{PREFIX}partition", f"{PREFIX}offset"
    """The position of the input record. In a replay, that of the original record."""
    TIMESTAMP = f"{PREFIX}timestamp"
    HEADERS = f"{PREFIX}headers"
    """The headers of the original record."""
    KEY, VALUE = f"{PREFIX}key", f"{PREFIX}value"
    """The bytes of the key and the value."""
    ATTEMPT = f"{PREFIX}attempt"
    """How often the record has been rejected before."""
    RULES = f"{PREFIX}rules"
    """The names of the failed rules of a dead letter."""
    CAUSE = f"{PREFIX}cause"
    """The text for a dead letter's header `CAUSE`."""

    RECORD = (TOPIC, PARTITION, OFFSET, TIMESTAMP, HEADERS, KEY, VALUE, ATTEMPT)
    ALL = (*RECORD, FAILURES, PASSES, DEAD, DROPPED, RULES, CAUSE)


def field_options(field: str, format_: FieldFormat) -> dict[str, str]:
    """Return the Spark options for the format of keys or values.

    Arguments:
        field: ``key`` or ``value``.
        format_: the declared format.
    """
    if format_.format == "bytes":
        return {}
    given = {
        "Format": format_.format,
        "Schema": format_.text,
        "SchemaFile": format_.file,
        "Subject": format_.subject,
        "Version": None if format_.version == "latest" else format_.version,
        "Message": format_.message,
    }
    return {f"{field}{name}": value for name, value in given.items() if value is not None}


_REGISTRY_FORMATS = ("avro", "json-schema", "protobuf")
_REGISTRY_NAMES = {"url": "Url", "user": "User", "password": "Password", "token": "Token", "wait": "Wait"}


def client_options(declaration: Declaration, formats: Sequence[FieldFormat]) -> dict[str, str]:
    """Return the Spark options for the Kafka clients, and for the schema registry if a format uses it."""
    options = {f"kafka.{name}": value for name, value in declaration.kafka.items()}
    if any(each.format in _REGISTRY_FORMATS for each in formats):
        for name, value in declaration.registry.items():
            options[f"schemaRegistry{_REGISTRY_NAMES.get(name) or '.' + name}"] = value
    return options


def read_options(declaration: Declaration, source: Source) -> dict[str, str]:
    """Return the options of a read of a source, without those that select topics and offsets."""
    options = client_options(declaration, [source.key, source.value])
    options.setdefault("kafka.isolation.level", "read_committed")
    options["includeHeaders"] = "true"
    for field, format_ in (("key", source.key), ("value", source.value)):
        typed = field_options(field, format_)
        if typed:
            options |= typed | {f"{field}Errors": "column"}
            if declaration.dead_letters is not None:
                options["originalBytes"] = "true"
    return options | source.options


def topic_options(source: Source) -> dict[str, str]:
    """Return the options that select the topics of a source."""
    if source.pattern is not None:
        return {"subscribePattern": source.pattern}
    return {"subscribe": ",".join(source.topics or (source.topic or "",))}


def start_options(source: Source) -> dict[str, str]:
    """Return the options that say where a new query starts, from the declaration and from its options."""
    given = {name: value for name, value in source.options.items() if name.lower().startswith("starting")}
    if given:
        return given
    if source.start in ("earliest", "latest"):
        return {"startingOffsets": source.start}
    return {"startingTimestamp": source.start}


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """Columns with the position and the metadata of the original record."""

    topic: Column
    partition: Column
    offset: Column
    timestamp: Column
    headers: Column
    attempt: Column


def own_origin() -> Origin:
    """Return the origin of records that are read from the source itself."""
    from pyspark.sql import functions as f

    topic, partition, offset, timestamp, headers = map(f.col, ("topic", "partition", "offset", "timestamp", "headers"))
    return Origin(topic, partition, offset, timestamp, headers, attempt=f.lit(0))


def dead_letter_origin() -> Origin:
    """Return the origin of records that are read from dead letters: that of the original record, from the headers."""
    from pyspark.sql import functions as f

    added = added_headers()

    def header(name: str) -> Column:
        """Return the last added header with this name, as text."""
        return f.try_element_at(f.filter(added, lambda each: each["key"] == name), f.lit(-1))["value"].cast("string")

    parts = f.split(header(SOURCE), "/")
    return Origin(
        topic=f.try_element_at(parts, f.lit(1)),
        partition=f.try_element_at(parts, f.lit(2)).try_cast("int"),
        offset=f.try_element_at(parts, f.lit(3)).try_cast("bigint"),
        timestamp=f.coalesce(
            f.timestamp_millis(header(TIMESTAMP).try_cast("bigint")).cast("timestamp"), f.col("timestamp")
        ),
        headers=f.slice("headers", f.lit(1), _original_count()),
        attempt=f.coalesce(header(ATTEMPT).try_cast("int"), f.lit(1)),
    )


def added_headers() -> Column:
    """Return the headers of a dead letter that the pipeline has added, without those of the original record.

    The last header `PIPELINE` is the first of them. Headers of these names before it belong to the original record,
    which may itself be a dead letter of another pipeline.
    """
    from pyspark.sql import functions as f

    return f.slice("headers", _original_count() + 1, f.size("headers"))


def _original_count() -> Column:
    """Return the number of headers before the last header `PIPELINE`; 0 if there is none."""
    from pyspark.sql import functions as f

    def index(each: Column, at: Column) -> Column:
        return f.when((each["key"] == PIPELINE) & each["value"].isNotNull(), at).otherwise(f.lit(0))

    return f.coalesce(f.array_max(f.transform("headers", index)), f.lit(0))


class SourceRows:
    """The rows of a source, with the result of its rules.

    Arguments:
        declaration: the pipeline.
        name: the name of the source.
        now: SQL for the current time; None for that of the batch.
    """

    def __init__(self, declaration: Declaration, name: str, now: str | None = None) -> None:
        self.name = name
        self.source = declaration.all_sources[name]
        self.rules = all_rules(declaration, self.source, now or CURRENT)

    def checked(self, records: DataFrame, origin: Origin | None = None) -> DataFrame:
        """Return the visible and the hidden columns of records.

        Arguments:
            records: the records as read with `read_options`.
            origin: where they come from; None if they are read from the source.

        Raises `InvalidDeclaration` if a field of the value has the name of a reserved column.
        """
        from pyspark.sql import functions as f

        unpacked = self._unpacked(records, origin or own_origin())
        evaluation = Evaluation(self.rules, f.col(Hidden.OFFSET))
        failures = f.col(Hidden.FAILURES)
        marked = evaluation.add_to(unpacked, Hidden.FAILURES)
        dead = evaluation.has_outcome(failures, Otherwise.DEAD_LETTER)
        reason = cause(self.rules, failures, self.source)
        position = f.concat_ws("/", Hidden.TOPIC, Hidden.PARTITION, Hidden.OFFSET)
        passes = evaluation.is_processed(evaluation.stopping(failures, position, reason))
        return marked.select(
            *self._visible(unpacked),
            *[f.col(name) for name in Hidden.ALL if name in marked.columns],
            passes.alias(Hidden.PASSES),
            dead.alias(Hidden.DEAD),
            evaluation.has_outcome(failures, Otherwise.DROP).alias(Hidden.DROPPED),
            f.when(dead, evaluation.failed_names(failures)).alias(Hidden.RULES),
            f.when(dead, reason).alias(Hidden.CAUSE),
        )

    def _unpacked(self, records: DataFrame, origin: Origin) -> DataFrame:
        from pyspark.sql import functions as f
        from pyspark.sql.types import StructType

        value_type = records.schema["value"].dataType
        if isinstance(value_type, StructType):
            taken = [name for name in value_type.fieldNames() if _is_reserved(name)]
            if taken:
                raise InvalidDeclaration(
                    f"source {self.name}: expected fields of other names than {', '.join(_RESERVED)}, which are "
                    f"columns with the record's metadata, got {taken[0]!r}; read the value as text, and parse it in "
                    "the query"
                )
            fields = [f.col("value")[name].alias(name) for name in value_type.fieldNames()]
        else:
            fields = [f.col("value")]
        errors = [f.col(name) for name in ("key_error", "value_error") if name in records.columns]
        metadata = f.struct(
            origin.topic.alias("topic"),
            origin.partition.alias("partition"),
            origin.offset.alias("offset"),
            origin.timestamp.alias("timestamp"),
            f.col("key").alias("key"),
            origin.headers.alias("headers"),
        )
        return records.select(
            *fields,
            metadata.alias(KAFKA),
            *errors,
            origin.topic.alias(Hidden.TOPIC),
            origin.partition.alias(Hidden.PARTITION),
            origin.offset.alias(Hidden.OFFSET),
            origin.timestamp.alias(Hidden.TIMESTAMP),
            origin.headers.alias(Hidden.HEADERS),
            origin.attempt.alias(Hidden.ATTEMPT),
            f.col("key_bytes" if "key_bytes" in records.columns else "key").alias(Hidden.KEY),
            f.col("value_bytes" if "value_bytes" in records.columns else "value").alias(Hidden.VALUE),
        )

    def _visible(self, unpacked: DataFrame) -> list[str]:
        names = [name for name in unpacked.columns if name not in ("key_error", "value_error")]
        return [quoted(name) for name in names if not name.startswith(PREFIX)]


_RESERVED = (KAFKA, "key_error", "value_error")


def _is_reserved(name: str) -> bool:
    """Return whether a field of a value would hide a column of a source. Spark ignores upper and lower case."""
    return name.lower() in _RESERVED or name.lower().startswith(PREFIX)


def visible(checked: DataFrame) -> DataFrame:
    """Return the columns that a query sees."""
    return checked.select(*[quoted(name) for name in checked.columns if not name.startswith(PREFIX)])


def quoted(name: str) -> str:
    """Quote the name of a column for SQL."""
    return f"`{name.replace('`', '``')}`"


def by_topic(sources: Mapping[str, Source], topic: str) -> str | None:
    """Return the name of the source that reads a topic; None if no source does."""
    for name, source in sources.items():
        if source.pattern is not None:
            if selects(source.pattern, topic):
                return name
        elif topic in (source.topics or (source.topic,)):
            return name
    return None
