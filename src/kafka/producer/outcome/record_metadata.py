"""Where a record was written."""

from __future__ import annotations

from typing import NamedTuple

from kafka.structs import TopicPartition


class RecordMetadata(NamedTuple):
    """Where a record was written, and how large it was; fields as in kafka-python 2.3 and 3.

    Sizes are in bytes, -1 where there is no key, value or header. `offset` is -1 with ``acks=0``, and where a broker
    had the record already and does not tell where. `timestamp` is in milliseconds since 1970-01-01 UTC: the record's
    own, or the broker's where the topic has LogAppendTime. `checksum` is None: batches have one, records do not.
    """

    topic: str
    partition: int
    topic_partition: TopicPartition
    offset: int
    timestamp: int
    checksum: int | None
    serialized_key_size: int
    serialized_value_size: int
    serialized_header_size: int
