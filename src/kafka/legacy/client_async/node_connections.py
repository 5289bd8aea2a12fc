"""The loop's side of a `KafkaClient`: connections by node id, and requests on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from kafka.cluster import Backoff, ClusterClient
from kafka.config import ConnectionOptions
from kafka.errors import IllegalStateError, KafkaConnectionError, KafkaError
from kafka.legacy.client_async.completions import Completions
from kafka.legacy.future import Future
from kafka.legacy.protocol.translation import translate
from kafka.net import LoopThread
from kafka.wire import Request

if TYPE_CHECKING:
    from kafka.net import Connection

NodeId = int | str
"""A broker's id; "bootstrap-0" and the like for any broker, "coordinator-1" for a connection of its own to broker 1."""

_COORDINATOR = "coordinator-"
_BOOTSTRAP = "bootstrap-"


class Node:
    """How it goes with one node."""

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
        """In how many seconds it may be connected to again after it failed."""
        return 0.0 if self.is_connected else max(0.0, self.not_before - time.monotonic())


class NodeConnections:
    """Connects, sends and asks for metadata, and tells `completions` when something of that is done.

    Arguments:
        cluster: a cluster client that has been started.
        completions: where events go.
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
        """Begin to connect to a node, unless it is connected; False if that may not be tried yet."""
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
        """The connection of a node id. Raises `KafkaConnectionError` and its like."""
        if isinstance(node_id, int):
            return await self._cluster.connection(node_id)
        if node_id.startswith(_COORDINATOR):
            return await self._cluster.connection(int(node_id.removeprefix(_COORDINATOR)), "coordinator")
        if node_id.startswith(_BOOTSTRAP):
            return await self._cluster.any_connection()
        raise KafkaConnectionError(f"there is no node {node_id!r}")

    def send(self, node: Node, request: Any, timeout_ms: float | None) -> Future:
        """Send a request on the open connection of a node."""
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
        """Complete a future with an answer; `read` makes it one of the generation of its request."""
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
        """Run work on the loop; `done` is called in the thread that polls, with its result or error."""

        async def run() -> None:
            result, failure = None, None
            try:
                result = await work
            except KafkaError as error:
                failure = error
            self._completions.put(lambda: done(result, failure))

        self._loop_thread.spawn(run())

    def close(self, node_id: NodeId) -> None:
        """Close the connection of a node."""
        node = self.nodes.pop(node_id, None)
        if node is not None and node.connection is not None:
            self._loop_thread.spawn(node.connection.close())
