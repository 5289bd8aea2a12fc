"""The end of each micro-batch, also after restarts."""

import json

import pytest

from kafka.errors import TopicAuthorizationFailedError
from kafka.spark.options.parsing import parse_read
from kafka.spark.planning.checkpoint_layout import from_layout
from kafka.spark.planning.data_loss import DataLossError
from kafka.spark.planning.lookup import MissingTopicError
from kafka.spark.planning.ranges import OffsetRange
from kafka.spark.planning.stream_plan import OFFSETS_FRESH_S, StreamPlanner
from kafka.structs import TopicPartition

from .fake_cluster import FakeCluster
from .planned_query import Query


def test_a_new_stream_starts_at_the_end():
    query = Query({("t", 0): (0, 100)})
    start = query.initial()
    query.produce(0, 5)
    first = query.latest(start)
    assert query.ranges(start, first) == []
    assert query.ranges(first, query.latest(first)) == [OffsetRange("t", 0, 100, 105)]


def test_batches_follow_each_other_without_a_gap():
    query = Query({("t", 0): (0, 3), ("t", 1): (0, 2)}, startingOffsets="earliest")
    start = query.initial()
    first = query.latest(start)
    assert query.ranges(start, first) == [OffsetRange("t", 0, 0, 3), OffsetRange("t", 1, 0, 2)]
    query.produce(1, 4)
    second = query.latest(first)
    assert query.ranges(first, second) == [OffsetRange("t", 1, 2, 6)]
    assert second == {"t": {"0": 3, "1": 6}}


def test_without_new_records_the_end_is_the_start_itself():
    query = Query({("t", 0): (0, 3)}, startingOffsets="earliest")
    first = query.latest(query.initial())
    assert query.latest(first) == first
    second = {"t": {"0": 3}}
    assert query.latest(second) == second


def test_the_first_offsets_are_the_same_if_requested_again():
    query = Query({("t", 0): (100, 103)}, startingOffsets="earliest")
    start = query.initial()
    end = query.latest(start)
    query.cluster.logs.update(FakeCluster({("t", 0): (101, 106)}).logs)
    assert query.initial() == start
    assert query.ranges(query.initial(), end) == [OffsetRange("t", 0, 100, 103)]


@pytest.mark.parametrize("first", [0, 100])
def test_a_crash_in_the_first_batch_loses_nothing(first):
    query = Query({("t", 0): (first, first + 6)}, startingOffsets="earliest")
    end = query.latest(query.initial())
    query.cluster.logs.update(FakeCluster({("t", 0): (first + 4, first + 6)}).logs)
    query.restart()
    drifted = query.initial()
    assert from_layout(drifted) == {("t", 0): first + 4}
    assert query.ranges(drifted, end) == [OffsetRange("t", 0, first, first + 6)]
    assert query.latest(end) == end


def test_a_crash_in_the_first_batch_of_a_query_from_latest_loses_nothing():
    query = Query({("t", 0): (0, 100)})
    start = query.initial()
    query.produce(0, 6)
    first = query.latest(start)
    query.restart()
    query.produce(0, 3)
    assert query.ranges(query.initial(), first) == []
    assert query.ranges(first, query.latest(first)) == [OffsetRange("t", 0, 100, 109)]


def test_only_a_first_end_contains_more_than_sparks_layout():
    query = Query({("t", 0): (5, 10)}, startingOffsets="earliest")
    first = query.latest(query.initial())
    assert set(first) > {"t"}
    query.produce(0, 1)
    assert query.latest(first) == {"t": {"0": 11}}


def test_a_query_resumes_from_a_checkpoint_of_sparks_connector():
    query = Query({("t", 0): (0, 50), ("t", 1): (0, 9)})
    logged = json.loads('{"t":{"0":42,"1":9}}')
    end = query.latest(logged)
    assert query.ranges(logged, end) == [OffsetRange("t", 0, 42, 50)]
    assert end == {"t": {"0": 50, "1": 9}}


def test_batches_stay_within_the_limit_and_read_everything():
    query = Query({("t", 0): (0, 900), ("t", 1): (0, 100)}, startingOffsets="earliest", maxOffsetsPerTrigger="100")
    start, seen, batches = query.initial(), 0, 0
    while True:
        end = query.latest(start, max_rows=100)
        rows = sum(map(len, query.ranges(start, end)))
        assert rows <= 102
        if not rows:
            break
        seen, batches, start = seen + rows, batches + 1, end
    assert (seen, batches) == (1_000, 10)


