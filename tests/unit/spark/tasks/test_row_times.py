"""The timestamps of records that a write creates."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
import pytest

from kafka import KafkaConsumer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.broker import EmbeddedBroker
from kafka.spark.options.parsing import parse_write
from kafka.spark.tasks import timestamp_checks as record_times
from kafka.spark.tasks.timestamp_checks import RowTimeError, RowTimes, retention_ms
from kafka.spark.tasks.write_task import DeliveryError, write_task

pytestmark = pytest.mark.once
NOW_MS = 1_795_000_000_000
DAY_MS = 24 * 60 * 60_000


@pytest.fixture(autouse=True)
def nothing_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_times, "_asked", set())


def table(*times_ms: int | None) -> pa.Table:
    times = pa.array([None if each is None else each * 1_000 for each in times_ms], pa.timestamp("us", "UTC"))
    return pa.table({"value": [b"v"] * len(times_ms), "timestamp": times})


def looking(kept_ms: int | None = None) -> tuple[RowTimes, list[str]]:
    asked: list[str] = []

    def retention_of(topic: str) -> int | None:
        asked.append(topic)
        return kept_ms

    return RowTimes(retention_of, lambda: NOW_MS), asked


def test_a_row_before_1970_is_named() -> None:
    times, _ = looking()
    times.check(table(0, None, NOW_MS))
    times.check(pa.table({"value": [b"v"]}))
    with pytest.raises(RowTimeError) as caught:
        times.check(table(NOW_MS, -315_619_200_000))
    assert str(caught.value) == (
        "row 5 of the task has 1960-01-01T00:00:00Z in the column 'timestamp', and a record's time cannot be before "
        "1970: write null there for the time of writing, or leave out includeTimestamp"
    )


def test_the_latest_row_is_named_if_a_broker_rejects_a_timestamp() -> None:
    times, _ = looking()
    assert times.refusal() == ""
    for each in (table(NOW_MS), table(5, NOW_MS + 3_600_001, None), table(NOW_MS)):
        times.check(each)
    assert "'timestamp' is 2026-11-18T12:06:40Z, in row 2 of the task" in times.refusal()


@pytest.mark.parametrize(("kept_ms", "warned"), [(7 * DAY_MS, True), (31 * DAY_MS, False), (None, False)])
def test_timestamps_older_than_the_retention_cause_one_warning(
    kept_ms: int | None, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    times, asked = looking(kept_ms)
    times.compare_with_retention("t", table(NOW_MS - 1_000, None))
    assert asked == []
    for _ in range(2):
        times.compare_with_retention("t", table(NOW_MS, NOW_MS - 30 * DAY_MS))
    assert asked == ["t"]
    assert [each.levelname for each in caplog.records] == ["WARNING"] * warned
    assert ("as early as 2026-10-19T11:06:40Z" in caplog.text) == warned


def write(broker: EmbeddedBroker, *times_ms: int | None) -> int:
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "topic": "t", "includetimestamp": "true"}
    return write_task(parse_write(options), ("value", "timestamp"), iter(table(*times_ms).to_batches()))


def test_reports_of_a_write_about_timestamps(caplog: pytest.LogCaptureFixture) -> None:
    now_ms = int(datetime.datetime.now(datetime.UTC).timestamp() * 1_000)
    with EmbeddedBroker() as broker:
        with pytest.raises(DeliveryError, match="row 1 of the task has 1960-01-01T00:00:00Z in the column 'timestamp'"):
            write(broker, now_ms, -315_619_200_000)
        with pytest.raises(
            DeliveryError, match=r"InvalidTimestampError.*in row 2 of the task: brokers reject timestamps"
        ):
            write(broker, now_ms, None, now_ms + DAY_MS)
        assert write(broker, now_ms - 30 * DAY_MS, now_ms) == 2
        assert "keeps records for 604800000 ms (retention.ms)" in caplog.text


@pytest.mark.parametrize(
    ("configs", "kept"),
    [
        ({}, 604_800_000),
        ({"retention.ms": "1000"}, 1_000),
        ({"retention.ms": "-1"}, None),
        ({"cleanup.policy": "compact"}, None),
        ({"cleanup.policy": "compact,delete"}, 604_800_000),
    ],
)
def test_the_retention_of_a_topic(configs: dict[str, Any], kept: int | None) -> None:
    with EmbeddedBroker() as broker:
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("t", 1, 1, topic_configs=configs)])
        assert retention_ms((("bootstrap_servers", broker.bootstrap_servers),), "t") == kept


def test_unknown_retention_is_not_an_error() -> None:
    with EmbeddedBroker() as broker:
        assert retention_ms((("bootstrap_servers", broker.bootstrap_servers),), "nowhere") is None


def test_a_copy_keeps_its_times_on_request() -> None:
    with EmbeddedBroker(topic_defaults={"retention.ms": "-1"}) as broker:
        assert write(broker, 1_000, None) == 2
        with KafkaConsumer("t", bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest") as consumer:
            times = [next(consumer).timestamp for _ in range(2)]
    assert times[0] == 1_000
    assert times[1] > NOW_MS - 10_000 * DAY_MS
