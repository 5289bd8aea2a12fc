"""Ends a decided transaction everywhere: writes a marker to each of its partitions, and ends its groups' offsets."""

from collections.abc import Callable

from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups.group_coordinator import GroupCoordinator
from kafka.broker.log.batch_head import Marker
from kafka.broker.topics import CONSUMER_OFFSETS, TopicStore
from kafka.broker.transactions.transaction_metadata import TopicPartition, TransactionMetadata

COORDINATOR_EPOCH = 0
"""The coordinator never changes."""
_OVERTAKEN = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED})


class MarkerWriter:
    """Writes markers; `groups` returns the groups, which are loaded only if a transaction has offsets."""

    def __init__(self, topics: TopicStore, groups: Callable[[], GroupCoordinator], now_ms: Callable[[], int]) -> None:
        self._topics = topics
        self._groups = groups
        self._now_ms = now_ms
        self._left: dict[str, set[TopicPartition]] = {}
        """The partitions in which the end of a transaction is still to be written, by transactional id."""

    def write(self, metadata: TransactionMetadata) -> None:
        """Write the end of a prepared transaction wherever it is not written yet.

        Raises OSError or `RequestFailed` if it could not be written everywhere; call it again later.
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
            return  # The topic was deleted together with its part of the transaction; it may have been recreated.
        marker = Marker(metadata.is_committing, COORDINATOR_EPOCH)
        log = self._topics.get(topic).log(number)
        try:
            log.append_marker(metadata.producer_id, metadata.producer_epoch, marker, self._now_ms())
        except RequestFailed as error:
            if error.code not in _OVERTAKEN:
                raise
