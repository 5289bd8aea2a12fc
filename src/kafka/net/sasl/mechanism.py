"""The client's side of a SASL exchange, and mechanisms that programs register with kafka-python's functions.

`kafka.config.sasl_mechanisms` lists the mechanisms.
"""

from __future__ import annotations

import dataclasses
import logging
from typing import Any, Protocol, Self

from kafka.config import SecurityOptions
from kafka.config.sasl_mechanisms import find_mechanism, mechanism, register_mechanism
from kafka.errors import KafkaConfigurationError, SaslAuthenticationFailedError

log = logging.getLogger(__name__)


class Mechanism(Protocol):
    """One exchange. Its methods may block: they are called off the event loop."""

    @classmethod
    def of(cls, security: SecurityOptions, host: str) -> Self:
        """Prepare an exchange.

        Arguments:
            security: the options, which contain the credentials.
            host: the broker, as the client connected to it.
        """
        ...

    def first(self) -> bytes:
        """Return the first message."""
        ...

    def answer(self, challenge: bytes) -> bytes | None:
        """Return the answer to the broker's message, or None if the exchange is over.

        Raises `SaslAuthenticationFailedError` if the broker does not prove what it has to.
        """
        ...


def check_mechanism(security: SecurityOptions) -> None:
    """Raise `KafkaConfigurationError` for SASL options that cannot work, before anything is connected.

    A mechanism that needs more than certain options has a class method ``check(security)``.
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
    """Return a mechanism that is ready for one exchange with the credentials of these options.

    Arguments:
        security: the options.
        host: the broker, as the client connected to it.
    """
    check_mechanism(security)
    made: Mechanism = mechanism(security.sasl_mechanism).load().of(security, host)
    return made


class RegisteredMechanism:
    """One exchange by an object with kafka-python's interface, see `kafka.net.sasl.abc.SaslMechanism`.

    Arguments:
        exchange: the object.
    """

    def __init__(self, exchange: Any) -> None:
        self._exchange = exchange

    def first(self) -> bytes:
        """Return the first message."""
        message: bytes = self._exchange.auth_bytes()
        return message

    def answer(self, challenge: bytes) -> bytes | None:
        """Return the answer to the broker's message, or None if the exchange is over."""
        exchange = self._exchange
        exchange.receive(challenge)
        if not exchange.is_done():
            message: bytes = exchange.auth_bytes()
            return message
        if not exchange.is_authenticated():
            raise SaslAuthenticationFailedError(f"{type(exchange).__name__} did not accept the broker's last message")
        log.debug("%s", exchange.auth_details())
        return None


def register_sasl_mechanism(name: str, klass: type[Any], overwrite: bool = False) -> None:
    """Make a mechanism available as ``sasl_mechanism`` to the clients of this process.

    Arguments:
        name: its name, as brokers know it. Clients may give it in any case of letters.
        klass: a class with the methods of `kafka.net.sasl.abc.SaslMechanism`. Each exchange makes an object, with
            ``host`` and the SASL and TLS options as keywords. Its methods may block.
        overwrite: replace a mechanism of the same name. A built-in one keeps the options that it needs, its Java login
            modules, and the warning that it sends a secret unencrypted.

    Raises `ValueError` if there is one of this name already.
    """

    class Registered(RegisteredMechanism):
        made_of = klass

        @classmethod
        def of(cls, security: SecurityOptions, host: str) -> Registered:
            options = {field.name: getattr(security, field.name) for field in dataclasses.fields(security)}
            return cls(klass(host=host, **options))

    register_mechanism(name, Registered, overwrite)


def get_sasl_mechanism(name: str) -> Any:
    """Return the class of a mechanism; a built-in one has the methods of `kafka.net.sasl.mechanism.Mechanism`.

    Arguments:
        name: the mechanism's, in any case of letters.

    Raises `KeyError` if there is none.
    """
    row = find_mechanism(name)
    if row is None:
        raise KeyError(name)
    found = row.load()
    return getattr(found, "made_of", found)
