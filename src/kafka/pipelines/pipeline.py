"""Declares pipelines in Python: sources, rules, and a sink whose rows are computed by a function of DataFrames.

A `Pipeline` also has a method for everything that ``kafka pipeline`` does: start, run, replay, backfill, audit, status,
dead letters and checks. Each calls the module that does the work; `Pipeline.load` provides them for a YAML file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.errors import IllegalStateError
from kafka.pipelines.declaration import (
    FUNCTION,
    AnySink,
    Declaration,
    InvalidDeclaration,
    Rule,
    Sink,
    Source,
    declare,
    validated,
)
from kafka.pipelines.field_types import is_identifier
from kafka.pipelines.program_runs import before_run

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from kafka.consumer.bounds import Bound
    from kafka.pipelines.audit import AuditResult
    from kafka.pipelines.checks import Report
    from kafka.pipelines.dead_letters import Count, DeadLetter, DeadLetterTopic
    from kafka.pipelines.run import RunningPipeline, RunResult
    from kafka.pipelines.run_events import OnEvent
    from kafka.pipelines.status import PipelineStatus
    from kafka.structs import TopicPartition

Query = Callable[..., "DataFrame"]
"""Computes the rows for the sink from the DataFrames of sources. Its parameters have the names of these sources."""
Function = TypeVar("Function", bound=Callable[..., Any])


def rule(name: str, holds: str | Column, *, otherwise: str = "dead_letter", keep_null: bool = False) -> Rule:
    """Create a rule for the rows of a source.

    Arguments:
        name: the name of the rule, unique within its source; dead letters and reports contain it.
        holds: a Boolean expression over the columns of the value, as SQL or as a `Column`. A row passes the rule only
            if the expression is true, and fails it if the expression is false or NULL, or raises an error.
        otherwise: what happens to a row that fails: "dead_letter", "drop", "keep" (only count it) or "fail" (stop the
            pipeline). A row that fails several rules has the strictest outcome: fail, dead_letter, drop, keep.
        keep_null: whether a row also passes the rule if the expression is NULL.

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
    times: Sequence[str | Mapping[str, Any]] | str = (),
    start: str | int = "earliest",
    max_offsets_per_trigger: int | None = None,
    watermark: Mapping[str, Any] | None = None,
    dedupe: Mapping[str, Any] | None = None,
    backfill: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Source:
    """Describe topics to read, for `Pipeline.source`.

    Arguments:
        topic, topics, pattern: the topic, a list of topics, or a regular expression for topics; specify one of these.
        key_format, key_schema: the format of keys, such as "string", and the schema, if the format needs one.
        value_format: the format of values: "json", "avro", "protobuf", "json-schema", "bytes", "string", or a numeric
            type such as "long".
        value_schema: the schema of values, as columns in Spark's DDL (for json), an Avro schema, a JSON Schema or the
            text of a .proto file.
        value_schema_file: the file that contains the schema, instead of `value_schema`.
        value_subject: the subject of the schema in the registry, instead of `value_schema`.
        required: columns of the value that must not be null.
        times: columns with times that must be within bounds, each as its name or as a mapping such as ``{"column":
            "ts", "past": "3650 days", "future": "1 day"}``; or "timestamp" for the timestamps of records. Bounds are
            relative to the time of the micro-batch. By default, times can be arbitrarily old, and at most a day in the
            future.
        start: where a new pipeline starts: "earliest", "latest", or a time in milliseconds since 1970.
        max_offsets_per_trigger: maximum number of offsets in a micro-batch; None for all that are available.
        watermark: how late rows can be, such as ``{"time": "ts", "delay": "10 minutes"}``.
        dedupe: which rows are duplicates of earlier ones, such as ``{"by": ["id"], "within": "10 minutes", "time":
            "ts"}``.
        backfill: older records to process in a bounded run before the stream starts, such as ``{"since":
            "2024-01-31T12:00:00Z"}``; ``since`` can also be "earliest" or a time in milliseconds since 1970.
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
        "times": times if isinstance(times, str) else list(times),
        "start": start,
        "max_offsets_per_trigger": max_offsets_per_trigger,
        "watermark": watermark,
        "dedupe": dedupe,
        "backfill": backfill,
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
        key: the column of the query whose values become the keys; None for records without keys.
        value_format, value_schema, value_subject: how the columns are encoded, as for `kafka_source`.
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
        source: the declaration of the source, with the rules added so far.
    """

    def __init__(self, name: str, source: Source) -> None:
        self.name = name
        self.source = source

    def rules(self, *rules: Rule) -> DeclaredSource:
        """Add rules for the rows of this source, and return the source."""
        given = {**self.source.model_dump(by_alias=True, exclude={"rules"}), "rules": [*self.source.rules, *rules]}
        self.source = validated(Source, given, f"source {self.name}")
        return self


