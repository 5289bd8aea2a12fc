"""The SASL exchange over a connection, and reauthentication before the broker's session expires (KIP-368)."""

import asyncio
import logging

from kafka.config import SecurityOptions
from kafka.config.sasl_mechanisms import mechanism as mechanism_of
from kafka.errors import (
    IllegalSaslStateError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
    check_error,
)
from kafka.net.connection import Connection
from kafka.net.helper_threads import run_blocking
from kafka.net.peer_text import shown_text
from kafka.net.sasl.mechanism import Mechanism, make_mechanism
from kafka.wire.api.sasl_authenticate import SaslAuthenticateRequest
from kafka.wire.api.sasl_handshake import SaslHandshakeRequest

log = logging.getLogger(__name__)

_RENEW_AT = 0.85
"""Fraction of the session lifetime after which the client reauthenticates."""


class SaslSession:
    """Authenticates a connection, and reauthenticates it if the broker limits the session lifetime.

    Arguments:
        timeout_ms: maximum time to wait for each answer from the broker.
    """

    def __init__(self, connection: Connection, security: SecurityOptions, timeout_ms: int) -> None:
        self._connection = connection
        self._security = security
        self._timeout_ms = timeout_ms
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._has_logged_in = False

    async def begin(self) -> None:
        """Authenticate.

        Raises `SaslAuthenticationFailedError`, `UnsupportedSaslMechanismError`, and `KafkaConnectionError`.
        """
        await self._authenticate()
        self._has_logged_in = True

    def _renew_in(self, lifetime_ms: int) -> None:
        loop = asyncio.get_running_loop()
        is_first = self._timer is None
        self._timer = loop.call_later(lifetime_ms / 1000 * _RENEW_AT, self._start_renewal)
        if is_first:
            self._connection.on_close(self._closed)

    def _closed(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _start_renewal(self) -> None:
        if not self._connection.closed:
            self._task = asyncio.get_running_loop().create_task(self._renew())

    async def _renew(self) -> None:
        try:
            begun = await self._begun()  # this may request a token from a server; meanwhile, other requests are sent
            if self._connection.closed:
                return
            # After answering the requests in flight, the broker accepts no other requests until the exchange is over.
            self._connection.hold()
            await self._authenticate(begun)
        except KafkaError as error:
            if self._connection.ended_here:  # this side has closed the connection in the meantime
                return
            log.warning("%s: reauthentication failed: %s", self._connection.described_as, error)
            self._connection.abort(error)
        except Exception as error:  # raised by the user's token provider
            log.exception("%s: reauthentication failed unexpectedly", self._connection.described_as)
            self._connection.abort(KafkaConnectionError(f"reauthentication failed: {error!r}"))
        except BaseException as error:
            self._connection.abort(KafkaConnectionError(f"reauthentication failed: {error!r}"))
            raise
        else:
            self._connection.unhold()

    async def _authenticate(self, begun: tuple[Mechanism, bytes] | None = None) -> None:
        framed = SaslAuthenticateRequest.API_KEY in self._connection.api_versions
        await self._handshake(1 if framed else 0)
        mechanism, first = begun or await self._begun()
        if not framed:
            await self._exchange_raw(mechanism, first)
            return
        lifetime_ms = await self._exchange(mechanism, first)
        if lifetime_ms > 0:
            self._renew_in(lifetime_ms)

    async def _begun(self) -> tuple[Mechanism, bytes]:
        """Return a mechanism and its first message."""
        mechanism = make_mechanism(self._security, self._connection.host)
        return mechanism, await run_blocking(mechanism.first)

    async def _handshake(self, version: int) -> None:
        name = mechanism_of(self._security.sasl_mechanism).name  # brokers compare the name exactly, including case
        try:
            response = await self._connection.send_now(SaslHandshakeRequest(mechanism=name), version, self._timeout_ms)
        except KafkaConnectionError as error:
            if self._has_logged_in or self._connection.ended_here:
                raise
            text = error.args[0] if error.args else error
            raise KafkaConnectionError(f"{text} when authentication began: {self._asks_for_sasl()}") from error
        if response.error_code == UnsupportedSaslMechanismError.errno:
            offered = shown_text(", ".join(response.mechanisms)) or "no mechanism"
            raise UnsupportedSaslMechanismError(
                f"{self._connection.described_as} offers {offered}; sasl_mechanism is {name!r}"
            )
        if response.error_code == IllegalSaslStateError.errno and not self._has_logged_in:
            raise IllegalSaslStateError(
                f"{self._connection.described_as} does not support SASL: {self._asks_for_sasl()}"
            )
        check_error(response.error_code, f"SASL handshake with {self._connection.described_as}")

    def _asks_for_sasl(self) -> str:
        return f"does this listener ask for SASL? (security_protocol is {self._security.security_protocol!r})"

    async def _exchange(self, mechanism: Mechanism, first: bytes) -> int:
        """Perform the exchange; return the session lifetime in milliseconds, or 0 for no limit."""
        version = self._connection.api_versions.version_for(SaslAuthenticateRequest)
        token: bytes | None = first
        lifetime_ms = 0
        while token is not None:
            request = SaslAuthenticateRequest(auth_bytes=token)
            response = await self._connection.send_now(request, version, self._timeout_ms)
            said = shown_text(response.error_message or "")
            if response.error_code == SaslAuthenticationFailedError.errno:
                raise SaslAuthenticationFailedError(
                    f"{self._connection.described_as} refused the {self._security.sasl_mechanism} credentials: "
                    f"{said or 'it gave no reason'}"
                )
            check_error(response.error_code, said)
            lifetime_ms = response.session_lifetime_ms
            token = await run_blocking(mechanism.answer, response.auth_bytes)
        return lifetime_ms

    async def _exchange_raw(self, mechanism: Mechanism, first: bytes) -> None:
        """Perform the exchange with a broker before Kafka 1.0, using bare tokens.

        If the exchange fails, such a broker closes the connection without an error message.
        """
        token: bytes | None = first
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                while token is not None:
                    token = await run_blocking(mechanism.answer, await self._answer_to(token))
        except TimeoutError:
            raise KafkaTimeoutError(
                f"{self._connection.described_as} did not finish the SASL exchange in {self._timeout_ms} ms"
            ) from None

    async def _answer_to(self, token: bytes) -> bytes:
        """Send a bare token and return the broker's token.

        Raises `SaslAuthenticationFailedError` if the connection is lost, which means that the broker refuses the
        credentials. Connection errors raised by the mechanism itself do not have this meaning.
        """
        try:
            return await self._connection.exchange_raw(token)
        except KafkaConnectionError as error:
            raise SaslAuthenticationFailedError(
                f"{self._connection.described_as} closed the connection during the {self._security.sasl_mechanism} "
                "exchange: it refuses the credentials"
            ) from error
