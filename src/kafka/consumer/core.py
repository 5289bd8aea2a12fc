"""The core of a consumer: everything except the public classes and the way they wait.

The core has two sides. Methods below a heading "The caller's side" run in the caller's thread (for the asyncio consumer
on its loop) and never wait. Coroutines, and the methods that the parts call, run on the client's loop. `Runner` is
how one side reaches the other.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar
from uuid import UUID

from kafka._loop_services import wall_clock_ns
from kafka.cluster import Backoff, ClusterAccess, RetryPolicy, anything_unexpected
from kafka.cluster.client_core import ClientCore
from kafka.cluster.client_health import ClientHealth
from kafka.cluster.metadata import ClusterMetadata
from kafka.cluster.telemetry.collector import Identity
from kafka.config import ConsumerConfig
from kafka.config.table import values_of
from kafka.consumer.background_events import BackgroundEvents
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.commit.commits import Commits, Offsets
from kafka.consumer.fetch.fetcher import Fetcher
from kafka.consumer.fetch.position_validation import Divergence
from kafka.consumer.metadata_queries import MetadataQueries
from kafka.consumer.monitoring import ConsumerHealth, ConsumerMetrics
from kafka.consumer.position.offset_requests import EpochEnds, ListOffsets
from kafka.consumer.position.offset_search import OffsetsForTimes
from kafka.consumer.position.positions import PositionResolver
from kafka.consumer.position.timestamps import EARLIEST, LATEST, reset_timestamp
from kafka.consumer.position.topic_history import TopicHistory
from kafka.consumer.position.truncation import OutOfRangeLog, Truncations
from kafka.consumer.subscription.rebalance import Rebalance
from kafka.consumer.subscription.subscription_state import PositionsLeft, SubscriptionState, SubscriptionType
from kafka.consumer.subscription.topic_watch import TopicWatch
from kafka.coordinator.committed_offsets import GroupOffsets
from kafka.coordinator.group_metrics import PollClock
from kafka.coordinator.membership import Membership
from kafka.coordinator.offset_arguments import ReadOffsets
from kafka.coordinator.ungrouped import UngroupedMembership
from kafka.errors import (
    AssertedStateError,
    IllegalStateError,
    KafkaError,
    KafkaTimeoutError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    TopicRecreatedError,
    WakeupError,
)
from kafka.health import meanwhile
from kafka.interceptor.client_interceptors import ConsumerInterceptors
from kafka.net.callback_thread import CallbackRunner
from kafka.structs import TopicPartition, is_another_topic

log = logging.getLogger(__name__)

Owner = TypeVar("Owner")

LEAVE_TIMEOUT_MS = 5_000
"""How long closing tries to tell the coordinator, which otherwise notices when the session expires."""


LEAVE_WAIT_MS = 1_000
"""How long ``unsubscribe()`` waits for the coordinator; Java's does not wait at all."""
_RANGE_WAIT_MS = 500
"""How long to look up the offsets that a partition has, for the text of an error."""
RELEASE_WAIT_MS = 5_000
"""How long ``assign()`` and ``unsubscribe()`` wait for the automatic commit of what is given up; it then continues.

"""


class Runner(Protocol):
    """How the two sides reach each other: `LoopRunner` or `ThreadRunner` of `kafka.consumer.runners`."""

    def notify(self) -> None:
        """Called on the loop: a caller that waits has something to look at."""

    def submit(self, function: Callable[..., object], *args: object) -> None:
        """Called by the caller: run ``function(*args)`` on the loop."""

    def on_loop_death(self, owner: Owner, tell: Callable[[Owner, Exception], object]) -> None:
        """Call ``tell(owner, error)`` if the loop fails for good; ``owner`` is held weakly."""

    def callback_runner(self, name: str) -> CallbackRunner:
        """Runner for user functions that the caller does not wait for; ``name`` is its thread's."""


def _membership_of(group_protocol: str) -> Callable[..., Membership]:
    """The class of a member; imported only here, as a consumer without a group needs none of its modules."""
    if group_protocol == "consumer":
        from kafka.coordinator.consumer_group.membership import ConsumerGroupMembership

        return ConsumerGroupMembership
    from kafka.coordinator.classic.membership import ClassicMembership

    return ClassicMembership


