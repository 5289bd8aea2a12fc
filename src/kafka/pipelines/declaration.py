"""The models of a pipeline: its sources with their rules, its query, its sink and its dead letters.

YAML files (`yaml_file`) and Python programs (`pipeline`) create the same models, which check each value and reject
unknown keys. `json_schema` describes the models for editors. To add a key: a field here with its description.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from kafka.config.option import nearest
from kafka.errors import KafkaConfigurationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9._-]{0,99}$")]
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Topic = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,249}$")]
Text = Annotated[str, StringConstraints(min_length=1)]

SOURCE = "source"
"""The name of a source that is declared without one."""


MAX_RULES = 62
"""Maximum number of rules for a source, because each rule needs a bit of a signed 64-bit number."""


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


class InvalidDeclaration(KafkaConfigurationError):
    """The declaration of a pipeline is invalid. The message contains a line for each problem."""

    remedy = "Correct the places that the message names; PIPELINES.md describes all keys."


def _option_text(value: Any) -> Any:
    """Convert the value of an option to text, because YAML reads ``true`` as a Boolean and ``9092`` as a number."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _expression(value: Any) -> Any:
    """Accept SQL text or a PySpark `Column`. Reject Booleans, because YAML reads an unquoted ``yes`` as a Boolean."""
    if value is None or isinstance(value, bool | int | float | list | dict) or (isinstance(value, str) and not value):
        raise ValueError(f"expected an SQL expression as text, got {_shown(value)}")
    return value


def _start(value: str) -> str:
    if value not in ("earliest", "latest") and not value.isdecimal():
        raise ValueError(f"expected earliest, latest or a time in ms since 1970, got {value!r}")
    return value


def _version(value: str) -> str:
    if value != "latest" and not value.isdecimal():
        raise ValueError(f"expected latest or a number, got {value!r}")
    return value


Start = Annotated[str, BeforeValidator(_option_text), AfterValidator(_start)]
Version = Annotated[str, BeforeValidator(_option_text), AfterValidator(_version)]
Options = dict[str, Annotated[str, BeforeValidator(_option_text)]]
"""Options by name."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FieldFormat(_Model):
    """The encoding of keys or values, as for the options of the Spark source and sink (SPARK.md)."""

    format: Literal[
        "bytes", "string", "short", "int", "long", "float", "double", "json", "json-schema", "avro", "protobuf"
    ] = Field(default="bytes", description="Format of the keys or values.")
    text: Text | None = Field(
        default=None,
        alias="schema",
        description="The schema: Avro, JSON Schema, the text of a .proto file, or, for json, columns in Spark's DDL.",
    )
    file: Text | None = Field(default=None, alias="schema_file", description="File that contains the schema.")
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


class Rule(_Model):
    """A condition on the rows of a source. A row fails it if the expression is false or null, or raises an error."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(
        description="Name of the rule, unique within its source; dead letters and reports contain it."
    )
    holds: Annotated[Any, BeforeValidator(_expression)] = Field(
        description="Boolean SQL expression over the columns of the value. The rule passes only if it is true; false, "
        "null and an error fail it. It cannot contain aggregates, window functions or Python functions.",
        json_schema_extra={"type": "string"},
    )
    otherwise: Otherwise = Field(
        default=Otherwise.DEAD_LETTER,
        description="What happens to a row that fails the rule: keep and drop only count it, dead_letter writes the "
        "original record to the dead letters, fail stops the pipeline.",
    )
    keep_null: bool = Field(default=False, description="Whether the rule passes if the expression is null, too.")


class Source(_Model):
    """The topics to read, how to decode them, and the rules for their rows."""

    topic: Topic | None = Field(default=None, description="Topic to read.")
    topics: tuple[Topic, ...] | None = Field(default=None, description="Topics to read, instead of topic.")
    pattern: Text | None = Field(default=None, description="Regular expression for topics to read.")
    key: FieldFormat = Field(default=FieldFormat(), description="The encoding of keys; by default, they are bytes.")
    value: FieldFormat = Field(description="The encoding of values.")
    required: tuple[Identifier, ...] = Field(
        default=(),
        description="Columns of the value that must not be null; a row without one is a dead letter.",
    )
    start: Start = Field(
        default="earliest",
        description="Where a new pipeline starts: earliest, latest, or a time in ms since 1970.",
        json_schema_extra={"type": ["string", "integer"]},
    )
    options: Options = Field(default={}, description="Other options of the Spark source (SPARK.md).")
    rules: tuple[Rule, ...] = Field(default=(), description="Rules for the rows of this source.")

    @model_validator(mode="after")
    def _check(self) -> Source:
        given = [name for name in ("topic", "topics", "pattern") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"expected one of topic, topics and pattern, got {' and '.join(given) or 'none'}")
        if self.value.format == "json" and self.value.text is None and self.value.file is None:
            raise ValueError("value: format json needs schema or schema_file")
        _check_rules(self.rules)
        return self


class Sink(_Model):
    """A topic, and how to encode the rows of the query."""

    topic: Topic = Field(description="Topic to write to.")
    key: Identifier | None = Field(default=None, description="Column of the query whose values become the keys.")
    value: FieldFormat = Field(default=FieldFormat(format="json"), description="The encoding of the query's columns.")
    exactly_once: bool = Field(default=True, description="Whether each micro-batch is one Kafka transaction.")
    options: Options = Field(default={}, description="Other options of the Spark sink (SPARK.md).")


class DeadLetters(_Model):
    """Where rejected records go."""

    topic: Topic = Field(description="Topic of the dead letters.")


