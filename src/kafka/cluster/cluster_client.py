"""The cluster client, through which producers, consumers and admin clients send all their requests."""

import logging
import random
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from kafka._loop_services import loop_random
from kafka._variant import warn_if_plain
from kafka.cluster.backoff import Backoff
from kafka.cluster.bootstrap import Bootstrap
from kafka.cluster.current_failures import CurrentFailures
from kafka.cluster.discovery import BrokerLookup, Coordinators, Discovery
from kafka.cluster.metadata_requests import read_metadata
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.cluster.metadata_updater import MetadataUpdater
from kafka.cluster.pool import BOOTSTRAP_NODE, Address, ConnectionPool
from kafka.cluster.protocols import CoordinatorKind
from kafka.cluster.retry import RetryPolicy, anything_unexpected
from kafka.config import ConnectionOptions, SecurityOptions
from kafka.errors import (
    IllegalStateError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NoBrokersAvailable,
)
from kafka.net import Connection
from kafka.net.statistics import NetworkTraffic
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from uuid import UUID

    from kafka.wire import Request, Response
    from kafka.wire.api.metadata import MetadataResponse

log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R", bound="Response")


class ClusterClient:
    """Connections, metadata and routing for one client, on the event loop on which `start` runs.

    `send` and similar methods make one attempt; `retry` makes several. All waits have limits:
    ``socket_connection_setup_timeout_ms`` for connecting, ``request_timeout_ms`` for responses,
    ``bootstrap_timeout_ms`` for `start`.

    Arguments:
        rng: chooses among equally good brokers.
        traffic: counts requests and bytes; None: they are not counted.
        current_failures: records failures that are retried; None: they are not recorded.
    """

    def __init__(
        self,
        connection: ConnectionOptions,
        security: SecurityOptions,
        rng: random.Random | None = None,
        traffic: NetworkTraffic | None = None,
        current_failures: CurrentFailures | None = None,
    ) -> None:
        self._options = connection
        self._rng = rng if rng is not None else loop_random()
        self._pool = ConnectionPool(connection, security, self._address_of, traffic, current_failures)
        self._coordinators = Coordinators(self.any_connection)
        self._updater = MetadataUpdater(
            connection, self.any_connection, lambda: self._discovery.again(), current_failures
        )
        bootstrap = Bootstrap(connection, security, self._updater.ask_all, self._rng, self._pool.last_error_at, traffic)
        self._discovery = Discovery(bootstrap, self._updater, self._pool, self._coordinators)
        backoff = Backoff(
            connection.retry_backoff_ms, connection.retry_backoff_max_ms, current_failures=current_failures
        )
        self._retries = RetryPolicy(
            backoff, log, level=logging.DEBUG, fatal=anything_unexpected, renew=lambda _: self.refresh_metadata()
        )
        lookups = RetryPolicy(backoff, log, quiet=3, fatal=anything_unexpected)
        self._lookup = BrokerLookup(self, self._coordinators, self.any_connection, lookups)
        self._closed = False
        self.metadata: ClusterMetadata = self._updater.metadata
        """The newest metadata; immutable, so any thread may read it. Also stored here because each request reads it
        several times.
        """
        self._updater.on_change(self._take_metadata)
        warn_if_plain()

    async def start(self, *, in_background: bool = False) -> None:
        """Find the cluster and read its metadata.

        Arguments:
            in_background: return immediately, and search until the cluster is found. Until then, other calls search as
                well, and fail in the same way as when all brokers are lost.

        Raises `NoBrokersAvailable`, which names each bootstrap server and its last error;
        `SaslAuthenticationFailedError`, `UnsupportedVersionError` and `KafkaConfigurationError`; and
        `IllegalStateError` if the client is closed in the meantime.
        """
        self._updater.start()
        if in_background:
            self._updater.refresher.request()
            return
        try:
            await self._discovery.start()
        except NoBrokersAvailable as error:  # the message is sufficient; a traceback would fill a screen
            raise error.with_traceback(None) from error.__cause__
        self._updater.refresher.fetched()

    async def close(self) -> None:
        """Close all connections; pending operations fail. Does not raise."""
        self._closed = True
        await self._updater.close()
        await self._discovery.close()
        await self._pool.close()

    # Metadata

    def watch_topics(self, topics: set[str] | None, *, look_first: bool = False) -> None:
        """Keep the metadata for these topics up to date from the next refresh on; None for all topics.

        Watched topics are those that the program sends to or subscribes to. A request for their metadata may create
        them, if ``allow_auto_create_topics`` and the brokers allow it. No other metadata request creates a topic.

        Arguments:
            topics: the topics.
            look_first: look up topics that are not known with a request that does not create them, so that the metadata
                show which topics did not exist. A second request creates these.
        """
        self._updater.watched = None if topics is None else set(topics)
        self._updater.look_first = look_first

    def on_metadata(self, callback: Callable[[ClusterMetadata], object]) -> Callable[[], None]:
        """Call ``callback(metadata)`` on the loop after each change. The returned function removes the callback."""
        return self._updater.on_change(callback)

    async def refresh_metadata(self, topics: Iterable[str] | None = None) -> ClusterMetadata:
        """Request newer metadata, and return it.

        Concurrent calls share one request, and two requests are at least ``retry_backoff_ms`` apart.

        Arguments:
            topics: the topics to refresh, keeping the metadata for others; None for all watched topics, forgetting
                all others.

        Raises `KafkaConnectionError` or `NoBrokersAvailable` if no broker responds.
        """
        self._check_open()
        await self._updater.refresher.refresh(topics)
        return self.metadata

    async def read_metadata(
        self, topics: "set[str] | set[str | UUID] | None", *, authorized_operations: bool = False
    ) -> "MetadataResponse":
        """Return metadata from one broker for topics, given by name or id (None: all topics).

        Topics are neither created nor remembered.
        """
        return await read_metadata(await self.any_connection(), topics, authorized_operations)

    def request_refresh(self, topics: Iterable[str] | None = None) -> None:
        """Request a refresh, as `refresh_metadata` does, without waiting, because the metadata has proved wrong."""
        self._check_open()
        self._updater.refresher.request(topics)

    def note_leader(self, tp: TopicPartition, leader: int, leader_epoch: int) -> None:
        """Record that a response named a newer leader for a partition (KIP-951)."""
        self._updater.note_leader(tp, leader, leader_epoch)

    async def partition_leader(self, tp: TopicPartition, timeout_ms: float) -> int:
        """Return the id of a partition's leader; refresh the metadata until there is one.

        Raises `KafkaTimeoutError` if there is no leader after ``timeout_ms``. Also raises
        `TopicAuthorizationFailedError` and `InvalidTopicError`.
        """
        return await self._lookup.partition_leader(tp, timeout_ms)

    # Sending

    async def connection(self, node_id: int, channel: str = "") -> Connection:
        """Return the open connection to a broker, for callers that need its API versions or send many requests."""
        return await self._pool.get(node_id, channel)

    def ready_connection(self, node_id: int, channel: str = "") -> Connection | None:
        """Return the open connection to a broker; None if there is none."""
        return self._pool.ready(node_id, channel)

    async def send(
        self,
        node_id: int,
        request: "Request[R]",
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
        channel: str = "",
    ) -> R:
        """Send a request to a broker, without retries, and await the response.

        Arguments:
            timeout_ms: maximum wait for the response in milliseconds; None for ``request_timeout_ms``.
            min_version, max_version: the versions that support the fields that are set in the request.
            channel: selects a separate connection, so that a long poll does not delay later requests.

        Raises `KafkaConnectionError`, `KafkaTimeoutError`, `UnsupportedVersionError`, and `StaleMetadata` if the
        cluster has no broker with this id. The caller checks error codes in the response.
        """
        connection = self._pool.ready(node_id, channel) or await self._pool.get(node_id, channel)
        return await self._send_on(connection, request, timeout_ms, min_version, max_version)

    async def send_any(
        self,
        request: "Request[R]",
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
    ) -> R:
        """Like `send`, but to the least loaded broker."""
        connection = await self.any_connection()
        return await self._send_on(connection, request, timeout_ms, min_version, max_version)

    async def send_controller(
        self,
        request: "Request[R]",
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
    ) -> R:
        """Like `send`, but to the controller; with KRaft, any broker forwards the request (KIP-590).

        If the response contains `NotControllerError`, the caller should refresh the metadata and send the request
        again.
        """
        return await self.send(
            await self.controller(), request, timeout_ms=timeout_ms, min_version=min_version, max_version=max_version
        )

    async def controller(self) -> int:
        """Return the id of the broker to which controller requests are sent; see `send_controller`.

        Raises `NotControllerError` if there is currently no controller, and `UnsupportedVersionError` before Kafka
        0.10.
        """
        return await self._lookup.controller()

    async def coordinator(self, kind: CoordinatorKind, key: str, timeout_ms: float | None = None) -> int:
        """Return the id of the coordinator for a group or transactional id, cached until `forget_coordinator`.

        Raises `KafkaTimeoutError` if there is none after ``timeout_ms`` (None for ``request_timeout_ms``), and errors
        that are not retriable, such as `GroupAuthorizationFailedError`, immediately.
        """
        limit_ms = self._options.request_timeout_ms if timeout_ms is None else timeout_ms
        return await self._lookup.coordinator(kind, key, limit_ms)

    def forget_coordinator(self, kind: CoordinatorKind, key: str) -> None:
        """Clear the cached coordinator after an error such as `NotCoordinatorError`, so that it is looked up again."""
        self._coordinators.forget(kind, key)

    async def send_coordinator(
        self,
        kind: CoordinatorKind,
        key: str,
        request: "Request[R]",
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
        channel: str = "coordinator",
    ) -> R:
        """Send a request to a coordinator, as `send` does; the coordinator is looked up again after a failure."""
        node_id = await self._lookup.coordinator(kind, key, self._options.request_timeout_ms)
        try:
            return await self.send(
                node_id,
                request,
                timeout_ms=timeout_ms,
                min_version=min_version,
                max_version=max_version,
                channel=channel,
            )
        except (KafkaConnectionError, KafkaTimeoutError):
            self._coordinators.forget_node(node_id)
            raise

    def api_version(self, node_id: int, request: "type[Request[Any]]", max_version: int | None = None) -> int | None:
        """Return the version that `send` would use; None if the broker was never connected or has no such version."""
        versions = self._pool.api_versions(node_id)
        return None if versions is None else versions.pick(request, 0, max_version)

    def feature_level(self, feature: str) -> int:
        """Return the level of a cluster feature (KIP-584), as last reported by a broker; 0 if the feature is off."""
        return self._pool.feature_level(feature)

    @property
    def release(self) -> tuple[int, ...] | None:
        """``api_version`` if set, or the release of a connected broker; None if none was connected. Thread-safe."""
        return self._options.api_version or self._pool.release()

    @property
    def connected_brokers(self) -> tuple[int, ...]:
        """The ids of the connected brokers. Thread-safe."""
        return self._pool.connected()

    @property
    def metadata_renewed_at(self) -> float:
        """Loop time in seconds when the metadata was last read; minus infinity if it was never read. Thread-safe."""
        return self._updater.renewed_at

    async def retry(self, what: str, operation: Callable[[], Awaitable[T]], timeout_ms: float | None) -> T:
        """Retry ``operation`` with growing pauses until it succeeds, and with fresh metadata if an error requires that.

        Arguments:
            what: describes the operation in errors.
            timeout_ms: maximum time for retries in milliseconds; None for no limit.

        Raises the errors of `RetryPolicy.run`. An error that is not a `KafkaError` is raised immediately.
        """
        return await self._retries.run(what, operation, timeout_ms)

    async def any_connection(self) -> Connection:
        """Return a connection to the least loaded broker, or to the first one that can be reached.

        If no broker can be reached, asks the bootstrap servers again, because all brokers may have moved (KIP-899).
        Raises `KafkaConnectionError` or `NoBrokersAvailable`.
        """
        self._check_open()
        nodes = [node.nodeId for node in self.metadata.brokers()]
        self._rng.shuffle(nodes)
        loads = [(load, node) for node in nodes if (load := self._pool.load(node)) is not None]
        if loads:
            return await self._pool.get(min(loads, key=lambda each: each[0])[1])  # any broker among equals will do
        for node in sorted(nodes, key=lambda node: self._pool.blocked_for(node) > 0):
            try:
                return await self._pool.get(node)
            except KafkaConnectionError as error:
                log.debug("%s", error)
        return self._pool.ready(BOOTSTRAP_NODE) or await self._discovery.again()

    # Internals

    def _take_metadata(self, metadata: ClusterMetadata) -> None:
        self.metadata = metadata

    def _address_of(self, node_id: int) -> Address | None:
        node = self.metadata.broker_metadata(node_id) or self._coordinators.nodes.get(node_id)
        return (node.host, node.port) if node is not None else None

    def _check_open(self) -> None:
        if self._closed:
            raise IllegalStateError("the client is closed")

    @staticmethod
    async def _send_on(
        connection: Connection,
        request: "Request[R]",
        timeout_ms: float | None,
        min_version: int,
        max_version: int | None,
    ) -> R:
        version = connection.api_versions.version_for(type(request), min_version, max_version)
        return await connection.send(request, version, timeout_ms)
