"""Connects a `BrokerConnection` with the loop: connection attempts, requests, and a queue of their outcomes."""

from __future__ import annotations

import logging
import queue
import time
import weakref
from collections.abc import Callable
from typing import Any

from kafka.config import ConnectionOptions, SecurityOptions
from kafka.errors import Cancelled
from kafka.legacy.protocol.translation import Translated
from kafka.metrics import Metrics
from kafka.metrics.client_metrics import ClientMetrics
from kafka.net.callback_thread import WorkerThread
from kafka.net.connect import open_connection
from kafka.net.connection import Connection
from kafka.net.loop_call import LoopCall
from kafka.net.loop_thread import LoopThread
from kafka.net.statistics import NetworkTraffic, NodeTraffic

_log = logging.getLogger(__name__)
Outcome = tuple[int, Any, Exception | None]
"""The correlation id of a request, and its response or error."""


class Link:
    """One connection attempt, and the connection if it succeeds. For use by one thread, except `abort`.

    Attributes:
        outcomes: the outcomes of sent requests.
    """

    def __init__(
        self,
        host: str,
        port: int,
        options: ConnectionOptions,
        security: SecurityOptions,
        traffic: NodeTraffic,
    ) -> None:
        """Start connecting."""
        self.outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._ended = False
        self._loop = LoopThread.shared()
        self._dialling: LoopCall[Connection] = self._loop.spawn(
            _open(host, port, options, security, lambda: self._ended, traffic)
        )

    @property
    def is_settled(self) -> bool:
        """Whether the attempt has succeeded or failed."""
        return self._dialling.is_done

    def wait(self, timeout_s: float | None) -> bool:
        """Wait until the attempt has succeeded or failed. Return False on a timeout."""
        return self._dialling.wait(timeout_s)

    @property
    def connection(self) -> Connection:
        """The open connection. If the attempt to open it has failed, raises the attempt's error."""
        return self._dialling.result()

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return self.is_settled and not self._ended and not self.connection.closed

    def send(self, number: int, request: Translated, timeout_ms: float | None) -> None:
        """Send a request. Its outcome is put into `outcomes`."""
        self._loop.spawn(_exchange(self.connection, self.outcomes, number, request, timeout_ms))

    def abort(self) -> None:
        """Cancel the attempt, or close the connection."""
        self._ended = True
        if self.is_settled:
            try:
                connection = self.connection
                self._loop.call(connection.abort, Cancelled("the connection was closed"))
            except Exception as error:  # no connection, or the loop has ended
                _log.debug("nothing to close: %s", error)


async def _open(
    host: str,
    port: int,
    options: ConnectionOptions,
    security: SecurityOptions,
    is_unwanted: Callable[[], bool],
    traffic: NodeTraffic,
) -> Connection:
    connection = await open_connection(host, port, options, security, traffic=traffic)
    if is_unwanted():
        connection.abort(Cancelled("the connection was closed before it was open"))
    return connection


async def _exchange(
    connection: Connection,
    outcomes: queue.SimpleQueue[Outcome],
    number: int,
    request: Translated,
    timeout_ms: float | None,
) -> None:
    """Send a request and put its response or error into a queue."""
    try:
        response = await connection.send(request.message, request.version, timeout_ms)
        outcomes.put((number, response, None))
    except Exception as error:
        outcomes.put((number, None, error))


_shown: weakref.WeakValueDictionary[tuple[int, str], NetworkTraffic] = weakref.WeakValueDictionary()
"""Counters by registry and prefix. The registry keeps its counters alive, so they do not outlive it."""


def traffic_in(registry: Metrics | None, prefix: str, options: ConnectionOptions) -> NetworkTraffic:
    """Return the counter of all connections with this registry and prefix; without a registry, a new one."""
    if registry is None:
        return NetworkTraffic()
    found = _shown.get((id(registry), prefix))
    if found is None:
        metrics = ClientMetrics(options, time.monotonic, registry=registry)
        found = _shown[id(registry), prefix] = NetworkTraffic(metrics, prefix)
        metrics.call_reporters_by(WorkerThread("kafka-metrics").submit)
    return found
