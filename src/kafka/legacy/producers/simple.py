"""`SimpleProducer`: one partition after the other."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from kafka.legacy.producers.base import Producer


class SimpleProducer(Producer):
    """Sends each call's messages to the next partition of the topic.

    Arguments: those of `Producer`, and:
        random_start: whether a topic's first partition is any of them; else it is partition 0.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.partition_cycles: dict[Any, Iterator[int]] = {}
        self.random_start = kwargs.pop("random_start", True)
        super().__init__(*args, **kwargs)

    def _next_partition(self, topic: Any) -> int:
        if topic not in self.partition_cycles:
            if not self.client.has_metadata_for_topic(topic):
                self.client.ensure_topic_exists(topic)
            partitions = self.client.get_partition_ids_for_topic(topic)
            first = random.randrange(len(partitions)) if self.random_start else 0
            self.partition_cycles[topic] = itertools.cycle(partitions[first:] + partitions[:first])
        return next(self.partition_cycles[topic])

    def send_messages(self, topic: str, *msg: bytes | None) -> list[Any]:  # type: ignore[override]  # as it was
        """Send messages to the next partition; as `Producer.send_messages` else."""
        return super().send_messages(topic, self._next_partition(topic), *msg)

    def __repr__(self) -> str:
        return f"<SimpleProducer batch={self.async_send}>"
