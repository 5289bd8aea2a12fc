"""Writes the rows of a task with a cached producer. A thread encodes and sends them while Spark's pipe continues."""

import functools
import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kafka.errors import InvalidTimestampError, KafkaError, UnknownTopicOrPartitionError, error_text
from kafka.spark.client_cache import PRODUCERS, Configs, admin_configs
from kafka.spark.options.parsing import WriteOptions
from kafka.spark.planning.lookup import MissingTopicError
from kafka.spark.tasks.channel import Channel, coalesced
from kafka.spark.tasks.timestamp_checks import RowTimeError, RowTimes, retention_ms

if TYPE_CHECKING:
    import pyarrow

    from kafka import KafkaAdminClient, KafkaProducer
    from kafka.producer.arrow_future import ArrowResult, FutureArrowResult

TOGETHER_BYTES = 4 << 20
"""Size in bytes of the rows to encode together. Spark passes 10,000 rows at a time. Divided among a topic's partitions,
these would become small record batches, which cost the broker more CPU time.
"""
TABLES_WAITING = 2
"""Maximum number of tables waiting to be encoded. The producer's buffer_memory limits the encoded data."""


class DeliveryError(KafkaError):
    """Kafka has not accepted some rows. Spark retries the task, which duplicates the accepted rows."""


def write_task(options: WriteOptions, columns: Sequence[str], batches: Iterator["pyarrow.RecordBatch"]) -> int:
    """Write all rows, wait until Kafka has acknowledged them, and return their number.

    Arguments:
        options: the options of the write.
        columns: the columns to write, a selection of key, value, headers, partition and topic.
        batches: the batches that Spark passes.

    Raises a `DeliveryError` that contains the topic and the reason. A task without rows does not connect.
    """
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return 0
    rows = (batch.select(columns) for batch in itertools.chain([first], batches) if batch.num_rows)
    with PRODUCERS.borrow(options.configs) as producer:
        return deliver(producer, options, rows)


def deliver(
    producer: "KafkaProducer",
    options: WriteOptions,
    batches: Iterable["pyarrow.RecordBatch"],
    on_written: "Callable[[ArrowResult], object]" = lambda _: None,
) -> int:
    """Send all rows and wait until Kafka has acknowledged them, as `write_task` does; return their number.

    Arguments:
        producer: a producer in this process.
        options: the options of the write.
        batches: the rows.
        on_written: called in another thread with the result of each delivery.

    Raises `DeliveryError`.
    """
    import pyarrow as pa

    times = RowTimes(functools.partial(retention_ms, options.configs))
    delivery = Delivery(producer, options, on_written, times)
    delivery.start()
    try:
        for together in coalesced(batches, TOGETHER_BYTES):
            table = pa.Table.from_batches(together)
            times.check(table)
            delivery.take(table)
    except RowTimeError as error:
        delivery.give_up()
        raise DeliveryError(f"could not write rows: {error_text(error)}") from error
    except BaseException:
        delivery.give_up()
        raise
    return delivery.finish()


