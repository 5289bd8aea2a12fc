"""This process's schema registry clients, and retries for a registry that does not respond."""

import collections
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.formats.registry.errors import SchemaRegistryConnectionError

if TYPE_CHECKING:
    from kafka.formats.registry.registry_clients import SchemaRegistryClient

log = logging.getLogger(__name__)

Conf = tuple[tuple[str, Any], ...]
Answer = TypeVar("Answer")

_MOST_CLIENTS = 8
_PAUSE_S = 5.0


class _Clients:
    """A cache of clients, keyed by options.

    A forked process starts without clients: another thread of its parent may have held the lock of a client or of the
    cache.
    """

    def __init__(self) -> None:
        self._of_parent: list[object] = []
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_again)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._made: collections.OrderedDict[Conf, SchemaRegistryClient] = collections.OrderedDict()

    def _begin_again(self) -> None:
        self._of_parent.append(self._made)  # the parent closes the connections of these clients
        self._begin()

    def of(self, conf: Conf) -> "SchemaRegistryClient":
        """Return the client with these options. The client stays open while it is referenced."""
        from kafka.formats.registry.registry_clients import SchemaRegistryClient

        with self._lock:
            found = self._made.get(conf)
            if found is None:
                found = self._made[conf] = SchemaRegistryClient(dict(conf))
                if len(self._made) > _MOST_CLIENTS:
                    self._made.popitem(last=False)
            else:
                self._made.move_to_end(conf)
            return found


_CLIENTS = _Clients()


def client_of(conf: Conf) -> "SchemaRegistryClient":
    """Return this process's client with these options. The client caches schemas by id permanently."""
    return _CLIENTS.of(conf)


def wait_for_registry(
    ask: Callable[[], Answer],
    wait_ms: int,
    what: str,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> Answer:
    """Query a registry; if it does not respond, log a message and retry until the time is up.

    Arguments:
        ask: sends the request; raises `SchemaRegistryConnectionError` if no registry responds.
        wait_ms: how long to retry. After that, the error is raised.
        what: describes the request in the log.
        clock: returns the time in seconds.
        sleep: waits for a number of seconds.
    """
    until = clock() + wait_ms / 1_000
    while True:
        try:
            return ask()
        except SchemaRegistryConnectionError as error:
            left = until - clock()
            if left <= 0:
                error.add_note(f"while {what}, after {wait_ms} ms (option schemaRegistryWait)")
                raise
            log.warning("%s: the schema registry does not answer; retrying for %.0f s: %s", what, left, error)
            sleep(min(_PAUSE_S, left))
