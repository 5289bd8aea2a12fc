"""The batch and streaming sinks.

Records are delivered at least once, as with Spark's connector, or exactly once with the option `exactlyOnce`
(`kafka.spark.exactly_once`).
"""

import dataclasses
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from kafka.errors import KafkaConfigurationError
from kafka.spark.options.parsing import WriteOptions, log_warnings, parse_write
from kafka.spark.options.row_schema import check_sink_schema
from kafka.spark.pyspark_versions import DataSourceStreamArrowWriter
from kafka.spark.spark_calls import begin_call, reduce_with_version, without_traceback
from kafka.spark.tasks.write_task import write_task

if TYPE_CHECKING:
    import pyarrow

    from kafka.spark.typed.writer_schema import WriterSchema

log = logging.getLogger(__name__)


@dataclasses.dataclass
class Written(WriterCommitMessage):  # type: ignore[misc]  # PySpark's classes are untyped here
    """A task's message to the driver.

    Arguments:
        rows: number of rows that Kafka has acknowledged.
    """

    rows: int


class _AtLeastOnce:
    """Writes rows immediately. If Spark retries a task, its rows are written again."""

    def __init__(self, options: WriteOptions, columns: Sequence[str]) -> None:
        self._options = options
        self._columns = columns

    def plan(self) -> None:
        """Do nothing, because tasks only need the options."""

    def write(self, batches: Iterator["pyarrow.RecordBatch"]) -> Written:
        return Written(write_task(self._options, self._columns, batches))

    def commit(self, messages: Sequence[Written | None]) -> None:
        """Do nothing, because the records are already in Kafka."""

    def abort(self, messages: Sequence[Written | None]) -> None:
        rows = sum(message.rows for message in messages if message is not None)
        log.warning(
            "the write was aborted; at least %d of its rows are already in Kafka and will be duplicated when it is "
            "repeated",
            rows,
        )


class _Typed:
    """Encodes typed keys and values before another writer writes them."""

    def __init__(self, options: WriteOptions, schema: Any, writer: Any) -> None:
        self._options = options
        self._types = {field.name: field.dataType.jsonValue() for field in schema.fields}
        self._writer = writer
        self._schemas: Sequence[WriterSchema] | None = None

    def plan(self) -> None:
        """Find the schemas for writing, and register them unless autoRegister is false."""
        self._writer.plan()
        if self._schemas is None:
            self._schemas = _writer_schemas(self._options, self._types)

    def write(self, batches: Iterator["pyarrow.RecordBatch"]) -> Any:
        assert self._schemas is not None, "the write was planned"
        from kafka.spark.typed.encoding import encoded

        return self._writer.write(encoded(batches, self._schemas, original_bytes=self._options.typed.original_bytes))

    def commit(self, messages: Sequence[Any]) -> None:
        self._writer.commit(messages)

    def abort(self, messages: Sequence[Any]) -> None:
        self._writer.abort(messages)


def _writer_schemas(options: WriteOptions, types: Mapping[str, Any]) -> "Sequence[WriterSchema]":
    from kafka.formats.json.spark_schema import type_of_spark
    from kafka.spark.typed.writer_schema import find_writer_schema

    typed = options.typed
    made_of = {each: type_of_spark(types[each.field]) if each.format == "avro" else None for each in typed.fields}
    return [find_writer_schema(each, typed, options.topic, type_) for each, type_ in made_of.items()]


def _writer(given: Mapping[str, str], schema: Any, *, streaming: bool) -> Any:
    """Create the object that implements a batch or stream writer."""
    options = parse_write(given, streaming=streaming)
    log_warnings(options.warnings)
    fields = [(field.name, field.dataType.simpleString()) for field in schema.fields]
    formats = {each.field: each.format for each in options.typed.fields}
    columns = check_sink_schema(
        fields,
        options.topic,
        timestamps=options.timestamps,
        typed=formats,
        original_bytes=options.typed.original_bytes,
    )
    if options.exactly_once is None:
        writer: Any = _AtLeastOnce(options, columns)
        return _Typed(options, schema, writer) if formats else writer
    from kafka.spark.exactly_once.task import TransactionalWriter

    checkpoint = given.get("checkpointlocation", "") if streaming else ""
    writer = TransactionalWriter(options, columns, streaming=streaming, checkpoint=checkpoint)
    return _Typed(options, schema, writer) if formats else writer


class KafkaBatchWriter(DataSourceArrowWriter):  # type: ignore[misc]  # PySpark's classes are untyped here
    """Writes a DataFrame to Kafka.

    Arguments:
        options: the options that Spark passes.
        schema: the schema of the DataFrame, a `StructType`.
        overwrite: whether the save mode is overwrite, which a log does not support.

    Raises a `KafkaConfigurationError` that names the invalid option or column.
    """

    @without_traceback
    def __init__(self, options: Mapping[str, str], schema: Any, overwrite: bool) -> None:
        if overwrite:
            raise KafkaConfigurationError("kafka_columnar cannot overwrite a topic: use mode('append')")
        self._writer = _writer(options, schema, streaming=False)
        self._writer.plan()

    @without_traceback
    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_with_version(self, self.__dict__)

    @without_traceback
    def write(self, iterator: Iterator["pyarrow.RecordBatch"]) -> WriterCommitMessage:
        """Write the rows of one task."""
        begin_call()
        return self._writer.write(iterator)

    @without_traceback
    def commit(self, messages: list[Any]) -> None:
        """Commit the write. Spark calls this when all tasks have written."""
        begin_call()
        self._writer.commit(messages)

    def abort(self, messages: list[Any]) -> None:
        """Abort the write. Spark calls this when a task, or the commit, has failed."""
        self._writer.abort(messages)


class KafkaStreamWriter(DataSourceStreamArrowWriter):  # type: ignore[misc]  # PySpark's classes are untyped here
    """Writes the micro-batches of a stream to Kafka, in output modes append and complete.

    Arguments:
        options: the options that Spark passes.
        schema: the schema of the stream, a `StructType`.

    Raises a `KafkaConfigurationError` that names the invalid option or column.
    """

    @without_traceback
    def __init__(self, options: Mapping[str, str], schema: Any) -> None:
        self._writer = _writer(options, schema, streaming=True)

    @without_traceback
    def __reduce__(self) -> tuple[Any, ...]:
        self._writer.plan()  # not earlier: two processes create a writer, and only the planning process pickles it
        return reduce_with_version(self, self.__dict__)

    @without_traceback
    def write(self, iterator: Iterator["pyarrow.RecordBatch"]) -> WriterCommitMessage:
        """Write the rows of one task."""
        begin_call()
        return self._writer.write(iterator)

    @without_traceback
    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803  # Spark's name
        """Commit a micro-batch. Spark calls this when all tasks have written."""
        begin_call()
        self._writer.commit(messages)

    def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803  # Spark's name
        """Abort a micro-batch. Spark calls this when a task, or the commit, has failed."""
        self._writer.abort(messages)
