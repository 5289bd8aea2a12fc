"""The methods of `ConsumerCoordinator` for committed offsets, based on today's `GroupOffsets`; automatic commits."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from kafka.cluster import Backoff
from kafka.coordinator.committed_offsets import GroupOffsets
from kafka.errors import (
    AssertedArgumentError,
    CommitFailedError,
    KafkaError,
    KafkaTimeoutError,
    RebalanceInProgressError,
)
from kafka.legacy.client_async.kafka_client import KafkaClient
from kafka.legacy.coordinator.base_coordinator import BaseCoordinator
from kafka.legacy.coordinator.coordinator_metrics import ConsumerCoordinatorMetrics
from kafka.legacy.coordinator.group_member import Generation
from kafka.legacy.kafka_future import Future
from kafka.legacy.kafka_util import Timer
from kafka.legacy.subscription_state import Position, SubscriptionState
from kafka.structs import OffsetAndMetadata, TopicPartition

log = logging.getLogger("kafka.coordinator.consumer")

_FOR_EVER_MS = 1e9

Offsets = Mapping[TopicPartition, OffsetAndMetadata]


class OffsetCalls(BaseCoordinator):
    """Commits offsets, and fetches committed offsets, for a group."""

    consumer_sensors: ConsumerCoordinatorMetrics | None
    _auto_commit_task: AutoCommitTask | None
    _offsets: GroupOffsets
    _subscription: SubscriptionState

    def _make_offsets(self) -> GroupOffsets:
        backoff = Backoff(self.config["retry_backoff_ms"], max(self.config["retry_backoff_ms"], 1000))
        refused = self._member.commit_refused
        return GroupOffsets(
            self._link.cluster,
            self.group_id or "",
            self.group_instance_id,
            refused,
            require_stable=False,
            backoff=backoff,
        )

    def _takes_all(self) -> bool:
        """Return whether all partitions of subscribed topics are assigned, because there is no group."""
        return self.group_id is None or bool(self.config["api_version"] and self.config["api_version"] < (0, 9))

    # Commits

    def commit_offsets_sync(self, offsets: Offsets, timeout_ms: float | None = None) -> None:
        """Commit offsets; retriable errors are retried.

        Raises `CommitFailedError` if the partitions may belong to other members, `RebalanceInProgressError` while the
        member is joining, `KafkaTimeoutError` on a timeout, and other errors of the broker.
        """
        self._check_offsets(offsets)
        if not offsets:
            return
        timer = Timer(timeout_ms)
        if not self.ensure_coordinator_ready(timeout_ms):
            raise KafkaTimeoutError("the coordinator was not found in time")
        left_ms = timer.timeout_ms
        self._wait_for(self._commit(offsets, _FOR_EVER_MS if left_ms is None else left_ms, resend=True), timer)

    def commit_offsets_async(self, offsets: Offsets, callback: Callable[..., Any] | None = None) -> Future:
        """Commit offsets without waiting.

        Arguments:
            callback: called in the client's `poll` with the offsets, and None or the error;
                None: ``default_offset_commit_callback``.

        Returns a future without a result.
        """
        self._check_offsets(offsets)
        chosen = callback or self.config["default_offset_commit_callback"]
        self._subscription.needs_fetch_committed_offsets = True
        future = self._commit(offsets, self._link.request_timeout_ms, resend=False)
        return future.add_both(lambda outcome: chosen(offsets, outcome))

    def maybe_auto_commit_offsets_now(self) -> None:
        """Commit the positions without waiting, if ``enable_auto_commit`` is set and the coordinator is known."""
        if self._auto_commit_task is not None and not self.coordinator_unknown():
            default = self.config["default_offset_commit_callback"]
            self.commit_offsets_async(self._subscription.all_consumed_offsets(), default)

    def _auto_commit_sync(self, timeout_ms: float | None) -> None:
        """Commit before the partitions are revoked; log a failure."""
        offsets = self._subscription.all_consumed_offsets()
        if self._auto_commit_task is None or not offsets:
            return
        limit_ms = self._link.request_timeout_ms
        try:
            self.commit_offsets_sync(offsets, limit_ms if timeout_ms is None else min(timeout_ms, limit_ms))
        except KafkaError as error:
            log.warning("Offset commit failed; records will probably be delivered again: %s", error)

    def _commit(self, offsets: Offsets, timeout_ms: float, resend: bool) -> Future:
        if not offsets:
            return Future().success(None)
        try:
            generation = self._commit_generation()
        except KafkaError as error:
            return Future().failure(error)
        begin = time.monotonic()
        future = self._link.ask(lambda: self._offsets.commit(offsets, generation, timeout_ms, resend=resend))
        sensors = self.consumer_sensors
        if sensors is not None:
            future.add_callback(lambda _: sensors.commit_latency.record((time.monotonic() - begin) * 1000))
        return future

    def _commit_generation(self) -> Generation:
        if not self._subscription.partitions_auto_assigned() or self._takes_all():
            return Generation.NO_GENERATION
        generation = self.generation_if_stable()
        if generation is not None:
            return generation
        if self.rebalance_in_progress():
            raise RebalanceInProgressError("the group is being joined: poll(), then commit again")
        raise CommitFailedError

    def _check_offsets(self, offsets: Mapping[Any, Any]) -> None:
        for partition, committed in offsets.items():
            if not isinstance(partition, TopicPartition) or not isinstance(committed, OffsetAndMetadata):
                raise AssertedArgumentError(
                    f"offsets must be a dict of TopicPartition to OffsetAndMetadata, not {partition!r}: {committed!r}"
                )

    # Committed offsets

    def fetch_committed_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return committed offsets, omitting partitions without one. Raises `KafkaTimeoutError` on a timeout."""
        wanted = list(partitions)
        if not wanted:
            return {}
        timer = Timer(timeout_ms)
        if not self.ensure_coordinator_ready(timeout_ms):
            raise KafkaTimeoutError("the coordinator was not found in time")
        left_ms = timer.timeout_ms
        limit_ms = _FOR_EVER_MS if left_ms is None else left_ms
        found: dict[TopicPartition, OffsetAndMetadata] = self._wait_for(
            self._link.ask(lambda: self._offsets.fetch(wanted, limit_ms)), timer
        )
        return found

    def refresh_committed_offsets_if_needed(self, timeout_ms: float | None = None) -> bool:
        """Fetch committed offsets for assigned partitions, and seek to them in partitions without a position.

        Returns False on a timeout.
        """
        missing = self._subscription.missing_fetch_positions()
        is_all = self._subscription.needs_fetch_committed_offsets
        wanted = self._subscription.assigned_partitions() if is_all else missing
        try:
            found = self.fetch_committed_offsets(wanted, timeout_ms)
        except KafkaTimeoutError:
            return False
        for partition, committed in found.items():
            state = self._subscription.assignment.get(partition)
            if state is None:
                continue
            state.committed = Position.of(committed)
            if partition in missing:
                self._subscription.seek(partition, committed)
        self._subscription.needs_fetch_committed_offsets = False
        return True

    def _wait_for(self, future: Future, timer: Timer) -> Any:
        self._client.poll(timeout_ms=timer.timeout_ms, future=future)
        if not future.is_done:
            raise KafkaTimeoutError("the coordinator has not answered in time")
        if future.exception is not None:
            raise future.exception
        return future.value


