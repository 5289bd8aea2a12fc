"""Code shared by the synchronous and the asyncio producer: their options, and the end of a ``with`` block."""

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
    """The options of a producer: those given, those parsed, and those in effect."""

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        name: row.default for name, row in option_table().items() if "producer" in row.clients
    } | {"client_id": None}  # each producer gets a unique client_id
    """The options of the client by keyword argument, with their defaults, as in kafka-python."""
    DEPRECATED_CONFIGS: ClassVar[tuple[str, ...]] = ()
    """Options that are accepted with a warning and removed in the next release, as in kafka-python 3.

    Empty at present.
    """
    _closed = InnerName(lambda producer: producer._core is not None and producer._core.is_closed)
    """Whether the producer is closed; for programs that read this attribute of kafka-python's producer."""
    _parsed: ProducerConfig
    _servers_given: Any
    _core: ProducerCore | None

    def _parse(self, configs: Mapping[str, Any]) -> None:
        """Parse and keep the options; raises `KafkaConfigurationError`."""
        configs = with_class_defaults(self.DEFAULT_CONFIG, configs)
        self._parsed = parse_producer(client_configs(configs))
        self._servers_given = configs.get("bootstrap_servers", self.DEFAULT_CONFIG["bootstrap_servers"])

    def health(self) -> Health:
        """Return the producer's health. Any thread may call this at any time; it neither waits nor raises."""
        return not_started(self._parsed.connection.client_id) if self._core is None else self._core.health()

    def _repr_html_(self) -> str:
        """Return the HTML that notebooks display: the producer's health. Any thread may call this. Sends no request."""
        return self._shown_as(type(self).__name__)

    def _shown_as(self, kind: str) -> str:
        more = (("transactional id", self._parsed.producer.transactional_id),)
        return client_html(kind, self.health(), self._parsed.connection, more)

    @property
    def config(self) -> dict[str, Any]:
        """The options in effect by name, without those of `kafka.config.SecurityOptions`.

        ``bootstrap_servers`` is as given. ``api_version`` is the brokers' version once one is connected.
        ``enable_idempotence`` tells whether batches have sequence numbers; if the option was not given, this depends on
        the brokers.
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
    """Return the options with a unique ``client_id`` if none was given, so that brokers' logs identify the producer."""
    named = dict(configs)
    if named.get("client_id") is None:
        named["client_id"] = f"kafka-python-producer-{next(_numbers)}"
    return named


class ContextExit:
    """A context manager around the `close()` at the end of a producer's ``with`` block.

    If the block succeeded, raises the error that `flush` would have raised, after closing, so that no record is lost
    silently. If the block failed, its error propagates, and errors from closing are logged, except interrupts.

    Arguments:
        core: the producer's core; None if it was never started.
        error: the exception that the block raised, or None.
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
            self._core.keep_failures = False  # closing may continue in the background, and failures are then logged
        if self._block_failed and isinstance(error, Exception):
            log.warning("closing a producer whose block has failed: %s", error)
            return True
        return False
