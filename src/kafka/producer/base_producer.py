"""What the synchronous and the asyncio producer have in common: their options, and the end of a ``with`` block."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from kafka.cluster.client_health import client_html, not_started
from kafka.cluster.kafka_python_client import InnerName
from kafka.config import ProducerConfig, option_table, parse_producer
from kafka.config.table import values_of, with_class_defaults
from kafka.health import Health
from kafka.producer.core import ProducerCore
from kafka.producer.idempotence import is_idempotent

if TYPE_CHECKING:
    import types

log = logging.getLogger(__name__)

_numbers = itertools.count(1)


class BaseProducer:
    """The options of a producer: as they were given, parsed, and in effect."""

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        name: row.default for name, row in option_table().items() if "producer" in row.clients
    } | {"client_id": None}  # each producer has a name of its own
    DEPRECATED_CONFIGS: ClassVar[tuple[str, ...]] = ()
    """Options that are taken with a warning and go with the next release, as in kafka-python 3: none."""
    _closed = InnerName(lambda producer: producer._core is not None and producer._core.is_closed)
    """Whether it is closed, for programs that ask kafka-python's producer."""
    _parsed: ProducerConfig
    _servers_given: Any
    _core: ProducerCore | None

    def _parse(self, configs: Mapping[str, Any]) -> None:
        """Take the options in; raises `KafkaConfigurationError`."""
        configs = with_class_defaults(self.DEFAULT_CONFIG, configs)
        self._parsed = parse_producer(client_configs(configs))
        self._servers_given = configs.get("bootstrap_servers", self.DEFAULT_CONFIG["bootstrap_servers"])

    def health(self) -> Health:
        """How the producer is, see `Health`. Any thread may call this, at any time; it neither waits nor raises."""
        return not_started(self._parsed.connection.client_id) if self._core is None else self._core.health()

    def _repr_html_(self) -> str:
        """What a notebook shows of the producer: its health. In any thread; asks no broker."""
        return self._shown_as(type(self).__name__)

    def _shown_as(self, kind: str) -> str:
        more = (("transactional id", self._parsed.producer.transactional_id),)
        return client_html(kind, self.health(), self._parsed.connection, more)

    @property
    def config(self) -> dict[str, Any]:
        """The options in effect, by name, without those of `kafka.config.SecurityOptions`.

        ``bootstrap_servers`` is as it was given; ``api_version`` is that of the brokers once one is connected;
        ``enable_idempotence`` is whether batches are numbered, which the brokers decide where it was not given.
        """
        connection, producer = self._parsed.connection, self._parsed.producer
        core = self._core
        return {
            **values_of(connection, producer),
            "bootstrap_servers": self._servers_given,
            "api_version": connection.api_version if core is None else core.cluster.release,
            "enable_idempotence": is_idempotent(connection, producer) if core is None else core.is_idempotent,
        }


def client_configs(configs: Mapping[str, Any]) -> dict[str, Any]:
    """Give a producer without a name one of its own, by which brokers can tell it in their logs."""
    named = dict(configs)
    if named.get("client_id") is None:
        named["client_id"] = f"kafka-python-producer-{next(_numbers)}"
    return named


class ContextExit:
    """A context manager around the `close()` that ends a producer's block.

    A block that ended well has what `flush` would have raised raised after the closing, so that no record is lost in
    silence. The error of one that failed goes on: what the closing raises is logged then, unless it is an interrupt.

    Arguments:
        core: the producer; None: it was never started.
        error: what the block raised.
    """

    def __init__(self, core: ProducerCore | None, error: BaseException | None) -> None:
        self._core = core
        self._block_failed = error is not None

    def __enter__(self) -> None:
        if self._core is not None:
            self._core.keep_failures = not self._block_failed

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> bool:
        if error is None:
            if not self._block_failed and self._core is not None:
                self._core.raise_failures()
            return False
        if self._core is not None:
            self._core.keep_failures = False  # the closing may go on, and logs them then
        if self._block_failed and isinstance(error, Exception):
            log.warning("closing a producer whose block has failed: %s", error)
            return True
        return False
