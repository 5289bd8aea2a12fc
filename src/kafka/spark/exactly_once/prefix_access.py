"""The requests for one `transactionalIdPrefix`, over connections that a process keeps between micro-batches."""

import asyncio
import atexit
import collections
import dataclasses
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.admin.admin_requests import AdminRequests, gather
from kafka.admin.config_resource import ConfigResource, ConfigResourceType
from kafka.admin.configs import describe_configs
from kafka.admin.group_offsets import alter_group_offsets, list_group_offsets
from kafka.admin.groups import delete_groups, list_groups
from kafka.admin.transactions import TransactionDescription, TransactionState, describe_transactions, list_transactions
from kafka.cluster import Backoff
from kafka.config import option_table
from kafka.errors import (
    KafkaError,
    KafkaTimeoutError,
    NoError,
    ProducerFencedError,
    TransactionalIdNotFoundError,
    UnsupportedVersionError,
)
from kafka.net import LoopThread
from kafka.producer.transactions import TransactionIdentity
from kafka.producer.transactions.transaction_requests import TransactionRequests
from kafka.producer.transactions.two_phase_commit import Outcome, end_all
from kafka.spark.client_cache import Configs
from kafka.spark.exactly_once.decision import (
    DECIDED,
    FINISHED,
    Decision,
    IncompleteError,
    batch_group,
    decision_group,
    driver_id,
    from_parts,
    parts_in,
    slot_of,
    to_parts,
)
from kafka.spark.exactly_once.replay_check import ExactlyOnceError
from kafka.spark.planning.lookup import MissingTopicError
from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from kafka import KafkaAdminClient

log = logging.getLogger(__name__)

T = TypeVar("T")

LIMIT_MS = 120_000
"""Time limit for one step of the driver; the same as the default delivery timeout of a producer."""
_FENCING_TIMEOUT_MS = 1_000
"""Timeout for transactions that are never started.

It is short because brokers may limit it (transaction.max.timeout.ms).
"""
_CREATION_MS = 30_000
"""Maximum time in milliseconds for brokers to create a topic and choose the leaders of its partitions."""
_MOST_CLUSTERS = 2
_MOST_PARTS = 100
_TRIES = 10
"""Maximum number of attempts to read a decision while it contains parts of another one."""
_LONGEST = "transaction.max.timeout.ms"


@dataclasses.dataclass(frozen=True, slots=True)
class LastDriver:
    """The state of the drivers of a prefix in Kafka.

    Arguments:
        identity: the newest driver; its producer id is -1 if there has been none yet. None if unknown (before Kafka
            3.0).
        has_decided: whether its last transaction was committed, which makes it a decision.
    """

    identity: TransactionIdentity | None
    has_decided: bool


