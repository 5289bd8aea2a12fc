"""The part of a `KafkaClient` that runs on the loop: connections by node id, their requests, and node states."""

from __future__ import annotations

import queue
import random
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from kafka.cluster import Backoff, ClusterClient
from kafka.config import ConnectionOptions
from kafka.errors import IllegalStateError, IncompatibleBrokerVersion, KafkaConnectionError, KafkaError
from kafka.legacy.client_async.cluster_metadata import ClusterMetadata
from kafka.legacy.kafka_future import Future
from kafka.legacy.protocol.translation import translate
from kafka.net import LoopThread
from kafka.wire import Request

if TYPE_CHECKING:
    from kafka.net import Connection


Event = Callable[[], Any]
"""Completes a future, or does similar work, in the polling thread. Returns the response, or None if there is none."""


class Completions:
    """A queue of events; any thread may add to it.

    Attributes:
        notify: called each time an event is added, in the thread that adds it, to wake a second waiter.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.notify: Callable[[], object] | None = None

    def put(self, event: Event) -> None:
        """Add an event."""
        self._queue.put(event)
        if self.notify is not None:
            self.notify()

    def wake(self) -> None:
        """Wake the thread that waits in `take`, so that it checks the state again."""
        self.put(lambda: None)

    def take(self, timeout_s: float) -> list[Any]:
        """Wait for an event, run all events in the queue, and return their responses."""
        responses = []
        try:
            event = self._queue.get(timeout=timeout_s) if timeout_s > 0 else self._queue.get_nowait()
            while True:
                response = event()
                if response is not None:
                    responses.append(response)
                event = self._queue.get_nowait()
        except queue.Empty:
            return responses


NodeId = int | str
"""A broker's id; "bootstrap-0" and similar for any broker; "coordinator-1" for a separate connection to broker 1."""

_COORDINATOR = "coordinator-"
_BOOTSTRAP = "bootstrap-"


class Node:
    """The connection state of one node."""

    __slots__ = ("connecting", "connection", "failures", "in_flight", "not_before")

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.connecting = False
        self.failures = 0
        self.in_flight = 0
        self.not_before = 0.0

    @property
    def is_connected(self) -> bool:
        return self.connection is not None and not self.connection.closed

    @property
    def delay_s(self) -> float:
        """Return the seconds until a connection to a failed node may be retried."""
        return 0.0 if self.is_connected else max(0.0, self.not_before - time.monotonic())


