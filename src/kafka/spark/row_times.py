"""The times that a write gives to records (`includeTimestamp`): what Kafka refuses, or removes at once, is told."""

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafka.errors import KafkaError
from kafka.record.times import extremes
from kafka.spark.cache import Configs, admin_configs
from kafka.spark.record_times import date_of
from kafka.spark.schema import TIMESTAMP

if TYPE_CHECKING:
    import pyarrow

log = logging.getLogger(__name__)

_WORTH_ASKING_MS = 5 * 60_000
"""A topic's retention is asked for where a time is older than that."""
_asked: set[str] = set()
"""The topics whose retention this process has asked for."""


class RowTimeError(ValueError):
    """The time of a row is none that a record can have."""


class RowTimes:
    """Looks at the column `timestamp` of the rows that a task writes.

    Arguments:
        retention_of: gives the `retention.ms` of a topic; None: it keeps records for ever, or it is not known.
        now_ms: the wall clock.
    """

    def __init__(
        self, retention_of: Callable[[str], int | None], now_ms: Callable[[], float] = lambda: time.time() * 1_000
    ) -> None:
        self._retention_of = retention_of
        self._now_ms = now_ms
        self._rows = 0
        self._latest: tuple[int, int] | None = None
        """The latest time so far, and the number of its row."""

    def check(self, table: "pyarrow.Table") -> None:
        """Look at the next rows of the task; raises `RowTimeError` for a time before 1970."""
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
        """Warn, once for each topic in a process, of times that are older than it keeps records."""
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
        """What to add to the word of a broker that refuses a record for its time."""
        if self._latest is None:
            return ""
        return (
            f"; the latest timestamp in the column 'timestamp' is {date_of(self._latest[0])}, in row "
            f"{self._latest[1]} of the task: brokers reject timestamps further ahead of their clock than the topic's "
            "message.timestamp.after.max.ms (an hour by default)"
        )


def _times_in(table: "pyarrow.Table") -> memoryview:
    """Milliseconds, -1 for null; none where there is no such column."""
    if TIMESTAMP not in table.column_names or not table.num_rows:
        return _NO_TIMES
    from kafka.record.arrow_input import one_array, timestamp_view

    return timestamp_view(one_array(table, TIMESTAMP))


_NO_TIMES = memoryview(b"").cast("q")


def retention_ms(configs: Configs, topic: str) -> int | None:
    """How long a topic keeps records; None: for ever, or it is not known."""
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
