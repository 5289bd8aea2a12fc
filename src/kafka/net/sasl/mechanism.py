"""The client's side of a SASL exchange. `kafka.config.sasl_mechanisms` lists the mechanisms."""

from __future__ import annotations

from typing import Protocol, Self

from kafka.config import SecurityOptions
from kafka.config.sasl_mechanisms import mechanism
from kafka.errors import KafkaConfigurationError


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
