"""Interprets the response for one partition as records to buffer, a pause, another broker, or an error for the caller.

Runs on the loop.
"""

import asyncio
import logging
from typing import Any, NamedTuple, Protocol

from kafka.cluster import Backoff, LogLimiter
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.cluster.protocols import BrokerConnections
from kafka.config import FetchOptions
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.partition_response import PartitionResponse, SharedFrame
from kafka.consumer.buffer.partition_state import PartitionState
from kafka.consumer.fetch.fetch_session import FetchTarget
from kafka.errors import (
    BrokerResponseError,
    CorruptRecordError,
    KafkaError,
    OffsetOutOfRangeError,
    TopicAuthorizationFailedError,
    UnknownError,
    for_code,
)
from kafka.record import whole_batches
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

_METADATA_ATTEMPTS = 8
"""The number of times that a position may be reported as out of range while waiting for newer metadata."""
_SMALLEST_BATCH = 14
"""The minimum length of a batch, whatever its magic."""


class RecordTooLargeError(KafkaError):
    """A batch exceeds the maximum size of a fetch, so no complete batch arrived (brokers before 0.10.1)."""


_UNUSUAL = 3
"""After this many consecutive failures of a partition, a leader change is an unlikely cause."""


class FailureLog:
    """Logs partitions that cannot be fetched: the first failures at level INFO, further ones as warnings.

    `FetchProgress.failures` counts the failures of each partition. Used on the loop.

    Arguments:
        log: the logger.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._limiter = LogLimiter(log)

    def failed(self, state: PartitionState, offset: int, error: type[BrokerResponseError]) -> None:
        """Log a broker's error, which is usually transient."""
        failures, where = state.fetching.failures, f"{place(state.tp)} at offset {offset}"
        if failures < _UNUSUAL:
            self._log.info("fetching %s failed, trying again: %s", where, error.message)
        else:
            text = f"fetching {where} has failed {failures} times, retrying: {error.message}"
            self._limiter.warning(f"{state.tp}: {error.__name__}", text)

    def succeeded(self, state: PartitionState) -> None:
        """Record a response without an error."""
        if state.fetching.failures >= _UNUSUAL:
            self._log.info("fetching %s works again", place(state.tp))
        state.fetching.failures = 0


def place(tp: TopicPartition) -> str:
    """Describe a partition in words, for log messages."""
    return f"partition {tp.partition} of topic {tp.topic!r}"


class _Lease(NamedTuple):
    broker_id: int
    until: float


class PreferredReplicas:
    """The partitions that are read from a nearby follower, as requested by their leader (KIP-392).

    This class does not read a clock; times are the loop's, in seconds.

    Arguments:
        lease_ms: how long to read from a follower before asking the leader again; ``metadata_max_age_ms``.

    Attributes:
        leases: the partitions that have a preferred replica; usually empty.
    """

    def __init__(self, lease_ms: float) -> None:
        self._lease_s = lease_ms / 1000
        self.leases: dict[TopicPartition, _Lease] = {}

    def prefer(self, tp: TopicPartition, broker_id: int, now: float) -> None:
        """Read a partition from the replica named by its leader."""
        self.leases[tp] = _Lease(broker_id, now + self._lease_s)

    def broker_for(self, tp: TopicPartition, metadata: ClusterMetadata, now: float) -> int | None:
        """Return the broker to read a partition from: the replica, if it exists and its lease is valid, or the leader.

        Returns None if the partition has no leader.
        """
        lease = self.leases.get(tp)
        if lease is not None:
            if now < lease.until and metadata.broker_metadata(lease.broker_id) is not None:
                return lease.broker_id
            del self.leases[tp]
        return metadata.leader_for_partition(tp)

    def forget(self, tp: TopicPartition) -> bool:
        """Ask the leader again. Returns whether the partition had a preferred replica."""
        return self.leases.pop(tp, None) is not None

    def forget_broker(self, broker_id: int) -> list[TopicPartition]:
        """Ask the leaders again if a replica does not respond. Returns the partitions for which it was preferred."""
        affected = [tp for tp, lease in self.leases.items() if lease.broker_id == broker_id]
        for tp in affected:
            del self.leases[tp]
        return affected


class ResponseListener(Protocol):
    """The listener of `ResponseHandler`: the fetcher."""

    def refresh(self, state: PartitionState) -> None:
        """Called when a partition should be fetched from another broker or offset, or not at all."""

    def advance(self, target: FetchTarget) -> None:
        """Called when a partition should be fetched from the end of its response."""

    def back_off(self, state: PartitionState) -> None:
        """Called when a partition should be refreshed after a pause."""

    def metadata_stale(self) -> None:
        """Called when a broker is not, or is no longer, the leader."""

    def judge(self, target: FetchTarget, epoch: int, end_offset: int) -> None:
        """Called when a leader's log diverges from the fetched one; see `PositionValidation.judge`."""

    def data_arrived(self) -> None:
        """Called when an error for the caller is added to the buffer after the response was handled."""


