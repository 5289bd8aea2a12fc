"""The client's side of a SASL exchange, and mechanisms that programs register with kafka-python's functions.

`kafka.config.sasl_mechanisms` lists the mechanisms.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import logging
from collections.abc import Iterator
from typing import Any, Protocol, Self

from kafka.config import SecurityOptions
from kafka.config.sasl_mechanisms import find_mechanism, mechanism, register_mechanism
from kafka.errors import (
    IllegalArgumentError,
    IllegalArgumentTypeError,
    KafkaConfigurationError,
    KafkaConnectionError,
    SaslAuthenticationFailedError,
)

log = logging.getLogger(__name__)

_METHODS = ("auth_bytes", "receive", "is_done", "is_authenticated")
"""Methods that a registered class must have; `kafka.net.sasl.abc.SaslMechanism` describes them."""


class Mechanism(Protocol):
    """A SASL exchange. Its methods may block, so they are called outside the event loop."""

    @classmethod
    def of(cls, security: SecurityOptions, host: str) -> Self:
        """Create an exchange.

        Arguments:
            security: the options, which contain the credentials.
            host: the host name of the broker to which the client has connected.
        """
        ...

    def first(self) -> bytes:
        """Return the first message."""
        ...

    def answer(self, challenge: bytes) -> bytes | None:
        """Return the response to the broker's challenge, or None if the exchange is complete.

        Raises `SaslAuthenticationFailedError` if the broker fails to authenticate itself.
        """
        ...


def check_mechanism(security: SecurityOptions) -> None:
    """Raise `KafkaConfigurationError`, before connecting, for SASL options that cannot work.

    A mechanism whose requirements go beyond single options has a class method ``check(security)``.
    """
    if not security.uses_sasl:
        return
    row = mechanism(security.sasl_mechanism)
    if missing := [repr(option) for option in row.needs if getattr(security, option) is None]:
        raise KafkaConfigurationError(f"sasl_mechanism {row.name!r} needs {' and '.join(missing)}")
    check = getattr(row.load(), "check", None)
    if check is not None:
        check(security)


def make_mechanism(security: SecurityOptions, host: str) -> Mechanism:
    """Return a mechanism for one exchange with the credentials in the given options.

    Arguments:
        security: the options.
        host: the host name of the broker to which the client has connected.
    """
    check_mechanism(security)
    made: Mechanism = mechanism(security.sasl_mechanism).load().of(security, host)
    return made


class RegisteredMechanism:
    """Adapts an object with kafka-python's interface (see `kafka.net.sasl.abc.SaslMechanism`) for one exchange.

    Arguments:
        exchange: the object.
    """

    def __init__(self, exchange: Any) -> None:
        self._exchange = exchange

    def first(self) -> bytes:
        """Return the first message.

        Raises `KafkaConnectionError` if the object raises an `OSError`.
        """
        with _reaching(type(self._exchange)):
            return self._message()

    def answer(self, challenge: bytes) -> bytes | None:
        """Return the response to the broker's challenge, or None if the exchange is complete.

        Raises `SaslAuthenticationFailedError` if the object rejects the broker, or stops before the exchange is done,
        and `KafkaConnectionError` if it raises an `OSError`.
        """
        exchange = self._exchange
        with _reaching(type(exchange)):
            exchange.receive(challenge)
            if not exchange.is_done():
                return self._message()
            accepted = exchange.is_authenticated()
        if not accepted:
            raise SaslAuthenticationFailedError(f"{type(exchange).__name__} did not accept the broker's last message")
        self._log_details()
        return None

    def _message(self) -> bytes:
        """Return the object's next message. Errors do not show the message, because it may be a password."""
        message = self._exchange.auth_bytes()
        if isinstance(message, bytes | bytearray | memoryview):
            return bytes(message)
        name = type(self._exchange).__name__
        if message is None:
            raise SaslAuthenticationFailedError(f"{name}.auth_bytes() returned None before the exchange was done")
        raise KafkaConfigurationError(f"{name}.auth_bytes() must return bytes, not {type(message).__name__}")

    def _log_details(self) -> None:
        """Log the authenticated user. An error here must not fail the login, because authentication has succeeded."""
        describe = getattr(self._exchange, "auth_details", None)
        if describe is None or not log.isEnabledFor(logging.DEBUG):
            return
        try:
            log.debug("%s", describe())
        except Exception:
            log.debug("%s.auth_details() failed", type(self._exchange).__name__, exc_info=True)


@contextlib.contextmanager
def _reaching(klass: type[Any]) -> Iterator[None]:
    """Convert an `OSError` from a registered class to `KafkaConnectionError`, because a retry may succeed."""
    try:
        yield
    except OSError as error:
        raise KafkaConnectionError(f"cannot authenticate: {klass.__name__} raised {error!r}") from error


def register_sasl_mechanism(name: str, klass: type[Any], overwrite: bool = False) -> None:
    """Make a mechanism available as ``sasl_mechanism`` to the clients of this process.

    Arguments:
        name: the name that brokers use. The option ignores case.
        klass: a class with the methods of `kafka.net.sasl.abc.SaslMechanism`. An object is created for each exchange,
            with ``host`` and the SASL and TLS options as keyword arguments. Its methods may block. Clients treat an
            `OSError` raised by the object as a lost connection, and retry.
        overwrite: whether to replace a mechanism of the same name. A built-in mechanism keeps its Java login modules,
            and the warning that it sends a secret unencrypted. A new mechanism causes no such warning.

    Raises `ValueError` if the name is empty or already registered, and `IllegalArgumentTypeError` if the name is not a
    string, or ``klass`` is not a suitable class.
    """
    _check_registration(name, klass)

    class Registered(RegisteredMechanism):
        made_of = klass

        @classmethod
        def of(cls, security: SecurityOptions, host: str) -> Registered:
            options = {field.name: getattr(security, field.name) for field in dataclasses.fields(security)}
            with _reaching(klass):
                return cls(klass(host=host, **options))

    register_mechanism(name, Registered, overwrite)


def _check_registration(name: object, klass: object) -> None:
    if not isinstance(name, str):
        raise IllegalArgumentTypeError(f"name: expected a str, got {name!r:.80}")
    if not name.strip():
        raise IllegalArgumentError(f"name: expected the name of a SASL mechanism, got {name!r:.80}")
    if not isinstance(klass, type):
        raise IllegalArgumentTypeError(f"klass: expected a class, got an instance of {type(klass).__name__}")
    if inspect.isabstract(klass):
        missing = ", ".join(sorted(getattr(klass, "__abstractmethods__", ())))
        raise IllegalArgumentTypeError(f"klass: {klass.__name__} is abstract; it does not define {missing}")
    if missing := ", ".join(each for each in _METHODS if not callable(getattr(klass, each, None))):
        raise IllegalArgumentTypeError(f"klass: {klass.__name__} does not define {missing}")
    if coroutines := ", ".join(each for each in _METHODS if inspect.iscoroutinefunction(getattr(klass, each))):
        raise IllegalArgumentTypeError(f"klass: {klass.__name__} must not define {coroutines} with 'async'")


def get_sasl_mechanism(name: str) -> Any:
    """Return the class of a mechanism; built-in classes have the methods of `kafka.net.sasl.mechanism.Mechanism`.

    Arguments:
        name: the name of the mechanism, ignoring case.

    Raises `KeyError` if there is no such mechanism.
    """
    row = find_mechanism(name)
    if row is None:
        raise KeyError(name)
    found = row.load()
    return getattr(found, "made_of", found)
