"""The offsets of a batch read."""

from collections.abc import Collection

import pytest

from kafka.errors import KafkaConfigurationError, TopicAuthorizationFailedError
from kafka.spark.options.parsing import parse_read
from kafka.spark.planning.batch_plan import plan_batch
from kafka.spark.planning.data_loss import DataLossError
from kafka.spark.planning.lookup import MissingTopicError, NoOffsetForTimeError
from kafka.spark.planning.ranges import OffsetRange

from .fake_cluster import FakeCluster

WHOLE = {"kafka.bootstrap.servers": "h:1", "subscribe": "t"}
LOGS = {("t", 0): (5, 100_000), ("t", 1): (0, 50_000), ("u", 0): (0, 3)}


def plan(logs=LOGS, subscribe: str = "t", **options: str) -> list[OffsetRange]:
    given = {"kafka.bootstrap.servers": "h:1", "subscribe": subscribe}
    given |= {name.lower(): value for name, value in options.items()}
    tasks = plan_batch(parse_read(given, streaming=False), FakeCluster(logs))
    return [piece for task in tasks for piece in task]


def test_everything_is_read_by_default():
    assert plan() == [OffsetRange("t", 0, 5, 100_000), OffsetRange("t", 1, 0, 50_000)]


def test_a_topic_without_records_has_no_tasks():
    assert plan({("t", 0): (7, 7)}) == []


def test_offsets_by_partition():
    ranges = plan(startingOffsets='{"t":{"0":7,"1":-2}}', endingOffsets='{"t":{"0":9,"1":-1}}')
    assert ranges == [OffsetRange("t", 0, 7, 9), OffsetRange("t", 1, 0, 50_000)]


def test_every_partition_must_be_named():
    with pytest.raises(KafkaConfigurationError, match=r"'startingOffsets' must name every partition .* out t-1"):
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"startingTimestamp": "8", "endingTimestamp": "7"}, r"'endingTimestamp' \(7\) is before 'startingTimestamp'"),
        (
            {
                "startingOffsetsByTimestamp": '{"t":{"0":9,"1":-2}}',
                "endingOffsetsByTimestamp": '{"t":{"0":8,"1":-1}}',
            },
            r"'endingOffsetsByTimestamp' ends t-0 at 8, before 'startingOffsetsByTimestamp' starts it at 9",
        ),
        (
            {"startingTimestamp": "40", "endingOffsets": '{"t":{"0":-1,"1":39}}'},
            "'endingOffsets' ends t-1 at offset 39, before 'startingTimestamp' begins it at offset 40",
        ),
        (
            {"startingOffsets": '{"t":{"0":-2,"1":40}}', "endingOffsetsByTimestamp": '{"t":{"0":-1,"1":39}}'},
            "'endingOffsetsByTimestamp' ends t-1 at offset 39, before 'startingOffsets' begins it at offset 40",
        ),
    ],
)
def test_a_batch_that_ends_before_it_starts_is_rejected(options, message):
    for strict in ("true", "false"):
        with pytest.raises(KafkaConfigurationError, match=message):
            plan(**options, failOnDataLoss=strict)


def test_a_log_that_starts_after_the_end_of_the_batch_is_data_loss():
    with pytest.raises(DataLossError, match="endingOffsets ends t-0 at 3, but its log begins at 5"):
        plan(endingOffsets='{"t":{"0":3,"1":2}}')
    assert plan(endingOffsets='{"t":{"0":3,"1":2}}', failOnDataLoss="false") == [OffsetRange("t", 1, 0, 2)]


def test_a_partition_without_records_after_the_time_is_empty():
    ranges = plan(
        startingTimestamp="60000",
        endingOffsets='{"t":{"0":70000,"1":10}}',
        startingOffsetsByTimestampStrategy="latest",
    )
    assert ranges == [OffsetRange("t", 0, 60_000, 70_000)]


def test_words_apply_to_topics_and_numbers_to_partitions_also_by_time():
    logs = {**LOGS, ("u", 0): (2, 9)}
    ranges = plan(
        logs,
        subscribe="t,u",
        startingOffsetsByTimestamp='{"t":{"0":-2,"1":40},"u":"earliest"}',
        endingOffsetsByTimestamp='{"t":{"0":7,"1":-1},"u":"latest"}',
    )
    assert sorted(ranges) == [OffsetRange("t", 0, 5, 7), OffsetRange("t", 1, 40, 50_000), OffsetRange("u", 0, 2, 9)]
    ranges = plan(
        logs,
        subscribe="t,u",
        startingOffsets='{"t":"earliest","u":{"0":3}}',
        endingOffsets='{"t":{"0":9,"1":1},"u":"latest"}',
    )
    assert sorted(ranges) == [OffsetRange("t", 0, 5, 9), OffsetRange("t", 1, 0, 1), OffsetRange("u", 0, 3, 9)]
    with pytest.raises(KafkaConfigurationError, match="'startingOffsets' names topic 'u', which the query does not"):
        plan(startingOffsets='{"t":"earliest","u":"earliest"}')


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ("startingOffsets", "-2 stands for earliest"),
        ("startingOffsetsByTimestamp", "-2 stands for earliest"),
        ("endingOffsets", "-1 stands for latest"),
        ("endingOffsetsByTimestamp", "-1 stands for latest"),
    ],
)
def test_the_advice_for_a_partition_left_out_can_be_followed(option, advice):
    with pytest.raises(KafkaConfigurationError, match=rf"{option}.* leaves out t-1; {advice}$"):
        plan(**{option: '{"t":{"0":70}}'})
    assert len(plan(**{option: '{"t":{"0":70,"1":' + advice[:2] + "}}"})) == 2


