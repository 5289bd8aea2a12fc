"""Probes a peer on a separate connection: is it an old broker, another kind of listener, or no broker at all?

Brokers before 0.10 have no ApiVersions request: 0.9 does not answer it, and 0.8 closes the connection. Other brokers
may do either temporarily. So a broker is considered old if, on a second connection, it answers the oldest metadata
request, and then ignores ApiVersions or closes the connection again.

A listener that closes connections may be starting up, or behind a proxy without a broker to forward to. Such failures
are temporary and are retried. But a TLS listener also closes plaintext connections, a plaintext listener closes TLS
connections, and a listener that requires SASL closes connections without it. `wrong_listener` distinguishes these cases
by speaking the listener's own protocol, so that a wrong ``security_protocol`` is reported as such.
"""

import asyncio
import dataclasses
import logging
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.config import ConnectionOptions, SecurityOptions
from kafka.errors import (
    IllegalSaslStateError,
    InvalidReceiveError,
    KafkaConnectionError,
    KafkaError,
    UnsupportedSaslMechanismError,
)
from kafka.net.connection import Connection
from kafka.net.frame_stream import Stream
from kafka.net.open_stream import HungUpOn, open_stream
from kafka.net.tls_context import speaks_no_tls
from kafka.wire.api.api_versions import ApiVersionsRequest
from kafka.wire.api.metadata import MetadataRequest
from kafka.wire.api.sasl_handshake import SaslHandshakeRequest

if TYPE_CHECKING:
    from kafka.wire import Request

log = logging.getLogger(__name__)

T = TypeVar("T")
Release = tuple[int, ...]

_SILENCE_S = 1.0
"""Seconds to wait for the answer to ApiVersions before the second connection is opened."""
_SECOND_SILENCE_S = 0.5
_LONG_SILENCE_S = 2.0
_SILENT, _HANGS_UP = (0, 9), (0, 8, 2)
_known: set[tuple[str, int]] = set()
"""Addresses of known old brokers, which are probed without waiting for `_SILENCE_S`."""


class OldBrokerError(KafkaConnectionError):
    """The broker is older than 0.10; ``release`` is its probable release. Not visible to users."""

    def __init__(self, release: Release) -> None:
        super().__init__("the broker is too old to report its API versions")
        self.release = release


