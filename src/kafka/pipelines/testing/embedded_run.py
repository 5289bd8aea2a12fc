"""Runs a test case: writes its rows to an embedded broker, runs the pipeline there, and reads what it has written."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka.pipelines.declaration import Declaration, InvalidDeclaration, Sink, Source
from kafka.pipelines.record_headers import RULE, added_headers, position_of
from kafka.pipelines.testing.case_files import Case, InputRow, TestSchema
from kafka.pipelines.testing.case_progress import CaseProgress, CaseStoppedError
from kafka.pipelines.testing.value_bytes import Coder
from kafka.spark.options.field_options import REGISTRY_FORMATS
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafka.broker import EmbeddedBroker
    from kafka.formats.registry.registry_clients import SchemaRegistryClient
    from kafka.pipelines.run import RunResult

OUTPUT = "pipeline-test-output"
"""The topic for the rows of a pipeline whose sink is not a topic."""


@dataclasses.dataclass(frozen=True, slots=True)
class OutputRecord:
    """A record that the pipeline wrote to its sink."""

    value: Any
    key: str | None
    headers: Mapping[str, str | None]


@dataclasses.dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead letter.

    Arguments:
        source: the source of the row.
        row: the index of the row within its source.
        rules: the rules that the row fails.
        cause: why the row was rejected.
    """

    source: str
    row: int
    rules: tuple[str, ...]
    cause: str


@dataclasses.dataclass(frozen=True, slots=True)
class Observed:
    """What a pipeline did with the rows of a case.

    Arguments:
        output: the records of the sink, in their order.
        dead: the dead letters, in the order of their rows.
        dropped: number of rows that rules dropped.
        failure: the text of the error with which the run ended; None if it did not fail.
        result: the counts of the run; None if it failed.
    """

    output: Sequence[OutputRecord] = ()
    dead: Sequence[DeadLetter] = ()
    dropped: int = 0
    failure: str | None = None
    result: RunResult | None = None


def observe(
    declaration: Declaration,
    case: Case,
    spark: SparkSession | None,
    function: Callable[..., Any] | None = None,
    schemas: Sequence[TestSchema] = (),
    progress: CaseProgress | None = None,
) -> Observed:
    """Run a pipeline on the rows of a case.

    Arguments:
        declaration: the pipeline. Its servers, start positions and checkpoint are replaced.
        case: the case, from `check_names`.
        spark: the session; None for a new one.
        function: the query if it is a Python function.
        schemas: schemas that are in the registry before the pipeline runs.
        progress: receives the steps, and can stop the run; None for neither.

    Raises `InvalidDeclaration` for rows that cannot be encoded, and `CaseStoppedError` if ``progress`` was stopped.
    """
    from kafka.broker import EmbeddedBroker
    from kafka.pipelines.run import PipelineFailedError, start
    from kafka.pipelines.run_results import StartStoppedError

    progress = progress or CaseProgress()
    uses_registry = bool(declaration.registry) and any(
        each.format in REGISTRY_FORMATS for each in _formats(declaration)
    )
    defaults = {"retention.ms": "-1"}
    with contextlib.ExitStack() as stack:
        progress.begin(case, "starting the embedded broker")
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-pipeline-test-"))
        broker = stack.enter_context(
            EmbeddedBroker(registry=uses_registry or bool(schemas), topic_defaults=defaults, num_partitions=1)
        )
        registry = _registry(stack, broker, schemas) if uses_registry or schemas else None
        tested = _on(declaration, broker, Path(directory), uses_registry)
        run_in = _Topics(tested, broker, registry if uses_registry else None)
        progress.begin(case, f"writing {sum(map(len, case.rows.values()))} rows")
        positions = run_in.write(case)
        progress.begin(case, "running the pipeline")
        try:
            running = start(tested, spark, once=True, function=function, stop=progress.stopping)
            progress.watch(running)
            result = running.result()
        except StartStoppedError:
            raise CaseStoppedError from None
        except PipelineFailedError as error:
            progress.check()  # an interrupted run may fail
            return Observed(failure=str(error))
        progress.begin(case, "reading what it has written")
        return Observed(run_in.output(), run_in.dead(positions), result.dropped, None, result)


def _formats(declaration: Declaration) -> Iterator[Any]:
    for source in declaration.all_sources.values():
        yield source.key
        yield source.value
    if declaration.topic_sink is not None:
        yield declaration.topic_sink.value


def _registry(
    stack: contextlib.ExitStack, broker: EmbeddedBroker, schemas: Sequence[TestSchema]
) -> SchemaRegistryClient:
    from kafka.formats.registry.registry_clients import SchemaRegistryClient
    from kafka.formats.registry.schema_objects import Schema

    client = stack.enter_context(SchemaRegistryClient({"url": broker.registry_url}))
    for each in schemas:
        client.register_schema(each.subject, Schema(each.content, REGISTRY_FORMATS[each.format]))
    return client


