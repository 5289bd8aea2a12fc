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
from kafka.record import ConsumerRecord
from kafka.record.records import Key, Value
from kafka.structs import OffsetAndTimestamp, TopicPartition

T = TypeVar("T")


class _Consumer(AsyncKafkaConsumer[Key, Value]):
    """The consumer below, with its inside for `AIOKafkaConsumer`."""

    @property
    def driver(self) -> AsyncPollLoop:
        """Its driver, once it is started."""
        return self._poll_loop

    @property
    def core(self) -> ConsumerCore:
        """Its core, once it is started."""
        return self._core

    @property
    def is_started(self) -> bool:
        """Whether `start` was called."""
        return self._started

    def html(self, kind: str) -> str:
        """What a notebook shows of the client.

        Arguments:
            kind: what it is called there.
        """
        return self._shown_as(kind)


class AIOKafkaConsumer(Generic[Key, Value]):
    """aiokafka's consumer: an `AsyncKafkaConsumer` that takes part in its group in the background.

    Arguments:
        topics: to subscribe to; without any, call `subscribe` or `assign`, before `start` or after.
        configs: see `AIOConsumerConfigs`.

    After `stop` what gives records raises `ConsumerStoppedError`, and what changes the subscription or a position is
    only noted. What needs a group raises `IllegalOperation` without one.
    What a deserializer raises is raised as it is, for the same record again and again until a `seek`.
    """

    _closed = InnerName(lambda consumer: consumer._stopped)
    """For frameworks that ask it of aiokafka's consumer, like what follows."""
    _group_id = InnerName(lambda consumer: consumer._options.get("group_id"))
    _coordinator = InnerName(lambda consumer: consumer._consumer.group_metadata())
    """It has the `member_id`."""
    _subscription = InnerName(lambda consumer: SimpleNamespace(topics=consumer.subscription()))

    def __init__(self, *topics: str, **configs: Unpack[AIOConsumerConfigs]) -> None:
        self._options = consumer_options(configs)
        self._has_group = self._options.get("group_id") is not None
        self._most = None if "max_poll_records" in self._options else NO_LIMIT
        self._consumer: _Consumer[Key, Value] = _Consumer(**self._options)
        self._attendant: Attendant | None = None
        self._listener: ToldListener | None = None
        self._before_start: list[Callable[[], None]] = []
        self._topics, self._assigned = frozenset[str](), frozenset[TopicPartition]()  # before the start
        self._stopped = False
        if topics:
            self.subscribe(topics)

    # Life -------------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Find the cluster, and join the group if there is a subscription; raises `KafkaConnectionError`."""
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
        """Whether partitions will be assigned: a pattern that no topic matches gets none without a group."""
        subscription = self._consumer.core.subscription
        if self._has_group or subscription.pattern is None:
            return subscription.is_automatic
        await self._consumer.bootstrap(self._options["request_timeout_ms"], refresh=True)
        return bool(subscription.topics)

    async def stop(self) -> None:
        """Commit if that is automatic, leave the group, close the connections. Does nothing the second time."""
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

    def _repr_html_(self) -> str:
        """What a notebook shows of the consumer: its health. In any thread; asks no broker."""
        return self._consumer.html(type(self).__name__)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop; after an error, without an automatic commit, so that unfinished records are read again."""
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
        """Have the group assign partitions of topics, or of those that a pattern matches; see `KafkaConsumer`.

        Arguments:
            topics: by name; not together with ``pattern``, with which it may be None.
            pattern: a regular expression that the whole name of a topic has to match.
            listener: told when partitions are assigned and taken away.

        Raises `TypeError`, `IllegalStateError` after `assign`, and `ValueError`.
        """
        if isinstance(topics, str) or not isinstance(topics, Iterable | None):
            raise TypeError(f"topics are a list of names, not {topics!r}")
        names = tuple(topics or ())
        if bool(names) == (pattern is not None):
            raise TypeError("subscribe() takes either topics or a pattern")
        if listener is not None and not isinstance(listener, ConsumerRebalanceListener):
            raise TypeError(f"a listener is a ConsumerRebalanceListener, not {listener!r}")
        if self._assigned and not self._consumer.is_started:
            raise IllegalStateError("partitions were assigned by hand; call unsubscribe() before subscribe()")
        told = None if listener is None else ToldListener(listener)

        def now() -> None:
            self._listener = told
            self._consumer.subscribe(names, pattern, told)

        self._topics = frozenset(names)
        self._do(now, lambda subscription: subscription.subscribe(names, pattern))

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read exactly these partitions, at once; automatic commits of the previous ones continue in the background.

        Raises `IllegalStateError` after `subscribe`.
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
        """Give up all topics and partitions, at once; the group is left in the background."""

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
        """Call `now` if the consumer is started. Otherwise, keep it until the consumer starts.

        Arguments:
            after_stop: called instead once the consumer is stopped, as programs unsubscribe when they end. It only
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
        """The topics subscribed to, or that match the pattern now."""
        return frozenset(self._consumer.subscription() or ()) if self._consumer.is_started else self._topics

    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that this consumer reads now."""
        return frozenset(self._consumer.assignment()) if self._consumer.is_started else self._assigned

    # Records ----------------------------------------------------------------------------------------------------------

    async def getone(self, *partitions: TopicPartition) -> ConsumerRecord[Key, Value]:
        """The next record, of these partitions or of any, however long that takes."""
        self._check_running()
        return await self._ask(self._consumer.getone(*partitions))

    async def getmany(
        self,
        *partitions: TopicPartition,
        timeout_ms: float = 0,
        max_records: int | None = None,
        max_records_per_partition: int | None = None,
    ) -> dict[TopicPartition, list[ConsumerRecord[Key, Value]]]:
        """Return fetched records by partition; if there are none, wait for them for up to ``timeout_ms``.

        Arguments:
            partitions: return only records of these partitions, which must be assigned; default: all.
            timeout_ms: 0: do not wait.
            max_records: maximum number of records; None: ``max_poll_records``.
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
        """Records one by one, until the consumer is stopped."""
        self._check_running()
        return self

    async def __anext__(self) -> ConsumerRecord[Key, Value]:
        try:
            return await self._ask(self._consumer.__anext__())
        except ConsumerStoppedError:
            raise StopAsyncIteration from None

    async def _ask(self, call: Coroutine[Any, Any, T]) -> T:
        """Await a call of the consumer; what it raises becomes what aiokafka raises."""
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
                self._attendant.wake()  # which waited for somebody to hear of it
            raise

    def _check_running(self) -> None:
        if self._stopped:
            raise ConsumerStoppedError("the consumer is stopped")

    # Positions --------------------------------------------------------------------------------------------------------

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Read on from ``offset``; raises `IllegalStateError` for a partition that is not assigned, `ValueError`."""
        if not self._consumer.is_started and partition in self._assigned:
            self._do(lambda: self._consumer.seek(partition, offset), lambda _: None)
        elif self._stopped:
            self._state_of(partition).go_to(FetchPosition(check_offset(offset)))
        else:
            self._consumer.seek(partition, offset)

    async def seek_to_beginning(self, *partitions: TopicPartition) -> bool:
        """Read on from the start of the log, of all assigned partitions if none are given; it is found at once."""
        self._consumer.seek_to_beginning(*partitions)
        return await self._find(partitions)

    async def seek_to_end(self, *partitions: TopicPartition) -> bool:
        """Read on from the end of the log, of all assigned partitions if none are given; it is found at once."""
        self._consumer.seek_to_end(*partitions)
        return await self._find(partitions)

    async def seek_to_committed(self, *partitions: TopicPartition) -> dict[TopicPartition, int | None]:
        """Continue from the committed offsets, and without one as ``auto_offset_reset`` says. Return the offsets.

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
        """The offset of the next record that will be handed out.

        Arguments:
            partition: one that is assigned.
        """
        return await self._ask(self._consumer.position(partition))

    async def commit(self, offsets: Mapping[TopicPartition, Any] | None = None) -> None:
        """Commit the positions, or these offsets: numbers, pairs of a number and metadata, or `OffsetAndMetadata`."""
        self._check_group()
        await self._ask(self._consumer.commit(None if offsets is None else as_offsets(offsets)))

    async def committed(self, partition: TopicPartition) -> int | None:
        """The offset that the group has committed last; None if there is none.

        Arguments:
            partition: of any topic; it need not be assigned.
        """
        self._check_group()
        found = await self._ask(self._consumer.committed(partition))
        return None if found is None else found.offset

    async def beginning_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The first offset that each partition still has.

        Arguments:
            partitions: those that are asked about; they need not be assigned.
        """
        return await self._ask(self._consumer.beginning_offsets(partitions))

    async def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset after the last record of each partition; with read_committed, after the last stable one.

        Arguments:
            partitions: those that are asked about; they need not be assigned.
        """
        return await self._ask(self._consumer.end_offsets(partitions))

    async def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first record at or after a time in milliseconds, by partition; None where there is none.

        Arguments:
            timestamps: partition to the time, in milliseconds since 1970.
        """
        return await self._ask(self._consumer.offsets_for_times(timestamps))

    def _check_group(self) -> None:
        self._check_running()
        if not self._has_group:
            raise IllegalOperation("committed offsets belong to a group: set group_id")

    # What is known ----------------------------------------------------------------------------------------------------

    def pause(self, *partitions: TopicPartition) -> None:
        """Hand out nothing of these partitions until `resume`."""
        if self._stopped:
            self._note_paused(partitions, True)
        else:
            self._consumer.pause(*partitions)

    def resume(self, *partitions: TopicPartition) -> None:
        """Hand out these partitions again."""
        if self._stopped:
            self._note_paused(partitions, False)
        else:
            self._consumer.resume(*partitions)

    def _note_paused(self, partitions: Iterable[TopicPartition], paused: bool) -> None:
        for state in [self._state_of(tp) for tp in partitions]:
            state.paused = paused

    def _state_of(self, tp: TopicPartition) -> PartitionState:
        """The state of a partition, which `stop` leaves as it was; raises `IllegalStateError` where it has none."""
        return self._consumer.core.subscription.assigned(tp)

    def paused(self) -> frozenset[TopicPartition]:
        """The partitions that are paused."""
        return frozenset(self._consumer.paused())

    def highwater(self, partition: TopicPartition) -> int | None:
        """The offset after the last record that consumers may see, as the last fetch told.

        Arguments:
            partition: one that is assigned.
        """
        return self._state_of(partition).fetching.highwater

    def current_lag(self, partition: TopicPartition) -> int | None:
        """How many offsets the position is behind the end that the last fetch told; None where either is not known.

        With ``isolation_level="read_committed"`` the end is the last stable offset.

        Arguments:
            partition: one that is assigned.
        """
        return self._consumer.current_lag(partition)

    def last_stable_offset(self, partition: TopicPartition) -> int | None:
        """The offset before which no transaction is open, as the last fetch told.

        Arguments:
            partition: one that is assigned.
        """
        return self._state_of(partition).fetching.last_stable_offset

    def last_poll_timestamp(self, partition: TopicPartition) -> int | None:
        """When records were fetched last, for whichever partition, in milliseconds since 1970-01-01 UTC."""
        core = self._consumer.core
        core.subscription.assigned(partition)
        idle_s = core.clock.idle(self._consumer.driver.runner.time())
        return int((time.time() - idle_s) * 1000)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """The numbers of a topic's partitions, as far as it is known here; None: it is not."""
        return self._consumer.core.client.metadata.partitions_for_topic(topic)

    async def topics(self) -> set[str]:
        """All topics that the cluster lets this client see, without internal ones."""
        return await self._ask(self._consumer.topics())
