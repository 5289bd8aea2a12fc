# Written by scripts/twins.py from kafka/admin/_async/transactions.py: change that file, not this one.
"""Transactions."""

from collections.abc import Iterable

from kafka.admin import arguments
from kafka.admin import transactions as _transactions
from kafka.admin._sync import AdminCalls
from kafka.admin.transactions import (
    AbortTransactionSpec,
    FencedProducer,
    PartitionProducerState,
    TransactionDescription,
    TransactionListing,
    TransactionState,
)
from kafka.structs import TopicPartition


class TransactionCalls(AdminCalls):
    """What is done with transactions (KIP-664, Kafka 3.0)."""

    def list_transactions(
        self,
        broker_ids: Iterable[int] | None = None,
        producer_id_filters: Iterable[int] | None = None,
        state_filters: Iterable[TransactionState | str] | None = None,
        duration_filter_ms: int | None = None,
        transactional_id_pattern: str | None = None,
        raise_errors: bool = True,
    ) -> dict[int, list[TransactionListing]]:
        """The transactions that these brokers coordinate, None: all, by broker.

        Arguments:
            broker_ids: the brokers that are asked; None: all.
            producer_id_filters, state_filters: only those of such a producer, in such a state.
            duration_filter_ms: only those that have been open for longer (Kafka 3.8).
            transactional_id_pattern: only those whose ids match this regular expression (Kafka 4.1).
            raise_errors: raise the error of the first broker that failed; False gives each its own, as a `KafkaError`
                in place of the value.
        """
        ids = None if broker_ids is None else arguments.numbers("broker_ids", broker_ids)
        producers = arguments.numbers("producer_id_filters", producer_id_filters or ())
        states = arguments.values_of("state_filters", TransactionState, state_filters)
        return self._run(
            _transactions.list_transactions(
                self._requests, ids, producers, states, duration_filter_ms, transactional_id_pattern, raise_errors
            )
        )

    def describe_transactions(
        self, transactional_ids: Iterable[str], raise_errors: bool = True
    ) -> dict[str, TransactionDescription]:
        """All about the transactions of these ids; `TransactionalIdNotFoundError` if there is none.

        Arguments:
            transactional_ids: the ids, as their producers are configured.
            raise_errors: raise the error of the first that failed; False gives each its own, as a `KafkaError` in
                place of the value.
        """
        ids = arguments.names("transactional_ids", transactional_ids)
        return self._run(_transactions.describe_transactions(self._requests, ids, raise_errors))

    def describe_producers(
        self, partitions: Iterable[TopicPartition], broker_id: int | None = None, raise_errors: bool = True
    ) -> dict[TopicPartition, PartitionProducerState]:
        """The producers that write to partitions.

        Arguments:
            broker_id: the replica to ask; None: the leaders.
            raise_errors: raise the error of the first that failed; False gives each its own, as a `KafkaError` in
                place of the value.
        """
        wanted = arguments.partitions("partitions", partitions)
        return self._run(_transactions.describe_producers(self._requests, wanted, broker_id, raise_errors))

    def abort_transaction(self, spec: AbortTransactionSpec) -> None:
        """Abort an open transaction in one partition. Records of a transaction that goes on may be lost by that.

        Arguments:
            spec: which: the partition, and the producer id and epochs that `describe_producers` tells.
        """
        (wanted,) = arguments.instances("spec", AbortTransactionSpec, [spec])
        self._run(_transactions.abort_transaction(self._requests, wanted))

    def fence_producers(
        self, transactional_ids: Iterable[str], timeout_ms: float | None = None, raise_errors: bool = True
    ) -> dict[str, FencedProducer]:
        """Fence the producers of transactional ids, and abort what they have open (KIP-691, Kafka 0.11).

        Arguments:
            transactional_ids: the ids, as their producers are configured.
            timeout_ms: how long it is tried, and the ids' transaction timeout from now on; None: `request_timeout_ms`.
            raise_errors: raise the error of the first that failed; False gives each its own, as a `KafkaError` in
                place of the value.

        Gives the producer id and epoch that each has now. An id that was never used is made.
        """
        ids, limit = arguments.names("transactional_ids", transactional_ids), arguments.timeout(timeout_ms)
        return self._run(_transactions.fence_producers(self._requests, ids, limit, raise_errors))

    def force_terminate_transaction(self, transactional_id: str, timeout_ms: float | None = None) -> None:
        """Abort the open transaction of an id, a prepared one (KIP-939) too, and fence its producers.

        Arguments:
            transactional_id: the id, as its producer is configured.
            timeout_ms: how long it is tried, and the id's transaction timeout from now on; None: `request_timeout_ms`.
        """
        ids = [arguments.name("transactional_id", transactional_id)]
        self._run(_transactions.fence_producers(self._requests, ids, arguments.timeout(timeout_ms), True))

    def find_hanging_transactions(
        self, broker_ids: Iterable[int] | None = None, max_transaction_timeout_ms: int = 900_000
    ) -> list[dict[str, object]]:
        """The transactions that are open for longer than the brokers allow, and five minutes.

        Arguments:
            broker_ids: only in partitions that these brokers lead; None: on all brokers.
            max_transaction_timeout_ms: what the brokers allow, their ``transaction.max.timeout.ms``.
        """
        ids = None if broker_ids is None else arguments.numbers("broker_ids", broker_ids)
        limit = arguments.number("max_transaction_timeout_ms", max_transaction_timeout_ms)
        return self._run(_transactions.find_hanging_transactions(self._requests, ids, limit))
