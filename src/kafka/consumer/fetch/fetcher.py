"""Decides, on the loop, which broker to fetch each partition from, and buffers the responses."""

import asyncio
import logging
import uuid
from typing import Protocol

from kafka.cluster import Backoff, RetryPolicy
from kafka.cluster.protocols import BrokerConnections
from kafka.cluster.retry import nothing
from kafka.config import FetchOptions
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.fetch_statistics import FetchStatistics
from kafka.consumer.buffer.partition_response import PartitionResponse, SharedFrame, TopicReplaced
from kafka.consumer.buffer.partition_state import PartitionState
from kafka.consumer.fetch.broker_fetcher import BrokerFetcher
from kafka.consumer.fetch.fetch_session import FetchTarget, new_target
from kafka.consumer.fetch.position_validation import Divergence, PositionValidation
from kafka.consumer.fetch.response_handler import PreferredReplicas, ResponseHandler
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import BrokerResponseError, SaslAuthenticationFailedError, UnsupportedVersionError
from kafka.structs import TopicPartition, is_another_topic
from kafka.wire.api.fetch import FetchResponse

log = logging.getLogger(__name__)

_NEVER_MENDED = (SaslAuthenticationFailedError, UnsupportedVersionError)
"""Permanent errors of a broker, which are raised to the caller."""
_ASK_AGAIN_S = 0.5
"""How long to wait before refreshing metadata that may describe a deleted topic."""


class FetchListener(Protocol):
    """The listener of a `Fetcher`. Called on the loop."""

    def data_arrived(self) -> None:
        """Called when a response contained data or errors for the caller."""

    def metadata_stale(self) -> None:
        """Called when a broker is not, or is no longer, the leader."""

    def fetch_failed(self, error: Exception) -> None:
        """Called with a permanent error, which the caller must raise."""

    def diverged(self, divergence: Divergence) -> None:
        """Called when a partition's log diverges from what was read; fetching stops until the position changes."""

    def is_reassigned(self) -> bool:
        """Return whether the group's coordinator revokes the partitions of deleted topics on its own (KIP-848)."""

    def is_believed(self, topic: str) -> bool:
        """Return whether to trust the current metadata for a topic, which may come from a broker that lags behind."""


