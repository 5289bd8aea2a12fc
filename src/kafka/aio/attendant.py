"""Runs the steps of rebalances, and callbacks, in a background task; other consumers run them within `poll()`.

The consumer therefore joins its group, and its listener is called, even if the consumer is not polled. As in aiokafka,
records that were returned count as processed when their partitions are revoked. Periodic commits wait for the next call
that requests records.
"""

import asyncio
import logging
from collections.abc import Collection
from typing import Any

from kafka.aio.abc import ConsumerRebalanceListener
from kafka.consumer._async.poll_loop import AsyncPollLoop
from kafka.consumer.subscription.subscription_state import AsyncConsumerRebalanceListener
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)


class ToldListener(AsyncConsumerRebalanceListener):
    """Wraps a user's listener. The wrapper stops calling the listener when the consumer unsubscribes or stops.

    Arguments:
        listener: the user's listener; errors that it raises are logged.
    """

    def __init__(self, listener: ConsumerRebalanceListener) -> None:
        self._listener = listener
        self.silent = False

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        await self._tell("revocation", self._listener.on_partitions_revoked, revoked)

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        await self._tell("assignment", self._listener.on_partitions_assigned, assigned)

    async def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
        await self._tell("loss", self._listener.on_partitions_lost, lost)

    async def _tell(self, what: str, method: Any, partitions: Collection[TopicPartition]) -> None:
        if self.silent:
            return
        try:
            result = method(set(partitions))
            if result is not None and hasattr(result, "__await__"):
                await result
        except Exception:
            log.exception("the rebalance listener %r failed on the %s of %s", self._listener, what, sorted(partitions))


class Attendant:
    """The background task of a consumer.

    Arguments:
        driver: the poll loop of the started consumer.
    """

    def __init__(self, driver: AsyncPollLoop) -> None:
        self._driver = driver
        self._core = driver.core
        self._max_idle_s = self._core.config.group.max_poll_interval_ms / 1000
        self._acted = asyncio.Event()
        self._news = driver.runner.news_for_attendant()
        self._task = driver.runner.loop.create_task(self._run(), name="consumer attendant")

    def wake(self) -> None:
        """Run the task's next round now."""
        self._news.set()

    async def joined(self, timeout_s: float) -> None:
        """Wait until partitions are assigned for the first time, an error has to be raised, or the timeout expires."""
        core = self._core
        try:
            async with asyncio.timeout(timeout_s):
                while not core.rebalance.completed and not core.events.has_errors and not core.closed:
                    self._acted.clear()
                    await self._acted.wait()
        except TimeoutError:
            log.warning("no partitions were assigned within %g s; start() continues without them", timeout_s)

    async def stop(self) -> None:
        """Cancel the task, and wait for it to end. The consumer must already be closed."""
        if self._task is not asyncio.current_task() and not self._driver.runner.was_left_by_fork:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        core, runner = self._core, self._driver.runner
        while not core.closed:
            self._news.clear()
            # After an error, pause until the error has been raised. Also pause if the application has stopped polling.
            if not core.events.has_errors and core.clock.idle(runner.time()) <= self._max_idle_s:
                try:
                    await self._attend()
                except Exception as error:
                    core.events.failed(error)
            self._acted.set()
            await self._news.wait()

    async def _attend(self) -> None:
        driver = self._driver
        await driver.runner.begin_turn()
        try:
            await driver.run_callbacks()
            await driver.carry_out_steps()
        finally:
            driver.runner.end_turn()
