"""Sends the flights to the topic as JSON."""

import json
import time
from collections.abc import Iterator

import pandas as pd

from kafka.admin import KafkaAdminClient, NewTopic
from kafka.consumer import KafkaConsumer
from kafka.errors import TopicAlreadyExistsError
from kafka.producer import KafkaProducer
from kafka.structs import TopicPartition

SOURCE_TOPIC = "flights"
RESULT_TOPIC = "flight_delays"
PARTITIONS = 4
END_AFTER = pd.Timedelta(days=30)
"""Time from the last flight to the closing records: long enough for the watermark to close every window."""
_CHUNK = 8_192


def create_topics(bootstrap_servers: str) -> None:
    """Create the two topics unless they exist.

    The records' timestamps are the departure times, which are long ago, so brokers must not delete records by age.
    """
    with KafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        for topic in (SOURCE_TOPIC, RESULT_TOPIC):
            try:
                admin.create_topics([NewTopic(topic, PARTITIONS, -1, topic_configs={"retention.ms": "-1"})])
            except TopicAlreadyExistsError:
                continue


def end_offsets(bootstrap_servers: str, topic: str) -> dict[int, int]:
    """Return the current end offset of each partition of the topic."""
    with KafkaConsumer(bootstrap_servers=bootstrap_servers) as consumer:
        partitions = consumer.partitions_for_topic(topic)
        found = consumer.end_offsets([TopicPartition(topic, partition) for partition in sorted(partitions)])
    return {tp.partition: offset for tp, offset in found.items()}


def group_lag(bootstrap_servers: str, group: str, topic: str, starting: dict[int, int]) -> int:
    """Return the number of offsets in the topic that a group has not committed.

    Arguments:
        starting: a mapping of partition to the offset from which to count, unless the group has committed a later one.
    """
    with KafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        found = admin.list_consumer_group_offsets(group)
    committed = {tp.partition: each.offset for tp, each in found.items() if tp.topic == topic}
    ending = end_offsets(bootstrap_servers, topic)
    return sum(end - max(committed.get(each, 0), starting.get(each, 0)) for each, end in ending.items())


def _lines(flights: pd.DataFrame) -> Iterator[tuple[list[bytes], list[bytes], list[int]]]:
    for start in range(0, len(flights), _CHUNK):
        chunk = flights.iloc[start : start + _CHUNK]
        text = chunk.to_json(orient="records", lines=True, date_format="iso", date_unit="s")
        keys = (chunk["carrier"] + chunk["flight"].astype(str)).str.encode("ascii").tolist()
        times = (chunk["departure"].astype("int64") // 1_000_000).tolist()
        yield keys, text.encode().splitlines(), times


def send_flights(bootstrap_servers: str, flights: pd.DataFrame) -> tuple[int, float]:
    """Send every flight, and one closing record per partition; return the number of bytes sent and the seconds it took.

    The event time of a closing record is after the last flight. It tells the stream that the year is over, so that the
    watermark passes the last hour and the last windows are emitted.
    """
    size, began = 0, time.perf_counter()
    with KafkaProducer(
        bootstrap_servers=bootstrap_servers, linger_ms=20, batch_size=262_144, compression_type="lz4"
    ) as producer:
        for keys, values, times in _lines(flights):
            for key, value, timestamp_ms in zip(keys, values, times, strict=True):
                producer.send(SOURCE_TOPIC, value, key, timestamp_ms=timestamp_ms)
                size += len(value)
        producer.flush()
        end = flights["departure"].iloc[-1] + END_AFTER
        closing = json.dumps({"departure": end.strftime("%Y-%m-%dT%H:%M:%SZ")}).encode()
        for partition in sorted(producer.partitions_for(SOURCE_TOPIC)):
            producer.send(SOURCE_TOPIC, closing, partition=partition, timestamp_ms=int(end.timestamp() * 1000))
        producer.flush()
    return size, time.perf_counter() - began
