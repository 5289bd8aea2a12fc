"""Finds the cluster through the bootstrap servers, when a client starts and whenever all known brokers are lost."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from kafka.cluster.bootstrap import Bootstrap, Found
from kafka.cluster.coordinators import Coordinators
from kafka.cluster.metadata_updater import MetadataUpdater
from kafka.cluster.pool import BOOTSTRAP_NODE, ConnectionPool, outcome_of
from kafka.errors import IllegalStateError
from kafka.net import Connection

log = logging.getLogger(__name__)


class Discovery:
    """Asks the bootstrap servers, and hands what they answer to the parts of the client.

    Arguments:
        bootstrap: asks them.
        updater: is given the metadata.
        pool: is given the connection.
        coordinators: forgets what it knew of the cluster before.
    """

    def __init__(
        self, bootstrap: Bootstrap, updater: MetadataUpdater, pool: ConnectionPool, coordinators: Coordinators
    ) -> None:
        self._bootstrap = bootstrap
        self._updater = updater
        self._pool = pool
        self._coordinators = coordinators
        self._running: set[asyncio.Task[Connection]] = set()
        self._search: asyncio.Task[Connection] | None = None
        self._closed = False

    async def start(self) -> Connection:
        """Find the cluster for the first time. Raises as `Bootstrap.until_found` does."""
        task = self._start_search(self._bootstrap.until_found)
        try:
            return await outcome_of(task)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait((task,))
            raise

    async def again(self) -> Connection:
        """Find a cluster that was lost (KIP-899, KIP-1102), in one search for all who miss it.

        Raises as `Bootstrap.again` does.
        """
        if self._search is None:
            self._search = self._start_search(self._bootstrap.again)
            self._search.add_done_callback(self._search_ended)
        return await outcome_of(self._search)

    async def close(self) -> None:
        """End what is under way, whose callers get `IllegalStateError`."""
        self._closed = True
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _start_search(self, look: Callable[[set[str] | None], Awaitable[Found]]) -> "asyncio.Task[Connection]":
        """Look for the cluster in a task of its own, which `close` ends."""
        if self._closed:
            raise IllegalStateError("the client is closed")
        task = asyncio.get_running_loop().create_task(self._look(look))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def _search_ended(self, search: "asyncio.Task[Connection]") -> None:
        """Let the next caller search anew. Whoever wanted this one may have given up: its failure counts as seen."""
        self._search = None
        if not search.cancelled() and search.exception() is None:
            log.info("found the cluster again through %s", search.result().described_as)

    async def _look(self, look: Callable[[set[str] | None], Awaitable[Found]]) -> Connection:
        """Take in what a bootstrap server answered, and its connection for the broker it leads to."""
        connection, answer = await look(self._updater.watched)
        self._coordinators.clear()
        self._pool.try_all_again()
        self._updater.take_in(answer)
        address = (connection.host, connection.port)
        brokers = self._updater.metadata.brokers()
        same = [node.nodeId for node in brokers if (node.host, node.port) == address]
        self._pool.adopt(same[0] if same else BOOTSTRAP_NODE, connection)
        return connection
