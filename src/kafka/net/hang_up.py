"""When a listener hung up, as far as that tells what it is."""

import enum


class HungUpOn(enum.Enum):
    """What a listener hung up on."""

    TLS = enum.auto()
    """The handshake of TLS."""
    GREETING = enum.auto()
    """The first request, which asks for versions."""
    REQUEST = enum.auto()
    """The first request behind that."""
