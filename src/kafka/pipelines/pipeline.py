"""The Python form of a pipeline: sources, rules, and a sink whose rows a function of DataFrames computes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.errors import IllegalStateError
from kafka.pipelines.declaration import (
    Declaration,
    InvalidDeclaration,
    Rule,
    Sink,
    Source,
    declare,
    validated,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Query = Callable[..., "DataFrame"]
"""Takes a DataFrame for each of its parameters, which are names of sources; returns the rows of the sink."""
Function = TypeVar("Function", bound=Callable[..., Any])


def rule(name: str, holds: str | Column, *, otherwise: str = "dead_letter", keep_null: bool = False) -> Rule:
    """Make a rule for the rows of a source.

    Arguments:
        name: unique within its source; dead letters and reports contain it.
        holds: a Boolean expression over the columns of the value, as SQL or as a `Column`. The rule passes only if it
            is true: false, NULL and an error fail it.
        otherwise: what happens to a row that fails: "dead_letter", "drop", "keep" (only count it) or "fail" (stop the
            pipeline). A row that fails several rules has the strictest outcome: fail, dead_letter, drop, keep.
        keep_null: whether NULL passes, too.

    Raises `InvalidDeclaration`.
    """
    given = {"name": name, "holds": holds, "otherwise": otherwise, "keep_null": keep_null}
    return validated(Rule, given, f"rule {name!r}")


def kafka_source(
    topic: str | None = None,
    *,
    topics: list[str] | None = None,
    pattern: str | None = None,
    key_format: str = "bytes",
    key_schema: str | None = None,
    value_format: str = "bytes",
    value_schema: str | None = None,
    value_schema_file: str | None = None,
    value_subject: str | None = None,
    required: list[str] | None = None,
    start: str | int = "earliest",
    options: Mapping[str, Any] | None = None,
) -> Source:
    """Describe topics to read, for `Pipeline.source`.

    Arguments:
        topic: the topic; or `topics`, several; or `pattern`, a regular expression.
        key_format: the format of keys, such as "string"; `key_schema` is its schema.
        value_format: the format of values: "json", "avro", "protobuf", "json-schema", "bytes", "string" or a number's.
        value_schema: the schema of values: columns in Spark's DDL (for json), Avro, JSON Schema or .proto text; or the
            file that contains it, `value_schema_file`; or its subject in the registry, `value_subject`.
        required: columns of the value that must not be null.
        start: where a new pipeline starts: "earliest", "latest", or a time in milliseconds since 1970.
        options: other options of the Spark source.

    Raises `InvalidDeclaration`.
    """
    value = {"format": value_format, "schema": value_schema, "schema_file": value_schema_file, "subject": value_subject}
    given: dict[str, Any] = {
        "topic": topic,
        "topics": topics,
        "pattern": pattern,
        "key": {"format": key_format, "schema": key_schema},
        "value": value,
        "required": required or [],
        "start": start,
        "options": dict(options or {}),
    }
    return validated(Source, given, f"source {topic or topics or pattern}")


def kafka_sink(
    topic: str,
    *,
    key: str | None = None,
    value_format: str = "json",
    value_schema: str | None = None,
    value_subject: str | None = None,
    exactly_once: bool = True,
    options: Mapping[str, Any] | None = None,
) -> Sink:
    """Describe a topic to write to, for `Pipeline.sink`.

    Arguments:
        topic: the topic.
        key: the column of the query whose values become the keys; None: records have no keys.
        value_format: how the columns are encoded, as for `kafka_source`; with `value_schema` or `value_subject`.
        exactly_once: whether each micro-batch is one Kafka transaction.
        options: other options of the Spark sink.

    Raises `InvalidDeclaration`.
    """
    value = {"format": value_format, "schema": value_schema, "subject": value_subject}
    given = {"topic": topic, "key": key, "value": value, "exactly_once": exactly_once, "options": dict(options or {})}
    return validated(Sink, given, f"sink {topic}")


class DeclaredSource:
    """A source of a pipeline; see `Pipeline.source`.

    Attributes:
        name: the name by which the query refers to the source.
        source: its declaration, with the rules so far.
    """

    def __init__(self, name: str, source: Source) -> None:
        self.name = name
        self.source = source

    def rules(self, *rules: Rule) -> DeclaredSource:
        """Add rules for the rows of this source; returns the source."""
        given = {**self.source.model_dump(by_alias=True), "rules": [*self.source.rules, *rules]}
        self.source = validated(Source, given, f"source {self.name}")
        return self


class Pipeline:
    """A pipeline: sources with rules, a query and a sink.

    Arguments:
        name: the name of the pipeline; its checkpoint, transactions and groups are named after it.
        kafka: options of the Kafka clients by their Java names.
        registry: options of the schema registry client.
        dead_letters: topic for rejected records; needed if a rule has the outcome dead_letter.
        max_bad: a pipeline stops if a larger fraction of the rows of a micro-batch is rejected.
    """

    def __init__(
        self,
        name: str,
        *,
        kafka: Mapping[str, Any],
        registry: Mapping[str, Any] | None = None,
        dead_letters: str | None = None,
        max_bad: float | None = None,
    ) -> None:
        self._given: dict[str, Any] = {"pipeline": name, "kafka": dict(kafka), "registry": dict(registry or {})}
        if dead_letters is not None:
            self._given["dead_letters"] = {"topic": dead_letters}
        if max_bad is not None:
            self._given["max_bad"] = max_bad
        self._sources: dict[str, DeclaredSource] = {}
        self._sink: Sink | None = None
        self._query: Query | str | None = None

    def source(self, source: Source, name: str | None = None) -> DeclaredSource:
        """Add a source.

        Arguments:
            source: from `kafka_source`.
            name: the name by which the query refers to the source: a parameter of the query function, or a table in
                SQL. None: the topic's name.
        """
        name = name or source.topic or ""
        if name in self._sources:
            raise InvalidDeclaration(f"source {name!r}: there is one of this name; pass another name")
        self._sources[name] = DeclaredSource(name, source)
        return self._sources[name]

    def sink(self, sink: Sink, query: str | None = None) -> Callable[[Function], Function]:
        """Set the sink, and the query that computes its rows.

        Arguments:
            sink: from `kafka_sink`.
            query: SQL over the names of the sources. None: use the result as the decorator of a function whose
                parameters are names of sources, and which returns a DataFrame.
        """
        if self._sink is not None:
            raise IllegalStateError("the pipeline has a sink already: a pipeline writes to one sink")
        self._sink, self._query = sink, query
        return self._set_function

    def _set_function(self, function: Function) -> Function:
        if self._query is not None:
            raise IllegalStateError("the sink has a query already: pass SQL or decorate a function, not both")
        unknown = [name for name in inspect.signature(function).parameters if name not in self._sources]
        if unknown:
            raise InvalidDeclaration(
                f"query {function.__name__}: expected parameters that are sources ({', '.join(self._sources)}), got "
                f"{unknown[0]!r}"
            )
        self._query = function
        return function

    @property
    def function(self) -> Query | None:
        """The function that computes the rows of the sink; None if the query is SQL."""
        return None if self._query is None or isinstance(self._query, str) else self._query

    @property
    def declaration(self) -> Declaration:
        """What is declared so far; equal to that of a YAML file with the same content.

        Raises `InvalidDeclaration` for a pipeline that is not complete.
        """
        if self._sink is None:
            raise InvalidDeclaration(f"pipeline {self._given['pipeline']!r}: it has no sink; call sink()")
        query = "" if self._query is None else self._query if isinstance(self._query, str) else FUNCTION
        sources = {name: each.source for name, each in self._sources.items()}
        return declare(self._given | {"sources": sources, "sink": self._sink} | ({"query": query} if query else {}))


FUNCTION = "<function>"
"""Stands for a query that is a function."""
