"""Opens the stream to one broker: tries the addresses of its host name, and records why each of them failed.

Connections through a proxy (SOCKS5, or HTTP with CONNECT) use the python-socks library.
"""

import asyncio
import enum
import errno
import os
import socket
import ssl
from collections.abc import Callable
from typing import Any, TypeVar

from kafka._addresses import format_address
from kafka.config import ConnectionOptions
from kafka.config.security import ProxyAddress
from kafka.errors import KafkaConfigurationError, KafkaConnectionError, KafkaError
from kafka.net.frame_stream import Stream
from kafka.net.peer_text import shown_text
from kafka.net.tls_context import describe_tls_failure

E = TypeVar("E", bound=BaseException)


class HungUpOn(enum.Enum):
    """The step at which a listener closed the connection, which indicates what kind of listener it is."""

    TLS = enum.auto()
    """During the TLS handshake."""
    GREETING = enum.auto()
    """After the first request, ApiVersions."""
    REQUEST = enum.auto()
    """After the second request."""


_STAGGER_S = 0.25
"""Head start of an address before the next one is tried in parallel (RFC 8305)."""

_TLS_SHUTDOWN_S = 1.0
_PEER_GONE = (errno.EBADF, errno.ENOTCONN, errno.ECONNRESET, errno.EPIPE)
"""Errors of setsockopt() that mean that the connection has ended, not that the option is wrong."""


def describe_failure(error: BaseException) -> str:
    """Describe why the connection to an address failed."""
    if isinstance(error, ssl.SSLError):
        return describe_tls_failure(error)
    if isinstance(error, KafkaError):
        return str(error.args[0]) if error.args else type(error).__name__
    if isinstance(error, TimeoutError) and not error.errno:
        return "no answer in time"
    if isinstance(error, ConnectionResetError | BrokenPipeError | ConnectionAbortedError):
        return "it reset the connection"
    if isinstance(error, OSError) and error.errno is not None and error.errno in errno.errorcode:
        return f"{os.strerror(error.errno).lower()} ({errno.errorcode[error.errno]})"
    return str(error) or type(error).__name__


class DialError(KafkaConnectionError):
    """No connection could be established to any address of a broker's host name.

    Attributes:
        host, port: the broker.
        permanent: whether retrying is pointless, because the peer is not trusted or does not use TLS.
        refused: whether nothing listens there: every address refuses connections, or the name has no address.
        attempts: pairs of an address and its error; empty if the name could not be resolved.
        hung_up_on: the step at which the listener closed the connection; None if the listener was not reached, or gave
            a reason.
    """

    host: str = ""
    port: int = 0
    attempts: tuple[tuple[str, str], ...] = ()
    permanent: bool = False
    refused: bool = False
    hung_up_on: HungUpOn | None = None

    @classmethod
    def of(cls, host: str, port: int, attempts: list[tuple[str, str]], reason: str = "") -> "DialError":
        """Return the error for the given attempts; ``reason`` describes a failure before the first attempt."""
        listed = "; ".join(f"{address}: {why}" for address, why in attempts)
        asked = format_address(host, port)
        if [address for address, _ in attempts] == [asked]:
            listed = attempts[0][1]
        error = cls(f"cannot connect to {asked}: {reason or listed}")
        error.host, error.port, error.attempts = host, port, tuple(attempts)
        return error


async def _resolve(host: str, port: int) -> list[tuple[int, tuple[str, int]]]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, socket.gaierror) else str(error)
        failure = DialError.of(host, port, [], f"the name {host!r} cannot be resolved: {why}")
        failure.refused = isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME
        raise failure from in_brief(error)
    unique: dict[tuple[int, tuple[str, int]], None] = {}
    for family, _, _, _, address in found:
        if family in (socket.AF_INET, socket.AF_INET6):
            unique[int(family), (str(address[0]), int(address[1]))] = None
    return list(unique)


