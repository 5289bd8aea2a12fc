"""Encodes batches, sends them in ProduceRequests with the broker's version, and splits the responses by partition."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol
from uuid import UUID

from kafka.cluster.protocols import BrokerConnection, BrokerRequests
from kafka.errors import BrokerResponseError, NoError, UnknownError, UnsupportedVersionError, for_code
from kafka.net import Reply
from kafka.producer.batch.producer_batch import ENCODED, ProducerBatch
from kafka.producer.batch.reencode import downgrade
from kafka.record import ProducerState, set_producer_state
from kafka.record.codecs import CODECS
from kafka.structs import TopicPartition
from kafka.wire.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData

if TYPE_CHECKING:
    from kafka.producer.batch.shared_queues import BufferOptions
    from kafka.wire.api.produce import PartitionProduceResponse, ProduceResponse

log = logging.getLogger(__name__)

_NO_ID = UUID(int=0)
_MAGIC_AT = 16
"""Position of the format in an encoded batch."""
_NEWEST_MAGIC = 2
_FIRST_WITH_MAGIC_2 = 3
_LAST_WITHOUT_MAGIC_2: int | None = 2
_LAST_WITH_NAMES = 12
_FIRST_OF_TRANSACTIONS_2 = 12


class Answer(NamedTuple):
    """A broker's response for one partition; `text` is the broker's explanation, if any."""

    error: type[BrokerResponseError]
    base_offset: int = -1
    log_append_time: int = -1
    record_errors: Mapping[int, str | None] = {}
    text: str | None = None


# These create named tuples without calling the Python functions that their classes have for that.
_answer = partial(tuple.__new__, Answer)
_place = partial(tuple.__new__, TopicPartition)
_state = partial(tuple.__new__, ProducerState)

Take = Callable[[Mapping[TopicPartition, Answer] | None, Exception | None, int], object]
"""Receives the responses to a request or the error, and the throttle time in milliseconds."""


class HasTransaction(Protocol):
    """The part of the interface of the producer's transactions that requests use."""

    transactional_id: str
    version: int


