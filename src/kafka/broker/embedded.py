"""`EmbeddedBroker`, a broker inside a program for tests and development, and `run`, a broker in the foreground."""

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from kafka._addresses import format_address
from kafka._loop_services import run_on_new_loop
from kafka.broker.broker_server import BrokerServer
from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.faults import Faults
from kafka.errors import IllegalStateError

if TYPE_CHECKING:
    from kafka.broker.client_metrics import PushedMetrics


class EmbeddedBroker:
    """A Kafka broker in this process, with real TCP connections and logs on disk.

    As a synchronous context manager (or with `start` and `stop`) it runs on its own thread and event loop; with
    ``async with`` it runs on the caller's loop. After it has stopped it can be started again, on the same port if you
    specified one.

    With the setting `registry`, the broker also runs a schema registry with Confluent's HTTP API at `registry_url`, on
    the loopback interface and without logins. The registry stores its data in the same folder.

    With the setting `users` (passwords by name), clients must log in (SASL_PLAINTEXT with PLAIN, SCRAM-SHA-256 or
    SCRAM-SHA-512). There is no authorization.

    Arguments:
        data_dir: the folder for logs and offsets; None: a temporary folder, removed at the end.
        host: the address to listen on.
        port: the port; 0: a free one.
        settings: see `kafka.broker.broker_settings.BrokerSettings`.

    Attributes:
        faults: makes the broker fail on demand; see `kafka.broker.faults`.

    Raises:
        KafkaConfigurationError: a setting is unknown or invalid.
    """

    def __init__(
        self,
        data_dir: str | os.PathLike[str] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        **settings: object,
    ) -> None:
        self._data_dir = None if data_dir is None else Path(data_dir)
        self._host = host
        self._port = port
        self._settings = BrokerSettings.from_names(settings)
        self.faults = Faults()
        self._server: BrokerServer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def host(self) -> str:
        """The advertised host, which clients connect to: the setting `advertised_host`, or the host listened on.

        Raises `IllegalStateError` while the broker is not running.
        """
        return self._running().endpoint.host

    @property
    def port(self) -> int:
        """The advertised port, which clients connect to: the setting `advertised_port`, or the port listened on.

        Raises `IllegalStateError` while the broker is not running.
        """
        return self._running().endpoint.port

    @property
    def bootstrap_servers(self) -> str:
        """``host:port`` (``[host]:port`` for an IPv6 address), for the client option of the same name."""
        return format_address(self.host, self.port)

    @property
    def users(self) -> dict[str, str]:
        """The setting `users`: passwords by name; empty if clients do not log in."""
        return dict(self._settings.users)

    @property
    def registry_url(self) -> str:
        """The URL of the schema registry, for the option ``url`` of `kafka.schema_registry.SchemaRegistryClient`.

        Raises `IllegalStateError` while the broker is not running, or if it was created without ``registry=True``.
        """
        url = self._running().registry_url
        if url is None:
            raise IllegalStateError("the embedded broker has no schema registry: create it with registry=True")
        return url

    def pushed_metrics(self) -> "list[PushedMetrics]":
        """Return the last thousand client metrics pushes (KIP-714), oldest first. Safe to call from any thread.

        Clients push metrics if the setting `client_telemetry` is on and a subscription (a config resource of the type
        CLIENT_METRICS) requests them. Raises `IllegalStateError` while the broker is not running.
        """
        return self._running().pushed_metrics()

    def _running(self) -> BrokerServer:
        if self._server is None:
            raise IllegalStateError("the embedded broker is not running: use it in a with block, or call start()")
        return self._server

    def _new_server(self) -> BrokerServer:
        if self._server is not None:
            raise IllegalStateError("the embedded broker is already running")
        return BrokerServer(self._data_dir, self._host, self._port, self._settings, faults=self.faults)

    # -- on a separate thread -----------------------------------------------------------------------------------------

    def start(self) -> "EmbeddedBroker":
        """Start the broker on its own thread; return when it accepts connections.

        Raises OSError if the port is in use.
        """
        server = self._new_server()
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="kafka-embedded-broker", daemon=True)
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        except BaseException:
            _end_thread(loop, thread)
            raise
        self._server, self._loop, self._thread = server, loop, thread
        return self

    def stop(self) -> None:
        """Stop the broker: close connections and files cleanly. Does nothing if it is not running."""
        server, loop, thread = self._server, self._loop, self._thread
        if server is None or loop is None or thread is None:
            return
        self._server = self._loop = self._thread = None
        try:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        finally:
            _end_thread(loop, thread)

    def restart(self, *, lose_unsynced: bool = False) -> None:
        """Kill the broker and start it again on the same port.

        With `lose_unsynced`, a power failure is simulated as well, so unsynced data is lost. With the setting `fsync`,
        no acknowledged data is lost; without it, all records and commits since the start are lost. May be called from
        any thread. Raises `IllegalStateError` while the broker is not running on its own thread.
        """
        if self._loop is None:
            raise IllegalStateError("the embedded broker does not run on a thread: await restart_async() on its loop")
        asyncio.run_coroutine_threadsafe(self._running().restart(lose_unsynced=lose_unsynced), self._loop).result()

    def __enter__(self) -> "EmbeddedBroker":
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    # -- on the caller's loop -----------------------------------------------------------------------------------------

    async def restart_async(self, *, lose_unsynced: bool = False) -> None:
        """Kill and restart a broker that runs on the caller's loop, like `restart`.

        Arguments:
            lose_unsynced: whether to simulate a power failure of the machine as well, in which unsynced data is lost.
        """
        await self._running().restart(lose_unsynced=lose_unsynced)

    async def __aenter__(self) -> "EmbeddedBroker":
        server = self._new_server()
        await server.start()
        self._server = server
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        server, self._server = self._server, None
        if server is not None:
            await server.stop()


def _end_thread(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def run(
    data_dir: str | os.PathLike[str] | None = None, host: str = "127.0.0.1", port: int = 9092, **settings: object
) -> None:
    """Run a broker until SIGINT or SIGTERM. When the broker is ready, it prints a line that ends with ``host:port``.

    It also reports on standard error where records are stored, and whether clients must log in.

    Arguments:
        data_dir: the folder for records; None: a temporary folder, removed at the end.
        host: the address to listen on.
        port: the port; 0: a free one.
        settings: see `BrokerSettings`.

    The arguments are those of `EmbeddedBroker`. Raises OSError if the port is in use.
    """
    folder = None if data_dir is None else Path(data_dir)
    parsed = BrokerSettings.from_names(settings)
    where = "a temporary folder, removed at the end (--data-dir keeps them)" if folder is None else folder
    notes = [f"records are in {where}"]
    if parsed.users:
        notes.append("clients must log in: security_protocol SASL_PLAINTEXT")
    run_on_new_loop(_serve(BrokerServer(folder, host, port, parsed), notes))


async def _serve(server: BrokerServer, notes: list[str]) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, ended.set)
    endpoint = await server.start()
    try:
        print(f"kafka broker ready on {format_address(endpoint.host, endpoint.port)}", flush=True)
        if server.registry_url is not None:
            notes.append(f"the schema registry is at {server.registry_url}")
        print(*notes, sep="\n", file=sys.stderr, flush=True)
        await ended.wait()
    finally:
        await server.stop()
