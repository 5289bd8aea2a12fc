"""Statistics for a client's connections: bytes, requests and times, by broker.

They are updated on the loop, once per request and once per answer.
"""

import asyncio
import math
from collections.abc import Iterable

from kafka.metrics.client_metrics import ClientMetrics, Metric, largest_of, mean_of, rate_of
from kafka.metrics.windows import Window, WindowOptions, Windows, largest, rate, total
from kafka.net.loop_thread import LOOP_METRICS


class _Exchanged(Window):
    """Requests to a broker, and its answers."""

    __slots__ = (
        "largest_request",
        "latency_ms",
        "longest_latency_ms",
        "longest_throttle_ms",
        "received_bytes",
        "requests",
        "responses",
        "sent_bytes",
        "throttle_ms",
    )

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.requests = self.responses = self.sent_bytes = self.received_bytes = 0
        self.latency_ms = self.throttle_ms = self.longest_throttle_ms = 0.0
        self.largest_request = self.longest_latency_ms = -math.inf


class _Opened(Window):
    """Numbers of opened and closed connections."""

    __slots__ = ("closed", "created")

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.closed = self.created = 0


class NodeTraffic(Windows[_Exchanged]):
    """The traffic with one broker, on one or more connections.

    Arguments:
        network: the traffic with all brokers.
    """

    __slots__ = ("network",)

    def __init__(self, network: "NetworkTraffic") -> None:
        super().__init__(_Exchanged, network.window)
        self.network = network

    def sent(self, size: int, now: float) -> None:
        """Count a sent request of ``size`` bytes."""
        window: _Exchanged = self.present if now < self.until else self.turn(now)
        window.requests += 1
        window.sent_bytes += size
        if size > window.largest_request:
            window.largest_request = size

    def answered(self, size: int, latency_s: float, now: float) -> None:
        """Count an answer of ``size`` bytes, ``latency_s`` seconds after its request."""
        window: _Exchanged = self.present if now < self.until else self.turn(now)
        latency_ms = 1000 * latency_s
        window.responses += 1
        window.received_bytes += size
        window.latency_ms += latency_ms
        if latency_ms > window.longest_latency_ms:
            window.longest_latency_ms = latency_ms

    def throttled(self, seconds: float, now: float) -> None:
        """Count a pause that the broker has requested."""
        window = self.at(now)
        window.throttle_ms += 1000 * seconds
        window.longest_throttle_ms = max(window.longest_throttle_ms, 1000 * seconds)


Nodes = Iterable[NodeTraffic]


def _longest_throttle(nodes: Nodes, now: float) -> float:
    """Return the longest pause requested by an answer; most answers request none."""
    return largest(nodes, "longest_throttle_ms", now) if total(nodes, "responses", now) else -math.inf


_EXCHANGES = (
    Metric("outgoing-byte-rate", "bytes sent a second", rate_of("sent_bytes")),
    Metric("request-rate", "requests sent a second", rate_of("requests")),
    Metric("request-size-avg", "mean size of a request in bytes", mean_of("sent_bytes", "requests")),
    Metric("request-size-max", "size of the largest request in bytes", largest_of("largest_request")),
    Metric("incoming-byte-rate", "bytes received a second", rate_of("received_bytes")),
    Metric("response-rate", "responses received a second", rate_of("responses")),
    Metric("request-latency-avg", "mean time in ms until a response came", mean_of("latency_ms", "responses")),
    Metric("request-latency-max", "longest time in ms until a response came", largest_of("longest_latency_ms")),
    Metric("throttle-time-avg", "mean pause in ms that a response asked for", mean_of("throttle_ms", "responses")),
    Metric("throttle-time-max", "longest pause in ms that a response asked for", _longest_throttle),
)

_NETWORK = (
    Metric(
        "network-io-rate",
        "requests sent and responses received a second",
        lambda nodes, now: rate(nodes, "requests", now) + rate(nodes, "responses", now),
    ),
    *_EXCHANGES,
)

_CONNECTIONS = (
    Metric("connection-close-rate", "connections closed a second", lambda of, now: of.opened.rate("closed", now)),
    Metric("connection-creation-rate", "connections opened a second", lambda of, now: of.opened.rate("created", now)),
    Metric("connection-count", "connections that are open", lambda of, now: of.connections),
    Metric("connection-creation-total", "connections opened", lambda of, now: of.created),
    Metric("connection-close-total", "connections closed", lambda of, now: of.created - of.connections),
)


class NetworkTraffic:
    """The traffic with all brokers of a client. For use in the loop's thread only.

    Arguments:
        metrics: registers the metrics for this traffic; None for no metrics.
        prefix: the prefix for the names of metric groups.
        loop: the client's loop; the metrics of the clients' shared loop are registered as well.

    Attributes:
        connections: number of open connections.
        created: number of connections opened so far.
        opened: rates of opened and closed connections.
    """

    def __init__(
        self,
        metrics: ClientMetrics | None = None,
        prefix: str = "",
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.window = WindowOptions() if metrics is None else metrics.window
        self.connections = self.created = 0
        self.opened = Windows(_Opened, self.window)
        self._metrics = metrics
        self._prefix = prefix
        self._nodes: dict[str, NodeTraffic] = {}
        if metrics is not None:
            metrics.add(f"{prefix}-metrics", _NETWORK, self._nodes.values())
            metrics.add(f"{prefix}-metrics", _CONNECTIONS, self)
            if isinstance(times := getattr(loop, "times", None), Windows):
                metrics.add(f"{prefix}-metrics", LOOP_METRICS, (times,))

    def node(self, name: str) -> NodeTraffic:
        """Return the traffic with a broker or bootstrap server, named as in kafka-python."""
        found = self._nodes.get(name)
        if found is None:
            found = self._nodes[name] = NodeTraffic(self)
            if self._metrics is not None:
                self._metrics.add(f"{self._prefix}-node-metrics.node-{name}", _EXCHANGES, (found,))
        return found

    def connection_opened(self, now: float) -> None:
        """Count a connection that has become ready for use."""
        self.connections += 1
        self.created += 1
        self.opened.at(now).created += 1

    def connection_closed(self, now: float) -> None:
        """Count the end of a connection that was ready for use."""
        self.connections -= 1
        self.opened.at(now).closed += 1
