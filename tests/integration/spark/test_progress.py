"""What can be seen of a running query: its lag, in a group and in its progress, on both brokers."""

from __future__ import annotations

import json
from typing import Any

from kafka import KafkaAdminClient
from kafka.spark import watch
from kafka.structs import TopicPartition

from .spark_support import delete_records, load_stream, needs_reports, numbered, produce, spark, wait_until, walked

__all__ = ["spark"]


def committed(broker: Any, group: str) -> dict[TopicPartition, int]:
    """What a group has committed."""
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        return {each: found.offset for each, found in admin.list_consumer_group_offsets(group).items()}


@needs_reports
def test_a_query_that_ends_has_committed_all_that_it_read(spark, broker, make_topic, tmp_path):
    topic, group = make_topic(partitions=2), f"watched-{tmp_path.name}"
    assert committed(broker, group) == {}  # the group's coordinator is there: a query's end waits five seconds for it
    for end in (50, 100):
        produce(broker.bootstrap_servers, topic, numbered(100, partitions=2))
        stream = load_stream(
            spark, broker, topic, startingOffsets="earliest", commitGroup=group, maxOffsetsPerTrigger=60
        )
        writer = stream.writeStream.format("noop").option("checkpointLocation", f"{tmp_path}/checkpoint")
        query = writer.trigger(availableNow=True).start()
        assert query.awaitTermination(60)
        assert committed(broker, group) == {TopicPartition(topic, 0): end, TopicPartition(topic, 1): end}
        assert walked(query.lastProgress["sources"][0]["endOffset"]) == {topic: {0: end, 1: end}}


@needs_reports
def test_a_running_query_tells_the_sizes_of_logs_where_it_is_asked(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(100, partitions=2))
    stream = load_stream(spark, broker, topic, startingOffsets="earliest", reportLogBytes="true")
    with watch(spark) as watched:
        query = stream.writeStream.format("noop").option("checkpointLocation", f"{tmp_path}/checkpoint").start()

        def sizes() -> list[int | None]:
            """Those of the newest report; a report comes with each micro-batch."""
            produce(broker.bootstrap_servers, topic, numbered(10, partitions=2))
            reports = [each for each in watched.progress if each.query_id == str(query.id)]
            return [found.log_bytes for found in reports[-1].sources[0].partitions.values()] if reports else []

        try:
            wait_until(lambda: len(sizes()) == 2 and all(sizes()), query)
        finally:
            query.stop()


def test_a_running_query_has_no_lag_once_it_has_read_all(spark, broker, make_topic, tmp_path):
    topic, group = make_topic(), f"watched-{tmp_path.name}"
    produce(broker.bootstrap_servers, topic, numbered(10))
    stream = load_stream(spark, broker, topic, startingOffsets="earliest", commitGroup=group)
    query = stream.writeStream.format("noop").option("checkpointLocation", f"{tmp_path}/checkpoint").start()
    try:
        wait_until(lambda: committed(broker, group).get(TopicPartition(topic, 0)) == 10, query)
        produce(broker.bootstrap_servers, topic, numbered(5))
        wait_until(lambda: committed(broker, group).get(TopicPartition(topic, 0)) == 15, query)
    finally:
        query.stop()


def test_the_offsets_of_a_first_batch_are_walked_like_others(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(10, partitions=2))
    for number, start in enumerate(("earliest", "latest")):
        writer = load_stream(spark, broker, topic, startingOffsets=start).writeStream.format("noop")
        query = writer.option("checkpointLocation", f"{tmp_path}/{number}").trigger(availableNow=True).start()
        assert query.awaitTermination(60)
        (source,) = query.lastProgress["sources"]
        assert walked(source["endOffset"]) == walked(source["latestOffset"]) == {topic: {0: 5, 1: 5}}


@needs_reports
def test_a_watch_sees_lag_and_losses_of_every_query(spark, broker, make_topic, tmp_path):
    topic = make_topic(partitions=2)
    produce(broker.bootstrap_servers, topic, numbered(100, partitions=2))
    lines, text = tmp_path / "progress.jsonl", tmp_path / "queries.prom"
    given = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": 40, "failOnDataLoss": "false"}
    with watch(spark, json_lines=lines, prometheus=text) as watched:
        writer = load_stream(spark, broker, topic, **given).writeStream.format("noop").queryName(f"q-{topic}")
        query = writer.option("checkpointLocation", f"{tmp_path}/checkpoint").trigger(availableNow=True).start()
        assert query.awaitTermination(60)
        wait_until(lambda: f'running{{query="q-{topic}",id="{query.id}"}} 0' in watched.prometheus())
        batches = [each for each in watched.progress if each.query_id == str(query.id)]
        assert [(each.rows, each.sources[0].lag) for each in batches] == [(40, 60), (40, 20), (20, 0)]
        assert {each.sources[0].source for each in batches} == {f"kafka_columnar[{topic}]"}
        delete_records(broker.bootstrap_servers, topic, 50)
        produce(broker.bootstrap_servers, topic, numbered(30))
        delete_records(broker.bootstrap_servers, topic, 60)
        query = writer.start()
        assert query.awaitTermination(60)
        where = f'source="kafka_columnar[{topic}]",topic="{topic}",partition="0"'
        wait_until(lambda: f"{where}}} 10\n" in watched.prometheus().partition("lost_records_total counter")[2])
        wait_until(lambda: f'kafka_spark_rows_total{{query="q-{topic}",id="{query.id}"}} 120' in watched.prometheus())
        assert watched.lag()[f"q-{topic}"] == 0
    assert [json.loads(line)["rows"] for line in lines.read_text().splitlines()] == [40, 40, 20, 20]
    assert f'kafka_spark_rows_total{{query="q-{topic}",id="{query.id}"}} 120' in text.read_text()
