"""Calls a producer's interceptors for each record, and for its acknowledgement or failure."""

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
    """The interceptors of a producer. Thread-safe.

    Acknowledgements are passed to them on the callback thread, or in the thread that called `send()` if the record was
    acknowledged before it returned.
    """

    def __init__(self, interceptors: ProducerInterceptors) -> None:
        self._interceptors = interceptors

    def on_send(self, record: tuple[Any, ...]) -> ProducerRecord:
        """Pass a record to the interceptors, and return the record that is to be sent."""
        return self._interceptors.on_send(ProducerRecord(*record))

    def watch(self, future: FutureRecordMetadata) -> None:
        """Notify the interceptors when an accepted record is acknowledged or fails."""
        future.observe(partial(self._settled, future.place()[0].topic_partition))

    def not_taken(self, record: ProducerRecord, error: Exception) -> None:
        """Notify the interceptors that `send()` raises an error for a record."""
        partition = record.partition if isinstance(record.partition, int) else _UNKNOWN
        self._interceptors.on_acknowledgement(_placed(TopicPartition(record.topic, partition)), error)

    def close(self) -> None:
        """Close the interceptors."""
        self._interceptors.close()

    def _settled(self, place: TopicPartition, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            self._interceptors.on_acknowledgement(_placed(place), outcome)
        else:
            self._interceptors.on_acknowledgement(outcome, None)


def intercepted(given: Sequence[Any], configs: Mapping[str, Any]) -> Interception | None:
    """Create and configure the interceptors in the option `interceptor_classes`; return None if there are none."""
    return Interception(ProducerInterceptors(given, configs)) if given else None


def _placed(place: TopicPartition) -> RecordMetadata:
    """Return the metadata of a record that was not written."""
    return RecordMetadata(place.topic, place.partition, place, offset=_UNKNOWN, timestamp=_UNKNOWN)
