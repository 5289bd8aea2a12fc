"""What the replaying server answers itself: the requests of a trip and of a transaction. `ANSWERS` lists them.

It keeps the record batches of one producer for one consumer of one partition, which reads from the beginning. It checks
nothing, so it serves no purpose but measuring clients.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kafka.wire.api import add_partitions_to_txn as adding
from kafka.wire.api import end_txn, fetch, list_offsets, produce
from kafka.wire.framing import encode_response
from kafka.wire.message import Message

PRODUCE, FETCH, LIST_OFFSETS, ADD_PARTITIONS, END_TXN = 0, 1, 2, 24, 26
SESSION = 7
"""The id of each fetch session; no consumer looks at those of others."""
OPENS, CLOSES = 0, -1
"""The epochs of fetch requests that open a session, and of those that close theirs or have none."""
EPOCH_AT, MAGIC_AT, LAST_DELTA_AT = 12, 16, 23
"""Where a batch has its leader's epoch, its format and the number of its last record."""
OLD_HEADER = struct.Struct(">qi")
"""Offset and size of a message of the formats before batches."""
LATEST = -1


@dataclass(frozen=True)
class Asked:
    """A request: its version, correlation id and message."""

    version: int
    number: int
    message: Any

    def answer(self, message: Message) -> bytes:
        """Return a response to it, as a frame."""
        return b"".join(encode_response(message, self.version, self.number))


@dataclass
class Log:
    """The batches that the consumer has not fetched yet, and the next offset of each partition."""

    batches: list[bytes] = field(default_factory=list)
    ends: defaultdict[tuple[str, Any, int], int] = field(default_factory=lambda: defaultdict(int))
    end: int = 0
    """That of the partition that was written to last."""

    def append(self, partition: tuple[str, Any, int], records: Any) -> int:
        """Keep the records of a partition; return the offset of the first."""
        base = self.ends[partition]
        self.end = self.ends[partition] = base + count_records(records)
        kept = bytearray(records)
        struct.pack_into(">q", kept, 0, base)
        if kept[MAGIC_AT] > 1:
            struct.pack_into(">i", kept, EPOCH_AT, 0)
        self.batches.append(bytes(kept))
        return base

    def clear(self) -> None:
        """Forget everything."""
        self.batches.clear()
        self.ends.clear()

    def take(self) -> bytes:
        """Return the batches that were not fetched yet."""
        taken = b"".join(self.batches)
        self.batches.clear()
        return taken


def count_records(records: Any) -> int:
    """Return the number of records in a batch, or in messages of the formats before batches."""
    if records[MAGIC_AT] > 1:
        (last,) = struct.unpack_from(">i", records, LAST_DELTA_AT)
        return int(last) + 1
    at = count = 0
    while at < len(records):
        at += OLD_HEADER.size + OLD_HEADER.unpack_from(records, at)[1]
        count += 1
    return count


def _produce(asked: Asked, log: Log) -> bytes:
    """Append and acknowledge."""
    topics = []
    for topic in asked.message.topic_data:
        parts = []
        for each in topic.partition_data:
            base = log.append((topic.name, topic.topic_id, each.index), each.records)
            parts.append(produce.PartitionProduceResponse(index=each.index, base_offset=base, log_start_offset=0))
        topics.append(produce.TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=parts))
    return asked.answer(produce.ProduceResponse(responses=topics))


def _list_offsets(asked: Asked, log: Log) -> bytes:
    """Answer with 0, or the offset after the last record."""
    topics = []
    for topic in asked.message.topics:
        parts = []
        for each in topic.partitions:
            at = (topic.name, each.partition_index)
            ends = (end for (name, _, index), end in log.ends.items() if (name, index) == at)
            offset = next(ends, 0) if each.timestamp == LATEST else 0
            part = list_offsets.ListOffsetsPartitionResponse(partition_index=each.partition_index)
            if asked.version:
                part.offset = offset
            else:
                part.old_style_offsets = [offset]
            parts.append(part)
        topics.append(list_offsets.ListOffsetsTopicResponse(name=topic.name, partitions=parts))
    return asked.answer(list_offsets.ListOffsetsResponse(topics=topics))


def _add_partitions(asked: Asked, log: Log) -> bytes:
    """Add what is wanted."""

    def results(topics: Any) -> list[adding.AddPartitionsToTxnTopicResult]:
        result = adding.AddPartitionsToTxnPartitionResult
        return [
            adding.AddPartitionsToTxnTopicResult(
                name=each.name, results_by_partition=[result(partition_index=index) for index in each.partitions]
            )
            for each in topics
        ]

    message = asked.message
    return asked.answer(
        adding.AddPartitionsToTxnResponse(
            results_by_transaction=[
                adding.AddPartitionsToTxnResult(
                    transactional_id=each.transactional_id, topic_results=results(each.topics)
                )
                for each in message.transactions
            ],
            results_by_topic_v3_and_below=results(message.v3_and_below_topics),
        )
    )


def _end_transaction(asked: Asked, log: Log) -> bytes:
    """End it, with the next epoch of the producer for the next one."""
    epoch = asked.message.producer_epoch + 1
    return asked.answer(end_txn.EndTxnResponse(producer_id=asked.message.producer_id, producer_epoch=epoch))


ANSWERS: dict[int, Callable[[Asked, Log], bytes]] = {
    PRODUCE: _produce,
    LIST_OFFSETS: _list_offsets,
    ADD_PARTITIONS: _add_partitions,
    END_TXN: _end_transaction,
}
"""By API key; fetches have a class of their own."""


class Fetches:
    """The fetch requests of one connection."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._waiting: Asked | None = None
        self._topic: Any = None
        self._session = 0

    @property
    def wait(self) -> bool:
        """Whether a request has no response yet."""
        return self._waiting is not None

    def ask(self, asked: Asked) -> bytes:
        """Let a request wait for records; return the response to one that does not wait, otherwise nothing."""
        message = asked.message
        if message.session_epoch == OPENS:
            self._session = SESSION
        if message.topics:
            self._topic = message.topics[0]
        self._waiting = asked
        closes = message.session_epoch == CLOSES and message.session_id
        return self.release() if closes or self._topic is None else b""

    def answer(self) -> bytes:
        """Return the response to the request that waits, if one does and there are records for it."""
        asked = self._waiting
        if asked is None or not self._log.batches:
            return b""
        self._waiting = None
        records, end = self._log.take(), self._log.end
        part = fetch.PartitionData(
            partition_index=self._topic.partitions[0].partition,
            high_watermark=end,
            last_stable_offset=end,
            log_start_offset=0,
            records=records,
        )
        topic = fetch.FetchableTopicResponse(topic=self._topic.topic, topic_id=self._topic.topic_id, partitions=[part])
        return asked.answer(fetch.FetchResponse(session_id=self._session, responses=[topic]))

    def release(self) -> bytes:
        """Return a response without records to the request that waits, if one does."""
        asked, self._waiting = self._waiting, None
        return asked.answer(fetch.FetchResponse(session_id=self._session)) if asked else b""
