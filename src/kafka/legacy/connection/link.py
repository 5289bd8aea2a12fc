"""The link between a `BrokerConnection` and the loop: connecting, sending, and a queue of outcomes."""

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
"""Number of a request, its response, or why there is none."""


class Link:
    """One attempt at a connection, and the connection if it succeeds. For one thread; `abort` for any.

    Attributes:
        outcomes: what became of the requests that were sent.
    """

    def __init__(
        self,
        host: str,
        port: int,
        options: ConnectionOptions,
        security: SecurityOptions,
        traffic: NodeTraffic,
    ) -> None:
        """Begin to connect."""
        self.outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._ended = False
        self._loop = LoopThread.shared()
        self._dialling: LoopCall[Connection] = self._loop.spawn(
            _open(host, port, options, security, lambda: self._ended, traffic)
        )

    @property
    def is_settled(self) -> bool:
        """Whether there is a connection, or a reason why there is none."""
        return self._dialling.is_done

    def wait(self, timeout_s: float | None) -> bool:
        """Wait until it is settled; False if the time is up first."""
        return self._dialling.wait(timeout_s)

    @property
    def connection(self) -> Connection:
        """The connection, once it is settled; raises why there is none."""
        return self._dialling.result()

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return self.is_settled and not self._ended and not self.connection.closed

    def send(self, number: int, request: Translated, timeout_ms: float | None) -> None:
        """Send a request. Its outcome is put into `outcomes`, for the thread that takes it from there."""
        self._loop.spawn(_exchange(self.connection, self.outcomes, number, request, timeout_ms))

    def abort(self) -> None:
        """Give the connection up."""
        self._ended = True
        if self.is_settled:
            try:
                connection = self.connection
                self._loop.call(connection.abort, Cancelled("the connection was closed"))
            except Exception as error:  # there is none, or no loop any more
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
"""By registry and prefix: a registry holds what is shown in it, so none outlives its registry."""


def traffic_in(registry: Metrics | None, prefix: str, options: ConnectionOptions) -> NetworkTraffic:
    """What counts for all connections that are shown in a registry under a prefix; None: they are shown nowhere."""
    if registry is None:
        return NetworkTraffic()
    found = _shown.get((id(registry), prefix))
    if found is None:
        metrics = ClientMetrics(options, time.monotonic, registry=registry)
        found = _shown[id(registry), prefix] = NetworkTraffic(metrics, prefix)
        metrics.call_reporters_by(WorkerThread("kafka-metrics").submit)
    return found
