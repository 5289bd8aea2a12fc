"""A broker on virtual time without a network, with a transactional producer and committed reads."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka.broker.api import APIS
from kafka.broker.broker import Broker, Endpoint, RequestContext
from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.transactions.transaction_metadata import TransactionMetadata
from kafka.record import batch_headers, decode_batches
from kafka.wire import Request
from kafka.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafka.wire.api.create_topics import CreatableTopic, CreateTopicsRequest
from kafka.wire.api.end_txn import EndTxnRequest
from kafka.wire.api.fetch import PartitionData
from kafka.wire.api.init_producer_id import InitProducerIdRequest
from kafka.wire.api.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from unit.broker.batches import make_batch
from unit.broker.clock import VirtualClock
from unit.broker.requests import fetch_request, fetched, produce_request, produced

NAME, GROUP, TOPIC, PARTITIONS = "x", "g", "t", 2


class TransactionalBroker:
    """A broker with a topic of two partitions, and a transactional producer for it.

    The requests are those of the transaction version. Each method returns the error code.
    """

    def __init__(self, folder: Path, version: int = 2, timeout_ms: int = 60_000, **settings: int) -> None:
        self.clock = VirtualClock()
        self.version = version
        self.timeout_ms = timeout_ms
        self.producer = (-1, -1)
        self.sequences = [0] * PARTITIONS
        self._folder = folder
        self._settings = BrokerSettings.from_names({"transaction_version": version, **settings})
        self.broker = self._started()
        row = CreatableTopic(name=TOPIC, num_partitions=PARTITIONS, replication_factor=1)
        self.call(CreateTopicsRequest(topics=[row]), 7)

    def _started(self) -> Broker:
        return Broker(self._folder, self._settings, self.clock, Endpoint("broker", 9092), random.Random(1))

    def restart(self) -> None:
        """Restart the broker as after `kill -9`."""
        self.broker.crash(lose_unsynced=False)
        self.broker = self._started()

    def call(self, request: Request[Any], version: int) -> Any:
        handler = APIS[request.API_KEY].handler()
        return handler(self.broker, request, RequestContext(version, "client", "/127.0.0.1"))

    def init(self, **fields: Any) -> int:
        request = InitProducerIdRequest(transactional_id=NAME, transaction_timeout_ms=self.timeout_ms, **fields)
        answer = self.call(request, 5)
        if answer.error_code == 0:
            self._goes_on_as((answer.producer_id, answer.producer_epoch))
        code: int = answer.error_code
        return code

    def write(self, partition: int, values: Sequence[bytes]) -> int:
        """Write one batch, in version 1 after adding its partition. A failed write may be repeated."""
        producer_id, epoch = self.producer
        if self.version == 1:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=NAME,
                v3_and_below_producer_id=producer_id,
                v3_and_below_producer_epoch=epoch,
                v3_and_below_topics=[AddPartitionsToTxnTopic(name=TOPIC, partitions=[partition])],
            )
            answer = self.call(request, 3).results_by_topic_v3_and_below[0].results_by_partition[0]
            if answer.partition_error_code:
                code: int = answer.partition_error_code
                return code
        state = (*self.producer, self.sequences[partition])
        now_ms = self.clock.wall_ms()
        batch = make_batch(list(values), timestamp=now_ms, producer=state, transactional=True)
        sent = produce_request(TOPIC, batch, partition=partition)
        sent.transactional_id = NAME
        code = produced(self.call(sent, 11 if self.version == 1 else 12)).error_code
        if code == 0:
            self.sequences[partition] += len(values)
        return code

    def commit_offset(self, offset: int) -> int:
        producer = {"transactional_id": NAME, "producer_id": self.producer[0], "producer_epoch": self.producer[1]}
        if self.version == 1:
            code: int = self.call(AddOffsetsToTxnRequest(group_id=GROUP, **producer), 3).error_code
            if code:
                return code
        row = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset, committed_metadata="")
        topic = TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[row])
        answer = self.call(
            TxnOffsetCommitRequest(group_id=GROUP, topics=[topic], **producer), 3 + 2 * (self.version - 1)
        )
        code = answer.topics[0].partitions[0].error_code
        return code

    def end(self, committed: bool) -> int:
        producer_id, epoch = self.producer
        request = EndTxnRequest(
            transactional_id=NAME, producer_id=producer_id, producer_epoch=epoch, committed=committed
        )
        answer = self.call(request, 3 + self.version)
        if answer.error_code == 0 and self.version >= 2:
            self._goes_on_as((answer.producer_id, answer.producer_epoch))
        code: int = answer.error_code
        return code

    def _goes_on_as(self, producer: tuple[int, int]) -> None:
        if producer != self.producer:
            self.producer, self.sequences = producer, [0] * PARTITIONS

    # What others see

    @property
    def known(self) -> TransactionMetadata:
        """The coordinator's state of the transactional id."""
        return self.broker.transactions.known[NAME]

    def is_stable(self) -> bool:
        """Return whether committed reads reach the end of every partition."""
        logs = [self.broker.topics.get(TOPIC).log(number) for number in range(PARTITIONS)]
        return all(log.last_stable_offset == log.end_offset for log in logs)

    def committed_values(self, partition: int) -> list[bytes]:
        """Return the values of committed reads of a partition, without aborted records, as a consumer gets them."""
        found: list[bytes] = []
        at = 0
        while data := self._read_committed(partition, at):
            aborted = sorted((one.first_offset, one.producer_id) for one in data.aborted_transactions or ())
            open_aborted: set[int] = set()
            records = memoryview(data.records or b"")
            for header in batch_headers(records):
                at = header.last_offset + 1
                while aborted and aborted[0][0] <= header.base_offset:
                    open_aborted.add(aborted.pop(0)[1])
                if header.is_control:
                    open_aborted.discard(header.producer_id)
                elif header.producer_id not in open_aborted:
                    columns = decode_batches(records[header.position : header.position + header.size])
                    found += [columns.value(row) or b"" for row in range(len(columns))]
        return found

    def _read_committed(self, partition: int, offset: int) -> PartitionData | None:
        request = fetch_request(TOPIC, offset, isolation_level=1)
        request.topics[0].partitions[0].partition = partition
        data = fetched(self.call(request, 11))
        assert data.error_code == 0
        return data if data.records else None

    def committed_offset(self) -> int:
        """Return the group's offset; -1 if there is none."""
        found = self.broker.groups.groups.get(GROUP)
        offset = None if found is None else found.offsets.get((TOPIC, 0))
        return -1 if offset is None else offset.offset
