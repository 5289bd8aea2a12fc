"""Reads Spark's progress reports: lag, rates, losses and sizes of a query and its partitions. Pure.

This works for `kafka_columnar` and for Spark's own connector, because their offsets have the same layout.
"""

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError
from kafka.spark.planning.checkpoint_layout import Offsets, backlog, from_layout, log_bytes, lost_records, planned_ms
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    import pandas as pd

_NAMELESS = re.compile(r"@[0-9a-f]+$")
"""Matches the end of Spark's description of a Python source: an object's address, which changes with every run."""
_TOPICS_NAMED = 5


@dataclasses.dataclass(frozen=True, slots=True)
class PartitionProgress:
    """A partition after a micro-batch. None means that the report does not contain the value.

    Arguments:
        start: the first offset of the batch.
        end: the end offset of the batch (exclusive).
        latest: the end of the log when the batch was planned.
        lost: number of records that were deleted before the query could read them, counted since its start.
        log_bytes: the size of the log on a broker's disk, up to a minute old.
    """

    start: int | None
    end: int
    latest: int | None
    lost: int = 0
    log_bytes: int | None = None

    @property
    def lag(self) -> int | None:
        """The number of offsets that the batch left unread."""
        return None if self.latest is None else max(0, self.latest - self.end)

    @property
    def offsets(self) -> int | None:
        """The number of offsets in the batch.

        It equals the number of rows, unless records are compacted, transactional or lost.
        """
        return None if self.start is None else max(0, self.end - self.start)


@dataclasses.dataclass(frozen=True, slots=True)
class SourceProgress:
    """A Kafka source of a query after a micro-batch.

    Arguments:
        source: a description of the source, which is the same in every run.
        rows: number of rows in the batch.
        input_rate: rows per second that arrived since the previous batch; None if Spark does not report it.
        rate: rows per second that the batch processed.
    """

    source: str
    rows: int
    input_rate: float | None
    rate: float | None
    partitions: Mapping[TopicPartition, PartitionProgress]

    @property
    def lag(self) -> int | None:
        """The number of offsets that the batch left unread, in all partitions."""
        lags = [each.lag for each in self.partitions.values() if each.lag is not None]
        return sum(lags) if len(lags) == len(self.partitions) else None


@dataclasses.dataclass(frozen=True, slots=True)
class QueryProgress:
    """The state of a query after a micro-batch.

    Arguments:
        time: start of the batch, as Spark formats it (ISO 8601, UTC).
        query: the name of the query, or its id.
        query_id: the id of the query, which stays the same when the query is restarted from its checkpoint.
        run_id: the id of this run.
        seconds: duration of the batch.
        state_rows: number of rows in the state of stateful operators.
        state_bytes: size of that state.
        sources: the sources that read from Kafka.
    """

    time: str
    query: str
    query_id: str
    run_id: str
    batch: int
    seconds: float
    rows: int
    state_rows: int
    state_bytes: int
    sources: tuple[SourceProgress, ...]


def query_progress(report: Mapping[str, Any]) -> QueryProgress:
    """Convert a progress report.

    Arguments:
        report: the parsed JSON of a `StreamingQueryProgress`.
    """
    state = report.get("stateOperators") or ()
    found = [_source_progress(each) for each in report.get("sources") or ()]
    return QueryProgress(
        time=report["timestamp"],
        query=report.get("name") or report["id"],
        query_id=report["id"],
        run_id=report["runId"],
        batch=report["batchId"],
        seconds=(report.get("durationMs") or {}).get("triggerExecution", 0) / 1_000,
        rows=report.get("numInputRows") or 0,
        state_rows=sum(each.get("numRowsTotal") or 0 for each in state),
        state_bytes=sum(each.get("memoryUsedBytes") or 0 for each in state),
        sources=_told_apart([each for each in found if each is not None]),
    )


def _source_progress(source: Mapping[str, Any]) -> SourceProgress | None:
    """Convert the report of a source; return None if its offsets are not Kafka's."""
    ends = offsets_of(source.get("endOffset"))
    if ends is None:
        return None
    first = offsets_of(source.get("endOffset"), initial=True) or {}
    starts = {**first, **(offsets_of(source.get("startOffset")) or {})}
    latest = _newest(source)
    beside = report_layout(source.get("latestOffset")) or {}
    lost, sizes = lost_records(beside), log_bytes(beside)
    partitions = {
        each: PartitionProgress(starts.get(each), end, latest.get(each), lost.get(each, 0), sizes.get(each))
        for each, end in sorted(ends.items())
    }
    return SourceProgress(
        source=describe_source(str(source.get("description") or ""), partitions),
        rows=source.get("numInputRows") or 0,
        input_rate=_rate(source.get("inputRowsPerSecond")),
        rate=_rate(source.get("processedRowsPerSecond")),
        partitions=partitions,
    )


