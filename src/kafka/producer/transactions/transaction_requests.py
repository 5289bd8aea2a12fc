"""The requests for a transaction, each retried until its outcome is decided (KIP-98, KIP-360, KIP-447, KIP-890).

In transaction version 1, a partition is added (AddPartitionsToTxn) before it is written to, a group (AddOffsetsToTxn)
before offsets are stored, and the epoch stays the same. In version 2, Produce and TxnOffsetCommit add the partitions
and groups that they write to, and EndTxn returns a new epoch, so that no late write can become part of the next
transaction. The versions of these APIs tell a broker which transaction version a client uses.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

from kafka.cluster.backoff import Backoff
from kafka.cluster.protocols import CoordinatorKind, CoordinatorRequests
from kafka.cluster.retry import RetryPolicy
from kafka.coordinator.consumer_protocol import partitions_by_topic
from kafka.errors import (
    CommitFailedError,
    ConcurrentTransactionsError,
    CoordinatorNotAvailableError,
    IllegalGenerationError,
    NotCoordinatorError,
    OperationNotAttemptedError,
    RequestTimedOutError,
    StaleMemberEpochError,
    TransactionAbortedError,
    UnknownMemberIdError,
    check_error,
)
from kafka.producer.send.batch_results import concurrent_backoff
from kafka.producer.transactions.state_machine import TransactionIdentity
from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition
from kafka.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafka.wire.api.describe_transactions import DescribeTransactionsRequest
from kafka.wire.api.end_txn import EndTxnRequest
from kafka.wire.api.init_producer_id import InitProducerIdRequest
from kafka.wire.api.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

log = logging.getLogger(__name__)
T = TypeVar("T")

FEATURE = "transaction.version"
_MOVED = (NotCoordinatorError, CoordinatorNotAvailableError, RequestTimedOutError)
_NEWEST_INIT = 5
_INIT_KEEPS_ID_SINCE = 3
_NEWEST_ADD_PARTITIONS = 3
"""The newest AddPartitionsToTxn version for clients; later versions are only used between brokers."""
_END_OF_VERSION_2 = 5
_OFFSETS_OF_VERSION_2 = 5
_MEMBERS_SINCE = 3
_REBALANCED = (IllegalGenerationError, UnknownMemberIdError, StaleMemberEpochError)

Offsets = Mapping[TopicPartition, OffsetAndMetadata]
GoOn = Callable[[], bool]


def always() -> bool:
    """Return True; used as a `GoOn` function that never stops a request."""
    return True


class TransactionRequests:
    """Sends requests to the coordinator of one transactional id. Runs on the loop.

    Each call returns the response or raises an error that is not retriable. Callers limit the time that a call takes.

    Arguments:
        cluster: finds the coordinators and sends requests to them.
        transactional_id: the producer's transactional id.
        timeout_ms: how long a transaction may take before the coordinator aborts it.
        backoff: pauses between attempts.
    """

    def __init__(self, cluster: CoordinatorRequests, transactional_id: str, timeout_ms: int, backoff: Backoff) -> None:
        self._cluster = cluster
        self._transactional_id = transactional_id
        self._timeout_ms = timeout_ms
        self._retries = RetryPolicy(backoff, log, quiet=1)
        self._concurrent = concurrent_backoff()
        self.failing: dict[str, Exception] = {}
        """The last error of each request that is being retried, by API."""
        self.last: Exception | None = None
        """The last error of any request."""

    def transaction_version(self) -> int:
        """Return the cluster's current transaction version: 1 or 2."""
        return 2 if self._cluster.feature_level(FEATURE) >= 2 else 1

    async def init(self, present: TransactionIdentity | None = None) -> tuple[int, int]:
        """Request a producer id and epoch; aborts the open transaction of an earlier producer with this id.

        Arguments:
            present: this producer's current identity, to get the next epoch (KIP-360); None to fence every other
                producer.

        Raises `ProducerFencedError` if another producer has taken over in the meantime.
        """
        request = InitProducerIdRequest(
            transactional_id=self._transactional_id, transaction_timeout_ms=self._timeout_ms
        )
        if present is not None:
            request.producer_id, request.producer_epoch = present.producer_id, present.producer_epoch

        async def ask() -> tuple[int, int]:
            response = await self._cluster.send_coordinator(
                "transaction",
                self._transactional_id,
                request,
                min_version=_INIT_KEEPS_ID_SINCE if present is not None else 0,
                max_version=_NEWEST_INIT,
            )
            check_error(response.error_code, f"InitProducerId of {self._transactional_id!r}")
            return response.producer_id, response.producer_epoch

        return await self._until_decided("InitProducerId", "transaction", self._transactional_id, ask, always)

    async def add_partitions(
        self, transaction: TransactionIdentity, partitions: Iterable[TopicPartition], go_on: GoOn = always
    ) -> None:
        """Add partitions to a version 1 transaction. Raises the first error that is returned for a partition.

        Arguments:
            transaction: the transaction's identity.
            partitions: the partitions to add. Some may disappear in the meantime, if their topic is deleted.
            go_on: stops the request when it returns False, see `GoOn`.
        """

        async def ask() -> None:
            by_topic = partitions_by_topic(partitions)
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=transaction.transactional_id,
                v3_and_below_producer_id=transaction.producer_id,
                v3_and_below_producer_epoch=transaction.producer_epoch,
                v3_and_below_topics=[
                    AddPartitionsToTxnTopic(name=topic, partitions=list(numbers)) for topic, numbers in by_topic.items()
                ],
            )
            if not by_topic:
                return
            response = await self._cluster.send_coordinator(
                "transaction", transaction.transactional_id, request, max_version=_NEWEST_ADD_PARTITIONS
            )
            _check_partitions(
                (f"adding partition {each.partition_index} of topic {topic.name!r}", each.partition_error_code)
                for topic in response.results_by_topic_v3_and_below
                for each in topic.results_by_partition
            )

        await self._until_decided("AddPartitionsToTxn", "transaction", transaction.transactional_id, ask, go_on)

    async def commit_offsets(
        self,
        transaction: TransactionIdentity,
        group: ConsumerGroupMetadata,
        offsets: Offsets,
        go_on: GoOn = always,
    ) -> None:
        """Store a group's offsets as part of a transaction.

        Raises `CommitFailedError` if the group has rebalanced in the meantime; the partitions may then belong to
        another member.
        """
        group_id = str(group.group_id)
        request = _offsets_request(transaction, group, offsets)
        if transaction.transaction_version < 2:
            await self._add_group(transaction, group_id, go_on)
            lowest, highest = (_MEMBERS_SINCE if _is_member(group) else 0), _OFFSETS_OF_VERSION_2 - 1
        else:
            lowest = highest = _OFFSETS_OF_VERSION_2

        async def ask() -> None:
            response = await self._cluster.send_coordinator(
                "group", group_id, request, min_version=lowest, max_version=highest
            )
            _check_partitions(
                (f"the offset of partition {each.partition_index} of topic {topic.name!r}", each.error_code)
                for topic in response.topics
                for each in topic.partitions
            )

        try:
            await self._until_decided("TxnOffsetCommit", "group", group_id, ask, go_on)
        except _REBALANCED as error:
            raise CommitFailedError(
                f"the offsets of group {group_id!r} are not part of the transaction, because the group has rebalanced "
                f"since group_metadata() was called ({error}): abort the transaction, poll() and repeat it"
            ) from error

    async def end(self, transaction: TransactionIdentity, commit: bool) -> tuple[int, int]:
        """Commit or abort a transaction; return the producer id and epoch of the next one.

        The same call may be repeated from any process until the next transaction begins.
        """
        request = EndTxnRequest(
            transactional_id=transaction.transactional_id,
            producer_id=transaction.producer_id,
            producer_epoch=transaction.producer_epoch,
            committed=commit,
        )
        of_version_2 = transaction.transaction_version >= 2

        async def ask() -> tuple[int, int]:
            response = await self._cluster.send_coordinator(
                "transaction",
                transaction.transactional_id,
                request,
                min_version=_END_OF_VERSION_2 if of_version_2 else 0,
                max_version=_END_OF_VERSION_2 if of_version_2 else _END_OF_VERSION_2 - 1,
            )
            what = "committing" if commit else "aborting"
            check_error(response.error_code, f"{what} the transaction of {transaction.transactional_id!r}")
            if response.producer_id < 0:
                return transaction.producer_id, transaction.producer_epoch
            return response.producer_id, response.producer_epoch

        return await self._until_decided("EndTxn", "transaction", transaction.transactional_id, ask, always)

    async def is_complete(self) -> bool:
        """Ask once whether the coordinator has completed the previous transaction."""
        request = DescribeTransactionsRequest(transactional_ids=[self._transactional_id])
        response = await self._cluster.send_coordinator("transaction", self._transactional_id, request)
        (found,) = response.transaction_states
        check_error(found.error_code, f"asking for the transaction of {self._transactional_id!r}")
        return not found.transaction_state.startswith("Prepare")

    async def _add_group(self, transaction: TransactionIdentity, group_id: str, go_on: GoOn) -> None:
        request = AddOffsetsToTxnRequest(
            transactional_id=transaction.transactional_id,
            producer_id=transaction.producer_id,
            producer_epoch=transaction.producer_epoch,
            group_id=group_id,
        )

        async def ask() -> None:
            response = await self._cluster.send_coordinator("transaction", transaction.transactional_id, request)
            check_error(response.error_code, f"adding the offsets of group {group_id!r} to the transaction")

        await self._until_decided("AddOffsetsToTxn", "transaction", transaction.transactional_id, ask, go_on)

    async def _until_decided(
        self, api: str, kind: CoordinatorKind, key: str, ask: Callable[[], Awaitable[T]], go_on: GoOn
    ) -> T:
        """Send a request to a coordinator, retrying until it succeeds or fails with an error that is not retriable.

        Raises `TransactionAbortedError` when `go_on` returns False.
        """
        attempts = self._retries.attempts(f"{api} of transactional id {self._transactional_id!r}")
        concurrent = 0
        try:
            while go_on():
                try:
                    result = await ask()
                except ConcurrentTransactionsError as error:
                    self.failing[api] = self.last = error
                    concurrent += 1
                    await asyncio.sleep(self._concurrent.seconds(concurrent))
                except Exception as error:
                    self.failing[api] = self.last = error
                    if isinstance(error, _MOVED):
                        self._cluster.forget_coordinator(kind, key)
                    await attempts.failed(error)
                else:
                    attempts.succeeded()
                    return result
        finally:
            self.failing.pop(api, None)
        raise TransactionAbortedError(f"{api}: the transaction is being aborted")


