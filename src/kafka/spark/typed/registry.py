"""The clients of schema registries in this process, and the patience with a registry that does not answer."""

import collections
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.formats.registry.errors import SchemaRegistryConnectionError

if TYPE_CHECKING:
    from kafka.formats.registry.client import SchemaRegistryClient

log = logging.getLogger(__name__)

Conf = tuple[tuple[str, Any], ...]
Answer = TypeVar("Answer")

_MOST_CLIENTS = 8
_PAUSE_S = 5.0


class _Clients:
    """Clients by their options.

    A forked process has none: another thread of its parent may have held any lock of a client, or this one's.
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
        self._of_parent.append(self._made)  # their connections are the parent's to close
        self._begin()

    def of(self, conf: Conf) -> "SchemaRegistryClient":
        """The client with these options; it stays open for as long as somebody holds it."""
        from kafka.formats.registry.client import SchemaRegistryClient

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
    """The client of this process with these options; it keeps what it was told of ids for good."""
    return _CLIENTS.of(conf)


def patiently(
    ask: Callable[[], Answer],
    wait_ms: int,
    what: str,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> Answer:
    """Ask a registry; where none answers, say so and ask again, for so long.

    Arguments:
        ask: asks, and raises `SchemaRegistryConnectionError` where none answers.
        wait_ms: how long; then that error is raised.
        what: what it is asked for, for the log.
        clock: in seconds.
        sleep: lets so many seconds go by.
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
            log.warning("%s: the schema registry does not answer, asking again for %.0f s: %s", what, left, error)
            sleep(min(_PAUSE_S, left))
