"""The broker's server: listens, creates a `ClientConnection` for each connection, and shuts down cleanly.

It also works without sockets: call `open`, then `connection` for each transport in your own network.
"""

import asyncio
import contextlib
import logging
import os
import random
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kafka._addresses import bare_host, format_address
from kafka._file_locks import FileLock, holder
from kafka.broker.broker import Broker, CommitObserver, Endpoint
from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.client_connection import ClientConnection
from kafka.broker.clock import Clock, LoopClock, Timer
from kafka.broker.connection_listener import DescriptorReserve, Listener
from kafka.broker.disk_files import sync_folder
from kafka.broker.error_codes import RequestFailed
from kafka.broker.faults import Faults
from kafka.broker.receive_buffer import BufferPool
from kafka.errors import IllegalStateError

if TYPE_CHECKING:
    from kafka.broker.client_metrics import PushedMetrics
    from kafka.broker.registry.http_server import RegistryServer

log = logging.getLogger(__name__)

_LAST_ROUNDS = 5
"""Number of loop iterations within which an aborted connection is closed."""
_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})
_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Unassigned addresses (RFC 5737, RFC 3849). The route to them reveals this machine's address."""
_LOOPBACK = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}


class BrokerServer:
    """A broker that stores its data in `data_dir` and listens on `host` and `port` (0: a free port).

    Without `data_dir` it creates a temporary folder, and removes it at the end. The broker must be used on a single
    event loop, which may be of any kind. Raises OSError on systems other than POSIX.

    Arguments for simulations:
        clock: the only source of time; None: the running loop's time and the wall clock.
        randomness: the only source of random numbers; None: the system's.
        faults: the fault rules; None: no rules yet.
        commit_accepted: called for each accepted commit.
    """

    def __init__(
        self,
        data_dir: Path | None,
        host: str,
        port: int,
        settings: BrokerSettings,
        *,
        clock: Clock | None = None,
        randomness: random.Random | None = None,
        faults: Faults | None = None,
        commit_accepted: CommitObserver | None = None,
    ) -> None:
        self.faults = Faults() if faults is None else faults
        self._data_dir = data_dir
        self._host = bare_host(host)
        self._port = port
        self._settings = settings
        self._clock = clock
        self._random = randomness
        self._commit_accepted = commit_accepted
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._lock: FileLock | None = None
        self._pool = BufferPool()
        self._descriptors = DescriptorReserve()
        self._connections: dict[ClientConnection, None] = {}
        """The connections, in the order of creation, so that simulations are repeatable."""
        self._listener: Listener | None = None
        self._broker: Broker | None = None
        self._cleaning: Timer | None = None
        self._registry: RegistryServer | None = None
        self._registry_port = settings.registry_port
        self.endpoint = Endpoint(host, port)
        _check_system()

    async def start(self) -> Endpoint:
        """Open the data and listen; return the address. Raises OSError if the address is not available."""
        try:
            folder = self._open_folder()
            self._listener = listener = Listener(self.connection)
            await listener.start(self._host, self._port)
            self._open_data(folder, self._advertised(listener.port))
            if self._settings.registry:
                await self._start_registry(folder)
        except BaseException:
            await self.stop()
            raise
        return self.endpoint

    async def _start_registry(self, folder: Path) -> None:
        from kafka.broker.registry.http_server import RegistryServer  # most brokers have no registry

        self._registry = registry = RegistryServer(folder, self._registry_port, self._settings.fsync)
        await registry.start()
        self._registry_port = registry.port  # keep the port after a restart

    @property
    def registry_url(self) -> str | None:
        """The URL of the schema registry; None if the broker has no registry."""
        return None if self._registry is None else self._registry.url

    def open(self) -> Endpoint:
        """Open the data on the running loop without listening. Responses to clients contain `host` and `port`."""
        try:
            self._open_data(self._open_folder(), Endpoint(self._host, self._port))
        except BaseException:
            self._close_data(in_order=True)
            raise
        return self.endpoint

    def connection(self) -> asyncio.BufferedProtocol:
        """Create the protocol for a new transport (`asyncio.Transport`); the data must be open."""
        assert self._broker is not None, "the broker is not open"
        connection = ClientConnection(self._broker, self._pool, self.faults, self._forget, self._descriptors)
        self._connections[connection] = None
        return connection

    def committed_offsets(self) -> dict[str, dict[tuple[str, int], int]]:
        """Return the committed offsets: for each group, the offset by topic and partition. The broker must be open."""
        assert self._broker is not None, "the broker is not open"
        groups = self._broker.groups.groups
        return {name: {key: one.offset for key, one in group.offsets.items()} for name, group in groups.items()}

    def pushed_metrics(self) -> "list[PushedMetrics]":
        """Return the metrics that clients have pushed, newest last. The broker must be open."""
        assert self._broker is not None, "the broker is not open"
        return list(self._broker.telemetry.pushed)

    def _forget(self, connection: ClientConnection) -> None:
        self._connections.pop(connection, None)

    def _open_data(self, folder: Path, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        clock = self._clock or LoopClock(asyncio.get_running_loop())
        self._broker = Broker(folder, self._settings, clock, endpoint, self._random, self._commit_accepted)
        self._clean_later(clock)

    def _advertised(self, port: int) -> Endpoint:
        settings = self._settings
        host = self._host if settings.advertised_host is None else bare_host(settings.advertised_host)
        if host in _EVERYWHERE:
            host = _own_address(socket.AF_INET6 if host == "::" else socket.AF_INET)
            log.warning(
                "listening on all addresses and advertising %s to clients; set advertised_host (and "
                "advertised_port) if they reach it at another address",
                format_address(host, port),
            )
        return Endpoint(host, port if settings.advertised_port is None else settings.advertised_port)

    def _open_folder(self) -> Path:
        if self._data_dir is None:
            if self._temporary is None:
                # A file that is written during the removal must not make a test fail.
                self._temporary = tempfile.TemporaryDirectory(prefix="kafka-broker-", ignore_cleanup_errors=True)
            return Path(self._temporary.name)
        self._data_dir.mkdir(parents=True, exist_ok=True)
        if self._settings.fsync:
            sync_folder(self._data_dir.parent)
        self._lock = FileLock.take(self._data_dir / ".lock")
        if self._lock is None:
            found = holder(self._data_dir / ".lock")
            who = "" if found is None else f" ({found})"
            raise IllegalStateError(
                f"the folder {self._data_dir} is in use by another broker{who}: stop that broker, or use another folder"
            )
        return self._data_dir

    # -- periodic cleanup ---------------------------------------------------------------------------------------------

    def _clean_later(self, clock: Clock) -> None:
        interval_s = self._settings.retention_check_interval_ms / 1000
        if interval_s > 0:
            self._cleaning = clock.call_later(interval_s, lambda: self._clean(clock))

    def _clean(self, clock: Clock) -> None:
        assert self._broker is not None
        self._clean_on(clock, self._broker.clean())

    def _clean_on(self, clock: Clock, steps: Iterator[None]) -> None:
        """Run one step of the cleanup; the loop serves clients between steps."""
        try:
            next(steps)
        except StopIteration:
            self._clean_later(clock)
        except (OSError, RequestFailed):
            log.exception("could not apply retention")
            self._clean_later(clock)
        else:
            self._cleaning = clock.call_later(0, lambda: self._clean_on(clock, steps))

    # -- shutdown -----------------------------------------------------------------------------------------------------

    async def stop(self) -> None:
        """Close the connections and files cleanly; does nothing if the broker is not running."""
        await self._stop_listening()
        self._close_data(in_order=True)
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    async def crash(self, *, lose_unsynced: bool = False) -> None:
        """Stop like a killed process. The data is kept, even in a temporary folder; see `restart`.

        With `lose_unsynced` a power failure of the machine is simulated as well, so unsynced data is lost; without the
        setting `fsync`, this includes all records and commits since the start.
        """
        if self._broker is not None:
            self._broker.is_killed = True
        await self._stop_listening()
        self._close_data(in_order=False, lose_unsynced=lose_unsynced)

    async def restart(self, *, lose_unsynced: bool = False) -> None:
        """Crash, and start again with the same data and port."""
        listener = self._listener
        await self.crash(lose_unsynced=lose_unsynced)
        if listener is not None:
            self._port = listener.port
            await self.start()
        else:
            self.open()

    async def _stop_listening(self) -> None:
        if self._cleaning is not None:
            self._cleaning.cancel()
            self._cleaning = None
        registry, self._registry = self._registry, None
        if registry is not None:
            await registry.stop()
        listener, self._listener = self._listener, None
        if listener is not None:
            await listener.stop()
        for connection in tuple(self._connections):
            connection.close()
        for _ in range(_LAST_ROUNDS if listener is not None else 0):
            # A transport closes its socket one or more loop iterations after the abort.
            await asyncio.sleep(0)

    def _close_data(self, in_order: bool, lose_unsynced: bool = False) -> None:
        broker, self._broker = self._broker, None
        if broker is not None and in_order:
            broker.close()
        elif broker is not None:
            broker.crash(lose_unsynced)
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _check_system() -> None:
    """Raise OSError on systems without the POSIX calls for positional reads and writes."""
    if not hasattr(os, "pread"):
        raise OSError(
            f"the embedded broker runs on POSIX systems, such as Linux and macOS, not on {sys.platform}: start "
            "'kafka broker' in the Windows Subsystem for Linux or in a container, and connect to that"
        )


def _own_address(family: socket.AddressFamily) -> str:
    """Return the address at which other machines reach this one; without a network, the loopback address."""
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((_ELSEWHERE[family], 9))  # does not send anything
        return str(probe.getsockname()[0])
    return _LOOPBACK[family]