class NodeConnections:
    """Connects, sends requests and fetches metadata, and passes the results to `completions`.

    Arguments:
        cluster: a cluster client that has been started.
        completions: receives the events.
    """

    def __init__(
        self, cluster: ClusterClient, loop_thread: LoopThread, options: ConnectionOptions, completions: Completions
    ) -> None:
        self._cluster = cluster
        self._loop_thread = loop_thread
        self._backoff = Backoff(options.reconnect_backoff_ms, options.reconnect_backoff_max_ms)
        self._completions = completions
        self._pending: dict[Future, Node] = {}
        self.nodes: dict[NodeId, Node] = {}
        loop_thread.on_death(self, NodeConnections._fail_pending)

    def connect(self, node_id: NodeId) -> bool:
        """Start connecting to a node, unless it is connected. Return False if it is too early to retry."""
        node = self.nodes.setdefault(node_id, Node())
        if node.connecting or node.is_connected:
            return True
        if node.delay_s > 0:
            return False
        node.connecting = True
        self._loop_thread.spawn(self._connect(node_id, node))
        return True

    async def _connect(self, node_id: NodeId, node: Node) -> None:
        try:
            node.connection = await self.connection(node_id)
            node.failures = 0
        except KafkaError:
            node.failures += 1
            node.not_before = time.monotonic() + self._backoff.seconds(node.failures)
        finally:
            node.connecting = False
            self._completions.wake()

    async def connection(self, node_id: NodeId) -> Connection:
        """Return the connection for a node id. Raises `KafkaConnectionError` or a similar error."""
        if isinstance(node_id, int):
            return await self._cluster.connection(node_id)
        if node_id.startswith(_COORDINATOR):
            return await self._cluster.connection(int(node_id.removeprefix(_COORDINATOR)), "coordinator")
        if node_id.startswith(_BOOTSTRAP):
            return await self._cluster.any_connection()
        raise KafkaConnectionError(f"there is no node {node_id!r}")

    def send(self, node: Node, request: Any, timeout_ms: float | None) -> Future:
        """Send a request on a node's open connection."""
        future = Future()
        if node.connection is None:
            raise IllegalStateError("the node is not connected")
        self._pending[future] = node
        node.in_flight += 1
        self._loop_thread.spawn(self._exchange(node.connection, request, timeout_ms, future))
        return future

    async def _exchange(self, connection: Connection, request: Any, timeout_ms: float | None, future: Future) -> None:
        event: Callable[[], Any]
        try:
            if isinstance(request, Request):
                answer = await connection.send(request, None, timeout_ms)
                event = partial(self._succeed, future, lambda: answer)
            else:
                translated = translate(request, connection.api_versions, connection.described_as)
                answer = await connection.send(translated.message, translated.version, timeout_ms)
                has_answer = request.expect_response()
                event = partial(self._succeed, future, lambda: translated.read(answer) if has_answer else None)
        except Exception as error:
            event = partial(self._fail, future, error)
        self._completions.put(event)

    def _succeed(self, future: Future, read: Callable[[], Any]) -> Any:
        """Complete a future with the response that `read` returns, or with the error that it raises."""
        self._is_answered(future)
        try:
            response = read()
        except Exception as error:
            future.failure(error)
            return None
        future.success(response)
        return response

    def _is_answered(self, future: Future) -> None:
        node = self._pending.pop(future, None)
        if node is not None:
            node.in_flight -= 1

    def _fail(self, future: Future, error: BaseException) -> None:
        self._is_answered(future)
        if not future.is_done:
            future.failure(error)

    def _fail_pending(self, error: BaseException) -> None:
        for future in list(self._pending):
            self._completions.put(partial(self._fail, future, error))

    def spawn(self, work: Coroutine[Any, Any, Any], done: Callable[[Any, KafkaError | None], None]) -> None:
        """Run a coroutine on the loop; call `done` in the polling thread with its result or error."""

        async def run() -> None:
            result, failure = None, None
            try:
                result = await work
            except KafkaError as error:
                failure = error
            self._completions.put(lambda: done(result, failure))

        self._loop_thread.spawn(run())

    def close(self, node_id: NodeId) -> None:
        """Close the connection to a node."""
        node = self.nodes.pop(node_id, None)
        if node is not None and node.connection is not None:
            self._loop_thread.spawn(node.connection.close())