class PrefixAccess:
    """Sends the requests for one prefix. To be used on the event loop.

    Arguments:
        requests: sends requests through a started client.
        prefix: the option `transactionalIdPrefix`.
    """

    def __init__(self, requests: AdminRequests, prefix: str) -> None:
        self.prefix = prefix
        self._cluster = requests.cluster
        self._requests = requests
        options = requests.options
        self._backoff = Backoff(options.retry_backoff_ms, options.retry_backoff_max_ms)

    async def fence(self, timeout_ms: int, expected: TransactionIdentity | None = None) -> TransactionIdentity:
        """Fence all other drivers, and abort their undecided transaction.

        Returns the identity with which to commit the decision.

        Arguments:
            timeout_ms: the timeout of the driver's transaction.
            expected: the driver that `last_driver` returned, or None for any driver.

        Raises `ProducerFencedError` or `InvalidProducerEpochError` if another driver has fenced the expected one.
        """
        requests = TransactionRequests(self._cluster, driver_id(self.prefix), timeout_ms, self._backoff)
        producer_id, epoch = await requests.init(expected)
        if expected is not None and expected.producer_id < 0 and epoch > 0:
            raise ProducerFencedError()  # there was no driver before, but one has appeared since then
        return TransactionIdentity(driver_id(self.prefix), producer_id, epoch, requests.transaction_version())

    async def read(self, *, stable: bool) -> tuple[Decision | None, TopicPartition | None]:
        """Return the last decision, and the partition under which it is stored.

        Arguments:
            stable: whether to wait for a decision that is being committed.

        Raises `ExactlyOnceError` if parts of the decision are missing.
        """
        tried = 0
        while True:
            found = await self._offsets(decision_group(self.prefix, 0), stable)
            if not found:
                return None, None
            where = max(found, key=lambda each: (found[each].offset, each))
            parts = await self._parts(found[where], where, stable)
            try:
                return from_parts(parts, self.prefix), where
            except IncompleteError as error:
                if tried == _TRIES:
                    group = decision_group(self.prefix, 0)
                    raise ExactlyOnceError(
                        f"cannot read the last decision under transactionalIdPrefix {self.prefix!r}: {error} (offsets "
                        f"of the group {group!r}, and of groups with '.1' and so on). Were some offsets deleted, or "
                        "did they expire? If everything is committed, delete these groups to release the prefix"
                    ) from error
            stable, tried = True, tried + 1  # only some parts of a newer decision are visible so far

    async def _parts(self, first: OffsetAndMetadata, where: TopicPartition, stable: bool) -> list[str]:
        """Return the parts of a decision, up to the first one that belongs to another decision."""
        parts = [first.metadata or ""]
        for number in range(1, parts_in(parts[0])):
            part = (await self._offsets(decision_group(self.prefix, number), stable)).get(where)
            if part is None or part.offset != first.offset:
                break
            parts.append(part.metadata or "")
        return parts

    async def last_driver(self) -> LastDriver:
        """Return the newest driver, and whether its last transaction was a committed decision.

        Waits while a decision is being committed, because a group without offsets does not report pending offsets.
        """
        name = driver_id(self.prefix)
        asked = 0
        while True:
            found = (await self.describe([name])).get(name)
            if isinstance(found, TransactionalIdNotFoundError):
                return LastDriver(TransactionIdentity(name, -1, -1, 0), False)
            if not isinstance(found, TransactionDescription):
                return LastDriver(None, False)
            if found.state is not TransactionState.PREPARE_COMMIT:
                identity = TransactionIdentity(name, found.producer_id, found.producer_epoch, 0)
                return LastDriver(identity, found.state is TransactionState.COMPLETE_COMMIT)
            asked += 1
            await asyncio.sleep(self._backoff.seconds(asked))

    async def is_marked(self, batch_id: str) -> bool:
        """Return whether a batch write with this `transactionalBatchId` has been decided."""
        return bool(await self._offsets(batch_group(self.prefix, batch_id), True))

    async def is_finished(self, batch_id: str) -> bool:
        """Return whether a batch write with this `transactionalBatchId` is recorded as completely committed."""
        offsets = await self._offsets(batch_group(self.prefix, batch_id), True)
        return any(each.metadata == FINISHED for each in offsets.values())

    async def note_finished(self, batch_id: str, where: TopicPartition, batch: int) -> bool:
        """Record that a batch write is completely committed; return False on failure, which is not fatal."""
        offsets = {where: OffsetAndMetadata(batch, FINISHED, -1)}
        try:
            await alter_group_offsets(self._requests, batch_group(self.prefix, batch_id), offsets, None)
        except KafkaError as error:
            log.debug("could not record that the batch write %r is committed: %s", batch_id, error)
            return False
        return True

    async def await_topic(self, where: TopicPartition) -> None:
        """Wait until a partition exists under which a decision will be stored.

        A topic that does not exist is created as if a producer wrote to it, if brokers create topics automatically.

        Raises `MissingTopicError` if the partition is not available after `_CREATION_MS`.
        """
        self._cluster.watch_topics({where.topic})
        try:
            await self._cluster.partition_leader(where, _CREATION_MS)
        except KafkaTimeoutError as error:
            raise MissingTopicError(
                f"topic {where.topic!r}, under which the micro-batch is to be recorded as committed, is not available: "
                f"{error}. If the topic does not exist, create it first"
            ) from error
        finally:
            self._cluster.watch_topics(set())

    async def decide(
        self, driver: TransactionIdentity, decision: Decision, where: TopicPartition, batch_id: str | None
    ) -> None:
        """Record a decision. The batch is decided if this method returns, and may be decided if it raises an error.

        Raises `ProducerFencedError` if another driver has taken over. In this case, nothing is decided.
        """
        requests = TransactionRequests(self._cluster, driver.transactional_id, 0, self._backoff)
        groups = {decision_group(self.prefix, n): text for n, text in enumerate(to_parts(decision, self.prefix))}
        if batch_id is not None:
            groups[batch_group(self.prefix, batch_id)] = DECIDED
        for group, text in groups.items():
            offset = OffsetAndMetadata(decision.batch, text, -1)
            await requests.commit_offsets(driver, ConsumerGroupMetadata(group, -1, "", None), {where: offset})
        await requests.end(driver, True)

    async def end(self, transactions: Iterable[TransactionIdentity], *, commit: bool) -> Outcome:
        """Commit or abort the given transactions; return the outcome of each."""
        return await end_all(self._cluster, transactions, commit, LIMIT_MS, self._backoff)

    async def open_ids(self) -> list[str]:
        """Return the transactional ids of tasks with an open transaction.

        The list is empty for brokers before Kafka 3.0, which do not report open transactions.
        """
        try:
            listed = await list_transactions(
                self._requests, self._brokers(), [], [TransactionState.ONGOING.value], None, None
            )
        except UnsupportedVersionError:
            return []
        ids = {each.transactional_id for listings in listed.values() for each in listings}
        return sorted(each for each in ids if slot_of(self.prefix, each) is not None)

    async def describe(self, transactional_ids: Sequence[str]) -> dict[str, TransactionDescription | Exception]:
        """Return the coordinators' descriptions of transactional ids; an empty dict before Kafka 3.0."""
        try:
            return await describe_transactions(self._requests, list(transactional_ids), raise_errors=False)
        except UnsupportedVersionError:
            return {}

    async def abort_ids(self, transactional_ids: Sequence[str]) -> None:
        """Abort the open transactions of these ids, and fence their producers."""
        await gather(
            TransactionRequests(self._cluster, each, _FENCING_TIMEOUT_MS, self._backoff).init()
            for each in transactional_ids
        )

    async def forget(self) -> None:
        """Delete the groups that store the decision, if they exist."""
        listed = await list_groups(self._requests, self._brokers(), [], [])
        names = {each["group_id"] for each in listed} & {
            decision_group(self.prefix, part) for part in range(_MOST_PARTS)
        }
        for name, error in await delete_groups(self._requests, sorted(names), None):
            if error is not NoError:
                raise error(f"cannot delete group {name!r}")

    async def longest_ms(self) -> int | None:
        """Return the brokers' transaction.max.timeout.ms; None without permission to see it."""
        resource = ConfigResource(ConfigResourceType.BROKER, str(self._brokers()[0]), {_LONGEST: ""})
        try:
            (told,) = await describe_configs(self._requests, [resource])
        except KafkaError as error:
            log.debug("%s is unknown: %s", _LONGEST, error)
            return None
        values = {each["name"]: each["value"] for each in told.results[0]["configs"]}
        return int(values[_LONGEST]) if _LONGEST in values else None

    def _brokers(self) -> list[int]:
        return sorted(node.nodeId for node in self._cluster.metadata.brokers())

    async def _offsets(self, group: str, stable: bool) -> dict[TopicPartition, OffsetAndMetadata]:
        listed = await list_group_offsets(self._requests, {group: None}, require_stable=stable)
        return {each: offset for each, offset in listed[group].items() if offset.offset >= 0}


