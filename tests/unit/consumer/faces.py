"""One way to call `KafkaConsumer` and `AsyncKafkaConsumer`, for scenarios that have to go alike on both."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from kafka import KafkaConsumer
from kafka.consumer.async_consumer import AsyncKafkaConsumer
from kafka.consumer.subscription.subscription_state import AsyncConsumerRebalanceListener, ConsumerRebalanceListener
from kafka.structs import TopicPartition

PATIENCE_S = 30.0


class Face:
    """A consumer of one of the two kinds; a call is awaited where the consumer's is a coroutine.

    Arguments:
        kind: "sync" or "asyncio".
        options: of the consumer.
    """

    def __init__(self, kind: str, **options: Any) -> None:
        self.kind = kind
        self._options = options
        self._family: list[Face] = [self]
        self.consumer: Any = None

    async def open(self, *topics: str, **options: Any) -> Face:
        """Make the consumer, and start it."""
        make: Any = KafkaConsumer if self.kind == "sync" else AsyncKafkaConsumer
        self.consumer = make(*topics, **{**self._options, **options})
        if self.kind == "asyncio":
            await self.consumer.start()
        return self

    def another(self) -> Face:
        """Another one of the same kind and with the same options."""
        other = Face(self.kind, **self._options)
        other._family = self._family
        self._family.append(other)
        return other

    async def close_all(self) -> None:
        """Close this one and `another` ones, as far as they were opened and are open."""
        for face in self._family:
            if face.consumer is not None:
                await face.close(autocommit=False, timeout_ms=5_000)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> Any:
            result = getattr(self.consumer, name)(*args, **kwargs)
            return await result if inspect.iscoroutine(result) else result

        return call

    async def read(self, count: int) -> list[Any]:
        """Poll until so many records have come, or more."""
        records: list[Any] = []
        deadline = time.monotonic() + PATIENCE_S
        while len(records) < count:
            assert time.monotonic() < deadline, f"{len(records)} of {count} records"
            records += list(await self.poll(200))
        return records

    async def read_up_to(self, count: int) -> list[Any]:
        """Poll until so many records have come, and not one more."""
        records: list[Any] = []
        while len(records) < count:
            records += list(await self.poll(PATIENCE_S * 1000, max_records=count - len(records)))
        return records

    async def poll_until(self, condition: Callable[[], bool]) -> None:
        """Poll until the condition holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline
            await self.poll(20)

    async def iterate(self) -> list[Any]:
        """All that iteration gives until it ends."""
        if self.kind == "sync":
            return list(self.consumer)
        return [record async for record in self.consumer]

    async def next(self) -> Any:
        """The next record of iteration, None at its end."""
        return next(self.consumer, None) if self.kind == "sync" else await anext(self.consumer, None)

    @asynccontextmanager
    async def block(self) -> AsyncIterator[None]:
        """`with`, or `async with`, around what stands in the block."""
        if self.kind == "sync":
            with self.consumer:
                yield
        else:
            try:
                yield
            except BaseException as error:
                await self.consumer.__aexit__(type(error), error, None)
                raise
            await self.consumer.__aexit__(None, None, None)

    async def settled(self, future: Any) -> BaseException | None:
        """The outcome of a commit's future."""
        try:
            if self.kind == "sync":
                future.get(PATIENCE_S)
            else:
                async with asyncio.timeout(PATIENCE_S):
                    await future
        except Exception as error:
            return error
        return None

    def listener(self, told: Callable[[str, set[TopicPartition]], Any]) -> Any:
        """A rebalance listener; with coroutines, which await what ``told`` gives, where those are taken."""

        class Listener(ConsumerRebalanceListener):
            def on_partitions_revoked(self, revoked: Any) -> None:
                told("revoked", set(revoked))

            def on_partitions_assigned(self, assigned: Any) -> None:
                told("assigned", set(assigned))

        class AsyncListener(AsyncConsumerRebalanceListener):
            async def on_partitions_revoked(self, revoked: Any) -> None:
                await self._tell("revoked", set(revoked))

            async def on_partitions_assigned(self, assigned: Any) -> None:
                await self._tell("assigned", set(assigned))

            async def _tell(self, kind: str, partitions: set[TopicPartition]) -> None:
                await asyncio.sleep(0)
                result = told(kind, partitions)
                if inspect.iscoroutine(result):
                    await result

        return Listener() if self.kind == "sync" else AsyncListener()
