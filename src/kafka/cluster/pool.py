"""The connections to the brokers: one each, more where a caller names a channel; opened when needed."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from kafka.cluster.backoff import Backoff
from kafka.cluster.log_limiter import LogLimiter
from kafka.config import ConnectionOptions, SecurityOptions
from kafka.errors import IllegalStateError, KafkaConnectionError, KafkaError, StaleMetadata
from kafka.net import ApiVersions, Connection

log = logging.getLogger(__name__)

Address = tuple[str, int]
BOOTSTRAP_NODE = -1


class _Slot:
    """A place for one connection, with the history that the next attempt depends on."""

    __slots__ = ("answered_when_ready", "connection", "failures", "last_error", "opening", "retry_at")

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.opening: asyncio.Task[Connection] | None = None
        self.failures = 0
        self.retry_at = 0.0
        self.last_error: KafkaError | None = None
        self.answered_when_ready = 0


class ConnectionPool:
    """Connections by broker id and channel.

    Arguments:
        address_of: gives the present host and port of a broker, None if the cluster has no such broker.
    """

    def __init__(
        self,
        options: ConnectionOptions,
        security: SecurityOptions,
        address_of: Callable[[int], Address | None],
    ) -> None:
        self._options = options
        self._security = security
        self._address_of = address_of
        self._slots: dict[tuple[int, str], _Slot] = {}
        self._versions: dict[int, ApiVersions] = {}
        self._backoff = Backoff(options.reconnect_backoff_ms, options.reconnect_backoff_max_ms)
        self._gate = LogLimiter(log)
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    def ready(self, node_id: int, channel: str = "") -> Connection | None:
        """The open connection to a broker; None: there is none now."""
        slot = self._slots.get((node_id, channel))
        if slot is None or slot.connection is None or slot.connection.closed:
            return None
        connection = slot.connection
        address = self._address_of(node_id)
        if address is not None and address != (connection.host, connection.port):
            slot.connection = None  # the broker has moved
            self._close_soon(connection)
            return None
        return connection

    def blocked_for(self, node_id: int, channel: str = "") -> float:
        """For how many seconds the broker is not tried again after it failed; 0: it may be tried."""
        slot = self._slots.get((node_id, channel))
        if slot is None or slot.opening is not None:
            return 0.0
        return max(0.0, slot.retry_at - asyncio.get_running_loop().time())

    def load(self, node_id: int) -> int | None:
        """How many requests are in flight to a broker on its main connection; None: it is not connected."""
        connection = self.ready(node_id)
        return None if connection is None else connection.in_flight

    def api_versions(self, node_id: int) -> ApiVersions | None:
        """What the broker served when it was last connected; None: it never was."""
        return self._versions.get(node_id)

    async def get(self, node_id: int, channel: str = "") -> Connection:
        """The connection to a broker, opened if there is none.

        Raises `KafkaConnectionError` if it cannot be opened or may not be tried again yet, and what
        `Connection.open` raises.
        """
        connection = self.ready(node_id, channel)
        if connection is not None:
            return connection
        if self._closed:
            raise IllegalStateError("the client is closed")
        slot = self._slots.setdefault((node_id, channel), _Slot())
        if slot.opening is None:
            self._refuse_too_early(node_id, channel, slot)
            address = self._address_of(node_id)
            if address is None:
                raise StaleMetadata(f"the cluster has no broker with id {node_id} (any more)")
            slot.opening = asyncio.get_running_loop().create_task(self._open(node_id, channel, slot, address))
            # Looked at also if every caller gave up, so that asyncio does not complain of it.
            slot.opening.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(slot.opening)

    def adopt(self, node_id: int, connection: Connection) -> None:
        """Use a connection that was opened to find the cluster for the broker it turned out to lead to.

        `BOOTSTRAP_NODE` is for one that leads to no broker's own address; the last such is kept.
        """
        slot = self._slots.setdefault((node_id, ""), _Slot())
        if node_id != BOOTSTRAP_NODE and (slot.opening is not None or self.ready(node_id) is not None):
            self.adopt(BOOTSTRAP_NODE, connection)
            return
        if slot.connection is not None and not slot.connection.closed:
            self._close_soon(slot.connection)
        connection.node_id = node_id
        self._take(node_id, slot, connection)

    def forget_history(self) -> None:
        """Try every broker again at once: the cluster has been found anew."""
        for slot in self._slots.values():
            slot.failures, slot.retry_at, slot.last_error = 0, 0.0, None

    async def close(self) -> None:
        """Close all connections."""
        self._closed = True
        opening = [slot.opening for slot in self._slots.values() if slot.opening is not None]
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        connections = [slot.connection for slot in self._slots.values() if slot.connection is not None]
        await asyncio.gather(*(connection.close() for connection in connections), *self._closing)
        self._slots.clear()

    def _refuse_too_early(self, node_id: int, channel: str, slot: _Slot) -> None:
        wait = self.blocked_for(node_id, channel)
        error = slot.last_error
        if wait <= 0 or error is None:
            return
        text = error.args[0] if error.args else error
        raise type(error)(f"{text} (broker {node_id} is tried again in {wait:.1f} s)")

    async def _open(self, node_id: int, channel: str, slot: _Slot, address: Address) -> Connection:
        try:
            connection = await Connection.open(*address, self._options, self._security, node_id)
        except KafkaError as error:
            failure = error
            if isinstance(error, KafkaConnectionError):
                text = error.args[0] if error.args else error
                failure = KafkaConnectionError(f"{text} (the address that the cluster advertises for broker {node_id})")
            self._failed(node_id, slot, failure)
            raise failure from error
        finally:
            slot.opening = None
        if self._closed:
            connection.abort(KafkaConnectionError("the client was closed"))
            raise IllegalStateError("the client is closed")
        self._take(node_id, slot, connection)
        return connection

    def _take(self, node_id: int, slot: _Slot, connection: Connection) -> None:
        slot.connection = connection
        slot.answered_when_ready = connection.answered
        self._versions[node_id] = connection.api_versions
        connection.on_close(lambda _, error: self._lost(node_id, slot, connection, error))
        self._gate.over(f"node {node_id}", f"connected to {connection.described_as} again")

    def _lost(self, node_id: int, slot: _Slot, connection: Connection, error: KafkaError) -> None:
        if slot.connection is connection:
            slot.connection = None
        else:
            return
        if connection.ended_here or connection.answered > slot.answered_when_ready:
            # It worked: try again at once, and wait only if that fails.
            slot.failures, slot.retry_at, slot.last_error = 0, 0.0, None
            log.debug("%s", error)
        elif not self._closed:
            self._failed(node_id, slot, error)

    def _failed(self, node_id: int, slot: _Slot, error: KafkaError) -> None:
        slot.failures += 1
        slot.retry_at = asyncio.get_running_loop().time() + self._backoff.seconds(slot.failures)
        slot.last_error = error
        self._gate.warning(f"node {node_id}", f"broker {node_id}: {error}")

    def _close_soon(self, connection: Connection) -> None:
        task: asyncio.Task[Any] = asyncio.get_running_loop().create_task(connection.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
