"""Which partitions belong to the open transaction, and whether there is anything in it that has to be ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kafka.errors import KafkaError, TransactionAbortedError
from kafka.producer.transactions.completion import Completion
from kafka.producer.transactions.identity import TransactionIdentity
from kafka.producer.transactions.requests import TransactionRequests
from kafka.structs import TopicPartition


class TransactionPartitions:
    """Adds partitions to the transaction before they are written to, where the version wants that. On the loop.

    Arguments:
        requests: ask the coordinator.
        identity: gives the open transaction.
        go_on: whether partitions may be added still.
        on_added: called when more may be written to.
        on_failed: called where the coordinator refuses.
    """

    def __init__(
        self,
        requests: TransactionRequests,
        identity: Callable[[], TransactionIdentity],
        go_on: Callable[[], bool],
        on_added: Callable[[], object],
        on_failed: Callable[[KafkaError], object],
    ) -> None:
        self._requests = requests
        self._identity = identity
        self._go_on = go_on
        self._on_added = on_added
        self._on_failed = on_failed
        self._added: set[TopicPartition] = set()
        self._wanted: set[TopicPartition] = set()
        self._asked: set[TopicPartition] = set()
        """What the request adds that is out."""
        self._adding: asyncio.Task[None] | None = None
        self._before = Completion(requests, on_added)
        self.started = False
        """The coordinator has the transaction: something was added."""
        self.in_doubt = False
        """Something may have been added, or may still be."""

    def begin(self) -> None:
        """A transaction begins: nothing is in it."""
        self._added.clear()
        self._wanted.clear()
        self._asked = set()
        self.started = self.in_doubt = False
        if self._identity().transaction_version >= 2:
            self._before.begin()

    def forget(self, topic: str, partitions: int) -> None:
        """A topic was made again, and has only so many partitions: the others are not added any more."""
        for places in (self._wanted, self._asked, self._added):
            places -= {place for place in places if place.topic == topic and place.partition >= partitions}

    def ended(self) -> None:
        """The coordinator has decided the end of the transaction."""
        self._before.ended()

    async def ready(self) -> None:
        """Wait until the coordinator takes something into this transaction, or refuses it for a reason of its own."""
        await self._before.wait()

    def may_write(self, partition: TopicPartition) -> bool:
        """Whether a partition may be written to now; if not, it is added."""
        if self._identity().transaction_version >= 2:
            if self._before.pending:
                return False
            self.in_doubt = True  # the first batch adds it
            return True
        if partition in self._added:
            return True
        if partition not in self._asked:
            self._wanted.add(partition)
        if self._adding is None or self._adding.done():
            self._adding = asyncio.get_running_loop().create_task(self._add())
        return False

    async def settled(self) -> None:
        """Wait until nothing is being added."""
        if self._adding is not None:
            await asyncio.wait({self._adding})

    def tasks(self) -> list[asyncio.Task[None]]:
        """What goes on: to be cancelled and awaited."""
        return [task for task in (self._adding, self._before.task) if task is not None]

    async def _add(self) -> None:
        """Add what is wanted, and what comes meanwhile."""
        while self._wanted and self._go_on():
            self._asked, self._wanted = self._wanted, set()
            self.in_doubt = True
            try:
                await self._requests.add_partitions(self._identity(), self._asked, self._go_on)
            except TransactionAbortedError:
                return
            except KafkaError as error:
                self.in_doubt = False
                self._on_failed(error)
                return
            self._added |= self._asked
            if self._asked:
                self.started, self.in_doubt = True, False
            self._on_added()
