"""Lists and ends transactions with a `transactionalIdPrefix`, for when a query has ended or its rows are missing."""

import dataclasses
from typing import Any

from kafka.admin.transactions import TransactionDescription
from kafka.config import parse_admin
from kafka.spark.client_cache import Configs
from kafka.spark.exactly_once.decision import Decision
from kafka.spark.exactly_once.driver_steps import LONGEST_TIMEOUT_MS, recover
from kafka.spark.exactly_once.prefix_access import PrefixAccess, ask_brokers
from kafka.structs import TopicPartition


@dataclasses.dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction that a task has left open. It blocks read_committed consumers of its partitions.

    Arguments:
        transactional_id: the transactional id of the task's producer.
        started_ms: start time in milliseconds since 1970.
        timeout_ms: time in milliseconds after which Kafka aborts the transaction.
        partitions: the partitions that it has written to.
        is_decided: whether it belongs to the last batch that the driver has decided, and therefore must be committed.
    """

    transactional_id: str
    started_ms: int
    timeout_ms: int
    partitions: frozenset[TopicPartition]
    is_decided: bool


@dataclasses.dataclass(frozen=True, slots=True)
class QueryTransactions:
    """The state of a prefix in Kafka at the time when `transactions` was called.

    Arguments:
        prefix: the option `transactionalIdPrefix`.
        decided: the last committed batch; None if there is none, or Kafka has deleted it.
        open: the open transactions.
        configs: the options of the client that retrieved the state.
    """

    prefix: str
    decided: Decision | None
    open: tuple[OpenTransaction, ...]
    configs: Configs = dataclasses.field(repr=False)

    def abort(self) -> None:
        """Settle open transactions: abort those that are not decided, and commit the others.

        Use this only for queries that have ended, because it fences a running driver, whose query then fails.
        """
        ask_brokers(self.configs, self.prefix, _abort)

    def forget(self) -> None:
        """Do the same as `abort`, and delete the last decision, so that another query can use the prefix.

        If the query continues with this prefix nevertheless, it may write its last micro-batch again. Decisions about
        batch writes with a `transactionalBatchId` are kept.
        """
        ask_brokers(self.configs, self.prefix, _forget)


def transactions(prefix: str, **configs: Any) -> QueryTransactions:
    """Return the last decision and the open transactions of a query that writes with `exactlyOnce`.

    Arguments:
        prefix: the query's option `transactionalIdPrefix`.
        configs: options of a `KafkaAdminClient`, such as `bootstrap_servers`.

    Raises `KafkaConfigurationError`, `NoBrokersAvailable`, and errors returned by brokers.
    """
    parse_admin(configs)
    key = tuple(sorted(configs.items()))
    decided, found = ask_brokers(key, prefix, _look)
    return QueryTransactions(prefix, decided, found, key)


async def _look(access: PrefixAccess) -> tuple[Decision | None, tuple[OpenTransaction, ...]]:
    decided, _ = await access.read(stable=False)
    belonging = {each.transaction[:3] for each in decided.written} if decided is not None else set()
    described = await access.describe(await access.open_ids())
    found = [
        OpenTransaction(
            name,
            each.transaction_start_time_ms,
            each.transaction_timeout_ms,
            frozenset(each.topic_partitions),
            (name, each.producer_id, each.producer_epoch) in belonging,
        )
        for name, each in described.items()
        if isinstance(each, TransactionDescription)
    ]
    return decided, tuple(sorted(found, key=lambda each: (each.started_ms, each.transactional_id)))


async def _abort(access: PrefixAccess) -> None:
    longest_ms = await access.longest_ms() or LONGEST_TIMEOUT_MS
    left = await access.open_ids()  # once their driver is fenced, these transactions can no longer be decided
    driver = await access.fence(min(LONGEST_TIMEOUT_MS, longest_ms))
    decided, _ = await access.read(stable=True)
    await recover(access, decided, left, driver)


async def _forget(access: PrefixAccess) -> None:
    await _abort(access)
    await access.forget()
