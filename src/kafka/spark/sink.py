"""The sink, batch and streaming: hands the rows of a task to `write_task`.

Records arrive at least once, as with Spark's connector.
"""

import dataclasses
import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage

from kafka.errors import KafkaConfigurationError
from kafka.spark.failures import told_plainly
from kafka.spark.gc_freeze import begin_call
from kafka.spark.options import parse_write, tell
from kafka.spark.pickled import travelling
from kafka.spark.schema import check_sink_schema
from kafka.spark.write_task import write_task

if TYPE_CHECKING:
    import pyarrow

log = logging.getLogger(__name__)


@dataclasses.dataclass
class Written(WriterCommitMessage):  # type: ignore[misc]  # PySpark's classes are untyped here
    """What a task tells the driver.

    Arguments:
        rows: how many rows Kafka has acknowledged.
    """

    rows: int


class _Rows:
    """What both writers do with a task's rows."""

    def __init__(self, options: Mapping[str, str], schema: Any) -> None:
        self._options = parse_write(options)
        tell(self._options.warnings)
        fields = [(field.name, field.dataType.simpleString()) for field in schema.fields]
        self._columns = check_sink_schema(fields, self._options.topic, timestamps=self._options.timestamps)

    def write(self, batches: Iterator["pyarrow.RecordBatch"]) -> Written:
        begin_call()
        return Written(write_task(self._options, self._columns, batches))


class KafkaBatchWriter(DataSourceArrowWriter):  # type: ignore[misc]  # PySpark's classes are untyped here
    """Writes a frame to Kafka.

    Arguments:
        options: as Spark hands them over.
        schema: of the frame, a `StructType`.
        overwrite: whether the save mode is overwrite, which a log cannot do.

    Raises `KafkaConfigurationError` that names the option or the column.
    """

    @told_plainly
    def __init__(self, options: Mapping[str, str], schema: Any, overwrite: bool) -> None:
        if overwrite:
            raise KafkaConfigurationError("kafka_columnar cannot overwrite a topic: use mode('append')")
        self._rows = _Rows(options, schema)

    def __reduce__(self) -> tuple[Any, ...]:
        return travelling(self, self.__dict__)

    @told_plainly
    def write(self, iterator: Iterator["pyarrow.RecordBatch"]) -> Written:
        """Write the rows of one task."""
        return self._rows.write(iterator)

    def commit(self, messages: list[Written | None]) -> None:
        """Nothing to do: the records are in Kafka."""
        begin_call()

    def abort(self, messages: list[Written | None]) -> None:
        """Say that what was written stays."""
        _log_abort(messages, "the write")


class KafkaStreamWriter(DataSourceStreamArrowWriter):  # type: ignore[misc]  # PySpark's classes are untyped here
    """Writes the micro-batches of a stream to Kafka, in output modes append and complete.

    Arguments:
        options: as Spark hands them over.
        schema: of the stream, a `StructType`.

    Raises `KafkaConfigurationError` that names the option or the column.
    """

    @told_plainly
    def __init__(self, options: Mapping[str, str], schema: Any) -> None:
        self._rows = _Rows(options, schema)

    def __reduce__(self) -> tuple[Any, ...]:
        return travelling(self, self.__dict__)

    @told_plainly
    def write(self, iterator: Iterator["pyarrow.RecordBatch"]) -> Written:
        """Write the rows of one task."""
        return self._rows.write(iterator)

    def commit(self, messages: list[Written | None], batchId: int) -> None:  # noqa: N803  # Spark's name
        """Nothing to do: the records are in Kafka."""
        begin_call()

    def abort(self, messages: list[Written | None], batchId: int) -> None:  # noqa: N803  # Spark's name
        """Say that what was written stays."""
        _log_abort(messages, f"micro-batch {batchId}")


def _log_abort(messages: list[Written | None], what: str) -> None:
    rows = sum(message.rows for message in messages if message is not None)
    log.warning(
        "%s was aborted; at least %d of its rows are in Kafka already and will be there again when it is repeated",
        what,
        rows,
    )