def _offsets_request(
    transaction: TransactionIdentity, group: ConsumerGroupMetadata, offsets: Offsets
) -> TxnOffsetCommitRequest:
    by_topic: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
    for (topic, partition), committed in offsets.items():
        by_topic.setdefault(topic, []).append(
            TxnOffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=committed.offset,
                committed_leader_epoch=-1 if committed.leader_epoch is None else committed.leader_epoch,
                committed_metadata=committed.metadata or "",
            )
        )
    request = TxnOffsetCommitRequest(
        transactional_id=transaction.transactional_id,
        group_id=str(group.group_id),
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        topics=[TxnOffsetCommitRequestTopic(name=name, partitions=each) for name, each in by_topic.items()],
    )
    if _is_member(group):
        request.generation_id_or_member_epoch = group.generation_id
        request.member_id = group.member_id
        request.group_instance_id = group.group_instance_id
    return request


def _is_member(group: ConsumerGroupMetadata) -> bool:
    """Return whether the coordinator should check the consumer's membership, and not only the group's name."""
    return group.generation_id >= 0 or bool(group.member_id) or group.group_instance_id is not None


def _check_partitions(answers: Iterable[tuple[str, int]]) -> None:
    """Raise the first error; ignore partitions that were rejected only because of another partition.

    Arguments:
        answers: the names of the partitions and their error codes.
    """
    left_out = ""
    for what, code in answers:
        if code == OperationNotAttemptedError.errno:
            left_out = left_out or what
        else:
            check_error(code, what)
    if left_out:
        check_error(OperationNotAttemptedError.errno, left_out)
