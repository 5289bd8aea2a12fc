"""The state of a connection's login (KIP-43, KIP-152, KIP-368), and the requests that are allowed in each state.

Before the login a listener with users accepts only ApiVersions and SaslHandshake. After the handshake it accepts only
the messages of the exchange: in SaslAuthenticate requests or, after a version 0 handshake, in bare frames. As in Kafka,
the connection is closed after the response to a failed login.
"""

from enum import Enum
from typing import Final

from kafka.broker.clock import Clock
from kafka.broker.error_codes import ConnectionFault
from kafka.broker.sasl.credentials import Credentials
from kafka.broker.sasl.exchanges import EXCHANGES, Exchange, LoginFailed

_HANDSHAKE, _API_VERSIONS, _AUTHENTICATE = 17, 18, 36
LARGEST_FRAME: Final = 524_288
"""Maximum size of a request before the login (sasl.server.max.receive.size)."""


class LoginState(Enum):
    """A state of a connection's login."""

    NEW = "no handshake yet"
    EXCHANGE = "in an exchange of SaslAuthenticate requests"
    BARE = "in an exchange of bare frames"
    DONE = "logged in"
    AGAIN = "logged in, and in another exchange of SaslAuthenticate requests"
    AGAIN_BARE = "logged in, and in another exchange of bare frames"
    FAILED = "rejected; the connection ends"


_MOVES: Final = {
    LoginState.NEW: {LoginState.EXCHANGE, LoginState.BARE, LoginState.FAILED},
    LoginState.EXCHANGE: {LoginState.DONE, LoginState.FAILED},
    LoginState.BARE: {LoginState.DONE, LoginState.FAILED},
    LoginState.DONE: {LoginState.AGAIN, LoginState.AGAIN_BARE, LoginState.FAILED},
    LoginState.AGAIN: {LoginState.DONE, LoginState.FAILED},
    LoginState.AGAIN_BARE: {LoginState.DONE, LoginState.FAILED},
    LoginState.FAILED: set(),
}
_BARE: Final = frozenset({LoginState.BARE, LoginState.AGAIN_BARE})
_EXCHANGING: Final = frozenset({LoginState.EXCHANGE, LoginState.AGAIN}) | _BARE


class Login:
    """The login of one connection.

    Arguments:
        lifetime_ms: time after which the client must log in again, in milliseconds; 0: never.
    """

    def __init__(self, credentials: Credentials, clock: Clock, lifetime_ms: int) -> None:
        self._credentials = credentials
        self._clock = clock
        self._lifetime_ms = lifetime_ms
        self._state = LoginState.NEW
        self._exchange: Exchange | None = None
        self._mechanism = ""
        self._user: str | None = None
        self.why = ""
        """Why the login failed, for the log."""
        self._ends_at = 0.0

    @property
    def is_done(self) -> bool:
        """Whether all requests are accepted."""
        return self._state is LoginState.DONE

    @property
    def is_bare(self) -> bool:
        """Whether the next frame is a bare message of the exchange rather than a request."""
        return self._state in _BARE

    @property
    def has_succeeded(self) -> bool:
        """Whether a user has ever logged in on the connection."""
        return self._user is not None

    @property
    def has_failed(self) -> bool:
        """Whether the login has failed. The connection is then closed after its last response."""
        return self._state is LoginState.FAILED

    def frame_sizes(self, least: int, most: int) -> tuple[int, int]:
        """Return the minimum and maximum frame size; `least` and `most` are the limits after the login."""
        return 0 if self.is_bare else least, min(most, LARGEST_FRAME)

    def _fail(self, why: str) -> None:
        self._move(LoginState.FAILED)
        self.why = why

    def _move(self, state: LoginState) -> None:
        assert state in _MOVES[self._state], f"{self._state} to {state}"
        self._state = state

    def admit(self, key: int, name: str) -> bool:
        """Return whether a request is allowed.

        If the request is not allowed, the response is ILLEGAL_SASL_STATE, and the connection is closed. Raises
        `ConnectionFault` if the connection must be closed without a response.
        """
        if self._state is LoginState.DONE:
            if self._lifetime_ms and key != _HANDSHAKE and self._clock.time() >= self._ends_at:
                raise ConnectionFault(f"{name} after the session ended: the client must log in again")
            return True
        if self._state is LoginState.NEW:
            if key in (_API_VERSIONS, _HANDSHAKE):
                return True
            raise ConnectionFault(
                f"{name} before a login: this listener requires SASL (security.protocol SASL_PLAINTEXT)"
            )
        if key == _AUTHENTICATE:
            return True
        if key not in (_API_VERSIONS, _HANDSHAKE):
            raise ConnectionFault(f"{name} within a login: the client must finish the exchange first")
        self._fail(f"{name} within the exchange")
        return False

    def may_begin(self) -> bool:
        """Return whether a handshake is allowed: at the start, and also later if sessions expire."""
        return self._state is LoginState.NEW or (self._state is LoginState.DONE and self._lifetime_ms > 0)

    def begin(self, mechanism: str, is_bare: bool) -> bool:
        """Process a handshake, which must be allowed (`may_begin`).

        Returns False if the mechanism is not supported; the connection must then be closed.
        """
        again = self._state is LoginState.DONE
        if mechanism not in EXCHANGES or (again and mechanism != self._mechanism):
            self._fail("a mechanism that is not offered" if mechanism not in EXCHANGES else "another mechanism")
            return False
        self._mechanism = mechanism
        self._exchange = EXCHANGES[mechanism](self._credentials)
        if again:
            self._move(LoginState.AGAIN_BARE if is_bare else LoginState.AGAIN)
        else:
            self._move(LoginState.BARE if is_bare else LoginState.EXCHANGE)
        return True

    def is_exchanging(self) -> bool:
        """Return whether messages of the exchange are expected."""
        return self._state in _EXCHANGING

    def answer(self, message: bytes) -> tuple[bytes, int]:
        """Process a message of the exchange; return the response and the session lifetime in ms (0: unlimited).

        Raises `LoginFailed` if the connection must be closed.
        """
        assert self._exchange is not None
        try:
            token = self._exchange.answer(message)
            user = self._exchange.user
            if user is None:
                return token, 0
            if self._user not in (None, user):
                raise LoginFailed("the user cannot change when a connection logs in again")
        except LoginFailed as failed:
            self._fail(f"{self._mechanism}: {failed}")
            raise
        self._user, self._exchange = user, None
        self._ends_at = self._clock.time() + self._lifetime_ms / 1000
        self._move(LoginState.DONE)
        return token, self._lifetime_ms

    def answer_bare(self, message: bytes) -> bytes:
        """Process a bare frame like `answer`.

        Raises `ConnectionFault` on failure, as a bare frame has no error field.
        """
        try:
            return self.answer(message)[0]
        except LoginFailed as failed:
            raise ConnectionFault(f"the login failed: {self._mechanism}: {failed}") from None