class _Race:
    """Starts connecting to several addresses, one shortly after another, and keeps the first connection."""

    def __init__(
        self,
        host: str,
        port: int,
        tls: ssl.SSLContext | None,
        factory: Callable[[], Stream],
        proxy: ProxyAddress | None = None,
    ) -> None:
        self._host, self._port, self._tls, self._factory, self._proxy = host, port, tls, factory, proxy
        self._loop = asyncio.get_running_loop()
        self._running: dict[asyncio.Task[Stream], str] = {}
        self.failures: list[tuple[str, str]] = []
        self._causes: list[BaseException] = []

    async def _connect(self, family: int, address: tuple[str, int], timeout_s: float) -> Stream:
        uses_tls = self._tls is not None
        where: dict[str, Any] = {"host": address[0], "port": address[1], "family": family}
        if self._proxy is not None:
            where = {"sock": await connect_through(self._proxy, *address, timeout_s)}
        try:
            _, stream = await self._loop.create_connection(
                self._factory,
                **where,
                ssl=self._tls,
                # SNI requires the name, even if it is not verified.
                server_hostname=self._host.rstrip(".") if uses_tls else None,
                ssl_handshake_timeout=timeout_s if uses_tls else None,
                ssl_shutdown_timeout=_TLS_SHUTDOWN_S if uses_tls else None,
            )
        except BaseException:
            if "sock" in where:
                where["sock"].close()
            raise
        return stream

    async def run(self, addresses: list[tuple[int, tuple[str, int]]], timeout_s: float) -> Stream:
        winner: Stream | None = None
        try:
            try:
                winner = await self._first(list(addresses), timeout_s)
            finally:
                await self._stop_others()
        except BaseException:
            if winner is not None:
                winner.abort()
            raise
        if winner is not None:
            return winner
        error = DialError.of(self._host, self._port, self.failures)
        cause = max(self._causes, key=self._tells, default=None)
        error.permanent = isinstance(cause, ssl.SSLError)
        refusals = sum(isinstance(each, ConnectionRefusedError) for each in self._causes)
        error.refused = refusals == len(self.failures) > 0
        if cause is not None and self._closed_in_handshake(cause):
            error.hung_up_on = HungUpOn.TLS
        raise error from None if cause is None else in_brief(cause)

    def _tells(self, error: BaseException) -> int:
        """Rank an error by how much it reveals about the listener.

        This matters because some of the listener's addresses may be unreachable from here.
        """
        return 2 if isinstance(error, ssl.SSLError) else int(self._closed_in_handshake(error))

    async def _first(self, waiting: list[tuple[int, tuple[str, int]]], timeout_s: float) -> Stream | None:
        deadline = self._loop.time() + timeout_s
        while waiting or self._running:
            left = deadline - self._loop.time()
            if left <= 0:
                self.failures += [(each, f"no answer in {timeout_s:g} s") for each in self._running.values()]
                break
            if waiting:
                family, address = waiting.pop(0)
                task = self._loop.create_task(self._connect(family, address, left))
                self._running[task] = format_address(*address)
            winner = await self._wait(min(left, _STAGGER_S) if waiting else left)
            if winner is not None:
                return winner
        return None

    async def _wait(self, timeout_s: float) -> Stream | None:
        done, _ = await asyncio.wait(self._running, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        winner: Stream | None = None
        for task in done:
            address = self._running.pop(task)
            error = task.exception()
            if error is not None:
                self.failures.append((address, self._describe(error)))
                self._causes.append(error)
            elif winner is None:
                winner = task.result()
            else:
                _end_late(task)
        return winner

    def _describe(self, error: BaseException) -> str:
        if self._closed_in_handshake(error):
            return "it closed the connection during the TLS handshake: does it speak TLS on this port?"
        return describe_failure(error)

    def _closed_in_handshake(self, error: BaseException) -> bool:
        return self._tls is not None and isinstance(error, ConnectionError) and error.errno != errno.ECONNREFUSED

    async def _stop_others(self) -> None:
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
            task.add_done_callback(_end_late)  # called even if nothing awaits the task
        if tasks:
            await asyncio.wait(tasks)


def _end_late(task: asyncio.Task[Stream]) -> None:
    """Close a stream that was connected after another one had been chosen."""
    if not task.cancelled() and task.exception() is None:
        task.result().abort()


async def open_stream(
    host: str,
    port: int,
    options: ConnectionOptions,
    tls: ssl.SSLContext | None,
    factory: Callable[[], Stream],
    proxy: ProxyAddress | None = None,
) -> Stream:
    """Connect to the first address of ``host`` that succeeds, including the TLS handshake.

    Arguments:
        proxy: the proxy to use; None to connect directly.

    Raises `DialError`, with each address tried and why it failed, and `KafkaConfigurationError`.
    """
    timeout_s = options.socket_connection_setup_timeout_ms / 1000
    loop = asyncio.get_running_loop()
    started = loop.time()
    try:
        async with asyncio.timeout(timeout_s):
            # The proxy looks up the name where possible, because it may not be resolvable here.
            by_proxy = proxy is not None and proxy.scheme != "socks5"
            addresses = [(0, (host, port))] if by_proxy else await _resolve(host, port)
    except TimeoutError:
        raise DialError.of(host, port, [], f"looking up the name {host!r} took longer than {timeout_s:g} s") from None
    stream = await _Race(host, port, tls, factory, proxy).run(addresses, timeout_s - (loop.time() - started))
    try:
        _set_socket_options(stream, options)
    except OSError as error:  # the peer accepted and closed the connection, so the socket no longer exists
        stream.abort()
        how = "" if error.errno == errno.EBADF else f" ({describe_failure(error)})"  # EBADF: this side has closed, too
        why = f"it closed the connection at once{how}"
        raise DialError.of(host, port, [(format_address(host, port), why)]) from error
    except KafkaConfigurationError:
        stream.abort()
        raise
    return stream


def _set_socket_options(stream: Stream, options: ConnectionOptions) -> None:
    sock = stream.extra("socket")
    if sock is None:  # an in-memory network
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if options.receive_buffer_bytes is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, options.receive_buffer_bytes)
    if options.send_buffer_bytes is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, options.send_buffer_bytes)
    for level, name, value in options.socket_options:
        try:
            sock.setsockopt(level, name, value)
        except (OSError, TypeError) as error:
            if sock.fileno() < 0 or (isinstance(error, OSError) and error.errno in _PEER_GONE):
                raise
            raise KafkaConfigurationError(
                f"'socket_options' has ({level!r}, {name!r}, {value!r}), which the system rejects: {error}"
            ) from error


