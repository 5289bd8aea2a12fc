"""A consumer's synchronous, asynchronous and automatic commits. All are sent on the loop.

Callbacks are kept until the caller polls, commits or closes the consumer, and run in the caller's thread.
"""

import asyncio
import functools
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from kafka.cluster import Backoff, LogLimiter
from kafka.config import GroupOptions
from kafka.consumer.background_events import BackgroundEvents
from kafka.consumer.commit.commit_future import CommitFuture
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.coordinator.committed_offsets import GroupOffsets
from kafka.coordinator.membership import NO_GENERATION, Generation, Membership
from kafka.coordinator.offset_arguments import ReadOffsets
from kafka.errors import AssertedStateError, CommitFailedError, RebalanceInProgressError, RetriableCommitFailedError
from kafka.structs import ConsumerGroupMetadata, MemberState, OffsetAndMetadata, TopicPartition

log = logging.getLogger(__name__)

Offsets = Mapping[TopicPartition, OffsetAndMetadata]
Callback = Callable[[Offsets, Any], Any]


class Commits:
    """The commits of one consumer. Coroutines run on the loop, other methods mostly in the caller's thread.

    Arguments:
        options: the group's options.
        subscription: the assignment and the positions.
        membership: provides the generation.
        offsets: sends the commits; None without a group.
        loop: the consumer's loop.
        submit: runs a function on the loop.
        events: notified, on the loop, when there is work for the caller.
        backoff: pauses after failed automatic commits.
        on_committed: called in the caller's thread with committed offsets; None: no such function.
    """

    def __init__(
        self,
        options: GroupOptions,
        subscription: SubscriptionState,
        membership: Membership,
        offsets: GroupOffsets | None,
        loop: asyncio.AbstractEventLoop,
        submit: Callable[..., None],
        events: BackgroundEvents,
        backoff: Backoff,
        on_committed: Callable[[Offsets], object] | None = None,
    ) -> None:
        self._options = options
        self.on_committed = on_committed
        self._subscription = subscription
        self._membership = membership
        self._offsets = offsets
        self._loop = loop
        self._submit = submit
        self._tell_caller = events.happened
        self._schedule = AutoCommitSchedule(options.auto_commit_interval_ms, backoff, events.happened)
        self._tasks: set[asyncio.Task[None]] = set()
        self._before: tuple[int | None, Offsets, asyncio.Task[None]] | None = None
        """The turn of the last step that gave up partitions (None: no step did), the offsets, and the task."""
        self._open: dict[CommitFuture, tuple[Offsets, Callback | None]] = {}
        """The futures of `commit_later`. The code that removes a future resolves it."""
        self._done: deque[tuple[Offsets, Exception | None, Callback | None, CommitFuture | None]] = deque()
        self._calls: deque[Callable[[], Any]] = deque()
        self.is_automatic = offsets is not None and options.enable_auto_commit
        self.succeeded = 0

    # On the loop ------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start automatic commits, if configured."""
        if self.is_automatic:
            self._schedule.start()

    async def finish(self, timeout_ms: float) -> None:
        """Stop automatic commits, and wait for all commits in progress, as Java's ``close`` does."""
        self._schedule.stop()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout_ms / 1000)

    async def close(self) -> None:
        """Stop automatic commits; all commits still in progress fail."""
        await self.finish(0)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def commit(
        self,
        offsets: Offsets,
        timeout_ms: float,
        *,
        resend: bool = True,
        await_topics: bool = True,
        generation: Generation | None = None,
    ) -> None:
        """Commit offsets; if there are none, send nothing. Arguments and exceptions are those of `GroupOffsets.commit`.

        Arguments:
            generation: the member's generation; None: the current one.
        """
        group = self._group()
        if offsets:
            current = generation or self._generation()
            await group.commit(offsets, current, timeout_ms, resend=resend, await_topics=await_topics)
            self.succeeded += 1

    async def commit_automatically(
        self, offsets: Offsets, timeout_ms: float, *, resend: bool = True, generation: Generation | None = None
    ) -> None:
        """Commit if automatic commits are enabled. Failures are logged, because no call raises them.

        Arguments:
            resend: False if no one waits for the commit: after a failure, a later commit sends the positions at that
                time instead of these offsets.
            generation: the member's generation; None: the current one.
        """
        if not self.is_automatic or not offsets:
            return
        if generation is None and self._subscription.is_automatic and not self._membership.generation.is_valid:
            return
        failure: Exception | None = None
        try:
            await self.commit(offsets, timeout_ms, resend=resend, await_topics=False, generation=generation)
        except RebalanceInProgressError as error:
            failure = RetriableCommitFailedError(f"it was not sent: {error}")
            failure.__cause__ = error
            self._schedule.failed(failure, len(offsets))
        except Exception as error:
            self._schedule.failed(error, len(offsets), is_last=resend)
            failure = error
        else:
            self._schedule.succeeded()
        if self._options.default_offset_commit_callback is not None or self.on_committed is not None:
            self._done.append((offsets, failure, self._options.default_offset_commit_callback, None))
            self._tell_caller()

    async def commit_before(self, turn: int | None, offsets: Offsets, timeout_ms: float, wait_ms: float | None) -> bool:
        """Run `commit_automatically` before partitions are given up.

        Arguments:
            turn: the turn of the step that requires the commit. The commit starts once for each turn, and every call
                waits for it. None: each call starts a commit.
            wait_ms: how long this call waits for the commit, which continues after that. None: until it is done.

        Returns whether the commit is done, successfully or not.
        """
        if turn is None or self._before is None or self._before[:2] != (turn, offsets):
            self._before = turn, offsets, self._spawn(self.commit_automatically(offsets, timeout_ms))
        done, _ = await asyncio.wait({self._before[2]}, timeout=None if wait_ms is None else wait_ms / 1000)
        return bool(done)

    async def committed(self, partitions: Iterable[TopicPartition], timeout_ms: float) -> dict[TopicPartition, Any]:
        """Return the group's committed offsets; partitions without one are omitted."""
        return await self._group().fetch(partitions, timeout_ms)

    def fail_all(self, error: Exception) -> None:
        """Fail all commits, because the loop has failed. Called in the loop's thread."""
        for future in list(self._open):
            self._resolve(future, error)

    # In the caller's thread -------------------------------------------------------------------------------------------

    def begin_due(self) -> None:
        """Start the automatic commit that is due."""
        if self._schedule.take_due():
            timeout_ms = max(self._options.auto_commit_interval_ms, 1_000)
            offsets = self._subscription.all_consumed_offsets()
            self._submit(self._begin_automatic, offsets, timeout_ms)

    def begin_last(self, offsets: Offsets, timeout_ms: float) -> None:
        """Start an automatic commit for partitions that are being given up, with the current membership, on the loop.

        The caller does not wait for it, but `finish` does. A failure is logged.
        """
        generation = self._membership.generation if self._subscription.is_automatic else NO_GENERATION
        if self.is_automatic and offsets and (generation.is_valid or not self._subscription.is_automatic):
            self._spawn(self.commit_automatically(offsets, timeout_ms, generation=generation))

    def commit_later(self, offsets: Offsets, callback: Callback | None, timeout_ms: float) -> CommitFuture:
        """Commit without waiting; see `KafkaConsumer.commit_async`."""
        self._group()
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be a callable or None, not {callback!r}")
        future = CommitFuture(self._loop)
        chosen = callback if callback is not None else self._options.default_offset_commit_callback
        if not isinstance(offsets, ReadOffsets):  # the caller may change its own dict
            offsets = dict(offsets)
        self._open[future] = offsets, chosen
        try:
            self._submit(self._begin_commit, future, offsets, timeout_ms)
        except BaseException:
            self._open.pop(future, None)
            raise
        return future

    def group_metadata(self) -> ConsumerGroupMetadata:
        """Return the current membership; see `KafkaConsumer.group_metadata`."""
        if self._offsets is None:
            return ConsumerGroupMetadata()
        group_id, instance_id = self._options.group_id, self._options.group_instance_id
        try:
            generation = self._generation()
        except RebalanceInProgressError:
            state, generation = MemberState.REBALANCING, self._membership.last_generation
        except CommitFailedError:  # with the lost generation, the coordinator rejects the offsets
            state, generation = MemberState.UNJOINED, self._membership.last_generation
        else:
            state = MemberState.STABLE if generation.is_valid else MemberState.UNJOINED
        member = generation.is_valid or bool(generation.member_id)
        return ConsumerGroupMetadata(
            group_id, generation.generation_id, generation.member_id, instance_id if member else None, state
        )

    def next_call(self) -> Callable[[], Any] | None:
        """Return the next callback of a finished commit, bound to its arguments; None if there is none."""
        while self._done and not self._calls:
            offsets, error, callback, future = self._done[0]
            if future is not None and not future.is_done:
                break  # the loop is about to resolve the future, and will then notify the caller
            self._done.popleft()
            if error is None and self.on_committed is not None:
                self._calls.append(functools.partial(self.on_committed, offsets))
            if callback is not None:
                self._calls.append(functools.partial(callback, offsets, error))
            elif future is not None and error is not None and not future.has_callbacks and not future.was_looked_at:
                log.warning("commit_async of %d offsets failed: %s", len(offsets), error)
            if future is not None:
                self._calls.extend(future.calls())
        return self._calls.popleft() if self._calls else None

    # Internals --------------------------------------------------------------------------------------------------------

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _begin_automatic(self, offsets: Offsets, timeout_ms: float) -> None:
        self._spawn(self.commit_automatically(offsets, timeout_ms, resend=False))

    def _begin_commit(self, future: CommitFuture, offsets: Offsets, timeout_ms: float) -> None:
        self._spawn(self._commit_for(future, offsets, timeout_ms))

    async def _commit_for(self, future: CommitFuture, offsets: Offsets, timeout_ms: float) -> None:
        failure: Exception | None = None
        try:
            await self.commit(offsets, timeout_ms, resend=False)
        except asyncio.CancelledError:
            failure = CommitFailedError("the consumer was closed before the commit was done")
        except Exception as error:  # the future reports the error
            failure = error
        self._resolve(future, failure)

    def _resolve(self, future: CommitFuture, failure: Exception | None) -> None:
        """Store the callbacks, then resolve the future: the program may close the consumer once it sees the result."""
        found = self._open.pop(future, None)
        if found is not None:
            self._done.append((found[0], failure, found[1], future))
            future.resolve(failure)
            self._tell_caller()

    def _group(self) -> GroupOffsets:
        if self._offsets is None:
            raise AssertedStateError("committed offsets belong to a group: set group_id")
        return self._offsets

    def _generation(self) -> Generation:
        """Return the generation for a commit: that of the membership, or none if partitions are assigned manually."""
        return self._membership.commit_generation() if self._subscription.is_automatic else NO_GENERATION


