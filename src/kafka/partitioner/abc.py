"""The base class of partitioners that see the whole record."""

from __future__ import annotations

import abc
from typing import Any, Protocol


class KnownPartitions(Protocol):
    """What a partitioner may read about the cluster."""

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return all partitions of a topic; None if the topic is unknown."""

    def available_partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the partitions of a topic that currently have a leader; None if the topic is unknown."""


class Partitioner(abc.ABC):
    """Chooses a partition based on the whole record (Java's `Partitioner`)."""

    @abc.abstractmethod
    def partition(
        self,
        topic: str,
        key: Any,
        serialized_key: bytes | None,
        value: Any,
        serialized_value: bytes | None,
        cluster: KnownPartitions,
    ) -> int:
        """Return the number of a partition of `topic`.

        Arguments:
            topic: where the record goes.
            key: the key as it was given to ``send()``.
            serialized_key: its bytes; None where the record has no key.
            value: the value as it was given.
            serialized_value: its bytes; None is a tombstone.
            cluster: what is known of the partitions of topics.
        """
