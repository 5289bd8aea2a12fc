"""Writes the changed rows of an aggregation, like `outputMode("update")` with Spark's own connector."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError
from kafka.spark.options.option_table import KAFKA_PREFIX
from kafka.spark.options.parsing import check_names, parse_write

if TYPE_CHECKING:
    from pyspark.sql.streaming import DataStreamWriter

FORMAT = "kafka_columnar"
_SPARKS = "checkpointlocation"


def upsert(writer: "DataStreamWriter", options: Mapping[str, Any] | None = None, **more: Any) -> "DataStreamWriter":
    """Make a stream write the rows that each micro-batch changes to Kafka; returns the writer, ready to start.

    Spark refuses ``outputMode("update")`` for sinks in Python, but accepts it for `foreachBatch`, which this uses: each
    micro-batch is written as a batch. If the key of an aggregation is the key of its records, the last record with a
    key is its newest result, and a compacted topic keeps only that one.

    Arguments:
        writer: ``frame.writeStream``, with any trigger and name.
        options: options of the sink, by name; `checkpointLocation` is passed to the query.
        more: more options, such as ``topic="counts"``.

    Raises a `KafkaConfigurationError` that names a wrong option, before the query starts. Example::

        upsert(counts.writeStream, brokers, topic="counts", checkpointLocation="...").start()
    """
    given = {name: _text(name, value) for name, value in {**(options or {}), **more}.items()}
    query = {name: value for name, value in given.items() if name.lower() == _SPARKS}
    sink = {name: value for name, value in given.items() if name not in query}
    lowered = {name.lower(): value for name, value in sink.items()}
    check_names(lowered)
    parse_write(lowered)
    for name, value in query.items():
        writer = writer.option(name, value)
    return writer.outputMode("update").foreachBatch(_BatchWrite(sink))


def _text(name: str, value: Any) -> str:
    if value is None:
        raise KafkaConfigurationError(f"option {name!r} is None: set a value, or leave the option out")
    return str(value)


class _BatchWrite:
    """Writes a micro-batch; ignores its number.

    Arguments:
        options: the options of the sink.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)

    def __call__(self, frame: Any, batch_id: int) -> None:
        frame.write.format(FORMAT).options(**self._options).mode("append").save()

    def __repr__(self) -> str:
        shown = sorted(name for name in self._options if not name.lower().startswith(KAFKA_PREFIX))
        return f"<writes micro-batches to Kafka, options {', '.join(shown) or 'of the clients alone'}>"
