"""The cluster client: the producer, the consumer and the admin client send all their requests through it."""

import logging
import random
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from kafka._loop_services import loop_random
from kafka._variant import warn_if_plain
from kafka.cluster.backoff import Backoff
from kafka.cluster.bootstrap import Bootstrap
from kafka.cluster.coordinators import Coordinators
from kafka.cluster.current_failures import CurrentFailures
from kafka.cluster.discovery import BrokerLookup, Discovery
from kafka.cluster.metadata import ClusterMetadata
from kafka.cluster.metadata_requests import read_metadata
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
    """Connections, metadata and routing for one client, on the event loop that `start` runs on.

    `send` and its kin try once; `retry` repeats. What is slow here is bounded: connecting by
    ``socket_connection_setup_timeout_ms``, an answer by ``request_timeout_ms``, `start` by ``bootstrap_timeout_ms``.

    Arguments:
        rng: picks among brokers that are equally good.
        traffic: counts what is exchanged with the brokers; None: nobody looks at that.
        current_failures: shows what fails and is tried again; None: nobody looks at that.
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
        """The newest picture of the cluster; immutable, so any thread may read it. Kept here as well, as each request
        looks at it several times."""
        self._updater.on_change(self._take_metadata)
        warn_if_plain()

    async def start(self, *, in_background: bool = False) -> None:
        """Find the cluster and read its metadata.

        Arguments:
            in_background: return at once, and look until the cluster is found. What is asked meanwhile looks too, and
                fails as it does where all brokers are lost.

        Raises `NoBrokersAvailable`, which names each bootstrap server and what it answered;
        `SaslAuthenticationFailedError`, `UnsupportedVersionError`, `KafkaConfigurationError`; `IllegalStateError` if
        the client is closed meanwhile.
        """
        self._updater.start()
        if in_background:
            self._updater.refresher.request()
            return
        try:
            await self._discovery.start()
        except NoBrokersAvailable as error:  # it says all: where it was raised would fill a screen
            raise error.with_traceback(None) from error.__cause__
        self._updater.refresher.fetched()

    async def close(self) -> None:
        """Close all connections; what is under way fails. Does not raise."""
        self._closed = True
        await self._updater.close()
        await self._discovery.close()
        await self._pool.close()

    # Metadata

    def watch_topics(self, topics: set[str] | None) -> None:
        """From the next refresh on keep the metadata of these topics; None: of all.

        These are the topics that the program sends to or subscribes to: asking for them may create them, where
        ``allow_auto_create_topics`` says so and the brokers do it. No other request for metadata creates a topic.
        """
        self._updater.watched = None if topics is None else set(topics)

    def on_metadata(self, callback: Callable[[ClusterMetadata], object]) -> Callable[[], None]:
        """Call ``callback(metadata)`` on the loop after each change; calling what this returns ends that."""
        return self._updater.on_change(callback)

    async def refresh_metadata(self, topics: Iterable[str] | None = None) -> ClusterMetadata:
        """Ask for metadata newer than what was there, and give them.

        Calls at the same time share one request, and two requests are ``retry_backoff_ms`` apart.

        Arguments:
            topics: only these, beside what is known of others; None: all that is watched, forgetting others.

        Raises `KafkaConnectionError` or `NoBrokersAvailable` when no broker answers.
        """
        self._check_open()
        await self._updater.refresher.refresh(topics)
        return self.metadata

    async def read_metadata(
        self, topics: "set[str] | set[str | UUID] | None", *, authorized_operations: bool = False
    ) -> "MetadataResponse":
        """One broker's present answer about these topics, named or by id (None: all); none is created or remembered."""
        return await read_metadata(await self.any_connection(), topics, authorized_operations)

    def request_refresh(self, topics: Iterable[str] | None = None) -> None:
        """As `refresh_metadata`, without waiting: the present picture has proved wrong."""
        self._check_open()
        self._updater.refresher.request(topics)

    def note_leader(self, tp: TopicPartition, leader: int, leader_epoch: int) -> None:
        """A response named a newer leader of a partition than the metadata do (KIP-951)."""
        self._updater.note_leader(tp, leader, leader_epoch)

    async def partition_leader(self, tp: TopicPartition, timeout_ms: float) -> int:
        """The id of the broker that leads a partition, refreshing the metadata until there is one.

        Raises `KafkaTimeoutError` if there is none in time, `TopicAuthorizationFailedError` and `InvalidTopicError`.
        """
        return await self._lookup.partition_leader(tp, timeout_ms)

    # Sending

    async def connection(self, node_id: int, channel: str = "") -> Connection:
        """The open connection to a broker, for callers that send many requests or need its versions beforehand."""
        return await self._pool.get(node_id, channel)

    def ready_connection(self, node_id: int, channel: str = "") -> Connection | None:
        """As `connection`, but None instead of opening one."""
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
        """Send a request to one broker and await the response; one try.

        Arguments:
            timeout_ms: how long the answer may take; None: ``request_timeout_ms``.
            min_version, max_version: versions that the request, as it is filled in, can be sent in.
            channel: a connection of its own, so that a long poll does not hold up what comes after it.

        Raises `KafkaConnectionError`, `KafkaTimeoutError`, `StaleMetadata` for an id that the cluster does not have,
        `UnsupportedVersionError`. Error codes inside the response are the caller's to look at.
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
        """As `send`, to the broker that has the least to do."""
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
        """As `send`, to the controller; with KRaft that is any broker, which passes the request on (KIP-590).

        After `NotControllerError` in a response, refresh the metadata and send again.
        """
        return await self.send(
            await self.controller(), request, timeout_ms=timeout_ms, min_version=min_version, max_version=max_version
        )

    async def controller(self) -> int:
        """The id of the broker to send to what only the controller can do, see `send_controller`.

        Raises `NotControllerError` when there is none at the moment, `UnsupportedVersionError` before Kafka 0.10.
        """
        return await self._lookup.controller()

    async def coordinator(self, kind: CoordinatorKind, key: str, timeout_ms: float | None = None) -> int:
        """The id of the broker that coordinates a group or a transactional id, remembered until it is forgotten.

        Raises `KafkaTimeoutError` if there is none in time (None: ``request_timeout_ms``), and at once what is not
        retriable, such as `GroupAuthorizationFailedError`.
        """
        limit_ms = self._options.request_timeout_ms if timeout_ms is None else timeout_ms
        return await self._lookup.coordinator(kind, key, limit_ms)

    def forget_coordinator(self, kind: CoordinatorKind, key: str) -> None:
        """Look the coordinator up again next time, after `NotCoordinatorError` and the like."""
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
        """As `send`, to the coordinator of a group or transactional id; a broker that fails is looked up anew."""
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
        """The version that `send` would use; None: the broker was not connected yet, or has no fitting version."""
        versions = self._pool.api_versions(node_id)
        return None if versions is None else versions.pick(request, 0, max_version)

    def feature_level(self, feature: str) -> int:
        """The level that a feature of the cluster is at (KIP-584), as far as a broker has told; 0: it is off there."""
        return self._pool.feature_level(feature)

    @property
    def release(self) -> tuple[int, ...] | None:
        """``api_version`` as given, or the release of a broker that was connected; None: none was. In any thread."""
        return self._options.api_version or self._pool.release()

    @property
    def connected_brokers(self) -> tuple[int, ...]:
        """The ids of the brokers that a connection is open to. In any thread."""
        return self._pool.connected()

    @property
    def metadata_renewed_at(self) -> float:
        """When the metadata were last read, in the loop's seconds; minus infinity: never. In any thread."""
        return self._updater.renewed_at

    async def retry(self, what: str, operation: Callable[[], Awaitable[T]], timeout_ms: float | None) -> T:
        """Repeat ``operation`` with growing pauses, with fresh metadata where the error asks for it; None: for ever.

        Arguments:
            what: names it in errors.

        Raises as `RetryPolicy.run` does, and at once what is no error of Kafka's.
        """
        return await self._retries.run(what, operation, timeout_ms)

    async def any_connection(self) -> Connection:
        """A connection to the broker that has the least to do, or to the first that can be reached.

        When none can be reached, the bootstrap servers are asked again (KIP-899): all brokers may have moved.
        Raises `KafkaConnectionError` or `NoBrokersAvailable`.
        """
        self._check_open()
        nodes = [node.nodeId for node in self.metadata.brokers()]
        self._rng.shuffle(nodes)
        loads = [(load, node) for node in nodes if (load := self._pool.load(node)) is not None]
        if loads:
            return await self._pool.get(min(loads, key=lambda each: each[0])[1])  # the first of equals: any
        for node in sorted(nodes, key=lambda node: self._pool.blocked_for(node) > 0):
            try:
                return await self._pool.get(node)
            except KafkaConnectionError as error:
                log.debug("%s", error)
        return self._pool.ready(BOOTSTRAP_NODE) or await self._discovery.again()

    # Inside

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
