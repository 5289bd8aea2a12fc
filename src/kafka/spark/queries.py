"""Functions that start streaming queries or prepare their writers.

`start` restarts a query if Spark gave up on a Python process that was slow to start. `run_available` does what
`Trigger.AvailableNow` does, in bounded micro-batches and with every PySpark version. `upsert` writes the changed rows
of an aggregation, like ``outputMode("update")`` with Spark's own connector.
"""

import datetime
import itertools
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import IllegalArgumentError, KafkaConfigurationError
from kafka.spark.monitoring.progress_reports import offsets_of, report_layout
from kafka.spark.planning.checkpoint_layout import backlog, planned_ms
from kafka.spark.requirements import check_pyspark

if TYPE_CHECKING:
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

log = logging.getLogger(__name__)

Report = Mapping[str, Any]


def run_available(writer: "DataStreamWriter") -> "StreamingQuery":
    """Run a query until it has read everything available at the start, as with `Trigger.AvailableNow`, and return.

    From PySpark 4.2 on, this uses that trigger. Earlier versions end such a query after one micro-batch, which may be
    limited by `maxOffsetsPerTrigger`, or may only be the replay of one that a crash has interrupted. So the query is
    restarted from its checkpoint, one micro-batch at a time, until it has read everything available when the first new
    one was planned.

    Arguments:
        writer: ``frame.writeStream`` with all its settings, such as `checkpointLocation`. Its trigger is replaced.

    Returns the last query, which has ended. Raises `StreamingQueryException` if a query fails; a later run resumes from
    its checkpoint. Example::

        kafka.spark.run_available(rows.writeStream.format("kafka_columnar").options(**options))
    """
    check_pyspark()
    goal = Goal()
    for number in itertools.count(1):
        query = start(writer.trigger(availableNow=True))
        log.info(
            "query %s runs until it has read what is available now (start %d, run %s)", query.id, number, query.runId
        )
        try:
            query.awaitTermination()
        finally:
            if query.isActive:  # the wait was interrupted
                query.stop()
        if goal.is_reached_by(query):
            return query
    raise AssertionError("it counts for ever")


class Goal:
    """Decides from the reports of successive queries whether everything available at the start has been read."""

    def __init__(self) -> None:
        self._began_ms: int | None = None

    def is_reached_by(self, query: "StreamingQuery") -> bool:
        """Return whether no query is needed after this one, which has ended, and log its result."""
        from kafka.spark.pyspark_versions import TELLS_TRIGGER

        reports = [json.loads(each.json) for each in query.recentProgress]
        is_over = TELLS_TRIGGER or self.is_reached(reports)
        _tell(query, reports, is_over)
        return is_over

    def is_reached(self, reports: Sequence[Report]) -> bool:
        """Return whether no further query is needed.

        Arguments:
            reports: the parsed reports of a query that has ended.
        """
        batches = _batches(reports)
        if not batches:
            return True  # there was nothing to read
        is_first = self._began_ms is None
        if self._began_ms is None:
            began = datetime.datetime.fromisoformat(batches[0]["timestamp"])
            self._began_ms = int(began.timestamp() * 1_000)
        ends = _ends(batches)
        read = _read(batches)
        if any(map(backlog, ends)):
            return not (is_first or read)  # a query without progress would be restarted forever
        if not read:
            return not (is_first and any(map(offsets_of, ends)))
        return all(self._is_new(planned_ms(end), is_first) for end in read)

    def _is_new(self, planned: int | None, is_first: bool) -> bool:
        """Return whether a micro-batch was planned after the start.

        If the report does not contain the time of planning, only micro-batches of later queries count.
        """
        assert self._began_ms is not None
        return not is_first if planned is None else planned >= self._began_ms


def _batches(reports: Sequence[Report]) -> list[Report]:
    """Return the reports of executed micro-batches."""
    return [each for each in reports if "addBatch" in (each.get("durationMs") or {})]


def _ends(batches: Sequence[Report]) -> list[Mapping[str, Any]]:
    """Return the end offsets of the sources."""
    return [report_layout(each.get("endOffset")) or {} for each in batches[-1].get("sources") or ()]


def _tell(query: "StreamingQuery", reports: Sequence[Report], is_over: bool) -> None:
    """Log the result of a query."""
    batches = _batches(reports)
    rows = sum(each.get("numInputRows") or 0 for each in batches)
    waiting = 0
    for end in _ends(batches) if batches else ():
        offsets = offsets_of(end) or {}
        waiting += sum(offset - offsets.get(each, 0) for each, offset in backlog(end).items())
    numbers = f"{batches[0].get('batchId')} to {batches[-1].get('batchId')}" if batches else "none"
    if is_over and waiting:
        log.warning(
            "query %s ends although %d offset(s) that were available at its start are unread: its last micro-batch "
            "read nothing",
            query.id,
            waiting,
        )
    log.info(
        "query %s has ended: micro-batches %s, %d row(s), %d offset(s) unread; %s",
        query.id,
        numbers,
        rows,
        waiting,
        "starting it again"
        if not is_over
        else "it has read everything that was available at the start"
        if not waiting
        else "it stops here",
    )


