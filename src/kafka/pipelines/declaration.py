"""The models of a pipeline: its sources (`source_declaration`), its query, its sink and its dead letters.

YAML files (`yaml_file`) and Python programs (`pipeline`) create the same models, which check each value and reject
unknown keys. `json_schema` describes the models for editors. To add a key: a field here with its description.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Discriminator, Field, Tag, ValidationError, model_validator

from kafka.config import secrecy
from kafka.errors import KafkaConfigurationError
from kafka.pipelines.field_types import DIRECTORY, Directory, Duration, Identifier, Name, Options, Text, Topic, selects
from kafka.pipelines.problems import Location, key_of, path_text, problem_text
from kafka.pipelines.source_declaration import (
    DECODES,
    MAX_RULES,
    REQUIRED,
    RESERVED,
    TIMES,
    Backfill,
    Dedupe,
    FieldFormat,
    Model,
    Otherwise,
    Rule,
    Source,
    TimeBounds,
    Watermark,
    check_rules,
)
from kafka.pipelines.targets.choice import TARGETS, kind_of
from kafka.pipelines.targets.delta import DeltaSink
from kafka.pipelines.targets.foreach_batch import ForeachBatchSink
from kafka.pipelines.targets.iceberg import IcebergSink
from kafka.pipelines.targets.parquet import ParquetSink
from kafka.pipelines.targets.postgresql import PostgresqlSink
from kafka.pipelines.targets.tables_by_topic import TablesByTopicSink

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

SOURCE = "source"
"""The name of a source that is declared without one."""


class InvalidDeclaration(KafkaConfigurationError):
    """The declaration of a pipeline is invalid. The message contains a line for each problem."""

    remedy = "Correct the places that the message names; PIPELINES.md describes all keys."


FUNCTION = "<function>"
"""Placeholder for a query that is a function."""


class Sink(Model):
    """A topic, and how to encode the rows of the query."""

    topic: Topic = Field(description="Topic to write to.")
    key: Identifier | None = Field(default=None, description="Column of the query whose values become the keys.")
    value: FieldFormat = Field(default=FieldFormat(format="json"), description="The encoding of the query's columns.")
    exactly_once: bool = Field(default=True, description="Whether each micro-batch is one Kafka transaction.")
    options: Options = Field(default={}, repr=False, description="Other options of the Spark sink (SPARK.md).")


TOPIC = "topic"
"""The key that tells a sink that is a topic from other targets (`targets.choice`)."""


_SINKS: Mapping[str, type[BaseModel]] = {TOPIC: Sink, **TARGETS}
AnySink = Annotated[
    Annotated[Sink, Tag(TOPIC)]
    | Annotated[ParquetSink, Tag("parquet")]
    | Annotated[DeltaSink, Tag("delta")]
    | Annotated[IcebergSink, Tag("iceberg")]
    | Annotated[PostgresqlSink, Tag("postgresql")]
    | Annotated[TablesByTopicSink, Tag("tables_by_topic")]
    | Annotated[ForeachBatchSink, Tag("foreach_batch")],
    Discriminator(kind_of),
]
"""A topic or another target."""


class DeadLetters(Model):
    """Where rejected records go."""

    topic: Topic = Field(description="Topic of the dead letters.")


class Declaration(Model):
    """A pipeline that reads topics, checks their rows and writes the result of a query."""

    pipeline: Name = Field(
        description="Name of the pipeline; its checkpoint, transactions and groups are named after it."
    )
    description: Text | None = Field(default=None, description="What the pipeline is for; reports show it.")
    kafka: Options = Field(
        repr=False, description="Options of the Kafka clients by their Java names, such as bootstrap.servers."
    )
    registry: Options = Field(
        default={},
        repr=False,
        description="Options of the schema registry, such as url: the Spark options that begin with schemaRegistry, "
        "without this prefix.",
    )
    source: Source | None = Field(default=None, description="The source; the query calls it source.")
    sources: dict[Identifier, Source] = Field(
        default={}, description="The sources, by the names by which the query refers to them."
    )
    rules: tuple[Rule, ...] = Field(default=(), description="Rules for the rows of the only source.")
    query: Text | None = Field(default=None, description="SQL query; by default, all columns of the source.")
    sink: AnySink = Field(description="The target of the query's rows: a topic, or another target.")
    dead_letters: DeadLetters | None = Field(
        default=None, description="Where rejected records go; needed if a rule has the outcome dead_letter."
    )
    max_bad: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None,
        description="Maximum fraction of rejected rows in a micro-batch, such as 0.01. The pipeline stops after a "
        "micro-batch with a larger fraction.",
    )
    checkpoint: Directory | None = Field(
        default=None,
        description="Directory of the pipeline, with Spark's checkpoint and the events; by default checkpoints/NAME. A "
        "relative path starts from the directory of the YAML file; in Python, from the working directory.",
    )
    output_mode: Literal["append", "update"] = Field(
        default="append", description="Spark's output mode: append or update."
    )
    trigger: Duration | None = Field(
        default=None,
        description="Time between the starts of micro-batches, such as 10 seconds; by default, a micro-batch starts as "
        "soon as the previous one ends.",
    )
    flush_at_end: bool = Field(
        default=False, description="Whether the last windows are written when a run that reads what is available ends."
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
            check_rules(source.rules)
        if self.dead_letters is None and self._has_outcome(Otherwise.DEAD_LETTER):
            raise ValueError("dead_letters: expected a topic, because rules have the outcome dead_letter")
        self._check_no_loop()
        return self

    def _check_no_loop(self) -> None:
        for key, written in (("sink", self.topic_sink), ("dead_letters", self.dead_letters)):
            if written is not None:
                for source in self.all_sources.values():
                    check_not_read(key, written.topic, source)

    @property
    def topic_sink(self) -> Sink | None:
        """The sink if it is a topic; None for other targets."""
        return self.sink if isinstance(self.sink, Sink) else None

    @property
    def sink_name(self) -> str:
        """The name of the topic, or the kind of another target and its name, such as ``parquet /data/flights``."""
        if isinstance(self.sink, Sink):
            return self.sink.topic
        kind = kind_of(self.sink)
        return f"{kind} {getattr(self.sink, kind)}"

    @property
    def all_sources(self) -> dict[str, Source]:
        """The sources by name, each with all its rules."""
        found = {SOURCE: self.source} if self.source is not None else dict(self.sources)
        if self.rules and len(found) == 1:
            ((name, source),) = found.items()
            found[name] = source.model_copy(update={"rules": source.rules + self.rules})
        return found

    @property
    def built_in_outcome(self) -> Otherwise:
        """What happens to rows that fail a built-in rule: without dead letters, the micro-batch fails."""
        return Otherwise.FAIL if self.dead_letters is None else Otherwise.DEAD_LETTER

    def canonical(self, directory: Path = Path()) -> Declaration:
        """Return the same pipeline with all sources in `sources`, each rule in its source, and a `checkpoint`.

        Equal pipelines have equal canonical forms.

        Arguments:
            directory: the directory that contains the default checkpoint.
        """
        checkpoint = self.checkpoint or str(directory / "checkpoints" / self.pipeline)
        changes = {"source": None, "sources": self.all_sources, "rules": (), "checkpoint": checkpoint}
        return self.model_copy(update=changes)

    def shown(self) -> dict[str, Any]:
        """Return the canonical declaration for display and for events: values that JSON can represent, no secrets."""
        content = self.canonical().model_dump(mode="json", by_alias=True, exclude_none=True)
        return _without_secrets(content)

    def fingerprint(self) -> str:
        """Return a hash that identifies what the pipeline does.

        It does not depend on secrets, the description, or the directories of the checkpoint and of schema files. It
        identifies an SQL query by its text; all functions have the same hash.
        """
        content = _without_secrets(
            self.canonical().model_dump(
                mode="json", by_alias=True, exclude_defaults=True, exclude={"checkpoint", "description"}
            )
        )
        for part in (content["sink"], *content["sources"].values()):
            for each in (part.get("key"), part.get("value")):
                if isinstance(each, dict) and "schema_file" in each:
                    each["schema_file"] = Path(each["schema_file"]).name
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def _has_outcome(self, outcome: Otherwise) -> bool:
        return any(rule.otherwise is outcome for source in self.all_sources.values() for rule in source.rules)


def with_current_options(earlier: Declaration, current: Declaration) -> Declaration:
    """Return the declaration of an earlier run with the current options, because events do not contain secrets."""
    now = current.all_sources
    sources = {
        name: source.model_copy(update={"options": now[name].options}) if name in now else source
        for name, source in earlier.all_sources.items()
    }
    return earlier.model_copy(update={"kafka": current.kafka, "registry": current.registry, "sources": sources})


def check_not_read(key: str, topic: str, source: Source) -> None:
    """Raise a `ValueError` if a source reads a topic that the pipeline writes.

    Arguments:
        key: what writes to the topic, for the error.
        topic: the topic.
        source: the source.
    """
    if source.pattern is not None and selects(source.pattern, topic):
        found, change = f"{topic!r}, which the pattern {source.pattern!r} selects", "topic, or change the pattern"
    elif topic in (source.topics or (source.topic,)):
        found, change = repr(topic), "topic"
    else:
        return
    raise ValueError(
        f"{key}: expected a topic that is not among the sources, got {found}: the pipeline would process its own "
        f"records without end; name another {change}"
    )


def _without_secrets(content: dict[str, Any]) -> dict[str, Any]:
    """Hide the secrets in the options of a declaration that was dumped."""
    for part, key in (
        (content, "kafka"),
        (content, "registry"),
        (content["sink"], "options"),
        *((source, "options") for source in content["sources"].values()),
    ):
        if key in part:
            part[key] = {name: _shown_option(name, value) for name, value in part[key].items()}
    return content


def _shown_option(name: str, value: str) -> str:
    is_user = "user.info" in name.lower()  # USER:PASSWORD
    return value if not is_user and secrecy.shown(name, value) == repr(value) else "<hidden>"


def declare(
    given: Mapping[str, Any],
    place: Callable[[Location], str] = lambda location: "",
    directory: Path | None = None,
) -> Declaration:
    """Create a declaration from nested mappings and lists, such as the content of a YAML file.

    Arguments:
        given: the keys of `Declaration` with their values.
        place: returns the prefix for an error at a location, such as ``flights.yaml:7: ``.
        directory: the directory that relative paths start from; None to leave them as they are.

    Returns the canonical declaration. Raises `InvalidDeclaration` with a line for each problem.
    """
    try:
        declared = Declaration.model_validate(given, context={DIRECTORY: directory})
    except ValidationError as error:
        problems = [place(_location(each)) + _problem(each) for each in error.errors()]
        raise InvalidDeclaration("\n".join(problems)) from None
    return declared.canonical(directory or Path())


def _location(problem: ErrorDetails) -> Location:
    """Return the location in the user's text.

    That of pydantic also contains the kind of the sink. It lacks the key that the text of a problem of several keys
    begins with.
    """
    location: Location = problem["loc"]
    if location[:1] == ("sink",) and len(location) > 1:
        inner = key_of(location[2:], problem, _SINKS[str(location[1])])
        return (*location[:1], *inner)
    return key_of(location, problem, Declaration)


def _problem(problem: ErrorDetails) -> str:
    location = problem["loc"]
    if location[:1] != ("sink",) or len(location) == 1:
        return problem_text(location, problem, Declaration)
    kind = str(location[1])
    keys = tuple(TARGETS) if kind not in TARGETS else ()
    return problem_text(location[2:], problem, _SINKS[kind], location[:1], keys)


M = TypeVar("M", bound=BaseModel)


def validated(model: type[M], given: Mapping[str, Any], what: str) -> M:
    """Create a part of a declaration from keyword arguments. Raises an `InvalidDeclaration` that names `what`."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidDeclaration(
            "\n".join(f"{what}: {problem_text(each['loc'], each, model)}" for each in error.errors())
        ) from None


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema for pipelines in YAML files, for editors."""
    schema = Declaration.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "kafka-columnar pipeline"} | schema


__all__ = [
    "DECODES",
    "FUNCTION",
    "MAX_RULES",
    "REQUIRED",
    "RESERVED",
    "SOURCE",
    "TIMES",
    "AnySink",
    "Backfill",
    "DeadLetters",
    "Declaration",
    "Dedupe",
    "FieldFormat",
    "InvalidDeclaration",
    "Location",
    "Model",
    "Otherwise",
    "Rule",
    "Sink",
    "Source",
    "TimeBounds",
    "Watermark",
    "declare",
    "json_schema",
    "path_text",
    "validated",
]
