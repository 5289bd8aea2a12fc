"""A `SimpleClient`'s connections, opened on first use: its cluster client, and connections for custom requests."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

from kafka._addresses import format_address
from kafka.cluster import ClusterClient
from kafka.config import ConnectionOptions, SecurityOptions
from kafka.errors import KafkaConnectionError, KafkaError, KafkaUnavailableError
from kafka.legacy.connection.broker_connection import BrokerConnection
from kafka.legacy.payloads import BrokerMetadata
from kafka.legacy.simple.apis import text
from kafka.net import LoopThread

T = TypeVar("T")

_CLOSE_TIMEOUT_S = 5.0
_NO_TIMEOUT_S = 24 * 3600.0
"""The timeout to use if None was passed."""
_RECONNECT_BACKOFF_MAX_MS = 1_000
"""Short, because each call waits, and callers pause between calls themselves."""


class Connections:
    """Connects on first use, and reconnects after `close` and in a forked child process.

    Arguments:
        servers: hosts and ports of the bootstrap servers.
        client_id: the name of the client in brokers' logs.
        timeout_s: maximum time for a request; None: no limit.
    """

    def __init__(self, servers: Sequence[tuple[str, int]], client_id: str, timeout_s: float | None) -> None:
        timeout_ms = max(1, int((_NO_TIMEOUT_S if timeout_s is None else timeout_s) * 1000))
        self._arguments = (servers, client_id, timeout_s)
        self._options = ConnectionOptions(
            bootstrap_servers=tuple(servers),
            client_id=client_id,
            request_timeout_ms=timeout_ms,
            bootstrap_timeout_ms=timeout_ms,
            api_version_auto_timeout_ms=0,
            reconnect_backoff_max_ms=_RECONNECT_BACKOFF_MAX_MS,
        )
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._loop_thread: LoopThread | None = None
        self._cluster: ClusterClient | None = None

    def run(self, operation: Callable[[ClusterClient], Coroutine[Any, Any, T]]) -> T:
        """Run an operation on the loop, and wait for its result.

        Raises `KafkaUnavailableError` if no server answers, and the errors of the operation.
        """
        cluster, loop_thread = self._connected()
        return loop_thread.run(operation(cluster))

    def exchange(self, start: Callable[[ClusterClient, Any], object]) -> Any:
        """Call ``start(cluster, reply)`` on the loop to send a request, and wait for the result passed to ``reply``.

        Raises the same errors as `run`.
        """
        cluster, loop_thread = self._connected()
        return loop_thread.exchange(partial(start, cluster))

    def connect(self) -> None:
        """Connect immediately. Raises `KafkaUnavailableError` if no server answers."""
        self._connected()

    def close(self) -> None:
        """Close the connections; the next use reconnects."""
        if self._pid != os.getpid():
            return  # the connections belong to the parent
        with self._lock:
            cluster, self._cluster = self._cluster, None
            loop_thread = self._loop_thread
        if cluster is not None and loop_thread is not None:
            with contextlib.suppress(KafkaError):  # already closed at exit
                loop_thread.run(cluster.close(), _CLOSE_TIMEOUT_S)

    def _connected(self) -> tuple[ClusterClient, LoopThread]:
        if self._pid != os.getpid():  # objects created before the fork belong to the parent
            self._pid, self._lock = os.getpid(), threading.Lock()
            self._cluster = self._loop_thread = None
        with self._lock:
            if self._cluster is None or self._loop_thread is None:
                self._loop_thread = LoopThread.shared()
                self._cluster = self._start(self._loop_thread)
            return self._cluster, self._loop_thread

    def _start(self, loop_thread: LoopThread) -> ClusterClient:
        cluster = ClusterClient(self._options, SecurityOptions())
        try:
            loop_thread.run(cluster.start())
        except BaseException as error:
            with contextlib.suppress(KafkaError):
                loop_thread.spawn(cluster.close())
            if isinstance(error, KafkaError):
                raise KafkaUnavailableError(f"All servers failed to process request: {error}") from error
            raise
        return cluster

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle or copy only the settings: a copy starts without a connection."""
        return type(self), self._arguments

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # modules may be unloaded; connections were closed at exit
            return
        cluster, loop_thread = getattr(self, "_cluster", None), getattr(self, "_loop_thread", None)
        if cluster is not None and loop_thread is not None and self._pid == os.getpid():
            with contextlib.suppress(KafkaError, RuntimeError):
                loop_thread.spawn(cluster.close())


