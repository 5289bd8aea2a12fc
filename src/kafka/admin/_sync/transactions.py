# Written by scripts/twins.py from kafka/admin/_async/transactions.py: change that file, not this one.
"""Methods for transactions."""

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
    """Methods for transactions (KIP-664, Kafka 3.0)."""

    def list_transactions(
        self,
        broker_ids: Iterable[int] | None = None,
        producer_id_filters: Iterable[int] | None = None,
        state_filters: Iterable[TransactionState | str] | None = None,
        duration_filter_ms: int | None = None,
        transactional_id_pattern: str | None = None,
        raise_errors: bool = True,
    ) -> dict[int, list[TransactionListing]]:
        """List transactions by coordinator.

        Arguments:
            broker_ids: the brokers to query; None: all brokers.
            producer_id_filters, state_filters: only list transactions of these producers and in these states.
            duration_filter_ms: only list transactions that have been open for longer than this (Kafka 3.8).
            transactional_id_pattern: only list ids that match this regular expression (Kafka 4.1).
            raise_errors: raise the first error; if False, the result contains a `KafkaError` for each broker that
                failed.

        Like Java's `Admin.listTransactions`. Requires Kafka 3.0.
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
        """Describe transactions by transactional id.

        Arguments:
            transactional_ids: the producers' ``transactional_id``.
            raise_errors: raise the first error; if False, the result contains a `KafkaError` for each id that failed.

        Raises `TransactionalIdNotFoundError` for an unknown id.

        Like Java's `Admin.describeTransactions`. Requires Kafka 3.0.
        """
        ids = arguments.names("transactional_ids", transactional_ids)
        return self._run(_transactions.describe_transactions(self._requests, ids, raise_errors))

    def describe_producers(
        self, partitions: Iterable[TopicPartition], broker_id: int | None = None, raise_errors: bool = True
    ) -> dict[TopicPartition, PartitionProducerState]:
        """Describe the producers that have recently written to partitions.

        Arguments:
            partitions: the partitions.
            broker_id: the broker whose replicas are queried; None: the partitions' leaders are queried.
            raise_errors: raise the first error; if False, the result contains a `KafkaError` for each partition that
                failed.

        Like Java's `Admin.describeProducers`. Requires Kafka 2.8.
        """
        wanted = arguments.partitions("partitions", partitions)
        return self._run(_transactions.describe_producers(self._requests, wanted, broker_id, raise_errors))

    def abort_transaction(self, spec: AbortTransactionSpec) -> None:
        """Abort an open transaction in one partition.

        If the transaction is still active, its records in this partition may be lost.

        Arguments:
            spec: the partition, and the producer id and epochs that `describe_producers` returns.

        Like Java's `Admin.abortTransaction`. Requires Kafka 0.11.
        """
        (wanted,) = arguments.instances("spec", AbortTransactionSpec, [spec])
        self._run(_transactions.abort_transaction(self._requests, wanted))

    def fence_producers(
        self, transactional_ids: Iterable[str], timeout_ms: float | None = None, raise_errors: bool = True
    ) -> dict[str, FencedProducer]:
        """Fence the producers with transactional ids, and abort their open transactions (KIP-618).

        Arguments:
            transactional_ids: the producers' ``transactional_id``.
            timeout_ms: time limit for the call, and the new transaction timeout of the ids; None: `request_timeout_ms`.
            raise_errors: raise the first error; if False, the result contains a `KafkaError` for each id that failed.

        Returns the new producer id and epoch for each transactional id. Ids that do not exist yet are created.

        Like Java's `Admin.fenceProducers`. Requires Kafka 0.11.
        """
        ids, limit = arguments.names("transactional_ids", transactional_ids), arguments.timeout(timeout_ms)
        return self._run(_transactions.fence_producers(self._requests, ids, limit, raise_errors))

    def force_terminate_transaction(self, transactional_id: str, timeout_ms: float | None = None) -> None:
        """Abort the open transaction of a transactional id, even if it is prepared (KIP-939), and fence its producers.

        Arguments:
            transactional_id: the producer's ``transactional_id``.
            timeout_ms: time limit for the call, and the new transaction timeout of the id; None: `request_timeout_ms`.

        Like Java's `Admin.forceTerminateTransaction`. Requires Kafka 0.11.
        """
        ids = [arguments.name("transactional_id", transactional_id)]
        self._run(_transactions.fence_producers(self._requests, ids, arguments.timeout(timeout_ms), True))

    def find_hanging_transactions(
        self, broker_ids: Iterable[int] | None = None, max_transaction_timeout_ms: int = 900_000
    ) -> list[dict[str, object]]:
        """Find transactions that have been open for at least five minutes longer than the brokers allow.

        Arguments:
            broker_ids: only search the transactions that these brokers coordinate; None: all brokers.
            max_transaction_timeout_ms: the brokers' ``transaction.max.timeout.ms``.

        Returns a dict for each transaction with ``transactional_id``, ``producer_id``, ``producer_epoch``, ``state``,
        ``age_ms``, ``coordinator_id`` and ``topic_partitions``.

        Requires Kafka 3.0.
        """
        ids = None if broker_ids is None else arguments.numbers("broker_ids", broker_ids)
        limit = arguments.number("max_transaction_timeout_ms", max_transaction_timeout_ms)
        return self._run(_transactions.find_hanging_transactions(self._requests, ids, limit))
