"""The base class of partitioners that receive the whole record."""

from __future__ import annotations

import abc
from typing import Any, Protocol


class KnownPartitions(Protocol):
    """The cluster metadata that a partitioner may read."""

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return all partitions of a topic; None if the topic is unknown."""

    def available_partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the partitions of a topic that currently have a leader; None if the topic is unknown."""


class Partitioner(abc.ABC):
    """Base class of partitioners that see the whole record: the option ``partitioner``. Java: ``Partitioner``."""

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
            topic: the record's topic.
            key: the key as passed to ``send()``.
            serialized_key: the serialized key; None if the record has no key.
            value: the value as passed to ``send()``.
            serialized_value: the serialized value; None is a tombstone.
            cluster: the known partitions of topics.
        """
