"""The share consumer's calls that wait or run the user's callback."""

import functools
import weakref
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import UUID

from kafka.config import ShareConfig
from kafka.consumer.arguments import check_max_records, check_timeout, check_topic_names
from kafka.consumer.core import LEAVE_WAIT_MS
from kafka.consumer.records.build_records import ConsumerRecords
from kafka.consumer.runners.loop_runner import LoopRunner
from kafka.consumer.share.base_share_consumer import CLOSE_TIMEOUT_MS, BaseShareConsumer
from kafka.consumer.share.core import ShareCore
from kafka.consumer.share.materializer import ShareConsumerRecord, to_arrow
from kafka.consumer.share.piece import Piece
from kafka.errors import KafkaTimeoutError
from kafka.health import meanwhile
from kafka.record import Columns
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    import pyarrow

Result = TypeVar("Result")

_NO_LIMIT = 2**31 - 1
_ABANDONED_CLOSE_MS = 1_000


class AsyncShareCalls(BaseShareConsumer):
    """The calls of `AsyncKafkaShareConsumer` that wait or run the user's callback."""

    def _make_poll_loop(self, config: ShareConfig) -> None:
        runner = LoopRunner()
        runner.owner = type(self).__name__
        self._core = ShareCore(config, runner, runner.loop)
        self._runner = runner
        self._abandon = functools.partial(_abandon, self._core, runner)
        weakref.finalize(self, self._abandon).atexit = False

    # Topics -----------------------------------------------------------------------------------------------------------

    async def subscribe(self, topics: Iterable[str]) -> None:
        """Read these topics as a member of the group; replaces an earlier subscription. None calls `unsubscribe`.

        Arguments:
            topics: topic names. Share groups do not support patterns.

        Raises `IllegalStateError` if the consumer is closed, `TypeError` and `IllegalArgumentError` for invalid names.
        """
        self._check_mine()
        wanted = check_topic_names(topics)
        if not wanted:
            await self.unsubscribe()
            return
        self._core.subscription.subscribe(wanted, None, None)
        self._core.subscribe(wanted)

    async def unsubscribe(self) -> None:
        """Stop reading, and leave the group; records already returned can still be acknowledged.

        Waits up to one second for the coordinator.
        """
        self._check_mine()
        self._core.subscription.unsubscribe()
        await self._runner.run(self._core.leave_group(LEAVE_WAIT_MS), LEAVE_WAIT_MS)

    # Records ----------------------------------------------------------------------------------------------------------

    async def poll(self, timeout_ms: float = 0, max_records: int | None = None) -> ConsumerRecords:
        """Return records that were acquired for this consumer; wait for some if there are none.

        With ``share_acknowledgement_mode='implicit'``, this accepts the records of the last call; with 'explicit', all
        of those must have been acknowledged. A record whose lock was renewed is returned again.

        Arguments:
            timeout_ms: how long to wait for records; 0 does not wait. Records that arrive later are kept for the next
                call.
            max_records: the number of records to acquire; None: ``max_poll_records``. With
                ``share_acquire_mode='batch_optimized'`` there may be more, because whole batches are acquired.

        Returns `ConsumerRecords`, a dict of `TopicPartition` to lists of `ShareConsumerRecord`, empty after a timeout.
        Iteration and `len` cover the records of all partitions.

        Raises `IllegalStateError` without a subscription, for records that are not acknowledged, and while another call
        is in progress; `RecordDeserializationError` and `CorruptRecordError`, after which the next call continues
        after the record; `UnsupportedVersionError` if the brokers do not support share groups,
        `TopicAuthorizationFailedError`, `GroupAuthorizationFailedError`, `WakeupError` after a `wakeup()`, and
        exceptions of the callback.
        """
        most = self._core.config.share.max_poll_records if max_records is None else check_max_records(max_records)
        make = functools.partial(self._materializer.records, self._core)
        return await self._hand_over(make, timeout_ms, most)

    async def poll_arrow(self, timeout_ms: float = 0, max_records: int | None = None) -> "pyarrow.RecordBatch":
        """Like `poll`, but return one Arrow batch, empty after a timeout.

        Columns: topic, partition, offset, timestamp (ms, UTC), timestamp_type, key, value, headers, delivery_count. No
        Python object is created for each record. Requires the extra "arrow".

        Arguments:
            timeout_ms: how long to wait for records; 0 does not wait.
            max_records: the number of records to acquire; None: as many as the brokers return.
        """
        most = _NO_LIMIT if max_records is None else check_max_records(max_records)
        return await self._hand_over(to_arrow, timeout_ms, most)

    async def poll_columns(self, timeout_ms: float = 0, max_records: int | None = None) -> list[Columns]:
        """Like `poll`, but return columns instead of records; an empty list after a timeout.

        A partition may have several `Columns`, in order: each was acquired separately, and its rows have the same
        delivery count. `acknowledge` accepts the topic, partition and offset of a row.

        Arguments:
            timeout_ms: how long to wait for records; 0 does not wait.
            max_records: the number of records to acquire; None: ``max_poll_records``.
        """
        most = self._core.config.share.max_poll_records if max_records is None else check_max_records(max_records)
        return await self._hand_over(_columns, timeout_ms, most)

    def __aiter__(self) -> Self:
        """Iterate over records, endlessly or until none has arrived for ``consumer_timeout_ms``.

        In implicit mode, a record is accepted when iteration or another call takes the next records. Another call first
        returns the records that iteration has not returned yet.
        """
        self._core.check_open()
        return self

    async def __anext__(self) -> ShareConsumerRecord:
        """Return the next record.

        Raises `StopAsyncIteration` if none arrived within ``consumer_timeout_ms``, or if the consumer is closed.
        """
        while True:
            if self._core.events.pending:
                self._runner.check()
            for record in self._rest:
                assert self._current is not None
                self._current.handed += 1
                return record
            if self._core.closed or not await self._load():
                raise StopAsyncIteration

    async def _load(self) -> bool:
        """Load more records once iteration has returned those already loaded. Returns False if there are none."""
        while self._loaded and self._core.lock_is_over(self._loaded[0]):
            self._core.in_flight.drop(self._loaded.popleft())
        if not self._loaded:
            options = self._core.config.share
            taken = await self._hand_over(list, options.consumer_timeout_ms, options.max_poll_records, True)
            self._loaded.extend(piece for piece in taken if len(piece))
            if not self._loaded:
                return False
        piece, in_flight = self._loaded[0], self._core.in_flight
        records, failed = self._materializer.made(piece)
        if failed is not None and not records:
            self._materializer.check_about_record(piece, failed)
        self._loaded.popleft()
        if failed is not None:
            rest = in_flight.cut(piece, failed.row or 1)
            if rest is not None:
                self._loaded.appendleft(rest)
            if not records:
                in_flight.drop(piece)
                raise self._materializer.refuse(self._core, piece, failed)
        self._current, self._rest = piece, iter(records)
        return True

    async def _hand_over(
        self, make: Callable[[list[Piece]], Result], timeout_ms: float, max_records: int, one_by_one: bool = False
    ) -> Result:
        """Return the result of calling ``make`` with the next pieces, which belong to the program from then on."""
        core = self._core
        self._check_mine()
        before: list[Piece] | None = None
        try:
            with self._runner.poll_guard:
                try:
                    self._in_a_call = True
                    self._stop_iteration()
                    taken = await self._take(check_timeout(timeout_ms), max_records)
                    before = core.in_flight.pieces
                    made = make(taken)
                    core.handed_out(taken, one_by_one)
                finally:
                    self._in_a_call = False
        except BaseException:
            if before is not None:
                core.taken_back(before)
            raise
        return made

    async def _take(self, timeout_ms: float, max_records: int) -> list[Piece]:
        """Return the next pieces without removing them; none after a timeout. Raises `WakeupError`."""
        core, runner = self._core, self._runner
        runner.check()
        now = runner.time()
        core.raise_error()
        await self._run_callback()
        core.begin_poll(now)
        try:
            deadline = now + timeout_ms / 1000
            asks = not core.has_records()
            core.send_acknowledgements(max_records if asks else 0)
            while True:
                runner.clear()
                core.raise_wakeup()
                taken = core.take(max_records)
                if any(map(len, taken)):
                    return taken
                if taken:  # there are only offsets without records, which are acknowledged but not returned
                    core.handed_out(taken)
                    core.send_acknowledgements()
                if core.closed:
                    return []
                if core.events.pending:
                    core.raise_error()
                await self._run_callback()
                left = deadline - runner.time() if timeout_ms else 0.0
                if left <= 0:
                    await runner.yield_to_loop()
                    return []
                if not asks:
                    runner.submit(core.fetcher.fetch, max_records)
                asks = False
                await runner.wait(left)
        finally:
            core.clock.end(runner.time())

    async def _run_callback(self) -> None:
        """Report the results of acknowledgements to the callback. Raises its exceptions."""
        outcomes = self._core.fetcher.outcomes
        while outcomes and self._callback is not None:
            acks = outcomes.popleft()
            await self._runner.call(self._callback, {acks.tp: acks.offsets()}, acks.error)

    # Acknowledging ----------------------------------------------------------------------------------------------------

    async def commit(self, timeout_ms: float | None = None) -> dict[TopicPartition, Exception | None]:
        """Send acknowledgements (with 'implicit', accept all returned records), and wait for the results.

        Arguments:
            timeout_ms: how long to wait; None: ``default_api_timeout_ms``.

        Returns, for each partition with acknowledgements, None or the error: `InvalidRecordStateError` if a lock had
        expired, `KafkaTimeoutError` if no response arrived in time. Records whose acknowledgement failed are delivered
        again.

        Raises `IllegalStateError` if the consumer is closed, and exceptions of the callback.
        """
        limit = self._api_timeout_ms if timeout_ms is None else check_timeout(timeout_ms)
        self._check_mine()
        self._settle()
        core, runner = self._core, self._runner
        acks = core.send_acknowledgements()
        try:
            self._in_a_call = True
            if acks:
                await runner.run(core.fetcher.outcome(acks, limit), limit)
            await self._run_callback()
        finally:
            self._in_a_call = False
        results: dict[TopicPartition, Exception | None] = {}
        why = meanwhile(core.health().failing)
        for each in acks:
            late = None if each.done else KafkaTimeoutError(f"the broker has not answered within {limit} ms{why}")
            results[each.tp] = results.get(each.tp) or each.error or late
        return results

    async def commit_sync(self, timeout_ms: float | None = None) -> dict[TopicPartition, Exception | None]:
        """Like `commit`, under Java's name.

        Arguments:
            timeout_ms: how long to wait for the brokers; None: ``default_api_timeout_ms``.
        """
        return await self.commit(timeout_ms)

    # Lifecycle --------------------------------------------------------------------------------------------------------

    async def client_instance_id(self, timeout_ms: float | None = None) -> UUID:
        """Return the id that brokers assigned to this client for its metrics; it never changes (KIP-714, Kafka 3.7).

        Arguments:
            timeout_ms: how long to wait for the id; None: ``default_api_timeout_ms``.

        Raises `UnsupportedVersionError` if no broker accepts client metrics, `KafkaTimeoutError`, and
        `IllegalStateError` with ``enable_metrics_push=False``.
        """
        self._core.check_open()
        limit_ms = self._api_timeout_ms if timeout_ms is None else check_timeout(timeout_ms)
        return await self._runner.run(self._core.telemetry.client_instance_id(limit_ms), limit_ms)

    async def close(self, timeout_ms: float | None = None) -> None:
        """Send acknowledgements, release all other records, leave the group, close connections and deserializers.

        As in Java, closing accepts nothing: the records from the last `poll()` are delivered again unless `commit` was
        called. Closing a closed consumer does nothing. A call from another thread or task waits for the first call.

        Arguments:
            timeout_ms: how long closing may take; None: 30 seconds.

        Raises `KafkaTimeoutError` if another thread or task is still closing the consumer after that time.
        """
        limit = CLOSE_TIMEOUT_MS if timeout_ms is None else check_timeout(timeout_ms)
        if self._started:
            await self._runner.close_once(functools.partial(self._close, limit), limit)

    async def _close(self, timeout_ms: float) -> None:
        core, runner = self._core, self._runner
        deadline = runner.time() + timeout_ms / 1000
        try:
            core.send_acknowledgements()
            core.closed = core.events.pending = True
            runner.notify()
            await runner.run_through(core.close(timeout_ms), max((deadline - runner.time()) * 1000, 0.0))
        finally:
            try:
                self._in_a_call = True  # so that the callback cannot call the consumer
                await self._run_callback()
            finally:
                self._deserializers.close()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the consumer."""
        await self.close()


def _columns(pieces: list[Piece]) -> list[Columns]:
    return [piece.columns for piece in pieces if len(piece)]


def _abandon(core: Any, runner: LoopRunner) -> None:
    """Close a consumer that is no longer referenced, without waiting."""
    if not core.close_begun:
        core.closed = True
        runner.abandon(functools.partial(core.close, _ABANDONED_CLOSE_MS))
