"""`KafkaClient` of 1.0 to 2.x, and its queue of scheduled tasks."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from kafka.cluster import ClusterClient
from kafka.config import option_table, parse_admin
from kafka.config.secrecy import GivenConfigs
from kafka.config.table import given_options, with_defaults
from kafka.consumer.arguments import check_topic_name
from kafka.errors import (
    Cancelled,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NoBrokersAvailable,
    NodeNotReadyError,
)
from kafka.legacy.client_async.cluster_metadata import ClusterMetadata
from kafka.legacy.client_async.node_connections import Completions, NodeConnections, NodeId, NodeStates
from kafka.legacy.connection.link import traffic_in
from kafka.legacy.deprecation import warn_deprecated
from kafka.legacy.kafka_future import Future
from kafka.legacy.simple.simple_client import SimpleClient
from kafka.net import ApiVersions, LoopThread
from kafka.net.broker_versions import release_of

_NEVER_S = 9999999999


class DelayedTaskQueue:
    """Scheduled callables and the times (in seconds since 1970) at which they are ready.

    A callable that is added again is rescheduled.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[..., Any]]] = []
        self._entries: dict[Callable[..., Any], tuple[int, Future]] = {}
        self._numbers = itertools.count()

    def add(self, task: Callable[..., Any], at: float) -> Future:
        """Add a task, or reschedule it if it is already scheduled; return the future for its result."""
        if task in self._entries:
            self.remove(task)
        number, future = next(self._numbers), Future()
        self._entries[task] = number, future
        heapq.heappush(self._heap, (at, number, task))
        return future

    def remove(self, task: Callable[..., Any]) -> None:
        """Remove a task; its future fails with `Cancelled`. Raises `KeyError` if the task is not scheduled."""
        self._entries.pop(task)[1].failure(Cancelled())

    def next_at(self) -> float:
        """Return the seconds until the next task is ready."""
        self._drop_removed()
        return max(self._heap[0][0] - time.time(), 0.0) if self._heap else _NEVER_S

    def pop_ready(self) -> list[tuple[Callable[..., Any], Future]]:
        """Remove and return the tasks that are ready, each with its future."""
        ready = []
        while self._heap and self.next_at() <= 0 and self._heap:
            task = heapq.heappop(self._heap)[2]
            ready.append((task, self._entries.pop(task)[1]))
        return ready

    def run_ready(self) -> None:
        """Run the tasks that are ready, and complete their futures."""
        for task, future in self.pop_ready():
            try:
                result = task()
            except Exception as error:
                future.failure(error)
            else:
                future.success(result)

    def _drop_removed(self) -> None:
        while self._heap and self._entries.get(self._heap[0][2], (None,))[0] != self._heap[0][1]:
            heapq.heappop(self._heap)


_FIRST_CHECK_MS = 2000
_CLOSE_TIMEOUT_S = 5.0
_LONGEST_WAIT_S = 3600.0
_OF_THEN: dict[str, Any] = {
    "bootstrap_topics_filter": set(),
    "metric_group_prefix": "",
    "metrics": None,
    "wakeup_timeout_ms": 3000,
}
"""Options that today's clients do not have; the first and the last have no effect."""


