"""`AIOKafkaConsumer`."""

import time
import warnings
from collections.abc import Callable, Coroutine, Iterable, Mapping
from types import SimpleNamespace, TracebackType
from typing import Any, Generic, Self, TypeVar, Unpack

from kafka.aio.abc import ConsumerRebalanceListener
from kafka.aio.attendant import Attendant, ToldListener
from kafka.aio.errors import ConsumerStoppedError, IllegalOperation
from kafka.aio.options import AIOConsumerConfigs, consumer_options, start
from kafka.aio.structs import as_offsets
from kafka.cluster.kafka_python_client import InnerName
from kafka.consumer._async.poll_loop import AsyncPollLoop
from kafka.consumer.arguments import check_offset
from kafka.consumer.async_consumer import AsyncKafkaConsumer
from kafka.consumer.buffer.fetch_buffer import NO_LIMIT
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.core import ConsumerCore
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import IllegalStateError, RecordDeserializationError
from kafka.health import Health
from kafka.record import ConsumerRecord
from kafka.record.records import Key, Value
from kafka.structs import OffsetAndTimestamp, TopicPartition

T = TypeVar("T")


class _Consumer(AsyncKafkaConsumer[Key, Value]):
    """Gives `AIOKafkaConsumer` access to internals."""

    @property
    def driver(self) -> AsyncPollLoop:
        """The poll loop; available once the consumer is started."""
        return self._poll_loop

    @property
    def core(self) -> ConsumerCore:
        """The consumer's core; available once the consumer is started."""
        return self._core

    @property
    def is_started(self) -> bool:
        """Whether `start` has been called."""
        return self._started

    def html(self, kind: str) -> str:
        """Return the client's health as HTML, for notebooks.

        Arguments:
            kind: the class name to display for the client.
        """
        return self._shown_as(kind)


