"""Tracks the partitions of the open transaction, and whether the transaction contains anything that must be ended."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from typing import Protocol

from kafka.cluster.backoff import Backoff
from kafka.errors import KafkaError, TransactionAbortedError
from kafka.producer.transactions.state_machine import TransactionIdentity
from kafka.producer.transactions.transaction_requests import TransactionRequests
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

_SOON_S = 0.1
"""Seconds for which an ended transaction may be incomplete; after that, the next one can begin without a request."""
_PATIENCE_S = 1.0
"""Maximum number of seconds to keep asking the coordinator; after that, waiting is left to the partition leaders."""
_FIRST_MS, _LAST_MS = 1, 20


class PreviousTransaction:
    """Asks the coordinator whether the previous transaction is complete, in transaction version 2. Runs on the loop.

    The coordinator answers EndTxn when the outcome is decided, and writes the markers some milliseconds later. If the
    next transaction writes before that, the leader holds the records, and asks the coordinator again after 20 ms
    (`add.partitions.to.txn.retry.backoff.ms`), ten times as long as a transaction may take. To avoid that delay, a
    producer that begins the next transaction immediately asks the coordinator itself, while its caller sends, and
    writes once the previous one is complete.

    Arguments:
        requests: sends requests to the coordinator.
        on_complete: called when the transaction is complete, or when waiting for it is given up.
    """

    def __init__(self, requests: TransactionRequests, on_complete: Callable[[], object]) -> None:
        self._requests = requests
        self._on_complete = on_complete
        self._loop = asyncio.get_running_loop()
        self._backoff = Backoff(_FIRST_MS, _LAST_MS)
        self._ended_at = -math.inf
        self._is_refused = False
        """Whether the coordinator refuses to answer this producer's question."""
        self.task: asyncio.Task[None] | None = None

    @property
    def pending(self) -> bool:
        """Whether the previous transaction may be incomplete."""
        return self.task is not None and not self.task.done()

    def ended(self) -> None:
        """Record that the coordinator has decided the outcome of a transaction."""
        self._ended_at = self._loop.time()

    def begin(self) -> None:
        """Handle the beginning of the next transaction; start asking if the previous one has only just ended."""
        if not self.pending and not self._is_refused and self._loop.time() < self._ended_at + _SOON_S:
            self.task = self._loop.create_task(self._ask())
            self.task.add_done_callback(lambda task: None if task.cancelled() else self._on_complete())

    async def wait(self) -> None:
        """Wait until the previous transaction is complete, for a limited time."""
        if self.task is not None:
            await asyncio.wait({self.task})

    async def _ask(self) -> None:
        attempts = 0
        try:
            async with asyncio.timeout(_PATIENCE_S):
                while not await self._requests.is_complete():
                    attempts += 1
                    await asyncio.sleep(self._backoff.seconds(attempts))
        except TimeoutError:
            log.debug("the last transaction is not complete after %g s; leaders wait for it", _PATIENCE_S)
        except Exception as error:
            self._is_refused = isinstance(error, KafkaError) and not error.retriable
            log.debug("whether the last transaction is complete is not known: %s", error)


class PartitionsListener(Protocol):
    """The owner of `TransactionPartitions`. Its methods are called on the loop."""

    @property
    def identity(self) -> TransactionIdentity:
        """The open transaction."""

    def may_send(self) -> bool:
        """Return whether partitions may still be added."""

    def partitions_added(self) -> None:
        """Handle the addition of partitions, which may now be written to."""

    def adding_failed(self, error: KafkaError) -> None:
        """Handle the coordinator's refusal to add partitions."""


class TransactionPartitions:
    """Adds partitions to the transaction before they are written to, if its version requires that. Runs on the loop.

    Arguments:
        requests: sends requests to the coordinator.
        listener: provides the transaction, and is notified when partitions are added or refused.
    """

    def __init__(self, requests: TransactionRequests, listener: PartitionsListener) -> None:
        self._requests = requests
        self._listener = listener
        self._added: set[TopicPartition] = set()
        self._wanted: set[TopicPartition] = set()
        self._asked: set[TopicPartition] = set()
        """The partitions in the pending request."""
        self._adding: asyncio.Task[None] | None = None
        self._before = PreviousTransaction(requests, listener.partitions_added)
        self.started = False
        """Whether the coordinator knows the transaction, because a partition or group was added."""
        self.in_doubt = False
        """Whether a partition or group may have been added, or may still be added."""

    def begin(self) -> None:
        """Begin an empty transaction."""
        self._added.clear()
        self._wanted.clear()
        self._asked = set()
        self.started = self.in_doubt = False
        if self._listener.identity.transaction_version >= 2:
            self._before.begin()

    def forget(self, topic: str, partitions: int) -> None:
        """Stop adding partitions that a recreated topic lacks, that is, partitions numbered `partitions` or higher."""
        for places in (self._wanted, self._asked, self._added):
            places -= {place for place in places if place.topic == topic and place.partition >= partitions}

    def ended(self) -> None:
        """Record that the coordinator has decided the outcome of the transaction."""
        self._before.ended()

    async def ready(self) -> None:
        """Wait until the coordinator accepts additions to this transaction, or refuses them for an unrelated reason."""
        await self._before.wait()

    def may_write(self, partition: TopicPartition) -> bool:
        """Return whether a partition may be written to now; if not, start adding it."""
        if self._listener.identity.transaction_version >= 2:
            if self._before.pending:
                return False
            self.in_doubt = True  # the first batch adds the partition
            return True
        if partition in self._added:
            return True
        if partition not in self._asked:
            self._wanted.add(partition)
        if self._adding is None or self._adding.done():
            self._adding = asyncio.get_running_loop().create_task(self._add())
        return False

    async def settled(self) -> None:
        """Wait until no partition is being added."""
        if self._adding is not None:
            await asyncio.wait({self._adding})

    def tasks(self) -> list[asyncio.Task[None]]:
        """Return the running tasks, to be cancelled and awaited."""
        return [task for task in (self._adding, self._before.task) if task is not None]

    async def _add(self) -> None:
        """Add the requested partitions, including those requested while this is running."""
        while self._wanted and self._listener.may_send():
            self._asked, self._wanted = self._wanted, set()
            self.in_doubt = True
            try:
                await self._requests.add_partitions(self._listener.identity, self._asked, self._listener.may_send)
            except TransactionAbortedError:
                return
            except KafkaError as error:
                self.in_doubt = False
                self._listener.adding_failed(error)
                return
            self._added |= self._asked
            if self._asked:
                self.started, self.in_doubt = True, False
            self._listener.partitions_added()