class Fetcher:
    """Fetches assigned partitions from their brokers; see the module.

    Arguments:
        options: the size and time limits of fetches, and the isolation level.
        client: sends requests, and knows the leaders.
        subscription: the assignment.
        buffer: receives the responses.
        backoff: pauses after failures.
        listener: notified of data and failures, and asked about topics.
        replica_lease_ms: how long to read from a preferred replica before asking the leader again.
        statistics: counts responses; None: responses are not counted.
    """

    def __init__(
        self,
        options: FetchOptions,
        client: BrokerConnections,
        subscription: SubscriptionState,
        buffer: FetchBuffer,
        backoff: Backoff,
        listener: FetchListener,
        replica_lease_ms: float = 300_000,
        statistics: FetchStatistics | None = None,
    ) -> None:
        self._options = options
        self._client = client
        self._subscription = subscription
        self._buffer = buffer
        self._backoff = backoff
        self._listener = listener
        self.metadata_stale = listener.metadata_stale
        self.diverged = listener.diverged
        self.data_arrived = listener.data_arrived
        self._statistics = statistics
        self._asking_again: asyncio.TimerHandle | None = None
        self._replicas = PreferredReplicas(replica_lease_ms)
        self._retry = RetryPolicy(backoff, log, fatal=nothing)
        self._validation = PositionValidation(client, backoff, self)
        self.judge = self._validation.judge
        self._partitions = ResponseHandler(options, client, buffer, self._replicas, backoff, self)
        self._fetchers: dict[int, BrokerFetcher] = {}
        self._closed = False
        self.responses = 0

    @property
    def bytes_fetched(self) -> int:
        """The number of bytes of record batches received so far."""
        return self._partitions.bytes_fetched

    def waiting_since(self) -> float | None:
        """Return the time at which the oldest outstanding request was sent; None if there is none. Thread-safe."""
        asked = (each.progress_at for each in list(self._fetchers.values()) if each.session.targets)
        return min(asked, default=None)

    def close(self) -> None:
        """Stop fetching."""
        self._closed = True
        if self._asking_again is not None:
            self._asking_again.cancel()
        self._partitions.close()
        self._validation.close()
        for fetcher in self._fetchers.values():
            fetcher.close()
        self._fetchers.clear()

    def refresh(self, state: PartitionState) -> None:
        """Decide again whether to fetch a partition, and if so from which broker and offset."""
        if self._closed:
            return
        if state.fetching.generation != state.generation:
            self._buffer.follow(state)
        tp, metadata = state.tp, self._client.metadata
        epoch = metadata.leader_epoch(tp)
        topic_id = metadata.topic_id(tp.topic)
        fetchable = self._is_fetchable(state) and self._is_of_topic(state, topic_id)
        broker = self._broker_for(tp) if fetchable and self._validation.is_valid(state, epoch) else None
        full = broker is not None and self._buffer.is_full(state)
        if state.fetching.broker_id != broker or full:
            self._leave_broker(state)
        if broker is None:
            return
        fetcher = self._fetchers.get(broker) or self._fetcher_of(broker)
        if full:
            state.fetching.broker_id = broker
            fetcher.blocked.add(state)
            return
        fetcher.blocked.discard(state)
        state.fetching.broker_id = broker
        fetching = state.fetching
        assert fetching.offset is not None
        before = fetcher.session.targets.get(tp)
        # A leader has nothing to compare within its own epoch, and a follower may not know an epoch without records.
        compares = fetching.leader_epoch < epoch and broker == metadata.leader_for_partition(tp)
        last_epoch = fetching.leader_epoch if compares else -1
        fetcher.session.add(FetchTarget(state, fetching.generation, fetching.offset, epoch, topic_id, last_epoch))
        fetching.metadata = metadata
        fresh = fetching.asked_generation != fetching.generation
        fetching.asked_generation = fetching.generation
        fetcher.changed(fresh or before is None, fresh)

    def advance(self, target: FetchTarget) -> None:
        """Fetch a partition from where the response ends. Like `refresh`, but cheap if only the offset has changed."""
        state, fetching = target.state, target.state.fetching
        fetcher = self._fetchers.get(fetching.broker_id) if fetching.broker_id is not None else None
        if (
            fetcher is None
            or fetching.metadata is not self._client.metadata
            or fetching.offset is None
            or fetching.generation != state.generation
            or fetching.backing_off
            or state.paused
            or self._closed
            or self._replicas.leases
            or not self._buffer.has_room(state)
        ):
            self.refresh(state)
            return
        last_epoch = fetching.leader_epoch if fetching.leader_epoch < target.leader_epoch else -1
        fetcher.session.advance(
            new_target((state, fetching.generation, fetching.offset, target.leader_epoch, target.topic_id, last_epoch))
        )

    def refresh_all(self) -> None:
        """Call `refresh` for every partition, because leaders may have moved."""
        for state in self._subscription.states():
            self.refresh(state)

    def forget(self, state: PartitionState) -> None:
        """Stop fetching a partition that is no longer assigned."""
        self._replicas.forget(state.tp)
        self._validation.forget(state)
        self._leave_broker(state)

    # Responses --------------------------------------------------------------------------------------------------------

    def take_answer(self, fetcher: BrokerFetcher, response: FetchResponse) -> None:
        """Buffer a broker's response."""
        held = getattr(response, "frame", None)
        frame = SharedFrame(held.release) if held is not None else None
        sizes: dict[str, int] = {}
        filed = False
        for topic in response.responses:
            number = topic.topic_id.int
            name = topic.topic or fetcher.session.topic_names.get(number)
            if name is None:
                continue
            before = self._partitions.bytes_fetched
            for answer in topic.partitions:
                target = fetcher.session.target_of_answer(name, answer.partition_index)
                if target is None or target.generation != target.state.generation:
                    continue
                if not topic.topic and (target.topic_id is None or target.topic_id.int != number):
                    continue  # the partition's topic was deleted
                filed |= self._partitions.take(target, answer, frame, by_id=not topic.topic)
            sizes[name] = sizes.get(name, 0) + self._partitions.bytes_fetched - before
        if frame is not None:
            frame.release()
        self.responses += 1
        if self._statistics is not None:
            self._statistics.answered(fetcher.sent_at, sizes, response.throttle_time_ms)
        if not filed:
            return
        if held is None:
            self.data_arrived()
        else:  # send the next fetch before a caller on this loop begins to decode
            asyncio.get_running_loop().call_soon(self.data_arrived)

    def fetch_failed(self, fetcher: BrokerFetcher, error: Exception) -> None:
        """Handle a failed request: the broker may no longer be the leader."""
        self.metadata_stale()
        for tp in self._replicas.forget_broker(fetcher.node_id):
            state = self._subscription.state_of(tp)
            if state is not None:
                self.refresh(state)
        if isinstance(error, _NEVER_MENDED):
            self._listener.fetch_failed(error)

    def back_off(self, state: PartitionState) -> None:
        """Pause fetching from a partition."""
        if not state.fetching.backing_off:
            state.fetching.backing_off = True
            asyncio.get_running_loop().call_later(
                self._backoff.seconds(max(1, state.fetching.failures)), self._back_on, state
            )
        self.refresh(state)

    def _back_on(self, state: PartitionState) -> None:
        state.fetching.backing_off = False
        if self._subscription.state_of(state.tp) is state:
            self.refresh(state)

    # Choice of brokers ------------------------------------------------------------------------------------------------

    def _is_fetchable(self, state: PartitionState) -> bool:
        return (
            state.fetching.offset is not None
            and not state.paused
            and not state.fetching.backing_off
            and self._subscription.state_of(state.tp) is state
        )

    def _is_of_topic(self, state: PartitionState, topic_id: uuid.UUID | None) -> bool:
        """Return whether a partition may be fetched from the topic that currently has its topic name.

        A position in a deleted topic means nothing in another one. If the coordinator assigns by id, it revokes the
        partition and assigns the new topic's partition. Otherwise the caller moves the position once it has received
        everything fetched from the deleted topic; with the policy "continue", the broker reports whether the new topic
        has the offset.
        """
        fetching = state.fetching
        if not is_another_topic(fetching.topic_id, topic_id):
            return True
        if self._listener.is_reassigned():
            return False
        if not self._listener.is_believed(state.tp.topic):
            if self._asking_again is None:
                self._asking_again = asyncio.get_running_loop().call_later(_ASK_AGAIN_S, self._ask_again)
            return False
        if self._options.recreated_topics == "continue":
            fetching.leader_epoch = -1
            return True
        assert fetching.offset is not None
        end = PartitionResponse(state.tp, fetching.generation, fetching.offset, error=TopicReplaced(), sticky=True)
        fetching.offset = None
        if self._buffer.put(state, end):
            self.data_arrived()
        return False

    def _ask_again(self) -> None:
        self._asking_again = None
        self.metadata_stale()

    def refused(self, target: FetchTarget, error: type[BrokerResponseError]) -> None:
        """See `ValidationListener`."""
        self._partitions.refused(target, error)

    def _broker_for(self, tp: TopicPartition) -> int | None:
        """Return the broker to fetch from; None if there is none at the moment."""
        metadata = self._client.metadata
        if self._replicas.leases:
            broker = self._replicas.broker_for(tp, metadata, asyncio.get_running_loop().time())
        else:
            broker = metadata.leader_for_partition(tp)
        if broker is None:
            self.metadata_stale()
        return broker

    def _fetcher_of(self, node_id: int) -> BrokerFetcher:
        """Create the fetcher for a broker."""
        fetcher = BrokerFetcher(node_id, self._options, self._client, self, self._retry)
        self._fetchers[node_id] = fetcher
        return fetcher

    def _leave_broker(self, state: PartitionState) -> None:
        fetcher = self._fetchers.get(state.fetching.broker_id) if state.fetching.broker_id is not None else None
        state.fetching.broker_id = None
        if fetcher is None:
            return
        fetcher.blocked.discard(state)
        target = fetcher.session.targets.get(state.tp)
        if target is not None and target.state is state:  # false if the partition was reassigned in the meantime
            fetcher.session.remove(state.tp)
        fetcher.changed(urgent=False)
