"""The connections to brokers, opened on demand: one for each broker, or several if callers name channels."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from kafka.cluster.backoff import Backoff
from kafka.cluster.current_failures import CurrentFailures
from kafka.cluster.retry import RetryPolicy, as_kafka_error, nothing
from kafka.config import ConnectionOptions, SecurityOptions
from kafka.errors import IllegalStateError, KafkaConnectionError, KafkaError, StaleMetadata
from kafka.net import ApiVersions, Connection, open_connection
from kafka.net.broker_versions import release_of
from kafka.net.statistics import NetworkTraffic
from kafka.net.tls_context import TlsRefusedError

log = logging.getLogger(__name__)

T = TypeVar("T")
Address = tuple[str, int]
BOOTSTRAP_NODE = -1


async def outcome_of(task: asyncio.Task[T]) -> T:
    """Wait for one of the client's own tasks, which continues if the caller is cancelled.

    Raises the task's error, and `IllegalStateError` if the task was cancelled: that happens only when the client is
    closed, and does not cancel the callers themselves.
    """
    await asyncio.wait((task,))
    if task.cancelled():
        raise IllegalStateError("the client was closed")
    return task.result()


def _traffic_name(node_id: int, channel: str) -> str:
    """Return kafka-python's name for a broker in metrics; connections to coordinators have separate names."""
    return f"coordinator-{node_id}" if channel == "coordinator" else str(node_id)


class _Broker:
    """The connections to one broker by channel, and the results of the last connection attempts."""

    __slots__ = ("attempts", "blocked_until", "connections", "opening")

    def __init__(self, node_id: int, policy: RetryPolicy) -> None:
        self.connections: dict[str, Connection] = {}
        self.opening: dict[str, asyncio.Task[Connection]] = {}
        self.attempts = policy.attempts(f"connecting to broker {node_id}")
        self.blocked_until = 0.0

    @property
    def is_connected(self) -> bool:
        return any(not connection.closed for connection in self.connections.values())

    def failed(self, error: KafkaError) -> None:
        self.blocked_until = asyncio.get_running_loop().time() + self.attempts.note(error)

    def works(self) -> None:
        self.attempts.ended()
        self.blocked_until = 0.0


