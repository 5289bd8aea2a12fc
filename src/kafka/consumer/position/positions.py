"""Finds the position to start from: the committed offset, or the start or end of the log. Runs on the loop.

Each partition is looked up separately, so that an unresponsive or refusing leader delays only its own partitions. A
seek restarts the lookup.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Protocol
from uuid import UUID

from kafka.cluster import RetryPolicy
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.position.offset_requests import ListOffsets
from kafka.consumer.position.offset_search import OffsetSearch
from kafka.consumer.position.special_timestamps import LATEST
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import IllegalStateError, NoOffsetForPartitionError, TopicAuthorizationFailedError
from kafka.structs import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

FetchCommitted = Callable[[Iterable[TopicPartition]], Awaitable[Mapping[TopicPartition, OffsetAndMetadata]]]


class ResolverListener(Protocol):
    """The listener of a `PositionResolver`. Called on the loop."""

    def start_timestamp(self, tp: TopicPartition) -> int | None:
        """Return the timestamp for the current reset policy of a partition; None for the policy "none"."""

    def topic_id(self, topic: str) -> UUID | None:
        """Return the current id of a topic; None if unknown."""

    def position_found(self, state: PartitionState, generation: int, position: FetchPosition) -> None:
        """Called with the result of a lookup that began under ``generation``."""

    def position_failed(self, error: Exception) -> None:
        """Called with a permanent error. Its partitions are looked up again by the next `PositionResolver.resolve`."""


class PositionResolver:
    """Finds a position for each assigned partition that has none, and retries until it succeeds.

    Arguments:
        subscription: the assignment.
        committed: reads committed offsets; None without a group.
        requests: looks up the ends of the log.
        listener: knows the reset policy and the topics, and receives positions. A position found in a topic whose id
            has changed is looked up again.
        policy: decides which errors are fatal, how long to pause, and what to log.
    """

    def __init__(
        self,
        subscription: SubscriptionState,
        committed: FetchCommitted | None,
        requests: ListOffsets,
        listener: ResolverListener,
        policy: RetryPolicy,
    ) -> None:
        self._subscription = subscription
        self._committed = committed
        self._listener = listener
        self._policy = policy
        self._search = OffsetSearch(requests, policy)
        self._under_way: dict[PartitionState, int] = {}
        """The partitions being looked up, and the generation of each lookup."""
        self._refusals: dict[PartitionState, int] = {}
        """The number of consecutive refusals of each partition."""
        self._waiters: dict[PartitionState, list[asyncio.Future[None]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._is_due = False

    def resolve_soon(self) -> None:
        """Schedule one `resolve` for all calls made before it runs; a caller may seek in thousands of partitions."""
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._resolve_now)

    def _resolve_now(self) -> None:
        self._is_due = False
        self.resolve()

    def resolve(self) -> None:
        """Look up the partitions that have no position and are not being looked up."""
        if self._closed:
            return
        without = [state for state in self._subscription.states() if state.position is None]
        self._refusals = {state: self._refusals[state] for state in without if state in self._refusals}
        lacking = [state for state in without if self._under_way.get(state) != state.generation]
        for refusals in {self._refusals.get(state, 0) for state in lacking}:
            self._begin([state for state in lacking if self._refusals.get(state, 0) == refusals], refusals)

    def close(self) -> None:
        """Stop all lookups."""
        self._closed = True
        self._search.close()
        for task in self._tasks:
            task.cancel()
        for state in list(self._waiters):
            self._wake(state, None)

    async def outcome(self, state: PartitionState) -> None:
        """Wait for the result of a partition's lookup.

        Raises a permanent error of the lookup, and `IllegalStateError` once the consumer is closed.
        """
        self.resolve()
        if state.position is not None:
            return
        if self._closed:
            raise IllegalStateError("the consumer is closed")
        waiter = asyncio.get_running_loop().create_future()
        waiters = self._waiters.setdefault(state, [])
        waiters.append(waiter)
        try:
            await waiter
        finally:
            waiters.remove(waiter)
            if not waiters and self._waiters.get(state) is waiters:
                del self._waiters[state]

    def moved(self, state: PartitionState) -> None:
        """Record that a partition has received a position by other means."""
        self._wake(state, None)

    # Internals --------------------------------------------------------------------------------------------------------

    def _begin(self, states: list[PartitionState], refusals: int) -> None:
        self._under_way.update((state, state.generation) for state in states)
        resets = {state: state.reset for state in states if state.reset is not None}
        plain = [state for state in states if state not in resets]
        if plain and self._committed is not None:
            lookup = _Lookup(self, plain)
            self._spawn(self._from_committed(self._committed, lookup, refusals))
        elif plain:
            self._from_strategy(_Lookup(self, plain), refusals)
        if resets:
            timestamps = {state.tp: timestamp for state, timestamp in resets.items()}
            self._search.begin(timestamps, _Lookup(self, resets), refusals)

    async def _from_committed(self, committed: FetchCommitted, lookup: "_Lookup", failures: int) -> None:
        what = "reading committed offsets"
        while True:
            await asyncio.sleep(self._policy.pause_s(failures))
            wanted = lookup.still_wanted()
            if not wanted:
                return
            try:
                offsets = await committed(wanted)
            except Exception as error:
                if self._policy.is_fatal(error):
                    lookup.refuse(_concerned(wanted, error), error)
                    continue  # continue with the remaining partitions
                failures += 1
                self._policy.tell_failure(what, error, failures)
            else:
                break
        self._policy.tell_success(what)
        for tp, offset in offsets.items():
            if lookup.wants(tp):
                lookup.found(tp, OffsetAndTimestamp(offset.offset, -1, offset.leader_epoch))
        self._from_strategy(lookup, 0)

    def _from_strategy(self, lookup: "_Lookup", failures: int) -> None:
        lookup.go_on_where_left()
        timestamps = {tp: self._listener.start_timestamp(tp) for tp in lookup.still_wanted()}
        without = [tp for tp, timestamp in timestamps.items() if timestamp is None]
        if without:
            lookup.refuse(without, NoOffsetForPartitionError(without))
        chosen = {tp: timestamp for tp, timestamp in timestamps.items() if timestamp is not None}
        if chosen:
            self._search.begin(chosen, lookup, failures)

    def search_end(self, tp: TopicPartition, lookup: "_Lookup") -> None:
        """Look up the end of the log, because no record is at or after the requested timestamp."""
        self._search.begin({tp: LATEST}, lookup)

    def is_under_way(self, state: PartitionState, generation: int) -> bool:
        """Return whether a partition still waits for the lookup that began under ``generation``."""
        if self._under_way.get(state) != generation:
            return False
        current = state.generation == generation and state.position is None
        if current and self._subscription.state_of(state.tp) is state:
            return True
        self._settle(state, None)
        return False

    def topic_id(self, tp: TopicPartition) -> UUID | None:
        """See `ResolverListener`."""
        return self._listener.topic_id(tp.topic)

    def take(self, state: PartitionState, generation: int, position: FetchPosition, topic_id: UUID | None) -> None:
        """Set the position of a partition, found in the topic with this id (None: unknown)."""
        if topic_id is not None and topic_id != self.topic_id(state.tp):
            state.left_at = None
            del self._under_way[state]
            self.resolve_soon()
            return
        self._refusals.pop(state, None)
        self._listener.position_found(state, generation, position)
        self._settle(state, None)

    def refuse(self, states: Iterable[PartitionState], error: Exception) -> None:
        """Handle a permanent error: raise it in waiting calls, or pass it to the listener if no calls are waiting."""
        waited_for = True
        for state in states:
            self._refusals[state] = self._refusals.get(state, 0) + 1
            waited_for &= self._settle(state, error)
        if not waited_for:
            self._listener.position_failed(error)

    def _settle(self, state: PartitionState, error: Exception | None) -> bool:
        self._under_way.pop(state, None)
        return self._wake(state, error)

    def _wake(self, state: PartitionState, error: Exception | None) -> bool:
        waiters = self._waiters.pop(state, [])
        for waiter in waiters:
            if not waiter.done() and error is None:
                waiter.set_result(None)
            elif not waiter.done() and error is not None:
                waiter.set_exception(error)
        return bool(waiters)

    def _spawn(self, coroutine: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name="find positions")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _concerned(partitions: list[TopicPartition], error: Exception) -> list[TopicPartition]:
    """Return the partitions that an error concerns: those in the topics that it names, or all if it names none."""
    topics = error.args[0] if isinstance(error, TopicAuthorizationFailedError) and error.args else None
    return [tp for tp in partitions if isinstance(topics, set) and tp.topic in topics] or partitions


class _Lookup:
    """Partitions that are looked up together, each with its generation. The `SearchListener` for their search."""

    def __init__(self, resolver: PositionResolver, states: Iterable[PartitionState]) -> None:
        self._resolver = resolver
        self._states = {state.tp: (state, state.generation) for state in states}
        self._topic_ids = {tp: resolver.topic_id(tp) for tp in self._states}
        self._without_record: set[TopicPartition] = set()

    def still_wanted(self) -> list[TopicPartition]:
        return [tp for tp in self._states if self.wants(tp)]

    def go_on_where_left(self) -> None:
        """Use `PartitionState.left_at`, because the group has committed nothing."""
        for tp in self.still_wanted():
            state, generation = self._states[tp]
            if state.left_at is not None:
                self._resolver.take(state, generation, state.left_at, self._topic_ids[tp])

    def wants(self, tp: TopicPartition) -> bool:
        return self._resolver.is_under_way(*self._states[tp])

    def found(self, tp: TopicPartition, offset: OffsetAndTimestamp) -> None:
        if offset.offset < 0 and tp not in self._without_record:
            self._without_record.add(tp)
            self._resolver.search_end(tp, self)
            return
        state, generation = self._states[tp]
        epoch = -1 if offset.leader_epoch is None else offset.leader_epoch
        self._resolver.take(state, generation, FetchPosition(max(offset.offset, 0), epoch), self._topic_ids[tp])

    def refused(self, tp: TopicPartition, error: Exception) -> None:
        self.refuse([tp], error)

    def refuse(self, partitions: Iterable[TopicPartition], error: Exception) -> None:
        self._resolver.refuse([self._states[tp][0] for tp in partitions], error)

    def failed(self, tp: TopicPartition, error: Exception) -> None:
        """Do nothing: the search tries again."""