class ResponseHandler:
    """Handles the responses for partitions; see the module.

    Arguments:
        options: the size limits of requests.
        client: knows the leaders.
        buffer: receives records and errors.
        replicas: receives the followers that leaders prefer.
        backoff: pauses after failures.
        listener: notified of the consequences.
    """

    def __init__(
        self,
        options: FetchOptions,
        client: BrokerConnections,
        buffer: FetchBuffer,
        replicas: PreferredReplicas,
        backoff: Backoff,
        listener: ResponseListener,
    ) -> None:
        self._options = options
        self._client = client
        self._buffer = buffer
        self._replicas = replicas
        self._backoff = backoff
        self._listener = listener
        self._failures = FailureLog(log)
        self._closed = False
        self.bytes_fetched = 0

    def close(self) -> None:
        """Stop reporting to the caller."""
        self._closed = True

    def take(self, target: FetchTarget, answer: Any, frame: SharedFrame | None, *, by_id: bool) -> bool:
        """Handle the response for a partition. Returns whether there is data or an error for the caller.

        Arguments:
            frame: contains the bytes of the response, if they are in a pooled buffer.
            by_id: whether the topic was requested by id, in which case the response cannot be about another topic with
                the same name.
        """
        state = target.state
        if answer.error_code:
            return self._take_error(target, answer, by_id)
        # Reading a field that is not set would create its default.
        if "diverging_epoch" in vars(answer) and answer.diverging_epoch.end_offset >= 0:
            return self._take_divergence(target, answer.diverging_epoch)
        if answer.preferred_read_replica >= 0:
            self._prefer(state, answer.preferred_read_replica)
        if target.topic_id is not None:
            state.fetching.topic_id = target.topic_id
        if state.fetching.failures:
            self._failures.succeeded(state)
            state.fetching.out_of_range_since = None
        state.fetching.highwater = answer.high_watermark
        state.fetching.last_stable_offset = answer.last_stable_offset
        state.fetching.log_start_offset = answer.log_start_offset
        records = answer.records
        if records is None or not len(records):
            return False
        size, next_offset, leader_epoch = whole_batches(records)
        self.bytes_fetched += size
        if not size:
            return self._no_whole_batch(target, records)
        if next_offset < 0:
            next_offset = target.offset + 1  # the last batch has an invalid offset, and decoding raises the error
        if next_offset <= target.offset:
            # All batches are before the requested offset; the broker will have more soon.
            self._listener.back_off(state)
            return False
        if frame is not None:
            frame.retain()
        listed = answer.aborted_transactions
        aborted = [(each.producer_id, each.first_offset) for each in listed] if listed else ()
        state.fetching.offset, state.fetching.leader_epoch = next_offset, leader_epoch
        state.fetching.checked_epoch = target.leader_epoch
        item = PartitionResponse(state.tp, target.generation, target.offset, records[:size], size, frame, aborted)
        filed = self._buffer.put(state, item)
        self._listener.advance(target)
        return filed

    def _prefer(self, state: PartitionState, replica: int) -> None:
        """Switch to the replica that the leader named instead of sending records."""
        if self._client.metadata.broker_metadata(replica) is None or replica == state.fetching.broker_id:
            self._listener.metadata_stale()
            self._listener.back_off(state)  # otherwise the same request would be sent again at once
            return
        log.debug("%s is read from replica %d", place(state.tp), replica)
        self._replicas.prefer(state.tp, replica, asyncio.get_running_loop().time())
        self._listener.refresh(state)

    def _take_error(self, target: FetchTarget, answer: Any, by_id: bool) -> bool:
        """Handle a partition's error. Returns whether there is an error for the caller."""
        state, tp = target.state, target.state.tp
        error = for_code(answer.error_code)
        where = f"{place(tp)} at offset {target.offset}"
        state.fetching.failures += 1
        if self._replicas.forget(tp):  # ask the leader, which decides
            log.info("%s is read from its leader again: the replica answered %s", where, error.message)
            if error.invalid_metadata:
                self._listener.metadata_stale()
            self._listener.back_off(state)
            return False
        if error is OffsetOutOfRangeError:
            return not self._awaits_metadata(target, by_id) and self._out_of_range(target)
        if error is CorruptRecordError:
            return self._fail(target, error(f"the broker found a damaged batch in {where}; seek past it to read on"))
        return self._take_refusal(target, error, answer.current_leader)

    def _take_refusal(self, target: FetchTarget, error: type[BrokerResponseError], leader: Any) -> bool:
        """Handle an error that may be transient. Returns whether there is an error for the caller.

        Arguments:
            leader: the leader, if the broker names it; otherwise None.
        """
        state, tp = target.state, target.state.tp
        self._listener.back_off(state)
        if error is TopicAuthorizationFailedError:
            return self._buffer.put(
                state, PartitionResponse(tp, target.generation, target.offset, error=error({tp.topic}))
            )
        if error.invalid_metadata or error.retriable or issubclass(error, UnknownError):
            self._failures.failed(state, target.offset, error)
            if error.invalid_metadata:
                self._listener.metadata_stale()
                if leader is not None and leader.leader_id >= 0:
                    self._client.note_leader(tp, leader.leader_id, leader.leader_epoch)
            return False
        failed = error(f"fetching {place(tp)} at offset {target.offset}")
        return self._buffer.put(state, PartitionResponse(tp, target.generation, target.offset, error=failed))

    def refused(self, target: FetchTarget, error: type[BrokerResponseError]) -> None:
        """Handle an error from a leader that was asked to validate a position."""
        target.state.fetching.failures += 1
        if self._take_refusal(target, error, None):
            self._listener.data_arrived()

    def _take_divergence(self, target: FetchTarget, end: Any) -> bool:
        """Handle a response that has no records because the broker's log lacks the records before the offset.

        The caller is notified later.

        A follower cannot decide whether logs diverge, because it does not know epochs without records.
        """
        state = target.state
        if self._replicas.forget(state.tp):
            self._listener.metadata_stale()
            self._listener.back_off(state)
        elif end.epoch >= target.last_epoch and end.end_offset >= target.offset:
            self._listener.back_off(state)  # no divergence, but the same request would have the same result
        else:
            self._listener.judge(target, end.epoch, end.end_offset)
        return False

    def _awaits_metadata(self, target: FetchTarget, by_id: bool) -> bool:
        """Pause fetching from the partition until newer metadata shows whether its topic is still the same.

        Requests to brokers before Kafka 3.1 contain topic names, so the response may be about a recreated topic. Newer
        metadata then moves the position. If no newer metadata arrives within a few attempts, the response is accepted.
        """
        fetching, version = target.state.fetching, self._client.metadata.version
        if by_id or target.topic_id is None:
            return False
        if fetching.out_of_range_since is None:
            fetching.out_of_range_since = version, fetching.failures
        first_version, first_failure = fetching.out_of_range_since
        if version - first_version >= 2 or fetching.failures - first_failure >= _METADATA_ATTEMPTS:
            return False  # two newer versions, because a request for the first may have been outstanding already
        self._listener.metadata_stale()
        self._listener.back_off(target.state)
        return True

    def _out_of_range(self, target: FetchTarget) -> bool:
        """Make the caller apply the reset policy or raise an error; pause first if the error is repeated."""
        state, fetching = target.state, target.state.fetching
        error = OffsetOutOfRangeError({state.tp: target.offset})
        if fetching.failures == 1:
            return self._fail(target, error)
        fetching.offset = None
        self._listener.refresh(state)
        pause = self._backoff.seconds(fetching.failures - 1)
        asyncio.get_running_loop().call_later(pause, self._fail_later, target, error)
        return False

    def _fail_later(self, target: FetchTarget, error: KafkaError) -> None:
        if not self._closed and self._fail(target, error):
            self._listener.data_arrived()

    def _no_whole_batch(self, target: FetchTarget, records: memoryview) -> bool:
        """Handle bytes without a complete batch: the batch length is invalid or exceeds the maximum size of a fetch."""
        where = f"the batch at offset {target.offset} of {place(target.state.tp)}"
        says = int.from_bytes(records[8:12], "big", signed=True) if len(records) >= 12 else None
        if says is not None and says < _SMALLEST_BATCH:
            error: KafkaError = CorruptRecordError(f"{where} claims a size of {says} bytes, which is impossible")
        else:
            size = "" if says is None else f"{says + 12} bytes, "
            error = RecordTooLargeError(
                f"{where} is {size}larger than max_partition_fetch_bytes={self._options.max_partition_fetch_bytes}, or "
                f"its length is invalid: {len(records)} bytes arrived without a complete batch; raise "
                "max_partition_fetch_bytes, or seek past it"
            )
        return self._fail(target, error)

    def _fail(self, target: FetchTarget, error: KafkaError) -> bool:
        """Store an error to be raised until the next seek, and stop fetching until then."""
        state = target.state
        filed = self._buffer.put(
            state, PartitionResponse(state.tp, target.generation, target.offset, error=error, sticky=True)
        )
        if filed:  # otherwise the position has changed in the meantime
            state.fetching.offset = None
        self._listener.refresh(state)
        return filed
