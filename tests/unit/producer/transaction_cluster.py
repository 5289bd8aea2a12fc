"""Brokers in memory that have transactions: the coordinator of every transactional id, and of every group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fakes.cluster import Call
from kafka.errors import (
    InvalidProducerEpochError,
    InvalidProducerIdMappingError,
    InvalidTxnStateError,
    ProducerFencedError,
)
from kafka.record import batch_headers
from kafka.structs import TopicPartition
from kafka.wire.api.add_offsets_to_txn import AddOffsetsToTxnResponse
from kafka.wire.api.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from kafka.wire.api.end_txn import EndTxnResponse
from kafka.wire.api.init_producer_id import InitProducerIdResponse
from kafka.wire.api.produce import PartitionProduceData, PartitionProduceResponse
from kafka.wire.api.txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from unit.producer.producing_cluster import Fault, ProducingCluster

FEATURE = "transaction.version"


@dataclass
class Transaction:
    """What the coordinator knows of one transactional id."""

    producer_id: int
    epoch: int = -1
    partitions: set[TopicPartition] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    last: tuple[int, bool] | None = None
    """Epoch and outcome of the transaction that was ended last."""

    @property
    def is_open(self) -> bool:
        return bool(self.partitions or self.groups)


class TransactionalCluster(ProducingCluster):
    """One coordinator for everything; arguments as of `ProducingCluster`.

    Attributes:
        transactions: by transactional id.
        ended: id, epoch and outcome of each transaction that a producer has ended.
        headers: of all batches that were appended.
    """

    def __init__(self, topics: dict[str, int] | None = None, brokers: int = 1, version: int = 2) -> None:
        super().__init__(topics or {"t": 2}, brokers)
        self.features[FEATURE] = version
        self.versions["DescribeTransactions"] = (1, 0)  # none: only some tests are about how far a transaction is
        self.transactions: dict[str, Transaction] = {}
        self.ended: list[tuple[str, int, bool]] = []
        self.headers: list[Any] = []
        self.serve("InitProducerId", self._init)
        self.serve("AddPartitionsToTxn", self._add_partitions)
        self.serve("AddOffsetsToTxn", self._add_offsets)
        self.serve("TxnOffsetCommit", self._commit_offsets)
        self.serve("EndTxn", self._end)

    def apis(self) -> list[str]:
        """The names of the requests so far, in their order."""
        return [call.api for call in self.calls]

    def versions_of(self, api: str) -> set[int]:
        """The versions in which an API was asked."""
        return {call.version for call in self.calls if call.api == api}

    def time_out(self, transactional_id: str) -> None:
        """The coordinator aborts what is open, and gives no more than that epoch a chance."""
        transaction = self.transactions[transactional_id]
        transaction.last = (transaction.epoch, False) if self.features[FEATURE] >= 2 else None
        transaction.epoch += 1
        transaction.partitions.clear()
        transaction.groups.clear()

    def _init(self, call: Call) -> InitProducerIdResponse:
        request = call.request
        if request.transactional_id is None:
            return self._init_producer_id(call)
        known = self.transactions.get(request.transactional_id)
        if known is None:
            self.ids_given += 1
            known = self.transactions[request.transactional_id] = Transaction(1000 * self.ids_given)
        elif request.producer_id >= 0 and (request.producer_id, request.producer_epoch) != (
            known.producer_id,
            known.epoch,
        ):
            return InitProducerIdResponse(error_code=ProducerFencedError.errno)
        known.epoch += 1
        known.last = None
        known.partitions.clear()
        known.groups.clear()
        return InitProducerIdResponse(producer_id=known.producer_id, producer_epoch=known.epoch)

    def _refusal_of(self, transactional_id: str, producer_id: int, epoch: int) -> int:
        known = self.transactions.get(transactional_id)
        if known is None or known.producer_id != producer_id:
            return InvalidProducerIdMappingError.errno
        return 0 if known.epoch == epoch else ProducerFencedError.errno

    def _add_partitions(self, call: Call) -> AddPartitionsToTxnResponse:
        request = call.request
        name = request.v3_and_below_transactional_id
        code = self._refusal_of(name, request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
        topics = []
        for topic in request.v3_and_below_topics:
            results = []
            for partition in topic.partitions:
                results.append(AddPartitionsToTxnPartitionResult(partition_index=partition, partition_error_code=code))
                if not code:
                    self.transactions[name].partitions.add(TopicPartition(topic.name, partition))
                    self.transactions[name].last = None
            topics.append(AddPartitionsToTxnTopicResult(name=topic.name, results_by_partition=results))
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=topics)

    def _add_offsets(self, call: Call) -> AddOffsetsToTxnResponse:
        request = call.request
        code = self._refusal_of(request.transactional_id, request.producer_id, request.producer_epoch)
        if not code:
            self.transactions[request.transactional_id].groups.add(request.group_id)
            self.transactions[request.transactional_id].last = None
        return AddOffsetsToTxnResponse(error_code=code)

    def _commit_offsets(self, call: Call) -> TxnOffsetCommitResponse:
        request = call.request
        code = self._refusal_of(request.transactional_id, request.producer_id, request.producer_epoch)
        transaction = self.transactions[request.transactional_id]
        if not code and call.version >= 5:
            transaction.groups.add(request.group_id)
        elif not code and request.group_id not in transaction.groups:
            code = InvalidTxnStateError.errno
        return offsets_answer(request, code)

    def _end(self, call: Call) -> EndTxnResponse:
        request = call.request
        known = self.transactions[request.transactional_id]
        of_version_2 = call.version >= 5
        if known.producer_id != request.producer_id:
            return EndTxnResponse(error_code=InvalidProducerIdMappingError.errno)
        if known.last == (request.producer_epoch, request.committed):
            return EndTxnResponse(producer_id=known.producer_id, producer_epoch=known.epoch)
        if of_version_2 and known.last is not None and known.last[0] == request.producer_epoch:
            return EndTxnResponse(error_code=InvalidTxnStateError.errno)
        code = self._refusal_of(request.transactional_id, request.producer_id, request.producer_epoch)
        if not code and not known.is_open and (request.committed or not of_version_2):
            code = InvalidTxnStateError.errno
        if code:
            return EndTxnResponse(error_code=code)
        known.last = (known.epoch, request.committed)
        self.ended.append((request.transactional_id, known.epoch, request.committed))
        known.epoch += of_version_2
        known.partitions.clear()
        known.groups.clear()
        return EndTxnResponse(producer_id=known.producer_id, producer_epoch=known.epoch)

    def _append(self, node_id: int, topic: str, data: PartitionProduceData, fault: Fault) -> PartitionProduceResponse:
        (header,) = batch_headers(data.records or b"")
        place = TopicPartition(topic, data.index)
        owner = next((each for each in self.transactions.values() if each.producer_id == header.producer_id), None)
        if fault.error is None and owner is not None:
            if header.producer_epoch != owner.epoch:
                fault = Fault(error=InvalidProducerEpochError)
            elif self.features[FEATURE] >= 2:
                owner.partitions.add(place)
            elif place not in owner.partitions:
                fault = Fault(error=InvalidTxnStateError)
        answer = super()._append(node_id, topic, data, fault)
        if not answer.error_code:
            self.headers.append(header)
        return answer


def offsets_answer(request: Any, code: int) -> TxnOffsetCommitResponse:
    """The same answer for each partition of a TxnOffsetCommit."""
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def partitions_answer(request: Any, code: int) -> AddPartitionsToTxnResponse:
    """The same answer for each partition of an AddPartitionsToTxn."""
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=[
            AddPartitionsToTxnTopicResult(
                name=topic.name,
                results_by_partition=[
                    AddPartitionsToTxnPartitionResult(partition_index=each, partition_error_code=code)
                    for each in topic.partitions
                ],
            )
            for topic in request.v3_and_below_topics
        ]
    )