class NodeStates:
    """The methods of a client that query node states."""

    cluster: ClusterMetadata
    check_version: Callable[..., tuple[int, ...]]
    _api_versions: dict[int, tuple[int, int]]
    _nodes: NodeConnections
    _core: ClusterClient
    _loop_thread: LoopThread
    _max_in_flight: int
    _refreshing: bool

    def _node(self, node_id: NodeId) -> Node:
        return self._nodes.nodes.get(node_id) or Node()

    def maybe_connect(self, node_id: NodeId, wakeup: bool = True) -> bool:
        """Start connecting to a node. Return False if the node does not exist, or has just failed."""
        return self.cluster.broker_metadata(node_id) is not None and self._nodes.connect(node_id)

    def ready(self, node_id: NodeId, metadata_priority: bool = True) -> bool:
        """Return whether a node accepts requests. If not, start connecting to it; calls to `poll` continue this."""
        self.maybe_connect(node_id)
        return self.is_ready(node_id, metadata_priority)

    def is_ready(self, node_id: NodeId, metadata_priority: bool = True) -> bool:
        """Return whether a node accepts requests: it is connected and has capacity, and no metadata refresh is due."""
        if metadata_priority and (self._refreshing or self.cluster.ttl() <= 0):
            return False
        return self._can_send(self._node(node_id))

    def _is_connecting(self, names: tuple[Any, ...]) -> bool:
        """Return whether a node with one of these ids is connecting."""
        return any(node.connecting for node_id, node in list(self._nodes.nodes.items()) if str(node_id) in names)

    def _can_send(self, node: Node) -> bool:
        return node.is_connected and node.in_flight < self._max_in_flight

    def connected(self, node_id: NodeId) -> bool:
        """Return whether a node is connected."""
        return self._node(node_id).is_connected

    def is_disconnected(self, node_id: NodeId) -> bool:
        """Return whether a connection to a node was attempted and is not open."""
        node = self._nodes.nodes.get(node_id)
        return node is not None and not node.is_connected and not node.connecting

    def connection_failed(self, node_id: NodeId) -> bool:
        """Return whether the last attempt to connect to a node failed."""
        return self.is_disconnected(node_id) and self._node(node_id).failures > 0

    def connection_delay(self, node_id: NodeId) -> float:
        """Return the milliseconds until a connection to a failed node may be retried."""
        return self._node(node_id).delay_s * 1000

    def throttle_delay(self, node_id: NodeId) -> int:
        """Return 0: each connection delays its requests itself while its broker throttles."""
        return 0

    def least_loaded_node(self) -> Any:
        """Return the connected node with the fewest requests in flight, otherwise a node to connect to, or None."""
        found = [broker.nodeId for broker in self.cluster.brokers()]
        random.shuffle(found)
        nodes = [(self._node(node_id), node_id) for node_id in found]
        usable = [(not node.is_connected, node.in_flight, node_id) for node, node_id in nodes if node.delay_s <= 0]
        return min(usable, key=lambda each: each[:2])[2] if usable else None

    def least_loaded_node_refresh_ms(self) -> float:
        """Return the milliseconds until the client may connect to a node."""
        return min((self.connection_delay(broker.nodeId) for broker in self.cluster.brokers()), default=0.0)

    def in_flight_request_count(self, node_id: NodeId | None = None) -> int:
        """Return the number of unanswered requests to a node, or to all nodes."""
        nodes = list(self._nodes.nodes.values()) if node_id is None else [self._node(node_id)]
        return sum(node.in_flight for node in nodes)

    def bootstrap_connected(self) -> bool:
        """Return whether any broker is connected."""

        async def look() -> bool:
            brokers = self._core.metadata.brokers()
            return any(self._core.ready_connection(each.nodeId) is not None for each in brokers)

        return self._loop_thread.run(look())

    def get_api_versions(self) -> dict[int, tuple[int, int]]:
        """Return the version range of each API, by API key, for the last queried broker; query one if necessary."""
        if not self._api_versions:
            self.check_version()
        return self._api_versions

    def api_version(self, operation: Any, max_version: int | None = None) -> int:
        """Return the newest version of a request that the broker supports and `operation` contains.

        Arguments:
            operation: the classes of a request by version, as in `kafka.protocol`.

        Raises `IncompatibleBrokerVersion` if there is no such version.
        """
        newest = len(operation) - 1 if max_version is None else min(len(operation) - 1, max_version)
        name = operation[0].__name__
        versions = self.get_api_versions()
        if operation[0].API_KEY not in versions:
            raise IncompatibleBrokerVersion(f"Kafka broker does not support the '{name}' Kafka protocol.")
        oldest, served = versions[operation[0].API_KEY]
        if min(newest, served) < oldest:
            raise IncompatibleBrokerVersion(
                f"No version of the '{name}' Kafka protocol is supported by both the client and broker."
            )
        return min(newest, served)
