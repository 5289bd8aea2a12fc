"""Ports for brokers."""

from __future__ import annotations

import random
import socket

LOWEST, HIGHEST = 15_000, 32_000
"""Below the range from which systems give ports to outgoing connections: a killed broker finds its port free again."""


def free_ports(count: int) -> list[int]:
    """Return that many different loopback ports on which nothing listens."""
    found: list[int] = []
    while len(found) < count:
        port = random.randrange(LOWEST, HIGHEST)
        if port not in found and _is_free(port):
            found.append(port)
    return found


def _is_free(port: int) -> bool:
    """Whether a server can listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
