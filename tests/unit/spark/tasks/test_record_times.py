"""Timestamps of records that Spark cannot represent, or that are too far in the future."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
import pytest

from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaConfigurationError
from kafka.record import BatchBuilder, Columns, decode_batches
from kafka.spark.options.parsing import parse_read, requested_columns
from kafka.spark.planning.ranges import OffsetRange
from kafka.spark.tasks.planned_rows import PlannedRows
from kafka.spark.tasks.read_task import read_task
from kafka.spark.tasks.timestamp_checks import RecordTimeError, RecordTimes

pytestmark = pytest.mark.once
MS = 1_795_000_000_000
DATE = datetime.datetime.fromtimestamp(MS / 1_000, datetime.UTC)
NAMES = ("value", "timestamp", "offset")


def columns_of(*times: int) -> Columns:
    builder = BatchBuilder()
    for time in times:
        builder.append(time, None, b"v", [])
    return decode_batches(builder.build(base_offset=7), topic="t", partition=1)


def times_in(batch: pa.RecordBatch) -> list[datetime.datetime | None]:
    found: list[datetime.datetime | None] = batch.column("timestamp").to_pylist()
    return found


def test_a_timestamp_in_nanoseconds_ends_the_read_with_its_record() -> None:
    with pytest.raises(RecordTimeError) as caught:
        RecordTimes().to_arrow(columns_of(MS, MS * 1_000_000), NAMES)
    assert str(caught.value) == (
        "the record at topic t, partition 1, offset 8 has the timestamp 1795000000000000000 (in ms since 1970), which "
        "Spark's timestamps, in microseconds, cannot represent. In nanoseconds it would be 2026-11-18T11:06:40Z: its "
        "producer must write milliseconds; with the option invalidTimestamp=null, such timestamps are read as null"
    )


def test_a_timestamp_read_as_null_causes_one_warning_per_partition(caplog: pytest.LogCaptureFixture) -> None:
    times = RecordTimes(as_null=True)
    for _ in range(2):
        batch = times.to_arrow(columns_of(MS, MS * 1_000_000, MS * 1_000_000 + 1, -1), NAMES)
        assert batch.schema.names == list(NAMES)
        missing = datetime.datetime.fromtimestamp(-0.001, datetime.UTC)
        assert times_in(batch) == [DATE, None, None, missing]
        assert batch.column("offset").to_pylist() == [7, 8, 9, 10]
    assert [each.levelname for each in caplog.records] == ["WARNING"]
    assert "offset 8 has the timestamp 1795000000000000000" in caplog.text
    assert times_in(times.to_arrow(columns_of(MS * 1_000_000), ["timestamp"])) == [None]


def test_a_timestamp_may_be_ahead_of_now_up_to_the_limit() -> None:
    times = RecordTimes(max_ahead_ms=60_000, now_ms=lambda: MS)
    assert times.to_arrow(columns_of(MS + 60_000, 0, -1), NAMES).num_rows == 3
    with pytest.raises(RecordTimeError, match=r"offset 8 has .* 1795000060001 \(2026-11-18T11:07:40Z\), more than max"):
        times.to_arrow(columns_of(MS, MS + 60_001), NAMES)
    with pytest.raises(
        RecordTimeError, match=r"\(the year 5\d{4}\).* In microseconds it would be 2026-11-18T11:06:40Z"
    ):
        times.to_arrow(columns_of(MS * 1_000), NAMES)


def test_timestamps_that_are_not_read_are_not_checked() -> None:
    assert RecordTimes().to_arrow(columns_of(MS * 1_000_000), ["value"]).num_rows == 1


def read_options(servers: str, **options: str) -> Any:
    given = {"kafka.bootstrap.servers": servers, "subscribe": "t", **options}
    return parse_read({name.lower(): text for name, text in given.items()}, streaming=True)


def test_every_kind_of_read_checks_timestamps() -> None:
    with EmbeddedBroker(topic_defaults={"retention.ms": "-1"}) as broker:
        servers = broker.bootstrap_servers
        config = {"message.timestamp.after.max.ms": str(2**63 - 1)}
        with KafkaAdminClient(bootstrap_servers=servers) as admin:
            admin.create_topics([NewTopic("t", 1, 1, topic_configs=config)])
        with KafkaProducer(bootstrap_servers=servers) as producer:
            for time in (MS, MS * 1_000_000):
                producer.send("t", b"v", timestamp_ms=time).get(60)
        ranges = [OffsetRange("t", 0, 0, 2)]
        with pytest.raises(RecordTimeError, match="topic t, partition 0, offset 1"):
            list(read_task(read_options(servers), NAMES, ranges))
        (batch,) = read_task(read_options(servers, invalidTimestamp="null"), NAMES, ranges)
        assert times_in(batch) == [DATE, None]
        with pytest.raises(RecordTimeError):
            list(read_task(read_options(servers, maxTimestampAhead="1h"), NAMES, ranges))
        strict, lenient = (
            PlannedRows(read_options(servers, invalidTimestamp=each), NAMES, (), lambda: 0.0)
            for each in ("fail", "null")
        )
        assert strict.of([ranges]) is None  # the task encounters it again, and reports it
        rows = lenient.of([ranges])
        assert rows is not None
        assert times_in(rows[0]) == [DATE, None]


def test_a_column_that_is_declared_as_not_null_cannot_have_nulls() -> None:
    fields = [("timestamp", "timestamp", False)]
    assert requested_columns({}, fields) == ("timestamp",)
    with pytest.raises(
        KafkaConfigurationError, match="'invalidTimestamp' reads invalid timestamps as null, but the schema"
    ):
        requested_columns({"invalidtimestamp": "null"}, fields)