class CommitsPositions(Protocol):
    """The methods of a coordinator that `AutoCommitTask` uses."""

    config: dict[str, Any]
    _client: KafkaClient
    _subscription: SubscriptionState

    def coordinator_unknown(self) -> bool:
        """Return whether the coordinator is unknown."""

    def commit_offsets_async(self, offsets: Any, callback: Any = None) -> Future:
        """Commit without waiting."""


class AutoCommitTask:
    """A scheduled task of the client that commits positions periodically.

    Arguments:
        coordinator: the coordinator whose positions are committed.
        interval: the interval in seconds.

    Attributes:
        next_at: time of the next commit, in seconds since 1970; None while the task is disabled.
    """

    def __init__(self, coordinator: CommitsPositions, interval: float) -> None:
        self._coordinator = coordinator
        self._client = coordinator._client
        self._interval = interval
        self.next_at: float | None = None

    def enable(self) -> None:
        """Start committing; the first commit follows after one interval."""
        if self.next_at is None:
            self._schedule(time.time() + self._interval)

    def disable(self) -> None:
        """Stop committing."""
        self.next_at = None
        with contextlib.suppress(KeyError):
            self._client.unschedule(self)

    def reschedule(self, at: float | None = None) -> None:
        """Change the time of the next commit, in seconds since 1970; None: after one interval. Ignored if disabled."""
        if self.next_at is not None:
            self._schedule(time.time() + self._interval if at is None else at)

    def _schedule(self, at: float) -> None:
        self.next_at = at
        self._client.schedule(self, at)

    def run_if_due(self) -> None:
        """Commit if the time of the next commit has come."""
        if self.next_at is not None and self.next_at <= time.time():
            self()

    def __call__(self) -> None:
        """Commit, and schedule the next commit after an interval, or sooner if this one is not possible now."""
        if self.next_at is None:
            return
        if self._coordinator.coordinator_unknown():
            self._schedule(time.time() + self._backoff_s)
            return
        self._schedule(time.time() + self._interval)
        self._coordinator.commit_offsets_async(self._coordinator._subscription.all_consumed_offsets(), self._done)

    @property
    def _backoff_s(self) -> float:
        return float(self._coordinator.config["retry_backoff_ms"]) / 1000

    def _done(self, offsets: Any, outcome: Any) -> None:
        if getattr(outcome, "retriable", False) and self.next_at is not None:
            self._schedule(min(self.next_at, time.time() + self._backoff_s))
        self._coordinator.config["default_offset_commit_callback"](offsets, outcome)
