"""The models of a source of a pipeline: topics, encodings, rules, times, watermark, duplicates and backfill.

`declaration` contains the models of the rest. To add a key: a field here with its description, and an argument of
`pipeline.kafka_source`.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, field_serializer, model_validator

from kafka.pipelines.field_types import (
    RECORD_TIMESTAMP,
    ColumnPath,
    Duration,
    Expression,
    Identifier,
    Options,
    PathText,
    Since,
    Start,
    Text,
    Topic,
    Version,
    milliseconds,
    shown,
)

DECODES = "decodes"
"""The built-in rule that keys and values can be decoded."""
REQUIRED = "required fields are present"
"""The built-in rule that required columns are not null."""
TIMES = "times are within bounds"
"""The built-in rule that times are neither too old nor too far in the future."""
RESERVED = (DECODES, REQUIRED, TIMES)
"""The names of the built-in rules, which no other rule can have."""

MAX_RULES = 63 - len(RESERVED)
"""Maximum number of a source's own rules. Each rule, built-in or not, needs a bit of a signed 64-bit number."""


class Otherwise(enum.StrEnum):
    """What happens to a row that fails a rule, from the mildest to the strictest outcome.

    A row that fails several rules has the strictest of their outcomes.
    """

    KEEP = "keep"
    """Count the row, and process it as if it had passed."""
    DROP = "drop"
    """Count the row, and leave it out."""
    DEAD_LETTER = "dead_letter"
    """Write the original record to the dead letters."""
    FAIL = "fail"
    """Fail the micro-batch; the error contains the row's position."""


class Model(BaseModel):
    """A part of a declaration. It rejects unknown keys and is immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FieldFormat(Model):
    """The encoding of keys or values, as for the options of the Spark source and sink (SPARK.md)."""

    format: Literal[
        "bytes", "string", "short", "int", "long", "float", "double", "json", "json-schema", "avro", "protobuf"
    ] = Field(default="bytes", description="Format of the keys or values.")
    text: Text | None = Field(
        default=None,
        alias="schema",
        description="The schema: Avro, JSON Schema, the text of a .proto file, or, for json, columns in Spark's DDL.",
    )
    file: PathText | None = Field(
        default=None,
        alias="schema_file",
        description="File that contains the schema. In a YAML file, a relative path starts from the file's directory.",
    )
    subject: Text | None = Field(
        default=None, description="Subject in the schema registry; by default TOPIC-value or TOPIC-key."
    )
    version: Version = Field(
        default="latest",
        description="Version within the subject: latest or a number.",
        json_schema_extra={"type": ["string", "integer"]},
    )
    message: Text | None = Field(
        default=None, description="Protobuf message within the schema; by default the first one."
    )

    @model_validator(mode="after")
    def _check(self) -> FieldFormat:
        if self.text is not None and self.file is not None:
            raise ValueError("expected schema or schema_file, got both")
        return self


class Rule(Model):
    """A condition on the rows of a source. A row fails it if the expression is false or null, or raises an error."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(
        description="Name of the rule, unique within its source; dead letters and reports contain it."
    )
    holds: Expression = Field(
        description="Boolean SQL expression over the columns of the value. The rule passes only if it is true; false, "
        "null and an error fail it. It cannot contain aggregates, window functions or Python functions.",
        json_schema_extra={"type": "string"},
    )
    otherwise: Otherwise = Field(
        default=Otherwise.DEAD_LETTER,
        description="What happens to a row that fails the rule: keep counts and processes it, drop counts it and "
        "leaves it out, dead_letter writes the original record to the dead letters, fail stops the pipeline.",
    )
    keep_null: bool = Field(default=False, description="Whether the rule passes if the expression is null, too.")

    @property
    def expression(self) -> str:
        """The expression as text, also if it is a `Column`."""
        return (
            self.holds if isinstance(self.holds, str) else str(self.holds).removeprefix("Column<'").removesuffix("'>")
        )

    @field_serializer("holds", when_used="json")
    def _holds_as_text(self, holds: Any) -> str:
        return self.expression

    def _identity(self) -> tuple[Any, ...]:
        return self.name, isinstance(self.holds, str), self.expression, self.otherwise, self.keep_null

    def __eq__(self, other: object) -> bool:
        """Compare the texts of expressions, because the result of ``==`` for two `Column`s is a `Column`."""
        return self._identity() == other._identity() if isinstance(other, Rule) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())


class TimeBounds(Model):
    """How far a time can be from the time of the micro-batch."""

    column: ColumnPath = Field(
        description="Column of type timestamp or date, or text that can be cast to a timestamp; kafka.timestamp is the "
        "timestamp of the record."
    )
    past: Duration | None = Field(
        default=None, description="Maximum age, such as 3650 days; by default, times can be arbitrarily old."
    )
    future: Duration | None = Field(
        default="1 day", description="Maximum distance into the future; null for times arbitrarily far in the future."
    )

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:
        return {"column": given} if isinstance(given, str) else given


def _times(given: Any) -> Any:
    if isinstance(given, str):
        if given != "timestamp":
            raise ValueError(
                f"expected a list of columns, or timestamp for the timestamps of records, got {shown(given)}"
            )
        return [RECORD_TIMESTAMP]
    return given


def _times_schema(schema: dict[str, Any]) -> None:
    """Add the short forms of `times` to its JSON Schema."""
    array = {"type": schema.pop("type"), "items": {"anyOf": [{"type": "string"}, schema.pop("items")]}}
    schema["anyOf"] = [array, {"const": "timestamp"}]


