"""The parts of a consumer, and how they work together.

`ConsumerParts` creates the parts and is their listener: each part reports to the others through methods of
`ConsumerParts`. These methods run on the client's loop, unless the listener protocol says that they run in the caller's
thread.
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
from kafka.cluster.telemetry.collector import Identity
from kafka.config import ConsumerConfig
from kafka.config.table import values_of
from kafka.consumer.background_events import BackgroundEvents
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.commit.commits import Commits
from kafka.consumer.fetch.fetcher import Fetcher
from kafka.consumer.fetch.position_validation import Divergence
from kafka.consumer.monitoring import ConsumerHealth, ConsumerMetrics
from kafka.consumer.position.offset_requests import EpochEnds, ListOffsets
from kafka.consumer.position.offset_search import OffsetsForTimes
from kafka.consumer.position.positions import PositionResolver
from kafka.consumer.position.special_timestamps import EARLIEST, reset_timestamp
from kafka.consumer.position.topic_history import TopicHistory
from kafka.consumer.position.truncation import OutOfRangeLog, Truncations
from kafka.consumer.subscription.created_topics import CreatedTopics
from kafka.consumer.subscription.rebalance_steps import Rebalance
from kafka.consumer.subscription.subscription_state import PositionsLeft, SubscriptionState
from kafka.consumer.subscription.topic_watch import TopicWatch
from kafka.coordinator.committed_offsets import GroupOffsets
from kafka.coordinator.group_metrics import PollClock
from kafka.coordinator.membership import Membership
from kafka.coordinator.ungrouped import UngroupedMembership
from kafka.errors import TopicRecreatedError
from kafka.interceptor.client_interceptors import ConsumerInterceptors
from kafka.net.callback_thread import CallbackRunner
from kafka.structs import TopicPartition, is_another_topic

log = logging.getLogger(__name__)

Owner = TypeVar("Owner")


class Runner(Protocol):
    """Connects the two sides: `LoopRunner` or `ThreadRunner` of `kafka.consumer.runners`."""

    def notify(self) -> None:
        """Wake the caller if it is waiting. Called on the loop."""

    def submit(self, function: Callable[..., object], *args: object) -> None:
        """Run ``function(*args)`` on the loop. Called on the caller's side."""

    def on_loop_death(self, owner: Owner, tell: Callable[[Owner, Exception], object]) -> None:
        """Call ``tell(owner, error)`` if the loop fails permanently; ``owner`` is held weakly."""

    def callback_runner(self, name: str) -> CallbackRunner:
        """Return a runner for user functions that the caller does not wait for; ``name`` is the name of its thread."""


def _membership_of(group_protocol: str) -> Callable[..., Membership]:
    """Return the membership class, imported on demand: a consumer without a group needs none of its modules."""
    if group_protocol == "consumer":
        from kafka.coordinator.consumer_group.membership import ConsumerGroupMembership

        return ConsumerGroupMembership
    from kafka.coordinator.classic.membership import ClassicMembership

    return ClassicMembership


class ConsumerParts:
    """Creates the parts of one consumer and connects them.

    Arguments:
        config: all options.
        runner: connects the loop and the caller.
        loop: the loop on which this runs.
        client: the cluster client; None: create one from the options.
    """

    buffer: FetchBuffer
    fetcher: Fetcher
    membership: Membership
    commits: Commits
    rebalance: Rebalance

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
        self.events = BackgroundEvents(runner.notify)
        self._runner = runner
        self.data_arrived: Callable[[], None] = runner.notify
        """See `FetchListener`."""
        self._loop = loop
        self._wall_clock_ns = wall_clock_ns(loop)
        self._left = PositionsLeft(lambda topic: self.client.metadata.topic_id(topic))
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
        offsets_of = ListOffsets(self.client, fetch.isolation_level, timeout_ms)
        # Calls raise errors to the caller; background work logs them.
        told = RetryPolicy(backoff, log, level=logging.DEBUG, fatal=anything_unexpected)
        self.offsets_for_times = OffsetsForTimes(offsets_of, told)
        self.epoch_ends = OffsetsForTimes(EpochEnds(self.client, timeout_ms), told)
        self.topics = TopicWatch(
            self.client,
            self.subscription,
            group.exclude_internal_topics,
            self.events.failed,
            CreatedTopics(self.client) if self.config.connection.allow_auto_create_topics else None,
        )
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

    # Listener of the membership ---------------------------------------------------------------------------------------

    def subscribed_topics(self) -> frozenset[str]:
        """See `MembershipListener`."""
        return self.subscription.topics

    def subscribed_regex(self) -> str | None:
        """See `MembershipListener`."""
        regex = self.subscription.regex
        return None if regex is None else regex.pattern

    def watch_group_topics(self, topics: frozenset[str]) -> None:
        """See `MembershipListener`."""
        self.topics.watch_group(topics)

    def step_ready(self) -> None:
        """See `MembershipListener` and `StepListener`."""
        self.events.happened()

    def membership_failed(self, error: Exception) -> None:
        """See `MembershipListener`."""
        self.events.failed(error)

    # Listener of the other parts --------------------------------------------------------------------------------------

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
            self.read_from(state, state.position)  # the deleted topic was reported by a broker that lagged behind
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
        """See `FetchListener` and `HistoryListener`: the KIP-848 protocol assigns topics by id."""
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
        finally:  # even after an interrupt, because the position may have moved
            self._runner.submit(self.fetcher.refresh, state)

    def reset_by_policy(self, state: PartitionState) -> None:
        """See `TruncationListener`."""
        self.reset(state, self._policy_timestamp())

    def truncation_found(self) -> None:
        """See `TruncationListener`."""
        self.events.happened()

    def start_timestamp(self, tp: TopicPartition) -> int | None:
        """See `ResolverListener`: where to start reading a partition without a committed offset."""
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
        """See `StepListener`."""
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
        """See `StepListener`."""
        self.positions.resolve()

    def reset(self, state: PartitionState, timestamp: int | None) -> None:
        """Read from the offset for ``timestamp`` (None: as configured), which is looked up when needed."""
        self.read_from(state, reset=timestamp)
        self._runner.submit(self.positions.resolve_soon)

    # Internals --------------------------------------------------------------------------------------------------------

    def _labels(self) -> dict[str, str | None]:
        """Return the labels of this consumer in telemetry."""
        group = self.config.group
        return {
            "client_rack": self.config.fetch.client_rack,
            "group_id": group.group_id,
            "group_instance_id": group.group_instance_id,
            "group_member_id": self.membership.generation.member_id,
        }

    def _policy_timestamp(self, policy: str | None = None) -> int | None:
        return reset_timestamp(policy or self.config.fetch.auto_offset_reset, self._wall_clock_ns() // 1_000_000)

    def _drop(self, gone: list[PartitionState]) -> None:
        for state in gone:
            if state.position is None:
                self._runner.submit(self.positions.moved, state)
            self.buffer.discard(state)
            self._statistics.fetching.given_up(state)
            self._runner.submit(self.fetcher.forget, state)
