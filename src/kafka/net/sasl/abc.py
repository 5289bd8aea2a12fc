"""kafka-python's interface for SASL mechanisms, for `register_sasl_mechanism`. Built-in ones implement `Mechanism`."""

from __future__ import annotations

import abc
from typing import Any


class SaslMechanism(abc.ABC):
    """The client's side of one exchange, as kafka-python defines it.

    The constructor receives ``host``, the broker's name, and the client's SASL and TLS options as keyword arguments.
    """

    @abc.abstractmethod
    def __init__(self, **config: Any) -> None:
        """Store the options that the mechanism uses."""

    @abc.abstractmethod
    def auth_bytes(self) -> bytes:
        """Return the next message for the broker."""

    @abc.abstractmethod
    def receive(self, auth_bytes: bytes) -> None:
        """Process a message from the broker."""

    @abc.abstractmethod
    def is_done(self) -> bool:
        """Return whether the exchange is over."""

    @abc.abstractmethod
    def is_authenticated(self) -> bool:
        """Return whether authentication succeeded; called once the exchange is over."""

    def auth_details(self) -> str:
        """Describe the user for logs."""
        return f"Authenticated via SASL {type(self).__name__}"
