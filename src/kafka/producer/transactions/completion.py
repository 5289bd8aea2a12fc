"""Whether the coordinator is done with the transaction before the one that is open, in version 2 of transactions.

EndTxn is answered when the end is decided; the markers are written afterwards, within some milliseconds. What is
written to the next transaction before that is kept by the leader, which asks the coordinator again after 20 ms
(`add.partitions.to.txn.retry.backoff.ms`), ten times what a transaction may take. So a producer that begins the next
one at once asks the coordinator itself how far it is, while its caller sends, and writes when it is done.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable

from kafka.cluster.backoff import Backoff
from kafka.errors import KafkaError
from kafka.producer.transactions.requests import TransactionRequests

log = logging.getLogger(__name__)

_SOON_S = 0.1
"""For how long after its end a transaction may be unfinished; who begins the next one later need not ask."""
_PATIENCE_S = 1.0
"""How long to ask; after that the leaders wait for the coordinator."""
_FIRST_MS, _LAST_MS = 1, 20


class Completion:
    """Asks whether the transaction before is complete. On the loop.

    Arguments:
        requests: ask the coordinator.
        on_complete: called when the answer is there, or when it is no longer waited for.
    """

    def __init__(self, requests: TransactionRequests, on_complete: Callable[[], object]) -> None:
        self._requests = requests
        self._on_complete = on_complete
        self._loop = asyncio.get_running_loop()
        self._backoff = Backoff(_FIRST_MS, _LAST_MS)
        self._ended_at = -math.inf
        self._is_refused = False
        """The coordinator does not tell this producer."""
        self.task: asyncio.Task[None] | None = None

    @property
    def pending(self) -> bool:
        """Whether the transaction before may be unfinished."""
        return self.task is not None and not self.task.done()

    def ended(self) -> None:
        """The coordinator has decided the end of a transaction."""
        self._ended_at = self._loop.time()

    def begin(self) -> None:
        """The next one begins: ask, if the end of the last one is so fresh that it matters."""
        if not self.pending and not self._is_refused and self._loop.time() < self._ended_at + _SOON_S:
            self.task = self._loop.create_task(self._ask())
            self.task.add_done_callback(lambda task: None if task.cancelled() else self._on_complete())

    async def wait(self) -> None:
        """Wait until it is complete, or was asked for long enough."""
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