class Delivery:
    """Sends tables in a separate thread, so that Spark's pipe continues while rows are encoded.

    Arguments:
        producer: a producer in this process.
        options: the options of the write.
        on_written: called in that thread with the result of each delivery.
        times: checks the timestamps of rows.
    """

    def __init__(
        self,
        producer: "KafkaProducer",
        options: WriteOptions,
        on_written: "Callable[[ArrowResult], object]",
        times: RowTimes,
    ) -> None:
        self._producer = producer
        self._topic = options.topic
        self._configs = options.configs
        self._on_written = on_written
        self._times = times
        self._waiting: Channel[pyarrow.Table] = Channel(TABLES_WAITING)
        self._sent: list[tuple[str, FutureArrowResult]] = []
        self._rows = 0
        self._error: BaseException | None = None
        self._worker = threading.Thread(target=self._work, name="kafka-spark-deliver", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._worker.start()

    def take(self, table: "pyarrow.Table") -> None:
        """Send a table. Blocks while too many tables are waiting to be encoded; raises errors from earlier tables."""
        if not self._waiting.put(table):
            self._worker.join()
            assert self._error is not None
            raise self._error

    def finish(self) -> int:
        """Wait until Kafka has acknowledged all rows, and return their number."""
        self._waiting.end()
        self._worker.join()
        if self._error is not None:
            raise self._error
        return self._rows

    def give_up(self) -> None:
        """Stop sending."""
        self._waiting.abandon()
        self._waiting.end()
        self._worker.join()

    def _work(self) -> None:
        try:
            for table in self._waiting:
                for topic, rows in split_by_topic(table, self._topic):
                    self._send(topic, rows)
            self._flush()
        except BaseException as error:
            self._error = error
            self._waiting.abandon()

    def _flush(self) -> None:
        """Wait for all sent rows. Futures, unlike a flush, reveal which topic an error belongs to."""
        try:
            self._producer.flush()
        except Exception as error:
            self._confirm(len(self._sent))
            raise DeliveryError(f"could not write rows: {error_text(error)}") from error
        self._confirm(len(self._sent))

    def _send(self, topic: str, rows: "pyarrow.Table") -> None:
        self._times.compare_with_retention(topic, rows)
        try:
            check_topic(self._configs, topic)
            self._sent.append((topic, self._producer.send_arrow(topic, rows)))
        except Exception as error:
            raise self._undelivered(topic, error) from error
        self._rows += rows.num_rows
        done = 0
        while done < len(self._sent) and self._sent[done][1].is_done:
            done += 1
        self._confirm(done)

    def _confirm(self, count: int) -> None:
        """Wait for the oldest sends, and raise their errors."""
        confirmed, self._sent = self._sent[:count], self._sent[count:]
        for topic, future in confirmed:
            try:
                self._on_written(future.get())
            except Exception as error:
                raise self._undelivered(topic, error) from error

    def _undelivered(self, topic: str, error: Exception) -> DeliveryError:
        more = self._times.refusal() if isinstance(error, InvalidTimestampError) else ""
        return DeliveryError(f"could not write rows to topic {topic!r}: {error_text(error)}{more}")


def split_by_topic(table: "pyarrow.Table", topic: str | None) -> Iterator[tuple[str, "pyarrow.Table"]]:
    """Yield the rows for each topic, in order, without the column that names the topic.

    Raises `DeliveryError` for a row without a topic.
    """
    if topic is not None:
        yield topic, table
        return
    import pyarrow as pa

    from kafka.record.arrow_rows import ArrowRows

    names = table.column("topic")
    if names.null_count:
        raise DeliveryError(
            f"{names.null_count} rows have no topic: their column 'topic' is null and the option 'topic' is not set"
        )
    by_topic = ArrowRows(table.select(["topic", "value"])).topics()
    rows = table.drop_columns(["topic"])
    if len(by_topic) == 1:
        yield next(iter(by_topic)), rows
        return
    order = pa.py_buffer(b"".join(by_topic.values()))
    rows = rows.combine_chunks().take(pa.Array.from_buffers(pa.int32(), len(rows), [None, order]))
    start = 0
    for name, numbers in by_topic.items():
        yield name, rows.slice(start, len(numbers))
        start += len(numbers)


log = logging.getLogger(__name__)

_TRIES = 4
_PAUSE_S = 0.2
"""Pause in seconds before a missing topic is requested again, because not all brokers know a new topic immediately."""
_AUTO_CREATE = "auto.create.topics.enable"
_there: set[tuple[Configs, str]] = set()
"""Topics that this process has found."""


def check_topic(configs: Configs, topic: str, sleep: Callable[[float], object] = time.sleep) -> None:
    """Raise `MissingTopicError` for a topic that does not exist and that brokers will not create.

    Does nothing if it is unknown whether brokers create topics, or if the user may not see the topic. The producer then
    waits for the topic for `max_block_ms`.

    Arguments:
        configs: keyword arguments of the producer.
        sleep: waits for a number of seconds.
    """
    from kafka import KafkaAdminClient

    if (configs, topic) in _there:
        return
    asks = dict(configs).get("allow_auto_create_topics", True)
    try:
        with KafkaAdminClient(**admin_configs(configs)) as admin:
            for attempt in range(_TRIES):
                if attempt:
                    sleep(_PAUSE_S)
                (found,) = admin.describe_topics([topic])
                if found["error_code"] != UnknownTopicOrPartitionError.errno:
                    _there.add((configs, topic))
                    return
                if asks and _is_made_by_brokers(admin):
                    return
    except KafkaError as error:
        log.debug("cannot tell whether topic %r exists: %s", topic, error)
        return
    raise MissingTopicError(
        f"Kafka has no topic {topic!r}, which the query writes to, and topics are not created automatically "
        f"({_AUTO_CREATE if asks else 'kafka.allow.auto.create.topics'}=false): create it first"
    )


def _is_made_by_brokers(admin: "KafkaAdminClient") -> bool:
    """Return whether brokers create topics on the first write; True if unknown."""
    from kafka.admin import ConfigResource, ConfigResourceType

    broker = admin.describe_cluster()["brokers"][0]["node_id"]
    resource = ConfigResource(ConfigResourceType.BROKER, str(broker), {_AUTO_CREATE: ""})
    (told,) = admin.describe_configs([resource])
    values = {each["name"]: each["value"] for each in told.results[0]["configs"]}
    return str(values.get(_AUTO_CREATE, "true")).lower() != "false"
