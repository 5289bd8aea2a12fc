"""Finds the cluster through the bootstrap servers, and the broker for each request: leader, controller, coordinator."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from kafka.cluster.bootstrap import Bootstrap, Found
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.cluster.metadata_updater import MetadataUpdater
from kafka.cluster.pool import BOOTSTRAP_NODE, ConnectionPool, outcome_of
from kafka.cluster.protocols import CoordinatorKind, MetadataAccess
from kafka.cluster.retry import RetryPolicy
from kafka.errors import (
    CoordinatorNotAvailableError,
    IllegalStateError,
    KafkaConfigurationError,
    LeaderNotAvailableError,
    NotControllerError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
    for_code,
)
from kafka.net import Connection
from kafka.structs import BrokerMetadata, TopicPartition
from kafka.wire.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka.wire.api.metadata import MetadataRequest

_KEY_TYPES = {"group": 0, "transaction": 1}
_BATCHED_SINCE = 4


class Coordinators:
    """Finds and caches the coordinators for groups and transactional ids.

    Arguments:
        any_connection: returns an open connection to any broker.
    """

    def __init__(self, any_connection: Callable[[], Awaitable[Connection]]) -> None:
        self._any_connection = any_connection
        self._known: dict[tuple[str, str], int] = {}
        self.nodes: dict[int, BrokerMetadata] = {}

    def known(self, kind: CoordinatorKind, key: str) -> int | None:
        """Return the cached coordinator, or None."""
        return self._known.get((kind, key))

    def forget(self, kind: CoordinatorKind, key: str) -> None:
        """Remove a coordinator from the cache, because it has moved or does not respond."""
        self._known.pop((kind, key), None)

    def forget_node(self, node_id: int) -> None:
        """Remove all coordinators on a broker from the cache, because the broker does not respond."""
        for each in [each for each, node in self._known.items() if node == node_id]:
            del self._known[each]

    def clear(self) -> None:
        """Clear the cache after the cluster has been rediscovered."""
        self._known.clear()
        self.nodes.clear()

    async def find(self, kind: CoordinatorKind, key: str) -> int:
        """Send one FindCoordinator request. Raises the error in the response, and errors of `Connection.send`."""
        connection = await self._any_connection()
        version = connection.api_versions.version_for(FindCoordinatorRequest)
        response = await connection.send(_request(kind, key, version), version)
        answer, error_code, message = _answer(response, version)
        if error_code:
            error = for_code(error_code)
            raise error(f"{message or error.description} (coordinator of {kind} {key!r})")
        if answer.node_id < 0:
            raise CoordinatorNotAvailableError(f"there is no coordinator of {kind} {key!r} at the moment")
        self.nodes[answer.node_id] = BrokerMetadata(answer.node_id, answer.host, answer.port, None)
        self._known[kind, key] = int(answer.node_id)
        return int(answer.node_id)


def _request(kind: CoordinatorKind, key: str, version: int) -> FindCoordinatorRequest:
    if kind not in _KEY_TYPES:
        raise KafkaConfigurationError(f"expected 'group' or 'transaction' as the kind of coordinator, not {kind!r}")
    if version >= _BATCHED_SINCE:
        return FindCoordinatorRequest(key_type=_KEY_TYPES[kind], coordinator_keys=[key])
    if version == 0:
        if kind != "group":
            raise UnsupportedVersionError("the brokers are too old for transactions: those need Kafka 0.11")
        return FindCoordinatorRequest(key=key)
    return FindCoordinatorRequest(key=key, key_type=_KEY_TYPES[kind])


def _answer(response: FindCoordinatorResponse, version: int) -> tuple[Any, int, str | None]:
    """Return the part of a response that contains node, host and port, and the error code and message."""
    if version < _BATCHED_SINCE:
        return response, response.error_code, response.error_message
    found: Sequence[Any] = response.coordinators
    if not found:
        raise CoordinatorNotAvailableError("the broker's response names no coordinator")
    return found[0], found[0].error_code, found[0].error_message


log = logging.getLogger(__name__)


class Discovery:
    """Asks the bootstrap servers, and passes the response to the parts of the client.

    Arguments:
        bootstrap: asks the servers.
        updater: receives the metadata.
        pool: receives the connection.
        coordinators: the coordinator cache, which is cleared when the cluster is found again.
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
        """Find the cluster for the first time. Raises the errors of `Bootstrap.until_found`."""
        task = self._start_search(self._bootstrap.until_found)
        try:
            return await outcome_of(task)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait((task,))
            raise

    async def again(self) -> Connection:
        """Find a lost cluster again (KIP-899, KIP-1102); concurrent callers share one search.

        Raises the errors of `Bootstrap.again`.
        """
        if self._search is None:
            self._search = self._start_search(self._bootstrap.again)
            self._search.add_done_callback(self._search_ended)
        return await outcome_of(self._search)

    async def close(self) -> None:
        """Cancel all searches, which raises `IllegalStateError` in their callers."""
        self._closed = True
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _start_search(self, look: Callable[[set[str] | None], Awaitable[Found]]) -> "asyncio.Task[Connection]":
        """Start a separate task that searches for the cluster; `close` cancels it."""
        if self._closed:
            raise IllegalStateError("the client is closed")
        task = asyncio.get_running_loop().create_task(self._look(look))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def _search_ended(self, search: "asyncio.Task[Connection]") -> None:
        """Let the next caller start a new search. Retrieve the exception, because all callers may have given up."""
        self._search = None
        if not search.cancelled() and search.exception() is None:
            log.info("found the cluster again through %s", search.result().described_as)

    async def _look(self, look: Callable[[set[str] | None], Awaitable[Found]]) -> Connection:
        """Search for the cluster; keep the returned metadata, and the connection to the broker that responded."""
        connection, answer = await look(self._updater.watched)
        self._coordinators.clear()
        self._pool.try_all_again()
        self._updater.take_in(answer)
        address = (connection.host, connection.port)
        brokers = self._updater.metadata.brokers()
        same = [node.nodeId for node in brokers if (node.host, node.port) == address]
        self._pool.adopt(same[0] if same else BOOTSTRAP_NODE, connection)
        return connection


