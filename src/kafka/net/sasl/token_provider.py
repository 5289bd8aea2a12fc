"""The base class of objects that give bearer tokens."""

import abc
from typing import Any


class AbstractTokenProvider(abc.ABC):
    """The base class that kafka-python has for token providers; any object with these methods will do."""

    def __init__(self, **config: Any) -> None:
        """Accept any settings; a subclass keeps what it wants."""
        del config

    @abc.abstractmethod
    def token(self) -> str:
        """Return a token that has not expired; called for each authentication, so keep it as long as it is valid."""

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions that are sent with it (brokers from 2.1 on)."""
        return {}
