"""The times of records, which producers write: those that Spark's timestamps cannot hold, or that are too far ahead."""

import datetime
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError
from kafka.record.times import LAST_MS, first_outside
from kafka.spark.schema import TIMESTAMP

if TYPE_CHECKING:
    import pyarrow

    from kafka.record import Columns

log = logging.getLogger(__name__)

_PLAUSIBLE_MS = (631_152_000_000, 4_102_444_800_000)
"""1990 and 2100: what a number would mean in another unit is told if it is between them."""
_OTHER_UNITS = ((1_000_000, "nanoseconds"), (1_000, "microseconds"))


class RecordTimeError(KafkaError):
    """The time of a record is none that Spark can hold, or is later than the options allow."""


class RecordTimes:
    """Makes Arrow batches of records, and looks at their times.

    Arguments:
        as_null: whether a wrong time is read as null, with a warning, or else ends the read.
        max_ahead_ms: how far ahead of now a time may be; None: any time that Spark can hold.
        now_ms: the wall clock.
    """

    def __init__(
        self, as_null: bool = False, max_ahead_ms: int | None = None, now_ms: Callable[[], float] | None = None
    ) -> None:
        self._as_null = as_null
        self._max_ahead_ms = max_ahead_ms
        self._now_ms = now_ms or (lambda: time.time() * 1_000)
        self._told: set[tuple[str, int]] = set()

    def to_arrow(self, columns: "Columns", names: Sequence[str]) -> "pyarrow.RecordBatch":
        """Records as a batch in Spark's schema.

        Raises `RecordTimeError` that names the record whose time is wrong, unless such times are null.
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
    """The time in ISO 8601, UTC; past the year 9999 the year alone."""
    try:
        return f"{datetime.datetime.fromtimestamp(milliseconds / 1_000, datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return f"the year {1970 + int(milliseconds / 31_556_952_000)}"


def _with_nulls(columns: "Columns", names: Sequence[str], last: int) -> "pyarrow.RecordBatch":
    """The batch, with null for each time outside the bounds."""
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