def _or_text(schema: dict[str, Any]) -> None:
    """Allow a single text instead of a list of texts in a JSON Schema."""
    array = {name: schema.pop(name) for name in ("type", "items", "minItems")}
    schema["anyOf"] = [array, array["items"]]


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


class Watermark(Model):
    """How late rows can be, as for Spark's ``withWatermark``."""

    time: ColumnPath = Field(
        description="Column with the time of the row, of type timestamp. A row in which it is null fails the built-in "
        f"rule '{REQUIRED}'."
    )
    delay: Duration = Field(description="How long stateful steps wait for late rows, such as 10 minutes.")


class Dedupe(Model):
    """Which rows are duplicates of earlier ones; only the first row is processed."""

    by: Annotated[Annotated[tuple[ColumnPath, ...], Field(min_length=1)], BeforeValidator(_as_list)] = Field(
        description="Columns whose values are equal in duplicates.", json_schema_extra=_or_text
    )
    within: Duration = Field(description="Maximum time between a row and its duplicates, such as 10 minutes.")
    time: ColumnPath | None = Field(
        default=None,
        description="Column with the time of the row; by default, the time of the watermark. A row in which it is null "
        f"fails the built-in rule '{REQUIRED}'.",
    )


class Backfill(Model):
    """Older records to process in a bounded run before the stream starts."""

    since: Since = Field(
        description="Records from this time to the current end are processed first: earliest, a date or time in ISO "
        "8601 (UTC without a time zone), or a time in ms since 1970. The stream starts where the backfill ends.",
        json_schema_extra={"type": ["string", "integer"]},
    )

    @property
    def since_ms(self) -> int | None:
        """The time in milliseconds since 1970; None for earliest."""
        return None if self.since == "earliest" else milliseconds(self.since)


class Source(Model):
    """The topics to read, how to decode them, and the rules for their rows."""

    topic: Topic | None = Field(default=None, description="Topic to read.")
    topics: tuple[Topic, ...] | None = Field(default=None, description="Topics to read, instead of topic.")
    pattern: Text | None = Field(default=None, description="Regular expression for topics to read.")
    key: FieldFormat = Field(default=FieldFormat(), description="The encoding of keys; by default, they are bytes.")
    value: FieldFormat = Field(description="The encoding of values.")
    required: tuple[Identifier, ...] = Field(
        default=(),
        description="Columns of the value that must not be null. A row in which one is null fails the built-in rule "
        f"'{REQUIRED}'.",
    )
    times: Annotated[tuple[TimeBounds, ...], BeforeValidator(_times)] = Field(
        default=(),
        description="Columns with times that must be within bounds, each with past and future, or only its name; or "
        "timestamp for the timestamps of records. A row in which one is null or out of bounds fails the built-in rule "
        f"'{TIMES}'. Bounds are relative to the time of the micro-batch.",
        json_schema_extra=_times_schema,
    )
    start: Start = Field(
        default="earliest",
        description="Where a new pipeline starts: earliest, latest, or a time in ms since 1970.",
        json_schema_extra={"type": ["string", "integer"]},
    )
    max_offsets_per_trigger: Annotated[int, Field(gt=0)] | None = Field(
        default=None, description="Maximum number of offsets in a micro-batch; by default, all that are available."
    )
    watermark: Watermark | None = Field(default=None, description="How late rows can be.")
    dedupe: Dedupe | None = Field(default=None, description="Which rows are duplicates of earlier ones.")
    backfill: Backfill | None = Field(
        default=None, description="Older records to process in a bounded run before the stream starts."
    )
    options: Options = Field(default={}, repr=False, description="Other options of the Spark source (SPARK.md).")
    rules: tuple[Rule, ...] = Field(default=(), description="Rules for the rows of this source.")

    @model_validator(mode="after")
    def _check(self) -> Source:
        given = [name for name in ("topic", "topics", "pattern") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"expected one of topic, topics and pattern, got {' and '.join(given) or 'none'}")
        if self.value.format == "json" and self.value.text is None and self.value.file is None:
            raise ValueError("value: format json needs schema or schema_file")
        if any(name.lower() == "maxoffsetspertrigger" for name in self.options):
            raise ValueError("options: expected max_offsets_per_trigger as a key of the source, got it as an option")
        if self.backfill is not None and self.start != "earliest":
            raise ValueError("start: with backfill, the stream starts where the backfill ends: remove start")
        self._check_dedupe()
        check_rules(self.rules)
        return self

    def _check_dedupe(self) -> None:
        if self.dedupe is None:
            return
        if self.dedupe.time is None and self.watermark is None:
            raise ValueError("dedupe: expected time, the column with the time of the row, or a watermark, got none")
        if self.watermark is not None and self.dedupe.time not in (None, self.watermark.time):
            raise ValueError(
                f"dedupe: expected the time of the watermark, {self.watermark.time!r}, got {self.dedupe.time!r}: Spark "
                "has one time for all steps"
            )


def check_rules(rules: Sequence[Rule]) -> None:
    names = [rule.name for rule in rules]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"rules: expected unique names, got {repeated[0]!r} twice")
    if reserved := [name for name in names if name in RESERVED]:
        raise ValueError(f"rules: expected another name than {reserved[0]!r}, which is a built-in rule")
    if len(rules) > MAX_RULES:
        raise ValueError(f"rules: expected at most {MAX_RULES} for a source, got {len(rules)}")