def test_everything_overrides_limits():
    query = Query({("t", 0): (0, 900)}, startingOffsets="earliest", minOffsetsPerTrigger="1000")
    assert query.latest({"t": {"0": 0}}, everything=True) == {"t": {"0": 900}}


def test_a_small_batch_is_delayed_until_the_maximum_delay():
    query = Query({("t", 0): (0, 1)}, startingOffsets="earliest", minOffsetsPerTrigger="10", maxTriggerDelay="1m")
    start = query.initial()
    start = query.latest(start)
    assert from_layout(start) == {("t", 0): 1}, "the first batch is not held back"
    query.produce(0, 9)
    assert query.latest(start) == start
    query.produce(0, 1)
    start = query.latest(start)
    assert start == {"t": {"0": 11}}
    query.produce(0, 1)
    assert query.latest(start) == start
    query.now += 60
    assert query.latest(start) == {"t": {"0": 12}}


def test_an_empty_wait_does_not_use_up_the_delay():
    query = Query({("t", 0): (0, 1)}, startingOffsets="earliest", minOffsetsPerTrigger="10", maxTriggerDelay="1m")
    start = query.latest(query.initial())
    query.now += 120
    assert query.latest(start) == start
    query.produce(0, 1)
    assert query.latest(start) == {"t": {"0": 2}}


def test_new_partitions_are_read_from_their_beginning():
    query = Query({("t", 0): (0, 5)})
    start = query.latest(query.initial())
    query.produce(1, 7)
    end = query.latest(start)
    assert query.ranges(start, end) == [OffsetRange("t", 1, 0, 7)]


def test_a_new_topic_of_a_pattern_is_read():
    options = parse_read({"kafka.bootstrap.servers": "h:1", "subscribepattern": "t.*"}, streaming=True)
    cluster, now = FakeCluster({}), [0.0]
    planner = StreamPlanner(options, cluster, lambda: now[0])
    start = planner.latest(planner.initial(), None, everything=True)
    assert planner.tasks(planner.initial(), start) == []
    cluster.logs.update(FakeCluster({("t2", 0): (0, 4)}).logs)
    now[0] += 5
    end = planner.latest(start, None, everything=True)
    assert planner.tasks(start, end) == [(OffsetRange("t2", 0, 0, 4),)]


def test_lost_records_of_new_partitions_are_data_loss():
    query = Query({("t", 0): (0, 5)})
    start = query.latest(query.initial())
    query.cluster.logs.update(FakeCluster({("t", 1): (3, 7)}).logs)
    with pytest.raises(DataLossError, match="t-1 is new to the query, but its log starts at 3"):
        query.latest(start)


def test_a_limit_counts_the_remaining_records_of_new_partitions():
    query = Query({("t", 0): (0, 5)}, failOnDataLoss="false", maxOffsetsPerTrigger="10")
    start = query.latest(query.initial())
    query.cluster.logs.update(FakeCluster({("t", 1): (10_000, 10_100)}).logs)
    assert query.latest(start, max_rows=10) == {"t": {"0": 5, "1": 10_010}}


def test_a_missing_partition_is_data_loss():
    query = Query({("t", 0): (0, 5), ("t", 1): (0, 5)}, startingOffsets="earliest")
    start = query.latest(query.initial())
    del query.cluster.logs["t", 1]  # type: ignore[arg-type]
    with pytest.raises(DataLossError, match="t-1 no longer exists"):
        query.latest(start)


def test_a_topic_deleted_during_the_query_is_data_loss_or_skipped(caplog):
    for strict in ("true", "false"):
        query = Query({("t", 0): (0, 5), ("u", 0): (0, 5)}, subscribe="t,u", failOnDataLoss=strict)
        start = query.latest(query.initial())
        del query.cluster.logs["u", 0]  # type: ignore[arg-type]
        query.produce(0, 4)
        if strict == "true":
            with pytest.raises(DataLossError, match="u-0 no longer exists"):
                query.latest(start)
            continue
        end = query.latest(start)
        assert query.ranges(start, end) == [OffsetRange("t", 0, 5, 9)]
        assert end == {"t": {"0": 9}}
        query.produce(0, 1)
        assert query.latest(end) == {"t": {"0": 10}}
        query.produce(0, 1)
        query.restart()
        assert query.latest(end) == {"t": {"0": 11}}