class ConsumerCore:
    """The parts of one consumer, and how they work together; see the module.

    Arguments:
        config: all options.
        runner: reaches the caller.
        loop: the loop that this runs on.
        client: the cluster; None: create one from the options.
    """

    def __init__(
        self,
        config: ConsumerConfig,
        runner: Runner,
        loop: asyncio.AbstractEventLoop,
        client: ClusterAccess | None = None,
    ) -> None:
        self.config = config
        self._statistics = ConsumerMetrics(config, loop, runner.callback_runner)
        self.metrics = self._statistics.all
        self._client_core = ClientCore(
            config.connection,
            config.security,
            loop,
            self._statistics.traffic,
            self.metrics,
            Identity("consumer", config.consumer.metric_group_prefix, self._labels),
            self._statistics.submit,
            client,
        )
        self.client, self.telemetry = self._client_core.cluster, self._client_core.telemetry
        self.subscription = SubscriptionState()
        self.clock = PollClock(loop.time(), self.metrics.window)
        self.closed = False
        self.close_begun = False
        """`close` runs, or has run: it is completed even if no caller waits for it any more."""
        self.events = BackgroundEvents(runner.notify)
        self.poll_along: Callable[[], object] | None = None
        """What else the caller runs by polling: the `_client` that a program has requested from its consumer."""
        self._runner = runner
        self._loop = loop
        self._wall_clock_ns = wall_clock_ns(loop)
        self._raised = False
        self._positions_wanted = False
        self._warned_idle = False
        self._left = PositionsLeft(lambda topic: self.client.metadata.topic_id(topic))
        self._topics_looked_up = False
        given, slices = (
            config.consumer.interceptor_classes,
            (config.connection, config.fetch, config.group, config.consumer),
        )
        self.interceptors = ConsumerInterceptors(given, values_of(*slices)) if given else None
        self._make_parts(self._client_core.backoff)
        runner.on_loop_death(self._client_core.health, ClientHealth.loop_failed)
        self.health = ConsumerHealth(
            self._client_core.health, self.config.fetch, self.subscription, self.fetcher, self.membership
        )
        self._statistics.show(self.fetcher, self.buffer, self.subscription, self.commits, self.rebalance, self.clock)
        self._statistics.report_by_runner()

    def _make_parts(self, backoff: Backoff) -> None:
        fetch, group, submit = self.config.fetch, self.config.group, self._runner.submit
        self.out_of_range = OutOfRangeLog()
        self.buffer = FetchBuffer(fetch, self, self._statistics.fetching)
        self.history = TopicHistory(fetch.recreated_topics, self.subscription, self, self._loop.time)
        self.truncations = Truncations(self.buffer, fetch.auto_offset_reset != "none", self)
        self.fetcher = Fetcher(
            fetch,
            self.client,
            self.subscription,
            self.buffer,
            backoff,
            self,
            self.config.connection.metadata_max_age_ms,
            self._statistics.fetching,
        )
        timeout_ms = self.config.connection.request_timeout_ms
        self.cluster = MetadataQueries(self.client)
        offsets_of = ListOffsets(self.client, fetch.isolation_level, timeout_ms)
        # Calls raise errors to the caller; background work logs them.
        told = RetryPolicy(backoff, log, level=logging.DEBUG, fatal=anything_unexpected)
        self.offsets_for_times = OffsetsForTimes(offsets_of, told)
        self.epoch_ends = OffsetsForTimes(EpochEnds(self.client, timeout_ms), told)
        self.topics = TopicWatch(self.client, self.subscription, group.exclude_internal_topics, self.events.failed)
        self.membership, offsets = self._make_group(backoff)
        self.commits = Commits(
            group,
            self.subscription,
            self.membership,
            offsets,
            self._loop,
            submit,
            self.events,
            backoff,
            None if self.interceptors is None else self.interceptors.on_commit,
        )
        self._runner.on_loop_death(self.commits, Commits.fail_all)
        self.positions = PositionResolver(
            self.subscription,
            None if offsets is None else lambda partitions: self.commits.committed(partitions, timeout_ms),
            offsets_of,
            self,
            RetryPolicy(backoff, log),
        )
        self.rebalance = Rebalance(self.membership, self.subscription, submit, self)

    def _make_group(self, backoff: Backoff) -> tuple[Membership, GroupOffsets | None]:
        group, fetch = self.config.group, self.config.fetch
        if group.group_id is None:
            still_there = self.history.is_still_there
            return UngroupedMembership(
                lambda: self.client.metadata, self, lambda tp: still_there(tp, self.client.metadata)
            ), None
        timeout_ms = self.config.connection.request_timeout_ms
        statistics = self._statistics.group
        member = _membership_of(group.group_protocol)(
            self.client, group, timeout_ms, fetch.client_rack, self, self.clock, backoff, statistics
        )
        offsets = GroupOffsets(
            self.client,
            group.group_id,
            group.group_instance_id,
            member.commit_refused,
            fetch.isolation_level == "read_committed",
            backoff,
            statistics,
            lambda: member.generation,
        )
        return member, offsets

    # The loop's side: life --------------------------------------------------------------------------------------------

    async def start(self, *, in_background: bool = False) -> None:
        """Find the cluster; raises `NoBrokersAvailable`, but not ``in_background``, see `ClusterClient.start`."""
        await self._client_core.start(in_background=in_background)
        self.client.on_metadata(self._metadata_changed)
        self.commits.start()

    async def close(self, timeout_ms: float) -> None:
        """Leave the group and close the connections, once. Does not raise."""
        if self.close_begun:
            return
        self.close_begun = True
        self.closed = self.events.pending = True
        self._runner.notify()
        deadline = self._loop.time() + timeout_ms / 1000
        self.fetcher.close()
        self.positions.close()
        self.topics.close()
        try:
            try:
                await self.commits.close()
            finally:  # also if waiting for the rest was interrupted
                left_ms = (deadline - self._loop.time()) * 1000
                await self.membership.close(min(max(left_ms, 100.0), LEAVE_TIMEOUT_MS))
        finally:
            try:
                await self._client_core.close(deadline - self._loop.time())
            finally:
                await self._statistics.close(deadline)

    def drop_fetched(self) -> None:
        """Release fetched data that was not returned; after `close`, when no one polls."""
        self.buffer.close(self.subscription.states())

    # The loop's side: what callers wait for ---------------------------------------------------------------------------

    async def position(self, tp: TopicPartition, timeout_ms: float) -> int:
        """Return the position of ``tp``, looking it up if necessary; raises `KafkaTimeoutError`."""
        state = self.subscription.assigned(tp)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while state.position is None:
                    await self.positions.outcome(state)
                    state = self.subscription.assigned(tp)
        except NoOffsetForPartitionError as error:
            error.group_id = self.config.group.group_id
            raise
        except TimeoutError:
            raise KafkaTimeoutError(
                f"the position of partition {tp.partition} of topic {tp.topic!r} was not found within {timeout_ms} ms"
                + meanwhile(self._client_core.current_failures.failing())
            ) from None
        finally:
            self._positions_wanted = self.events.pending = True  # poll() continues to look, whatever the outcome
        return state.position.offset

    async def look_up_topics(self, timeout_ms: float) -> None:
        """Load the metadata of the subscribed topics; if that fails, it is left to `poll()`."""
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self.cluster.find(timeout_ms, renew=False)
                await self.client.refresh_metadata()
        except (KafkaError, TimeoutError) as error:
            log.debug("the topics could not be looked up ahead of poll(): %s", error)

    async def leave_group(self) -> None:
        """Give up the membership, and wait a moment for the coordinator. Does not raise."""
        await self.membership.leave("the consumer has unsubscribed", LEAVE_WAIT_MS)

    def begin_to_leave_group(self) -> None:
        """Give up the membership; the coordinator is told in the background."""
        self.membership.begin_to_leave("the consumer has unsubscribed")

    # The caller's side: polling ---------------------------------------------------------------------------------------

    def begin_poll(self, now: float) -> None:
        """The caller enters `poll()`, until `PollClock.end`; raises `IllegalStateError` once it is closed."""
        if self.closed:
            raise IllegalStateError("the consumer is closed")
        if self.poll_along is not None:
            self.events.pending = True
        self.clock.begin(now)

    def raise_wakeup(self) -> None:
        """Raise `WakeupError`, once, if the caller was woken."""
        if self.events.woken() and not self.closed:
            raise WakeupError("wakeup() was called")

    def begin_processing_events(self) -> None:
        """Begin to handle background events; from now on `events.pending` means a newer one."""
        self.events.pending = False
        try:
            self.truncations.act()
        except BaseException:
            self.events.pending = True  # the rest is done next time
            raise
        self.raise_error()
        if self._positions_wanted:
            self._positions_wanted = False
            self._runner.submit(self.positions.resolve)
        self.commits.begin_due()

    def raise_error(self) -> None:
        """Raise background errors, one per call; the call after the last one lets work continue."""
        while (failure := self.events.next_error()) is not None:
            error = self._still_true(failure)
            self._raised = True
            if error is not None:
                self.events.pending = True
                raise error
        if self._raised:
            self._raised = False
            self._runner.submit(self.positions.resolve)

    def _still_true(self, error: Exception) -> Exception | None:
        """The part of an error that still holds: a seek may have followed before the caller saw it."""
        if not isinstance(error, NoOffsetForPartitionError):
            return error
        states = (self.subscription.state_of(tp) for tp in error.args[0])
        lacking = [state.tp for state in states if state is not None and state.position is None and state.reset is None]
        return NoOffsetForPartitionError(lacking, group_id=self.config.group.group_id) if lacking else None

    async def find_ranges(self, error: OffsetOutOfRangeError) -> None:
        """Add the available offsets to an error, if brokers tell at once."""
        offsets = error.args[0] if error.args else None
        if not isinstance(offsets, dict) or error.ranges or self.closed:
            return
        try:
            first = await self.offsets_for_times.find(dict.fromkeys(offsets, EARLIEST), _RANGE_WAIT_MS)
            end = await self.offsets_for_times.find(dict.fromkeys(offsets, LATEST), _RANGE_WAIT_MS)
        except KafkaError as failure:
            log.debug("the range of offsets was not found for an error: %s", failure)
            return
        error.ranges = {tp: (first[tp].offset, end[tp].offset) for tp in offsets}

    def check_wanted(self) -> None:
        """Raise `IllegalStateError` if nothing is subscribed to or assigned: iteration would wait for ever."""
        if self.subscription.type is SubscriptionType.NONE:
            raise AssertedStateError("nothing is subscribed to or assigned: call subscribe() or assign() first")

    def warn_if_idle(self) -> None:
        """Log, once, that `poll()` cannot return anything."""
        if self.subscription.type is SubscriptionType.NONE and not self._warned_idle:
            self._warned_idle = True
            log.warning(
                "poll() cannot return anything: nothing is subscribed to or assigned; call subscribe() or assign()"
            )

    # The caller's side: subscribing and seeking -----------------------------------------------------------------------

    def subscribed(self) -> None:
        """The subscription has changed."""
        self.rebalance.subscription_changed()
        self._left.forget()
        self._topics_looked_up = False
        self.events.pending = True
        self._runner.submit(self._resubscribe)

    def take_ahead(self) -> None:
        """Without a group: take the known partitions of the subscription before the next `poll()`."""
        if self._takes_ahead:
            self.rebalance.take_ahead(self.client.metadata.version)

    def topics_unknown(self) -> bool:
        """Whether to look up topics for `take_ahead`; once for each subscription."""
        if not self._takes_ahead or self._topics_looked_up:
            return False
        self._topics_looked_up = True
        topics, metadata = self.subscription.topics, self.client.metadata
        return not topics or any(metadata.partitions_for_topic(topic) is None for topic in topics)

    @property
    def _takes_ahead(self) -> bool:
        return self.config.group.group_id is None and self.subscription.is_automatic and not self.closed

    def enforce_rebalance(self, reason: str) -> None:
        """Make the group rebalance with the next `poll()`; raises `IllegalStateError` without a group."""
        group = self.config.group
        if group.group_id is None:
            raise AssertedStateError("only a consumer in a group can rebalance: set group_id")
        if group.group_protocol == "consumer":
            log.warning("enforce_rebalance() has no effect with group_protocol='consumer': the coordinator assigns")
        elif self.subscription.is_automatic:
            self._runner.submit(self.membership.subscription_changed, reason)

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Assign partitions manually."""
        self._drop(self.subscription.assign_from_user(partitions))
        self._runner.submit(self._wants_others)
        # Positions are not looked up before the next poll(): usually a seek comes first.
        self._positions_wanted = self.events.pending = True

    def unsubscribe(self) -> None:
        """Unassign everything; leaving the group is left to `leave_group`."""
        self._drop(self.subscription.unsubscribe())
        self._runner.submit(self._wants_others)

    def seek(self, state: PartitionState, offset: int) -> None:
        """Read from ``offset``."""
        unplaced = state.position is None
        self.read_from(state, FetchPosition(offset))
        if unplaced:
            self._runner.submit(self.positions.moved, state)

    def reset(self, state: PartitionState, timestamp: int | None) -> None:
        """Read from the offset that ``timestamp`` stands for, None: as configured; it is looked up when needed."""
        self.read_from(state, reset=timestamp)
        self._runner.submit(self.positions.resolve_soon)

    def pause(self, state: PartitionState) -> None:
        """Return no records of a partition until `resume`; fetched data are kept."""
        self.buffer.pause(state)
        self._runner.submit(self.fetcher.refresh, state)

    def resume(self, state: PartitionState) -> None:
        """Return records of a partition again."""
        self.buffer.resume(state)
        self._runner.submit(self.fetcher.refresh, state)

    def consumed_offsets(self) -> Offsets:
        """The positions, for a commit."""
        return self.subscription.all_consumed_offsets()

    def given_offsets(self, offsets: Offsets) -> Offsets:
        """The offsets that the program commits; those of positions in a deleted topic keep its id."""
        given = ReadOffsets()
        given.update(offsets)
        for tp in offsets:
            state = self.subscription.state_of(tp)
            topic_id = None if state is None else state.topic_id
            if topic_id is not None:
                given.topic_ids[tp] = topic_id
        return given

    # The loop's side: host of the membership --------------------------------------------------------------------------

    def subscribed_topics(self) -> frozenset[str]:
        """See `MembershipHost`."""
        return self.subscription.topics

    def subscribed_regex(self) -> str | None:
        """See `MembershipHost`."""
        regex = self.subscription.regex
        return None if regex is None else regex.pattern

    def watch_group_topics(self, topics: frozenset[str]) -> None:
        """See `MembershipHost`."""
        self.topics.watch_group(topics)

    def step_ready(self) -> None:
        """See `MembershipHost` and `RebalanceHost`."""
        self.events.happened()

    def membership_failed(self, error: Exception) -> None:
        """See `MembershipHost`."""
        self.events.failed(error)

    def _labels(self) -> dict[str, str | None]:
        """The labels of this consumer in telemetry."""
        group = self.config.group
        return {
            "client_rack": self.config.fetch.client_rack,
            "group_id": group.group_id,
            "group_instance_id": group.group_instance_id,
            "group_member_id": self.membership.generation.member_id,
        }

    # What the parts call ----------------------------------------------------------------------------------------------

    def unblocked(self, state: PartitionState) -> None:
        """See `BufferListener`."""
        self._runner.submit(self.fetcher.refresh, state)

    def position_out_of_range(self, state: PartitionState) -> None:
        """See `BufferListener`."""
        if state.position is not None:
            self.out_of_range.begin(state.tp, state.position.offset)
        self.reset_by_policy(state)

    def topic_replaced(self, state: PartitionState) -> None:
        """See `BufferListener`: the new topic is read from its beginning."""
        if self.client.metadata.topic_id(state.tp.topic) == state.fetching.topic_id:
            self.read_from(state, state.position)  # a broker that lagged behind had reported the deleted topic
        else:
            self.reset(state, EARLIEST)

    def is_topic_replaced(self, state: PartitionState) -> bool:
        """See `BufferListener`; False if `recreated_topics` keeps positions."""
        topic = state.tp.topic
        return (
            is_another_topic(state.topic_id, self.client.metadata.topic_id(topic))
            and self.config.fetch.recreated_topics != "continue"
            and self.history.is_believed(topic)
        )

    def data_arrived(self) -> None:
        """See `FetchListener`."""
        self._runner.notify()

    def metadata_stale(self) -> None:
        """See `FetchListener`."""
        if not self.closed:
            self.client.request_refresh()

    def fetch_failed(self, error: Exception) -> None:
        """See `FetchListener`."""
        self.events.failed_alike(error)

    def diverged(self, divergence: Divergence) -> None:
        """See `FetchListener`."""
        self.truncations.found(divergence)

    def is_reassigned(self) -> bool:
        """See `FetchListener` and `HistoryListener`: in the protocol of KIP-848, topics are assigned by id."""
        group = self.config.group
        return group.group_protocol == "consumer" and group.group_id is not None and self.subscription.is_automatic

    def is_believed(self, topic: str) -> bool:
        """See `FetchListener`."""
        return self.history.is_believed(topic)

    def topics_recreated(self, error: TopicRecreatedError) -> None:
        """See `HistoryListener`."""
        self.events.failed(error)

    def read_from(self, state: PartitionState, position: FetchPosition | None = None, reset: int | None = None) -> None:
        """See `TruncationListener`."""
        try:
            self.buffer.discard(state, position, reset)
        finally:  # also if it was interrupted, as the position may have moved
            self._runner.submit(self.fetcher.refresh, state)

    def reset_by_policy(self, state: PartitionState) -> None:
        """See `TruncationListener`."""
        self.reset(state, self._policy_timestamp())

    def truncation_found(self) -> None:
        """See `TruncationListener`."""
        self.events.happened()

    def start_timestamp(self, tp: TopicPartition) -> int | None:
        """See `ResolverListener`: where a partition without a committed offset begins."""
        if self.history.is_recreated(tp):
            return EARLIEST
        return self._policy_timestamp(
            self.config.fetch.auto_offset_reset_new_partitions if self.history.is_added(tp) else None
        )

    def topic_id(self, topic: str) -> UUID | None:
        """See `ResolverListener`."""
        return self.history.topic_id(topic)

    def position_found(self, state: PartitionState, generation: int, position: FetchPosition) -> None:
        """See `ResolverListener`."""
        if self.buffer.locate(state, generation, position, self.client.metadata.topic_id(state.tp.topic)):
            self.history.located(state.tp)
            self.out_of_range.found(state.tp, position.offset)
            self.fetcher.refresh(state)

    def position_failed(self, error: Exception) -> None:
        """See `ResolverListener`."""
        self.events.failed(error)

    def reassign(self, partitions: Iterable[TopicPartition]) -> None:
        """See `RebalanceHost`."""
        before = self.subscription.assigned_partitions()
        gone = self.subscription.assign_from_membership(partitions)
        in_group = self.config.group.group_id is not None
        self.history.given_up(gone)
        self._left.leave(state for state in gone if not in_group or self.history.is_begun(state.tp))
        for state in self.subscription.states():
            if state.tp in before or (position := self._left.take(state.tp)) is None:
                continue
            if in_group:
                state.left_at = position
            else:
                self.read_from(state, position)
        self._drop(gone)

    def find_positions(self) -> None:
        """See `RebalanceHost`."""
        self.positions.resolve()

    # Inside -----------------------------------------------------------------------------------------------------------

    def _policy_timestamp(self, policy: str | None = None) -> int | None:
        return reset_timestamp(policy or self.config.fetch.auto_offset_reset, self._wall_clock_ns() // 1_000_000)

    def _drop(self, gone: list[PartitionState]) -> None:
        for state in gone:
            if state.position is None:
                self._runner.submit(self.positions.moved, state)
            self.buffer.discard(state)
            self._statistics.fetching.given_up(state)
            self._runner.submit(self.fetcher.forget, state)

    def _wants_others(self) -> None:
        self.topics.update()
        self.history.subscription_changed()
        self.history.metadata_changed(self.client.metadata)

    def _resubscribe(self) -> None:
        try:
            self._wants_others()
            self.membership.subscription_changed("the subscription has changed")
        finally:  # without it no step would ever be taken
            self.rebalance.subscription_heard()

    def _metadata_changed(self, metadata: ClusterMetadata) -> None:
        if self.closed:
            return
        others_match = self.topics.metadata_changed(metadata)
        self.history.metadata_changed(metadata)
        self.fetcher.refresh_all()
        if not self.subscription.is_automatic:
            return
        if others_match:
            self.membership.subscription_changed("other topics match the pattern now")
        self.membership.metadata_changed(metadata)
