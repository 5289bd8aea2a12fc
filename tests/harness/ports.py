"""Ports for brokers."""

from __future__ import annotations

import fcntl
import functools
import os
import random
import socket
import tempfile
from pathlib import Path
from typing import IO

LOWEST, HIGHEST = 15_000, 32_000
"""Below the range from which systems give ports to outgoing connections: a killed broker finds its port free again."""
_TRIES = 100_000
_random = random.SystemRandom()  # tests may seed the common one, in several processes alike
_taken: set[int] = set()


def free_ports(count: int) -> list[int]:
    """Return that many different loopback ports on which nothing listens.

    They are this process's until it ends: no other process gets them here, also where a broker has not begun to listen
    yet, or is just being started again.
    """
    found: list[int] = []
    for _ in range(_TRIES):
        if len(found) == count:
            return found
        port = _random.randrange(LOWEST, HIGHEST)
        if port not in _taken and _reserve(port):
            _taken.add(port)
            if _is_free(port):
                found.append(port)
    raise RuntimeError(f"expected {count} free ports from {LOWEST} to {HIGHEST - 1}, found {len(found)}")


def free_port() -> int:
    """Return a port as of `free_ports`."""
    return free_ports(1)[0]


@functools.cache
def _reservations() -> IO[bytes]:
    """The file of which each process locks the bytes at the numbers of its ports. It is never closed, which would free
    them."""
    return (Path(tempfile.gettempdir()) / f"kafka-columnar-ports-{os.getuid()}").open("ab")


def _reserve(port: int) -> bool:
    """Whether no other process has the port; this one has it then."""
    try:
        fcntl.lockf(_reservations(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port, os.SEEK_SET)
    except OSError:
        return False
    return True


def _is_free(port: int) -> bool:
    """Whether a server can listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