@pytest.mark.parametrize("selection", [{"subscribe": "t,u"}, {"subscribePattern": "t|u"}])
@pytest.mark.parametrize("strict", ["true", "false"])
@pytest.mark.parametrize("frozen", [False, True])
def test_a_topic_that_becomes_invisible_stays_in_the_checkpoint(selection, strict, frozen):
    query = Query({("t", 0): (0, 5), ("u", 0): (0, 5)}, failOnDataLoss=strict, **selection)
    start = query.latest(query.initial())
    query.cluster.forbidden.add("u")
    query.restart()
    with pytest.raises(TopicAuthorizationFailedError):
        query.freeze_and_ask(start) if frozen else query.latest(start)


def test_a_progress_report_does_not_hide_a_topic_from_the_next_batch():
    query = Query({("t", 0): (0, 5), ("u", 0): (0, 5)}, subscribePattern="t|u", failOnDataLoss="false")
    start = query.latest(query.initial())
    query.cluster.forbidden.add("u")
    query.now += 5
    assert query.planner.newest() == {"t": {"0": 5}}
    with pytest.raises(TopicAuthorizationFailedError):
        query.planner.latest(start, None, everything=True)


def test_a_new_query_for_a_missing_topic_is_rejected():
    query = Query({("t", 0): (0, 5)}, subscribe="t,u", failOnDataLoss="false")
    with pytest.raises(MissingTopicError, match="Kafka has no topic 'u'"):
        query.initial()


def test_a_start_after_the_end_is_data_loss_or_starts_at_the_end(caplog):
    given = {"startingOffsets": '{"t":{"0":50}}'}
    with pytest.raises(DataLossError, match=r"begins t-0 at 50, but its log holds \[0, 10\)"):
        Query({("t", 0): (0, 10)}, **given).initial()
    lenient = Query({("t", 0): (0, 10)}, failOnDataLoss="false", **given)
    assert from_layout(lenient.initial()) == {("t", 0): 10}


def test_a_warning_is_logged_once(caplog):
    query = Query({("t", 0): (0, 5)}, failOnDataLoss="false")
    start = {"t": {"0": 3, "1": 3}}
    for _ in range(5):
        query.latest(start)
    assert len([record for record in caplog.records if "t-1 no longer exists" in record.message]) == 1


def test_a_recreated_topic_is_data_loss_or_the_query_continues():
    logs = {("t", 0): (0, 50)}
    query = Query(logs, startingOffsets="earliest")
    start = query.latest(query.initial())
    query.cluster = FakeCluster({("t", 0): (0, 3)})
    query.restart()
    with pytest.raises(DataLossError, match="t-0 ends at 3, but the query has read up to 50"):
        query.latest(start)
    lenient = Query({("t", 0): (0, 3)}, failOnDataLoss="false")
    end = lenient.latest(start)
    assert lenient.ranges({"t": {"0": 50}}, end) == []
    lenient.produce(0, 2)
    assert lenient.ranges(end, lenient.latest(end)) == [OffsetRange("t", 0, 3, 5)]


def test_available_now_ends_at_the_records_available_at_the_start():
    query = Query({("t", 0): (0, 95)}, startingOffsets="earliest", maxOffsetsPerTrigger="50")
    query.planner.freeze()
    start, ends = query.initial(), []
    while True:
        query.produce(0, 1_000)
        query.produce(1, 1_000)
        end = query.latest(start, max_rows=50)
        if end == start:
            break
        ends.append(from_layout(end))
        start = end
    assert ends == [{("t", 0): 50}, {("t", 0): 95}]


def test_available_now_from_latest_reads_no_later_records():
    query = Query({("t", 0): (0, 10)})
    query.planner.freeze()
    query.produce(0, 5)
    query.produce(1, 5)
    start = query.initial()
    end = query.latest(start)
    assert query.ranges(start, end) == []
    assert query.latest(end) == end


def test_available_now_does_not_wait_for_the_minimum_of_records():
    query = Query({("t", 0): (0, 10)}, startingOffsets="earliest", minOffsetsPerTrigger="100")
    query.planner.freeze()
    start = query.latest({"t": {"0": 4}})
    assert start == {"t": {"0": 10}}


def test_an_idle_query_queries_the_cluster_ten_times_per_second_at_most():
    query = Query({("t", 0): (0, 10)})
    asked = query.cluster.asked
    for _ in range(100):
        query.now += 0.01
        query.planner.latest({"t": {"0": 10}}, None, everything=True)
        query.planner.newest()
    assert 5 <= query.cluster.asked - asked <= 11