class KafkaClient(NodeStates, SimpleClient):
    """A client that sends requests to nodes, and completes their futures during calls to `poll`.

    If it is created with hosts, as was usual up to 1.4, it issues a `DeprecationWarning` and acts only as a
    `SimpleClient`. Without hosts, the methods of `SimpleClient` do not work. Requests may be those of
    `kafka.protocol`, in any version, or messages of `kafka.wire`.

    Arguments: client options by keyword; unknown ones are ignored. ``metrics``, if given, receives metrics for the
        traffic with brokers, under ``metric_group_prefix``.

    Attributes:
        config: the options.
        cluster: the known metadata of the cluster, a `ClusterMetadata`; `poll` updates it.

    With ``api_version``, the constructor does not wait for a server: `poll` finds the cluster. Without it, the
    constructor raises `NoBrokersAvailable` if no server answers within ``api_version_auto_timeout_ms``.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        **{name: row.default for name, row in option_table().items() if "admin" in row.clients},
        **_OF_THEN,
        "api_version_auto_timeout_ms": _FIRST_CHECK_MS,
    }

    def __init__(self, *hosts: Any, **configs: Any) -> None:
        self._closed = True  # makes __del__ work if __init__ fails
        self._has_hosts = bool(hosts) or "hosts" in configs
        if self._has_hosts:
            warn_deprecated("KafkaClient with hosts is kafka.SimpleClient today")
            self._open(*hosts, **configs)
        else:
            self._find_cluster(configs)

    def _find_cluster(self, configs: dict[str, Any]) -> None:
        known = {name: value for name, value in given_options(configs).items() if name in self.DEFAULT_CONFIG}
        self.config = GivenConfigs(with_defaults(self.DEFAULT_CONFIG, known))
        limit_ms = self.config["api_version_auto_timeout_ms"] or _FIRST_CHECK_MS
        given = {name: value for name, value in known.items() if name not in _OF_THEN}
        parsed = parse_admin({"bootstrap_timeout_ms": limit_ms, **given})
        self.cluster = ClusterMetadata(**self.config)
        self._topics: set[str] = set()
        self._refreshing = False
        self._delayed_tasks = DelayedTaskQueue()
        self._max_in_flight = parsed.connection.max_in_flight_requests_per_connection
        self._loop_thread = LoopThread.shared()
        traffic = traffic_in(self.config["metrics"], self.config["metric_group_prefix"], parsed.connection)
        self._core = ClusterClient(parsed.connection, parsed.security, traffic=traffic)
        try:
            self._loop_thread.run(self._core.start(in_background=parsed.connection.api_version is not None))
        except BaseException:
            self._loop_thread.spawn(self._core.close())
            raise
        self._closed = False
        self._completions = Completions()
        self._nodes = NodeConnections(self._core, self._loop_thread, parsed.connection, self._completions)
        self.cluster.show(self._core.metadata)  # only brokers; the first poll() requests topics
        self._api_versions = {}
        self.config["api_version"] = parsed.connection.api_version or self.check_version(timeout=limit_ms / 1000)

    def __repr__(self) -> str:
        if "config" not in self.__dict__:  # created with hosts, or __init__ failed
            return super().__repr__()
        return f"<{type(self).__name__} client_id={self.config['client_id']!r}>"

    # Requests

    def send(
        self, node_id: NodeId, request: Any, wakeup: bool = True, request_timeout_ms: float | None = None
    ) -> Future:
        """Send a request to a node that is ready; return the future for the response.

        Requests in versions that the broker no longer supports are translated. The future fails with
        `NodeNotReadyError` if the node is not ready, and with `UnsupportedVersionError` if the broker does not support
        the request.
        """
        node = self._node(node_id)
        if not self._can_send(node):
            self.maybe_connect(node_id)
            return Future().failure(NodeNotReadyError(str(node_id)))
        return self._nodes.send(node, request, request_timeout_ms)

    def poll(self, timeout_ms: float | None = None, future: Future | None = None, sleep: bool = True) -> list[Any]:
        """Complete the futures of answered requests; refresh metadata and run scheduled tasks when they are due.

        Arguments:
            timeout_ms: maximum time to wait for an event; None: ``request_timeout_ms``.
            future: continue until this future is done, or until `timeout_ms`, if given, has passed. If the future
                failed because its node is connecting, continue until the node is connected, so that the request can be
                sent again.
            sleep: accepted for compatibility, without effect.

        Returns the responses.
        """
        if timeout_ms is not None and (isinstance(timeout_ms, bool) or not isinstance(timeout_ms, int | float)):
            raise TypeError(f"Invalid type for timeout: {type(timeout_ms)}")
        limit_s = (self.config["request_timeout_ms"] if timeout_ms is None else timeout_ms) / 1000
        deadline = time.monotonic() + limit_s
        responses: list[Any] = []
        if future is not None:
            future.add_both(lambda _: self._completions.wake())  # also wakes this call if another thread polls
        while not self._closed:
            self._delayed_tasks.run_ready()
            self._maybe_refresh()
            is_done = future is not None and self._is_settled(future)
            responses += self._completions.take(0 if is_done else self._wait_s(deadline))
            is_over = time.monotonic() >= deadline
            if future is None and (responses or is_over or not self._is_refresh_due()):
                break
            if future is not None and (self._is_settled(future) or (is_over and timeout_ms is not None)):
                break
            deadline += limit_s if is_over else 0
        return responses

    def poll_when(self, notify: Callable[[], object]) -> None:
        """Call ``notify()``, in any thread, whenever there is something for `poll` to complete."""
        self._completions.notify = notify
        notify()

    def _is_settled(self, future: Future) -> bool:
        """Return whether a future is done, unless it failed only because its node is still connecting."""
        error = future.exception
        return future.is_done and not (isinstance(error, NodeNotReadyError) and self._is_connecting(error.args))

    def _wait_s(self, deadline: float) -> float:
        """Return the maximum time in seconds for which a poll sleeps."""
        waits = [_LONGEST_WAIT_S, deadline - time.monotonic(), self._delayed_tasks.next_at()]
        waits += [delay for node in list(self._nodes.nodes.values()) if (delay := node.delay_s) > 0]
        return max(0.0, min(waits + ([] if self._refreshing else [self.cluster.ttl() / 1000])))

    def send_and_receive(self, node_id: NodeId, request: Any) -> Any:
        """Send a request to a node that is ready, and wait for its response. Raises the response's error."""
        future = self.send(node_id, request)
        self.poll(future=future)
        if future.exception is not None:
            raise future.exception
        return future.value

    def await_ready(self, node_id: NodeId, timeout_ms: float = 30_000) -> bool:
        """Poll until a node is ready. Raises `KafkaConnectionError` if connecting fails, and `KafkaTimeoutError`."""
        deadline = time.monotonic() + timeout_ms / 1000
        while not self.ready(node_id):
            if self.connection_failed(node_id):
                raise KafkaConnectionError(f"the connection to node {node_id} failed")
            if time.monotonic() >= deadline:
                raise KafkaTimeoutError(f"node {node_id} is not ready after {timeout_ms} ms")
            self.poll(timeout_ms=max(1.0, (deadline - time.monotonic()) * 1000))
        return True

    def wakeup(self) -> None:
        """Wake a `poll` that is waiting in another thread."""
        self._completions.wake()

    # Topics

    def set_topics(self, topics: Iterable[str]) -> Future:
        """Keep metadata for these topics, or for all if none are given. Returns the future for the next update."""
        wanted = set(topics)
        is_known = wanted <= self._topics
        self._topics = wanted
        return Future().success(set(wanted)) if is_known else self.cluster.request_update()

    def add_topic(self, topic: str) -> Future:
        """Keep metadata for this topic too. Raises `TypeError` or `ValueError` for an invalid name."""
        check_topic_name(topic)
        if topic in self._topics:
            return Future().success(set(self._topics))
        self._topics.add(topic)
        return self.cluster.request_update()

    def _is_refresh_due(self) -> bool:
        return not self._refreshing and self.cluster.ttl() <= 0

    def _maybe_refresh(self) -> None:
        """Request metadata if it is outdated."""
        if not self._is_refresh_due():
            return
        self._refreshing = True
        topics = None if self.cluster.need_all_topic_metadata or not self._topics else set(self._topics)

        async def refresh() -> Any:
            self._core.watch_topics(topics)
            return await self._core.refresh_metadata()

        def done(snapshot: Any, error: KafkaError | None) -> None:
            self._refreshing = False
            if error is not None:
                self.cluster.failed_update(error)
            else:
                self.cluster.take(snapshot, topics or ())

        self._nodes.spawn(refresh(), done)

    # Tasks

    def schedule(self, task: Callable[[], Any], at: float) -> Future:
        """Run a task in `poll` at or after a time in seconds since 1970; return the future for its result.

        A task that is already scheduled is rescheduled.
        """
        return self._delayed_tasks.add(task, at)

    def unschedule(self, task: Callable[[], Any]) -> None:
        """Cancel a scheduled task. Raises `KeyError` if the task is not scheduled."""
        self._delayed_tasks.remove(task)

    # Versions

    def check_version(
        self, node_id: NodeId | None = None, timeout: float | None = None, strict: bool = False, **kwargs: Any
    ) -> tuple[int, ...]:
        """Ask the given broker, or any broker, for its API versions, and return the Kafka release that they indicate.

        Arguments:
            timeout: in seconds; None: ``api_version_auto_timeout_ms``.
            strict: accepted for compatibility, without effect.

        Raises `NodeNotReadyError` if connecting to the given broker fails, and `NoBrokersAvailable` if no broker can be
        reached.
        """
        limit_s = timeout or (self.config["api_version_auto_timeout_ms"] or _FIRST_CHECK_MS) / 1000

        async def ask() -> ApiVersions:
            connect = self._core.any_connection() if node_id is None else self._nodes.connection(node_id)
            return (await connect).api_versions

        try:
            offered = self._loop_thread.run(ask(), limit_s)
        except (KafkaConnectionError, KafkaTimeoutError) as error:
            if node_id is None:
                raise NoBrokersAvailable(str(error)) from error
            raise NodeNotReadyError(f"{node_id}: {error}") from error
        self._api_versions = dict(offered.items())
        return release_of(offered)

    # Closing

    def close(self, node_id: NodeId | None = None) -> None:
        """Close the connection to a node, or close all connections permanently; requests in flight fail."""
        if self._has_hosts:
            super().close()
        elif node_id is not None:
            self._nodes.close(node_id)
        elif not self._closed:
            self._close()

    def _close(self) -> None:
        self._closed = True
        with contextlib.suppress(KafkaError):  # already closed by a fork or at exit
            self._loop_thread.run(self._core.close(), _CLOSE_TIMEOUT_S)
        self._completions.take(0)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # modules may be unloaded; connections were closed at exit
            return
        if not getattr(self, "_closed", True):
            with contextlib.suppress(KafkaError, RuntimeError):
                self._loop_thread.spawn(self._core.close())