async def unless_old(
    asking: Coroutine[Any, Any, T], address: tuple[str, int], look: Callable[[], Awaitable[Release | None]]
) -> T:
    """Return the result of ``asking``, a request for versions; if it is slow, call ``look`` to detect an old broker.

    Raises `OldBrokerError`, and the errors raised by ``asking``.
    """
    answer = asyncio.ensure_future(asking)
    looking: asyncio.Future[Release | None] | None = None
    try:
        await asyncio.wait((answer,), timeout=0 if address in _known else _SILENCE_S)
        if not answer.done():
            looking = asyncio.ensure_future(look())
            await asyncio.wait((answer, looking), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done() and (release := looking.result()) is not None:
                _known.add(address)
                raise OldBrokerError(release)
        return await answer
    finally:
        await _end(answer, looking)


async def _end(*futures: "asyncio.Future[Any] | None") -> None:
    under_way = [each for each in futures if each is not None]
    for each in under_way:
        each.cancel()
    await asyncio.gather(*under_way, return_exceptions=True)


async def look_whether_foreign(connection: Connection, security: SecurityOptions) -> None:
    """Check that a listener that requires authentication is a broker. No supported old broker requires authentication.

    Raises `InvalidReceiveError` if the peer is not a broker.
    """
    try:
        await connection.connect(security)
        await _patiently(connection, ApiVersionsRequest())
    except InvalidReceiveError:
        raise
    except KafkaError as error:
        log.debug("%s may be a broker: %s", connection.described_as, error)
    finally:
        connection.abort(KafkaConnectionError("the probe has ended"))


async def _patiently(connection: Connection, request: "Request[Any]") -> None:
    """Send a request. If there is no answer, close the sending half, because some other servers answer only then."""
    asking = asyncio.ensure_future(connection.send(request, 0))
    try:
        await asyncio.wait((asking,), timeout=_LONG_SILENCE_S)
        if not asking.done():
            connection.end_sending()
        await asking
    finally:
        asking.cancel()


async def look_whether_old(connection: Connection, security: SecurityOptions) -> Release | None:
    """Return the release of an old broker, or None if the broker is not old.

    Arguments:
        connection: a separate connection that is not open yet.

    Raises `InvalidReceiveError` if the peer is not a broker at all, such as an HTTP server.
    """
    try:
        await connection.connect(security)
        await _patiently(connection, MetadataRequest(topics=[]))
        try:
            async with asyncio.timeout(_SECOND_SILENCE_S):
                await connection.send(ApiVersionsRequest(), 0)
        except TimeoutError:
            return _SILENT
        except KafkaConnectionError:
            return _HANGS_UP
        return None
    except InvalidReceiveError:
        raise
    except KafkaError as error:
        log.debug("%s is not known to be older than 0.10: %s", connection.described_as, error)
        return None
    finally:
        connection.abort(KafkaConnectionError("the probe has ended"))


_PATIENCE_MS = 2_000
_NO_MECHANISM = "?"
"""An unknown mechanism: a listener that requires SASL rejects it with the names of its mechanisms."""


class WrongListenerError(KafkaConnectionError):
    """The listener requires another ``security_protocol``. Retrying does not help."""

    permanent = True


async def wrong_listener(
    host: str, port: int, options: ConnectionOptions, security: SecurityOptions, hung_up_on: HungUpOn
) -> WrongListenerError | None:
    """Return an error if the listener requires another ``security_protocol``; None if that is not certain."""
    given = f"security_protocol is {security.security_protocol!r}"
    options = dataclasses.replace(options, socket_connection_setup_timeout_ms=_PATIENCE_MS)
    sasl = "SASL_" if security.uses_sasl else ""
    if hung_up_on is HungUpOn.REQUEST:
        mechanisms = await _mechanisms(Connection(host, port, options), security)
        if mechanisms is None:
            return None
        needed = "SASL_SSL" if security.uses_tls else "SASL_PLAINTEXT"
        what = f"requires SASL authentication ({', '.join(mechanisms) or 'it offers no mechanism'})"
        return WrongListenerError(f"{host}:{port} {what}, but {given}: set it to {needed!r}, and set the credentials")
    if security.uses_tls:
        if not await _answers_in_clear(Connection(host, port, options), security):
            return None
        return WrongListenerError(
            f"{host}:{port} does not speak TLS, but {given}: is it the port of another listener, or is "
            f"{f'{sasl}PLAINTEXT'!r} meant, which does not encrypt?"
        )
    if not await _speaks_tls(host, port, options, security):
        return None
    return WrongListenerError(f"{host}:{port} speaks TLS, but {given}: set it to {f'{sasl}SSL'!r}")


async def _mechanisms(connection: Connection, security: SecurityOptions) -> list[str] | None:
    """Return the SASL mechanisms of a listener, or None if it does not require SASL."""
    try:
        await connection.connect(security)
        answer = await connection.send(SaslHandshakeRequest(mechanism=_NO_MECHANISM), 0, _PATIENCE_MS)
    except KafkaError:
        return None
    finally:
        connection.abort(KafkaConnectionError("the probe has ended"))
    if answer.error_code == IllegalSaslStateError.errno:
        return None
    return answer.mechanisms if answer.error_code == UnsupportedSaslMechanismError.errno else None


async def _answers_in_clear(connection: Connection, security: SecurityOptions) -> bool:
    try:
        await connection.connect(dataclasses.replace(security, security_protocol="PLAINTEXT"))
        await connection.send(ApiVersionsRequest(), 0, _PATIENCE_MS)
    except KafkaError:
        return False
    finally:
        connection.abort(KafkaConnectionError("the probe has ended"))
    return True


async def _speaks_tls(host: str, port: int, options: ConnectionOptions, security: SecurityOptions) -> bool:
    """Return whether a TLS handshake succeeds or ends with an alert.

    Nothing is sent over it, so trust is not checked.
    """
    anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    try:
        stream = await open_stream(host, port, options, anybody, _silent_stream, security.proxy)
    except KafkaConnectionError as error:
        return isinstance(error.__cause__, ssl.SSLError) and not speaks_no_tls(error.__cause__)
    found = stream.extra("ssl_object") is not None
    stream.abort()
    return found


def _silent_stream() -> Stream:
    return Stream(lambda frame, buffer: True, lambda stream, why: None, 1024)