@pytest.mark.parametrize(("seconds", "again"), [(0.0, False), (OFFSETS_FRESH_S / 2, False), (OFFSETS_FRESH_S, True)])
def test_the_ends_are_requested_again_when_they_are_too_old(seconds, again):
    query = Query({("t", 0): (0, 10)})
    query.now = 0.0
    query.planner.latest({"t": {"0": 10}}, None, everything=True)
    query.now += seconds
    query.produce(0, 5)
    assert query.planner.latest({"t": {"0": 10}}, None, everything=True) == {"t": {"0": 15 if again else 10}}


def test_an_error_of_the_progress_report_is_only_logged(caplog):
    query = Query({})
    assert query.planner.newest() == {}
    assert "could not look up" in caplog.text


def sized(query):
    """Return a report once the thread that requests sizes has ended."""
    query.planner.newest()
    sizes = query.planner._log_sizes
    if sizes is not None and sizes._thread is not None:
        sizes._thread.join(60)  # an ending thread is missing from the list of threads, but still prevents another start
    return query.planner.newest()


def test_a_report_contains_log_sizes_requested_once_a_minute():
    query = Query({("t", 0): (0, 10), ("t", 1): (0, 5)}, reportLogBytes="true")
    query.cluster.bytes = {TopicPartition("t", 0): 4_000}
    assert sized(query) == {"t": {"0": 10, "1": 5}, "log bytes of t": {"0": 4_000}}
    query.cluster.bytes = {TopicPartition("t", 0): 5_000}
    query.now += 59
    assert sized(query)["log bytes of t"] == {"0": 4_000}
    query.now += 1
    assert sized(query)["log bytes of t"] == {"0": 5_000}


def test_unknown_log_sizes_are_omitted():
    def refuse(partitions):
        raise TopicAuthorizationFailedError("no")

    query = Query({("t", 0): (0, 10)}, reportLogBytes="true")
    query.cluster.log_bytes = refuse
    query.restart()
    assert sized(query) == {"t": {"0": 10}}


def test_log_sizes_are_omitted_by_default():
    query = Query({("t", 0): (0, 10)})
    query.cluster.bytes = {TopicPartition("t", 0): 4_000}
    assert sized(query) == {"t": {"0": 10}}


def test_records_deleted_before_they_were_read_are_counted_in_the_report():
    query = Query({("t", 0): (0, 10)}, startingOffsets="earliest", failOnDataLoss="false")
    start = query.latest(query.initial(), max_rows=None)
    query.cluster.logs.update(FakeCluster({("t", 0): (25, 30)}).logs)
    end = query.latest(start)
    assert query.planner.newest() == {"t": {"0": 30}, "lost records of t": {"0": 15}}
    query.cluster.logs.update(FakeCluster({("t", 0): (33, 40)}).logs)
    query.latest(end)
    assert query.planner.newest() == {"t": {"0": 40}, "lost records of t": {"0": 18}}


def test_a_recreated_topic_is_noticed_even_if_its_log_is_longer():
    query = Query({("t", 0): (0, 50)}, startingOffsets="earliest")
    query.cluster.ids["t"] = "old"
    done = query.latest(query.initial())
    query.cluster.ids["t"] = "new"
    query.cluster.logs.update(FakeCluster({("t", 0): (0, 80)}).logs)
    query.restart()
    with pytest.raises(DataLossError, match=r"topic 't' was deleted and recreated .* its id was old and is now new"):
        query.latest(done)


@pytest.mark.parametrize("records", [30, 50, 80])
def test_a_recreated_topic_is_read_from_its_beginning_if_loss_is_allowed(records):
    options = {"startingOffsets": "earliest", "failOnDataLoss": "false", "subscribe": "t,u"}
    query = Query({("t", 0): (0, 50), ("u", 0): (0, 5)}, **options)
    query.cluster.ids |= {"t": "old", "u": "same"}
    done = query.latest(query.initial())
    query.cluster.ids["t"] = "new"
    query.cluster.logs.update(FakeCluster({("t", 0): (0, records), ("u", 0): (0, 7)}).logs)
    end = query.latest(done)
    again = OffsetRange("t", 0, 0, records, topic_id="new")
    assert query.ranges(done, end) == [again, OffsetRange("u", 0, 5, 7, topic_id="same")]
    query.restart()
    assert query.latest(end) == end
    query.cluster.logs.update(FakeCluster({("t", 0): (0, records + 1)}).logs)
    assert query.ranges(end, query.latest(end)) == [OffsetRange("t", 0, records, records + 1, topic_id="new")]


