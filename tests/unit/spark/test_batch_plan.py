"""Which offsets a batch read covers."""

import pytest

from kafka.errors import KafkaConfigurationError
from kafka.spark.batch_plan import plan_batch
from kafka.spark.lookup import NoOffsetForTimeError
from kafka.spark.loss import DataLossError
from kafka.spark.options import parse_read
from kafka.spark.ranges import OffsetRange

from .fake_cluster import FakeCluster

LOGS = {("t", 0): (5, 100_000), ("t", 1): (0, 50_000), ("u", 0): (0, 3)}


def plan(logs=LOGS, subscribe: str = "t", **options: str) -> list[OffsetRange]:
    given = {"kafka.bootstrap.servers": "h:1", "subscribe": subscribe}
    given |= {name.lower(): value for name, value in options.items()}
    tasks = plan_batch(parse_read(given, streaming=False), FakeCluster(logs))
    return [piece for task in tasks for piece in task]


def test_all_there_is_by_default():
    assert plan() == [OffsetRange("t", 0, 5, 100_000), OffsetRange("t", 1, 0, 50_000)]


def test_a_topic_without_records_gives_nothing():
    assert plan({("t", 0): (7, 7)}) == []


def test_offsets_by_partition():
    ranges = plan(startingOffsets='{"t":{"0":7,"1":-2}}', endingOffsets='{"t":{"0":9,"1":-1}}')
    assert ranges == [OffsetRange("t", 0, 7, 9), OffsetRange("t", 1, 0, 50_000)]


def test_every_partition_has_to_be_named():
    with pytest.raises(KafkaConfigurationError, match=r"'startingOffsets' has to name every partition .* out t-1"):
        plan(startingOffsets='{"t":{"0":7}}')
    with pytest.raises(KafkaConfigurationError, match="'endingOffsets' names u-0, which the query does not read"):
        plan(endingOffsets='{"t":{"0":7,"1":8},"u":{"0":1}}')


def test_times():
    assert plan(startingTimestamp="40000", endingTimestamp="40010") == [
        OffsetRange("t", 0, 40_000, 40_010),
        OffsetRange("t", 1, 40_000, 40_010),
    ]
    ranges = plan(
        startingOffsetsByTimestamp='{"t":{"0":8,"1":9}}', endingOffsetsByTimestamp='{"t":{"0":10,"1":999999}}'
    )
    assert ranges == [OffsetRange("t", 0, 8, 10), OffsetRange("t", 1, 9, 50_000)]


def test_a_start_later_than_any_record_is_an_error_or_the_end():
    with pytest.raises(NoOffsetForTimeError, match="no record of t-1 is as late as 60000 ms"):
        plan(startingTimestamp="60000")
    ranges = plan(startingTimestamp="60000", startingOffsetsByTimestampStrategy="latest")
    assert ranges == [OffsetRange("t", 0, 60_000, 100_000)]


def test_a_missing_topic_is_loss():
    with pytest.raises(DataLossError, match="Kafka has no v, which the query reads"):
        plan(subscribe="t,v")
    assert len(plan(subscribe="t,v", failOnDataLoss="false")) == 2


def test_offsets_outside_of_the_log_are_loss():
    with pytest.raises(DataLossError, match=r"startingOffsets begins t-0 at 2, but its log holds \[5, 100000\)"):
        plan(startingOffsets='{"t":{"0":2,"1":0}}')
    with pytest.raises(DataLossError, match="endingOffsets ends t-1 at 50001, but its log ends at 50000"):
        plan(endingOffsets='{"t":{"0":100,"1":50001}}')
    ranges = plan(
        startingOffsets='{"t":{"0":2,"1":0}}', endingOffsets='{"t":{"0":10,"1":50001}}', failOnDataLoss="false"
    )
    assert ranges == [OffsetRange("t", 0, 5, 10), OffsetRange("t", 1, 0, 50_000)]


def test_a_warning_says_what_is_missing(caplog):
    plan(subscribe="t,v", failOnDataLoss="false")
    assert "Kafka has no v, which the query reads; going on, as failOnDataLoss=false" in caplog.text
