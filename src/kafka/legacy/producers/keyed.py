"""`KeyedProducer`: the partition by the key."""

from __future__ import annotations

from typing import Any

from kafka.legacy.deprecation import warn_deprecated
from kafka.legacy.partitioners import HashedPartitioner, Partitioner
from kafka.legacy.producers.base import Producer


class _Hashed(HashedPartitioner):
    """Does not warn: the producer has done so."""

    def __init__(self, partitions: Any) -> None:
        Partitioner.__init__(self, partitions)


class KeyedProducer(Producer):
    """Sends messages to the partition that a partitioner chooses by their key.

    Arguments: those of `Producer`, and:
        partitioner: a class that is made with the partitions of a topic, and has `partition(key)`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.partitioner_class = kwargs.pop("partitioner", None) or HashedPartitioner
        self.partitioners: dict[Any, Any] = {}
        super().__init__(*args, **kwargs)

    def _next_partition(self, topic: Any, key: Any) -> int:
        if topic not in self.partitioners:
            if not self.client.has_metadata_for_topic(topic):
                self.client.load_metadata_for_topics(topic, ignore_leadernotavailable=True)
            made_by = _Hashed if self.partitioner_class is HashedPartitioner else self.partitioner_class
            self.partitioners[topic] = made_by(self.client.get_partition_ids_for_topic(topic))
        partition: int = self.partitioners[topic].partition(key)
        return partition

    def send_messages(self, topic: str, key: Any, *msg: bytes | None) -> list[Any]:
        """Send messages with a key; as `Producer.send_messages` else."""
        return self._send_messages(topic, self._next_partition(topic, key), *msg, key=key)

    def send(self, topic: str, key: Any, msg: bytes | None) -> list[Any]:
        """As `send_messages`, of one message; deprecated."""
        warn_deprecated("KeyedProducer.send is deprecated in favor of send_messages")
        return self.send_messages(topic, key, msg)

    def __repr__(self) -> str:
        return f"<KeyedProducer batch={self.async_send}>"
