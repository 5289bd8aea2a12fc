"""SASL mechanisms that programs register, by kafka-python's functions and interface."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any

from kafka.config import SecurityOptions
from kafka.config.sasl_mechanisms import SaslMechanism, find_mechanism, register_mechanism
from kafka.errors import SaslAuthenticationFailedError

log = logging.getLogger(__name__)


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
        name: its name, as brokers know it.
        klass: a class with the methods of `kafka.net.sasl.abc.SaslMechanism`. Each exchange makes an object, with
            ``host`` and the SASL and TLS options as keywords. Its methods may block.
        overwrite: replace a mechanism of the same name.

    Raises `ValueError` if there is one of this name already.
    """

    class Registered(RegisteredMechanism):
        made_of = klass

        @classmethod
        def of(cls, security: SecurityOptions, host: str) -> Registered:
            options = {field.name: getattr(security, field.name) for field in dataclasses.fields(security)}
            return cls(klass(host=host, **options))

    register_mechanism(SaslMechanism(name, Registered), overwrite)


def get_sasl_mechanism(name: str) -> Any:
    """Return the class of a mechanism; a built-in one has the methods of `kafka.net.sasl.mechanism.Mechanism`.

    Arguments:
        name: the mechanism's.

    Raises `KeyError` if there is none.
    """
    row = find_mechanism(name)
    if row is None:
        raise KeyError(name)
    found = row.load()
    return getattr(found, "made_of", found)