def test_a_start_after_the_last_record_is_an_error_or_the_end():
    with pytest.raises(NoOffsetForTimeError, match="no record of t-1 has a timestamp of 60000 ms or later"):
        plan(startingTimestamp="60000")
    ranges = plan(startingTimestamp="60000", startingOffsetsByTimestampStrategy="latest")
    assert ranges == [OffsetRange("t", 0, 60_000, 100_000)]


@pytest.mark.parametrize("strict", ["true", "false"])
def test_a_misspelt_topic_is_named_with_the_nearest_one(strict):
    logs = {("flights", 0): (0, 1), ("airports", 0): (0, 1)}
    with pytest.raises(MissingTopicError) as caught:
        plan(logs, subscribe="fligths", failOnDataLoss=strict)
    assert "Kafka has no topic 'fligths', which the query reads; did you mean 'flights'?" in str(caught.value)
    assert "failOnDataLoss" not in str(caught.value)


def test_a_partition_that_does_not_exist_is_named():
    with pytest.raises(MissingTopicError, match=r"topic 't' has no partition 7, which the query reads; it has 2"):
        select(assign='{"t":[0,7]}')


def test_an_invisible_topic_is_not_missing():
    with pytest.raises(TopicAuthorizationFailedError):
        select(forbidden={"t"}, subscribe="t", failondataloss="false")


def select(forbidden: Collection[str] = (), logs=LOGS, **options: str) -> set[tuple[str, int]]:
    cluster = FakeCluster(logs)
    cluster.forbidden.update(forbidden)
    parsed = parse_read({"kafka.bootstrap.servers": "h:1", **options}, streaming=False)
    return {tuple(each) for task in plan_batch(parsed, cluster) for each in (piece.topic_partition for piece in task)}


def test_a_pattern_may_match_anywhere_in_a_name():
    logs = {("small-1", 0): (0, 9), ("resmall", 0): (0, 9), ("large", 0): (0, 9)}
    assert select(logs=logs, subscribepattern="^sm") == {("small-1", 0)}
    assert select(logs=logs, subscribepattern="mall") == {("small-1", 0), ("resmall", 0)}
    assert select(logs=logs, subscribepattern=r"\p{Digit}$") == {("small-1", 0)}
    assert select(logs=logs, subscribepattern="larg") == {("large", 0)}


def test_a_batch_that_starts_after_the_end_is_rejected_as_in_spark():
    for strict in ("true", "false"):
        with pytest.raises(KafkaConfigurationError, match=r"begins t-0 at 100001, but its log holds \[5, 100000\)"):
            plan(startingOffsets='{"t":{"0":100001,"1":0}}', failOnDataLoss=strict)


def test_offsets_outside_the_log_are_data_loss():
    with pytest.raises(DataLossError, match=r"startingOffsets begins t-0 at 2, but its log holds \[5, 100000\)"):
        plan(startingOffsets='{"t":{"0":2,"1":0}}')
    with pytest.raises(DataLossError, match="endingOffsets ends t-1 at 50001, but its log ends at 50000"):
        plan(endingOffsets='{"t":{"0":100,"1":50001}}')
    ranges = plan(
        startingOffsets='{"t":{"0":2,"1":0}}', endingOffsets='{"t":{"0":10,"1":50001}}', failOnDataLoss="false"
    )
    assert ranges == [OffsetRange("t", 0, 5, 10), OffsetRange("t", 1, 0, 50_000)]


def test_a_warning_says_what_is_missing(caplog):
    plan(startingOffsets='{"t":{"0":2,"1":0}}', failOnDataLoss="false")
    assert "its log holds [5, 100000); continuing because failOnDataLoss=false" in caplog.text


def test_partitions_with_large_records_do_not_share_a_task():
    cluster = FakeCluster({("t", number): (0, 20) for number in range(4)})
    cluster.bytes = {each: 100_000_000 if each.partition < 2 else 100 for each in cluster.logs}
    tasks = plan_batch(parse_read(WHOLE, streaming=False), cluster)
    assert [[piece.partition for piece in task] for task in tasks] == [[0], [1], [2, 3]]


def test_log_sizes_of_small_records_are_not_requested_twice():
    cluster = FakeCluster({("t", number): (0, 20) for number in range(4)})
    cluster.bytes = dict.fromkeys(cluster.logs, 1_000)
    before = cluster.asked
    assert len(plan_batch(parse_read(WHOLE, streaming=False), cluster)) == 1
    assert cluster.asked == before + 1  # for the ends of the logs


def test_a_thousand_partitions_need_as_many_requests_as_one():
    asked = []
    for count in (2, 1_000):
        cluster = FakeCluster({("t", number): (0, 20_000) for number in range(count)})
        assert len(plan_batch(parse_read(WHOLE, streaming=False), cluster)) == count
        asked.append(cluster.asked)
    assert asked == [1, 1]


def test_a_thousand_partitions_are_requested_together():
    asked = []
    for count in (2, 1_000):
        cluster = FakeCluster({("t", number): (0, 3) for number in range(count)})
        tasks = plan_batch(parse_read(WHOLE, streaming=False), cluster)
        asked.append(cluster.asked)
        assert sum(len(task) for task in tasks) == count
        assert sum(len(each) for task in tasks for each in task) == 3 * count
    assert asked[0] == asked[1]
