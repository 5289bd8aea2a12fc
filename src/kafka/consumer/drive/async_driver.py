"""Drives a core from the caller's own event loop: the same steps as `kafka.consumer.drive.sync_driver`, awaited."""

import asyncio
from collections.abc import Callable
from typing import Any

from kafka.config import ConsumerConfig
from kafka.consumer.core import ConsumerCore
from kafka.consumer.subscription.rebalance import Step, StepKind
from kafka.consumer.subscription.subscription_state import AsyncConsumerRebalanceListener, ConsumerRebalanceListener


class LoopCaller:
    """See `kafka.consumer.core.Caller`: both sides are on one loop, so nothing has to cross threads.

    Arguments:
        loop: the loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.news = asyncio.Event()

    def notify(self) -> None:
        """Wake the caller, if it waits; from any thread."""
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            self.news.set()
        else:
            self._loop.call_soon_threadsafe(self.news.set)

    def submit(self, function: Callable[..., object], *args: object) -> None:
        """Call ``function(*args)``, at once."""
        function(*args)


class AsyncDriver:
    """See the module. Made on the loop that it runs on.

    Arguments:
        config: all options.
    """

    def __init__(self, config: ConsumerConfig) -> None:
        self._loop = asyncio.get_running_loop()
        self._caller = LoopCaller(self._loop)
        self._closing: asyncio.Task[None] | None = None
        self.core = ConsumerCore(config, self._caller, self._loop)

    async def wait_for(self, timeout_ms: float, take: Callable[[], list[Any]]) -> list[Any]:
        """What ``take`` gives, called again as news come, until it gives something or the time is up."""
        core, news = self.core, self._caller.news
        core.begin_poll()
        try:
            deadline = self._loop.time() + timeout_ms / 1000
            while True:
                news.clear()
                if core.attention:
                    await self.attend()
                taken = take()
                if taken or core.closed or core.woken():
                    return taken
                if deadline <= self._loop.time():
                    return taken
                # One timer and one future: a third of what asyncio.timeout() costs around an event.
                timer = self._loop.call_at(deadline, news.set)
                try:
                    await news.wait()
                finally:
                    timer.cancel()
        finally:
            core.end_poll()

    async def attend(self) -> None:
        """Raise what went wrong in the background, run callbacks, and do what the group asks for."""
        self.core.begin_attending()
        rebalance = self.core.rebalance
        while (step := rebalance.next_step()) is not None:
            if step.kind is StepKind.GIVE_UP:
                await self._commit_held(self.core.config.group.session_timeout_ms)
            rebalance.begin(step)
            try:
                await self._tell_listener(step)
            finally:
                rebalance.finish(step)

    async def give_up(self, commit: bool, timeout_ms: float) -> None:
        """Commit, and tell the listener that the partitions are given up, outside of a rebalance."""
        if commit:
            await self._commit_held(timeout_ms)
        held = frozenset(self.core.subscription.assigned_partitions())
        if held and self.core.subscription.is_automatic:
            await self._tell_listener(Step(StepKind.GIVE_UP, held, -1))

    async def close(self, autocommit: bool, timeout_ms: float) -> None:
        """Close the core, once; another call waits for the first."""
        if self._closing is None:
            self._closing = self._loop.create_task(self._close(autocommit, timeout_ms))
        elif asyncio.current_task() is self._closing:  # the listener calls close() again
            return
        await asyncio.shield(self._closing)

    async def _close(self, autocommit: bool, timeout_ms: float) -> None:
        try:
            await self.give_up(autocommit, timeout_ms / 2)
        finally:
            await self.core.close(autocommit=False, timeout_ms=timeout_ms / 2)

    async def _commit_held(self, timeout_ms: float) -> None:
        await self.core.commits.commit_quietly(self.core.consumed(), timeout_ms)

    async def _tell_listener(self, step: Step) -> None:
        listener = self.core.subscription.listener
        if listener is None:
            return
        partitions = set(step.partitions)
        lost = step.kind is StepKind.LOSE and isinstance(
            listener, ConsumerRebalanceListener | AsyncConsumerRebalanceListener
        )
        told: Any
        if step.kind is StepKind.TAKE_OVER:
            told = listener.on_partitions_assigned(partitions)
        elif lost:
            told = listener.on_partitions_lost(partitions)
        else:
            told = listener.on_partitions_revoked(partitions)
        if asyncio.iscoroutine(told):
            await told
