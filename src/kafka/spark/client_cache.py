"""A cache of clients for successive tasks.

Spark reuses worker processes, and opening a connection takes longer than reading a small range. Each process imports
this module by name, so its state persists between tasks.
"""

import collections
import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from kafka import KafkaConsumer, KafkaProducer

log = logging.getLogger(__name__)

Configs = tuple[tuple[str, Any], ...]

_MOST_IDLE = 4


Client = TypeVar("Client")


class ClientCache(Generic[Client]):
    """A cache of clients, keyed by their options. A client is lent to one task at a time.

    The client is returned to the cache unless the task fails.

    Arguments:
        make: creates a client from keyword arguments.
        close: closes a client without waiting.
    """

    def __init__(self, make: Callable[[dict[str, Any]], Client], close: Callable[[Client], None]) -> None:
        self._make = make
        self._close = close
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._idle: collections.deque[tuple[Configs, Client]] = collections.deque()

    @contextlib.contextmanager
    def borrow(self, configs: Configs) -> Iterator[Client]:
        """Lend a client. If the block raises an error, the client is closed, because its state is unknown."""
        client = self._take(configs)
        if client is None:
            client = self._make(dict(configs))
        try:
            yield client
        except GeneratorExit:  # the reader stopped early, for example because of LIMIT; the client is usable
            self._give_back(configs, client)
            raise
        except BaseException:
            self._let_go(client)
            raise
        self._give_back(configs, client)

    def _take(self, configs: Configs) -> Client | None:
        with self._lock:
            if self._pid != os.getpid():  # a forked process must not use the connections of its parent
                self._pid = os.getpid()
                self._idle.clear()
            for entry in self._idle:
                if entry[0] == configs:
                    self._idle.remove(entry)
                    return entry[1]
        return None

    def _give_back(self, configs: Configs, client: Client) -> None:
        surplus = None
        with self._lock:
            self._idle.append((configs, client))
            if len(self._idle) > _MOST_IDLE:
                surplus = self._idle.popleft()[1]
        if surplus is not None:
            self._let_go(surplus)

    def _let_go(self, client: Client) -> None:
        try:
            self._close(client)
        except Exception:
            log.warning("a client could not be closed cleanly", exc_info=True)


def admin_configs(configs: Configs) -> dict[str, Any]:
    """Return those options of a consumer or producer that an admin client also accepts."""
    from kafka.config import option_table

    table = option_table()
    return {name: value for name, value in configs if "admin" in table[name].clients}


def make_consumer(configs: dict[str, Any]) -> "KafkaConsumer":
    """Create a consumer that has no group and raises an error if an offset is out of range."""
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        **{
            "group_id": None,
            "enable_auto_commit": False,
            "auto_offset_reset": "none",
            "on_topic_recreated": "continue",  # the driver compares topic ids
            "allow_auto_create_topics": False,
            **configs,
        }
    )
    consumer._core.history.is_told_elsewhere = True
    return consumer


def make_producer(configs: dict[str, Any]) -> "KafkaProducer":
    """Create a producer."""
    from kafka import KafkaProducer

    return KafkaProducer(**configs)


CONSUMERS: ClientCache["KafkaConsumer"] = ClientCache(
    make_consumer, lambda client: client.close(autocommit=False, timeout_ms=0)
)
"""The consumers of this process, created by `make_consumer`."""

PRODUCERS: ClientCache["KafkaProducer"] = ClientCache(make_producer, lambda client: client.close(timeout=0))
"""The producers of this process."""