class ConnectionPool:
    """Connections by broker id and channel.

    A broker that fails is not tried again for ``reconnect_backoff_ms``, and longer after each further failure. This
    applies to all channels of the broker together. While a broker is not known to be reachable, only one channel at a
    time tries to connect.

    Arguments:
        address_of: returns the current host and port of a broker; None if the cluster has no such broker.
        traffic: counts the bytes and requests for each broker.
        current_failures: records which brokers cannot be reached.
    """

    def __init__(
        self,
        options: ConnectionOptions,
        security: SecurityOptions,
        address_of: Callable[[int], Address | None],
        traffic: NetworkTraffic | None = None,
        current_failures: CurrentFailures | None = None,
    ) -> None:
        self._options = options
        self._security = security
        self._address_of = address_of
        self._traffic = NetworkTraffic() if traffic is None else traffic
        self._brokers: dict[int, _Broker] = {}
        self._versions: dict[int, ApiVersions] = {}
        backoff = Backoff(
            options.reconnect_backoff_ms, options.reconnect_backoff_max_ms, current_failures=current_failures
        )
        self._policy = RetryPolicy(backoff, log, fatal=nothing)
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    def ready(self, node_id: int, channel: str = "") -> Connection | None:
        """Return the open connection to a broker, or None."""
        broker = self._brokers.get(node_id)
        connection = broker.connections.get(channel) if broker is not None else None
        if broker is None or connection is None or connection.closed:
            return None
        address = self._address_of(node_id)
        if address is not None and address != (connection.host, connection.port):
            del broker.connections[channel]  # the broker has moved
            self._close_soon(connection)
            return None
        return connection

    def blocked_for(self, node_id: int) -> float:
        """Return the seconds for which a failed broker is not tried again; 0 if it may be tried."""
        broker = self._brokers.get(node_id)
        if broker is None:
            return 0.0
        return max(0.0, broker.blocked_until - asyncio.get_running_loop().time())

    def last_error_at(self, address: Address) -> Exception | None:
        """Return the last error of a broker in backoff at this address; None if there is no such broker."""
        for node_id, broker in self._brokers.items():
            if broker.attempts.last is not None and self.blocked_for(node_id) and self._address_of(node_id) == address:
                return broker.attempts.last
        return None

    def connected(self) -> tuple[int, ...]:
        """Return the ids of the connected brokers. Thread-safe."""
        return tuple(
            sorted(
                node_id
                for node_id, broker in list(self._brokers.items())
                if node_id != BOOTSTRAP_NODE and any(not each.closed for each in list(broker.connections.values()))
            )
        )

    def load(self, node_id: int) -> int | None:
        """Return the number of requests in flight on the main connection to a broker; None if it is not connected."""
        connection = self.ready(node_id)
        return None if connection is None else connection.in_flight

    def api_versions(self, node_id: int) -> ApiVersions | None:
        """Return the versions that a broker supported when it was last connected; None if it was never connected."""
        return self._versions.get(node_id)

    def feature_level(self, feature: str) -> int:
        """Return the level of a feature according to the newest information from connected brokers; 0 if it is off."""
        newest = max(self._versions.values(), key=lambda each: each.features_epoch, default=None)
        return 0 if newest is None else newest.features.get(feature, 0)

    def release(self) -> tuple[int, ...] | None:
        """Return the release of one of the brokers, derived from its versions; None if none was connected.

        Thread-safe.
        """
        for versions in list(self._versions.values()):
            return release_of(versions)
        return None

    async def get(self, node_id: int, channel: str = "") -> Connection:
        """Return the connection to a broker, opening it if necessary.

        Raises `KafkaConnectionError` if the broker cannot be reached or is in backoff, `IllegalStateError` if the
        client is closed in the meantime, and the errors of `open_connection`.
        """
        while True:
            connection = self.ready(node_id, channel)
            if connection is not None:
                return connection
            if self._closed:
                raise IllegalStateError("the client is closed")
            broker = self._broker(node_id)
            task = broker.opening.get(channel)
            if task is None and broker.opening and not broker.is_connected:
                await asyncio.wait(broker.opening.values(), return_when=asyncio.FIRST_COMPLETED)
                continue
            if task is None:
                task = self._start(node_id, channel, broker)
            return await outcome_of(task)

    def adopt(self, node_id: int, connection: Connection) -> None:
        """Adopt a connection that was opened to find the cluster, as the connection to broker ``node_id``.

        `BOOTSTRAP_NODE` stands for an address that no broker advertises; only the last such connection is kept.
        """
        broker = self._broker(node_id)
        if node_id != BOOTSTRAP_NODE and ("" in broker.opening or self.ready(node_id) is not None):
            self.adopt(BOOTSTRAP_NODE, connection)
            return
        before = broker.connections.get("")
        if before is not None and not before.closed:
            self._close_soon(before)
        connection.node_id = node_id
        if node_id != BOOTSTRAP_NODE:
            connection.traffic = self._traffic.node(_traffic_name(node_id, ""))
        self._take(node_id, "", broker, connection)

    def try_all_again(self) -> None:
        """End the backoff of every broker, because the client has been rebootstrapped."""
        for broker in self._brokers.values():
            broker.works()

    async def close(self) -> None:
        """Close all connections."""
        self._closed = True
        opening = [task for broker in self._brokers.values() for task in broker.opening.values()]
        for task in opening:
            task.cancel()
        connections = [each for broker in self._brokers.values() for each in broker.connections.values()]
        closing = [connection.close() for connection in connections]
        await asyncio.gather(*opening, *closing, *self._closing, return_exceptions=True)
        self._brokers.clear()

    def _broker(self, node_id: int) -> _Broker:
        found = self._brokers.get(node_id)
        if found is None:
            found = self._brokers[node_id] = _Broker(node_id, self._policy)
        return found

    def _start(self, node_id: int, channel: str, broker: _Broker) -> "asyncio.Task[Connection]":
        if any(connection.has_served for connection in broker.connections.values()):
            broker.works()
        self._refuse_too_early(node_id, broker)
        address = self._address_of(node_id)
        if address is None:
            raise StaleMetadata(f"the cluster has no broker with id {node_id} (any more)")
        task = asyncio.get_running_loop().create_task(self._open(node_id, channel, broker, address))
        broker.opening[channel] = task
        # Retrieve the exception even if every caller has given up, so that asyncio does not log it as never retrieved.
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return task

    def _refuse_too_early(self, node_id: int, broker: _Broker) -> None:
        wait, error = self.blocked_for(node_id), broker.attempts.last
        if wait <= 0 or error is None:
            return
        text = error.args[0] if error.args else error
        again = (
            f" (broker {node_id} is tried again in {max(wait, 0.1):.1f} s)" if getattr(error, "retriable", True) else ""
        )
        raise type(error)(f"{text}{again}")

    async def _open(self, node_id: int, channel: str, broker: _Broker, address: Address) -> Connection:
        try:
            traffic = self._traffic.node(_traffic_name(node_id, channel))
            connection = await open_connection(*address, self._options, self._security, node_id, traffic)
        except Exception as error:
            failure = as_kafka_error(f"connecting to broker {node_id}", error)
            if isinstance(error, KafkaConnectionError):
                text = error.args[0] if error.args else error
                # A failed TLS handshake counts as failed authentication, as in Java's clients.
                cls = TlsRefusedError if getattr(error, "permanent", False) else KafkaConnectionError
                failure = cls(f"{text} (the address that the cluster advertises for broker {node_id})")
            broker.failed(failure)
            raise failure from error
        finally:
            broker.opening.pop(channel, None)
        if self._closed:
            connection.abort(KafkaConnectionError("the client was closed"))
            raise IllegalStateError("the client is closed")
        self._take(node_id, channel, broker, connection)
        return connection

    def _take(self, node_id: int, channel: str, broker: _Broker, connection: Connection) -> None:
        broker.connections[channel] = connection
        self._versions[node_id] = connection.api_versions
        if broker.attempts.failures:
            self._policy.tell_success(broker.attempts.what)

        def lost(_: Connection, error: KafkaError) -> None:
            if broker.connections.get(channel) is connection:
                del broker.connections[channel]
                self._lost(broker, error, connection.ended_here or connection.has_served)

        connection.on_close(lost)

    def _lost(self, broker: _Broker, error: KafkaError, it_worked: bool) -> None:
        if it_worked:  # reconnect immediately, and wait only if that fails
            broker.works()
            log.debug("%s", error)
        elif not self._closed:
            broker.failed(error)

    def _close_soon(self, connection: Connection) -> None:
        task: asyncio.Task[Any] = asyncio.get_running_loop().create_task(connection.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