def test_limits_apply_to_a_recreated_topic():
    query = Query({("t", 0): (0, 50)}, startingOffsets="earliest", failOnDataLoss="false", maxOffsetsPerTrigger="20")
    query.cluster.ids["t"] = "old"
    done = query.latest(query.initial(), None, everything=True)
    query.cluster.ids["t"] = "new"
    first = query.latest(done, 20)
    assert query.ranges(done, first) == [OffsetRange("t", 0, 0, 20, topic_id="new")]
    second = query.latest(first, 20)
    assert query.ranges(first, second) == [OffsetRange("t", 0, 20, 40, topic_id="new")]


def test_a_query_adds_ids_to_a_checkpoint_without_them():
    query = Query({("t", 0): (0, 50)}, startingOffsets="earliest")
    query.cluster.ids["t"] = "one"
    assert query.latest({"t": {"0": 50}}) == {"t": {"0": 50}}
    query.produce(0, 1)
    end = query.latest({"t": {"0": 50}})
    assert end == {"t": {"0": 51}, "t id one": {}}
    query.cluster.ids.clear()  # brokers before 2.8 have no ids
    query.produce(0, 1)
    assert query.latest(end) == {"t": {"0": 52}}


def test_log_sizes_keep_large_records_in_separate_tasks():
    query = Query({("t", number): (0, 80) for number in range(4)}, startingOffsets="earliest")
    start = query.initial()
    end = query.latest(start)
    assert len(query.planner.tasks(start, end)) == 1
    query.cluster.bytes = dict.fromkeys(query.cluster.logs, 80 * 5_000_000)
    assert len(query.planner.tasks(start, end)) == 1
    query.now += 60.0
    assert query.planner.tasks(start, end) == [(each,) for each in query.ranges(start, end)]


def test_log_sizes_are_requested_once_a_minute_for_changing_partitions():
    query = Query({("t", number): (0, 80) for number in range(6)}, startingOffsets="earliest")
    start = query.latest(query.initial())
    asked: list[int] = []
    log_bytes = query.cluster.log_bytes
    query.cluster.log_bytes = lambda given: asked.append(len(given)) or log_bytes(given)  # type: ignore[method-assign]
    for number in range(30):  # two seconds each
        query.produce(number % 6, 1)
        query.produce((number + 1) % 6, 1)
        end = query.latest(start)
        query.planner.tasks(start, end)
        start = end
    assert asked == [6]


def test_a_partition_of_unknown_size_is_not_assumed_to_have_small_records():
    query = Query({("t", number): (0, 80) for number in range(2)}, startingOffsets="earliest")
    query.cluster.bytes = dict.fromkeys(query.cluster.logs, 80 * 5_000_000)
    start = query.initial()
    first = query.latest(start)
    assert len(query.planner.tasks(start, first)) == 2
    query.produce(2, 80)
    query.produce(3, 80)
    query.cluster.bytes = dict.fromkeys(query.cluster.logs, 80 * 5_000_000)
    query.now += 30.0  # the partitions are looked up again, and the sizes are still recent
    second = query.latest(first)
    assert query.planner.tasks(first, second) == [(each,) for each in query.ranges(first, second)]
    assert len(query.ranges(first, second)) == 2


def test_log_sizes_are_not_requested_if_no_ranges_could_share_a_task():
    query = Query({("t", 0): (0, 80), ("t", 1): (0, 1_000_000)}, startingOffsets="earliest")
    query.cluster.log_bytes = None  # type: ignore[assignment,method-assign]  # nobody may call it
    start = query.initial()
    assert len(query.planner.tasks(start, query.latest(start))) == 2


def test_older_offsets_of_a_new_leader_in_a_report_are_not_data_loss():
    query = Query({("t", 0): (0, 100), ("t", 1): (0, 5)}, startingOffsets="earliest")
    start = query.latest(query.initial())
    ends = dict(query.cluster.logs)
    query.now += OFFSETS_FRESH_S
    query.produce(0, -10)
    assert from_layout(query.planner.newest()) == {TopicPartition("t", 0): 90, TopicPartition("t", 1): 5}
    query.cluster.logs = ends
    assert query.planner.latest(start, None, everything=True) == start