class Declaration(_Model):
    """A pipeline that reads topics, checks their rows and writes the result of a query."""

    pipeline: Name = Field(
        description="Name of the pipeline; its checkpoint, transactions and groups are named after it."
    )
    kafka: Options = Field(description="Options of the Kafka clients by their Java names, such as bootstrap.servers.")
    registry: Options = Field(default={}, description="The Spark options that begin with schemaRegistry, such as url.")
    source: Source | None = Field(default=None, description="The source; the query calls it source.")
    sources: dict[Identifier, Source] = Field(
        default={}, description="The sources, by the names by which the query refers to them."
    )
    rules: tuple[Rule, ...] = Field(default=(), description="Rules for the rows of the only source.")
    query: Text | None = Field(default=None, description="SQL query; by default, all columns of the source.")
    sink: Sink = Field(description="Where the rows of the query go.")
    dead_letters: DeadLetters | None = Field(
        default=None, description="Where rejected records go; needed if a rule has the outcome dead_letter."
    )
    max_bad: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None, description="A pipeline stops if a larger fraction of the rows of a micro-batch is rejected."
    )

    @model_validator(mode="after")
    def _check(self) -> Declaration:
        if (self.source is None) == (not self.sources):
            raise ValueError("expected one of source and sources, got " + ("both" if self.sources else "none"))
        if self.rules and len(self.all_sources) != 1:
            raise ValueError("rules: with several sources, each rule belongs to one: declare it in sources.NAME.rules")
        if self.query is None and len(self.all_sources) != 1:
            raise ValueError("query: expected a query, because there are several sources")
        for source in self.all_sources.values():
            _check_rules(source.rules)
        if self.dead_letters is None and self._may_reject():
            raise ValueError("dead_letters: expected a topic, because rules have the outcome dead_letter")
        return self

    @property
    def all_sources(self) -> dict[str, Source]:
        """The sources by name, each with all its rules."""
        found = {SOURCE: self.source} if self.source is not None else dict(self.sources)
        if self.rules and len(found) == 1:
            ((name, source),) = found.items()
            found[name] = source.model_copy(update={"rules": source.rules + self.rules})
        return found

    def canonical(self) -> Declaration:
        """Return the same pipeline with all sources in `sources`, and each rule in its source.

        Equal pipelines have equal canonical forms.
        """
        return self.model_copy(update={"source": None, "sources": self.all_sources, "rules": ()})

    def _may_reject(self) -> bool:
        return any(
            source.required or any(rule.otherwise is Otherwise.DEAD_LETTER for rule in source.rules)
            for source in self.all_sources.values()
        )


def _check_rules(rules: Sequence[Rule]) -> None:
    names = [rule.name for rule in rules]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"rules: expected unique names, got {repeated[0]!r} twice")
    if len(rules) > MAX_RULES:
        raise ValueError(f"rules: expected at most {MAX_RULES} for a source, got {len(rules)}")


Location = tuple[str | int, ...]
"""The path to a value in a declaration: keys and indexes, outermost first."""


def declare(given: Mapping[str, Any], place: Callable[[Location], str] = lambda location: "") -> Declaration:
    """Create a declaration from nested mappings and lists, such as the content of a YAML file.

    Arguments:
        given: the keys of `Declaration` with their values.
        place: returns the prefix for an error at a location, such as ``flights.yaml:7: ``.

    Returns the canonical declaration. Raises `InvalidDeclaration` with a line for each problem.
    """
    try:
        return Declaration.model_validate(given).canonical()
    except ValidationError as error:
        problems = [place(each["loc"]) + _problem(each["loc"], each) for each in error.errors()]
        raise InvalidDeclaration("\n".join(problems)) from None


M = TypeVar("M", bound=BaseModel)


def validated(model: type[M], given: Mapping[str, Any], what: str) -> M:
    """Create a part of a declaration from keyword arguments. Raises an `InvalidDeclaration` that names `what`."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidDeclaration(
            "\n".join(f"{what}: {_problem(each['loc'], each, model)}" for each in error.errors())
        ) from None


def _problem(location: Location, problem: ErrorDetails, model: type[BaseModel] = Declaration) -> str:
    path = path_text(location)
    given = problem["input"]
    match problem["type"]:
        case "extra_forbidden":
            known = _keys_at(model, location[:-1])
            return f"{path}: unknown key{nearest(str(location[-1]), known)}; known are {', '.join(known)}"
        case "missing":
            return f"{path}: this key is missing"
        case "value_error":
            text = str(problem["ctx"]["error"])
            return f"{path}: {text}" if path else text
        case "enum" | "literal_error":
            expected = problem["ctx"]["expected"]
            names = re.findall(r"'([^']*)'", expected)
            return f"{path}: expected {expected}, got {given!r}{nearest(str(given), names)}"
        case "string_pattern_mismatch":
            return f"{path}: expected text that matches {problem['ctx']['pattern']}, got {given!r}"
        case _:
            return f"{path}: {problem['msg'].replace('Input should be', 'expected')}, got {_shown(given)}"


def path_text(location: Location) -> str:
    """Format a location as text, such as ``source.rules[2].holds``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _keys_at(model: type[BaseModel], location: Location) -> list[str]:
    """Return the keys of the model at a location within another model."""
    for part in location:
        fields = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
        if part in fields:  # the other parts are indexes and names of sources
            model = _model_of(fields[part]) or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """Return the model in a field, directly or within an optional, a tuple or a dict; None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for inner in get_args(annotation) if (model := _model_of(inner))), None)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema for pipelines in YAML files, for editors."""
    schema = Declaration.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "kafka-columnar pipeline"} | schema
