"""What programs derive from; each method does nothing of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kafka.structs import OffsetAndMetadata, TopicPartition


class ProducerRecord(NamedTuple):
    """A record on its way into a producer: the arguments of `send()`, before serializers and the partitioner.

    Arguments:
        topic: where it goes.
        value: as it was given to ``send()``; None is a tombstone.
        key: as it was given; None where it has none.
        headers: pairs of a name and bytes or None.
        partition: the one that was asked for; None: the partitioner chooses.
        timestamp_ms: milliseconds since 1970; None: when it is appended.
    """

    topic: str
    value: Any = None
    key: Any = None
    headers: Sequence[tuple[str, bytes | None]] | None = None
    partition: int | None = None
    timestamp_ms: int | None = None


class ProducerInterceptor:
    """Sees what a producer sends, and what becomes of it. What it raises is logged, and stops nothing.

    With several, each is given what the one before it has returned. Rows of `send_arrow()` are not seen.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:
        """The options of the client, without secrets; called once, first.

        Arguments:
            configs: by the names of the keyword arguments.
        """

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """Return the record to send in place of this one. Called within `send()`, in its thread."""
        return record

    def on_acknowledgement(self, metadata: Any, exception: Exception | None) -> None:
        """A record was acknowledged, or has failed. Called in the thread of callbacks, before those of its future.

        Arguments:
            metadata: the `RecordMetadata`; of one that has failed only topic and, if it was chosen, partition.
            exception: why it has failed; None: it was acknowledged. Where `send()` itself raises, this is called first,
                in the same thread.
        """

    def close(self) -> None:
        """The producer is closed."""


class ConsumerInterceptor:
    """Sees what a consumer is given, and what it commits. What it raises is logged, and stops nothing.

    With several, each is given what the one before it has returned. All of it is called in the thread that polls, or
    commits, or closes. Columns and Arrow batches are not seen.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:
        """The options of the client, without secrets; called once, first.

        Arguments:
            configs: by the names of the keyword arguments.
        """

    def on_consume(self, records: dict[TopicPartition, list[Any]]) -> dict[TopicPartition, list[Any]]:
        """Return what the program is given in place of these records, by partition; may leave some out.

        Positions move past all of them. While iterating, this is called with what is about to be gone through, again
        with what was not returned where the program turns to `poll()`.
        """
        return records

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Offsets are committed, whether by a call or automatically.

        Arguments:
            offsets: partition to what is committed, the offset of the next record.
        """

    def close(self) -> None:
        """The consumer is closed."""