def in_brief(error: E) -> E:
    """Return an error without its traceback, as the cause of another error whose text contains all details.

    Errors other than network errors and Kafka's keep their traceback, because they may be bugs. Errors that are raised
    again may be each other's contexts, in a cycle.
    """
    each: BaseException | None = error
    seen: set[int] = set()
    while isinstance(each, KafkaError | OSError | asyncio.TimeoutError) and id(each) not in seen:
        seen.add(id(each))
        each.__traceback__ = None
        each = each.__cause__ if each.__suppress_context__ else each.__cause__ or each.__context__
    return error


class ProxyRefusedError(KafkaConnectionError):
    """The proxy cannot be reached, rejects this client, or cannot reach the broker."""


def check_proxy_library() -> None:
    """Import the proxy library, which takes a moment. Raises `KafkaConfigurationError` if it is not installed."""
    try:
        import python_socks.async_.asyncio  # noqa: F401
    except ImportError as error:
        raise KafkaConfigurationError(
            f"'proxy_url' and 'socks5_proxy' require python-socks ({error}): pip install 'kafka-columnar[socks]'"
        ) from error


async def connect_through(proxy: ProxyAddress, host: str, port: int, timeout_s: float) -> socket.socket:
    """Return a socket that is connected to ``host`` and ``port`` through a proxy.

    Raises `ProxyRefusedError`, which contains the proxy's address but not its user.
    """
    from python_socks import ProxyConnectionError, ProxyError, ProxyTimeoutError, ProxyType
    from python_socks.async_.asyncio import Proxy

    kind = ProxyType.HTTP if proxy.scheme == "http" else ProxyType.SOCKS5
    # If names must be resolved locally, the caller has done so, and `host` is an address.
    way = Proxy(kind, proxy.host, proxy.port, proxy.username, proxy.password, rdns=True)
    where = f"the proxy {format_address(proxy.host, proxy.port)}"
    try:
        return await way.connect(host, port, timeout=timeout_s)
    except ProxyTimeoutError:
        raise ProxyRefusedError(f"{where} did not connect within {timeout_s:g} s") from None
    except ProxyConnectionError as error:
        raise ProxyRefusedError(f"{where} cannot be reached: {error.strerror or error}") from None
    except ProxyError as error:
        raise ProxyRefusedError(f"{where} rejected the connection: {shown_text(str(error))}") from None
    except (OSError, asyncio.IncompleteReadError) as error:
        raise ProxyRefusedError(f"{where} ended the connection: {error}") from None