class Pipeline:
    """A pipeline: sources with rules, a query and a sink.

    Arguments:
        name: the name of the pipeline; its checkpoint, transactions and groups are named after it.
        kafka: options of the Kafka clients, by their Java names.
        registry: options of the schema registry client.
        dead_letters: topic for rejected records; needed if a rule has the outcome dead_letter. Without it, a record
            that cannot be decoded, or that fails another built-in rule, stops the pipeline.
        max_bad: maximum fraction of a micro-batch's rows that may be rejected; if it is exceeded, the pipeline stops.
        description: what the pipeline is for; reports show it.
        checkpoint: directory of the pipeline, with Spark's checkpoint and the events; None for ``checkpoints/NAME`` in
            the working directory.
        output_mode: Spark's output mode, "append" or "update".
        trigger: time between the starts of micro-batches, such as "10 seconds"; None to start a micro-batch as soon as
            the previous one ends.
        flush_at_end: whether the last windows are written when a run that reads what is available ends.
    """

    def __init__(
        self,
        name: str,
        *,
        kafka: Mapping[str, Any],
        registry: Mapping[str, Any] | None = None,
        dead_letters: str | None = None,
        max_bad: float | None = None,
        description: str | None = None,
        checkpoint: str | Path | None = None,
        output_mode: str = "append",
        trigger: str | None = None,
        flush_at_end: bool = False,
    ) -> None:
        self._given: dict[str, Any] = {
            "pipeline": name,
            "kafka": dict(kafka),
            "registry": dict(registry or {}),
            "dead_letters": None if dead_letters is None else {"topic": dead_letters},
            "max_bad": max_bad,
            "description": description,
            "checkpoint": None if checkpoint is None else str(checkpoint),
            "output_mode": output_mode,
            "trigger": trigger,
            "flush_at_end": flush_at_end,
        }
        self._sources: dict[str, DeclaredSource] = {}
        self._sink: AnySink | None = None
        self._query: Query | str | None = None
        self._loaded: Declaration | None = None

    @classmethod
    def load(cls, path: str | Path) -> Pipeline:
        """Create a pipeline from a YAML file; see `kafka.pipelines.load`. Its sources and its sink cannot be changed.

        Arguments:
            path: the YAML file.

        Raises `InvalidDeclaration`.
        """
        from kafka.pipelines.yaml_file import load

        declaration = load(path)
        pipeline = cls(declaration.pipeline, kafka=declaration.kafka)
        pipeline._loaded = declaration
        return pipeline

    def source(self, source: Source, name: str | None = None) -> DeclaredSource:
        """Add a source.

        Arguments:
            source: the result of `kafka_source`.
            name: the name by which the query refers to the source: a parameter of the query function, or a table in
                SQL. None for the topic's name, if it is a valid name.

        Raises `InvalidDeclaration` if the name is not valid, or if another source has it, and `IllegalStateError` for a
        pipeline from a YAML file.
        """
        self._check_not_loaded()
        name = source.topic if name is None else name
        if name is None or not is_identifier(name):
            found = "a list of topics or a pattern" if name is None else repr(name)
            raise InvalidDeclaration(
                f"source: expected a name of letters, digits and underscores, got {found}; pass such a name: "
                "source(..., name='flights')"
            )
        if name in self._sources:
            raise InvalidDeclaration(f"source {name!r}: there is one of this name; pass another name")
        self._sources[name] = DeclaredSource(name, source)
        return self._sources[name]

    def sink(self, sink: AnySink, query: str | None = None) -> Callable[[Function], Function]:
        """Set the sink, and the query that computes its rows.

        Arguments:
            sink: the result of `kafka_sink`, or of a function for another target, such as `parquet_sink`.
            query: an SQL query that uses the names of sources as tables. If it is None, use the result as a decorator
                for a function that returns a DataFrame and whose parameters are names of sources.
        """
        self._check_not_loaded()
        if self._sink is not None:
            raise IllegalStateError("the pipeline has a sink already: a pipeline writes to one sink")
        self._sink, self._query = sink, query
        return self._set_function

    def _check_not_loaded(self) -> None:
        if self._loaded is not None:
            raise IllegalStateError("the pipeline comes from a YAML file: change the file, and load it again")

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
        """The current declaration, which equals the declaration in a YAML file with the same content.

        Raises `InvalidDeclaration` if the pipeline is incomplete.
        """
        if self._loaded is not None:
            return self._loaded
        if self._sink is None:
            raise InvalidDeclaration(f"pipeline {self._given['pipeline']!r}: it has no sink; call sink()")
        query = "" if self._query is None else self._query if isinstance(self._query, str) else FUNCTION
        sources = {name: each.source for name, each in self._sources.items()}
        return declare(self._given | {"sources": sources, "sink": self._sink} | ({"query": query} if query else {}))

    def start(
        self,
        spark: SparkSession | None = None,
        *,
        once: bool = False,
        on_event: OnEvent | None = None,
        check: bool = True,
    ) -> RunningPipeline:
        """Start the pipeline as a streaming query; see `kafka.pipelines.run.start`.

        Arguments:
            spark: the session; None for a new one (`kafka.spark.session`).
            once: whether to end when everything available at the start has been processed.
            on_event: called with each event, in another thread.
            check: whether to check first what `check` checks, and to report all problems at once.

        Returns the running pipeline. Raises `InvalidDeclaration` if it cannot run as it is declared,
        `KafkaConnectionError` if a server does not respond, and `IllegalStateError` if another run of it is running.
        """
        from kafka.pipelines.run import start

        before_run(self)
        return start(self.declaration, spark, function=self.function, once=once, on_event=on_event, check=check)

    def run(
        self, spark: SparkSession | None = None, *, on_event: OnEvent | None = None, check: bool = True
    ) -> RunResult:
        """Process everything that is available, and return what the run did; see `start` for the arguments.

        Raises the errors of `start`, and `PipelineFailedError` if the run ends with an error.
        """
        return self.start(spark, once=True, on_event=on_event, check=check).result()

    def replay(self, spark: SparkSession | None = None, **options: Any) -> RunResult:
        """Process dead letters again; see `kafka.pipelines.replay.replay` for the options and errors."""
        from kafka.pipelines.replay import replay

        before_run(self)
        return replay(self.declaration, spark, function=self.function, **options)

    def backfill(self, spark: SparkSession | None = None, **options: Any) -> RunResult:
        """Process a range of the sources' records; see `kafka.pipelines.backfill.backfill` for options and errors."""
        from kafka.pipelines.backfill import backfill

        before_run(self)
        return backfill(self.declaration, spark, function=self.function, **options)

    def check(self, *, servers: bool = True) -> Report:
        """Check the pipeline without Spark, as ``kafka pipeline check`` does.

        Arguments:
            servers: whether to connect to servers: the brokers, the schema registry and the server of the sink.

        Returns the problems, and what is as it should be. Raises `InvalidDeclaration` if the pipeline is incomplete.
        """
        from kafka.pipelines.checks import check

        return check(self.declaration, servers=servers)

    def status(self) -> PipelineStatus:
        """Return what ran, how far it came and what it counted, without Spark; see `kafka.pipelines.status`.

        Raises `ValueError` for an invalid file of events, and `KafkaConfigurationError` for an invalid checkpoint. If
        no broker responds, the status says so.
        """
        from kafka.pipelines.status import status_of

        return status_of(self.declaration)

    def audit(
        self,
        spark: SparkSession | None = None,
        *,
        recompute: bool = True,
        partitions: Sequence[TopicPartition] = (),
        start: Bound = "earliest",
        end: Bound = "latest",
    ) -> AuditResult:
        """Balance what the pipeline has read with its sink, its dead letters and its events.

        Arguments:
            spark: the session with which the rules and the query are evaluated again; None for a new one.
            recompute: whether to evaluate them again; without it, Spark is not needed.
            partitions: the partitions of the sources to audit; empty for all.
            start, end: the part of the sources to audit: offsets, times and other bounds of `kafka.read`; end is
                exclusive. By default, everything that the pipeline has read.

        Returns the balance; `AuditResult.balances` says whether everything adds up. Raises `KafkaError` if the cluster
        does not respond.
        """
        from kafka.pipelines.audit import audit_pipeline

        return audit_pipeline(
            self.declaration,
            spark,
            recompute=recompute,
            partitions=partitions,
            start=start,
            end=end,
            function=self.function,
        )

    def dead_letters(
        self,
        *,
        rule: str | None = None,
        start: Bound = "earliest",
        end: Bound = "latest",
        limit: int | None = None,
        newest_first: bool = True,
    ) -> Iterator[DeadLetter]:
        """Iterate over the dead letters of the pipeline, without Spark.

        Arguments:
            rule: only dead letters that fail this rule; None for all.
            start, end: the part of the topic of the dead letters: offsets, times at which they were written, and other
                bounds of `kafka.read`; end is exclusive.
            limit: maximum number of dead letters; None for all.
            newest_first: whether to begin with the newest. Without a limit, this keeps all of them in memory.

        Raises `InvalidDeclaration` if the pipeline has no dead letters, and the errors of `kafka.read`.
        """
        from kafka.pipelines.dead_letters import Selection

        selection = Selection(self.declaration.pipeline, rule, start, end)
        return self._letters().letters(selection, limit=limit, newest_first=newest_first)

    def count_dead_letters(self, *, start: Bound = "earliest", end: Bound = "latest") -> Count:
        """Count the dead letters of the pipeline by rule, without Spark.

        Arguments:
            start, end: as for `dead_letters`.

        Raises `InvalidDeclaration` if the pipeline has no dead letters, and the errors of `kafka.read`.
        """
        from kafka.pipelines.dead_letters import Selection

        return self._letters().count_by_rule(Selection(self.declaration.pipeline, None, start, end))

    def _letters(self) -> DeadLetterTopic:
        from kafka.pipelines.client_configs import client_configs
        from kafka.pipelines.dead_letters import DeadLetterTopic

        declaration = self.declaration
        if declaration.dead_letters is None:
            raise InvalidDeclaration(f"pipeline {declaration.pipeline}: it has no dead_letters: name a topic for them")
        return DeadLetterTopic(declaration.dead_letters.topic, client_configs(declaration))
