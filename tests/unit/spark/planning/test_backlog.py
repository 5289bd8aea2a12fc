"""Micro-batches of a query that may end after each of them, as with PySpark before 4.2."""

from kafka.spark.planning.checkpoint_layout import backlog, from_layout, planned_ms
from kafka.spark.planning.ranges import OffsetRange
from kafka.structs import TopicPartition

from .planned_query import Query

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


def untold(logs, **options):
    query = Query(logs, startingOffsets="earliest", **options)
    query.trigger_is_told = False
    return query


def test_the_end_of_a_batch_contains_the_backlog_and_its_time():
    query = untold({("t", 0): (0, 100), ("t", 1): (0, 50)})
    limited = query.latest(query.initial(), 30)
    assert from_layout(limited) == {T0: 20, T1: 10}
    assert (backlog(limited), planned_ms(limited)) == ({T0: 100, T1: 50}, 1_002_000)
    rest = query.latest(limited)
    assert from_layout(rest) == {T0: 100, T1: 50}
    assert (backlog(rest), planned_ms(rest)) == ({}, 1_004_000)


def test_without_new_records_the_end_is_the_start_itself():
    query = untold({("t", 0): (0, 100)})
    limited = query.latest(query.initial(), 100)
    assert query.latest(limited) == limited


def test_successive_queries_end_where_the_logs_ended_for_the_first():
    query = untold({("t", 0): (0, 100), ("t", 1): (0, 50)})
    start, batches = query.latest(query.initial(), 60), 1
    while backlog(start):
        query.restart()
        query.produce(0, 40)
        query.produce(2, 5)
        end = query.latest(start, 60)
        assert planned_ms(end) == planned_ms(start)
        assert sum(len(each) for each in query.ranges(start, end)) <= 60
        start, batches = end, batches + 1
    assert from_layout(start) == {T0: 100, T1: 50}
    assert batches == 3
    query.restart()
    end = query.latest(start)
    assert from_layout(end) == {T0: 180, T1: 50, T2: 10}
    assert planned_ms(end) > planned_ms(start)


def test_a_continuing_query_looks_for_more_after_its_first_batch():
    query = untold({("t", 0): (0, 100)})
    limited = query.latest(query.initial(), 60)
    query.produce(0, 100)
    assert from_layout(query.latest(limited, 150)) == {T0: 200}


def test_a_truncated_backlog_is_not_waited_for():
    query = untold({("t", 0): (0, 100), ("t", 1): (0, 100)}, failOnDataLoss="false")
    limited = query.latest(query.initial(), 60)
    del query.cluster.logs["t", 1]
    query.restart()
    end = query.latest(limited, 90)
    assert from_layout(end) == {T0: 100}
    assert backlog(end) == {}


def test_a_partition_that_waits_from_its_first_offset_is_read():
    query = untold({("t", 0): (0, 10), ("t", 1): (0, 10)})
    start = {"t": {"0": 10}, "t waits up to 1:10": {}, "planned at 5": {}}
    end = query.latest(start)
    assert query.ranges(start, end) == [OffsetRange("t", 1, 0, 10)]
    assert (backlog(end), planned_ms(end)) == ({}, 5)


def test_admission_control_removes_the_backlog():
    query = untold({("t", 0): (0, 100)})
    limited = query.latest(query.initial(), 60)
    query.trigger_is_told = True
    query.restart()
    assert query.latest(limited) == {"t": {"0": 100}}