class _Clients:
    """The admin clients of this process, keyed by their options."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._kept: collections.OrderedDict[Configs, KafkaAdminClient] = collections.OrderedDict()

    def take(self, configs: Configs) -> "KafkaAdminClient":
        """Return an idle client, or a new one. No other caller gets the client until it is given back."""
        from kafka import KafkaAdminClient

        kept = None
        with self._lock:
            if self._pid != os.getpid():  # a forked process must not use the connections of its parent
                self._pid = os.getpid()
                self._kept.clear()
            if _is_hashable(configs):
                kept = self._kept.pop(configs, None)
        return KafkaAdminClient(**dict(configs)) if kept is None else kept

    def give_back(self, configs: Configs, client: "KafkaAdminClient") -> None:
        """Keep the client for the next caller, if its options are hashable."""
        if not _is_hashable(configs):
            client.close()
            return
        with self._lock:
            surplus = self._kept.pop(configs, None)
            self._kept[configs] = client
            if len(self._kept) > _MOST_CLUSTERS:
                surplus = self._kept.popitem(last=False)[1]
        if surplus is not None:
            surplus.close()

    def close(self) -> None:
        """Close idle clients, except those inherited through a fork."""
        with self._lock:
            if self._pid != os.getpid():
                return
            kept, self._kept = self._kept, collections.OrderedDict()
        for client in kept.values():
            client.close()


def _is_hashable(configs: Configs) -> bool:
    """Return whether the options are hashable; callers of `kafka.spark.transactions` may pass lists or dicts."""
    try:
        hash(configs)
    except TypeError:
        return False
    return True


_CLIENTS = _Clients()
# Otherwise, the clients would be finalized after the modules that they need, and log errors.
atexit.register(_CLIENTS.close)


def admin_configs(configs: Configs) -> Configs:
    """Return the keyword arguments of a producer that an admin client also accepts."""
    table = option_table()
    return tuple((name, value) for name, value in configs if "admin" in table[name].clients)


def ask_brokers(configs: Configs, prefix: str, steps: Callable[[PrefixAccess], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine for a prefix on the shared loop, and return its result.

    Arguments:
        configs: keyword arguments of an admin client.
        prefix: the option `transactionalIdPrefix`.
        steps: the coroutine function.

    Raises the errors of `steps`, `KafkaTimeoutError` after `LIMIT_MS`, and `NoBrokersAvailable`.
    """

    client = _CLIENTS.take(configs)

    async def within_limit() -> T:
        async with asyncio.timeout(LIMIT_MS / 1_000):
            return await steps(PrefixAccess(client._requests, prefix))

    try:
        result = LoopThread.shared().run(within_limit())
    except BaseException as error:
        client.close()
        if isinstance(error, TimeoutError) and not isinstance(error, KafkaError):
            raise KafkaTimeoutError(
                f"Kafka did not answer within {LIMIT_MS // 1_000} s about transactionalIdPrefix {prefix!r}"
            ) from error
        raise
    _CLIENTS.give_back(configs, client)
    return result
