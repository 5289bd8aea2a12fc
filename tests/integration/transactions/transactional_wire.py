"""One transactional id, spoken of in messages: each method sends a request and gives the code of its answer."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from integration.wire_support import Wire, ask_again_while, batch
from kafka.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka.wire.api.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafka.wire.api.describe_transactions import DescribeTransactionsRequest, TransactionState
from kafka.wire.api.end_txn import EndTxnRequest
from kafka.wire.api.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka.wire.api.init_producer_id import InitProducerIdRequest
from kafka.wire.api.metadata import MetadataRequest, MetadataRequestTopic
from kafka.wire.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka.wire.api.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka.wire.api.write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest

NOT_YET = {14, 15, 16}
"""What a coordinator answers that is getting ready."""
NOT_A_LEADER_YET = {3, 6, 100}
"""What a broker answers of a topic that was just made."""
CONCURRENT = 51
_TOPIC_IDS_SINCE = 13


class TransactionalWire:
    """A transactional id with a topic of its own, and the producer id and epoch that were given last.

    What a broker answers while it completes the transaction before is waited for, but by `init_once`.
    """

    def __init__(self, wire: Wire, topic: str) -> None:
        self.wire = wire
        self.topic = topic
        self.name = f"id-{uuid.uuid4()}"
        self.group = f"group-{uuid.uuid4()}"
        self.producer_id = self.epoch = -1
        self._sequence = 0

    def init(self, version: int = 4, **fields: Any) -> int:
        return ask_again_while({CONCURRENT}, lambda: self.init_once(version, **fields))

    def init_once(self, version: int = 4, **fields: Any) -> int:
        """InitProducerId; what it gives is kept."""
        fields = {"transactional_id": self.name, "transaction_timeout_ms": 60_000, **fields}

        def ask() -> int:
            answer = self.wire.call(InitProducerIdRequest(**fields), version)
            if answer.error_code == 0:
                self.producer_id, self.epoch, self._sequence = answer.producer_id, answer.producer_epoch, 0
            return answer.error_code

        return ask_again_while(NOT_YET, ask)

    def add(self, version: int = 3, partitions: tuple[tuple[str, int], ...] = (), **fields: Any) -> list[int]:
        """AddPartitionsToTxn, as clients send it; the codes in the order of what is asked."""
        asked = partitions or ((self.topic, 0),)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=fields.get("transactional_id", self.name),
            v3_and_below_producer_id=fields.get("producer_id", self.producer_id),
            v3_and_below_producer_epoch=fields.get("producer_epoch", self.epoch),
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=name, partitions=[number]) for name, number in asked],
        )

        def ask() -> list[int]:
            answer = self.wire.call(request, version)
            codes = {
                (topic.name, each.partition_index): each.partition_error_code
                for topic in answer.results_by_topic_v3_and_below
                for each in topic.results_by_partition
            }
            return [codes[each] for each in asked]

        return _again(ask)

    def add_batched(self, verify_only: bool, version: int = 5, **fields: Any) -> list[int]:
        """AddPartitionsToTxn, as brokers send it, for the first partition."""
        one = AddPartitionsToTxnTransaction(
            transactional_id=fields.get("transactional_id", self.name),
            producer_id=fields.get("producer_id", self.producer_id),
            producer_epoch=fields.get("producer_epoch", self.epoch),
            verify_only=verify_only,
            topics=[AddPartitionsToTxnTopic(name=self.topic, partitions=[0])],
        )

        def ask() -> list[int]:
            answer = self.wire.call(AddPartitionsToTxnRequest(transactions=[one]), version)
            return [answer.error_code] + [
                each.partition_error_code
                for result in answer.results_by_transaction
                for topic in result.topic_results
                for each in topic.results_by_partition
            ]

        return _again(ask)

    def add_offsets(self, version: int = 3, **fields: Any) -> int:
        """AddOffsetsToTxn."""
        fields = {**self._producer(), "group_id": self.group, **fields}
        return _again(lambda: [self.wire.call(AddOffsetsToTxnRequest(**fields), version).error_code])[0]

    def commit_offsets(self, version: int = 3, number: int = 0, metadata: str = "", **fields: Any) -> int:
        """TxnOffsetCommit of one offset."""
        row = TxnOffsetCommitRequestPartition(partition_index=number, committed_offset=7, committed_metadata=metadata)
        topic = TxnOffsetCommitRequestTopic(name=fields.pop("topic", self.topic), partitions=[row])
        fields = {**self._producer(), "group_id": self.group, "topics": [topic], **fields}

        def ask() -> list[int]:
            answer = self.wire.call(TxnOffsetCommitRequest(**fields), version)
            return [each.error_code for topic in answer.topics for each in topic.partitions]

        return _again(ask)[0]

    def end(self, committed: bool, version: int = 4, **fields: Any) -> int:
        """EndTxn; the epoch that it gives is kept."""
        fields = {**self._producer(), "committed": committed, **fields}

        def ask() -> list[int]:
            answer = self.wire.call(EndTxnRequest(**fields), version)
            if answer.error_code == 0 and answer.producer_id >= 0:
                if answer.producer_epoch != self.epoch:
                    self._sequence = 0
                self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            return [answer.error_code]

        return _again(ask)[0]

    def produce(self, version: int = 9, **fields: Any) -> int:
        """Produce one record to the first partition."""
        records = batch(
            producer_id=fields.get("producer_id", self.producer_id),
            producer_epoch=fields.get("producer_epoch", self.epoch),
            base_sequence=fields.get("sequence", self._sequence),
            transactional=fields.get("transactional", True),
        )
        data = TopicProduceData(
            partition_data=[PartitionProduceData(index=fields.get("partition", 0), records=records)]
        )
        if version >= _TOPIC_IDS_SINCE:
            data.topic_id = self._topic_id()
        else:
            data.name = self.topic
        request = ProduceRequest(
            transactional_id=fields.get("transactional_id", self.name), acks=-1, timeout_ms=5000, topic_data=[data]
        )

        def ask() -> list[int]:
            return [self.wire.call(request, version).responses[0].partition_responses[0].error_code]

        (code,) = _again(ask, NOT_A_LEADER_YET)
        self._sequence += code == 0
        return code

    def mark(self, committed: bool, version: int = 1, **fields: Any) -> int:
        """WriteTxnMarkers, for the first partition."""
        fields = {"producer_id": self.producer_id, "producer_epoch": self.epoch, "coordinator_epoch": 0, **fields}
        topic = WritableTxnMarkerTopic(name=fields.pop("topic", self.topic), partition_indexes=[0])
        marker = WritableTxnMarker(transaction_result=committed, topics=[topic], **fields)
        answer = self.wire.call(WriteTxnMarkersRequest(markers=[marker]), version)
        return answer.markers[0].topics[0].partitions[0].error_code

    def described(self) -> TransactionState:
        """DescribeTransactions, once the transaction before is complete."""

        def ask() -> int:
            found[:] = self.wire.call(DescribeTransactionsRequest(transactional_ids=[self.name]), 0).transaction_states
            return CONCURRENT if found[0].transaction_state.startswith("Prepare") else 0

        found: list[TransactionState] = []
        ask_again_while({CONCURRENT}, ask)
        return found[0]

    def stable(self, isolation_level: int = 1) -> tuple[int, int, list[tuple[int, int]]]:
        """Last stable offset, high watermark, and which transactions a committed read says to be aborted."""
        asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_bytes=1 << 20,
            isolation_level=isolation_level,
            topics=[FetchTopic(topic=self.topic, partitions=[asked])],
        )
        found = self.wire.call(request, 11).responses[0].partitions[0]
        aborted = [(each.producer_id, each.first_offset) for each in found.aborted_transactions or ()]
        return found.last_stable_offset, found.high_watermark, aborted

    def _producer(self) -> dict[str, Any]:
        return {"transactional_id": self.name, "producer_id": self.producer_id, "producer_epoch": self.epoch}

    def _topic_id(self) -> uuid.UUID:
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=self.topic)])
        found: uuid.UUID = self.wire.call(asked, 12).topics[0].topic_id
        return found


def _again(ask: Callable[[], list[int]], not_yet: set[int] = NOT_YET) -> list[int]:
    """The codes of an answer, once the broker is ready and has completed the transaction before."""
    found: list[int] = []
    awaited = {*not_yet, CONCURRENT}

    def once() -> int:
        found[:] = ask()
        return next((code for code in found if code in awaited), 0)

    ask_again_while(awaited, once)
    return found
