"""Runs a core for its caller: waits for records, calls listeners and callbacks, and closes the core."""

import functools
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from kafka.cluster import ClusterAccess
from kafka.config import ConsumerConfig
from kafka.consumer.buffer.polled_batch import PolledBatch
from kafka.consumer.core import RELEASE_WAIT_MS, ConsumerCore
from kafka.consumer.runners.loop_runner import LoopRunner
from kafka.consumer.subscription.rebalance_steps import Step, StepKind
from kafka.errors import OffsetOutOfRangeError

Result = TypeVar("Result")

_LEAVE_RESERVE = 0.25
"""The fraction of the closing timeout that is reserved for leaving the group, whatever happens to commits."""
_ABANDONED_CLOSE_MS = 1_000
_COMMIT_WAIT_MS = 100
"""The minimum time to wait for a commit before a rebalance, even in `poll(0)`."""


class AsyncPollLoop:
    """Runs one consumer's core; see the module.

    Used in the caller's thread; other threads may only call `close` and `abandon`.

    Arguments:
        config: all options.
        client: the cluster client; None: create one from the options.
    """

    def __init__(self, config: ConsumerConfig, client: ClusterAccess | None = None) -> None:
        self.runner = LoopRunner()
        self.poll_guard = self.runner.poll_guard
        self.core = ConsumerCore(config, self.runner, self.runner.loop, client)

    async def run(self, coroutine: Coroutine[Any, Any, Result], timeout_ms: float | None = None) -> Result:
        """Run a coroutine of the core and wait for its result; the coroutine itself enforces ``timeout_ms``."""
        return await self.runner.run(coroutine, timeout_ms)

    async def wait_for(self, timeout_ms: float, take: Callable[[], PolledBatch]) -> PolledBatch:
        """Call ``take`` after each notification until it returns records or the time is up, and return its last result.

        Raises `WakeupError` after a `wakeup()`, before anything is taken.
        """
        core, runner = self.core, self.runner
        runner.check()
        now = runner.time()
        core.begin_poll(now)
        try:
            deadline = now + timeout_ms / 1000
            while True:
                runner.clear()
                if core.events.is_woken:
                    core.raise_wakeup()
                if core.events.pending and not await self.process_events(deadline - runner.time()):
                    return core.buffer.nothing()  # the assignment is uncertain until all events are handled
                taken = take()
                if taken.count or core.closed:
                    return taken
                left = deadline - runner.time() if timeout_ms else 0.0
                if left <= 0:
                    core.warn_if_idle()
                    await runner.yield_to_loop()
                    return taken
                await runner.wait(left)
        except OffsetOutOfRangeError as error:
            await self.run(core.find_ranges(error))
            raise
        finally:
            core.clock.end(runner.time())

    async def process_events(self, timeout_s: float | None = None) -> bool:
        """Raise background errors, run callbacks, and carry out the group's pending steps.

        Does nothing if called by a listener or callback, which already runs within this method.

        Arguments:
            timeout_s: how long to wait for another task in this method, and for the commit that precedes a revocation;
                None: no limit.

        Returns False if the time was not sufficient; the next call continues.
        """
        self.runner.check()
        if self.runner.is_in_a_call:
            return True
        deadline = None if timeout_s is None else self.runner.time() + timeout_s
        if not await self.runner.begin_turn(timeout_s):
            return False
        try:
            return await self._process_events(deadline)
        finally:
            self.runner.end_turn()

    async def _process_events(self, deadline: float | None) -> bool:
        self.core.begin_processing_events()
        await self.run_callbacks()
        return await self.carry_out_steps(deadline)

    async def carry_out_steps(self, deadline: float | None = None) -> bool:
        """Carry out the steps of the group. Called by the thread or task whose turn it is.

        Arguments:
            deadline: time on the runner's clock at which to stop waiting for the commit that precedes a revocation.

        Returns False if the commit did not finish in time; the next call continues.
        """
        rebalance = self.core.rebalance
        while (step := rebalance.next_step()) is not None:
            if step.kind in (StepKind.REVOKE, StepKind.KEEP) and not await self._commit_before(step, deadline):
                return False
            rebalance.begin(step)
            try:
                await self._tell_listener(step)
            finally:
                rebalance.finish(step)
        return True

    async def _commit_before(self, step: Step, deadline: float | None) -> bool:
        """Wait for the automatic commit before a step. Returns whether it is done, successfully or not."""
        commits, timeout_ms = self.core.commits, self.core.config.group.session_timeout_ms
        if not commits.is_automatic or not (held := self.core.consumed_offsets()):
            return True
        wait_ms = None if deadline is None else max(self._left_ms(deadline), _COMMIT_WAIT_MS)
        return await self.run(commits.commit_before(step.turn, held, timeout_ms, wait_ms), wait_ms or timeout_ms)

    async def run_callbacks(self) -> None:
        """Run the callbacks of finished commits, and `poll_along`. Raises their errors."""
        try:
            while True:
                call = self.core.commits.next_call()
                if call is None:
                    break
                await self.runner.call(call)
            if self.core.poll_along is not None:
                await self.runner.call(self.core.poll_along)
        except BaseException:
            self.core.events.pending = True  # the next call runs the other callbacks
            raise

    async def give_up_partitions(self, timeout_ms: float) -> None:
        """Commit, and call the listener for partitions that the caller unassigns.

        Arguments:
            timeout_ms: how long the commit may take; the call waits at most `RELEASE_WAIT_MS` for it.
        """
        if self.runner.is_in_a_call:
            await self._give_up_partitions(timeout_ms)
            return
        await self.runner.begin_turn()  # otherwise the listener would be called twice for a step in progress
        try:
            await self._give_up_partitions(timeout_ms)
        finally:
            self.runner.end_turn()

    async def _give_up_partitions(self, timeout_ms: float) -> None:
        commits = self.core.commits
        if commits.is_automatic and (held := self.core.consumed_offsets()):
            wait_ms = min(timeout_ms, RELEASE_WAIT_MS)
            await self.run(commits.commit_before(None, held, timeout_ms, wait_ms), wait_ms)
        await self._tell_of_leaving()

    async def _tell_of_leaving(self) -> None:
        step = self.core.rebalance.leave_step()
        if step is not None:
            await self._tell_listener(step)

    async def close(self, autocommit: bool, timeout_ms: float, finish: Callable[[], object] = lambda: None) -> None:
        """Close the core, once; see `AsyncKafkaConsumer.close`. Then call ``finish``."""
        await self.runner.close_once(functools.partial(self._close, autocommit, timeout_ms, finish), timeout_ms)

    async def _close(self, autocommit: bool, timeout_ms: float, finish: Callable[[], object]) -> None:
        core, deadline = self.core, self.runner.time() + timeout_ms / 1000
        try:
            if autocommit:
                await self._commit_automatically(timeout_ms / 2)
            await self._tell_of_leaving()
        finally:
            try:
                left_ms = self._left_ms(deadline) * (1 - _LEAVE_RESERVE)
                await self.run(core.commits.finish(left_ms), left_ms)
                await self.run_callbacks()
            finally:
                core.closed = core.events.pending = True
                self.runner.notify()
                left_ms = self._left_ms(deadline)
                try:
                    await self.runner.run_through(core.close(left_ms), left_ms)
                finally:
                    self.runner.if_alone(core.drop_fetched)
                    try:
                        await self.run_callbacks()  # including those of commits that failed because the loop did
                    finally:
                        finish()

    def abandon(self) -> None:
        """Close a consumer that is no longer referenced, without waiting; an interrupt may have prevented `close`."""
        if not self.core.close_begun:
            self.core.closed = True
            self.runner.abandon(functools.partial(self.core.close, _ABANDONED_CLOSE_MS))

    def _left_ms(self, deadline: float) -> float:
        return max((deadline - self.runner.time()) * 1000, 0.0)

    async def _commit_automatically(self, timeout_ms: float) -> None:
        commits = self.core.commits
        if commits.is_automatic and (held := self.core.consumed_offsets()):
            await self.run(commits.commit_automatically(held, timeout_ms), timeout_ms)

    async def _tell_listener(self, step: Step) -> None:
        told = self.core.subscription.listener_for(step.kind is StepKind.ADD)
        if told is None or step.kind is StepKind.KEEP:
            return
        if step.kind is StepKind.ADD:
            await self.runner.call(told.on_partitions_assigned, set(step.partitions))
        elif step.kind is StepKind.LOSE:
            await self.runner.call(told.on_partitions_lost, set(step.partitions))
        else:
            await self.runner.call(told.on_partitions_revoked, set(step.partitions))
