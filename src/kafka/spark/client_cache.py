"""Clients that are kept between tasks. Spark uses a worker process again and again; connecting anew would cost more
than reading a small range. The module is imported by name in each process, so what it holds stays.
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
    """Clients by their options. One is lent to one task at a time, and comes back if the task did not fail.

    Arguments:
        make: gives a client for keyword arguments.
        close: closes one, without waiting for anything.
    """

    def __init__(self, make: Callable[[dict[str, Any]], Client], close: Callable[[Client], None]) -> None:
        self._make = make
        self._close = close
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._idle: collections.deque[tuple[Configs, Client]] = collections.deque()

    @contextlib.contextmanager
    def borrow(self, configs: Configs) -> Iterator[Client]:
        """Lend a client; one that is lent when an exception passes is closed, as its state is not known."""
        client = self._take(configs)
        if client is None:
            client = self._make(dict(configs))
        try:
            yield client
        except GeneratorExit:  # the reader has had enough, as with LIMIT: nothing is wrong with the client
            self._give_back(configs, client)
            raise
        except BaseException:
            self._let_go(client)
            raise
        self._give_back(configs, client)

    def _take(self, configs: Configs) -> Client | None:
        with self._lock:
            if self._pid != os.getpid():  # a forked process must not touch the connections of its parent
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
    """Those of a consumer's options that an admin client has."""
    from kafka.config import option_table

    table = option_table()
    return {name: value for name, value in configs if "admin" in table[name].clients}


def make_consumer(configs: dict[str, Any]) -> "KafkaConsumer":
    """A consumer without a group, which raises where an offset is out of range."""
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        **{
            "group_id": None,
            "enable_auto_commit": False,
            "auto_offset_reset": "none",
            "on_topic_recreated": "continue",  # the driver compares the ids of topics
            "allow_auto_create_topics": False,
            **configs,
        }
    )
    consumer._core.history.is_told_elsewhere = True
    return consumer


def make_producer(configs: dict[str, Any]) -> "KafkaProducer":
    """A producer."""
    from kafka import KafkaProducer

    return KafkaProducer(**configs)


CONSUMERS: ClientCache["KafkaConsumer"] = ClientCache(
    make_consumer, lambda client: client.close(autocommit=False, timeout_ms=0)
)
"""Consumers of this process: without a group, raising where an offset is out of range."""

PRODUCERS: ClientCache["KafkaProducer"] = ClientCache(make_producer, lambda client: client.close(timeout=0))
"""Producers of this process."""
