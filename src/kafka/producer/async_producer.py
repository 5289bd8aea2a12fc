"""The asyncio producer: the core runs on the caller's event loop, without a thread."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, Never, TypeVar, Unpack

from kafka.config import ProducerConfigs, with_options
from kafka.config.argument_errors import refuse_positions
from kafka.errors import IllegalStateError
from kafka.producer import lifetime
from kafka.producer._async.calls import AsyncProducerCalls
from kafka.producer.appending.appender import Append, RecordSender
from kafka.producer.appending.checks import Blocked
from kafka.producer.base_producer import BaseProducer, ContextExit
from kafka.producer.core import ProducerCore
from kafka.producer.delivery.record_metadata import RecordMetadata
from kafka.producer.future import FutureRecordMetadata
from kafka.producer.runners import LoopRunner
from kafka.record.records import Key, Value

if TYPE_CHECKING:
    import types


Function = TypeVar("Function", bound=Callable[..., object])


def _documented_as(other: Callable[..., object]) -> Callable[[Function], Function]:
    """Copy the docstring of the synchronous counterpart."""

    def decorate(function: Function) -> Function:
        function.__doc__ = other.__doc__
        return function

    return decorate


@with_options("producer")
class AsyncKafkaProducer(BaseProducer, AsyncProducerCalls, Generic[Key, Value]):
    """Sends records to a cluster, on the event loop on which `start` runs, with the same guarantees as `KafkaProducer`.

    Use it as ``async with AsyncKafkaProducer(...) as producer``, or call `start` and `stop`. Example::

        async with AsyncKafkaProducer(bootstrap_servers="localhost:9092") as producer:
            sent = await producer.send_and_wait("orders", key=b"ada", value=b"3 apples")
            print(sent.partition, sent.offset)

    Arguments:
        configs: the options of `KafkaProducer`.

    Raises `KafkaConfigurationError`.
    """

    def __init__(self, *given: Never, **configs: Unpack[ProducerConfigs]) -> None:
        refuse_positions(given, "AsyncKafkaProducer", "producer")
        self._parse(configs)
        self._core: ProducerCore | None = None

    async def start(self) -> None:
        """Connect to the cluster; raises `NoBrokersAvailable` if no server responds within `bootstrap_timeout_ms`."""
        if self._core is not None:
            raise IllegalStateError("the producer was started before")
        self._runner = LoopRunner()
        self._core = ProducerCore(self._parsed, self._runner.loop)
        self._until_dropped = lifetime.close_when_dropped(self._core)
        await anext(self._until_dropped)
        try:
            await self._core.start()
        except BaseException:
            await self._core.close(0)
            raise

    async def stop(self, timeout: float | None = None) -> None:
        """Send all buffered records, wait for them, and close the connections; the same as `close`.

        Arguments:
            timeout: maximum wait for deliveries in seconds; None waits at most `delivery_timeout_ms`.
        """
        await self.close(timeout)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # modules may already be gone; the exit handler has closed everything
            return
        core = getattr(self, "_core", None)
        if core is not None:
            lifetime.warn_if_lost(core)

    @_documented_as(RecordSender.send)
    async def send(
        self,
        topic: str,
        value: Value | None = None,
        key: Key | None = None,
        headers: Sequence[tuple[str, bytes | None]] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> FutureRecordMetadata:
        """Buffer a record like `KafkaProducer.send`, but wait asynchronously instead of blocking."""
        core = self._started()
        if core.interceptors is not None:
            return await self._send_intercepted(topic, value, key, headers, partition, timestamp_ms)
        append: Append = core.appender.append
        try:
            return append(topic, value, key, headers, partition, timestamp_ms)
        except Blocked as reason:
            blocked = reason.with_traceback(None)  # the traceback's frames would keep the producer alive
        return await self._send_when_possible(blocked, topic, value, key, headers, partition, timestamp_ms)

    async def send_and_wait(
        self,
        topic: str,
        value: Value | None = None,
        key: Key | None = None,
        headers: Sequence[tuple[str, bytes | None]] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> RecordMetadata:
        """Send a record and wait until it is acknowledged.

        Arguments:
            topic: name of the topic.
            value: the value, passed to ``value_serializer``; None is a tombstone.
            key: the key, passed to ``key_serializer``; it determines the partition if ``partition`` is None.
            headers: pairs of a name and a value, which is bytes or None.
            partition: partition number; None lets the partitioner choose.
            timestamp_ms: milliseconds since 1970-01-01 UTC; None means now.

        Returns the record's metadata; raises the same errors as `send`, and the delivery error if the record is not
        delivered.
        """
        core = self._started()
        try:
            if core.interceptors is not None:
                future = await self._send_intercepted(topic, value, key, headers, partition, timestamp_ms)
            else:
                future = core.append_now(topic, value, key, headers, partition, timestamp_ms)
        except Blocked as reason:
            blocked = reason.with_traceback(None)  # as in `send`
            future = await self._send_when_possible(blocked, topic, value, key, headers, partition, timestamp_ms)
        return await future

    async def __aenter__(self) -> AsyncKafkaProducer:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        with ContextExit(self._core, error):
            await self.stop()
