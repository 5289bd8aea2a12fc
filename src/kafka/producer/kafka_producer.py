"""The synchronous producer, with the names, arguments and defaults of kafka-python."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from kafka.config import ProducerConfigs, option_table, parse_producer, with_options
from kafka.net.callback_thread import WorkerThread
from kafka.producer import lifetime
from kafka.producer.calls import ProducerCalls
from kafka.producer.core import ProducerCore
from kafka.producer.intake.appender import RecordSender
from kafka.producer.options import client_configs
from kafka.producer.thread_runner import ThreadRunner

if TYPE_CHECKING:
    import types


@with_options("producer")
class KafkaProducer(ProducerCalls, RecordSender):
    """Sends records to a cluster. Thread-safe: one producer for many threads is better than many.

    Every option is a keyword argument; `kafka.config` lists them with defaults and units. By default a record is
    acknowledged by every in-sync replica (``acks='all'``), is never written twice (idempotence, KIP-98), and is tried
    until `delivery_timeout_ms` is over. Records of a partition stay in the order in which they were sent.

    `send` only buffers. A record that cannot be delivered fails its future; if nobody looks at that, it is logged, and
    `flush` raises it.

    Arguments:
        configs: options, see `kafka.config.ProducerOptions`, `ConnectionOptions` and `SecurityOptions`.

    Raises `KafkaConfigurationError` for options that are unknown or do not go together, `NoBrokersAvailable` if no
    bootstrap server answers within `bootstrap_timeout_ms`. With `api_version` it waits for no server, and connects in
    the background: `send` waits for the cluster then, up to `max_block_ms`.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        name: row.default for name, row in option_table().items() if "producer" in row.clients
    } | {"client_id": None}  # each producer has a name of its own

    def __init__(self, **configs: Unpack[ProducerConfigs]) -> None:
        config = parse_producer(client_configs(configs))
        self._config: dict[str, Any] = {
            field.name: getattr(part, field.name)
            for part in (config.connection, config.producer)
            for field in dataclasses.fields(part)
        }
        self._config["bootstrap_servers"] = configs.get("bootstrap_servers", self.DEFAULT_CONFIG["bootstrap_servers"])
        self._runner = ThreadRunner()
        callbacks = WorkerThread(f"kafka-callbacks-{config.connection.client_id}")
        self._core: ProducerCore = ProducerCore(config, self._runner.loop, callbacks=callbacks)
        self._appender = self._core.appender
        lifetime.register(self._core, self._runner.thread)
        self._runner.thread.on_death(self._core, ProducerCore.loop_failed)
        try:
            in_background = config.connection.api_version is not None
            self._runner.run(self._core, self._core.start(in_background=in_background))
        except BaseException:
            lifetime.close_dropped(self._core)
            raise

    @property
    def config(self) -> dict[str, Any]:
        """The options in effect, by name, without those of `kafka.config.SecurityOptions`.

        ``bootstrap_servers`` is as it was given; ``api_version`` is that of the brokers once one is connected.
        """
        self._config["api_version"] = self._core.cluster.release
        return self._config

    def __enter__(self) -> KafkaProducer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        core = getattr(self, "_core", None)
        if core is not None:
            lifetime.close_dropped(core)
