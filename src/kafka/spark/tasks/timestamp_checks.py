"""Checks the timestamps of records in reads and writes.

A read checks the timestamps that producers wrote: Spark cannot represent all of them, and they may be too far in the
future. A write (`includeTimestamp`) reports timestamps that Kafka rejects, or that would make Kafka delete the records
immediately.
"""

import datetime
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError
from kafka.record.timestamp_columns import LAST_MS, extremes, first_outside
from kafka.spark.client_cache import Configs, admin_configs
from kafka.spark.options.row_schema import TIMESTAMP

if TYPE_CHECKING:
    import pyarrow

    from kafka.record import Columns

log = logging.getLogger(__name__)

_PLAUSIBLE_MS = (631_152_000_000, 4_102_444_800_000)
"""The years 1990 and 2100. The error suggests another time unit if the timestamp would then be in this range."""
_OTHER_UNITS = ((1_000_000, "nanoseconds"), (1_000, "microseconds"))


class RecordTimeError(KafkaError):
    """Spark cannot represent the timestamp of a record, or it is later than `maxTimestampAhead` allows."""


class RecordTimes:
    """Converts records to Arrow batches, and checks their timestamps.

    Arguments:
        as_null: whether an unsupported timestamp is read as null, with a warning; otherwise it ends the read.
        max_ahead_ms: how far in the future a timestamp may be; None for as far as Spark can represent.
        now_ms: returns the wall-clock time in milliseconds.
    """

    def __init__(
        self, as_null: bool = False, max_ahead_ms: int | None = None, now_ms: Callable[[], float] | None = None
    ) -> None:
        self._as_null = as_null
        self._max_ahead_ms = max_ahead_ms
        self._now_ms = now_ms or (lambda: time.time() * 1_000)
        self._told: set[tuple[str, int]] = set()

    def to_arrow(self, columns: "Columns", names: Sequence[str]) -> "pyarrow.RecordBatch":
        """Convert records to a batch with Spark's schema.

        Raises a `RecordTimeError` that names the record with an unsupported timestamp, unless these are read as null.
        """
        if TIMESTAMP not in names:
            return columns.to_arrow(names, schema="spark")
        last = LAST_MS
        if self._max_ahead_ms is not None:
            last = min(last, int(self._now_ms()) + self._max_ahead_ms)
        row = first_outside(columns.timestamps, -LAST_MS, last)
        if row < 0:
            return columns.to_arrow(names, schema="spark")
        wrong = self._describe(columns, row)
        if not self._as_null:
            raise RecordTimeError(f"{wrong}; with the option invalidTimestamp=null, such timestamps are read as null")
        if (columns.topic, columns.partition) not in self._told:
            self._told.add((columns.topic, columns.partition))
            log.warning("%s; it is read as null (invalidTimestamp=null), and so are similar ones", wrong)
        return _with_nulls(columns, names, last)

    def _describe(self, columns: "Columns", row: int) -> str:
        number = columns.timestamps[row]
        text = (
            f"the record at topic {columns.topic}, partition {columns.partition}, offset {columns.offsets[row]} has "
            f"the timestamp {number}"
        )
        if abs(number) > LAST_MS:
            text += " (in ms since 1970), which Spark's timestamps, in microseconds, cannot represent"
        else:
            text += f" ({date_of(number)}), more than maxTimestampAhead ({self._max_ahead_ms} ms) ahead of now"
        for factor, unit in _OTHER_UNITS:
            if _PLAUSIBLE_MS[0] < number // factor < _PLAUSIBLE_MS[1]:
                text += f". In {unit} it would be {date_of(number // factor)}: its producer must write milliseconds"
        return text


def date_of(milliseconds: int) -> str:
    """Format a time in ISO 8601, in UTC. After 9999, return only the year."""
    try:
        return f"{datetime.datetime.fromtimestamp(milliseconds / 1_000, datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return f"the year {1970 + int(milliseconds / 31_556_952_000)}"


def _with_nulls(columns: "Columns", names: Sequence[str], last: int) -> "pyarrow.RecordBatch":
    """Return the batch with null in place of each timestamp that is out of range."""
    import pyarrow as pa
    import pyarrow.compute

    from kafka.record import arrow_schema

    compute: Any = pyarrow.compute
    times: Any = pa.Array.from_buffers(pa.int64(), len(columns), [None, pa.py_buffer(columns.timestamps)])
    inside = compute.and_(compute.greater_equal(times, -LAST_MS), compute.less_equal(times, last))
    kept = compute.if_else(inside, times, pa.scalar(None, pa.int64()))
    schema = arrow_schema(names, "spark")
    made = compute.multiply(kept, pa.scalar(1_000, pa.int64())).cast(schema.field(TIMESTAMP).type)
    others = columns.to_arrow([name for name in names if name != TIMESTAMP] or ["offset"], schema="spark")
    arrays = [made if name == TIMESTAMP else others.column(name) for name in names]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


