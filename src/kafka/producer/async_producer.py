"""The asyncio producer: the same core on the caller's own loop, without a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kafka.config import parse_producer
from kafka.errors import IllegalStateError
from kafka.producer import lifetime
from kafka.producer.core import ProducerCore
from kafka.producer.intake.appender import Append
from kafka.producer.intake.blocked import Blocked, NeedsMemory, NeedsTopic
from kafka.producer.options import client_configs
from kafka.producer.outcome.future import FutureRecordMetadata
from kafka.producer.outcome.record_metadata import RecordMetadata

if TYPE_CHECKING:
    import types

    from kafka.producer.arrow.sender import FutureArrowResult


class AsyncKafkaProducer:
    """Sends records to a cluster, on the event loop that `start` runs on; promises what `KafkaProducer` does.

    Use it as ``async with AsyncKafkaProducer(...) as producer``, or call `start` and `stop`.

    Arguments:
        configs: the options of `KafkaProducer`.

    Raises `KafkaConfigurationError`.
    """

    def __init__(self, **configs: Any) -> None:
        self._config = parse_producer(client_configs(configs))
        self._core: ProducerCore | None = None

    async def start(self) -> None:
        """Find the cluster; raises `NoBrokersAvailable` if no server answers within `bootstrap_timeout_ms`."""
        if self._core is not None:
            raise IllegalStateError("the producer was started before")
        self._core = ProducerCore(self._config, asyncio.get_running_loop())
        self._until_dropped = lifetime.close_when_dropped(self._core)
        await anext(self._until_dropped)
        try:
            await self._core.start()
        except BaseException:
            await self._core.close(0)
            raise

    async def stop(self, timeout: float | None = None) -> None:
        """Send what is buffered, wait for it, and close the connections; see `KafkaProducer.close`."""
        if self._core is not None:
            await self._core.close(timeout)

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
        """Buffer a record; awaiting what this returns gives its `RecordMetadata`. See `KafkaProducer.send`."""
        core = self._started()
        append: Append = core.appender.append
        try:
            return append(topic, value, key, headers, partition, timestamp_ms)
        except Blocked as reason:
            blocked = reason.with_traceback(None)  # its frames would keep the producer alive
        while True:
            try:
                if isinstance(blocked, NeedsTopic):
                    await core.find_topic(blocked.topic, blocked.partition)
                    return append(topic, value, key, headers, partition, timestamp_ms)
                assert isinstance(blocked, NeedsMemory)
                await core.acquire(blocked.amount)
                return core.buffer.append(blocked.record, blocked.amount)
            except Blocked as reason:
                blocked = reason.with_traceback(None)

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

    async def send_arrow(self, topic: str, data: Any) -> FutureArrowResult:
        """Send every row as a record, see `KafkaProducer.send_arrow`; the result can be awaited for an `ArrowResult`.

        The rows are encoded in another thread, so that the loop goes on meanwhile.
        """
        from kafka.producer.arrow.sender import ArrowSender

        core = self._started()
        await core.find_topic(topic)
        return await ArrowSender(core, asyncio.get_running_loop(), topic, data).send()

    async def flush(self, timeout: float | None = None) -> None:
        """Send everything that is buffered now and wait for it; see `KafkaProducer.flush`."""
        await self._started().flush(timeout)

    async def partitions_for(self, topic: str) -> set[int]:
        """All partitions of a topic."""
        return set(range(await self._started().find_topic(topic)))

    def metrics(self) -> dict[str, dict[str, float]]:
        """Numbers about this producer, by group and name."""
        return self._started().metrics.snapshot()

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
