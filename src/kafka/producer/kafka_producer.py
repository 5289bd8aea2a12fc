"""The synchronous producer, with the same names, arguments and defaults as kafka-python's."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Never, Unpack

from kafka import _old_names
from kafka.config import ProducerConfigs, with_options
from kafka.config.argument_errors import refuse_positions
from kafka.errors import IllegalStateError, KafkaError
from kafka.net.callback_thread import WorkerThread
from kafka.net.loop_thread import LoopThread
from kafka.producer import lifetime
from kafka.producer._sync.calls import ProducerCalls
from kafka.producer.appending.appender import RecordSender
from kafka.producer.base_producer import BaseProducer, ContextExit
from kafka.producer.core import ProducerCore
from kafka.producer.runners import ThreadRunner
from kafka.record.records import Key, Value

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Sequence

    from kafka.producer.future import FutureRecordMetadata


_HOMES = {"Future": "kafka.legacy.kafka_future"}


@with_options("producer")
class KafkaProducer(BaseProducer, ProducerCalls, RecordSender, Generic[Key, Value]):
    """Sends records to a cluster. Thread-safe: share one producer between threads.

    Every option is a keyword argument; `kafka.config` lists them with defaults and units. By default a record is
    acknowledged by every in-sync replica (``acks='all'``), is never written twice (idempotence, KIP-98), and is retried
    until `delivery_timeout_ms` expires. Records in a partition keep the order in which they were sent.

    `send` only buffers. If a record cannot be delivered, its future fails; if the future is never checked, the error is
    logged, and `flush` raises it. The end of a ``with`` block also raises it after closing the producer, unless the
    block itself raised; `close` does not raise it. Example::

        with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
            producer.send("orders", key=b"ada", value=b"3 apples")
            sent = producer.send("orders", key=b"bob", value=b"1 pear").get(timeout=10)  # waits for the brokers
            print(sent.partition, sent.offset)

    Arguments:
        configs: options, see `kafka.config.ProducerOptions`, `ConnectionOptions` and `SecurityOptions`.

    Raises `KafkaConfigurationError` for unknown or conflicting options, and `NoBrokersAvailable` if no bootstrap server
    responds within `bootstrap_timeout_ms`. If `api_version` is set, connects in the background instead; then `send`
    waits for the cluster, up to `max_block_ms`.
    """

    _core: ProducerCore

    if TYPE_CHECKING:  # `RecordSender` provides the method, compiled and without the types of keys and values

        def send(
            self,
            topic: str,
            value: Value | None = None,
            key: Key | None = None,
            headers: Sequence[tuple[str, bytes | None]] | None = None,
            partition: int | None = None,
            timestamp_ms: int | None = None,
        ) -> FutureRecordMetadata: ...

    def __init__(self, *given: Never, **configs: Unpack[ProducerConfigs]) -> None:
        refuse_positions(given, "KafkaProducer", "producer")
        self._parse(configs)
        config = self._parsed
        self._runner = ThreadRunner()
        callbacks = WorkerThread(f"kafka-callbacks-{config.connection.client_id}")
        self._core = ProducerCore(config, self._runner.loop, callbacks=callbacks)
        self._appender = self._core.appender
        self._is_intercepted = self._core.interceptors is not None
        lifetime.register(self._core, self._runner.thread)
        self._runner.thread.on_death(self._core, ProducerCore.loop_failed)
        try:
            in_background = config.connection.api_version is not None
            self._runner.run(self._core, self._core.start(in_background=in_background))
        except BaseException:
            lifetime.close_dropped(self._core)
            raise

    @property
    def _metadata(self) -> RefreshableMetadata:
        """The attribute from which tracing packages read the addresses of the cluster."""
        return RefreshableMetadata(self._core, self._runner.thread)

    def __enter__(self) -> KafkaProducer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        with ContextExit(self._core, error):
            self.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # modules may already be gone; the exit handler has closed everything
            return
        core = getattr(self, "_core", None)
        if core is not None:
            lifetime.close_dropped(core)


class RefreshableMetadata:
    """The attributes of a producer's newest `ClusterMetadata`, and kafka-python's `request_update`. Thread-safe.

    Arguments:
        core: the producer's core.
        thread: the thread of its loop.
    """

    def __init__(self, core: ProducerCore, thread: LoopThread) -> None:
        self._core, self._thread = core, thread

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # such as the hooks that `copy` looks up
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._core.cluster.metadata, name)

    def request_update(self) -> Any:
        """Request a metadata refresh, and return a `kafka.future.Future` for the new metadata without waiting."""
        future = _old_names.of_a_package(__name__, "Future", _HOMES)()
        core = self._core
        if core.is_closed:
            return future.failure(IllegalStateError("the producer is closed"))

        async def refresh() -> None:
            try:
                found = await core.cluster.refresh_metadata()
            except KafkaError as error:
                core.callbacks.submit(partial(future.failure, error))
            else:
                core.callbacks.submit(partial(future.success, found))

        self._thread.spawn(refresh())
        return future
