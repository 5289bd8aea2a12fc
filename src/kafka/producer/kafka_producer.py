"""The synchronous producer, with the names, arguments and defaults of kafka-python."""

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


_HOMES = {"Future": "kafka.legacy.future"}


@with_options("producer")
class KafkaProducer(BaseProducer, ProducerCalls, RecordSender, Generic[Key, Value]):
    """Sends records to a cluster. Thread-safe: one producer for many threads is better than many.

    Every option is a keyword argument; `kafka.config` lists them with defaults and units. By default a record is
    acknowledged by every in-sync replica (``acks='all'``), is never written twice (idempotence, KIP-98), and is tried
    until `delivery_timeout_ms` is over. Records of a partition stay in the order in which they were sent.

    `send` only buffers. A record that cannot be delivered fails its future; if nobody looks at that, it is logged, and
    `flush` raises it. So does the end of a ``with`` block that raised nothing, once the producer is closed; `close`
    does not.

    Arguments:
        configs: options, see `kafka.config.ProducerOptions`, `ConnectionOptions` and `SecurityOptions`.

    Raises `KafkaConfigurationError` for options that are unknown or do not go together, `NoBrokersAvailable` if no
    bootstrap server answers within `bootstrap_timeout_ms`. With `api_version` it waits for no server, and connects in
    the background: `send` waits for the cluster then, up to `max_block_ms`.
    """

    _core: ProducerCore

    if TYPE_CHECKING:  # the method of `RecordSender`, which is compiled, and knows no types of keys and values

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
        """Under the name that packages which trace producers read the cluster's address by."""
        return RefreshableMetadata(self._core, self._runner.thread)

    def __enter__(self) -> KafkaProducer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        with ContextExit(self._core, error):
            self.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # modules may be gone by now; the end of the process has closed everything
            return
        core = getattr(self, "_core", None)
        if core is not None:
            lifetime.close_dropped(core)


class RefreshableMetadata:
    """The newest `ClusterMetadata` of a producer, as attributes; any thread may use it.

    Arguments:
        core: the producer's.
        thread: that of the producer's loop.
    """

    def __init__(self, core: ProducerCore, thread: LoopThread) -> None:
        self._core, self._thread = core, thread

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # such as what copying asks for
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._core.cluster.metadata, name)

    def request_update(self) -> Any:
        """Have the metadata refreshed; gives the `kafka.future.Future` of the new ones. Does not wait."""
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
