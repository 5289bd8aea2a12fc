"""What can be seen of a running query: its lag, in a group and in its progress, on both brokers."""

from __future__ import annotations

import json
from typing import Any

from kafka import KafkaAdminClient
from kafka.structs import TopicPartition

from .spark_support import load_stream, numbered, produce, spark, wait_until

__all__ = ["spark"]


def committed(broker: Any, group: str) -> dict[TopicPartition, int]:
    """What a group has committed."""
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        return {each: found.offset for each, found in admin.list_consumer_group_offsets(group).items()}


def walked(offsets: str) -> dict[str, dict[int, int]]:
    """Offsets of a progress report as a script takes them apart."""
    parsed = json.loads(offsets)
    return {topic: {int(number): int(offset) for number, offset in of.items()} for topic, of in parsed.items()}


def test_a_query_that_ends_has_committed_all_that_it_read(spark, broker, make_topic, tmp_path):
    topic, group = make_topic(partitions=2), f"watched-{tmp_path.name}"
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