def _newest(source: Mapping[str, Any]) -> Offsets:
    """Return the ends of the logs.

    PySpark before 4.2 does not request the ends, so they are derived from the stored backlog.
    """
    end, latest = report_layout(source.get("endOffset")) or {}, report_layout(source.get("latestOffset"))
    if planned_ms(end) is not None and latest in (None, end):
        return {**(offsets_of(end) or {}), **backlog(end)}
    return offsets_of(latest) or {}


def describe_source(description: str, partitions: Mapping[TopicPartition, object]) -> str:
    """Return Spark's description of a source, or one based on its topics if Spark's would change with every run."""
    if description and not _NAMELESS.search(description):
        return description
    topics = sorted({each.topic for each in partitions})
    more = f" and {len(topics) - _TOPICS_NAMED} more" if len(topics) > _TOPICS_NAMED else ""
    return f"kafka_columnar[{', '.join(topics[:_TOPICS_NAMED])}{more}]"


def _told_apart(sources: list[SourceProgress]) -> tuple[SourceProgress, ...]:
    """Number the sources if a query reads the same topics twice."""
    seen: dict[str, int] = {}
    apart = []
    for each in sources:
        number = seen[each.source] = seen.get(each.source, 0) + 1
        apart.append(each if number == 1 else dataclasses.replace(each, source=f"{each.source} #{number}"))
    return tuple(apart)


def report_layout(offsets: object) -> dict[str, Any] | None:
    """Return the offsets in a report, which contains them either as JSON text or as parsed JSON."""
    if isinstance(offsets, str):
        try:
            offsets = json.loads(offsets)
        except ValueError:
            return None
    return offsets if isinstance(offsets, dict) else None


def offsets_of(offsets: object, *, initial: bool = False) -> Offsets | None:
    """Return the offsets in a report; None if they are not Kafka's."""
    layout = report_layout(offsets)
    try:
        return None if layout is None else from_layout(layout, initial=initial)
    except KafkaConfigurationError:
        return None


def _rate(rate: object) -> float | None:
    """Return a finite rate; None for NaN or infinity, which Spark reports if a batch took no time."""
    return float(rate) if isinstance(rate, int | float) and rate == rate and abs(rate) != float("inf") else None


def to_json(progress: QueryProgress) -> str:
    """Format the progress as a line of JSON for a log."""
    sources = [
        {
            "source": source.source,
            "rows": source.rows,
            "inputRowsPerSecond": source.input_rate,
            "processedRowsPerSecond": source.rate,
            "lag": source.lag,
            "partitions": [
                {
                    "topic": each.topic,
                    "partition": each.partition,
                    "start": found.start,
                    "end": found.end,
                    "latest": found.latest,
                    "lag": found.lag,
                    "lost": found.lost,
                    "logBytes": found.log_bytes,
                }
                for each, found in source.partitions.items()
            ],
        }
        for source in progress.sources
    ]
    line = {
        "time": progress.time,
        "query": progress.query,
        "id": progress.query_id,
        "runId": progress.run_id,
        "batch": progress.batch,
        "seconds": progress.seconds,
        "rows": progress.rows,
        "stateRows": progress.state_rows,
        "stateBytes": progress.state_bytes,
        "sources": sources,
    }
    return json.dumps(line, separators=(",", ":"))


FRAME_COLUMNS = (
    "time", "query", "batch", "seconds", "source", "topic", "partition", "start", "end", "latest", "lag", "lost",
    "log_bytes",
)  # fmt: skip


def progress_frame(progress: Sequence[QueryProgress]) -> "pd.DataFrame":
    """Return a frame with a row for each partition of each micro-batch.

    Times are in UTC; unknown values are missing.
    """
    import pandas as pd

    rows = [
        (
            each.time, each.query, each.batch, each.seconds, source.source, partition.topic, partition.partition,
            found.start, found.end, found.latest, found.lag, found.lost,
            found.log_bytes,
        )
        for each in progress
        for source in each.sources
        for partition, found in source.partitions.items()
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(FRAME_COLUMNS))
    frame["time"] = pd.to_datetime(frame["time"], utc=True, format="ISO8601")
    return frame.astype(dict.fromkeys(("start", "latest", "lag", "log_bytes"), "Int64"))
