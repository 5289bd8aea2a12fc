"""Runs a streaming query to where its topics ended at the start, in bounded micro-batches, with each PySpark."""

import datetime
import itertools
import json
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.spark.backlog import backlog, planned_ms
from kafka.spark.progress import offsets_of, report_layout
from kafka.spark.requirements import check_pyspark
from kafka.spark.starting import start

if TYPE_CHECKING:
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

log = logging.getLogger(__name__)

Report = Mapping[str, Any]


def run_available(writer: "DataStreamWriter") -> "StreamingQuery":
    """Run a query until it has all that was there at the start, as `Trigger.AvailableNow` is meant to, and return.

    From PySpark 4.2 on this is that trigger. Before, Spark ends such a query after one micro-batch, which
    `maxOffsetsPerTrigger` may bound, or which only repeats one that a crash has cut short. There the query is started
    again on its checkpoint, a micro-batch at a time, until it has what was there when the first new one was planned.

    Arguments:
        writer: ``frame.writeStream`` with all that is set on it, such as `checkpointLocation`. Its trigger is replaced.

    Returns the query that ran last, which has ended. Raises `StreamingQueryException` where one fails; started again,
    the query goes on from its checkpoint. Example::

        kafka.spark.run_available(rows.writeStream.format("kafka_columnar").options(**options))
    """
    check_pyspark()
    from kafka.spark.versions import TELLS_TRIGGER

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
        reports = [json.loads(each.json) for each in query.recentProgress]
        is_over = TELLS_TRIGGER or goal.is_reached(reports)
        _tell(query, reports, is_over)
        if is_over:
            return query
    raise AssertionError("it counts for ever")


class Goal:
    """Judges by the reports of one query after the other whether what was there at the start has been read."""

    def __init__(self) -> None:
        self._began_ms: int | None = None

    def is_reached(self, reports: Sequence[Report]) -> bool:
        """Whether the query is to end here.

        Arguments:
            reports: of a query that has ended, taken apart.
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
            return not (is_first or read)  # a query that moves nothing would do so for ever
        if not read:
            return not (is_first and any(map(offsets_of, ends)))
        return all(self._is_new(planned_ms(end), is_first) for end in read)

    def _is_new(self, planned: int | None, is_first: bool) -> bool:
        """Whether a micro-batch was planned since the start; in the first query, one that does not say was not."""
        assert self._began_ms is not None
        return not is_first if planned is None else planned >= self._began_ms


def _batches(reports: Sequence[Report]) -> list[Report]:
    """The reports of micro-batches that ran."""
    return [each for each in reports if "addBatch" in (each.get("durationMs") or {})]


def _ends(batches: Sequence[Report]) -> list[Mapping[str, Any]]:
    """Where the sources ended."""
    return [report_layout(each.get("endOffset")) or {} for each in batches[-1].get("sources") or ()]


def _tell(query: "StreamingQuery", reports: Sequence[Report], is_over: bool) -> None:
    """Log what a query has done."""
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
    """The ends of Kafka's sources that have moved."""
    sources = [source for batch in batches for source in batch.get("sources") or ()]
    moved = [each for each in sources if report_layout(each.get("startOffset")) != report_layout(each.get("endOffset"))]
    return [report_layout(each.get("endOffset")) or {} for each in moved if offsets_of(each.get("endOffset"))]