def _read(batches: Sequence[Report]) -> list[Mapping[str, Any]]:
    """Return the end offsets of the Kafka sources that have made progress."""
    sources = [source for batch in batches for source in batch.get("sources") or ()]
    moved = [each for each in sources if report_layout(each.get("startOffset")) != report_layout(each.get("endOffset"))]
    return [report_layout(each.get("endOffset")) or {} for each in moved if offsets_of(each.get("endOffset"))]


GAVE_UP = "Python worker failed to connect back"
"""Spark's error if the Python process of a source does not start within ten seconds."""
_BEFORE = ("Initializing", "Getting offsets")
"""Prefixes of the status message of a query whose sources may not have started yet."""
_LOOK_S = 0.1


def start(
    writer: "DataStreamWriter", *, tries: int = 5, sleep: Callable[[float], object] = time.sleep
) -> "StreamingQuery":
    """Start a streaming query, and restart it if Spark gives up on a Python process. Returns when its sources run.

    Spark gives the Python processes of a source and a sink ten seconds to start; this limit is not configurable. If the
    machine is too busy, the query does not start, or ends before its first micro-batch, so it can be restarted without
    loss.

    Arguments:
        writer: ``frame.writeStream`` with all its settings, ready for ``start()``.
        tries: maximum number of starts.
        sleep: waits for a number of seconds.

    Returns the query, even if it has ended for another reason or after the last attempt; its ``awaitTermination()``
    then raises the error. Example::

        query = kafka.spark.start(rows.writeStream.format("kafka_columnar").options(**options))
    """
    if tries < 1:
        raise IllegalArgumentError(f"Expected tries of at least 1, got {tries}")
    for left in reversed(range(tries)):
        try:
            query = writer.start()
        except Exception as error:
            if GAVE_UP not in str(error) or not left:
                raise
            log.warning("Spark gave up on a Python process of a query that was slow to start; starting the query again")
            continue
        try:
            while True:
                if not (query.isActive and query.status["message"].startswith(_BEFORE)):
                    break
                sleep(_LOOK_S)
        except BaseException:  # after an interrupt, the caller has no query object to stop
            query.stop()
            raise
        if query.isActive or GAVE_UP not in str(query.exception()) or not left:
            break
        log.warning("Spark gave up on a Python process of query %s that was slow to start; starting it again", query.id)
    return query


FORMAT = "kafka_columnar"
_SPARKS = "checkpointlocation"


def upsert(writer: "DataStreamWriter", options: Mapping[str, Any] | None = None, **more: Any) -> "DataStreamWriter":
    """Make a stream write the rows changed by each micro-batch to Kafka; return the writer, ready to start.

    Spark rejects ``outputMode("update")`` for sinks in Python, but accepts it for `foreachBatch`. So each micro-batch
    is written as a batch by `foreachBatch`. If the key of an aggregation is the key of its records, the last record
    with a key contains the newest result for that key, and a compacted topic keeps only this record.

    Arguments:
        writer: ``frame.writeStream``, with any trigger and name.
        options: options of the sink, by name; `checkpointLocation` is passed to the query.
        more: more options, such as ``topic="counts"``.

    Raises a `KafkaConfigurationError` that names an invalid option, before the query starts. Example::

        upsert(counts.writeStream, brokers, topic="counts", checkpointLocation="...").start()
    """
    given = {name: _text(name, value) for name, value in {**(options or {}), **more}.items()}
    query = {name: value for name, value in given.items() if name.lower() == _SPARKS}
    sink = {name: value for name, value in given.items() if name not in query}
    lowered = {name.lower(): value for name, value in sink.items()}
    from kafka.spark.options.parsing import check_names, parse_write  # `start` does not need the option table

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
    """Writes a micro-batch as a batch.

    Arguments:
        options: the options of the sink.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)

    def __call__(self, frame: Any, batch_id: int) -> None:
        frame.write.format(FORMAT).options(**self._options).mode("append").save()

    def __repr__(self) -> str:
        from kafka.spark.options.option_table import KAFKA_PREFIX

        shown = sorted(name for name in self._options if not name.lower().startswith(KAFKA_PREFIX))
        return f"<writes micro-batches to Kafka, options {', '.join(shown) or 'of the clients alone'}>"
