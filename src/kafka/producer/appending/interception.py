"""Interceptors of a producer: what they make of records, and how they are told what becomes of those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kafka.interceptor import ProducerRecord
from kafka.interceptor.client_interceptors import ProducerInterceptors
from kafka.producer.delivery.record_metadata import RecordMetadata
from kafka.producer.future import FutureRecordMetadata
from kafka.structs import TopicPartition

_UNKNOWN = -1


class Interception:
    """The interceptors of a producer. In any thread; acknowledgements come in that of callbacks."""

    def __init__(self, interceptors: ProducerInterceptors) -> None:
        self._interceptors = interceptors

    def on_send(self, record: tuple[Any, ...]) -> ProducerRecord:
        """The record to send in place of this one."""
        return self._interceptors.on_send(ProducerRecord(*record))

    def watch(self, future: FutureRecordMetadata) -> None:
        """Tell of what becomes of a record that was taken."""
        future.observe(partial(self._settled, future.place()[0].topic_partition))

    def not_taken(self, record: ProducerRecord, error: Exception) -> None:
        """Tell that `send()` raises."""
        partition = record.partition if isinstance(record.partition, int) else _UNKNOWN
        self._interceptors.on_acknowledgement(_placed(TopicPartition(record.topic, partition)), error)

    def close(self) -> None:
        """Have the interceptors closed."""
        self._interceptors.close()

    def _settled(self, place: TopicPartition, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            self._interceptors.on_acknowledgement(_placed(place), outcome)
        else:
            self._interceptors.on_acknowledgement(outcome, None)


def intercepted(given: Sequence[Any], configs: Mapping[str, Any]) -> Interception | None:
    """The interceptors of the option `interceptor_classes`, which are configured; None if there are none."""
    return Interception(ProducerInterceptors(given, configs)) if given else None


def _placed(place: TopicPartition) -> RecordMetadata:
    """What is known of a record that is in no log."""
    return RecordMetadata(place.topic, place.partition, place, offset=_UNKNOWN, timestamp=_UNKNOWN)
