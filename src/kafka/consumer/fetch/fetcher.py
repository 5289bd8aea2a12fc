"""The fetcher: decides, on the loop, which partition is fetched from which broker, and files the answers."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Protocol

from kafka.cluster import Backoff, ClusterMetadata
from kafka.config import FetchOptions
from kafka.consumer.fetch.broker_fetcher import BrokerFetcher, FetchClient
from kafka.consumer.fetch.fetch_session import Wanted
from kafka.consumer.handover.fetch_buffer import FetchBuffer
from kafka.consumer.handover.fetched import Fetched, SharedFrame
from kafka.consumer.handover.partition_state import PartitionState
from kafka.consumer.records.record_errors import RecordTooLargeError
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import (
    CorruptRecordError,
    KafkaError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    TopicAuthorizationFailedError,
    UnknownError,
    for_code,
)
from kafka.record import ConsumerRecord, whole_batches
from kafka.structs import TopicPartition
from kafka.wire.api.fetch import FetchResponse

__all__ = ["ConsumerRecord", "Fetcher", "NoOffsetForPartitionError", "RecordTooLargeError"]

log = logging.getLogger(__name__)


class FetcherClient(FetchClient, Protocol):
    """The part of `kafka.cluster.ClusterClient` that the fetcher stands on."""

    @property
    def metadata(self) -> ClusterMetadata:
        """The newest snapshot of the cluster."""

    def note_leader(self, tp: TopicPartition, leader: int, leader_epoch: int) -> None:
        """A response named a newer leader of a partition than the metadata do (KIP-951)."""


class Fetcher:
    """See the module.

    Arguments:
        options: sizes, times, isolation.
        client: sends, and knows the leaders.
        subscription: what is assigned.
        buffer: takes the answers.
        backoff: pauses after failures.
        on_data: called once for each answer that the caller may want to look at.
        metadata_stale: called when a broker says that it is not, or no longer, the leader.
    """

    def __init__(
        self,
        options: FetchOptions,
        client: FetcherClient,
        subscription: SubscriptionState,
        buffer: FetchBuffer,
        backoff: Backoff,
        on_data: Callable[[], None],
        metadata_stale: Callable[[], None],
    ) -> None:
        self._options = options
        self._client = client
        self._subscription = subscription
        self._buffer = buffer
        self._backoff = backoff
        self._on_data = on_data
        self._metadata_stale = metadata_stale
        self._nodes: dict[int, BrokerFetcher] = {}
        self._closed = False
        self.bytes_fetched = 0
        self.responses = 0

    def close(self) -> None:
        """Stop fetching."""
        self._closed = True
        for node in self._nodes.values():
            node.close()
        self._nodes.clear()

    def refresh(self, state: PartitionState) -> None:
        """Look again at whether, from where and at which offset a partition is fetched."""
        if self._closed:
            return
        if state.fetching.generation != state.generation:
            self._buffer.follow(state)
        tp = state.tp
        wanted = self._is_wanted(state)
        leader = self._client.metadata.leader_for_partition(tp) if wanted else None
        if wanted and leader is None:
            self._metadata_stale()
        full = leader is not None and self._buffer.is_full(state)
        if state.fetching.broker_id is not None and (state.fetching.broker_id != leader or full):
            self._leave_node(state)
        if leader is None:
            return
        node = self._node(leader)
        if full:
            state.fetching.broker_id = leader
            node.blocked.add(state)
            return
        node.blocked.discard(state)
        state.fetching.broker_id = leader
        metadata = self._client.metadata
        assert state.fetching.offset is not None
        before = node.session.wanted.get(tp)
        node.session.want(
            Wanted(
                state,
                state.fetching.generation,
                state.fetching.offset,
                metadata.leader_epoch(tp),
                metadata.topic_id(tp.topic),
            )
        )
        fresh = state.fetching.asked_generation != state.fetching.generation
        state.fetching.asked_generation = state.fetching.generation
        node.changed(fresh or before is None, fresh)

    def refresh_all(self) -> None:
        """Look again at every partition: leaders may have moved."""
        for state in self._subscription.states():
            self.refresh(state)

    def forget(self, state: PartitionState) -> None:
        """A partition is no longer assigned."""
        self._leave_node(state)

    # Answers ----------------------------------------------------------------------------------------------------------

    def take_answer(self, node: BrokerFetcher, response: FetchResponse) -> None:
        """File what a broker answered."""
        held = getattr(response, "frame", None)
        frame = SharedFrame(held.release if held is not None else None)
        filed = False
        names = self._client.metadata
        for topic in response.responses:
            name = topic.topic or names.topic_name(topic.topic_id)
            if name is None:
                continue
            for answer in topic.partitions:
                wanted = node.session.answers(TopicPartition(name, answer.partition_index))
                if wanted is None or wanted.generation != wanted.state.generation:
                    continue
                filed |= self._take_partition(wanted, answer, frame)
        frame.release()
        self.responses += 1
        if not filed:
            return
        if held is None:
            self._on_data()
        else:  # the next fetch is to be on its way before a caller on this loop begins to decode so much
            asyncio.get_running_loop().call_soon(self._on_data)

    def fetch_failed(self, node: BrokerFetcher, error: KafkaError) -> None:
        """A broker could not be asked: it may not be the leader any more."""
        log.debug("fetching from broker %d failed: %s", node.node_id, error)
        self._metadata_stale()

    def _take_partition(self, wanted: Wanted, answer: Any, frame: SharedFrame) -> bool:
        state = wanted.state
        if answer.error_code:
            return self._take_error(wanted, answer)
        state.fetching.highwater = answer.high_watermark
        state.fetching.last_stable_offset = answer.last_stable_offset
        state.fetching.log_start_offset = answer.log_start_offset
        records = answer.records
        if records is None or not len(records):
            return False
        size, next_offset = whole_batches(records)
        self.bytes_fetched += size
        if not size:
            return self._too_large(wanted, len(records))
        if next_offset <= wanted.offset:
            # Nothing but batches before the offset asked for: the broker will have more in a moment.
            self._back_off(state)
            return False
        frame.retain()
        aborted = [(each.producer_id, each.first_offset) for each in answer.aborted_transactions or ()]
        state.fetching.offset = next_offset
        item = Fetched(state.tp, wanted.generation, wanted.offset, records[:size], size, frame, aborted)
        filed = self._buffer.put(state, item)
        self.refresh(state)
        return filed

    def _take_error(self, wanted: Wanted, answer: Any) -> bool:
        """Act on a partition's error; True if the caller has to hear of it."""
        state, tp = wanted.state, wanted.state.tp
        error = for_code(answer.error_code)
        where = f"partition {tp.partition} of topic {tp.topic!r} at offset {wanted.offset}"
        if error is OffsetOutOfRangeError:
            failed = error({tp: wanted.offset})
            return self._fail(wanted, failed)
        if error is CorruptRecordError:
            return self._fail(wanted, error(f"the broker found a damaged batch in {where}; seek past it to read on"))
        self._back_off(state)
        if error is TopicAuthorizationFailedError:
            return self._buffer.put(state, Fetched(state.tp, wanted.generation, wanted.offset, error=error({tp.topic})))
        if error.invalid_metadata:
            log.debug("fetching %s: %s", where, error.message)
            self._metadata_stale()
            if answer.current_leader.leader_id >= 0:
                self._client.note_leader(tp, answer.current_leader.leader_id, answer.current_leader.leader_epoch)
            return False
        if error.retriable or issubclass(error, UnknownError):
            log.info("fetching %s failed, trying again: %s", where, error.message)
            return False
        return self._buffer.put(
            state, Fetched(state.tp, wanted.generation, wanted.offset, error=error(f"fetching {where}"))
        )

    def _too_large(self, wanted: Wanted, nbytes: int) -> bool:
        tp = wanted.state.tp
        error = RecordTooLargeError(
            f"the batch at offset {wanted.offset} of partition {tp.partition} of topic {tp.topic!r} is larger than "
            f"max_partition_fetch_bytes={self._options.max_partition_fetch_bytes}: {nbytes} bytes came and hold no "
            "whole batch; raise max_partition_fetch_bytes, or seek past it"
        )
        return self._fail(wanted, error)

    def _fail(self, wanted: Wanted, error: KafkaError) -> bool:
        """Hand an error to the caller that stands until a seek, and fetch no further till then."""
        state = wanted.state
        filed = self._buffer.put(state, Fetched(state.tp, wanted.generation, wanted.offset, error=error, sticky=True))
        state.fetching.offset = None
        self.refresh(state)
        return filed

    def _back_off(self, state: PartitionState) -> None:
        """Leave a partition alone for a moment."""
        if not state.fetching.backing_off:
            state.fetching.backing_off = True
            asyncio.get_running_loop().call_later(self._backoff.seconds(1), self._back_on, state)
        self.refresh(state)

    def _back_on(self, state: PartitionState) -> None:
        state.fetching.backing_off = False
        if self._subscription.state_of(state.tp) is state:
            self.refresh(state)

    # Which partition from where ---------------------------------------------------------------------------------------

    def _is_wanted(self, state: PartitionState) -> bool:
        return (
            state.fetching.offset is not None
            and not state.paused
            and not state.fetching.backing_off
            and self._subscription.state_of(state.tp) is state
        )

    def _node(self, node_id: int) -> BrokerFetcher:
        node = self._nodes.get(node_id)
        if node is None:
            node = BrokerFetcher(node_id, self._options, self._client, self, self._backoff)
            self._nodes[node_id] = node
        return node

    def _leave_node(self, state: PartitionState) -> None:
        node = self._nodes.get(state.fetching.broker_id) if state.fetching.broker_id is not None else None
        state.fetching.broker_id = None
        if node is None:
            return
        node.blocked.discard(state)
        wanted = node.session.wanted.get(state.tp)
        if wanted is not None and wanted.state is state:  # and not of an assignment of the partition that came after
            node.session.drop(state.tp)
        node.changed(urgent=False)