class ProduceRequests:
    """Sends batches to brokers.

    Arguments:
        cluster: provides metadata and connections.
        acks: 0, 1 or -1.
        timeout_ms: how long the broker waits for replicas, and the client for the response, in milliseconds.
        options: how to encode batches.
        transactions: provides the current transaction; None without transactions.
    """

    def __init__(
        self,
        cluster: BrokerRequests,
        acks: int,
        timeout_ms: int,
        options: BufferOptions,
        transactions: HasTransaction | None = None,
    ) -> None:
        self._cluster = cluster
        self._acks = acks
        self._timeout_ms = timeout_ms
        self._options = options
        codec = CODECS.get(options.compression)
        self._lowest = max(_FIRST_WITH_MAGIC_2, 0 if codec is None else codec.oldest_produce)
        self._transactions = transactions

    def encode(self, batch: ProducerBatch, magic: int) -> int:
        """Encode a closed batch for a broker; return its size in bytes.

        Arguments:
            magic: the newest format that the broker accepts, see `magic_of_broker`.
        """
        transactional = self._transactions is not None
        if batch.stage is ENCODED:
            assert batch.data is not None
            data = batch.data
            if batch.attempts == 0 and batch.producer_id >= 0 and data[_MAGIC_AT] == 2:
                assert not isinstance(data, bytes)  # not yet shared, so still mutable
                set_producer_state(data, batch.producer_id, batch.producer_epoch, batch.base_sequence, transactional)
        else:
            assert batch.builder is not None
            data = batch.builder.build_in_place(
                _state((batch.producer_id, batch.producer_epoch, batch.base_sequence, transactional))
            )
        if data[_MAGIC_AT] > magic:
            if transactional:
                raise UnsupportedVersionError("transactions need brokers of Kafka 0.11 or later; this one is older")
            data = downgrade(data, magic, self._options)
        batch.keep(data)
        return len(data)

    def post(self, connection: BrokerConnection, batches: Sequence[ProducerBatch], take: Take) -> None:
        """Send encoded batches of different partitions in one request, without waiting for the response.

        Arguments:
            take: called once, on the loop, with a response for each batch, or with the error.

        Raises `KafkaError` if the request cannot be sent; then `take` is not called.
        """
        topics: dict[str, TopicProduceData] = {}
        names: dict[int, str] = {}  # keyed by the ids as integers, because `uuid.UUID` hashes and compares in Python
        lowest, highest = self._lowest, None
        for batch in batches:
            assert batch.data is not None
            if batch.data[_MAGIC_AT] < _NEWEST_MAGIC:
                lowest, highest = 0, _LAST_WITHOUT_MAGIC_2
            topic, partition = batch.topic_partition
            data = topics.get(topic)
            if data is None:
                topic_id = self._cluster.metadata.topic_id(topic)
                if topic_id is None and highest is None:
                    highest = _LAST_WITH_NAMES
                if topic_id is not None:
                    names[topic_id.int] = topic
                data = topics[topic] = TopicProduceData(name=topic, topic_id=topic_id or _NO_ID, partition_data=[])
            data.partition_data.append(PartitionProduceData(index=partition, records=batch.data))
        request = ProduceRequest(acks=self._acks, timeout_ms=self._timeout_ms, topic_data=list(topics.values()))
        if self._transactions is not None:
            request.transactional_id = self._transactions.transactional_id
            # in this version, batches add their partitions to the transaction (KIP-890)
            if self._transactions.version >= 2:
                lowest = _FIRST_OF_TRANSACTIONS_2
            else:
                highest = _FIRST_OF_TRANSACTIONS_2 - 1
        version = connection.api_versions.version_for(ProduceRequest, lowest, highest)
        by_name = version <= _LAST_WITH_NAMES
        for batch in batches:
            batch.sent_under = None if by_name else topics[batch.topic_partition.topic].topic_id
        if self._acks == 0:
            reply = Reply(partial(self._written, batches, take))
        else:
            reply = Reply(partial(self._answered, batches, names, take))
        connection.post_for(reply, request, version, self._timeout_ms)

    def _answered(
        self,
        batches: Sequence[ProducerBatch],
        names: Mapping[int, str],
        take: Take,
        response: ProduceResponse | None,
        error: Exception | None,
    ) -> None:
        answers = None
        throttle_ms = 0
        if response is not None:
            try:
                answers = self._answers(batches, names, response)
                throttle_ms = response.throttle_time_ms
            except Exception as failure:  # an invalid response
                log.exception("reading a broker's response")
                error = failure
        take(answers, error, throttle_ms)

    @staticmethod
    def _written(
        batches: Sequence[ProducerBatch], take: Take, response: ProduceResponse | None, error: Exception | None
    ) -> None:
        """Complete batches that were sent without acknowledgements (``acks=0``).

        Brokers do not respond, so success only means that the socket has accepted the batches.
        """
        answers = None if response is None else {batch.topic_partition: Answer(NoError) for batch in batches}
        asyncio.get_running_loop().call_soon(take, answers, error, 0)  # `post` may not have returned yet

    @staticmethod
    def magic_of_broker(connection: BrokerConnection) -> int:
        """Return the newest batch format that the broker at the other end of a connection accepts."""
        version = connection.api_versions.pick(ProduceRequest)
        return 2 if version is None else magic_for(version)

    def _answers(
        self, batches: Sequence[ProducerBatch], names: Mapping[int, str], response: ProduceResponse
    ) -> dict[TopicPartition, Answer]:
        """Return the responses by partition.

        `names` are the topic names in the request, because the metadata may have changed since it was sent.
        """
        answers: dict[TopicPartition, Answer] = {}
        for each in response.responses:
            name = each.name or names.get(each.topic_id.int, "")
            for partition in each.partition_responses:
                place = _place((name, partition.index))
                if partition.error_code:
                    self._note_leader(place, partition)
                    answers[place] = _refusal(partition)
                else:
                    answers[place] = _answer((NoError, partition.base_offset, partition.log_append_time_ms, {}, None))
        for batch in batches:
            if batch.topic_partition not in answers:
                answers[batch.topic_partition] = Answer(UnknownError, text="the broker's response leaves it out")
        return answers

    def _note_leader(self, place: TopicPartition, partition: PartitionProduceResponse) -> None:
        leader = partition.current_leader
        if leader.leader_id >= 0:
            # Deferred, because the metadata's listeners look at queues, which must not change during this call.
            asyncio.get_running_loop().call_soon(
                self._cluster.note_leader, place, leader.leader_id, leader.leader_epoch
            )


def magic_for(version: int) -> int:
    """Return the newest batch format that a version of the Produce API accepts."""
    return 2 if version >= _FIRST_WITH_MAGIC_2 else 1 if version == 2 else 0


def _refusal(partition: PartitionProduceResponse) -> Answer:
    errors = {each.batch_index: each.batch_index_error_message for each in partition.record_errors}
    return Answer(
        for_code(partition.error_code),
        partition.base_offset,
        partition.log_append_time_ms,
        errors,
        partition.error_message,
    )