class BrokerLookup:
    """Finds brokers by their role. The methods are documented in `ClusterClient`.

    Arguments:
        cluster: provides and refreshes the metadata.
        coordinators: looks up coordinators; each lookup is one attempt.
        any_connection: returns a connection to any broker.
        retries: retries lookups without a result.
    """

    def __init__(
        self,
        cluster: MetadataAccess,
        coordinators: Coordinators,
        any_connection: Callable[[], Awaitable[Connection]],
        retries: RetryPolicy,
    ) -> None:
        self._cluster = cluster
        self._coordinators = coordinators
        self._any_connection = any_connection
        self._retries = retries

    async def partition_leader(self, tp: TopicPartition, timeout_ms: float) -> int:
        """See `ClusterClient.partition_leader`."""
        leader = self._cluster.metadata.leader_for_partition(tp)
        if leader is not None:
            return leader

        async def look() -> int:
            return _leader(await self._cluster.refresh_metadata([tp.topic]), tp)

        what = f"looking for the leader of partition {tp.partition} of topic {tp.topic!r}"
        return await self._retries.run(what, look, timeout_ms)

    async def controller(self) -> int:
        """See `ClusterClient.controller`."""
        metadata = self._cluster.metadata
        if metadata.broker_metadata(metadata.controller_id) is None:
            metadata = await self._cluster.refresh_metadata(())
        controller = metadata.controller_id
        if metadata.broker_metadata(controller) is None:
            connection = await self._any_connection()
            if connection.api_versions.pick(MetadataRequest, min_version=1) is None:
                raise UnsupportedVersionError("brokers before 0.10 do not tell which of them is the controller")
            raise NotControllerError("the cluster has no controller at the moment")
        return controller

    async def coordinator(self, kind: CoordinatorKind, key: str, timeout_ms: float) -> int:
        """See `ClusterClient.coordinator`."""
        known = self._coordinators.known(kind, key)
        if known is not None:
            return known
        what = f"looking for the coordinator of {kind} {key!r}"
        return await self._retries.run(what, lambda: self._coordinators.find(kind, key), timeout_ms)


def _leader(metadata: ClusterMetadata, tp: TopicPartition) -> int:
    """Return a partition's leader from the metadata. Raises an error with the reason if there is none."""
    leader = metadata.leader_for_partition(tp)
    if leader is not None:
        return leader
    error = metadata.topic_errors.get(tp.topic)
    if error is not None:
        raise error(f"topic {tp.topic!r}: {error.description}")
    if metadata.partition_metadata(tp) is None:
        raise UnknownTopicOrPartitionError(f"topic {tp.topic!r} has no partition {tp.partition}")
    raise LeaderNotAvailableError(f"partition {tp.partition} of topic {tp.topic!r} has no leader at the moment")