_WORTH_ASKING_MS = 5 * 60_000
"""If a timestamp is older than this, the topic's retention is requested."""
_asked: set[str] = set()
"""The topics whose retention this process has requested."""


class RowTimeError(ValueError):
    """Kafka does not support the timestamp of a row."""


class RowTimes:
    """Checks the column `timestamp` of the rows that a task writes.

    Arguments:
        retention_of: returns the `retention.ms` of a topic; None if unlimited or unknown.
        now_ms: returns the wall-clock time in milliseconds.
    """

    def __init__(
        self, retention_of: Callable[[str], int | None], now_ms: Callable[[], float] = lambda: time.time() * 1_000
    ) -> None:
        self._retention_of = retention_of
        self._now_ms = now_ms
        self._rows = 0
        self._latest: tuple[int, int] | None = None
        """The latest timestamp so far, and its row number."""

    def check(self, table: "pyarrow.Table") -> None:
        """Check the next rows of the task. Raises `RowTimeError` for a timestamp before 1970."""
        first, self._rows = self._rows, self._rows + table.num_rows
        times = _times_in(table)
        earliest, latest = extremes(times)
        if latest < 0:
            return
        if times[earliest] < 0:
            raise RowTimeError(
                f"row {first + earliest} of the task has {date_of(times[earliest])} in the column 'timestamp', and a "
                "record's time cannot be before 1970: write null there for the time of writing, or leave out "
                "includeTimestamp"
            )
        if self._latest is None or times[latest] > self._latest[0]:
            self._latest = times[latest], first + latest

    def compare_with_retention(self, topic: str, rows: "pyarrow.Table") -> None:
        """Warn about timestamps older than the topic's retention, once per topic and process."""
        if topic in _asked:
            return
        times = _times_in(rows)
        earliest, _ = extremes(times)
        if earliest < 0 or self._now_ms() - times[earliest] <= _WORTH_ASKING_MS:
            return
        _asked.add(topic)
        kept_ms = self._retention_of(topic)
        if kept_ms is not None and times[earliest] < self._now_ms() - kept_ms:
            log.warning(
                "rows for topic %r have timestamps as early as %s in the column 'timestamp', but the topic keeps "
                "records for %d ms (retention.ms): Kafka deletes such records soon after they are written. Without "
                "includeTimestamp, records get the time of writing",
                topic,
                date_of(times[earliest]),
                kept_ms,
            )

    def refusal(self) -> str:
        """Return text to add to a broker's error about a record's timestamp."""
        if self._latest is None:
            return ""
        return (
            f"; the latest timestamp in the column 'timestamp' is {date_of(self._latest[0])}, in row "
            f"{self._latest[1]} of the task: brokers reject timestamps further ahead of their clock than the topic's "
            "message.timestamp.after.max.ms (an hour by default)"
        )


def _times_in(table: "pyarrow.Table") -> memoryview:
    """Return the timestamps in milliseconds, with -1 for null; empty if there is no such column."""
    if TIMESTAMP not in table.column_names or not table.num_rows:
        return _NO_TIMES
    from kafka.record.arrow_rows import one_array, timestamp_view

    return timestamp_view(one_array(table, TIMESTAMP))


_NO_TIMES = memoryview(b"").cast("q")


def retention_ms(configs: Configs, topic: str) -> int | None:
    """Return a topic's retention time in milliseconds; None if unlimited or unknown."""
    from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

    wanted = ("retention.ms", "cleanup.policy")
    try:
        with KafkaAdminClient(**admin_configs(configs)) as admin:
            resource = ConfigResource(ConfigResourceType.TOPIC, topic, dict.fromkeys(wanted))
            (answer,) = admin.describe_configs([resource])
            values = {each["name"]: each["value"] for each in answer.results[0]["configs"]}
    except KafkaError as error:
        log.debug("the retention of topic %r is unknown: %s", topic, error)
        return None
    if "delete" not in values.get("cleanup.policy", "delete"):
        return None
    kept = int(values.get("retention.ms", -1))
    return kept if kept >= 0 else None
