"""Errors that concern a single record or position of a partition."""

from kafka.errors import KafkaError
from kafka.structs import TopicPartition


class RecordTooLargeError(KafkaError):
    """A batch is larger than what is fetched at a time, so no whole batch came (brokers before 0.10.1)."""


class RecordDeserializationError(KafkaError):
    """A deserializer raised, and what it raised is the ``__cause__``. Java: ``RecordDeserializationException``.

    The position stays at the record, so the next `poll()` raises again;
    ``seek(error.topic_partition, error.offset + 1)`` leads past it.

    Arguments:
        topic_partition: where the record is.
        offset: its offset.
        part: "key" or "value", "key or value" where it is not known.
        why: what the deserializer had to say.
    """

    def __init__(self, topic_partition: TopicPartition, offset: int, part: str, why: str) -> None:
        super().__init__(
            f"the {part} of the record at offset {offset} of partition {topic_partition.partition} of topic "
            f"{topic_partition.topic!r} could not be deserialized: {why}; seek to {offset + 1} to leave it out"
        )
        self.topic_partition = topic_partition
        self.offset = offset
