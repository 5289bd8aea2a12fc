"""Finds out on another connection what kind of listener hangs up on us, so that a wrong option is known for certain.

A listener that closes the connection may be about to start, or be behind a proxy that has no broker to forward to.
That passes, and is retried. But a TLS listener also closes a connection without TLS, a listener without TLS one with
TLS, and a listener that requires authentication one without. These answer a client that uses their own protocol.
"""

import dataclasses
import ssl

from kafka.config import ConnectionOptions, SecurityOptions
from kafka.errors import IllegalSaslStateError, KafkaConnectionError, KafkaError, UnsupportedSaslMechanismError
from kafka.net.connection import Connection
from kafka.net.open_stream import HungUpOn, open_stream
from kafka.net.stream import Stream
from kafka.net.tls import speaks_no_tls
from kafka.wire.api.api_versions import ApiVersionsRequest
from kafka.wire.api.sasl_handshake import SaslHandshakeRequest

_PATIENCE_MS = 2_000
_NO_MECHANISM = "?"
"""Which a listener that asks for a login refuses with the names of those that it has."""


class WrongListenerError(KafkaConnectionError):
    """A listener that wants another ``security_protocol``. No repetition mends that."""

    permanent = True


async def wrong_listener(
    host: str, port: int, options: ConnectionOptions, security: SecurityOptions, hung_up_on: HungUpOn
) -> WrongListenerError | None:
    """The error of a listener that is not what ``security_protocol`` says; None where that is not known."""
    given = f"security_protocol is {security.security_protocol!r}"
    options = dataclasses.replace(options, socket_connection_setup_timeout_ms=_PATIENCE_MS)
    sasl = "SASL_" if security.uses_sasl else ""
    if hung_up_on is HungUpOn.REQUEST:
        mechanisms = await _mechanisms(Connection(host, port, options), security)
        if mechanisms is None:
            return None
        needed = "SASL_SSL" if security.uses_tls else "SASL_PLAINTEXT"
        what = f"asks for a login by SASL ({', '.join(mechanisms) or 'it names no mechanism'})"
        return WrongListenerError(f"{host}:{port} {what}, but {given}: set it to {needed!r}, and the credentials")
    if security.uses_tls:
        if not await _answers_in_clear(Connection(host, port, options), security):
            return None
        return WrongListenerError(
            f"{host}:{port} speaks no TLS, but {given}: is it the port of another listener, or is "
            f"{f'{sasl}PLAINTEXT'!r} meant, which encrypts nothing?"
        )
    if not await _speaks_tls(host, port, options, security):
        return None
    return WrongListenerError(f"{host}:{port} speaks TLS, but {given}: set it to {f'{sasl}SSL'!r}")


async def _mechanisms(connection: Connection, security: SecurityOptions) -> list[str] | None:
    """Those that a listener offers which asks for a login; None: it asks for none."""
    try:
        await connection.connect(security)
        answer = await connection.send(SaslHandshakeRequest(mechanism=_NO_MECHANISM), 0, _PATIENCE_MS)
    except KafkaError:
        return None
    finally:
        connection.abort(KafkaConnectionError("it was only asked what it is"))
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
        connection.abort(KafkaConnectionError("it was only asked what it is"))
    return True


async def _speaks_tls(host: str, port: int, options: ConnectionOptions, security: SecurityOptions) -> bool:
    """Whether a TLS handshake succeeds or ends with an alert. Nothing is sent over it, so trust is not checked."""
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
