# Written by scripts/twins.py from kafka/admin/async_calls/transactions.py: change that file, not this one.
"""Transactions."""

from collections.abc import Iterable

from kafka.admin import arguments
from kafka.admin import transactions as _transactions
from kafka.admin.calls.base import AdminCalls
from kafka.admin.transaction_types import (
    AbortTransactionSpec,
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
    ) -> dict[int, list[TransactionListing]]:
        """The transactions that these brokers coordinate, None: all, by broker.

        Arguments:
            producer_id_filters, state_filters: only those of such a producer, in such a state.
            duration_filter_ms: only those that have been open for longer (Kafka 3.8).
            transactional_id_pattern: only those whose ids match this regular expression (Kafka 4.1).
        """
        ids = None if broker_ids is None else arguments.numbers("broker_ids", broker_ids)
        producers = arguments.numbers("producer_id_filters", producer_id_filters or ())
        states = arguments.values_of("state_filters", TransactionState, state_filters)
        return self._run(
            _transactions.list_transactions(
                self._requests, ids, producers, states, duration_filter_ms, transactional_id_pattern
            )
        )

    def describe_transactions(self, transactional_ids: Iterable[str]) -> dict[str, TransactionDescription]:
        """All about the transactions of these ids; `TransactionalIdNotFoundError` if there is none."""
        ids = arguments.names("transactional_ids", transactional_ids)
        return self._run(_transactions.describe_transactions(self._requests, ids))

    def describe_producers(
        self, partitions: Iterable[TopicPartition], broker_id: int | None = None
    ) -> dict[TopicPartition, PartitionProducerState]:
        """The producers that write to partitions.

        Arguments:
            broker_id: the replica to ask; None: the leaders.
        """
        wanted = arguments.partitions("partitions", partitions)
        return self._run(_transactions.describe_producers(self._requests, wanted, broker_id))

    def abort_transaction(self, spec: AbortTransactionSpec) -> None:
        """Abort an open transaction in one partition. Records of a transaction that goes on may be lost by that."""
        (wanted,) = arguments.instances("spec", AbortTransactionSpec, [spec])
        self._run(_transactions.abort_transaction(self._requests, wanted))

    def find_hanging_transactions(
        self, broker_ids: Iterable[int] | None = None, max_transaction_timeout_ms: int = 900_000
    ) -> list[dict[str, object]]:
        """The transactions that are open for longer than the brokers allow, and five minutes.

        Arguments:
            max_transaction_timeout_ms: what the brokers allow, their ``transaction.max.timeout.ms``.
        """
        ids = None if broker_ids is None else arguments.numbers("broker_ids", broker_ids)
        limit = arguments.number("max_transaction_timeout_ms", max_transaction_timeout_ms)
        return self._run(_transactions.find_hanging_transactions(self._requests, ids, limit))