_PAUSE_S = 0.1


class BrokerConnections:
    """A `BrokerConnection` for each requested address. Copies and forked children start without connections.

    Arguments:
        client_id: the name of the client in brokers' logs.
        timeout_s: maximum time to connect, and to wait for a response; None: no limit.
    """

    def __init__(self, client_id: str, timeout_s: float | None) -> None:
        self._client_id, self._timeout_s = client_id, timeout_s
        self._pid = os.getpid()
        self._made: dict[tuple[str, int], BrokerConnection] = {}

    def get(self, host: str, port: int, afi: int) -> BrokerConnection:
        """Return an open connection to an address. Raises `KafkaConnectionError` if connecting fails."""
        if self._pid != os.getpid():  # objects created before the fork belong to the parent
            self._pid, self._made = os.getpid(), {}
        connection = self._made.get((host, port))
        if connection is None:
            limit = {} if self._timeout_s is None else {"request_timeout_ms": max(1, int(self._timeout_s * 1000))}
            connection = BrokerConnection(host, port, afi, client_id=self._client_id, **limit)
            self._made[host, port] = connection
        if not connection.connect_blocking(float("inf") if self._timeout_s is None else self._timeout_s):
            connection.close()
            raise KafkaConnectionError(f"cannot connect to {format_address(host, port)}")
        return connection

    def close(self) -> None:
        """Close all connections."""
        if self._pid == os.getpid():
            for connection in self._made.values():
                connection.close()
        self._made.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._client_id, self._timeout_s)


class SendsOwnRequests:
    """Private methods that programs written for 1.x use to send requests for which `SimpleClient` has no method."""

    brokers: dict[int, BrokerMetadata]
    hosts: list[tuple[str, int]]
    _broker_connections: BrokerConnections

    def _get_conn(self, host: str, port: int, afi: int = socket.AF_UNSPEC) -> BrokerConnection:
        """Return an open connection to a broker. Raises `KafkaConnectionError` if connecting fails."""
        return self._broker_connections.get(text(host), port, afi)

    def _send_broker_unaware_request(
        self, payloads: Sequence[Any], encoder_fn: Callable[..., Any], decoder_fn: Callable[[Any], Any]
    ) -> Any:
        """Send a request to one broker after another until one answers.

        Arguments:
            payloads: the contents of the request.
            encoder_fn: creates the request; called with the keyword argument ``payloads``.
            decoder_fn: converts the response to the result.

        Raises `KafkaUnavailableError` if no broker answers.
        """
        addresses = sorted({(text(broker.host), broker.port) for broker in self.brokers.values()})
        random.shuffle(addresses)
        failures = []
        for host, port in [*addresses, *(each for each in self.hosts if each not in addresses)]:
            try:
                response = _answer(self._get_conn(host, port), encoder_fn(payloads=payloads))
            except KafkaError as error:
                failures.append(f"{format_address(host, port)}: {error}")
            else:
                return decoder_fn(response)
        raise KafkaUnavailableError(f"All servers failed to process request: {'; '.join(failures)}")


def _answer(connection: BrokerConnection, request: Any) -> Any:
    """Send a request and wait for its response."""
    future = connection.send(request)
    while not future.is_done:
        connection.recv(_PAUSE_S)
    if future.exception is not None:
        raise future.exception
    return future.value