_WHAT = "automatic commits"
_LEAST_MS = 100
"""Replaces an interval of 0, which would keep the loop busy; Java's consumer commits in each `poll` instead."""


class AutoCommitSchedule:
    """Decides when automatic commits are due, and logs failed ones.

    Runs on the loop, except `take_due`. A commit that failed with a transient error is due again after a pause.

    Arguments:
        interval_ms: ``auto_commit_interval_ms``; 0 counts as 100.
        backoff: pauses after failures, limited to the interval.
        tell_caller: called when a commit is due. Only the caller knows which records have been processed: all those
            returned before its next `poll()`.
    """

    def __init__(self, interval_ms: float, backoff: Backoff, tell_caller: Callable[[], None]) -> None:
        self._interval_s = (interval_ms or _LEAST_MS) / 1000
        self._backoff = backoff
        self._tell_caller = tell_caller
        self._timer: asyncio.TimerHandle | None = None
        self._running = False
        self._due = False
        self._failures = 0
        self._causes: dict[str, None] = {}
        self._limiter = LogLimiter(log)

    def start(self) -> None:
        """Start the timer for the first commit."""
        self._running = True
        self._arm(self._interval_s)

    def stop(self) -> None:
        """Stop the timer."""
        self._running = False
        if self._timer is not None:
            self._timer.cancel()

    def take_due(self) -> bool:
        """Return whether a commit is due, which the caller must then start. Called in the caller's thread."""
        due, self._due = self._due, False
        return due

    def succeeded(self) -> None:
        """Record that an automatic commit has succeeded."""
        self._failures = 0
        self._backoff.current_failures.over(_WHAT)
        for cause in self._causes:
            self._limiter.over(cause, f"automatic commits work again after {cause}")
        self._causes.clear()

    def failed(self, error: Exception, count: int, is_last: bool = False) -> None:
        """Record that an automatic commit has failed. No call raises the error, but the log and `health()` show it.

        Arguments:
            count: the number of offsets.
            is_last: whether no other commit for these partitions follows; the failure is then always logged.
        """
        self._failures += 1
        self._backoff.current_failures.failed(_WHAT, error, self._failures)
        text = f"auto commit of {count} offsets failed: {error}"
        passes = isinstance(error, RetriableCommitFailedError)
        if is_last and not passes:
            log.warning("%s", text)
        elif passes and self._failures == 1:
            log.debug("%s", text)
        else:
            cause = type(error.__cause__ if passes and error.__cause__ else error).__name__
            self._causes[cause] = None
            self._limiter.warning(cause, text)
        if passes and self._running:
            self._arm(min(self._backoff.seconds(self._failures), self._interval_s))

    def _arm(self, pause_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(pause_s, self._interval_over)

    def _interval_over(self) -> None:
        self._due = True
        self._tell_caller()
        self._arm(self._interval_s)
