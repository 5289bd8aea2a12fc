"""What a `transactionalIdPrefix` has in Kafka, for people: a query has ended for good, or its rows do not appear."""

import dataclasses
from typing import Any

from kafka.admin.transactions import TransactionDescription
from kafka.config import parse_admin
from kafka.spark.client_cache import Configs
from kafka.spark.exactly_once.decision import Decision
from kafka.spark.exactly_once.driver import LONGEST_TIMEOUT_MS
from kafka.spark.exactly_once.prefix_access import PrefixAccess, ask_brokers
from kafka.spark.exactly_once.recovery import recover
from kafka.structs import TopicPartition


@dataclasses.dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction that a task has left open: readers of committed records stop before it.

    Arguments:
        transactional_id: of the task's producer.
        started_ms: when it began, in ms since 1970.
        timeout_ms: after which time Kafka aborts it.
        partitions: that were written to.
        is_decided: whether it belongs to the last batch that the driver has decided, so that it is to be committed.
    """

    transactional_id: str
    started_ms: int
    timeout_ms: int
    partitions: frozenset[TopicPartition]
    is_decided: bool


@dataclasses.dataclass(frozen=True, slots=True)
class QueryTransactions:
    """What a prefix has in Kafka, as it was found.

    Arguments:
        prefix: the option `transactionalIdPrefix`.
        decided: the last batch that was committed; None: there is none, or Kafka has forgotten it.
        open: the transactions that are open.
        configs: of the client that was used.
    """

    prefix: str
    decided: Decision | None
    open: tuple[OpenTransaction, ...]
    configs: Configs = dataclasses.field(repr=False)

    def abort(self) -> None:
        """Abort what is open now and not decided; what is decided is committed.

        A driver that still runs is fenced, and its query fails: for queries that have ended.
        """
        ask_brokers(self.configs, self.prefix, _abort)

    def forget(self) -> None:
        """As `abort`, and forget what was committed, which makes the prefix free for another query.

        A query that goes on under this prefix all the same may write its last micro-batch once more. Batch writes
        with a `transactionalBatchId` stay known by it.
        """
        ask_brokers(self.configs, self.prefix, _forget)


def transactions(prefix: str, **configs: Any) -> QueryTransactions:
    """What a query that writes with `exactlyOnce` has in Kafka.

    Arguments:
        prefix: its option `transactionalIdPrefix`.
        configs: options of a `KafkaAdminClient`, such as `bootstrap_servers`.

    Raises `KafkaConfigurationError`, `NoBrokersAvailable` and what brokers refuse.
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
    left = await access.open_ids()  # nobody can decide those any more once their driver is fenced
    driver = await access.fence(min(LONGEST_TIMEOUT_MS, longest_ms))
    decided, _ = await access.read(stable=True)
    await recover(access, decided, left, driver)


async def _forget(access: PrefixAccess) -> None:
    await _abort(access)
    await access.forget()