def _on(declaration: Declaration, broker: EmbeddedBroker, directory: Path, uses_registry: bool) -> Declaration:
    """Return the declaration with the embedded servers, from the beginning of the topics, and with a new checkpoint."""
    from kafka.pipelines.declaration import Sink

    sources = {name: _from_the_beginning(source) for name, source in declaration.all_sources.items()}
    changes: dict[str, Any] = {
        "kafka": {"bootstrap.servers": broker.bootstrap_servers},
        "registry": {"url": broker.registry_url} if uses_registry else {},
        "source": None,
        "sources": sources,
        "rules": (),
        "checkpoint": str(directory / "checkpoint"),
    }
    if declaration.topic_sink is None:
        changes["sink"] = Sink(topic=OUTPUT)
    return declaration.model_copy(update=changes)


def _from_the_beginning(source: Source) -> Source:
    options = {name: value for name, value in source.options.items() if not name.lower().startswith("starting")}
    return source.model_copy(update={"start": "earliest", "options": options})


Positions = Mapping[tuple[str, int], tuple[str, int]]
"""The source and index of each row, by topic and offset. All topics have one partition."""


class _Topics:
    """The topics of a pipeline on the embedded broker."""

    def __init__(self, declaration: Declaration, broker: EmbeddedBroker, registry: SchemaRegistryClient | None) -> None:
        self._declaration = declaration
        self._servers = broker.bootstrap_servers
        self._registry = registry

    def write(self, case: Case) -> Positions:
        """Create the topics, write the rows, and return their positions."""
        from kafka import KafkaAdminClient, KafkaProducer
        from kafka.admin import NewTopic

        topics = {topic for source in self._declaration.all_sources.values() for topic in _topics(source)}
        topics |= {row.topic for rows in case.rows.values() for row in rows if row.topic is not None}
        topics.add(self._sink.topic)
        if self._declaration.dead_letters is not None:
            topics.add(self._declaration.dead_letters.topic)
        with KafkaAdminClient(bootstrap_servers=self._servers) as admin:
            admin.create_topics([NewTopic(each, 1, 1) for each in sorted(topics)])
        positions = {}
        with KafkaProducer(bootstrap_servers=self._servers) as producer:
            for name, rows in case.rows.items():
                for index, row in enumerate(rows):
                    topic, encoded = self._encoded(case, name, index, row)
                    sent = producer.send(topic, partition=0, **encoded).get(timeout=60)
                    positions[topic, sent.offset] = name, index
        return positions

    def _encoded(self, case: Case, name: str, index: int, row: InputRow) -> tuple[str, dict[str, Any]]:
        source = self._declaration.all_sources[name]
        names = _topics(source)
        topic = row.topic or (names[0] if names else None)
        what = f"case {case.name!r}: row {index} of source {name!r}"
        if topic is None:
            raise InvalidDeclaration(f"{what}: expected a topic, because the source reads a pattern")
        try:
            value = row.undecoded
            if value is None:
                value = Coder("value", source.value, topic, self._registry).encode(row.value)
            key = Coder("key", source.key, topic, self._registry).encode(row.key)
        except (ValueError, TypeError) as error:
            raise InvalidDeclaration(f"{what}: {error}; for a value that is not valid, write it as raw") from error
        headers = [(header, None if text is None else text.encode()) for header, text in row.headers.items()]
        return topic, {"value": value, "key": key, "timestamp_ms": row.timestamp, "headers": headers}

    @property
    def _sink(self) -> Sink:
        """The topic of the rows, which replaces another target."""
        assert self._declaration.topic_sink is not None, "the declaration was changed for the test"
        return self._declaration.topic_sink

    def output(self) -> list[OutputRecord]:
        """Return the records of the sink."""
        sink = self._sink
        coder = Coder("value", sink.value, sink.topic, self._registry)
        return [
            OutputRecord(coder.decode(each.value), _text(each.key), _headers(each)) for each in self._read(sink.topic)
        ]

    def dead(self, positions: Positions) -> list[DeadLetter]:
        """Return the dead letters."""
        if self._declaration.dead_letters is None:
            return []
        found = []
        for each in self._read(self._declaration.dead_letters.topic):
            position = position_of(each.headers)
            source, row = ("?", -1) if position is None else positions.get((position.topic, position.offset), ("?", -1))
            rules = tuple(value.decode() for name, value in added_headers(each.headers) if name == RULE and value)
            found.append(DeadLetter(source, row, rules, _headers(each).get("kafka.cause") or ""))
        return sorted(found, key=lambda each: (each.source, each.row))

    def _read(self, topic: str) -> list[Any]:
        """Return the committed records of a topic."""
        from kafka import KafkaConsumer

        partition = TopicPartition(topic, 0)
        found: list[Any] = []
        with KafkaConsumer(
            bootstrap_servers=self._servers,
            group_id=None,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
        ) as consumer:
            consumer.assign([partition])
            end = consumer.end_offsets([partition])[partition]
            while consumer.position(partition) < end:
                for records in consumer.poll(timeout_ms=1_000).values():
                    found += records
        return found


def _topics(source: Source) -> tuple[str, ...]:
    return (source.topic,) if source.topic is not None else source.topics or ()


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "backslashreplace")


def _headers(record: Any) -> dict[str, str | None]:
    return {name: _text(value) for name, value in record.headers}