class AIOKafkaConsumer(Generic[Key, Value]):
    """aiokafka's consumer: an `AsyncKafkaConsumer` that takes part in its group in the background.

    Arguments:
        topics: topics to subscribe to; if there are none, call `subscribe` or `assign`, before or after `start`.
        configs: see `AIOConsumerConfigs`.

    After `stop`, methods that return records raise `ConsumerStoppedError`; methods that change the subscription or a
    position only record the change. Methods that need a group raise `IllegalOperation` if the consumer has no group.
    Deserializer errors are raised unchanged, and are raised again for the same record until `seek` is called.
    """

    _closed = InnerName(lambda consumer: consumer._stopped)
    """This and the following are attributes of aiokafka's consumer that frameworks read."""
    _group_id = InnerName(lambda consumer: consumer._options.get("group_id"))
    _coordinator = InnerName(lambda consumer: consumer._consumer.group_metadata())
    """An object with the `member_id`."""
    _subscription = InnerName(lambda consumer: SimpleNamespace(topics=consumer.subscription()))

    def __init__(self, *topics: str, **configs: Unpack[AIOConsumerConfigs]) -> None:
        self._options = consumer_options(configs)
        self._has_group = self._options.get("group_id") is not None
        self._most = None if "max_poll_records" in self._options else NO_LIMIT
        self._consumer: _Consumer[Key, Value] = _Consumer(**self._options)
        self._attendant: Attendant | None = None
        self._listener: ToldListener | None = None
        self._before_start: list[Callable[[], None]] = []
        self._topics, self._assigned = frozenset[str](), frozenset[TopicPartition]()  # used before start()
        self._stopped = False
        if topics:
            self.subscribe(topics)

    # Starting and stopping --------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Connect to the cluster, and join the group if the consumer is subscribed. Raises `KafkaConnectionError`."""
        await start(self._consumer.start(), self._options)
        try:
            for call in self._before_start:
                call()
            self._attendant = Attendant(self._consumer.driver)
            if await self._will_have_partitions():
                await self._attendant.joined(self._options["request_timeout_ms"] / 1000)
        except BaseException:
            await self.stop()
            raise

    async def _will_have_partitions(self) -> bool:
        """Return whether partitions will be assigned; without a group, a topic must match the pattern."""
        subscription = self._consumer.core.subscription
        if self._has_group or subscription.pattern is None:
            return subscription.is_automatic
        await self._consumer.bootstrap(self._options["request_timeout_ms"], refresh=True)
        return bool(subscription.topics)

    async def stop(self) -> None:
        """Commit offsets if automatic commits are enabled, leave the group, and close the connections.

        Stopping a stopped consumer has no effect.
        """
        await self._stop()

    async def _stop(self, autocommit: bool = True) -> None:
        self._stopped = True
        if self._listener is not None:
            self._listener.silent = True
        try:
            await self._consumer.close(autocommit=autocommit)
        finally:
            attendant, self._attendant = self._attendant, None
            if attendant is not None:
                await attendant.stop()

    def health(self) -> Health:
        """Return the consumer's state; see `Health`. Any thread may call this; it neither waits nor raises."""
        return self._consumer.health()

    def _repr_html_(self) -> str:
        """Return the consumer's health as HTML, for notebooks. Any thread may call this; it sends no request."""
        return self._consumer.html(type(self).__name__)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the consumer. After an error, skip the automatic commit, so that unprocessed records are read again."""
        await self._stop(autocommit=kind is None)

    def __del__(self) -> None:
        if getattr(self, "_attendant", None) is not None:
            warnings.warn(
                f"{self!r} was never stopped: await stop(), or use 'async with'", ResourceWarning, stacklevel=2
            )

    # Subscribing ------------------------------------------------------------------------------------------------------

    def subscribe(
        self,
        topics: Iterable[str] | None = (),
        pattern: str | None = None,
        listener: ConsumerRebalanceListener | None = None,
    ) -> None:
        """Subscribe to topics, or to all topics that match a pattern; the group assigns their partitions.

        Arguments:
            topics: topic names; may be None if ``pattern`` is given, and cannot be combined with it.
            pattern: a regular expression that must match the whole topic name.
            listener: called when partitions are assigned or revoked.

        Raises `TypeError` or `ValueError` for invalid arguments, and `IllegalStateError` after `assign`.
        """
        if isinstance(topics, str) or not isinstance(topics, Iterable | None):
            raise TypeError(f"topics: expected a list of names, got {topics!r}")
        names = tuple(topics or ())
        if bool(names) == (pattern is not None):
            raise TypeError("subscribe() takes either topics or a pattern")
        if listener is not None and not isinstance(listener, ConsumerRebalanceListener):
            raise TypeError(f"listener: expected a ConsumerRebalanceListener, got {listener!r}")
        if self._assigned and not self._consumer.is_started:
            raise IllegalStateError("partitions were assigned with assign(); call unsubscribe() before subscribe()")
        told = None if listener is None else ToldListener(listener)

        def now() -> None:
            self._listener = told
            self._consumer.subscribe(names, pattern, told)

        self._topics = frozenset(names)
        self._do(now, lambda subscription: subscription.subscribe(names, pattern))

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read exactly these partitions from now on.

        Automatic commits for the previous partitions continue in the background. Raises `IllegalStateError` after
        `subscribe`.
        """
        wanted = [TopicPartition(*tp) for tp in partitions]

        def now() -> None:
            core = self._consumer.core
            core.subscription.check_unsubscribed()
            self._commit_before_change()
            core.assign(wanted)

        if self._topics and not self._consumer.is_started:
            raise IllegalStateError("topics are subscribed to; call unsubscribe() before assign()")
        self._assigned = frozenset(wanted)
        self._do(now, lambda subscription: subscription.assign_from_user(wanted))

    def unsubscribe(self) -> None:
        """Unsubscribe from all topics and partitions immediately, and leave the group in the background."""

        def now() -> None:
            core = self._consumer.core
            self._commit_before_change()
            if self._listener is not None:
                self._listener.silent = True
            core.unsubscribe()
            core.begin_to_leave_group()

        self._topics, self._assigned = frozenset(), frozenset()
        if not self._consumer.is_started:
            self._before_start.clear()
        self._do(now, lambda subscription: subscription.unsubscribe())

    def _do(self, now: Callable[[], None], after_stop: Callable[[SubscriptionState], object]) -> None:
        """Call `now` if the consumer is started. Otherwise, call it when the consumer starts.

        Arguments:
            after_stop: called instead if the consumer is stopped, because programs unsubscribe when they end; it only
                records the change.
        """
        if self._stopped:
            if self._consumer.is_started:
                after_stop(self._consumer.core.subscription)
            return
        if not self._consumer.is_started:
            self._before_start.append(now)
            return
        now()
        if self._attendant is not None:
            self._attendant.wake()

    def _commit_before_change(self) -> None:
        core = self._consumer.core
        core.commits.begin_last(core.consumed_offsets(), self._options["request_timeout_ms"])

    def subscription(self) -> frozenset[str]:
        """Return the subscribed topics, or the topics that currently match the pattern."""
        return frozenset(self._consumer.subscription() or ()) if self._consumer.is_started else self._topics

    def assignment(self) -> frozenset[TopicPartition]:
        """Return the partitions that this consumer is currently assigned."""
        return frozenset(self._consumer.assignment()) if self._consumer.is_started else self._assigned

    # Records ----------------------------------------------------------------------------------------------------------

    async def getone(self, *partitions: TopicPartition) -> ConsumerRecord[Key, Value]:
        """Return the next record from these partitions (default: all), waiting for it without a time limit."""
        self._check_running()
        return await self._ask(self._consumer.getone(*partitions))

    async def getmany(
        self,
        *partitions: TopicPartition,
        timeout_ms: float = 0,
        max_records: int | None = None,
        max_records_per_partition: int | None = None,
    ) -> dict[TopicPartition, list[ConsumerRecord[Key, Value]]]:
        """Return fetched records by partition; wait up to ``timeout_ms`` if none are available.

        Arguments:
            partitions: return only records from these partitions, which must be assigned; default: all.
            timeout_ms: maximum time to wait in milliseconds; with 0, the call does not wait.
            max_records: maximum number of records; None for ``max_poll_records``.
            max_records_per_partition: maximum number of records per partition; later calls return the rest in order.
        """
        self._check_running()
        most = self._most if max_records is None else max_records
        call = self._consumer.getmany(
            *partitions,
            timeout_ms=timeout_ms,
            max_records=most,
            max_records_per_partition=max_records_per_partition,
        )
        found = await self._ask(call)
        return dict(found.items())

    def __aiter__(self) -> Self:
        """Iterate over records until the consumer is stopped."""
        self._check_running()
        return self

    async def __anext__(self) -> ConsumerRecord[Key, Value]:
        try:
            return await self._ask(self._consumer.__anext__())
        except ConsumerStoppedError:
            raise StopAsyncIteration from None

    async def _ask(self, call: Coroutine[Any, Any, T]) -> T:
        """Await a call to the consumer, and translate its errors to aiokafka's."""
        try:
            return await call
        except RecordDeserializationError as error:
            raise (error.__cause__ or error) from None
        except IllegalStateError as error:
            if self._stopped:
                raise ConsumerStoppedError("the consumer is stopped") from error
            raise
        except Exception:
            if self._attendant is not None:
                self._attendant.wake()  # the background task waits until the error has been raised
            raise

    def _check_running(self) -> None:
        if self._stopped:
            raise ConsumerStoppedError("the consumer is stopped")

    # Positions --------------------------------------------------------------------------------------------------------

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Continue reading at ``offset``.

        Raises `IllegalStateError` if the partition is not assigned, and `ValueError` if the offset is invalid.
        """
        if not self._consumer.is_started and partition in self._assigned:
            self._do(lambda: self._consumer.seek(partition, offset), lambda _: None)
        elif self._stopped:
            self._state_of(partition).go_to(FetchPosition(check_offset(offset)))
        else:
            self._consumer.seek(partition, offset)

    async def seek_to_beginning(self, *partitions: TopicPartition) -> bool:
        """Continue at the first offset of these partitions (default: all assigned), which is looked up immediately."""
        self._consumer.seek_to_beginning(*partitions)
        return await self._find(partitions)

    async def seek_to_end(self, *partitions: TopicPartition) -> bool:
        """Continue at the end of these partitions (default: all assigned), which is looked up immediately."""
        self._consumer.seek_to_end(*partitions)
        return await self._find(partitions)

    async def seek_to_committed(self, *partitions: TopicPartition) -> dict[TopicPartition, int | None]:
        """Continue at the committed offsets, and return them. Partitions without one follow ``auto_offset_reset``.

        Arguments:
            partitions: assigned partitions; default: all of them.
        """
        self._check_group()
        there = await self._ask(self._consumer.committed(partitions or self.assignment()))
        found = {tp: None if each is None else each.offset for tp, each in there.items()}
        core = self._consumer.core
        for tp, offset in found.items():
            if offset is None:
                core.reset(core.subscription.assigned(tp), None)
            else:
                self._consumer.seek(tp, offset)
        return found

    async def _find(self, partitions: Iterable[TopicPartition]) -> bool:
        for tp in partitions or self.assignment():
            await self.position(tp)
        return True

    async def position(self, partition: TopicPartition) -> int:
        """Return the offset of the next record that will be returned.

        Arguments:
            partition: an assigned partition.
        """
        return await self._ask(self._consumer.position(partition))

    async def commit(self, offsets: Mapping[TopicPartition, Any] | None = None) -> None:
        """Commit the positions, or the given offsets.

        Arguments:
            offsets: by partition a number, a pair of a number and metadata, or an `OffsetAndMetadata`; None for the
                positions.
        """
        self._check_group()
        await self._ask(self._consumer.commit(None if offsets is None else as_offsets(offsets)))

    async def committed(self, partition: TopicPartition) -> int | None:
        """Return the group's last committed offset; None if there is none.

        Arguments:
            partition: a partition of any topic, assigned or not.
        """
        self._check_group()
        found = await self._ask(self._consumer.committed(partition))
        return None if found is None else found.offset

    async def beginning_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the first available offset of each partition.

        Arguments:
            partitions: the partitions, assigned or not.
        """
        return await self._ask(self._consumer.beginning_offsets(partitions))

    async def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the offset after the last record in each partition; with read_committed, the last stable offset.

        Arguments:
            partitions: the partitions, assigned or not.
        """
        return await self._ask(self._consumer.end_offsets(partitions))

    async def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """For each partition, return the offset and timestamp of the first record at or after a time, or None.

        Arguments:
            timestamps: the time to look up for each partition, in milliseconds since 1970.
        """
        return await self._ask(self._consumer.offsets_for_times(timestamps))

    def _check_group(self) -> None:
        self._check_running()
        if not self._has_group:
            raise IllegalOperation("committed offsets belong to a group: set group_id")

    # State ------------------------------------------------------------------------------------------------------------

    def pause(self, *partitions: TopicPartition) -> None:
        """Stop returning records from these partitions until `resume` is called."""
        if self._stopped:
            self._note_paused(partitions, True)
        else:
            self._consumer.pause(*partitions)

    def resume(self, *partitions: TopicPartition) -> None:
        """Return records from these partitions again, after `pause`, from their positions on."""
        if self._stopped:
            self._note_paused(partitions, False)
        else:
            self._consumer.resume(*partitions)

    def _note_paused(self, partitions: Iterable[TopicPartition], paused: bool) -> None:
        for state in [self._state_of(tp) for tp in partitions]:
            state.paused = paused

    def _state_of(self, tp: TopicPartition) -> PartitionState:
        """Return a partition's state, even after `stop`. Raises `IllegalStateError` for an unassigned partition."""
        return self._consumer.core.subscription.assigned(tp)

    def paused(self) -> frozenset[TopicPartition]:
        """Return the assigned partitions that `pause` has paused and `resume` has not resumed."""
        return frozenset(self._consumer.paused())

    def highwater(self, partition: TopicPartition) -> int | None:
        """Return the high watermark according to the last fetch response.

        Arguments:
            partition: an assigned partition.
        """
        return self._state_of(partition).fetching.highwater

    def current_lag(self, partition: TopicPartition) -> int | None:
        """Return the number of offsets between the position and the end of the log; None if either is unknown.

        The end is taken from the last fetch response. It is the high watermark or, with
        ``isolation_level="read_committed"``, the last stable offset.

        Arguments:
            partition: an assigned partition.
        """
        return self._consumer.current_lag(partition)

    def last_stable_offset(self, partition: TopicPartition) -> int | None:
        """Return the last stable offset from the last fetch response: all transactions before it have ended.

        Arguments:
            partition: an assigned partition.
        """
        return self._state_of(partition).fetching.last_stable_offset

    def last_poll_timestamp(self, partition: TopicPartition) -> int | None:
        """Return the time of the last call that requested records from any partition, in milliseconds since 1970."""
        core = self._consumer.core
        core.subscription.assigned(partition)
        idle_s = core.clock.idle(self._consumer.driver.runner.time())
        return int((time.time() - idle_s) * 1000)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the numbers of a topic's partitions from cached metadata; None if the topic is unknown."""
        return self._consumer.core.client.metadata.partitions_for_topic(topic)

    async def topics(self) -> set[str]:
        """Return all topics that this client is authorized to see, except internal ones."""
        return await self._ask(self._consumer.topics())
