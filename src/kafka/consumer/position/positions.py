"""Finds out where to read on: the committed offset, or the start or end of the log. Runs on the loop."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping

from kafka.cluster import Backoff
from kafka.consumer.handover.partition_state import PartitionState
from kafka.consumer.position.list_offsets import OffsetLookup
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import KafkaError, NoOffsetForPartitionError
from kafka.structs import OffsetAndMetadata, TopicPartition

log = logging.getLogger(__name__)

FetchCommitted = Callable[[Iterable[TopicPartition]], Awaitable[Mapping[TopicPartition, OffsetAndMetadata]]]
_ROUND_MS = 30_000
"""How long one round may take before its requests are made anew."""


class PositionResolver:
    """Gives each assigned partition that has no position one, for as long as it takes.

    Arguments:
        subscription: what is assigned.
        committed: reads committed offsets; None without a group.
        lookup: asks for the ends of the log.
        strategy: the timestamp that ``auto_offset_reset`` stands for, None for "none".
        found: called with a partition, the generation it was resolved under, and the offset.
        failed: called with what is not retriable; resolving rests until `kick` is called again.
        backoff: pauses between attempts.
    """

    def __init__(
        self,
        subscription: SubscriptionState,
        committed: FetchCommitted | None,
        lookup: OffsetLookup,
        strategy: int | None,
        found: Callable[[PartitionState, int, int], None],
        failed: Callable[[KafkaError], None],
        backoff: Backoff,
    ) -> None:
        self._subscription = subscription
        self._committed = committed
        self._lookup = lookup
        self._strategy = strategy
        self._found = found
        self._failed = failed
        self._backoff = backoff
        self._task: asyncio.Task[None] | None = None
        self._again = False
        self._waiters: set[asyncio.Future[None]] = set()

    def kick(self) -> None:
        """Some partition may lack a position: see to it."""
        self._again = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="find positions")

    def close(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
        self._wake()

    async def next_round(self) -> None:
        """Wait until something has been found out, or has failed."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)

    async def _run(self) -> None:
        failures = 0
        while True:
            self._again = False
            lacking = [state for state in self._subscription.states() if state.position is None]
            if not lacking:
                self._wake()
                if not self._again:
                    return
                continue
            try:
                left = await self._resolve(lacking)
            except KafkaError as error:
                if not error.retriable:
                    self._failed(error)
                    self._wake()
                    return
                log.info("finding the positions of %d partitions, trying again: %s", len(lacking), error)
                left = len(lacking)
            self._wake()
            failures = failures + 1 if left else 0
            if left:
                await asyncio.sleep(self._backoff.seconds(failures))

    async def _resolve(self, lacking: list[PartitionState]) -> int:
        """One round; returns how many partitions still lack a position."""
        generations = {state: state.generation for state in lacking}
        resets = {state: state.reset for state in lacking if state.reset is not None}
        plain = [state for state in lacking if state not in resets]
        without: list[PartitionState] = plain
        if plain and self._committed is not None:
            committed = await self._committed([state.tp for state in plain])
            for state in plain:
                if state.tp in committed:
                    self._found(state, generations[state], committed[state.tp].offset)
            without = [state for state in plain if state.tp not in committed]
        error: KafkaError | None = None
        if without and self._strategy is None:
            error = NoOffsetForPartitionError([state.tp for state in without])
        elif self._strategy is not None:
            resets.update(dict.fromkeys(without, self._strategy))
        left = await self._reset(resets, generations)
        if error is not None:
            raise error
        return left

    async def _reset(self, resets: dict[PartitionState, int], generations: dict[PartitionState, int]) -> int:
        if not resets:
            return 0
        timestamps = {state.tp: timestamp for state, timestamp in resets.items()}
        result = await self._lookup.once(timestamps, _ROUND_MS)
        for state in resets:
            offset = result.offsets.get(state.tp)
            if offset is not None:
                self._found(state, generations[state], max(offset.offset, 0))
        if result.failed:
            tp, why = next(iter(result.failed.items()))
            log.debug("no start offset yet for %d partitions, of %s because %s", len(result.failed), tp, why)
            await self._lookup.renew(result.failed)
        return len(result.failed)

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
