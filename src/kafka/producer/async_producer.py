"""The asyncio producer: the same core on the caller's own loop, without a thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from kafka.config import ProducerConfigs, parse_producer, with_options
from kafka.errors import IllegalStateError
from kafka.producer import lifetime
from kafka.producer.async_calls import AsyncProducerCalls
from kafka.producer.core import ProducerCore
from kafka.producer.intake.appender import Append
from kafka.producer.intake.blocked import Blocked
from kafka.producer.loop_runner import LoopRunner
from kafka.producer.options import client_configs
from kafka.producer.outcome.future import FutureRecordMetadata
from kafka.producer.outcome.record_metadata import RecordMetadata

if TYPE_CHECKING:
    import types


@with_options("producer")
class AsyncKafkaProducer(AsyncProducerCalls):
    """Sends records to a cluster, on the event loop that `start` runs on; promises what `KafkaProducer` does.

    Use it as ``async with AsyncKafkaProducer(...) as producer``, or call `start` and `stop`.

    Arguments:
        configs: the options of `KafkaProducer`.

    Raises `KafkaConfigurationError`.
    """

    def __init__(self, **configs: Unpack[ProducerConfigs]) -> None:
        self._config = parse_producer(client_configs(configs))
        self._core: ProducerCore | None = None

    async def start(self) -> None:
        """Find the cluster; raises `NoBrokersAvailable` if no server answers within `bootstrap_timeout_ms`."""
        if self._core is not None:
            raise IllegalStateError("the producer was started before")
        self._runner = LoopRunner()
        self._core = ProducerCore(self._config, self._runner.loop)
        self._until_dropped = lifetime.close_when_dropped(self._core)
        await anext(self._until_dropped)
        try:
            await self._core.start()
        except BaseException:
            await self._core.close(0)
            raise

    async def stop(self, timeout: float | None = None) -> None:
        """Send what is buffered, wait for it, and close the connections; as `close`."""
        await self.close(timeout)

    def __del__(self) -> None:
        core = getattr(self, "_core", None)
        if core is not None:
            lifetime.tell_if_lost(core)

    async def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Sequence[tuple[str, bytes | None]] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> FutureRecordMetadata:
        """Buffer a record, and return a future that has a `RecordMetadata` once it is acknowledged.

        Arguments:
            topic: where the record goes.
            value: bytes, or what the value serializer takes; None with a key is a tombstone.
            key: bytes, or what the key serializer takes; records of one key go to one partition.
            headers: pairs of text and bytes.
            partition: overrides the partitioner.
            timestamp_ms: milliseconds since 1970-01-01 UTC; None: now.

        Waits only if the topic is not known yet or `buffer_memory` is used up: raises `KafkaTimeoutError` if that takes
        longer than `max_block_ms`. Raises `IllegalArgumentError` or `TypeError` for what is no record,
        `TopicAuthorizationFailedError`, `IllegalStateError` once the producer is closed, and what the serializers
        raise. The future of a record above `max_request_size` fails with `MessageSizeTooLargeError`.
        """
        core = self._started()
        append: Append = core.appender.append
        try:
            return append(topic, value, key, headers, partition, timestamp_ms)
        except Blocked as reason:
            blocked = reason.with_traceback(None)  # its frames would keep the producer alive
        return await self._send_when_possible(blocked, topic, value, key, headers, partition, timestamp_ms)

    async def send_and_wait(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Sequence[tuple[str, bytes | None]] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> RecordMetadata:
        """Send a record and wait until it is acknowledged."""
        future = await self.send(topic, value, key, headers, partition, timestamp_ms)
        self._started().send_now()
        return await future

    async def __aenter__(self) -> AsyncKafkaProducer:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        await self.stop()

    def _started(self) -> ProducerCore:
        if self._core is None:
            raise IllegalStateError("the producer is not started: await start(), or use it as 'async with'")
        return self._core
