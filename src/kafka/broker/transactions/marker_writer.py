"""Ends a decided transaction everywhere: a marker in each partition that it has, and the offsets of its groups."""

from collections.abc import Callable

from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups.group_coordinator import GroupCoordinator
from kafka.broker.log.batch_head import Marker
from kafka.broker.topics import CONSUMER_OFFSETS, TopicStore
from kafka.broker.transactions.transaction_metadata import TopicPartition, TransactionMetadata

COORDINATOR_EPOCH = 0
"""There is one coordinator for good."""
_OVERTAKEN = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED})


class MarkerWriter:
    """Writes markers; `groups` gives the groups, which are loaded when a transaction has offsets."""

    def __init__(self, topics: TopicStore, groups: Callable[[], GroupCoordinator], now_ms: Callable[[], int]) -> None:
        self._topics = topics
        self._groups = groups
        self._now_ms = now_ms
        self._left: dict[str, set[TopicPartition]] = {}
        """Of transactions whose end could not be written everywhere: where it is still to be."""

    def write(self, metadata: TransactionMetadata) -> None:
        """Write the end of a prepared transaction wherever it is not written yet.

        Raises OSError or `RequestFailed` where that was not possible everywhere; it may be called again.
        """
        left = self._left.setdefault(metadata.transactional_id, set(metadata.partitions))
        offsets = {number for topic, number in left if topic == CONSUMER_OFFSETS.name}
        failure: RequestFailed | None = None
        if offsets:
            self._groups().end_pending(metadata.producer_id, metadata.is_committing, offsets)
            left.difference_update((CONSUMER_OFFSETS.name, number) for number in offsets)
        for topic, number in sorted(left):
            try:
                self._mark(metadata, topic, number)
            except RequestFailed as error:
                failure = error
            else:
                left.discard((topic, number))
        if failure is not None:
            raise failure
        del self._left[metadata.transactional_id]

    def _mark(self, metadata: TransactionMetadata, topic: str, number: int) -> None:
        if topic not in self._topics or number >= self._topics.get(topic).partitions:
            return  # It was deleted, and its part of the transaction with it; the topic may have been made again.
        marker = Marker(metadata.is_committing, COORDINATOR_EPOCH)
        log = self._topics.get(topic).log(number)
        try:
            log.append_marker(metadata.producer_id, metadata.producer_epoch, marker, self._now_ms())
        except RequestFailed as error:
            if error.code not in _OVERTAKEN:
                raise
